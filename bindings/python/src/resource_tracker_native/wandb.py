"""Puts the samples of a tracker into a run of Weights & Biases, with the times at which they were taken.

    run = wandb.init(mode="offline")
    with ResourceTracker() as tracker:
        train()
    log_samples(tracker, run)
"""
from __future__ import annotations

from typing import Any

from ._series import samples_of


def log_samples(tracker: Any, run: Any = None) -> int:
    """Logs all samples, a step each, and returns their number. An offline run stores them in its folder.

    Args:
        tracker: a `ResourceTracker`, running or stopped.
        run: default: the active run (`wandb.run`).
    """
    if run is None:
        import wandb

        run = wandb.run
        if run is None:
            raise RuntimeError("there is no active wandb run: call wandb.init()")
    count = 0
    for _, timestamp, values in samples_of(tracker):
        run.log({**values, "_timestamp": timestamp})
        count += 1
    return count
