"""After the job's end its exit status arrives, whatever has happened to the terminal, to stderr or to the page."""
import os
import pty
import signal
import subprocess
import termios
import threading
import time

import pytest

from processes import children_of, command_line_of

JOB = ("--", "sh", "-c", "exit 3")
# One second for stderr, five seconds without progress of the analysis, and a margin for a busy machine.
LIMIT_SECS = 12
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@pytest.fixture
def terminal():
    master, slave = pty.openpty()
    yield master, slave
    os.close(master)
    os.close(slave)


@pytest.fixture
def full_pipe():
    """Yields the writing end of a full pipe whose reader sleeps."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    try:
        while True:
            os.write(writer, b"x" * 4096)
    except BlockingIOError:
        pass
    os.set_blocking(writer, True)
    yield writer
    os.close(reader)
    os.close(writer)


def wait(process, secs=LIMIT_SECS):
    started = time.monotonic()
    return process.wait(secs), time.monotonic() - started


def test_a_frozen_terminal(spawn, terminal):
    _, slave = terminal
    termios.tcflow(slave, termios.TCOOFF)  # Ctrl-S
    process = spawn("-o", "run.jsonl", *JOB, stdin=slave, stdout=subprocess.DEVNULL, stderr=slave, start_new_session=True)
    assert wait(process)[0] == 3


def test_a_terminal_that_freezes_while_the_summary_is_written(spawn, terminal, binary):
    """The summary is longer than the terminal's buffer, and the terminal is not read."""
    _, slave = terminal
    os.set_blocking(slave, False)
    try:
        while True:
            os.write(slave, b"x" * 100)
    except BlockingIOError:
        pass
    os.read(terminal[0], 1500)  # room for the first line
    os.set_blocking(slave, True)
    process = spawn("-o", "run.jsonl", "--summary", *JOB, stdin=slave, stdout=subprocess.DEVNULL, stderr=slave,
                    start_new_session=True)
    assert wait(process)[0] == 3


def test_a_full_stderr_pipe(spawn, full_pipe):
    process = spawn("-o", "run.jsonl", "--summary", *JOB, stdout=subprocess.DEVNULL, stderr=full_pipe)
    assert wait(process)[0] == 3


def test_warnings_and_reasons_into_a_full_stderr_pipe(spawn, full_pipe):
    process = spawn("-o", "run.jsonl", "--why", "--summary", "--", "./no-such-command", stdout=subprocess.DEVNULL, stderr=full_pipe)
    assert wait(process)[0] == 127


def test_samples_and_summary_into_a_full_stderr_pipe(spawn, full_pipe):
    process = spawn("-i", "0.01", "-o", "/dev/stderr", "-o", "run.jsonl", "--summary", "--", "sh", "-c", "sleep 0.3; exit 3",
                    stdout=subprocess.DEVNULL, stderr=full_pipe)
    assert wait(process)[0] == 3


@pytest.mark.report
def test_a_page_that_is_a_fifo_without_a_reader(spawn, tmp_path):
    os.mkfifo(tmp_path / "page.html")
    process = spawn("-o", "run.jsonl", "--report", "page.html", *JOB, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert wait(process)[0] == 3
    assert b"page.html: the report could not be written: it took no byte for 5 s\n" in process.stderr.read()


@pytest.mark.report
@pytest.mark.parametrize("signo", SIGNALS, ids=lambda signo: signo.name)
def test_a_page_that_is_a_fifo_gives_way_to_signals(spawn, tmp_path, signo):
    os.mkfifo(tmp_path / "page.html")
    process = spawn("-o", "run.jsonl", "--report", "page.html", *JOB, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    wait_for_analysis(process.pid)
    time.sleep(0.2)
    os.kill(process.pid, signo)
    code, secs = wait(process)
    assert code == 3 and secs < 3, secs


def wait_for_analysis(pid):
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        if any(command_line_of(child).startswith(b"resource-tracker-analysis") for child in children_of(pid)):
            return
        time.sleep(0.01)
    raise AssertionError("no analysis was started")


def test_attached_with_a_full_stderr_pipe(spawn, full_pipe):
    target = subprocess.Popen(["sleep", "0.5"])
    process = spawn("-o", "run.jsonl", "--summary", "--why", "--pid", target.pid, stdout=subprocess.DEVNULL, stderr=full_pipe)
    target.wait()
    assert wait(process)[0] == 0


def test_a_slow_reader_gets_the_whole_summary(spawn):
    """As long as there is progress, the wait continues."""
    reader, writer = os.pipe()
    process = spawn("-o", "run.jsonl", "--summary", *JOB, stdout=subprocess.DEVNULL, stderr=writer)
    os.close(writer)
    text = bytearray()

    def read_slowly():
        while chunk := os.read(reader, 40):
            text.extend(chunk)
            time.sleep(0.02)

    thread = threading.Thread(target=read_slowly)
    thread.start()
    assert wait(process)[0] == 3
    thread.join()
    os.close(reader)
    assert b"exit status 3" in text and text.endswith(b"\n")


def test_a_signal_that_ended_the_job_does_not_take_the_summary_away(spawn, tmp_path):
    """Ctrl-C reaches the job and the program: a signal that is pending when the job has ended was for the job.

    A child of dash drops a signal that it gets before it becomes its program, so the shell starts none.
    """
    for _ in range(5):
        process = spawn("-o", "run.jsonl", "--summary", "--", "sh", "-c", "echo; exec sleep 10", stdout=subprocess.PIPE,
                        stderr=subprocess.PIPE, start_new_session=True)
        process.stdout.readline()
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate()
        assert process.returncode == -signal.SIGINT
        assert b"killed by SIGINT (2)" in err, err
