"""Gives this package access to the C libraries: to record, and to compute figures of recordings and gpu_tracker's
files.
"""
from __future__ import annotations

import contextlib
import csv
import json
import threading
import time
import typing as typ

from .. import _native
from .sub_tracking_file import extension_of

GPU_WAIT_SECS = 5.0
GPU_POLL_SECS = 0.02


def _analysis():
    """Loads the module when the first figures are wanted."""
    from .. import _analysis as module
    return module


class Layout(typ.NamedTuple):
    """Units, and the reference of percentages. None: all of the machine's."""
    ram_unit: str
    gpu_ram_unit: str
    time_unit: str
    n_expected_cores: typ.Optional[int]
    gpu_uuids: typ.Optional[typ.Collection[str]]

    def options(self) -> dict[str, typ.Any]:
        return {"ram_unit": self.ram_unit, "gpu_ram_unit": self.gpu_ram_unit, "time_unit": self.time_unit,
                "expected_cores": float(self.n_expected_cores or 0), "expected_gpus": float(len(self.gpu_uuids or ()))}


def _literal(path: str) -> str:
    """Escapes a path for a setting in which % begins a placeholder."""
    return path.replace("%", "%%")


class Recorder:
    """Records a process with its descendants, or the machine alone, in a thread. May raise ProcessLookupError."""

    def __init__(self, path: str, interval_secs: float, process_id: int | None, gpu_brand: str | None):
        settings = [("output", _literal(path)), ("format", "json"), ("static-once", "true"), ("interval", repr(interval_secs))]
        if process_id is not None:
            settings.append(("pid", str(process_id)))
        if gpu_brand is not None:
            settings.append(("gpu-vendor", gpu_brand))
        self._tracker = _native.Tracker(settings)
        self._ending, self._has_ended = threading.Lock(), False
        self._tracker.start()

    def stop(self) -> None:
        """Stops it. In other threads, a call at the same time waits for the first."""
        with self._ending:
            if not self._has_ended:
                self._has_ended = True
                self._tracker.stop()

    def warnings(self) -> typ.Iterator[str]:
        """Returns the warnings since the last call."""
        while True:
            warning = self._tracker.next_warning()
            if warning is None:
                return
            yield warning

    def close(self) -> None:
        self._tracker.close()


def gpu_uuids(brand: str | None) -> list[str] | None:
    """Returns the UUIDs of all GPUs; drivers may take a while to answer. None: no driver was found."""
    tracker = _native.Tracker([("metrics", "gpu.*"), ("metrics", "tracker")] + ([("gpu-vendor", brand)] if brand else []))
    try:
        deadline = time.monotonic() + GPU_WAIT_SECS
        while True:
            tracker.sample()
            if not tracker.get("tracker.helpers"):
                return None
            uuids = [tracker.get("gpu.uuid", at) for at in range(tracker.instance_count("gpu.uuid"))]
            if uuids or time.monotonic() > deadline:
                return [uuid for uuid in uuids if uuid]
            time.sleep(GPU_POLL_SECS)
    finally:
        tracker.close()


_marks: typ.Any = None


def begin_phase(name: str) -> int:
    """Marks a phase for the recorder around this program, if there is one. Returns a number for end_phase(), or 0."""
    global _marks
    try:
        if _marks is None:
            _marks = _native.Marks()
        return _marks.start(name)
    except (OSError, ValueError):
        return 0  # the program's own file still has the mark


def end_phase(name: str, number: int) -> None:
    if number:
        with contextlib.suppress(OSError, ValueError):
            _marks.stop(name, number)


def figures(recording: str, layout: Layout) -> dict[str, dict]:
    """Returns gpu_tracker's tree of figures for a recording."""
    text = _analysis().summary(recording, "gpu_tracker-json", sorted(layout.gpu_uuids or ()), **layout.options())
    return json.loads(text)


def end_reason(recording: str) -> str | None:
    """Returns the reason why the recording ended."""
    return json.loads(_analysis().summary(recording, "json"))["end"].get("reason")


def export(recording: str, tracking_file: str, layout: Layout) -> None:
    """Writes the recording as a tracking file: CSV or SQLite, by its name."""
    _analysis().export(recording, tracking_file, "gpu_tracker", gpu_uuids=sorted(layout.gpu_uuids or ()), **layout.options())


def regions(tracking_file: str | None, sub_tracking_file: str | None) -> dict[str, typ.Any]:
    """Returns what was used overall and by each code block; either file may be None."""
    return json.loads(_analysis().regions_gpu_tracker(tracking_file, sub_tracking_file, "json"))


def calls(sub_tracking_file: str) -> list[tuple[str, list[tuple[float, float]]]]:
    """Returns the names of code blocks, in order, each with start and stop of its calls."""
    return _analysis().calls_gpu_tracker(sub_tracking_file)


def _number(text: str) -> typ.Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text or None


def _tracking_rows(tracking_file: str) -> tuple[list[str], typ.Iterator[typ.Sequence]]:
    if extension_of(tracking_file) == ".sqlite":
        import sqlite3

        connection = sqlite3.connect(tracking_file)
        try:
            cursor = connection.execute("SELECT * FROM data")
            return [column[0] for column in cursor.description], iter(cursor.fetchall())
        finally:
            connection.close()
    with open(tracking_file, newline="", encoding="utf-8") as file:
        _static_names, _static, names, *rows = csv.reader(file)
    return names, ([_number(cell) for cell in row] for row in rows if row)


def timepoints(tracking_file: str, pairs: typ.Iterable[tuple[float, float]]):
    """Returns the rows of a tracking file within any of the pairs of times, ends included."""
    from ..tiny_data_frame import TinyDataFrame

    pairs = list(pairs)
    names, rows = _tracking_rows(tracking_file)
    at = names.index("timestamp")
    wanted = [row for row in rows if any(start <= row[at] <= stop for start, stop in pairs)]
    return TinyDataFrame({name: [row[column] for row in wanted] for column, name in enumerate(names)})


_WORDS = {"n": "number of", "cpu": "CPU", "gpu": "GPU", "gpus": "GPUs", "ram": "RAM", "rss": "RSS"}


def _label(key: str) -> str:
    words = " ".join(_WORDS.get(word, word) for word in key.split("_"))
    return words[0].upper() + words[1:]


def text_of(tree: dict[str, typ.Any], depth: int = 0) -> str:
    """Formats a tree of figures for people: three blanks a level, numbers with three decimals."""
    lines = []
    for key, value in tree.items():
        label = f"{'   ' * depth}{_label(key)}:"
        if isinstance(value, dict):
            lines += [label, text_of(value, depth + 1)]
        elif value is None:
            lines.append(f"{label} unknown")
        else:
            lines.append(f"{label} {float(f'{value:.3f}') if isinstance(value, float) else value}")
    return "\n".join(lines)
