"""The card: a page about the step that needs no network."""
from __future__ import annotations

import contextlib
import gzip
import html
import json
import os
import tempfile
import typing as typ

from .artifact import TrackedResources

ERROR_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Tracked resources</title></head>
<body style="font-family: sans-serif; margin: 2em">
<h1>Resources of this step</h1>
<p>Tracking went wrong, so there is nothing to show. The step itself was not affected.</p>
<p><b>{error_type}</b>: {error_message}</p>
<pre style="white-space: pre-wrap">{traceback}</pre>
</body></html>
"""


def error_page(error: typ.Any) -> str:
    """Makes the page of an error. `error` is a map with error_type, error_message and traceback, or any other value."""
    if not isinstance(error, dict):
        error = {"error_type": "Error", "error_message": error}
    return ERROR_PAGE.format(**{name: html.escape(str(error.get(name) or ""))
                                for name in ("error_type", "error_message", "traceback")})


@contextlib.contextmanager
def _recording_of(artifact: dict, folder: str):
    """Makes the page of a result, or of a snapshot, which the Python package resource-tracker keeps instead."""
    if isinstance(artifact, TrackedResources):
        with artifact.recording_file() as path:
            yield path
        return
    path = os.path.join(folder, "snapshot.json.gz")
    with gzip.open(path, "wt", encoding="utf-8") as file:
        json.dump(artifact["tracker"], file)
    yield path


def _earlier(artifact: dict, folder: str) -> list[str]:
    """Writes the statistics of earlier runs, one file each."""
    runs = artifact.get("historical_runs")
    if runs is None:
        runs = artifact.get("historical_stats")
    paths: list[str] = []
    for stats in runs if isinstance(runs, list) else ():
        paths.append(os.path.join(folder, f"run{len(paths)}.json"))
        with open(paths[-1], "w", encoding="utf-8") as file:
            json.dump(stats, file)
    return paths


def card_html(artifact: typ.Any) -> str:
    """Returns the page of an artifact; for an error artifact, the page of the error."""
    if artifact.get("error"):
        return error_page(artifact["error"])
    from .._recordings import make_page

    with tempfile.TemporaryDirectory(prefix="resource-tracker-card-") as folder:
        page = os.path.join(folder, "card.html")
        with _recording_of(artifact, folder) as recording:
            make_page(recording, page, artifact.get("prices") or {}, artifact.get("cloud_info"), integration="Metaflow",
                      failed=bool(artifact.get("step_failed")), succeeded=not artifact.get("step_failed"),
                      history=_earlier(artifact, folder))
        with open(page, encoding="utf-8") as file:
            return file.read()


def running_card_html(recording: str, refresh_secs: float) -> str:
    """Returns the page of a step that still runs. A browser that shows it loads it again after `refresh_secs` seconds."""
    from .._recordings import make_page

    with tempfile.TemporaryDirectory(prefix="resource-tracker-card-") as folder:
        page = os.path.join(folder, "card.html")
        try:
            make_page(recording, page, {}, None, integration="Metaflow")
        except FileNotFoundError:
            return error_page("the step has ended; its card follows")
        with open(page, encoding="utf-8") as file:
            text = file.read()
    return text.replace("<head>", f'<head><meta http-equiv="refresh" content="{max(round(refresh_secs), 1)}">', 1)
