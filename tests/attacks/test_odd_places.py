"""Odd places for each thing that a run keeps: the job runs with its own status, or one line refuses it and nothing is left."""
import concurrent.futures
import contextlib
import os
import pathlib
import pty
import re
import select
import socket
import stat
import subprocess
import tempfile
import time

import pytest

from conftest import clean_environment, wait_until
from users import VICTIM, needs_root, plant

# The time of a run at a usual place comes on top: a build with sanitisers starts late.
LIMIT_SECS = 2
# A page waits so long for a reader of its FIFO, after the job has ended.
READER_SECS = 5
HUNG_SECS = 30
USERS = [os.geteuid(), pytest.param(VICTIM, marks=needs_root())]
JOB = ("-i", "0.1", "--", "sh", "-c", "echo ran > ran; sleep 0.15; exit 3")
SPOOL = {"SENTINEL_API_TOKEN": "x", "TRACKER_UPLOAD_DEADLINE": "0.2"}

# name: (end of the place's name, arguments, environment). A place in the environment is a setting of the site and never refuses a job.
KEPT = {
    "output": ("", lambda place: ("-q", "-o", place), lambda place: {}),
    "csv": (".csv", lambda place: ("-q", "-o", place), lambda place: {}),
    "gz": (".gz", lambda place: ("-q", "-o", place), lambda place: {}),
    "append": ("", lambda place: ("-q", "--append", "-o", place), lambda place: {}),
    "report": (".html", lambda place: ("-q", "--report", place), lambda place: {}),
    "runs": ("", lambda place: ("-q", "--runs", place), lambda place: {}),
    "history": ("", lambda place: (), lambda place: {"TRACKER_HISTORY": place}),
    "home": ("", lambda place: (), lambda place: {"HOME": place}),
    "temporary": ("", lambda place: ("-q", "--summary"), lambda place: {"TMPDIR": place}),
    "spool": ("", lambda place: ("-q", "-o", "out.jsonl", "--stream=auto"), lambda place: {"TRACKER_SPOOL": place, **SPOOL}),
}
ON_A_TERMINAL = ("history", "home")
# A recording stays if its page is lost, and the spool of a server that does not answer is named.
LINES_MOST = {"report": 2, "spool": 3}


# ---- places: each function makes one and returns its path -----------------------------------------------------------

def own(path, user):
    if os.geteuid() == 0:
        os.chown(path, user, user)
    return path


def reads(source, stack):
    """A process reads there, into a file whose size tells that something came."""
    got = stack.enter_context(tempfile.NamedTemporaryFile())
    is_open = isinstance(source, int)
    reader = subprocess.Popen(["cat", *([] if is_open else [source])], stdin=source if is_open else subprocess.DEVNULL, stdout=got)
    stack.callback(reader.wait)
    stack.callback(reader.kill)
    return got


def link_to(target):
    def made(place, user, stack):
        place.symlink_to(target)
        return place
    return made


def fifo(place, user, stack):
    os.mkfifo(place)
    return own(place, user)


def fifo_with_a_reader(place, user, stack):
    stack.got = reads(fifo(place, user, stack), stack)
    return place


def unix_socket(place, user, stack):
    stack.enter_context(socket.socket(socket.AF_UNIX)).bind(str(place))
    return own(place, user)


def folder(place, user, stack):
    place.mkdir()
    return own(place, user)


def terminal(place, user, stack):
    leader, follower = pty.openpty()
    stack.callback(os.close, leader)
    stack.callback(os.close, follower)
    stack.got = reads(leader, stack)
    return link_to(own(os.ttyname(follower), user))(place, user, stack)


def file_of_another(place, user, stack):
    return plant(place, "", 0 if user else VICTIM, 0o600)


PLACES = {
    "no file yet": lambda place, user, stack: place,
    "FIFO without a reader": fifo, "FIFO with a reader": fifo_with_a_reader, "socket": unix_socket, "folder": folder,
    "terminal": terminal, "/dev/full": link_to("/dev/full"), "file of /proc": link_to("/proc/version"),
    "link to nothing": link_to("nothing"), "link into a missing folder": link_to("missing/file"),
    "link to itself": lambda place, user, stack: link_to(place.name)(place, user, stack),
    "missing folder": lambda place, user, stack: place.parent / "missing" / place.name,
    "name of 300 bytes": lambda place, user, stack: place.with_name("n" * (300 - len(place.suffix)) + place.suffix),
    **({"file of another user": file_of_another} if os.geteuid() == 0 else {}),
}


# ---- trials ---------------------------------------------------------------------------------------------------------

def entries(top):
    """All names below a folder, with their kinds."""
    return {path.relative_to(top): stat.S_IFMT(path.lstat().st_mode) for path in sorted(top.rglob("*"))}


def is_kept(place):
    """Whether a file or folder has something in it."""
    try:
        return any(place.iterdir()) if place.is_dir() else place.is_file() and place.stat().st_size > 0
    except OSError:
        return False


def run_on(command, on_a_terminal, **popen):
    """Returns the status and the words on stderr, or on the terminal."""
    leader, follower = pty.openpty() if on_a_terminal else os.pipe()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=follower if on_a_terminal else subprocess.DEVNULL, stderr=follower,
                               **popen)
    os.close(follower)
    told, deadline = b"", time.monotonic() + HUNG_SECS
    with contextlib.suppress(OSError):  # of a terminal whose last writer has gone
        while select.select([leader], [], [], max(0, deadline - time.monotonic()))[0] and (part := os.read(leader, 65536)):
            told += part
    if time.monotonic() > deadline:
        process.kill()
    os.close(leader)
    return process.wait(), re.sub("\x1b\\[[0-9;?]*[A-Za-z]", "", told.decode(errors="replace")).replace("\r", "")


def trial(program, kept, name, user, public_folder):
    end, options, settings = KEPT[kept]
    top = own(pathlib.Path(tempfile.mkdtemp(dir=public_folder)), user)
    with contextlib.ExitStack() as stack:
        stack.got = None
        place = PLACES[name](top / ("place" + end), user, stack)
        environment = {key: value for key, value in clean_environment().items() if not key.startswith("XDG_")}
        environment |= {"HOME": str(top), "TMPDIR": str(top), **settings(str(place))}
        if kept == "home":
            del environment["TRACKER_HISTORY"]
        before, begun = entries(top), time.monotonic()
        status, words = run_on([program, *options(str(place)), *JOB], kept in ON_A_TERMINAL, cwd=top, env=environment,
                               **({"user": user, "group": user, "extra_groups": []} if os.geteuid() == 0 else {}))
        secs = time.monotonic() - begun
        if stack.got and status == 3 and not words:
            wait_until(lambda: os.path.getsize(stack.got.name), what="bytes for the reader")
        there = is_kept(place) or bool(stack.got and os.path.getsize(stack.got.name)) or (kept == "temporary" and "exit status 3" in words)
        return {"name": name, "status": status, "words": words, "secs": secs, "ran": (top / "ran").exists(), "kept": there,
                "before": before, "after": entries(top)}


def faults(kept, done, limit_secs):
    """Yields how a run with an odd place went wrong."""
    lines = done["words"].splitlines()
    told = [line for line in lines if line.startswith("resource-tracker")]
    if done["secs"] > limit_secs + (READER_SECS if (kept, done["name"]) == ("report", "FIFO without a reader") else 0):
        yield f"it took {done['secs']:.2f} s"
    if changed := {path for path, kind in done["before"].items() if done["after"].get(path) != kind}:
        yield f"{changed} are not what they were"
    if "Sanitizer" in done["words"] or "runtime error" in done["words"]:
        yield "a sanitiser found an error"
    if done["status"] == 125 and not done["ran"]:
        if KEPT[kept][2]("place"):
            yield "a setting refused the job"
        if len(lines) != 1:
            yield f"{len(lines)} lines refuse the job"
        if done["after"] != done["before"]:
            yield f"{set(done['after']) - set(done['before'])} are left"
        return
    if done["status"] != 3 or not done["ran"]:
        yield f"status {done['status']}"
    if len(told) > LINES_MOST.get(kept, 1):
        yield f"{len(told)} lines tell the loss"
    if not told and not done["kept"]:
        yield "nothing is kept, and nothing is told"


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("kept", KEPT)
def test_an_odd_place_costs_the_job_nothing(public_programs, public_folder, kept, user):
    usual = trial(public_programs, kept, "no file yet", user, public_folder)
    assert usual["status"] == 3
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        all_done = list(pool.map(lambda name: trial(public_programs, kept, name, user, public_folder), PLACES))
    found = [f"{done['name']}: {fault}: {done['words']}" for done in all_done for fault in faults(kept, done, LIMIT_SECS + usual["secs"])]
    assert not found, "\n".join(found)
