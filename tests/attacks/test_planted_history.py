"""A history in a place where another user may put files: nothing of it is read or written, and the job runs."""
import json
import os
import pathlib
import pty

import pytest

from users import ATTACKER, VICTIM, needs_root, plant

pytestmark = needs_root()


@pytest.fixture
def on_terminal(as_user, public_programs):
    """on_terminal(folder, state) wraps a job of the victim with a terminal as stderr; returns what the terminal shows."""
    if not (pathlib.Path(public_programs).parent / "resource-tracker-analysis").exists():
        pytest.skip("built without the analysis")

    def start(folder, **environment):
        leader, follower = pty.openpty()
        result = as_user(VICTIM, folder, "--", "echo", "ran", stderr=follower,
                         env={"TRACKER_HISTORY": "", **environment})
        os.close(follower)
        text = b""
        try:
            while chunk := os.read(leader, 65536):
                text += chunk
        except OSError:
            pass
        os.close(leader)
        assert (result.returncode, result.out) == (0, "ran\n")
        return text.decode()
    return start


@pytest.fixture
def victims_folder(home):
    """Files of the victim that an attacker would like to see changed."""
    folder = home / "private"
    folder.mkdir(mode=0o700)
    os.chown(folder, VICTIM, VICTIM)
    plant(folder / "1.jsonl", "precious\n", VICTIM)
    return folder


def test_a_folder_of_the_attacker_is_not_used(on_terminal, as_user, shared, home):
    planted = shared / "resource-tracker"
    planted.mkdir(mode=0o777)
    os.chown(planted, ATTACKER, ATTACKER)
    plant(planted / "runs.jsonl", json.dumps({"number": 1, "name": "planted"}) + "\n", ATTACKER)
    assert "this run is not kept: " in on_terminal(home, XDG_STATE_HOME=str(shared))
    assert sorted(path.name for path in planted.iterdir()) == ["runs.jsonl"]
    listed = as_user(VICTIM, home, "ls", env={"TRACKER_HISTORY": "", "XDG_STATE_HOME": str(shared)})
    assert listed.returncode == 1 and "planted" not in listed.out and "belongs to another user" in listed.err


def test_a_link_of_the_attacker_is_not_followed(on_terminal, as_user, shared, home, victims_folder):
    link = shared / "resource-tracker"
    link.symlink_to(victims_folder)
    os.lchown(link, ATTACKER, ATTACKER)
    assert "another user has made this link" in on_terminal(home, XDG_STATE_HOME=str(shared))
    removed = as_user(VICTIM, home, "rm", "--all", env={"TRACKER_HISTORY": "", "XDG_STATE_HOME": str(shared)})
    assert removed.returncode == 1
    assert [path.name for path in victims_folder.iterdir()] == ["1.jsonl"]
    assert (victims_folder / "1.jsonl").read_text() == "precious\n"


def test_a_named_folder_that_others_may_write_to_is_not_used(on_terminal, shared, home):
    assert "another user may write to it" in on_terminal(home, TRACKER_HISTORY=str(shared))
    assert list(shared.iterdir()) == []


def test_a_file_of_the_attacker_in_the_folder_is_not_read(on_terminal, as_user, home):
    history = home / "kept"
    history.mkdir(mode=0o700)
    os.chown(history, VICTIM, VICTIM)
    plant(history / "runs.jsonl", json.dumps({"number": 1, "name": "planted"}) + "\n", ATTACKER)
    plant(history / "7.jsonl.gz", "x", ATTACKER)
    screen = on_terminal(home, TRACKER_HISTORY=str(history))
    assert "runs.jsonl: it is not a file of your own; its recording is " in screen and "/8.jsonl" in screen
    listed = as_user(VICTIM, home, "ls", "--json", env={"TRACKER_HISTORY": str(history)})
    assert "planted" not in listed.out


def test_root_keeps_nothing_in_the_home_of_another_user(run, home, public_programs):
    leader, follower = pty.openpty()
    result = run("--", "true", program=str(public_programs), stderr=follower, cwd=home,
                 env={"HOME": str(home), "XDG_STATE_HOME": "", "TRACKER_HISTORY": ""})
    os.close(follower)
    assert b"it belongs to another user" in os.read(leader, 65536)
    os.close(leader)
    assert result.returncode == 0 and list(home.iterdir()) == []
