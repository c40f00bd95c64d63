"""The columns of a tracker as metrics of an experiment: names with the prefix that MLflow and wandb give system metrics."""
from __future__ import annotations

from typing import Any, Dict, Iterator, Tuple

NAMES = {
    "process_cpu_usage": "system/process_cpu_usage_cores",
    "process_memory_mib": "system/process_memory_usage_mebibytes",
    "process_gpu_usage": "system/process_gpu_usage_gpus",
    "process_gpu_vram_mib": "system/process_gpu_memory_usage_mebibytes",
    "process_disk_read_bytes": "system/process_disk_read_bytes",
    "process_disk_write_bytes": "system/process_disk_write_bytes",
    "system_cpu_usage": "system/machine_cpu_usage_cores",
    "system_memory_used_mib": "system/machine_memory_usage_mebibytes",
    "system_net_recv_bytes": "system/machine_network_received_bytes",
    "system_net_sent_bytes": "system/machine_network_sent_bytes",
}


def samples_of(tracker: Any) -> Iterator[Tuple[int, float, Dict[str, float]]]:
    """Yields the number, the time and the known values of each sample."""
    system = tracker.process_metrics if "system_tracker" not in tracker.trackers else tracker.get_combined_metrics()
    prefix = "process_" if "system_tracker" not in tracker.trackers else ""
    columns = {NAMES[prefix + name]: system[name] for name in system.columns if prefix + name in NAMES}
    for number, timestamp in enumerate(system["timestamp"] if len(system) else []):
        yield number, timestamp, {name: values[number] for name, values in columns.items() if values[number] is not None}
