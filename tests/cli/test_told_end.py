"""A parent that attaches a recorder to its child tells it how the child ended (base/told_end.h), as Slurm's plugin does."""
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time

import pytest

from conftest import clean_environment, json_lines

BURN = "import time\nwhile time.process_time() < 0.3: pass\n"


def attach(binary, folder, job, tell, kill_after=None, tracer=(), interval="30"):
    """Attaches a recorder to a job that waits for its start; tell(status, usage) is what it is told. Returns the samples."""
    gate, start = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(start)
        os.read(gate, 1)
        os.execv(job[0], job)
    ours, theirs = socket.socketpair()
    path = folder / "run.jsonl"
    recorder = subprocess.Popen([*tracer, binary, "-q", "--no-summary", "-i", interval, "-o", path, "--pid", str(child)], pass_fds=[theirs.fileno()],
                                env={**clean_environment(), "RESOURCE_TRACKER_STATUS_FD": str(theirs.fileno())}, stdin=subprocess.DEVNULL)
    theirs.close()
    os.close(gate)
    assert ours.recv(1) == b"\0"
    os.close(start)
    if kill_after is not None:
        time.sleep(kill_after)
        os.kill(child, signal.SIGKILL)
    _, status, usage = os.wait4(child, 0)
    ours.sendall(tell(status, usage))
    ours.close()
    assert recorder.wait(50) == 0
    return json_lines(path), usage


def whole_end(status, usage):
    return struct.pack("iiqqq", status, 0, round(usage.ru_utime * 1e6), round(usage.ru_stime * 1e6), 0)


@pytest.mark.parametrize("job, code, signo", [
    ([sys.executable, "-c", BURN], 0, None),
    (["/bin/sh", "-c", f"{sys.executable} -c '{BURN}'; exit 7"], 7, None),
    (["/bin/sh", "-c", "kill -TERM $$"], None, 15),
    (["/bin/true"], 0, None),
])
def test_the_parent_tells_the_end(binary, tmp_path, job, code, signo):
    samples, usage = attach(binary, tmp_path, job, whole_end)
    end = samples[-1]["run_end"]
    assert (end["reason"], end["exit_code"], end["signal"]) == ("exit" if signo is None else "signal", code, signo)
    assert end["utime_secs"] == pytest.approx(usage.ru_utime, abs=1e-5)
    assert end["stime_secs"] == pytest.approx(usage.ru_stime, abs=1e-5)
    # The samples add up to it, although no sample was due between the first and the end. CPU time before it attached is not seen.
    used = sum(sample["cpu"][name] or 0 for sample in samples for name in ("process_utime_secs", "process_stime_secs"))
    assert usage.ru_utime + usage.ru_stime - 0.1 < used <= usage.ru_utime + usage.ru_stime + 1e-3


@pytest.mark.skipif(not shutil.which("strace"), reason="strace is missing")
@pytest.mark.usefixtures("no_leak_check")
@pytest.mark.parametrize("kill_after", [0.9, 1, 1.1, 1.2, 1.3])
def test_the_parent_tells_the_end_of_a_job_that_a_sample_finds_gone(binary, tmp_path, kill_after):
    """The parent was not asked if the job ended after the recorder had looked for its end, and before the sample that was due.

    strace makes both steps last 0.2 s of the interval of 0.5 s, so that at least one of these jobs ends between them.
    """
    tracer = ["strace", "-qq", "-o", os.devnull, "-e", "trace=poll", "-e", "inject=poll:delay_exit=200000"]
    if subprocess.run([*tracer, "true"], stdin=subprocess.DEVNULL, capture_output=True, check=False).returncode:
        pytest.skip("this machine does not let strace trace")
    samples, usage = attach(binary, tmp_path, [sys.executable, "-c", f"{BURN}time.sleep(50)"], whole_end, kill_after, tracer, "0.5")
    end = samples[-1]["run_end"]
    assert (end["reason"], end["signal"]) == ("signal", 9)
    used = sum(sample["cpu"][name] or 0 for sample in samples for name in ("process_utime_secs", "process_stime_secs"))
    assert usage.ru_utime + usage.ru_stime - 0.1 < used <= usage.ru_utime + usage.ru_stime + 1e-3


IMPOSSIBLE = [struct.pack("iiqqq", *told) for told in ((0, 0, -1, 0, 0), (0, 0, 0, 1 << 62, 0), (0, 0, 0, 0, -1), (0x137f, 0, 0, 0, 0))]


@pytest.mark.parametrize("told", [b"", b"short", *IMPOSSIBLE])
def test_the_end_is_unknown_if_the_parent_tells_nothing_possible(binary, tmp_path, told):
    samples, _ = attach(binary, tmp_path, ["/bin/true"], lambda status, usage: told)
    end = samples[-1]["run_end"]
    assert (end["reason"], end["exit_code"]) == ("target_exited", None)


@pytest.mark.parametrize("value", ["", "x", "-1", "99999999999", "2000", "0", "1", "2"])
def test_a_wrong_descriptor_is_ignored(run, tmp_path, value):
    job = subprocess.Popen(["sleep", "0.2"])
    try:
        path = tmp_path / "run.jsonl"
        assert run("-q", "-o", path, "--pid", job.pid, "--duration", "0.05", env={"RESOURCE_TRACKER_STATUS_FD": value}).returncode == 0
    finally:
        job.wait()
    assert json_lines(path)[-1]["run_end"]["reason"] in ("duration", "target_exited")
