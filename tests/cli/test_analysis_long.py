"""Readers take the same memory for any length, and a small gzip file cannot keep them busy."""
import gzip
import json
import os
import random

import pytest

import recordings
from conftest import in_memory
from report_pages import data_of

MOST_KIB = 64 << 10
SAMPLES, CALLS = 150_000, 1000


@pytest.fixture(scope="module")
def long_run(tmp_path_factory):
    """A recording whose every line repeats the cloud and the end, as lines of a joined file may, and 1,000 calls of 3 phases."""
    path = tmp_path_factory.mktemp("long") / "long.jsonl"
    rng = random.Random(5)
    start, end = json.dumps(recordings.START), json.dumps(dict(recordings.END, wall_secs=float(SAMPLES)))
    cloud = '{"vendor_id":"aws","account_id":"123456789012","region_id":"eu-central-1","zone_id":"eu-central-1a","instance_type":"m5.large"}'
    with open(path, "w") as file:
        for i in range(SAMPLES):
            file.write(f'{{"timestamp_secs":{1_700_000_001 + i},"timestamp":{1_700_000_001 + i}.5,"elapsed_secs":{i + 1}.0,'
                       f'"actual_interval_ms":1000.0,"sample":{i},"host":"node-1","job_name":"long","tracked_pid":42,'
                       f'"cpu":{{"process_cores_used":{rng.random() * 2:.4f},"process_memory_mib":{100 + rng.random() * 900:.3f},'
                       f'"process_disk_write_bytes":{i}}},"run_start":{start if not i else "null"},"cloud":{cloud},"run_end":{end}}}\n')
    marks = [mark for call in range(CALLS) for mark in (("start", f"p{call % 3}", call * 150.0), ("stop", f"p{call % 3}", call * 150.0 + 149))]
    recordings.write_marks(path, 1_700_000_000.5, marks)
    return path


@pytest.mark.plain
@pytest.mark.timeout(120)
@pytest.mark.parametrize("command", [["summary"], ["recommend"], ["stats", "-a", "p95", "-c", "process_memory_mib"], ["regions"], ["report", "-o", "page.html"],
                                     ["compare-runs", "short.jsonl"], ["runs", "add", "--runs", "runs.jsonl"]], ids=lambda words: words[0])
def test_memory_does_not_grow_with_the_recording(binary, long_run, tmp_path, command):
    recordings.write(tmp_path / "short.jsonl", recordings.eight_samples())
    words = [tmp_path / word if word.endswith((".html", ".jsonl")) else word for word in command]
    used, status, out = in_memory(binary, *words, long_run)
    assert status == 0, out
    assert used < MOST_KIB, f"{used} KiB"


@pytest.mark.slow
def test_phases_of_a_long_recording_are_exact(run, long_run):
    answer = json.loads(run("regions", "--json", long_run).out)
    phases = {one["name"]: one for one in answer["code_block_results"]}
    assert sum(one["num_calls"] for one in phases.values()) == CALLS
    # The samples at 1, 2 ... 149 s lie in the first call of p0, and each wrote as many bytes as its number.
    written = sum(sum(range(call * 150, call * 150 + 149)) for call in range(0, CALLS, 3))
    assert phases["p0"]["resource_usage"]["process_disk_write_bytes"]["total"] == pytest.approx(written, rel=1e-9)


def test_a_clock_that_is_set_moves_no_phase(run, tmp_path):
    """The clock jumps a day ahead at 3.2 s and an hour back at 6.2 s; marks and samples have its times."""
    wall = lambda secs: secs + (86400 if secs > 3.2 else 0) - (3600 if secs > 6.2 else 0)
    samples = [recordings.sample(i, cores=1.0, memory=100.0 + i, start=recordings.START if i == 0 else None,
                                 **{"timestamp_secs": None}) for i in range(9)]
    for i, one in enumerate(samples):
        one["timestamp"] = 1_700_000_000.5 + wall(i + 1.0)
        one["timestamp_secs"] = int(one["timestamp"])
    path = recordings.write(tmp_path / "run.jsonl", samples)
    recordings.write_marks(path, 1_700_000_000.5, [("start", "old", -50), ("stop", "old", -40), *[
        (event, name, wall(secs)) for event, name, secs in [
            ("start", "whole", 0.5), ("start", "before", 1.25), ("stop", "before", 2.5), ("start", "across", 2.75), ("stop", "across", 3.75),
            ("start", "after", 4.5), ("stop", "after", 6.0), ("start", "last", 6.5), ("stop", "last", 7.0), ("stop", "whole", 8.5)]]])
    answer = json.loads(run("regions", "--json", path).out)
    assert {one["name"]: round(one["compute_time"]["total"], 3) for one in answer["code_block_results"]} == {
        "whole": 8.0, "before": 1.25, "across": 1.0, "after": 1.5, "last": 0.5}
    phases = {one["name"]: one for one in answer["code_block_results"]}
    assert phases["across"]["resource_usage"]["process_memory_mib"]["max"] == 102.0
    assert phases["after"]["num_timepoints"] == 2
    assert "whole run" in run("regions", path).out and " d " not in run("regions", path).out
    assert run("report", "-o", tmp_path / "page.html", path).returncode == 0
    calls = {one["name"]: one["calls"] for one in data_of(tmp_path / "page.html")["runs"][0]["phases"]}
    assert calls["across"] == [[2.75, 3.75]] and calls["last"] == [[6.5, 7.0]]


BLANK_BYTES = 100 << 20


@pytest.fixture(scope="module")
def blanks(tmp_path_factory):
    """Small gzip files: nothing but 100 MiB of one byte, then one good line."""
    folder, line = tmp_path_factory.mktemp("blanks"), json.dumps({"schema": 1, "id": "a", "outcome": "ok", "name": "x"}).encode()
    files = {}
    for name, byte in (("zeros", b"\0"), ("newlines", b"\n"), ("spaces", b" ")):
        files[name] = folder / f"{name}.jsonl.gz"
        with gzip.open(files[name], "wb", 1) as file:
            for _ in range(BLANK_BYTES >> 20):
                file.write(byte * (1 << 20))
            file.write(b"\n" + line + b"\n")
    return files


@pytest.mark.plain
@pytest.mark.parametrize("name", ["zeros", "newlines", "spaces"])
def test_a_small_file_of_nothing_is_refused_at_once(run, binary, blanks, name):
    """The line behind the blanks is not reached."""
    result = run("history", blanks[name])
    assert result.returncode == 1 and "no line is a run's" in result.err and len(result.err.splitlines()) == 1
    for words in (["recommend", blanks[name]], ["recommend", "--history", blanks[name]]):
        used, status, out = in_memory(binary, *words)
        assert status == 1 and used < 24 << 10, (used, out)
        assert len(out.splitlines()) == 1 and ("not a recording" in out or "empty" in out)


@pytest.mark.slow
def test_blanks_in_a_gzip_file_end_it(run, tmp_path):
    """The lines before them count. In a plain file the lines behind them count as well."""
    lines = [json.dumps({"schema": 1, "id": name, "outcome": "ok", "name": name, "wall_secs": 1.0}).encode() + b"\n" for name in "ab"]
    text = lines[0] + b"\n" * (70 << 20) + lines[1]
    (tmp_path / "runs.jsonl").write_bytes(text)
    with gzip.open(tmp_path / "runs.jsonl.gz", "wb", 1) as file:
        file.write(text)
    plain, packed = (json.loads(run("history", "--json", tmp_path / name).out) for name in ("runs.jsonl", "runs.jsonl.gz"))
    assert (plain["runs"], plain["damaged_lines"]) == (2, 0)
    assert (packed["runs"], packed["damaged_lines"]) == (1, 1)


REFUSALS = ("not a recording", "no line is a run's", "no line is a sample", "UTF-16 text", "its columns are separated by")


@pytest.mark.timeout(60)
@pytest.mark.parametrize("words", [
    ["recommend"], ["recommend", "-j"], ["recommend", "--history"], ["history"], ["summary"], ["regions"], ["stats"], ["show"],
    ["export", "--format", "csv"], ["combine", "-o", "all.jsonl"], ["report", "-o", "page.html"], ["compare-runs", "x.jsonl"],
    ["runs", "add", "--runs", "runs.jsonl"]], ids=" ".join)
@pytest.mark.parametrize("device", ["/dev/zero", "/dev/urandom"])
def test_a_device_that_never_ends_is_refused(run, tmp_path, words, device):
    """It has no line end, or lines of any bytes: the first two may be those of UTF-16, one in 128 begins as JSON does, and a
    short line may have tabs or semicolons.
    """
    recordings.write(tmp_path / "x.jsonl", recordings.eight_samples())
    result = run(*words, device, *(["x.jsonl"] if words[-1] == "--history" else []))
    assert result.returncode == 1 and len(result.err.splitlines()) == 1, result.err
    assert any(f"{device}: {why}" in result.err for why in REFUSALS)


@pytest.mark.timeout(60)
@pytest.mark.parametrize("words", [["summary"], ["export", "--format", "csv"], ["stats"]], ids=" ".join)
def test_a_pipe_that_begins_as_json_and_never_ends_is_refused(binary, run, words):
    """It was read for ever."""
    result = run("-c", f"yes '{{x' | {binary} {' '.join(words)} -", program="sh")
    assert (result.returncode, result.err) == (1, f"resource-tracker {words[0]}: -: no line is a sample (line 1 is not)\n")


@pytest.mark.timeout(60)
def test_marks_that_never_end_are_told(run, tmp_path):
    """They were read for ever."""
    path = recordings.write(tmp_path / "x.jsonl", recordings.eight_samples())
    result = run("regions", "--marks", "/dev/urandom", path)
    assert result.returncode == 0 and "100000 lines of the marks cannot be read" in result.out + result.err


@pytest.mark.timeout(60)
@pytest.mark.parametrize("byte", ["x", pytest.param("\\n", marks=pytest.mark.plain), "\\0"])
def test_a_pipe_without_lines_ends_behind_the_last_sample(binary, run, tmp_path, byte):
    path = recordings.write(tmp_path / "x.jsonl", recordings.eight_samples())
    endless = f"cat {path}; tr '\\0' '{byte}' </dev/zero 2>&-"
    result = run("-c", f"({endless}) | {binary} summary --json -", program="sh")
    assert json.loads(result.out)["run"]["samples"] == 8 and json.loads(result.out)["damage"]["torn_tails"] == 1


def test_the_first_line_of_a_large_file_is_bounded_and_later_ones_are_not(run, tmp_path):
    """A crash of the machine may leave a hole in a recording."""
    os.truncate(recordings.write(tmp_path / "x.jsonl", recordings.eight_samples()), 100 << 20)
    with open(tmp_path / "x.jsonl", "a") as file:
        file.write("\n" + recordings.lines([recordings.sample(9)]))
    assert json.loads(run("summary", "--json", tmp_path / "x.jsonl").out)["run"]["samples"] == 9
    (tmp_path / "none.jsonl").touch()
    os.truncate(tmp_path / "none.jsonl", 1 << 40)
    assert "no line is a run's" in run("history", tmp_path / "none.jsonl").err
