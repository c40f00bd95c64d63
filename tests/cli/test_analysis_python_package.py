"""The Python package resource-tracker 0.5.0, from the package index, opens our snapshots, and we open its snapshots."""
import gzip
import json
import pathlib
import subprocess
import sys

import pytest

import recordings

TOP = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = ("resource-tracker==0.5.0", "9dd9cb3eeaa0b4630e11685fa7913e02f53533aebc193b8f59509d9cd112f12e")

# The first use fetches the package.
pytestmark = pytest.mark.timeout(200)

LOAD = """
import json, sys
from resource_tracker import ResourceTracker
tracker = ResourceTracker.load(sys.argv[1])
print(json.dumps({"stats": tracker.stats(), "samples": tracker.n_samples, "process": tracker.process_metrics.to_dict(),
                  "system": tracker.system_metrics.to_dict(), "server": tracker.server_info, "pid": tracker.pid,
                  "advice": tracker.recommend_resources(), "combined": tracker.get_combined_metrics().columns}))
"""
DUMP = """
import json, sys, time
from resource_tracker import ResourceTracker
if __name__ == "__main__":
    tracker = ResourceTracker(interval=0.25, discover_cloud=False)
    tracker.start()
    tracker.wait_for_samples(4, timeout=30)
    tracker.stop()
    tracker.dump(sys.argv[1])
    print(json.dumps({"stats": tracker.stats(), "samples": tracker.n_samples, "process": tracker.process_metrics.to_dict()}))
"""


@pytest.fixture(scope="module")
def package():
    found = subprocess.run([TOP / "tools" / "pypi-package", *PACKAGE], capture_output=True, text=True)
    if found.returncode:
        pytest.skip(found.stderr.strip())
    return found.stdout.strip()


@pytest.fixture
def ask(package, helpers, tmp_path):
    """ask(script, file) returns the JSON that a script with the package prints."""

    def run_script(script, file):
        (tmp_path / "script.py").write_text(script)
        environment = {**helpers.clean_environment(), "PYTHONPATH": package, "TMPDIR": str(tmp_path)}
        done = subprocess.run([sys.executable, "-P" if sys.version_info >= (3, 11) else "-s", tmp_path / "script.py", file],
                              capture_output=True, text=True, env=environment, cwd=tmp_path, stdin=subprocess.DEVNULL, timeout=90)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run_script


def test_the_package_opens_our_export(run, ask, tmp_path):
    samples = recordings.eight_samples()
    path = recordings.write(tmp_path / "run.jsonl", samples)
    run("export", "-f", "snapshot", "-o", tmp_path / "run.json.gz", path)
    seen = ask(LOAD, tmp_path / "run.json.gz")
    assert seen["samples"] == 8 and seen["pid"] == samples[0]["tracked_pid"]
    assert [one["timestamp"] for one in seen["system"]] == [one["timestamp"] for one in samples]
    assert [one["cpu_usage"] for one in seen["process"]] == [one["cpu"]["process_cores_used"] for one in samples]
    # The last sample has no memory, because the job has gone; the snapshot repeats the value before.
    assert [one["memory_mib"] for one in seen["process"]] == [25.0 * (i + 1) for i in range(7)] + [175.0]
    assert [one["net_recv_bytes"] for one in seen["system"]] == [100] * 8
    ours = json.loads(run("stats", "--json", path).out)
    memory = ours.pop("process_memory_mib")
    assert seen["stats"].pop("process_memory_mib")["max"] == memory["max"]
    assert seen["stats"] == ours
    # The package advises the rounded mean.
    assert seen["advice"]["cpu"] == round(json.loads(run("recommend", "--json", path).out)["evidence"]["cpu"]["mean_cores"])
    assert seen["server"]["vcpus"] == 8 and seen["server"]["memory_mib"] == 4096.0


def test_the_package_opens_a_real_recording_as_text(run, ask, tmp_path):
    run("-i", "0.2", "-o", tmp_path / "run.jsonl", "--", "sh", "-c", "sleep 1")
    text = run("export", "-f", "snapshot", tmp_path / "run.jsonl").out
    (tmp_path / "run.json.gz").write_bytes(gzip.compress(text.encode()))
    seen = ask(LOAD, tmp_path / "run.json.gz")
    count = len((tmp_path / "run.jsonl").read_text().splitlines())
    assert seen["samples"] == count and seen["combined"][0] == "timestamp" and len(seen["combined"]) == 32
    assert all(one["memory_mib"] > 0 for one in seen["process"])


def test_snapshot_of_the_package_is_read(run, ask, tmp_path):
    """The package's recording of itself; both have values with 4 decimals."""
    seen = ask(DUMP, tmp_path / "theirs.json.gz")
    ours = json.loads(run("stats", "--json", tmp_path / "theirs.json.gz").out)
    for column, values in seen["stats"].items():
        for name, value in values.items():
            assert ours[column][name] == pytest.approx(value, abs=0.011), (column, name)
    table = json.loads(run("show", "--json", "-c", "process_memory_mib,process_cpu_usage", tmp_path / "theirs.json.gz").out)
    assert [one["process_memory_mib"] for one in table] == [pytest.approx(one["memory_mib"], abs=1e-3) for one in seen["process"][:len(table)]]
    assert len(table) == seen["samples"]
    summary = run("summary", tmp_path / "theirs.json.gz")
    assert summary.returncode == 0 and f"{seen['samples']} samples" in summary.out
    assert json.loads(run("recommend", "--json", tmp_path / "theirs.json.gz").out)["runs"] == 1
