"""The readings with the names and units of the package's first versions (0.1): ticks, kB, sectors."""
from __future__ import annotations

from typing import Any, Dict

from . import _native
from . import tracker_procfs as now

__all__ = [
    "get_pid_children", "get_pid_rss", "get_pid_pss_rollup", "get_pid_proc_times", "get_pid_proc_io", "get_pid_stats",
    "get_system_stats", "is_partition",
]

from .helpers import is_partition  # noqa: E402

get_pid_children = now.get_process_children
get_pid_rss = now.get_process_rss
get_pid_pss_rollup = now.get_process_pss_rollup
get_pid_proc_times = now.get_process_proc_times
get_pid_proc_io = now.get_process_proc_io

SECTOR_BYTES = 512


def _ticks(secs: Any) -> Any:
    from os import sysconf

    return None if secs is None else round(secs * sysconf("SC_CLK_TCK"))


def _kb(mib: Any) -> Any:
    return None if mib is None else round(mib * 1024)


def get_pid_stats(pid: int, children: bool = True) -> Dict[str, Any]:
    """Reads what a process has used so far: times in clock ticks, `pss` in kB."""
    stats = now.get_process_stats(pid, children)
    return {
        "timestamp": stats["timestamp"],
        "pid": stats["pid"],
        "children": stats["children"],
        "utime": _ticks(stats["utime"]),
        "stime": _ticks(stats["stime"]),
        "pss": _kb(stats["memory_mib"]),
        "read_bytes": stats["disk_read_bytes"],
        "write_bytes": stats["disk_write_bytes"],
        "gpu_usage": stats["gpu_usage"],
        "gpu_vram": stats["gpu_vram_mib"],
        "gpu_utilized": stats["gpu_utilized"],
        "gpu_utilized_indexes": stats["gpu_utilized_indexes"],
    }


def get_system_stats() -> Dict[str, Any]:
    """Reads what the machine has used so far: times in clock ticks, memory in kB, disks in sectors of 512 bytes."""
    stats = now.get_system_stats()
    machine = _native.Tracker([("no-process", "1"), ("metrics", "memory")], history=1)
    machine.sample()
    anon = {name: machine.history(name, "system-0.1", integers=True)[0] for name in _native.csv_headings("system-0.1")
            if name.endswith("_anon")}
    machine.close()
    disks = {device: {"read_sectors": disk["read_bytes"] // SECTOR_BYTES, "write_sectors": disk["write_bytes"] // SECTOR_BYTES}
             for device, disk in stats["disk_stats"].items()}
    return {
        "timestamp": stats["timestamp"],
        "processes": stats["processes"],
        "utime": _ticks(stats["utime"]),
        "stime": _ticks(stats["stime"]),
        **{f"memory_{name}": _kb(stats[f"memory_{name}_mib"]) for name in ("free", "used", "buffers", "cached")},
        **anon,
        "disk_stats": disks,
        "disk_spaces": stats["disk_spaces"],
        "net_recv_bytes": stats["net_recv_bytes"],
        "net_sent_bytes": stats["net_sent_bytes"],
        "gpu_usage": stats["gpu_usage"],
        "gpu_vram": stats["gpu_vram_mib"],
        "gpu_utilized": stats["gpu_utilized"],
    }
