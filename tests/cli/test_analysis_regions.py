"""regions: phases are matched by their owner, and gpu_tracker's files give gpu_tracker's numbers."""
import json
import sqlite3
import statistics

import pytest

import recordings
import report_pages

FACTS = {"ram_unit": "gigabytes", "gpu_ram_unit": "gigabytes", "time_unit": "hours",
         "ram_system_capacity": 67.25414912000001, "gpu_ram_system_capacity": 16.376, "system_core_count": 12,
         "n_expected_cores": 12, "system_gpu_count": 1, "n_expected_gpus": 1}
MEASURES = ["main_ram", "main_n_threads", "cpu_system_hardware_utilization_percent", "timestamp"]
ROWS = [(0.08691712, 15, 10.216666666666669, 1745449623.9559393), (0.481046528, 13, 12.108333333333334, 1745449625.1367433),
        (1.576493056, 13, 13.233333333333333, 1745449626.3091433), (1.21389056, 13, 9.641666666666664, 1745449627.4925675)]
CALLS = [(1723727, "Y", 0, 1745449624.6481984), (1723727, "Y", 1, 1745449626.4954815),
         (1723727, "Y", 0, 1745449627.6054815), (1723727, "tmp.py:9", 0, 1745449626.5598955),
         (1723727, "tmp.py:9", 1, 1745449627.653375)]
CALL_COLUMNS = ["process_id", "code_block_name", "position", "timestamp"]
EXPECTED = """\
Overall:
\t                                               min         max       mean        std
\tmain_ram                                0.08691712  1.57649306 0.83958682 0.58698316
\tmain_n_threads                                13.0        15.0       13.5  0.8660254
\tcpu_system_hardware_utilization_percent 9.64166667 13.23333333       11.3 1.44177504
Static Data:
\t   ram_unit gpu_ram_unit time_unit ram_system_capacity gpu_ram_system_capacity system_core_count n_expected_cores system_gpu_count n_expected_gpus
\t  gigabytes    gigabytes     hours         67.25414912                  16.376                12               12                1               1
Code Block Results:
\tName:                Y
\tNum Timepoints:      2
\tNum Calls:           1
\tNum Non Empty Calls: 1
\tCompute Time:
\t\t        min        max       mean  std      total
\t\t 1.84728312 1.84728312 1.84728312  0.0 1.84728312
\tResource Usage:
\t\t                                                min         max        mean        std
\t\tmain_ram                                 0.48104653  1.57649306  1.02876979 0.54772326
\t\tmain_n_threads                                 13.0        13.0        13.0        0.0
\t\tcpu_system_hardware_utilization_percent 12.10833333 13.23333333 12.67083333     0.5625

\tName:                tmp.py:9
\tNum Timepoints:      1
\tNum Calls:           1
\tNum Non Empty Calls: 1
\tCompute Time:
\t\t        min        max       mean  std      total
\t\t 1.09347939 1.09347939 1.09347939  0.0 1.09347939
\tResource Usage:
\t\t                                               min        max       mean  std
\t\tmain_ram                                1.21389056 1.21389056 1.21389056  0.0
\t\tmain_n_threads                                13.0       13.0       13.0  0.0
\t\tcpu_system_hardware_utilization_percent 9.64166667 9.64166667 9.64166667  0.0

"""


def csv(*tables):
    return "".join("\r\n".join([",".join(names), *(",".join(map(str, row)) for row in rows)]) + "\r\n"
                   for names, rows in tables)


def database(path, **tables):
    with sqlite3.connect(path) as connection:
        for name, (columns, rows) in tables.items():
            connection.execute(f"CREATE TABLE {name} ({','.join(columns)})")
            connection.executemany(f"INSERT INTO {name} VALUES ({','.join('?' * len(columns))})", rows)
    connection.close()


@pytest.fixture(params=["csv", "sqlite"])
def files(request, tmp_path):
    """Writes gpu_tracker's pair of files, in either form."""
    tracking, calls = tmp_path / f"tracking.{request.param}", tmp_path / f"calls.{request.param}"
    static = (list(FACTS), [tuple(FACTS.values())])
    if request.param == "csv":
        tracking.write_bytes(csv(static, (MEASURES, ROWS)).encode())
        calls.write_bytes(csv((CALL_COLUMNS, CALLS)).encode())
    else:
        database(tracking, static_data=static, data=(MEASURES, ROWS))
        database(calls, data=(CALL_COLUMNS, CALLS))
    return ["--tracking-file", tracking, "--sub-tracking-file", calls]


def test_the_text_of_gpu_tracker(run, files):
    result = run("regions", "--format", "gpu-tracker", *files)
    assert result.out == EXPECTED, result.err


def test_the_json_of_gpu_tracker(run, files):
    answer = json.loads(run("regions", "--json", *files).out)
    assert list(answer) == ["overall", "static_data", "code_block_results"] and answer["static_data"] == FACTS
    assert list(answer["overall"]) == MEASURES[:-1]
    values = [row[2] for row in ROWS]
    assert answer["overall"][MEASURES[2]] == pytest.approx(
        {"min": min(values), "max": max(values), "mean": statistics.fmean(values), "std": statistics.pstdev(values)},
        rel=1e-12)
    first = answer["code_block_results"][0]
    assert list(first) == ["name", "num_timepoints", "num_calls", "num_non_empty_calls", "compute_time",
                           "resource_usage"]
    assert first["compute_time"]["total"] == pytest.approx(CALLS[1][3] - CALLS[0][3])


def mark(event, name, secs, *, pid=1, host="node-1", id=None):
    return {"timestamp_ns": int((1_700_000_000.5 + secs) * 1000) * 1_000_000, "monotonic_ns": 0, "event": event,
            "name": name, "id": id, "pid": pid, "host": host}


@pytest.fixture
def analyse(run, tmp_path):
    """Returns regions of the recording with eight samples at 1.0, 2.0, ... s, with these marks."""

    def with_marks(marks, *more):
        path = recordings.write(tmp_path / "run.jsonl", recordings.eight_samples())
        (tmp_path / "run.jsonl.marks").write_text(recordings.lines(marks) if isinstance(marks, list) else marks)
        result = run("regions", "--json", path, *more)
        assert result.returncode == 0, result.err
        answer = json.loads(result.out)
        return answer["static_data"], {one["name"]: one for one in answer["code_block_results"]}

    return with_marks


def test_phases_of_a_recording(analyse):
    facts, phases = analyse([mark("start", "load", 1.5), mark("stop", "load", 4.5)])
    load = phases["load"]
    assert (load["num_timepoints"], load["num_calls"], load["num_non_empty_calls"]) == (3, 1, 1)
    assert load["compute_time"]["total"] == pytest.approx(3.0)
    # Half of the intervals that end at 2 and 5 s (1.0 and 2.5 cores), all of those at 3 and 4 s (1.5 and 2.0 cores).
    parts = [1.0, 1.5, 1.5, 2.0, 2.0, 2.5]
    assert load["resource_usage"]["process_cpu_usage"] == pytest.approx(
        {"min": 1.0, "max": 2.5, "mean": statistics.fmean(parts), "std": statistics.pstdev(parts), "total": sum(parts) / 2})
    # Memory is that of moments: at 2, 3 and 4 s.
    assert load["resource_usage"]["process_memory_mib"] == pytest.approx(
        {"min": 50.0, "max": 100.0, "mean": 75.0, "std": statistics.pstdev([50, 75, 100]), "total": None})
    assert load["resource_usage"]["process_disk_write_bytes"]["total"] == pytest.approx(3 * 8192)
    assert facts == {"samples": 8, "open_calls": 0, "unmatched_stops": 0, "bad_marks": 0}


def test_nested_and_concurrent_phases_are_paired_by_process(analyse):
    _, phases = analyse([
        mark("start", "p", 1.0), mark("start", "p", 2.0, pid=2), mark("start", "p", 3.0),
        mark("stop", "p", 3.25), mark("stop", "p", 4.0, pid=2), mark("stop", "p", 6.0)])
    assert phases["p"]["num_calls"] == 3
    assert phases["p"]["compute_time"] == pytest.approx({"min": 0.25, "max": 5.0, "mean": 7.25 / 3, "total": 7.25,
                                                         "std": statistics.pstdev([0.25, 5.0, 2.0])})


def test_an_id_joins_marks_of_different_processes(analyse):
    _, phases = analyse([mark("start", "p", 1.0, id="a"), mark("start", "p", 2.0, id="b"),
                         mark("stop", "p", 3.0, id="a", pid=9), mark("stop", "p", 7.0, id="b", pid=8)])
    assert sorted([phases["p"]["compute_time"]["min"], phases["p"]["compute_time"]["max"]]) == pytest.approx([2, 5])
    _, phases = analyse([mark("start", "p", 1.0), mark("stop", "p", 3.0, host="node-2"), mark("stop", "p", 4.0)])
    assert phases["p"]["compute_time"]["total"] == pytest.approx(3.0)


def test_an_open_phase_lasts_to_the_end_and_is_counted(analyse):
    facts, phases = analyse([mark("start", "p", 5.0), mark("stop", "q", 6.0)])
    assert phases["p"]["compute_time"]["total"] == pytest.approx(3.0)
    assert phases["q"]["num_calls"] == 0 and phases["q"]["compute_time"]["min"] is None
    assert (facts["open_calls"], facts["unmatched_stops"]) == (1, 1)


def test_marks_of_another_run_and_broken_lines_are_left_out(analyse):
    text = recordings.lines([mark("start", "old", -50), mark("stop", "old", -40), mark("start", "p", 1),
                             mark("stop", "p", 2)]) + 'nonsense\n{"name":"x"}\n{"timesta'
    facts, phases = analyse(text)
    assert list(phases) == ["p"] and facts["bad_marks"] == 3


def test_a_recording_without_marks_has_no_phases(run, tmp_path):
    path = recordings.write(tmp_path / "run.jsonl", recordings.eight_samples())
    answer = json.loads(run("regions", "--json", path).out)
    assert answer["code_block_results"] == [] and answer["overall"]["process_cpu_usage"]["max"] == 4.0
    assert run("regions", path, "--marks", "missing").returncode == 1


def test_other_columns(analyse):
    _, phases = analyse([mark("start", "p", 1.5), mark("stop", "p", 4.5)], "--column", "process_rss_mib")
    assert phases["p"]["resource_usage"] == {"process_rss_mib": {
        "min": 75.0, "max": 150.0, "mean": 112.5, "std": pytest.approx(statistics.pstdev([75, 112.5, 150])), "total": None}}


def test_phases_and_the_time_between_them_add_up_to_the_run(analyse):
    _, phases = analyse([mark("start", "a", 0.25), mark("stop", "a", 2.6), mark("start", "b", 2.6), mark("stop", "b", 7.99),
                         mark("start", "short", 3.2), mark("stop", "short", 3.3)])
    for measure, run_total in (("process_cpu_usage", 18.0), ("process_disk_write_bytes", 8 * 8192)):
        total = {name: one["resource_usage"][measure]["total"] for name, one in phases.items()}
        per_sec = {"process_cpu_usage": (0.5, 4.0), "process_disk_write_bytes": (8192, 8192)}[measure]
        assert total["a"] + total["b"] + 0.25 * per_sec[0] + 0.01 * per_sec[1] == pytest.approx(run_total)
        # A phase without a time stamp has its share of the sample that ends at 4 s.
        assert total["short"] == pytest.approx(0.1 * {"process_cpu_usage": 2.0, "process_disk_write_bytes": 8192}[measure])
    assert phases["short"]["num_timepoints"] == 0 and phases["short"]["resource_usage"]["process_memory_mib"]["max"] is None


def test_calls_that_run_at_the_same_time_count_their_samples_once(analyse):
    _, phases = analyse([mark("start", "p", 1.0, id="a"), mark("stop", "p", 3.0, id="a"), mark("start", "p", 2.0, id="b"),
                         mark("stop", "p", 4.0, id="b")])
    assert phases["p"]["compute_time"]["total"] == pytest.approx(4.0)
    assert phases["p"]["resource_usage"]["process_cpu_usage"]["total"] == pytest.approx(1.0 + 1.5 + 2.0)


def test_page_and_comparison_have_the_figures_of_regions(run, tmp_path):
    path = recordings.write(tmp_path / "run.jsonl", recordings.eight_samples())
    marks = [mark("start", "load", 0.5), mark("stop", "load", 2.5), mark("start", "epoch", 3.0), mark("stop", "epoch", 4.0),
             mark("start", "epoch", 5.0), mark("stop", "epoch", 6.7), mark("start", "short", 6.8), mark("stop", "short", 6.9)]
    (tmp_path / "run.jsonl.marks").write_text(recordings.lines(marks))
    regions = {one["name"]: one for one in json.loads(run("regions", "--json", path).out)["code_block_results"]}
    assert run("report", "-o", tmp_path / "page.html", path).returncode == 0
    page = {one["name"]: one for one in report_pages.data_of(tmp_path / "page.html")["runs"][0]["phases"]}
    assert set(page) == set(regions) == {"load", "epoch", "short"}
    for name, one in regions.items():
        assert page[name]["secs"] == one["compute_time"]["total"]
        usage = {measure: values for measure, values in one["resource_usage"].items() if values["max"] is not None}
        assert {measure: {key: use[key] for key in ("total", "mean", "max")} for measure, use in page[name]["use"].items()} == {
            measure: {key: values[key] for key in ("total", "mean", "max")} for measure, values in usage.items()}
    epoch = page["epoch"]["use"]["process_cpu_usage"]
    assert (epoch["least_call"], epoch["most_call"]) == pytest.approx((2.0, 3.0 + 0.7 * 3.5))
    other = recordings.write(tmp_path / "other.jsonl", recordings.eight_samples())
    (tmp_path / "other.jsonl.marks").write_text(recordings.lines(marks))
    compared = {one["name"]: one["sides"][0]["mean"] for one in json.loads(run("compare-runs", "--json", path, other).out)["phases"]}
    for name, one in regions.items():
        assert compared[f"{name}.cores_mean"] == pytest.approx(one["resource_usage"]["process_cpu_usage"]["mean"])
    table = run("regions", path).out
    assert "1 phase has no sample's time stamp" in table


def test_a_real_job(run, binary, tmp_path):
    job = f"{binary} mark work start; sleep 0.5; {binary} mark inner start; sleep 0.3; " \
          f"{binary} mark inner stop; {binary} mark work stop; sleep 0.3"
    assert run("-i", 0.1, "-o", "run.jsonl", "--", "sh", "-c", job).returncode == 0
    phases = {one["name"]: one for one in json.loads(run("regions", "--json", "run.jsonl").out)["code_block_results"]}
    assert list(phases) == ["inner", "work"]
    assert phases["work"]["num_timepoints"] > phases["inner"]["num_timepoints"] >= 2
    assert 0.8 <= phases["work"]["compute_time"]["total"] < 3


@pytest.mark.parametrize("arguments, status", [
    ([], 2), (["--tracking-file", "x"], 2), (["missing"], 1),
    (["--tracking-file", "bad", "--sub-tracking-file", "bad"], 1),
    (["--tracking-file", "bad.sqlite", "--sub-tracking-file", "bad"], 1)])
def test_bad_input_is_one_clear_line(run, tmp_path, arguments, status):
    (tmp_path / "bad").write_bytes(b"a,b\n\x00\xff,1\nc\n\"")
    database(tmp_path / "bad.sqlite", other=(["a"], [(1,)]))
    result = run("regions", *arguments)
    assert result.returncode == status and result.err and not result.out


def test_phases_are_listed_in_the_order_of_their_first_call(run, tmp_path):
    recorded = recordings.write(tmp_path / "run.jsonl", [recordings.sample(i) for i in range(11)])
    recordings.write_marks(recorded, 1_700_000_000.5, [
        ("start", "short", 1), ("stop", "short", 2), ("start", "long", 2), ("stop", "long", 9), ("start", "last", 9),
        ("stop", "last", 10), ("start", "short", 3), ("stop", "short", 4)])
    lines = run("regions", recorded).out.splitlines()
    assert [line.split()[0] for line in lines[1:4]] == ["short", "long", "last"]


def test_a_short_job_without_a_sample_of_memory_has_not_that_of_the_machine(run, tmp_path):
    path = recordings.write(tmp_path / "run.jsonl", [recordings.sample(0, cores=0.5, memory=None, start=recordings.START)])
    recordings.write_marks(path, 1_700_000_000.5, [("start", "load", 0.1), ("stop", "load", 0.9)])
    shown = run("regions", path).out
    assert "1.00 GiB" not in shown and "0.5" in shown


def test_marks_before_the_first_sample_are_told(run, binary):
    """A CSV file with one sample has no length, so a phase of the job lies before it: "no phase was marked" was false."""
    result = run("--no-summary", "-o", "x.csv", "--", "sh", "-c", '"$0" mark load; sleep 0.1', binary)
    assert result.returncode == 0
    assert "no phase lies in the time of the samples, though some were marked\n" in run("regions", "x.csv").out
