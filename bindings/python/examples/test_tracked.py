"""pytest --track --track-json use.json examples/test_tracked.py: the table at the end shows what each test used."""
import os
import resource
import subprocess
import sys
import time

import pytest


def cpu_secs():
    """Returns the CPU time of this thread and of ended children; that of the tracker's own thread is not a part of it."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.thread_time() + children.ru_utime + children.ru_stime


@pytest.fixture(autouse=True)
def own_figures(request):
    """Writes the kernel's own figures of each test (CPU time, largest memory so far) to the file that TRACKED_OWN names, to compare."""
    before = cpu_secs()
    yield
    if os.environ.get("TRACKED_OWN"):
        with open(os.environ["TRACKED_OWN"], "a") as out:
            print(request.node.name, cpu_secs() - before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, file=out)


def test_that_computes():
    assert sum(i * i for i in range(5_000_000)) > 0


def test_that_takes_memory():
    assert len(bytearray(300 << 20)) == 300 << 20


def test_that_starts_a_program():
    subprocess.run([sys.executable, "-c", "sum(i * i for i in range(5_000_000))"], check=True)
