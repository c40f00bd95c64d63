"""Every way to get a memory figure gives the same one: 8 children that only read 200 MiB of their parent."""
import json
import os
import re
import signal
import subprocess

import pytest

import memory_truth
from conftest import end_process, wait_until
from processes import children_of

SHARED_MIB, CHILDREN = 200, 8
TEST_MSECS = 120_000
pytestmark = pytest.mark.slow


@pytest.fixture
def job(binary, tmp_path):
    """A job that has its memory and its children. While it fills its memory, a sample may show any part of it."""
    program = memory_truth.build_job(binary, tmp_path)
    words = f"private {SHARED_MIB} fork {CHILDREN} {{ read sleep {TEST_MSECS} }}".split()
    with subprocess.Popen([program, *words], stdout=subprocess.DEVNULL) as process:
        wait_until(lambda: len(children_of(process.pid)) == CHILDREN, what="all children are there")
        yield ["--pid", process.pid, "-i", "1", "--duration", "4.3", "--no-summary"]
        for pid in children_of(process.pid):
            os.kill(pid, signal.SIGKILL)
        end_process(process)


def near(mib):
    return mib == pytest.approx(SHARED_MIB, rel=0.05, abs=0.5 * (CHILDREN + 1))


def test_memory_of_forked_readers_is_the_same_in_every_way(run, job, tmp_path):
    recording, table = tmp_path / "run.jsonl", tmp_path / "run.csv"
    assert run("-o", recording, "-o", table, *job).returncode == 0
    end = json.loads(recording.read_text().splitlines()[-1])["run_end"]
    assert near(end["memory_peak_mib"]), end

    header, *rows = [line.split(",") for line in table.read_text().splitlines()]
    told = [row[header.index("process_memory_mib")] for row in rows]
    assert len(told) > 1 and all(near(float(mib)) for mib in told), told

    for path in (recording, table):
        memory = json.loads(run("summary", "--json", path).out)["memory"]
        assert near(memory["peak_mib"]) and near(memory["mean_mib"]), (path, memory)
        assert json.loads(run("recommend", "--json", "--force", path).out)["memory"] == 256
        stats = json.loads(run("stats", "--json", path).out)["process_memory_mib"]
        assert near(stats["max"]) and near(stats["mean"]), (path, stats)

    assert run("report", recording, "-o", tmp_path / "page.html").returncode == 0
    said = re.search(r'"peak_mib":([\d.]+)', (tmp_path / "page.html").read_text())
    assert near(float(said[1])), said


def test_gpu_tracker_layout_of_forked_readers(run, job, tmp_path):
    recording = tmp_path / "run.jsonl"
    assert run("-o", recording, *job).returncode == 0
    ram = json.loads(run("summary", "--layout", "gpu_tracker", "--json", "--ram-unit", "megabytes", recording).out)["max_ram"]
    told = {part: {name: value / 1.048576 for name, value in ram[part].items()} for part in ("main", "descendants", "combined")}
    for part in ("main", "descendants", "combined"):
        assert near(told[part]["total_rss"]) and near(told[part]["shared_rss"]), (part, told)
        assert told[part]["private_rss"] <= 0.05 * SHARED_MIB + 0.5 * (CHILDREN + 1), (part, told)
    assert run("export", recording, "-o", tmp_path / "tracking.csv", "--format", "gpu_tracker", "--ram-unit", "megabytes").returncode == 0
    names, *rows = [line.split(",") for line in (tmp_path / "tracking.csv").read_text().splitlines()[2:]]
    for row in rows:
        for name in ("main_ram", "descendants_ram", "combined_ram"):
            assert near(float(row[names.index(name)]) / 1.048576), (name, row)
