"""Shared by the tests of GPUs: the fake NVML and its script (tests/fakes/nvml_fake_script.c)."""
import ctypes
import os
import pathlib

PR_SET_CHILD_SUBREAPER = 36


class Nvml:
    """A script for the fake library; env() returns the variables that make the program load it."""

    def __init__(self, binary, path, library="nvml_fake"):
        self.library = pathlib.Path(binary).parent / "tests" / "fakes" / f"{library}.so"
        self.path = path
        self.steps = 0

    def say(self, *lines):
        """Replaces the script. The library reads it at its next pass."""
        self.path.write_text("".join(f"{line}\n" for line in lines))
        # Two scripts within the file system's resolution must still look different.
        self.steps += 1
        os.utime(self.path, (1000000 + self.steps, 1000000 + self.steps))

    def env(self, **more):
        return {"TRACKER_NVML_LIBRARY": str(self.library), "NVML_FAKE_SCRIPT": str(self.path), **more}


def stay_until(recording, words, samples=1):
    """A line of shell that waits for words in some samples of the recording, 20 s at most: a busy helper answers late."""
    return f"for i in $(seq 200); do [ 0$(grep -cF '{words}' '{recording}') -ge {samples} ] && break; sleep 0.1; done; sleep 0.4"


def adopt_orphans():
    """Orphans of our children are reparented to us, not to a PID 1 that may not reap."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def left_behind():
    """Returns the pids of our children, running or zombie."""
    children = pathlib.Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return [int(pid) for pid in children]


def traced_environment():
    """Turns off the sanitiser's leak check, which cannot run in a traced program."""
    return {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}
