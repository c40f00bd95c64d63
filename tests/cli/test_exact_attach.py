"""CPU time of a running tree: only its time after the attach counts."""
import contextlib
import os
import pathlib
import subprocess
import sys
import tempfile

import pytest

import exact

# The kernel counts reaped children in whole ticks of user and of system time, rounded down.
TICKS_SECS = 0.02

JOB = """
import os, signal, sys, time

def burn(secs):
    end = time.process_time() + secs
    while time.process_time() < end:
        pass

def child(before, after, then):
    pid = os.fork()
    if pid == 0:
        burn(before)
        then()
        print("ready", flush=True)
        sys.stdin.readline()
        burn(after)
        os._exit(0)
    return pid

def grandchild():
    pid = child(0.5, 0.1, lambda: None)
    print("ready", flush=True)
    os.waitpid(pid, 0)
    os._exit(0)

def between():
    pid = os.fork()
    if pid == 0:
        grandchild()
    return pid

how = sys.argv[1]
signal.alarm(50)
early = child(0.3, 0, lambda: os._exit(0))
os.waitpid(early, 0)
pid = between() if how == "through" else child(0.5, 0.1, lambda: None)
sys.stdin.readline()
if how == "unwaited":
    time.sleep(0.5)
os.waitpid(pid, 0)
burn(0.1)
time.sleep(0.3)
"""


@pytest.mark.parametrize("how", ["waited", "unwaited", "through"])
def test_time_from_before_the_attach_does_not_appear_with_the_wait(spawn, tmp_path, helpers, how):
    """When a child is reaped, the kernel adds its whole time to its parent's."""
    record = tmp_path / "record.jsonl"
    job = subprocess.Popen([sys.executable, "-c", JOB, how], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        for _ in range(2 if how == "through" else 1):
            assert job.stdout.readline() == "ready\n"
        tracker = spawn("-i", 0.05, "-o", record, "--no-summary", "--pid", job.pid)
        helpers.wait_until(lambda: record.exists() and record.read_bytes().count(b"\n") >= 2)
        job.stdin.write("\n\n\n")
        job.stdin.close()
        assert tracker.wait() == 0
        samples = helpers.json_lines(record)
    finally:
        job.kill()
        job.wait()
        job.stdout.close()
    told = exact.told_secs(samples)
    exact.check_intervals(samples)
    # For the root alone, the earlier time of its children is not subtracted from its own.
    main = sum(sample["cpu"]["process_main_utime_secs"] + sample["cpu"]["process_main_stime_secs"] for sample in samples)
    assert 0.1 - TICKS_SECS <= main <= 0.1 + 0.1, main
    # The child, the parent and the beginning of an exit: a fifth of the child's earlier time.
    assert 0.2 - 3 * TICKS_SECS <= told <= 0.2 + 0.1, told


def test_a_recorder_started_by_the_tree_is_outside_it(binary, tmp_path, helpers):
    record = tmp_path / "record.jsonl"
    job = f'{binary} -i 0.05 --duration 0.3 -o {record} --no-summary --pid $$; sleep 0'
    subprocess.run(["sh", "-c", job], env=helpers.clean_environment(), stdin=subprocess.DEVNULL, check=True, timeout=60)
    samples = helpers.json_lines(record)
    assert len(samples) >= 3 and {sample["cpu"]["process_child_count"] for sample in samples} == {0}
    assert {sample["cpu"]["process_thread_count"] for sample in samples} == {1}


LARGE = """
import mmap, sys

def hold(mib):
    pages = mmap.mmap(-1, mib << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    for at in range(0, mib << 20, 4096):
        pages[at] = 1
    pages.close()

hold(int(sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
hold(int(sys.argv[2]))
print("held", flush=True)
sys.stdin.readline()
"""


@pytest.mark.parametrize("before, during", [(20, 150), (150, 20)])
def test_the_largest_that_a_process_was_between_two_samples(spawn, tmp_path, helpers, before, during):
    """The kernel's high-water mark has the peak, unless an earlier one was higher."""
    record = tmp_path / "record.jsonl"

    def lines():
        return record.read_bytes().count(b"\n") if record.exists() else 0

    job = subprocess.Popen([sys.executable, "-c", LARGE, str(before), str(during)], stdin=subprocess.PIPE,
                           stdout=subprocess.PIPE, text=True)
    try:
        assert job.stdout.readline() == "ready\n"
        tracker = spawn("-i", 0.5, "-o", record, "--no-summary", "--pid", job.pid)
        helpers.wait_until(lambda: lines() >= 2)
        job.stdin.write("\n")
        job.stdin.flush()
        assert job.stdout.readline() == "held\n"
        held = lines()
        helpers.wait_until(lambda: lines() >= held + 2)
        job.stdin.close()
        assert tracker.wait() == 0
        end = helpers.json_lines(record)[-1]["run_end"]
    finally:
        job.kill()
        job.wait()
        job.stdout.close()
    # The interpreter has some 10 MiB beside. Below the earlier mark, only samples show the memory.
    assert (during if during > before else 1) <= end["largest_process_peak_mib"] <= during + 40, end
    assert during * 0.98 * (during > before) <= end["memory_peak_mib"] <= during + 40, end


# Says what its child, the job, has used. "beside": it waits for another child then. That one used much more.
WAITER = """
import os, subprocess, sys

how, script = sys.argv[1:3]
user = {"user": 65534, "group": 65534, "extra_groups": []} if sys.argv[3:] else {}
beside = subprocess.Popen(["sh", "-c", "read line; i=0; while [ $i -lt 99999 ]; do i=$((i+1)); done"], stdin=subprocess.PIPE)
job = subprocess.Popen(["sh", "-c", script], stdin=subprocess.PIPE, **user)
print(job.pid, flush=True)
for line in sys.stdin:
    if line == "end\\n":
        break
    job.stdin.write(b"\\n")
    job.stdin.flush()
if how == "beside":
    beside.stdin.close()
    beside.wait()
job.stdin.close()
usage = os.wait4(job.pid, 0)[2]
print(usage.ru_utime + usage.ru_stime, usage.ru_minflt, flush=True)
sys.stdin.read()
beside.stdin.close()
beside.wait()
"""
FORKS = "read line; i=0; while [ $i -lt 9 ]; do /bin/true; i=$((i+1)); done; read line" \
        "; i=0; while [ $i -lt 400 ]; do /bin/true; i=$((i+1)); done"
# A child that samples see, which ends right before the job.
FORKS_ONE = "read line; (i=0; while [ $i -lt 99999 ]; do i=$((i+1)); done; read line); :"
FORKS_NOTHING = "read line; read line; i=0; while [ $i -lt 9999 ]; do i=$((i+1)); done"


def attach_below_waiter(spawn, folder, helpers, how, script, program=None, **user):
    """Returns (samples, CPU seconds and page faults of the job): nearly all of them came after the last sample but one."""
    record = folder / f"{how}.jsonl"

    def lines():
        return record.read_bytes().count(b"\n") if record.exists() else 0

    with subprocess.Popen([sys.executable, "-c", WAITER, how, script, *user], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True, cwd="/") as waiter:
        tracker = spawn("-i", 1, "-o", record, "--no-summary", "--pid", waiter.stdout.readline().strip(), program=program, **user)
        helpers.wait_until(lambda: lines() >= 1)
        waiter.stdin.write("\n")
        waiter.stdin.flush()
        begun = lines()
        helpers.wait_until(lambda: lines() >= begun + 2)
        waiter.stdin.write("end\n")
        waiter.stdin.flush()
        secs, faults = waiter.stdout.readline().split()
        assert tracker.wait() == 0
        waiter.stdin.close()
    return helpers.json_lines(record), float(secs), int(faults)


@pytest.fixture(params=["as it is", pytest.param("ordinary", marks=pytest.mark.skipif(not exact.is_root(), reason="asks for root"))])
def attached_user(request, program_for_everybody, tmp_path):
    """Returns (a folder, the arguments of attach_below_waiter() for a user)."""
    if request.param == "as it is":
        yield tmp_path, {}
        return
    with tempfile.TemporaryDirectory(prefix="rt-ordinary-") as folder:
        os.chmod(folder, 0o777)
        yield pathlib.Path(folder), {"program": program_for_everybody, "user": 65534, "group": 65534, "extra_groups": []}


@pytest.mark.alone
def test_the_time_of_children_is_told_where_the_parent_waits_at_once(spawn, helpers, attached_user):
    """0.55 s were told as 0.04: what the children of the job left it was gone with it."""
    folder, user = attached_user
    samples, truth, faults = attach_below_waiter(spawn, folder, helpers, "alone", FORKS, **user)
    told, end = exact.told_secs(samples), samples[-1]["run_end"]
    exact.check_intervals(samples)
    assert told <= truth + TICKS_SECS, truth
    if exited(samples)[-1] is None:  # others forked too much, or the kernel delivers no events here
        assert end["tree_cpu_at_least"] or told >= truth - TICKS_SECS, (told, truth)
        pytest.skip("the recorder heard no events")
    if end["tree_cpu_at_least"] and os.getloadavg()[0] > 2 * os.cpu_count():
        pytest.skip("the machine is too busy: the parent had a CPU before the recorder")
    assert not end["tree_cpu_at_least"] and told >= truth - 2 * TICKS_SECS, (told, truth)
    assert exited(samples)[-1] == 410
    # Those from before the attach do not count.
    told_faults = sum(sample["cpu"]["process_minor_faults"] for sample in samples)
    assert faults * 0.9 <= told_faults <= faults, (told_faults, faults)
    assert abs(sum(program["cpu_secs"] for program in end["programs"]) - told) < 0.002


def test_the_time_of_children_is_at_least_so_much_where_the_parent_waits_for_others_too(spawn, binary, helpers, attached_user):
    folder, user = attached_user
    samples, truth, _ = attach_below_waiter(spawn, folder, helpers, "beside", FORKS, **user)
    told, is_at_least = exact.told_secs(samples), samples[-1]["run_end"]["tree_cpu_at_least"]
    assert told <= truth + TICKS_SECS, truth
    # On a busy machine, a sample may come after the other child's end: from then on the parent's figures are the job's again.
    assert is_at_least or told >= truth - 2 * TICKS_SECS, (told, truth)
    summary = subprocess.run([binary, "summary", folder / "beside.jsonl"], stdout=subprocess.PIPE, text=True, check=True).stdout
    assert ("; at least " in " ".join(summary.split())) == is_at_least, summary


@pytest.mark.parametrize("how", ["alone", "beside"])
def test_the_last_child_of_the_job_counts_once(spawn, helpers, attached_user, how):
    """The time that the parent of the job had waited for was added to the time of a child that the samples had seen: 3.9 s of 2.0."""
    folder, user = attached_user
    samples, truth, _ = attach_below_waiter(spawn, folder, helpers, how, FORKS_ONE, **user)
    told = exact.told_secs(samples)
    assert truth > 0.05 and truth - 3 * TICKS_SECS <= told <= truth + TICKS_SECS, (told, truth)


@pytest.mark.parametrize("how", ["alone", "beside"])
def test_the_time_of_a_job_that_forks_nothing_is_not_a_bound(spawn, helpers, attached_user, how):
    folder, user = attached_user
    samples, truth, _ = attach_below_waiter(spawn, folder, helpers, how, FORKS_NOTHING, **user)
    assert exact.told_secs(samples) <= truth + TICKS_SECS, truth
    assert not samples[-1]["run_end"]["tree_cpu_at_least"]


# Each daemon forks the next one and ends; a process outside the job waits for it.
DAEMONS = """
import os, sys, time

def burn(secs):
    end = time.process_time() + secs
    while time.process_time() < end:
        pass

print("ready", flush=True)
sys.stdin.readline()
if os.fork() == 0:
    for _ in range(20):
        burn(0.04)
        pid = os.fork()
        if pid:
            os.write(1, b"%f\\n" % time.process_time())
            os._exit(0)
    os._exit(0)
os.wait()
sys.stdin.readline()
"""


def attach_to_daemons(spawn, tmp_path, helpers):
    """Returns (samples, the CPU seconds that each daemon used)."""
    record = tmp_path / "record.jsonl"
    with subprocess.Popen([sys.executable, "-c", DAEMONS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as job:
        assert job.stdout.readline() == "ready\n"
        tracker = spawn("-i", 0.3, "-o", record, "--no-summary", "--pid", job.pid)
        helpers.wait_until(lambda: record.exists() and record.stat().st_size)
        job.stdin.write("\n")
        job.stdin.flush()
        used = [float(job.stdout.readline()) for _ in range(20)]
        job.stdin.close()
        assert tracker.wait() == 0
    return helpers.json_lines(record), used


def exited(samples):
    return [sample["cpu"]["process_exited_count"] for sample in samples]


@pytest.mark.alone
@pytest.mark.skipif(not exact.is_root(), reason="the kernel tells ends of processes to root")
def test_the_time_of_daemons_that_others_wait_for(spawn, tmp_path, helpers):
    """3.9 s were told as 0.15: the last time of each daemon went to init, and one that ended between two samples was lost."""
    samples, used = attach_to_daemons(spawn, tmp_path, helpers)
    if exited(samples)[-1] is None:
        pytest.skip("the kernel delivers no events here, or others forked too much")
    told = exact.told_secs(samples)
    assert sum(used) - 0.02 <= told <= sum(used) + 0.1, used
    assert abs(sum(program["cpu_secs"] for program in samples[-1]["run_end"]["programs"]) - told) < 0.002


@contextlib.contextmanager
def storm_of_forks():
    """Others fork so often that the recorder stops listening to events."""
    forkers = [subprocess.Popen(["sh", "-c", "while :; do /bin/true; done"]) for _ in range(4)]
    try:
        yield
    finally:
        for forker in forkers:
            forker.kill()
            forker.wait()


@pytest.mark.alone
@pytest.mark.skipif(not exact.is_root(), reason="the kernel tells ends of processes to root")
def test_daemons_that_may_be_missed_in_a_storm_of_forks_leave_no_count(spawn, tmp_path, helpers):
    """2 ends were told of 21: the records of the daemons name a parent outside the job, and events had stopped."""
    with storm_of_forks():
        samples, used = attach_to_daemons(spawn, tmp_path, helpers)
    assert exited(samples)[-1] is None or exact.told_secs(samples) >= sum(used) - 0.02


# A recorder with a sanitiser, or beside other work, is too slow for the storm: the kernel drops records, and the count is null.
@pytest.mark.plain
@pytest.mark.alone
@pytest.mark.skipif(not exact.is_root(), reason="the kernel tells ends of processes to root")
def test_ends_are_counted_in_a_storm_of_forks_where_all_have_a_parent(spawn, tmp_path, helpers):
    record, load = tmp_path / "record.jsonl", os.getloadavg()[0]
    with storm_of_forks(), subprocess.Popen(["sh", "-c", "for i in 1 2 3 4 5 6; do sleep 0.3; done; read line"],
                                            stdin=subprocess.PIPE) as job:
        tracker = spawn("-i", 0.3, "-o", record, "--no-summary", "--pid", job.pid)
        helpers.wait_until(lambda: record.exists() and len(helpers.json_lines(record)) >= 8)
        job.stdin.close()
        assert tracker.wait() == 0
    counts = exited(helpers.json_lines(record))
    if counts[-1] is None and os.readlink("/proc/self/ns/pid") != "pid:[4026531836]":
        pytest.skip("the kernel delivers no events in a PID namespace")
    if counts[-1] is None and load > os.cpu_count():
        pytest.skip(f"the machine is too busy (load {load:.1f})")
    assert counts[-1] in (6, 7), counts  # one may have begun before the recorder, and the shell itself ends
