"""Readable recordings, and the messages about unreadable ones."""
import gzip
import json
import os
import sqlite3

import pytest

import recordings


def stats(run, *arguments):
    result = run("stats", "--json", *arguments)
    assert result.returncode == 0, result.err
    return json.loads(result.out)


def one_line(result, path):
    assert result.returncode == 1
    assert len(result.err.splitlines()) == 1 and str(path) in result.err, result.err
    return result.err


@pytest.mark.parametrize("command", ["summary", "stats", "show"])
@pytest.mark.parametrize("content, words", [
    (b"", "empty"),
    (b"\n\n", "empty"),
    (b"\x7fELF\x02\x01\x01\0" + bytes(range(256)) * 64, "not a recording"),
    (b"name,size\na,1\n", "not a recording"),
    (b"{\"not\": \"a sample\"}\n", "no line is a sample"),
    (b"{\n \"timestamp\": 1\n}\n", "no line is a sample"),
    (b"{\"metadata\":{\"version\":1},\"process_metrics\":[", "neither a whole snapshot"),
    (b"ram_unit,gpu_ram_unit\ngigabytes,gigabytes\n", "gpu_tracker"),
    (b"[1, 2, 3]\n", "no line is a sample"),
    (b"\x1f\x8b\x08\0", "empty"),
    ("timestamp;processes;utime\n1,5;2;0,25\n".encode(), "separated by semicolons"),
    ("timestamp\tprocesses\n1.5\t2\n".encode(), "separated by tabs"),
    ('{"timestamp":1}\n'.encode("utf-16"), "UTF-16 text; convert it first: iconv -f UTF-16 -t"),
    ('{"timestamp":1}\n'.encode("utf-16-le"), "iconv -f UTF-16LE -t"),
    ('[{"timestamp":1}]\n'.encode("utf-16-be"), "iconv -f UTF-16BE -t"),
    ("timestamp,processes\n".encode("utf-16"), "UTF-16 text"),
])
def test_a_file_that_is_not_a_recording_is_named_in_one_line(run, tmp_path, command, content, words):
    path = tmp_path / "input"
    path.write_bytes(content)
    assert words in one_line(run(command, path), path)


@pytest.mark.parametrize("content, words", [(b"name;size\na;1,5\n", "semicolons"), ("name,size\n".encode("utf-16"), "UTF-16")])
def test_any_csv_in_another_form_names_the_cause(run, tmp_path, content, words):
    path = tmp_path / "input"
    path.write_bytes(content)
    assert words in one_line(run("stats", "--any-csv", path), path)


def test_a_torn_first_sample_is_none(run, tmp_path):
    path = tmp_path / "input"
    path.write_bytes(b'{"timestamp":1')
    assert "no whole sample" in one_line(run("summary", path), path)
    assert "no whole sample" in one_line(run("stats", path), path)
    assert "no whole sample" in one_line(run("show", path), path)


def test_files_that_cannot_be_opened(run, tmp_path):
    one_line(run("summary", tmp_path / "nowhere"), tmp_path / "nowhere")
    one_line(run("summary", tmp_path), tmp_path)
    good = recordings.write(tmp_path / "good.jsonl", recordings.eight_samples())
    one_line(run("summary", good, tmp_path / "nowhere"), tmp_path / "nowhere")


def test_sqlite_files_of_another_schema(run, tmp_path):
    path = tmp_path / "other.sqlite"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE t (a)")
    assert "SQLite" in one_line(run("stats", path), path)


def test_one_sample(run, tmp_path):
    path = recordings.write(tmp_path / "one.jsonl", [recordings.sample(0, secs=0.25, actual_interval_ms=250.0)])
    figures = stats(run, path)
    assert figures["process_cpu_usage"] == {"mean": 1.0, "max": 1.0}
    assert figures["timestamp"] == {"duration": 0.25}


def test_missing_columns_not_a_number_and_unknown_columns(run, tmp_path):
    path = tmp_path / "some.csv"
    path.write_text("timestamp,process_cpu_usage,invented\n1,0.5,x\n2,nan,y\n3,1.5,\n")
    figures = stats(run, path)
    assert figures["process_cpu_usage"] == {"mean": 1.0, "max": 1.5}
    assert figures["process_memory_mib"] == {"mean": None, "max": None}
    assert figures["timestamp"] == {"duration": 3.0}
    path.write_text('{"timestamp":1,"cpu":{"process_cores_used":NaN}}\n{"timestamp":2,"cpu":{"process_cores_used":2.0}}\n')
    assert stats(run, path)["process_cpu_usage"] == {"mean": 2.0, "max": 2.0}


def test_mixed_intervals_and_clock_steps(run, tmp_path):
    samples = [recordings.sample(0), recordings.sample(1, secs=11.0, actual_interval_ms=10000.0, cores=2.0),
               recordings.sample(2, secs=12.0, timestamp=1_600_000_000.0)]
    path = recordings.write(tmp_path / "steps.jsonl", samples)
    summary = json.loads(run("summary", "--json", path).out)
    assert summary["time"]["wall_secs"] == 12.0 and summary["damage"]["clock_steps"] == 1
    assert json.loads(run("stats", "--json", "-c", "process_cpu_usage", "-a", "mean,time_mean", path).out) == {
        "process_cpu_usage": {"mean": 4 / 3, "time_mean": (1 + 20 + 1) / 12}}
    assert "set back once" in run("summary", path).out


@pytest.mark.parametrize("ahead_secs", [-3600.0, 3600.0])
def test_a_clock_that_is_set_does_not_change_how_long_the_run_took(run, tmp_path, ahead_secs):
    samples = recordings.eight_samples()
    for one in samples[4:]:
        one["timestamp"] += ahead_secs
        one["timestamp_secs"] += int(ahead_secs)
    path = recordings.write(tmp_path / "steps.jsonl", samples)
    assert stats(run, path)["timestamp"] == {"duration": 8.0}
    assert json.loads(run("summary", "--json", path).out)["run"]["started_timestamp"] == 1_700_000_000.5
    # Phases before and after the step of the clock are both found.
    (tmp_path / "steps.jsonl.marks").write_text(recordings.lines([
        {"timestamp_ns": int((1_700_000_000.5 + at) * 1000) * 10**6, "event": event, "name": name, "id": None, "pid": 1, "host": "h"}
        for event, name, at in [("start", "before", 1), ("stop", "before", 2), ("start", "behind", 6 + ahead_secs),
                                ("stop", "behind", 7 + ahead_secs)]]))
    phases = json.loads(run("regions", "--json", path).out)["code_block_results"]
    assert [(one["name"], one["num_timepoints"]) for one in phases] == [("before", 2), ("behind", 2)]
    cost = json.loads(run("recommend", "--json", "--price", 3600, path).out)["cost"]
    assert (cost["duration_secs"], cost["run_usd"]) == (8.0, 8.0)


def test_a_csv_file_with_a_clock_set_back_lasts_as_long_as_its_intervals(run, tmp_path):
    lines = ["timestamp,pid,children,utime,stime,cpu_usage,memory_mib"]
    lines += [f"{10_000 + 2 * i - (3600 if i > 3 else 0)},1,0,1.0,0.0,{i / 2},10.0" for i in range(8)]
    (tmp_path / "steps.csv").write_text("\n".join(lines) + "\n")
    assert stats(run, tmp_path / "steps.csv")["timestamp"] == {"duration": 16.0}


def test_the_first_row_of_a_csv_file_weighs_as_much_as_an_interval(run, tmp_path):
    (tmp_path / "x.csv").write_text("timestamp,pid,children,utime,stime,cpu_usage,memory_mib\n"
                                    "10,1,0,1,0,4.0,10.0\n12,1,0,1,0,1.0,10.0\n14,1,0,1,0,1.0,10.0\n")
    answer = run("stats", "--json", "-c", "process_cpu_usage", "-a", "mean,time_mean", tmp_path / "x.csv").out
    assert json.loads(answer)["process_cpu_usage"] == {"mean": 2.0, "time_mean": 2.0}


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("text", ['{"timestamp":1,"cpu":{"process_cores_used":2.0}}\n', "timestamp,cpu_usage,pid\r\n1,2.0,7\r\n",
                                  '"timestamp","cpu_usage","pid"\n1,2.0,7\n'])
def test_a_byte_order_mark_is_skipped(run, tmp_path, text, pack):
    (tmp_path / "x").write_bytes(pack(b"\xef\xbb\xbf" + text.encode()))
    assert stats(run, tmp_path / "x")["process_cpu_usage"] == {"mean": 2.0, "max": 2.0}


def test_two_hosts_in_one_file(run, tmp_path):
    samples = [recordings.sample(i, host=f"node-{i % 2}") for i in range(4)]
    assert "samples of 2 hosts are mixed" in run("summary", recordings.write(tmp_path / "two.jsonl", samples)).out


def test_lines_between_samples_that_are_none(run, tmp_path):
    text = recordings.lines(recordings.eight_samples())
    path = tmp_path / "torn.jsonl"
    path.write_text(text[:100] + "\n" + text + "\0\0\0\0\n" + "{}\n")
    damage = json.loads(run("summary", "--json", path).out)["damage"]
    assert damage == {"torn_tails": 0, "bad_lines": 3, "first_bad_line": 1, "clock_steps": 0, "hosts": 1}


def test_an_absurd_number_of_devices_is_refused(run, tmp_path):
    good, bad = recordings.sample(0), recordings.sample(1, disk=[{"device": "sda"}] * 100_000)
    many = recordings.sample(2, disk=[{"device": f"sd{i}"} for i in range(5000)])
    path = recordings.write(tmp_path / "many.jsonl", [good, bad, many])
    rows = json.loads(run("show", "--json", "-c", "sample,disk[0].device", path).out)
    assert rows == [{"sample": 0, "disk[0].device": "sda"}, {"sample": 2, "disk[0].device": "sd0"}]
    # Unwanted disks are not counted.
    assert json.loads(run("summary", "--json", path).out)["run"]["samples"] == 3


def test_gzip_that_was_cut_off_is_read_as_far_as_it_goes(run, tmp_path):
    samples = [recordings.sample(i) for i in range(500)]
    packed = gzip.compress(recordings.lines(samples).encode())
    path = tmp_path / "cut.gz"
    path.write_bytes(packed[:len(packed) // 2])
    summary = json.loads(run("summary", "--json", path).out)
    assert 50 < summary["run"]["samples"] < 500 and summary["damage"]["torn_tails"] == 1
    path.write_bytes(packed + packed[:20])
    assert json.loads(run("summary", "--json", path).out)["run"]["samples"] == 500


def test_several_files_are_parts_of_one_recording(run, tmp_path):
    samples = recordings.eight_samples()
    first = recordings.write(tmp_path / "a.jsonl", samples[:3])
    second = tmp_path / "b.jsonl.gz"
    second.write_bytes(gzip.compress(recordings.lines(samples[3:]).encode()))
    whole = recordings.write(tmp_path / "whole.jsonl", samples)
    assert run("summary", first, second).out == run("summary", whole).out


def test_a_recording_that_is_still_being_written(run, spawn, helpers, tmp_path):
    path = tmp_path / "live.jsonl"
    spawn("-i", 0.05, "--no-summary", "-o", path, "--", "sleep", "30")
    helpers.wait_until(lambda: path.exists() and path.read_bytes().count(b"\n") >= 3)
    result = run("summary", path)
    assert result.returncode == 0 and "no end is recorded" in result.out
    assert run("stats", path).returncode == 0


def python_csv(columns, rows, quote=True, end="\n"):
    def cell(value):
        return f'"{value}"' if quote and isinstance(value, str) else str(value)
    return end.join([",".join(map(cell, columns))] + [",".join(map(cell, row)) for row in rows]) + end


def test_csv_of_the_first_trackers_is_in_ticks_and_kilobytes(run, tmp_path):
    path = tmp_path / "pid.csv"
    columns = "timestamp pid children utime stime cpu_usage pss read_bytes write_bytes gpu_usage gpu_vram gpu_utilized"
    path.write_text(python_csv(columns.split(), [[1000.5 + i, 7, 1, 150, 50, 2.0, 204800, 10, 20, 0.0, 0.0, 0]
                                                 for i in range(3)], end="\r\n"))
    figures = stats(run, "-c", "process_utime,process_memory_mib,process_disk_read_bytes", "-a", "sum", path)
    assert figures == {"process_utime": {"sum": 4.5}, "process_memory_mib": {"sum": 600.0},
                       "process_disk_read_bytes": {"sum": 30}}


def test_a_machine_and_a_process_csv_are_read_side_by_side(run, tmp_path):
    system, process = tmp_path / "system.csv", tmp_path / "process.csv"
    system.write_text(python_csv(recordings.SYSTEM_COLUMNS, [[1000 + i] + [1] * 20 for i in range(5)]))
    process.write_text(python_csv(recordings.PROCESS_COLUMNS, [[1001.3 + i, 9] + [2] * 10 for i in range(5)]))
    for order in ((system, process), (process, system)):
        result = run("show", "--csv=plain", "-c", "timestamp,system_cpu_usage,process_cpu_usage", *order)
        assert result.out.split("\r\n")[1:-1] == ["1000.0,1.0,", "1001.0,1.0,2.0", "1002.0,1.0,2.0", "1003.0,1.0,2.0",
                                                 "1004.0,1.0,2.0", "1005.3,,2.0"]


def snapshot(rows_process, rows_system, **more):
    value = {"metadata": {"version": 1, "pid": 9, "children": True, "interval": 1},
             "server_info": {"os": "Linux", "vcpus": 4, "memory_mib": 8000.5, "gpu_names": ["GPU \"X\""]},
             "cloud_info": None,
             "process_metrics": [dict(zip(recordings.PROCESS_COLUMNS, [1000.5 + i, 9, ""] + [i] * 9))
                                 for i in range(rows_process)],
             "system_metrics": [dict(zip(recordings.SYSTEM_COLUMNS, [1000.75 + i] + [2 * i] * 20))
                                for i in range(rows_system)]}
    value.update(more)
    return value


@pytest.mark.parametrize("packed", [False, True])
def test_snapshots_are_paired_by_position(run, tmp_path, packed):
    path = tmp_path / "snapshot"
    text = json.dumps(snapshot(5, 3)).encode()
    path.write_bytes(gzip.compress(text) if packed else text)
    figures = stats(run, path)
    assert figures["process_cpu_usage"] == {"mean": 1.0, "max": 2.0}
    assert figures["system_net_recv_bytes"] == {"sum": 6}
    assert figures["timestamp"] == {"duration": 3.0}
    summary = json.loads(run("summary", "--json", path).out)
    assert summary["cores"]["limit"] == 4.0 and summary["run"]["layout"] == "snapshot"
    path.write_text(json.dumps({"step_failed": False, "tracker": snapshot(2, 2)}))
    assert stats(run, path)["timestamp"] == {"duration": 2.0}
    path.write_text(json.dumps(snapshot(0, 2)))
    assert stats(run, path)["timestamp"] == {"duration": 2.0}


def test_a_recording_of_the_rust_tracker_is_read(run, tmp_path):
    old = {"timestamp_secs": 100, "job_name": None,
           "cpu": {"utilization_pct": 2.5, "process_cores_used": 1.25, "process_child_count": 1},
           "memory": {"total_mib": 1000, "used_mib": 400}, "network": [], "disk": [], "gpu": []}
    path = tmp_path / "rust.jsonl"
    path.write_text("".join(json.dumps(dict(old, timestamp_secs=100 + 5 * i)) + "\n" for i in range(3)))
    assert stats(run, path)["timestamp"] == {"duration": 15.0}
    assert json.loads(run("summary", "--json", path).out)["run"]["interval_secs"] == 5.0


def test_csv_of_two_jobs_holds_two_runs(run, tmp_path):
    """Rows have no number: the process that they track tells runs apart. Joined, they had lasted from the first to the last."""
    path = tmp_path / "run.csv"
    head = ["timestamp", "process_pid", "process_utime"]
    rows = [(100 + i + 3600 * (i > 2), 70 + (i > 2), i) for i in range(6)]
    path.write_text("".join(",".join(map(str, row)) + "\n" for row in [head, *rows]))
    found = json.loads(run("summary", "--json", path).out)["run"]
    assert (found["runs_in_file"], found["tracked_pid"], found["started_timestamp"]) == (2, 71, 3702.0)
    assert stats(run, path)["timestamp"] == {"duration": 3.0}


@pytest.mark.slow
def test_two_gibibytes_take_no_memory(run, helpers, tmp_path):
    """In a sparse file, 2 GiB of NULs after a sample are one bad line."""
    path = recordings.write(tmp_path / "big.jsonl", [recordings.sample(0)])
    os.truncate(path, 2 << 30)
    with path.open("ab") as file:
        file.write(b"\n" + recordings.lines([recordings.sample(1)]).encode())
    analysis = os.path.join(os.path.dirname(run("--version").args[0]), "resource-tracker-analysis")
    timed = run("-f", "%M", analysis, "summary", "--json", path, program="/usr/bin/time")
    assert json.loads(timed.out)["damage"]["bad_lines"] == 1
    assert json.loads(timed.out)["run"]["samples"] == 2
    assert int(timed.err.split()[-1]) < 64 << 10


def test_mistakes_on_the_command_line(run, tmp_path):
    path = recordings.write(tmp_path / "x.jsonl", recordings.eight_samples())
    for arguments in (["summary"], ["stats", "--nope", path], ["stats", "-a", "max", path], ["show", "--head", "x", path],
                      ["show", "--slice", "1:2:0", path], ["export", path], ["stats", "-c", "timestamp", "--round", "x", path]):
        result = run(*arguments)
        assert result.returncode == 2 and f"see resource-tracker {arguments[0]} --help" in result.err, arguments
        assert len(result.err.splitlines()) == 1, arguments
    result = run("stats", "-c", "proces_cpu_usage", path)
    assert result.returncode == 1 and 'the nearest is process_cpu_usage' in result.err
    result = run("stats", "-c", "timestamp", "-a", "average", path)
    assert result.returncode == 1 and "mean, max, min" in result.err
    result = run("show", "-c", "disk.read_bytes_per_sec", path)
    assert result.returncode == 1 and "disk[sda]" in result.err


def newer(path, version, **more):
    samples = recordings.eight_samples()
    samples[0]["run_start"] = {**samples[0]["run_start"], "schema_version": version, **more}
    return recordings.write(path, samples)


@pytest.mark.parametrize("words", [["summary"], ["stats"], ["show"], ["recommend"], ["regions"], ["report", "-o", "page.html"],
                                   ["compare-runs", "old.jsonl"], ["export", "-f", "csv"], ["combine", "other.jsonl", "-o", "both.jsonl"],
                                   ["runs", "add"]])
def test_a_newer_schema_is_told_once_and_read(run, tmp_path, words):
    old = newer(tmp_path / "old.jsonl", 1)
    newer(tmp_path / "other.jsonl", 1)
    known = run(*words, old, cwd=tmp_path)
    path = newer(tmp_path / "new.jsonl", 7, a_key_of_tomorrow={"a": [1]})
    result = run(*words, path, cwd=tmp_path)
    told = [line for line in result.err.splitlines() if "schema version" in line]
    assert told == [f"resource-tracker {words[0]}: {path} has schema version 7; this program knows 1 and leaves out what is new since; "
                    "a newer resource-tracker reads all of it"]
    assert "schema version" not in known.err
    if words[0] != "combine":
        assert result.returncode == known.returncode and (result.out != "") == (known.out != "")


def test_the_newer_of_several_recordings_is_named_once(run, tmp_path):
    for name, version in ("a", 1), ("b", 2), ("c", 3):
        newer(tmp_path / f"{name}.jsonl", version)
    for words in ["compare-runs", "a.jsonl", "x=b.jsonl", "y=c.jsonl"], ["runs", "add", "."], ["summary", "b.jsonl", "c.jsonl"]:
        result = run(*words, cwd=tmp_path)
        assert [line.split()[2] for line in result.err.splitlines() if "schema version" in line] in (["b.jsonl"], ["./b.jsonl"]), result.err


@pytest.mark.parametrize("words", [["summary"], ["stats"], ["show"], ["recommend"], ["regions"], ["report", "-o", "page.html"],
                                   ["compare-runs", "other.jsonl"], ["export", "-f", "csv"], ["combine", "other.jsonl", "-o", "both.jsonl"]])
@pytest.mark.parametrize("damage", ["checksum", "data"])
def test_damaged_gzip_is_told_once_and_read(run, tmp_path, words, damage):
    text = recordings.write(tmp_path / "other.jsonl", recordings.eight_samples()).read_bytes()
    packed = bytearray(gzip.compress(text))
    (tmp_path / "whole.jsonl.gz").write_bytes(packed)
    whole = run(*words, "whole.jsonl.gz", cwd=tmp_path)
    packed[-8 if damage == "checksum" else -30] ^= 0xff
    (tmp_path / "bad.jsonl.gz").write_bytes(packed)
    result = run(*words, "bad.jsonl.gz", cwd=tmp_path)
    assert [line for line in result.err.splitlines() if "gzip" in line] == [
        f"resource-tracker {words[0]}: bad.jsonl.gz: its gzip data or checksum is wrong: the part before the damage is used, and its figures may be wrong"]
    assert "gzip" not in whole.err and result.returncode == whole.returncode
    assert "middle of a sample" not in result.out
