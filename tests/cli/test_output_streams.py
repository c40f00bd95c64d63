"""Samples on pipes, terminals and sockets: a reader that does not read stalls neither the job nor the sampling."""
import fcntl
import json
import os
import pathlib
import pty
import re
import select
import signal
import socket
import subprocess
import sys
import termios
import time

import pytest

SMALL_PIPE_BYTES = 4096


def small_pipe():
    read_end, write_end = os.pipe()
    fcntl.fcntl(write_end, fcntl.F_SETPIPE_SZ, SMALL_PIPE_BYTES)
    return read_end, write_end


def read_for(fd, secs):
    """Returns the data that arrives within `secs`, or until the end."""
    found, deadline = b"", time.monotonic() + secs
    while (left := deadline - time.monotonic()) > 0:
        if not select.select([fd], [], [], left)[0]:
            break
        try:
            piece = os.read(fd, 65536)
        except OSError:
            break
        if not piece:
            break
        found += piece
    return found


@pytest.mark.alone
def test_while_wrapping_stdout_belongs_to_the_job(run, helpers):
    result = run("-i", 0.1, "--", "sh", "-c", "echo out; sleep 0.25")
    assert result.out == "out\n"
    assert len(helpers.json_lines(result.stderr)) >= 3


def test_quiet_silences_only_the_default(run, tmp_path, helpers):
    result = run("-q", "--", "echo", "out")
    assert (result.out, result.err) == ("out\n", "")
    result = run("-q", "-o", "run.jsonl", "--", "echo", "out")
    assert (result.out, result.err) == ("out\n", "")
    assert helpers.json_lines(tmp_path / "run.jsonl")


def test_a_dash_is_stdout(run, helpers):
    result = run("-o", "-", "--", "sh", "-c", "echo job")
    job, samples = result.out.split("\n", 1)
    assert job == "job" and helpers.json_lines(samples)
    assert result.err == ""


def test_csv_on_a_stream_begins_with_its_header(run, helpers):
    result = run("-f", "csv", "-o", "-", "--", "true")
    assert len(helpers.csv_rows(result.out)) == 1


@pytest.mark.parametrize("mode", [[], ["--pid", "self"]])
def test_without_a_reader_host_and_attach_mode_end(spawn, mode):
    mode = [str(os.getpid()) if word == "self" else word for word in mode]
    process = spawn("-i", 0.1, *mode, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    for number in range(3):
        assert json.loads(process.stdout.readline())["sample"] == number
    process.stdout.close()
    closed = time.monotonic()
    assert process.wait(5) == 0
    assert time.monotonic() - closed < 1
    assert process.stderr.read() == b""


def test_head_ends_the_recording(binary, helpers, tmp_path):
    script = '"$0" -i 0.1 | head -3; echo "status ${PIPESTATUS[0]}"'
    result = subprocess.run(["bash", "-c", script, binary], capture_output=True, timeout=10, cwd=tmp_path,
                            env=helpers.clean_environment(), stdin=subprocess.DEVNULL)
    *samples, status = result.stdout.decode().splitlines()
    assert [json.loads(sample)["sample"] for sample in samples] == [0, 1, 2]
    assert status == "status 0" and result.stderr == b""


def test_a_file_beside_the_closed_pipe_keeps_the_recording_going(spawn, tmp_path, helpers):
    process = spawn("-i", 0.05, "-o", "-", "-o", "run.jsonl", stdout=subprocess.PIPE)
    process.stdout.readline()
    process.stdout.close()
    before = len((tmp_path / "run.jsonl").read_text().splitlines())
    helpers.wait_until(lambda: len((tmp_path / "run.jsonl").read_text().splitlines()) > before + 5)
    process.send_signal(signal.SIGTERM)
    assert process.wait(5) == 0


def test_a_reader_that_leaves_does_not_touch_the_job(spawn):
    process = spawn("-i", 0.05, "--", "sh", "-c", "sleep 0.5; echo done; exit 7",
                    stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stderr.readline()
    process.stderr.close()
    assert process.stdout.read() == b"done\n"
    assert process.wait(5) == 7


def test_an_unread_pipe_delays_neither_the_job_nor_its_end(spawn):
    read_end, write_end = small_pipe()
    started = time.monotonic()
    process = spawn("-i", 0.005, "--", "sh", "-c", "sleep 1; exit 7", stderr=write_end, stdout=subprocess.DEVNULL)
    os.close(write_end)
    assert process.wait(10) == 7
    assert time.monotonic() - started < 2
    text = read_for(read_end, 1)
    os.close(read_end)
    # The pipe holds less than a few samples; complete lines are whole samples.
    for line in text.split(b"\n")[:-1]:
        json.loads(line)


def test_a_slow_reader_gets_whole_samples_in_order(spawn, tmp_path):
    read_end, write_end = small_pipe()
    process = spawn("-i", 0.01, "-o", "-", "--", "sh", "-c", "until [ -e end ]; do sleep 0.02; done", stdout=write_end,
                    stderr=subprocess.PIPE)
    os.close(write_end)
    time.sleep(0.3)
    text = b""
    while text.count(b"\n") <= 10:
        text += os.read(read_end, 65536)
    # At the end of the job, a full pipe has 0.1 s for its reader, which is not enough on a busy machine.
    fcntl.fcntl(read_end, fcntl.F_SETPIPE_SZ, 1 << 20)
    (tmp_path / "end").touch()
    text += read_for(read_end, 30)
    os.close(read_end)
    assert process.wait(5) == 0 and process.stderr.read() == b""
    samples = [json.loads(line) for line in text.decode().splitlines()]
    assert [sample["sample"] for sample in samples] == list(range(len(samples)))
    assert samples[-1]["run_end"] is not None and len(samples) > 10


SHOW_FLAGS = "import fcntl, os; print(fcntl.fcntl(2, fcntl.F_GETFL) & os.O_NONBLOCK)"


@pytest.mark.parametrize("kind", ["pipe", "socket", "terminal"])
def test_the_jobs_stream_stays_blocking(run, kind):
    ends = {"pipe": os.pipe, "terminal": pty.openpty,
            "socket": lambda: [end.detach() for end in socket.socketpair()]}[kind]()
    result = run("-i", 0.05, "--", sys.executable, "-c", SHOW_FLAGS, stderr=ends[1])
    assert result.out == "0\n" and result.returncode == 0
    assert not fcntl.fcntl(ends[1], fcntl.F_GETFL) & os.O_NONBLOCK
    for end in ends:
        os.close(end)


def test_an_unread_socket(spawn):
    ours, theirs = socket.socketpair()
    theirs.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    started = time.monotonic()
    process = spawn("-i", 0.005, "--", "sh", "-c", "sleep 0.5; exit 7", stderr=theirs, stdout=subprocess.DEVNULL)
    theirs.close()
    assert process.wait(10) == 7
    assert time.monotonic() - started < 2
    text = read_for(ours.fileno(), 1)
    assert json.loads(text.split(b"\n")[0])["sample"] == 0
    ours.close()


def test_a_fifo_without_a_reader_does_not_hang(run, tmp_path):
    os.mkfifo(tmp_path / "fifo")
    result = run("-i", 0.05, "-o", "fifo", "--", "sh", "-c", "sleep 0.2; exit 7")
    assert result.returncode == 7 and result.wall_secs < 3
    assert result.err == "resource-tracker: cannot write to fifo: it has no reader; the last samples may be lost\n"


def test_a_late_reader_of_a_fifo_gets_everything(spawn, tmp_path, helpers):
    os.mkfifo(tmp_path / "fifo")
    process = spawn("-i", 0.05, "-o", "fifo", "--", "sleep", "0.8")
    time.sleep(0.3)
    samples = helpers.json_lines((tmp_path / "fifo").read_bytes())
    assert process.wait(5) == 0
    assert [sample["sample"] for sample in samples] == list(range(len(samples)))
    assert samples[-1]["run_end"] is not None and len(samples) > 5


def test_process_substitution(binary, tmp_path, helpers):
    script = '"$0" -i 0.05 -o >(cat >copy.jsonl) -- sleep 0.3; wait $!; sleep 0.1'
    subprocess.run(["bash", "-c", script, binary], cwd=tmp_path, env=helpers.clean_environment(),
                   stdin=subprocess.DEVNULL, check=True)
    assert len(helpers.json_lines(tmp_path / "copy.jsonl")) > 2


class Terminal:
    """A terminal whose foreground is our session leader, which runs commands for us."""

    def __init__(self):
        self.screen, self.slave = pty.openpty()
        modes = termios.tcgetattr(self.slave)
        modes[1] &= ~termios.OPOST
        modes[3] |= termios.TOSTOP
        termios.tcsetattr(self.slave, termios.TCSANOW, modes)

    def popen_options(self):
        """Makes the terminal its stderr, and itself the leader of the terminal's session and foreground group."""

        def lead():
            os.setsid()
            fcntl.ioctl(2, termios.TIOCSCTTY, 0)

        return {"stderr": self.slave, "stdin": self.slave, "stdout": subprocess.PIPE, "preexec_fn": lead}

    def close(self):
        os.close(self.screen)
        os.close(self.slave)


@pytest.fixture
def terminal():
    terminal = Terminal()
    yield terminal
    terminal.close()


def test_a_terminal_frozen_by_ctrl_s_does_not_delay_the_job(spawn, terminal):
    started = time.monotonic()
    process = spawn("-i", 0.02, "--", "sh", "-c", "sleep 0.8; exit 7", **terminal.popen_options())
    assert read_for(terminal.screen, 0.2)
    os.write(terminal.screen, b"\x13")
    assert process.wait(10) == 7
    assert time.monotonic() - started < 2


def test_a_thawed_terminal_shows_the_held_back_samples(spawn, terminal):
    process = spawn("-i", 0.05, "--", "sleep", "1", **terminal.popen_options())
    text = read_for(terminal.screen, 0.2)
    os.write(terminal.screen, b"\x13")
    time.sleep(0.3)
    os.write(terminal.screen, b"\x11")
    while process.poll() is None:
        text += read_for(terminal.screen, 0.1)
    text += read_for(terminal.screen, 0.1)
    lines = [line for line in text.decode().splitlines() if line.startswith("{")]
    numbers = [json.loads(line)["sample"] for line in lines]
    assert numbers == list(range(len(numbers))) and len(numbers) > 10
    assert process.returncode == 0


def test_a_background_tracker_is_not_stopped_by_tostop(binary, terminal, tmp_path, helpers):
    script = 'set -m; "$0" -i 0.05 -- sh -c "sleep 0.3; exit 7" & wait $!; echo status $?'
    with subprocess.Popen(["bash", "-c", script, binary], cwd=tmp_path, env=helpers.clean_environment(),
                          **terminal.popen_options()) as shell:
        # Read while it runs: the shell writes to the terminal, too, and would wait for a full one.
        screen = b""
        while shell.poll() is None:
            screen += read_for(terminal.screen, 0.1)
        assert shell.stdout.read() == b"status 7\n"
        screen += read_for(terminal.screen, 0.1)
    assert b'"sample":0' in screen and b'"exit_code":7' in screen


def test_a_terminal_that_is_gone_does_not_end_the_job(spawn, tmp_path):
    screen, slave = pty.openpty()
    process = spawn("-i", 0.05, "--", "sh", "-c", "sleep 0.6; echo done >mark; exit 7", stderr=slave)
    os.close(slave)
    read_for(screen, 0.2)
    os.close(screen)
    assert process.wait(10) == 7
    assert (tmp_path / "mark").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
@pytest.mark.parametrize("kind", ["pipe", "terminal"])
def test_an_unread_stream_of_another_user(spawn, program_for_everybody, tmp_path, kind):
    """After `su` the stream cannot be opened again; the recorder still writes to it without waiting."""
    tmp_path.chmod(0o777)
    read_end, write_end = small_pipe() if kind == "pipe" else pty.openpty()
    os.fchmod(write_end, 0o600)
    started = time.monotonic()
    process = spawn("-i", 0.005, "--", "sh", "-c", "sleep 1; exit 7", stderr=write_end, stdout=subprocess.DEVNULL,
                    program=program_for_everybody, user=65534, group=65534, extra_groups=[], cwd="/")
    if kind == "terminal":
        os.write(read_end, b"\x13")
    os.close(write_end)
    assert process.wait(10) == 7
    assert time.monotonic() - started < 2.5
    if kind == "pipe":
        assert re.match(rb'\{"timestamp', read_for(read_end, 0.2))
    os.close(read_end)


@pytest.mark.parametrize("reads", [True, False])
def test_samples_lost_to_a_slow_reader_at_the_end_are_reported(spawn, helpers, reads):
    """Attach and host mode pass on no exit status: a full pipe gets a second, then a warning is printed."""
    read_end, write_end = small_pipe()
    try:
        tracker = spawn("-i", 0.02, "--duration", 0.3, stdout=write_end, stderr=subprocess.PIPE)
        os.close(write_end)
        if reads:
            # The first sample fills the pipe; the last ones are still waiting at the end of the recording.
            time.sleep(0.6)
            samples = helpers.json_lines(read_for(read_end, 20))
            assert samples[-1]["run_end"]["reason"] == "duration" and samples[-1]["run_end"]["samples"] == len(samples)
        said = tracker.stderr.read().decode()
        assert tracker.wait() == 0
        assert said == ("" if reads else "resource-tracker: cannot write to -: its reader is too slow; "
                        "the last samples may be lost\n")
    finally:
        os.close(read_end)


@pytest.mark.alone
@pytest.mark.parametrize("pause, is_whole", [(0.01, True), (0.3, False)], ids=("slow", "too slow"))
def test_the_end_of_a_job_waits_for_a_slow_reader_and_tells_lost_samples(spawn, pause, is_whole):
    """Once the last samples of a job were lost without a word."""
    read_end, write_end = small_pipe()
    try:
        tracker = spawn("-i", 0.02, "-o", "-", "--", "sleep", "0.4", stdout=write_end, stderr=subprocess.PIPE)
        os.close(write_end)
        seen = b""
        while chunk := os.read(read_end, 4096):
            seen += chunk
            time.sleep(pause)
        said = tracker.stderr.read().decode()
        assert tracker.wait() == 0
        last = seen.rpartition(b"\n")[0].rpartition(b"\n")[2]
        assert (b'"run_end":{' in last) == is_whole, said
        assert said == ("" if is_whole else "resource-tracker: cannot write to -: its reader is too slow; the last samples may be lost\n")
    finally:
        os.close(read_end)


# ---- the log of a CI system ----------------------------------------------------------------------------------

@pytest.mark.parametrize("value, summary", [("true", True), ("1", True), ("woodpecker", True), ("false", False), ("", False)])
def test_a_ci_log_gets_a_summary_instead_of_samples(run, binary, tmp_path, value, summary):
    if not (pathlib.Path(binary).parent / "resource-tracker-analysis").exists():
        pytest.skip("this build has no resource-tracker-analysis: samples stay where they were")
    result = run("--", "sh", "-c", "echo out; exit 3", env={"CI": value, "TMPDIR": str(tmp_path)})
    assert (result.returncode, result.out) == (3, "out\n")
    assert ("exit status 3" in result.err and "Memory" in result.err) == summary
    assert ('"timestamp_secs"' in result.err) != summary
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("options", [("-f", "json"), ("--no-summary",), ("-o", "/dev/stderr")])
def test_samples_come_back_to_a_ci_log(run, options):
    result = run(*options, "--", "true", env={"CI": "true"})
    lines = result.err.splitlines()
    assert result.returncode == 0 and lines and all("run_end" in json.loads(line) for line in lines)


def test_a_named_file_or_quiet_keeps_a_ci_log_free(run, tmp_path):
    for options in ("-o", "run.jsonl"), ("-q",):
        assert run(*options, "--", "true", env={"CI": "true"}).err == ""
    assert (tmp_path / "run.jsonl").exists()
