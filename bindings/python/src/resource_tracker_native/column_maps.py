"""Names, units and ages of the columns that trackers return.

The columns are those of the Python package resource-tracker since 0.5. `columns="0.4"` gives its earlier names and
units (memory in kB, disk space in 2^30 bytes), and `columns="0.1"` also CPU time in ticks of 10 ms.
"""
from __future__ import annotations

from typing import Any, Dict, List, NamedTuple

# ---- column names for people ----
HUMAN_NAMES_MAPPING: Dict[str, str] = {
    "timestamp": "Timestamp",
    "processes": "processes",
    "utime": "CPU time (user)",
    "stime": "CPU time (system)",
    "cpu_usage": "CPU usage",
    "memory_free": "free memory",
    "memory_used": "used memory",
    "memory_buffers": "memory buffers",
    "memory_cached": "memory page/file cached",
    "memory_active": "active memory",
    "memory_inactive": "inactive memory",
    "memory_active_anon": "active memory",
    "memory_inactive_anon": "inactive memory",
    "disk_read_bytes": "disk read",
    "disk_write_bytes": "disk write",
    "read_bytes": "disk read",
    "write_bytes": "disk write",
    "disk_space_total_gb": "disk space total",
    "disk_space_used_gb": "disk space used",
    "disk_space_free_gb": "disk space free",
    "net_recv_bytes": "inbound network traffic",
    "net_sent_bytes": "outbound network traffic",
    "gpu_usage": "GPU usage",
    "gpu_vram": "VRAM used",
    "gpu_utilized": "GPUs in use",
    "pid": "PID",
    "children": "children",
    "memory": "memory usage",
    "pss": "memory usage",
}
HUMAN_NAMES_MAPPING.update({
    f"{name}_mib": human for name, human in HUMAN_NAMES_MAPPING.copy().items()
    if name.startswith("memory") and not name.endswith("anon") or name == "gpu_vram"
})

MIB, KB, GIB, GB = 1 << 20, 1 << 10, 1 << 30, 10 ** 9
MEMORY = ("memory", "memory_free", "memory_used", "memory_buffers", "memory_cached", "memory_active", "memory_inactive")
DISK_SPACE = ("disk_space_total_gb", "disk_space_used_gb", "disk_space_free_gb")

# ---- bytes in one unit of a column ----
BYTE_MAPPING: Dict[str, int] = {
    **{f"{name}_mib": MIB for name in MEMORY},
    "gpu_vram_mib": MIB,
    **{name: GB for name in DISK_SPACE},
}
BYTE_MAPPING_OLD: Dict[str, int] = {
    **{name: KB for name in (*MEMORY, "memory_active_anon", "memory_inactive_anon", "pss")},
    "gpu_vram": MIB,
    **{name: GIB for name in DISK_SPACE},
}

# ---- whole numbers ----
INTEGERS = frozenset([
    "processes", "pid", "children", "disk_read_bytes", "disk_write_bytes", "read_bytes", "write_bytes", "net_recv_bytes",
    "net_sent_bytes", "gpu_utilized", *MEMORY, "memory_active_anon", "memory_inactive_anon", "pss",
])
TICKS = frozenset(["utime", "stime"])  # whole numbers in 0.1


class Era(NamedTuple):
    """The columns of one version of the package: the CSV layouts of the library, and the package's names for them."""

    system: str
    process: str
    memory: str  # the memory of a process
    vram: str
    bytes: Dict[str, int]


ERAS: Dict[str, Era] = {
    "0.5": Era("system", "process", "memory_mib", "gpu_vram_mib", BYTE_MAPPING),
    "0.4": Era("system-0.4", "process-0.4", "memory", "gpu_vram", BYTE_MAPPING_OLD),
    "0.1": Era("system-0.1", "pid-0.1", "pss", "gpu_vram", BYTE_MAPPING_OLD),
}


def era_of(columns: str) -> Era:
    """Returns the columns of a version. Raises ValueError for an unknown version."""
    try:
        return ERAS[columns]
    except KeyError:
        raise ValueError(f"columns must be one of {', '.join(ERAS)}, not {columns!r}") from None


# ---- a machine is shared if it uses more than the job's figure, times a factor or plus an amount ----
SERVER_ALLOCATION_CHECKS: List[Dict[str, Any]] = [
    {"process_column": "cpu_usage", "system_column": "cpu_usage", "percent": 1.25, "absolute": 0.25},
    {"process_column": "memory_mib", "system_column": "memory_used_mib", "percent": 1.5, "absolute": 512},
    {"process_column": "gpu_usage", "system_column": "gpu_usage", "percent": 1.25, "absolute": 0.2},
    {"process_column": "gpu_vram_mib", "system_column": "gpu_vram_mib", "percent": 1.25, "absolute": 512},
]
