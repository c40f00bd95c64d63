"""--summary and --report without an output file use a temporary recording and remove it."""
import json
import os
import pathlib
import signal

import pytest


@pytest.fixture(autouse=True)
def analysis(binary):
    if not (pathlib.Path(binary).parent / "resource-tracker-analysis").exists():
        pytest.skip("built without the analysis")


@pytest.fixture
def scratch(tmp_path, monkeypatch):
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    return folder


@pytest.mark.parametrize("options", [["-q", "--summary"], ["-q", "--summary=text"], ["--summary", "-o", "-"],
                                     ["--summary", "-o", "/dev/null"]])
def test_summary_without_an_output_file(run, tmp_path, scratch, options):
    result = run(*options, "--", "sh", "-c", "exit 3")
    assert result.returncode == 3 and "exit status 3" in result.err and "Memory" in result.err
    assert sorted(os.listdir(tmp_path)) == ["scratch"] and not os.listdir(scratch)


def test_summary_follows_the_samples_on_stderr(run, scratch):
    result = run("--summary=json", "--", "true")
    sample, _, summary = result.err.partition("\n")
    assert json.loads(sample)["run_end"]["exit_code"] == 0
    assert json.loads(summary)["end"]["in_words"] == "exit status 0"


def test_summary_of_csv_samples_tells_how_the_job_ended(run, scratch):
    result = run("-f", "csv", "-o", "-", "--summary=json", "--", "sh", "-c", "exit 3")
    assert result.out.startswith("timestamp,") and result.returncode == 3
    assert json.loads(result.err)["end"]["in_words"] == "exit status 3"


def test_report_without_an_output_file(run, tmp_path, scratch):
    result = run("-q", "--report", "page.html", "--", "true")
    if "without the page of reports" in result.err:
        pytest.skip(result.err.strip())
    assert (result.returncode, result.err) == (0, "")
    page = (tmp_path / "page.html").read_text()
    assert "/proc/" not in page.split("<body")[0] and str(scratch) not in page and not os.listdir(scratch)


def test_temporary_recording_of_the_machine_and_of_a_process(run, scratch):
    for more in ([], ["--pid", os.getpid()]):
        result = run("-q", "-i", "0.1", "--duration", "300ms", "--summary", *more)
        assert result.returncode == 0 and "Tracker" in result.err and not os.listdir(scratch)


@pytest.mark.parametrize("how", ["environment", "file"])
def test_temporary_recording_for_a_summary_that_others_ask_for(run, tmp_path, scratch, needs_toml, how):
    if how == "file":
        (tmp_path / "resource-tracker.toml").write_text("[tracker]\nsummary = 'text'\n")
    result = run("-q", "--", "true", env={"TRACKER_SUMMARY": "1"} if how == "environment" else {})
    assert result.returncode == 0 and "exit status 0" in result.err


def test_a_named_file_is_the_only_recording(run, tmp_path, scratch):
    # ls fails if the tracker closes a file while it lists them. Outputs stay open.
    result = run("--summary", "-o", "run.jsonl", "-o", "-", "--", "sh", "-c", "ls -l /proc/$PPID/fd >&2; exit 0")
    assert "/run.jsonl" in result.err and "exit status 0" in result.err
    assert str(scratch) not in result.err


def test_a_job_runs_without_room_for_a_temporary_recording(run, tmp_path):
    result = run("-q", "--summary", "--report", "x.html", "--", "echo", "ran", env={"TMPDIR": "/nonexistent"})
    assert (result.returncode, result.out) == (0, "ran\n")
    assert result.err.count("\n") == 1 and "the temporary recording cannot be created" in result.err and "-o" in result.err


def test_a_job_does_not_inherit_the_temporary_recording(run, scratch):
    result = run("-q", "--summary=json", "--", "sh", "-c", "ls -l /proc/self/fd")
    assert str(scratch) not in result.out and "(deleted)" not in result.out


def test_nothing_is_left_of_a_killed_tracker(spawn, scratch, helpers):
    process = spawn("-q", "-i", "0.05", "--summary", "--", "sleep", "3")
    helpers.wait_until(lambda: any("scratch" in os.readlink(f"/proc/{process.pid}/fd/{fd}")
                                   for fd in os.listdir(f"/proc/{process.pid}/fd")))
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not os.listdir(scratch)
