"""Shared by test_wrap_*.py: src/wrap alone (tests/fakes/wrap-driver), its log, jobs and terminals."""
import ctypes
import errno
import fcntl
import os
import pathlib
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

import pytest

from conftest import end_process, wait_until

TOP = pathlib.Path(__file__).resolve().parents[2]
FAKES = pathlib.Path(os.environ.get("RESOURCE_TRACKER", TOP / "build" / "resource-tracker")).parent / "tests" / "fakes"
DRIVER = str(FAKES / "wrap-driver")
SIGNAL_LOG = str(FAKES / "signal-log")
INHERITED_STATE = str(FAKES / "inherited-state")

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="makes namespaces or cgroups: needs root")


class Event(dict):
    """A line of the driver's log: `kind` and its key-value pairs, with numbers as int."""

    def __init__(self, line):
        words = line.split()
        super().__init__(kind=words[0], line=line)
        keyed = words[1:]
        if words[0] == "signal":
            self["id"] = to_number(keyed.pop(0))
            if len(keyed) % 2:
                self["way"] = keyed.pop()
        elif len(keyed) % 2:  # the first word after the kind is its subject
            self["id"] = to_number(keyed.pop(0))
        self.update((keyed[i], to_number(keyed[i + 1])) for i in range(0, len(keyed), 2))


def to_number(word):
    return int(word) if re.fullmatch(r"-?\d+", word) else word


class Log:
    def __init__(self, path):
        self.path = path

    def events(self, kind=None):
        text = self.path.read_text() if self.path.exists() else ""
        found = [Event(line) for line in text.splitlines()]
        return [event for event in found if kind in (None, event["kind"])]

    def one(self, kind):
        found = self.events(kind)
        assert len(found) == 1, found
        return found[0]

    def wait_for(self, kind, count=1):
        return wait_until(lambda: len(found := self.events(kind)) >= count and found, what=f"{count} x {kind}")


@pytest.fixture
def log(tmp_path):
    return Log(tmp_path / "wrap.log")


@pytest.fixture
def wrap(log, tmp_path):
    """wrap("--interval", 10, "true", **popen) starts the driver and returns its Popen; ended after the test."""
    running = []

    def start(*arguments, before=(), **popen):
        popen.setdefault("cwd", tmp_path)
        popen.setdefault("stdin", subprocess.DEVNULL)
        process = subprocess.Popen([*map(str, before), DRIVER, "--log", str(log.path), *map(str, arguments)], **popen)
        running.append(process)
        return process

    yield start
    for process in running:
        end_process(process)


class SignalJob:
    """The driver with tests/fakes/signal-log as its job, in its own process group."""

    def __init__(self, wrap, *options, job=(), before=(), **popen):
        popen.setdefault("process_group", 0)
        self.process = wrap(*options, SIGNAL_LOG, *job, before=before, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            **popen)
        self.fd = self.process.stdout.fileno()
        os.set_blocking(self.fd, False)
        self.buffer = b""
        self.pid = int(self.next_line(10).split()[1])

    def next_line(self, secs):
        deadline = time.monotonic() + secs
        while b"\n" not in self.buffer:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.fd], [], [], left)[0]:
                return None
            self.buffer += os.read(self.fd, 65536)
        line, self.buffer = self.buffer.split(b"\n", 1)
        return line.decode()

    def receive(self, count, settle_secs=0.03):
        """Returns `count` signals, and any others that come shortly after."""
        found = []
        while True:
            line = self.next_line(5 if len(found) < count else settle_secs)
            if line is None:
                return found
            found.append(Event(line))

    def end(self):
        self.process.stdin.close()
        status = self.process.wait(10)
        self.process.stdout.close()
        return status


libc = ctypes.CDLL(None, use_errno=True)


def sigqueue(pid, signo, value):
    if libc.sigqueue(pid, signo, ctypes.c_void_p(value)) < 0:
        raise OSError(ctypes.get_errno(), "sigqueue")


class Terminal:
    """A program on its own pseudo-terminal, as its session leader."""

    def __init__(self, command, cwd, env=None):
        self.text = ""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(cwd)
            # Set the size before a program could get a signal about it and print its prompt again.
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 200, 0, 0))
            for signo in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them
                signal.signal(signo, signal.SIG_DFL)
            os.execvpe(command[0], command, {**os.environ, "TERM": "dumb", "LC_ALL": "C.UTF-8", **(env or {})})

    def send(self, text):
        os.write(self.fd, text.encode())

    def expect(self, pattern, secs=10):
        """Waits for a regular expression; returns the match and drops the text up to its end."""
        deadline = time.monotonic() + secs
        while not (found := re.search(pattern, self.text)):
            left = deadline - time.monotonic()
            assert left > 0 and select.select([self.fd], [], [], left)[0], f"no {pattern!r} in {self.text!r}"
            try:
                data = os.read(self.fd, 65536)
            except OSError as error:
                assert error.errno == errno.EIO
                data = b""
            assert data, f"no {pattern!r} before the end in {self.text!r}"
            self.text += data.decode("utf-8", "replace")
        self.text = self.text[found.end():]
        return found

    def expect_nothing(self, pattern, secs=0.15):
        deadline = time.monotonic() + secs
        while (left := deadline - time.monotonic()) > 0:
            if select.select([self.fd], [], [], left)[0]:
                self.text += os.read(self.fd, 65536).decode("utf-8", "replace")
        assert not re.search(pattern, self.text), self.text

    def wait(self, secs=10):
        def ended():
            return os.waitpid(self.pid, os.WNOHANG)
        pid, status = wait_until(lambda: (found := ended())[0] and found, secs, "the terminal's program ends")
        self.pid = 0
        return os.waitstatus_to_exitcode(status)

    def close(self):
        if self.fd >= 0:
            os.close(self.fd)
        self.fd = -1
        if self.pid:
            try:
                os.kill(self.pid, signal.SIGKILL)
                os.waitpid(self.pid, 0)
            except (ProcessLookupError, ChildProcessError):
                pass


class Shell(Terminal):
    """bash -i on a terminal, as a person at a prompt has it."""

    PROMPT = r"@prompt@ "

    def __init__(self, cwd):
        super().__init__(["bash", "--norc", "--noprofile", "-i"], cwd, {"PS1": "@prompt@ ", "HISTFILE": "/dev/null"})
        self.expect(self.PROMPT)
        self.run("bind 'set enable-bracketed-paste off'; stty -echo")

    def run(self, command, secs=10):
        """Runs a command up to the next prompt and returns its output."""
        self.send(command + "\n")
        return self.prompt(secs)

    def prompt(self, secs=10):
        found = self.expect(r"([\s\S]*?)" + self.PROMPT, secs)
        return found.group(1)

    def status(self):
        return int(re.search(r"\d+", self.run("echo $?")).group())


@pytest.fixture
def shell(tmp_path):
    shell = Shell(tmp_path)
    yield shell
    shell.close()


@pytest.fixture
def terminal(tmp_path):
    opened = []

    def start(*command, **options):
        opened.append(Terminal([*map(str, command)], tmp_path, **options))
        return opened[-1]

    yield start
    for one in opened:
        one.close()


def state_of(pid):
    """Returns the state letter of a process, or None if it has gone."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return None


def waited_for_cpu_ns(pid):
    """Returns how long a process with one thread was ready to run while others had the CPUs. 0: the kernel does not count it."""
    try:
        return int(pathlib.Path(f"/proc/{pid}/schedstat").read_text().split()[1])
    except FileNotFoundError:
        return 0


def has_gone(pid):
    return state_of(pid) in (None, "Z")
