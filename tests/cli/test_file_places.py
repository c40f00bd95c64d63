"""A mistake in the folder of a file that is to be written: each command says in one line what is wrong and what to do."""
import os
import shutil

import pytest

import recordings

WRITERS = {"report": [], "export": ["-f", "csv"], "show": [], "stats": [], "summary": [], "recommend": [], "regions": [],
           "compare-runs": ["other.jsonl"], "combine": ["other.jsonl"]}
PLACES = [("missing/folder/page.html", "its folder does not exist; create it first"),
          ("missing/", "its folder does not exist; create it first"),
          ("folder", "it is a folder; name a file in it"), ("folder/", "it is a folder; name a file in it"),
          ("file/page.html", "a part of its path is a file, not a folder; choose another name")]


@pytest.fixture
def places(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("text")
    for name in "run.jsonl", "other.jsonl":
        recordings.write(tmp_path / name, recordings.eight_samples())
    return tmp_path


@pytest.mark.parametrize("place, reason", PLACES)
@pytest.mark.parametrize("command", WRITERS)
def test_each_command_tells_a_wrong_folder_alike(run, places, command, place, reason):
    before = sorted(os.listdir(places))
    result = run(command, "run.jsonl", *WRITERS[command], "-o", place, cwd=places)
    assert (result.returncode, result.out) == (1, "")
    assert result.err == f"resource-tracker {command}: cannot write to {place}: {reason}\n"
    assert sorted(os.listdir(places)) == before


@pytest.mark.parametrize("place, reason", PLACES)
def test_the_recorder_tells_the_same_before_the_job(run, places, place, reason):
    result = run("-o", place, "--", "echo", "ran", cwd=places)
    assert (result.returncode, result.out, result.err) == (125, "", f"resource-tracker: cannot write to '{place}': {reason}\n")
    for option in "--report", "--runs":
        result = run("-q", option, place, "--", "echo", "ran", cwd=places)
        assert (result.returncode, result.out) == (125, "")
        assert result.err == f"resource-tracker: {option}: '{place}' cannot be written: {reason}\n"


def test_a_wrong_folder_of_the_environment_keeps_the_job_running(run, places):
    """The administrator of a fleet sets TRACKER_RUNS for everyone: a mistake in it costs the line, not the job."""
    result = run("-q", "--", "sh", "-c", "exit 4", cwd=places, env={"TRACKER_RUNS": "missing/runs.jsonl"})
    assert result.returncode == 4
    assert result.err == "resource-tracker runs: missing/runs.jsonl: no line is appended: its folder does not exist; create it first\n"


def test_a_pipe_as_file_of_runs_is_told_before_the_job(run, places):
    os.mkfifo(places / "fifo")
    result = run("-q", "--runs", "fifo", "--", "echo", "ran", cwd=places)
    assert (result.returncode, result.out) == (125, "")
    assert result.err == "resource-tracker: --runs: 'fifo' is not a regular file; name one to which a line can be appended\n"


@pytest.mark.parametrize("place, reason", PLACES)
def test_a_file_of_runs_in_a_wrong_folder(run, places, place, reason):
    result = run("runs", "add", "run.jsonl", "--runs", place, cwd=places)
    if place == "missing/":  # open(2) answers that it is a folder before it looks for one
        reason = "it is a folder; name a file in it"
    assert (result.returncode, result.err) == (1, f"resource-tracker runs: {place}: no line is appended: {reason}\n")


def test_a_link_into_a_missing_folder_names_the_folder(run, places):
    (places / "page.html").symlink_to("missing/page.html")
    result = run("report", "run.jsonl", "-o", "page.html", cwd=places)
    assert result.err == "resource-tracker report: cannot write to missing/page.html: its folder does not exist; create it first\n"
    result = run("-o", "page.html", "--", "true", cwd=places)
    assert result.err == ("resource-tracker: cannot write to 'page.html': it is a symbolic link into a folder that does not exist; "
                          "create it first\n")


def test_an_empty_name(run, places):
    result = run("report", "run.jsonl", "-o", "", cwd=places)
    assert (result.returncode, result.err) == (1, "resource-tracker report: cannot write to '': it names no file\n")


@pytest.mark.parametrize("words", [["report", "run.jsonl", "-o"], ["export", "run.jsonl", "-o"], ["-o"]])
def test_a_folder_that_takes_no_file(run, binary, places, words):
    """Root without its right to pass over modes stands for an ordinary user, who may not reach the program below a closed home."""
    (places / "closed").mkdir(mode=0o555)
    words = [*words, "closed/use.csv" if "export" in words else "closed/page.html", *(["--", "true"] if words == ["-o"] else [])]
    if os.geteuid() == 0:
        result = run("--bounding-set=-dac_override,-dac_read_search", binary, *words, cwd=places, program=shutil.which("setpriv"))
    else:
        result = run(*words, cwd=places)
    assert result.returncode in (1, 125) and result.err.count("\n") == 1
    assert result.err.endswith(": its folder takes no new file from this user; choose another folder\n")
