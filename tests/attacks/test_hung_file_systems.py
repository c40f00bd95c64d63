"""File systems that do not answer: the job runs at once, ends with its own status, and one line says what is not kept."""
import contextlib
import errno
import gzip
import json
import os
import pathlib
import pty
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import pytest

from libc_words import tells
from users import VICTIM

SERVER = pathlib.Path(__file__).resolve().parents[1] / "fakes" / "hanging_fs.py"
SILENT = "its file system does not answer"
# Beside others, a server in Python may answer later than a recorder waits.
WORKS = pytest.param("works", marks=pytest.mark.alone)
TROUBLES = ("never", "late 30", "eio")
USERS = (0, VICTIM)
# One second is promised; a busy machine gets another.
LIMIT_SECS = 2
JOB = ("--", "sh", "-c", "date +%s.%N >&2; exit 3")


class FileSystem:
    """A FUSE that works until told otherwise."""

    def __init__(self):
        self.point = pathlib.Path(tempfile.mkdtemp(prefix="rt-hang-"))
        self.server = subprocess.Popen([sys.executable, SERVER, self.point, "works"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, text=True)
        if self.server.stdout.readline() != "mounted\n":
            self.why = self.server.communicate()[1].strip().splitlines()[-1]
            self.server = None

    def turn(self, word):
        self.server.stdin.write(word + "\n")
        self.server.stdin.flush()
        assert self.server.stdout.readline() == word + "\n"

    def close(self):
        if self.server:
            # Its end answers all requests that wait, so no process stays stuck.
            self.server.kill()
            self.server.communicate()
            subprocess.run(["umount", "-l", self.point], check=True)
        self.point.rmdir()


@pytest.fixture
def file_system():
    if not os.path.exists("/dev/fuse"):
        pytest.skip("no /dev/fuse here")
    made = FileSystem()
    try:
        if not made.server:
            pytest.skip(f"no FUSE can be mounted here: {made.why}")
        yield made
    finally:
        made.close()


@pytest.fixture
def start(public_programs, public_folder, file_system):
    """start(user, *arguments): the recorder in a folder of that user. With `wait_in`, a shell enters that folder, says so, and
    becomes the recorder after a line of input."""
    started = []
    folder = pathlib.Path(tempfile.mkdtemp(dir=public_folder))

    def begin(user, *arguments, program=public_programs, wait_in=None, env=None, **popen):
        os.chown(folder, user, user)
        environment = {**{key: value for key, value in os.environ.items() if not key.startswith(("TRACKER_", "XDG_", "TMPDIR"))},
                       "HOME": str(folder), "TRACKER_HISTORY": "off", "LC_ALL": "C.UTF-8", **(env or {})}
        popen = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **popen}
        waits = ("sh", "-c", 'cd "$0" && echo here && read go && exec "$@"', wait_in) if wait_in else ()

        def prepare():
            os.setgroups([])
            os.setgid(user)
            os.setuid(user)
            os.umask(0o022)
        started.append(subprocess.Popen([*waits, program, *map(str, arguments)], env=environment, cwd=folder,
                                        preexec_fn=prepare, **popen))
        return started[-1]

    yield begin
    file_system.turn("works")
    for process in started:
        process.kill()
        process.communicate()


def end_of(process, begun):
    """Waits for the end in time. Returns stderr, without the job's line, and how long the job's start took."""
    out, err = process.communicate(timeout=10)
    secs = time.time() - begun
    lines = err.decode().splitlines()
    at = [line for line in lines if line[:1].isdigit() and line.replace(".", "").isdigit()]
    assert process.returncode == 3, (process.returncode, err)
    assert len(at) == 1, err
    assert float(at[0]) - begun < LIMIT_SECS
    assert secs < 2 * LIMIT_SECS, (secs, err)
    return "\n".join(line for line in lines if line not in at)


def spool(point):
    return {"SENTINEL_API_TOKEN": "x", "SENTINEL_API_URL": "http://127.0.0.1:9", "TRACKER_SPOOL": f"{point}/spool",
            "TRACKER_UPLOAD_DEADLINE": "0.2"}


# name: (arguments, environment, the line when the file system does not answer)
PLACES = {
    "output": (lambda point: ("-o", f"{point}/run.jsonl"), lambda point: {}, "run.jsonl: " + SILENT),
    "csv": (lambda point: ("-o", f"{point}/run.csv", "--summary"), lambda point: {}, "run.csv: " + SILENT),
    "report": (lambda point: ("-q", "--report", f"{point}/page.html"), lambda point: {}, "page.html: " + SILENT),
    "runs": (lambda point: ("-q", "--runs", f"{point}/runs.jsonl"), lambda point: {}, "runs.jsonl: " + SILENT),
    "TRACKER_RUNS": (lambda point: ("-q",), lambda point: {"TRACKER_RUNS": f"{point}/runs.jsonl"}, "runs.jsonl: " + SILENT),
    "configuration": (lambda point: ("-q", "--config", f"{point}/c.toml"), lambda point: {}, "c.toml: " + SILENT),
    "spool": (lambda point: ("-q",), spool, "streaming is off: the spool cannot be used: "),
    "TMPDIR": (lambda point: ("-q", "--summary"), lambda point: {"TMPDIR": str(point)}, None),
}


@pytest.mark.parametrize("user", USERS, ids=("root", "user"))
@pytest.mark.parametrize("trouble", TROUBLES)
@pytest.mark.parametrize("place", PLACES)
def test_the_job_runs_and_one_line_names_the_loss(start, file_system, place, trouble, user):
    arguments, environment, line = PLACES[place]
    file_system.turn(trouble)
    begun = time.time()
    err = end_of(start(user, *arguments(file_system.point), *JOB, env=environment(file_system.point)), begun)
    if line and trouble != "eio":
        assert err.count(line) == 1, err
    elif line:
        assert tells(err, errno.EIO), err
    if place in ("csv", "TMPDIR"):
        assert "Bottleneck" in err, err


HISTORIES = {"TRACKER_HISTORY": {"TRACKER_HISTORY": "{}/history"}, "HOME": {"HOME": "{}", "TRACKER_HISTORY": ""},
             "XDG_STATE_HOME": {"XDG_STATE_HOME": "{}", "TRACKER_HISTORY": ""}}


@pytest.mark.parametrize("user", USERS, ids=("root", "user"))
@pytest.mark.parametrize("trouble", TROUBLES)
@pytest.mark.parametrize("place", HISTORIES)
def test_a_history_that_hangs(start, file_system, place, trouble, user):
    environment = {key: value.format(file_system.point) for key, value in HISTORIES[place].items()}
    file_system.turn(trouble)
    begun = time.time()
    code, text = run_on_terminal(start, user, JOB, environment)
    assert code == 3 and time.time() - begun < 2 * LIMIT_SECS
    assert "this run is not kept: " in text and "Bottleneck" in text, text


def run_on_terminal(start, user, arguments, environment):
    master, slave = pty.openpty()
    os.chown(os.ttyname(slave), user, -1)
    process = start(user, *arguments, env=environment, stdin=slave, stdout=slave, stderr=slave, start_new_session=True)
    os.close(slave)
    text = b""
    with contextlib.suppress(OSError):
        while piece := os.read(master, 65536):
            text += piece
    os.close(master)
    return process.wait(10), text.decode()


@pytest.mark.parametrize("user", USERS, ids=("root", "user"))
@pytest.mark.parametrize("trouble", TROUBLES)
@pytest.mark.parametrize("arguments", (("-q",), ("-o", "run.jsonl")), ids=("nothing", "output"))
def test_in_a_folder_that_hangs(start, file_system, arguments, trouble, user):
    # Even sh as the job would look at its folder.
    process = start(user, *arguments, "--", "/bin/sleep", "0", wait_in=file_system.point, stdin=subprocess.PIPE)
    assert process.stdout.readline() == b"here\n"
    file_system.turn(trouble)
    begun = time.time()
    _, err = process.communicate(b"go\n", timeout=10)
    assert process.returncode == 0 and time.time() - begun < 2 * LIMIT_SECS, err
    if trouble != "eio":
        assert SILENT in err.decode()


@pytest.mark.parametrize("user", USERS, ids=("root", "user"))
@pytest.mark.parametrize("arguments", (("-o", "{}/run.jsonl"), ("-q", "--report", "{}/page.html"), ("-q", "--runs", "{}/runs")),
                         ids=("output", "report", "runs"))
@pytest.mark.parametrize("mode", ("wrap", "attach", "host"))
def test_term_ends_the_recorder(start, file_system, mode, arguments, user):
    file_system.turn("never")
    target = subprocess.Popen(["sleep", "30"])
    try:
        last = {"wrap": ("--", "sleep", "30"), "attach": ("--pid", target.pid), "host": ()}[mode]
        process = start(user, *(word.format(file_system.point) for word in arguments), *last)
        time.sleep(1)
        assert process.poll() is None
        told = time.time()
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=10)
        assert time.time() - told < LIMIT_SECS
        assert process.returncode == (-signal.SIGTERM if mode == "wrap" else 0)
    finally:
        target.kill()
        target.wait()


def samples(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize("name", ("run.jsonl", "run.csv"))
@pytest.mark.alone
def test_a_file_system_that_works_gets_the_same_recording(start, file_system, name):
    """Twice, and the second time at the end of the first."""
    path = file_system.point / name
    for _ in range(2):
        process = start(0, "-i", "0.1", "--append", "-o", path, "--", "sh", "-c", "sleep 0.5; exit 3")
        assert process.communicate(timeout=10)[1] == b"" and process.returncode == 3
    text = path.read_text()
    assert text.endswith("\n") and text.count("timestamp,") <= 1
    if name == "run.jsonl":
        assert [one["run_end"] is not None for one in samples(path)].count(True) == 2
        assert len(samples(path)) >= 8


def test_a_compressed_recording_arrives_whole(start, file_system):
    """Its bytes have no lines."""
    path = file_system.point / "run.jsonl.gz"
    process = start(0, "-i", "0.02", "-o", path, "--", "sh", "-c", "sleep 1; exit 3")
    assert process.communicate(timeout=10)[1] == b"" and process.returncode == 3
    lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    assert len(lines) > 20 and json.loads(lines[-1])["run_end"]
    assert [json.loads(line)["sample"] for line in lines] == list(range(len(lines)))


def test_an_earlier_recording_is_renamed(start, file_system):
    path = file_system.point / "run.jsonl"
    for _ in range(2):
        start(0, "-o", path, "--", "true").communicate(timeout=10)
    assert sorted(os.listdir(file_system.point)) == ["run.jsonl", "run.jsonl.1"]


def test_a_file_that_was_renamed_is_opened_again(start, file_system):
    path = file_system.point / "run.csv"
    process = start(0, "-i", "0.1", "-o", path, "--", "sleep", "3")
    time.sleep(0.8)
    path.rename(f"{path}.old")
    _, err = process.communicate(timeout=10)
    assert b"was removed or renamed: the samples from now on are in a new file" in err
    assert path.read_text().startswith("timestamp,") and path.read_text().count("\n") > 3


def test_mistakes_are_still_refused(start, file_system):
    process = start(0, "-o", file_system.point / "missing" / "run.jsonl", "--", "true")
    assert b"its folder does not exist" in process.communicate(timeout=10)[1] and process.returncode == 125


@pytest.mark.parametrize("word", ("hang WRITE", "hang CREATE", "hang FLUSH", "never"))
def test_a_file_system_that_hangs_later_delays_nothing(start, file_system, word):
    """It hangs while the job runs, or only in a call that comes late."""
    path = file_system.point / "run.jsonl"
    if word != "never":
        file_system.turn(word)
    begun = time.time()
    process = start(0, "-i", "0.1", "-o", path, "--", "sh", "-c", "sleep 1; exit 3")
    time.sleep(0.5)
    file_system.turn(word)
    _, err = process.communicate(timeout=10)
    assert process.returncode == 3 and time.time() - begun < 1 + LIMIT_SECS
    assert err.decode().count(SILENT) == 1, err


# Standard output or error, the arguments, and how long the end may take: a summary has five seconds.
STREAMS = {"samples": ("stdout", ("-o", "-"), 2 * LIMIT_SECS), "default": ("stdout", (), 2 * LIMIT_SECS),
           "device": ("stdout", ("-o", "/dev/stdout"), 2 * LIMIT_SECS), "messages": ("stderr", ("-o", "/dev/full"), 2 * LIMIT_SECS),
           "summary": ("stderr", ("-o", "run.jsonl", "--summary"), 5 + 2 * LIMIT_SECS)}


@pytest.mark.parametrize("user", USERS, ids=("root", "user"))
@pytest.mark.parametrize("way", STREAMS)
def test_a_standard_stream_that_hangs_delays_nothing(start, file_system, public_folder, way, user):
    """A job whose log is on a file server once waited for it at the recorder's first write."""
    stream, arguments, limit_secs = STREAMS[way]
    begins = pathlib.Path(tempfile.mkdtemp(dir=public_folder)) / "begins"
    begins.parent.chmod(0o777)
    with open(file_system.point / "log", "ab") as log:
        os.chmod(log.name, 0o666)
        file_system.turn("hang WRITE")
        begun = time.time()
        process = start(user, *arguments, "--", "sh", "-c", f"date +%s.%N > {begins}; exit 3", **{stream: log})
    assert process.wait(15) == 3 and time.time() - begun < limit_secs
    assert float(begins.read_text()) - begun < LIMIT_SECS


def test_a_refusal_is_said_to_a_standard_error_that_hangs(start, file_system):
    with open(file_system.point / "log", "ab") as log:
        file_system.turn("hang WRITE")
        process = start(0, "-o", "missing/run.jsonl", "--", "true", stderr=log)
    assert process.wait(10) == 125


@pytest.mark.alone
@pytest.mark.parametrize("arguments", ((), ("-o", "-"), ("-o", "/dev/stdout", "--summary")), ids=("default", "samples", "device"))
def test_standard_streams_on_a_file_system_that_works_get_all(start, file_system, arguments):
    """The job and the recorder share one position in the log."""
    with open(file_system.point / "log", "wb") as log:
        log.write(b"before\n")
        log.flush()
        process = start(0, "-i", "0.1", *arguments, "--", "sh", "-c", "echo begins; sleep 0.5; echo ends", stdout=log, stderr=log, env={"CI": ""})
        assert process.wait(10) == 0
    lines = (file_system.point / "log").read_text().splitlines()
    found = [json.loads(line) for line in lines if line.startswith("{")]
    assert lines[0] == "before" and lines.count("begins") == lines.count("ends") == 1
    assert [sample["sample"] for sample in found] == list(range(len(found))) and len(found) >= 4 and found[-1]["run_end"]
    assert ("CPU" in "".join(line for line in lines if not line.startswith("{"))) == ("--summary" in arguments)


def test_a_recording_is_complete_when_the_file_system_answers_again(start, file_system, helpers):
    path = file_system.point / "run.jsonl"
    process = start(0, "-i", "0.1", "-o", path, "--", "sleep", "1")
    time.sleep(0.5)
    file_system.turn("late 3")
    _, err = process.communicate(timeout=10)
    assert process.returncode == 0 and b"completes the recording then" in err
    file_system.turn("works")
    helpers.wait_until(lambda: samples(path) and samples(path)[-1]["run_end"], 10)
    assert len(samples(path)) >= 9


@pytest.mark.alone
def test_the_history_of_a_file_system_that_works(start, file_system):
    code, _ = run_on_terminal(start, 0, JOB, {"TRACKER_HISTORY": "", "XDG_STATE_HOME": str(file_system.point)})
    kept = os.listdir(file_system.point / "resource-tracker")
    assert code == 3 and "runs.jsonl" in kept and any(name.startswith("1.jsonl") for name in kept), kept


@pytest.fixture
def kept(start, file_system, binary, tmp_path):
    """The environment of a history with one run."""
    if not (pathlib.Path(binary).parent / "resource-tracker-analysis").exists():
        pytest.skip("this build has no history")
    folder = file_system.point / "history"
    folder.mkdir(mode=0o700)
    assert start(0, "-q", "-o", tmp_path / "run.jsonl", *JOB).wait(30) == 3
    (folder / "1.jsonl").write_bytes((tmp_path / "run.jsonl").read_bytes())
    return {"TRACKER_HISTORY": str(folder)}


READERS = (("ls",), ("last",), ("history",), ("summary", "1"), ("report", "-o", "page.html", "1"), ("recommend", "--job", "sh"),
           ("tag", "1", "a=b"), ("rm", "1"), ("compare-runs", "1", "last"), ("repeat", "-n", "1", "--", "true"),
           ("summary", "{}/1.jsonl"), ("history", "{}/runs.jsonl"), ("history", "{}/r*.jsonl"),
           ("recommend", "--job", "sh", "--history", "{}/runs.jsonl"))
NOTHING_KEPT = ("repeat",)


@pytest.mark.parametrize("trouble", ("never", "hang READ"))
def test_a_reader_of_a_history_that_hangs_says_so_and_ends(start, file_system, kept, trouble):
    """All at once, because each waits for five seconds."""
    folder = kept["TRACKER_HISTORY"]
    (file_system.point / "history" / "runs.jsonl").write_text('{"number":1}\n')
    file_system.turn(trouble)
    begun = time.time()
    readers = {words: start(0, *(word.format(folder) for word in words), env=kept) for words in READERS}
    for words, process in readers.items():
        lines = process.communicate(timeout=30)[1].decode().splitlines()
        assert process.returncode == (0 if words[0] in NOTHING_KEPT else 1), (words, lines)
        assert len(lines) == 1 and folder in lines[0] and "does not answer" in lines[0], (words, lines)
        assert time.time() - begun > 4, words


def test_the_words_of_a_history_that_hangs_delay_no_shell(start, file_system, kept):
    file_system.turn("never")
    begun = time.time()
    process = start(0, "ls", "--words", env=kept)
    assert process.communicate(timeout=30) == (b"", b"") and process.returncode == 0
    assert time.time() - begun < LIMIT_SECS


@pytest.mark.parametrize("signo", (signal.SIGTERM, signal.SIGINT))
def test_a_signal_ends_a_reader_of_a_history_that_hangs(start, file_system, kept, helpers, signo):
    file_system.turn("never")
    process = start(0, "ls", env=kept)
    children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
    helpers.wait_until(lambda: any(pathlib.Path(f"/proc/{child}/comm").read_text() == "rt-aside\n" for child in children.read_text().split()), 4)
    told = time.time()
    process.send_signal(signo)
    assert process.communicate(timeout=30) == (b"", b"") and process.returncode == -signo
    assert time.time() - told < LIMIT_SECS


ZONES = {"file": {"TZ": ":{}/zone"}, "path": {"TZ": "{}/zone"}, "folder": {"TZ": "Europe/Berlin", "TZDIR": "{}"}}


@pytest.mark.parametrize("place", ZONES)
def test_a_time_zone_that_hangs_delays_nothing(start, file_system, place, tmp_path):
    """Even gmtime(3) reads its file."""
    zone = {key: value.format(file_system.point) for key, value in ZONES[place].items()}
    file_system.turn("never")
    begun = time.time()
    process = start(0, "-o", tmp_path / "run-%t.jsonl", "--summary", *JOB[:-1], "exit 3", env=zone)
    err = process.communicate(timeout=30)[1].decode()
    assert process.returncode == 3 and time.time() - begun < LIMIT_SECS, err
    assert " UTC, " in err and "Bottleneck" in err, err
    record = next(tmp_path.iterdir())
    assert abs(int(record.stem.removeprefix("run-")) - begun) < 60
    begun = time.time()
    process = start(0, "summary", record, env=zone)
    assert b" UTC, " in process.communicate(timeout=30)[0] and time.time() - begun < LIMIT_SECS


def test_a_time_of_the_start_is_refused_while_its_zone_hangs(start, file_system):
    file_system.turn("never")
    begun = time.time()
    process = start(0, "--start-at", "12:00", *JOB, env={"TZ": f"{file_system.point}/zone"})
    lines = process.communicate(timeout=30)[1].decode().splitlines()
    assert process.returncode == 125 and time.time() - begun < LIMIT_SECS
    assert len(lines) == 1 and "--start-at: '12:00' needs the time zone, which does not answer" in lines[0], lines


def test_a_link_below_the_home_folder_leads_to_a_history_that_hangs(start, file_system, public_folder):
    home = pathlib.Path(tempfile.mkdtemp(dir=public_folder))
    (home / ".local").mkdir(mode=0o700)
    (home / ".local" / "state").symlink_to(file_system.point)
    file_system.turn("never")
    begun = time.time()
    code, text = run_on_terminal(start, 0, JOB, {"HOME": str(home), "TRACKER_HISTORY": ""})
    assert code == 3 and time.time() - begun < 2 * LIMIT_SECS
    assert "this run is not kept: " in text and SILENT in text, text


def test_a_link_leads_to_a_file_system_that_hangs(start, file_system, public_folder):
    link = pathlib.Path(tempfile.mkdtemp(dir=public_folder)) / "link"
    link.symlink_to(file_system.point)
    file_system.turn("never")
    begun = time.time()
    err = end_of(start(0, "-o", link / "run.jsonl", *JOB), begun)
    assert SILENT in err


def test_the_processes_left_behind_hold_nothing_of_the_caller(start, file_system):
    """A pipe to the caller ends with the recorder, although a process still waits for the file system."""
    file_system.turn("never")
    process = start(0, "-o", file_system.point / "run.jsonl", *JOB)
    begun = time.time()
    process.communicate(timeout=10)
    assert time.time() - begun < 2 * LIMIT_SECS


INPUTS = {"arguments": ((), ("{0}", "{0}/other", "{1}"), 20), "option": (("--input", "{0}", "--input", "{1}"), (), None),
          "pattern": (("--input", "{0}*"), (), None)}


@pytest.mark.parametrize("trouble", (WORKS, *TROUBLES))
@pytest.mark.parametrize("way", INPUTS)
def test_an_input_that_hangs_keeps_no_job_waiting(start, file_system, public_folder, helpers, way, trouble):
    """Its size is unknown, and that of the other files counts where each is only guessed to be input."""
    there, here, record = file_system.point / "reads", public_folder / "index", public_folder / f"{way}-{trouble.split()[0]}.jsonl"
    there.write_bytes(bytes(300))
    here.write_bytes(bytes(20))
    here.chmod(0o644)
    options, words, others = INPUTS[way]
    options, words = ([word.format(there, here) for word in words] for words in (options, words))
    file_system.turn(trouble)
    begun = time.time()
    end_of(start(0, "-q", "--no-warnings", "-o", record, *options, *JOB, *words), begun)
    size = {"arguments": 320, "option": 320, "pattern": 300}[way] if trouble == "works" else others
    assert helpers.json_lines(record)[0]["run_start"]["input_bytes"] == size


@pytest.mark.alone  # beside strace and a load, a file system in Python misses the deadline
def test_one_process_looks_at_all_inputs(start, file_system, binary, tmp_path, no_leak_check):
    if not shutil.which("strace"):
        pytest.skip("no strace here")
    names = [str(file_system.point / name) for name in "abcde"]
    for name in names:
        pathlib.Path(name).write_bytes(bytes(10))
    subprocess.run(["strace", "-f", "-o", tmp_path / "calls", binary, "-q", "-o", tmp_path / "run.jsonl", *(f"--input={name}" for name in names),
                    f"--input={file_system.point}/[a-e]", "--", "true"], check=True)
    assert (tmp_path / "calls").read_text().count('"rt-aside"') == 1
    assert samples(tmp_path / "run.jsonl")[0]["run_start"]["input_bytes"] == 50


@pytest.fixture
def shell_copy(binary, public_folder):
    shell = pathlib.Path(binary).parent / "src" / "shell" / "bash"
    if not shell.exists():
        pytest.skip("this build has no recording shells")
    copy = public_folder / "src" / "shell" / "bash"
    if not copy.exists():
        copy.parent.mkdir(parents=True)
        shutil.copy(shell, copy)
    return copy


@pytest.mark.parametrize("trouble", (WORKS, *TROUBLES))
@pytest.mark.parametrize("engine", ("snakemake", "nextflow"))
def test_a_step_with_an_input_that_hangs_runs(start, file_system, shell_copy, public_folder, helpers, engine, trouble):
    there, task = file_system.point / "reads", pathlib.Path(tempfile.mkdtemp(dir=public_folder))
    there.write_bytes(bytes(300))
    (task / "index").write_bytes(bytes(20))
    (task / "reads").symlink_to(there)
    (task / ".command.run").write_text("#!/bin/bash\n# NEXTFLOW TASK: A\n")
    names = ": resource-tracker-step a input=index input=reads; " if engine == "snakemake" else ""
    environment = {"TRACKER_SHELL_OUTPUT": f"{task}/.resource-tracker/a.jsonl", **({} if names else {"NXF_TASK_WORKDIR": str(task)})}
    process = start(0, "-c", names + JOB[-1], program=shell_copy, wait_in=task, stdin=subprocess.PIPE, env=environment)
    assert process.stdout.readline() == b"here\n"
    file_system.turn(trouble)
    process.stdin.write(b"go\n")
    process.stdin.close()
    process.stdin = None
    assert end_of(process, time.time()) == ""
    start_of_run = helpers.json_lines(task / ".resource-tracker" / "a.jsonl")[0]["run_start"]
    assert start_of_run["input_bytes"] == (320 if trouble == "works" else None)


@pytest.mark.parametrize("user", USERS, ids=("root", "user"))
@pytest.mark.parametrize("trouble", ("never", "late 30", pytest.param("eio", marks=pytest.mark.alone)))
def test_a_recording_shell_runs_its_step(start, file_system, shell_copy, trouble, user):
    file_system.turn(trouble)
    begun = time.time()
    process = start(user, "-c", JOB[-1], program=shell_copy, env={"TRACKER_SHELL_OUTPUT": f"{file_system.point}/steps/%n.jsonl"})
    err = end_of(process, begun)
    assert tells(err, errno.EIO) if trouble == "eio" else SILENT in err, err


@pytest.mark.parametrize("user", USERS, ids=("root", "user"))
@pytest.mark.parametrize("trouble", (WORKS, *TROUBLES))
def test_a_mark_keeps_no_job_waiting(start, file_system, trouble, user):
    marks = file_system.point / "run.jsonl.marks"
    file_system.turn(trouble)
    begun = time.time()
    process = start(user, "mark", "load", env={"RESOURCE_TRACKER_MARKS": str(marks)})
    _, err = process.communicate(timeout=10)
    assert process.returncode == 0 and time.time() - begun < LIMIT_SECS
    assert err.decode().count("the phase is not marked: ") == (trouble != "works"), err
    assert trouble != "works" or '"load"' in marks.read_text()


@pytest.mark.parametrize("trouble", ("never", "hang OPEN", "hang READ", "hang LOOKUP"))
def test_a_root_folder_that_hangs(start, file_system, trouble):
    (file_system.point / "proc").mkdir()
    (file_system.point / "proc" / "stat").write_text("cpu  1 2 3 4 5 6 7 8 9 10\n")
    file_system.turn(trouble)
    line = f"root folder '{file_system.point}' cannot be opened: {SILENT}"
    begun = time.time()
    err = end_of(start(0, "-q", "--root", file_system.point, *JOB), begun)
    assert err.splitlines() == ["resource-tracker: this job is not recorded: " + line]
    process = start(0, "-q", "-o", "run.jsonl", "--root", file_system.point)
    begun = time.time()
    assert line in process.communicate(timeout=10)[1].decode()
    assert process.returncode == 125 and time.time() - begun < LIMIT_SECS


@pytest.mark.cost
def test_a_start_on_disks_makes_no_process(binary, tmp_path):
    if not shutil.which("strace"):
        pytest.skip("no strace here")
    subprocess.run(["strace", "-f", "-o", tmp_path / "calls", binary, "-q", "-o", tmp_path / "run.jsonl", "--report", "",
                    "--", "true"], check=True, cwd=tmp_path)
    text = (tmp_path / "calls").read_text()
    assert "rt-aside" not in text


# Jobs that outlive their recorder hold no pipe of the test.
QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


def seen_on(terminal, wanted, secs):
    """Reads a terminal until it has shown these bytes."""
    text, deadline = b"", time.monotonic() + secs
    while wanted not in text:
        assert time.monotonic() < deadline, text[-2000:]
        text += os.read(terminal, 65536)


@pytest.mark.timeout(120)
def test_the_live_view_shows_other_runs_beside_one_that_cannot_be_read(start, file_system, binary, tmp_path):
    """A recorder of this user holds a recording on a file system that hangs. The list has the other run, and the keys work."""
    if not (pathlib.Path(binary).parent / "resource-tracker-analysis").exists():
        pytest.skip("this build has no live view")
    start(os.geteuid(), "-i", "0.1", "-q", "-n", "stuck", "-o", file_system.point / "stuck.jsonl", "--", "sleep", "60", **QUIET)
    start(os.geteuid(), "-i", "0.1", "-q", "-n", "other-run", "-o", tmp_path / "other.jsonl", "--", "sleep", "60", **QUIET)
    deadline = time.monotonic() + 20
    while not all(path.exists() and path.read_text() for path in (file_system.point / "stuck.jsonl", tmp_path / "other.jsonl")):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    file_system.turn("never")
    master, slave = pty.openpty()
    with subprocess.Popen([binary, "live"], stdin=slave, stdout=slave, stderr=slave,
                          env={**os.environ, "TERM": "xterm", "TRACKER_HISTORY": "off", "LINES": "50", "COLUMNS": "120"}) as live:
        try:
            seen_on(master, b"other-run", 30)
            os.write(master, b"q")
            assert live.wait(10) == 0
        finally:
            live.kill()
            file_system.turn("works")
            os.close(slave)
            os.close(master)
