"""A program with forked children that only read their parent's memory: every way of asking counts that memory once."""
import os
import pathlib
import re
import time

import pytest

from resource_tracker_native import ResourceTracker
from resource_tracker_native.gpu_tracker import Tracker

MIB = 1 << 20
SHARED_MIB, CHILDREN, SECS = 160, 5, 3


def taken_mib(pids):
    """Returns (least, most) by /proc/PID/smaps. A library that other programs map as well may count partly or fully."""
    least = most = 0
    files = {}
    for pid in pids:
        for area in re.split(r"^(?=[0-9a-f]+-[0-9a-f]+ )", pathlib.Path(f"/proc/{pid}/smaps").read_text(), flags=re.M)[1:]:
            _, _, offset, device, inode, *_ = area.split(None, 5)
            pss, rss, anonymous = (int(re.search(rf"^{name}: +(\d+) kB", area, re.M)[1]) for name in ("Pss", "Rss", "Anonymous"))
            least += pss
            if inode == "0" or anonymous:
                most += pss
            else:
                files[device, inode, offset] = max(rss, files.get((device, inode, offset), 0))
    return least / 1024, (most + sum(files.values())) / 1024


class Readers:
    """Starts children that read a large text of their parent until they are ended."""

    def __init__(self):
        self.text, self.pids = b"x" * (SHARED_MIB * MIB), []
        for _ in range(CHILDREN):
            pid = os.fork()
            if pid == 0:
                self.text.count(b"y")
                time.sleep(60)
                os._exit(0)
            self.pids.append(pid)

    def end(self):
        for pid in self.pids:
            os.kill(pid, 9)
            os.waitpid(pid, 0)

    def true_mib(self):
        return taken_mib([os.getpid(), *self.pids])


@pytest.fixture
def readers(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    running = Readers()
    time.sleep(0.5)
    yield running
    running.end()


def near(mib, truth):
    least, most = truth
    allowed = 0.05 * least + 0.5 * (CHILDREN + 1)
    return least - allowed <= mib <= most + allowed


def test_tracker_counts_memory_of_forked_children_once(readers):
    with ResourceTracker(interval=1, discover_cloud=False) as tracker:
        time.sleep(SECS)
        truth = readers.true_mib()
    told = [mib for mib in tracker.process_metrics["memory_mib"] if mib]
    assert all(near(mib, truth) for mib in told[1:]), (told, truth)
    assert near(tracker.stats()["process_memory_mib"]["max"], truth)


def test_gpu_tracker_counts_memory_of_forked_children_once(readers):
    with Tracker(sleep_time=1, ram_unit="megabytes", disable_logs=True) as tracker:
        time.sleep(SECS)
        truth = readers.true_mib()
    ram = tracker.resource_usage.max_ram
    scale = 1.048576
    assert near(ram.combined.total_rss / scale, truth), (ram, truth)
    assert near(ram.combined.private_rss / scale + ram.combined.shared_rss / scale, truth), (ram, truth)
    assert ram.descendants.shared_rss / scale >= 0.95 * SHARED_MIB and ram.main.shared_rss / scale >= 0.95 * SHARED_MIB, ram
    assert ram.descendants.total_rss / scale <= truth[1] * 1.05 and ram.descendants.private_rss / scale < 20, ram
