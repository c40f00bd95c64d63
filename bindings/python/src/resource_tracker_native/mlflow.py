"""Puts the samples of a tracker into a run of MLflow, as system metrics with the times at which they were taken.

    with ResourceTracker() as tracker, mlflow.start_run() as run:
        train()
    log_samples(tracker, run.info.run_id)
"""
from __future__ import annotations

from typing import Any, Optional

from ._series import samples_of

BATCH = 1000  # MLflow's limit for one request


def log_samples(tracker: Any, run_id: Optional[str] = None, client: Any = None) -> int:
    """Logs all samples and returns the number of values. They go to the tracking server or file store that MLflow is set to.

    Args:
        tracker: a `ResourceTracker`, running or stopped.
        run_id: default: the active run.
        client: an `MlflowClient`; default: one for the tracking URI in force.
    """
    import mlflow
    from mlflow.entities import Metric

    if run_id is None:
        active = mlflow.active_run()
        if active is None:
            raise RuntimeError("there is no active MLflow run: give run_id")
        run_id = active.info.run_id
    client = client or mlflow.MlflowClient()
    metrics = [Metric(name, float(value), round(timestamp * 1000), number)
               for number, timestamp, values in samples_of(tracker) for name, value in values.items()]
    for begin in range(0, len(metrics), BATCH):
        client.log_batch(run_id, metrics=metrics[begin:begin + BATCH])
    return len(metrics)
