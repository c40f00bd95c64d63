"""Shared by the tests of exactness: a job that knows its own use, and sums over a record.

tests/soak/exact.py runs the same checks for many more schedules.
"""
import contextlib
import json
import os
import pathlib
import shutil
import struct
import subprocess
import time

TOP = pathlib.Path(__file__).resolve().parents[2]
UNIFIED = next((path for path in map(pathlib.Path, ("/sys/fs/cgroup/unified", "/sys/fs/cgroup"))
                if (path / "cgroup.controllers").exists()), None)
# wait4(2) counts whole microseconds per process, the record whole microseconds per interval.
RUSAGE_TOLERANCE_SECS = 0.002
# When a parent learns of an exit, the kernel still has work to do for it: for some hundred threads at most 0.7 ms in
# 600 schedules of tests/soak/exact.py. An interrupt may come in between.
EXITS_SECS = 0.006


def build_workload(binary, folder, name="workload"):
    """Returns the job: the one built beside the program, or one compiled now."""
    built = pathlib.Path(binary).parent / "tests" / "fakes" / name
    if built.exists():
        return str(built)
    made = folder / name
    # $CC will not do: musl-gcc has no kernel headers.
    subprocess.run(["cc", "-O1", "-D_GNU_SOURCE", "-I", TOP / "src", "-pthread", "-o", made,
                    *(TOP / "tests" / "fakes" / source for source in (f"{name}.c", "truth.c")), TOP / "src" / "base" / "scan.c"],
                   check=True)
    return str(made)


def read_truth(path):
    """Returns (CPU seconds of all processes, their number, seconds that are in no rusage)."""
    cpu_ns, processes, unwaited_ns = struct.unpack("3q", path.read_bytes())
    return cpu_ns / 1e9, processes, unwaited_ns / 1e9


def interval_secs(sample):
    cpu = sample["cpu"]
    return cpu["process_utime_secs"] + cpu["process_stime_secs"]


def told_secs(samples):
    return sum(map(interval_secs, samples))


def rusage_secs(samples):
    return samples[-1]["run_end"]["utime_secs"] + samples[-1]["run_end"]["stime_secs"]


def close_enough(told, truth):
    """Tells whether both agree within 1 % or 20 ms."""
    return abs(told - truth) <= max(0.02, truth * 0.01)


def check_intervals(samples):
    """
    Checks that no interval is negative, and that none has more CPU time than the processors had since the sample
    before.

    A sample's time is taken before its counters are read. If a recorder on a busy machine is held up between the two,
    the counters include CPU time from after the sample's time, but from before the next sample's:

      time of sample 7      held up 60 ms     counters are read      time of sample 8
            |------------------------------------|--------------------|
    """
    processors = os.cpu_count()
    before_secs = 0
    for sample, following in zip(samples, [*samples[1:], None]):
        cpu, interval = sample["cpu"], sample["actual_interval_ms"] / 1000
        assert cpu["process_utime_secs"] >= 0 and cpu["process_stime_secs"] >= 0, cpu
        # The job has ended before the last sample begins.
        after_secs = following["actual_interval_ms"] / 1000 if following else 0
        # This sample may include earlier time of processes that ended in the interval, and one kernel tick per
        # processor.
        most = processors * (before_secs + interval + after_secs + 0.02)
        assert interval_secs(sample) <= most, (sample["sample"], interval_secs(sample), before_secs, interval, after_secs)
        before_secs = interval


@contextlib.contextmanager
def cgroup_around(name):
    """Makes a group of the unified hierarchy; its cpu.stat counts the processes started in it, in microseconds."""
    # Pids are reused: a group left by an interrupted run may carry the same one.
    folder = UNIFIED / f"test-{name}-{os.getpid()}-{time.monotonic_ns()}"
    folder.mkdir()
    try:
        yield folder
    finally:
        for left in [*folder.glob("resource-tracker-*"), folder]:
            with contextlib.suppress(OSError):
                left.rmdir()


def enter(folder):
    """Returns a preexec_fn that moves the new process into a group."""
    def move():
        with open(folder / "cgroup.procs", "w") as procs:
            procs.write("0")
    return move


def cgroup_secs(folder):
    lines = dict(line.split() for line in (folder / "cpu.stat").read_text().splitlines())
    return int(lines["usage_usec"]) / 1e6


def run_job(binary, folder, seed, job, cgroup, interval, around=None):
    """Records `job(truth)`, a command that writes what it used to the file `truth`: (samples, truth)."""
    record, truth = folder / f"{seed}.jsonl", folder / f"{seed}.truth"
    for path in (record, truth):
        path.unlink(missing_ok=True)
    environment = {key: value for key, value in os.environ.items() if not key.startswith("TRACKER_")}
    done = subprocess.run(
        [binary, "-i", interval, "-o", record, "--no-summary", "--wait-descendants", f"--cgroup={cgroup}", "--", *job(truth)],
        stdin=subprocess.DEVNULL, capture_output=True, cwd=folder, env=environment,
        preexec_fn=enter(around) if around else None)
    assert done.returncode == 0, (done.returncode, done.stderr)
    samples = [json.loads(line) for line in record.open()]
    record.unlink()
    return samples, read_truth(truth)


def run_schedule(binary, workload, folder, seed, count, cgroup, interval="0.05", kinds=None, around=None):
    """Runs a random schedule below the program and returns (samples, truth)."""
    def job(truth):
        return [workload, truth, "random", str(seed), str(count), *([kinds] if kinds else [])]
    return run_job(binary, folder, seed, job, cgroup, interval, around)


def check_rusage(samples):
    """The samples add up to the time of wait4(2). A group also counts the last microseconds of each exit."""
    told, truth = told_secs(samples), rusage_secs(samples)
    in_group = samples[0]["cpu"]["process_cpu_source"] == "cgroup"
    assert told >= truth - RUSAGE_TOLERANCE_SECS, (told, truth)
    assert told <= truth + (EXITS_SECS if in_group else RUSAGE_TOLERANCE_SECS), (told, truth)


def check_schedule(binary, workload, folder, seed, count, cgroup, **options):
    samples, (cpu_secs, processes, _) = run_schedule(binary, workload, folder, seed, count, cgroup, **options)
    assert processes > count
    check_intervals(samples)
    check_rusage(samples)
    assert close_enough(told_secs(samples), cpu_secs), (told_secs(samples), cpu_secs, processes)
    assert not samples[-1]["run_end"]["sigchld_ignored"] and not samples[-1]["run_end"]["tree_cpu_at_least"]
    return samples


def is_in_memory(path):
    """Whether a path is in a file system without a disk, as /tmp is on many machines: the kernel counts no written bytes there."""
    return subprocess.run(["stat", "-f", "-c", "%T", path], capture_output=True, text=True, check=True).stdout.strip() in ("tmpfs", "ramfs")


def is_root():
    return os.geteuid() == 0


def installed(program):
    return shutil.which(program) is not None
