"""The programs of a tracked tree."""
from __future__ import annotations

from typing import Any, Dict, List

from .tiny_data_frame import TinyDataFrame

# Only the end of a run tells these.
OF_THE_RUN = ("memory_peak_mib", "disk_read_bytes", "disk_read_estimated_bytes", "disk_write_bytes", "disk_write_estimated_bytes")
COLUMNS = ("program", "cpu_secs", "cpu_estimated_secs", "memory_mib", "process_count", *OF_THE_RUN)


def _rows(values: Dict[str, Any], group: str) -> List[Dict[str, Any]]:
    """The rows of a group, each as {last part of the metric's name: value}."""
    columns = {name[len(group) + 1:]: column for name, column in values.items() if name.rpartition(".")[0] == group}
    return [dict(zip(columns, row)) for row in zip(*columns.values())]


def _now(row: Dict[str, Any]) -> Dict[str, Any]:
    counts = [row[name] for name in ("process_count", "exited_count")]
    return {"program": row["name"], "cpu_secs": row["cpu_total_secs"], "cpu_estimated_secs": row["cpu_estimated_secs"],
            "memory_mib": row["memory_mib"], "process_count": None if None in counts else sum(counts)}


def _whole(row: Dict[str, Any], memory: Dict[str, Any]) -> Dict[str, Any]:
    return {"program": row["name"], "memory_mib": memory.get(row["name"]),
            **{name: row[name] for name in ("cpu_secs", "cpu_estimated_secs", "process_count", *OF_THE_RUN)}}


def programs_of(tracker: Any) -> TinyDataFrame:
    values = (tracker._native.values() if tracker._native else None) or {}
    rows = [_now(row) for row in _rows(values, "programs")]
    end = _rows(values, "run_end.programs")
    if end:
        # Other programs than those of the last sample may be the others of the run.
        memory = {row["program"]: row["memory_mib"] for row in rows if row["program"] != "others"}
        rows = [_whole(row, memory) for row in end]
    rows.sort(key=lambda row: (row["program"] == "others", -(row["cpu_secs"] or 0)))
    return TinyDataFrame(data={name: [row.get(name) for row in rows] for name in COLUMNS} if rows else [])
