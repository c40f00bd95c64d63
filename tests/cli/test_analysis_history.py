"""The history: runs on a terminal are kept, listed, found by subcommands, and go in the end."""
import concurrent.futures
import contextlib
import errno
import fcntl
import gzip
import json
import os
import pathlib
import pty
import re
import resource
import signal
import stat
import subprocess
import sys
import termios
import time

import pytest

import exact
from conftest import clean_environment, end_process, json_lines, wait_until
from namespaces import needs_private_mounts

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")


class Terminal:
    """Runs the program with a terminal as its standard streams, and a state folder of its own."""

    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.state = folder / "state"
        self.history = self.state / "resource-tracker"
        self.environment = {**clean_environment(), "XDG_STATE_HOME": str(self.state), "TERM": "xterm"}
        del self.environment["TRACKER_HISTORY"]
        self.running = []

    def start(self, *arguments, env=None, cwd=None, columns=80, **popen):
        leader, follower = pty.openpty()
        fcntl.ioctl(follower, termios.TIOCSWINSZ, b"\x18\x00" + bytes([columns, 0]) + b"\0" * 4)
        streams = {"stdin": follower, "stdout": follower, "stderr": follower, **popen}
        environment = {name: value for name, value in {**self.environment, **(env or {})}.items() if value is not None}
        process = subprocess.Popen([self.program, *map(str, arguments)], cwd=cwd or self.folder, env=environment, **streams)
        os.close(follower)
        process.leader = leader
        self.running.append(process)
        return process

    def run(self, *arguments, status=0, **options):
        """Returns the screen as text."""
        process = self.start(*arguments, **options)
        text = b""
        while True:
            try:
                chunk = os.read(process.leader, 65536)
            except OSError:
                break
            if not chunk:
                break
            text += chunk
        os.close(process.leader)
        process.leader = None
        assert process.wait(20) == status, text.decode()
        return text.decode().replace("\r\n", "\n")

    def piped(self, *arguments, **popen):
        return subprocess.run([self.program, *map(str, arguments)], cwd=self.folder, env=self.environment,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30, **popen)

    def listed(self, *arguments):
        return json.loads(self.piped("ls", "--json", *arguments).stdout)

    def files(self):
        return sorted(path.name for path in self.history.iterdir()) if self.history.exists() else []


@pytest.fixture
def terminal(binary, tmp_path):
    terminal = Terminal(binary, tmp_path)
    yield terminal
    for process in terminal.running:
        end_process(process)
        if process.leader is not None:
            os.close(process.leader)


# ---- on a terminal

def test_a_job_on_a_terminal_gets_its_summary_and_a_number_not_samples(terminal):
    screen = terminal.run("--", "echo", "out of the job")
    assert screen.startswith("out of the job\n")
    assert "timestamp" not in screen and "CPU" in screen and "exit status 0" in screen
    assert screen.endswith("recorded as run 1; its page: resource-tracker report 1\n")
    assert terminal.files() == ["1.jsonl.gz", "runs.jsonl"]
    assert stat.S_IMODE(terminal.history.stat().st_mode) == 0o700
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in terminal.history.iterdir())
    samples = json_lines(gzip.decompress((terminal.history / "1.jsonl.gz").read_bytes()))
    line, = json_lines(terminal.history / "runs.jsonl")
    assert line["id"] == samples[0]["run_start"]["run_id"] and line["number"] == 1
    assert line["name"] == "echo" and line["folder"] == terminal.folder.name and line["outcome"] == "ok"


@pytest.mark.parametrize("arguments, env", [
    (["-f", "json"], {}), (["-o", "-"], {}), (["-o", "run.jsonl"], {}), (["--no-history"], {}), ([], {"TRACKER_HISTORY": "off"}),
    (["--history", "off"], {}), ([], {"TRACKER_NO_HISTORY": "1"}), ([], {"TRACKER_OUTPUT": "run.jsonl"}),
    ([], {"TRACKER_FORMAT": "json"})])
def test_a_named_output_a_format_or_no_history_keep_nothing(terminal, arguments, env):
    screen = terminal.run(*arguments, "--", "true", env=env)
    assert "recorded as" not in screen
    assert ('"timestamp"' in screen) == ("run.jsonl" not in [*arguments, *env.values()])
    assert not terminal.history.exists()


def test_without_a_terminal_for_samples_nothing_is_kept(terminal):
    result = terminal.piped("--", "true")
    assert len(json_lines(result.stderr)) == 1 and not terminal.history.exists()
    # The samples would have gone to the terminal of stderr, even if stdout goes elsewhere.
    with open(terminal.folder / "out", "w") as out:
        assert "recorded as run 1" in terminal.run("--", "echo", "x", stdout=out)
    assert (terminal.folder / "out").read_text() == "x\n"


def test_quiet_keeps_the_run_and_prints_nothing(terminal):
    assert terminal.run("-q", "--", "true") == ""
    assert terminal.run("--no-summary", "--", "true") == "recorded as run 2; its page: resource-tracker report 2\n"
    assert json.loads(terminal.run("--summary=json", "--", "true"))["run"]["executable"] == "true"
    assert [line["number"] for line in terminal.listed()] == [1, 2, 3]


@pytest.mark.parametrize("words, env", [(["-q"], {}), ([], {"TRACKER_QUIET": "1"})])
def test_quiet_prints_no_summary_of_a_named_output_either(terminal, words, env):
    assert terminal.run(*words, "-o", "run.jsonl", "--", "true", cwd=terminal.folder, env=env) == ""
    assert json_lines(terminal.folder / "run.jsonl")
    assert "exit status 0" in terminal.run("-o", "other.jsonl", "--", "true", cwd=terminal.folder)


@pytest.mark.parametrize("words", [["--summary"], ["-q", "--summary"], ["--summary", "-q", "-o", "run.jsonl"]])
def test_a_summary_that_is_asked_for_is_printed(terminal, words):
    assert "exit status 0" in terminal.run(*words, "--", "true", cwd=terminal.folder)


@pytest.mark.parametrize("value", ["summary = 'txt'", "no_summary = 'perhaps'"])
def test_a_mistake_in_the_configuration_does_not_take_the_summary_away(needs_toml, terminal, value):
    (terminal.folder / "resource-tracker.toml").write_text(f"[tracker]\n{value}\n")
    screen = terminal.run("--", "true")
    assert "; ignored" in screen and "exit status 0" in screen and screen.endswith("recorded as run 1; its page: resource-tracker report 1\n")



def test_a_missing_command_leaves_no_run(terminal):
    assert terminal.run("--", "no-such-command", status=127) == "resource-tracker: no-such-command: command not found\n"
    assert terminal.files() == []


def test_marks_stay_with_the_run(terminal):
    terminal.run("--", "sh", "-c", f"{terminal.program} mark load start; sleep 0.2; {terminal.program} mark load stop")
    assert terminal.files() == ["1.jsonl.gz", "1.jsonl.gz.marks", "runs.jsonl"]
    assert "load" in terminal.piped("regions", "last").stdout


def test_no_arguments_print_a_short_usage(terminal):
    screen = terminal.run(status=125)
    assert "resource-tracker COMMAND" in screen and "timestamp" not in screen and len(screen.splitlines()) <= 24


# ---- subcommands

def test_subcommands_take_runs_by_number_last_and_name(terminal):
    for words in (["sh", "-c", "exit 3"], ["true"], ["echo", "hello"]):
        terminal.run("--", *words, status=3 if words[0] == "sh" else 0)

    def executable(word):
        return json.loads(terminal.piped("summary", "--json", word).stdout)["run"]["executable"]

    assert [executable(word) for word in ("1", "last", "last~1", "last~2", "ech", "sh")] == \
        ["sh", "echo", "true", "sh", "echo", "sh"]
    assert json.loads(terminal.piped("last", "--json").stdout)["run"]["executable"] == "echo"
    compared = terminal.piped("compare-runs", "last~1", "fast=last")
    assert compared.returncode == 0 and "run 2" in compared.stdout and "fast" in compared.stdout
    # A file of that name comes first.
    (terminal.folder / "2").write_bytes(gzip.decompress((terminal.history / "3.jsonl.gz").read_bytes()))
    assert executable("2") == "echo"


@pytest.mark.report
def test_the_report_of_a_kept_run_has_its_number(terminal):
    for words in (["true"], ["echo", "hello"]):
        terminal.run("--", *words)
    page = terminal.piped("report", "last")
    assert page.stdout == "resource-tracker-2.html is written\n" and "echo" in (terminal.folder / "resource-tracker-2.html").read_text()


def test_a_word_that_is_neither_file_nor_run_gets_one_line(terminal):
    terminal.run("--", "true")
    for word in "nightly", "99", "last~7":
        result = terminal.piped("summary", word)
        assert result.returncode == 1 and len(result.stderr.splitlines()) == 1
        assert f"'{word}' is neither a file nor a run" in result.stderr
    assert "missing.jsonl" in terminal.piped("summary", "missing.jsonl").stderr


def test_ls_filters_and_fits_the_screen(terminal):
    terminal.run("--", "true")
    terminal.run("-n", "a job with a name that is far too long for one line", "--tag", "queue=long", "--", "sh", "-c", "kill -9 $$",
                 status=-9)
    assert [line["number"] for line in terminal.listed("--outcome", "killed")] == [2]
    assert [line["number"] for line in terminal.listed("--tag", "queue")] == [2]
    assert terminal.listed("--tag", "queue=short") == []
    assert [line["number"] for line in terminal.listed("tru")] == [1]
    heading, first, second = terminal.piped("ls").stdout.splitlines()
    assert heading.split()[:3] == ["RUN", "STARTED", "NAME"] and " ok " in first
    assert "far too long for one line" in second and "SIGKILL" in second
    screen = terminal.run("ls", env={"NO_COLOR": "1", "COLUMNS": None})
    assert "..." in screen and max(map(len, screen.splitlines())) <= 80
    assert "\033[" in terminal.run("ls") and "\033[" not in screen
    assert "1 earlier run" in terminal.run("ls", "-n", "1")


def test_a_run_has_one_name_everywhere(terminal):
    """Runs of different scripts were all called python3, and a folder told them apart."""
    for name in "train.py", "tidy.py":
        (terminal.folder / name).write_text("print('SECRET')\n")
        terminal.run("--", sys.executable, "-u", name, "--key", "SECRET")
    terminal.run("--task-name", "sample 3", "--", sys.executable, "train.py")
    (terminal.folder / "Makefile").write_text("all test:\n\t@true\n")
    terminal.run("--", "make", "-j", "2", "test")
    assert [line["name"] for line in terminal.listed()] == ["train.py", "tidy.py", "train.py", "make test"]
    table = terminal.piped("ls").stdout
    folder = terminal.folder.name
    assert all(f"  {name} ({folder})  " in table for name in ("tidy.py", "train.py sample 3", "make test")), table
    assert re.findall("^(train.py|tidy.py|make test) ", terminal.piped("history").stdout, re.M), terminal.piped("history").stdout
    # The script is a file as well, but no recording: its name means the newest run.
    assert terminal.piped("summary", "train.py").stdout.splitlines()[0].startswith("train.py, task sample 3, on ")
    assert terminal.piped("report", "tidy.py", "-o", "page.html").returncode == 0
    assert '"name":"tidy.py"' in (terminal.folder / "page.html").read_text()
    assert ", from 2 runs (forced)\n" in terminal.piped("recommend", "--force", "--job", "train.py").stdout
    assert "SECRET" not in "".join(terminal.piped("show", str(number)).stdout for number in (1, 2, 3, 4))
    assert terminal.piped("summary", "missing.py").stderr.endswith("missing.py: No such file or directory\n")


def test_names_of_commands_are_shown_if_the_user_allows_it(terminal):
    terminal.run("--", "sh", "-c", "true")
    terminal.run("--record-command", "--", "sh", "-c", "true")
    assert [line["name"] for line in terminal.listed()] == [f"sh ({terminal.folder.name})"[:len("sh ()") + 40], "sh -c true"]


def test_tags_can_be_set_and_taken_away(terminal):
    terminal.run("--tag", "a=1", "--", "true")
    assert terminal.piped("tag", "1", "quality=good", "a=").returncode == 0
    assert terminal.listed("--tag", "quality=good")[0]["tags"] == {"quality": "good"}
    assert terminal.piped("tag", "1", "a=").returncode == 1
    assert terminal.piped("tag", "1", "nonsense").returncode == 2


def test_removed_runs_go_and_their_numbers_are_not_given_again(terminal):
    for _ in range(3):
        terminal.run("-q", "--", "true")
    assert terminal.piped("rm", "tru").returncode == 1, "several runs have this name"
    assert terminal.piped("rm", "last", "1").returncode == 0
    assert [line["number"] for line in terminal.listed()] == [2]
    terminal.run("-q", "--", "true")
    assert [line["number"] for line in terminal.listed()] == [2, 4]
    assert terminal.piped("rm", "--all").returncode == 0
    assert terminal.listed() == [] and terminal.piped("ls").returncode == 1
    assert "to record the program 'rm': resource-tracker -- rm" in terminal.piped("rm", "-rf", "x").stderr


# ---- runs that go on, and recorders that are killed

@pytest.mark.parametrize("gone", ["*.jsonl.gz", "2.jsonl.gz"])
def test_a_run_whose_recording_was_deleted_by_hand_keeps_its_number(terminal, gone):
    for _ in range(2):
        terminal.run("-q", "--", "true")
    for path in terminal.history.glob(gone):
        path.unlink()
    assert "recorded as run 3;" in terminal.run("--", "false", status=1)
    assert [(line["number"], line["name"]) for line in terminal.listed()] == [(1, "true"), (2, "true"), (3, "false")]
    assert "failed" in terminal.piped("last").stdout


def test_rm_counts_back_from_the_newest_run_of_before(terminal):
    for _ in range(4):
        terminal.run("-q", "--", "true")
    result = terminal.piped("rm", "--json", "last", "last~1", "4")
    assert (result.returncode, json.loads(result.stdout), result.stderr) == (0, [3, 4], "")
    assert [line["number"] for line in terminal.listed()] == [1, 2]


def test_a_live_run_is_shown_and_stays(terminal):
    process = terminal.start("-i", "0.1", "--", "sleep", "30")
    wait_until(lambda: terminal.listed() and terminal.listed()[0]["samples"] > 2, what="samples of the live run")
    assert terminal.listed()[0]["outcome"] == "running" and terminal.files() == ["1.jsonl"]
    assert terminal.piped("rm", "1").returncode == 1
    assert "still running" in terminal.piped("summary", "last").stdout
    os.kill(process.pid, signal.SIGTERM)
    process.wait(10)
    assert terminal.listed()[0]["outcome"] == "killed" and terminal.files() == ["1.jsonl.gz", "runs.jsonl"]


def test_a_killed_recorder_leaves_a_run_that_is_completed(terminal):
    process = terminal.start("-i", "0.1", "--", "sleep", "1")
    wait_until(lambda: terminal.listed() and terminal.listed()[0]["samples"] > 2, what="samples")
    process.kill()
    process.wait()
    assert "tracker killed" in terminal.piped("ls").stdout
    assert terminal.files() == ["1.jsonl.gz", "runs.jsonl"]
    assert json_lines(terminal.history / "runs.jsonl")[0]["outcome"] == "lost"


def test_without_locks_a_live_recording_is_left_alone(terminal, binary, tmp_path_factory):
    refuse = exact.build_workload(binary, tmp_path_factory.mktemp("refuse"), "refuse")
    filtered = [refuse, "flock", str(errno.ENOLCK)]
    if subprocess.run([*filtered, "true"]).returncode:
        pytest.skip("no filters of system calls here")
    process = terminal.start("-i", "0.1", "--", "sleep", "30")

    def listed():
        done = subprocess.run([*filtered, terminal.program, "ls", "--json"], env=terminal.environment, capture_output=True)
        return json.loads(done.stdout)

    wait_until(lambda: listed() and listed()[0]["samples"] > 2, what="samples")
    assert listed()[0]["outcome"] == "running" and terminal.files() == ["1.jsonl"]
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    os.utime(terminal.history / "1.jsonl", (0, 0))
    (terminal.history / "9.77.partial").write_text("")
    os.utime(terminal.history / "9.77.partial", (0, 0))
    assert listed()[0]["outcome"] == "lost" and terminal.files() == ["1.jsonl.gz", "runs.jsonl"]


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_many_runs_at_once_lose_no_line(terminal):
    def one(number):
        terminal.run("-q", "-n", f"job-{number}", "--", "true")

    with concurrent.futures.ThreadPoolExecutor(64) as pool:
        list(pool.map(one, range(64)))
    lines = terminal.listed()
    assert sorted(line["name"] for line in lines) == sorted(f"job-{number}" for number in range(64))
    assert len({line["number"] for line in lines}) == 64 and len({line["id"] for line in lines}) == 64
    assert len(json_lines(terminal.history / "runs.jsonl")) == 64


# ---- limits

def fill(terminal, count):
    """Copies run 1 to the numbers 2 to `count`."""
    recording = (terminal.history / "1.jsonl.gz").read_bytes()
    line = json_lines(terminal.history / "runs.jsonl")[0]
    with open(terminal.history / "runs.jsonl", "a") as lines:
        for number in range(2, count + 1):
            (terminal.history / f"{number}.jsonl.gz").write_bytes(recording)
            lines.write(json.dumps({**line, "number": number}) + "\n")


@pytest.mark.slow
def test_the_oldest_of_a_thousand_runs_go(terminal):
    terminal.run("-q", "--", "true")
    fill(terminal, 1002)
    terminal.run("-q", "--", "true")
    numbers = [line["number"] for line in terminal.listed()]
    assert numbers == list(range(4, 1004)) and len(terminal.files()) == 1001
    assert len(json_lines(terminal.history / "runs.jsonl")) == 1000


def test_a_gibibyte_is_enough(terminal):
    for _ in range(3):
        terminal.run("-q", "--", "true")
    os.truncate(terminal.history / "1.jsonl.gz", 400 << 20)
    os.truncate(terminal.history / "2.jsonl.gz", 1 << 30)
    terminal.run("-q", "--", "true")
    assert [line["number"] for line in terminal.listed()] == [3, 4]


def test_a_quota_of_a_site_is_enough(terminal):
    for _ in range(3):
        terminal.run("-q", "--", "true")
    os.truncate(terminal.history / "1.jsonl.gz", 4 << 20)
    os.truncate(terminal.history / "2.jsonl.gz", 4 << 20)
    terminal.run("-q", "--", "true", env={"TRACKER_HISTORY_MIB": "5"})
    assert [line["number"] for line in terminal.listed()] == [2, 3, 4]
    for wrong in ("0", "5 MiB", "1048577"):
        screen = terminal.run("-q", "--", "echo", "the job", env={"TRACKER_HISTORY_MIB": wrong})
        assert screen.startswith(f"the job\nresource-tracker: this run is not listed: TRACKER_HISTORY_MIB: '{wrong}' must be a whole number"
                                 f" of MiB from 1 to 1048576; its recording is {terminal.history}/")


# ---- homes that cannot be used: the job always runs

def not_kept(terminal, **options):
    screen = terminal.run("--", "echo", "the job", **options)
    assert screen.startswith(("resource-tracker: this run is not kept: ", "the job\n")) and "the job\n" in screen
    assert "exit status 0" in screen and "recorded as" not in screen and '"timestamp"' not in screen
    line, = [line for line in screen.splitlines() if line.startswith("resource-tracker: this run is not kept: ")]
    return line


def test_without_a_home_the_job_runs(terminal):
    assert "HOME: there is no home folder" in not_kept(terminal, env={"XDG_STATE_HOME": None, "HOME": None})
    assert "/nonexistent" in not_kept(terminal, env={"XDG_STATE_HOME": None, "HOME": "/nonexistent"})
    assert "/dev/null: it is not a folder" in not_kept(terminal, env={"XDG_STATE_HOME": "/dev/null"})


def test_a_home_that_others_may_write_to_is_not_used(terminal):
    terminal.history.mkdir(parents=True)
    terminal.history.chmod(0o777)
    assert "another user may write to it" in not_kept(terminal)
    assert terminal.piped("ls").returncode == 1
    assert terminal.files() == []


@needs_root
def test_a_folder_of_another_user_is_not_used(terminal):
    terminal.state.mkdir()
    os.chown(terminal.state, 65534, 65534)
    assert "it belongs to another user" in not_kept(terminal)
    assert list(terminal.state.iterdir()) == []


@needs_private_mounts
def test_a_full_disk_and_a_read_only_one_stop_no_job(terminal):
    terminal.state.mkdir()
    mount = ["unshare", "-m", "sh", "-c"]
    script = (f"mount -t tmpfs -o size=64k,nr_inodes=OPTION,mode=700 none {terminal.state}; MAKE"
              f" dd if=/dev/zero of={terminal.state}/fill bs=4k 2>/dev/null; READONLY {terminal.program} -- echo the job; echo status $?")
    program = terminal.program
    terminal.program = mount[0]

    def run(inodes, made, before=""):
        make = f"mkdir -m 700 {terminal.history};" if made else ""
        return terminal.run(*mount[1:], script.replace("OPTION", str(inodes)).replace("MAKE", make).replace("READONLY", before))

    full, no_inode = run(100, True), run(4, True)
    for made in True, False:
        read_only = run(100, made, f"mount -o remount,ro {terminal.state};")
        assert "not kept" in read_only and "Read-only file system" in read_only and read_only.endswith("status 0\n")
    terminal.program = program
    for screen in full, no_inode:
        assert "the job\n" in screen and screen.endswith("status 0\n")
        assert screen.count("this run is not kept: ") == 1 and "No space left on device" in screen
        assert "Bottleneck" in screen and "recorded as" not in screen, "the summary is printed all the same"


@pytest.fixture
def small_disk(terminal):
    """fill() fills the disk with the history, which has 256 KiB."""
    if os.geteuid() != 0:
        pytest.skip("needs root to mount a disk")
    terminal.state.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k,mode=700", "disk", terminal.state], check=False).returncode:
        pytest.skip("no mount here")

    def fill():
        with open(terminal.state / "fill", "ab", buffering=0) as file, contextlib.suppress(OSError):
            while file.write(bytes(4096)) == 4096:
                pass

    yield fill
    subprocess.run(["umount", "-l", terminal.state], check=True)


def test_a_disk_that_fills_up_during_a_run_is_named(terminal, small_disk):
    screen = terminal.run("-i", "0.01", "--", "sh", "-c", f"dd if=/dev/zero of={terminal.state}/fill bs=4k 2>/dev/null; sleep 1.5; exit 3",
                          status=3, columns=200)
    assert screen.count(f"cannot write to {terminal.history}/1.jsonl: No space left on device") == 1
    assert "/dev/fd/" not in screen and "Bottleneck" in screen and "recorded as run 1;" in screen
    # The end has taken the place of the last samples. It was "no end is recorded", and "tracker killed" in the list.
    assert "Failed: exit status 3" in screen and terminal.listed()[0]["exit_code"] == 3


@pytest.mark.parametrize("way", ["rm 1.jsonl", "mv 1.jsonl old.jsonl", "rm -r ../resource-tracker", "mv ../resource-tracker ../other"])
def test_a_history_that_is_taken_away_during_a_run_is_told_once(terminal, tmp_path, way):
    """The summary, the line and the page still exist. Without the file, nothing at all was printed."""
    screen = terminal.run("-i", "0.1", "--runs", str(tmp_path / "lines.jsonl"), "--report", str(tmp_path / "page.html"), "--",
                          "sh", "-c", f"sleep 0.3; cd {terminal.history} && {way}; exit 3", status=3, columns=200)
    assert screen.count(f"this run is no longer kept: {terminal.history}/1.jsonl was removed or renamed") == 1
    assert "Failed: exit status 3" in screen and "Bottleneck" in screen and "recorded" not in screen and "cannot" not in screen
    assert json.loads((tmp_path / "lines.jsonl").read_text())["exit_code"] == 3
    assert "</html>" in (tmp_path / "page.html").read_text()


def test_with_a_full_disk_for_temporary_files_as_well_the_summary_is_printed(terminal, small_disk):
    small_disk()
    screen = terminal.run("--", "sh", "-c", "exit 3", status=3, env={"TMPDIR": str(terminal.state)})
    assert "this run is not kept" in screen and "Bottleneck" in screen and "cannot" not in screen


def test_runs_are_removed_from_a_full_disk(terminal, small_disk):
    for _ in range(3):
        terminal.run("-q", "--", "true")
    small_disk()
    done = terminal.piped("rm", "2")
    assert (done.returncode, done.stderr) == (0, "")
    assert [line["number"] for line in terminal.listed()] == [1, 3]
    small_disk()
    assert terminal.piped("rm", "--all", "--json").stdout == "[1,3]\n" and terminal.listed() == []
    # Not even the list can be changed: the recordings stay with their lines.
    (terminal.state / "fill").unlink()
    terminal.run("-q", "--", "true")
    (terminal.history / "runs.jsonl").unlink()
    (terminal.history / "runs.jsonl").mkdir()
    done = terminal.piped("rm", "--all", "--json")
    assert done.returncode == 1 and done.stdout == "" and (terminal.history / "4.jsonl.gz").exists()


def test_an_empty_recording_of_a_killed_recorder_is_no_run_that_goes_on(terminal):
    terminal.run("-q", "--", "true")
    (terminal.history / "6.jsonl").touch()
    done = terminal.piped("rm", "last")
    assert (done.returncode, done.stderr, terminal.files()) == (0, "", ["1.removed", "runs.jsonl"])


@pytest.mark.parametrize("number, next_number", [(2147483647, 2), (4294967297, 2), (1000000000, 2), (999999999, 2), (999999998, 999999999)])
def test_after_a_file_with_the_last_number_runs_are_still_listed(terminal, number, next_number):
    terminal.run("-q", "--", "true")
    (terminal.history / f"{number}.jsonl.gz").touch()
    assert f"recorded as run {next_number};" in terminal.run("--", "true")
    assert {1, next_number} <= {line["number"] for line in terminal.listed()}
    assert terminal.piped("rm", next_number).returncode == 0


def test_a_line_of_100_megabytes_is_left_out_and_those_behind_it_stay(terminal):
    terminal.run("-q", "--", "true")
    first = (terminal.history / "runs.jsonl").read_text()
    terminal.run("-q", "--", "true")
    terminal.piped("tag", "2", "kept=yes")
    second = (terminal.history / "runs.jsonl").read_text().splitlines(keepends=True)[1]
    with open(terminal.history / "runs.jsonl", "w") as lines:
        lines.write(first + '{"number":3,"name":"')
        for _ in range(100):
            lines.write("x" * 1_000_000)
        lines.write('"}\n' + second)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert [(line["number"], line.get("tags")) for line in terminal.listed()] == [(1, None), (2, {"kept": "yes"})]
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert now.ru_utime - used.ru_utime < 2, "the long line was parsed"
    assert (terminal.history / "runs.jsonl").stat().st_size < 10_000


# ---- planted files

def test_planted_files_are_neither_followed_nor_waited_for(terminal):
    terminal.history.mkdir(parents=True, mode=0o700)
    victim = terminal.folder / "victim"
    victim.write_text("precious\n")
    (terminal.history / "runs.jsonl").symlink_to(victim)
    (terminal.history / "1.jsonl").symlink_to(victim)
    (terminal.history / "3.jsonl.gz").symlink_to(victim)
    os.mkfifo(terminal.history / "4.jsonl")
    screen = terminal.run("--", "true", columns=250)
    assert f"this run is not listed: {terminal.history}/runs.jsonl: Too many levels of symbolic links; " in screen
    assert f"its recording is {terminal.history}/5.jsonl\n" in screen and "recorded as" not in screen
    assert victim.read_text() == "precious\n"
    (terminal.history / "runs.jsonl").unlink()
    os.mkfifo(terminal.history / "runs.jsonl")
    assert f"{terminal.history}/runs.jsonl: it is not a file of your own" in terminal.piped("ls").stderr
    screen = terminal.run("--", "true", columns=250)
    assert "runs.jsonl: it is not a file of your own; its recording is " in screen and "recorded as" not in screen
    (terminal.history / "runs.jsonl").unlink()
    assert [line["number"] for line in terminal.listed()] == [5, 6], "lines that could not be written are made again"
    assert victim.read_text() == "precious\n"


def test_ls_shows_the_time_of_the_descendants_that_a_run_waited_for(terminal):
    terminal.run("-q", "--", "true")
    lines = terminal.history / "runs.jsonl"
    lines.write_text(json.dumps({**json_lines(lines)[0], "tree_wall_secs": 754.0}) + "\n")
    assert " 12 min 34 s " in terminal.piped("ls").stdout


def test_last_is_the_last_run_that_ls_shows(terminal):
    terminal.run("-q", "--", "true")
    (terminal.history / "2.jsonl").write_text("hello\n")
    assert [line["number"] for line in terminal.listed()] == [1]
    assert "true" in terminal.run("summary", "last")
    assert "nor a run" in terminal.run("summary", "last~1", status=1)
    assert "not a recording" in terminal.run("summary", "2", status=1)


def test_damaged_and_huge_lines_are_left_out(terminal):
    terminal.run("-q", "--", "true")
    with open(terminal.history / "runs.jsonl", "a") as lines:
        lines.write('{"number":2,\n\0\n[]\n{"number":-1}\n{"number":1e9}\n"x"\n{"number":3,"name":"\\u001b[2J\\u001b]0;x"}\n{"nu')
    os.truncate(terminal.history / "runs.jsonl", 300 << 20)
    assert [line["number"] for line in terminal.listed()] == [1, 3]
    assert "\033" not in terminal.piped("ls").stdout
    assert (terminal.history / "runs.jsonl").stat().st_size < 10_000, "the file is sound again"
    os.truncate(terminal.history / "runs.jsonl", 0)
    assert [line["number"] for line in terminal.listed()] == [1]


def test_a_run_is_compared_with_the_good_runs_before_it(terminal):
    for status in 0, 1, 0, 0, 0:
        terminal.run("-q", "-n", "nap", "--", "sh", "-c", f"exit {status}", status=status)
    result = terminal.piped("compare-runs", "--last-good", "9", "last", "--json")
    assert result.returncode == 0 and json.loads(result.stdout)["sides"][0]["runs"] == 3, result.stderr
    result = terminal.piped("compare-runs", "--last-good", "9", "1", "--json")
    assert result.returncode == 0 and "0 good runs of nap before this one" in result.stderr
