"""Every option by flag, by environment variable and by TOML key; precedence, refused values and messages."""
import fcntl
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import pty
import re
import shutil
import signal
import subprocess
import time

import pytest

OWN_ERROR = 125
TOP = pathlib.Path(__file__).resolve().parents[2]
ORIGINS = ["flag", "environment", "file"]


def load_check_docs():
    loader = importlib.machinery.SourceFileLoader("check_docs", str(TOP / "tools" / "check-docs"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


OPTIONS = {option.name: option for option in (lambda docs: docs.read_options(docs.settings_text()))(load_check_docs())}


@pytest.fixture
def give(tmp_path):
    """give(origin, name, value, ...) sets options at that origin; returns arguments and environment for run()."""

    def put(origin, *pairs):
        arguments, environment, tables = [], {}, {}
        for name, value in pairs:
            option = OPTIONS[name]
            if origin == "flag" and option.kind == "SWITCH":
                arguments.append(f"--{name}")
            elif origin == "flag" and option.kind == "OPTIONAL":
                arguments.append(f"--{name}={value}")
            elif origin == "flag":
                arguments += [f"--{name}", str(value)]
            elif origin == "environment":
                environment[option.variable] = "yes" if value is True else str(value)
            else:
                table, key = option.toml_key.split(".")
                tables.setdefault(table, {})[key] = value
        if origin == "file":
            (tmp_path / "resource-tracker.toml").write_text("".join(
                f"[{table}]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in keys.items())
                for table, keys in tables.items()))
        return arguments, environment

    return put


@pytest.fixture(params=ORIGINS)
def run_with(request, run, give):
    """run_with([(name, value), ...], *arguments) sets the options by flag, environment or file, in turn."""
    if request.param == "file":
        request.getfixturevalue("needs_toml")

    def start(pairs, *arguments, **popen):
        given, environment = give(request.param, *pairs)
        popen.setdefault("env", {}).update(environment)
        return run(*given, *arguments, **popen)

    start.origin = request.param
    return start


@pytest.fixture
def recorded_with(run_with, helpers, tmp_path):
    """Returns the samples of a run of `true`, or of other arguments, with the options set in each way."""

    def start(pairs, *arguments, **popen):
        path = tmp_path / "recorded.jsonl"
        result = run_with(pairs, "-o", path, *(arguments or ["--", "true"]), **popen)
        assert result.returncode == 0, result.err
        return helpers.json_lines(path)

    return start


@pytest.fixture
def sleeper():
    """Starts a process to attach to."""
    started = []

    def start(secs):
        started.append(subprocess.Popen(["sleep", str(secs)]))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()


TESTED = set()


def of_options(*names):
    """Registers a test for these options, so that none is forgotten."""
    TESTED.update(names)
    return lambda function: function


# ---- each option ---------------------------------------------------------------------------------------


def test_an_attached_process_is_named_without_its_arguments(run, tmp_path):
    target = subprocess.Popen(["/bin/sh", "-c", "read secret", "password"], stdin=subprocess.PIPE)
    try:
        run("-o", tmp_path / "x.jsonl", "--pid", target.pid, "--duration", "0.2s", "-i", "0.1")
        start = json.loads((tmp_path / "x.jsonl").read_text().splitlines()[0])["run_start"]
        assert (start["mode"], start["executable"], start["argument_count"], start["command"]) == ("attach", "sh", None, None)
        assert run("summary", tmp_path / "x.jsonl").out.startswith("sh, on ")
    finally:
        target.kill()
        target.communicate()


@of_options("pid")
def test_pid(run_with, helpers, sleeper):
    target = sleeper(30)
    result = run_with([("pid", target.pid)], "--duration", 0.2, "-i", 0.1)
    assert result.returncode == 0
    assert {sample["tracked_pid"] for sample in helpers.json_lines(result.stdout)} == {target.pid}


@of_options("no-children")
def test_no_children(recorded_with):
    assert recorded_with([("no-children", True)])[0]["run_start"]["children"] is False
    assert recorded_with([])[0]["run_start"]["children"] is True


@of_options("keep-running")
@pytest.mark.parametrize("keep", [True, False])
def test_keep_running(recorded_with, sleeper, keep):
    target = sleeper(0.3)
    pairs = [("keep-running", True)] if keep else []
    last = recorded_with(pairs, "--pid", target.pid, "--duration", 1, "-i", 0.1)[-1]
    assert last["run_end"]["reason"] == ("duration" if keep else "target_exited")


@of_options("wait-descendants")
@pytest.mark.parametrize("wait", [True, False])
def test_wait_descendants(recorded_with, wait):
    pairs = [("wait-descendants", True)] if wait else []
    job = ["sh", "-c", "sleep 0.8 >/dev/null 2>&1 & sleep 0.1"]
    last = recorded_with(pairs, "--", *job)[-1]
    assert last["run_end"]["descendants_running"] == (0 if wait else 1)
    assert (last["elapsed_secs"] >= 0.7) is wait


@of_options("interval")
def test_interval(recorded_with):
    samples = recorded_with([("interval", 0.1)], "--", "sleep", 0.35)
    assert samples[0]["run_start"]["interval_secs"] == 0.1
    # On a busy machine the sleep takes longer, but the grid stays.
    ticks = len(samples) - 1 + sum(sample["missed_ticks"] for sample in samples)
    assert ticks == int(samples[-1]["elapsed_secs"] / 0.1)
    assert ticks >= 3


@of_options("align")
def test_align(recorded_with):
    samples = recorded_with([("align", True)], "-i", 0.2, "--", "sleep", 1.5)
    assert samples[0]["run_start"]["aligned"] is True
    # On a busy machine a tick may be late, but hardly all of them. The last sample is the job's end.
    assert min(sample["timestamp"] % 0.2 for sample in samples[1:-1]) < 0.02


@of_options("start-at")
def test_start_at(recorded_with):
    started = time.time()
    samples = recorded_with([("start-at", "+0.4")], "-i", 0.1, "--", "sleep", 0.8)
    assert samples[0]["timestamp"] >= started + 0.4


@of_options("duration")
def test_duration(recorded_with, run_with):
    samples = recorded_with([("duration", 0.3)], "-i", 0.1, "--", "sleep", 0.7)
    assert samples[-1]["run_end"]["reason"] == "duration"
    result = run_with([("duration", 0.2)], "--", "sh", "-c", "sleep 0.6; exit 7")
    assert result.returncode == 7 and result.wall_secs >= 0.6


@of_options("no-system")
def test_no_system(recorded_with):
    sample = recorded_with([("no-system", True)])[0]
    assert sample["memory"]["used_mib"] is None and sample["cpu"]["process_utime_secs"] is not None


@of_options("no-process")
def test_no_process(recorded_with):
    sample = recorded_with([("no-process", True)])[0]
    assert sample["memory"]["used_mib"] is not None and sample["cpu"]["process_utime_secs"] is None


@of_options("no-process-network")
def test_no_process_network(recorded_with):
    figures = recorded_with([("no-process-network", True)])[0]["cpu"]
    assert all(value is None for name, value in figures.items() if name.startswith("process_net_"))
    assert figures["process_utime_secs"] is not None


@of_options("metrics")
def test_metrics(recorded_with):
    sample = recorded_with([("metrics", "memory.used_mib,cpu.process_*")])[0]
    assert sample["memory"]["used_mib"] is not None and sample["cpu"]["process_utime_secs"] is not None
    assert sample["memory"]["free_mib"] is None and sample["cpu"]["utime_secs"] is None
    sample = recorded_with([("metrics", "memory,disk.mounts")], "--", "sleep", 0.2)[0]
    assert sample["memory"]["free_mib"] is not None
    # A container may have no file system to report.
    assert all(mount["total_bytes"] > 0 for disk in sample["disk"] for mount in disk["mounts"])
    assert sample["cpu"]["utime_secs"] is None


@of_options("signal-at")
def test_signal_at(recorded_with):
    rules = ["memory=100%:TERM", "time=-1m/1h:HUP"]
    last = recorded_with([("signal-at", ",".join(rules))])[-1]
    assert [row["rule"] for row in last["signals_at"]] == rules


@of_options("waits")
def test_waits(recorded_with):
    job = ("-i", 0.1, "--", "sleep", 1)
    assert recorded_with([("waits", "off")], *job)[-1]["run_end"]["waits"] in (None, [])
    assert [row["class"] for row in recorded_with([("waits", "1")], *job)[-1]["run_end"]["waits"]] == ["sleep"]


@of_options("programs")
def test_programs(recorded_with):
    off = recorded_with([("programs", "off")], "-i", 0.1, "--", "sleep", 0.25)
    assert {sample["programs"] is None for sample in off} == {True}
    one = recorded_with([("programs", "1")], "-i", 0.1, "--", "sh", "-c", "sleep 0.25; true")
    assert {len(sample["programs"]) for sample in one} <= {1, 2}


@of_options("pss")
def test_pss(recorded_with):
    off = recorded_with([("pss", "off")], "-i", 0.1, "--", "sleep", 0.25)
    assert {sample["cpu"]["process_pss_mib"] for sample in off} == {None}
    always = recorded_with([("pss", "always")], "-i", 0.1, "--", "sleep", 0.25)
    assert always[0]["cpu"]["process_pss_mib"] > 0


@of_options("cgroup")
def test_cgroup(recorded_with, run_with):
    assert recorded_with([("cgroup", "off")])[0]["cpu"]["process_cpu_source"] == "clock"
    result = run_with([("cgroup", "require")], "-q", "--", "cat", "/proc/self/cgroup")
    if result.returncode == OWN_ERROR:
        assert "--cgroup=require: no control group can be made" in result.err
    else:
        assert result.out.splitlines()[-1] != pathlib.Path("/proc/self/cgroup").read_text().splitlines()[-1]


@of_options("gpus", "gpu-vendor")
def test_gpus(recorded_with, run_with):
    # test_gpu_nvidia.py tests their choice.
    recorded_with([("gpus", "all"), ("gpu-vendor", "nvidia")])
    assert "is unknown; give used, visible, all" in run_with([("gpus", "nonsense")], "-q", "--", "true").err


@of_options("static-once")
def test_static_once(recorded_with):
    # Mounts, programs and the source of the memory are identities too, and change while other tests load the machine.
    def second(pairs):
        return recorded_with(pairs, "--metrics", "cpu.process_cpu_source", "--programs", "off", "-i", 0.1, "--", "sleep", 0.25)[1]

    once, always = second([("static-once", True)]), second([])
    assert always["host"] and always["tracked_pid"] and always["cpu"]["process_cpu_source"]
    assert "host" not in once and "tracked_pid" not in once and "process_cpu_source" not in once["cpu"]
    assert once["elapsed_secs"] > 0
    # The end comes once, so no value of it repeats an earlier one.
    end = recorded_with([("static-once", True)], "-i", 0.1, "--duration", 0.25)[-1]["run_end"]
    assert end["reason"] == "duration" and "exit_code" in end


@of_options("record-targets")
def test_record_targets(recorded_with, tmp_path):
    held = tmp_path / "held"
    with open(held, "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        words = ["-i", 0.1, "--", "sh", "-c", f"timeout 1.5 flock {held} true; true"]
        (row,) = recorded_with([("record-targets", True)], *words)[-1]["run_end"]["waits"]
        assert (row["class"], row["detail"]) == ("file_lock", str(held))
        (row,) = recorded_with([], *words)[-1]["run_end"]["waits"]
        assert (row["class"], row["detail"]) == ("file_lock", None)


@of_options("record-command")
def test_record_command(recorded_with):
    command = ["sh", "-c", "true", "secret word"]
    recorded = recorded_with([("record-command", True)], "--", *command)[0]["run_start"]["command"]
    assert json.loads(recorded) == command
    start = recorded_with([], "--", *command)[0]["run_start"]
    assert start["command"] is None and (start["executable"], start["argument_count"]) == ("sh", 4)


@of_options("root")
def test_root(recorded_with, tmp_path):
    (tmp_path / "tree" / "proc").mkdir(parents=True, exist_ok=True)
    (tmp_path / "tree" / "proc" / "meminfo").write_text("MemTotal: 2048 kB\nMemFree: 1024 kB\n")
    sample = recorded_with([("root", "tree")], "-i", 0.1, "--duration", 0.2)[0]
    assert sample["memory"]["total_mib"] == 2.0


@of_options("output")
def test_output(run_with, helpers, tmp_path):
    result = run_with([("output", "named.jsonl")], "--", "true")
    assert result.stderr == b"" and helpers.json_lines(tmp_path / "named.jsonl")


@of_options("format")
def test_format(run_with):
    assert run_with([("format", "csv")], "--", "true").err.startswith("timestamp,")


@of_options("csv-layout")
def test_csv_layout(run_with):
    combined = run_with([], "-f", "csv", "--", "true").err.splitlines()[0]
    system = run_with([("csv-layout", "system")], "-f", "csv", "--", "true").err.splitlines()[0]
    assert "process_utime" in combined and "process_utime" not in system and system


@of_options("no-header")
def test_no_header(run_with):
    assert re.match(r"\d+\.\d{3},", run_with([("no-header", True)], "-f", "csv", "--", "true").err)


@of_options("append")
def test_append(recorded_with, tmp_path):
    first = recorded_with([("append", True)])
    assert len(recorded_with([("append", True)])) == 2 * len(first)
    assert not (tmp_path / "recorded.jsonl.1").exists()
    recorded_with([])
    assert (tmp_path / "recorded.jsonl.1").exists()


@of_options("quiet")
def test_quiet(run_with, tmp_path):
    result = run_with([("quiet", True)], "--", "true")
    assert (result.returncode, result.stdout, result.stderr) == (0, b"", b"")
    run_with([("quiet", True)], "-o", "named", "--", "true")
    assert (tmp_path / "named").stat().st_size > 0


METADATA = ["project-name", "stage-name", "task-name", "team", "env", "language", "orchestrator", "executor",
            "external-run-id", "container-image"]


@of_options("job-name", *METADATA)
def test_metadata(recorded_with):
    pairs = [(name, f"a {name} é\"") for name in METADATA]
    samples = recorded_with([("job-name", "nightly")] + pairs, "-i", 0.1, "--", "sleep", 0.15)
    assert {sample["job_name"] for sample in samples} == {"nightly"}
    for name, value in pairs:
        assert samples[0]["run_start"][name.replace("-", "_")] == value


@of_options("carbon-factor")
def test_carbon_factor(recorded_with, run):
    samples = recorded_with([("carbon-factor", 412.5)])
    assert samples[0]["run_start"]["carbon_g_per_kwh"] == 412.5
    for wrong in ("0", "-1", "x", "10001", "4 g", "nan"):
        result = run("--carbon-factor", wrong, "--", "true")
        assert result.returncode == OWN_ERROR and "must be grams per kWh" in result.err, result.err


@of_options("input", "input-bytes")
def test_input(run, give, needs_toml, helpers, tmp_path):
    """The size of what --input names, else of the regular files of the command, each inode once, without programs."""
    (tmp_path / "data" / "deep").mkdir(parents=True)
    for name, size in (("a.bin", 1000), ("b.bin", 20), ("data/x", 300), ("data/deep/y", 4000), ("tool", 7)):
        (tmp_path / name).write_bytes(b"x" * size)
    (tmp_path / "tool").chmod(0o755)
    os.link(tmp_path / "a.bin", tmp_path / "same.bin")
    (tmp_path / "pipe").symlink_to("/dev/zero")

    def recorded(*options, command=("true", "a.bin", "same.bin", "b.bin", "tool", "pipe", "data", "missing", "-x", "--in=a.bin"), env=None):
        result = run("--no-summary", "-o", "run.jsonl", *options, "--", *command, env=env)
        (tmp_path / "resource-tracker.toml").unlink(missing_ok=True)
        start = helpers.json_lines((tmp_path / "run.jsonl").read_bytes())[0]["run_start"]
        (tmp_path / "run.jsonl").unlink()
        return start["input_bytes"], start["input_source"], result.err
    assert recorded() == (1020, "arguments", "")
    (tmp_path / "many").mkdir()
    for number in range(257):
        (tmp_path / "many" / str(number)).write_bytes(b"x")
    files = [f"many/{number}" for number in range(257)]
    assert recorded(command=("true", *files[:256], *("-x",) * 9)) == (256, "arguments", "")
    # Half a sum would be a wrong size, and thousands of words would keep the job waiting.
    assert recorded(command=("true", *files)) == recorded(command=("true", *files[:256], "missing")) == (None, None, "")
    assert recorded(*(f"--input={name}" for name in files)) == (257, "option", "")
    assert recorded(command=("true",)) == recorded(command=("sh", "-c", "cat a.bin; true")) == (None, None, "")
    assert recorded("--input", "data", "--input", "b.bin") == (4320, "option", "")
    assert recorded("--input", "*.bin") == (1020, "option", "")
    for origin in ("flag", "environment", "file"):
        given, environment = give(origin, ("input-bytes", "123456789012"))
        assert recorded(*given, env=environment) == (123456789012, "option", "")
    size, source, words = recorded("--input", "none*")
    assert (size, source) == (None, None) and "the size of the input 'none*' is unknown" in words
    for wrong in ("0", "-1", "x", "nan", "1.5"):
        result = run("--input-bytes", wrong, "--", "true")
        assert result.returncode == OWN_ERROR and "must be a whole number of bytes above 0" in result.err, result.err


@of_options("tag")
def test_tag(run, give, needs_toml, helpers, tmp_path):
    for origin, value in [("environment", "a=1\nb=x=y\na=2"), ("file", ["a=1", "b=x=y", "a=2"])]:
        given, environment = give(origin, ("tag", value))
        run(*given, "-o", origin, "--", "true", env=environment)
        (tmp_path / "resource-tracker.toml").unlink(missing_ok=True)
    run("--tag", "a=1", "--tag=b=x=y", "--tag", "a=2", "-o", "flag", "--", "true")
    (tmp_path / "resource-tracker.toml").write_text("[job.tag]\na = 2\nb = 'x=y'\n")
    run("-o", "table", "--", "true")
    for name in ORIGINS + ["table"]:
        assert helpers.json_lines(tmp_path / name)[0]["run_start"]["tags"] == {"a": "2", "b": "x=y"}, name


def test_a_summary_that_was_asked_for_and_cannot_be_is_told(run, binary, tmp_path):
    alone = shutil.copy(binary, tmp_path)
    words = ["-o", tmp_path / "run.jsonl", "--", "sh", "-c", "exit 4"]
    asked = run("--summary", *words, program=alone)
    assert (asked.returncode, asked.err) == (4, "resource-tracker: --summary needs resource-tracker-analysis, which is not installed\n")
    assert run(*words, program=alone).err == ""


@of_options("summary")
def test_summary(run_with, program_with_analysis, tmp_path):
    path = (tmp_path / "run.jsonl").resolve()
    result = run_with([("summary", "text")], "-o", path, "--", "sh", "-c", "exit 4", program=program_with_analysis)
    assert (result.returncode, result.out, result.err) == (4, "", f"analysis summary --no-pager -- {path}\n")
    result = run_with([("summary", "json")], "-o", path, "--", "true", program=program_with_analysis)
    assert result.err == f"analysis summary --no-pager --json -- {path}\n"


@of_options("report")
def test_report(run_with, program_with_analysis, tmp_path):
    path = (tmp_path / "run.jsonl").resolve()
    arguments = ["-o", path, "--", "sh", "-c", "exit 4"]
    result = run_with([("report", "page.html")], *arguments, program=program_with_analysis)
    assert (result.returncode, result.out, result.err) == (4, "", f"analysis report --output=page.html -- {path}\n")
    result = run_with([("report", "page.html")], "-q", "--", "true", program=program_with_analysis)
    assert result.returncode == 0
    # The program that stands for the analysis ends with an error.
    assert re.fullmatch(r"analysis report --output=page.html -- recording=/proc/\d+/fd/\d+\n"
                        r"resource-tracker: the recording is kept in page.html.jsonl\n", result.err)


def run_on_terminal(program, *arguments, cwd, env):
    """Returns the program's output on stderr if that is a terminal."""
    leader, follower = pty.openpty()
    process = subprocess.Popen([program, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=follower, cwd=cwd, env=env)
    os.close(follower)
    text = b""
    while True:
        try:
            chunk = os.read(leader, 65536)
        except OSError:
            break
        text += chunk
    os.close(leader)
    assert process.wait() == 0
    return text.decode()


@of_options("no-summary")
def test_no_summary(give, needs_toml, program_with_analysis, helpers, tmp_path):
    def printed(*arguments, env=None):
        return run_on_terminal(program_with_analysis, *arguments, "--", "true", cwd=tmp_path,
                               env={**helpers.clean_environment(), **(env or {})})

    assert printed("-o", "run.jsonl").startswith("\r\nanalysis summary")
    assert printed("-q") == ""
    for origin in ORIGINS:
        given, environment = give(origin, ("no-summary", True))
        assert printed("-o", "run.jsonl", *given, env=environment) == ""
    assert printed("-o", "run.jsonl", "--summary").startswith("\r\nanalysis summary")


@of_options("history", "no-history")
def test_history(give, needs_toml, program_with_analysis, helpers, tmp_path):
    def printed(*settings, origin="flag"):
        arguments, environment = give(origin, *settings)
        return run_on_terminal(program_with_analysis, *arguments, "--", "true", cwd=tmp_path, env={
            **{name: value for name, value in helpers.clean_environment().items() if name != "TRACKER_HISTORY"},
            "XDG_STATE_HOME": str(tmp_path / "state"), **environment})

    for number, origin in enumerate(ORIGINS, 1):
        kept = tmp_path / "kept" / f"{number}.jsonl"
        assert printed(("history", str(kept.parent)), origin=origin) == f"\r\nanalysis --keep text {kept}\r\n"
        for setting in ("history", "off"), ("no-history", True):
            assert printed(setting, origin=origin).startswith('{"timestamp_secs"')
    assert not (tmp_path / "state").exists()


@of_options("runs")
def test_runs(run_with, program_with_analysis, tmp_path):
    lines, recording = str(tmp_path / "runs.jsonl"), (tmp_path / "run.jsonl").resolve()
    result = run_with([("runs", lines)], "-o", recording, "--no-summary", "--", "sh", "-c", "exit 4", program=program_with_analysis)
    later = f"resource-tracker: to append it later: resource-tracker runs add {recording} --runs {lines}"
    assert (result.returncode, result.err.splitlines()) == (4, [f"analysis runs --runs={lines} -- add {recording}", later])


@of_options("why")
def test_why(run_with):
    lines = run_with([("why", True)], "-q", "--", "true").err.splitlines()
    assert lines and all(re.fullmatch(r"resource-tracker: null: [\w.]+( \(.+\))?: .+", line) for line in lines)
    assert run_with([], "-q", "--", "true").err == ""


def test_why_names_the_true_reason(run):
    said = run("--why", "-q", "--", "true").err
    for name in ("job_name", "rank", "run_start.team", "run_start.command"):
        assert f"null: {name}: it was not given or not requested\n" in said, said
    assert "null: run_end.signal: the run ended in another way\n" in said and "run_end.exit_code" not in said, said


@pytest.mark.parametrize("options, signo, evidence", [
    ([], signal.SIGTERM, "the tracker got SIGTERM"),
    ([], signal.SIGINT, "the tracker got SIGINT"),
    (["--duration", "0.2"], 0, "the duration that was asked for is over"),
    (["--pid"], 0, "the process has gone"),
])
def test_the_evidence_of_an_end_without_a_job(spawn, helpers, tmp_path, options, signo, evidence):
    path = tmp_path / "end.jsonl"
    target = subprocess.Popen(["sleep", "60"]) if options == ["--pid"] else None
    tracker = spawn("-i", "0.05", "-o", path, *options, *([target.pid] if target else []))
    if signo or target:
        helpers.wait_until(lambda: path.exists() and path.read_bytes().count(b"\n") >= 2)
    if signo:
        tracker.send_signal(signo)
    if target:
        target.kill()
        target.wait()
    assert tracker.wait() == 0
    said = helpers.json_lines(path)[-1]["run_end"]["evidence"]
    # If another program is short of memory, the machine has pressure, too.
    assert said == evidence or said.startswith(f"{evidence}; "), said


@of_options("no-warnings")
def test_no_warnings(run, needs_toml, tmp_path):
    (tmp_path / "resource-tracker.toml").write_text("[tracker]\nbogus = 1\ninterval_secs = 0\n")
    assert len(run("-q", "--", "true").err.splitlines()) == 2
    assert run("-q", "--no-warnings", "--", "true").err == ""
    assert run("-q", "--", "true", env={"TRACKER_NO_WARNINGS": "1"}).err == ""
    (tmp_path / "resource-tracker.toml").write_text("[tracker]\nno_warnings = true\ninterval_secs = 0\n")
    assert run("-q", "--", "true").err == ""


@of_options("spool", "stream", "upload-deadline")
def test_streaming_options(run, binary, needs_toml, tmp_path):
    """Without a server, unsent samples stay in the folder of the option, and the end is not delayed for long."""
    if not pathlib.Path(binary).with_name("resource-tracker-net").exists():
        pytest.skip("resource-tracker-net is not built")
    token = {"SENTINEL_API_TOKEN": "not-a-secret", "SENTINEL_API_URL": "http://127.0.0.1:1"}
    (tmp_path / "resource-tracker.toml").write_text(f"[tracker]\nspool = '{tmp_path}/c'\nupload_deadline = 0.2\n")
    for arguments, env, folder in ((["--spool", tmp_path / "a", "--upload-deadline", 0.2], {}, "a"),
                                   ([], {"TRACKER_SPOOL": str(tmp_path / "b"), "TRACKER_UPLOAD_DEADLINE": "0.2"}, "b"),
                                   ([], {}, "c")):
        result = run(*arguments, "-q", "--", "true", env={**token, **env})
        assert result.returncode == 0 and result.wall_secs < 3
        assert list((tmp_path / folder).glob("*.spool"))
    assert run("--upload-deadline", "soon", "--", "true").returncode == 125
    for arguments, env in (["--stream", "off"], {}), ([], {"TRACKER_STREAM": "off"}):
        assert run("--spool", tmp_path / "d", *arguments, "-q", "--", "true", env={**token, **env}).err == ""
        assert not (tmp_path / "d").exists()


@of_options("cloud")
def test_cloud(run, needs_toml, tmp_path):
    """Without a server, the tracker still asks, and the value is null. test_net_cloud.py has the other cases."""
    nobody = {"TRACKER_METADATA_URL": "http://127.0.0.1:1"}
    (tmp_path / "other.toml").write_text("[tracker]\ncloud = true\n")
    for arguments, env in (["--cloud"], nobody), ([], {**nobody, "TRACKER_CLOUD": "1"}), (["-c", "other.toml"], nobody):
        result = run(*arguments, "-q", "--", "true", env={**env, "TRACKER_NET": "/nonexistent"})
        assert result.returncode == 0 and "the cloud is not asked for" in result.err


@of_options("config")
def test_config(run, needs_toml, tmp_path):
    (tmp_path / "other.toml").write_text("[tracker]\nformat = 'csv'\n")
    assert run("--config", "other.toml", "--", "true").err.startswith("timestamp,")
    assert run("--", "true", env={"TRACKER_CONFIG": "other.toml"}).err.startswith("timestamp,")
    assert run("-q", "--", "true").err == ""
    for named in ({"env": {"TRACKER_CONFIG": "missing.toml"}}, {}):
        words = [] if named else ["-c", "missing.toml"]
        result = run(*words, "-q", "--", "echo", "ran", **named)
        assert (result.returncode, result.out) == (0, "ran\n")
        assert result.err == "resource-tracker: missing.toml: No such file or directory; going on without it\n"
    assert run("-c", "missing.toml", "--no-warnings", "-q", "--", "true").err == ""


def test_settings_of_a_site_are_the_weakest(run, needs_toml, tmp_path):
    """As in /etc/resource-tracker/config.toml."""
    (tmp_path / "site.toml").write_text("[job]\nname = 'site'\nteam = 'blue'\n[tracker]\nformat = 'json'\nbogus = 1\ninterval_secs = 'often'\n")
    (tmp_path / "resource-tracker.toml").write_text("[job]\nname = 'folder'\n")
    site = {"TRACKER_SITE_CONFIG": "site.toml"}

    def names(*words, **env):
        result = run("--no-warnings", *words, "--", "true", env={**site, **env})
        first = json.loads(result.err.splitlines()[0])
        return first["job_name"], first["run_start"]["team"]

    assert names() == ("folder", "blue")
    assert names(TRACKER_JOB_NAME="variable") == ("variable", "blue")
    assert names("--job-name", "option", "--team", "red") == ("option", "red")
    assert names(TRACKER_SITE_CONFIG="") == ("folder", None)
    result = run("-q", "--", "echo", "ran", env=site)
    assert (result.returncode, result.out) == (0, "ran\n")
    assert [line.split(": ")[1] for line in result.err.splitlines()] == ["site.toml:6", "site.toml:7"]
    result = run("-q", "--", "echo", "ran", env={"TRACKER_SITE_CONFIG": "missing.toml"})
    assert (result.returncode, result.out) == (0, "ran\n") and "missing.toml: No such file or directory; going on without it" in result.err


@of_options("help")
def test_help_fits_a_terminal(run):
    result = run("--help")
    assert result.returncode == 0 and result.err == ""
    assert max(map(len, result.out.splitlines())) <= 80
    assert len(result.out.splitlines()) <= 76
    assert run("-h").out == result.out
    assert run("-i", 1, "--help", "--", "false").out == result.out
    everything = run("--help=all")
    assert everything.returncode == 0 and max(map(len, everything.out.splitlines())) <= 80
    assert set(re.findall(r"^  (?:-\w, |    )--([\w-]+)", everything.out, re.M)) == set(OPTIONS)
    shown = set(re.findall(r"^  (?:-\w, |    )--([\w-]+)", result.out, re.M))
    assert {option.name for option in OPTIONS.values() if option.letter} <= shown < set(OPTIONS)
    assert "Examples:" in result.out and "--help=all" in result.out
    assert "give --help or --help=all" in run("--help=most").err


@of_options("version", "verbose")
def test_version(run):
    assert re.fullmatch(r"resource-tracker \d+\.\d+\.\d+\n", run("--version").out)
    assert run("-V").out == run("--version").out
    more = run("--version", "--verbose").out
    assert more.startswith(run("--version").out) and "\ncompiler:" in more


def test_every_option_has_a_test():
    assert TESTED == set(OPTIONS)


# ---- precedence ---------------------------------------------------------------------------------------


def test_flags_over_environment_over_file_over_default(record, needs_toml, tmp_path):
    def interval(*arguments, env=None):
        result, samples = record(*arguments, "--", "true", env=env)
        assert result.returncode == 0
        return samples[0]["run_start"]["interval_secs"]

    assert interval() == 1.0
    (tmp_path / "resource-tracker.toml").write_text("[tracker]\ninterval_secs = 20\n")
    assert interval() == 20.0
    assert interval(env={"TRACKER_INTERVAL": "30"}) == 30.0
    assert interval("-i40", env={"TRACKER_INTERVAL": "30"}) == 40.0
    assert interval("--interval=40", env={"TRACKER_INTERVAL": "nonsense"}) == 40.0
    assert interval(env={"TRACKER_INTERVAL": ""}) == 20.0


def test_lists_of_a_stronger_place_replace_those_of_a_weaker(record, tmp_path):
    (tmp_path / "resource-tracker.toml").write_text("[job]\ntag = ['a=1']\n")
    _, samples = record("--", "true", env={"TRACKER_TAG": "b=2"})
    assert samples[0]["run_start"]["tags"] == {"b": "2"}
    _, samples = record("--tag", "c=3", "--", "true", env={"TRACKER_TAG": "b=2"})
    assert samples[0]["run_start"]["tags"] == {"c": "3"}


@pytest.mark.parametrize("word, yes", [("1", True), ("TRUE", True), ("yes", True), ("on", True),
                                       ("0", False), ("false", False), ("No", False), ("off", False)])
def test_spellings_of_yes_and_no(run, word, yes):
    assert (run("--", "true", env={"TRACKER_QUIET": word}).err == "") is yes


def test_a_switch_can_be_taken_back(run):
    assert run("--quiet=no", "--", "true", env={"TRACKER_QUIET": "1"}).err != ""


def test_short_options_can_be_joined(record):
    _, samples = record("-qi7", "-nname", "--", "true")
    assert (samples[0]["run_start"]["interval_secs"], samples[0]["job_name"]) == (7.0, "name")


def test_configured_pid_is_ignored_while_wrapping(record, tmp_path):
    (tmp_path / "resource-tracker.toml").write_text("[job]\npid = 1\n")
    result, samples = record("--", "true", env={"TRACKER_PID": "1"})
    assert result.returncode == 0 and samples[0]["tracked_pid"] not in (None, 1)
