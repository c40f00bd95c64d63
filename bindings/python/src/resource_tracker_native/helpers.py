"""Small functions for trackers and their users."""
from __future__ import annotations

from math import fsum
from typing import Any, Dict, Iterable, List, Optional, Union

from . import _native

__all__ = ["aggregate_stats", "is_partition", "mean", "render_csv_row", "round_memory"]


def mean(values: Iterable[float]) -> float:
    """Returns the arithmetic mean; an int if all values are ints and the mean is whole."""
    values = list(values)
    result = fsum(values) / len(values)
    return int(result) if result.is_integer() and all(isinstance(value, int) for value in values) else result


def duration(timestamps: List[float]) -> float:
    """Returns the seconds from the first to the last."""
    return max(timestamps) - min(timestamps)


def aggregate_stats(stats: List[Dict[str, Dict[str, Any]]]) -> Dict[str, Dict[str, Any]]:
    """Combines the statistics of several runs: the average of means and durations, the largest of maxima and sums.

    Each value covers the runs that have it. Raises ValueError for any other aggregation.

    >>> aggregate_stats([{"x": {"mean": 1, "max": 3}}, {"x": {"mean": 2, "max": 2}}])
    {'x': {'mean': 1.5, 'max': 3}}
    """
    collected: Dict[str, Dict[str, List[float]]] = {}
    for run in stats:
        for column, values in run.items():
            for name, value in values.items():
                kept = collected.setdefault(column, {}).setdefault(name, [])
                if value is not None:
                    kept.append(value)
    result: Dict[str, Dict[str, Any]] = {}
    for column, names in collected.items():
        for name, kept in names.items():
            if name in ("mean", "duration"):
                value = fsum(kept) / len(kept) if kept else None
            elif name in ("max", "sum"):
                value = max(kept) if kept else None
            else:
                raise ValueError(f"Unknown aggregation: {name}")
            result.setdefault(column, {})[name] = value
    return result


def round_memory(mib: Union[int, float]) -> int:
    """Rounds up to the next memory size in MiB: 128, 256, 512, 1024, 2048, then multiples of 1024.

    >>> [round_memory(mib) for mib in (0, 129, 2048, 2049)]
    [128, 256, 2048, 3072]
    """
    from . import _analysis

    return _analysis.round_memory_mib(mib)


def is_partition(disk_name: str) -> bool:
    """Asks the kernel whether a block device, of any kind, is a partition. False if there is no such device."""
    try:
        return _native.disk_is_partition(disk_name)
    except (FileNotFoundError, ValueError):
        return False


def render_csv_row(row: Iterable[Union[str, float, int, None]], quoting: Any = 2) -> bytes:
    """Formats a line of CSV as the trackers do: everything but numbers quoted (2, csv.QUOTE_NONNUMERIC), ended by LF."""
    from csv import writer
    from io import StringIO

    line = StringIO()
    writer(line, quoting=quoting, lineterminator="\n").writerow(row)
    return line.getvalue().encode()


def known(values: Optional[Iterable[Any]]) -> List[Any]:
    """Returns the measured values."""
    return [value for value in values or () if value is not None]


def mean_over_time(values: List[Optional[float]], weights: List[float]) -> float:
    """Returns the mean of the known values, each with its weight."""
    pairs = [(value, weight) for value, weight in zip(values, weights) if value is not None]
    total = sum(weight for _, weight in pairs)
    return sum(value * weight for value, weight in pairs) / total if total else mean(value for value, _ in pairs)


def in_bytes(column: Any, factor: Optional[int]) -> Any:
    """Multiplies a column, which may not be made yet, by a factor; None: unchanged."""
    if factor is None:
        return column

    def scaled() -> List[Any]:
        return [None if value is None else value * factor for value in (column() if callable(column) else column)]

    return scaled
