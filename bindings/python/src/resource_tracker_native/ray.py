"""The use of each task and of each actor's call of Ray.

    use = ResourceUse()                       # after ray.init()

    @ray.remote
    @use.tracked
    def train(fold): ...

    ray.get([train.remote(fold) for fold in folds])
    for task in use.tasks():
        print(task["name"], task["cpu_user_secs"], task["memory_peak_mib"])

Tasks return the same as without it.
"""
from __future__ import annotations

from functools import wraps
from os import getpid
from typing import Any, Callable, Dict, List, TypeVar

import ray

from ._meter import shared_meter

Function = TypeVar("Function", bound=Callable[..., Any])
KEPT_TASKS = 100_000
SEND_SECS = 10


class _Collector:
    """Keeps the figures of all workers, in an actor that takes no CPU of Ray's."""

    def __init__(self) -> None:
        self.uses: List[Dict[str, Any]] = []

    def add(self, use: Dict[str, Any]) -> None:
        self.uses.append(use)
        del self.uses[:-KEPT_TASKS]

    def all(self) -> List[Dict[str, Any]]:
        return self.uses


class ResourceUse:
    """Measures the functions and methods that `tracked` wraps, wherever Ray runs them.

    Each call has key (Ray's id of the task), name, node, pid, state ("finished", "failed"), started, wall_secs, cpu_user_secs,
    cpu_system_secs, memory_before_mib, memory_after_mib, memory_peak_mib, read_bytes and written_bytes. CPU time and memory are those of
    the worker's process tree while the call ran. A worker runs one task at a time; calls that overlap in an actor with several threads
    share them. `async` methods cannot be measured, because their calls take turns in one thread.
    """

    def __init__(self) -> None:
        self._collector = ray.remote(num_cpus=0)(_Collector).remote()

    def tracked(self, function: Function) -> Function:
        """Wraps a function or a method: to be used below @ray.remote, or on a method of an actor's class."""
        collector = self._collector

        @wraps(function)
        def measured(*args: Any, **kwargs: Any) -> Any:
            meter = shared_meter()
            begin, state = meter.begin(), "failed"
            try:
                result = function(*args, **kwargs)
                state = "finished"
                return result
            finally:
                use = meter.end(begin)
                _send(collector, {**_identity(), "name": function.__qualname__.rpartition("<locals>.")[2], "state": state, **use})

        return measured  # type: ignore[return-value]

    def tasks(self) -> List[Dict[str, Any]]:
        """Returns the calls that have ended so far (the last 100,000), in the order of their begin."""
        return sorted(ray.get(self._collector.all.remote()), key=lambda use: use["started"])


def _identity() -> Dict[str, Any]:
    context = ray.get_runtime_context()
    return {"key": context.get_task_id(), "node": context.get_node_id(), "pid": getpid()}


def _send(collector: Any, use: Dict[str, Any]) -> None:
    """Waits until the collector has the figures, so that tasks() knows each task whose result is known. A task never fails by it."""
    try:
        ray.get(collector.add.remote(use), timeout=SEND_SECS)
    except ray.exceptions.RayError:
        pass
