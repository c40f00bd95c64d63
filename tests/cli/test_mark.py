"""mark: a job's phases go to the recording around it, and never harm the job."""
import json
import os

import pytest


def marks(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_job_marks_its_phases(run, binary, tmp_path):
    job = f'{binary} mark load start; {binary} mark "a \\"b\\"" start; {binary} mark load stop --id=7; echo $$ >&2'
    result = run("-o", "run.jsonl", "--", "sh", "-c", job)
    assert result.returncode == 0
    found = marks(tmp_path / "run.jsonl.marks")
    assert [(one["event"], one["name"], one["id"]) for one in found] == [
        ("start", "load", None), ("start", 'a "b"', None), ("stop", "load", "7")]
    shell = int(result.err.split()[-1])
    assert {one["pid"] for one in found} == {shell} and {one["host"] for one in found} == {os.uname().nodename}
    assert [one["timestamp_ns"] for one in found] == sorted(one["timestamp_ns"] for one in found)


def test_without_a_recording_nothing_happens(run, tmp_path):
    result = run("mark", "load", "start")
    assert (result.returncode, result.out, result.err) == (0, "", "") and not list(tmp_path.iterdir())


def test_a_mark_that_cannot_be_written_does_not_fail_the_job(run, tmp_path):
    result = run("mark", "load", "start", env={"RESOURCE_TRACKER_MARKS": str(tmp_path)})
    assert result.returncode == 0 and "not marked" in result.err
    os.mkfifo(tmp_path / "fifo")
    assert run("mark", "load", "start", "--file", tmp_path / "fifo").returncode == 0
    assert run("mark", "x" * 2000, "start", "--file", tmp_path / "long").returncode == 0


@pytest.mark.parametrize("of_option", [False, True])
def test_a_lost_mark_is_told_with_its_file_and_why(run, tmp_path, of_option):
    path = tmp_path / "none" / "x.marks"
    result = run("mark", "load", *(["--file", path] if of_option else []), env={} if of_option else {"RESOURCE_TRACKER_MARKS": str(path)})
    assert (result.returncode, result.err) == (0, f"resource-tracker mark: the phase is not marked: {path}: its folder does not exist; create it first\n")


def test_json_prints_the_mark(run, tmp_path):
    result = run("mark", "load", "start", "--json", "--file", tmp_path / "x")
    assert json.loads(result.out)["name"] == "load" and len(marks(tmp_path / "x")) == 1


@pytest.mark.parametrize("arguments", [[], ["start"], ["stop"], ["load", "begin"], ["load", ""], ["--what", "a", "start"], ["a", "start", "b"]])
def test_wrong_use_is_one_line(run, arguments):
    result = run("mark", *arguments)
    assert result.returncode == 2 and len(result.err.splitlines()) == 1 and "--help" in result.err
    assert "`mark load`" in result.err or "too many" in result.err or "--what" in result.err


def test_a_name_alone_begins_the_next_phase(run, binary, tmp_path):
    """Each phase ends with the next one, whichever process marks it, and the last one with the job. Other IDs have chains of their own."""
    job = f"{binary} mark load; sleep 0.2; ({binary} mark train); sleep 0.2; {binary} mark --id other apart; {binary} mark load; sleep 0.2"
    assert run("-i", "50ms", "-o", "run.jsonl", "--", "sh", "-c", job).returncode == 0
    said = json.loads(run("regions", "--json", "run.jsonl").out)
    found = {one["name"]: one["compute_time"] for one in said["code_block_results"]}
    times = [one["timestamp_ns"] / 1e9 for one in marks(tmp_path / "run.jsonl.marks")]
    end = json.loads((tmp_path / "run.jsonl").read_text().splitlines()[-1])["timestamp"]
    expected = {"load": times[1] - times[0] + end - times[3], "train": times[3] - times[1], "apart": end - times[2]}
    assert {name: one["total"] for name, one in found.items()} == pytest.approx(expected, abs=0.01)
    assert said["static_data"]["open_calls"] == 0
    assert "never stopped" not in run("regions", "run.jsonl").out


def test_a_phase_named_end_begins_and_the_way_to_end_one_is_told(run, binary, tmp_path):
    job = f'"{binary}" mark load && "{binary}" mark end && "{binary}" mark end start && "{binary}" mark end stop'
    result = run("-q", "-o", "run.jsonl", "--", "sh", "-c", job)
    assert result.returncode == 0
    assert result.err == "resource-tracker mark: phase end begins; to end one: mark NAME start, mark NAME stop\n"
    assert [one["event"] for one in marks(tmp_path / "run.jsonl.marks")] == ["next", "next", "start", "stop"]
    assert run("mark", "end").err == "", "nothing is recorded"


def test_help(run):
    assert run("mark", "--help").out.startswith("Mark a phase of a job from inside it\n")


def test_marks_go_along_with_a_recording_that_is_renamed(run, binary, tmp_path):
    for name in ("first", "second"):
        run("-o", "run.jsonl", "--", binary, "mark", name, "start")
    assert [one["name"] for one in marks(tmp_path / "run.jsonl.1.marks")] == ["first"]
    assert [one["name"] for one in marks(tmp_path / "run.jsonl.marks")] == ["second"]
