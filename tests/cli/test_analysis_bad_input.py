"""Every subcommand on every kind of bad recording: one clear line that names the file, or a correct partial result."""
import gzip
import json
import os
import re
import sqlite3

import pytest

import recordings


def eight():
    return recordings.eight_samples()


def written(samples):
    return recordings.lines(samples).encode()


def no_process():
    samples = eight()
    for one in samples:
        one["cpu"] = {"utilization_pct": 1.5}
        one["tracked_pid"] = None
    return written(samples)


def missing_columns():
    return b"timestamp,process_cpu_usage\n1.0,0.5\n2.0,\n3.0,1.5\n"


def not_a_number():
    return b"timestamp,process_cpu_usage,process_memory_mib\n1.0,nan,NaN\n2.0,inf,x\n3.0,-,-inf\n"


def mixed_intervals():
    samples, times = eight(), [1.0, 1.001, 31.0, 31.5, 91.5, 91.6, 92.6, 100.0]
    for i, (one, secs) in enumerate(zip(samples, times)):
        one["elapsed_secs"] = secs
        one["timestamp"] = 1_700_000_000 + secs
        one["actual_interval_ms"] = 1000 * (secs - (times[i - 1] if i else 0))
    return written(samples)


def clock_steps():
    samples = eight()
    for i, one in enumerate(samples):
        one["timestamp"] -= 3600 * (i % 3)
    return written(samples)


def two_hosts():
    return written([dict(one, host=f"node-{i % 2}") for i, one in enumerate(eight())])


def another_schema():
    path = "/tmp/another-schema-%d" % os.getpid()
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE people(name)")
    database.close()
    with open(path, "rb") as file:
        content = file.read()
    os.unlink(path)
    return content


BAD = {
    "empty": lambda: b"", "one_sample": lambda: written(eight()[:1]), "no_process": no_process, "missing_columns": missing_columns,
    "not_a_number": not_a_number, "mixed_intervals": mixed_intervals, "clock_steps": clock_steps, "two_hosts": two_hosts,
    "binary": lambda: bytes(range(256)) * 40, "another_schema": another_schema, "torn": lambda: written(eight())[:-20],
    "torn_gzip": lambda: gzip.compress(written(eight()))[:-9], "nulls": lambda: b"\0" * 5000, "html": lambda: b"<!DOCTYPE html>\n<html>\n",
    "list": lambda: b"[1,2,3]\n", "deep": lambda: b"[" * 100_000, "header_alone": lambda: b"timestamp,process_cpu_usage\n",
    "long_line": lambda: b'{"timestamp":' + b"1" * 200_000 + b"}\n", "lines_of_objects": lambda: b"{}\n{}\n{}\n",
    "wrong_types": lambda: json.dumps({"timestamp": "x", "cpu": [1], "memory": {"used_mib": {}}, "gpu": 7}).encode() + b"\n",
}
COMMANDS = {
    "summary": ["summary"], "summary_json": ["summary", "--json"], "gpu_tracker": ["summary", "--layout", "gpu_tracker"], "stats": ["stats"],
    "show": ["show"], "show_column": ["show", "-c", "disk[sum].read_bytes_per_sec"], "recommend": ["recommend"],
    "recommend_force": ["recommend", "--force", "--json"], "regions": ["regions"], "compare": ["compare-runs", "good.jsonl"],
    "compare_stat": ["compare-runs", "--stat", "max", "good.jsonl"], "combine": ["combine", "good.jsonl"], "report": ["report", "-o", "page.html"],
    **{f"export_{name}": ["export", "-f", name, "-o", f"out.{name}"] for name in ("json", "csv", "sqlite", "snapshot", "gpu_tracker")},
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_line_or_a_result(run, tmp_path, command):
    recordings.write(tmp_path / "good.jsonl", eight())
    for kind, make in BAD.items():
        (tmp_path / kind).write_bytes(make())
        for made in tmp_path.glob("out.*"):
            made.unlink()
        result = run(*COMMANDS[command], kind)
        said = (command, kind, result.returncode, result.err)
        assert result.returncode in (0, 1) and result.err.count("\n") == (1 if result.returncode else 0), said
        assert result.returncode == 0 or kind in result.err, said
        if "--json" in COMMANDS[command] and result.returncode == 0:
            json.loads(result.out)


@pytest.mark.parametrize("kind", ["empty", "binary", "another_schema", "nulls", "html", "deep", "header_alone"])
def test_a_file_that_is_not_a_recording_makes_no_output(run, tmp_path, kind):
    (tmp_path / kind).write_bytes(BAD[kind]())
    for command, output in ((COMMANDS["report"], "page.html"), (COMMANDS["export_csv"], "out.csv"), (["combine", "-o", "all.jsonl"], "all.jsonl")):
        assert run(*command, kind).returncode == 1 and not (tmp_path / output).exists(), (command, kind)


def with_numbers(value, number, depth=0):
    """A sample whose real numbers, below the top, all have one value."""
    if isinstance(value, dict):
        return {key: with_numbers(one, number, depth + 1) for key, one in value.items()}
    if isinstance(value, list):
        return [with_numbers(one, number, depth + 1) for one in value]
    return number if isinstance(value, float) and depth > 1 else value


@pytest.mark.parametrize("number", [1.7e308, -1.7e308, 1e300, 1e15, -1e15])
@pytest.mark.parametrize("count", [1, 8])
def test_numbers_beyond_all_measure_are_not_infinite(run, tmp_path, number, count):
    recordings.write(tmp_path / "good.jsonl", eight())
    recordings.write(tmp_path / "absurd.jsonl", [with_numbers(one, number) for one in eight()[:count]])
    for command in ("summary", "summary_json", "gpu_tracker", "stats", "show", "recommend_force", "compare"):
        result = run(*COMMANDS[command], "absurd.jsonl")
        assert result.returncode == 0, (command, result.err)
        assert not re.search(r"\b(nan|inf)\b", result.out, re.IGNORECASE), (command, result.out)


@pytest.mark.parametrize("layout", ["combined", "system", "process", "process-0.4", "pid-0.1"])
def test_a_single_row_has_no_figure_that_is_not_a_number(run, tmp_path, layout):
    recordings.write(tmp_path / "one.jsonl", eight()[:1])
    assert run("export", "-f", "csv", "--csv-layout", layout, "one.jsonl", "-o", "one.csv").returncode == 0
    for command in ("summary", "stats", "show", "recommend_force"):
        result = run(*COMMANDS[command], "one.csv")
        assert result.returncode == 0, (command, result.err)
        assert not re.search(r"\b(nan|inf)\b", result.out, re.IGNORECASE), (command, result.out)


def test_a_phase_that_is_never_closed_lasts_to_the_end(run, tmp_path):
    path = recordings.write(tmp_path / "run.jsonl", eight())
    began = eight()[0]["timestamp"] - 1.0
    recordings.write(tmp_path / "run.jsonl.marks", [{"timestamp_ns": round((began + 5) * 1e9), "monotonic_ns": 0, "event": "start", "name": "load",
                                                     "id": None, "pid": 1, "host": "node-1"}])
    assert json.loads(run("summary", "--json", path).out)["phases"] == [{"name": "load", "calls": 1, "open_calls": 1, "total_secs": 3.0}]
    assert re.search(r"load +3\.00 s +38 %  not closed", run("summary", path).out)
