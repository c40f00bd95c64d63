"""A figure whose source is missing, or says something impossible, is null with a reason: never 0, and never negative."""
import pytest

from conftest import csv_rows, json_lines

MEMORY = """\
MemTotal:        4194304 kB
MemFree:         1024000 kB
MemAvailable:    {available} kB
Buffers:           10240 kB
Cached:          1024000 kB
SwapTotal:       {total} kB
SwapFree:        {free} kB
"""


def lay(folder, files):
    """Writes a root: texts by their paths."""
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


@pytest.fixture
def record_root(run, tmp_path):
    """record_root({path: text}) records such a machine; returns the last sample, the last CSV row, the reasons and the summary."""

    def record(files, *options):
        root = lay(tmp_path / "root", files)
        outputs = tmp_path / "root.jsonl", tmp_path / "root.csv"
        done = run("--root", root, "-i", 0.3, "--duration", 0.7, "-q", "--why", "-o", outputs[0], "-o", outputs[1], *options)
        assert done.returncode == 0, done.err
        reasons = dict(line.split(": ", 3)[2:] for line in done.err.splitlines() if ": null: " in line)
        summary = run("summary", outputs[0]).out
        return json_lines(outputs[0])[-1], csv_rows(outputs[1])[-1], reasons, summary

    return record


# ---- memory ---------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("total, free", [
    (1048576, 2097152), (18014398509481983, 1048576), (18014398509481983, 18014398509481983), (9007199254740988, 9007199254740988),
    (0, 18446744073709346016), (0, 4)])
def test_impossible_swap_is_null_with_a_reason(record_root, total, free):
    """lxcfs: free may exceed the total, and a limit that is not set is a huge number."""
    sample, _, reasons, summary = record_root({"proc/meminfo": MEMORY.format(available=2048000, total=total, free=free)})
    assert sample["memory"]["swap_total_mib"] == (total / 1024 if total <= 1048576 else None)
    for name in ("swap_used_mib", "swap_used_pct"):
        assert sample["memory"][name] is None and reasons[f"memory.{name}"] == "the kernel gives no usable value"
    assert "swap" not in summary.lower()


def test_swap_of_0_is_known_to_be_0(record_root):
    sample, _, _, _ = record_root({"proc/meminfo": MEMORY.format(available=2048000, total=0, free=0)})
    assert sample["memory"]["swap_used_mib"] == 0 and sample["memory"]["swap_used_pct"] == 0


@pytest.mark.parametrize("total, available", [(4194304, 4194308), (4194304, 1 << 53), (0, 0)])
def test_available_memory_above_the_total_is_null(record_root, total, available):
    text = MEMORY.format(available=available, total=0, free=0).replace("4194304", str(total))
    sample, row, reasons, summary = record_root({"proc/meminfo": text.replace("Cached", "Uncached")})
    for name in ("used_mib", "used_pct"):
        assert sample["memory"][name] is None and reasons[f"memory.{name}"] == "the kernel gives no usable value"
    assert row["system_memory_used_mib"] == ""
    assert "Memory     not recorded" in summary


# ---- the cache of ZFS -----------------------------------------------------------------------------------------------

ZFS = {
    "proc/meminfo": "MemTotal: 16777216 kB\nMemFree: 2000000 kB\nMemAvailable: 3000000 kB\nBuffers: 0 kB\nCached: 1000000 kB\n",
    "proc/spl/kstat/zfs/arcstats": "13 1 0x01 96 4608 1 2\nname type data\nc_min 4 1000000000\nc_max 4 17000000000\nsize 4 8589934592\n",
}


def test_the_cache_of_zfs_is_available_on_a_host(record_root):
    host = {"proc/1/cgroup": "0::/init.scope\n", "proc/self/mountinfo": "22 1 8:1 / / rw - zfs rpool/root rw\n"}
    sample, _, _, summary = record_root({**ZFS, **host})
    assert sample["memory"]["available_mib"] == round((3000000 + (8589934592 - 1000000000) // 1024) / 1024, 3)
    assert sample["memory"]["used_pct"] == 37.94
    assert sample["memory"]["free_mib"] == 1953.125
    assert "38 % of 16.0 GiB (machine)" in summary


@pytest.mark.parametrize("marks", [
    {".dockerenv": ""},
    {"run/.containerenv": ""},
    {"run/systemd/container": "lxc"},
    {"proc/1/cgroup": "8:pids:/docker/7f3a\n0::/\n"},
    {"proc/self/mountinfo": "22 1 0:30 / / rw - zfs tank/ct rw\n23 22 0:31 /proc/meminfo /proc/meminfo rw - fuse.lxcfs lxcfs rw\n"},
    {"proc/self/mountinfo": "22 1 0:30 / / rw - overlay overlay rw\n"},
], ids=lambda marks: " ".join(marks))
def test_a_container_may_not_have_the_cache_of_its_host(record_root, marks):
    sample, _, _, _ = record_root({**ZFS, **marks})
    assert sample["memory"]["used_pct"] == 82.12


@pytest.mark.parametrize("namespace, used_pct", [(4026531836, 37.94), (4026532450, 82.12)])
def test_the_number_of_the_pid_namespace_tells_a_container(record_root, tmp_path, namespace, used_pct):
    (tmp_path / "root/proc/self/ns").mkdir(parents=True)
    (tmp_path / "root/proc/self/ns/pid").symlink_to(f"pid:[{namespace}]")
    sample, _, _, _ = record_root(ZFS)
    assert sample["memory"]["used_pct"] == used_pct


@pytest.mark.parametrize("arcstats", [
    "size 4 17179869184\nc_min 4 0\n",  # as large as the machine, which has other used memory
    "size 4 1000\nc_min 4 1000000000\n",
    "size 4 8589934592\n",
    "nothing\n",
])
def test_an_odd_cache_of_zfs_changes_nothing(record_root, arcstats):
    sample, _, _, _ = record_root({**ZFS, "proc/spl/kstat/zfs/arcstats": arcstats})
    assert sample["memory"]["used_pct"] == 82.12
