"""A wrapped job inherits exactly the state that a bare job does."""
import ctypes
import os
import resource
import signal
import subprocess
import sys
import time

import pytest

from wrap_driver import DRIVER, INHERITED_STATE, libc, log, wrap  # noqa: F401

# Ids, memory and counters change all the time.
VOLATILE = ("Pid", "PPid", "Tgid", "NSpid", "NStgid", "NSpgid", "NSsid", "SigQ", "Vm", "Rss", "HugetlbPages", "State", "FDSize",
            "voluntary_ctxt_switches", "nonvoluntary_ctxt_switches", "Threads", "Ngid", "x86_Thread")

PR_SET_CHILD_SUBREAPER, PR_SET_PDEATHSIG, PR_SET_TIMERSLACK = 36, 1, 29


def state(prepare, before=(), wait_ms=0):
    """Returns the output of tests/fakes/inherited-state, started by `before` in a child that ran `prepare`."""
    read_end, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.dup2(write_end, 1)
            os.closerange(3, 200)
            os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
            os.closerange(3, 200)
            prepare()
            command = [*before, INHERITED_STATE, *([str(wait_ms)] if wait_ms else [])]
            os.execve(command[0], command, {"PATH": os.environ["PATH"], "A": "b", "EMPTY": ""})
        finally:
            os._exit(99)
    os.close(write_end)
    with os.fdopen(read_end, "rb") as pipe:
        text = pipe.read().decode()
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    return {line for line in text.splitlines() if not line.startswith(tuple(f"status {name}" for name in VOLATILE))
            and "pipe:[" not in line}


def nothing():
    pass


def block(*signals):
    return lambda: signal.pthread_sigmask(signal.SIG_SETMASK, signals)


def ignore(*signals):
    def prepare():
        for signo in signals:
            signal.signal(signo, signal.SIG_IGN)
    return prepare


def limits():
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 512))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 4096))
    resource.setrlimit(resource.RLIMIT_CPU, (1000, 2000))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
    resource.setrlimit(resource.RLIMIT_STACK, (1 << 20, resource.RLIM_INFINITY))


def settings():
    os.umask(0o027)
    os.nice(3)
    os.chdir("/usr")
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    with open("/proc/self/oom_score_adj", "w") as file:
        file.write("321")
    libc.prctl(PR_SET_TIMERSLACK, 12345, 0, 0, 0)


def descriptors():
    """Opens a gap, two descriptors of one file, a directory, a socket, and a descriptor beyond the usual ones."""
    file = os.open("/etc/passwd", os.O_RDONLY)
    os.dup2(file, 7)
    os.dup2(file, 63)
    os.dup2(os.open("/tmp", os.O_RDONLY | os.O_DIRECTORY), 11)
    os.dup2(os.open("/dev/null", os.O_WRONLY | os.O_APPEND), 150)
    os.dup2(os.open("/dev/zero", os.O_RDONLY | os.O_NONBLOCK), 0)


def closed(*fds):
    return lambda: [os.close(fd) for fd in fds]


CASES = {
    "plain": nothing,
    "all-blocked": block(*(set(signal.valid_signals()) - {signal.SIGKILL, signal.SIGSTOP})),
    "some-blocked": block(signal.SIGTERM, signal.SIGCHLD, signal.SIGCONT, signal.SIGRTMIN),
    "nohup": ignore(signal.SIGHUP),
    "background": ignore(signal.SIGINT, signal.SIGQUIT),
    "python": ignore(signal.SIGPIPE, signal.SIGXFSZ),
    "no-children": ignore(signal.SIGCHLD),
    "no-stops": ignore(signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU, signal.SIGCONT),
    "all-ignored": ignore(*(set(signal.valid_signals()) - {signal.SIGKILL, signal.SIGSTOP})),
    "limits": limits,
    "settings": settings,
    "descriptors": descriptors,
    "closed-0": closed(0),
    "closed-2": closed(2),
    "closed-0-2": closed(0, 2),
    "session": os.setsid,
    "group": os.setpgrp,
    "subreaper": lambda: libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0),
}


@pytest.mark.parametrize("case", CASES)
def test_as_if_not_wrapped(case, tmp_path):
    prepare = CASES[case]
    bare = state(prepare)
    wrapped = state(prepare, [DRIVER])
    if case in ("session", "group"):  # the tracker's own; the job is in it
        replaced = {line for line in bare if line.startswith("group_is_own")}
        bare = bare - replaced | {"group_is_own 0 session_is_own 0"}
    assert wrapped == bare
    with_options = state(prepare, [DRIVER, "--interval", "10", "--release-stdio", "--log", str(tmp_path / "log")], 30)
    assert {line for line in with_options if not line.startswith("argument")} == \
        {line for line in bare if not line.startswith("argument")}


def test_the_death_signal_is_the_jobs_as_well():
    bare = state(lambda: libc.prctl(PR_SET_PDEATHSIG, signal.SIGUSR1, 0, 0, 0))
    assert "death_signal 10" in bare
    assert state(lambda: libc.prctl(PR_SET_PDEATHSIG, signal.SIGUSR1, 0, 0, 0), [DRIVER]) == bare


@pytest.mark.parametrize("before", [[], [DRIVER]], ids=["bare", "wrapped"])
def test_a_pending_signal_stays_pending(before):
    def prepare():
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM, signal.SIGUSR1])
        os.kill(os.getpid(), signal.SIGTERM)

    found = state(prepare, before, wait_ms=50)
    assert "status ShdPnd:\t0000000000004000" in found and "status SigBlk:\t0000000000004200" in found


def test_interval_timers_are_the_jobs():
    def prepare():
        signal.setitimer(signal.ITIMER_REAL, 300, 7)
        signal.setitimer(signal.ITIMER_PROF, 200)

    lines = [line.split() for line in state(prepare, [DRIVER]) if line.startswith("timer ")]
    found = {line[1]: (int(line[3]), int(line[5])) for line in lines}
    assert 299_000 < found["0"][0] <= 300_000 and found["0"][1] == 7000
    assert found["1"] == (0, 0)
    assert 199_000 < found["2"][0] <= 200_050 and found["2"][1] == 0


def test_an_alarm_set_before_exec_reaches_the_job_in_time():
    code = "alarm 1; exec @ARGV"
    started = time.monotonic()
    done = subprocess.run(["perl", "-e", code, DRIVER, "sleep", "20"])
    # A busy machine may be late, but the job would have gone on for 20 s.
    assert done.returncode == -signal.SIGALRM and 0.9 < time.monotonic() - started < 15
    cancels = "import signal, time; signal.alarm(0); time.sleep(1.2)"
    assert subprocess.run(["perl", "-e", code, DRIVER, sys.executable, "-c", cancels]).returncode == 0


def test_nohup_holds(tmp_path):
    """A job under nohup survives the SIGHUP that we pass on to it."""
    code = "import time; print('up', flush=True); time.sleep(0.3); print('alive', flush=True)"
    process = subprocess.Popen(["nohup", DRIVER, sys.executable, "-c", code], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout.readline() == "up\n"
    process.send_signal(signal.SIGHUP)
    assert process.stdout.readline() == "alive\n"
    assert process.wait(10) == 0
    process.stdout.close()


def test_sigchld_ignored_by_the_caller_neither_hangs_nor_loses_the_status():
    code = "import os, signal, sys\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)\nos.execv(sys.argv[1], sys.argv[1:])"
    done = subprocess.run([sys.executable, "-c", code, DRIVER, "sh", "-c", "exit 41"], timeout=20)
    assert done.returncode == 41


def test_output_goes_to_the_same_terminal_and_files(tmp_path):
    with open(tmp_path / "out", "wb") as out, open(tmp_path / "err", "wb") as err:
        done = subprocess.run([DRIVER, "sh", "-c", "echo out; echo err >&2; stat -L -c %i /dev/fd/1 /dev/fd/2"],
                              stdout=out, stderr=err)
    assert done.returncode == 0
    inodes = [str((tmp_path / name).stat().st_ino) for name in ("out", "err")]
    assert (tmp_path / "out").read_text().split() == ["out", *inodes]
    assert (tmp_path / "err").read_text() == "err\n"


def test_a_pipe_that_the_job_closes_is_closed(wrap, tmp_path):
    """With --release-stdio neither we nor the witness hold the job's stdin and stdout open while the job runs."""
    code = "import os, time\nos.close(0)\nos.close(1)\nwhile not os.path.exists('end'):\n    time.sleep(0.01)"
    process = wrap("--release-stdio", sys.executable, "-c", code, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout.read() == b""
    with pytest.raises(BrokenPipeError):
        os.write(process.stdin.fileno(), b"x")
    (tmp_path / "end").touch()
    assert process.wait(10) == 0
    process.stdin = None
