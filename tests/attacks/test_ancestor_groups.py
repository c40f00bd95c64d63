"""Control groups with misleading names, and limits of an ancestor that bind."""
import contextlib
import os
import pathlib

import pytest

import exact

CPU = pathlib.Path("/sys/fs/cgroup/cpu")
MEMORY = pathlib.Path("/sys/fs/cgroup/memory")
MIB = 1 << 20

pytestmark = pytest.mark.skipif(os.geteuid() != 0 or not (MEMORY / "memory.limit_in_bytes").exists() or
                                not (CPU / "cpu.cfs_quota_us").exists(),
                                reason="groups of version 1 are made by root")


@contextlib.contextmanager
def folders(*paths):
    for path in paths:
        path.mkdir()
    try:
        yield paths
    finally:
        for path in reversed(paths):
            path.rmdir()


def counters(folder):
    return {key: int(value) for key, value in map(str.split, (folder / "cpu.stat").read_text().splitlines())}


def test_throttling_by_an_ancestor_is_counted(record):
    """The kernel counts periods in the group with the quota, not in the job's."""
    above = CPU / f"attack-quota-{os.getpid()}"
    with folders(above, above / "sub"):
        (above / "cpu.cfs_period_us").write_text("10000")
        (above / "cpu.cfs_quota_us").write_text("2000")
        _, samples = record("-i", 0.2, "--", "timeout", "1.2", "sh", "-c", "while :; do :; done",
                            preexec_fn=exact.enter(above / "sub"))
        kernel = counters(above)
        assert kernel["nr_throttled"] > 0 and counters(above / "sub")["nr_throttled"] == 0
    told = sum(sample["cgroup"]["throttled_periods"] for sample in samples)
    # Events before the baseline and after the last sample are not the job's.
    assert 0.7 * kernel["nr_throttled"] - 2 <= told <= kernel["nr_throttled"], (told, kernel)
    assert sum(sample["cgroup"]["throttled_secs"] for sample in samples) <= kernel["throttled_time"] / 1e9 + 1e-6  # rounded
    assert samples[-1]["limits"]["cpu_limit_cores"] == 0.2


@pytest.mark.parametrize("name", ["%d (deleted)", "..%d", "...%d", "%d (deleted) (deleted)", "a:b c %d", "%d\\n"])
def test_odd_names_of_groups(record, name):
    folder = MEMORY / (name % os.getpid())
    with folders(folder):
        (folder / "memory.limit_in_bytes").write_text(str(100 * MIB))
        _, samples = record("-i", 0.2, "--", "sleep", "0.5", preexec_fn=exact.enter(folder))
    assert samples[-1]["limits"]["memory_limit_mib"] == 100
    assert samples[-1]["cgroup"]["memory_current_mib"] < 100


def test_group_that_was_removed_is_not_replaced_by_its_parent(record):
    """The parent has other memory; its limit still binds."""
    above, below = MEMORY / f"attack-removed-{os.getpid()}", MEMORY / f"attack-removed-{os.getpid()}" / "x"
    job = f"sleep 0.3; echo $$ >{above}/cgroup.procs; rmdir {below}; sleep 0.7"
    with folders(above):
        below.mkdir()
        (above / "memory.limit_in_bytes").write_text(str(200 * MIB))
        _, samples = record("-i", 0.2, "--", "sh", "-c", f"echo $$ >{below}/cgroup.procs; {job}")
    limits = [sample["limits"]["memory_limit_mib"] for sample in samples]
    # A first sample may find the shell where it started, in a group without a limit.
    assert 200 in limits[:3] and set(limits[limits.index(200):]) == {200}, limits
