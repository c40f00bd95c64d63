"""Measured pieces of work: the meter, calls of a pool, and each test of pytest --track."""
import doctest
import importlib
import json
import os
import pickle
import resource
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

from resource_tracker_native import joblib
from resource_tracker_native._meter import Meter

SUITE = """
import os, subprocess, sys
import pytest

@pytest.fixture
def broken():
    raise OSError("setup")

def test_that_computes():
    sum(i * i for i in range(3_000_000))

def test_that_takes_memory():
    bytearray(200 << 20)
    raise ValueError

def test_that_starts_a_program():
    subprocess.run([sys.executable, "-c", "sum(i * i for i in range(3_000_000))"], check=True)

def test_of_a_broken_fixture(broken):
    pass

@pytest.mark.skip
def test_that_is_left_out():
    pass
"""


def cpu_secs():
    """Returns the CPU time of this thread and of ended children; that of the tracker's own thread is not a part of it."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.thread_time() + children.ru_utime + children.ru_stime


@pytest.fixture
def meter():
    meter = Meter(interval=0.01)
    yield meter
    meter.close()


def compute():
    sum(i * i for i in range(8_000_000))


def start_a_program():
    subprocess.run([sys.executable, "-c", "sum(i * i for i in range(8_000_000))"], check=True)


@pytest.mark.parametrize("work", [compute, start_a_program])
def test_cpu_time_of_a_piece_is_the_kernels(meter, work):
    before, begin = cpu_secs(), meter.begin()
    work()
    use = meter.end(begin)
    own = cpu_secs() - before
    # The piece itself costs two samples, which are the tracker's.
    assert use["cpu_user_secs"] + use["cpu_system_secs"] == pytest.approx(own, rel=0.05, abs=0.1)
    assert use["wall_secs"] > 0 and use["read_bytes"] >= 0 and use["written_bytes"] >= 0


def test_a_piece_has_no_time_of_the_recording_thread(meter):
    """At 100 samples a second, a piece that slept for 3 s once had 0.09 s of CPU time."""
    before, begin = cpu_secs(), meter.begin()
    time.sleep(2)
    use = meter.end(begin)
    assert use["cpu_user_secs"] + use["cpu_system_secs"] <= cpu_secs() - before + 0.015


def test_memory_that_is_gone_at_the_end_of_a_piece_counts(meter):
    begin = meter.begin()
    bytearray(300 << 20)
    use = meter.end(begin)
    assert 290 < use["memory_peak_mib"] - use["memory_before_mib"] < 330
    assert abs(use["memory_after_mib"] - use["memory_before_mib"]) < 10


def test_pieces_may_overlap(meter):
    outer = meter.begin()
    compute()
    inner = meter.begin()
    compute()
    first = meter.end(inner)
    second = meter.end(outer)
    assert second["cpu_user_secs"] > first["cpu_user_secs"] > 0.01 and second["wall_secs"] > first["wall_secs"]


def test_calls_of_a_pool_are_measured_in_their_processes():
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        results, uses = joblib.split(pool.map(joblib.tracked(sum), [[1, 2], range(3_000_000)]))
    assert results == [3, sum(range(3_000_000))]
    assert all(use["pid"] != os.getpid() and use["memory_peak_mib"] > 1 for use in uses)


def test_a_tracked_function_keeps_its_name_and_errors():
    again = pickle.loads(pickle.dumps(joblib.tracked(int)))
    assert again.__name__ == "int" and again("3").result == 3
    with pytest.raises(ValueError):
        again("x")


# ---- pytest --track

def run_suite(folder, *options, suite=SUITE):
    (folder / "test_suite.py").write_text(suite)
    return subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, "test_suite.py"], cwd=folder,
                          env={**os.environ, "COLUMNS": "120"}, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=55)


def test_each_test_has_its_use(tmp_path):
    """No sample falls into the moment in which a test has its memory: the high-water mark tells it."""
    done = run_suite(tmp_path, "--track", "--track-json", "use.json", "--track-interval", "30")
    assert done.returncode == 1, done.stderr
    tests = {test["test"].split("::")[1]: test for test in json.loads((tmp_path / "use.json").read_text())["tests"]}
    assert {name: test["outcome"] for name, test in tests.items()} == {
        "test_that_computes": "passed", "test_that_takes_memory": "failed", "test_that_starts_a_program": "passed",
        "test_of_a_broken_fixture": "failed", "test_that_is_left_out": "skipped"}
    memory = tests["test_that_takes_memory"]
    assert 190 < memory["memory_peak_mib"] - memory["memory_before_mib"] < 230
    for name in "test_that_computes", "test_that_starts_a_program":
        assert tests[name]["cpu_user_secs"] + tests[name]["cpu_system_secs"] > 0.02
    assert "resources of 5 tests, the most CPU time first" in done.stdout
    table = done.stdout[done.stdout.index("resources of 5 tests"):]
    assert {name for name in tests if f"  test_suite.py::{name}\n" in table} == set(tests)


@pytest.mark.parametrize("name, reason", [
    ("test_suite.py", "content of another kind"), ("nosuch/use.json", "its folder does not exist"), ("folder", "it is a folder")])
def test_a_file_that_must_not_be_written_is_told_before_the_tests(tmp_path, name, reason):
    (tmp_path / "folder").mkdir()
    done = run_suite(tmp_path, "--track-json", name)
    assert done.returncode == 4 and reason in done.stderr and "passed" not in done.stdout
    assert (tmp_path / "test_suite.py").read_text() == SUITE


def test_the_figures_of_an_earlier_session_are_replaced(tmp_path):
    for _ in range(2):
        assert run_suite(tmp_path, "--track-json", "use.json").returncode == 1
        assert len(json.loads((tmp_path / "use.json").read_text())["tests"]) == 5


FORKS = """
import os

def test_whose_child_goes_on():
    \"\"\"The child becomes a second session, which runs the next test, too.\"\"\"
    child = os.fork()
    if child:
        assert os.waitpid(child, 0)[1] == 0

def test_behind_it():
    pass
"""


def test_a_fork_that_returns_measures_and_writes_nothing(tmp_path):
    done = run_suite(tmp_path, "--track", "--track-json", "use.json", suite=FORKS)
    assert done.returncode == 0 and "INTERNALERROR" not in done.stdout + done.stderr
    assert [test["test"].split("::")[1] for test in json.loads((tmp_path / "use.json").read_text())["tests"]] == [
        "test_whose_child_goes_on", "test_behind_it"]


FORKED = """
import os
import pytest
from _pytest.runner import runtestprotocol

@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item):
    \"\"\"As pytest-forked: a child runs the test, and its parent reports it.\"\"\"
    child = os.fork()
    if not child:
        runtestprotocol(item, log=False)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    for when in "setup", "call", "teardown":
        item.ihook.pytest_runtest_logreport(report=pytest.TestReport(item.nodeid, item.location, {}, "passed", None, when))
    return True
"""


def test_tests_that_run_in_forks_are_measured_by_their_parent(tmp_path):
    (tmp_path / "conftest.py").write_text(FORKED)
    done = run_suite(tmp_path, "--track-json", "use.json", suite="def test_it():\n    sum(i * i for i in range(3_000_000))\n")
    assert done.returncode == 0, done.stdout + done.stderr
    test, = json.loads((tmp_path / "use.json").read_text())["tests"]
    assert test["outcome"] == "passed" and test["cpu_user_secs"] > 0.02


def test_a_piece_that_ends_in_a_forked_child_is_unknown(meter):
    begin = meter.begin()
    read, write = os.pipe()
    child = os.fork()
    if not child:
        use = meter.end(begin)
        os.write(write, json.dumps([sorted(use), [use["cpu_user_secs"], use["memory_peak_mib"]]]).encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert json.loads(os.read(read, 1 << 16)) == [sorted(meter.end(begin)), [None, None]]


@pytest.mark.parametrize("word, returncode", [("50ms", 1), ("0.05", 1), ("0", 4), ("x", 4)])
def test_the_interval_is_a_length_of_time(tmp_path, word, returncode):
    done = run_suite(tmp_path, "--track", "--track-interval", word)
    assert done.returncode == returncode and ("not a length of time" in done.stderr) == (returncode == 4)


def test_the_table_can_be_shorter(tmp_path):
    assert "and 4 more; --track-number 0 shows all" in run_suite(tmp_path, "--track", "--track-number", "1").stdout


def test_without_the_option_nothing_is_measured(tmp_path):
    done = run_suite(tmp_path)
    assert "resources of" not in done.stdout and "1 passed" not in done.stderr and done.returncode == 1


def test_the_other_helpers_need_nothing_until_they_are_used():
    """This environment has no engine: only dask.py imports its own at once."""
    for name in "jupyter", "mlflow", "wandb", "joblib", "pytest_plugin", "_series":
        importlib.import_module(f"resource_tracker_native.{name}")


@pytest.mark.parametrize("name", ["_length", "_meter", "joblib"])
def test_examples_in_docstrings(name):
    assert doctest.testmod(importlib.import_module(f"resource_tracker_native.{name}")).failed == 0
