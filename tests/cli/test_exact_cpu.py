"""CPU time of a tree agrees with the kernel, in every way that processes live and end."""
import json
import os
import subprocess
import sys

import pytest

import exact

needs_cgroups = pytest.mark.skipif(not exact.is_root() or not exact.UNIFIED,
                                   reason="groups of processes are made by root in a unified hierarchy")


@pytest.fixture(scope="module")
def workload(binary, tmp_path_factory):
    return exact.build_workload(binary, tmp_path_factory.mktemp("workload"))


@pytest.mark.parametrize("cgroup", ["off", "auto"])
@pytest.mark.parametrize("seed", range(1, 5))
def test_random_schedules(binary, workload, tmp_path, seed, cgroup):
    exact.check_schedule(binary, workload, tmp_path, seed, 30, cgroup)


@pytest.mark.parametrize("cgroup", ["off", "auto"])
@pytest.mark.parametrize("kind", "bnervdtlzps")
def test_one_kind_alone(binary, workload, tmp_path, kind, cgroup):
    """One test for each way of living and ending, so that a failing way is in the test's name."""
    exact.check_schedule(binary, workload, tmp_path, ord(kind), 8, cgroup, interval="0.02", kinds=kind)


@pytest.mark.parametrize("interval", ["0.003", "60"])
def test_any_interval(binary, workload, tmp_path, interval):
    exact.check_schedule(binary, workload, tmp_path, 99, 30, "off", interval=interval)


@needs_cgroups
@pytest.mark.parametrize("cgroup", ["off", "auto"])
def test_agrees_with_a_cgroup_around_both(binary, workload, tmp_path, cgroup):
    with exact.cgroup_around("exact") as around:
        samples, _ = exact.run_schedule(binary, workload, tmp_path, 7, 60, cgroup, around=around)
        truth = exact.cgroup_secs(around)
    own = sum(sample["tracker"]["cpu_secs"] for sample in samples)
    # The group also counts the tracker's start, before its first reading of itself, and its end.
    assert exact.close_enough(exact.told_secs(samples) + own, truth), (exact.told_secs(samples), own, truth)


@needs_cgroups
def test_children_of_a_parent_that_ignores_sigchld_in_a_group(binary, workload, tmp_path):
    samples, (cpu_secs, _, unwaited) = exact.run_schedule(binary, workload, tmp_path, 3, 40, "require", kinds="bi")
    assert unwaited > 0.1 * cpu_secs
    assert samples[0]["cpu"]["process_cpu_source"] == "cgroup"
    assert samples[-1]["run_end"]["sigchld_ignored"] is True and samples[-1]["run_end"]["tree_cpu_at_least"] is False
    exact.check_intervals(samples)
    # The clock of a reaped process cannot be read, so the truth lacks its exit.
    assert cpu_secs - 0.001 <= exact.told_secs(samples) <= cpu_secs * 1.01 + 0.02 + 120 * 0.0003, cpu_secs


def test_children_of_a_parent_that_ignores_sigchld_are_flagged(binary, workload, tmp_path):
    samples, (cpu_secs, _, unwaited) = exact.run_schedule(binary, workload, tmp_path, 3, 40, "off", kinds="bi")
    assert samples[-1]["run_end"]["sigchld_ignored"] is True and samples[-1]["run_end"]["tree_cpu_at_least"] is True
    exact.check_intervals(samples)
    assert cpu_secs - unwaited - 0.02 <= exact.told_secs(samples) <= cpu_secs * 1.01 + 0.02


LATE = """
import ctypes, os, signal, struct, sys, time

def burn_children(count):
    for _ in range(count):
        if os.fork() == 0:
            end = time.process_time() + 0.01
            while time.process_time() < end:
                pass
            os._exit(0)

if os.fork() == 0:
    time.sleep(0.4)
    if sys.argv[1] == "ignores":
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        time.sleep(0.4)
    else:
        nothing = ctypes.CFUNCTYPE(None, ctypes.c_int)(lambda number: None)
        action = ctypes.create_string_buffer(256)
        ctypes.memmove(action, struct.pack("P", ctypes.cast(nothing, ctypes.c_void_p).value), 8)
        # sa_flags = SA_NOCLDWAIT, behind the handler and a mask of 128 bytes.
        ctypes.memmove(ctypes.addressof(action) + 8 + 128, struct.pack("i", 2), 4)
        assert ctypes.CDLL(None).sigaction(signal.SIGCHLD, action, None) == 0
        burn_children(20)
        try:
            os.wait()  # until all of them have ended; the kernel tells nothing about them
        except ChildProcessError:
            pass
    os._exit(0)
os.wait()
"""


def test_a_member_that_ignores_sigchld_later_is_flagged(record):
    _, samples = record("-i", 0.1, "--cgroup=off", "--", sys.executable, "-c", LATE, "ignores")
    assert samples[-1]["run_end"]["sigchld_ignored"] is True


def test_the_time_is_at_least_so_much_where_a_member_discards_its_children(record, binary, tmp_path):
    """With SA_NOCLDWAIT no file in /proc shows it, but its page faults lack those of a child that a sample has seen."""
    _, samples = record("-i", 0.005, "--cgroup=off", "--", sys.executable, "-c", LATE, "discards")
    end = samples[-1]["run_end"]
    assert end["tree_cpu_at_least"] is True and end["sigchld_ignored"] is False
    (tmp_path / "discards.jsonl").write_text("".join(json.dumps(sample) + "\n" for sample in samples))
    printed = subprocess.run([binary, "summary", tmp_path / "discards.jsonl"], stdout=subprocess.PIPE, text=True, check=True).stdout
    assert "; at least " in " ".join(printed.split())


@needs_cgroups
def test_usage_that_only_the_group_has_is_flagged(record):
    """With SA_NOCLDWAIT a parent discards its children, too, and no file in /proc shows it."""
    _, samples = record("-i", 10, "--cgroup=require", "--", sys.executable, "-c", LATE, "discards")
    end = samples[-1]["run_end"]
    assert exact.told_secs(samples) >= end["utime_secs"] + end["stime_secs"] + 0.15
    assert end["sigchld_ignored"] is True


@needs_cgroups
def test_a_group_that_a_killed_tracker_left_counts_for_nobody(spawn, tmp_path, helpers):
    """A group has our name if its tracker had our pid. The job's figures must not begin with its content."""
    with exact.cgroup_around("left") as around:
        def leave_one_of_our_name():
            exact.enter(around)()
            left = around / f"resource-tracker-{exact.os.getpid()}"
            left.mkdir()
            exact.subprocess.run(["sh", "-c", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"],
                                 preexec_fn=exact.enter(left), check=True)

        tracker = spawn("-o", "record.jsonl", "--no-summary", "--cgroup=require", "--", "true",
                        preexec_fn=leave_one_of_our_name)
        assert tracker.wait() == 0
    samples = helpers.json_lines(tmp_path / "record.jsonl")
    assert samples[0]["cpu"]["process_cpu_source"] == "cgroup"
    assert exact.told_secs(samples) < 0.02


def samples_of(*intervals_and_secs):
    """Builds samples with (milliseconds since the last, CPU seconds)."""
    return [{"sample": number, "actual_interval_ms": milliseconds,
             "cpu": {"process_utime_secs": secs, "process_stime_secs": 0}}
            for number, (milliseconds, secs) in enumerate(intervals_and_secs)]


def test_check_of_intervals():
    """Once in 2,000 runs the check of an interval failed: a recorder that was held up reads later than its sample's
    time.
    """
    busy = os.cpu_count()
    exact.check_intervals(samples_of((3, 0), (3, busy * 0.06), (60, 0), (3, 0)))
    for wrong in (samples_of((3, 0), (3, busy * 0.06), (3, 0)), samples_of((3, 0), (3, -0.01)),
                  samples_of((3, 0), (3, 0), (3, busy * 0.03)), samples_of((60, 0), (3, 0), (3, busy * 0.06), (3, 0))):
        with pytest.raises(AssertionError):
            exact.check_intervals(wrong)
