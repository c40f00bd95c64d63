"""Measures a job's memory with the tests' own meter, and compares a recording with it.

The truth is the sum of PSS of all processes of the job from /proc/PID/smaps, read as close together as possible.
It includes memory of the job that no page table shows: pages of tmpfs files, memfds and shared memory segments
that its processes hold without mapping them, and huge pages of hugetlbfs, which PSS leaves out.

The tests, the random test and bench/memory share this file.
"""
import contextlib
import dataclasses
import os
import pathlib
import re
import stat
import subprocess
import threading
import time

TOP = pathlib.Path(__file__).resolve().parents[2]
MIB = 1 << 20
# The promised limits: at each sample, for each process, and for the peak.
SHARE, EACH_PROCESS_MIB, PEAK_SHARE = 0.05, 0.5, 0.10
# Readings further apart than this do not describe a sample between them.
WIDEST_SECS = 2.5
# So do moves that are further apart.
WIDEST_MOVE_SECS = 0.15
# Readings further apart than this may have missed a peak between them.
CLOSE_SECS = 1.0
# The distance of two samples at -i 1, plus a margin for a busy machine.
SAMPLED_SECS = 1.2
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
PF_FORKNOEXEC = 0x40  # it has not called exec since its fork
# munmap(2) takes a mapping out of /proc/PID/smaps first and then frees its pages, 0.1 s per GiB.
UNMAPPED_LEAST = 2 << 20

SMAPS = re.compile(rb"^(?P<range>[0-9a-f]+-[0-9a-f]+) (?P<flags>\S+) \S+ (?P<device>\S+) (?P<inode>\d+)"
                   rb"|^(?P<key>Pss|Rss|Private_Hugetlb|Shared_Hugetlb|VmFlags): +(?P<value>\d*)", re.M)


def build_job(binary, folder):
    """Returns the program tests/fakes/memory-job.c: the one built beside the recorder, or one compiled now."""
    built = pathlib.Path(binary).parent / "tests" / "fakes" / "memory-job"
    if built.exists():
        return str(built)
    made = folder / "memory-job"
    subprocess.run([os.environ.get("CC", "cc").split()[0], "-O1", "-D_GNU_SOURCE", "-I", TOP / "src", "-pthread", "-o",
                    made, TOP / "tests" / "fakes" / "memory-job.c", TOP / "src" / "base" / "scan.c"], check=True)
    return str(made)


# ---- members --------------------------------------------------------------------------------------------


def parents_of_all():
    """Returns {pid: (parent, start time)} of all processes but zombies."""
    found = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError, IndexError, ValueError):
                fields = pathlib.Path("/proc", name, "stat").read_bytes().rpartition(b")")[2].split()
                if fields[0] not in (b"Z", b"X"):
                    found[int(name)] = (int(fields[1]), int(fields[19]))
    return found


class Members:
    """A process and its descendants. A process that was once a member stays one."""

    def __init__(self, root_pid):
        self.root_pid = root_pid
        self.known = {}

    def now(self):
        everybody = parents_of_all()
        members = {pid for pid, started in self.known.items() if everybody.get(pid, (0, 0))[1] == started}
        if self.root_pid in everybody:
            members.add(self.root_pid)
        children = {}
        for pid, (parent, _) in everybody.items():
            children.setdefault(parent, []).append(pid)
        left = list(members)
        while left:
            for child in children.get(left.pop(), []):
                if child not in members:
                    members.add(child)
                    left.append(child)
        self.known = {pid: everybody[pid][1] for pid in members}
        return members


# ---- shared memory objects --------------------------------------------------------------------------------


def own_device(*flags):
    """Returns the device number of the kernel's own tmpfs (no flag) or hugetlbfs."""
    with contextlib.suppress(OSError, AttributeError):
        fd = os.memfd_create("which", *flags)
        try:
            return os.fstat(fd).st_dev
        finally:
            os.close(fd)
    return None


def tmpfs_devices():
    """Returns the device numbers of every tmpfs: mounted ones, and the one of memfds and shared mappings."""
    found = {own_device()}
    for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines():
        fields, _, rest = line.partition(" - ")
        if rest.split()[0] == "tmpfs":
            major, minor = fields.split()[2].split(":")
            found.add(os.makedev(int(major), int(minor)))
    return found


def segments():
    """Returns {shmid: resident bytes} of System V; in `maps` a segment's inode is its id."""
    lines = pathlib.Path("/proc/sysvipc/shm").read_text().splitlines()
    column = lines[0].split().index("rss")
    return {int(line.split()[1]): int(line.split()[column]) for line in lines[1:]}


@dataclasses.dataclass
class Reading:
    begun: float  # seconds since 1970
    ended: float = 0.0
    bytes: int = 0
    processes: int = 0
    rss: int = 0
    moves: list = None  # of the meter that made it
    steady: bool = True  # the same processes before and after; one that ends meanwhile leaves its share to the others
    unmapping: bool = False  # a process was giving memory back: the pages were in no mapping any more, but not yet free

    @property
    def mib(self):
        return self.bytes / MIB


def read_smaps(pid, shmem, tmpfs, objects, huge):
    """Adds one process; returns its (PSS without shared memory objects, RSS) in bytes."""
    text = pathlib.Path("/proc", str(pid), "smaps").read_bytes()
    pss = rss = 0
    key = place = None
    for match in SMAPS.finditer(text):
        name = match["key"]
        if name is None:
            major, minor = match["device"].split(b":")
            device, inode = os.makedev(int(major, 16), int(minor, 16)), int(match["inode"])
            key = (device, inode) if inode and device in tmpfs else None
            place = (device, inode), match["range"]
            if key and key not in shmem:
                # Only a privileged reader may look at the file itself. Without it, the members' PSS counts.
                with contextlib.suppress(OSError):
                    shmem[key] = os.stat(f"/proc/{pid}/map_files/{match['range'].decode()}").st_blocks * 512
        elif name == b"Rss":
            rss += int(match["value"]) * 1024
        elif name == b"Pss" and key:
            objects[key] = objects.get(key, 0) + int(match["value"]) * 1024
        elif name == b"Pss":
            pss += int(match["value"]) * 1024
        elif name in (b"Private_Hugetlb", b"Shared_Hugetlb") and int(match["value"]):
            # Private ones have no file that would identify them.
            of = place[0] if name == b"Shared_Hugetlb" else (pid, place[1])
            huge[of] = max(huge.get(of, 0), int(match["value"]) * 1024)
    return pss, rss


def read_descriptors(pid, shmem, tmpfs):
    """Adds the files of a tmpfs that a process holds open."""
    folder = f"/proc/{pid}/fd"
    for name in os.listdir(folder):
        with contextlib.suppress(OSError):
            status = os.stat(f"{folder}/{name}")
            if stat.S_ISREG(status.st_mode) and status.st_dev in tmpfs:
                shmem[status.st_dev, status.st_ino] = status.st_blocks * 512


def resident_bytes(pid):
    return int(pathlib.Path("/proc", str(pid), "statm").read_bytes().split()[1]) * PAGE_BYTES


def read_once(pids, tmpfs):
    """Returns one Reading of these processes."""
    reading = Reading(begun=time.time())
    shmem, objects, huge = {}, {}, {}
    system_v = segments()
    for pid in pids:
        with contextlib.suppress(OSError):  # it has ended since
            resident = resident_bytes(pid)
            pss, rss = read_smaps(pid, shmem, tmpfs, objects, huge)
            reading.unmapping |= min(resident, resident_bytes(pid)) > rss + UNMAPPED_LEAST
            if rss:
                reading.bytes += pss
                reading.rss += rss
                reading.processes += 1
            read_descriptors(pid, shmem, tmpfs)
    for device, inode in objects:
        if device == own_device() and inode in system_v:
            shmem.setdefault((device, inode), system_v[inode])
    # The size of an object is exact. Its parts in several processes, read in sequence, may not add up to it.
    reading.bytes += sum(shmem.get(key, objects.get(key, 0)) for key in objects.keys() | shmem.keys())
    reading.bytes += sum(huge.values())
    reading.ended = time.time()
    return reading


class Meter:
    """Reads the truth of a tree again and again in a thread until it is stopped. `pid` is the root of the job.

    A reading takes long, and a job may take and free memory between two readings. A second thread follows the anonymous memory of
    each process without forks by its statm, some fifty times a second: `moves` are (since, until, {pid: bytes}).
    """

    def __init__(self, pid, interval_secs=0.1):
        self.members, self.interval_secs = Members(pid), interval_secs
        self.readings, self.moves, self.tmpfs = [], [], tmpfs_devices()
        self.over = threading.Event()
        self.threads = [threading.Thread(target=target, daemon=True) for target in (self.run, self.follow)]
        for thread in self.threads:
            thread.start()

    def follow(self):
        while not self.over.is_set():
            begun, since, found, parents_of_forks = time.monotonic(), time.time(), {}, set()
            for pid in list(self.members.known):
                with contextlib.suppress(OSError, ValueError):
                    _, resident, shared, *_ = map(int, pathlib.Path("/proc", str(pid), "statm").read_bytes().split())
                    _, parent, _, _, _, _, flags, *_ = pathlib.Path("/proc", str(pid), "stat").read_bytes().rpartition(b")")[2].split()
                    if int(flags) & PF_FORKNOEXEC:
                        parents_of_forks.add(int(parent))
                    elif resident:
                        found[pid] = (resident - shared) * PAGE_BYTES
            alone = {pid: size for pid, size in found.items() if pid not in parents_of_forks}
            self.moves.append((since, time.time(), alone))
            self.over.wait(max(0.02, 9 * (time.monotonic() - begun)))

    def run(self):
        while not self.over.is_set():
            begun, pids = time.monotonic(), set(self.members.now())
            reading = read_once(pids, self.tmpfs)
            # A process that is exiting is still listed after its memory has gone.
            reading.steady = self.members.now() == pids and reading.processes == len(pids) and not reading.unmapping
            reading.moves = self.moves
            self.readings.append(reading)
            # After a long reading, leave the job as much time for itself.
            self.over.wait(max(self.interval_secs, time.monotonic() - begun))

    def stop(self):
        self.over.set()
        for thread in self.threads:
            thread.join()
        return self.readings


# ---- the verdict ------------------------------------------------------------------------------------------


@dataclasses.dataclass
class Judged:
    """One sample beside the truth: `off_mib` is 0 if it lies between the readings before and after it."""
    at: float
    told_mib: float
    low_mib: float
    high_mib: float
    processes: int

    @property
    def nearest_mib(self):
        return min(max(self.told_mib, self.low_mib), self.high_mib)

    @property
    def off_mib(self):
        return self.told_mib - self.nearest_mib

    @property
    def factor(self):
        return self.told_mib / self.nearest_mib if self.nearest_mib else float("inf")

    @property
    def allowed_mib(self):
        return SHARE * self.nearest_mib + EACH_PROCESS_MIB * self.processes

    @property
    def holds(self):
        return abs(self.off_mib) <= self.allowed_mib

    def __str__(self):
        return (f"told {self.told_mib:.1f} MiB, true {self.low_mib:.1f} to {self.high_mib:.1f} MiB of {self.processes} "
                f"processes, allowed {self.allowed_mib:.1f} MiB")


def moved_mib(before, after, begun, ended):
    """(lowest, highest): how anonymous memory at a sample differs from its least and its most at the readings around it.

    Only processes that were there all the time count, and neither forks nor processes that have forks: their pages may be
    common, and the sum counts those more than once. The last move before the sample, those during it and the first one after it
    count, and no others: a sample that tells what was true earlier or later is wrong.
    """
    # The meter may be kept from a CPU in the middle of a move, whose figures are from any moment between its two.
    moves = [move for move in before.moves or [] if before.begun <= move[0] and move[1] <= after.ended]
    first = max((since for since, until, _ in moves if until <= begun), default=None)
    last = min((until for since, until, _ in moves if since >= ended), default=None)
    if first is None or last is None or last - first > WIDEST_MOVE_SECS:
        return 0, 0
    throughout = set.intersection(*(set(found) for _, _, found in moves))
    sums = [(since, until, sum(found[pid] for pid in throughout) / MIB) for since, until, found in moves]
    at_readings = [mib for since, until, mib in sums if until <= before.ended or since >= after.begun]
    at_sample = [mib for since, until, mib in sums if since <= last and until >= first]
    if not at_readings:
        return 0, 0
    least, most = min(at_readings), max(at_readings)
    lowest = min(0, min(at_sample) - least) or max(0, min(at_sample) - most)
    highest = max(0, max(at_sample) - most) or min(0, max(at_sample) - least)
    return lowest, highest


def judge(told, readings):
    """Judges `told`: [(first moment, last moment, MiB)]. A sample without a reading soon before and after is left out."""
    judged, readings = [], steady(readings)
    for begun, ended, mib in told:
        before = [reading for reading in readings if reading.ended <= begun]
        after = [reading for reading in readings if reading.begun >= ended]
        if not before or not after or mib is None or after[0].ended - before[-1].begun > WIDEST_SECS:
            continue
        around = [reading for reading in readings if before[-1].begun <= reading.begun <= after[0].begun]
        if not all(reading.processes for reading in around):
            continue  # the job begins or ends at that moment
        lowest, highest = moved_mib(before[-1], after[0], begun, ended)
        judged.append(Judged(begun, mib, min(reading.mib for reading in around) + lowest, max(reading.mib for reading in around) + highest,
                             max(reading.processes for reading in around)))
    return judged


def told_by_json(samples, first=1):
    """Returns the samples of a recording, from the second on."""
    return [(*when_of(sample), sample["cpu"]["process_memory_mib"]) for sample in samples[first:]]


def when_of(sample):
    """Returns the first and the last moment of a sample."""
    return sample["timestamp"], sample["timestamp"] + (sample["tracker"]["sample_ms"] or 0) / 1000


def widest_gap_secs(readings):
    """Returns the longest time without a steady reading, which shows a machine too busy for the meter."""
    found = steady(readings)
    return max((after.ended - before.begun for before, after in zip(found, found[1:])), default=float("inf"))


def steady(readings):
    """Returns the readings during which no process came or went; all if there are none."""
    return [reading for reading in readings if reading.steady] or readings


def peak(readings):
    return max(steady(readings), key=lambda reading: reading.mib)


def lasting_peak_mib(readings, secs=SAMPLED_SECS):
    """Returns the largest memory that lasted at least as long as a sample's distance, because shorter peaks may be
    missed.
    """
    found, best = steady(readings), 0
    for i, first in enumerate(found):
        least = first.mib
        for one in found[i:]:
            least = min(least, one.mib)
            if one.ended - first.begun >= secs:
                best = max(best, least)
                break
    return best


def was_read_around(readings, at):
    """Whether the meter read shortly before and after a sample: (first moment, last moment)."""
    before = max((reading.begun for reading in steady(readings) if reading.ended <= at[0]), default=-float("inf"))
    after = min((reading.ended for reading in steady(readings) if reading.begun >= at[1]), default=float("inf"))
    return after - before <= CLOSE_SECS


def peak_holds(told_mib, readings, source=None, at=None):
    """The kernel's high-water mark of a process may know a higher peak than a meter that reads from time to time. So may a
    sample (`at`) that was taken between two readings far apart, while processes come and go.
    """
    most, lasting_mib = peak(readings), lasting_peak_mib(readings)
    each_mib = EACH_PROCESS_MIB * most.processes
    is_bound = source != "largest_process" and (not at or was_read_around(readings, at))
    return (told_mib >= (1 - PEAK_SHARE) * lasting_mib - each_mib and
            (told_mib <= (1 + PEAK_SHARE) * most.mib + each_mib or not is_bound))


def hugetlb_pages():
    """Returns how many huge pages of hugetlbfs are free, and the size of one in bytes."""
    lines = dict(line.split(":") for line in pathlib.Path("/proc/meminfo").read_text().splitlines())
    return int(lines.get("HugePages_Free", "0")), int(lines.get("Hugepagesize", "0 kB").split()[0]) * 1024


def kill_descendants(pid):
    """Ends the processes that a job left behind; this test started them."""
    for one in Members(pid).now():
        with contextlib.suppress(ProcessLookupError):
            os.kill(one, 9)
