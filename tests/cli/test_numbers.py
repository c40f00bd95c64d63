"""Figures that once were false: each of these failed before it was mended."""
import json
import os
import shutil
import subprocess
import sys

import pytest

from conftest import clean_environment

WRITE_32_MIB = "import os; fd = os.open('data', os.O_CREAT | os.O_WRONLY); os.write(fd, bytes(1 << 25)); os.fsync(fd)"


def samples_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture
def record(run, tmp_path):
    """record("-i", 0.1, "--", "true") -> its samples."""
    def start(*arguments, **options):
        path = tmp_path / "run.jsonl"
        path.unlink(missing_ok=True)
        done = run("-o", path, "-q", "--no-summary", *arguments, **options)
        assert done.returncode == 0, done.err
        return samples_of(path)
    return start


# ---- a derived metric has what it is derived from, whatever is asked for -------------------------------------------

def test_totals_alone_are_sums_of_the_machine_and_not_0(record, tmp_path):
    samples = record("--metrics", "totals", "-i", 0.2, "--", sys.executable, "-c", WRITE_32_MIB + "; import time; time.sleep(0.3)")
    known = [one["totals"]["disk_write_bytes"] for one in samples if one["totals"]["disk_write_bytes"] is not None]
    whole = record("-i", 0.2, "--", sys.executable, "-c", WRITE_32_MIB + "; import time; time.sleep(0.3)")
    all_of_it = [one["totals"]["disk_write_bytes"] for one in whole if one["totals"]["disk_write_bytes"] is not None]
    if not sum(all_of_it):
        pytest.skip("this file system is on no disk that is counted")
    assert sum(known) >= 1 << 25, samples


@pytest.mark.parametrize("name, path", [
    ("disk.read_bytes_per_sec", ("disk", 0, "read_bytes_per_sec")),
    ("network.rx_bytes_per_sec", ("network", 0, "rx_bytes_per_sec")),
    ("cgroup_usage_secs", ("cpu", "cgroup_usage_secs")),
])
def test_a_rate_alone_is_what_it_is_among_all_metrics(record, name, path):
    def value(samples):
        found = samples[-1]
        for key in path:
            found = found[key] if not isinstance(key, int) or found else None
            if found is None:
                return None
        return found

    together, alone = (value(record(*options, "-i", 0.2, "--", "sleep", "0.5")) for options in ((), ("--metrics", name)))
    assert (alone is None) == (together is None)


def test_lists_that_were_not_read_before_the_end_are_null_and_not_empty(record):
    for _ in range(20):
        disks = record("--", "true")[0]["disk"]
        # A run of some milliseconds has been looked around in.
        if disks and disks[0]["capacity_bytes"] is None:
            assert all(disk["mounts"] is None for disk in disks)
            return
    pytest.skip("no run ended before its tracker looked around, or there is no disk")


# ---- CPU time of what the job did not wait for ----------------------------------------------------------------------

BURN = "while time.process_time() < {}: pass\n"


def burner(secs):
    """A shell word that keeps a core busy in a session of its own."""
    return f"setsid {sys.executable} -c 'import time\n{BURN.format(secs)}'"


def cpu_secs(samples):
    return sum((one["cpu"]["process_utime_secs"] or 0) + (one["cpu"]["process_stime_secs"] or 0) for one in samples)


def told(run, samples, path):
    """What run_end, the summary and the advice make of a recording: (CPU seconds, mean cores, wall seconds)."""
    end, figures = samples[-1]["run_end"], json.loads(run("summary", "--json", path).out)
    tree_secs = end["tree_utime_secs"] + end["tree_stime_secs"]
    assert tree_secs == pytest.approx(cpu_secs(samples), abs=0.01)
    return figures["time"]["cpu_secs"], figures["cores"]["mean"], tree_secs


@pytest.mark.parametrize("options, script, least, mean", [
    ((), f"({burner(5)} &); sleep 1.5", 0.3, (0.15, 1.05)),
    (("--wait-descendants",), f"({burner(1)} &); sleep 0.2", 0.98, (0.15, 1.05)),
    (("--no-children",), f"{burner(1)}; true", 0.0, (0.0, 0.2)),
], ids=["daemon", "waited for descendants", "without children"])
def test_the_summary_counts_the_cpu_time_that_the_samples_saw(record, run, tmp_path, options, script, least, mean):
    samples = record("-i", 0.3, *options, "--", "sh", "-c", script)
    cpu, cores, tree = told(run, samples, tmp_path / "run.jsonl")
    assert cpu == pytest.approx(tree, abs=0.01) and cpu >= least
    assert mean[0] <= cores <= mean[1]


def test_the_end_of_an_attached_process_has_its_cpu_time(record, run, tmp_path):
    with subprocess.Popen([sys.executable, "-c", "import time\n" + BURN.format(30)]) as job:
        samples = record("-i", 0.3, "--duration", 1, "--pid", job.pid)
        job.kill()
    cpu, cores, tree = told(run, samples, tmp_path / "run.jsonl")
    assert samples[-1]["run_end"]["utime_secs"] is None
    assert cpu == pytest.approx(tree, abs=0.01) and cpu >= 0.2 and 0.15 <= cores <= 1.05


def test_a_job_that_waits_for_all_has_the_figures_of_wait4(record, run, tmp_path):
    samples = record("-i", 0.3, "--", sys.executable, "-c", "import time\n" + BURN.format(0.5))
    end, figures = samples[-1]["run_end"], json.loads(run("summary", "--json", tmp_path / "run.jsonl").out)
    assert figures["time"]["user_secs"] == end["utime_secs"] and figures["time"]["system_secs"] == end["stime_secs"]
    assert end["tree_wall_secs"] == end["wall_secs"]


def test_the_wall_time_of_a_job_of_a_millisecond_is_not_below_its_cpu_time(record):
    for _ in range(20):
        end = record("--", "true")[-1]["run_end"]
        assert end["wall_secs"] >= end["utime_secs"] + end["stime_secs"], end


def test_a_csv_row_of_a_moment_is_told_without_impossible_figures(run, tmp_path):
    path = tmp_path / "run.csv"
    assert run("-q", "--no-summary", "-o", path, "--", "true").returncode == 0
    text = run("summary", path).out
    assert " inf" not in text and " nan" not in text and " 0 ms" not in text, text
    assert "this format does not record how it ended" in text and "\npid " in "\n" + text
    figures = json.loads(run("summary", "--json", path).out)
    assert figures["time"]["wall_secs"] is None and figures["cores"]["mean"] is None


# ---- what a tracker that has to wait makes of it --------------------------------------------------------------------

@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("strace"), reason="needs strace")
@pytest.mark.parametrize("delay", ["delay_enter", "delay_exit"])
def test_the_machine_uses_no_more_cores_than_it_has_when_a_sample_takes_long(binary, tmp_path, no_leak_check, delay):
    path = tmp_path / "run.jsonl"
    busy = [subprocess.Popen([sys.executable, "-c", "import time\n" + BURN.format(30)]) for _ in range(os.cpu_count())]
    try:
        done = subprocess.run(
            ["strace", "-qq", "-o", "/dev/null", "-P", "/proc/stat", "-e", "trace=pread64",
             "-e", f"inject=pread64:{delay}=700000:when=3", binary, "-q", "-o", path, "-i", "0.1", "--duration", "1.5"],
            capture_output=True, env=clean_environment())
    finally:
        for process in busy:
            process.kill()
            process.wait()
    if done.returncode and b"ptrace" in done.stderr:
        pytest.skip("strace may not trace here")
    samples = samples_of(path)
    assert max(one["actual_interval_ms"] for one in samples) > 600, "the delay was not felt"
    assert max(one["cpu"]["utilization_pct"] for one in samples) <= os.cpu_count() + 0.05
    assert max(max(one["cpu"]["per_core_pct"]) for one in samples) <= 105


# ---- whose waiting it is ---------------------------------------------------------------------------------------------

def test_a_sleeping_job_on_a_busy_machine_was_not_short_of_cpu(run, tmp_path):
    busy = [subprocess.Popen([sys.executable, "-c", "import time\n" + BURN.format(30)]) for _ in range(2 * os.cpu_count())]
    try:
        # Without a control group of its own, as an ordinary user has it.
        path = tmp_path / "run.jsonl"
        assert run("-q", "--no-summary", "--cgroup=off", "-i", 0.2, "-o", path, "--", "sleep", "2").returncode == 0
    finally:
        for process in busy:
            process.kill()
            process.wait()
    figures = json.loads(run("summary", "--json", path).out)
    text = run("summary", path).out
    if figures["waiting"]["pressure_source"] == "host":
        assert figures["waiting"]["cpu_pressure_secs"] is None
        assert figures["waiting"]["machine_cpu_pressure_secs"] > 0.5
        assert "Held up" not in text and "not necessarily the job's" in text
    assert figures["bottlenecks"][0]["rule"] == "idle", figures["bottlenecks"]
