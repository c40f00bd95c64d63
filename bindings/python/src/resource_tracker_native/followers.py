"""ProcessTracker and SystemTracker record in the caller's thread and write CSV."""
from __future__ import annotations

import sys
from os import getpid, listdir
from time import sleep, time
from typing import Any, Dict, Optional

from . import _native
from ._output import opener
from .column_maps import INTEGERS, TICKS, era_of
from .helpers import render_csv_row
from .tracker_procfs import get_process_stats, get_system_stats

__all__ = ["PidTracker", "ProcessTracker", "SystemTracker"]


class _Follower:
    """Takes a sample at each call and keeps only the newest."""

    _layout = ""
    _settings: list = []

    def __init__(self, start_time: Optional[float], interval: float, columns: str):
        if not interval > 0:
            raise ValueError(f"interval must be more than 0 seconds, not {interval!r}")
        self.start_time = time() if start_time is None else start_time
        self.interval = interval
        self.cycle = 0
        self.status = "running"
        self._headings = _native.csv_headings(self._layout)
        self._integers = {name for name in self._headings
                          if name in INTEGERS or columns == "0.1" and name in TICKS}
        # The baseline: the first row counts from here.
        self._tracker = _native.Tracker([("interval", repr(float(interval))), *self._settings], history=1)

    def __call__(self) -> None:
        """Does nothing: it makes the object callable."""

    def diff_stats(self) -> Dict[str, Any]:
        """Returns what was used since the last call (or the construction): a row, with the names of the columns."""
        self._tracker.sample()
        self.cycle += 1
        row = {}
        first = self._tracker.history_count()[0]
        for name in self._headings:
            values = self._tracker.history(name, layout=self._layout, first=first, integers=name in self._integers)
            row[name] = values[0]
        return row

    def _ended(self, row: Dict[str, Any]) -> bool:
        return self._tracker.over

    def start_tracking(self, output_file: Optional[str] = None, print_header: bool = True) -> None:
        """Writes a line of CSV every interval, until the process ends or the program is interrupted.

        Args:
            output_file: where to; None is the standard output.
            print_header: whether names come first.
        """
        out = open(output_file, "wb", opener=opener) if output_file else _standard_output()
        try:
            row = self.diff_stats()
            begun = max(self.start_time, time() - self.interval)
            if print_header:
                out.write(render_csv_row(row.keys()))
                out.flush()
            ticks = 0
            while not self._ended(row):
                # A late sample is skipped, never made up for.
                ticks = max(ticks + 1, int((time() - begun) / self.interval))
                sleep(max(0.0, begun + self.interval * ticks - time()))
                row = self.diff_stats()
                if self._ended(row):
                    break
                out.write(render_csv_row(row.values()))
                out.flush()
            self.status = "exited"
        finally:
            if output_file:
                out.close()

    def _autostart(self, output_file: Optional[str]) -> None:
        if self.start_time > time():
            sleep(self.start_time - time())
        self.start_tracking(output_file)


def is_zombie(pid: int) -> bool:
    """Tells whether a process has ended and waits to be reaped. A process whose first thread has ended looks the
    same.
    """
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat:
            return stat.read().rpartition(b")")[2].split()[0] == b"Z" and len(listdir(f"/proc/{pid}/task")) == 1
    except OSError:
        return True


class _TextOnly:
    """A standard output that accepts only text, such as a notebook's or a test's."""

    def write(self, line: bytes) -> None:
        sys.stdout.write(line.decode())

    def flush(self) -> None:
        sys.stdout.flush()


def _standard_output() -> Any:
    return getattr(sys.stdout, "buffer", None) or _TextOnly()


class ProcessTracker(_Follower):
    """Records a process, and its descendants, in the calling thread, and writes CSV until the process ends.

    Columns: `timestamp`, `pid`, `children`, `utime` and `stime` (seconds in the interval), `cpu_usage` (cores),
    `memory_mib` (proportional share), `disk_read_bytes`, `disk_write_bytes` (in the interval), `gpu_usage` (GPUs),
    `gpu_vram_mib`, `gpu_utilized`. CPU time includes descendants that lived and ended between two samples.

    Args:
        pid: the process; default: this one.
        start_time: when to begin, seconds since 1970; default: now.
        interval: seconds between lines.
        children: count descendants too.
        autostart: begin at once, and return when it is over; else call `start_tracking()`.
        output_file: where to write; default: the standard output.
        columns: "0.5", or the names and units of earlier versions: "0.4" or "0.1".

    Raises:
        ProcessLookupError: there is no such process.
    """

    def __init__(
        self,
        pid: Optional[int] = None,
        start_time: Optional[float] = None,
        interval: float = 1,
        children: bool = True,
        autostart: bool = True,
        output_file: Optional[str] = None,
        *,
        columns: str = "0.5",
    ):
        self.pid = getpid() if pid is None else pid
        self.children = children
        self._layout, self._memory = era_of(columns).process, era_of(columns).memory
        self._settings = [("no-system", "1"), ("pid", str(self.pid)), *([] if children else [("no-children", "1")])]
        super().__init__(start_time, interval, columns)
        if autostart:
            self._autostart(output_file)

    def _ended(self, row: Dict[str, Any]) -> bool:
        return super()._ended(row) or not row[self._memory] and not row["children"] and is_zombie(self.pid)

    @property
    def stats(self) -> Dict[str, Any]:
        """Reads what the process has used so far."""
        return get_process_stats(self.pid, self.children)


class PidTracker(ProcessTracker):
    """The old name of [`ProcessTracker`][]; its use warns."""

    def __init__(self, *args: Any, **kwargs: Any):
        from warnings import warn

        warn("PidTracker is deprecated: it is the old name of ProcessTracker", DeprecationWarning, stacklevel=2)
        super().__init__(*args, **kwargs)


class SystemTracker(_Follower):
    """Records the machine in the calling thread, and writes CSV until it is interrupted.

    Columns: `timestamp`, `processes`, `utime` and `stime` (seconds in the interval), `cpu_usage` (cores),
    `memory_{free,used,buffers,cached,active,inactive}_mib`, `disk_read_bytes`, `disk_write_bytes` (in the interval),
    `disk_space_{total,used,free}_gb` (10^9 bytes), `net_recv_bytes`, `net_sent_bytes` (in the interval), `gpu_usage`
    (GPUs), `gpu_vram_mib`, `gpu_utilized`.

    Args:
        start_time: when to begin, seconds since 1970; default: now.
        interval: seconds between lines.
        autostart: begin at once; else call `start_tracking()`.
        output_file: where to write; default: the standard output.
        columns: "0.5", or the names and units of earlier versions: "0.4" or "0.1".
    """

    def __init__(
        self,
        start_time: Optional[float] = None,
        interval: float = 1,
        autostart: bool = True,
        output_file: Optional[str] = None,
        *,
        columns: str = "0.5",
    ):
        self._layout = era_of(columns).system
        self._settings = [("no-process", "1")]
        super().__init__(start_time, interval, columns)
        if autostart:
            self._autostart(output_file)

    @property
    def stats(self) -> Dict[str, Any]:
        """Reads what the machine has used since it was started."""
        return get_system_stats()
