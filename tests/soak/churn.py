#!/usr/bin/env python3
"""A recorder at 100 Hz beside churn: tests/soak/churn.py BUILD SECONDS

Records tests/soak/churn_job.py, the CPU time of each process read for itself (--cgroup=off), and reads the samples as they
come. The memory that the recorder has asked the kernel for (VmData) and its open descriptors must be what they were after a tenth of the
time. Its resident pages may still rise within that memory: the job begins with a crowd, and only a later crowd writes all pages of the
tables that have grown for it. The ticks that it missed are those that a program missed beside it that reads nothing, and works at each tick
as long as the recorder does: the scheduler lets one that only sleeps run before others. There are two such programs, and how far they lie
apart in windows of ten seconds tells how much of a difference is luck. The CPU time of the samples is that of the control group which the
job entered, within 0.1 %. Prints a line each minute. Ends with "N passed, N failed".
"""
import contextlib
import fcntl
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import threading
import time

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS / "cli"))
import exact  # noqa: E402

INTERVAL_SECS, LOOK_SECS = 0.01, 1.0
# malloc(3) asks for 128 KiB more than it needs, so that one table of a busier moment is a step of up to 256 KiB (176 were seen, 44 of them
# such a table). A leak of a byte a sample is 700 KiB in two hours. Descriptors follow the number of processes that live.
GROWTH_KIB, MORE_DESCRIPTORS = 256, 8
CPU_PART, MORE_MISSED_PART = 0.001, 0.0001
# A normal distribution has 1 in 700 beyond.
STANDARD_ERRORS = 3
# The interpreter starts inside of the group.
ENTERED = '[ -z "$GROUP" ] || echo 0 >"$GROUP/cgroup.procs"; exec "$0" "$@"'
# Sleeps until each tick, and prints how many passed while it did not run, in a line for each window. Works as long at each tick as the process whose number it reads
# did in the ten ticks before.
WINDOW_TICKS = 1000
SLEEPER = f"""
import signal, sys, time
missed, tick, begun, work, before, window = 0, 0, time.monotonic(), 0, (0, 0), {WINDOW_TICKS}
signal.signal(signal.SIGTERM, lambda *_: sys.exit(print(missed)))
pid = sys.stdin.readline().strip()
while True:
    tick += 1
    while tick > window:
        print(missed, flush=True)
        missed, window = 0, window + {WINDOW_TICKS}
    if pid and tick >= before[1] + 10:
        ran = int(open(f"/proc/{{pid}}/schedstat").read().split()[0]) / 1e9
        work, before = (ran - before[0]) / (tick - before[1]), (ran, tick)
    until = time.thread_time() + work
    while time.thread_time() < until:
        pass
    wait = begun + tick * {INTERVAL_SECS} - time.monotonic()
    if wait > 0:
        time.sleep(wait)
    late = int((time.monotonic() - begun) / {INTERVAL_SECS}) - tick
    missed, tick = missed + max(late, 0), tick + max(late, 0)
"""


class Looks:
    """The data, the number of descriptors, and the anonymous pages of a process, looked at each second."""

    def __init__(self, pid):
        self.pid, self.found, self.ended = pid, [], threading.Event()
        self.thread = threading.Thread(target=self.look)
        self.thread.start()

    def look(self):
        while not self.ended.wait(LOOK_SECS):
            with contextlib.suppress(OSError, AttributeError):
                text = pathlib.Path(f"/proc/{self.pid}/status").read_text()
                data, resident = (int(re.search(rf"^{name}:\s+(\d+)", text, re.M)[1]) for name in ("VmData", "RssAnon"))
                self.found.append((data, len(os.listdir(f"/proc/{self.pid}/fd")), resident))
                if len(self.found) % 60 == 0:
                    print(f"{len(self.found)} s: {data} KiB, {resident} of them resident, {self.found[-1][1]} descriptors", flush=True)

    def stop(self):
        """Returns the most of both in the second tenth of the time and in the last one."""
        self.ended.set()
        self.thread.join()
        tenth = len(self.found) // 10
        return [[max(column) for column in zip(*part)] for part in (self.found[tenth:2 * tenth], self.found[-tenth:])]


def record(build, secs):
    """Returns (looks, samples, missed ticks, CPU seconds of the samples, those of the group, ticks that each sleeper missed in
    each window)."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("TRACKER_")}
    apart = ["unshare", "-mn"] if exact.is_root() else []
    samples = missed = cpu_secs = 0
    with contextlib.ExitStack() as stack:
        group = None
        if exact.is_root() and exact.UNIFIED:
            group = stack.enter_context(exact.cgroup_around("churn"))
            environment["GROUP"] = str(group)
        sleepers = [subprocess.Popen([sys.executable, "-c", SLEEPER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(3)]
        tracker = subprocess.Popen(
            [*apart, build / "resource-tracker", "-q", "--no-summary", "-i", str(INTERVAL_SECS), "--cgroup=off", "--wait-descendants",
             "-o", "-", "--", "sh", "-c", ENTERED, sys.executable, TESTS / "soak" / "churn_job.py", str(secs)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=environment)
        # The recorder keeps lines while this program waits for a CPU (260 KiB were seen): three seconds of them fit into the pipe.
        fcntl.fcntl(tracker.stdout, fcntl.F_SETPIPE_SZ, 1 << 20)
        for sleeper, pid in zip(sleepers, ("", tracker.pid, tracker.pid)):
            print(pid, file=sleeper.stdin, flush=True)
        looks = Looks(tracker.pid)
        for line in tracker.stdout:
            sample = json.loads(line)
            assert sample["sample"] == samples, (sample["sample"], samples)
            samples += 1
            missed += sample["missed_ticks"] or 0
            cpu_secs += exact.interval_secs(sample)
        for sleeper in sleepers:
            sleeper.terminate()
        sleepers_missed = [list(map(int, sleeper.communicate()[0].split())) for sleeper in sleepers]
        assert tracker.wait() == 0, tracker.returncode
        found = looks.stop()
        return found, samples, missed, cpu_secs, exact.cgroup_secs(group) if group else None, sleepers_missed


def most_missed(workers, samples):
    """The average of two programs that work as long, their luck, and a ten-thousandth of the samples."""
    luck = math.sqrt(sum((one - other) ** 2 for one, other in zip(*workers)))
    return sum(map(sum, workers)) / 2 + max(samples * MORE_MISSED_PART, STANDARD_ERRORS * luck)


def main():
    build, secs = pathlib.Path(sys.argv[1]).resolve(), float(sys.argv[2])
    begun = time.monotonic()
    (early, late), samples, missed, told, group_secs, (sleeper, *workers) = record(build, secs)
    print(f"{samples} samples in {time.monotonic() - begun:.0f} s")
    results = [late[0] - early[0] <= GROWTH_KIB, late[1] - early[1] <= MORE_DESCRIPTORS,
               missed <= most_missed(workers, samples)]
    print(f"memory {early[0]} then {late[0]} KiB, resident {early[2]} then {late[2]} KiB, descriptors {early[1]} then {late[1]}")
    print(f"missed ticks {missed}, of two programs that work as long {sum(workers[0])} and {sum(workers[1])} (limit "
          f"{most_missed(workers, samples):.0f}), of one that only sleeps {sum(sleeper)}")
    if group_secs is None:
        print("no control group: the CPU time has no truth")
    else:
        print(f"CPU time {told:.3f} s, of the group {group_secs:.3f} s ({(told / group_secs - 1) * 100:+.3f} %)")
        results.append(abs(told - group_secs) <= group_secs * CPU_PART + exact.EXITS_SECS)
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    return not all(results)


if __name__ == "__main__":
    sys.exit(main())
