"""Memory of recordings whose samples have different measures, of older versions, and of the Rust CLI."""
import json
import re

import pytest

import recordings
import test_report_page


def sample(number, memory, source, rss, *, pss=None, age=None, private=None, children=8, **cpu):
    one = recordings.sample(number, memory=memory, start=recordings.NO_LIMITS if number == 0 else None)
    one["cpu"].update(process_memory_source=source, process_rss_mib=rss, process_pss_mib=pss, process_private_mib=private,
                      process_child_count=children, **cpu)
    one["tracker"]["pss_age_secs"] = age
    one["limits"] = dict(recordings.LIMITS)
    return one


def write(tmp_path, samples, name="run.jsonl", **end):
    if end:
        samples[-1]["run_end"] = {**recordings.END, "exit_code": 0, "largest_process_peak_mib": 10.0, **end}
    return recordings.write(tmp_path / name, samples)


def workers(tmp_path, name="run.jsonl", **end):
    """A recording of version 0.1 of 8 workers that share 200 MiB: two samples count them in each process, then PSS."""
    samples = [sample(i, 1802.0, "rss", 1802.0) for i in range(2)] + \
              [sample(i, 200.0, "pss", 1802.0, pss=200.0, age=0.0) for i in range(2, 10)]
    return write(tmp_path, samples, name, memory_peak_mib=1802.0, memory_peak_source="rss", memory_peak_elapsed_secs=1.0, **end)


def grown(tmp_path):
    """One process that was read while it was small, and never again."""
    samples = [sample(0, 8.4, "pss", 13.0, pss=8.4, age=0.0, children=0)] + \
              [sample(i, 400.0, "rss", 413.0, pss=8.4, private=5.0, age=float(i), children=0) for i in range(1, 10)]
    return write(tmp_path, samples, memory_peak_mib=413.0, memory_peak_source="rss", memory_peak_elapsed_secs=5.0)


def rust(tmp_path, values=(200, 211, 211, 205, 211, 211, 210, 211)):
    """A recording of the Rust CLI: integers, and process_pss_mib is the only memory of the job besides RSS."""
    lines = [json.dumps({"timestamp_secs": 1_700_000_000 + i, "actual_interval_ms": 1000, "job_name": None, "tracked_pid": 42,
                         "cpu": {"utilization_pct": 1.5, "utime_secs": 1.0, "stime_secs": 0.5, "process_count": 90,
                                 "process_cores_used": 1.0, "process_child_count": 3, "process_utime_secs": 1.0,
                                 "process_stime_secs": 0.0, "process_pss_mib": pss, "process_rss_mib": 2 * pss},
                         "memory": {"total_mib": 4096, "used_mib": 1024}, "network": [], "disk": [], "gpu": []})
             for i, pss in enumerate(values)]
    path = tmp_path / "rust.jsonl"
    path.write_text("\n".join(lines) + "\n")
    return path


def figures(run, path):
    done = run("summary", "--json", path)
    assert done.returncode == 0, done.err
    return json.loads(done.out)["memory"]


def text(run, *arguments, status=0):
    done = run(*arguments)
    assert done.returncode == status, (done.returncode, done.out, done.err)
    return done.out + done.err


def test_a_better_reading_of_the_same_memory_disproves_the_peak(run, tmp_path):
    path = workers(tmp_path)
    memory = figures(run, path)
    assert (memory["peak_mib"], memory["peak_source"], memory["sampled_max_mib"]) == (200.0, "pss", 200.0)
    assert memory["mean_mib"] == 200.0 and memory["disproved_samples"] == 2
    assert memory["sources"] == "pss" and memory["mixed_sources"] is False
    said = text(run, "summary", path)
    assert "left out: 2 samples of up to 1.76 GiB, which counted shared pages in each process" in said
    assert json.loads(text(run, "recommend", "--json", "--force", path))["memory"] == 240


def test_the_largest_process_competes_with_the_remaining_samples(run, tmp_path):
    memory = figures(run, workers(tmp_path, largest_process_peak_mib=230.0))
    assert (memory["peak_mib"], memory["peak_source"]) == (230.0, "largest_process")


def test_a_better_reading_of_less_memory_disproves_nothing(run, tmp_path):
    samples = [sample(0, 1802.0, "rss", 1802.0)] + [sample(i, 50.0, "pss", 60.0, pss=50.0, age=0.0) for i in range(1, 9)]
    memory = figures(run, write(tmp_path, samples, memory_peak_mib=1802.0, memory_peak_source="rss"))
    assert memory["peak_mib"] == 1802.0 and memory["disproved_samples"] == 0
    assert memory["sources"] == "pss, rss" and memory["mixed_sources"] is True


def test_a_mean_of_two_measures_says_so(run, tmp_path):
    path = grown(tmp_path)
    memory = figures(run, path)
    assert memory["peak_mib"] == 413.0 and memory["mixed_sources"] is True
    assert "the mean mixes samples that count differently (pss, rss)" in text(run, "summary", path)


@pytest.mark.parametrize("source", ["pss", "sampled", "cgroup"])
def test_sources_that_count_alike_are_one_measure(run, tmp_path, source):
    samples = [sample(i, 100.0, source if i % 2 else "pss", 150.0, pss=100.0, age=0.0) for i in range(8)]
    path = write(tmp_path, samples, memory_peak_mib=100.0, memory_peak_source=source)
    assert figures(run, path)["mixed_sources"] is False
    assert "mixes" not in text(run, "summary", path)


def test_an_old_proportional_set_is_absent(run, tmp_path):
    path = grown(tmp_path)
    memory = figures(run, path)
    assert memory["pss_max_mib"] == 8.4
    rows = text(run, "show", path, "--csv=plain", "--column", "cpu.process_pss_mib,cpu.process_private_mib,cpu.process_memory_mib").split()
    assert rows[1].startswith("8.4,") and all(row.startswith(",") and row.endswith("400.0") for row in rows[2:]), rows


def test_the_report_ends_a_line_where_nothing_is_known(run, tmp_path):
    """An old proportional set is a gap in the chart, and so is the memory of a job that has ended."""
    path = grown(tmp_path)
    samples = [json.loads(line) for line in path.read_text().splitlines()] + [sample(10, None, None, None)]
    assert run("report", recordings.write(path, samples), "-o", tmp_path / "page.html").returncode == 0
    columns = {column["column"]: column for column in test_report_page.data_of(tmp_path / "page.html")["runs"][0]["columns"]}
    assert test_report_page.unpack(columns["cpu.process_pss_mib"]) == [8.4] + [None] * 10
    assert test_report_page.unpack(columns["cpu.process_memory_mib"]) == [8.4] + [400.0] * 9 + [None]


def test_a_set_of_ten_seconds_ago_is_the_oldest_that_counts(run, tmp_path):
    samples = [sample(i, 100.0, "pss", 150.0, pss=99.0, age=age) for i, age in enumerate([0.0, 4.0, 10.0, 10.5, 60.0])]
    rows = text(run, "show", write(tmp_path, samples), "--csv=plain", "--column", "cpu.process_pss_mib,sample").split()
    assert rows[1:] == ["99.0,0", "99.0,1", "99.0,2", ",3", ",4"]


def test_a_recording_of_the_rust_cli_gives_its_memory(run, tmp_path):
    path = rust(tmp_path)
    memory = figures(run, path)
    assert (memory["peak_mib"], memory["peak_source"], memory["sources"]) == (211.0, "pss", "pss")
    assert "peak 211 MiB" in text(run, "summary", path)
    assert json.loads(text(run, "recommend", "--json", "--force", path))["memory"] == 256
    stats = json.loads(text(run, "stats", "--json", path))
    assert stats["process_memory_mib"]["max"] == 211.0
    for name in ("out.csv", "out.jsonl"):
        assert run("export", path, "-o", tmp_path / name).returncode == 0
    assert ",211," in (tmp_path / "out.csv").read_text()
    assert figures(run, tmp_path / "out.csv")["peak_mib"] == 211.0
    assert figures(run, tmp_path / "out.jsonl")["peak_mib"] == 211.0
    assert run("report", path, "-o", tmp_path / "page.html").returncode == 0
    assert '"peak_mib":211.0' in (tmp_path / "page.html").read_text()


def test_other_subcommands_have_the_memory_of_the_rust_cli(run, tmp_path):
    path = rust(tmp_path)
    other = tmp_path / "other.jsonl"
    other.write_text(path.read_text().replace('"process_pss_mib": 211', '"process_pss_mib": 300'))
    assert "211 MiB" in text(run, "show", path)
    assert "+42.2 %" in text(run, "compare-runs", path, other)
    lines = tmp_path / "lines.jsonl"
    assert run("runs", "add", path, "--runs", lines).returncode == 0
    assert json.loads(lines.read_text())["memory_peak_mib"] == 211.0
    for name, told in (("gpu_tracker", "0.221249536"), ("openmetrics", "221249536.0"), ("influx", "221249536")):
        assert run("export", path, "--format", name, "-o", tmp_path / name).returncode == 0
        assert told in (tmp_path / name).read_text(), name


def test_a_zero_of_the_rust_cli_is_unknown(run, tmp_path):
    """The Rust CLI writes 0 for a process that has ended, or that it may not read."""
    memory = figures(run, rust(tmp_path, [200, 200, 200, 0, 0, 0]))
    assert memory["peak_mib"] == 200.0 and memory["mean_mib"] == 200.0


def test_samples_without_memory_are_not_averaged(run, tmp_path):
    samples = [sample(i, 100.0, "pss", 150.0, pss=100.0, age=0.0) for i in range(4)] + [sample(4, None, None, None)]
    memory = figures(run, write(tmp_path, samples))
    assert memory["mean_mib"] == 100.0 and memory["peak_mib"] == 100.0


def test_memory_of_a_small_job_in_csv_is_not_0(run, tmp_path):
    path = write(tmp_path, [sample(i, 0.3, "pss", 1.5, pss=0.3, age=0.0) for i in range(4)])
    assert run("export", path, "-o", tmp_path / "small.csv").returncode == 0
    said = text(run, "summary", tmp_path / "small.csv")
    assert "peak below 1 MiB" in said and "peak 0" not in said and "mean 0 B" not in said
    assert "after" not in said and "0 to 0" not in said


def sides(tmp_path):
    """The same job, with shared pages counted in each process and counted once."""
    each = write(tmp_path, [sample(i, 900.0, "rss", 900.0) for i in range(6)], "each.jsonl",
                 memory_peak_mib=900.0, memory_peak_source="rss")
    once = write(tmp_path, [sample(i, 200.0, "pss", 900.0, pss=200.0, age=0.0) for i in range(6)], "once.jsonl",
                 memory_peak_mib=200.0, memory_peak_source="pss")
    return once, each


def test_peaks_of_different_measures_are_not_compared_silently(run, tmp_path):
    once, each = sides(tmp_path)
    said = text(run, "compare-runs", once, each)
    assert f"memory peak was measured in different ways: {once.name} counts shared pages once, {each.name} counts shared pages in each process" in said
    assert [line.split("  ")[-1].strip() for line in said.splitlines() if line.startswith("memory ")][:2] == ["not comparable"] * 2
    metrics = {metric["name"]: metric["sides"] for metric in json.loads(text(run, "compare-runs", "--json", once, each))["metrics"]}
    assert [side["counts"] for side in metrics["memory_peak"]] == ["shared pages once", "shared pages in each process"]
    assert [side["comparable"] for side in metrics["memory_mean"]] == [True, False]
    assert "counts" not in metrics["wall_time"][0]


def test_a_gate_does_not_judge_peaks_of_different_measures(run, tmp_path):
    once, each = sides(tmp_path)
    said = text(run, "compare-runs", "--fail-if", "memory_peak>+10%", once, each, status=1)
    assert "memory_peak>+10%: memory_peak was measured in different ways" in said
    # A bound without a percent sign checks each side alone.
    text(run, "compare-runs", "--fail-if", "memory_peak>500", once, each, status=3)
    text(run, "compare-runs", "--fail-if", "wall_time>+10%", once, each)


def test_peaks_of_one_measure_are_compared(run, tmp_path):
    once, _ = sides(tmp_path)
    sampled = write(tmp_path, [sample(i, 300.0, "sampled", 900.0, pss=None) for i in range(6)], "sampled.jsonl",
                    memory_peak_mib=300.0, memory_peak_source="largest_process")
    said = text(run, "compare-runs", "--fail-if", "memory_peak>+10%", once, sampled, status=3)
    assert "different ways" not in said


@pytest.mark.parametrize("source", ["pss", "sampled"])
def test_gpu_tracker_counts_shared_pages_of_descendants_once(run, tmp_path, source):
    """300 MiB of the root that 8 children only read, and 2 MiB private to each child."""
    path = write(tmp_path, [sample(i, 318.0, source, 2718.0, pss=318.0, age=0.0, private=17.0, process_main_rss_mib=301.0,
                                   process_main_private_mib=1.0) for i in range(6)])
    tree = json.loads(text(run, "summary", "--layout", "gpu_tracker", "--json", "--ram-unit", "megabytes", path))["max_ram"]
    scale = 1.048576

    def near(total, private, shared):
        return {"total_rss": pytest.approx(total * scale), "private_rss": pytest.approx(private * scale),
                "shared_rss": pytest.approx(shared * scale)}

    assert tree["main"] == near(301, 1, 300)
    assert tree["descendants"] == near(317, 16, 301)
    assert tree["combined"] == near(318, 17, 301)
    assert run("export", path, "-o", tmp_path / "tracking.csv", "--format", "gpu_tracker", "--ram-unit", "megabytes").returncode == 0
    names, row = [line.split(",") for line in (tmp_path / "tracking.csv").read_text().splitlines()[2:4]]
    told = dict(zip(names, row))
    assert [round(float(told[name + "_ram"]) / scale, 3) for name in ("main", "descendants", "combined")] == [301, 317, 318]


def test_gpu_tracker_without_a_figure_that_counts_once(run, tmp_path):
    path = write(tmp_path, [sample(i, 2718.0, "rss", 2718.0, process_main_rss_mib=301.0, process_main_private_mib=None) for i in range(6)])
    tree = json.loads(text(run, "summary", "--layout", "gpu_tracker", "--json", "--ram-unit", "megabytes", path))["max_ram"]
    assert tree["descendants"] == {"total_rss": pytest.approx(2417 * 1.048576), "private_rss": None, "shared_rss": None}


def with_a_peak_between_samples(tmp_path, name="run.jsonl"):
    """The samples have at most 249 MiB (RSS: 727), the largest process had 325, and 329 may have been there at once."""
    samples = [sample(i, 200.0 + 7 * i, "pss", 727.0, pss=200.0 + 7 * i, age=0.0) for i in range(8)]
    return write(tmp_path, samples, name, memory_peak_mib=325.0, memory_peak_source="largest_process", memory_peak_elapsed_secs=None,
                 largest_process_peak_mib=325.0, memory_peak_between_mib=329.0)


def test_a_run_has_one_peak_on_every_surface(run, tmp_path):
    path, other = with_a_peak_between_samples(tmp_path), with_a_peak_between_samples(tmp_path, "other.jsonl")
    recordings.write_marks(path, 1_700_000_000.5, [("start", "p", 1.0), ("stop", "p", 6.0)])
    said = {name: text(run, *words) for name, words in {
        "summary": ["summary", path], "recommend": ["recommend", path], "regions": ["regions", path],
        "compare-runs": ["compare-runs", path, other]}.items()}
    for name, one in said.items():
        assert "325 MiB" in one, name
        assert set(re.findall(r"\bpeak (?:of )?([\d.]+ [KMG]iB)", one)) <= {"325 MiB"}, one
    assert "the largest sample of all is 249 MiB" in said["summary"] and "329" not in said["recommend"]
    assert "largest sample" in said["regions"] and "the run's memory peak of 325 MiB is above the largest sample" in said["regions"]
    assert json.loads(text(run, "recommend", "--json", path))["evidence"]["memory"]["peak_mib"] == 325.0
    assert json.loads(text(run, "runs", "add", path))["memory_peak_mib"] == 325.0


def test_the_measure_is_told_where_another_gives_another_figure(run, tmp_path):
    """A pool whose processes share most of their memory looks larger in other tools."""
    shared = write(tmp_path, [sample(i, 200.0, "pss", 727.0, pss=200.0, age=0.0) for i in range(4)])
    assert "the peak counts shared pages once; RSS counts them in each process: 727 MiB" in text(run, "summary", shared)
    alone = write(tmp_path, [sample(i, 200.0, "pss", 205.0, pss=200.0, age=0.0) for i in range(4)])
    assert "the peak" not in text(run, "summary", alone)
