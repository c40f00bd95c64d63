"""Files beside a recording and beside an output, in a folder where another user has planted them."""
import json
import os
import pathlib
import stat
import subprocess

import pytest

from users import ATTACKER, VICTIM, needs_root, plant

pytestmark = needs_root()


@pytest.fixture
def bashrc(home):
    return plant(home / ".bashrc", "# mine\n", VICTIM)


def json_lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def link(path, target, user=ATTACKER):
    path.symlink_to(target)
    os.lchown(path, user, user)


def record_a_phase(as_user, user, shared, programs):
    """Runs a job that marks a phase; returns (result, the marks of the recording or None)."""
    result = as_user(user, shared, "-q", "--no-summary", "-o", shared / "run.jsonl", "--", programs, "mark", "phase", "start")
    assert result.returncode == 0, result.err
    assert json_lines(shared / "run.jsonl")
    return result


def test_a_planted_link_for_the_recording_is_refused(as_user, shared, bashrc):
    link(shared / "run.jsonl", bashrc)
    result = as_user(VICTIM, shared, "-q", "-o", shared / "run.jsonl", "--", "true")
    assert result.returncode == 125 and "symbolic link" in result.err
    assert bashrc.read_text() == "# mine\n"


def test_a_planted_link_for_the_marks_is_not_followed(as_user, shared, bashrc, public_programs):
    link(shared / "run.jsonl.marks", bashrc)
    result = record_a_phase(as_user, VICTIM, shared, public_programs)
    assert bashrc.read_text() == "# mine\n"
    assert "mark: the phase is not marked: " in result.err


def test_a_planted_link_to_nothing_creates_nothing(as_user, shared, home, public_programs):
    link(shared / "run.jsonl.marks", home / "made")
    record_a_phase(as_user, VICTIM, shared, public_programs)
    assert not (home / "made").exists()


def test_a_second_name_of_a_file_is_not_marked(as_user, shared, bashrc, public_programs):
    """If fs.protected_hardlinks is 0, another user can give the victim's file a second name."""
    bashrc.rename(shared / "first")
    os.link(shared / "first", shared / "run.jsonl.marks")
    record_a_phase(as_user, VICTIM, shared, public_programs)
    assert (shared / "first").read_text() == "# mine\n"


def test_marks_of_another_user_are_neither_written_nor_read(as_user, shared, public_programs):
    planted = plant(shared / "run.jsonl.marks", "", ATTACKER, 0o666)
    record_a_phase(as_user, VICTIM, shared, public_programs)
    assert planted.read_text() == ""
    clocks = json_lines(shared / "run.jsonl")[0]
    planted.write_text("".join(json.dumps({"timestamp_ns": int(clocks["timestamp"] * 1e9) + step, "monotonic_ns": step,
                                           "event": event, "name": "planted", "id": None, "pid": 1, "host": clocks["host"]})
                               + "\n" for step, event in ((0, "start"), (1000, "stop"))))
    for command in ("summary", "regions"):
        result = as_user(VICTIM, shared, command, "run.jsonl")
        assert "planted" not in result.out, result.out


@pytest.mark.parametrize("command", ("summary", "regions", "report", "combine"))
def test_a_planted_fifo_for_the_marks_hangs_no_reader(as_user, shared, home, public_programs, command):
    result = as_user(VICTIM, shared, "-q", "--no-summary", "-o", shared / "run.jsonl", "--", "true")
    assert result.returncode == 0, result.err
    os.mkfifo(shared / "run.jsonl.marks")
    output = ("-o", home / "out") if command in ("report", "combine") else ()
    assert as_user(VICTIM, shared, command, "run.jsonl", *output).returncode == 0


@pytest.mark.parametrize("user", (VICTIM, 0))
def test_own_marks_in_a_shared_folder_are_written_and_read(as_user, shared, public_programs, user):
    record_a_phase(as_user, user, shared, public_programs)
    assert "phase" in (shared / "run.jsonl.marks").read_text()
    assert "phase" in as_user(user, shared, "regions", "run.jsonl").out


def test_marks_that_root_makes_belong_to_the_owner_of_the_recording(as_user, run, home, public_programs):
    (home / "run.jsonl").write_text("{}\n")
    os.chown(home / "run.jsonl", VICTIM, VICTIM)
    assert run("mark", "--file", home / "run.jsonl.marks", "phase", "start").returncode == 0
    status = (home / "run.jsonl.marks").stat()
    assert (status.st_uid, status.st_gid) == (VICTIM, VICTIM)
    assert as_user(VICTIM, home, "mark", "--file", home / "run.jsonl.marks", "phase", "stop").returncode == 0
    assert len((home / "run.jsonl.marks").read_text().splitlines()) == 2


def test_root_follows_no_link_in_a_users_folder(run, home, shared, bashrc):
    target = plant(shared / "roots", "", 0)
    (home / "run.jsonl").write_text("{}\n")
    link(home / "run.jsonl.marks", target)
    run("mark", "--file", home / "run.jsonl.marks", "phase", "start")
    assert target.read_text() == ""


def test_a_link_of_ones_own_is_followed(run, tmp_path):
    (tmp_path / "link.marks").symlink_to(tmp_path / "there")
    assert run("mark", "--file", "link.marks", "phase", "start").err == ""
    assert "phase" in (tmp_path / "there").read_text()


def test_planted_links_for_the_temporary_file_of_sqlite(public_programs, shared, home, as_user):
    """Plants 3,000 names with possible pids: SQLite once followed the right one and made a file of the attacker's
    choice.
    """
    if not (public_programs.parent / "resource-tracker-analysis").exists():
        pytest.skip("no analysis in this build")
    result = as_user(VICTIM, shared, "-q", "--no-summary", "-o", shared / "run.jsonl", "--", "true")
    assert result.returncode == 0
    # exec keeps the pid: the shell plants the link under its own pid, then becomes the program.
    script = f'ln -s {home}/made {shared}/out.sqlite.$$.partial; exec {public_programs} export -f sqlite run.jsonl -o {shared}/out.sqlite'
    done = subprocess.run(["sh", "-c", script], cwd=shared, user=VICTIM, group=VICTIM, extra_groups=[], capture_output=True,
                          text=True, env={"PATH": os.environ["PATH"]})
    assert not (home / "made").exists()
    assert done.returncode == 0 and (shared / "out.sqlite").read_bytes().startswith(b"SQLite"), done.stderr
    assert stat.S_ISLNK((shared / f"out.sqlite.{pid_of(shared)}.partial").lstat().st_mode), "the other's file stays"


def pid_of(shared):
    return next(shared.glob("out.sqlite.*.partial")).name.split(".")[-2]


@pytest.mark.parametrize("kind", ("-x", "-s"))
def test_lock_of_a_user_who_may_only_read_keeps_no_recording_from_starting(as_user, home, helpers, kind):
    """Any reader of a recording could keep every later run of that output from starting, those of root too."""
    record = home / "run.jsonl"
    home.chmod(0o755)
    assert as_user(VICTIM, home, "-q", "--no-summary", "-o", record, "--", "true").returncode == 0
    holder = subprocess.Popen(["flock", "--no-fork", kind, record, "sleep", "30"], user=ATTACKER, group=ATTACKER, extra_groups=[])
    try:
        helpers.wait_until(lambda: f":{record.stat().st_ino} " in pathlib.Path("/proc/locks").read_text())
        for user in (VICTIM, 0):
            done = as_user(user, home, "-q", "--no-summary", "--append", "-o", record, "--", "echo", "ran")
            assert (done.returncode, done.out) == (0, "ran\n"), done.err
    finally:
        holder.kill()
        holder.wait()
    assert len(record.read_text().splitlines()) == 3


@pytest.mark.parametrize("mode, locker", ((0o644, VICTIM), (0o644, 0), (0o666, ATTACKER)))
def test_lock_of_a_user_who_may_write_counts(as_user, home, helpers, mode, locker):
    record = home / "run.jsonl"
    home.chmod(0o755)
    assert as_user(VICTIM, home, "-q", "--no-summary", "-o", record, "--", "true").returncode == 0
    record.chmod(mode)
    holder = subprocess.Popen(["flock", "--no-fork", "-x", record, "sleep", "30"], user=locker, group=locker, extra_groups=[])
    try:
        helpers.wait_until(lambda: f":{record.stat().st_ino} " in pathlib.Path("/proc/locks").read_text())
        done = as_user(VICTIM, home, "-q", "--no-summary", "-o", record, "--", "true")
        assert done.returncode == 125 and "another recording" in done.err
    finally:
        holder.kill()
        holder.wait()
