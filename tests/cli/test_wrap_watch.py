"""Attach and host mode: the loop without a job."""
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

import pytest

from conftest import end_process, wait_until
from wrap_driver import DRIVER, log, state_of, terminal, waited_for_cpu_ns, wrap  # noqa: F401


@pytest.fixture
def target():
    started = []

    def start(*command):
        started.append(subprocess.Popen([*map(str, command)]))
        return started[-1]

    yield start
    for process in started:
        end_process(process)


@pytest.mark.parametrize("signo", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_watch(wrap, log, signo):
    process = wrap("--watch", 0, "--interval", 20)
    log.wait_for("tick", 3)
    process.send_signal(signo)
    assert process.wait(5) == 0
    event = log.one("watched")
    assert event["id"] == "stopped" and event["signo"] == signo


def test_without_ticks_a_signal_is_seen_as_well(wrap, log):
    process = wrap("--watch", 0, "--interval", 60000)
    time.sleep(0.2)
    process.terminate()
    assert process.wait(1) == 0


def test_done_after_some_ticks(wrap, log):
    assert wrap("--watch", 0, "--interval", 10, "--ticks", 5).wait(5) == 0
    assert log.one("watched")["id"] == "done" and len(log.events("tick")) == 5


FALLBACKS = {
    "pidfd": [],
    "no-pidfd": ["strace", "-o", "/dev/null", "-e", "trace=pidfd_open", "-e", "inject=pidfd_open:error=ENOSYS"],
    "no-timerfd": ["strace", "-o", "/dev/null", "-e", "trace=timerfd_create", "-e", "inject=timerfd_create:error=EMFILE"],
}


def sleeps_on(pid):
    """Whether a process does not wake up for three times as long as the fallback waits between two looks at the target."""
    def switches():
        return re.search(r"^voluntary_ctxt_switches:\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text(), re.M)[1]

    before = switches()
    time.sleep(0.3)
    return switches() == before


@pytest.mark.parametrize("kind", FALLBACKS)
def test_the_targets_end_is_seen(wrap, log, target, kind, no_leak_check):
    if FALLBACKS[kind] and not shutil.which("strace"):
        pytest.skip("makes system calls fail by strace")
    sleeper = target("sleep", "30")
    process = wrap("--watch", sleeper.pid, "--interval", 60000, before=FALLBACKS[kind])
    time.sleep(0.3)
    if kind == "pidfd":
        wait_until(lambda: sleeps_on(process.pid))
    assert process.poll() is None
    sleeper.kill()  # a zombie for now: its parent does not wait for it
    assert process.wait(5) == 0
    assert log.one("watched")["id"] == "target_exited"


@pytest.mark.parametrize("kind", FALLBACKS)
def test_ticks_and_signals_with_a_target(wrap, log, target, kind, no_leak_check):
    if FALLBACKS[kind] and not shutil.which("strace"):
        pytest.skip("makes system calls fail by strace")
    process = wrap("--watch", target("sleep", "30").pid, "--interval", 20, before=FALLBACKS[kind], process_group=0)
    found = log.wait_for("tick", 10)
    if not FALLBACKS[kind]:
        assert sum(event["late"] for event in found) < waited_for_cpu_ns(process.pid) + len(found) * 10_000_000
    os.killpg(process.pid, signal.SIGTERM)
    process.wait(5)
    event = wait_until(lambda: log.events("watched"))[0]
    assert event["id"] == "stopped" and event["signo"] == signal.SIGTERM


def test_a_target_that_has_gone_before(wrap, log, target):
    gone = target("true")
    gone.wait()
    assert wrap("--watch", gone.pid, "--interval", 60000).wait(5) == 0
    assert log.one("watched")["id"] == "target_exited"


def test_keep_running_after_the_target(wrap, log, target):
    sleeper = target("sleep", "0.1")
    process = wrap("--watch", sleeper.pid, "--interval", 20, "--keep-running")
    sleeper.wait()
    before = len(log.events("tick"))
    log.wait_for("tick", before + 10)
    process.send_signal(signal.SIGINT)
    assert process.wait(5) == 0
    assert log.one("watched")["id"] == "stopped"


def test_few_descriptors(wrap, log, target):
    def limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (5, 5))

    sleeper = target("sleep", "30")
    process = wrap("--watch", sleeper.pid, "--interval", 20, preexec_fn=limit)
    log.wait_for("tick", 5)
    sleeper.kill()
    assert process.wait(5) == 0
    assert log.one("watched")["id"] == "target_exited"


def test_nohup_is_honoured(wrap, log):
    process = wrap("--watch", 0, "--interval", 20, before=["nohup"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    log.wait_for("tick")
    process.send_signal(signal.SIGHUP)
    time.sleep(0.1)
    assert process.poll() is None
    process.terminate()
    assert process.wait(5) == 0


def test_in_the_background_of_a_script(terminal, log, tmp_path):
    """With SIGINT ignored there, the terminal's key does nothing, but a process can still signal us with kill."""
    tty = terminal("sh", "-c", f"trap : INT; {DRIVER} --log wrap.log --watch 0 --interval 20 & echo pid $!; "
                               "while :; do sleep 0.05; done")
    pid = int(tty.expect(r"pid (\d+)").group(1))
    log.wait_for("tick")
    tty.send("\x03")
    time.sleep(0.15)
    assert state_of(pid) in "RS"
    os.kill(pid, signal.SIGINT)
    wait_until(lambda: log.events("watched"))
    assert log.one("watched")["signo"] == signal.SIGINT


def test_suspending_works_as_for_any_program(wrap, log):
    process = wrap("--watch", 0, "--interval", 20, process_group=0)
    log.wait_for("tick")
    os.kill(process.pid, signal.SIGTSTP)
    wait_until(lambda: state_of(process.pid) == "T")
    os.kill(process.pid, signal.SIGCONT)
    before = len(log.events("tick"))
    log.wait_for("tick", before + 3)
    process.terminate()
    assert process.wait(5) == 0


def test_children_of_ours_leave_no_zombies(tmp_path, log):
    """A child from before our exec, or a helper, is reaped when it ends."""
    code = f"import os, time\nif os.fork() == 0:\n    time.sleep(0.2)\n    os._exit(0)\n" \
           f"os.execv({DRIVER!r}, [{DRIVER!r}, '--log', {str(log.path)!r}, '--watch', '0', '--interval', '20', '--ticks', '30'])"
    process = subprocess.Popen([sys.executable, "-c", code])
    log.wait_for("tick", 20)
    path = f"/proc/{process.pid}/task/{process.pid}/children"
    wait_until(lambda: open(path).read() == "")
    assert process.wait(5) == 0
