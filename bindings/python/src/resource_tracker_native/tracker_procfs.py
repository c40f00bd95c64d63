"""Single readings of processes and the machine, which trackers compare with the next.

Units stand in names; CPU times are seconds. A process that has gone has used nothing (0), as with the Python
package resource-tracker. A value that exists but cannot be read is None, never 0.
"""
from __future__ import annotations

from os import R_OK, access
from time import time
from typing import Any, Dict, Optional, Set

from . import _native

__all__ = [
    "get_process_children", "get_process_rss", "get_process_pss_rollup", "get_process_proc_times",
    "get_process_proc_io", "get_process_stats", "get_system_stats",
]

MIB = 1 << 20


def get_process_children(pid: int) -> Set[int]:
    """Returns all descendants of a process, including those of its other threads."""
    try:
        return set(_native.process_descendants(pid))
    except ProcessLookupError:
        return set()


def get_process_rss(pid: int) -> Optional[int]:
    """Returns resident memory in kB."""
    return _kb(_native.process_rss, pid)


def get_process_pss_rollup(pid: int) -> Optional[int]:
    """Returns proportional set size in kB."""
    return _kb(_native.process_pss, pid)


def _kb(read: Any, pid: int) -> Optional[int]:
    try:
        return read(pid) // 1024
    except ProcessLookupError:
        return 0
    except OSError:
        return None


def get_process_proc_times(pid: int, children: bool = True) -> Dict[str, int]:
    """Returns user and system time in clock ticks, with the time of reaped children unless `children` is false."""
    from os import sysconf

    try:
        user, system = _native.process_times(pid, children)
    except OSError:
        return {"utime": 0, "stime": 0}
    ticks = sysconf("SC_CLK_TCK")
    return {"utime": round(user * ticks), "stime": round(system * ticks)}


def get_process_proc_io(pid: int) -> Dict[str, int]:
    """Returns the counters of /proc/PID/io. If it cannot be read, only read_bytes and write_bytes, as 0."""
    try:
        with open(f"/proc/{pid}/io", encoding="ascii") as counters:
            return {name: int(value) for name, _, value in (line.partition(":") for line in counters)}
    except OSError:
        return {"read_bytes": 0, "write_bytes": 0}


def get_process_stats(pid: int, children: bool = True) -> Dict[str, Any]:
    """Reads what a process, and its descendants unless `children` is false, have used so far.

    Returns:
        `timestamp`, `pid`, `children` (None when they are not counted), `utime` and `stime` in seconds, `memory_mib`
        (proportional share), `disk_read_bytes`, `disk_write_bytes`, `gpu_usage`, `gpu_vram_mib`, `gpu_utilized`,
        `gpu_utilized_indexes`.
    """
    try:
        process = _native.process_read(pid, children)
    except ProcessLookupError:
        process = {"realtime_secs": time(), "child_count": 0, "user_secs": 0.0, "system_secs": 0.0, "pss_bytes": 0,
                   "rss_bytes": 0, "read_bytes": 0, "written_bytes": 0}
    memory = process["pss_bytes"] if process["pss_bytes"] is not None else process["rss_bytes"]
    return {
        "timestamp": process["realtime_secs"],
        "pid": pid,
        "children": process["child_count"] if children else None,
        "utime": process["user_secs"],
        "stime": process["system_secs"],
        "memory_mib": None if memory is None else memory / MIB,
        "disk_read_bytes": process["read_bytes"],
        "disk_write_bytes": process["written_bytes"],
        **_gpus_of(pid, children),
    }


def _gpus_of(pid: int, children: bool) -> Dict[str, Any]:
    """Asks a helper process, if there is a GPU, for at most half a second."""
    from .server_info import gpu_tracker

    none: Dict[str, Any] = {"gpu_usage": 0, "gpu_vram_mib": 0, "gpu_utilized": 0, "gpu_utilized_indexes": set()}
    try:
        tracker = gpu_tracker(pid=pid, **({} if children else {"no_children": 1}))
    except OSError:
        return none
    if tracker is None:
        return none
    _wait_for_gpus(tracker, 0.5)
    values = tracker.values() or {}
    tracker.close()
    used = {index for index, pct in zip(values.get("gpu.index", []), values.get("gpu.process_utilization_pct", [])) if pct}
    result = {f"gpu_{name}": values.get(f"cpu.process_gpu_{name}") for name in ("usage", "vram_mib", "utilized")}
    return {**result, "gpu_utilized_indexes": used}


def _wait_for_gpus(tracker: Any, secs: float) -> None:
    """Waits until the drivers were asked twice, because usage is the difference of two readings."""
    end = time() + secs
    while time() < end and not tracker.instance_count("gpu.index"):
        tracker.wait_for_samples(tracker.sample_count + 1, 0.2)
    tracker.wait_for_samples(tracker.sample_count + 2, max(0.0, end - time()))


def get_system_stats() -> Dict[str, Any]:
    """Reads what the machine has used since it was started, and what it holds now.

    Returns:
        `timestamp`, `processes`, `utime` and `stime` in seconds, `memory_{free,used,buffers,cached,active,inactive}_mib`,
        `disk_stats` {device: {read_bytes, write_bytes}} and `disk_spaces` {mount point: {total, used, free}} in bytes,
        `net_recv_bytes`, `net_sent_bytes`, `gpu_usage`, `gpu_vram_mib`, `gpu_utilized`. Each byte is counted once: disks
        are leaf devices, interfaces those that lead out of the machine. Without such an interface the traffic is 0.
    """
    machine = _native.system_read()
    tracker = _native.Tracker([("no-process", "1"), ("metrics", "disk"), ("metrics", "totals")])
    tracker.sample()
    disks: Dict[str, Dict[str, int]] = {}
    spaces: Dict[str, Dict[str, int]] = {}
    for i in range(tracker.instance_count("disk.device")):
        disks[tracker.get("disk.device", i)] = {
            "read_bytes": tracker.get("disk.read_bytes_total", i),
            "write_bytes": tracker.get("disk.write_bytes_total", i),
        }
    for i in range(tracker.instance_count("disk.mounts.mount_point")):
        spaces[tracker.get("disk.mounts.mount_point", i)] = {
            "total": tracker.get("disk.mounts.total_bytes", i),
            "used": tracker.get("disk.mounts.used_bytes", i),
            "free": tracker.get("disk.mounts.available_bytes", i),
        }
    tracker.close()
    gpus = _gpus_of_machine()
    memory = {
        f"memory_{name}_mib": None if machine[f"memory_{name}_bytes"] is None else machine[f"memory_{name}_bytes"] / MIB
        for name in ("free", "used", "buffers", "cached", "active", "inactive")
    }
    return {
        "timestamp": machine["realtime_secs"],
        "processes": machine["process_count"],
        "utime": machine["user_secs"],
        "stime": machine["system_secs"],
        **memory,
        "disk_stats": disks,
        "disk_spaces": spaces,
        "net_recv_bytes": _traffic(machine["network_received_bytes"]),
        "net_sent_bytes": _traffic(machine["network_sent_bytes"]),
        **gpus,
    }


def _traffic(counted: Optional[int]) -> Optional[int]:
    """Returns 0 if the machine has only the loopback interface, which does not count."""
    return 0 if counted is None and access("/proc/net/dev", R_OK) else counted


def _gpus_of_machine() -> Dict[str, Any]:
    from .server_info import gpu_tracker

    tracker = gpu_tracker(no_process=1, gpus="all")
    if tracker is None:
        return {"gpu_usage": 0, "gpu_vram_mib": 0, "gpu_utilized": 0}
    _wait_for_gpus(tracker, 0.5)
    result = {f"gpu_{name}": tracker.get(f"totals.gpu_{name}") for name in ("usage", "vram_mib", "utilized")}
    tracker.close()
    return result
