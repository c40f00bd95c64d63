"""TRACKER_DEBUG=1: a line for each thing that a part of the recorder does."""
import re

import pytest

from conftest import BUILD

LINE = re.compile(r"resource-tracker: debug (\d+)\.(\d{6}) (\w+): (.*?)(?:, (\d+) us)?$")


def debug_lines(text):
    found = [LINE.fullmatch(line) for line in text.splitlines()]
    assert all(found), text
    return [(int(one[1]) + int(one[2]) / 1e6, one[3], one[4], one[5]) for one in found]


def test_each_part_reports_its_work_with_times(run):
    result = run("-o", "run.jsonl", "-i", "0.1", "--", "sleep", "0.25", env={"TRACKER_DEBUG": "1"})
    assert result.returncode == 0
    lines = debug_lines(result.err)
    assert lines[0][0] == 0 and lines[-1][0] < 60
    texts = {(part, text) for _, part, text, _ in lines}
    assert ("collector", "host_memory is open") in texts and ("collector", "host_memory has read sample 1") in texts
    assert any(part == "job" and re.fullmatch(r"is process \d+", text) for part, text in texts)
    assert any(part == "witness" for part, _ in texts)
    assert ("outputs", "sample 0 is written to 1 of them") in texts
    assert all(took is not None for _, part, _, took in lines if part in ("collector", "outputs", "job"))


def test_a_group_that_is_left_out_needs_no_collector(run):
    result = run("-o", "run.jsonl", "--metrics", "memory", "--", "true", env={"TRACKER_DEBUG": "1"})
    texts = {text for _, part, text, _ in debug_lines(result.err) if part == "collector"}
    assert "host_memory is open" in texts and "host_disk is not needed" in texts
    assert "host_disk has read sample 0" not in texts


def test_a_follower_is_among_them(run, tmp_path):
    result = run("-o", "run.jsonl", "--upload-deadline", "0", "--spool", tmp_path / "spool", "--", "true",
                 env={"TRACKER_DEBUG": "1", "SENTINEL_API_TOKEN": "x", "SENTINEL_API_URL": "http://127.0.0.1:9"})
    told = [line for line in result.err.splitlines() if " follower: " in line]
    assert "follows" in told[0] and (": error" in told[0] or any("is told of the end" in line for line in told))


@pytest.mark.skipif(not (BUILD / "resource-tracker-net").exists(), reason="the build has no network")
def test_the_follower_speaks_itself(run, tmp_path):
    result = run("-o", "run.jsonl", "--upload-deadline", "2", "--spool", tmp_path / "spool", "--", "true",
                 env={"TRACKER_DEBUG": "1", "SENTINEL_API_TOKEN": "secret-of-the-test", "SENTINEL_API_URL": "http://127.0.0.1:9"})
    lines = debug_lines("".join(line + "\n" for line in result.err.splitlines() if ": debug " in line))
    own = {text: took for _, part, text, took in lines if part == "follower"}
    assert any(re.fullmatch(r"process \d+ of resource-tracker-net [\d.]+ follows .*run\.jsonl from byte 0", text) for text in own)
    assert any(re.fullmatch(r"batch 0 is cut: samples \d+, bytes \d+", text) for text in own)
    assert own["registering the run: failed, will be tried again"] is not None
    assert "ends: a part is left" in own and "the recording has ended" in own
    assert "secret-of-the-test" not in result.err
    # The recorder does not repeat them as warnings of its own.
    assert "says: resource-tracker: debug" not in result.err


def test_the_helper_and_its_worker_speak_themselves(run, nvml):
    nvml.say("gpus 1")
    result = run("-o", "run.jsonl", "-i", "0.1", "--", "sleep", "1", env=nvml.env(TRACKER_DEBUG="1"))
    lines = debug_lines(result.err)
    helper = [text for _, part, text, _ in lines if part == "helper"]
    assert any(re.fullmatch(r"process \d+ of resource-tracker-helper [\d.]+ is there for kind gpu", text) for text in helper)
    assert any(re.fullmatch(r"worker \d+ is started", text) for text in helper)
    passes = [(text, took) for _, part, text, took in lines if part == "worker"]
    assert any(re.fullmatch(r"pass 1 has an answer of \d+ bytes", text) and took is not None for text, took in passes)
    assert any(text.startswith("ends: the recorder") for text in helper)
    assert run("-o", "run.jsonl", "--append", "-i", "0.1", "--", "sleep", "0.3", env=nvml.env()).err == ""


def test_nothing_is_said_without_it(run):
    for value in ("", "0", "yes"):
        assert run("-o", "run.jsonl", "--append", "--", "true", env={"TRACKER_DEBUG": value}).err == ""
