"""A configuration that was found, not named, is obeyed only if the user or root controls it and its folder."""
import os
import socket

import pytest

from users import ATTACKER, VICTIM, needs_root, plant

pytestmark = pytest.mark.usefixtures("needs_toml")

OBEYED = "[tracker]\noutput = ['obeyed.jsonl']\n"
PASSED_OVER = "resource-tracker: resource-tracker.toml is ignored: "


@needs_root()
@pytest.mark.parametrize("append", ("true", "false"))
def test_another_users_configuration_in_a_shared_folder_is_passed_over(as_user, shared, home, append):
    bashrc = plant(home / ".bashrc", "# mine\n", VICTIM)
    plant(shared / "resource-tracker.toml",
          f"[job]\nname = '$(id > {shared}/pwned)'\n[tracker]\noutput = ['{bashrc}']\nappend = {append}\n", ATTACKER)
    result = as_user(VICTIM, shared, "--no-summary", "-q", "--", "sh", "-c", "exit 3")
    assert result.returncode == 3
    assert result.err == (PASSED_OVER + "another user owns it or may write to it; to use it: --config resource-tracker.toml\n")
    assert bashrc.read_text() == "# mine\n"
    assert sorted(path.name for path in home.iterdir()) == [".bashrc"]


@needs_root()
def test_root_in_another_users_folder_passes_the_configuration_over(run, tmp_path):
    plant(tmp_path / "resource-tracker.toml", OBEYED, ATTACKER)
    result = run("-q", "--no-summary", "--", "true")
    assert PASSED_OVER in result.err and not (tmp_path / "obeyed.jsonl").exists()


@needs_root()
def test_own_configuration_in_a_shared_folder_is_passed_over(as_user, shared):
    plant(shared / "resource-tracker.toml", OBEYED, VICTIM)
    result = as_user(VICTIM, shared, "-q", "--", "true")
    assert "another user owns this folder or may write to it" in result.err
    assert not (shared / "obeyed.jsonl").exists()


@needs_root()
def test_configurations_of_the_user_and_of_root_are_obeyed(as_user, home):
    for owner in (VICTIM, 0):
        plant(home / "resource-tracker.toml", OBEYED, owner)
        result = as_user(VICTIM, home, "-q", "--no-summary", "--", "true")
        assert result.err == "" and (home / "obeyed.jsonl").exists()
        for path in home.iterdir():
            path.unlink()


@pytest.mark.parametrize("path, mode, obeyed", (("resource-tracker.toml", 0o644, True), ("resource-tracker.toml", 0o646, False),
                                                (".", 0o757, False), (".", 0o1777, False), (".", 0o755, True)))
def test_a_configuration_writable_by_others_is_passed_over(run, tmp_path, path, mode, obeyed):
    (tmp_path / "resource-tracker.toml").write_text(OBEYED)
    (tmp_path / "resource-tracker.toml").chmod(0o644)
    (tmp_path / path).chmod(mode)
    result = run("-q", "--no-summary", "--", "true")
    assert (tmp_path / "obeyed.jsonl").exists() == obeyed
    assert result.err.count(PASSED_OVER) == (not obeyed)


@needs_root()
def test_a_group_that_has_other_users_may_not_write(run, tmp_path):
    plant(tmp_path / "resource-tracker.toml", OBEYED, 0, 0o664)
    os.chown(tmp_path / "resource-tracker.toml", 0, ATTACKER)
    assert PASSED_OVER in run("-q", "--no-summary", "--", "true").err
    assert not (tmp_path / "obeyed.jsonl").exists()


def test_a_named_configuration_is_obeyed_as_given(run, tmp_path):
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(0o1777)
    (folder / "any.toml").write_text(OBEYED)
    (folder / "any.toml").chmod(0o666)
    for how in ({"arguments": ("--config", "open/any.toml")}, {"env": {"TRACKER_CONFIG": "open/any.toml"}}):
        result = run("-q", "--no-summary", *how.get("arguments", ()), "--", "true", env=how.get("env"))
        assert result.err == "" and (tmp_path / "obeyed.jsonl").exists()
        (tmp_path / "obeyed.jsonl").unlink()


@pytest.mark.parametrize("kind", ("fifo", "fifo named", "device", "folder", "socket"))
def test_no_kind_of_file_keeps_the_job_from_running(run, tmp_path, kind):
    path = tmp_path / "resource-tracker.toml"
    if kind.startswith("fifo"):
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "folder":
        path.mkdir()
    else:
        server = socket.socket(socket.AF_UNIX)
        server.bind(str(path))
    named = ("--config", "resource-tracker.toml") if kind.endswith("named") else ()
    result = run("-q", "--no-summary", *named, "--", "sh", "-c", "echo ran; exit 3")
    assert (result.returncode, result.out) == (3, "ran\n")
    assert result.wall_secs < 10
    expected = "timed out; going on without it" if named else "is ignored: it is not a regular file"
    assert expected in result.err, result.err


def test_a_huge_configuration_does_not_keep_the_job_from_running(run, tmp_path):
    path = tmp_path / "resource-tracker.toml"
    path.touch()
    path.chmod(0o644)
    os.truncate(path, 1 << 40)
    result = run("-q", "--no-summary", "--", "sh", "-c", "exit 3")
    assert result.returncode == 3 and "File too large; going on without it" in result.err


def test_a_pipe_can_be_named_as_configuration(binary, tmp_path, run):
    reader, writer = os.pipe()
    os.write(writer, OBEYED.encode())
    os.close(writer)
    result = run("-q", "--no-summary", "--config", f"/dev/fd/{reader}", "--", "true", pass_fds=[reader])
    os.close(reader)
    assert result.err == "" and (tmp_path / "obeyed.jsonl").exists()


def test_the_warning_can_be_silenced(run, tmp_path):
    (tmp_path / "resource-tracker.toml").write_text(OBEYED)
    tmp_path.chmod(0o777)
    assert run("-q", "--no-warnings", "--", "true").err == ""
