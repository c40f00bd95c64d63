"""A closed loop: runs a job, sets the advice of `recommend` as real limits, runs the job again, and checks its end.

The limits are those of a control group of version 1 or 2 if root can make one, else ulimit and CPU affinity. JOBS
lists the jobs. bench/advice runs all of them and prints a table; tests/cli/test_analysis_advice_loop.py checks
those that run out of memory.
"""
import contextlib
import dataclasses
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import threading
import time
import typing

import memory_truth

MIB = 1 << 20
ROUNDS, SLOWER, RESERVED, LEAST_MIB = 2, 1.15, 1.6, 128
LONGEST_SECS = 40


def clean_environment():
    """Removes variables that would steer the recorder, and every way out. bench/advice runs without pytest, so
    conftest's version is not available.
    """
    environment = {key: value for key, value in os.environ.items()
                   if not key.startswith(("TRACKER_", "RESOURCE_TRACKER", "SLURM_", "SENTINEL_", "AWS_", "KEEPER_"))}
    environment.update(dict.fromkeys(("SENTINEL_API_URL", "TRACKER_METADATA_URL", "KEEPER_API_URL"), "http://127.0.0.1:9"), LC_ALL="C.UTF-8")
    return environment


def wait_until(condition, secs=5):
    end = time.monotonic() + secs
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(f"not so after {secs} s")
        time.sleep(0.01)


# ---- limits ---------------------------------------------------------------------------------------------


def writable(path):
    return os.geteuid() == 0 and os.access(path, os.W_OK)


class GroupV1:
    """A group in each of the hierarchies of version 1."""

    kind = "cgroup v1"
    TOP = pathlib.Path("/sys/fs/cgroup")

    @classmethod
    def usable(cls):
        return all(writable(cls.TOP / name / "cgroup.procs") for name in ("memory", "cpu"))

    def __init__(self, name, memory_mib=None, cpus=None, parent=None):
        self.memory = (parent.memory if parent else self.TOP / "memory") / name
        self.cpu = (parent.cpu if parent else self.TOP / "cpu") / name
        for folder in (self.memory, self.cpu):
            folder.mkdir()
        self.set_memory(memory_mib)
        if cpus:
            (self.cpu / "cpu.cfs_quota_us").write_text(str(round(cpus * 100000)))

    def set_memory(self, mib):
        (self.memory / "memory.limit_in_bytes").write_text(str(mib * MIB if mib else -1))
        # A job that swaps is not killed, and takes its time. Another test may have switched swap on.
        (self.memory / "memory.swappiness").write_text("0")

    def enter(self):
        for folder in (self.memory, self.cpu):
            (folder / "cgroup.procs").write_text(str(os.getpid()))

    def members(self):
        return [int(pid) for pid in (self.memory / "cgroup.procs").read_text().split()]

    def oom_kills(self):
        return int(re.search(r"oom_kill (\d+)", (self.memory / "memory.oom_control").read_text())[1])

    def used_mib(self):
        """Leaves out unmapped page cache, which the kernel can reclaim."""
        values = dict(line.split() for line in (self.memory / "memory.stat").read_text().splitlines())
        mapped = max(int(values["total_mapped_file"]), int(values["total_shmem"]))
        return (int(values["total_rss"]) + mapped) / MIB

    def remove(self):
        for folder in (self.memory, self.cpu):
            with contextlib.suppress(OSError):
                (folder / "memory.force_empty").write_text("0")
            wait_until(lambda: try_rmdir(folder))


def try_rmdir(folder):
    with contextlib.suppress(OSError):
        folder.rmdir()
    return not folder.exists()


class GroupV2:
    """A group in the hierarchy of version 2, if it has the controllers."""

    kind = "cgroup v2"
    TOP = pathlib.Path("/sys/fs/cgroup")

    @classmethod
    def usable(cls):
        control = cls.TOP / "cgroup.subtree_control"
        return writable(control) and {"memory", "cpu"} <= set(control.read_text().split())

    def __init__(self, name, memory_mib=None, cpus=None, parent=None):
        if parent:
            (parent.folder / "cgroup.subtree_control").write_text("+memory +cpu")
        self.folder = (parent.folder if parent else self.TOP) / name
        self.folder.mkdir()
        self.set_memory(memory_mib)
        if cpus:
            (self.folder / "cpu.max").write_text(f"{round(cpus * 100000)} 100000")

    def set_memory(self, mib):
        (self.folder / "memory.max").write_text(str(mib * MIB) if mib else "max")
        with contextlib.suppress(FileNotFoundError):
            (self.folder / "memory.swap.max").write_text("0")

    def enter(self):
        (self.folder / "cgroup.procs").write_text(str(os.getpid()))

    def members(self):
        return [int(pid) for pid in (self.folder / "cgroup.procs").read_text().split()]

    def oom_kills(self):
        return int(re.search(r"oom_kill (\d+)", (self.folder / "memory.events").read_text())[1])

    def used_mib(self):
        values = dict(line.split() for line in (self.folder / "memory.stat").read_text().splitlines())
        return (int(values["anon"]) + max(int(values["shmem"]), int(values["file_mapped"]))) / MIB

    def remove(self):
        wait_until(lambda: try_rmdir(self.folder))


class Ulimits:
    """Without control groups: each process has its own memory limit, and runs on a number of CPUs."""

    kind = "ulimit"

    def __init__(self, name, memory_mib=None, cpus=None, parent=None):
        self.memory_mib, self.cpus = memory_mib, cpus

    def enter(self):
        if self.memory_mib:
            resource.setrlimit(resource.RLIMIT_DATA, (self.memory_mib * MIB,) * 2)
        if self.cpus:
            os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:self.cpus])

    def members(self):
        return []

    def oom_kills(self):
        return 0

    def used_mib(self):
        return 0

    def remove(self):
        pass


LIMITS = next((kind for kind in (GroupV1, GroupV2) if kind.usable()), Ulimits)
needs_groups = LIMITS is not Ulimits


@contextlib.contextmanager
def group(name, **limits):
    made = LIMITS(f"rt-advice-{os.getpid()}-{name}", **limits)
    try:
        yield made
    finally:
        for pid in made.members():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not made.members())
        made.remove()


# ---- jobs -----------------------------------------------------------------------------------------------


@dataclasses.dataclass
class Job:
    name: str
    commands: typing.List[typing.List[str]]     # several commands are the ranks of one job
    mib: int = None                             # memory limit of the first run
    kill_group: bool = False                    # the kernel kills the whole group, including the tracker
    others_mib: int = 0                         # memory of another job on the same machine, which is a group of `mib`
    oom: bool = False
    timing: bool = True                         # its duration does not depend on a device or on another process


PYTHON = sys.executable
SPIN = "import time; end = time.process_time() + {secs}\nwhile time.process_time() < end: pass"
TAKE = "import sys, time; taken = b'x' * ({mib} << 20); time.sleep({secs})"


def python(code, **values):
    return [PYTHON, "-c", code.format(**values)]


def spin(secs):
    return [PYTHON, "-c", SPIN.format(secs=secs)]


def shell(script, *arguments):
    return ["sh", "-c", script, "sh", *arguments]


TWO_AND_NONE = """
import multiprocessing, time
def spin(secs):
    end = time.process_time() + secs
    while time.process_time() < end: pass
for _ in range(2):
    workers = [multiprocessing.Process(target=spin, args=(1.5,)) for _ in range(2)]
    [worker.start() for worker in workers]
    [worker.join() for worker in workers]
    time.sleep(1.5)
"""
THREADS = """
import threading, time
lock = threading.Lock()
def work():
    end = time.monotonic() + 3
    while time.monotonic() < end:
        with lock: {inside}
threads = [threading.Thread(target=work) for _ in range({count})]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
"""
POOL = """
import multiprocessing, time
data = bytearray(b"x") * (120 << 20)
def use(part):
    time.sleep(0.2)
    return sum(data[part::1 << 16])
if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(4) as pool:
        print(sum(pool.map(use, range(40))))
"""
FSYNC = """
import os, time
file = os.open("written", os.O_CREAT | os.O_WRONLY)
for _ in range(60):
    os.pwrite(file, b"x" * 65536, 0); os.fsync(file); time.sleep(0.03)
os.unlink("written")
"""
# The script goes on after a step was killed. A step that had enough memory writes "done".
STEP = "{python} -c 'import time; taken = b\"x\" * ({mib} << 20); time.sleep(1.5); open(\"done\", \"w\")'; sleep 1.2; exit 0"


# A short-lived object of 150 MiB beside 150 MiB that are in no resident set, as an ordinary Python program has it.
MEMFD_AND_SPIKE = "import os, time; held = os.memfd_create('x'); os.write(held, b'1' * (150 << 20)); time.sleep(2.5)"
GROWING_FILE = """
import os, time
name = "/dev/shm/rt-advice-%d" % os.getpid()
with open(name, "wb", buffering=0) as held:
    for _ in range(40): held.write(b"1" * (4 << 20)); time.sleep(0.05)
len(b"1" * (120 << 20)); time.sleep(0.3); os.unlink(name)
time.sleep(0.8)
"""
CHILD_WITH_SPIKE = """
import subprocess, sys, time
taken = b"x" * (150 << 20)
time.sleep(1.3)
subprocess.run([sys.executable, "-c", "b'1' * (200 << 20)"])
time.sleep(1)
"""


# Each step lives for less than a sample, and four of them have their memory at once.
STEPS = """
import subprocess, sys
step = [sys.executable, "-c", "import time; taken = bytearray(60 << 20); time.sleep(0.3)"]
running = []
for _ in range(24):
    if len(running) == 4:
        running.pop(0).wait()
    running.append(subprocess.Popen(step))
for one in running:
    one.wait()
"""


def memory_jobs(program):
    def job(name, text, **more):
        return Job(name, [[program, *text.split()]], **more)

    return [
        job("100 MiB, 8 children that read", "private 100 fork 8 { read sleep 2500 } wait"),
        job("160 MiB, 4 children that read", "private 160 fork 4 { read sleep 2500 } wait"),
        job("130 MiB, 3 children overwrite half", "private 130 fork 3 { overwrite 50 sleep 2500 } wait"),
        job("40 MiB, 60 workers, 2 % overwritten", "private 40 fork 60 { scatter 2 sleep 2500 } wait"),
        job("20 MiB, 200 workers, 2 % overwritten", "private 20 fork 200 { scatter 2 sleep 2500 } wait"),
        job("shared anonymous, 7 processes", "shared 150 fork 6 { read sleep 2500 } wait"),
        job("memfd, 7 processes", "memfd 150 fork 6 { read sleep 2500 } wait"),
        job("file in /dev/shm, 7 processes", "shm 150 fork 6 { read sleep 2500 } wait"),
        job("System V, exec'd", "sysv 150 fork 3 { exec { attach read sleep 2500 } } wait"),
        job("4 processes, shared memory of their own", "fork 4 { shared 60 sleep 2500 } wait"),
        job("two families of forks", "fork 2 { private 60 fork 3 { read sleep 2200 } wait } wait"),
        job("forks of forks that wrote", "private 60 fork 2 { overwrite 50 fork 2 { overwrite 25 sleep 2200 } wait } wait"),
        job("huge pages", "huge 128 sleep 2500"),
        job("a child that execs", "private 100 fork 1 { exec { private 80 sleep 2500 } } wait"),
        job("freed and taken again", "private 150 unmap sleep 900 private 150 sleep 1500"),
        job("grows to 200 MiB", "grow 200 2000 sleep 1000"),
        job("memfd that is not mapped", "open-memfd 150 sleep 2500"),
        job("file kept in /dev/shm", "open-shm 150 sleep 2500"),
        job("200 threads", "private 100 threads 200 sleep 2500"),
        job("1.2 s of memory at the end", "sleep 1500 private 200 sleep 1200"),
        Job("Python pool over an array", [python(POOL)]),
        # The kernel's peak of one process beside memory that only samples show.
        Job("memfd and a short-lived object", [[PYTHON, "-c", MEMFD_AND_SPIKE]]),
        Job("growing file in /dev/shm, removed", [[PYTHON, "-c", GROWING_FILE]]),
        Job("short child that is larger than its parent", [[PYTHON, "-c", CHILD_WITH_SPIKE]]),
        job("memfd, spike at the end", "open-memfd 150 sleep 2500 private 150 unmap"),
        job("file in /dev/shm, spike between samples", "open-shm 150 sleep 1300 private 150 unmap sleep 1300"),
        job("System V, spike in a child", "sysv 150 fork 1 { exec { sleep 300 private 150 unmap sleep 1500 } } wait sleep 500"),
        job("memfd, spike in a child", "open-memfd 150 fork 1 { exec { sleep 1300 private 150 unmap } } wait sleep 1200"),
        job("anonymous shared, spike in a child", "shared 150 fork 1 { exec { sleep 1300 private 170 unmap } } wait sleep 1200"),
        job("4 workers, spikes in turn", "fork 4 { private 40 sleep 2500 } sleep 1300 fork 1 { exec { private 90 unmap } } wait"),
        job("forks in turn, each with a spike", " ".join(["fork 1 { exec { private 120 sleep 40 } } wait sleep 60"] * 12) + " sleep 1000"),
        Job("a shell's short steps", [shell("for i in 1 2 3 4 5 6; do $0 -c 'b\"1\" * (120 << 20); import time; time.sleep(0.25)'; done".replace("$0", PYTHON))]),
        # Memory that the page faults of no process show, that the kernel has for the job, or that comes and goes between two samples.
        job("split huge pages, and forks that own some", "huge 200 pieces 256 fork 4 { private 60 sleep 2500 } wait"),
        job("a memfd mapped three times", "memfd 150 view 2 sleep 2500"),
        job("40,000 shared mappings of a page", "many 40000 sleep 2500"),
        job("20,000 mappings that come and go", " ".join(["fork 2 { many 20000 sleep 300 quit } wait sleep 50"] * 6)),
        Job("4 short steps at a time", [[PYTHON, "-c", STEPS]]),
        job("large first, then memfd", "private 200 sleep 1200 unmap open-memfd 150 sleep 1500"),
    ]


def cpu_jobs():
    return [
        Job("one spinning thread", [spin(3)]),
        Job("two spinning processes", [shell("$0 -c \"$1\" & $0 -c \"$1\"; wait".replace("$0", PYTHON), SPIN.format(secs=3))]),
        Job("two cores half of the time", [python(TWO_AND_NONE)]),
        Job("4 s of one thread, 2 s of two", [shell(f"{PYTHON} -c \"$1\"; {PYTHON} -c \"$2\" & {PYTHON} -c \"$2\"; wait",
                                                   SPIN.format(secs=4), SPIN.format(secs=2))]),
        Job("8 threads, one interpreter lock", [python(THREADS, count=8, inside="sum(range(1000))")]),
        Job("2 threads sleep under a lock", [python(THREADS, count=2, inside="time.sleep(0.01)")]),
        Job("yes | cat | head", [shell("yes | cat | head -c 12000000000 | cat >/dev/null")]),
        Job("gzip", [shell("head -c 60000000 /dev/urandom | gzip -9 >/dev/null")]),
        Job("6000 short children", [shell("i=0; while [ $i -lt 6000 ]; do /bin/true; i=$((i+1)); done")]),
        Job("sleep", [["sleep", "3"]]),
        Job("commits to disk", [python(FSYNC)], timing=False),
    ]


def other_jobs():
    ranks = [python(TAKE, mib=mib, secs=3) for mib in (30, 60, 90, 120)]
    daemon = "setsid sh -c '{0} -c \"$1\"; touch done' sh \"$1\" & while [ ! -e done ]; do sleep 0.1; done"
    return [
        Job("4 ranks of 30 to 120 MiB", ranks),
        Job("2 ranks that spin", [spin(3), spin(3)]),
        Job("a daemon does the work", [shell(daemon.format(PYTHON), "taken = b'x' * (150 << 20); " + SPIN.format(secs=2.5))]),
        Job("a client waits for a process of its own", [shell(f"{PYTHON} -c \"$1\" & wait", SPIN.format(secs=2.5))]),
    ]


def oom_jobs(program):
    return [
        Job("OOM: the job", [python(TAKE, mib=200, secs=1.5)], mib=100, oom=True),
        Job("OOM: a step, script exits 0", [shell(STEP.format(python=PYTHON, mib=200))], mib=100, oom=True),
        Job("OOM: a step, 400 MiB where 100 are allowed", [shell(STEP.format(python=PYTHON, mib=400))], mib=100, oom=True),
        Job("OOM: grows little by little", [[program, "grow", "220", "2200", "sleep", "800"]], mib=100, oom=True),
        Job("OOM: the group with the tracker", [[program, "private", "90", "sleep", "2200", "grow", "120", "500", "sleep", "500"]],
            mib=100, kill_group=True, oom=True),
        Job("OOM: a worker of a pool", [[program, *"private 40 fork 3 { private 60 sleep 2000 } wait".split()]], mib=150, oom=True),
        Job("OOM: ranks", [python(TAKE, mib=mib, secs=2) for mib in (40, 80, 120)], mib=150, oom=True),
        Job("OOM: a machine full of others", [python(TAKE, mib=200, secs=2)], mib=280, others_mib=120, oom=True),
        Job("OOM: /dev/shm", [[program, *"private 20 open-shm 180 sleep 1500".split()]], mib=100, oom=True),
    ]


def all_jobs(binary, folder):
    program = memory_truth.build_job(binary, folder)
    return memory_jobs(program) + cpu_jobs() + other_jobs() + (oom_jobs(program) if needs_groups else [])


# ---- one run --------------------------------------------------------------------------------------------


@dataclasses.dataclass
class Run:
    recordings: list
    well: bool
    secs: float
    used_mib: float


class Watcher(threading.Thread):
    """Looks at a group every 10 ms: its largest use, and whether the whole group is killed."""

    def __init__(self, watched, kill_group):
        super().__init__()
        self.watched, self.kill_group = watched, kill_group
        self.most_mib, self.over = 0.0, threading.Event()

    def run(self):
        while not self.over.wait(0.01):
            with contextlib.suppress(OSError):
                self.most_mib = max(self.most_mib, self.watched.used_mib())
                if self.kill_group and self.watched.oom_kills():
                    for pid in self.watched.members():
                        with contextlib.suppress(ProcessLookupError):
                            os.kill(pid, signal.SIGKILL)


def environment(job, number):
    """Gives each rank the variables that Slurm gives to a task."""
    if len(job.commands) == 1:
        return clean_environment()
    return {**clean_environment(), "SLURM_JOB_ID": "7", "SLURM_STEP_ID": "0", "SLURM_PROCID": str(number), "SLURM_LOCALID": str(number),
            "SLURM_NTASKS": str(len(job.commands)), "SLURM_JOB_NUM_NODES": "1"}


def wait_for_all(processes):
    end = time.monotonic() + LONGEST_SECS
    for process in processes:
        try:
            process.wait(max(0.1, end - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return False
    return all(process.returncode == 0 for process in processes)


def files_in_shm():
    """Returns those of tests/fakes/memory-job.c, which removes them at its end, unless it is killed."""
    return set(pathlib.Path("/dev/shm").glob("memory-job-*"))


def remove_left(files):
    for path in files:
        if not os.path.exists(f"/proc/{path.name.split('-')[-2]}"):
            path.unlink(missing_ok=True)


def run_in(limits, binary, job, folder):
    """Runs the job once in a group; `folder` is empty."""
    others = files_in_shm()
    watcher = Watcher(limits, job.kill_group)
    watcher.start()
    paths = [folder / f"run{i}.jsonl" for i in range(len(job.commands))]
    begin = time.monotonic()
    try:
        processes = [subprocess.Popen([binary, "-q", "-o", path, "--", *command], cwd=folder, env=environment(job, i), stdin=subprocess.DEVNULL,
                                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=limits.enter)
                     for i, (path, command) in enumerate(zip(paths, job.commands))]
        well = wait_for_all(processes)
        secs = time.monotonic() - begin
    finally:
        watcher.over.set()
        watcher.join()
        remove_left(files_in_shm() - others)
    well &= not limits.oom_kills()
    if any('open("done"' in word for command in job.commands for word in command):
        well &= (folder / "done").exists()
    return Run(paths, well, secs, watcher.most_mib)


def other_job(limits, mib):
    """Starts another job on the same machine before ours."""
    process = subprocess.Popen(python("import time; taken = b'x' * ({mib} << 20); print(flush=True); time.sleep(60)", mib=mib),
                               stdout=subprocess.PIPE, preexec_fn=limits.enter)
    process.stdout.readline()
    return process


def run_once(binary, job, folder, number, memory_mib=None, cpus=None):
    folder = folder / f"round{number}"
    folder.mkdir()
    with group(f"{number}", memory_mib=memory_mib, cpus=None if job.others_mib and not number else cpus) as limits:
        if not job.others_mib or number:
            return run_in(limits, binary, job, folder)
        # The machine is a group around the groups of both jobs.
        with group("others", parent=limits) as others, group("own", parent=limits) as own:
            process = other_job(others, job.others_mib)
            try:
                return run_in(own, binary, job, folder)
            finally:
                process.kill()
                process.wait()
                process.stdout.close()


# ---- the loop -------------------------------------------------------------------------------------------


@dataclasses.dataclass
class Advice:
    text: str           # the printed form
    memory_mib: int
    cpus: int
    answer: dict        # output of --json
    refused: str = None


def ask(binary, runs):
    """Names the newest run first. The lines to copy are the limits of the next run."""
    paths = [path for run in reversed(runs) for path in run.recordings]
    form = "slurm" if len(runs[-1].recordings) > 1 else "docker"
    printed = subprocess.run([binary, "recommend", "--for", form, *paths], text=True, capture_output=True, env=clean_environment())
    answer = json.loads(subprocess.run([binary, "recommend", "--json", *paths], text=True, capture_output=True, check=True,
                                       env=clean_environment()).stdout)
    if printed.returncode:
        return Advice(printed.stderr, None, None, answer, printed.stderr.strip())
    values = {key: int(value) for key, value in re.findall(r"--([a-z-]+)=(\d+)", printed.stdout)}
    if form == "docker":
        return Advice(printed.stdout, values["memory"], values["cpus"], answer)
    return Advice(printed.stdout, values["mem"], values["cpus-per-task"] * values["ntasks"], answer)


@dataclasses.dataclass
class Outcome:
    job: Job
    advice: Advice              # the first advice that was followed
    rounds: int
    well: bool
    slowdown: float = None      # duration of the run that ended well, relative to a first run without limits
    reserved_mib: int = None    # reserved by the next advice
    used_mib: float = None
    faults: list = dataclasses.field(default_factory=list)

    @property
    def ratio(self):
        return self.reserved_mib / self.used_mib if self.reserved_mib and self.used_mib else None


def measure_again(binary, job, folder, outcome, limits):
    """Takes the best of a few runs with and without limits, in turn, because the machine may be busy."""
    free, limited = [], []
    for i in range(3):
        free.append(run_once(binary, job, folder, f"free{i}").secs)
        limited.append(run_once(binary, job, folder, f"limited{i}", *limits).secs)
        outcome.slowdown = min(limited) / min(free)
        if outcome.slowdown <= SLOWER:
            return


def follow(binary, job, folder, timing=True):
    """Runs the job, follows the advice until it ends well, and returns the outcome."""
    runs = [run_once(binary, job, folder, 0, job.mib)]
    outcome = Outcome(job, None, 0, runs[0].well)
    if job.oom and runs[0].well:
        outcome.faults.append("the first run was not killed")
    limits = None
    while outcome.rounds < ROUNDS and (outcome.advice is None or not outcome.well):
        advice = ask(binary, runs)
        outcome.advice = outcome.advice or advice
        if advice.refused:
            outcome.faults.append(advice.refused)
            break
        limits = (advice.memory_mib, advice.cpus)
        outcome.rounds += 1
        runs.append(run_once(binary, job, folder, outcome.rounds, *limits))
        outcome.well = runs[-1].well
    judge(binary, job, folder, outcome, runs, limits, timing)
    return outcome


def judge(binary, job, folder, outcome, runs, limits, timing):
    if not outcome.well:
        outcome.faults.append("did not end well")
        return
    if job.mib is None:
        outcome.slowdown = runs[-1].secs / runs[0].secs
        cpu = outcome.advice.answer["evidence"]["cpu"]
        # If a busy machine kept the job from using more cores, the advice does not say "no slower".
        told_no_slower = cpu["slower_pct"] is not None and cpu["slower_pct"] <= 5
        if timing and job.timing and told_no_slower and not cpu["at_least"] and outcome.slowdown > SLOWER:
            measure_again(binary, job, folder, outcome, limits)
            if outcome.slowdown > SLOWER:
                outcome.faults.append("slower")
    after = ask(binary, runs)
    outcome.reserved_mib, outcome.used_mib = after.memory_mib, runs[-1].used_mib
    if after.refused:
        outcome.faults.append(after.refused)
    elif needs_groups and outcome.reserved_mib > max(LEAST_MIB, RESERVED * outcome.used_mib):
        outcome.faults.append("reserves too much")


# ---- the table ------------------------------------------------------------------------------------------

HEAD = f"{'job':<42} {'advice':<22} {'rounds':>6} {'outcome':<8} {'slowdown':>8} {'reserved':>8} {'used':>6} {'ratio':>5}"


def row(outcome):
    advice = outcome.advice
    asked = "none" if advice is None or advice.refused else f"{advice.cpus} CPU{'s' * (advice.cpus > 1)}, {advice.memory_mib} MiB"
    slowdown = f"{outcome.slowdown:.2f}" if outcome.slowdown else "-"
    reserved = f"{outcome.reserved_mib}" if outcome.reserved_mib else "-"
    used = f"{outcome.used_mib:.0f}" if outcome.used_mib else "-"
    ratio = f"{outcome.ratio:.2f}" if outcome.ratio else "-"
    verdict = "ok" if not outcome.faults else "NOT MET: " + "; ".join(outcome.faults)
    return (f"{outcome.job.name:<42} {asked:<22} {outcome.rounds:>6} {'well' if outcome.well else 'failed':<8} {slowdown:>8} {reserved:>8} "
            f"{used:>6} {ratio:>5}  {verdict}")
