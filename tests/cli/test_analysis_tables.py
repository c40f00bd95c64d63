"""stats and show: the operations of the Python data frame on recordings and on any CSV."""
import json
import pathlib
import re

import pytest

import recordings

TOP = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture
def eight(tmp_path):
    return recordings.write(tmp_path / "eight.jsonl", recordings.eight_samples())


def test_the_default_statistics_have_the_shape_of_the_python_package(run, eight):
    assert json.loads(run("stats", "--json", eight).out) == {
        "process_cpu_usage": {"mean": 2.25, "max": 4.0}, "process_memory_mib": {"mean": 100.0, "max": 175.0},
        "process_gpu_usage": {"mean": 0, "max": 0}, "process_gpu_vram_mib": {"mean": 0, "max": 0},
        "process_gpu_utilized": {"mean": 0, "max": 0}, "system_disk_space_used_gb": {"max": 40.25},
        "system_net_recv_bytes": {"sum": 800}, "system_net_sent_bytes": {"sum": 400},
        "timestamp": {"duration": 8.0}}


def test_columns_statistics_names_and_decimals_are_chosen(run, eight):
    result = run("stats", "--json", "--column", "process_memory_mib,process_cpu_usage", "--agg", "max,mean,p95",
                 "--round", "1", "-c", "network[eth0].rx_bytes_per_sec,cpu.per_core_pct[1]", "-a", "rate=median",
                 "-c", "sample", eight)
    assert json.loads(result.out) == {
        "process_memory_mib": {"max": 175.0, "mean": 100.0, "p95": 167.5},
        "process_cpu_usage": {"max": 4.0, "mean": 2.2, "p95": 3.8},
        "network[eth0].rx_bytes_per_sec": {"rate": 100.0}, "cpu.per_core_pct[1]": {"rate": 25.0},
        "sample": {"mean": 3.5, "max": 7}}


def test_statistics_as_a_table(run, eight):
    lines = run("stats", eight).out.splitlines()
    assert lines[0].split() == ["column", "mean", "max", "sum", "duration"]
    assert lines[1].split() == ["process_cpu_usage", "2.25", "cores", "4.00", "cores"]
    assert lines[2].split() == ["process_memory_mib", "100", "MiB", "175", "MiB"]
    assert lines[-2].split() == ["timestamp", "8.00", "s"] and not any("gpu" in line for line in lines)
    assert lines[-1] == "3 columns without a value above 0 are left out (--json has all)"
    assert "process_gpu_usage" in run("stats", "-c", "process_gpu_usage", eight).out


def test_rows_are_printed_as_the_data_frame_prints_them_if_that_is_asked_for(run, eight):
    assert run("show", "--format", "tiny-data-frame", "-c", "sample,process_cpu_usage,process_memory_mib,host", "--slice", "-3:", eight).out == (
        "TinyDataFrame with 3 rows and 4 columns:\n"
        "sample | process_cpu_usage | process_memory_mib | host  \n"
        "-------+-------------------+--------------------+-------\n"
        "     5 |               3.0 |              150.0 | node-1\n"
        "     6 |               3.5 |              175.0 | node-1\n"
        "     7 |               4.0 | None               | node-1\n")


def test_slice_head_tail_rename_and_csv(run, eight):
    assert run("show", "-c", "sample", "--slice", "::2", "--head", "3", "--tail", "2", "--rename", "sample=n", "--csv",
               eight).out == '"n"\r\n2\r\n4\r\n'
    assert run("show", "-c", "sample,host", "--head", "1", "--csv=plain", eight).out == "sample,host\r\n0,node-1\r\n"
    assert json.loads(run("show", "-c", "sample,host", "--tail", "1", "--json", eight).out) == [
        {"sample": 7, "host": "node-1"}]
    assert run("show", "--rename", "nope=x", eight).returncode == 1


def test_without_columns_the_combined_ones_are_shown(run, eight):
    header, first = run("show", "--csv=plain", "--head", "1", eight).out.split("\r\n")[:2]
    assert header.split(",")[:2] == ["timestamp", "system_processes"] and len(header.split(",")) == 32
    assert first.split(",")[:2] == ["1700000001.5", "99"]


def test_combined_names_prefixes_bytes_and_offset(run, eight):
    result = run("show", "--csv=plain", "--human-names", "--bytes", "--offset", "6", eight)
    header, *rows = result.out.split("\r\n")[:-1]
    first = dict(zip(header.split(","), rows[0].split(",")))
    assert len(rows) == 2
    assert first["Timestamp"] == "1700000007.5" and first["System CPU usage"] == "4.0"
    assert first["Process memory usage"] == str(175.0 * 1048576) and first["System disk space used"] == "40250000000.0"
    assert "System memory page/file cached" in first and "Process PID" in first
    header = run("show", "--csv=plain", "--system-prefix", "", "--process-prefix", "p.", eight).out.split("\r\n")[0]
    assert header.split(",")[1] == "processes" and header.split(",")[-1] == "p.gpu_utilized"


def test_the_last_of_several_forms_counts(run, eight):
    for options, first in ((("--csv=plain", "--json"), "["), (("--json", "--csv=plain"), "s"), (("--format", "json", "--csv"), '"'),
                           (("--csv", "--json=no"), '"')):
        assert run("show", "-c", "sample", "--head", "1", *options, eight).out.startswith(first), options


def test_a_value_without_a_meaning_is_told_with_its_option(run, eight):
    for words in (("stats", "--round", "16"), ("show", "--slice", "1"), ("show", "--rename", "a"), ("show", "--head", "-1"),
                  ("summary", "--unit", "x"), ("export", "-f", "csv", "--gpu-uuids", ","), ("export", "-f", "csv", "--expected-cores", "0"),
                  ("history", "--since", "x"), ("history", "--by", "x"), ("recommend", "--server-filter", "x"), ("report", "--price", "0"),
                  ("compare-runs", "--last-good", "0"), ("compare-runs", "--runs", ""), ("runs", "--runs", ""), ("live", "--pid", "0")):
        result = run(*words[:-2], f"{words[-2]}={words[-1]}", eight)
        assert result.returncode == 2 and f"{words[-2]}: '{words[-1]}' is not a valid value" in result.err, (words, result.err)


def test_any_csv(run, tmp_path):
    path = tmp_path / "any.csv"
    path.write_text('name,x\n"a, b",1\nc,2.5\n')
    assert json.loads(run("show", "--any-csv", "--json", path).out) == [{"name": "a, b", "x": 1}, {"name": "c", "x": 2.5}]
    assert json.loads(run("stats", "--any-csv", "-c", "x", "-a", "sum,len", "--json", path).out) == {
        "x": {"sum": 3.5, "len": 2}}
    result = run("stats", "--any-csv", "-c", "x,name", "-a", "sum", "--json", path)
    assert result.returncode == 1 and json.loads(result.out) == {"x": {"sum": 3.5}} and "'name'" in result.err
    path.write_text("a,b\n1,2,3\n")
    result = run("show", "--any-csv", path)
    assert result.returncode == 1 and f"{path}:2" in result.err


def test_output_goes_to_a_file(run, eight, tmp_path):
    out = tmp_path / "out"
    assert run("stats", "--json", "-o", out, eight).out == ""
    assert json.loads(out.read_text())["timestamp"] == {"duration": 8.0}
    assert run("stats", "-o", tmp_path / "no" / "where", eight).returncode == 1


def test_a_closed_pipe_ends_a_table_without_error(run, eight, binary):
    result = run("-c", f"'{binary}' show --rows 0 '{eight}' | head -1", program="/bin/sh")
    assert result.returncode == 0 and result.err == ""


def test_help_of_every_subcommand(run, binary):
    overview = run("--help").out.split("Subcommands")[1].split("Examples")[0]
    names = re.findall(r"^  ([a-z-]+) ", overview, re.M)
    assert len(set(names)) == len(names) >= 20, overview
    for name in names:
        if name in ("upload", "discover") and not (pathlib.Path(binary).parent / "resource-tracker-net").exists():
            continue
        for word in ("--help", "-h"):
            result = run(name, word)
            assert result.returncode == 0 and f"usage: resource-tracker {name}" in result.out and not result.err, name


def test_a_cell_neither_steers_the_terminal_nor_breaks_the_line(run, tmp_path):
    path = recordings.write(tmp_path / "x.jsonl", [recordings.sample(0, host="a\x1b[31m\nb")])
    assert run("show", "--format", "tiny-data-frame", "-c", "host,sample", path).out.splitlines()[1:] == [
        "host     | sample", "---------+-------", "a?[31m?b |      0"]
    assert run("show", "-c", "host,sample", path).out.splitlines() == ["host      sample", "a?[31m?b       0"]
    assert json.loads(run("show", "--json", "-c", "host", path).out) == [{"host": "a\x1b[31m\nb"}]
