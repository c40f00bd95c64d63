"""Control groups with misleading names or in another container, and limits of an ancestor that bind."""
import contextlib
import os
import pathlib
import subprocess

import pytest

import exact
from conftest import clean_environment, json_lines
from namespaces import needs_private_mounts

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


# A container that has a control group namespace, and mounts its own group alone.
ENTER = f"umount -R {MEMORY.parent} && mount -t tmpfs groups {MEMORY.parent} && mkdir {MEMORY} && mount -t cgroup -o memory groups {MEMORY}"


@needs_private_mounts
@pytest.mark.parametrize("target, limit", [
    ("sleep 30", 700),
    (f"unshare -m -C sh -c '{ENTER} && exec sleep 30'", 700),
    (f"unshare -m sh -c 'umount -R {MEMORY.parent} && exec sleep 30'", None),
], ids=["host", "container", "container that mounts no groups"])
def test_a_target_in_another_container_has_its_own_limits_or_none(binary, tmp_path, helpers, target, limit):
    """The recorder, in a container with a limit of 200 MiB, once told its own limit and memory as those of the target."""
    ours, theirs = (MEMORY / f"attack-{name}-{os.getpid()}" for name in ("sidecar", "main"))
    path = tmp_path / "run.jsonl"
    with folders(ours, theirs):
        (ours / "memory.limit_in_bytes").write_text(str(200 * MIB))
        (theirs / "memory.limit_in_bytes").write_text(str(700 * MIB))
        with subprocess.Popen(["sh", "-c", f"exec {target}"], preexec_fn=exact.enter(theirs), stdin=subprocess.DEVNULL) as job:
            try:
                helpers.wait_until(lambda: pathlib.Path(f"/proc/{job.pid}/comm").read_text() == "sleep\n")
                done = subprocess.run(
                    ["unshare", "-m", "-C", "sh", "-c", f'{ENTER} && exec "$@"', "sh", binary, "-q", "--no-summary", "-i", "0.1",
                     "--duration", "0.3", "-o", path, "--pid", str(job.pid)], preexec_fn=exact.enter(ours), stdin=subprocess.DEVNULL,
                    env=clean_environment(), capture_output=True, text=True, timeout=60, check=False)
            finally:
                job.kill()
        assert done.returncode == 0, done.stderr
    last = json_lines(path)[-1]
    assert last["limits"]["memory_limit_mib"] == limit
    assert (last["cgroup"]["memory_current_mib"] is None) == (limit is None)
