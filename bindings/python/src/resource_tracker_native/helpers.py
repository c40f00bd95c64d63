"""Small things that trackers and their users need."""
from __future__ import annotations

from math import fsum
from typing import Any, Dict, Iterable, List, Optional, Union

from . import _native

__all__ = ["aggregate_stats", "is_partition", "mean", "render_csv_row", "round_memory"]


def mean(values: Iterable[float]) -> float:
    """The arithmetic mean; an int where all are ints and it comes out even."""
    values = list(values)
    result = fsum(values) / len(values)
    return int(result) if result.is_integer() and all(isinstance(value, int) for value in values) else result


def aggregate_stats(stats: List[Dict[str, Dict[str, Any]]]) -> Dict[str, Dict[str, Any]]:
    """Statistics of several runs as one: means and durations averaged, maxima and sums the largest.

    Each value is taken over the runs that have it. ValueError: another aggregation.

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
    """The next step of memory sizes in MiB: 128, 256, 512, 1024, 2048, then multiples of 1024.

    >>> [round_memory(mib) for mib in (0, 129, 2048, 2049)]
    [128, 256, 2048, 3072]
    """
    from . import _analysis

    return _analysis.round_memory_mib(mib)


def is_partition(disk_name: str) -> bool:
    """Whether a block device is a partition: asked of the kernel, for any kind of device. False where there is none."""
    try:
        return _native.disk_is_partition(disk_name)
    except (FileNotFoundError, ValueError):
        return False


def render_csv_row(row: Iterable[Union[str, float, int, None]], quoting: Any = 2) -> bytes:
    """A line of CSV as the trackers write it: everything but numbers quoted (2, csv.QUOTE_NONNUMERIC), ended by LF."""
    from csv import writer
    from io import StringIO

    line = StringIO()
    writer(line, quoting=quoting, lineterminator="\n").writerow(row)
    return line.getvalue().encode()


def known(values: Optional[Iterable[Any]]) -> List[Any]:
    """What was measured."""
    return [value for value in values or () if value is not None]


def mean_over_time(values: List[Optional[float]], weights: List[float]) -> float:
    """The mean of the values that are known, each with its weight."""
    pairs = [(value, weight) for value, weight in zip(values, weights) if value is not None]
    total = sum(weight for _, weight in pairs)
    return sum(value * weight for value, weight in pairs) / total if total else mean(value for value, _ in pairs)


def in_bytes(column: Any, factor: Optional[int]) -> Any:
    """A column, which may not be made yet, times a factor; None: as it is."""
    if factor is None:
        return column

    def scaled() -> List[Any]:
        return [None if value is None else value * factor for value in (column() if callable(column) else column)]

    return scaled
