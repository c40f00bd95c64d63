#!/usr/bin/env python3
"""CPU time of many random trees: tests/soak/exact.py BUILD SECONDS [FIRST_SEED]

Runs the checks of tests/cli/test_exact_cpu.py on as many schedules as the time allows, at several intervals, with
and without the job's own control group. Prints the seed of each schedule that fails. Ends with "N passed, N
failed".
"""
import pathlib
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
import exact  # noqa: E402

INTERVALS = ("0.003", "0.02", "0.1", "1")


def main():
    binary, secs = str(pathlib.Path(sys.argv[1], "resource-tracker").resolve()), float(sys.argv[2])
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1000
    deadline, passed, failed = time.monotonic() + secs, 0, 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        workload = exact.build_workload(binary, folder)
        while time.monotonic() < deadline:
            cgroup, interval = ("off", "auto")[seed % 2], INTERVALS[seed // 2 % len(INTERVALS)]
            try:
                exact.check_schedule(binary, workload, folder, seed, 60, cgroup, interval=interval)
                passed += 1
            except AssertionError as error:
                failed += 1
                print(f"seed {seed}, --cgroup={cgroup}, -i {interval}: {error}", flush=True)
            seed += 1
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
