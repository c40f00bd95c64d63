"""The helper process seen from outside: its cost, its delays, and the processes that it leaves behind."""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest

sys.path.insert(0, os.path.dirname(__file__))
from gpu import adopt_orphans, left_behind, traced_environment

CALLS_OF_DETECTION = ("dev/nvidiactl", "dev/dxg", "dev/dri")


@pytest.fixture
def nvml(nvml):
    adopt_orphans()
    return nvml


def helper_processes(tracker_pid):
    """Returns the processes of a tracker's helper: children of the tracker or of the process that adopts orphans, and
    theirs.
    """
    parents = {}
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            text = stat.read_text()
        except OSError:
            continue
        state, parent = text.rsplit(")", 1)[1].split()[:2]
        if "(rt-helper)" in text and state not in "ZX":
            parents[int(stat.parent.name)] = int(parent)
    outer = {pid for pid, parent in parents.items() if parent in (tracker_pid, os.getpid())}
    return sorted(outer | {pid for pid, parent in parents.items() if parent in outer})


def is_alive(pid):
    try:
        text = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return "(rt-helper)" in text and text.rsplit(")", 1)[1].split()[0] not in "ZX"


def both_processes(tracker, helpers):
    return helpers.wait_until(lambda: len(found := set(helper_processes(tracker.pid))) >= 2 and found)


def assert_nothing_is_left(before, helpers):
    """One that ended after the recorder, as may happen on a busy machine, is reaped here, as init does."""
    def have_ended():
        for pid in set(left_behind()) - set(before):
            os.waitpid(pid, os.WNOHANG)
        return set(left_behind()) <= set(before)

    helpers.wait_until(have_ended, what="children that were left behind")


# ---- without GPUs ----------------------------------------------------------------------------------------------


@pytest.mark.skipif(not shutil.which("strace"), reason="strace is missing")
def test_a_machine_without_gpus_pays_nothing(run, binary, tmp_path, helpers):
    if any(os.path.exists(f"/{path}") for path in CALLS_OF_DETECTION):
        pytest.skip("this machine has device files of GPUs")
    trace = tmp_path / "trace"
    until_three = 'until [ "$(wc -l <a.jsonl)" -ge 2 ]; do sleep 0.05; done'  # the end adds the third
    result = run("-f", "-o", trace, binary, "-i", 0.1, "-o", tmp_path / "a.jsonl", "--", "sh", "-c", until_three, cwd=tmp_path,
                 program="strace", env=traced_environment())
    if "ptrace" in result.err.lower() and result.returncode:
        pytest.skip("this machine does not let strace trace")
    lines = trace.read_text().splitlines()
    assert len(helpers.json_lines(tmp_path / "a.jsonl")) >= 3
    asked = [line for line in lines if any(f'"{path}"' in line for path in CALLS_OF_DETECTION)]
    assert len(asked) == 3
    assert not [line for line in lines if "memfd_create" in line or "resource-tracker-helper" in line]
    # All of it happens before the job's exec, nothing at a tick.
    job = next(i for i, line in enumerate(lines) if "execve(" in line and '"sh", "-c"' in line and binary not in line)
    assert max(lines.index(line) for line in asked) < job


# ---- delays ----------------------------------------------------------------------------------------------------


@pytest.mark.alone
@pytest.mark.parametrize("function", ["nvmlInit", "nvmlDeviceGetMemoryInfo_v2"])
def test_a_call_that_hangs_for_ever(record, nvml, helpers, function):
    before = left_behind()
    nvml.say("gpus 1", f"hang {function}")
    result, samples = record("-i", 0.2, "--", "sh", "-c", "sleep 1; exit 9", env=nvml.env())
    assert result.returncode == 9
    assert result.wall_secs < 2
    assert len(samples) >= 5
    assert {sample["totals"]["gpu_usage"] for sample in samples} == {None}
    assert_nothing_is_left(before, helpers)


@pytest.mark.slow
def test_a_driver_that_does_not_answer_is_told_once(record, nvml):
    """The driver answers at first and hangs later."""
    nvml.say("gpus 1", "utilization 0 30 0")
    result, samples = record("-i", 0.5, "--", "sh", "-c", "sleep 1; printf 'gpus 1\\nhang nvmlDeviceGetUtilizationRates\\n' "
                             f">{nvml.path}; sleep 13", env=nvml.env())
    assert result.returncode == 0
    assert result.err.count("the GPU driver does not answer") == 1
    assert samples[0]["totals"]["gpu_usage"] == pytest.approx(0.3)
    assert samples[-1]["totals"]["gpu_usage"] is None
    assert samples[-1]["gpu"][0]["age_secs"] > 10


@pytest.mark.cost
def test_the_end_of_a_job_waits_for_no_driver(run, nvml):
    """A hanging call may cost 1 s + 5 ms on top of the start of a process on this machine."""
    nvml.say("gpus 1", "hang nvmlInit")

    def best_of(runs, *arguments, **popen):
        return min(run(*arguments, **popen).wall_secs for _ in range(runs))

    plain = best_of(8, "-q", "--no-summary", "--", "sleep", "0.2")
    hanging = best_of(8, "-q", "--no-summary", "--", "sleep", "0.2", env=nvml.env())
    assert hanging - plain < 0.005


def test_readers_of_the_jobs_output_see_its_end(binary, nvml, tmp_path, helpers):
    nvml.say("gpus 1", "hang nvmlDeviceGetMemoryInfo_v2")
    began = time.monotonic()
    output = subprocess.run(f'"{binary}" -o {tmp_path}/a.jsonl -- sh -c "echo out; echo err >&2" 2>&1 | cat', shell=True,
                            env={**helpers.clean_environment(), **nvml.env()}, capture_output=True, timeout=20).stdout
    assert sorted(output.split()) == [b"err", b"out"]
    assert time.monotonic() - began < 5


def test_descendants_are_the_jobs_alone(record, nvml, helpers):
    """--wait-descendants does not wait for the helper, and does not count it as still running."""
    nvml.say("gpus 1")
    result, samples = record("--wait-descendants", "-i", 0.2, "--", "sh", "-c", "sleep 0.5 & exit 3", env=nvml.env())
    assert result.returncode == 3
    assert result.wall_secs < 5
    result, samples = record("-i", 0.2, "--", "true", env=nvml.env())
    assert samples[-1]["run_end"]["descendants_running"] == 0


# ---- crashes and signals ---------------------------------------------------------------------------------------


def test_a_library_that_crashes_is_told_once_and_the_job_does_not_notice(record, nvml, helpers):
    before = left_behind()
    nvml.say("gpus 1", "crash nvmlDeviceGetUtilizationRates")
    result, samples = record("-i", 0.2, "--", "sh", "-c", "sleep 2; exit 4", env=nvml.env())
    assert result.returncode == 4
    assert result.err.count("GPU helper crashed") == 1
    assert len(samples) >= 9
    assert samples[-1]["missed_ticks"] <= 1  # a busy machine may hold the recorder up itself
    assert {sample["totals"]["gpu_usage"] for sample in samples} == {None}
    assert_nothing_is_left(before, helpers)


def test_after_a_crash_values_come_back(record, nvml):
    nvml.say("gpus 1", "utilization 0 30 0", "crash nvmlDeviceGetUtilizationRates")
    _, samples = record("-i", 0.3, "--", "sh", "-c",
                        f"sleep 0.4; printf 'gpus 1\\nutilization 0 30 0\\n' >{nvml.path}; sleep 2.5", env=nvml.env())
    assert samples[0]["totals"]["gpu_usage"] is None
    assert samples[-1]["totals"]["gpu_usage"] == pytest.approx(0.3)


def test_a_stopped_helper_is_ended_all_the_same(spawn, nvml, tmp_path, helpers):
    before = left_behind()
    nvml.say("gpus 1")
    record = tmp_path / "a.jsonl"
    tracker = spawn("-i", 0.1, "-o", record, "--", "sleep", "3", env=nvml.env())
    # Wait until both work: a process stopped between fork() and its first call outlives its parent until it continues.
    helpers.wait_until(lambda: record.exists() and '"gpu":[{' in record.read_text())
    ours = both_processes(tracker, helpers)
    for pid in ours:
        os.kill(pid, signal.SIGSTOP)
    assert tracker.wait(10) == 0
    helpers.wait_until(lambda: not any(is_alive(pid) for pid in ours), what="the end of a stopped helper")
    assert_nothing_is_left(before, helpers)


@pytest.mark.parametrize("signo", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_to_the_group_are_not_for_the_helper(spawn, nvml, tmp_path, helpers, signo):
    nvml.say("gpus 1", "utilization 0 20 0")
    tracker = spawn("-i", 0.1, "-o", tmp_path / "a.jsonl", "--", "sh", "-c",
                    "trap 'sleep 0.4; exit 5' INT TERM HUP; while :; do sleep 0.05; done", env=nvml.env(),
                    start_new_session=True)
    helpers.wait_until(lambda: (tmp_path / "a.jsonl").exists() and (tmp_path / "a.jsonl").read_text().count("\n") > 3)
    os.killpg(tracker.pid, signo)
    assert tracker.wait(10) == 5
    samples = helpers.json_lines(tmp_path / "a.jsonl")
    assert samples[-1]["totals"]["gpu_usage"] == pytest.approx(0.2)
    assert samples[-1]["gpu"][0]["age_secs"] < 0.4


def test_the_helper_dies_with_a_killed_tracker(spawn, nvml, tmp_path, helpers):
    nvml.say("gpus 1", "hang nvmlDeviceGetMemoryInfo_v2")
    tracker = spawn("-i", 0.1, "-o", tmp_path / "a.jsonl", env=nvml.env())
    ours = both_processes(tracker, helpers)
    tracker.kill()
    tracker.wait()
    helpers.wait_until(lambda: not any(is_alive(pid) for pid in ours), what="the end of the helper")


@pytest.mark.parametrize("arguments", [["--duration", "0.4"], ["--pid", str(os.getpid()), "--duration", "0.4"]])
def test_no_zombie_is_left_without_a_job_either(run, nvml, helpers, arguments):
    before = left_behind()
    nvml.say("gpus 1")
    assert run("-i", 0.2, *arguments, env=nvml.env()).returncode == 0
    assert_nothing_is_left(before, helpers)


def test_without_the_program_there_is_one_warning(record, nvml):
    nvml.say("gpus 1")
    result, samples = record("-i", 0.2, "--", "sleep", 0.3, env=nvml.env(TRACKER_HELPER="/nonexistent"))
    assert result.returncode == 0
    assert result.err.count("GPUs are not recorded: the helper cannot be started") == 1
    assert {sample["totals"]["gpu_usage"] for sample in samples} == {None}
    result, _ = record("--no-warnings", "--", "true", env=nvml.env(TRACKER_HELPER="/nonexistent"))
    assert result.err == ""


# ---- cost ------------------------------------------------------------------------------------------------------


def eight_gpus(nvml, pids):
    nvml.say("gpus 8", *[f"utilization {i} 50 10" for i in range(8)],
             *[f"process {i % 8} {pid} c 100 5" for i, pid in enumerate(pids)])


@pytest.mark.cost
def test_the_helper_costs_a_millisecond_a_second(spawn, nvml, tmp_path, helpers):
    eight_gpus(nvml, range(100000, 100064))
    tracker = spawn("-i", 1, "-o", tmp_path / "a.jsonl", "--duration", "8", env=nvml.env())
    ours = both_processes(tracker, helpers)

    def cpu_secs():
        total = 0.0
        for pid in ours:
            # nanoseconds of run time
            total += int(pathlib.Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9
        return total

    time.sleep(3)
    before, began = cpu_secs(), time.monotonic()
    time.sleep(4)
    cost = (cpu_secs() - before) / (time.monotonic() - began)
    assert tracker.wait(20) == 0
    assert cost < 0.001


def test_the_trackers_cost_includes_the_helper(record, nvml):
    nvml.say("gpus 1")
    _, samples = record("-i", 0.2, "--", "sleep", 0.7, env=nvml.env())
    counts = [sample["tracker"]["helpers"] for sample in samples]
    # On a busy machine the first sample comes before the helper has started its worker.
    assert counts[0] in (1, 2) and counts[1:] == [2] * (len(samples) - 1), counts
