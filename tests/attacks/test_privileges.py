"""A program with more rights than its caller ignores the caller's environment and the files beside it. Spools
prepared by another user are not used.
"""
import os
import shutil
import stat
import subprocess

import pytest

from users import ATTACKER, VICTIM, needs_root, plant

pytestmark = needs_root()


@pytest.fixture
def privileged(public_programs, public_folder):
    """A copy of the program that always runs as root, with or without its installed files."""
    folder = public_folder / "privileged"
    folder.mkdir(exist_ok=True)
    program = shutil.copy(public_programs, folder / "resource-tracker")
    os.chown(program, 0, 0)
    os.chmod(program, 0o4755)
    if os.statvfs(folder).f_flag & os.ST_NOSUID:
        pytest.skip("set-user-ID has no effect in this file system")
    yield program
    os.unlink(program)


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
