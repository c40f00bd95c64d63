#!/usr/bin/env python3
"""Memory of many random trees, and whether the error that is told covers the truth: tests/soak/memory.py BUILD [COUNT] [FIRST_SEED]

Runs COUNT trees (500) of tests/cli/memory_jobs.py that also split, move and enlarge huge pages, a few at a time, as root and as an
ordinary user. Compares each sample with the sum of PSS. Prints the seeds of the worst samples, and ends with the part of the samples whose
told error covers the truth, and the part within 5 % and 0.5 MiB a process. Exits with 1 if the told error covers fewer than 95 of 100.
"""
import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
import memory_jobs  # noqa: E402
import memory_truth  # noqa: E402
from test_memory_truth import ORDINARY, USERS, job_of  # noqa: E402

COVERED, AT_ONCE, WORST = 0.95, 3, 12
# The meter reads a process in milliseconds, and rounds each area to KiB.
METER_MIB = 0.5


def start(programs, folder, words, user):
    """Returns (tracker, meter, path of the recording) of a job that has begun."""
    recorder, job = programs
    path = pathlib.Path(folder, f"{user}.jsonl")
    path.touch()
    path.chmod(0o666)
    tracker = subprocess.Popen([*(ORDINARY if user == "ordinary" and USERS[0] == "root" else []), recorder, "-i", "0.5", "-q", "-o", path,
                                "--no-summary", "--", job, *words], stdin=subprocess.DEVNULL, cwd="/tmp")
    return tracker, memory_truth.Meter(job_of(tracker, job), interval_secs=0.15), path


def judge(programs, seed):
    """Returns [(MiB off beyond the told error, seed, user, sample in words, whether it holds)] of the samples with an error."""
    found = []
    words = memory_jobs.random_job(seed, odd=True).words
    with tempfile.TemporaryDirectory(prefix="rt-soak-") as folder:
        os.chmod(folder, 0o755)
        runs = [(user, *start(programs, folder, words, user)) for user in USERS]
        for user, tracker, meter, path in runs:
            tracker.wait()
            readings = meter.stop()
            samples = [json.loads(line) for line in path.open()]
            errors = {sample["timestamp"]: sample["cpu"]["process_memory_error_mib"] for sample in samples}
            for one in memory_truth.judge(memory_truth.told_by_json(samples), readings):
                if errors[one.at] is not None:
                    beyond_mib = abs(one.off_mib) - errors[one.at] - METER_MIB
                    found.append((beyond_mib, seed, user, f"{one}, error {errors[one.at]} MiB", one.holds))
    return found


def main():
    build, count, first = pathlib.Path(sys.argv[1]), *(*map(int, sys.argv[2:4]), *(500, 1)[len(sys.argv[2:4]):])
    every = []
    with tempfile.TemporaryDirectory(prefix="rt-soak-") as folder, concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        os.chmod(folder, 0o755)
        programs = shutil.copy(build / "resource-tracker", folder), shutil.copy(build / "tests" / "fakes" / "memory-job", folder)
        tasks = {pool.submit(judge, programs, seed): seed for seed in range(first, first + count)}
        for task in concurrent.futures.as_completed(tasks):
            try:
                every += task.result()
            except (AssertionError, OSError) as error:
                print(f"seed {tasks[task]}: {error}", flush=True)
    for beyond_mib, seed, user, words, _ in sorted(every, reverse=True)[:WORST]:
        print(f"seed {seed}, {user}: {beyond_mib:.1f} MiB beyond its error: {words}")
    covered = sum(one[0] <= 0 for one in every) / max(1, len(every))
    print(f"{len(every)} samples of {count} trees: {100 * covered:.1f} % covered by the told error, "
          f"{100 * sum(one[4] for one in every) / max(1, len(every)):.1f} % within 5 %")
    return 0 if every and covered >= COVERED else 1


if __name__ == "__main__":
    sys.exit(main())
