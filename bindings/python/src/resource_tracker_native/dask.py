"""A worker plugin for Dask: what each task and each worker used.

    client.register_plugin(ResourceUse("recordings"))
    ...
    for task in task_use(client):
        print(task["key"], task["cpu_user_secs"], task["memory_peak_mib"])
"""
from __future__ import annotations

from os import makedirs, path
from typing import Any, Dict, List, Optional

from distributed.diagnostics.plugin import WorkerPlugin

from ._meter import Meter
from .tracker import ResourceTracker

NAME = "resource-tracker"
KEPT_TASKS = 100_000
RUNS = ("executing", "long-running")


class ResourceUse(WorkerPlugin):
    """Measures each task of each worker.

    CPU time and memory are those of the worker's process tree while the task ran. `alone` tells whether no other task
    ran at that time: with several threads, tasks share these figures.

    Args:
        folder: if given, each worker writes its recording there (worker-NAME.jsonl).
        interval: seconds between two samples of memory.
    """

    name = NAME

    def __init__(self, folder: Optional[str] = None, interval: float = 0.02):
        self.folder = folder
        self.interval = interval

    def setup(self, worker: Any) -> None:
        self.tasks: List[Dict[str, Any]] = []
        self._running: Dict[Any, Any] = {}
        self._met: Dict[Any, bool] = {}
        self._worker = str(worker.name)
        self._meter = Meter(self.interval)
        self._tracker: Optional[ResourceTracker] = None
        if self.folder:
            makedirs(self.folder, exist_ok=True)
            safe = "".join(c if c.isalnum() or c in "-_." else "-" for c in self._worker)
            self._tracker = ResourceTracker(autostart=False, discover_server=False, discover_cloud=False,
                                            output_file=path.join(self.folder, f"worker-{safe}.jsonl"),
                                            settings={"job-name": "dask", "task-name": self._worker})
            self._tracker.start()

    def teardown(self, worker: Any) -> None:
        self._meter.close()
        if self._tracker:
            self._tracker.stop()

    def transition(self, key: Any, start: str, finish: str, **kwargs: Any) -> None:
        if finish in RUNS and key not in self._running:
            overlaps = bool(self._running)
            self._met = {other: True for other in self._met} if overlaps else self._met
            self._met[key] = overlaps
            self._running[key] = self._meter.begin()
        elif start in RUNS and finish not in RUNS and key in self._running:
            use = self._meter.end(self._running.pop(key))
            self.tasks.append({"key": str(key), "worker": self._worker, "state": finish, "alone": not self._met.pop(key), **use})
            del self.tasks[:-KEPT_TASKS]


def _tasks_of(dask_worker: Any) -> List[Dict[str, Any]]:
    return list(dask_worker.plugins[NAME].tasks)


def task_use(client: Any) -> List[Dict[str, Any]]:
    """Returns the tasks of all workers that have ended so far (the last 100,000 of each), in the order of their begin."""
    found = [task for tasks in client.run(_tasks_of).values() for task in tasks]
    return sorted(found, key=lambda task: task["started"])
