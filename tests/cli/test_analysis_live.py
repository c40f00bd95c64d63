"""The live view on a real terminal: tmux shows what a user would see, and types what a user would type."""
import fcntl
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import pytest

import recordings
from conftest import clean_environment
from processes import children_of

pytestmark = pytest.mark.skipif(not shutil.which("tmux"), reason="tmux is not installed")
PATIENCE_SECS = 50
SCRIPT = """
trap : INT
stty -a >{folder}/before
{command}
echo "EXIT:$?"
stty -a >{folder}/after
read -r more
"""


class Terminal:
    """A tmux server of its own with one window. The command runs below a shell, which then prints its exit status."""

    def __init__(self, folder, command, size=(80, 24), script=SCRIPT, env=None):
        self.folder = folder
        self.environment = {**clean_environment(), "TERM": "screen-256color", **(env or {})}
        for name in ("COLUMNS", "NO_COLOR"):
            if name not in (env or {}):
                self.environment.pop(name, None)
        # The server sets TERM itself.
        words = shlex.join(["env", f"TERM={self.environment['TERM']}", *map(str, command)])
        (folder / "script").write_text(script.format(folder=shlex.quote(str(folder)), command=words))
        self.socket = tempfile.mkdtemp(prefix="rt-tmux-")
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", str(size[0]), "-y", str(size[1]), "sh", str(folder / "script"))

    def tmux(self, *words):
        return subprocess.run(["tmux", "-S", f"{self.socket}/socket", *words], env=self.environment, capture_output=True,
                              text=True, check=True).stdout

    def screen(self, *options):
        return self.tmux("capture-pane", "-p", *options)

    def wait(self, condition, *options):
        """Waits for a text, or until a function of the screen is true. Returns the screen."""
        limit = time.monotonic() + PATIENCE_SECS
        while True:
            screen = self.screen(*options)
            if condition(screen) if callable(condition) else condition in screen:
                return screen
            assert time.monotonic() < limit, f"not seen: {condition}\n{screen}"
            time.sleep(0.05)

    def press(self, *keys):
        self.tmux("send-keys", *keys)

    def wait_for_end(self):
        """Returns the exit status, once the shell has the terminal back as it gave it away."""
        screen = self.wait("EXIT:")
        limit = time.monotonic() + PATIENCE_SECS
        while not (self.folder / "after").exists() or not (self.folder / "after").read_text():
            assert time.monotonic() < limit
            time.sleep(0.05)
        assert (self.folder / "after").read_text() == (self.folder / "before").read_text()
        assert self.tmux("display-message", "-p", "#{alternate_on} #{cursor_flag}").split() == ["0", "1"]
        return int(re.search(r"EXIT:(\d+)", screen).group(1))

    def close(self):
        subprocess.run(["tmux", "-S", f"{self.socket}/socket", "kill-server"], env=self.environment, capture_output=True)
        shutil.rmtree(self.socket, ignore_errors=True)


@pytest.fixture
def terminal(no_leak_check, tmp_path, binary):
    """terminal("live", FILE, size=(80, 24), env={}) shows the program on a terminal of its own.

    The hang-up of the terminal ends the process that checks for leaks, and the recorder would wait for it for ever.
    """
    opened = []

    def start(*words, **options):
        folder = tmp_path / f"terminal-{len(opened)}"
        folder.mkdir()
        opened.append(Terminal(folder, [binary, *words], **options))
        return opened[-1]

    yield start
    for one in opened:
        one.close()


@pytest.fixture(autouse=True)
def has_screen(binary, run):
    result = run("live", "nothing.jsonl")
    if "libncurses-dev" in result.err:
        pytest.skip("built without ncursesw")


def in_order(*names):
    """A condition: the screen has these texts, one after the other. The terminal may have drawn only a part of a change."""
    return lambda screen: -1 < screen.find(names[0]) and all(
        -1 < screen.find(one) < screen.find(other) for one, other in zip(names, names[1:]))


# The view draws from the top to the bottom, so a screen with the last row of each table is whole.
WHOLE = in_order("80.0 MiB", "PROGRAM", " cc1 ", " python3 ", "q quit", "m machine")


def program(name, cores, memory):
    return {"name": name, "cpu_secs": cores, "memory_mib": memory, "disk_read_bytes": 0, "disk_write_bytes": 0, "process_count": 1}


def samples(count, end=None):
    """Samples with 0.25, 0.5, ... cores and 10, 20, ... MiB, and two programs."""
    made = []
    for i in range(count):
        last = end if i == count - 1 else None
        made.append(recordings.sample(i, cores=0.25 * (i + 1), memory=10.0 * (i + 1), start=recordings.START if i == 0 else None,
                                      end=last, programs=[program("cc1", 0.2, 5.0), program("python3", 0.1, 8.0)]))
    return made


@pytest.fixture
def finished(tmp_path):
    return recordings.write(tmp_path / "run.jsonl", samples(8, recordings.END))


def pid_of_view(terminal):
    """The view is the child of the shell in the window."""
    shell = int(terminal.tmux("display-message", "-p", "#{pane_pid}"))
    with open(f"/proc/{shell}/task/{shell}/children", encoding="ascii") as children:
        return int(children.read().split()[0])


# ---- a finished recording -----------------------------------------------------------------------------------

def test_live_shows_a_finished_recording_on_80_by_24(terminal, finished):
    one = terminal("live", finished)
    screen = one.wait(WHOLE)
    lines = screen.split("\n")
    assert lines[0].startswith(" demo  pid 42") and "failed with exit status 3 after 8.00 s" in lines[0]
    assert re.search(r"^ CPU +2\.00 of 2 cores", screen, re.M)
    assert re.search(r"^ Memory +80\.0 MiB of 512 MiB", screen, re.M)
    assert re.search(r"^ Read +4\.00 KiB/s", screen, re.M)
    assert re.search(r"^ Received +-", screen, re.M), "unknown is a dash"
    assert re.search(r"^ cc1 +0\.20 +5\.00 MiB", screen, re.M)
    assert "q quit" in lines[23]
    one.press("q")
    assert one.wait_for_end() == 0
    assert "demo" not in one.screen(), "the screen is the shell's again"


def test_live_looks_back_with_the_arrow_keys(terminal, finished):
    one = terminal("live", finished)
    one.wait("80.0 MiB of 512 MiB")
    one.press("Left")
    one.wait("70.0 MiB of 512 MiB")
    one.press("Home")
    one.wait("10.0 MiB of 512 MiB")
    one.press("Right")
    one.wait("20.0 MiB of 512 MiB")
    one.press("NPage")
    one.wait("80.0 MiB of 512 MiB")
    one.press("PPage")
    one.wait("10.0 MiB of 512 MiB")
    one.press("End")
    one.wait("failed with exit status 3")


def test_live_obeys_each_key(terminal, finished):
    one = terminal("live", finished)
    one.wait(in_order("80.0 MiB", " cc1 ", " python3 "))
    one.press("s")
    one.wait(in_order(" python3 ", " cc1 "))
    one.press("r")
    one.wait(in_order(" cc1 ", " python3 "))
    one.press("Down")
    one.wait(lambda screen: " cc1 " not in screen)
    one.press("Up")
    one.wait(" cc1 ")
    one.press("u")
    one.wait("83.9 MB of 537 MB")
    one.press("m")
    one.wait("INTERFACE")
    one.press("m")
    one.wait("PROGRAM")
    one.press("h")
    one.wait("resource-tracker live: keys")
    one.press("Escape")
    one.wait("PROGRAM")
    one.press("g")
    one.wait("\u2588")
    one.press("g")
    one.wait(lambda screen: "#" in screen and screen.isascii())
    one.press("?")
    one.wait("resource-tracker live: keys")
    one.press("Escape")
    one.wait("PROGRAM")
    one.press("Space")
    one.wait("at 8.00 s")


def test_live_zooms_from_the_first_key_on(terminal, tmp_path):
    """Spans that are longer than the run would show no difference."""
    path = recordings.write(tmp_path / "run.jsonl", samples(400, recordings.END))
    one = terminal("live", path)

    def axis_from(start):
        return lambda screen: re.search(rf"^ +{start} +\d.*$", screen, re.M)

    one.wait(axis_from("0 s"))
    one.press("+")
    one.wait(axis_from("1 min 40 s"))
    one.press("+")
    one.wait(axis_from("5 min 40 s"))
    one.press("-")
    one.wait(axis_from("1 min 40 s"))
    one.press("-")
    one.wait(axis_from("0 s"))


def test_live_draws_the_screen_again_at_ctrl_l(terminal, finished):
    """Another program has written to the terminal. The view writes only cells that change, so it would stay."""
    one = terminal("live", finished)
    whole = one.wait(WHOLE)
    pathlib.Path(one.tmux("display-message", "-p", "#{pane_tty}").strip()).write_text("\x1b[5;5Hwall: the disk is full")
    one.wait("wall: the disk is full")
    one.press("C-l")
    one.wait(lambda screen: screen == whole)


# ---- the terminal -------------------------------------------------------------------------------------------

def test_live_follows_the_size_of_the_terminal(terminal, finished):
    one = terminal("live", finished)
    one.wait(lambda screen: "q quit" in screen.split("\n")[23])
    one.tmux("resize-window", "-x", "120", "-y", "40")
    one.wait(lambda screen: "q quit" in screen.split("\n")[39] and "u units" in screen)
    one.tmux("resize-window", "-x", "30", "-y", "6")
    one.wait("30x6 is too small")
    one.tmux("resize-window", "-x", "50", "-y", "12")
    one.wait("PROGRAM")


@pytest.mark.parametrize("env, wanted, unwanted", [
    ({"TERM": "screen-256color"}, r"\x1b\[38;5;72m", None),
    ({"TERM": "screen"}, r"\x1b\[32m", r"38;5;"),
    ({"TERM": "screen-256color", "NO_COLOR": "1"}, r"\x1b\[1m", r"\x1b\[(1;)?3[0-8][;m]"),
])
def test_live_has_the_colours_of_the_terminal(terminal, finished, env, wanted, unwanted):
    one = terminal("live", finished, env=env)
    screen = one.wait(lambda screen: "PROGRAM" in screen and "machine" in screen, "-e")
    assert re.search(wanted, screen)
    assert not unwanted or not re.search(unwanted, screen)


def test_live_is_plain_ascii_in_the_c_locale(terminal, tmp_path):
    name = samples(8, recordings.END)
    for one in name:
        one["job_name"] = "na\u00efve \u200e job"
    path = recordings.write(tmp_path / "run.jsonl", name)
    braille = terminal("live", path).wait("PROGRAM")
    assert re.search("[\u2801-\u28ff]", braille) and "na\u00efve ??? job" in braille
    plain = terminal("live", path, env={"LC_ALL": "C"}).wait("PROGRAM")
    assert plain.isascii() and "#" in plain and "na?ve ??? job" in plain


@pytest.mark.parametrize("ends_by", ["key C-c", "TERM", "HUP", "QUIT", "SEGV", "ABRT"])
def test_live_restores_the_terminal_when_it_is_ended(terminal, finished, ends_by):
    one = terminal("live", finished, env={"ASAN_OPTIONS": "handle_segv=0:handle_abort=0"})
    one.wait("PROGRAM")
    if ends_by.startswith("key"):
        one.press(ends_by.split()[1])
    else:
        os.kill(pid_of_view(one), getattr(signal, f"SIG{ends_by}"))
    crashes = {"SEGV": 128 + signal.SIGSEGV, "ABRT": 128 + signal.SIGABRT}
    assert one.wait_for_end() == crashes.get(ends_by, 0)


def test_live_gives_the_terminal_to_the_shell_while_it_is_stopped(terminal, finished):
    script = """
set -m
stty -a >{folder}/before
{command}
echo "STOPPED:$?"
stty -a >{folder}/stopped
read -r more
fg >{folder}/fg
echo "EXIT:$?"
stty -a >{folder}/after
read -r more
"""
    one = terminal("live", finished, script=script)
    one.wait("PROGRAM")
    one.press("C-z")
    one.wait(f"STOPPED:{128 + signal.SIGTSTP}")
    assert one.tmux("display-message", "-p", "#{alternate_on}").strip() == "0"
    one.press("Enter")
    one.wait("PROGRAM")
    assert (one.folder / "stopped").read_text() == (one.folder / "before").read_text()
    one.press("q")
    assert one.wait_for_end() == 0


def test_live_without_a_terminal_says_so(run, finished):
    result = run("live", finished)
    assert result.returncode == 1
    assert "needs a terminal" in result.err and result.out == ""


# ---- a growing file -----------------------------------------------------------------------------------------

def test_live_follows_a_file_that_grows(terminal, tmp_path):
    path = tmp_path / "run.jsonl"
    path.write_text("")
    one = terminal("live", path)
    made = [recordings.lines([sample]) for sample in samples(4, recordings.END)]
    with open(path, "a", encoding="utf-8") as growing:
        fcntl.flock(growing, fcntl.LOCK_EX)  # as a recorder does
        one.wait("waiting for the first sample")
        growing.write(made[0] + made[1][:100])
        growing.flush()
        one.wait("10.0 MiB of 512 MiB")
        growing.write(made[1][100:])
        growing.flush()
        one.wait("20.0 MiB of 512 MiB")
        one.press("Space")
        one.wait("paused at 2.00 s")
        growing.write(made[2])
        growing.flush()
        one.press("u")
        one.wait("21.0 MB of 537 MB")
        one.press("Space")
        one.wait("31.5 MB of 537 MB")
        growing.write(made[3])
        growing.flush()
        one.wait("failed with exit status 3")
    one.press("q")
    assert one.wait_for_end() == 0


def test_live_says_that_the_file_is_not_a_recording(terminal, tmp_path):
    (tmp_path / "not.txt").write_text("hello\nworld\n")
    one = terminal("live", tmp_path / "not.txt", size=(120, 24))
    assert one.wait_for_end() == 1
    assert "not a recording" in one.screen()


# ---- a recorder of its own ----------------------------------------------------------------------------------

@pytest.fixture
def sleeper(no_leak_check):
    """A process to look at. When the view ends, the kernel continues what is stopped in its orphaned process group, and the leak
    check of the recorder would wait forever for the stop.
    """
    process = subprocess.Popen(["sleep", "1000"], stdin=subprocess.DEVNULL)
    yield process
    process.kill()
    process.wait()


def wait_until_gone(pid):
    limit = time.monotonic() + PATIENCE_SECS
    while os.path.exists(f"/proc/{pid}"):
        assert time.monotonic() < limit, f"{pid} still runs"
        time.sleep(0.05)


@pytest.mark.parametrize("words", [["live", "--pid", "{pid}", "--", "-i", "100ms"], ["-i", "100ms", "--pid", "{pid}"]])
def test_live_follows_a_process_with_a_recorder_that_ends_with_it(terminal, sleeper, words):
    one = terminal(*[word.format(pid=sleeper.pid) for word in words])
    one.wait(f"sleep  pid {sleeper.pid}")
    one.wait(lambda screen: re.search(r"^ Memory +\d\S* [KM]iB of", screen, re.M) and "running" in screen)
    recorder, = children_of(pid_of_view(one))
    one.press("q")
    assert one.wait_for_end() == 0
    wait_until_gone(recorder)
    assert sleeper.poll() is None, "the process goes on"


def test_live_shows_the_end_of_its_process(terminal, sleeper):
    one = terminal("live", "--pid", sleeper.pid, "--", "-i", "100ms")
    one.wait("running")
    sleeper.kill()
    sleeper.wait()
    one.wait("process has ended after")
    one.press("Home")
    one.wait("at ")
    one.press("q")
    assert one.wait_for_end() == 0


def test_live_survives_the_death_of_its_recorder(terminal, sleeper):
    one = terminal("live", "--pid", sleeper.pid, "--", "-i", "100ms")
    one.wait("running")
    os.kill(children_of(pid_of_view(one))[0], signal.SIGKILL)
    one.wait("the recorder has gone after")
    one.press("q")
    assert one.wait_for_end() == 0


@pytest.mark.parametrize("ends_by", ["the terminal", "SIGKILL"])
def test_live_leaves_no_process_behind(terminal, sleeper, ends_by):
    one = terminal("live", "--pid", sleeper.pid, "--", "-i", "100ms")
    one.wait("running")
    view = pid_of_view(one)
    recorder, = children_of(view)
    if ends_by == "SIGKILL":
        os.kill(view, signal.SIGKILL)
    else:
        one.tmux("kill-server")
    wait_until_gone(view)
    wait_until_gone(recorder)
    assert sleeper.poll() is None


def test_live_passes_on_why_its_recorder_does_not_start(terminal):
    one = terminal("live", "--pid", "4194300")
    assert one.wait_for_end() == 1
    assert "4194300" in one.screen()


@pytest.mark.parametrize("words", [["live", "--host", "--", "-i", "100ms"], ["-i", "100ms"]])
def test_live_follows_the_machine(terminal, words):
    one = terminal(*words)
    one.wait(lambda screen: re.search(rf"^ CPU +\d.* of {os.cpu_count()} core", screen, re.M))
    one.wait(lambda screen: re.search(r"^ Cores +\S", screen, re.M) and "FILE SYSTEM" in screen)
    one.press("q")
    assert one.wait_for_end() == 0


@pytest.mark.alone
def test_front_prints_samples_where_no_screen_can_be(terminal, sleeper):
    one = terminal("--pid", sleeper.pid, "-i", "100ms", "--duration", "300ms", env={"TERM": "dumb"})
    assert one.wait_for_end() == 0
    assert one.screen("-J", "-S", "-").count('"timestamp_secs"') >= 3


@pytest.mark.parametrize("words, message", [
    (["--pid", "1", "--host"], "exclude each other"),
    (["--", "sleep", "1"], "'sleep' is a command"),
    (["--pid", "0"], "--pid"),
    (["-"], "standard input has the keys"),
    (["--", "--intervall", "1"], "--interval"),
])
def test_live_refuses_words_that_do_not_fit(run, words, message):
    result = run("live", *words)
    assert result.returncode == 2
    assert message in result.err


def test_live_tells_of_the_end_of_a_run_that_it_has_followed(terminal, tmp_path):
    told = tmp_path / "told"
    (tmp_path / "notify-send").write_text(f'#!/bin/sh\nprintf "%s|" "$@" >{shlex.quote(str(told))}.new\nmv {shlex.quote(str(told))}.new {shlex.quote(str(told))}\n')
    (tmp_path / "notify-send").chmod(0o755)
    made = samples(2, recordings.END)
    for sample in made:
        sample["job_name"] = "-a\033job"
    with open(recordings.write(tmp_path / "run.jsonl", made[:1]), "a", encoding="utf-8") as growing:
        fcntl.flock(growing, fcntl.LOCK_EX)
        one = terminal("live", "--notify", growing.name, env={"PATH": f"{tmp_path}:{os.environ['PATH']}", "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nowhere"})
        one.wait("running")
        one.tmux("pipe-pane", "-O", f"cat >{shlex.quote(str(tmp_path / 'output'))}")
        growing.write(recordings.lines(made[1:]))
        growing.flush()
        one.wait("failed with exit status 3")
        limit = time.monotonic() + PATIENCE_SECS
        while not told.exists() or b"\a" not in (tmp_path / "output").read_bytes():
            assert time.monotonic() < limit
            time.sleep(0.05)
    assert told.read_text() == "--app-name=resource-tracker|--|-a?job|failed with exit status 3 after 8.00 s|"
    one.press("q")
    assert one.wait_for_end() == 0


def planted_history(folder, secs, **more):
    """Lines of good runs, as the history keeps them when their recordings have gone."""
    folder.mkdir(mode=0o700)
    (folder / "runs.jsonl").write_text("".join(json.dumps(
        {"schema": 1, "number": i + 1, "id": f"run-{i}", "name": "nightly", "outcome": "ok", "started": 1.7e9 + i, "wall_secs": one, **more}) + "\n"
        for i, one in enumerate(secs)))
    return {"TRACKER_HISTORY": str(folder)}


@pytest.mark.parametrize("case, secs, more, shown", [
    ("five", [20, 21, 22, 23, 24], {}, "usually 22 s, about 18 s left"),
    ("four", [20, 21, 22, 23], {}, None),
    ("failed", [20, 21, 22, 23, 24], {"outcome": "failed"}, None),
    ("of another job", [20, 21, 22, 23, 24], {"name": "weekly"}, None),
    ("of another task", [20, 21, 22, 23, 24], {"task": "test"}, None)])
def test_the_expected_end_by_the_history_of_the_job(terminal, tmp_path, case, secs, more, shown):
    made = samples(4)
    for sample in made:
        sample["job_name"] = "nightly"
    with open(recordings.write(tmp_path / "run.jsonl", made), encoding="utf-8") as growing:
        fcntl.flock(growing, fcntl.LOCK_EX)
        one = terminal("live", growing.name, env=planted_history(tmp_path / "history", secs, **more))
        screen = one.wait(in_order("running", "PROGRAM", "q quit"))
        assert shown in screen if shown else "usually" not in screen, screen
        one.press("q")
        assert one.wait_for_end() == 0


def test_live_tells_once_of_a_late_run_and_at_its_end_of_the_usual_time(terminal, tmp_path):
    told = tmp_path / "told"
    (tmp_path / "notify-send").write_text(f'#!/bin/sh\necho "$4" >>{shlex.quote(str(told))}\n')
    (tmp_path / "notify-send").chmod(0o755)
    made = samples(4, recordings.END)
    for sample in made:
        sample["job_name"] = "nightly"
    env = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nowhere",
           **planted_history(tmp_path / "history", [1.5, 1.5, 1.5, 1.5, 1.5])}
    with open(recordings.write(tmp_path / "run.jsonl", made[:2]), "a", encoding="utf-8") as growing:
        fcntl.flock(growing, fcntl.LOCK_EX)
        one = terminal("live", "--notify", growing.name, env=env)
        one.wait("slower than all 5 runs")
        growing.write(recordings.lines(made[2:3]))
        growing.flush()
        one.wait("running 3.00 s")
        growing.write(recordings.lines(made[3:]))
        growing.flush()
        one.wait("failed with exit status 3")
    limit = time.monotonic() + PATIENCE_SECS
    while not told.exists() or told.read_text().count("\n") < 2:
        assert time.monotonic() < limit
        time.sleep(0.05)
    # Two programs that were started one after the other may write in any order.
    ended, late = sorted(told.read_text().splitlines())
    assert late == "still running after 2.00 s; usually 2 s; slower than all 5 runs"
    assert ended == "failed with exit status 3 after 8.00 s; usually 2 s; slower than all 5 runs"
    one.press("q")
    assert one.wait_for_end() == 0


# ---- several runs -------------------------------------------------------------------------------------------

def test_a_run_that_has_ended_has_the_peak_of_its_summary(terminal, tmp_path):
    """The samples reach 40 MiB, one process had 325 MiB between two of them."""
    end = dict(recordings.END, memory_peak_mib=325.0, memory_peak_source="largest_process", largest_process_peak_mib=325.0)
    path = recordings.write(tmp_path / "x.jsonl", samples(4, end))
    one = terminal("live", path)
    screen = one.wait("peak 325 MiB")
    assert screen.count("peak") == 1 and re.search(r"max [\d.]+", screen), screen
    one.press("q")
    assert one.wait_for_end() == 0
    goes_on = recordings.write(tmp_path / "y.jsonl", samples(4, None))
    with goes_on.open() as recorder:
        fcntl.flock(recorder, fcntl.LOCK_EX)
        one = terminal("live", goes_on)
        screen = one.wait("max 40.0 MiB")
        assert "peak" not in screen
        one.press("q")
        assert one.wait_for_end() == 0


def test_live_lists_files_and_opens_one(terminal, tmp_path):
    paths = []
    for name, cores in ("calm", 0.5), ("busy", 1.5):
        made = samples(3, recordings.END)
        for one in made:
            one["job_name"] = name
            one["cpu"]["process_cores_used"] = cores
        paths.append(recordings.write(tmp_path / f"{name}.jsonl", made))
    one = terminal("live", *paths)
    one.wait(lambda screen: "no run goes on now" in screen and screen.count("failed with exit status 3") == 2)
    one.wait(in_order("busy", "calm"))
    one.press("r")
    one.wait(in_order("calm", "busy"))
    one.press("Up", "Up", "Enter")
    one.wait(lambda screen: screen.startswith(" calm  pid 42"))
    one.press("Escape")
    one.wait("no run goes on now")
    one.press("Down", "Enter")
    one.wait(lambda screen: screen.startswith(" busy  pid 42"))
    one.press("q")
    assert one.wait_for_end() == 0


# Other tests record at the same time, and the list shows their runs as well: these tests look at the lines of their own runs.

def line_of(name):
    """The line of a run in the list, or an empty text."""
    return lambda screen: next((line for line in screen.splitlines() if f" {name} " in f"{line} "), "")


def is_going_on(name):
    return lambda screen: line_of(name)(screen) and "exit status" not in line_of(name)(screen) \
        and "succeeded" not in line_of(name)(screen)


def test_live_that_starts_before_any_run_shows_the_first_one(terminal, tmp_path):
    history = {"TRACKER_HISTORY": str(tmp_path / "history")}
    one = terminal("live", env=history)
    one.wait(re.compile(r"no run goes on now|\d+ runs? now").search)
    first = terminal("-n", "first", "-i", "100ms", "--", "sh", "-c", "read -r line", env=history)
    one.wait(is_going_on("first"))
    first.press("Enter")
    one.wait(lambda screen: "succeeded" in line_of("first")(screen))
    one.press("q")
    assert one.wait_for_end() == 0


def test_live_shows_the_runs_that_go_on_and_their_ends(terminal, tmp_path):
    history = {"TRACKER_HISTORY": str(tmp_path / "history")}
    first = terminal("-n", "first", "-i", "100ms", "--", "sh", "-c", "read -r line", env=history)
    one = terminal("live", env=history, size=(100, 40))
    one.wait(is_going_on("first"))
    second = terminal("-n", "second", "-i", "100ms", "--", "sh", "-c", "read -r line; exit 4", env=history)
    one.wait(lambda screen: is_going_on("first")(screen) and is_going_on("second")(screen))
    second.press("Enter")
    one.wait(lambda screen: "failed with exit status 4" in line_of("second")(screen))
    first.press("Enter")
    one.wait(lambda screen: "succeeded" in line_of("first")(screen))
    assert second.wait("EXIT:4")
    assert first.wait("EXIT:0")
    one.press("q")
    assert one.wait_for_end() == 0
    again = terminal("live", "last", env=history)
    again.wait(lambda screen: screen.startswith(" second") and "run 2" in screen and "failed with exit status 4" in screen)


def test_live_without_a_run_finds_one_that_records_to_a_file_at_once(terminal, tmp_path):
    """Without a run it sleeps longer, and looks at all processes once a lock has been taken: else only each 30 s."""
    name = f"found-{os.getpid()}"
    one = terminal("live", env={"TRACKER_HISTORY": str(tmp_path / "history")}, size=(120, 40))
    one.wait(re.compile(r"no run goes on now|\d+ runs? now").search)
    begun = time.monotonic()
    run = terminal("-n", name, "-i", "100ms", "-o", tmp_path / "run.jsonl", "--", "sh", "-c", "read -r line", env={"TRACKER_HISTORY": "off"})
    one.wait(is_going_on(name))
    assert time.monotonic() - begun < 20
    run.press("Enter")
    one.wait(lambda screen: "succeeded" in line_of(name)(screen))
    one.press("q")
    assert one.wait_for_end() == 0


@pytest.mark.parametrize("removed", [False, True])
def test_live_shows_a_run_that_records_to_a_file(terminal, tmp_path, removed):
    """The list has the runs of this user that are recorded outside the history, even if the name of the file has gone."""
    out = tmp_path / "run.jsonl"
    name = f"to-file-{os.getpid()}-{int(removed)}"
    run = terminal("-n", name, "-i", "100ms", "-o", out, "--", "sh", "-c", "read -r line; exit 3")
    limit = time.monotonic() + PATIENCE_SECS
    while not out.exists() or not out.read_text():
        assert time.monotonic() < limit
        time.sleep(0.05)
    if removed:
        out.unlink()
    one = terminal("live", env={"TRACKER_HISTORY": "off"}, size=(120, 40))
    one.wait(is_going_on(name))
    run.press("Enter")
    one.wait(lambda screen: removed or "failed with exit status 3" in line_of(name)(screen))
    one.press("q")
    assert one.wait_for_end() == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can start a recorder of another user")
def test_live_leaves_out_the_recordings_of_other_users(tmp_path, terminal, spawn, program_for_everybody):
    name = f"of-nobody-{os.getpid()}"
    out = pathlib.Path(program_for_everybody).parent / "theirs.jsonl"
    os.chmod(out.parent, 0o777)
    spawn("-n", name, "-i", "100ms", "-o", out, "--", "sleep", "60", program=program_for_everybody, cwd="/", user=65534,
          group=65534, extra_groups=[])
    ours = terminal("-n", "ours", "-i", "100ms", "-o", tmp_path / "ours.jsonl", "--", "sh", "-c", "read -r line")
    limit = time.monotonic() + PATIENCE_SECS
    while not out.exists() or not out.read_text():
        assert time.monotonic() < limit
        time.sleep(0.05)
    one = terminal("live", env={"TRACKER_HISTORY": "off"}, size=(120, 40))
    assert name not in one.wait(is_going_on("ours"))
    ours.press("Enter")
    one.press("q")
    assert one.wait_for_end() == 0


def test_live_draws_over_the_summary_of_a_job_in_the_background(tmp_path, binary):
    """`resource-tracker CMD &` writes its summary to the terminal on which `resource-tracker live` shows it."""
    over = tmp_path / "over"
    job = shlex.join([str(binary), "--", "sh", "-c", 'until [ -e "$0" ]; do sleep 0.1; done', str(over)])
    script = SCRIPT.replace("{command}", f"{job} &\n{{command}}")
    one = Terminal(tmp_path, [binary, "live"], script=script, env={"TRACKER_HISTORY": str(tmp_path / "history")})
    try:
        one.wait(is_going_on("sh"))
        over.touch()
        lines = tmp_path / "history/runs.jsonl"
        limit = time.monotonic() + PATIENCE_SECS
        while not lines.exists() or '"outcome":"ok"' not in lines.read_text():  # then the summary is printed
            assert time.monotonic() < limit
            time.sleep(0.05)
        time.sleep(1)
        screen = one.wait(lambda screen: "recorded as" not in screen and "Bottleneck" not in screen)
        assert " sh" in screen
        one.press("q")
        assert one.wait_for_end() == 0
    finally:
        one.close()
