"""Machines whose figures are not a kernel's own: named once in run_start, and by --why."""
import json

import pytest

STAT = "cpu  9 0 9 99 0 0 0 0 0 0\ncpu0 9 0 9 99 0 0 0 0 0 0\nctxt 9\nprocs_running 1\n"
MOUNTS = "22 1 0:20 / /proc rw - proc proc rw\n23 22 0:21 / /proc/{} rw - {} {} rw\n"
MACHINES = {
    "kernel": {"proc/stat": STAT, "sys/class/net/lo/mtu": "65536\n", "proc/version": "Linux version 6.1.0\n",
               "proc/self/mountinfo": MOUNTS.format("fs/nfsd", "nfsd", "nfsd")},
    "gvisor+no-sys+no-proc-stat": {"proc/version": "Linux version 4.4.0 #1 SMP Sun Jan 10 15:06:54 PST 2016\n",
                                   "proc/stat": "cpu  0 0 0 0 0 0 0 0 0 0\ncpu0 0 0 0 0 0 0 0 0 0 0\n"},
    "gvisor": {"proc/version": "Linux version 4.19.0-gvisor #1 SMP\n", "proc/stat": STAT, "sys/class/net/lo/mtu": "65536\n"},
    "lxcfs": {"proc/stat": STAT, "sys/class/net/lo/mtu": "65536\n", "proc/self/mountinfo": MOUNTS.format("meminfo", "fuse.lxcfs", "lxcfs")},
    "sysboxfs": {"proc/stat": STAT, "sys/class/net/lo/mtu": "65536\n", "proc/self/mountinfo": MOUNTS.format("sys", "fuse", "sysboxfs")},
    "wsl1": {"proc/version": "Linux version 4.4.0-19041-Microsoft (Microsoft@Microsoft.com)\n", "proc/stat": STAT,
             "sys/devices/x": "\n"},
    "no-sys": {"proc/stat": STAT},
    "no-proc-stat": {"sys/class/net/lo/mtu": "65536\n"},
}


@pytest.mark.parametrize("source", MACHINES)
def test_source_of_figures_is_named_once(run, tmp_path, source):
    root, out = tmp_path / "root", tmp_path / "out.jsonl"
    for path, text in {"proc/meminfo": "MemTotal: 1024 kB\nMemFree: 512 kB\n", **MACHINES[source]}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    done = run("--root", root, "-i", "0.1", "--duration", "0.2", "-q", "--why", "-o", out)
    first, *rest = [json.loads(line) for line in out.read_text().splitlines()]
    assert first["run_start"]["figures_from"] == source
    assert all(sample["run_start"] is None for sample in rest)
    lines = [line for line in done.err.splitlines() if "figures_from" in line]
    assert lines == ([] if source == "kernel" else
                     [f"resource-tracker: run_start.figures_from is {source}, so some figures are not those of a kernel"])
