"""A recording that is removed, renamed or replaced while it is written, and CSV with other columns."""
import json
import os
import shutil
import subprocess

import pytest

LAYOUTS = ("combined", "system", "process", "system-0.4", "process-0.4", "system-0.1", "pid-0.1")


def rows(path):
    return [line for line in path.read_text().splitlines() if line]


def follow(spawn, helpers, path, action, *options):
    """Records for a while, and `action` happens in between. Returns the messages."""
    tracker = spawn("-i", 0.1, "-o", path, "--no-summary", *options, "--", "sleep", "3",
                    stderr=subprocess.PIPE)
    helpers.wait_until(lambda: path.exists() and path.read_bytes().count(b"\n") >= 3)
    action()
    _, said = tracker.communicate()
    assert tracker.returncode == 0
    return said.decode() if isinstance(said, bytes) else said or ""


def test_removed_recording_is_begun_anew(spawn, helpers, tmp_path):
    path = tmp_path / "run.jsonl"
    said = follow(spawn, helpers, path, path.unlink)
    samples = helpers.json_lines(path)
    assert len(samples) > 5 and samples[-1]["run_end"]["dropped_samples"] == 0
    assert "run.jsonl was removed or renamed: the samples from now on are in a new file" in said
    assert said.count("removed or renamed") == 1


def test_a_removal_right_before_the_end_is_noticed(run, helpers, tmp_path):
    """The name is looked at once a second. A short job that cleaned its folder had no recording and no message."""
    result = run("-i", "0.05", "-o", "run.jsonl", "--no-summary", "--", "sh", "-c", "sleep 0.3; rm run.jsonl; sleep 0.2; exit 3")
    assert result.returncode == 3 and "run.jsonl was removed or renamed" in result.err
    assert helpers.json_lines(tmp_path / "run.jsonl")[-1]["run_end"]["exit_code"] == 3


def test_renamed_recording_loses_no_sample(spawn, helpers, tmp_path):
    """As logrotate does: the old name has a part of the run and the new file the rest."""
    path, old = tmp_path / "run.jsonl", tmp_path / "run.jsonl.old"
    said = follow(spawn, helpers, path, lambda: path.rename(old))
    samples = helpers.json_lines(old) + helpers.json_lines(path)
    assert [sample["sample"] for sample in samples] == list(range(len(samples)))
    assert samples[-1]["run_end"]["reason"] == "exit" and "removed or renamed" in said


def test_renamed_csv_has_its_header_again(spawn, helpers, tmp_path):
    path, old = tmp_path / "run.csv", tmp_path / "old.csv"
    follow(spawn, helpers, path, lambda: path.rename(old))
    assert rows(path)[0] == rows(old)[0] and rows(path)[0].startswith("timestamp,")
    assert {row.count(",") for row in rows(path)} == {31}


def test_identity_is_written_again_into_a_new_file(spawn, helpers, tmp_path):
    path = tmp_path / "run.jsonl"
    follow(spawn, helpers, path, path.unlink, "--static-once")
    first = helpers.json_lines(path)[0]
    assert first["host"] and "tracked_pid" in first


def test_new_file_of_logrotate_is_used(spawn, helpers, tmp_path):
    path = tmp_path / "run.jsonl"

    def rotate():
        path.rename(tmp_path / "run.jsonl.1")
        path.touch(mode=0o600)

    follow(spawn, helpers, path, rotate)
    assert helpers.json_lines(path)[-1]["run_end"] and path.stat().st_mode & 0o777 == 0o600


def test_folder_that_was_removed_is_told_once(spawn, helpers, tmp_path):
    folder = tmp_path / "there"
    folder.mkdir()
    said = follow(spawn, helpers, folder / "run.jsonl", lambda: shutil.rmtree(folder))
    assert said.count("was removed or renamed; no new one can be opened") == 1


def emptying(path):
    """copytruncate of logrotate: copies the file, and empties it under the recorder's descriptor."""
    def act():
        shutil.copy(path, path.with_suffix(".old"))
        os.truncate(path, 0)
    return act


@pytest.mark.parametrize("options", [(), ("--append",)], ids=["new", "append"])
def test_emptied_csv_has_its_header_again(spawn, helpers, tmp_path, options):
    path = tmp_path / "run.csv"
    said = follow(spawn, helpers, path, emptying(path), *options)
    assert said.count("run.csv was emptied by another program") == 1
    assert rows(path)[0] == rows(path.with_suffix(".old"))[0] and rows(path)[0].startswith("timestamp,")
    assert len(rows(path)) > 5 and {row.count(",") for row in rows(path)} == {31}


def test_emptied_csv_of_a_run_before_has_its_header_again(run, spawn, helpers, tmp_path):
    """--append leaves the header out where the file has one."""
    path = tmp_path / "run.csv"
    assert run("-f", "csv", "-o", path, "--no-summary", "--", "true").returncode == 0
    follow(spawn, helpers, path, emptying(path), "--append")
    assert [row.startswith("timestamp,") for row in rows(path)].count(True) == 1 and rows(path)[0].startswith("timestamp,")


def test_identity_is_written_again_into_an_emptied_file(spawn, helpers, tmp_path):
    path = tmp_path / "run.jsonl"
    said = follow(spawn, helpers, path, emptying(path), "--static-once")
    samples = helpers.json_lines(path)
    assert samples[0]["host"] and "tracked_pid" in samples[0] and len(samples) > 5
    assert samples[-1]["run_end"]["dropped_samples"] == 0 and said.count("was emptied") == 1
    before = helpers.json_lines(path.with_suffix(".old"))
    assert before[-1]["sample"] + 1 >= samples[0]["sample"]


@pytest.mark.parametrize("way", ["emptied", "renamed"])
def test_a_file_that_begins_anew_tells_which_run_it_is_of(spawn, helpers, run, tmp_path, way):
    """Its summary was titled "a process (pid N)", without the job's name. The other output has the rows once."""
    path, other, old = tmp_path / "run.jsonl", tmp_path / "other.jsonl", tmp_path / "run.old"
    act = emptying(path) if way == "emptied" else lambda: path.rename(old)
    follow(spawn, helpers, path, act, "-o", other, "--job-name", "training", "--tag", "team=blue")
    first, samples = helpers.json_lines(old)[0], helpers.json_lines(path)
    assert samples[0]["sample"] > 0 and samples[0]["run_start"] == first["run_start"]
    assert samples[0]["run_start"]["run_id"] and samples[0]["run_start"]["tags"] == {"team": "blue"}
    assert not any(sample.get("run_start") for sample in samples[1:])
    assert sum(bool(sample.get("run_start")) for sample in helpers.json_lines(other)) == 1
    assert "training" in run("summary", path).out.splitlines()[0]
    joined = tmp_path / "joined.jsonl"
    joined.write_bytes(old.read_bytes() + path.read_bytes())
    assert json.loads(run("summary", "--format", "json", joined).out)["run"]["samples"] == samples[-1]["sample"] + 1


def test_compressed_file_that_was_emptied_can_be_read(spawn, helpers, run, tmp_path):
    path = tmp_path / "run.jsonl.gz"
    tracker = spawn("-i", 0.1, "-o", path, "--no-summary", "--", "sleep", "2", stderr=subprocess.PIPE)
    helpers.wait_until(lambda: path.exists() and path.stat().st_size > 0)
    os.truncate(path, 0)
    _, said = tracker.communicate()
    assert tracker.returncode == 0 and b"was emptied" in said
    assert run("summary", path).returncode == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be two users")
def test_link_that_was_planted_under_the_name_is_not_followed(spawn, helpers, shared, tmp_path):
    path, victim = shared / "run.jsonl", tmp_path / "victim"
    victim.write_text("precious\n")

    def plant():
        path.rename(shared / "old.jsonl")
        path.symlink_to(victim)

    said = follow(spawn, helpers, path, plant)
    assert victim.read_text() == "precious\n" and "no new one can be opened" in said
    assert helpers.json_lines(shared / "old.jsonl")[-1]["run_end"]["reason"] == "exit"


@pytest.mark.parametrize("header", [(), ("--no-header",)])
@pytest.mark.parametrize("first", LAYOUTS)
def test_append_refuses_another_layout_of_csv(run, tmp_path, first, header):
    path = tmp_path / "run.csv"
    assert run("-f", "csv", "--csv-layout", first, "-o", path, "--", "true").returncode == 0
    before = path.read_bytes()
    for second in LAYOUTS:
        result = run("-f", "csv", "--csv-layout", second, "--append", *header, "-o", path, "--", "true")
        if second == first:
            assert result.returncode == 0, result.err
            assert path.read_bytes().startswith(before)
            path.write_bytes(before)
        else:
            assert result.returncode == 125 and "other columns" in result.err, (second, result.err)
            assert path.read_bytes() == before


def test_append_refuses_rows_without_header_of_another_layout(run, tmp_path):
    path = tmp_path / "run.csv"
    assert run("-f", "csv", "--no-header", "--csv-layout", "system", "-o", path, "--", "true").returncode == 0
    assert run("-f", "csv", "--append", "-o", path, "--", "true").returncode == 125
    assert run("-f", "csv", "--append", "--csv-layout", "system", "-o", path, "--", "true").returncode == 0


def test_append_to_a_log_goes_on(run, tmp_path):
    path = tmp_path / "log"
    path.write_text("2026-01-01 started, all is well\nand on\n")
    assert run("-f", "csv", "--append", "-o", path, "--", "true").returncode in (0, 125)
    path.write_text("started, all is well\nand on\n")
    assert run("-f", "csv", "--append", "-o", path, "--", "true").returncode == 0
