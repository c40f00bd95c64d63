"""Workloads for examples and tests."""
from __future__ import annotations

from os import cpu_count
from time import time
from typing import Optional


def cpu_single(duration: float = 1) -> None:
    """Keeps one core busy for `duration` seconds."""
    end = time() + duration
    while time() < end:
        sum(i * i for i in range(1000))


def cpu_multi(duration: float = 1, ncores: Optional[int] = None) -> None:
    """Keeps `ncores` cores (default: all) busy for `duration` seconds, with one process for each."""
    from multiprocessing import Process

    workers = [Process(target=cpu_single, args=(duration,)) for _ in range(ncores or cpu_count() or 1)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
