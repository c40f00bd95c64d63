"""The figures of the cgroup that the job is started in, where one can be made."""
import json
import os

import pytest

import exact


def recorded(run, *options):
    result = run("-i", "0.1", *options, "--", "sh", "-c", "timeout 0.4 sha512sum /dev/zero; exit 0")
    assert result.returncode == 0
    return [json.loads(line) for line in result.err.splitlines() if line.startswith("{")]


def test_its_counters_begin_with_the_job(run):
    samples = recorded(run)
    if samples[0]["cpu"]["process_cpu_source"] != "cgroup":
        pytest.skip("no cgroup of its own can be made here")
    cpus = os.cpu_count()
    used = [sample["cpu"]["cgroup_usage_secs"] for sample in samples]
    assert all(secs is not None for secs in used)
    # What another cgroup had used before is not the job's.
    assert all(sample["cpu"]["cgroup_utilization_pct"] <= cpus * 1.05 for sample in samples[:-1])
    end = samples[-1]["run_end"]
    assert sum(used) == pytest.approx(end["utime_secs"] + end["stime_secs"], abs=exact.EXITS_SECS)


def test_without_it_the_source_is_the_clock(run):
    assert recorded(run, "--cgroup", "off")[0]["cpu"]["process_cpu_source"] == "clock"
