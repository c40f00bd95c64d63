"""Measures a job's memory with the tests' own meter, and compares a recording with it.

The truth is the sum of PSS of all processes of the job from /proc/PID/smaps, read as close together as possible.
It includes memory of the job that no page table shows: pages of tmpfs files, memfds and shared memory segments
that its processes hold without mapping them, and huge pages of hugetlbfs, which PSS leaves out.

The tests, the random test and bench/memory share this file.
"""
import contextlib
import dataclasses
import json
import os
import pathlib
import re
import select
import stat
import subprocess
import sys
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
# A meter that does not look for longer may miss a move.
BLIND_SECS = 0.03
# Anonymous memory that moves by more does not stand still.
MOVED_LEAST_MIB = 1
# Readings further apart than this may have missed a peak between them.
CLOSE_SECS = 1.0
# The distance of two samples at -i 1, plus a margin for a busy machine.
SAMPLED_SECS = 1.2
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
PF_FORKNOEXEC = 0x40  # it has not called exec since its fork
# munmap(2) takes a mapping out of /proc/PID/smaps first and then frees its pages, 0.1 s per GiB.
UNMAPPED_LEAST = 2 << 20

SMAPS = re.compile(rb"^(?P<range>[0-9a-f]+-[0-9a-f]+) (?P<flags>\S+) \S+ (?P<device>\S+) (?P<inode>\d+)"
                   rb"|^(?P<key>Pss|Rss|Anonymous|Private_Hugetlb|Shared_Hugetlb|VmFlags): +(?P<value>\d*)", re.M)

PSS_ANON = re.compile(rb"^Pss_Anon: +(\d+)", re.M)


def build_job(binary, folder):
    """Returns the program tests/fakes/memory-job.c: the one built beside the recorder, or one compiled now."""
    built = pathlib.Path(binary).parent / "tests" / "fakes" / "memory-job"
    if built.exists():
        return str(built)
    made = folder / "memory-job"
    subprocess.run(["cc", "-O1", "-D_GNU_SOURCE", "-I", TOP / "src", "-pthread", "-o",
                    made, TOP / "tests" / "fakes" / "memory-job.c", TOP / "src" / "base" / "scan.c"], check=True)
    return str(made)


# ---- members --------------------------------------------------------------------------------------------


def read(*place):
    """Reads a file of a process, in the cheapest way: some of this is done a hundred times in each of many rounds."""
    fd = os.open("/proc/" + "/".join(map(str, place)), os.O_RDONLY)
    try:
        return os.read(fd, 4096)
    finally:
        os.close(fd)


def parents_of_all():
    """Returns {pid: (parent, start time)} of all processes but zombies."""
    found = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError, IndexError, ValueError):
                fields = read(name, "stat").rpartition(b")")[2].split()
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
    named: int = 0  # the bytes of shared memory objects and huge pages
    machine: int = 0  # those of the machine, at the end of the reading

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
            is_private = match["flags"].endswith(b"p")
            if key and key not in shmem:
                # Only a privileged reader may look at the file itself. Without it, the members' PSS counts.
                with contextlib.suppress(OSError):
                    shmem[key] = os.stat(f"/proc/{pid}/map_files/{match['range'].decode()}").st_blocks * 512
        elif name == b"Rss":
            area_rss = int(match["value"]) * 1024
            rss += area_rss
        elif name == b"Pss" and key:
            area_pss = int(match["value"]) * 1024
            objects[key] = objects.get(key, 0) + area_pss
        elif name == b"Anonymous" and key and is_private and area_rss:
            # The copies that a process wrote into a private mapping are beside the pages of the file.
            copies = area_pss * int(match["value"]) * 1024 // area_rss
            objects[key] -= copies
            pss += copies
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
    reading.named = sum(shmem.get(key, objects.get(key, 0)) for key in objects.keys() | shmem.keys()) + sum(huge.values())
    reading.bytes += reading.named
    reading.machine = machine_named_bytes()
    reading.ended = time.time()
    return reading


class Leaving:
    """Tells the readings of objects that have left the mappings of a job while the kernel still frees their pages."""

    def __init__(self):
        self.before, self.at_most = Reading(0), None

    def notice(self, reading):
        gone = self.before.named - reading.named
        if gone > UNMAPPED_LEAST:
            self.at_most = self.before.machine - gone * 9 // 10
        if self.at_most is not None and reading.machine <= self.at_most:
            self.at_most = None
        reading.unmapping |= self.at_most is not None
        self.before = reading


def anonymous_memory(pids):
    """Returns {pid: bytes} of the anonymous memory of these processes. Pages that forks have in common count once."""
    resident, parents, forks = {}, {}, set()
    for pid in pids:
        with contextlib.suppress(OSError, ValueError):
            resident[pid] = read(pid, "statm")
            parents[pid], _, _, _, _, flags = map(int, read(pid, "stat").rpartition(b")")[2].split()[1:7])
            if flags & PF_FORKNOEXEC:
                forks.add(pid)
    found, with_forks = {}, {parents[pid] for pid in forks}
    for pid, text in resident.items():
        _, rss, shared, *_ = map(int, text.split())
        if pid in forks and text == resident.get(parents[pid]):
            continue  # a child of vfork has its parent's memory until it calls exec
        if pid in forks or pid in with_forks:
            with contextlib.suppress(OSError, TypeError):  # kernels before 5.4 do not tell it
                found[pid] = int(PSS_ANON.search(read(pid, "smaps_rollup"))[1]) * 1024
        else:
            found[pid] = (rss - shared) * PAGE_BYTES
    return found


def follow(root_pid):
    """The command `memory_truth.py PID`: prints the moves of a job as JSON once its standard input is closed."""
    members, moves, wait = Members(root_pid), [], 0
    while not select.select([0], [], [], wait)[0]:
        begun, since = time.monotonic(), time.time()
        found = anonymous_memory(members.now())
        moves.append((since, time.time(), sum(found.values())))
        wait = max(0.015, 4 * (time.monotonic() - begun))
    json.dump(moves, sys.stdout)


class Meter:
    """Reads the truth of a tree again and again in a thread until it is stopped. `pid` is the root of the job.

    A reading takes long, and between two readings a job may take and free memory, and its processes may end. A process of the
    meter follows the anonymous memory, some fifty times a second if that takes little time: `moves` are (since, until, bytes).
    """

    def __init__(self, pid, interval_secs=0.1):
        self.members, self.interval_secs = Members(pid), interval_secs
        self.readings, self.tmpfs, self.leaving = [], tmpfs_devices(), Leaving()
        self.follower = subprocess.Popen([sys.executable, __file__, str(pid)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while not self.over.is_set():
            begun, pids = time.monotonic(), set(self.members.now())
            reading = read_once(pids, self.tmpfs)
            self.leaving.notice(reading)
            # A process that is exiting is still listed after its memory has gone.
            reading.steady = self.members.now() == pids and reading.processes == len(pids) and not reading.unmapping
            self.readings.append(reading)
            # After a long reading, leave the job as much time for itself.
            self.over.wait(max(self.interval_secs, time.monotonic() - begun))

    def stop(self):
        self.over.set()
        self.thread.join()
        moves = json.loads(self.follower.communicate()[0])
        for reading in self.readings:
            reading.moves = moves
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


def moves_around(moves, begun, ended):
    """Returns (sizes, unseen_secs, moved_mib): the MiB of the last move before a time, of those during it, and of the first one after it, none
    if these two are far apart; how long the meter did not look just then; and by how much memory moved just then.

    The meter may be kept from a CPU in the middle of a move, whose size is then from any moment between its two.
    """
    first = max((i for i, (_, until, _) in enumerate(moves) if until <= begun), default=None)
    last = min((i for i, (since, _, _) in enumerate(moves) if since >= ended), default=None)
    if first is None or last is None:
        return [], float("inf"), 0
    sizes = [size / MIB for _, _, size in moves[first:last + 1]]
    beside = [size / MIB for _, _, size in moves[max(0, first - 1):last + 2]]
    is_close = moves[last][1] - moves[first][0] <= WIDEST_MOVE_SECS + (ended - begun)
    return sizes if is_close else [], moves[last][0] - moves[first][1] - (ended - begun), max(beside) - min(beside)


def rests(readings):
    """Returns (begun, ended, MiB) of the readings during which the anonymous memory stood still: the rest of their memory."""
    found = []
    for reading in readings:
        sizes, _, _ = moves_around(reading.moves or [], reading.begun, reading.ended)
        if sizes and max(sizes) - min(sizes) <= MOVED_LEAST_MIB:
            found.append((reading.begun, reading.ended, reading.mib - sum(sizes) / len(sizes)))
    return found


def rest_beside(rest, begun, ended):
    """Returns the MiB of the rest before, during and after a time; none if nothing is known soon before and after."""
    before = max((one for one in rest if one[1] <= begun), default=None)
    after = min((one for one in rest if one[0] >= ended), default=None)
    if not before or not after or after[1] - before[0] > WIDEST_SECS:
        return []
    return [mib for since, _, mib in rest if before[0] <= since <= after[0]]


def judge(told, readings):
    """Judges `told`: [(first moment, last moment, MiB)]. A sample that tells what was true earlier or later is wrong.

    A sample without a reading soon before and after is left out. So is one at which the meter does not look often enough while a
    process comes or goes, or while memory moves by more than a sample may be wrong.
    """
    judged, every, readings = [], readings, steady(readings)
    moves, rest = readings[0].moves or [] if readings else [], rests(readings)
    for begun, ended, mib in told:
        before = [reading for reading in readings if reading.ended <= begun]
        after = [reading for reading in readings if reading.begun >= ended]
        if not before or not after or mib is None or after[0].ended - before[-1].begun > WIDEST_SECS:
            continue
        around = [reading for reading in every if before[-1].begun <= reading.begun <= after[0].begun]
        if not all(reading.processes for reading in around):
            continue  # the job begins or ends at that moment
        (sizes, unseen_secs, moved_mib), beside = moves_around(moves, begun, ended), rest_beside(rest, begun, ended)
        is_blind = unseen_secs > BLIND_SECS
        if is_blind and not (all(reading.steady for reading in around) and len({reading.processes for reading in around}) == 1):
            continue
        if sizes and beside:
            found = min(sizes) + min(beside), max(sizes) + max(beside)
        else:
            found = min(reading.mib for reading in around), max(reading.mib for reading in around)
        one = Judged(begun, mib, *found, max(reading.processes for reading in around))
        if not is_blind or moved_mib <= one.allowed_mib:
            judged.append(one)
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


def highest_by_moves(readings):
    """Returns the most MiB that a move and the rest beside it show; 0 if there are none. A peak may lie between two readings."""
    moves, rest = (readings[0].moves or [], rests(readings)) if readings else ([], [])
    beside = [(size, rest_beside(rest, since, until)) for since, until, size in moves]
    return max((size / MIB + min(known) for size, known in beside if known), default=0)


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
    most_mib = max(most.mib, highest_by_moves(readings))
    each_mib = EACH_PROCESS_MIB * most.processes
    is_bound = source != "largest_process" and (not at or was_read_around(readings, at))
    return (told_mib >= (1 - PEAK_SHARE) * lasting_mib - each_mib and
            (told_mib <= (1 + PEAK_SHARE) * most_mib + each_mib or not is_bound))


def machine_kib():
    """Returns the figures of /proc/meminfo by name."""
    lines = (line.split(":") for line in pathlib.Path("/proc/meminfo").read_text().splitlines())
    return {name: int(value.split()[0]) for name, value in lines}


def machine_named_bytes():
    """Returns the bytes of shared memory and of huge pages that the machine has in use."""
    machine = machine_kib()
    huge = machine.get("HugePages_Total", 0) - machine.get("HugePages_Free", 0)
    return (machine["Shmem"] + huge * machine.get("Hugepagesize", 0)) * 1024


def hugetlb_pages():
    """Returns how many huge pages of hugetlbfs are free, and the size of one in bytes."""
    machine = machine_kib()
    return machine.get("HugePages_Free", 0), machine.get("Hugepagesize", 0) * 1024


def kill_descendants(pid):
    """Ends the processes that a job left behind; this test started them."""
    for one in Members(pid).now():
        with contextlib.suppress(ProcessLookupError):
            os.kill(one, 9)


if __name__ == "__main__":
    follow(int(sys.argv[1]))
