"""The start of the recorder, and samples, in system calls and instructions, whose number a busy machine does not change."""
import os
import platform
import re
import shutil
import subprocess
import sys

import pytest

from conftest import ROOTS, json_lines

STRACE = shutil.which("strace")
PLAIN = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/nonexistent", "LANG": "C.UTF-8"}  # of no recorder around the tests
INHERITED = 251  # shells leave a descriptor with a high number to the programs that they start
# Mounts and control groups of other tests are read as well.
pytestmark = pytest.mark.alone


def keep_a_high_descriptor():
    os.dup2(0, INHERITED)


@pytest.fixture
def calls(binary, tmp_path, no_leak_check):
    """The calls up to the start of the job. Before it, the recorder starts the witness only."""
    if not STRACE:
        pytest.skip("strace is missing")
    trace = tmp_path / "trace"
    done = subprocess.run([STRACE, "-qq", "-o", trace, binary, "-q", "--no-summary", "-o", "run.jsonl", "--", "true"],
                          cwd=tmp_path, stdin=subprocess.DEVNULL, preexec_fn=keep_a_high_descriptor, close_fds=False, env=PLAIN)
    if done.returncode or not json_lines(tmp_path / "run.jsonl"):
        pytest.skip("this machine does not let strace trace")
    lines, starts = [], 0
    for line in trace.read_text().splitlines():
        lines.append(line)
        starts += line.startswith(("clone", "fork")) and not line.endswith("(Operation not permitted)") and " = -1 " not in line
        if starts == 2:
            return lines
    raise AssertionError("the trace has no start of a job")


@pytest.mark.slow  # a sanitiser makes calls of its own
def test_a_start_takes_few_calls(calls):
    """205, and three more for each folder of a path with "/"; version 0.1 took 178 and knew nothing of programs, the network and limits of processes. A search of all numbers of descriptors was 250 more."""
    # The kernel's messages of other processes come as they come.
    own = [call for call in calls if not call.startswith("recv")]
    assert len(own) <= 206, len(own)


def test_files_of_a_command_take_one_call_each(binary, tmp_path, no_leak_check):
    if not STRACE:
        pytest.skip("strace is missing")
    (tmp_path / "a").touch()
    (tmp_path / "b").touch()

    def looked_at(*words):
        done = subprocess.run([STRACE, "-qq", "-o", "trace", binary, "-q", "--no-summary", "--", "true", *words], cwd=tmp_path, stdin=subprocess.DEVNULL,
                              env=PLAIN)
        text = (tmp_path / "trace").read_text()
        if done.returncode:
            pytest.skip("this machine does not let strace trace")
        return re.findall(r'stat\w*\([^"]*"(a|b|-x|\d+)"', text)
    assert looked_at("a", "b", "-x") == ["a", "b"]
    assert len(looked_at(*map(str, range(3000)))) < 300


def test_work_for_longer_runs_waits_until_the_job_has_started(calls):
    late = ["system/node", "/proc/self/net/dev"]
    assert [text for text in late if any(text in line for line in calls)] == []


def sample_calls(binary, folder, least, *job):
    """Returns the system calls of a run as strace writes them, and the number of the line of each sample."""
    if not STRACE:
        pytest.skip("strace is missing")
    trace = folder / "trace"
    done = subprocess.run([STRACE, "-qq", "-o", trace, binary, "-q", "--no-summary", "-i", "1", "-o", folder / "run.jsonl", "--",
                           *job], stdin=subprocess.DEVNULL, env=PLAIN)
    if done.returncode or len(json_lines(folder / "run.jsonl")) < least:
        pytest.skip("this machine does not let strace trace, or is too busy")
    lines = trace.read_text(errors="replace").splitlines()
    return lines, [i for i, line in enumerate(lines) if line.startswith("write(") and "timestamp_secs" in line]


@pytest.mark.night
@pytest.mark.slow
def test_a_job_that_sleeps_has_its_sockets_looked_at_once_a_sample(binary, tmp_path, no_leak_check):
    """Between two samples of every second there was another look, which woke the recorder."""
    lines, samples = sample_calls(binary, tmp_path, 9, "sleep", "9.5")
    looks = [line for line in lines[samples[1]:samples[8]] if line.startswith("pread64(") and '"sockets: used' in line]
    assert 1 <= len(looks) <= 8, looks


def instructions(tmp_path, *command, until=""):
    """How many run in this program, or until it calls a function."""
    counts = tmp_path / "counts"
    words = [shutil.which("valgrind"), "--tool=callgrind", f"--callgrind-out-file={counts}"]
    subprocess.run([*words, *([f"--dump-before={until}"] if until else []), *command], stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   env=PLAIN)
    counted = tmp_path / "counts.1" if until else counts
    totals = re.search(r"^totals: (\d+)", counted.read_text(errors="replace"), re.M) if counted.exists() else None
    return int(totals[1]) if totals else None


@pytest.mark.slow
def test_a_start_takes_few_instructions(binary, tmp_path, no_leak_check):
    """Up to the start of the job, more than a program that does nothing.

    465,000. Its environment has three variables, because each look for a variable passes all of them: 59,000 more with those of pytest. It
    reads the files of a captured machine: this one has 3,500 more for each mount, and the control groups and disks of other tests. 12,000
    are 12 KB of a tracker that are cleared, 19,000 judge values by what the machine can do.
    """
    if not shutil.which("valgrind") or platform.libc_ver()[0] != "glibc":
        pytest.skip("callgrind or glibc is missing")
    nothing = instructions(tmp_path, shutil.which("true"))
    root = ROOTS / "hand-made-cgroup2-6.6" / "t0"
    start = instructions(tmp_path, binary, "--root", root, "-q", "--no-summary", "-o", tmp_path / "run.jsonl", "--", "true", until="wrap_spawn")
    if not nothing or not start:
        pytest.skip("callgrind cannot count here")
    assert start - nothing <= 475_000, (start, nothing)


THREADS = """
import threading, time
def often():
    end = time.monotonic() + 6.5
    while time.monotonic() < end:
        time.sleep(0.02)
many = [threading.Thread(target=often) for _ in range(8)]
for one in many: one.start()
for one in many: one.join()
"""


@pytest.mark.slow
def test_files_of_threads_and_of_the_own_group_stay_open(binary, tmp_path, no_leak_check):
    """Opening and closing is most of the cost of a small file of the kernel."""
    lines, samples = sample_calls(binary, tmp_path, 6, sys.executable, "-c", THREADS)
    window = lines[samples[2]:samples[5]]
    opened = [line for line in window if line.startswith("openat(") and re.search(r'task/\d+/status"|"cpu\.stat"', line)]
    assert opened == []
    assert sum("voluntary_ctxt" in line or '"Name:' in line for line in window) >= 8, "no status was read"
