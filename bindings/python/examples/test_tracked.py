"""pytest --track --track-json use.json examples/test_tracked.py: the table at the end shows what each test used."""
import os
import resource
import subprocess
import sys

import pytest


def cpu_secs():
    times = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(time.ru_utime + time.ru_stime for time in times)


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
