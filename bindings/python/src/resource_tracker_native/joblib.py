"""The use of each call of a pool: joblib, multiprocessing, concurrent.futures.

    pairs = Parallel(n_jobs=4)(delayed(tracked(train))(fold) for fold in folds)
    results, uses = split(pairs)
    print(max(use["memory_peak_mib"] for use in uses))

It needs none of these packages: the wrapped function can be pickled if the function itself can.
"""
from __future__ import annotations

from os import getpid
from typing import Any, Callable, Dict, Iterable, List, NamedTuple, Tuple

from ._meter import shared_meter


class Tracked(NamedTuple):
    """The result of a call, and its use."""

    result: Any
    use: Dict[str, Any]


class tracked:
    """Wraps a function: each call returns a pair (result, use).

    `use` has started, wall_secs, cpu_user_secs, cpu_system_secs, memory_before_mib, memory_after_mib, memory_peak_mib,
    read_bytes, written_bytes and pid. They are those of the process that runs the call; calls that run in threads of one
    process at the same time share them.

    >>> result, use = tracked(sum)([1, 2])
    >>> result, use["wall_secs"] < 5
    (3, True)
    """

    def __init__(self, function: Callable[..., Any]):
        self.function = function
        self.__name__ = getattr(function, "__name__", "tracked")

    def __call__(self, *args: Any, **kwargs: Any) -> Tracked:
        meter = shared_meter()
        begin = meter.begin()
        result = self.function(*args, **kwargs)
        return Tracked(result, {**meter.end(begin), "pid": getpid()})


def split(pairs: Iterable[Tuple[Any, Dict[str, Any]]]) -> Tuple[List[Any], List[Dict[str, Any]]]:
    """Returns the results and the uses as two lists.

    >>> split([(1, {"wall_secs": 2.0})])
    ([1], [{'wall_secs': 2.0}])
    """
    kept = list(pairs)
    return [result for result, _ in kept], [use for _, use in kept]
