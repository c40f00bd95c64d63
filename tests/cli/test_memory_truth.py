"""Memory by default settings, compared with the tests' own meter, in every shape that a job may have.

Each job runs wrapped (JSON), and a second tracker attaches to it (CSV), at one sample a second. If root runs the
tests, root and an ordinary user run the jobs in turn by day, and each runs those of the other at night. `memory_truth.py` has the
promised limits.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import pytest

import exact
import memory_jobs
import memory_truth
from processes import children_of, command_line_of

ORDINARY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
USERS = ["root", "ordinary"] if exact.is_root() and exact.installed("setpriv") else ["root"] if exact.is_root() else ["ordinary"]
RANDOM_SEEDS = [11, 12, 13, 14, 15, 16]
# Jobs with a sibling that differs little run at night only, and half of the random ones.
AT_NIGHT = {"480 MiB read by 4", "200 MiB, every other page overwritten by 2", "300 MiB shared, POSIX", "300 MiB shared, /dev/shm", "memfd, unmapped",
            "forks whose parent wrote much later", "huge pages, a tenth overwritten", "huge pages with holes", "split huge pages", "grows in four children",
            "huge pages that their owner has enlarged", "forks whose own forks have freed it", "forks of forks", "a file that four map",
            "memory freed and taken again", *RANDOM_SEEDS[::2]}
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def programs(binary, tmp_path_factory):
    """Returns (recorder, job) at a place where every user may run them."""
    with tempfile.TemporaryDirectory(prefix="rt-truth-") as folder:
        os.chmod(folder, 0o755)
        job = memory_truth.build_job(binary, tmp_path_factory.mktemp("job"))
        yield shutil.copy(binary, folder), shutil.copy(job, folder)


def told_by_csv(path, samples):
    """Returns [(first moment, last moment, MiB)] from the second row on. A CSV row does not tell how long its sample
    took; the same sample in JSON does.
    """
    header, *rows = [line.split(",") for line in path.read_text().splitlines()]
    memory = header.index("process_memory_mib")
    assert len(rows) == len(samples)
    told = memory_truth.told_by_json(samples)
    return [(begun, ended, float(row[memory]) if row[memory] else None) for (begun, ended, _), row in zip(told, rows[1:])]


def job_of(tracker, program):
    """Returns the pid of the job below a tracker that has just started."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        assert tracker.poll() is None, "the tracker has ended"
        for pid in children_of(tracker.pid):
            if command_line_of(pid).startswith(os.fsencode(program)):
                return pid
        time.sleep(0.002)
    raise AssertionError("the job was not started")


class Run:
    """One user's job with two trackers and the meter."""

    def __init__(self, programs, folder, words, user):
        self.user, self.folder = user, folder
        folder.mkdir()
        folder.chmod(0o777)
        recorder, job = programs
        as_user = ORDINARY if user == "ordinary" and exact.is_root() else []
        popen = {"cwd": folder, "stdin": subprocess.DEVNULL,
                 "env": {key: value for key, value in os.environ.items() if not key.startswith("TRACKER_")}}
        self.wrapped = subprocess.Popen([*as_user, recorder, "-i", "1", "-o", "wrapped.jsonl", "--no-summary", "--", job, *words], **popen)
        pid = job_of(self.wrapped, job)
        self.attached = subprocess.Popen([*as_user, recorder, "-i", "1", "-o", "attached.csv", "-o", "attached.jsonl", "--no-summary",
                                          "--pid", str(pid)], **popen)
        self.meter = memory_truth.Meter(pid, interval_secs=0.2)

    def end(self):
        try:
            assert self.wrapped.wait(40) == 0
            assert self.attached.wait(10) == 0
        finally:
            readings = self.meter.stop()
            for process in (self.wrapped, self.attached):
                if process.poll() is None:
                    memory_truth.kill_descendants(process.pid)
                    process.wait()
        samples, attached = ([json.loads(line) for line in (self.folder / name).open()] for name in ("wrapped.jsonl", "attached.jsonl"))
        return samples, told_by_csv(self.folder / "attached.csv", attached), readings


def wrong_in(samples, attached, readings):
    """Returns each broken promise, in words."""
    wrong = []
    for way, told in (("wrapped", memory_truth.told_by_json(samples)), ("attached", attached)):
        if sum(mib is not None for _, _, mib in told) < 2:
            wrong.append(f"{way}: fewer than two samples have memory")
        wrong += [f"{way}: {one}" for one in memory_truth.judge(told, readings) if not one.holds]
    # The last samples before the end may fall into the time in which the kernel frees its memory.
    lived = max((reading.begun for reading in readings if reading.processes), default=0)
    if any(sample["cpu"]["process_memory_mib"] is None and memory_truth.when_of(sample)[1] <= lived for sample in samples[1:-1]):
        wrong.append("a sample in the middle has no memory")
    if samples[-1]["cpu"]["process_memory_mib"] is not None:
        wrong.append("the last sample has memory though the job has ended")
    end = samples[-1]["run_end"]
    highest = max(samples[:-1], key=lambda sample: sample["cpu"]["process_memory_mib"] or 0)
    if samples[-1]["elapsed_secs"] >= 4 and not memory_truth.peak_holds(end["memory_peak_mib"], readings, end["memory_peak_source"],
                                                                        memory_truth.when_of(highest)):
        wrong.append(f"peak: told {end['memory_peak_mib']} MiB ({end['memory_peak_source']}), "
                     f"true {memory_truth.peak(readings).mib:.1f} MiB")
    wrong += [f"sample {sample['sample']}: a proportional set of {sample['tracker']['pss_age_secs']} s ago" for sample in samples[:-1]
              if sample["cpu"]["process_pss_mib"] is not None and (sample["tracker"]["pss_age_secs"] or 0) > 10]
    return wrong


def least_judged(samples, attached, readings):
    """Returns how many samples of a tracker have readings of the meter close enough around them: the smaller number."""
    return min(len(memory_truth.judge(told, readings)) for told in (memory_truth.told_by_json(samples), attached))


def in_turn(values):
    """Returns parameters (value, user): each value with one user by day, and with the other at night, or with both at night."""
    return [pytest.param(value, user, marks=[pytest.mark.night] * (i % len(USERS) != turn or value in AT_NIGHT)) for i, value in enumerate(values)
            for turn, user in enumerate(USERS)]


def check(programs, words, user=USERS[0]):
    with tempfile.TemporaryDirectory(prefix="rt-truth-") as folder:
        os.chmod(folder, 0o755)
        samples, attached, readings = result = Run(programs, pathlib.Path(folder, user), words, user).end()
    gap = memory_truth.widest_gap_secs([one for one in readings if one.processes])
    if gap > memory_truth.WIDEST_SECS:
        pytest.skip(f"the machine is too busy (load {os.getloadavg()[0]:.1f}): the meter had no reading for {gap:.1f} s")
    wrong = wrong_in(*result)
    assert not wrong, "\n".join(wrong)
    if (least := least_judged(*result)) < 2:
        pytest.skip(f"the machine is too busy (load {os.getloadavg()[0]:.1f}): the meter read around {least} samples only")


@pytest.mark.parametrize("name, user", in_turn([name for name, job in memory_jobs.JOBS.items() if not job.needs]))
def test_memory_of_known_jobs(programs, name, user):
    check(programs, memory_jobs.JOBS[name].words, user)


@pytest.mark.skipif(USERS[0] != "root", reason="only root can read the size of a mapping without descriptor and path")
@pytest.mark.parametrize("name", [name for name, job in memory_jobs.JOBS.items() if job.needs == "root"])
def test_memory_of_jobs_that_root_alone_can_read(programs, name):
    check(programs, memory_jobs.JOBS[name].words)


@pytest.mark.skipif(USERS[0] != "root", reason="only a meter of root can read it")
@pytest.mark.parametrize("name, user", in_turn([name for name, job in memory_jobs.JOBS.items() if job.needs == "root meter"]))
def test_memory_of_jobs_that_a_meter_of_root_alone_can_read(programs, name, user):
    check(programs, memory_jobs.JOBS[name].words, user)


@pytest.mark.parametrize("name, user", in_turn([name for name, job in memory_jobs.JOBS.items() if job.needs == "hugetlb"]))
def test_memory_of_hugetlb_jobs(programs, huge_pages, name, user):
    check(programs, memory_jobs.JOBS[name].words, user)


@pytest.mark.parametrize("seed, user", in_turn(RANDOM_SEEDS))
def test_memory_of_random_jobs(programs, seed, user):
    job = memory_jobs.random_job(seed)
    print(f"seed {seed}: {job.program}")
    check(programs, job.words, user)


def test_the_first_system_v_segment_of_a_namespace_counts(binary, tmp_path):
    """Its id, and so its inode in /proc/PID/maps, is 0, as that of anonymous memory. A container's first segment is such a one."""
    job = memory_truth.build_job(binary, tmp_path)
    unshare = ["unshare", "-i"] if exact.is_root() else ["unshare", "-ri"]
    if subprocess.run([*unshare, "true"], capture_output=True).returncode:
        pytest.skip("no IPC namespaces for this user")
    path = tmp_path / "run.jsonl"
    words = "sysv 100 fork 3 { read sleep 3000 } sleep 2500 wait".split()
    subprocess.run([*unshare, binary, "-q", "--no-summary", "-i", "0.5", "-o", path, "--", job, *words], check=True, timeout=60)
    lines = list(map(json.loads, path.read_text().splitlines()))
    memory = [line["cpu"]["process_memory_mib"] for line in lines]
    # On a busy machine, the first samples see a segment that is not full yet, and the last ones processes that end.
    full = [place for place, told in enumerate(memory) if told and told >= 95]
    assert len(full) > 3 and all(told is None or 95 <= told <= 106 for told in memory[full[0]:full[-1]]), f"{memory}"
    assert 95 <= lines[-1]["run_end"]["memory_peak_mib"] <= 106


PRIVATE_COPIES = """
import ctypes, os, pathlib, sys, time
held_secs, go, done = float(sys.argv[1]), pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
libc = ctypes.CDLL(None)
libc.mmap.restype, libc.mmap.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
time.sleep(0.7)
fd = os.memfd_create("file")
os.write(fd, bytes(30 << 20))
time.sleep(held_secs)
at = libc.mmap(None, 30 << 20, 3, 2, fd, 0)
os.close(fd)
ctypes.memset(at, 1, 30 << 20)
go.touch()
while not done.exists():
    time.sleep(0.01)
time.sleep(2.5)
"""


@pytest.mark.skipif(not exact.is_root(), reason="only root can read the size of a mapping without descriptor and path")
@pytest.mark.parametrize("held_secs, others_mib", [(1.2, 0), (0, 200)], ids=["its descriptor was seen", "another job frees more"])
def test_a_file_counts_whose_pages_are_copied_and_whose_descriptor_is_closed(binary, tmp_path, held_secs, others_mib):
    """30 MiB of the file, in no page table, and 30 MiB of copies. The machine's shared memory may tell a rise, which others' falls hide."""
    go, done, path = tmp_path / "go", tmp_path / "done", tmp_path / "run.jsonl"
    other = os.memfd_create("of another job")
    for _ in range(others_mib):
        os.write(other, bytes(1 << 20))
    with subprocess.Popen([binary, "-q", "--no-summary", "-i", "0.5", "-o", path, "--", sys.executable, "-c", PRIVATE_COPIES,
                           str(held_secs), go, done]) as recorder:
        deadline = time.monotonic() + 30
        while not go.exists() and time.monotonic() < deadline:
            time.sleep(0.005)
        os.close(other)
        done.touch()
    assert recorder.returncode == 0
    *told, _late, _end = [json.loads(line)["cpu"]["process_memory_mib"] for line in path.read_text().splitlines()]
    # On a busy machine, the last samples see a process that ends.
    known = [mib for mib in told if mib is not None]
    assert len(known) >= 4 and 60 <= known[-1] <= 85, told


# 256 MiB in areas that huge pages of 2 MiB do not fit into, for those of 64 KiB. A fork writes or frees half of them.
PAGES_OF_64_KIB = """
import ctypes, os, sys, time
libc, slot, gap = ctypes.CDLL(None), 2 << 20, 64 << 10
libc.mmap.restype, libc.mmap.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.mprotect.argtypes = libc.madvise.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
first = libc.mmap(None, 133 * slot, 3, 0x22, -1, 0)
areas = range((first + slot - 1) // slot * slot, (first + slot - 1) // slot * slot + 132 * slot, slot)
for area in areas:
    assert libc.mprotect(area + slot - gap, gap, 0) == 0 and libc.madvise(area, slot - gap, 14) == 0
    ctypes.memset(area, 1, slot - gap)
if not os.fork():
    for i, area in enumerate(areas):
        if sys.argv[1] == "half of the areas" and i % 2:
            ctypes.memset(area, 2, slot - gap)
        for page in range(area, area + slot - gap, 8192):
            if sys.argv[1] == "every other page":
                ctypes.memset(page, 2, 1)
            elif sys.argv[1] == "every other page, freed":
                assert libc.madvise(page, 4096, 4) == 0
    print("ready", flush=True)
sys.stdin.read()
"""
SIZE_OF_64_KIB = pathlib.Path("/sys/kernel/mm/transparent_hugepage/hugepages-64kB")


@pytest.fixture
def pages_of_64_kib():
    """Lets programs ask for huge pages of 64 KiB, and returns how many the machine has given so far."""
    setting = SIZE_OF_64_KIB / "enabled"
    if not setting.exists():
        pytest.skip("this kernel has huge pages of one size")
    words = setting.read_text()
    before = words[words.index("[") + 1:words.index("]")]
    try:
        setting.write_text("madvise")
    except OSError:
        pytest.skip("only root can turn on a size of huge pages")
    try:
        yield lambda: int((SIZE_OF_64_KIB / "stats" / "anon_fault_alloc").read_text())
    finally:
        setting.write_text(before)


@pytest.mark.night
@pytest.mark.alone
@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("part, true_mib", [("half of the areas", 384), ("every other page", 384), ("every other page, freed", 256)])
def test_memory_of_huge_pages_of_64_kib_that_a_fork_shares(programs, pages_of_64_kib, part, true_mib, user):
    recorder, _ = programs
    python = shutil.which("python3", path="/usr/bin:/bin") or sys.executable
    given = pages_of_64_kib()
    with tempfile.TemporaryDirectory(prefix="rt-truth-") as folder:
        os.chmod(folder, 0o777)
        path = pathlib.Path(folder, "run.jsonl")
        with subprocess.Popen([*(ORDINARY if user == "ordinary" else []), recorder, "-q", "-i", "0.5", "--no-summary", "-o", path, "--",
                               python, "-S", "-c", PAGES_OF_64_KIB, part], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as tracker:
            assert tracker.stdout.readline() == "ready\n"
            job = job_of(tracker, python)
            time.sleep(2)
            truth = memory_truth.read_once([job, *children_of(job)], memory_truth.tmpfs_devices()).mib
            time.sleep(1)
        told = [json.loads(line)["cpu"]["process_memory_mib"] for line in path.read_text().splitlines()]
    assert pages_of_64_kib() - given > 3500 and truth == pytest.approx(true_mib, abs=25)
    steady = told[3:-1]
    assert len(steady) >= 2 and steady == pytest.approx([truth] * len(steady), rel=memory_truth.SHARE), (told, truth)
