"""joblib: what each call of a pool used. python joblib_folds.py"""
import json
import os
import resource
import sys
import time

from joblib import Parallel, delayed

from resource_tracker_native.joblib import split, tracked


def train(fold):
    """Returns the fold's result, and the kernel's own figures: CPU time of the call, largest memory of the process so far."""
    before = time.thread_time()
    data = bytearray((50 + 50 * fold) << 20)
    total = sum(i * i for i in range(2_000_000 * (1 + fold)))
    del data
    return total, time.thread_time() - before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main():
    results, uses = split(Parallel(n_jobs=2)(delayed(tracked(train))(fold) for fold in range(4)))
    rows = []
    for fold, ((_, own_cpu, own_peak), use) in enumerate(zip(results, uses)):
        cpu = use["cpu_user_secs"] + use["cpu_system_secs"]
        print(f"fold {fold} in process {use['pid']}: {cpu:.3f} s of CPU time, {use['memory_peak_mib']:.0f} MiB at its peak")
        rows += [[f"joblib fold {fold}, CPU", cpu, own_cpu, "s", "thread_time"],
                 [f"joblib fold {fold}, memory", use["memory_peak_mib"], own_peak, "MiB", "getrusage"]]
    assert os.getpid() not in {use["pid"] for use in uses}
    if "--compare" in sys.argv:
        print("ROWS", json.dumps(rows))


if __name__ == "__main__":
    main()
