#!/usr/bin/env python3
"""CPU time of many random trees of odd processes: tests/soak/chaos.py BUILD [COUNT] [FIRST_SEED]

Runs the checks of tests/attacks/test_namespaces.py for COUNT seeds (1,000), at several intervals, with and without
the job's own control group. Every fifth tree is a wild one. Prints the worst cases, and the seed of each tree that fails. Ends with "N passed, N
failed".
"""
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "attacks"))
import random_tree  # noqa: E402
from random_tree import exact  # noqa: E402

PROCESSES = 30
REAPED, ALL = "betvzk0socdnl", "betvzk0socdnlim"


def shape(seed):
    """Returns (--cgroup, interval, kinds). Without a group, every other tree has all its time in the figures of
    wait4(2).
    """
    cgroup = ("off", "auto")[seed % 2]
    return cgroup, random_tree.interval_of(seed // 2), REAPED if cgroup == "off" and seed // 8 % 2 else ALL


def main():
    binary = str(pathlib.Path(sys.argv[1], "resource-tracker").resolve())
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    passed, failed, worst = 0, 0, {}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        chaos = exact.build_workload(binary, folder, "chaos")
        for seed in range(first, first + count):
            cgroup, interval, kinds = shape(seed)
            try:
                told = (random_tree.run(binary, chaos, folder, seed, PROCESSES, cgroup, interval, kinds) if seed % 5 else
                        random_tree.run_wild(binary, chaos, folder, seed, cgroup, interval))
                note_worst(worst, seed, told)
                told.check()
                passed += 1
            except AssertionError as error:
                failed += 1
                print(f"seed {seed}, --cgroup={cgroup}, -i {interval}: {error}", flush=True)
    for what, (secs, seed, of_secs) in sorted(worst.items()):
        print(f"worst: {secs * 1000:.2f} ms {what} (seed {seed}, {of_secs:.3f} s of CPU time)")
    print(f"{passed} passed, {failed} failed")
    return failed > 0


def note_worst(worst, seed, told):
    figures = {"too much": told.excess_secs, "too little": told.missing_secs}
    if told.group_secs is not None:
        figures["above the group"] = told.told_secs - told.group_secs
    for what, secs in figures.items():
        if what not in worst or secs > worst[what][0]:
            worst[what] = (secs, seed, told.truth_secs)


if __name__ == "__main__":
    sys.exit(main())
