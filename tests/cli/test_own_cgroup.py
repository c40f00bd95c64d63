"""The figures of the cgroup that the job is started in, where one can be made."""
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import time

import pytest

import exact


def recorded(run, *options):
    result = run("-i", "0.1", *options, "--", "sh", "-c", "timeout 0.4 sha512sum /dev/zero; exit 0")
    assert result.returncode == 0
    return [json.loads(line) for line in result.err.splitlines() if line.startswith("{")]


def test_its_counters_begin_with_the_job(run):
    samples = recorded(run)
    if samples[0]["cpu"]["process_cpu_source"] != "cgroup":
        pytest.skip("no cgroup of its own can be made here")
    cpus = os.cpu_count()
    used = [sample["cpu"]["cgroup_usage_secs"] for sample in samples]
    assert all(secs is not None for secs in used)
    # What another cgroup had used before is not the job's.
    assert all(sample["cpu"]["cgroup_utilization_pct"] <= cpus * 1.05 for sample in samples[:-1])
    end = samples[-1]["run_end"]
    assert sum(used) == pytest.approx(end["utime_secs"] + end["stime_secs"], abs=exact.EXITS_SECS)


def test_without_it_the_source_is_the_clock(run):
    assert recorded(run, "--cgroup", "off")[0]["cpu"]["process_cpu_source"] == "clock"


needs_cgroups = pytest.mark.skipif(not exact.is_root() or not exact.UNIFIED,
                                   reason="groups of processes are made by root in a unified hierarchy")


def made_in(folder):
    return sorted(path.name for path in folder.glob("resource-tracker-*"))


@needs_cgroups
def test_who_outlives_the_job_is_moved_back_before_it_is_removed(run):
    with exact.cgroup_around("straggler") as around:
        result = run("--cgroup=require", "-q", "--", "sh", "-c", "sleep 30 >&- 2>&- & echo $!; cut -d: -f3 /proc/self/cgroup | tail -1",
                     preexec_fn=exact.enter(around))
        pid, inside = result.out.split()
        try:
            assert inside.rpartition("/")[2].startswith("resource-tracker-")
            assert made_in(around) == []
            assert pid in (around / "cgroup.procs").read_text().split()
        finally:
            os.kill(int(pid), signal.SIGKILL)
            wait_for(lambda: not (around / "cgroup.procs").read_text())


@needs_cgroups
def test_what_a_killed_tracker_left_is_removed_by_the_next(spawn, run):
    with exact.cgroup_around("sweep") as around:
        tracker = spawn("--cgroup=require", "-q", "--", "sleep", "0.5", preexec_fn=exact.enter(around))
        wait_for(lambda: made_in(around) and "sleep" in names_in(around / made_in(around)[0]))
        tracker.kill()
        tracker.wait()
        left = made_in(around)
        assert left
        wait_for(lambda: not (around / left[0] / "cgroup.procs").read_text())
        assert run("--cgroup=require", "-q", "--", "true", preexec_fn=exact.enter(around)).returncode == 0
        assert made_in(around) == []


def wait_for(condition):
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def names_in(group):
    names = []
    for pid in (group / "cgroup.procs").read_text().split():
        with contextlib.suppress(OSError):
            names.append(pathlib.Path(f"/proc/{pid}/comm").read_text().strip())
    return names


def as_nobody(program, *options):
    """An ordinary user, to whom no part of the hierarchy was handed."""
    done = subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", program, *options, "-i", "0.1", "--",
                           "sh", "-c", "exit 6"], capture_output=True, text=True, cwd="/")
    lines = done.stderr.splitlines()
    return done.returncode, [json.loads(line) for line in lines if line[0] == "{"], [line for line in lines if line[0] != "{"]


@needs_cgroups
def test_where_none_can_be_made_the_job_runs_all_the_same(program_for_everybody):
    status, samples, lines = as_nobody(program_for_everybody, "--cgroup=auto")
    assert status == 6
    assert samples[0]["cpu"]["process_cpu_source"] == "clock"
    assert lines == []


@needs_cgroups
def test_where_none_can_be_made_but_must_be_the_job_does_not_start(program_for_everybody):
    status, _, lines = as_nobody(program_for_everybody, "--cgroup=require")
    assert status == 125
    assert len(lines) == 1, lines
