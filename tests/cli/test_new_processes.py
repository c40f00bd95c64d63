"""Processes that a job starts late are found, whether their numbers or the lists of children led to them."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

import pytest

import exact

# A process of many threads: that is as many lists of children. A thread that is not the first one forks.
THREADS = """
import os, subprocess, threading, time
hold = threading.Event()
for _ in range(60):
    threading.Thread(target=hold.wait, daemon=True).start()
def start():
    subprocess.Popen(["sh", "-c", "sleep 2.5 & sleep 2.5"])
end = time.monotonic() + {secs}
late = threading.Timer({secs} / 2, start)
late.start()
while time.monotonic() < end:
    sum(range(2000))
    time.sleep(0.01)
os._exit(0)
"""
# 80 processes that run all the time; one of them forks late, and its child forks again.
PROCESSES = """
import os, time
end = time.monotonic() + {secs}
for i in range(80):
    if os.fork() == 0:
        started = False
        while time.monotonic() < end:
            sum(range(2000))
            if i == 40 and not started and time.monotonic() > end - {secs} / 2:
                started = True
                if os.fork() == 0:
                    os.fork()
                    time.sleep(2.5)
                    os._exit(0)
            time.sleep(0.02)
        os._exit(0)
time.sleep(end - time.monotonic())
os._exit(0)
"""


def children(samples):
    return [sample["cpu"]["process_child_count"] for sample in samples[1:-1]]


@pytest.mark.parametrize("program, before, after", [(THREADS, 0, 3), (PROCESSES, 80, 82)], ids=["threads", "processes"])
@pytest.mark.parametrize("attached", [False, pytest.param(True, marks=pytest.mark.night)], ids=["wrapped", "attached"])
def test_processes_that_are_started_late_are_found(record, attached, program, before, after):
    code = program.format(secs=4)
    if attached:
        with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.DEVNULL) as job:
            _, samples = record("-i", 0.2, "--pid", job.pid, "--duration", 3.6, "--no-summary")
            job.wait()
    else:
        _, samples = record("-i", 0.2, "--duration", 3.8, "--no-summary", "--", sys.executable, "-c", code)
    counts = children(samples)
    assert before in counts, counts
    assert counts[-2:] == [after] * 2, counts


# In a PID namespace of their own, where other programs take no numbers.
TRACED = """
{python} -c "$CODE" & job=$!
sleep 1
strace -qq -o {folder}/trace -e trace=openat {program} -i 0.1 --pid $job --duration 1.5 --no-summary -o {folder}/record
kill -9 $job
"""


@pytest.mark.skipif(not exact.is_root() or not shutil.which("strace"), reason="needs root and strace")
def test_no_list_of_children_is_read_while_no_process_starts(binary, tmp_path, no_leak_check):
    if subprocess.run(["unshare", "--pid", "--fork", "--mount-proc", "true"], stderr=subprocess.DEVNULL).returncode:
        pytest.skip("no PID namespace can be made here")
    script = TRACED.format(python=sys.executable, folder=tmp_path, program=binary)
    subprocess.run(["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", script], timeout=30,
                   env={**os.environ, "CODE": THREADS.format(secs=12)}, stdin=subprocess.DEVNULL, check=True)
    samples = len((tmp_path / "record").read_text().splitlines())
    lists = (tmp_path / "trace").read_text().count("/children")
    assert samples > 10
    # The first passes read the list of each of 61 threads.
    assert lists <= 61 * 4, (lists, samples)


WRAPPED = """
exec strace -qq -o {folder}/trace -e trace=openat {program} -i 0.1 --no-summary -o {folder}/record -- {python} -c "$CODE"
"""


@pytest.mark.slow
@pytest.mark.skipif(not exact.is_root() or not shutil.which("strace"), reason="needs root and strace")
def test_lists_of_threads_are_not_read_in_a_wrapped_job(binary, tmp_path, no_leak_check):
    """Each list leaves an entry in the kernel's cache of names, which the thread has to drop as it ends.

    The job lives for longer than ten seconds, after which all members are read again.
    """
    if subprocess.run(["unshare", "--pid", "--fork", "--mount-proc", "true"], stderr=subprocess.DEVNULL).returncode:
        pytest.skip("no PID namespace can be made here")
    script = WRAPPED.format(python=sys.executable, folder=tmp_path, program=binary)
    subprocess.run(["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", script], timeout=50,
                   env={**os.environ, "CODE": THREADS.format(secs=11)}, stdin=subprocess.DEVNULL, check=True)
    samples = [json.loads(line) for line in (tmp_path / "record").read_text().splitlines()]
    assert max(sample["cpu"]["process_thread_count"] or 0 for sample in samples) > 60
    assert 3 in children(samples), children(samples)
    lists = re.findall(r'"[^"]*?(\d+)/task/(\d+)/children"', (tmp_path / "trace").read_text())
    of_threads = [(pid, tid) for pid, tid in lists if pid != tid]
    assert lists and not of_threads, of_threads


@pytest.mark.alone
def test_a_storm_of_processes_is_left_out_of_the_table(binary, tmp_path):
    """A chain of 20,000 that wait in vfork() once cost 3.2 s: all were read, and each climbed the whole chain as it ended."""
    record, count = tmp_path / "record.jsonl", 8000
    chaos = exact.build_workload(binary, tmp_path, "chaos")
    pid = os.posix_spawn(binary, [binary, "-i", "0.2", "-o", str(record), "--no-summary", "--cgroup=off", "--",
                                  chaos, str(tmp_path / "truth"), "chain", str(count)], os.environ)
    _, status, usage = os.wait4(pid, 0)
    assert status == 0
    samples = [json.loads(line) for line in record.open()]
    told = exact.rusage_secs(samples)
    cost = usage.ru_utime + usage.ru_stime - told
    # 0.1 s on a quiet machine. Beside others that share its cores, CPU time costs more, and the storm takes many samples.
    assert cost < 0.8 + 0.15 * samples[-1]["elapsed_secs"], (cost, samples[-1]["elapsed_secs"])
    assert abs(sum(sample["tracker"]["cpu_secs"] for sample in samples) - cost) < 0.02 + cost * 0.1, cost
    assert abs(exact.told_secs(samples) - told) < exact.RUSAGE_TOLERANCE_SECS
    full = [sample for sample in samples if sample["cpu"]["process_child_count"] is None]
    assert full, children(samples)
    # A part of the processes is not the memory of the job, nor of a program.
    for sample in full:
        assert sample["cpu"]["process_memory_mib"] is None and sample["cpu"]["process_rss_mib"] is None
        assert all(program["process_count"] is None and program["memory_mib"] is None for program in sample["programs"])


@pytest.mark.alone
@pytest.mark.parametrize("user", ["root", "nobody"])
def test_a_storm_of_5000_processes_a_second_costs_2_percent_of_a_core(binary, program_for_everybody, user, tmp_path):
    """Such a job cost the recorder 8.5 s of CPU time in 12 s, and its end came up to 35 s late."""
    if os.geteuid() != 0:
        pytest.skip("only root can be two users")
    place = pathlib.Path(program_for_everybody).parent
    chaos = shutil.copy(exact.build_workload(binary, tmp_path, "chaos"), place / "storm")
    place.chmod(0o777)
    record = place / "record.jsonl"
    command = [program_for_everybody, "-i", "1", "-o", record, "--no-summary", "--", chaos, place / "truth", "storm", "6000"]
    if user == "nobody":
        command = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", *command]
    began = time.monotonic()
    pid = os.posix_spawnp(command[0], command, os.environ)
    _, status, usage = os.wait4(pid, 0)
    samples = [json.loads(line) for line in record.open()]
    assert os.waitstatus_to_exitcode(status) == 7 and time.monotonic() - began < 8
    cost = usage.ru_utime + usage.ru_stime - exact.rusage_secs(samples)
    assert cost < 0.02 * 6 + 0.02, cost
    # The start of the program and its end are in no sample.
    assert abs(sum(sample["tracker"]["cpu_secs"] for sample in samples) - cost) < 0.02, cost
    assert len(samples) >= 6 and max(sample["tracker"]["sample_ms"] for sample in samples) < 100


MANY = """
import os, time
for _ in range(450):
    if os.fork() == 0:
        time.sleep(6)
        os._exit(0)
time.sleep(6)
"""


@pytest.mark.alone
@pytest.mark.parametrize("attached", [False, pytest.param(True, marks=pytest.mark.night)], ids=["wrapped", "attached"])
def test_processes_that_were_left_out_are_found_later(record, attached):
    if attached:
        with subprocess.Popen([sys.executable, "-c", "import time\ntime.sleep(1)\n" + MANY], stdin=subprocess.DEVNULL) as job:
            _, samples = record("-i", 0.2, "--pid", job.pid, "--duration", 6, "--no-summary")
            job.kill()
    else:
        _, samples = record("-i", 0.2, "--duration", 5.5, "--no-summary", "--", sys.executable, "-c", MANY)
    counts = children(samples)
    assert counts[-1] == 450, counts
    if None not in counts:  # a busy machine forks so slowly that all were read: 320 at once, and 50 a second
        assert counts[5] < 320 + 100, counts
