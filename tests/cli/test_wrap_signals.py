"""Every signal that is sent to the tracker reaches the job exactly once, soon, and with its value."""
import fcntl
import os
import pathlib
import random
import signal
import statistics
import struct
import subprocess
import sys
import termios
import time

import pytest

from conftest import end_process, wait_until
from namespaces import OWN_PROC
from wrap_driver import (DRIVER, SIGNAL_LOG, Event, Log, SignalJob, has_gone, log, needs_root, sigqueue,  # noqa: F401
                         state_of, terminal, wrap)

NAMED = [signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM,
         signal.SIGWINCH]
OTHERS = [signal.SIGABRT, signal.SIGSTKFLT, signal.SIGURG, signal.SIGXCPU, signal.SIGVTALRM, signal.SIGPROF,
          signal.SIGIO, signal.SIGPWR]
REAL_TIME = list(range(34, 65))
ALL = [int(signo) for signo in [*NAMED, *OTHERS, *REAL_TIME]]
SI_USER, SI_QUEUE = 0, -1


@pytest.fixture
def job(wrap):
    job = SignalJob(wrap)
    yield job
    assert job.end() == 0


def test_sent_to_the_tracker_alone(job):
    for signo in ALL:
        os.kill(job.process.pid, signo)
        assert [event["id"] for event in job.receive(1, 0.01)] == [signo]


@pytest.mark.cost
def test_how_soon_a_signal_is_passed_on(job):
    late = []
    for signo in ALL * 4:
        sent = time.monotonic_ns()
        os.kill(job.process.pid, signo)
        late.append((job.receive(1, 0.01)[0]["ns"] - sent) / 1e6)
    late.sort()
    print(f"a forwarded signal arrives after {statistics.median(late):.2f} ms (median), {late[-1]:.2f} ms (worst)")
    assert late[int(len(late) * 0.9)] < 10


def test_sent_to_the_group(job, log):
    for signo in ALL:
        os.killpg(job.process.pid, signo)
        found = job.receive(1, 0.015)
        assert [event["id"] for event in found] == [signo]
        assert found[0]["pid"] == os.getpid()  # as it was sent, not from us
    log.wait_for("signal", len(ALL))
    assert [event["way"] for event in log.events("signal")] == ["direct"] * len(ALL)


def test_values_and_senders_of_queued_signals(job):
    for signo in [*REAL_TIME, signal.SIGUSR1, signal.SIGTERM]:
        sigqueue(job.process.pid, signo, 1000 + signo)
        found = job.receive(1, 0.01)
        assert [(event["id"], event["value"], event["code"], event["pid"]) for event in found] == \
            [(signo, 1000 + signo, SI_QUEUE, os.getpid())]


def test_a_thousand_queued_signals_in_order(job):
    for value in range(1000):
        sigqueue(job.process.pid, 40, value)
    found = job.receive(1000)
    assert [(event["id"], event["value"]) for event in found] == [(40, value) for value in range(1000)]


def test_a_thousand_queued_signals_to_the_group(job):
    for _ in range(1000):
        os.killpg(job.process.pid, 41)
    assert len(job.receive(1000)) == 1000


def test_real_time_signals_both_ways_are_all_counted(job):
    """Sends one signal with a value to us and one without to the group, as fast as possible."""
    for value in range(200):
        sigqueue(job.process.pid, 50, value)
        os.killpg(job.process.pid, 50)
    found = job.receive(400)
    assert len(found) == 400
    assert [event["value"] for event in found if event["code"] == SI_QUEUE] == list(range(200))


def test_signals_that_have_waited_for_us_come_once(job):
    """The tracker gets no CPU time for a while: signals that others received long ago are new to it."""
    os.kill(job.process.pid, signal.SIGSTOP)
    wait_until(lambda: state_of(job.process.pid) == "T")
    for value in range(150):
        sigqueue(job.process.pid, 50, value)
        os.killpg(job.process.pid, 50)
    time.sleep(0.2)
    os.kill(job.process.pid, signal.SIGCONT)
    found = [event for event in job.receive(300, 0.2) if event["id"] == 50]
    assert [event["value"] for event in found if event["code"] == SI_QUEUE] == list(range(150))
    assert len(found) == 300


@pytest.mark.parametrize("target", ["tracker", "group", "either"])
def test_a_thousand_answered_signals(job, log, target):
    """Sends each when the one before has arrived: none is lost or doubled."""
    choose = random.Random(1)
    for count in range(1000):
        signo = choose.choice([signal.SIGUSR1, signal.SIGUSR2, signal.SIGTERM, 45])
        to_group = target == "group" or (target == "either" and choose.random() < 0.5)
        if to_group:
            os.killpg(job.process.pid, signo)
        else:
            os.kill(job.process.pid, signo)
        found = job.receive(1, 0)
        if target == "either":
            # Two equal standard signals merge if the first is pending: both processes must have taken the first.
            wait_until(lambda: log.path.read_bytes().count(b"\nsignal ") > count and state_of(job.process.pid) == "S")
        assert [event["id"] for event in found] == [signo], f"number {count}, to_group {to_group}"
    assert job.receive(0, 0.03) == []


@pytest.mark.parametrize("signo", [signal.SIGINT, signal.SIGTERM, signal.SIGUSR1, signal.SIGHUP])
def test_timeout_sends_once(tmp_path, signo):
    """timeout(1) signals its child and then the group; for a bare job the two merge."""
    secs = 0.3
    for attempt in range(5):
        log = Log(tmp_path / f"log{attempt}")
        process = subprocess.Popen(["timeout", "-s", str(int(signo)), str(secs), DRIVER, "--log", str(log.path), SIGNAL_LOG],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        ready, first = process.stdout.readline(), process.stdout.readline()
        if not ready:  # a busy machine has not started the job so early
            secs *= 2
            end_process(process)
            continue
        time.sleep(0.03)
        process.stdin.close()
        rest = process.stdout.read().decode().splitlines()
        process.stdout.close()
        process.wait(10)
        found = [Event(line) for line in [first.decode(), *rest]]
        # timeout also sends SIGCONT on purpose.
        assert [event["id"] for event in found if event["id"] != signal.SIGCONT] == [signo]
    assert secs < 5, "the job never started"


def test_timeout_with_foreground_sends_to_us_alone(tmp_path):
    code = "count=0; trap 'count=$((count + 1))' TERM; for i in $(seq 300); do [ $count = 0 ] || break; sleep 0.02; done; " \
           "sleep 0.2; echo $count"
    done = subprocess.run(["timeout", "--foreground", "0.5", DRIVER, "sh", "-c", code], stdout=subprocess.PIPE)
    assert done.stdout == b"1\n"


def test_sent_by_a_shell_to_the_group(wrap):
    job = SignalJob(wrap)
    subprocess.run(["bash", "-c", f"kill -TERM -- -{job.process.pid}"], check=True)
    assert [event["id"] for event in job.receive(1)] == [signal.SIGTERM]
    subprocess.run(["sh", "-c", f"kill -USR1 -{job.process.pid}; kill -USR2 {job.process.pid}"], check=True)
    assert sorted(event["id"] for event in job.receive(2)) == [signal.SIGUSR1, signal.SIGUSR2]
    assert job.end() == 0


@pytest.mark.parametrize("own", ["own-group", "own-session"])
def test_a_job_outside_the_group_still_gets_forwarded_signals(wrap, own):
    job = SignalJob(wrap, job=[own])
    for signo in (signal.SIGTERM, signal.SIGINT, 44):
        os.killpg(job.process.pid, signo)
        assert [event["id"] for event in job.receive(1)] == [signo]
        os.kill(job.process.pid, signo)
        assert [event["id"] for event in job.receive(1)] == [signo]
    assert job.end() == 0


def test_signalled_one_by_one(wrap):
    """A scheduler may signal every process of a step: the job gets one signal, not its own and ours."""
    job = SignalJob(wrap)
    children = pathlib.Path(f"/proc/{job.process.pid}/task/{job.process.pid}/children").read_text().split()
    everyone = [job.process.pid, *map(int, children)]
    assert job.pid in everyone and len(everyone) == 3
    for order in (everyone, everyone[::-1]):
        for _ in range(20):
            for pid in order:
                os.kill(pid, signal.SIGUSR1)
            assert [event["id"] for event in job.receive(1, 0.02)] == [signal.SIGUSR1]
    assert job.end() == 0


def test_continue_is_not_forwarded(job):
    os.kill(job.process.pid, signal.SIGCONT)
    assert job.receive(0, 0.05) == []
    os.killpg(job.process.pid, signal.SIGCONT)
    assert [event["id"] for event in job.receive(1)] == [signal.SIGCONT]


def test_before_there_is_a_job(wrap, log):
    """A signal during the start reaches the job, even if it was sent to the group."""
    for send in (os.kill, os.killpg):
        log.path.unlink(missing_ok=True)
        process = wrap("--startup-ms", "200", "sleep", "20", process_group=0)
        log.wait_for("witness")
        send(process.pid, signal.SIGTERM)
        assert process.wait(10) == -signal.SIGTERM
        assert log.one("signal")["way"] == "forwarded"


def test_death_by_a_signal_to_the_group(wrap):
    for signo in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL, signal.SIGRTMIN):
        process = wrap("sleep", "20", process_group=0, stdout=subprocess.PIPE)
        wait_until(lambda: len(pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()) > 1)
        os.killpg(process.pid, signo)
        assert process.wait(10) == -signo


def test_blocked_signals_stay_blocked_for_the_job(wrap):
    def block():
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])

    process = wrap(sys.executable, "-c", "import time; time.sleep(0.3); exit(5)", preexec_fn=block)
    time.sleep(0.1)
    process.terminate()
    assert process.wait(10) == 5


def test_a_job_that_signals_its_parent_is_answered(wrap):
    code = "trap 'echo got; exit 6' USR1; kill -USR1 $PPID; while :; do sleep 0.02; done"
    process = wrap("sh", "-c", code, stdout=subprocess.PIPE)
    assert process.stdout.read() == b"got\n"
    assert process.wait(10) == 6


def test_a_job_that_signals_its_group_does_not_end_us(wrap, log):
    code = "trap 'exit 7' TERM; kill -TERM 0; sleep 5"
    process = wrap("sh", "-c", code, process_group=0)
    assert process.wait(10) == 7


@pytest.mark.alone
@pytest.mark.parametrize("what", [signal.SIGSTOP, signal.SIGKILL])
def test_with_the_witness_stopped_or_killed(wrap, log, what):
    job = SignalJob(wrap)
    witness = log.one("witness")["id"]
    os.kill(witness, what)
    time.sleep(0.05)
    for _ in range(20):
        os.kill(job.process.pid, signal.SIGTERM)
        assert [event["id"] for event in job.receive(1, 0.01)] == [signal.SIGTERM]
        if what == signal.SIGSTOP:
            os.kill(witness, what)
        os.killpg(job.process.pid, signal.SIGUSR1)
        assert [event["id"] for event in job.receive(1, 0.02)] == [signal.SIGUSR1]
    assert job.end() == 0


def test_another_witness_counts_after_the_first_was_killed(wrap, log):
    """Each real-time signal to the group once came twice."""
    job = SignalJob(wrap)
    os.kill(log.one("witness")["id"], signal.SIGKILL)
    assert log.wait_for("own-child")[0]["id"] > 0
    for number in range(180):
        os.killpg(job.process.pid, signal.SIGRTMIN + number % 5)
    assert len(job.receive(180, 0.3)) == 180
    assert job.end() == 0


def test_more_signals_than_the_list_of_undecided_ones_holds(wrap):
    """The tracker, which stands still meanwhile, leaves some pending when its list is full. Every other signal is for it alone."""
    job = SignalJob(wrap)
    os.kill(job.process.pid, signal.SIGSTOP)
    for number in range(300):
        os.killpg(job.process.pid, signal.SIGRTMIN + number % 5)
        os.kill(job.process.pid, signal.SIGRTMIN + number % 5)
    received = job.receive(300, 0.1)
    os.kill(job.process.pid, signal.SIGCONT)
    received += job.receive(300, 0.5)
    assert len(received) == 600
    assert job.end() == 0


@pytest.fixture
def busy_processor():
    """Keeps one processor busy with other work."""
    processor = min(os.sched_getaffinity(0))
    busy = [subprocess.Popen(["sh", "-c", "while :; do :; done"],
                             preexec_fn=lambda: os.sched_setaffinity(0, [processor])) for _ in range(3)]
    yield processor
    for process in busy:
        process.kill()
        process.wait()


def test_with_a_witness_that_gets_no_time_to_count(wrap, log, busy_processor):
    """The tracker waits for the witness, so a signal to the group does not arrive twice."""
    job = SignalJob(wrap)
    witness = log.one("witness")["id"]
    os.sched_setaffinity(witness, [busy_processor])
    os.setpriority(os.PRIO_PROCESS, witness, 8)
    for _ in range(8):
        os.killpg(job.process.pid, 45)
        assert [event["id"] for event in job.receive(1, 0.1)] == [45]
    log.wait_for("signal", 8)
    assert {event["way"] for event in log.events("signal")} == {"direct"}
    assert job.end() == 0


def test_without_a_witness_the_origin_decides(wrap, terminal, log, tmp_path):
    job = SignalJob(wrap, "--no-witness")
    for signo in (signal.SIGTERM, signal.SIGUSR1, 44):
        os.kill(job.process.pid, signo)
        assert [event["id"] for event in job.receive(1, 0.01)] == [signo]
    assert job.end() == 0
    # For keys of the terminal, the kernel signals the group.
    tty = terminal(DRIVER, "--no-witness", SIGNAL_LOG)
    tty.expect(r"ready \d+")
    for key, signo in (("\x03", signal.SIGINT), ("\x1c", signal.SIGQUIT)):
        tty.send(key)
        tty.expect(rf"signal {int(signo)} code 128")
        tty.expect_nothing("signal")


def test_the_witness_does_not_go_by_our_name(wrap, log):
    wrap("sh", "-c", "sleep 20; true", "with an argument")
    witness = log.wait_for("witness")[0]["id"]
    process = pathlib.Path(f"/proc/{witness}")
    wait_until(lambda: (process / "comm").read_text() == "rt-witness\n")
    assert (process / "cmdline").read_bytes().strip(b"\0") == b"rt-witness"
    wait_until(lambda: not os.listdir(process / "fd"))


def test_the_witness_ends_with_us(wrap, log):
    for signo in (signal.SIGKILL, signal.SIGTERM):
        log.path.unlink(missing_ok=True)
        process = wrap("sleep", "20")
        started = log.wait_for("started")[0]["id"]
        witness = log.one("witness")["id"]
        process.send_signal(signo)
        process.wait(10)
        wait_until(lambda: has_gone(witness))
        if signo == signal.SIGKILL:
            os.kill(started, signal.SIGKILL)
        else:
            assert state_of(witness) is None  # reaped by us, not left to another


def resize(fd, rows):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, 80, 0, 0))


@pytest.mark.parametrize("leader", [True, False], ids=["session-leader", "child-of-one"])
def test_keys_of_the_terminal(terminal, leader, tmp_path):
    command = [DRIVER, "--log", tmp_path / "log", SIGNAL_LOG]
    tty = terminal(*(command if leader else ["sh", "-c", 'trap : INT QUIT; "$@"', "sh", *command]))
    tty.expect(r"ready \d+")
    for _ in range(10):
        for key, signo in (("\x03", signal.SIGINT), ("\x1c", signal.SIGQUIT)):
            tty.send(key)
            tty.expect(rf"signal {int(signo)} code")
    for rows in (10, 20, 30):
        resize(tty.fd, rows)
        tty.expect(rf"signal {int(signal.SIGWINCH)} code")
    tty.expect_nothing("signal")
    assert {event["way"] for event in Log(tmp_path / "log").events("signal")} == {"direct"}


HANG_UP = """
mkfifo hold
exec 9<>hold
{prefix} {driver} --log {log} sh -c 'exec {job} <hold >out 2>&1'
"""


def test_hang_up_of_a_session_leader(terminal, tmp_path):
    """The kernel signals only the session leader: the job gets the signal from us."""
    log = Log(tmp_path / "log")
    script = tmp_path / "script"
    script.write_text(HANG_UP.format(prefix="exec", driver=DRIVER, log=log.path, job=SIGNAL_LOG))
    tty = terminal("sh", script)
    wait_until(lambda: (tmp_path / "out").exists() and "ready" in (tmp_path / "out").read_text())
    tracker, tty.pid = tty.pid, 0
    job = log.wait_for("started")[0]["id"]
    tty.close()
    found = wait_until(lambda: log.events("signal"))
    time.sleep(0.05)
    lines = [Event(line) for line in (tmp_path / "out").read_text().splitlines()[1:]]
    os.kill(job, signal.SIGKILL)
    assert [event["id"] for event in lines if event["id"] != signal.SIGCONT] == [signal.SIGHUP]
    assert found[0]["way"] == "forwarded"
    assert os.waitstatus_to_exitcode(os.waitpid(tracker, 0)[1]) == -signal.SIGKILL


def test_hang_up_with_a_shell_as_session_leader(terminal, tmp_path):
    """When the leader has ended, the kernel signals the foreground group: the job has the signal already."""
    log = Log(tmp_path / "log")
    script = tmp_path / "script"
    script.write_text(HANG_UP.format(prefix="", driver=DRIVER, log=log.path, job=SIGNAL_LOG))
    tty = terminal("sh", script)
    wait_until(lambda: (tmp_path / "out").exists() and "ready" in (tmp_path / "out").read_text())
    job = log.wait_for("started")[0]["id"]
    tty.close()
    found = wait_until(lambda: log.events("signal"))
    time.sleep(0.05)
    lines = [Event(line) for line in (tmp_path / "out").read_text().splitlines()[1:]]
    os.kill(job, signal.SIGKILL)
    assert [event["id"] for event in lines if event["id"] != signal.SIGCONT] == [signal.SIGHUP]
    assert [event["way"] for event in found] == ["direct"]
    wait_until(lambda: log.events("end"))


def test_hang_up_ends_a_job_and_us(terminal):
    tty = terminal(DRIVER, "sleep", "20")
    wait_until(lambda: pathlib.Path(f"/proc/{tty.pid}/task/{tty.pid}/children").read_text().count(" ") == 2)
    os.close(tty.fd)
    tty.fd = -1
    assert tty.wait() == -signal.SIGHUP


@needs_root
def test_sent_from_another_pid_namespace(log, tmp_path):
    """The sender has no pid in this namespace, and still each signal arrives once."""
    process = subprocess.Popen(["unshare", "--pid", "--fork", *OWN_PROC, DRIVER, "--log", str(log.path), SIGNAL_LOG],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, process_group=0)
    assert process.stdout.readline().startswith("ready")
    inner = int(pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text())
    for signo in (signal.SIGTERM, signal.SIGUSR1, signal.SIGTERM):
        os.kill(inner, signo)
        assert Event(process.stdout.readline())["id"] == signo
    os.killpg(process.pid, signal.SIGUSR2)  # unshare(1) itself would end
    assert Event(process.stdout.readline())["id"] == signal.SIGUSR2
    process.stdin.close()
    rest = process.stdout.read()
    process.stdout.close()
    process.wait(10)
    assert rest == ""
