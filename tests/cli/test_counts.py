"""The standing counts of a start and of a sample stay below their ceilings."""
import pathlib
import platform
import shutil
import subprocess

import pytest

COUNTS = pathlib.Path(__file__).parents[2] / "bench" / "counts"
# Control groups and processes of other tests are read and heard as well.
pytestmark = [pytest.mark.alone, pytest.mark.slow, pytest.mark.timeout(240)]


def test_a_start_and_a_sample_cost_no_more_than_their_ceilings(binary, no_leak_check):
    if not shutil.which("strace") or not shutil.which("valgrind") or platform.libc_ver()[0] != "glibc":
        pytest.skip("strace, callgrind or glibc is missing")
    if subprocess.run(["strace", "-qq", "-o", "/dev/null", "true"], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
        pytest.skip("this machine does not let strace trace")
    done = subprocess.run([COUNTS, pathlib.Path(binary).parent], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout
