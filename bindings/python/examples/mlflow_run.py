"""MLflow: the samples of a tracker as system metrics of a run, in a local store. python mlflow_run.py [FOLDER]"""
import json
import pathlib
import sys
import tempfile

import mlflow

from resource_tracker_native import ResourceTracker
from resource_tracker_native.mlflow import log_samples


def main():
    words = [word for word in sys.argv[1:] if word != "--compare"]
    folder = pathlib.Path(words[0] if words else tempfile.mkdtemp()).resolve()
    mlflow.set_tracking_uri(f"sqlite:///{folder}/mlflow.db")
    mlflow.set_experiment("tracked")
    with ResourceTracker(interval=0.2, discover_cloud=False) as tracker, mlflow.start_run() as run:
        data = bytearray(200 << 20)
        sum(i * i for i in range(10_000_000))
        del data
    count = log_samples(tracker, run.info.run_id)
    print(f"{count} values of {tracker.n_samples} samples are in run {run.info.run_id}")
    if "--compare" in sys.argv:
        stored = mlflow.MlflowClient().get_metric_history(run.info.run_id, "system/process_memory_usage_mebibytes")
        frame = tracker.process_metrics
        same = sum(one.value == value and one.timestamp == round(time * 1000)
                   for one, value, time in zip(stored, frame["memory_mib"], frame["timestamp"]))
        print("ROWS", json.dumps([["MLflow, points stored", len(stored), len(frame), "", "samples"],
                                  ["MLflow, points equal", same, len(frame), "", "samples"],
                                  ["MLflow, memory peak", max(one.value for one in stored), max(frame["memory_mib"]), "MiB", "tracker"]]))


if __name__ == "__main__":
    main()
