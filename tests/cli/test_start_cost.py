"""The start of the recorder, and a job that sleeps, in system calls, whose number a busy machine does not change."""
import os
import shutil
import subprocess

import pytest

from conftest import json_lines

STRACE = shutil.which("strace")
INHERITED = 251  # shells leave a descriptor with a high number to the programs that they start


def keep_a_high_descriptor():
    os.dup2(0, INHERITED)


@pytest.fixture
def calls(binary, tmp_path, no_leak_check):
    """The calls up to the start of the job. Before it, the recorder starts the witness only."""
    if not STRACE:
        pytest.skip("strace is missing")
    trace = tmp_path / "trace"
    done = subprocess.run([STRACE, "-qq", "-o", trace, binary, "-q", "--no-summary", "-o", tmp_path / "run.jsonl", "--", "true"],
                          stdin=subprocess.DEVNULL, preexec_fn=keep_a_high_descriptor, close_fds=False)
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
    """About 200; a search of all numbers of descriptors was 250 more."""
    assert len(calls) <= 260, len(calls)


def test_work_for_longer_runs_waits_until_the_job_has_started(calls):
    late = ["system/node", "/proc/self/net/dev"]
    assert [text for text in late if any(text in line for line in calls)] == []


@pytest.mark.slow
def test_a_job_that_sleeps_has_its_sockets_looked_at_once_a_sample(binary, tmp_path, no_leak_check):
    """Between two samples of every second there was another look, which woke the recorder."""
    if not STRACE:
        pytest.skip("strace is missing")
    trace = tmp_path / "trace"
    done = subprocess.run([STRACE, "-qq", "-o", trace, binary, "-q", "--no-summary", "-i", "1", "-o", tmp_path / "run.jsonl", "--",
                           "sleep", "9.5"],
                          stdin=subprocess.DEVNULL)
    if done.returncode or len(json_lines(tmp_path / "run.jsonl")) < 9:
        pytest.skip("this machine does not let strace trace, or is too busy")
    lines = trace.read_text().splitlines()
    samples = [i for i, line in enumerate(lines) if line.startswith("write(") and "timestamp_secs" in line]
    looks = [line for line in lines[samples[1]:samples[8]] if line.startswith("pread64(") and '"sockets: used' in line]
    assert 1 <= len(looks) <= 8, looks
