"""Programs written for the Python package resource-tracker, with the import changed; and our README's examples."""
import doctest
import importlib
import json
import os
import pathlib
import re
import subprocess
import sys
import time

import pytest

README = pathlib.Path(__file__).resolve().parents[1] / "README.md"

# The standalone use in the package's README: the constructor starts the tracker.
STANDALONE = """
from resource_tracker_native import ResourceTracker

tracker = ResourceTracker()
sum(i * i for i in range(10 ** 6))
tracker.stop()
print(tracker.process_metrics)
print(tracker.system_metrics)
print(tracker.get_combined_metrics())
print(tracker.stats())
print(tracker.recommend_resources())
print(tracker.recommend_server())
report = tracker.report()
report.save("report.html")
report.browse()
"""

# The example in the reference of the package's class, version 0.4: without an explicit start.
REFERENCE = """
from resource_tracker_native import ResourceTracker
from resource_tracker_native.dummy_workloads import cpu_single, cpu_multi

tracker = ResourceTracker()
cpu_single()
print(tracker.recommend_resources())
tracker = ResourceTracker()
while tracker.n_samples == 0:
    cpu_multi(duration=0.25, ncores=2)
print(tracker.recommend_resources())
"""

# The same in version 0.5, whose trackers need an explicit start.
STARTED = """
from resource_tracker_native import ResourceTracker
tracker = ResourceTracker(interval=0.1)
tracker.start()
tracker.wait_for_samples(2)
tracker.stop()
with ResourceTracker(interval=0.1) as tracker:
    tracker.wait_for_samples(2)
print(tracker.stats())
"""

DISCOVERY = """
from resource_tracker_native import get_cloud_info, get_server_info
print(get_cloud_info())
print(get_server_info())
"""

ARTIFACT = """
from resource_tracker_native import ResourceTracker
with ResourceTracker(interval=0.1) as tracker:
    tracker.wait_for_samples(2)
print(tracker.dumps())
again = ResourceTracker.loads(tracker.dumps())
again.dump("run.json.gz")
print(len(ResourceTracker.load("run.json.gz").process_metrics))
"""


@pytest.fixture
def run(tmp_path):
    def run(script):
        # A "browser" program that records the address it gets.
        browser = tmp_path / "browser"
        browser.write_text(f"#!/bin/sh\necho \"$1\" >> {tmp_path}/opened\n")
        browser.chmod(0o755)
        environment = dict(os.environ, BROWSER=f"{browser} %s", TMPDIR=str(tmp_path))
        environment.pop("PYTHONPATH", None)
        done = subprocess.run([sys.executable, "-W", "error", "-c", script], cwd=tmp_path, env=environment, text=True,
                              capture_output=True, timeout=60, stdin=subprocess.DEVNULL)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def test_standalone(run, tmp_path):
    out = run(STANDALONE)
    assert "TinyDataFrame with 1 rows and 12 columns" in out or "rows and 12 columns" in out
    assert "rows and 21 columns" in out and "rows and 32 columns" in out
    assert "'process_cpu_usage'" in out and "{'cpu': 1, 'memory': 128, 'gpu': 0, 'vram': 0}" in out
    assert "<html" in (tmp_path / "report.html").read_text()
    assert (tmp_path / "opened").read_text().startswith("file://")


def test_the_reference_s_example(run):
    first, second = run(REFERENCE).splitlines()
    assert first == "{'cpu': 1, 'memory': 128, 'gpu': 0, 'vram': 0}"
    assert re.fullmatch(r"{'cpu': [12], 'memory': 128, 'gpu': 0, 'vram': 0}", second)


def test_started_by_hand_and_by_with(run):
    assert "'duration'" in run(STARTED)


def test_discovery(run):
    cloud, server = run(DISCOVERY).splitlines()
    assert "'vendor': 'unknown'" in cloud and "'discovery_time'" in cloud and "'vcpus'" in server


def test_artifacts(run):
    text, count = run(ARTIFACT).splitlines()
    assert set(json.loads(text)) == {"metadata", "server_info", "cloud_info", "process_metrics", "system_metrics"}
    assert int(count) >= 2


def test_a_tracker_of_the_machine_that_prints(tmp_path):
    process = subprocess.Popen([sys.executable, "-c", "from resource_tracker_native import SystemTracker\n"
                                "tracker = SystemTracker()\n"], stdout=subprocess.PIPE, text=True)
    header, row = process.stdout.readline(), process.stdout.readline()
    process.kill()
    process.communicate()
    assert header.startswith('"timestamp","processes","utime","stime","cpu_usage","memory_free_mib"')
    assert len(row.split(",")) == len(header.split(",")) == 21 and abs(float(row.split(",")[0]) - time.time()) < 60


def blocks():
    documents = README.parents[2] / "docs"
    pages = [README, *filter(pathlib.Path.exists, [documents / "start" / "python.md", documents / "from-gpu-tracker.md"])]
    return [block for page in pages for block in re.findall(r"^```python\n(.*?)^```", page.read_text(), re.S | re.M)]


@pytest.mark.parametrize("number", range(len(blocks())))
def test_our_documents(run, number):
    block = blocks()[number]
    if "SystemTracker(" in block or "metaflow" in block:
        pytest.skip("goes on until it is interrupted, or needs Metaflow: tried elsewhere")
    run("def work():\n    sum(range(10 ** 6))\n" + block)


def test_the_example_program(tmp_path):
    example = README.parent / "examples" / "standalone.py"
    done = subprocess.run([sys.executable, example, tmp_path / "report.html"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "cpu_usage" in done.stdout and "to request next time: {'cpu': 1, 'memory': " in done.stdout
    assert "<html" in (tmp_path / "report.html").read_text()


def test_there_are_blocks_in_our_readme():
    assert len(blocks()) >= 4


@pytest.mark.parametrize("name", ["tracker", "tiny_data_frame", "helpers", "report", "column_maps", "keeper"])
def test_examples_in_docstrings(name):
    module = importlib.import_module(f"resource_tracker_native.{name}")
    assert doctest.testmod(module).failed == 0
