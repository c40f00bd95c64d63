"""Machines whose kernel says odd things: each case of bench/odd."""
import subprocess
import sys

import pytest

from conftest import BUILD, TOP


@pytest.mark.slow
def test_no_case_of_an_odd_machine_is_out():
    table = subprocess.run([sys.executable, TOP / "bench" / "odd", BUILD], capture_output=True, text=True)
    assert table.returncode == 0, table.stdout + table.stderr
