"""A tracker that is stopped and continued: missed ticks are counted, times are true, and samples do not come in a
burst.
"""
import os
import signal
import time

import pytest

import exact


def test_stop_and_continue(spawn, tmp_path, helpers):
    record = tmp_path / "record.jsonl"
    tracker = spawn("-i", 0.05, "-o", record, "--no-summary", "--pid", os.getpid())
    helpers.wait_until(lambda: record.exists() and record.read_bytes().count(b"\n") >= 4)
    os.kill(tracker.pid, signal.SIGSTOP)
    time.sleep(1)
    os.kill(tracker.pid, signal.SIGCONT)
    lines = record.read_bytes().count(b"\n")
    helpers.wait_until(lambda: record.read_bytes().count(b"\n") >= lines + 6)
    tracker.terminate()
    assert tracker.wait() == 0
    samples = helpers.json_lines(record)
    exact.check_intervals(samples)
    gap = max(samples, key=lambda sample: sample["actual_interval_ms"])
    assert gap["actual_interval_ms"] >= 1000
    assert gap["missed_ticks"] in (int(gap["actual_interval_ms"] // 50) - 1, int(gap["actual_interval_ms"] // 50))
    for before, after in zip(samples, samples[1:]):
        passed_ms = (after["elapsed_secs"] - before["elapsed_secs"]) * 1000
        assert abs(passed_ms - after["actual_interval_ms"]) < 0.002
    # The grid continues where it would have been, so at most one short interval follows.
    ticks = len(samples) - 1 + sum(sample["missed_ticks"] for sample in samples)
    assert abs(ticks - samples[-1]["elapsed_secs"] / 0.05) <= 2


def test_the_clock_does_not_drift(record):
    """Delays depend on other programs, so look at the least late samples: they stay in place."""
    _, samples = record("-i", 0.001, "--metrics", "process_cores_used", "--", "sleep", 2)
    late_ms, ticks = [], 0
    for sample in samples[:-1]:  # the last one belongs to the end, between two ticks
        ticks += 1 + sample["missed_ticks"]
        late_ms.append(sample["elapsed_secs"] * 1000 - ticks)
    half = len(late_ms) // 2
    assert half > 10
    assert -0.001 <= min(late_ms[:half]) < 1
    assert abs(min(late_ms[half:]) - min(late_ms[:half])) < 1


@pytest.mark.alone
def test_the_first_sample_has_everything_however_short_the_interval(record):
    _, samples = record("-i", 0.001, "--", "sleep", 0.05)
    assert len(samples) > 5
    assert samples[0]["run_start"]["kernel"] and samples[0]["run_start"]["cpu_count"]
    assert all(sample["limits"]["cpuset_cores"] for sample in samples)
