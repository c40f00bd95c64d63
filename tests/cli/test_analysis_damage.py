"""Fixture machines whose counters are damaged at random: no metric, sentence or advice tells more than the machine can do.

`play_machine` records a machine in three steps, a second apart: as it is, damaged, and either healthy again or with the damage. A counter
that is damaged falls, is 0, stands still, wraps at 2^32 or at 2^64, or jumps. `DAMAGE_SEEDS=FIRST-LAST` tries other seeds. A job of many
processes has sums that those of one number never reach.
"""
import json
import os
import pathlib
import random
import re
import runpy
import shutil
import subprocess
import tempfile

import pytest

from conftest import BUILD, TOP

ARCHIVE = runpy.run_path(str(TOP / "tools" / "root-archive"))
MACHINES = sorted(path.stem for path in (TOP / "tests" / "roots").glob("*.tree") if path.stem != "hand-made-processes")
SEEDS = range(*(int(part) + i for i, part in enumerate(os.environ.get("DAMAGE_SEEDS", "0-15").split("-"))))
ADVISED_EVERY = 4  # of the recordings: the summary and advice take longer than the recording
COUNTERS = re.compile(r"proc/(stat|diskstats|net/dev|vmstat|loadavg|meminfo|pressure/\w+|spl/.*|\d+/(task/\d+/)?"
                      r"(stat|statm|io|schedstat|status|smaps_rollup|fdinfo/\d+))|"
                      r"sys/fs/cgroup/.*(cpu\.stat|memory\.[\w.]+|io\.stat|pressure|cpuacct\.\w+|blkio\.[\w.]+|pids\.current)|"
                      r"sys/.*(energy_uj|/meminfo|gpu_busy_percent|mem_info_\w+|power1_\w+|temp1_input|fan1_input|freq1_input|"
                      r"busy_time\w*|rc6_residency_ms|act_freq\w*)")
NUMBER = re.compile(rb"(?<![\w.])\d+(?![\w.])")
DAMAGES = {
    "fall": lambda old, new, chance: old // 2,
    "zero": lambda old, new, chance: 0,
    "freeze": lambda old, new, chance: old,
    "wrap32": lambda old, new, chance: new % 2 ** 32 if chance.random() < 0.5 else 2 ** 32 - 1,
    "wrap64": lambda old, new, chance: 2 ** 64 - 1 - chance.randrange(1000),
    "large": lambda old, new, chance: 2 ** 63 - 1 - chance.randrange(1000),
    "jump": lambda old, new, chance: new + 10 ** chance.randrange(1, 19),
}


# ---- damaged machines -------------------------------------------------------------------------------------------------

def first_counter(path, data):
    """Where the counters begin: before that stand names and identities."""
    return data.rfind(b")") + 24 if re.fullmatch(r"proc/\d+/(task/\d+/)?stat", path) else 0


def edited(path, old, new, change):
    """`new` with its numbers replaced by change(number in `old`, number in `new`)."""
    begin = first_counter(path, new)
    earlier = [int(number) for number in NUMBER.findall(old[first_counter(path, old):])] if old else []
    count = iter(range(len(new)))

    def replaced(found):
        i, value = next(count), int(found[0])
        return b"%d" % change(earlier[i] if i < len(earlier) else value, value)
    lines = new[begin:].splitlines(keepends=True)
    # The numbers of a device, and those of processes, are identities.
    if path == "proc/diskstats":
        return b"".join(re.sub(rb"^(\s*\d+\s+\d+\s+\S+)(.*)$", lambda line: line[1] + NUMBER.sub(replaced, line[2]), line, flags=re.S)
                        for line in lines)
    if path.endswith("/status"):
        return b"".join(NUMBER.sub(replaced, line) if re.match(rb"(Vm|Rss|volu|nonvol|Huge|Threads)", line) else line for line in lines)
    return new[:begin] + NUMBER.sub(replaced, new[begin:])


def damaged(chance, before, after):
    """Returns the files of a step with some counters damaged, and the words for it."""
    kind = chance.choice(sorted(DAMAGES))
    files = sorted(path for path, entry in after.items() if entry[0] == "file" and COUNTERS.fullmatch(path))
    how = chance.choice(["one file", "one number", "some numbers"])
    hit = {chance.choice(files)} if how != "some numbers" else set(files)
    part = {"one file": 1, "one number": 0.15, "some numbers": 0.03}[how]
    result = dict(after)
    for path in sorted(hit):
        old = before.get(path, ("file", b""))[1]
        result[path] = ("file", edited(path, old, after[path][1],
                                       lambda old, new: DAMAGES[kind](old, new, chance) if chance.random() < part else new))
    return result, f"{kind} of {how}: {', '.join(sorted(hit)) if len(hit) == 1 else ''}"


def grown(before, after):
    """The step after the last: each counter grows once more by as much."""
    return {path: ("file", edited(path, before[path][1], entry[1], lambda old, new: max(0, 2 * new - old)))
            if entry[0] == "file" and path in before and before[path][0] == "file" and COUNTERS.fullmatch(path) else entry
            for path, entry in after.items()}


def recorded(folder, steps, words):
    played = subprocess.run([BUILD / "tests" / "unit" / "play_machine", folder / "root", *(folder / step for step in steps)],
                            capture_output=True, check=False)
    # A build with sanitisers tells each overflow.
    assert played.returncode == 0 and b"runtime error" not in played.stderr, (words, played.stderr.decode())
    return played.stdout


class Player:
    def __init__(self, name, folder):
        self.folder = folder
        steps = ARCHIVE["parse"](TOP / "tests" / "roots" / f"{name}.tree")[1]
        self.before, self.after = steps["t0"], steps["t1"]
        ARCHIVE["write_tree"](self.before, folder / "t0", {}, None)

    def play(self, seed):
        """Returns the recording of a damaged machine, and what was damaged."""
        chance = random.Random(seed)
        first, words = damaged(chance, self.before, self.after)
        last = grown(self.before, first if chance.random() < 0.5 else self.after)
        ARCHIVE["write_tree"](first, self.folder / "t1", self.before, self.folder / "t0")
        ARCHIVE["write_tree"](last, self.folder / "t2", first, self.folder / "t1")
        recording = recorded(self.folder, ("t0", "t1", "t2"), words)
        for step in ("t1", "t2", "root"):
            shutil.rmtree(self.folder / step)
        return recording, words


# ---- a job of many processes, whose counters are as large as a reading may be ------------------------------------------

CROWD, CHILDREN = range(300, 340), "proc/100/task/100/children"
CROWDED_BY_DAY = ("hand-made-cgroup1-4.18", "hand-made-cgroup2-6.6", "hand-made-kubernetes2-5.15", "qemu-x86-numa-6.12")
# Around the limits of what counts as a reading: ticks, faults, KiB, microseconds, bytes.
LARGE = [2 ** power for power in (35, 36, 40, 44, 50, 58, 62)]
# Page faults, ticks and the resident set; the other fields of /proc/PID/stat are identities.
STAT_FIELDS = (7, 8, 9, 10, 11, 12, 13, 14, 21)


def crowded(files):
    """The same machine with forty more children of its job."""
    result = dict(files)
    for path, (kind, data, *more) in files.items():
        for pid in CROWD if path.startswith("proc/100/") else ():
            if path.endswith("/stat"):
                data = re.sub(rb"^\d+ (\(.*\) \w) \d+ ", rb"%d \1 100 " % pid, data, flags=re.S)
            copied = b"" if path.endswith("/children") else data
            result[path.replace("proc/100/", f"proc/{pid}/").replace("/task/100/", f"/task/{pid}/")] = (kind, copied, *more)
    # Kernels without such lists have none.
    for kind, data, *more in filter(None, [files.get(CHILDREN)]):
        result[CHILDREN] = (kind, data.rstrip() + b"".join(b" %d" % pid for pid in CROWD) + b" \n", *more)
    return result


def with_large_counters(chance, files):
    one_for_all = chance.choice([None, LARGE[-1], chance.choice(LARGE)])

    def large(_old, _new):
        return (one_for_all or chance.choice(LARGE)) if chance.random() < 0.7 else 0

    def damaged_stat(data):
        name, fields = data[:data.rfind(b")") + 1], data[data.rfind(b")") + 1:].split()
        for i in STAT_FIELDS:
            fields[i] = b"%d" % (chance.choice(LARGE[:3]) if chance.random() < 0.9 else 0)
        return name + b" " + b" ".join(fields) + b"\n"

    result = dict(files)
    for path, (kind, data, *_) in files.items():
        if kind == "file" and re.fullmatch(r"proc/\d+/stat", path):
            result[path] = (kind, damaged_stat(data))
        elif kind == "file" and COUNTERS.fullmatch(path) and not re.search(r"/fdinfo/|/task/", path):
            result[path] = (kind, edited(path, b"", data, large))
    return result


@pytest.mark.parametrize("machine", [pytest.param(name, marks=[pytest.mark.night] * (name not in CROWDED_BY_DAY)) for name in MACHINES])
def test_sums_of_large_counters_overflow_nothing(machine):
    """30 kinds of overflow, of which those of sums need more processes than a machine of the fixtures has."""
    steps = ARCHIVE["parse"](TOP / "tests" / "roots" / f"{machine}.tree")[1]
    before, after = crowded(steps["t0"]), crowded(steps["t1"])
    for seed in SEEDS[:4]:
        chance = random.Random(f"{machine} {seed}")
        with tempfile.TemporaryDirectory(prefix="rt-damage-", dir="/dev/shm") as folder:
            folder, last = pathlib.Path(folder), before
            ARCHIVE["write_tree"](before, folder / "t0", {}, None)
            for i in range(1, 7):
                now = with_large_counters(chance, after)
                ARCHIVE["write_tree"](now, folder / f"t{i}", last, folder / f"t{i - 1}")
                last = now
            samples = [json.loads(line) for line in recorded(folder, [f"t{i}" for i in range(7)], f"seed {seed}").splitlines()]
        assert all(sample["cpu"]["process_child_count"] >= len(CROWD) for sample in samples)
        assert not [(place, value) for sample in samples for place, value in values(sample) if value < 0 and not place.endswith("celsius")]


# ---- what a machine can do --------------------------------------------------------------------------------------------

def values(value, place=""):
    if isinstance(value, dict):
        for key, below in value.items():
            yield from values(below, f"{place}.{key}" if place else key)
    elif isinstance(value, list):
        for below in value:
            yield from values(below, place)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield place, value


def most_of(place, cpus, memory_mib, sample):
    """The most that a metric can be in a sample of this machine."""
    secs = sample["actual_interval_ms"] / 1000
    name = place.rpartition(".")[2]
    if place == "cpu.utilization_pct":
        return cpus
    if name in ("process_cores_used", "cgroup_utilization_pct"):
        return 1.3 * cpus
    if name.endswith("_pct"):
        return 100
    if name == "per_core_pct":
        return 100
    if place.startswith("pressure."):
        return 1.3 * secs
    if name in ("utime_secs", "stime_secs", "iowait_secs", "irq_secs", "steal_secs", "throttled_secs") and not place.startswith("run_end"):
        return cpus * (1.3 * secs + 0.1)
    if re.search(r"(?<!io)(?<!cpu_wait_)(cpu_|time_|usage_)secs$|known_secs$", name) and not place.startswith("cgroup."):
        return cpus * (1.3 * sample["elapsed_secs"] + 1.1)
    if name in ("energy_joules", "process_cpu_energy_joules"):
        return 1e4 * (1.3 * secs + 2)
    if name.endswith("bytes_per_sec"):
        return 1.3e13
    if name == "power_watts":
        return 1e4
    if name in ("used_mib", "free_mib", "available_mib") and place.startswith("memory."):
        return sample["memory"]["total_mib"] if sample["memory"]["total_mib"] is not None else 1e15
    if name == "swap_used_mib":
        return sample["memory"]["swap_total_mib"]
    if place.partition(".")[0] in ("cpu", "programs", "run_end") and name.endswith("_mib") and not re.search("gpu|limit|rss|shared", name):
        return memory_mib
    if name.endswith("_mib") or name.endswith("_gb"):
        return 2 ** 44
    return 1e19


def faults_of_sample(sample, cpus, memory_mib):
    for place, value in values(sample):
        most = most_of(place, cpus, memory_mib, sample)
        if value < 0 and not place.endswith("temperature_celsius"):
            yield f"{place} {value} is negative"
        elif most is not None and value > most:
            yield f"{place} {value} is above {most}"
    cores, total = sample["cpu"]["per_core_pct"], sample["cpu"]["utilization_pct"]
    if cores and total is not None and None in cores:
        yield f"utilization_pct {total} is known, although a core is unknown"
    elif cores and total is not None and abs(sum(cores) / 100 - total) > 0.002 * len(cores):
        yield f"utilization_pct {total} is not the sum of its cores"


def faults_of_text(text, cpus):
    plain = " ".join(text.split())
    for used, all_ in re.findall(r"([\d.,]+) of (?:the machine's )?(\d+) (?:cores|CPUs)", plain):
        if float(used.replace(",", "")) > 1.3 * int(all_):
            yield f"{used} of {all_} cores"
    for cores in re.findall(r"([\d.,]+) cores", plain):
        if float(cores.replace(",", "")) > 1.3 * cpus:
            yield f"{cores} cores of {cpus}"
    # The largest process may have had more than the limit of a control group that it came to later.
    for part in re.findall(r"([\d.,]+) %(?! of [\d.]+ \w+ \(cgroup limit\)| of the memory that it may use| of the limit)", plain):
        if float(part.replace(",", "")) > 100:
            yield f"{part} %"
    yield from re.findall(r"(?:^|[ (])-\d[\d.,]* ?[\w%]*|\bnan\b|\binf\b|[\d.]+e\+\d+|[\d.]+ [EZ]i?B", plain)


def told(binary, path, recording):
    """The words of the summary and the advice about a recording."""
    path.write_bytes(recording)
    for command in ("summary", "recommend"):
        said = subprocess.run([binary, command, path], capture_output=True, text=True)
        assert said.returncode in (0, 1), (command, said.stderr)
        yield command, said.stdout


@pytest.mark.timeout(300)
@pytest.mark.parametrize("machine", [pytest.param(name, marks=[pytest.mark.night] * (i % 2)) for i, name in enumerate(MACHINES)])
def test_damaged_counters_tell_nothing_impossible(binary, tmp_path, machine):
    faults = []
    with tempfile.TemporaryDirectory(prefix="rt-damage-", dir="/dev/shm") as folder:
        player = Player(machine, pathlib.Path(folder))
        cpus = max(len(re.findall(rb"^cpu\d", step["proc/stat"][1], re.M)) for step in (player.before, player.after))
        for seed in SEEDS:
            recording, words = player.play(f"{machine} {seed}")
            samples = [json.loads(line) for line in recording.splitlines()]
            memory_mib = max((sample["memory"]["total_mib"] or 0) + (sample["memory"]["swap_total_mib"] or 0) for sample in samples)
            found = [fault for sample in samples for fault in faults_of_sample(sample, cpus, memory_mib or 1e15)]
            if seed % ADVISED_EVERY == 0:
                found += [f"{command}: {fault}" for command, text in told(binary, tmp_path / f"{seed}.jsonl", recording)
                          for fault in faults_of_text(text, cpus)]
            faults += [f"seed {seed}, {words}: {fault}" for fault in found]
    assert not faults, "\n" + "\n".join(faults[:40])
