"""Jobs of Python programs that share an array: array_job.py KIND SECONDS, run by the interpreter of bench/peers.

Kinds: fork, spawn and forkserver pools of multiprocessing; joblib (loky, with its memory map); dataloader (PyTorch).
"""
import multiprocessing
import os
import sys
import time

import numpy

ARRAY = None


def use(share_of):
    """Reads the whole array and overwrites a part of a copy, as a worker does, until the time is up."""
    index, workers, until = share_of
    own = ARRAY[index * len(ARRAY) // workers // 4:(index + 1) * len(ARRAY) // workers // 4].copy()
    while time.time() < until:
        own += float(ARRAY[::512].sum() > 0)
        time.sleep(0.2)
    return os.getpid()


def receive(array):
    global ARRAY
    ARRAY = array


def pool(kind, secs, workers=4):
    global ARRAY
    elements = 60_000_000 if kind == "fork" else 10_000_000  # 480 MB, or 80 MB sent to every worker
    ARRAY = numpy.ones(elements)
    until = time.time() + secs
    context = multiprocessing.get_context(kind)
    start = {} if kind == "fork" else {"initializer": receive, "initargs": (ARRAY,)}
    with context.Pool(workers, **start) as processes:
        processes.map(use, [(index, workers, until) for index in range(workers)], chunksize=1)


def joblib_use(array, index, until):
    total = 0.0
    while time.time() < until:
        total += float(array[index::512].sum())
        time.sleep(0.2)
    return total


def loky(secs):
    import joblib
    array = numpy.ones(30_000_000)  # large enough for joblib to map it from a file
    until = time.time() + secs
    joblib.Parallel(n_jobs=4)(joblib.delayed(joblib_use)(array, index, until) for index in range(4))


def dataloader(secs):
    import torch
    from torch.utils.data import DataLoader, Dataset

    class Rows(Dataset):
        def __init__(self):
            self.rows = torch.ones(50_000, 1500)  # 300 MB in the parent, which workers inherit

        def __len__(self):
            return len(self.rows)

        def __getitem__(self, index):
            return self.rows[index] * 2

    rows, until = Rows(), time.time() + secs
    while time.time() < until:
        for _ in DataLoader(rows, batch_size=256, num_workers=4, prefetch_factor=2):
            time.sleep(0.01)
            if time.time() > until:
                break


def main():
    kind, secs = sys.argv[1], float(sys.argv[2])
    if kind == "joblib":
        loky(secs)
    elif kind == "dataloader":
        dataloader(secs)
    else:
        pool(kind, secs)


if __name__ == "__main__":
    main()
