"""Snapshots of a ResourceTracker, and its report: loaded only at the end of a run."""
from __future__ import annotations

import sys
from json import dumps, loads
from time import time
from typing import Any, Dict, Iterator, List, Optional

from . import _native
from .column_maps import DISK_SPACE, GB, GIB
from .tiny_data_frame import TinyDataFrame

SNAPSHOT_VERSION = 1
PARTS = ("metadata", "server_info", "cloud_info", "process_metrics", "system_metrics")
# ResourceTracker() takes these parts of the metadata.
ARGUMENTS = ("pid", "children", "interval", "method", "track_processes", "track_system", "discover_server", "discover_cloud")
# Columns of snapshots before version 0.5: the present name, and the factor from the old unit to the present one.
OLD_COLUMNS = {
    **{f"memory{part}": (f"memory{part}_mib", 1 / 1024)
       for part in ("", "_free", "_used", "_buffers", "_cached", "_active", "_inactive")},
    "pss": ("memory_mib", 1 / 1024),
    "memory_active_anon": ("memory_active_mib", 1 / 1024),
    "memory_inactive_anon": ("memory_inactive_mib", 1 / 1024),
    "read_bytes": ("disk_read_bytes", 1),
    "write_bytes": ("disk_write_bytes", 1),
    "gpu_vram": ("gpu_vram_mib", 1),
}


def metadata_of(tracker: Any) -> Dict[str, Any]:
    if tracker.start_time is None:
        raise RuntimeError("Resource tracker not started, there is nothing to keep.")
    end = tracker.stop_time if tracker.stop_time is not None else time()
    return {
        "version": SNAPSHOT_VERSION,
        "resource_tracker": {"version": _native.version, "implementation": "native"},
        "pid": tracker.pid,
        "children": tracker.children,
        "interval": tracker.interval,
        "method": tracker.method,
        "autostart": tracker.autostart is not False,
        "track_processes": "process_tracker" in tracker.trackers,
        "track_system": "system_tracker" in tracker.trackers,
        "discover_server": tracker.discover_server,
        "discover_cloud": tracker.discover_cloud,
        "start_time": tracker.start_time,
        "stop_time": end,
        "duration": round(end - tracker.start_time, 2),
    }


def snapshot_of(tracker: Any) -> Dict[str, Any]:
    return {
        "metadata": metadata_of(tracker),
        "server_info": tracker.server_info,
        "cloud_info": tracker.cloud_info,
        "process_metrics": tracker._frame("process", "0.5").to_dict(),
        "system_metrics": tracker._frame("system", "0.5").to_dict(),
    }


def _in_present_units(rows: List[Dict[str, Any]]) -> TinyDataFrame:
    frame = TinyDataFrame(data=rows)
    is_old = any(name in OLD_COLUMNS for name in frame.columns)
    cells = {}
    for name in frame.columns:
        new_name, factor = OLD_COLUMNS.get(name, (name, 1))
        if is_old and name in DISK_SPACE:
            factor = GIB / GB
        # The package kept an empty cell of a CSV file as an empty text.
        values = [None if value == "" else value for value in frame[name]]
        cells[new_name] = values if factor == 1 else [None if value is None else value * factor for value in values]
    return TinyDataFrame._of(cells)


def _fault_of(snapshot: Any) -> Optional[str]:
    """Returns the reason why it cannot be a snapshot, or None."""
    if not isinstance(snapshot, dict):
        return f"it is {type(snapshot).__name__}"
    missing = [name for name in PARTS if name not in snapshot]
    if missing:
        return f"it lacks {', '.join(missing)}"
    metadata = snapshot["metadata"]
    if not isinstance(metadata, dict):
        return "its metadata is no object"
    missing = [name for name in (*ARGUMENTS, "autostart", "start_time", "stop_time") if name not in metadata]
    if missing:
        return f"its metadata lacks {', '.join(missing)}"
    for name in ("process_metrics", "system_metrics"):
        rows, kind = snapshot[name], dict
        if isinstance(rows, dict):
            rows, kind = list(rows.values()), list
        if not isinstance(rows, list) or not all(isinstance(row, kind) for row in rows):
            return f"its {name} are no rows"
    return None


def load_snapshot(cls: Any, snapshot: Dict[str, Any]) -> Any:
    fault = _fault_of(snapshot)
    if fault:
        raise ValueError(f"a snapshot is a JSON object as dumps() writes it: {fault}")
    metadata = snapshot["metadata"]
    tracker = cls(**{name: metadata[name] for name in ARGUMENTS}, autostart=False)
    tracker.autostart = metadata["autostart"]
    tracker.start_time, tracker.stop_time = metadata["start_time"], metadata["stop_time"]
    tracker._server_info, tracker._cloud_info = snapshot["server_info"], snapshot["cloud_info"]
    tracker.discover_server = tracker.discover_cloud = False  # the snapshot says where it ran
    tracker._loaded = {kind: _in_present_units(snapshot[f"{kind}_metrics"]) for kind in ("process", "system")}
    return tracker


def _json_of(tracker: Any) -> Iterator[str]:
    """Yields the snapshot as JSON in pieces, never all rows at once. It asks no cloud."""
    yield '{"metadata": ' + dumps(metadata_of(tracker))
    yield f', "server_info": {dumps(tracker.server_info)}, "cloud_info": {dumps(tracker._cloud_info)}'
    for kind in ("process", "system"):
        frame = tracker._frame(kind, "0.5")
        yield f', "{kind}_metrics": ['
        for i, row in enumerate(zip(*frame._data)):
            yield ("" if i == 0 else ", ") + dumps(dict(zip(frame.columns, row)))
        yield "]"
    yield "}"


def output_of(tracker: Any) -> Any:
    """Returns the path of the recording."""
    return tracker._native.output_path(0)


def title_of(tracker: Any) -> str:
    """Returns the title of its page: the job, the program, or the process."""
    from os import getpid
    from os.path import basename

    metadata = tracker._streaming_metadata or {}
    name = tracker._settings.get("job_name") or tracker._settings.get("job-name") or metadata.get("job_name")
    if not name and tracker.pid == getpid() and tracker._loaded is None:
        name = basename(sys.argv[0]) if sys.argv and sys.argv[0] not in ("", "-c", "-m") else "python"
    return str(name or f"process {tracker.pid}")


def _named(recording: str, folder: str, title: str) -> str:
    """Links the recording and its marks under the title, because a page without a job name shows the file's name."""
    from os import path, symlink

    named = path.join(folder, title.replace("/", "_").replace("\0", "")[:80] or "run")
    symlink(path.abspath(recording), named)
    if path.exists(recording + ".marks"):
        symlink(path.abspath(recording + ".marks"), named + ".marks")
    return named


def instance_of(cloud: Any) -> Any:
    """Returns vendor/region/type in the form of catalogues, or None if the cloud is unknown."""
    parts = [(cloud or {}).get(name) for name in ("vendor", "region", "instance_type")]
    return None if any(part in (None, "", "unknown") for part in parts) else "/".join(parts)


def make_page(recording: str, page: str, prices: Dict[str, Any], cloud: Any, **options: Any) -> None:
    """Makes a report, with costs if there is a catalogue. An instance that the catalogue lacks has no price."""
    from . import _analysis

    known = dict(prices, instance=prices.get("instance") or instance_of(cloud)) if prices.get("catalogue") else prices
    try:
        _analysis.report([recording], page, **options, **known)
    except FileNotFoundError:
        if known.get("instance") == prices.get("instance"):
            raise
        _analysis.report([recording], page, **options, **prices)


def _write_stats(runs: List[Dict[str, Any]], folder: str) -> List[str]:
    """Writes the statistics of runs as files that `recommend` reads, and returns their paths."""
    from os import path

    paths = [path.join(folder, f"stats-{number}.json") for number in range(len(runs))]
    for name, stats in zip(paths, runs):
        with open(name, "w", encoding="utf-8") as out:
            out.write(dumps(stats))
    return paths


def memory_for(runs: List[Dict[str, Any]]) -> int:
    """Returns the MiB that `recommend` says for the next run, from the statistics of earlier ones, the oldest first."""
    from tempfile import TemporaryDirectory

    from . import _analysis

    with TemporaryDirectory(prefix="resource-tracker-") as folder:
        return loads(_analysis.recommend(_write_stats(runs, folder), force=True))["memory"]


def report_of(tracker: Any, integration: str, historical_stats: List[Dict[str, Any]], failed: bool,
              integration_version: Any, title: Any, prices: Dict[str, Any]) -> Any:
    from os import path
    from tempfile import TemporaryDirectory

    from .report import Report

    tracker.wait_for_samples(n=1, timeout=tracker.interval * 5)
    shown = None if integration == "standalone" else " ".join(filter(None, [integration, integration_version]))
    prices = {name: value for name, value in prices.items() if value is not None}
    with TemporaryDirectory(prefix="resource-tracker-") as folder:
        page, recording = path.join(folder, "report.html"), None
        if tracker.output_file and tracker._loaded is None:
            recording = output_of(tracker)
        if recording is None:
            recording = path.join(folder, "run.json")
            with open(recording, "w", encoding="utf-8") as out:
                out.writelines(_json_of(tracker))
        history = _write_stats(historical_stats, folder)
        cloud = tracker.cloud_info if prices.get("catalogue") and not prices.get("instance") else None
        make_page(_named(recording, folder, title or title_of(tracker)), page, prices, cloud, integration=shown, failed=failed,
                  history=history, succeeded=not failed and tracker.stop_time is not None)
        with open(page, encoding="utf-8") as content:
            return Report(content.read())
