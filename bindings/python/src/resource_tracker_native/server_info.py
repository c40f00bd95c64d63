"""What machine this is."""
from __future__ import annotations

from typing import Any, Dict

from . import _native

__all__ = ["get_server_info"]


def has_gpu() -> bool:
    """Whether there may be a GPU: a device of a vendor's driver, or of the kernel's."""
    from os import listdir, path

    try:
        cards = [name for name in listdir("/sys/class/drm") if name.startswith(("card", "renderD"))]
    except OSError:
        cards = []
    return bool(cards) or any(path.exists(name) for name in ("/dev/nvidiactl", "/dev/kfd", "/dev/dxg"))


def get_server_info() -> Dict[str, Any]:
    """The machine's hardware, asked of the machine alone.

    Returns:
        `os`, `vcpus`, `memory_mib`, `gpu_count`, `gpu_names` (a list), `gpu_name` (the most frequent one, or ""),
        `gpu_memory_mib` (of all GPUs).
    """
    from os import cpu_count
    from platform import system

    total = _native.system_read()["memory_total_bytes"]
    gpus = _gpus() if has_gpu() else []
    names = [gpu["name"] or "" for gpu in gpus]
    return {
        "os": system(),
        "vcpus": cpu_count(),
        "memory_mib": None if total is None else round(total / (1 << 20), 2),
        "gpu_count": len(gpus),
        "gpu_names": names,
        "gpu_name": max(names, key=names.count) if names else "",
        "gpu_memory_mib": round(sum(gpu["vram_total_bytes"] or 0 for gpu in gpus) / (1 << 20), 2),
    }


def _gpus() -> list:
    tracker = _native.Tracker([("no-process", "1"), ("interval", "0.2"), ("gpus", "all")])
    tracker.start()
    # The first answer of a helper process comes after the first sample.
    for count in range(1, 11):
        tracker.wait_for_samples(count, 2)
        if tracker.instance_count("gpu.name"):
            break
    result = [{name: tracker.get(f"gpu.{name}", i) for name in ("name", "vram_total_bytes")}
              for i in range(tracker.instance_count("gpu.name"))]
    tracker.close()
    return result
