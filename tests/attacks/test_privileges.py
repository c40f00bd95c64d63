"""A program with more rights than its caller ignores the caller's environment and the files beside it. Spools
prepared by another user are not used.
"""
import fcntl
import json
import os
import pathlib
import pty
import shutil
import socket
import stat
import struct
import subprocess
import termios

import pytest

from users import ATTACKER, VICTIM, needs_root, plant

pytestmark = needs_root()


def as_root_always(program, folder):
    """Yields a copy of a program that always runs as root, and removes it."""
    if os.statvfs(folder).f_flag & os.ST_NOSUID:
        pytest.skip("set-user-ID has no effect in this file system")
    copy = shutil.copy(program, folder / program.name)
    os.chown(copy, 0, 0)
    os.chmod(copy, 0o4755)
    yield copy
    os.unlink(copy)


@pytest.fixture
def privileged(public_programs, public_folder):
    """A copy of the program that always runs as root, with or without its installed files."""
    folder = public_folder / "privileged"
    folder.mkdir(exist_ok=True)
    yield from as_root_always(public_programs, folder)


@pytest.fixture
def privileged_analysis(public_programs, public_folder):
    """A copy of the analysis that always runs as root."""
    beside = public_programs.parent / "resource-tracker-analysis"
    if not beside.exists():
        pytest.skip("built without the analysis")
    folder = public_folder / "privileged-analysis"
    folder.mkdir(exist_ok=True)
    yield from as_root_always(beside, folder)


@pytest.fixture
def programs_of_the_caller(home):
    """A folder for PATH with programs that leave a trace: home/ran."""
    folder = home / "bin"
    folder.mkdir()
    for name in ("less", "xdg-open", "notify-send", "browser", "bash", "pager"):
        (folder / name).write_text(f"#!/bin/sh\nid -u > {home}/ran\n")
        (folder / name).chmod(0o755)
    home.chmod(0o777)
    return folder


def start(program, folder, *arguments, **environment):
    return subprocess.run([program, *arguments], cwd=folder, user=VICTIM, group=VICTIM, extra_groups=[], capture_output=True,
                          text=True, stdin=subprocess.DEVNULL, timeout=20, env={"PATH": os.environ["PATH"], **environment})


def test_the_environment_sets_nothing(privileged, home):
    done = start(privileged, home, "-q", "--no-summary", "--", "id", "-u", TRACKER_OUTPUT=str(home / "env.jsonl"))
    assert done.returncode == 0
    assert not (home / "env.jsonl").exists()


def test_a_found_configuration_is_passed_over(privileged, home, needs_toml):
    plant(home / "resource-tracker.toml", "[tracker]\noutput = ['found.jsonl']\n", VICTIM)
    done = start(privileged, home, "-q", "--no-summary", "--", "true")
    assert done.returncode == 0 and "resource-tracker.toml is ignored" in done.stderr
    assert not (home / "found.jsonl").exists()


@pytest.mark.parametrize("name", ("resource-tracker-analysis", "resource-tracker-net", "resource-tracker-helper"))
def test_no_program_beside_it_or_named_by_the_environment_is_run(privileged, public_folder, home, name):
    """As with a hard link to the program beside another user's own program."""
    planted = os.path.join(os.path.dirname(privileged), name)
    for path in (planted, home / name):
        with open(path, "w") as script:
            script.write(f"#!/bin/sh\nid -u > {home}/ran\n")
        os.chmod(path, 0o755)
    home.chmod(0o777)
    environment = {"TRACKER_HELPER": str(home / name), "TRACKER_NET": str(home / name),
                   "TRACKER_NVML_LIBRARY": "/nonexistent/nvml.so", "SENTINEL_API_TOKEN": "token",
                   "SENTINEL_API_URL": "http://127.0.0.1:9", "XDG_STATE_HOME": str(home)}
    start(privileged, home, "-q", "--summary", "-o", "run.jsonl", "--upload-deadline", "0.1", "--", "true", **environment)
    start(privileged, home, "summary", "run.jsonl", **environment)
    start(privileged, home, "discover", "host", **environment)
    os.unlink(planted)
    assert not (home / "ran").exists()


@pytest.mark.parametrize("pager", (None, "pager"))
def test_no_pager_of_the_caller_is_run(privileged_analysis, public_programs, programs_of_the_caller, home, pager):
    """A terminal of 3 lines is too short for a summary."""
    record = subprocess.run([public_programs, "-q", "--no-summary", "-o", home / "run.jsonl", "--", "true"], env={})
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("4H", 3, 80, 0, 0))
    environment = {"PATH": f"{programs_of_the_caller}:{os.environ['PATH']}", "TERM": "xterm", **({"PAGER": pager} if pager else {})}
    shown = subprocess.run([privileged_analysis, "summary", home / "run.jsonl"], env=environment, user=VICTIM, group=VICTIM,
                           extra_groups=[], stdin=follower, stdout=follower, stderr=follower, timeout=20)
    for descriptor in (leader, follower):
        os.close(descriptor)
    assert record.returncode == shown.returncode == 0
    assert not (home / "ran").exists()


def test_no_browser_of_the_caller_is_run(privileged_analysis, public_programs, programs_of_the_caller, home):
    subprocess.run([public_programs, "-q", "--no-summary", "-o", home / "run.jsonl", "--", "true"], env={}, check=True)
    done = start(privileged_analysis, home, "report", "run.jsonl", "-o", "page.html", "--open", BROWSER="browser",
                 PATH=f"{programs_of_the_caller}:{os.environ['PATH']}")
    assert (home / "page.html").exists() and "cannot be shown" in done.stderr, done.stderr
    assert not (home / "ran").exists()


def test_the_environment_names_no_file_to_append_to(privileged, privileged_analysis, public_programs, home):
    """Lines of marks and of runs, into a folder that only root may write to."""
    subprocess.run([public_programs, "-q", "--no-summary", "-o", home / "run.jsonl", "--", "true"], env={}, check=True)
    closed = home.parent / "closed"
    closed.mkdir(mode=0o755, exist_ok=True)
    start(privileged, home, "mark", "phase", "start", RESOURCE_TRACKER_MARKS=str(closed / "x.marks"))
    start(privileged_analysis, home, "runs", "add", "run.jsonl", TRACKER_RUNS=str(closed / "runs.jsonl"))
    assert not list(closed.iterdir())


def test_a_recording_shell_runs_no_program_of_the_caller(binary, public_folder, programs_of_the_caller, home):
    built = pathlib.Path(binary).parent / "src" / "shell" / "bash"
    if not built.exists():
        pytest.skip("the shells are not built")
    folder = public_folder / "shells"
    folder.mkdir(exist_ok=True)
    shell = folder / "bash"
    shutil.copy(built, shell)
    shell.chmod(0o4755)
    environment = {"PATH": f"{programs_of_the_caller}:{os.environ['PATH']}", "TRACKER_SHELL_OUTPUT": f"{home}/out/%n.jsonl"}
    for real in (str(programs_of_the_caller / "bash"), ""):
        done = start(shell, home, "-c", "echo the real one", TRACKER_SHELL_REAL=real, **environment)
        assert (done.returncode, done.stdout) == (0, "the real one\n"), done.stderr
    assert not (home / "ran").exists() and not (home / "out").exists()


@pytest.mark.parametrize("asks", (True, False))
def test_only_a_caller_with_these_rights_is_asked_for_the_end(privileged, public_programs, home, asks, helpers):
    """RESOURCE_TRACKER_STATUS_FD: the recorder writes to that socket, and believes what it reads there."""
    job = subprocess.Popen(["sleep", "60"], user=VICTIM, group=VICTIM, extra_groups=[])
    ours, theirs = socket.socketpair()
    recorder = subprocess.Popen([public_programs if asks else privileged, "-q", "--no-summary", "-o", "run.jsonl", "--pid", str(job.pid)],
                                cwd=home, user=VICTIM, group=VICTIM, extra_groups=[], pass_fds=[theirs.fileno()],
                                env={"RESOURCE_TRACKER_STATUS_FD": str(theirs.fileno())})
    theirs.close()
    ours.settimeout(20)
    if asks:
        assert ours.recv(1) == b"\0"
    ours.sendall(struct.pack("iiqqq", 9 << 8, 0, 0, 0, 0))
    if not asks:
        record = home / "run.jsonl"
        helpers.wait_until(lambda: record.exists() and record.stat().st_size)
    job.kill()
    job.wait()
    assert recorder.wait(20) == 0
    end = json.loads((home / "run.jsonl").read_text().splitlines()[-1])["run_end"]
    assert (end["reason"], end["exit_code"]) == (("exit", 9) if asks else ("target_exited", None))


PROGRAM_NAMES = ("resource-tracker-analysis", "resource-tracker-net", "resource-tracker-helper")


def put_program(path, how, owner, home):
    """Puts a program of its own, a link to one, or a second name of a shell there."""
    script = path.parent / f"script-{path.name}"
    script.write_text(f"#!/bin/sh\nid -u >> {home}/ran\n")
    script.chmod(0o755)
    os.chown(script, owner, owner)
    if how == "link":
        path.symlink_to(script)
        os.lchown(path, owner, owner)
    elif how == "hard link":
        os.link(script, path)
    else:
        script.rename(path)


def run_all(recorder, folder, user):
    """Runs what needs each of the other programs."""
    environment = {"PATH": os.environ["PATH"], "SENTINEL_API_TOKEN": "token", "SENTINEL_API_URL": "http://127.0.0.1:9",
                   "XDG_STATE_HOME": str(folder), "TRACKER_METADATA_URL": "http://127.0.0.1:9"}
    for words in (["-q", "--summary", "-o", "run.jsonl", "--upload-deadline", "0.1", "--", "true"], ["summary", "run.jsonl"],
                  ["discover", "host"]):
        subprocess.run([recorder, *words], cwd=folder, user=user, group=user, extra_groups=[], capture_output=True,
                       stdin=subprocess.DEVNULL, timeout=20, env=environment)


@pytest.mark.parametrize("place", ("", "../libexec/resource-tracker"))
@pytest.mark.parametrize("how", ("file", "link", "hard link"))
def test_no_program_that_another_user_has_put_beside_it_is_run(public_programs, shared, home, how, place):
    """A recorder that was copied to /tmp ran what another user had put there, as its own user."""
    folder = shared / "bin" if place else shared
    folder.mkdir(exist_ok=True)
    recorder = shutil.copy(public_programs, folder / "resource-tracker")
    os.chown(recorder, VICTIM, VICTIM)
    os.chown(folder, VICTIM if place else 0, 0)
    beside = folder / place
    beside.mkdir(parents=True, exist_ok=True)
    home.chmod(0o777)
    for name in PROGRAM_NAMES:
        # A second name of a file of the victim: its owner says nothing about who put it there.
        put_program(beside / name, how, VICTIM if how == "hard link" else ATTACKER, home)
    for path in (beside.resolve(), beside.resolve().parent):
        if path not in (shared, shared.parent):
            os.chown(path, ATTACKER, ATTACKER)
    run_all(recorder, home, VICTIM)
    assert not (home / "ran").exists()


@pytest.mark.parametrize("how", ("file", "link"))
@pytest.mark.parametrize("owner", (VICTIM, 0))
def test_own_programs_beside_it_are_run(public_programs, shared, home, how, owner):
    recorder = shutil.copy(public_programs, shared / "resource-tracker")
    os.chown(recorder, VICTIM, VICTIM)
    home.chmod(0o777)
    put_program(shared / PROGRAM_NAMES[0], how, owner, home)
    run_all(recorder, home, VICTIM)
    assert (home / "ran").read_text().split() == [str(VICTIM)] * 2


def spool_run(as_user, folder, home):
    return as_user(VICTIM, home, "-q", "--no-summary", "--upload-deadline", "0.1", "--", "true",
                   env={"SENTINEL_API_TOKEN": "token", "XDG_STATE_HOME": str(folder), "HOME": "/nonexistent", "TMPDIR": str(home)})


@pytest.mark.parametrize("how", ("folder", "spool", "link"))
def test_a_spool_that_another_user_has_prepared_is_not_used(as_user, shared, home, public_programs, how):
    if not (public_programs.parent / "resource-tracker-net").exists():
        pytest.skip("this build does not stream")
    planted = shared / "resource-tracker"
    theirs = shared / "theirs"
    for path in (theirs, theirs / "spool"):
        path.mkdir()
        path.chmod(0o777)
        os.chown(path, ATTACKER, ATTACKER)
    if how == "link":
        planted.symlink_to(theirs)
        os.lchown(planted, ATTACKER, ATTACKER)
    else:
        shutil.copytree(theirs, planted)
        for path in (planted, planted / "spool"):
            owner = ATTACKER if how == "folder" or path.name == "spool" else VICTIM
            os.chown(path, owner, owner)
            path.chmod(0o777 if owner == ATTACKER else 0o755)
    assert spool_run(as_user, shared, home).returncode == 0
    assert not [path for folder in (theirs, planted) for path in folder.rglob("*") if not path.is_dir()]
    assert (home / f"resource-tracker-{VICTIM}" / "spool").is_dir()


def test_an_own_spool_is_made_for_this_user_alone(as_user, shared, home, public_programs):
    if not (public_programs.parent / "resource-tracker-net").exists():
        pytest.skip("this build does not stream")
    assert spool_run(as_user, shared, home).returncode == 0
    status = (shared / "resource-tracker" / "spool").stat()
    assert status.st_uid == VICTIM and stat.S_IMODE(status.st_mode) == 0o700
