"""Dask: what each task of each worker used. python dask_tasks.py [FOLDER of the workers' recordings]"""
import json
import pathlib
import sys
import tempfile

from dask.distributed import Client, LocalCluster

from resource_tracker_native.dask import ResourceUse, task_use


def work(mib):
    """Returns the CPU time of the task by its own clock, and the largest memory of its process so far."""
    import resource
    import time

    before = time.process_time()
    data = bytearray(mib << 20)
    sum(i * i for i in range(20_000 * mib))
    del data
    return time.process_time() - before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main():
    words = [word for word in sys.argv[1:] if word != "--compare"]
    folder = words[0] if words else tempfile.mkdtemp()
    sizes = [100, 150, 200, 300]  # each task is the largest of its process so far
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        client.register_plugin(ResourceUse(folder))
        client.get_task_stream()  # Dask keeps its own times from now on
        workers = list(client.scheduler_info()["workers"])
        futures = [client.submit(work, mib, key=f"work-{mib}", workers=workers[i % 2]) for i, mib in enumerate(sizes)]
        own = dict(zip((future.key for future in futures), client.gather(futures)))
        # Dask's own figure: the time from start to stop of each task's computation.
        stream = {one["key"]: sum(part["stop"] - part["start"] for part in one["startstops"] if part["action"] == "compute")
                  for one in client.get_task_stream()}
        tasks = {task["key"]: task for task in task_use(client) if task["key"] in own}
    rows = []
    for mib in sizes:
        task = tasks[f"work-{mib}"]
        cpu, peak = task["cpu_user_secs"] + task["cpu_system_secs"], task["memory_peak_mib"]
        own_cpu, own_peak = own[task["key"]]
        print(f"{task['key']} on worker {task['worker']}: {cpu:.3f} s of CPU time, {peak:.0f} MiB at its peak, {task['state']}")
        rows += [[f"Dask {task['key']}, CPU", cpu, own_cpu, "s", "process_time"],
                 [f"Dask {task['key']}, wall", task["wall_secs"], stream.get(task["key"]), "s", "Dask"],
                 [f"Dask {task['key']}, memory", peak, own_peak, "MiB", "getrusage"]]
    recordings = sorted(pathlib.Path(folder).glob("worker-*.jsonl"))
    print("recordings:", *map(str, recordings))
    if "--compare" in sys.argv:
        rows.append(["Dask, recordings with an end", sum('"run_end":{' in path.read_text() for path in recordings), 2, "", "workers"])
        print("ROWS", json.dumps(rows))


if __name__ == "__main__":
    main()
