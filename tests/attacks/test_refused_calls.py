"""If a filter refuses a system call, this changes nothing about the job, and everything still ends."""
import contextlib
import errno
import json
import os
import pathlib
import signal
import subprocess
import sys

import pytest

import exact

ERRORS = (errno.ENOSYS, errno.EPERM)
# Both end with the job's status. The second has a child, and another child that the program adopts.
JOBS = (("sh", "-c", "exit 3"), ("sh", "-c", "(sleep 0.1 &); (exit 4); exit 3"))
# Without them no output can be opened, or no line of the record can be written.
WRITES = ("write", "newfstatat")


@pytest.fixture(scope="session")
def refuse(binary, tmp_path_factory):
    program = exact.build_workload(binary, tmp_path_factory.mktemp("refuse"), "refuse")
    if subprocess.run([program, "kcmp", "1", "true"]).returncode:
        pytest.skip("no filters of system calls here")
    return program


def calls(refuse):
    return subprocess.run([refuse], capture_output=True, text=True, check=True).stdout.split()


def run_job(refuse, call, error, command, folder):
    """Returns (exit status, stdout) under the filter; status -9999 if it did not end."""
    try:
        done = subprocess.run([refuse, call, str(error), *command], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=20)
    except subprocess.TimeoutExpired:
        return -9999, b""
    return done.returncode, done.stdout


@pytest.mark.slow  # a sanitiser needs calls that the job does not
@pytest.mark.timeout(240)
@pytest.mark.parametrize("error", ERRORS, ids=lambda number: errno.errorcode[number])
def test_every_call_of_the_list(binary, refuse, tmp_path, error, no_leak_check):
    """A refused waitid(2) once hid the end of the job for ever. The test tries at least 49 calls."""
    names, wrong, ran = calls(refuse), [], 0
    assert len(names) >= 49
    record = tmp_path / "run.jsonl"
    for number, call in enumerate(names):
        job = JOBS[number % len(JOBS)]
        record.unlink(missing_ok=True)
        alone = run_job(refuse, call, error, job, tmp_path)
        wrapped = run_job(refuse, call, error, [binary, "-q", "--no-summary", "-o", record, "--", *job], tmp_path)
        ran += alone[0] == 3  # no program can be loaded without pread64, for example
        if alone != wrapped:
            wrong.append((call, alone, wrapped))
        elif alone[0] == 3 and call not in WRITES and not record_is_whole(record):
            wrong.append((call, "no whole record"))
    assert not wrong
    assert ran >= 49


@pytest.mark.slow
@pytest.mark.timeout(240)
@pytest.mark.parametrize("error", (*ERRORS, errno.ENOMEM), ids=lambda number: errno.errorcode[number])
def test_a_step_of_a_recording_shell_runs_whatever_call_is_refused(binary, refuse, tmp_path, error, no_leak_check):
    shell = pathlib.Path(binary).parent / "src" / "shell" / "bash"
    if not shell.exists():
        pytest.skip("the shells are not built")
    wrong, ran = [], 0
    for call in calls(refuse):
        alone, recorded = (run_job(refuse, call, error, [program, "-c", "echo out; exit 3"], tmp_path) for program in ("/bin/bash", shell))
        ran += recorded == (3, b"out\n")
        if alone != recorded:
            wrong.append((call, alone, recorded))
    assert not wrong and ran >= 49


def record_is_whole(record):
    lines = record.read_text().splitlines() if record.exists() else []
    return bool(lines) and json.loads(lines[-1])["run_end"] is not None


BURN = ("import os, resource, time\nif os.fork():\n    os.wait()\nwhile time.process_time() < 0.2: pass\n"
        "print(sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))")


@pytest.mark.parametrize("error", ERRORS, ids=lambda number: errno.errorcode[number])
def test_without_waitid_the_record_is_exact(binary, refuse, tmp_path, error):
    status, out = run_job(refuse, "waitid", error, [binary, "-q", "-i", "0.05", "--no-summary", "--cgroup=off", "-o",
                                                    "run.jsonl", "--", sys.executable, "-c", BURN], tmp_path)
    samples = [json.loads(line) for line in (tmp_path / "run.jsonl").open()]
    assert status == 0
    assert abs(exact.told_secs(samples) - float(out.split()[-1])) < 0.05
    assert abs(exact.told_secs(samples) - exact.rusage_secs(samples)) < 0.005
    assert samples[-1]["run_end"]["reason"] == "exit"


@pytest.mark.parametrize("error", ERRORS, ids=lambda number: errno.errorcode[number])
@pytest.mark.parametrize("way, told", (("exit 3", 3), ("kill -TERM $$", -signal.SIGTERM)))
def test_without_wait4_the_end_is_noticed(binary, refuse, tmp_path, error, way, told, no_leak_check):
    """The recorder never ended: 15 s for a job of 20 ms."""
    done = subprocess.run([refuse, "wait4", str(error), binary, "-q", "--summary", "-o", "run.jsonl", "--", "sh", "-c", way],
                          cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, timeout=20)
    assert done.returncode == told and b"CPU" in done.stderr
    assert record_is_whole(tmp_path / "run.jsonl")


@pytest.mark.parametrize("error", ERRORS, ids=lambda number: errno.errorcode[number])
def test_without_waitid_descendants_are_waited_for(binary, refuse, tmp_path, error):
    status, _ = run_job(refuse, "waitid", error, [binary, "-q", "--no-summary", "--wait-descendants", "-o", "run.jsonl", "--",
                                                  "sh", "-c", "(setsid sh -c 'sleep 0.5; echo > late' &); exit 3"], tmp_path)
    assert status == 3
    assert pathlib.Path(tmp_path, "late").exists()


STOPS = "import os, signal\nfor _ in range(3): os.kill(os.getpid(), signal.SIGSTOP)\nexit(4)"


def state_of(pid):
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


@pytest.fixture
def stopping_job(binary, refuse, tmp_path):
    """Starts a job that stops, below a recorder that may not call waitid(2); ends both."""
    started = []

    def start(error, command):
        started.append(subprocess.Popen(
            [refuse, "waitid", str(error), binary, "-q", "-i", "0.05", "--no-summary", "-o", "run.jsonl", "--", *command],
            cwd=tmp_path, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True))
        return started[-1]

    yield start
    for tracker in started:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(tracker.pid, signal.SIGKILL)
        tracker.communicate()


@pytest.mark.parametrize("error", ERRORS, ids=lambda number: errno.errorcode[number])
def test_without_waitid_a_stop_of_the_job_stops_the_recorder(stopping_job, helpers, tmp_path, error):
    """The recorder once went on while a shell waited for a job that it could not continue."""
    tracker = stopping_job(error, [sys.executable, "-c", STOPS])
    continued = 0
    while tracker.poll() is None:  # it may have stopped again before one looks
        helpers.wait_until(lambda: tracker.poll() is not None or state_of(tracker.pid) == "T")
        if tracker.returncode is None:
            tracker.send_signal(signal.SIGCONT)
            continued += 1
    assert (tracker.returncode, continued) == (4, 3)
    assert record_is_whole(tmp_path / "run.jsonl")


@pytest.mark.parametrize("error", ERRORS, ids=lambda number: errno.errorcode[number])
def test_without_waitid_a_stopped_job_can_be_killed(stopping_job, helpers, tmp_path, error):
    tracker = stopping_job(error, ["sh", "-c", "echo $$ >pid; kill -STOP $$"])
    helpers.wait_until(lambda: state_of(tracker.pid) == "T")
    os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)
    assert tracker.wait(10) == -signal.SIGKILL
    assert record_is_whole(tmp_path / "run.jsonl")
