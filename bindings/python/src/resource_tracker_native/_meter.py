"""Measures pieces of work inside this process: tests, tasks, calls.

Two trackers of the library share the work: one takes a sample when a piece begins and ends, which makes CPU time exact; the other
records memory in between, in a C thread.
"""
from __future__ import annotations

from os import getpid, listdir
from resource import RUSAGE_SELF, getrusage
from threading import Lock
from time import clock_gettime, perf_counter, time
from typing import Any, Dict, NamedTuple, Optional, Set, Tuple

from . import _native

METRICS = ("cpu.process_utime_secs", "cpu.process_stime_secs", "cpu.process_memory_mib", "cpu.process_child_count",
           "cpu.process_disk_read_bytes", "cpu.process_disk_write_bytes")
TOTALS = {"cpu_user_secs": "cpu.process_utime_secs", "cpu_system_secs": "cpu.process_stime_secs",
          "read_bytes": "cpu.process_disk_read_bytes", "written_bytes": "cpu.process_disk_write_bytes"}
KEPT_ROWS = 100_000
MIB = 1 << 20
LAYOUT = "process"


class Begin(NamedTuple):
    """The state when a piece of work began."""

    timestamp: float
    clock: float
    totals: Dict[str, Optional[float]]
    memory_mib: Optional[float]
    children: Optional[int]
    most_rss_mib: float
    row: int


def _most_rss_mib() -> float:
    """Returns the high-water mark of this program. That of getrusage() may be of the program that started it."""
    try:
        with open("/proc/self/status", "rb") as status:
            return next(int(line.split()[1]) for line in status if line.startswith(b"VmHWM:")) / 1024
    except (OSError, StopIteration):
        return getrusage(RUSAGE_SELF).ru_maxrss / 1024


def _task(tid: str, name: str) -> str:
    with open(f"/proc/self/task/{tid}/{name}", encoding="utf-8", errors="replace") as file:
        return file.read()


class _ThreadTime:
    """CPU time of the thread that records memory: the kernel counts it for this process, but it belongs to no piece."""

    def __init__(self, others: Set[str]):
        found = sorted(set(listdir("/proc/self/task")) - others)
        named = [tid for tid in found if _task(tid, "comm") == "rt-sampler\n"]
        # It gives itself its name once it runs.
        self._tid = (named or found or [None])[-1]
        self._last = (0.0, 0.0)

    def change(self) -> Tuple[float, float]:
        """Returns the user and system seconds since the last call; 0 once the thread has ended."""
        before = self._last
        try:
            user, system = map(int, _task(str(self._tid), "stat").rpartition(")")[2].split()[11:13])
            secs = clock_gettime(~int(self._tid or 0) << 3 | 6)  # its clock: CLOCK_THREAD_CPUTIME_ID of another thread
        except (OSError, ValueError):
            return 0.0, 0.0
        share = user / (user + system) if user + system else 0.5
        self._last = secs * share, secs * (1 - share)
        return self._last[0] - before[0], self._last[1] - before[1]


class Meter:
    """Measures pieces of work of this process and its descendants. Pieces may overlap.

    A piece's CPU time includes children that it started and waited for. Its memory is that of the process tree, the shared pages
    once: the largest of the samples at its begin, at its end, and every `interval` seconds in between. If the process
    reached its own highest memory so far, the kernel's figure closes the gaps between these samples.

    >>> meter = Meter(interval=0.01)
    >>> begin = meter.begin()
    >>> use = meter.end(begin)
    >>> 0 <= use["cpu_user_secs"] <= 1 and use["memory_peak_mib"] > 1
    True
    >>> meter.close()
    """

    def __init__(self, interval: float = 0.02):
        settings = [("pid", str(getpid())), ("no-system", "1"), *(("metrics", name) for name in METRICS)]
        self.owner = getpid()
        self._lock = Lock()
        self._totals: Dict[str, Optional[float]] = {}
        self._exact = _native.Tracker(settings, history=1)
        self._course = _native.Tracker([("interval", repr(float(interval))), *settings], history=KEPT_ROWS)
        others = set(listdir("/proc/self/task"))
        self._course.start()
        self._course_time = _ThreadTime(others)

    def _read(self) -> Dict[str, Optional[float]]:
        """Takes a sample and returns the totals since the start, which belong to the caller."""
        self._exact.sample()
        own = dict(zip(TOTALS, self._course_time.change()))
        for name, metric in TOTALS.items():
            change, total = self._exact.get(metric), self._totals.get(name, 0)
            self._totals[name] = None if change is None or total is None else total + change - own.get(name, 0)
        return dict(self._totals)

    def begin(self) -> Begin:
        """Marks the begin of a piece of work."""
        with self._lock:
            totals = self._read()
            first, count, _ = self._course.history_count()
            return Begin(time(), perf_counter(), totals, self._exact.get("cpu.process_memory_mib"),
                         self._exact.get("cpu.process_child_count"), _most_rss_mib(), first + count)

    def end(self, begin: Begin) -> Dict[str, Any]:
        """Returns the use since `begin`. A figure that is unknown is None: in a forked child, all but the time."""
        if self.owner != getpid():
            unknown = ("memory_before_mib", "memory_after_mib", "memory_peak_mib")
            return {"started": begin.timestamp, "wall_secs": perf_counter() - begin.clock, **dict.fromkeys((*TOTALS, *unknown))}
        with self._lock:
            wall = perf_counter() - begin.clock
            totals = self._read()
            after = self._exact.get("cpu.process_memory_mib")
            use: Dict[str, Any] = {"started": begin.timestamp, "wall_secs": wall}
            for name, total in totals.items():
                before = begin.totals[name]
                use[name] = None if total is None or before is None else total - before
            self._share_out(use)
            use["memory_before_mib"], use["memory_after_mib"] = begin.memory_mib, after
            use["memory_peak_mib"] = self._peak(begin, after)
            return use

    @staticmethod
    def _share_out(use: Dict[str, Any]) -> None:
        """Keeps both parts of the CPU time above 0 and their sum as it is: the recording thread's own parts are in whole ticks."""
        user, system = use["cpu_user_secs"], use["cpu_system_secs"]
        if user is not None and system is not None:
            both = max(0.0, user + system)
            use["cpu_user_secs"] = min(max(0.0, user), both)
            use["cpu_system_secs"] = both - use["cpu_user_secs"]

    def _peak(self, begin: Begin, after: Optional[float]) -> Optional[float]:
        first, count, _ = self._course.history_count()
        row = max(begin.row, first)
        between = self._course.history("memory_mib", LAYOUT, row, first + count - row) if first + count > row else []
        known = [value for value in (begin.memory_mib, after, *between) if value is not None]
        most = _most_rss_mib()
        alone = begin.children == 0 and self._exact.get("cpu.process_child_count") == 0
        if alone and after is not None and most > begin.most_rss_mib:
            known.append(after + max(most - _native.process_rss(getpid()) / MIB, 0))
        return max(known, default=None)

    def close(self) -> None:
        """Ends the recording of memory. A forked child leaves it to its parent."""
        if self.owner == getpid():
            self._course.stop()


_shared: Optional[Meter] = None


def shared_meter() -> Meter:
    """Returns the meter of this process, and makes it at the first call."""
    global _shared
    if _shared is None or _shared.owner != getpid():
        _shared = Meter()
    return _shared
