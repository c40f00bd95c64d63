"""export: the other files, and programs that read them."""
import csv
import datetime
import gzip
import io
import json
import sqlite3

import pytest

import recordings


@pytest.fixture
def eight(tmp_path):
    return recordings.write(tmp_path / "eight.jsonl", recordings.eight_samples())


@pytest.fixture
def export(run, tmp_path):
    def to(name, *arguments):
        result = run("export", *arguments, "--force", "-o", tmp_path / name)
        assert result.returncode == 0 and result.out == "", result.err
        return tmp_path / name

    return to


def test_json_keeps_every_sample_and_every_key(run, export, eight):
    samples = recordings.eight_samples()
    samples[3]["of_a_later_version"] = {"a": [1]}
    recordings.write(eight, samples)
    assert json.loads(export("x.json", eight).read_text()) == samples
    assert [json.loads(line) for line in export("x.jsonl", eight).read_text().splitlines()] == samples
    packed = export("x.jsonl.gz", eight)
    assert gzip.decompress(packed.read_bytes()) == eight.read_bytes()
    # A list of samples is a readable recording again.
    assert run("summary", export("y.json", eight)).out == run("summary", eight).out


def test_csv_in_every_layout_is_the_same_recording(run, export, eight):
    wanted = json.loads(run("stats", "--json", eight).out)
    for layout in ("combined", "system", "process", "system-0.4", "process-0.4", "system-0.1", "pid-0.1"):
        path = export(f"{layout}.csv", "--csv-layout", layout, eight)
        figures = json.loads(run("stats", "--json", path).out)
        assert figures["timestamp"] == wanted["timestamp"], layout
        of_tree, of_machine = layout[0] in "pc", layout[0] in "sc"
        assert (figures["process_cpu_usage"] == wanted["process_cpu_usage"]) == of_tree, layout
        assert (figures["process_memory_mib"] == wanted["process_memory_mib"]) == of_tree, layout
        assert (figures["system_net_recv_bytes"] == wanted["system_net_recv_bytes"]) == of_machine, layout
    both = [export(f"{name}.csv", "--csv-layout", name, eight) for name in ("system", "process")]
    assert json.loads(run("stats", "--json", *both).out) == wanted


def test_the_older_layouts_are_in_their_units(export, eight):
    rows = list(csv.DictReader(io.StringIO(export("x.csv", "--csv-layout", "system-0.4", eight).read_text())))
    assert rows[0]["memory_free"] == "1024000" and rows[0]["memory_used"] == str(1024 * 1024)
    assert rows[0]["disk_space_total_gb"] == "93.13"
    raw = export("y.csv", "--csv-layout", "pid-0.1", eight).read_bytes()
    assert raw.startswith(b'"timestamp","pid","children","utime"') and raw.count(b"\r\n") == 9
    assert raw.split(b"\r\n")[2].split(b",")[3:7] == [b"75", b"25", b"1.0", b"51200"]
    assert not export("z.csv", "--no-header", eight).read_text().startswith("timestamp")


def test_sqlite_has_a_row_for_each_thing(export, eight):
    database = sqlite3.connect(export("x.sqlite", eight))
    rows = database.execute("SELECT run, sample, cpu_process_cores_used, memory_used_mib, host FROM samples").fetchall()
    assert rows == [(1, i, 0.5 * (i + 1), 1024.0, "node-1") for i in range(8)]
    assert database.execute("SELECT interface, rx_bytes_total FROM network WHERE sample = 2").fetchall() == [("eth0", 1200)]
    assert database.execute("SELECT disk_device, mount_point, used_pct FROM disk_mounts WHERE sample = 0").fetchall() == [
        ("sda", "/", 12.5)]
    assert database.execute("SELECT number, busy_pct FROM cpu_per_core_pct WHERE sample = 7").fetchall() == [
        (0, 50.0), (1, 25.0)]
    assert database.execute("SELECT executable, children FROM run_start").fetchall() == [("make", 1)]
    assert database.execute("SELECT name, value FROM run_start_tags").fetchall() == [("a", "b")]
    assert database.execute("SELECT sample, exit_code FROM run_end").fetchall() == [(7, 3)]


# Keys that from_snapshot() of the Python package looks up; a missing key is an error there.
METADATA = {"version", "resource_tracker", "pid", "children", "interval", "method", "autostart", "track_processes",
            "track_system", "discover_server", "discover_cloud", "start_time", "stop_time", "duration"}


def test_the_python_package_loads_a_snapshot(run, export, eight):
    snapshot = json.loads(gzip.decompress(export("x.json.gz", "-f", "snapshot", eight).read_bytes()))
    assert set(snapshot) == {"metadata", "server_info", "cloud_info", "process_metrics", "system_metrics"}
    assert set(snapshot["metadata"]) == METADATA
    assert snapshot["metadata"]["pid"] == 42 and snapshot["metadata"]["interval"] == 1
    assert snapshot["metadata"]["track_processes"] and snapshot["metadata"]["track_system"]
    assert snapshot["metadata"]["start_time"] == 1_700_000_000.5 and snapshot["metadata"]["duration"] == 9.0
    assert snapshot["server_info"]["vcpus"] == 8 and snapshot["server_info"]["memory_mib"] == 4096.0
    for rows, columns in (("process_metrics", recordings.PROCESS_COLUMNS), ("system_metrics", recordings.SYSTEM_COLUMNS)):
        assert len(snapshot[rows]) == 8
        for row in snapshot[rows]:
            assert list(row) == columns
            # A null that was written to CSV and read again would make the whole column text there.
            assert all(isinstance(value, (int, float)) for value in row.values()), row
    assert snapshot["process_metrics"][7]["memory_mib"] == 175.0
    # Their stats() computes the same specs from the same numbers.
    memory = [row["memory_mib"] for row in snapshot["process_metrics"]]
    figures = json.loads(run("stats", "--json", eight.parent / "x.json.gz").out)
    assert figures["process_memory_mib"] == {"mean": round(sum(memory) / 8, 2), "max": max(memory)}
    assert figures["timestamp"] == {"duration": 8.0}
    assert json.loads(run("export", "-f", "snapshot", eight).out) == snapshot


def test_snapshots_of_version_0_4(export, eight):
    snapshot = json.loads(gzip.decompress(export("x.json.gz", "-f", "snapshot-0.4", eight).read_bytes()))
    assert snapshot["process_metrics"][0]["memory"] == 25 * 1024 and "memory_mb" in snapshot["server_info"]


def test_without_a_process_a_snapshot_has_no_rows_of_one(export, eight):
    samples = recordings.eight_samples()
    for one in samples:
        one["tracked_pid"] = None
        one["cpu"] = {key: None if key.startswith("process_") and key != "process_count" else value
                      for key, value in one["cpu"].items()}
    snapshot = json.loads(gzip.decompress(export("x.gz", "-f", "snapshot", recordings.write(eight, samples)).read_bytes()))
    assert snapshot["process_metrics"] == [] and len(snapshot["system_metrics"]) == 8
    assert snapshot["metadata"]["pid"] is None


def test_gpu_tracker_files(export, eight):
    text = export("x.csv", "-f", "gpu_tracker", "--ram-unit", "megabytes", "--expected-cores", "4", eight).read_bytes()
    lines = text.decode().split("\r\n")
    assert len(lines) == 12 and lines[-1] == ""
    static = dict(zip(lines[0].split(","), lines[1].split(",")))
    assert static["ram_unit"] == "megabytes" and static["system_core_count"] == "8" and static["n_expected_cores"] == "4"
    assert float(static["ram_system_capacity"]) == pytest.approx(4096 * 1.048576)
    first = dict(zip(lines[2].split(","), lines[3].split(",")))
    assert len(first) == 22
    assert float(first["main_ram"]) == pytest.approx(12.5 * 1.048576)
    assert float(first["descendants_ram"]) == pytest.approx(25 * 1.048576)
    assert float(first["cpu_combined_sum_utilization_percent"]) == 50.0
    assert float(first["cpu_combined_hardware_utilization_percent"]) == 12.5
    assert first["main_n_threads"] == "1" and first["descendants_n_threads"] == "4" and first["timestamp"] == "1700000001.5"
    database = sqlite3.connect(export("x.sqlite", "-f", "gpu_tracker", eight))
    assert database.execute("SELECT ram_unit, system_core_count FROM static_data").fetchall() == [("gigabytes", 8)]
    assert database.execute("SELECT count(*), max(cpu_main_sum_utilization_percent) FROM data").fetchall() == [(8, 100.0)]


def test_gpus_of_a_gpu_tracker_file_are_chosen_by_their_uuid(export, run, tmp_path):
    gpus = [{"uuid": f"GPU-{i}", "utilization_pct": 25.0 * (i + 1), "vram_total_bytes": 1 << 30} for i in range(3)]
    path = recordings.write(tmp_path / "gpu.jsonl", [recordings.sample(i, gpu=gpus) for i in range(2)])

    def figures(*arguments):
        lines = export("x.csv", "-f", "gpu_tracker", *arguments, path).read_text().splitlines()
        static, first = (dict(zip(lines[i].split(","), lines[i + 1].split(","))) for i in (0, 2))
        return (static["system_gpu_count"], static["n_expected_gpus"], float(first["gpu_sum_utilization_percent"]),
                float(first["gpu_hardware_utilization_percent"]))

    assert figures() == ("3", "3", 150.0, 50.0)
    assert figures("--gpu-uuids", "GPU-0,GPU-2") == ("3", "2", 100.0, 50.0)
    refused = run("export", "-f", "gpu_tracker", "--gpu-uuids", "GPU-9", path)
    assert refused.returncode == 1 and "GPU-0, GPU-1, GPU-2" in refused.err


def test_an_output_appears_when_it_is_whole_and_never_half(run, tmp_path, eight):
    existing = tmp_path / "out.json"
    existing.write_text("before")
    broken = tmp_path / "broken"
    broken.write_text("no recording\n")
    assert run("export", broken, "-o", existing).returncode == 1
    assert existing.read_text() == "before"
    assert run("export", eight, "-o", eight).returncode == 1 or eight.read_text()
    assert run("export", eight, "-o", tmp_path / "no" / "x.json").returncode == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["broken", "eight.jsonl", "out.json"]


def test_an_impossible_export_is_reported(run, eight, tmp_path):
    for arguments, words in ((["-o", "x.what"], "name a format"), (["-f", "xml", "-o", "x"], "not a format"),
                             (["-f", "sqlite"], "standard output"),
                             (["-f", "gpu_tracker", "--ram-unit", "x"], "not a unit")):
        result = run("export", eight, *arguments)
        assert result.returncode == 1 and words in result.err, arguments
    result = run("export", eight, "-o", "x.csv", "--csv-layout", "nope")
    assert result.returncode == 2 and "give one of combined, system" in result.err
    result = run("export", "-", "-f", "snapshot", "-o", tmp_path / "x.gz", stdin=eight.read_bytes())
    assert result.returncode == 1 and "read twice" in result.err
    assert run("export", "-", "-o", tmp_path / "y.csv", stdin=eight.read_bytes()).returncode == 0


# Invalid JSON in the place of the first sample's number, or of the job's name.
DAMAGED_NUMBERS = [b"NaN", b"01", b".5", b"+1", b"1.", b"hello", b"[1,,2]", b"[1,]", b"{a:1}", b"-Infinity"]
DAMAGED_TEXTS = [b"\xff\xfe", b"\xc0\xaf", b"\xed\xa0\x80", b"\x01", b"\x1b[31m", b"\\x41", b"\\u12"]


@pytest.mark.parametrize("format", ["json", "jsonl"])
@pytest.mark.parametrize("key, value", [(b'"future":1', b'"future":' + value) for value in DAMAGED_NUMBERS] +
                         [(b'"job_name":"demo"', b'"job_name":"' + value + b'"') for value in DAMAGED_TEXTS])
def test_json_that_is_exported_is_valid(run, tmp_path, format, key, value):
    path = tmp_path / "run.jsonl"
    recordings.write(path, [dict(one, future=1) for one in recordings.eight_samples()])
    first, rest = path.read_bytes().split(b"\n", 1)
    assert key in first
    path.write_bytes(first.replace(key, value) + b"\n" + rest)
    result = run("export", "-f", format, path)
    text = result.stdout.decode("utf-8")  # strict

    def refuse(word):
        raise ValueError(word)

    samples = json.loads(text, parse_constant=refuse) if format == "json" else \
        [json.loads(line, parse_constant=refuse) for line in text.splitlines()]
    assert result.returncode == 0 and len(samples) in (7, 8)
    repaired = len(samples) - 7
    assert f"damaged lines: {repaired} repaired from their known values, {1 - repaired} left out" in result.err
    assert samples[-1]["future"] == 1 and samples[0]["cpu"]["process_cores_used"] == (0.5 if repaired else 1.0)


FORMATS = ["json", "jsonl", "csv", "sqlite", "snapshot", "snapshot-0.4", "gpu_tracker", "otlp", "openmetrics", "influx"]


@pytest.mark.parametrize("format", FORMATS)
def test_a_recording_without_a_whole_sample_leaves_no_output(run, tmp_path, format):
    torn, out = tmp_path / "torn.jsonl", tmp_path / "out"
    torn.write_bytes(recordings.write(tmp_path / "run.jsonl", recordings.eight_samples()).read_bytes()[:100])
    result = run("export", "-f", format, torn, "-o", out)
    assert result.returncode == 1 and not out.exists()
    assert result.err == f"resource-tracker export: {torn}: no whole sample has been written yet\n"


@pytest.mark.parametrize("format", FORMATS)
def test_damaged_lines_are_counted(run, tmp_path, format):
    path, out = tmp_path / "run.jsonl", tmp_path / "out"
    lines = recordings.write(path, recordings.eight_samples()).read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:3], b"{damaged\n", *lines[3:]]))
    result = run("export", "-f", format, path, "-o", out)
    assert result.returncode == 0 and out.stat().st_size > 0
    assert result.err == f"resource-tracker export: {path}: damaged lines: 0 repaired from their known values, 1 left out\n"


def nextflow_lines(text):
    """As Nextflow reads them: of two lines with one name the last one counts, and a line without a value is none."""
    return {name: value for name, _, value in (line.partition("=") for line in text.splitlines()) if value}


def test_nextflow_reads_the_figures_behind_its_own_lines(run, export, tmp_path):
    samples = recordings.eight_samples()
    samples[-1]["run_end"] = {**samples[-1]["run_end"], "wall_secs": 8.0004, "voluntary_switches": 7, "involuntary_switches": 0}
    for one in samples:
        one["cpu"].update(process_read_chars=1000, process_written_chars=0)
    path = recordings.write(tmp_path / "x.jsonl", samples)
    text = export("trace", "--format", "nextflow", path).read_text()
    assert text.startswith("nextflow.trace/v2\n") and run("export", "-f", "nextflow", path).out == text
    found = nextflow_lines("nextflow.trace/v2\nrealtime=1\nvmem=77\nrss=1\n" + text)
    assert found.items() >= {"realtime": "8000", "%cpu": "1500", "%mem": "62", "peak_rss": str(256 << 10), "rss": str(256 << 10), "vmem": "77", "rchar": "8000", "wchar": "0",
                             "vol_ctxt": "7", "inv_ctxt": "0"}.items()
    assert all(value.isdigit() for value in found.values())


def test_nextflow_keeps_its_own_line_of_a_figure_that_is_unknown(run, tmp_path):
    samples = recordings.eight_samples()
    samples[-1]["run_end"] = None
    for one in samples:
        one["cpu"].update(process_memory_mib=None, process_rss_mib=None, process_pss_mib=None, process_read_chars=None)
    found = nextflow_lines(run("export", "-f", "nextflow", recordings.write(tmp_path / "x.jsonl", samples)).out)
    assert "realtime" in found and not {"peak_rss", "rss", "%mem", "rchar", "vol_ctxt"} & set(found)
    samples[0]["run_start"] = None
    assert "%mem" not in nextflow_lines(run("export", "-f", "nextflow", recordings.write(tmp_path / "x.jsonl", samples)).out)


def test_ro_crate_has_the_use_of_each_run(run, export, tmp_path):
    samples = recordings.eight_samples()
    samples[0]["run_start"].update(command='["sort","big.txt"]', run_id="an-id")
    for one in samples:
        one["job_name"] = "align"
    good = recordings.steady(tmp_path / "good.jsonl", memory=100.0)
    lost = recordings.steady(tmp_path / "lost.jsonl", end=False)
    path = export("ro-crate-metadata.json", "--format", "ro-crate", recordings.write(tmp_path / "x.jsonl", samples), good, lost)
    crate = json.loads(path.read_text())
    assert crate["@context"] == ["https://w3id.org/ro/crate/1.1/context", "https://w3id.org/ro/terms/workflow-run/context"]
    found = {one["@id"]: one for one in crate["@graph"]}
    assert len(found) == len(crate["@graph"]), "ids are unique"
    root, failed = found["./"], found["#run-1"]
    assert found["ro-crate-metadata.json"]["about"] == {"@id": "./"} and root["conformsTo"]["@id"] in found and root["license"].startswith("unknown")
    actions = [found[one["@id"]] for one in root["mentions"]]
    assert [one["actionStatus"].rpartition("/")[2] for one in actions] == ["FailedActionStatus", "CompletedActionStatus", "ActiveActionStatus"]
    assert failed["name"] == "align" and failed["description"] == "sort big.txt" and failed["identifier"] == "an-id" and "exit status 3" in failed["error"] and "error" not in actions[1]
    assert [found[one["instrument"]["@id"]]["name"] for one in actions] == ["align", "demo", "demo"] and actions[1]["instrument"] == actions[2]["instrument"]
    begin = datetime.datetime.fromisoformat(failed["startTime"])
    assert (datetime.datetime.fromisoformat(failed["endTime"]) - begin).total_seconds() == pytest.approx(8) and begin.utcoffset() == datetime.timedelta()
    use = {found[one["@id"]]["name"]: found[one["@id"]] for one in failed["resourceUsage"]}
    peak = use["memory.peak_mib"]
    assert (peak["@type"], peak["value"], peak["unitCode"]) == ("PropertyValue", "256.000", "https://qudt.org/vocab/unit/MebiBYTE")
    assert peak["propertyID"].endswith("#memory.peak_mib") and use["time.cpu_secs"]["value"] == "12.000"


def test_ro_crate_leaves_out_unknown_figures(run, tmp_path):
    samples = recordings.eight_samples()
    for one in samples:
        one["cpu"].update(process_memory_mib=None, process_rss_mib=None, process_pss_mib=None)
        one["run_end"] = None
    done = run("export", "-f", "ro-crate", recordings.write(tmp_path / "x.jsonl", samples))
    assert "time.wall_secs" in done.out and "memory.peak_mib" not in done.out
    assert run("export", "-f", "ro-crate", tmp_path / "missing.jsonl").returncode != 0


def test_ro_crate_leaves_out_a_time_that_no_clock_has(run, tmp_path):
    path = tmp_path / "odd.json"
    path.write_text(json.dumps({"metadata": {"interval": -1e308}, "server_info": {"vcpus": 2},
                                "process_metrics": [{"timestamp": 1.5, "cpu_usage": 1, "memory_mib": 2}],
                                "system_metrics": [{"timestamp": 1.6, "cpu_usage": 1, "memory_used_mib": 2}]}))
    done = run("export", "-f", "ro-crate", path)
    assert done.returncode == 0 and "endTime" in done.out and "startTime" not in done.out
