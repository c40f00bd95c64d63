"""ResourceTracker.programs: what each program of the tree used."""
import subprocess

import pytest

from resource_tracker_native import ResourceTracker


def make(**arguments):
    return ResourceTracker(**{"interval": 0.05, "discover_cloud": False, **arguments})


def sums_of_programs(tracker):
    """(by programs, by the tree): CPU seconds, which are rounded to 1e-4 s in each sample."""
    rows, samples = tracker.programs, tracker.process_metrics
    return sum(rows["cpu_secs"]), sum(samples["utime"]) + sum(samples["stime"])


def program_row(tracker, name):
    rows = [row for row in tracker.programs.to_dict() if row["program"] == name]
    assert len(rows) <= 1
    return rows[0] if rows else None


@pytest.mark.parametrize("method", [None, "spawn"])
def test_the_programs_of_the_tree(method):
    tracker = make(settings={"programs": 8}, method=method)
    child = subprocess.Popen(["sh", "-c", "while :; do :; done"])
    while (program_row(tracker, "sh") or {"cpu_secs": 0})["cpu_secs"] < 0.2:
        tracker.wait_for_samples(tracker.n_samples + 1)
    row = program_row(tracker, "sh")
    assert row["process_count"] == 1 and row["memory_mib"] > 0 and row["memory_peak_mib"] is None
    child.kill()
    child.wait()
    tracker.stop()
    by_program, by_tree = sums_of_programs(tracker)
    assert abs(by_program - by_tree) <= 2e-4 * tracker.n_samples
    assert program_row(tracker, "sh")["cpu_secs"] >= row["cpu_secs"]
    assert program_row(tracker, "sh")["memory_peak_mib"] >= row["memory_mib"]
    assert program_row(tracker, "sh")["disk_write_bytes"] == 0


def test_programs_are_not_looked_at_unless_asked_for():
    with make() as tracker:
        tracker.wait_for_samples(1)
    assert len(tracker.programs) == 0 and len(ResourceTracker(autostart=False).programs) == 0
