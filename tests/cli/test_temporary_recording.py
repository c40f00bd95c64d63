"""--summary and --report without an output file use a temporary recording and remove it."""
import json
import os
import pathlib
import shutil
import signal
import subprocess

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


@pytest.mark.parametrize("options", [["-o", "run.csv"], ["-f", "csv", "-o", "run"], ["-o", "run.csv", "-o", "run.jsonl"]])
def test_summary_at_the_end_of_a_csv_file_tells_all_of_the_run(run, tmp_path, scratch, options):
    result = run(*options, "--summary=json", "--report", "page.html", "--", "sh", "-c", "exit 3")
    figures = json.loads(result.err)
    assert (result.returncode, figures["end"]["in_words"], figures["run"]["executable"]) == (3, "exit status 3", "sh")
    assert 0 < figures["memory"]["peak_mib"] % 1  # CSV has whole MiB
    assert (tmp_path / options[-1].replace("jsonl", "csv")).read_text().startswith("timestamp,")
    assert '"exit_code":3' in (tmp_path / "page.html").read_text().replace(" ", "")
    assert not os.listdir(scratch)


def test_the_recording_behind_a_csv_file_lies_on_its_file_system(run, tmp_path, monkeypatch):
    """$TMPDIR may be memory. The job looks at the open files of the recorder, its parent."""
    (tmp_path / "out").mkdir()
    monkeypatch.setenv("TMPDIR", "/dev/null/nowhere")
    job = "ls -l /proc/$PPID/fd 2>/dev/null | grep -o '/[^ ]*/#[0-9]* (deleted)'; exit 3"
    result = run("-o", "out/run.csv", "--summary=json", "--", "sh", "-c", job)
    if not result.out:
        pytest.skip("this file system has no files without a name")
    assert result.out.startswith(f"{tmp_path}/out/#") and json.loads(result.err)["end"]["in_words"] == "exit status 3"
    assert os.listdir(tmp_path / "out") == ["run.csv"]


def test_phases_beside_a_csv_file_are_in_the_summary(run, binary, tmp_path, scratch):
    job = f"{binary} mark load start; sleep 0.2; {binary} mark load stop"
    result = run("-i", "0.1", "-o", "run.csv", "--summary", "--", "sh", "-c", job)
    assert "Phases     load" in result.err and (tmp_path / "run.csv.marks").exists()


def test_a_csv_file_has_the_name_of_the_file_and_the_time_before_its_first_row(run, tmp_path):
    """The second of two rows ended the run, so the time before the first one was longer than the time between them."""
    head = "timestamp,system_utime,system_stime,system_cpu_usage,process_pid,process_utime,process_stime,process_cpu_usage"
    (tmp_path / "run.csv").write_text(head + "\n1800000001.000,0.900,0.100,1.0000,7,0.5000,0.0000,0.5000\n"
                                      "1800000001.050,0.050,0.000,1.0000,7,0.0250,0.0000,0.5000\n")
    text = run("summary", "run.csv").out
    assert text.startswith("run.csv (pid 7)\n") and "CSV does not record how it ended; -o FILE.jsonl does" in " ".join(text.split())
    figures = json.loads(run("summary", "--json", "run.csv").out)
    assert figures["time"]["wall_secs"] == pytest.approx(1.05) and figures["cores"]["mean"] == pytest.approx(0.5)


def test_report_without_an_output_file(run, tmp_path, scratch):
    result = run("-q", "--report", "page.html", "--", "true")
    assert (result.returncode, result.err) == (0, "")
    page = (tmp_path / "page.html").read_text()
    assert "/proc/" not in page.split("<body")[0] and str(scratch) not in page and not os.listdir(scratch)


@pytest.mark.parametrize("page, reason", [
    ("nosuch/page.html", "its folder does not exist"), ("folder", "is a folder"), ("closed/page.html", "takes no new file"),
    ("main.py", "not an HTML page"), ("old.jsonl", "not an HTML page"), ("run.txt/page.html", "a part of its path is a file")])
@pytest.mark.parametrize("how", ["option", "variable"])
def test_a_page_that_cannot_be_written_is_told_before_the_job(run, tmp_path, page, reason, how):
    (tmp_path / "folder").mkdir()
    (tmp_path / "closed").mkdir(mode=0o555)
    (tmp_path / "main.py").write_text("import sys\n")
    (tmp_path / "run.txt").write_text("")
    run("-q", "-o", "old.jsonl", "--", "true")
    before = (tmp_path / "old.jsonl").read_bytes()
    if page.startswith("closed") and os.access(tmp_path / "closed", os.W_OK):
        pytest.skip("root may write to every folder")
    words, env = (["--report", page], {}) if how == "option" else ([], {"TRACKER_REPORT": page})
    result = run("-q", *words, "--", "echo", "ran", env=env)
    assert (result.returncode, result.out) == (125, "") and result.err.count("\n") == 1 and reason in result.err
    assert (tmp_path / "main.py").read_text() == "import sys\n" and (tmp_path / "old.jsonl").read_bytes() == before


@pytest.mark.parametrize("content", [None, "", "<!DOCTYPE html>\n", "<html>"])
def test_a_page_may_be_new_empty_or_an_earlier_one(run, tmp_path, content):
    if content is not None:
        (tmp_path / "page.html").write_text(content)
    assert run("-q", "--report", "page.html", "--", "true").returncode == 0
    assert "</html>" in (tmp_path / "page.html").read_text()


def test_a_temporary_recording_is_kept_if_no_page_can_be_made(run, tmp_path, binary):
    """The recorder is alone, so the page cannot be made."""
    alone = shutil.copy(binary, tmp_path / "resource-tracker")
    for name in ("page.html.jsonl", "page.html.1.jsonl"):
        done = subprocess.run([alone, "-q", "--report", "page.html", "--", "sh", "-c", "exit 3"], cwd=tmp_path,
                              capture_output=True, text=True, env={"TRACKER_HISTORY": "off"})
        assert done.returncode == 3 and done.stderr.splitlines()[-1] == f"resource-tracker: the recording is kept in {name}"
        assert json.loads((tmp_path / name).read_text().splitlines()[-1])["run_end"]["exit_code"] == 3
    assert "exit status 3" in run("summary", "page.html.jsonl").out


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
