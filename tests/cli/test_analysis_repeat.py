"""repeat: runs of one command or two in turn, their figures with the spread, statuses and signals."""
import json
import os
import pathlib
import pty
import re
import signal
import statistics
import subprocess
import sys
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "fakes"))
import exact  # noqa: E402
from sentinel_support import needs_net  # noqa: E402


@pytest.fixture
def kept(tmp_path):
    """An environment whose history is in tmp_path/history."""
    return {"TRACKER_HISTORY": str(tmp_path / "history"), "TMPDIR": str(tmp_path)}


def results(run, *arguments, **popen):
    result = run("repeat", "--json", "-", *arguments, **popen)
    return result, json.loads(result.out) if result.out else None


def test_hyperfines_keys_are_in_seconds_and_agree_with_the_times(run):
    result, answer = results(run, "-n", 4, "sleep", 0.05)
    one, = answer["results"]
    assert result.returncode == 0 and one["command"] == "sleep 0.05"
    assert len(one["times"]) == 4 and min(one["times"]) >= 0.05 and max(one["times"]) < 5
    for key, value in ("mean", statistics.mean(one["times"])), ("stddev", statistics.stdev(one["times"])), \
            ("median", statistics.median(one["times"])), ("min", min(one["times"])), ("max", max(one["times"])):
        assert one[key] == pytest.approx(value, rel=1e-6), key
    assert one["exit_codes"] == [0] * 4 and 0 <= one["user"] < 1 and 0 <= one["system"] < 1
    assert len(one["memory_usage_byte"]) == 4 and min(one["memory_usage_byte"]) > 100_000
    assert one["figures"]["wall_time"]["values"] == one["times"] and one["figures"]["memory_peak"]["unit"] == "MiB"
    counted = one["figures"]["user_instructions"]
    assert (counted["mean"] is None) == ("reason" in counted) and len(counted["values"]) == 4


def test_an_unknown_figure_is_null_with_its_reason(run):
    figures = results(run, "-n", 2, "true")[1]["results"][0]["figures"]
    unknown = [one for one in figures.values() if one["mean"] is None]
    assert unknown and all(one["reason"] and one["values"] == [None, None] for one in unknown)


@pytest.fixture(scope="module")
def counter(tmp_path_factory):
    library = tmp_path_factory.mktemp("counter") / "counter.so"
    source = pathlib.Path(__file__).resolve().parents[1] / "fakes" / "counter.c"
    if subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-D_GNU_SOURCE", "-o", library, source], check=False).returncode:
        pytest.skip("no compiler for this machine's libc")
    return lambda mode: {"LD_PRELOAD": str(library), "COUNTER": mode}


# Children of children that touch pages and do not call exec, and a thread. Prints all page faults.
TOUCHES = """
import mmap, os, resource, threading
def touch():
    pages = mmap.mmap(-1, 512 * 4096)
    pages.madvise(mmap.MADV_NOHUGEPAGE)
    for i in range(512):
        pages[i * 4096] = 1
for _ in range(20):
    if not os.fork():
        touch()
        if not os.fork():
            touch()
            os._exit(0)
        os.wait()
        os._exit(0)
for _ in range(20):
    os.wait()
thread = threading.Thread(target=touch)
thread.start()
thread.join()
print(sum(resource.getrusage(who).ru_minflt for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))
"""


@pytest.mark.plain
def test_instructions_of_all_descendants_and_not_of_the_recorder_count(run, tmp_path, counter):
    """The counter counts faults here: it is the same one to the kernel."""
    program = tmp_path / "touches.py"
    program.write_text(TOUCHES)
    env = {**counter("counts"), "TRACKER_HISTORY": "off"}
    result = run("repeat", "-n", 3, "--show-output", "--json", tmp_path / "out.json", sys.executable, program, "--against", "true", env=env)
    counted, of_true = (one["figures"]["user_instructions"] for one in json.loads((tmp_path / "out.json").read_text())["results"])
    if "reason" in counted and "kernel" in counted["reason"]:
        pytest.skip("no counters here")
    faults = [int(line) for line in result.out.splitlines() if line.isdigit()]
    assert len(faults) == len(counted["values"]) == 3
    # Those in the kernel, which writes to pages for a system call, are left out, and the end of Python comes after its print.
    assert all(0.98 * told < value < told + 3000 for value, told in zip(counted["values"], faults, strict=True)), (counted, faults)
    assert min(faults) > 41 * 512 and 0 < of_true["max"] < 200 and counted["unit"] == "instructions"
    assert re.search(r"^ *user instructions +\d", result.out, re.M) and "unknown: user instructions" not in result.out


@pytest.mark.plain
@pytest.mark.parametrize(("mode", "told"), [
    ("kinds", "several kinds"), ("denied", "perf_event_paranoid"), ("absent", "no counter"), ("late", "did not see"), ("shared", "other programs used")])
def test_a_counter_that_is_not_right_is_null_with_the_reason(run, counter, mode, told):
    env = {**counter(mode), "TRACKER_HISTORY": "off"}
    counted = results(run, "-n", 2, "sleep", 0.01, env=env)[1]["results"][0]["figures"]["user_instructions"]
    if mode in ("late", "shared") and "no counter" in counted["reason"]:
        pytest.skip("no counters here")
    assert counted["values"] == [None, None] and counted["mean"] is None and told in counted["reason"]
    assert re.search(rf"unknown: .*user instructions \(.*{told}", run("repeat", "-n", 1, "true", env=env).out.replace("\n", " "))


# The counter loses the time of exits, which free much memory here: it is more than that of a small helper.
LEAVES = """
import mmap, os, time
time.sleep(0.5)
for _ in range(40):
    if not os.fork():
        pages = mmap.mmap(-1, 64 << 20)
        pages.madvise(mmap.MADV_NOHUGEPAGE)
        pages[::4096] = bytes(len(pages[::4096]))
        os._exit(0)
    os.wait()
"""


@pytest.mark.plain
@needs_net
@pytest.mark.parametrize("settings", [
    pytest.param({"TRACKER_CLOUD": "yes", "TRACKER_METADATA_URL": "http://127.0.0.1:1"}, id="cloud"),
    pytest.param({"TRACKER_STREAM": "otlp", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "TRACKER_UPLOAD_DEADLINE": "0.1"}, id="stream")])
def test_helpers_of_the_recorder_make_the_instructions_unknown(run, counter, helpers, tmp_path, settings):
    env = {**counter("counts"), "TRACKER_HISTORY": "off", **settings}
    out, program = tmp_path / "out.json", tmp_path / "leaves.py"
    program.write_text(LEAVES)
    run("repeat", "-n", 1, "--json", out, sys.executable, program, env=env, cwd=tmp_path)
    counted = json.loads(out.read_text())["results"][0]["figures"]["user_instructions"]
    assert counted["values"] == [None] and ("helper" in counted["reason"] or "kernel" in counted["reason"])


@pytest.mark.plain
@pytest.mark.parametrize("name", [pytest.param("TRACKER_REPORT", marks=pytest.mark.report), "TRACKER_RUNS"])
def test_programs_of_the_recorder_after_the_job_do_not_count(run, counter, tmp_path, name):
    env = {**counter("counts"), "TRACKER_HISTORY": "off", name: str(tmp_path / "made")}
    counted = results(run, "-n", 2, "true", env=env)[1]["results"][0]["figures"]["user_instructions"]
    assert (tmp_path / "made").exists()
    if "kernel" in counted.get("reason", ""):
        pytest.skip("no counters here")
    assert all(0 < value < 200 for value in counted["values"]), counted


def test_two_commands_run_in_turn_and_prepare_and_warmups_do_not_count(run, tmp_path):
    log = tmp_path / "log"
    _, answer = results(run, "-n", 2, "--warmup", 1, "--prepare", f"printf p >>{log}", f"printf a >>{log}", "--against", f"printf b >>{log}")
    assert log.read_text() == "papb" "pbpa" "papb"
    assert [len(one["times"]) for one in answer["results"]] == [2, 2]


def test_the_second_command_may_have_words_or_stand_before(run):
    for words in ("true", "--against", "sleep", 0.4), ("--against", "sleep 0.4", "--", "true"):
        _, answer = results(run, "-n", 3, *words)
        assert [one["command"] for one in answer["results"]] == ["true", "sleep 0.4"]
        assert answer["comparison"]["faster"] == "true" and answer["comparison"]["factor"] > 1.5
        assert answer["comparison"]["verdict"].startswith("A is ")


def test_the_verdict_of_equal_commands_is_not_sure(run):
    _, answer = results(run, "-n", 5, "sleep", 0.05, "--against", "sleep", 0.05)
    compared = answer["comparison"]
    assert compared["least"] <= compared["factor"] <= compared["most"] and 0 <= compared["confidence"] <= 1
    assert ("may be equally fast" in compared["verdict"]) == (compared["confidence"] < 0.95)


def test_the_text_names_the_figures_and_a_run_that_stands_apart(run, tmp_path):
    flag = tmp_path / "flag"
    flag.write_text("123456")
    slow = f"truncate -s -1 {flag}; [ $(stat -c %s {flag}) = 3 ] && sleep 3; sleep 0.01"
    result = run("repeat", "-n", 6, slow)
    assert re.search(r"^wall time +[\d.]+ m?s +[\d.]+ m?s ", result.out, re.M), result.out
    assert re.search(r"^memory peak +[\d.]+ [KM]iB ", result.out, re.M) and ": 6 runs" in result.out
    assert re.search(r"^outliers: .*run 3 \([3-9]\.\d+ s\)", result.out, re.M), result.out
    assert "kept" not in result.out and not result.err


@pytest.mark.parametrize(("words", "status"), [("exit 3", 3), ("kill -9 $$", 137)])
def test_a_failure_ends_all_with_its_status(run, tmp_path, words, status):
    log = tmp_path / "log"
    result, answer = results(run, "-n", 5, f"printf x >>{log}; [ $(wc -c <{log}) -lt 3 ] || {words}")
    assert result.returncode == status and log.read_text() == "xxx"
    assert answer["results"][0]["exit_codes"] == [0, 0]
    assert result.err.count("\n") == 1 and "after 3 runs" in result.err and "--ignore-failure" in result.err


def test_a_failure_names_its_command(run):
    """With two commands, or a typing error, the exit status alone does not tell what to mend."""
    result = run("repeat", "-n", 2, "true", "--against", "no-such-program")
    assert result.returncode == 127 and "repeat: no-such-program ended with exit status 127 (often: command not found), after 2 runs; " in result.err
    assert "repeat: echo one ended with exit status 3, after 1 run; " in run("repeat", "-n", 2, "echo one\nexit 3").err


def test_failures_count_if_they_are_ignored(run):
    result, answer = results(run, "-n", 3, "--ignore-failure", "exit 3")
    assert result.returncode == 0 and answer["results"][0]["exit_codes"] == [3, 3, 3] and len(answer["results"][0]["times"]) == 3
    _, answer = results(run, "-n", 2, "--ignore-failure", "kill -9 $$")
    assert answer["results"][0]["exit_codes"] == [None, None]


def test_a_prepare_that_fails_ends_all(run, tmp_path):
    result = run("repeat", "--prepare", "exit 4", "touch", tmp_path / "ran")
    assert result.returncode == 4 and "--prepare ended with exit status 4, after 0 runs" in result.err
    assert not (tmp_path / "ran").exists() and not result.out


def test_the_output_is_shown_only_if_asked_for(run):
    assert "hello" not in run("repeat", "-n", 1, "echo", "hello").out.split("\n", 1)[1]
    shown = run("repeat", "-n", 2, "--show-output", "echo hello; echo oops >&2; cat")
    assert shown.out.count("hello\n") == 2 and shown.err == "oops\noops\n"


def test_runs_are_kept_and_compare_runs_takes_them(run, kept, tmp_path):
    runs = tmp_path / "runs.jsonl"
    result, answer = results(run, "-n", 3, "--warmup", 1, "true", "--against", "sleep", 0.05, env={**kept, "TRACKER_RUNS": str(runs)})
    assert result.returncode == 0, result.err
    numbers = [one["history"] for one in answer["results"]]
    assert sorted(numbers[0] + numbers[1]) == [1, 2, 3, 4, 5, 6]
    lines = {line["number"]: line for line in json.loads(run("ls", "--json", env=kept).out)}
    for side, letter in zip(numbers, "AB"):
        assert all(lines[number]["outcome"] == "ok" and lines[number]["tags"]["repeat"].endswith("-" + letter) for number in side)
    words = [f"{letter}={number}" for side, letter in zip(numbers, "AB") for number in side]
    compared = json.loads(run("compare-runs", "--json", *words, env=kept).out)
    time_of = next(one for one in compared["metrics"] if one["name"] == "wall_time")
    assert [side["mean"] for side in time_of["sides"]] == pytest.approx([one["mean"] for one in answer["results"]])
    assert len(runs.read_text().splitlines()) == 6, "a warm-up has a line"
    assert run("repeat", "-n", 1, "--no-history", "true", env=kept).returncode == 0
    assert len(json.loads(run("ls", "--json", env=kept).out)) == 6
    assert not list(tmp_path.glob("resource-tracker-repeat.*"))


def test_a_command_that_never_began_is_not_kept(run, kept):
    assert run("repeat", "-n", 1, "./missing", env=kept).returncode == 127
    assert "no run has been kept yet" in run("ls", env=kept).err
    answer = run("repeat", "-n", 1, "--ignore-failure", "./missing", "--against", "true", env=kept).out
    assert "kept as run 1 of the history" in answer and "  1  " in run("ls", env=kept).out, answer


@pytest.mark.parametrize("signo", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_run_and_loses_none(spawn, run, kept, tmp_path, signo):
    pids = tmp_path / "pids"
    process = spawn("repeat", "-n", 9, f"echo $$ >>{pids}; [ $(wc -l <{pids}) -lt 3 ] || exec sleep 50", env=kept,
                    stdout=-1, stderr=-1)
    while not pids.exists() or len(pids.read_text().splitlines()) < 3:
        time.sleep(0.01)
    time.sleep(0.3)
    process.send_signal(signo)
    out, err = process.communicate(timeout=20)
    assert process.returncode == -signo and b": 2 runs" in out and f"signal {signo:d}".encode() in err, (out, err)
    with pytest.raises(ProcessLookupError):
        os.kill(int(pids.read_text().split()[2]), 0)
    assert [line["outcome"] for line in json.loads(run("ls", "--json", env=kept).out)] == ["ok", "ok", "killed"]
    assert not list(tmp_path.glob("resource-tracker-repeat.*"))


SHOW_SERVER = "tr '\\0' ' ' </proc/$(ps -o ppid= $PPID | tr -d ' ')/cmdline; echo"


def test_one_start_of_the_recorder_serves_all_runs_of_a_command(run):
    shown = run("repeat", "-n", 3, "--warmup", 1, "--no-history", "--show-output", SHOW_SERVER, "--against", SHOW_SERVER + "; true")
    servers = re.findall(r"^resource-tracker --serve-runs=.* -- .*$", shown.out, re.M)
    assert shown.returncode == 0 and len(servers) == 8 and len(set(servers)) == 2, (shown.out, shown.err)


@pytest.mark.parametrize("call", ["signalfd4", "socketpair"])
def test_a_machine_without_a_server_starts_a_recorder_for_each_run(run, binary, tmp_path, kept, call):
    refuse = exact.build_workload(binary, tmp_path, "refuse")
    if run(call, 1, "true", program=refuse).returncode:
        pytest.skip("no filters of system calls here")
    result = run(call, 1, binary, "repeat", "-n", 2, "--show-output", SHOW_SERVER, program=refuse, env=kept)
    assert result.returncode == 0 and "2 runs" in result.out and "--serve-runs" not in result.out, (result.out, result.err)
    assert len(json.loads(run("ls", "--json", env=kept).out)) == 2


def test_the_terminals_signal_reaches_the_run_and_not_its_server(spawn, run, kept, tmp_path):
    pids = tmp_path / "pids"
    process = spawn("repeat", "-n", 9, f"echo $$ >>{pids}; [ $(wc -l <{pids}) -lt 3 ] || exec sleep 50", env=kept, stdout=-1, stderr=-1, start_new_session=True)
    while not pids.exists() or len(pids.read_text().splitlines()) < 3:
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert process.returncode == -signal.SIGINT and b": 2 runs" in out, (out, err)
    assert [line["outcome"] for line in json.loads(run("ls", "--json", env=kept).out)] == ["ok", "ok", "killed"]


def test_a_signal_before_a_run_is_not_for_that_run(run, kept, tmp_path):
    """The recorder of the next run waits while --prepare runs. A terminal's signal reaches all of them."""
    prepare = "[ ! -e server ] || kill -INT $(cat server) $(ps -o pid= --ppid $(cat server))"
    result = run("repeat", "-n", 4, "--prepare", prepare, "ps -o ppid= $PPID >server", env=kept, cwd=tmp_path)
    assert result.returncode == 0 and "4 runs" in result.out, (result.out, result.err)
    assert [line["outcome"] for line in json.loads(run("ls", "--json", env=kept).out)] == ["ok"] * 4


def test_a_server_that_is_killed_ends_repeat_with_a_reason(spawn, run, kept, tmp_path):
    pids = tmp_path / "pids"
    process = spawn("repeat", "-n", 9, f"ps -o ppid= $PPID >>{pids}; [ $(wc -l <{pids}) -lt 3 ] || exec sleep 3", env=kept, stdout=-1, stderr=-1)
    while not pids.exists() or len(pids.read_text().split()) < 3:
        time.sleep(0.01)
    os.kill(int(pids.read_text().split()[2]), signal.SIGKILL)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 1 and b"Broken pipe" in err, (out, err)
    assert not list(tmp_path.glob("resource-tracker-repeat.*"))


def test_progress_is_for_terminals_alone(spawn, run):
    ours, theirs = pty.openpty()
    process = spawn("repeat", "-n", 2, "sleep", 0.1, stdout=-1, stderr=theirs)
    os.close(theirs)
    process.communicate()
    shown = b""
    try:
        while piece := os.read(ours, 4096):
            shown += piece
    except OSError:
        pass
    os.close(ours)
    assert b"run 1 of 2" in shown and b"run 2 of 2, about" in shown and shown.endswith(b"\r\x1b[K")
    assert run("repeat", "-n", 2, "true").err == ""


def test_json_goes_to_a_file_beside_the_text(run, tmp_path):
    file = tmp_path / "out.json"
    result = run("repeat", "-n", 2, "--json", file, "true")
    assert "wall time" in result.out and len(json.loads(file.read_text())["results"]) == 1


@pytest.mark.parametrize(("words", "told"), [
    ((), "name a command"), (("-n", 0, "true"), "--runs"), (("-n", "x", "true"), "--runs"), (("true", "--against"), "--against needs"),
    (("--against", "true", "false", "--against", "true"), "twice"), (("--json", "missing/x", "true"), "missing/x"),
    (("--bogus", "true"), "--bogus"), (("--warmup", 20000, "true"), "--warmup")])
def test_bad_input_gets_one_line(run, words, told):
    result = run("repeat", *words)
    assert result.returncode in (1, 2) and not result.out
    assert told in result.err.splitlines()[0] and len(result.err.splitlines()) == 1, result.err


def test_the_option_of_the_server_is_unknown_to_a_user(run, tmp_path):
    for number in 0, 2, 9:
        result = run(f"--serve-runs={number}", "--output", tmp_path / "out.jsonl", "--", "true", pass_fds=())
        assert (result.returncode, result.out) == (125, "") and "unknown option '--serve-runs" in result.err, (number, result)


def test_a_folder_too_long_for_recordings_is_named(run, tmp_path):
    # 31 bytes of the folder's own name leave 6 of PATH_MAX.
    length = 4096 - 6 - 31 - len(str(tmp_path))
    folder = str(tmp_path) + "".join("/" + "d" * min(200, length - at - 1) for at in range(0, length, 201))
    os.makedirs(folder)
    result = run("repeat", "-n", 1, "true", env={"TMPDIR": folder})
    assert result.returncode and "too long" in result.err and len(result.err.splitlines()) == 1, result.err


def test_options_behind_the_command_are_its_own(run):
    assert run("repeat", "-n", 1, "--show-output", "echo", "-h", "--help", "--json").out.startswith("-h --help --json\n")
    assert "usage" in run("repeat", "--help").out.lower()


def test_a_command_that_does_not_exist_ends_with_127(run):
    result = run("repeat", "no-such-program-here")
    assert result.returncode == 127 and len(result.err.splitlines()) == 1
