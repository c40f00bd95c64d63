"""Turns a ResourceTracker's arguments into settings and variables of the library, and finds the files it writes."""
from __future__ import annotations

from functools import lru_cache
from os import environ, getpid, path
from typing import Any, Callable, Dict, FrozenSet, List, Optional, Tuple

from . import _native

Pairs = List[Tuple[str, str]]

# The metrics behind the columns. A recorder that writes only columns collects no others.
METRICS = ("cpu.process_count", "cpu.utime_secs", "cpu.stime_secs", "cpu.utilization_pct", "cpu.process_*", "memory",
           "totals")
PROGRAMS = ("programs", "run_end.programs")
MOST_METADATA_BYTES = 100_000  # Linux allows 128 KiB for an environment variable


def _what(tracker: Any) -> Pairs:
    """Returns the settings that choose the rows and their times."""
    pairs = [("interval", repr(float(tracker.interval)))]
    if "process_tracker" in tracker.trackers:
        pairs.append(("pid", str(tracker.pid)))
        if not tracker.children:
            pairs.append(("no-children", "1"))
        if tracker.pid != getpid() and "system_tracker" in tracker.trackers:
            pairs.append(("keep-running", "1"))  # the machine's rows go on after the process has ended
    else:
        pairs.append(("no-process", "1"))
    if "system_tracker" not in tracker.trackers:
        pairs.append(("no-system", "1"))
    return pairs


@lru_cache(maxsize=None)
def job_settings() -> FrozenSet[str]:
    """Returns the keys of streaming_metadata that the recording contains as well: settings whose name is also a text of the
    sample or of run_start.
    """
    texts = {metric["key"] for metric in _native.metrics() if metric["group"] in ("", "run_start") and metric["type"] == "str"}
    return frozenset(texts & {name.replace("-", "_") for name in _native.settings()})


def _job(metadata: Dict[str, Any]) -> Dict[str, Any]:
    """Returns the part of streaming_metadata that the recording contains as well."""
    job = {name: value for name, value in metadata.items() if name in job_settings()}
    tags = metadata.get("tags")
    if tags:
        job["tags"] = [f"{key}={text}" for key, text in tags.items()] if isinstance(tags, dict) else list(tags)
    return job


def settings_of(tracker: Any, stream: bool) -> Pairs:
    """Returns all settings, as (name, value) pairs."""
    pairs, settings = _what(tracker), dict(tracker._settings)
    if tracker.output_file:
        pairs.append(("output", str(tracker.output_file)))
    if not (tracker.output_file or stream or {"output", "metrics"} & set(settings)):
        pairs += [("metrics", name) for name in (*METRICS, *(PROGRAMS if "programs" in settings else ()))]
    if stream:
        pairs.append(("stream", "auto"))
        settings = {**_job(tracker._streaming_metadata or {}), **settings}
    for name, value in settings.items():
        if value is None:
            continue
        name = "tag" if name == "tags" else name
        values = value if isinstance(value, (list, tuple)) else [value]
        pairs += [(name.replace("_", "-"), str(int(one) if isinstance(one, bool) else one)) for one in values]
    return pairs


def _metadata_json(metadata: Dict[str, Any]) -> str:
    """Returns the metadata for the server alone: keys that are not settings, or that have another type in the
    recording.
    """
    from json import dumps
    from shlex import split

    told = {name: value for name, value in metadata.items() if value is not None and name != "tags"}
    if "command" in told:
        command = told["command"]
        told["command"] = dumps(split(command) if isinstance(command, str) else list(command))
    text = dumps(told) if told else ""
    if len(text) > MOST_METADATA_BYTES:
        raise ValueError(f"streaming_metadata has {len(text)} bytes as JSON; at most {MOST_METADATA_BYTES} can be sent")
    return text


def variables_of(tracker: Any) -> Pairs:
    """Returns the variables for the program that streams."""
    pairs = [("SENTINEL_API_TOKEN", tracker._token), ("TRACKER_UPLOAD_INTERVAL", str(tracker._upload_interval))]
    metadata = _metadata_json(tracker._streaming_metadata or {})
    if metadata:
        pairs.append(("TRACKER_STREAM_METADATA", metadata))
    if not any(environ.get(name) for name in ("CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR")):
        from ssl import get_default_verify_paths

        # The path of the certificates depends on the distribution; Python knows it.
        found = get_default_verify_paths().cafile
        pairs += [("SSL_CERT_FILE", found)] if found else []
    return pairs


def files_of(settings: Pairs, output_path: Callable[[int], Optional[str]]) -> Optional[List[Tuple[str, Optional[int]]]]:
    """Lists the files of a recording that has just begun, each with its length before (None: a new file).

    Returns None if an output is not a file, because its bytes cannot be taken back.
    """
    outputs = [value for name, value in settings if name == "output"]
    appends = any(name == "append" and value.lower() in ("1", "true", "yes", "on") for name, value in settings)
    files: List[Tuple[str, Optional[int]]] = []
    for number in range(len(outputs)):
        name = output_path(number)
        if name is None or path.lexists(name) and not path.isfile(name):
            return None
        files.append((path.abspath(name), path.getsize(name) if appends and path.exists(name) else None))
    return files


def ending(exit_code: int) -> Tuple[int, int]:
    """Returns reason and wait status for the library; a negative exit code is a signal's number, as in subprocess."""
    return (2, -exit_code) if exit_code < 0 else (1, (exit_code & 0xFF) << 8)
