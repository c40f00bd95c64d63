"""What the tests of exactness share: a job that knows what it used, and the sums that a record tells of it.

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
# wait4(2) counts whole microseconds for each process, the record whole microseconds for each interval.
RUSAGE_TOLERANCE_SECS = 0.002
# What is left to do of an exit when its parent can know of it, for some hundred threads: 0.7 ms at most in 600 schedules
# of tests/soak/exact.py; an interrupt may come in between.
EXITS_SECS = 0.006


def build_workload(binary, folder, name="workload"):
    """The job: the one that was built beside the program, or else one made now."""
    built = pathlib.Path(binary).parent / "tests" / "fakes" / name
    if built.exists():
        return str(built)
    made = folder / name
    # Not by $CC: musl-gcc has no headers of the kernel.
    subprocess.run(["cc", "-O1", "-D_GNU_SOURCE", "-I", TOP / "src", "-pthread", "-o", made,
                    *(TOP / "tests" / "fakes" / source for source in (f"{name}.c", "truth.c")), TOP / "src" / "base" / "scan.c"],
                   check=True)
    return str(made)


def read_truth(path):
    """(CPU seconds of all processes, their number, seconds that are in no rusage)."""
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
    """Within 1 % or 20 ms."""
    return abs(told - truth) <= max(0.02, truth * 0.01)


def check_intervals(samples):
    """
    No interval is negative, and none tells more than the processors could have done since the one before.

    A sample's time is taken before its counters are read. A recorder that is held up between the two, as on a busy machine,
    reads CPU time from after the sample's time, but from before the next sample's:

        time of sample 7    held up 60 ms    counters are read    time of sample 8
        |------------------------------------|--------------------|
    """
    processors = os.cpu_count()
    before_secs = 0
    for sample, following in zip(samples, [*samples[1:], None]):
        cpu, interval = sample["cpu"], sample["actual_interval_ms"] / 1000
        assert cpu["process_utime_secs"] >= 0 and cpu["process_stime_secs"] >= 0, cpu
        # The job has ended when the last sample begins.
        after_secs = following["actual_interval_ms"] / 1000 if following else 0
        # The time of processes that ended in the interval before may be told now, and a kernel tick for each processor.
        most = processors * (before_secs + interval + after_secs + 0.02)
        assert interval_secs(sample) <= most, (sample["sample"], interval_secs(sample), before_secs, interval, after_secs)
        before_secs = interval


@contextlib.contextmanager
def cgroup_around(name):
    """A group of the unified hierarchy; its cpu.stat counts whoever is started in it, to the microsecond."""
    # Process ids come again: a group that an interrupted run has left may carry the same one.
    folder = UNIFIED / f"test-{name}-{os.getpid()}-{time.monotonic_ns()}"
    folder.mkdir()
    try:
        yield folder
    finally:
        for left in [*folder.glob("resource-tracker-*"), folder]:
            with contextlib.suppress(OSError):
                left.rmdir()


def enter(folder):
    """A preexec_fn that moves the new process into a group."""
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
    """One random schedule below the program: (samples, truth)."""
    def job(truth):
        return [workload, truth, "random", str(seed), str(count), *([kinds] if kinds else [])]
    return run_job(binary, folder, seed, job, cgroup, interval, around)


def check_rusage(samples):
    """All samples add up to what wait4(2) says; a group counts the last microseconds of each exit as well."""
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
    assert not samples[-1]["run_end"]["sigchld_ignored"]
    return samples


def is_root():
    return os.geteuid() == 0


def installed(program):
    return shutil.which(program) is not None
