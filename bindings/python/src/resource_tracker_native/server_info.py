"""Describes this machine."""
from __future__ import annotations

from time import monotonic
from typing import Any, Dict, List

from . import _native

__all__ = ["get_gpu_info", "get_server_info", "get_total_memory_mib"]

PATIENCE_SECS = 3


def gpu_tracker(**settings: Any) -> Any:
    """Returns a running tracker whose helper process asks the drivers of GPUs, or None without GPUs."""
    pairs = [(name.replace("_", "-"), str(value)) for name, value in settings.items()]
    tracker = _native.Tracker([("interval", "0.1"), ("metrics", "gpu"), ("metrics", "totals"), ("metrics", "tracker"),
                               ("metrics", "cpu.process_*"), *pairs])
    tracker.sample()
    if not tracker.get("tracker.helpers"):
        tracker.close()
        return None
    tracker.start()
    return tracker


def get_total_memory_mib() -> float:
    """Returns the machine's memory in MiB; 0 if it is unknown."""
    total = _native.system_read()["memory_total_bytes"]
    return 0 if total is None else round(total / (1 << 20), 2)


def get_gpu_info() -> Dict[str, Any]:
    """Describes the machine's GPUs, of every vendor.

    Returns:
        `count`, `memory_mib` (of all GPUs), `gpu_names` (a list).
    """
    gpus = _gpus()
    return {
        "count": len(gpus),
        "memory_mib": round(sum(gpu["vram_total_bytes"] or 0 for gpu in gpus) / (1 << 20), 2),
        "gpu_names": [gpu["name"] or "" for gpu in gpus],
    }


def get_server_info() -> Dict[str, Any]:
    """Describes the machine's hardware without asking any service.

    Returns:
        `os`, `vcpus`, `memory_mib`, `gpu_count`, `gpu_names` (a list), `gpu_name` (the most frequent one, or ""),
        `gpu_memory_mib` (of all GPUs).
    """
    from os import cpu_count
    from platform import system

    gpus = get_gpu_info()
    names = gpus["gpu_names"]
    return {
        "os": system(),
        "vcpus": cpu_count(),
        "memory_mib": get_total_memory_mib() or None,
        "gpu_count": gpus["count"],
        "gpu_names": names,
        "gpu_name": max(names, key=names.count) if names else "",
        "gpu_memory_mib": gpus["memory_mib"],
    }


def _gpus() -> List[Dict[str, Any]]:
    tracker = gpu_tracker(no_process=1, gpus="all")
    if tracker is None:
        return []
    # The first answer comes after the drivers were asked, which takes seconds with some of them.
    end = monotonic() + PATIENCE_SECS
    while not tracker.instance_count("gpu.name") and monotonic() < end:
        tracker.wait_for_samples(tracker.sample_count + 1, 1)
    values = tracker.values() or {}
    tracker.close()
    columns = {name: values.get(f"gpu.{name}", []) for name in ("name", "vram_total_bytes")}
    return [dict(zip(columns, row)) for row in zip(*columns.values())]
