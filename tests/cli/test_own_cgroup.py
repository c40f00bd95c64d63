"""The figures of the cgroup that the job is started in, if one can be made."""
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
    # Earlier use by another cgroup is not the job's.
    assert all(sample["cpu"]["cgroup_utilization_pct"] <= cpus * 1.05 for sample in samples[:-1])
    end = samples[-1]["run_end"]
    assert sum(used) == pytest.approx(end["utime_secs"] + end["stime_secs"], abs=exact.EXITS_SECS)


def test_user_and_system_time_of_the_samples_are_those_of_the_end(run):
    """The kernel estimates the parts of a cgroup apart from those of processes, which wait4(2) tells: half of them was elsewhere."""
    result = run("-i", "0.1", "--", "sh", "-c", "for i in $(seq 300); do /bin/true; done")
    samples = [json.loads(line) for line in result.err.splitlines() if line.startswith("{")]
    end = samples[-1]["run_end"]
    user, system = (sum(sample["cpu"][name] or 0 for sample in samples) for name in ("process_utime_secs", "process_stime_secs"))
    assert user + system == pytest.approx(end["utime_secs"] + end["stime_secs"], abs=exact.EXITS_SECS)
    assert user == pytest.approx(end["utime_secs"], abs=0.02)


def test_without_it_the_source_is_the_clock(run):
    assert recorded(run, "--cgroup", "off")[0]["cpu"]["process_cpu_source"] == "clock"


needs_cgroups = pytest.mark.skipif(not exact.is_root() or not exact.UNIFIED,
                                   reason="groups of processes are made by root in a unified hierarchy")


def made_in(folder):
    return sorted(path.name for path in folder.glob("resource-tracker-*"))


@needs_cgroups
def test_survivors_of_the_job_are_moved_back_before_the_group_is_removed(run):
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
def test_the_next_tracker_removes_the_group_of_a_killed_one(spawn, run):
    with exact.cgroup_around("sweep") as around:
        tracker = spawn("--cgroup=require", "-q", "--", "sleep", "0.5", preexec_fn=exact.enter(around))
        wait_for(lambda: made_in(around) and "sleep" in names_in(around / made_in(around)[0]))
        tracker.kill()
        tracker.wait()
        left = made_in(around)
        assert left
        wait_for(lambda: not (around / left[0] / "cgroup.procs").read_text())
        # A run of less than 2 ms leaves it to the next one.
        assert run("--cgroup=require", "-q", "--", "sleep", "0.05", preexec_fn=exact.enter(around)).returncode == 0
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
    """An ordinary user who owns no part of the hierarchy."""
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


# ---- a group's waiting ----

needs_pressure = pytest.mark.skipif(not exact.is_root() or not exact.UNIFIED or not (exact.UNIFIED / "cpu.pressure").exists(),
                                    reason="groups of processes are made by root in a unified hierarchy that counts stalls")


def stalls(sample):
    return [value for key, value in sample["pressure"].items() if key != "source"]


def wait_a_while_for_a_cpu(group):
    """Raises the stall time in the group's counters beyond that of a short run."""
    hogs = [subprocess.Popen(["timeout", "2", "sha512sum", "/dev/zero"], preexec_fn=exact.enter(group))
            for _ in range(3 * os.cpu_count())]
    for hog in hogs:
        hog.wait()
    assert int((group / "cpu.pressure").read_text().split("total=")[1].split()[0]) > 900_000


@needs_pressure
def test_the_first_sample_has_the_jobs_pressure(run):
    samples = recorded(run)
    if samples[0]["pressure"]["source"] != "cgroup":
        pytest.skip("no cgroup of its own can be made here")
    assert None not in stalls(samples[0])
    assert all(0 <= secs <= 0.6 for sample in samples for secs in stalls(sample))


@needs_pressure
def test_stalls_of_before_the_run_are_not_the_jobs(run):
    with exact.cgroup_around("stalled") as around:
        wait_a_while_for_a_cpu(around)
        result = run("--cgroup=off", "-i", 0.1, "--", "sleep", "0.35", preexec_fn=exact.enter(around))
    samples = [json.loads(line) for line in result.err.splitlines() if line.startswith("{")]
    assert {sample["pressure"]["source"] for sample in samples} == {"cgroup"}
    assert None not in stalls(samples[0])
    assert all(secs <= 0.6 for sample in samples for secs in stalls(sample))


@needs_pressure
def test_stalls_of_another_group_are_not_those_of_a_job_that_was_moved_there(spawn, tmp_path, helpers):
    with exact.cgroup_around("quiet") as before, exact.cgroup_around("stalled") as after:
        wait_a_while_for_a_cpu(after)
        job = subprocess.Popen(["sleep", "30"], preexec_fn=exact.enter(before))
        path = tmp_path / "record.jsonl"
        try:
            tracker = spawn("-i", 0.2, "-o", path, "--no-summary", "--pid", job.pid)
            wait_for(lambda: path.exists() and path.read_bytes().count(b"\n") >= 2)
            (after / "cgroup.procs").write_text(str(job.pid))
            wait_for(lambda: path.read_bytes().count(b"\n") >= 12)
            tracker.send_signal(signal.SIGTERM)
            assert tracker.wait() == 0
        finally:
            job.kill()
            job.wait()
        samples = helpers.json_lines(path)
    assert {sample["pressure"]["source"] for sample in samples} == {"cgroup"}
    known = [secs for sample in samples for secs in stalls(sample) if secs is not None]
    assert known and all(secs <= 0.6 for secs in known), known
    # At most two samples lack it.
    assert sum(None in stalls(sample) for sample in samples) <= 2
