"""Reads statistics of earlier runs of a step from Metaflow's datastore."""
from __future__ import annotations

import threading
import typing as typ

from .artifact import stats_of

RUNS = 5
# Most tasks read per step and run. A step with foreach may have thousands, and each task of each run would read them
# all.
TASKS = 8
# A datastore or service that does not answer must not hold up the end of a step.
DEADLINE_SECS = 20.0


def earlier_runs(flow_name: str, step_name: str, run_id: str, artifact_name: str,
                 note: typ.Callable[[str], None]) -> list[dict]:
    """
    Returns the step's statistics in the last five runs before this one, successful ones only, newest first. Tasks of
    a step count together. Never raises; `note` gets a line when something could not be read.
    """
    found: list[dict] = []
    reader = threading.Thread(target=_read, args=(flow_name, step_name, run_id, artifact_name, note, found), daemon=True,
                              name="resource-tracker-history")
    reader.start()
    reader.join(DEADLINE_SECS)
    if reader.is_alive():
        note(f"earlier runs are left out: the datastore has not answered within {DEADLINE_SECS:.0f} s")
    return list(found)


def _read(flow_name, step_name, run_id, artifact_name, note, found) -> None:
    from metaflow import Flow

    try:
        runs = sorted(Flow(flow_name).runs(), key=lambda run: run.created_at, reverse=True)
        for run in [run for run in runs if run.id != str(run_id)][:RUNS]:
            stats = _stats_of_run(run, step_name, artifact_name, note)
            if stats:
                found.append(stats)
    except Exception as problem:  # a datastore may raise anything
        note(f"earlier runs are left out: {type(problem).__name__}: {problem}")


def _stats_of_run(run, step_name, artifact_name, note) -> dict | None:
    from ..helpers import aggregate_stats

    try:
        if not run.successful:
            return None
        step = next((step for step in run.steps() if step.id == step_name), None)
        of_tasks = []
        for task, _ in zip(step.tasks() if step else (), range(TASKS)):
            if artifact_name in task:
                stats = stats_of(task[artifact_name].data)
                if stats:
                    of_tasks.append(stats)
        return aggregate_stats(of_tasks) if of_tasks else None
    except Exception as problem:
        note(f"run {run.id} is left out: {type(problem).__name__}: {problem}")
        return None
