"""Terminals and job control: at a prompt, a wrapped job behaves as a bare one."""
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import pytest

from conftest import wait_until
from wrap_driver import DRIVER, Log, has_gone, log, shell, state_of, terminal, wrap  # noqa: F401

STOPPED = r"\[1\]\+\s+Stopped"


def write_script(tmp_path, text, name="job"):
    path = tmp_path / name
    path.write_text(text)
    return path.name


def python_job(tmp_path, text, name="job.py"):
    return f"{sys.executable} {write_script(tmp_path, text, name)}"


def pids(tmp_path):
    """Returns (tracker, job) of the run that logs to tmp_path/log."""
    started = Log(tmp_path / "log").wait_for("started")[0]["id"]
    parent = int(pathlib.Path(f"/proc/{started}/stat").read_text().rpartition(")")[2].split()[1])
    return parent, started


def wait_until_awake(tracker):
    """The tracker stops as the job did. Until it runs again, the key stops it like any program."""
    wait_until(lambda: state_of(tracker) == "S")


# A Python job that runs until the test makes the file "end".
UNTIL_END = "import os, time\nprint('up', flush=True)\nwhile not os.path.exists('end'):\n    time.sleep(0.01)\n"


def wrapped(command):
    return f"{DRIVER} --log log {command}"


def test_a_plain_job(shell):
    assert shell.run(wrapped("echo hello")).strip() == "hello"
    assert shell.status() == 0
    shell.run(wrapped("sh -c 'exit 42'"))
    assert shell.status() == 42


def test_interrupt_key_ends_the_job(shell):
    shell.send(wrapped("sh -c 'echo up; exec sleep 30'\n"))
    shell.expect("up")
    shell.send("\x03")
    shell.prompt()
    assert shell.status() == 130


def test_quit_key_ends_the_job(shell):
    shell.send(wrapped("sh -c 'ulimit -c 0; echo up; exec sleep 30'\n"))
    shell.expect("up")
    shell.send("\x1c")
    assert "Quit" in shell.prompt()
    assert shell.status() == 131


def test_a_job_that_survives_the_interrupt_key_is_waited_for(shell, tmp_path):
    job = python_job(tmp_path, """
import signal, time
hits = []
signal.signal(signal.SIGINT, lambda *_: (hits.append(1), print("hit", len(hits), flush=True)))
print("up", flush=True)
while len(hits) < 3:
    time.sleep(0.01)
raise SystemExit(5)
""")
    shell.send(wrapped(job) + "\n")
    shell.expect("up")
    for count in (1, 2, 3):
        shell.send("\x03")
        shell.expect(f"hit {count}")
    shell.prompt()
    assert shell.status() == 5


def test_suspend_key_and_foreground(shell, tmp_path):
    # A shell script would not do: dash starts commands by vfork, and a child stopped before its exec blocks it for
    # ever.
    job = python_job(tmp_path, UNTIL_END + "print('done')\nexit(9)\n")
    shell.send(wrapped(job) + "\n")
    shell.expect("up")
    tracker, job = pids(tmp_path)
    for _ in range(3):
        shell.send("\x1a")
        shell.expect(STOPPED)
        shell.prompt()
        assert state_of(tracker) == "T" and state_of(job) == "T"
        shell.send("fg\n")
        wait_until(lambda: state_of(job) != "T")
        wait_until_awake(tracker)
    (tmp_path / "end").touch()
    shell.expect("done")
    shell.prompt()
    assert shell.status() == 9
    assert [event for event in Log(tmp_path / "log").events("signal") if event["way"] == "forwarded"] == []


def test_suspend_key_and_background(shell, tmp_path):
    job = python_job(tmp_path, UNTIL_END + "print('late')\nexit(3)\n")
    shell.send(wrapped(job) + "\n")
    shell.expect("up")
    shell.send("\x1a")
    shell.expect(STOPPED)
    shell.prompt()
    shell.run("bg")
    (tmp_path / "end").touch()
    shell.expect("late")
    shell.send("wait %1; echo status $?\n")
    shell.expect("status 3")


def test_a_job_that_ignores_the_suspend_key(shell, tmp_path):
    job = python_job(tmp_path, "import signal, time\nsignal.signal(signal.SIGTSTP, signal.SIG_IGN)\n"
                               "print('up', flush=True)\ntime.sleep(0.3)\nprint('done')\n")
    shell.send(wrapped(job) + "\n")
    shell.expect("up")
    shell.send("\x1a")
    found = shell.expect(r"[\s\S]*?(done|@prompt@)")
    assert found.group(1) == "done"
    shell.prompt()
    assert shell.status() == 0


def test_a_job_that_acts_before_it_suspends_itself(shell, tmp_path):
    """Does as editors do: catches the key, tidies up, stops, and redraws when continued."""
    job = python_job(tmp_path, """
import os, signal, time
def suspend(*_):
    print("tidy", flush=True)
    signal.signal(signal.SIGTSTP, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGTSTP)
    signal.signal(signal.SIGTSTP, suspend)
    print("redraw", flush=True)
    global more
    more -= 1
more = 3
signal.signal(signal.SIGTSTP, suspend)
print("up", flush=True)
while more:
    time.sleep(0.01)
print("end", flush=True)
""")
    shell.send(wrapped(job) + "\n")
    shell.expect("up")
    tracker, _ = pids(tmp_path)
    for count in range(3):
        shell.send("\x1a")
        shell.expect(r"tidy")
        shell.expect(STOPPED)
        shell.prompt()
        shell.send("fg\n")
        shell.expect("redraw")
        if count < 2:
            wait_until_awake(tracker)
    shell.expect("end")
    shell.prompt()
    assert shell.status() == 0


@pytest.mark.parametrize("signo", ["STOP", "TSTP", "TTIN", "TTOU"])
def test_a_job_that_stops_itself(shell, tmp_path, signo):
    shell.send(wrapped(f"sh -c 'kill -{signo} $$; echo again; kill -{signo} $$; echo done; exit 4'\n"))
    for word in ("again", "done"):
        shell.expect(STOPPED)
        shell.prompt()
        tracker, job = pids(tmp_path)
        assert state_of(tracker) == "T" and state_of(job) == "T"
        shell.send("fg\n")
        shell.expect(word)
    shell.prompt()
    assert shell.status() == 4


def test_our_stop_has_the_signal_of_the_jobs(wrap):
    for signo in (signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU):
        process = wrap("sh", "-c", f"kill -{int(signo)} $$; exit 6", process_group=0)
        _, status = os.waitpid(process.pid, os.WUNTRACED)
        assert os.WIFSTOPPED(status) and os.WSTOPSIG(status) == signo
        os.kill(process.pid, signal.SIGCONT)
        assert process.wait(10) == 6


def test_background_writing_under_tostop(shell, tmp_path):
    shell.run("stty tostop")
    shell.run(wrapped("sh -c 'sleep 0.1; echo written; exit 8' &"))
    tracker, job = pids(tmp_path)
    wait_until(lambda: state_of(tracker) == "T" and state_of(job) == "T")
    wait_until(lambda: "Stopped" in shell.run("jobs"))
    shell.send("fg\n")
    shell.expect("written")
    shell.prompt()
    assert shell.status() == 8
    shell.run("stty -tostop")


def test_background_reading(shell, tmp_path):
    shell.run(wrapped("sh -c 'read line; echo \"<$line>\"; exit 2' &"))
    tracker, job = pids(tmp_path)
    wait_until(lambda: state_of(tracker) == "T" and state_of(job) == "T")
    shell.run("jobs")
    shell.send("fg\n")
    wait_until(lambda: state_of(job) == "S")
    shell.send("typed\n")
    shell.expect("<typed>")
    shell.prompt()
    assert shell.status() == 2


def test_the_terminal_is_the_jobs(shell, tmp_path):
    job = python_job(tmp_path, "import os; print('tty', [os.isatty(fd) for fd in (0, 1, 2)], os.tcgetpgrp(0) == os.getpgrp(),"
                               " os.getsid(0) == os.getppid())")
    assert "tty [True, True, True] True False" in shell.run(wrapped(job))


def test_a_shell_as_the_job(shell, tmp_path):
    """The inner shell takes its own process group, stops, and gives the terminal back."""
    shell.send("PS1='inner> ' " + wrapped("bash --norc --noprofile -i\n"))
    shell.expect("inner> ")
    shell.send("bind 'set enable-bracketed-paste off'; stty -echo\n")
    shell.expect("inner> ")
    shell.send("sleep 30\n")
    time.sleep(0.1)
    shell.send("\x1a")
    shell.expect(STOPPED)
    shell.expect("inner> ")
    shell.send("kill -9 %1\n")
    shell.expect("inner> ")

    def jobs():
        shell.send("/bin/true; jobs; echo inner-$((40+2))\n")
        return shell.expect(r"([\s\S]*?)inner-42").group(1)

    # bash does not exit while it believes that a job is stopped. `wait` returns at once if the job was not reaped yet, and bash
    # 5.2 may look at its children only when one that it has started ends.
    wait_until(lambda: "sleep 30" not in jobs())
    shell.expect("inner> ")
    for _ in range(3):
        shell.send("suspend -f\n")
        shell.expect(STOPPED)
        shell.prompt()
        assert shell.run("echo outer-$((50+1))").strip() == "outer-51"
        shell.send("fg\n")
        shell.expect("inner")
        shell.send("echo back-$((60+1))\n")
        shell.expect("back-61")
    shell.expect("inner> ")
    shell.send("exit 11\n")
    shell.prompt()
    assert shell.status() == 11


def test_in_a_pipeline(shell):
    assert shell.run(wrapped("printf 'a\\nb\\n'") + " | cat -n | tail -1").split() == ["2", "b"]
    shell.send(wrapped("yes") + " | head -1; echo ${PIPESTATUS[0]}\n")
    shell.expect(r"y\s+141")


def test_a_stopped_job_can_be_ended(shell, tmp_path):
    for end, status in (("kill %1", signal.SIGTERM), ("kill -9 %1", None)):
        shell.send(wrapped("sh -c 'echo up; exec sleep 30'\n"))
        shell.expect(r"(?m)^up\r")  # not the command line, which bash prints
        shell.send("\x1a")
        shell.expect(STOPPED)
        shell.prompt()
        tracker, job = pids(tmp_path)
        shell.run(end)
        wait_until(lambda: has_gone(tracker) and has_gone(job))
        assert [event["status"] for event in Log(tmp_path / "log").events("end")] == ([status] if status else [])
        # With a bare job, too, bash 5.2 may look at its children only when one that it has started ends.
        wait_until(lambda: "Stopped" not in shell.run("/bin/true; jobs"))
        (tmp_path / "log").unlink()


def test_a_job_that_alone_is_continued_takes_us_with_it(wrap, log):
    """The tracker gets no signal; the witness reports the stop."""
    process = wrap("sh", "-c", "kill -STOP $$; exit 12", process_group=0)
    job = log.wait_for("started")[0]["id"]
    wait_until(lambda: state_of(process.pid) == "T")
    os.kill(job, signal.SIGCONT)
    assert process.wait(10) == 12


def test_a_job_that_is_killed_while_stopped(wrap, log):
    process = wrap("sh", "-c", "kill -STOP $$", process_group=0)
    job = log.wait_for("started")[0]["id"]
    wait_until(lambda: state_of(process.pid) == "T")
    os.kill(job, signal.SIGKILL)
    assert process.wait(10) == -signal.SIGKILL


def test_continuing_us_continues_the_job(wrap, log, tmp_path):
    """Stops them in different ways: both together, the job first, or only us by SIGTSTP."""
    def stop_group(process, job):
        os.killpg(process.pid, signal.SIGSTOP)

    def stop_job(process, job):
        os.kill(job, signal.SIGSTOP)

    def suspend_us(process, job):
        os.kill(process.pid, signal.SIGTSTP)

    for stop in (stop_group, stop_job, suspend_us):
        log.path.unlink(missing_ok=True)
        # Continue a single process: others in its group would stay stopped, as without the wrapper.
        process = wrap(sys.executable, "-c", UNTIL_END + "exit(13)", process_group=0, stdout=subprocess.PIPE)
        job = log.wait_for("started")[0]["id"]
        assert process.stdout.readline() == b"up\n"
        stop(process, job)
        wait_until(lambda: state_of(process.pid) == "T" and state_of(job) == "T")
        (tmp_path / "end").touch()
        os.kill(process.pid, signal.SIGCONT)
        assert process.wait(10) == 13
        (tmp_path / "end").unlink()


def test_stopping_us_alone_leaves_the_job_running(wrap, log, tmp_path):
    process = wrap("--interval", 20, sys.executable, "-c", UNTIL_END + "exit(14)")
    job = log.wait_for("started")[0]["id"]
    process.send_signal(signal.SIGSTOP)
    (tmp_path / "end").touch()
    wait_until(lambda: state_of(job) == "Z")
    before = len(log.events("tick"))
    process.send_signal(signal.SIGCONT)
    assert process.wait(10) == 14
    assert len(log.events("tick")) <= before + 1  # missed ticks do not come in a burst


def test_an_orphaned_group_cannot_be_suspended(tmp_path):
    """If the kernel discards stops by the keyboard, neither the job nor we stop; SIGSTOP still works."""
    log = Log(tmp_path / "log")
    command = f"kill -TSTP $$; echo one >> out; kill -STOP $$; echo two >> out"
    subprocess.run(["setsid", "sh", "-c", f"{DRIVER} --log log sh -c '{command}' &"], cwd=tmp_path, check=True)
    job = log.wait_for("started")[0]["id"]
    wait_until(lambda: state_of(job) == "T")
    tracker = int(pathlib.Path(f"/proc/{job}/stat").read_text().rpartition(")")[2].split()[1])
    assert (tmp_path / "out").read_text() == "one\n"
    wait_until(lambda: state_of(tracker) == "T")
    os.kill(tracker, signal.SIGCONT)
    wait_until(lambda: log.events("end"))
    assert (tmp_path / "out").read_text() == "one\ntwo\n"


def test_hang_up_of_a_stopped_job(terminal, tmp_path):
    """The shell ends while the job is stopped: the kernel sends SIGHUP and SIGCONT to its group."""
    log = Log(tmp_path / "log")
    tty = terminal("bash", "--norc", "--noprofile", "-i")
    tty.send(f"{DRIVER} --log log sh -c 'echo up''; exec sleep 30'\n")
    tty.expect("up\r")
    tty.send("\x1a")
    tty.expect("Stopped")
    tracker, job = pids(tmp_path)
    os.kill(tty.pid, signal.SIGKILL)
    wait_until(lambda: has_gone(tracker) and has_gone(job))
    assert log.one("end")["status"] == signal.SIGHUP
