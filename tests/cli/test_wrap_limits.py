"""With hardly any resources left, the job still runs and its status is still passed on."""
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import time

import pytest

from conftest import json_lines, wait_until
from wrap_driver import DRIVER, SIGNAL_LOG, SignalJob, log, needs_root, sigqueue, state_of, terminal, wrap  # noqa: F401

needs_strace = pytest.mark.skipif(not shutil.which("strace"), reason="makes system calls fail by strace")


def pids_controller():
    for folder in ("/sys/fs/cgroup/pids", "/sys/fs/cgroup"):
        if os.path.exists(f"{folder}/cgroup.procs") and (
                folder.endswith("pids") or "pids" in pathlib.Path(f"{folder}/cgroup.subtree_control").read_text().split()):
            return folder
    return None


@pytest.fixture
def pids_max():
    """pids_max(N) returns a preexec_fn that puts a process into a cgroup of at most N processes."""
    top = pids_controller()
    if os.geteuid() != 0 or not top:
        pytest.skip("makes cgroups with a limit of processes: needs root and the pids controller")
    made = pathlib.Path(top) / f"test-wrap-{os.getpid()}"
    made.mkdir()

    def limit(count):
        (made / "pids.max").write_text(f"{count}\n")
        return lambda: (made / "cgroup.procs").write_text(f"{os.getpid()}\n")

    yield limit
    for pid in (made / "cgroup.procs").read_text().split():
        os.kill(int(pid), signal.SIGKILL)
    wait_until(lambda: not (made / "cgroup.procs").read_text().split())
    made.rmdir()


def test_the_last_process_is_the_jobs(wrap, log, pids_max):
    process = wrap("sh", "-c", "exit 31", preexec_fn=pids_max(2))
    assert process.wait(10) == 31
    assert log.one("witness")["id"] == 0


def test_no_process_for_the_job_is_our_error(wrap, log, pids_max, no_leak_check):
    assert wrap("true", preexec_fn=pids_max(1)).wait(10) == 125
    assert "Resource temporarily unavailable" in log.one("spawn")["line"]


def test_a_job_that_uses_up_all_processes(wrap, log, pids_max):
    code = """
import os, signal, time
made = []
try:
    while True:
        pid = os.fork()
        if pid == 0:
            signal.pause()
        made.append(pid)
except BlockingIOError:
    pass
time.sleep(0.3)
for pid in made:
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
os._exit(32 if len(made) == 8 else 33)
"""
    process = wrap("--interval", 20, sys.executable, "-c", code, preexec_fn=pids_max(10))
    time.sleep(0.2)
    process.send_signal(signal.SIGWINCH)
    assert process.wait(20) == 32
    assert len(log.events("tick")) >= 10
    assert log.one("signal")["way"] == "forwarded"


@pytest.mark.parametrize("count", [3, 4, 5, 8])
def test_few_descriptors(wrap, count, no_leak_check):
    def limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (count, count))

    # With three processes the loader cannot even open a library: our program is the first that cannot start.
    assert subprocess.run([DRIVER, "sh", "-c", "exit 34"], preexec_fn=limit).returncode == (34 if count > 3 else 127)
    if count == 3:
        return
    job = subprocess.Popen([DRIVER, SIGNAL_LOG], stdin=subprocess.PIPE, stdout=subprocess.PIPE, preexec_fn=limit, text=True)
    assert job.stdout.readline().startswith("ready")
    for signo in (signal.SIGTERM, signal.SIGUSR1):
        os.kill(job.pid, signo)
        assert job.stdout.readline().startswith(f"signal {int(signo)}")
    job.stdin.close()
    assert job.wait(10) == 0
    job.stdout.close()


def test_closed_standard_streams(wrap, log):
    process = subprocess.Popen(["sh", "-c", f'exec {DRIVER} --log {log.path} --interval 20 sh -c "$0" <&- >&- 2>&-',
                                "for fd in 0 1 2; do test -e /proc/$$/fd/$fd && exit 1; done; "
                                f"until grep -q tick {log.path}; do sleep 0.02; done; exit 35"])
    assert process.wait(60) == 35
    assert log.events("tick") and log.events("end")


def test_a_file_size_limit_of_nothing(wrap, log):
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    assert wrap("--interval", 10, "sh", "-c", "sleep 0.1; exit 36", preexec_fn=limit).wait(10) == 36
    assert log.path.read_bytes() == b""


def test_a_closed_pipe_for_our_own_lines():
    """We ignore SIGPIPE instead of dying of it; the job has its own disposition."""
    read_end, write_end = os.pipe()
    os.close(read_end)
    process = subprocess.Popen([DRIVER, "--log", f"/dev/fd/{write_end}", "--interval", "10", "sh", "-c", "sleep 0.1; exit 37"],
                               pass_fds=[write_end])
    os.close(write_end)
    assert process.wait(10) == 37


def test_a_full_signal_queue_holds_up_nothing_else(wrap):
    """The job takes no real-time signals until it has got another. That one passes, and no accepted signal is lost."""
    code = """
import signal, time
got = []
signal.pthread_sigmask(signal.SIG_BLOCK, [40])
signal.signal(signal.SIGTERM, lambda *_: got.append(print("term", flush=True)))
print("up", flush=True)
while not got:
    time.sleep(0.02)
count = 0
while signal.sigtimedwait([40], 0.2):
    count += 1
print(count)
"""
    def limit():
        pending = int(pathlib.Path("/proc/self/status").read_text().split("SigQ:\t")[1].split("/")[0])
        resource.setrlimit(resource.RLIMIT_SIGPENDING, (pending + 100, pending + 100))

    process = wrap(sys.executable, "-c", code, stdout=subprocess.PIPE, text=True, preexec_fn=limit)
    assert process.stdout.readline() == "up\n"
    sent = 0
    for value in range(250):
        try:
            sigqueue(process.pid, 40, value)
            sent += 1
        except BlockingIOError:
            pass
        except OSError:
            pass
        time.sleep(0.0005)
    assert sent > 90
    started = time.monotonic()
    process.terminate()
    assert process.stdout.readline() == "term\n"
    assert time.monotonic() - started < 5
    assert int(process.stdout.readline()) == sent
    assert process.wait(10) == 0
    process.stdout.close()


@needs_strace
@pytest.mark.parametrize("call", ["clone3", "close_range", "prctl"])
def test_without_newer_system_calls(call, tmp_path, no_leak_check):
    done = subprocess.run(["strace", "-o", "/dev/null", "-f", "-e", f"trace={call}", "-e", f"inject={call}:error=ENOSYS", DRIVER,
                           "--cgroup", "/", "sh", "-c", "exit 38"], timeout=30)
    assert done.returncode == 38


@needs_root
def test_starting_in_a_cgroup(wrap, log):
    mounts = [line.split() for line in pathlib.Path("/proc/mounts").read_text().splitlines()]
    top = next((pathlib.Path(line[1]) for line in mounts if line[2] == "cgroup2"), None)
    if not top:
        pytest.skip("no cgroup v2 hierarchy is mounted")
    made = top / f"test-wrap-{os.getpid()}"
    made.mkdir()
    try:
        process = wrap("--cgroup", made, "cat", "/proc/self/cgroup", stdout=subprocess.PIPE, text=True)
        assert f"0::/{made.name}" in process.stdout.read() and process.wait(10) == 0
        assert log.one("started")["cgroup"] == 1
    finally:
        made.rmdir()
    log.path.unlink()
    # A path that is not a cgroup does not prevent the job from running.
    assert wrap("--cgroup", "/proc", "true").wait(10) == 0
    assert log.one("started")["cgroup"] == 0


def test_stopped_and_continued_at_random(wrap, log):
    begun = time.monotonic()
    process = wrap("--interval", 5, "sh", "-c", "for i in 1 2 3 4 5; do sleep 0.1; done; exit 39")
    log.wait_for("started")
    for _ in range(20):
        process.send_signal(signal.SIGSTOP)
        time.sleep(0.01)
        process.send_signal(signal.SIGCONT)
        time.sleep(0.01)
    assert process.wait(10) == 39
    late = [event["late"] for event in log.events("tick")]
    assert all(value >= 0 for value in late) and len(late) < (time.monotonic() - begun) / 0.005 + 20


@pytest.mark.parametrize("limits, command, limit", [
    ("ulimit -v 200000", "import sys; sys.stderr = None; bytearray(400 << 20)", "an address space of 195 MiB (ulimit -v)"),
    ("ulimit -d 100000", "import sys; sys.stderr = None; bytearray(400 << 20)", "data of 97 MiB (ulimit -d)"),
    ("ulimit -f 40", "import signal; signal.signal(signal.SIGXFSZ, 0); file = open(\"file\", \"wb\"); file.write(bytes(50000)); file.flush()",
     "files of 20 KiB (ulimit -f)"),
    ("ulimit -f 40", "file = open(\"file\", \"wb\"); file.write(bytes(50000)); file.flush()", "files of 20 KiB (ulimit -f)"),
    ("ulimit -f 40", "pass", None),
    ("ulimit -t 1", "while True: pass", "1 s of CPU time (ulimit -t)"),
    ("ulimit -S -t 1", "while True: pass", "1 s of CPU time (ulimit -t)"),
    ("ulimit -S -t 1", "raise SystemExit(1)", None),
    ("ulimit -v 200000", "pass", None),
    ("true", "raise SystemExit(1)", None),
])
@pytest.mark.parametrize("how", ["exec ", ""])
def test_a_limit_of_a_process_that_failed_is_named(run, tmp_path, limits, command, limit, how):
    path = tmp_path / "run.jsonl"
    # "|| exit" keeps the shell from calling exec itself.
    code = f"{limits}; {how}/usr/bin/python3 -c '{command}'" + ("" if how else " || exit $?")
    run("-q", "--no-summary", "-o", path, "--", "sh", "-c", code, stderr=subprocess.DEVNULL)
    end = json_lines(path)[-1]["run_end"]
    assert end["process_limit"] == limit
    assert (f"limited to {limit}" in run("summary", path).out) == (limit is not None)
    assert (f"limited to {limit}" in " ".join(run("recommend", path).out.split())) == (limit is not None)


GROW = "import sys; sys.stderr = None; kept = []\\nwhile True: kept.append(bytearray(2 << 20))"


def test_a_job_that_ran_into_its_address_space_limit(run, tmp_path):
    """MemoryError and exit 1: the headline was "Idle"."""
    path = tmp_path / "run.jsonl"
    run("-q", "--no-summary", "-i", 0.05, "-o", path, "--", "sh", "-c",
        f"ulimit -v 200000; exec /usr/bin/python3 -c \"$(printf '{GROW}')\"", stderr=subprocess.DEVNULL)
    end = json_lines(path)[-1]["run_end"]
    assert end["exit_code"] == 1
    assert end["process_limit"].startswith("an address space of 195 MiB (ulimit -v), near its peak of 1"), end["process_limit"]
    text = " ".join(run("summary", path).out.split())
    assert f"Bottleneck Limit: It failed, limited to {end['process_limit']}: raise this limit if it is the reason." in text, text


@pytest.mark.parametrize("forks, status", [(30, 0), (30, 3), (2, 3)])
@pytest.mark.parametrize("how", ["auto", "off"])
def test_forks_that_failed_at_the_limit_of_processes_are_named(run, tmp_path, pids_max, how, forks, status):
    """A fork that failed before the run does not count."""
    path, enter = tmp_path / "run.jsonl", pids_max(16)
    code = f"""
import os, sys, time
for _ in range(int(sys.argv[1])):
    try:
        if os.fork() == 0:
            time.sleep(0.5)
            os._exit(0)
    except BlockingIOError:
        pass
while True:
    try:
        os.wait()
    except ChildProcessError:
        sys.exit({status})
"""
    subprocess.run(["/usr/bin/python3", "-c", code, "30"], preexec_fn=enter, check=False)
    done = run("-q", "--no-summary", "--cgroup", how, "-o", path, "--", "/usr/bin/python3", "-c", code, str(forks), preexec_fn=enter)
    assert done.returncode == status, done.err
    limit = "16 processes and threads (pids.max), so that a fork failed" if forks > 16 else None
    assert json_lines(path)[-1]["run_end"]["process_limit"] == limit
    told, advice = (" ".join(run(command, path).out.split()) for command in ("summary", "recommend"))
    assert (f"exit status {status}; limited to {limit}" in told) == (f"limited to {limit}" in advice) == (limit is not None)
    # If it ended well on a busy machine, that may have held it up more.
    assert ("Bottleneck Limit: " in told) == (limit is not None) or (limit and not status and "kept the CPUs busy" in told), told
