"""The recorder that Slurm's plugin starts is outside the limits of the job: nothing of root reaches it, and no code of the job.

tests/fakes/slurmstepd.c stands for slurmstepd. tools/ci-slurm runs the plugin in a real one.
"""
import fcntl
import json
import os
import pathlib
import resource
import subprocess
import time

import pytest

import exact
from users import VICTIM, needs_root

pytestmark = needs_root()

# A recorder that tells what it was started with, and then what it is told.
SPY = """#!/bin/sh
env >env
ls -l /proc/$$/fd >files
grep -E '^(Uid|Gid|Groups|SigBlk|Cap(Prm|Eff)):' /proc/self/status >status
cat /proc/$$/oom_score_adj >oom
cat /proc/$$/cgroup >group
cat /proc/$$/limits >limits
printf '\\000' >&3
cat <&3 >told
echo done >end
"""


@pytest.fixture
def slurmstepd(binary, home):
    """slurmstepd(recorder, "sh", "-c", "exit 3", preexec_fn=..., NAME=value) runs a task of the victim in its home."""
    program = pathlib.Path(binary).parent / "tests" / "fakes" / "slurmstepd"

    def start(recorder, *job, words=(), preexec_fn=None, pass_fds=(), **environment):
        return subprocess.run([program, str(VICTIM), str(VICTIM), "default=on", f"recorder={recorder}", *words, "--", *job], cwd=home,
                              env={"PATH": os.environ["PATH"], "PWD": str(home), **environment}, stdin=subprocess.DEVNULL,
                              preexec_fn=preexec_fn, pass_fds=pass_fds, capture_output=True, text=True, timeout=50, check=False)
    return start


@pytest.fixture
def spy(home, public_folder):
    path = public_folder / "spy"
    path.write_text(SPY)
    path.chmod(0o755)
    return path


def variables(home):
    return dict(line.split("=", 1) for line in (home / "env").read_text().splitlines() if "=" in line)


def test_no_program_or_library_of_the_job_runs_outside_of_it(slurmstepd, spy, home, helpers):
    code = dict.fromkeys(("TRACKER_HELPER", "TRACKER_NET", "TRACKER_NVML_LIBRARY", "LD_LIBRARY_PATH", "BASH_ENV", "ENV"),
                         "/nonexistent/code")
    done = slurmstepd(spy, "sh", "-c", "exit 3", TRACKER_INTERVAL="10", TRACKER_HELPERS="yes", SLURM_JOB_NAME="n",
                      TRACKER_INPUT="a\nb", TRACKER_INPUT_BYTES="5", **code)
    assert done.returncode == 3, done.stderr
    helpers.wait_until(lambda: (home / "end").exists())
    told = variables(home)
    assert told["SLURM_CPUS_ON_NODE"] == "3"
    assert told["TRACKER_INTERVAL"] == "10" and told["SLURM_JOB_NAME"] == "n" and told["TRACKER_HELPERS"] == "yes"
    assert told["TRACKER_INPUT_BYTES"] == "5" and told["TRACKER_INPUT"] == "a"
    assert not set(code) & set(told)


@pytest.mark.parametrize("variable, size", [({"TRACKER_INPUT_BYTES": "5000000000"}, 5000000000), ({"TRACKER_INPUT": "a\n*.csv"}, 320)])
def test_a_job_tells_its_input_by_variables(slurmstepd, public_programs, home, helpers, variable, size):
    for name, bytes_ in (("a", 20), ("b.csv", 300)):
        (home / name).write_bytes(bytes(bytes_))
    assert slurmstepd(public_programs, "sleep", "0.2", **variable).returncode == 0
    record = home / "slurm-7.0.0.jsonl"
    helpers.wait_until(lambda: record.exists() and '"run_end":{' in record.read_text())
    start = json.loads(record.read_text().splitlines()[0])["run_start"]
    assert (start["input_bytes"], start["input_source"]) == (size, "option")


def test_it_is_an_ordinary_process_of_the_user(slurmstepd, spy, home, helpers):
    def be_slurmstepd():
        os.setgroups([0, 5])
        # slurmstepd has -1000, for which some containers lack the right.
        with open("/proc/self/oom_score_adj", "w") as score:
            score.write("400")
    done = slurmstepd(spy, "true", preexec_fn=be_slurmstepd)
    assert done.returncode == 0, done.stderr
    helpers.wait_until(lambda: (home / "end").exists())
    status = dict(line.split(":", 1) for line in (home / "status").read_text().splitlines())
    assert set(status["Uid"].split() + status["Gid"].split() + status["Groups"].split()) == {str(VICTIM)}
    assert {int(status[name], 16) for name in ("CapPrm", "CapEff", "SigBlk")} == {0}
    assert (home / "oom").read_text().strip() == "0"


@pytest.mark.skipif(not exact.UNIFIED, reason="no control groups of version 2 here")
@pytest.mark.parametrize("inside, recorder", [
    ("scope/job_7/step_0/slurm", "scope/resource-tracker"),
    ("scope/sABC/step_batch/slurm", "scope/resource-tracker"),
    ("step_0/job_7/step_0/slurm", "step_0/resource-tracker"),
    ("scope/slurmd", "scope/slurmd"),
])
def test_it_is_outside_the_control_groups_of_the_job(slurmstepd, spy, home, helpers, inside, recorder):
    """At the end of a step, Slurm kills all processes of the groups of version 2 that the step has."""
    with exact.cgroup_around("slurm") as around:
        (around / inside).mkdir(parents=True)
        try:
            done = slurmstepd(spy, "true", preexec_fn=exact.enter(around / inside))
            assert (done.returncode, done.stderr) == (0, "")
            helpers.wait_until(lambda: (home / "end").exists())
            group = next(line for line in (home / "group").read_text().splitlines() if line.startswith("0::"))
            assert group.endswith(f"/{around.name}/{recorder}")
        finally:
            helpers.wait_until(lambda: not any(path.read_text() for path in around.rglob("cgroup.procs")))
            for folder in sorted((path for path in around.rglob("*") if path.is_dir()), reverse=True):
                folder.rmdir()


def test_no_file_of_root_reaches_it(slurmstepd, spy, home, helpers):
    """With many tasks, slurmstepd has more than 1024 files open."""
    secret = os.open("/etc/shadow", os.O_RDONLY)
    high = [fcntl.fcntl(secret, fcntl.F_DUPFD, number) for number in (10, 1023, 1500)]
    done = slurmstepd(spy, "true", pass_fds=high)
    for descriptor in (secret, *high):
        os.close(descriptor)
    assert done.returncode == 0, done.stderr
    helpers.wait_until(lambda: (home / "end").exists())
    assert "shadow" not in (home / "files").read_text()


def test_a_task_is_recorded_with_its_end(slurmstepd, binary, home, public_programs, helpers):
    done = slurmstepd(public_programs, "sh", "-c", "exit 3")
    assert done.returncode == 3, done.stderr
    record = home / "slurm-7.0.0.jsonl"
    helpers.wait_until(lambda: record.exists() and '"run_end":{' in record.read_text())
    end = json.loads(record.read_text().splitlines()[-1])["run_end"]
    assert (end["reason"], end["exit_code"]) == ("exit", 3)
    assert record.stat().st_uid == VICTIM


@pytest.mark.parametrize("recorder", ("/nonexistent", "/bin/false"))
def test_a_recorder_that_cannot_start_changes_nothing_about_the_task(slurmstepd, recorder):
    done = slurmstepd(recorder, "sh", "-c", "echo ran; exit 3")
    assert (done.returncode, done.stdout) == (3, "ran\n")
    assert "did not start" in done.stderr


@pytest.mark.parametrize("settings, reason", [
    ({"TRACKER_INTERVAL": "bogus"}, "TRACKER_INTERVAL: 'bogus' is not a length of time"),
    ({"TRACKER_TAG": "bogus"}, "TRACKER_TAG: 'bogus' has no '='"),
    ({"PWD": "/proc"}, "cannot write to 'slurm-7.0.0.jsonl'"),
])
def test_the_reason_of_a_recorder_that_refuses_is_in_the_log(slurmstepd, public_programs, settings, reason):
    done = slurmstepd(public_programs, "sh", "-c", "echo ran; exit 3", **settings)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (3, "ran\n", 1)
    assert done.stderr.startswith("resource_tracker: the recorder of task 0 of job 7 did not start: resource-tracker: ")
    assert reason in done.stderr


def test_a_crash_leaves_no_core_in_the_folder_of_the_job(slurmstepd, spy, home, helpers):
    assert slurmstepd(spy, "true", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (1000000, 1000000))).returncode == 0
    helpers.wait_until(lambda: (home / "end").exists())
    core = next(line for line in (home / "limits").read_text().splitlines() if line.startswith("Max core file size"))
    assert core.split()[4:6] == ["0", "0"]


def test_signals_to_slurmstepd_do_not_end_the_wait_for_the_recorder(slurmstepd, home, public_folder):
    slow = public_folder / "slow"
    slow.write_text("#!/bin/sh\nsleep 0.3\nprintf '\\000' >&3\ncat <&3 >told\n")
    slow.chmod(0o755)
    done = slurmstepd(slow, "sh", "-c", "exit 3")
    assert (done.returncode, done.stderr) == (3, "")


def test_recorders_that_hang_hold_a_step_up_for_5_s_in_all(slurmstepd, public_folder):
    """As if the folder of the job were on a server that does not answer: chdir() comes before the recorder is there."""
    stuck = public_folder / "stuck"
    stuck.write_text("#!/bin/sh\nexec sleep 20\n")
    stuck.chmod(0o755)
    before = time.monotonic()
    done = slurmstepd(stuck, "sh", "-c", "exit 3", TASKS="10")
    assert done.returncode == 3 and done.stderr.count("did not start") == 10
    assert 5 <= time.monotonic() - before < 12


@pytest.mark.parametrize("given, words, interval", [
    ({"TRACKER_INTERVAL": "1ms"}, (), 0.1), ({"TRACKER_INTERVAL": "1ms"}, ["interval=500ms"], 0.5),
    ({"TRACKER_INTERVAL": "7"}, (), 7), ({}, (), 1), ({"TRACKER_CONFIG": "fast.toml"}, (), 0.1)])
def test_a_job_cannot_choose_a_recorder_that_keeps_a_cpu_busy(slurmstepd, public_programs, home, helpers, request, given, words, interval):
    if "TRACKER_CONFIG" in given:
        request.getfixturevalue("needs_toml")
    (home / "fast.toml").write_text("[tracker]\ninterval_secs = 0.001\n")
    assert slurmstepd(public_programs, "sleep", "0.2", words=words, **given).returncode == 0
    record = home / "slurm-7.0.0.jsonl"
    helpers.wait_until(lambda: record.exists() and '"run_end":{' in record.read_text())
    assert json.loads(record.read_text().splitlines()[0])["run_start"]["interval_secs"] == interval


@pytest.mark.parametrize("own", (False, True))
def test_the_administrator_names_the_file_of_runs(slurmstepd, spy, home, helpers, own):
    """A job with --export=NONE has no variables, and those of a TaskProlog come too late."""
    done = slurmstepd(spy, "true", words=["runs=/srv/runs.jsonl"], **({"TRACKER_RUNS": "own"} if own else {}))
    assert (done.returncode, done.stderr) == (0, "")
    helpers.wait_until(lambda: (home / "end").exists())
    assert variables(home)["TRACKER_RUNS"] == ("own" if own else "/srv/runs.jsonl")
