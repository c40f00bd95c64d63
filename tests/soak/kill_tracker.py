#!/usr/bin/env python3
"""Kills a recording tracker at random moments and reads its file.

    tests/soak/kill_tracker.py [--binary build/resource-tracker] [--kills 1000] [--seed N]

Every complete line must be one whole sample. The samples of a run must be numbered without a gap, and the last of
them must have been younger than an interval at the kill. Two of three runs append to the file of the run before
and have to repair its torn end, if there is one.
"""
import argparse
import contextlib
import dataclasses
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

INTERVAL_SECS = 0.005
LONGEST_RUN_SECS = 0.1
TOP = pathlib.Path(__file__).resolve().parents[2]


@dataclasses.dataclass
class Totals:
    kills: int = 0
    samples: int = 0
    torn_tails: int = 0
    # For each run with a sample, the age of the last one at the kill.
    ages_secs: list = dataclasses.field(default_factory=list)

    def age_secs(self, share):
        return sorted(self.ages_secs)[int(share * (len(self.ages_secs) - 1))]

    def check(self):
        assert len(self.ages_secs) == self.kills, "some were killed before they recorded: nothing was tested"

    def check_ages(self):
        """The price of a kill, on an idle machine."""
        assert self.age_secs(0.5) < 5 * INTERVAL_SECS, f"median age of the last sample: {self.age_secs(0.5):.4f} s"
        assert self.age_secs(0.9) < 30 * INTERVAL_SECS, f"90 % of the last samples: {self.age_secs(0.9):.4f} s"


def whole_samples(path):
    """Returns (samples, whether a torn line follows). A sample that lacks only its newline is whole: the repair adds
    it.
    """
    *lines, tail = path.read_bytes().split(b"\n") if path.exists() else [b""]
    samples = [json.loads(line) for line in lines]
    try:
        return samples + [json.loads(tail)], True
    except ValueError:
        return samples, bool(tail)


def check_run(samples):
    numbers = [sample["sample"] for sample in samples]
    assert numbers == list(range(len(numbers))), f"a gap in {numbers}"


def place(path):
    """Returns (inode, size) of a file; (0, 0) without one."""
    try:
        status = path.stat()
    except FileNotFoundError:  # an earlier file is being renamed
        return 0, 0
    return status.st_ino, status.st_size


def ends_with_a_line(path):
    with contextlib.suppress(OSError), open(path, "rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read() == b"\n"
    return False


def wait_for_a_sample(tracker, path, before):
    """Waits, because a kill before the first sample tests nothing. First an earlier file is renamed, or its end
    repaired. The kernel may end a write between two pages when the kill comes, so the line must be whole.
    """
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and tracker.poll() is None:
        inode, size = place(path)
        # The repair of an earlier end may add a newline.
        if size > (before[1] + 1 if inode == before[0] else 0) and ends_with_a_line(path):
            return
        time.sleep(0.001)


def kill_once(binary, folder, path, append, delay_secs):
    """Returns the time of the kill. The job ends by itself soon after."""
    command = [binary, "-i", str(INTERVAL_SECS), "-o", path, *(["--append"] if append else []), "--", "sleep", "3"]
    before = place(path)
    environment = {key: value for key, value in os.environ.items() if not key.startswith("TRACKER_")}
    tracker = subprocess.Popen(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL)
    wait_for_a_sample(tracker, path, before)
    time.sleep(delay_secs)
    killed_at = time.time()
    tracker.send_signal(signal.SIGKILL)
    assert tracker.wait() == -signal.SIGKILL
    return killed_at


def kill_again_and_again(binary, folder, kills, seed):
    chance, totals = random.Random(seed), Totals()
    path = pathlib.Path(folder) / "run.jsonl"
    inode, known = None, 0
    for number in range(kills):
        killed_at = kill_once(binary, folder, path, number % 3 != 0, chance.uniform(0.0, LONGEST_RUN_SECS))
        samples, torn = whole_samples(path)
        totals.kills += 1
        totals.torn_tails += torn
        if path.exists() and path.stat().st_ino != inode:
            inode, known = path.stat().st_ino, 0
        assert len(samples) >= known, "samples of an earlier run are gone"
        run, known = samples[known:], len(samples)
        check_run(run)
        totals.samples += len(run)
        if run:
            totals.ages_secs.append(killed_at - run[-1]["timestamp"])
    return totals


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", default=TOP / "build" / "resource-tracker", type=pathlib.Path)
    parser.add_argument("--kills", default=1000, type=int)
    parser.add_argument("--seed", default=random.randrange(2**32), type=int)
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}")
    with tempfile.TemporaryDirectory() as folder:
        totals = kill_again_and_again(str(arguments.binary.resolve()), folder, arguments.kills, arguments.seed)
    totals.check()
    totals.check_ages()
    print(f"{totals.kills} kills, {len(totals.ages_secs)} of them while recording, {totals.samples} whole samples, "
          f"{totals.torn_tails} last lines without a newline\n"
          f"age of the last sample when the kill came: median {totals.age_secs(0.5) * 1000:.1f} ms, "
          f"90 % below {totals.age_secs(0.9) * 1000:.1f} ms (interval {INTERVAL_SECS * 1000:.0f} ms)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
