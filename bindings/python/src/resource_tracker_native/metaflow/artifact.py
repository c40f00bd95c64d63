"""The artifact of a tracked step.

It is a dictionary with the keys of all versions of the Python package resource-tracker. It stores the compressed
recording. Tables and the snapshot are many times larger, so they are computed from it at first use.
"""
from __future__ import annotations

import json
import os
import tempfile
import traceback
import typing as typ
import zlib

GZIP = 31  # zlib's window bits for a gzip stream
CHUNK_BYTES = 1 << 20
KB_PER_MIB = 1024


def compressed(path: str) -> bytes:
    """Compresses a file with gzip, reading it in pieces."""
    packer, parts = zlib.compressobj(6, zlib.DEFLATED, GZIP), []
    with open(path, "rb") as file:
        while True:
            chunk = file.read(CHUNK_BYTES)
            if not chunk:
                break
            parts.append(packer.compress(chunk))
    return b"".join([*parts, packer.flush()])


def _table(recording: str, layout: str) -> typ.Any:
    from .. import _analysis
    from ..tiny_data_frame import TinyDataFrame

    table = recording + "." + layout
    _analysis.export(recording, table, "csv", layout=layout)
    return TinyDataFrame(data=_analysis.read_csv(table))


def _snapshot(recording: str) -> dict:
    from .. import _analysis

    return json.loads(_analysis.snapshot_dumps(recording))


# Keys whose values are computed from the recording at first use.
MADE: dict[str, typ.Callable[[str], typ.Any]] = {
    "process_metrics": lambda recording: _table(recording, "process-0.4"),
    "system_metrics": lambda recording: _table(recording, "system-0.4"),
    "tracker": _snapshot,
}


class TrackedResources(dict):
    """
    The usage of a step:

    - `process_metrics`, `system_metrics`: a TinyDataFrame each, memory in kB;
    - `cloud_info`, `server_info`: where it ran;
    - `stats`: means and maxima of the step; `historical_stats`: those of its earlier runs;
    - `historical_runs`: the statistics of each of these, in the form of `ResourceTracker.stats()`;
    - `step_failed`: whether it raised an exception;
    - `tracker`: a snapshot for `ResourceTracker.from_snapshot()`;
    - `recording`: the recording itself, JSON Lines in gzip, for the command resource-tracker.
    """

    def __init__(self, values: typ.Mapping[str, typ.Any]):
        super().__init__(dict.fromkeys(MADE))
        super().update(values)

    def __getitem__(self, name: str) -> typ.Any:
        if name in MADE and super().__getitem__(name) is None:
            with self.recording_file() as path:
                self[name] = MADE[name](path)
        return super().__getitem__(name)

    def get(self, name: str, default: typ.Any = None) -> typ.Any:
        return self[name] if name in self else default

    def values(self):
        return [self[name] for name in self]

    def items(self):
        return [(name, self[name]) for name in self]

    def recording_file(self) -> _RecordingFile:
        """Returns a context manager whose value is the path of the recording as a temporary file."""
        return _RecordingFile(super().__getitem__("recording"))

    def __repr__(self) -> str:
        def shown(name, value):
            if name == "recording":
                return f"<{len(value)} bytes>"
            return "<made when it is asked for>" if value is None and name in MADE else repr(value)

        return "{" + ", ".join(f"{name!r}: {shown(name, value)}" for name, value in super().items()) + "}"

    def __reduce__(self):
        return TrackedResources, ({name: super(TrackedResources, self).__getitem__(name) for name in self
                                   if name not in MADE},)


class _RecordingFile:
    def __init__(self, recording: bytes):
        self._recording = recording

    def __enter__(self) -> str:
        self._folder = tempfile.TemporaryDirectory(prefix="resource-tracker-")
        path = os.path.join(self._folder.name, "step.jsonl.gz")
        with open(path, "wb") as file:
            file.write(self._recording)
        return path

    def __exit__(self, *_) -> None:
        self._folder.cleanup()


def error_artifact(problem: BaseException) -> dict:
    """Returns the artifact of a step whose tracking failed: {"error": {...}}."""
    return {"error": {"error_type": type(problem).__name__, "error_message": str(problem),
                      "traceback": "".join(traceback.format_exception(type(problem), problem, problem.__traceback__))}}


# ---- statistics ---------------------------------------------------------------------------------------------

# For each of the package's statistics: the artifact's name, and the factor from the package's unit.
_NAMES = {"process_cpu_usage": ("cpu_usage", 1), "process_memory_mib": ("memory_usage", KB_PER_MIB),
          "process_gpu_usage": ("gpu_usage", 1), "process_gpu_vram_mib": ("gpu_vram", 1),
          "process_gpu_utilized": ("gpu_utilized", 1), "system_disk_space_used_gb": ("disk_usage", 1)}


def step_stats(stats: dict[str, dict]) -> dict[str, typ.Any]:
    """Converts `ResourceTracker.stats()` to the artifact's units: memory in kB, traffic in bytes, the duration in
    seconds.
    """
    named = {name: {key: None if value is None else round(value * factor, 2) for key, value in stats.get(column, {}).items()}
             for column, (name, factor) in _NAMES.items()}
    return {**named,
            "traffic": {"inbound": stats.get("system_net_recv_bytes", {}).get("sum"),
                        "outbound": stats.get("system_net_sent_bytes", {}).get("sum")},
            "duration": stats.get("timestamp", {}).get("duration")}


def historical_stats(runs: list[dict[str, dict]]) -> dict[str, typ.Any]:
    """Combines earlier runs: means of means, and the largest maxima."""
    from ..helpers import aggregate_stats

    if not runs:
        return {"available": False, "message": "No earlier successful run has data of this step."}
    both = step_stats(aggregate_stats(runs))

    def of(name, key):
        return both[name].get(key)

    return {"available": True, "runs_analyzed": len(runs), "avg_cpu_mean": of("cpu_usage", "mean"),
            "max_memory_max": of("memory_usage", "max"), "avg_gpu_mean": of("gpu_usage", "mean"),
            "max_vram_max": of("gpu_vram", "max"), "max_gpu_count": of("gpu_utilized", "max"),
            "avg_duration": both["duration"]}


def present_names(stats: dict[str, dict]) -> dict[str, dict]:
    """Converts statistics of any version of the Python package to the names and units of the newest."""
    old = {"process_memory": ("process_memory_mib", 1 / KB_PER_MIB), "process_gpu_vram": ("process_gpu_vram_mib", 1)}
    renamed = {}
    for column, values in stats.items():
        name, factor = old.get(column, (column, 1))
        renamed[name] = {key: value * factor if isinstance(value, (int, float)) else value for key, value in values.items()}
    return renamed


def stats_of(artifact: typ.Any) -> dict[str, dict] | None:
    """Reads the statistics in the artifact of an earlier run, by this package or by the Python package
    resource-tracker.
    """
    from ..tracker import ResourceTracker

    if not isinstance(artifact, dict) or artifact.get("error"):
        return None
    if "step_stats" in artifact:
        return artifact["step_stats"]
    if artifact.get("tracker"):
        return present_names(ResourceTracker.from_snapshot(artifact["tracker"]).stats())
    return None
