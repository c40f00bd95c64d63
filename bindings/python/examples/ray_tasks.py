"""Ray: the use of each task and of each call of an actor. python ray_tasks.py"""
import json
import os
import resource
import subprocess
import sys
import time

os.environ.setdefault("RAY_AUTH_MODE", "disabled")  # one machine, one user, a cluster that ends with this program

import ray  # noqa: E402

from resource_tracker_native.ray import ResourceUse  # noqa: E402


def burn(mib):
    """Returns the CPU time of the call by its own clock, and the largest memory of its process so far."""
    before = time.process_time()
    data = bytearray(mib << 20)
    sum(i * i for i in range(20_000 * mib))
    del data
    return time.process_time() - before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main():
    ray.init(num_cpus=1, include_dashboard=False, object_store_memory=80 << 20, log_to_driver=False,
             _temp_dir=os.environ.get("RAY_FOLDER"))
    use = ResourceUse()

    @ray.remote
    @use.tracked
    def work(mib):
        return burn(mib)

    @ray.remote
    class Model:
        @use.tracked
        def fit(self):
            """Starts a program, whose CPU time counts as well."""
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([sys.executable, "-c", "sum(i * i for i in range(3_000_000))"], check=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

        @use.tracked
        def fail(self):
            raise ValueError("on purpose")

    sizes = [100, 200, 300]  # each task is the largest of its process so far
    own = [ray.get(work.remote(mib)) for mib in sizes]
    model = Model.options(num_cpus=0).remote()
    child_cpu = ray.get(model.fit.remote())
    try:
        ray.get(model.fail.remote())
        failed = False
    except ValueError:
        failed = True
    tasks = use.tasks()
    for task in tasks:
        print(f"{task['name']} in process {task['pid']}: {task['cpu_user_secs'] + task['cpu_system_secs']:.3f} s of CPU time, "
              f"{task['memory_peak_mib']:.0f} MiB at its peak, {task['state']}")
    # Ray's own figure: the length of each task in its timeline, which arrives about a second later.
    lengths = {}
    until = time.monotonic() + 15
    while len(lengths) < len(tasks) and time.monotonic() < until:
        lengths = {event["args"]["task_id"]: event["dur"] / 1e6 for event in ray.timeline() if event["cat"].startswith("task::")}
        time.sleep(0.1)
    ray.shutdown()
    if "--compare" not in sys.argv:
        return
    rows = [["Ray, calls and their ends", sum(task["state"] == state for task, state in zip(tasks, ["finished"] * 4 + ["failed"])), 5, "",
             "calls"], ["Ray, the call that raised failed", int(failed), 1, "", "ValueError"]]
    for mib, task, (own_cpu, own_peak) in zip(sizes, tasks, own):
        rows += [[f"Ray work({mib}), CPU", task["cpu_user_secs"] + task["cpu_system_secs"], own_cpu, "s", "process_time"],
                 [f"Ray work({mib}), wall", task["wall_secs"], lengths.get(task["key"]), "s", "Ray's timeline"],
                 [f"Ray work({mib}), memory", task["memory_peak_mib"], own_peak, "MiB", "getrusage"]]
    fit = tasks[3]
    rows.append([f"Ray {fit['name']}, CPU", fit["cpu_user_secs"] + fit["cpu_system_secs"], child_cpu, "s", "getrusage, children"])
    print("ROWS", json.dumps(rows))


if __name__ == "__main__":
    main()
