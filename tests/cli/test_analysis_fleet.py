"""A line for each run: --runs, `runs add`, and the identity that schedulers and CI systems give a run."""
import concurrent.futures
import gzip
import gzip
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile

import pytest

import recordings
from conftest import clean_environment, json_lines, wait_until
from gpu import stay_until
from namespaces import needs_private_mounts

WRITERS = 64
DOCUMENT = pathlib.Path(__file__).resolve().parents[2] / "docs" / "FLEET.md"


# ---- identity

@pytest.mark.parametrize("variables, name", [
    ({"SLURM_JOB_NAME": "train", "SLURM_JOB_ID": "7", "AIRFLOW_CTX_DAG_ID": "outer"}, "train"),
    ({"PBS_JOBNAME": "pbs", "PBS_JOBID": "1.host"}, "pbs"),
    ({"LSB_JOBNAME": "lsf[3]", "LSB_JOBID": "9", "LSB_JOBINDEX": "3"}, "lsf[3]"),
    ({"JOB_NAME": "sge", "JOB_ID": "4", "SGE_TASK_ID": "undefined"}, "sge"),
    ({"AIRFLOW_CTX_DAG_ID": "dag", "AIRFLOW_CTX_TASK_ID": "load", "AIRFLOW_CTX_DAG_RUN_ID": "r1", "AIRFLOW_CTX_TRY_NUMBER": "2"}, "dag"),
    ({"GITHUB_WORKFLOW": "CI", "GITHUB_JOB": "build", "GITHUB_SHA": "abc", "GITHUB_RUN_ATTEMPT": "1", "GITHUB_REPOSITORY": "a/b"}, "CI"),
    ({"CI_JOB_NAME": "deploy", "CI_PIPELINE_ID": "5", "CI_COMMIT_SHA": "abc", "CI_PROJECT_PATH": "a/b"}, "deploy"),
    ({"SLURM_ARRAY_JOB_ID": "3", "SLURM_ARRAY_TASK_ID": "4", "SLURM_RESTART_COUNT": "1", "SLURM_JOB_PARTITION": "long",
      "SLURM_JOB_ACCOUNT": "phys", "TRACEPARENT": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}, None)])
def test_the_ids_and_the_job_name_of_a_scheduler_are_recorded(run, tmp_path, variables, name):
    run("-o", "run.jsonl", "--", "true", env=variables)
    samples = json_lines(tmp_path / "run.jsonl")
    assert samples[0]["run_start"]["scheduler"] == variables
    assert samples[-1]["job_name"] == name


# The variables of a system; name, task, scheduler_job, array_task, attempt and commit of the line; one attribute by OTLP.
SYSTEMS = {
    "Slurm": ("SLURM_JOB_NAME=train SLURM_JOB_ID=5 SLURM_ARRAY_TASK_ID=4 SLURM_RESTART_COUNT=2", "train", None, "5", "4", "2", None,
              'slurm_restart_count="2"'),
    "PBS": ("PBS_JOBNAME=pbs PBS_JOBID=1.host PBS_ARRAY_INDEX=3", "pbs", None, "1.host", "3", None, None, 'pbs_jobid="1.host"'),
    "LSF": ("LSB_JOBNAME=lsf LSB_JOBID=9 LSB_JOBINDEX=3", "lsf", None, "9", "3", None, None, 'lsb_jobid="9"'),
    "Grid Engine": ("JOB_NAME=sge JOB_ID=4 SGE_TASK_ID=7", "sge", None, "4", "7", None, None, 'sge_task_id="7"'),
    "Airflow": ("AIRFLOW_CTX_DAG_ID=dag AIRFLOW_CTX_TASK_ID=load AIRFLOW_CTX_DAG_RUN_ID=r1 AIRFLOW_CTX_TRY_NUMBER=2", "dag", "load", "r1",
                None, "2", None, 'airflow_ctx_dag_run_id="r1"'),
    "GitHub": ("GITHUB_WORKFLOW=CI GITHUB_JOB=build GITHUB_RUN_ID=77 GITHUB_SHA=abc GITHUB_RUN_ATTEMPT=3", "CI", "build", "77", None, "3",
               "abc", 'cicd_pipeline_run_id="77"'),
    "GitLab": ("CI_JOB_NAME=deploy CI_JOB_ID=8 CI_PIPELINE_ID=5 CI_COMMIT_SHA=abc", "deploy", None, "8", None, None, "abc",
               'cicd_pipeline_run_id="5"'),
    "a trace": ("TRACEPARENT=00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "true", None, None, None, None, None,
                'traceparent="00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"'),
}


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_line_and_the_series_of_a_run_have_the_ids_of_its_system(run, tmp_path, system):
    variables, *expected, attribute = SYSTEMS[system]
    run("-q", "-o", "run.jsonl", "--runs", "runs.jsonl", "--", "true", env=dict(pair.split("=") for pair in variables.split()))
    [line] = json_lines(tmp_path / "runs.jsonl")
    assert [line.get(key) for key in ("name", "task", "scheduler_job", "array_task", "attempt", "commit")] == expected
    series = run("export", "--format", "openmetrics", "run.jsonl").stdout.decode()
    [info] = {text.rpartition("} ")[0] for text in series.splitlines() if text.startswith("target_info{")}
    assert f'job="{line["name"]}"' in info and f'instance="{line["id"]}"' in info and attribute in info


def test_the_users_job_name_comes_before_the_schedulers(run, tmp_path):
    run("-n", "mine", "-o", "run.jsonl", "--", "true", env={"SLURM_JOB_NAME": "theirs"})
    assert json_lines(tmp_path / "run.jsonl")[0]["job_name"] == "mine"


def test_a_job_id_of_another_program_is_not_grid_engines(run, tmp_path):
    run("-o", "run.jsonl", "--", "true", env={"JOB_NAME": "not a job", "JOB_ID": "secret"})
    first = json_lines(tmp_path / "run.jsonl")[0]
    assert first["job_name"] is None and first["run_start"]["scheduler"] == {}


# ---- one line at the end of a run

def lines_of(path):
    return json_lines(pathlib.Path(path))


def test_runs_appends_a_line_at_the_end(run, tmp_path):
    run("-q", "--runs", "runs.jsonl", "--", "sh", "-c", "exit 3", env={"AIRFLOW_CTX_TASK_ID": "load", "AIRFLOW_CTX_TRY_NUMBER": "2"})
    run("-o", "kept.jsonl", "-n", "second", "--", "true", env={"TRACKER_RUNS": str(tmp_path / "runs.jsonl")})
    first, second = lines_of(tmp_path / "runs.jsonl")
    assert (first["name"], first["task"], first["attempt"], first["outcome"], first["exit_code"]) == ("sh", "load", "2", "failed", 3)
    assert "recording" not in first, "a temporary recording has no name"
    assert second["name"] == "second" and second["outcome"] == "ok"
    assert second["recording"] == str(tmp_path / "kept.jsonl")
    assert second["id"] == json_lines(tmp_path / "kept.jsonl")[0]["run_start"]["run_id"]
    assert [key for key in first if key in second] == [key for key in second if key in first], "keys keep their order"


def documented_keys():
    table = DOCUMENT.read_text().partition("## The fields\n")[2].partition("\n## ")[0]
    return {key for row in table.splitlines() if row.startswith("|") for key in re.findall(r"`(\w+)`", row.split("|")[1])}


def test_a_line_has_only_known_values_and_documented_keys(run, tmp_path, nvml):
    nvml.say("gpus 1", "utilization 0 75 30", "memory 0 81920 600 1000")
    slurm = {"SLURM_JOB_NAME": "job", "SLURM_JOB_ID": "1", "SLURM_CPUS_ON_NODE": "2", "SLURM_MEM_PER_NODE": "512", "SLURM_NTASKS": "1"}
    run("-q", "--runs", "runs.jsonl", "--", "true")
    run("-q", "--runs", "runs.jsonl", "--tag", "a=b", "--", "sh", "-c", "kill -9 $$", env=slurm)
    run("-q", "--runs", "runs.jsonl", "-i", 0.1, "-o", "gpu.jsonl", "--", "sh", "-c", stay_until("gpu.jsonl", '"gpu":[{'), env=nvml.env())
    plain, killed, gpu = json_lines(tmp_path / "runs.jsonl")
    for line in plain, killed, gpu:
        assert not [key for key, value in line.items() if value is None or value == {} or value == []]
        assert set(line) <= documented_keys()
    # A shorter line has lost a value. A longer one repeats in each line what is unknown.
    assert 1000 < len(json.dumps(plain, separators=(",", ":"))) < 1400
    assert plain["exit_code"] == 0 and "signal" not in plain and "tags" not in plain
    assert killed["signal"] == 9 and "exit_code" not in killed and killed["tags"] == {"a": "b"}
    assert {"gpus", "gpu_names", "gpus_used", "gpu_mean", "gpu_p95", "gpu_max", "gpu_memory_max_mib"} <= set(gpu) and gpu["gpus"] == 1


@pytest.mark.parametrize("number", ["1" * 20, "4294967297", "0", "-1"])
def test_a_request_that_no_machine_can_meet_is_unknown(run, tmp_path, number):
    asked = "SLURM_CPUS_PER_TASK SLURM_CPUS_ON_NODE SLURM_MEM_PER_NODE SLURM_NTASKS SLURM_JOB_NUM_NODES TRACKER_CORES_ASKED"
    run("-q", "--runs", "runs.jsonl", "--", "true", env=dict.fromkeys(asked.split(), number))
    run("-q", "--runs", "runs.jsonl", "--", "true", env={"SLURM_CPUS_ON_NODE": "2", "SLURM_MEM_PER_CPU": number})
    run("-q", "--runs", "runs.jsonl", "--", "true", env={"TRACKER_MEMORY_ASKED_MIB": number, "SLURM_MEM_PER_NODE": "512"})
    keys = ("cores_asked", "memory_asked_mib", "tasks", "nodes")
    assert [{key: line[key] for key in keys if key in line} for line in json_lines(tmp_path / "runs.jsonl")] == [
        {}, {"cores_asked": 2}, {"memory_asked_mib": 512}]


def test_a_product_of_requests_that_no_machine_can_meet_is_unknown(run, tmp_path):
    """Each of the two could be."""
    for mib in (2 ** 31, 2 ** 31 + 1):
        run("-q", "--runs", "runs.jsonl", "--", "true", env={"SLURM_CPUS_ON_NODE": "2", "SLURM_MEM_PER_CPU": str(mib)})
    assert [line.get("memory_asked_mib") for line in json_lines(tmp_path / "runs.jsonl")] == [2 ** 32, None]


def test_a_damaged_gzip_of_lines_is_told_once(run, tmp_path):
    run("-q", "--runs", "runs.jsonl", "--", "true")
    packed = bytearray(gzip.compress((tmp_path / "runs.jsonl").read_bytes()))
    packed[-8] ^= 0xff
    (tmp_path / "runs.jsonl.gz").write_bytes(packed)
    told = run("history", "runs.jsonl.gz")
    assert told.returncode == 0 and told.err.count("\n") == 1 and "checksum is wrong" in told.err


def gpu_figures(line):
    return {key: value for key, value in line.items() if key.startswith("gpu")}


def test_figures_of_gpus_are_0_unknown_or_told(run, tmp_path):
    recordings.steady(tmp_path / "none.jsonl")
    unknown = [dict(one, gpu=None) for one in json_lines(tmp_path / "none.jsonl")]
    for one in unknown:
        one["cpu"].update(process_gpu_usage=None, process_gpu_vram_mib=None, process_gpu_utilized=None)
        one["totals"].update(gpu_usage=None, gpu_vram_mib=None, gpu_utilized=None)
    recordings.write(tmp_path / "unknown.jsonl", unknown)
    recordings.steady(tmp_path / "used.jsonl", gpu=1.5, vram=2000.0)
    run("runs", "add", "--runs", "runs.jsonl", "none.jsonl", "unknown.jsonl", "used.jsonl")
    none, unknown, used = map(gpu_figures, json_lines(tmp_path / "runs.jsonl"))
    assert none == {"gpus": 0} and unknown == {}
    assert used["gpu_max"] == 1.5 and used["gpu_memory_max_mib"] == 2000.0


def test_a_file_that_takes_no_line_is_told_and_the_job_keeps_its_status(run, tmp_path):
    (tmp_path / "old.jsonl.gz").write_bytes(gzip.compress(b"{}\n"))
    recordings.write(tmp_path / "recording.jsonl", recordings.eight_samples())
    before = (tmp_path / "recording.jsonl").read_bytes()
    for name in "old.jsonl.gz", "recording.jsonl":
        result = run("-q", "--runs", name, "--", "sh", "-c", "exit 4")
        assert result.returncode == 4 and len(result.err.splitlines()) == 1 and name in result.err
    assert (tmp_path / "recording.jsonl").read_bytes() == before


@needs_private_mounts
def test_a_line_that_a_full_disk_refuses_can_be_appended_later(binary, tmp_path):
    """The command that does it is named where a recording is left."""
    (tmp_path / "full").mkdir()
    script = f"""mount -t tmpfs -o size=64k none full; dd if=/dev/zero of=full/fill bs=4k 2>/dev/null
        $0 -q $1 --runs full/runs.jsonl -- sh -c 'exit 4' 2>said; echo $? >code
        rm full/fill; [ -z "$1" ] || $0 runs add {tmp_path}/run.jsonl --runs full/runs.jsonl; wc -l <full/runs.jsonl"""
    refused = "resource-tracker runs: full/runs.jsonl: no line is appended: No space left on device\n"
    later = f"resource-tracker: to append it later: resource-tracker runs add {tmp_path}/run.jsonl --runs full/runs.jsonl\n"
    for output, said, lines in ("", refused, "0\n"), ("-orun.jsonl", refused + later, "1\n"):
        done = subprocess.run(["unshare", "-m", "sh", "-c", script, binary, output], cwd=tmp_path, env=clean_environment(),
                              capture_output=True, text=True, check=True)
        assert ((tmp_path / "said").read_text(), (tmp_path / "code").read_text(), done.stdout) == (said, "4\n", lines), done.stderr


def test_a_torn_line_costs_only_itself(run, tmp_path):
    path = tmp_path / "runs.jsonl"
    path.write_text('{"schema":1,"id":"torn')
    run("-q", "--runs", path, "--", "true")
    torn, whole = path.read_text().splitlines()
    assert torn == '{"schema":1,"id":"torn' and json.loads(whole)["outcome"] == "ok"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make another user's file")
@pytest.mark.parametrize("mode, allowed", [(0o1777, False), (0o755, True)])
@pytest.mark.parametrize("kind", ["file", "link"])
def test_a_file_that_another_user_has_planted_gets_no_line(run, tmp_path, mode, allowed, kind):
    shared, path, own = tmp_path / "shared", tmp_path / "shared" / "runs.jsonl", tmp_path / "own"
    shared.mkdir()
    own.write_text("")
    if kind == "link":
        path.symlink_to(own)
    else:
        path.write_text("")
    os.chown(path, 65534, 65534, follow_symlinks=False)
    shared.chmod(mode)
    result = run("-q", "--runs", path, "--", "true")
    assert result.returncode == 0 and len(lines_of(path)) == allowed
    assert ("it belongs to another user, in a folder that everyone may write to" in result.err) != allowed


# ---- many writers

@pytest.fixture(params=["disk", "tmpfs"])
def folder(request, tmp_path):
    if request.param == "disk":
        yield tmp_path
        return
    if not os.access("/dev/shm", os.W_OK):
        pytest.skip("/dev/shm is missing")
    with tempfile.TemporaryDirectory(dir="/dev/shm", prefix="rt-fleet-") as name:
        yield pathlib.Path(name)


@pytest.mark.parametrize("locked", [False, True], ids=["", "while another program holds the lock"])
def test_64_writers_at_once_lose_no_line(binary, tmp_path, folder, locked):
    recording = recordings.steady(tmp_path / "run.jsonl")
    runs = folder / "runs.jsonl"
    holder = subprocess.Popen(["flock", runs, "cat"], stdin=subprocess.PIPE) if locked else None
    if locked:
        wait_until(lambda: runs.exists() and subprocess.run(["flock", "-n", runs, "true"]).returncode == 1)
    processes = [subprocess.Popen([binary, "runs", "add", "--runs", runs, recording, recording],
                                  env=clean_environment(), stderr=subprocess.PIPE) for _ in range(WRITERS)]
    told = [process.communicate()[1] for process in processes]
    if holder:
        holder.communicate()
    assert not any(told) and not any(process.returncode for process in processes)
    lines = lines_of(runs)
    assert len(lines) == 2 * WRITERS and all(line == lines[0] for line in lines)


# ---- recordings that exist

def test_runs_add_says_why_it_takes_no_stream(run):
    result = run("runs", "add", "-")
    assert result.returncode == 1 and result.err == (
        "resource-tracker runs: a line needs to read a recording more than once; name a file instead of standard input\n")


def test_runs_add_makes_lines_of_all_recordings_in_a_folder(run, tmp_path):
    (tmp_path / "in" / "deep").mkdir(parents=True)
    recordings.steady(tmp_path / "in" / "a.jsonl")
    recordings.steady(tmp_path / "in" / "b.jsonl", end=False)
    (tmp_path / "in" / "deep" / "c.jsonl.gz").write_bytes(gzip.compress(recordings.steady(tmp_path / "c.jsonl").read_bytes()))
    (tmp_path / "in" / "a.jsonl.marks").write_text("{}\n")
    (tmp_path / "in" / "other.jsonl").write_text('{"not":"a recording"}\n')
    (tmp_path / "in" / "link.jsonl").symlink_to(tmp_path / "c.jsonl")
    result = run("runs", "add", "--runs", "in/runs.jsonl", "in")
    assert "left out in the folders, as no recording or without a sample: 1" in result.err
    lines = lines_of(tmp_path / "in" / "runs.jsonl")
    assert [pathlib.Path(line["recording"]).name for line in lines] == ["a.jsonl", "b.jsonl", "c.jsonl.gz"]
    assert [line["outcome"] for line in lines] == ["ok", "lost", "ok"]
    assert run("runs", "add", "in/a.jsonl").stdout == (json.dumps(lines[0], separators=(",", ":"), ensure_ascii=False) + "\n").encode()


def test_a_folder_of_steps_is_known_to_each_command_that_takes_a_folder(run, tmp_path):
    """`runs add .` left out what the recording shell writes in silence, though `summary .` has it."""
    (tmp_path / "in" / ".resource-tracker").mkdir(parents=True)
    result = run("runs", "add", "in")
    assert (result.returncode, result.out, result.err) == (0, "", "resource-tracker runs: there is no recording in the folders\n")
    recordings.steady(tmp_path / "in" / ".resource-tracker" / "a.jsonl")
    assert json.loads(run("runs", "add", "in").out)["wall_secs"] == 8
    for command in ("recommend", "regions", "stats"):
        assert "in: a folder; name the recordings in it (" in run(command, "in").err


def test_a_recorder_that_is_killed_appears_without_an_end_and_a_live_one_as_running(run, spawn, tmp_path):
    process = spawn("-i", "0.05", "-o", "killed.jsonl", "--", "cat", stdin=subprocess.PIPE)
    wait_until(lambda: (tmp_path / "killed.jsonl").exists() and len((tmp_path / "killed.jsonl").read_bytes().splitlines()) > 3)
    live, = json_lines(run("runs", "add", "killed.jsonl").stdout)
    assert live["outcome"] == "running"
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdin.close()
    line, = json_lines(run("runs", "add", "killed.jsonl").stdout)
    assert line["outcome"] == "lost" and line["id"] == live["id"] and line["ended"] is not None


def test_a_named_file_without_a_recording_is_an_error_and_the_others_are_added(run, tmp_path):
    recordings.steady(tmp_path / "a.jsonl")
    result = run("runs", "add", "--runs", "runs.jsonl", "missing.jsonl", "a.jsonl")
    assert result.returncode == 1 and "missing.jsonl" in result.err and len(lines_of(tmp_path / "runs.jsonl")) == 1
    result = run("runs", "a.jsonl")
    assert result.returncode == 2 and "runs add DIR|FILE" in result.err


@pytest.mark.parametrize("end, outcome", [
    ({"exit_code": 1, "oom_kills": 1}, "oom"), ({"exit_code": None, "signal": 9, "oom_kills": 1}, "oom"), ({"exit_code": 0, "oom_kills": 1}, "ok"),
    ({"exit_code": 1, "oom_kills": 0}, "failed"), ({"exit_code": 1, "oom_kills": None, "cgroup_oom_kills": 1}, "failed")])
def test_a_job_that_failed_after_a_kill_for_lack_of_memory_is_out_of_memory(run, tmp_path, end, outcome):
    """As Slurm's OUT_OF_MEMORY. The kill in a group that others share, of a job that used little, may be another's."""
    recordings.steady(tmp_path / "run.jsonl", memory=100.0, end=end, limits={**recordings.LIMITS, "memory_limit_mib": 1024.0})
    assert run("runs", "add", "--runs", "runs.jsonl", "run.jsonl").returncode == 0
    one, = json_lines(tmp_path / "runs.jsonl")
    assert one["outcome"] == outcome and one.get("oom") == ("step" if end.get("oom_kills") or end.get("cgroup_oom_kills") else None)


def test_runs_of_a_task_pool_though_each_has_a_folder_of_its_own(run, tmp_path):
    """An engine gives each step a folder. Without a task, the folder tells unrelated texts of a shell apart."""
    for folder, env in ("work-1", {"NXF_TASK_NAME": "align"}), ("work-2", {"NXF_TASK_NAME": "align"}), ("redis", {}):
        (tmp_path / folder).mkdir()
        run("-q", "--runs", tmp_path / "runs.jsonl", "--", "sh", "-c", "true", env=env, cwd=tmp_path / folder)
    assert [(line["name"], line.get("task")) for line in lines_of(tmp_path / "runs.jsonl")] == [
        ("sh", "align"), ("sh", "align"), ("sh (redis)", None)]


def test_the_host_may_be_a_part_of_the_name_of_a_file_of_runs(run, tmp_path):
    """Machines that share a folder have files of their own."""
    host, recording = os.uname().nodename, tmp_path / "run.jsonl"
    template = str(tmp_path / "%h-%%.jsonl")
    (tmp_path / "runs").mkdir()
    assert run("-q", "-o", recording, "--runs", template, "--", "true").returncode == 0
    assert run("-q", "--", "true", env={"TRACKER_RUNS": template}).returncode == 0
    assert run("runs", "add", "--runs", template, recording).returncode == 0
    assert run("runs", "add", recording, env={"TRACKER_RUNS": template}).returncode == 0
    assert len(json_lines(tmp_path / f"{host}-%.jsonl")) == 4
    assert json.loads(run("compare-runs", "--json", "--last-good", 2, recording, env={"TRACKER_RUNS": template}).out)
