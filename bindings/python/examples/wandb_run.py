"""Weights & Biases: the samples of a tracker in an offline run. python wandb_run.py [FOLDER]"""
import json
import sys
import tempfile

import wandb

from resource_tracker_native import ResourceTracker
from resource_tracker_native.wandb import log_samples


def records(data):
    """Yields the records of a .wandb file: a header of 7 bytes, then blocks of 32 KiB as in LevelDB's log."""
    at, whole = 7, b""
    while at + 7 <= len(data):
        if 32768 - at % 32768 < 7:
            at += 32768 - at % 32768
            continue
        length, kind = int.from_bytes(data[at + 4:at + 6], "little"), data[at + 6]
        if kind == 0:
            return
        whole += data[at + 7:at + 7 + length]
        at += 7 + length
        if kind in (1, 4):  # whole, or the last part
            yield whole
            whole = b""


def stored_rows(path):
    """Reads the history of an offline run back."""
    from wandb.proto import wandb_internal_pb2

    for data in records(open(path, "rb").read()):
        record = wandb_internal_pb2.Record()
        record.ParseFromString(data)
        if record.WhichOneof("record_type") == "history":
            yield {item.key or "/".join(item.nested_key): json.loads(item.value_json) for item in record.history.item}


def main():
    words = [word for word in sys.argv[1:] if word != "--compare"]
    run = wandb.init(project="tracked", mode="offline", dir=words[0] if words else tempfile.mkdtemp(),
                     settings=wandb.Settings(silent=True))
    with ResourceTracker(interval=0.2, discover_cloud=False) as tracker:
        data = bytearray(200 << 20)
        sum(i * i for i in range(10_000_000))
        del data
    count = log_samples(tracker, run)
    folder = run.settings.sync_dir
    file = run.settings.sync_file
    run.finish()
    print(f"{count} samples are in {folder}")
    if "--compare" in sys.argv:
        wandb.teardown()  # waits until wandb's own process has written the file
        frame = tracker.process_metrics
        rows = [row for row in stored_rows(file) if "system/process_memory_usage_mebibytes" in row]
        same = sum(row["system/process_memory_usage_mebibytes"] == value and abs(row["_timestamp"] - time) < 0.001
                   for row, value, time in zip(rows, frame["memory_mib"], frame["timestamp"]))
        print("ROWS", json.dumps([["wandb, points stored", len(rows), len(frame), "", "samples"],
                                  ["wandb, points equal", same, len(frame), "", "samples"]]))


if __name__ == "__main__":
    main()
