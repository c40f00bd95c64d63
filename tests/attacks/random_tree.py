"""The recording of a random tree (tests/fakes/chaos.c), compared with the counts of its processes.

tests/soak/chaos.py runs a thousand of them.
"""
import dataclasses
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
import exact  # noqa: E402

# A process that no parent reaps cannot count its own exit, but a group does.
EXIT_SECS = 0.0003
# The samples and the group are read in sequence, and the record has whole microseconds.
GROUP_SECS = 0.001

INTERVALS = ("0.003", "0.02", "0.1", "1")


def interval_of(seed):
    return INTERVALS[seed % len(INTERVALS)]


@dataclasses.dataclass
class Told:
    """One run: the sums of its samples, and the limits that the truth and the kernel set."""
    samples: list
    truth_secs: float
    unwaited_secs: float
    processes: int

    @property
    def told_secs(self):
        return exact.told_secs(self.samples)

    @property
    def group_secs(self):
        """Returns the count of the job's own group; None without one."""
        if self.samples[0]["cpu"]["process_cpu_source"] != "cgroup":
            return None
        return self.samples[-1]["cgroup"]["cpu_usage_secs"]

    @property
    def tolerance_secs(self):
        return max(0.02, self.truth_secs * 0.01)

    @property
    def excess_secs(self):
        """Returns how much the recording exceeds the truth."""
        return self.told_secs - self.truth_secs

    @property
    def missing_secs(self):
        """Returns how much the recording lacks. Without a group, time that is in no rusage may be missing."""
        return -self.excess_secs - (0 if self.group_secs is not None else self.unwaited_secs)

    def check(self):
        exact.check_intervals(self.samples)
        assert self.told_secs >= exact.rusage_secs(self.samples) - exact.RUSAGE_TOLERANCE_SECS, "less than wait4"
        assert self.excess_secs <= self.tolerance_secs + self.processes * EXIT_SECS, \
            f"{self.excess_secs:.4f} s too much: {self.told_secs:.4f} s, {self.group_secs} s in its group"
        assert self.group_secs is None or self.told_secs <= self.group_secs + GROUP_SECS, "more than the group has counted"
        assert self.missing_secs <= self.tolerance_secs, f"{self.missing_secs:.4f} s too little"


def run(binary, chaos, folder, seed, count, cgroup, interval, kinds=None):
    return run_tree(binary, folder, seed, cgroup, interval,
                    lambda truth: [chaos, truth, str(seed), str(count), *([kinds] if kinds else [])])


def run_wild(binary, chaos, folder, seed, cgroup, interval):
    return run_tree(binary, folder, seed, cgroup, interval, lambda truth: [chaos, truth, "wild", str(seed)])


def run_tree(binary, folder, seed, cgroup, interval, job):
    samples, (cpu_secs, processes, unwaited_secs) = exact.run_job(binary, folder, seed, job, cgroup, interval)
    return Told(samples, cpu_secs, unwaited_secs, processes)
