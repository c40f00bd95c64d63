"""The page of `report`: its content, and its behaviour in a real browser (tests/browser/page.mjs drives Chromium)."""
import json
import os
import pathlib
import random
import re
import resource
import sys

import pytest

sys.path.insert(0, os.path.dirname(__file__))
import recordings
from conftest import in_memory
from report_pages import HOSTILE, WHOLE, both_browsers, data_of, drive, driver, make, npm_package, unpack  # noqa: E402, F401

def test_columns_come_back_exactly(make):
    samples = recordings.eight_samples()
    columns = {one["column"]: unpack(one) for one in data_of(make(samples))["runs"][0]["columns"]}
    assert columns["elapsed_secs"] == [one["elapsed_secs"] for one in samples]
    assert columns["cpu.process_cores_used"] == [one["cpu"]["process_cores_used"] for one in samples]
    assert columns["cpu.process_memory_mib"] == [one["cpu"]["process_memory_mib"] for one in samples]
    assert columns["totals.disk_read_bytes"] == [5000] * 8
    assert "cpu.process_swap_mib" not in columns  # it is in no sample


@pytest.mark.night
@pytest.mark.plain
def test_a_page_of_many_values_has_several_samples_to_a_point(binary, tmp_path):
    """Each point is the sum of changes, the mean of shares and the largest of levels."""
    rng, count, gpus, disks = random.Random(9), 40_000, 24, 12
    pool = [json.dumps([{"uuid": f"GPU-{i}", "name": "A", "utilization_pct": round(rng.random() * 100, 1), "power_watts": round(rng.random() * 400, 1),
                         "vram_used_bytes": rng.randrange(1 << 36), "temperature_celsius": rng.randrange(30, 90)} for i in range(gpus)]) for _ in range(40)]
    more = [json.dumps([{"device": f"sd{i}", "read_bytes_per_sec": round(rng.random() * 1e8, 1), "write_bytes_per_sec": round(rng.random() * 1e8, 1)}
                        for i in range(disks)]) for _ in range(40)]
    memory = [round(rng.random() * 900, 3) for _ in range(count)]
    written = [rng.randrange(1 << 30) for _ in range(count)]
    with open(tmp_path / "many.jsonl", "w") as file:
        for i in range(count):
            file.write(f'{{"timestamp":{1_700_000_001 + i}.5,"elapsed_secs":{i + 1}.0,"actual_interval_ms":1000.0,"sample":{i},'
                       f'"cpu":{{"process_cores_used":{i % 4}.0,"process_memory_mib":{memory[i]},"process_disk_write_bytes":{written[i]}}},'
                       f'"gpu":{pool[rng.randrange(40)]},"disk":{more[rng.randrange(40)]}}}\n')
    used, status, out = in_memory(binary, "report", "-o", tmp_path / "page.html", tmp_path / "many.jsonl")
    assert status == 0 and used < 64 << 10, (used, out)
    page = data_of(tmp_path / "page.html")["runs"][0]
    step = page["samples_per_point"]
    columns = {one["column"]: unpack(one) for one in page["columns"]}
    points = [slice(at, at + step) for at in range(0, count, step)]
    assert step > 1 and len(columns["elapsed_secs"]) == len(points) and columns["elapsed_secs"][-1] == count
    assert columns["cpu.process_memory_mib"] == [max(memory[point]) for point in points]
    assert columns["cpu.process_disk_write_bytes"] == [sum(written[point]) for point in points]
    assert columns["actual_interval_ms"] == [1000.0 * len(memory[point]) for point in points]
    cores = [i % 4 for i in range(count)]
    assert columns["cpu.process_cores_used"] == pytest.approx([sum(cores[point]) / len(cores[point]) for point in points], abs=1e-4)
    assert page["summary"]["memory"]["peak_mib"] == max(memory)


def test_figures_are_those_of_summary_and_recommend(make, run, tmp_path):
    one = data_of(make(recordings.eight_samples()))["runs"][0]
    assert one["summary"] == json.loads(run("summary", "--json", tmp_path / "run0.jsonl").out)
    assert one["advice"] == json.loads(run("recommend", "--json", tmp_path / "run0.jsonl").out)


def test_page_is_small_and_asks_for_nothing(make):
    page = make(recordings.eight_samples())
    text = page.read_text()
    assert page.stat().st_size < 400 * 1024
    assert "default-src 'none'" in text and "unsafe" not in text.split("</head>")[0].split("<style>")[0]
    assert not re.search(r'(?:src|href)="(?!data:)', text)


def test_phases_of_the_job_are_in_the_page(run, binary, tmp_path):
    job = f"{binary} mark load start; sleep 0.2; {binary} mark load stop; {binary} mark 'a<b' start"
    assert run("-i", "0.05", "-o", "run.jsonl", "--report", "page.html", "--", "sh", "-c", job).returncode == 0
    (after, opened), (load, loaded) = [(one["name"], one["calls"]) for one in data_of(tmp_path / "page.html")["runs"][0]["phases"]]
    assert (after, load) == ("a<b", "load")
    assert 0.15 < loaded[0][1] - loaded[0][0] < 5 and opened[0][0] >= loaded[0][1]


@pytest.mark.parametrize("content, wanted", [("", "empty"), ("nonsense\n", "recording")])
def test_no_recording_is_one_line(run, tmp_path, content, wanted):
    (tmp_path / "bad").write_text(content)
    result = run("report", "-o", tmp_path / "page.html", tmp_path / "bad")
    assert result.returncode == 1 and result.err.count("\n") == 1 and wanted in result.err
    assert not (tmp_path / "page.html").exists()


@pytest.mark.parametrize("name, env", [("xdg-open", {}), ("my-browser", {"BROWSER": "my-browser"})])
def test_open_shows_the_page(run, helpers, tmp_path, name, env):
    """A program of that name that prints its arguments; without such a program, the page is still written."""
    recording = recordings.write(tmp_path / "run0.jsonl", recordings.eight_samples())
    folder = tmp_path / "bin"
    folder.mkdir()
    without = run("report", "-o", "page.html", "--open", recording, env={"PATH": str(folder)})
    assert without.returncode == 1 and without.err.count("\n") == 1 and "cannot be shown" in without.err
    (folder / name).write_text(f'#!/bin/sh\necho noise; echo noise >&2; echo "$#:$1" >"{tmp_path}/opened"\n')
    (folder / name).chmod(0o755)
    result = run("report", "-o", "page.html", "--open", recording, env={"PATH": str(folder), **env})
    assert (result.returncode, result.out, result.err) == (0, "", "")
    helpers.wait_until(lambda: (tmp_path / "opened").exists() and (tmp_path / "opened").read_text(), what="opener")
    assert (tmp_path / "opened").read_text() == f"1:{(tmp_path / 'page.html').resolve()}\n"
    assert run("report", "-o", "-", "--open", recording).returncode == 2


@pytest.mark.night
@pytest.mark.parametrize("job, start, title", [
    (None, {"program": "train.py", "executable": "python3"}, "train.py"),
    (None, {"program": "sh (redis)", "executable": "sh"}, "sh (redis)"),
    (None, {"executable": "make"}, "make"),
    ("align", {"program": "sh (work)", "executable": "sh", "task_name": "sample=3"}, "align sample=3"),
    (None, {"executable": None}, "run0.jsonl")])
def test_a_page_has_the_name_of_its_run(make, drive, job, start, title):
    samples = recordings.eight_samples()
    samples[0]["run_start"] = dict(recordings.START, **start)
    for one in samples:
        one["job_name"] = job
    assert drive(make(samples), "look")["title"] == f"{title} \u2013 resource-tracker"


def test_first_screen_answers(make, drive):
    seen = drive(make(recordings.eight_samples(), options=["--price", "3.6", "--integration", "Metaflow"]), "look")
    text = seen["text"].replace("\u00a0", " ")
    for answer in ["Failed with exit status 3", "Exit status 3.", "8.00 s", "12.0 s of CPU time", "$0.008", "mean 1.50",
                   "peak 256 MiB of 512 MiB", "What should the next run request?", "What was the bottleneck?", "from Metaflow", "a=b"]:
        assert answer in text, answer
    assert seen["charts"] == [f"chart-{name}" for name in ["cpu", "memory", "disk", "space", "network", "waiting", "processes"]]
    assert seen["title"].startswith("demo")


@pytest.mark.night
def test_every_text_about_the_job_is_on_the_page(make, drive):
    rows = (pathlib.Path(__file__).resolve().parents[2] / "src" / "options" / "job_settings.def").read_text()
    names = re.findall(r"^JOB_SETTING\((\w+)", rows, re.M)
    assert {"project_name", "language", "executor", "external_run_id"} <= set(names)
    samples = recordings.eight_samples()
    samples[0]["run_start"] = {**recordings.START, **{name: f"value of {name}" for name in names}}
    text = drive(make(samples), "look")["text"]
    assert [name for name in names if f"value of {name}" not in text] == []


def test_the_time_of_the_descendants_stands_beside_that_of_the_job(make, drive):
    samples = recordings.eight_samples()
    samples[-1]["run_end"] = dict(recordings.END, wall_secs=0.25, tree_wall_secs=8.0)
    assert "0.25 s, and 8.00 s with its descendants" in drive(make(samples), "look")["text"].replace("\u00a0", " ")


@pytest.mark.night
def test_waiting_threads_have_a_chart_of_their_own_beside_shares_of_time(make, drive):
    samples = recordings.eight_samples()
    for one in samples:
        one["cpu"]["process_cpu_wait_secs"] = 2.5
        one["run_end"] = one["run_end"] and {**one["run_end"], "machine_oom_kills": 32}
    seen = drive(make(samples), "look")
    assert seen["charts"].index("chart-threads-waiting") == seen["charts"].index("chart-waiting") + 1
    assert "Threads waiting for a CPU" in seen["text"]


def test_the_stack_of_states_begins_with_the_run(make, drive):
    """Each part of the stack is drawn back to the sample before it, so the first interval was empty."""
    samples = recordings.eight_samples()[:2]
    for at, one in enumerate(samples):
        one["elapsed_secs"], one["actual_interval_ms"] = 1.0 + at, 1000.0
        one["cpu"]["process_cores_used"] = 0.5
        one["waits"] = [{"class": "sleep", "target": None, "detail": None, "program": "make", "wait_secs": 0.25}]
    seen = drive(make(samples), "floor")
    assert min(seen["floor"]) > 0


def test_a_failed_program_keeps_its_name(make, drive):
    samples = recordings.eight_samples()
    samples[-1]["run_end"] = {**samples[-1]["run_end"], "first_failure": {**recordings.FIRST_FAILURE, "certainty": "sure"}}
    assert "\ncc1 was killed by SIGSEGV" in drive(make(samples), "look")["text"]


@pytest.mark.night
def test_a_job_with_gpus(make, drive, programs):
    samples = recordings.eight_samples()
    for one in samples:
        one["gpu"] = [{"uuid": f"GPU-{i}", "index": i, "utilization_pct": 95.0 - i, "vram_total_bytes": 16 << 30,
                       "process_count": 1, "process_utilization_pct": 87.5, "energy_joules": 50.0} for i in range(2)]
        one["cpu"].update(process_gpu_usage=1.75, process_gpu_vram_mib=9000.0, process_gpu_utilized=2)
        one["totals"].update(gpu_usage=1.9, gpu_vram_mib=9500.0, gpu_utilized=2)
    samples[0]["run_start"] = dict(recordings.START, gpu_names=["T4", "T4"])
    page = make(samples)
    seen = drive(page, "look")
    # Both GPUs are equally busy, and the driver tells neither power nor temperature.
    assert [f"chart-{name}" for name in ("gpu", "gpu-use", "gpus", "vram")] == [one for one in seen["charts"] if "gpu" in one or "vram" in one]
    text = seen["text"].replace("\u00a0", " ")
    for answer in ["mean 1.75, max 1.75 of 2", "peak 8.79 GiB of 32.0 GiB", "2 \u00d7 T4", "2 GPUs with 11.0 GiB",
                   "1.75 of 2 GPUs were busy on average.", "800 J", "Each GPU", "94.0 %", "Energy, J"]:
        assert answer in text, answer
    check_figures(drive(page, "figures"), [programs(0)])


@pytest.mark.night
def test_the_machine_alone(make, drive, programs):
    start = dict(recordings.START, mode="host", executable=None)
    samples = [recordings.sample(i, memory=None, tracked_pid=None, start=start if i == 0 else None) for i in range(8)]
    for one in samples:
        one["cpu"] = {"utilization_pct": 3.5, "utime_secs": 3.0, "stime_secs": 0.5}
    page = make(samples)
    text = drive(page, "look")["text"].replace("\u00a0", " ")
    for answer in ["CPU (whole machine)", "Memory (whole machine)", "Too little data for advice", "No process was tracked."]:
        assert answer in text, answer
    check_figures(drive(page, "figures"), [programs(0)])


def test_hostile_name_stays_text(make, drive):
    samples = [dict(one, job_name=HOSTILE, host=HOSTILE) for one in recordings.eight_samples()]
    samples[0]["run_start"] = dict(recordings.START, executable=HOSTILE, tags={HOSTILE: HOSTILE})
    samples[-1]["run_end"] = dict(recordings.END, evidence=HOSTILE, signals=[{"signal": HOSTILE, "elapsed_secs": 2.0}])
    seen = drive(make(samples, options=["--integration", HOSTILE]), "look")
    assert (seen["heading"], seen["images"], seen["scripts"]) == (HOSTILE, 0, 3)


@both_browsers
def test_hover_reads_all_charts(make, drive, browser):
    seen = drive(make(recordings.eight_samples()), "hover", browser)
    assert all(value.startswith("max ") for value in seen["before"])
    assert len(set(seen["pointers"])) == 1 and "translate(-10" not in seen["pointers"][0]
    # Half way is 4 s: the fourth sample, with 2 cores and 100 MiB.
    assert seen["where"].startswith("0:04")
    assert "2.00" in seen["during"] and "100 MiB" in seen["during"] and "150 MiB" in seen["during"]
    assert seen["after"] == seen["before"]


@both_browsers
def test_zoom_pan_and_reset(make, drive, browser):
    seen = drive(make(recordings.eight_samples()), "zoom", browser)
    assert seen["whole"] == seen["reset"] == WHOLE
    assert seen["dragged"] == "0:02.0 \u2013 0:06.0"
    assert seen["panned"] == "0:03.0 \u2013 0:07.0"
    assert len(set(seen["pointers"])) == 1


@both_browsers
def test_keys(make, drive, browser):
    seen = drive(make(recordings.eight_samples()), "keys", browser)
    assert seen["whole"] == seen["all"] == WHOLE
    assert seen["nearer"] == seen["earlier"] == "0:02.0 \u2013 0:06.0" and seen["later"] == "0:02.8 \u2013 0:06.8"
    assert [seen[name][:4] for name in ("first", "second", "back")] == ["0:04", "0:05", "0:04"]


@both_browsers
def test_tables_match_the_charts(make, drive, browser):
    statistics, samples = drive(make(recordings.eight_samples()), "tables", browser)["rows"]
    assert ["CPU: Job", "2.25", "0.50", "4.00", "0:08.0"] in statistics["rows"]
    assert len(samples["rows"]) == 9 and samples["rows"][1][0] == "0:01.000"


def test_looks(make, drive):
    seen = drive(make(recordings.eight_samples()), "looks")
    assert seen["light"] != seen["dark"] == seen["afterPrint"]
    assert seen["overflow"] <= 0 and seen["pdf"] > 10000
    assert seen["lines"] == {"1280": [4], "1080": [2, 2], "800": [2, 2], "500": [1, 1, 1, 1]}


@both_browsers
def test_series_can_be_hidden(make, drive, browser):
    seen = drive(make(recordings.eight_samples()), "toggle", browser)
    assert (seen["before"], seen["after"]) == ("true", "false")


@pytest.mark.night
def test_runs_side_by_side(make, drive):
    other = [dict(one, job_name="other") for one in recordings.eight_samples()[:4]]
    seen = drive(make(recordings.eight_samples(), other), "look")
    assert "demo" in seen["title"] and "other" in seen["title"]
    text = seen["text"].replace("\u00a0", " ")
    assert "No end is recorded" in text and "Failed with exit status 3" in text and "\u221250.0 %" in text


# ---- sources of the numbers ----


def written(value, digits=None):
    """Three significant digits: the form of an amount on the page and in the summary, computed independently."""
    size = abs(value)
    if size and size < 0.0005:
        return "< 0.001"
    return f"{value:.{0 if size == 0 or size >= 99.95 else 1 if size >= 9.995 else 2 if size >= 0.1 else 3}f}"


def written_bytes(value):
    units = ["B", "KiB", "MiB", "GiB", "TiB"]
    while units[1:] and abs(value) >= 1024 * 0.9995:
        value /= 1024
        units.pop(0)
    return "0" if value == 0 else f"{value:.0f} B" if units[0] == "B" else f"{written(value)} {units[0]}"


def written_secs(value):
    if value < 0.0995:
        return written(value * 1000) + " ms"
    if value < 59.95:
        return f"{value:.2f} s" if value < 9.995 else f"{value:.1f} s"
    minutes, rest = divmod(round(value), 60)
    assert minutes < 60
    return f"{minutes} min" + (f" {rest} s" if rest else "")


def expected_text(name, value, unit=None):
    """Formats a value of the JSON forms as the page does, by the unit in its name."""
    if isinstance(value, str):
        return value
    if name == "change_pct":
        return "x " + written(1 + value / 100) if value >= 900 else ("+" if value > 0 else "") + written(value) + " %"
    if name == "mean" and unit is not None:
        if unit not in ("s", "MiB", "bytes") and value == int(value):
            return f"{value:.0f}"
        return {"s": written_secs, "MiB": lambda v: written_bytes(v * 2**20), "bytes": written_bytes}.get(unit, written)(value)
    if "usd" in name:
        return "$" + (f"{value:.2f}" if value >= 1 else re.sub("0{1,4}$", "", f"{value:.6f}"))
    for suffix, writer in [("_mib", lambda v: written_bytes(v * 2**20)), ("memory", lambda v: written_bytes(v * 2**20)),
                           ("vram", lambda v: written_bytes(v * 2**20)), ("_bytes", written_bytes),
                           ("_secs", written_secs), ("_cores", written), ("_pct", lambda v: written(v) + " %"), ("_gb", written)]:
        if name.endswith(suffix):
            return writer(value)
    if name in ("mean", "max", "machine_mean", "machine_max"):
        return written(value)
    return f"{value:g}"


def check_figures(seen, answers):
    """answers: the output of the programs for each run, and for all of them."""
    assert len(seen["figures"]) >= 20
    for one in seen["figures"]:
        value, unit = answers[one["run"]], None
        for name in one["from"].split("."):
            value = value[int(name) if isinstance(value, list) else name]
            unit = value.get("unit", unit) if isinstance(value, dict) else unit
        wanted = expected_text(name, value, unit)
        assert one["text"].rstrip(".").lower() == wanted.rstrip(".").lower(), one
    # The page has no other figure.
    assert not re.search(r"\d", re.sub(r"demo|other|run\d\.jsonl", "", seen["rest"])), seen["rest"]


FORMS = ("slurm", "kubernetes", "docker", "nextflow", "snakemake", "metaflow")


@pytest.fixture
def programs(run, tmp_path):
    def ask(index, *options):
        path = tmp_path / f"run{index}.jsonl"
        return {"summary": json.loads(run("summary", "--json", path).out),
                "advice": json.loads(run("recommend", "--json", *options, path).out),
                "forms": {name: run("recommend", "--for", name, *options, path).out for name in FORMS}}

    return ask


CATALOGUE = ("vendor_id,api_reference,region_id,vcpus,memory_mib,price_usd_per_hour\n"
             "aws,small,us-east-1,4,1024,0.01\naws,big,us-east-1,8,8192,0.32\n")


def test_every_number_of_the_first_screen_is_one_of_the_programs(make, drive, programs, tmp_path):
    (tmp_path / "servers.csv").write_text(CATALOGUE)
    options = ["--catalogue", tmp_path / "servers.csv", "--instance", "aws/us-east-1/big"]
    page = make(recordings.eight_samples(), options=options)
    answers = programs(0, *options)
    check_figures(drive(page, "figures"), [{**answers, "instance": "aws/us-east-1/big"}])
    assert data_of(page)["runs"][0]["forms"] == answers["forms"] and "--mem=320M" in answers["forms"]["slurm"]
    assert answers["advice"]["server"]["api_reference"] == "small" and answers["advice"]["cost"]["saved_pct"] > 90


def test_the_caller_can_supply_a_missing_end(make, drive):
    def title(end, *options):
        samples = recordings.eight_samples()
        samples[-1]["run_end"] = end
        return drive(make(samples, options=options), "look")["text"].split("Did it work?")[1].split("\n")[2]

    stopped = dict(recordings.END, reason="tracker_stopped", exit_code=None)
    assert [title(stopped), title(stopped, "--succeeded"), title(stopped, "--failed")] == ["Ended", "Succeeded", "Failed"]
    assert title(recordings.END, "--succeeded") == "Failed with exit status 3"
    assert title(None, "--succeeded") == "Succeeded" and title(None) == "No end is recorded"


def test_earlier_runs_count_in_the_advice(make, drive, run, programs, tmp_path):
    heavy = [dict(one, cpu=dict(one["cpu"], process_memory_mib=3000.0, process_cores_used=7.25)) for one in recordings.eight_samples()]
    recordings.write(tmp_path / "heavy.jsonl", heavy)
    (tmp_path / "stats.json").write_text(run("stats", "--json", tmp_path / "heavy.jsonl").out)
    page = make(recordings.eight_samples(), options=["--history", tmp_path / "stats.json"])
    advice = json.loads(run("recommend", "--json", tmp_path / "run0.jsonl", tmp_path / "stats.json").out)
    assert data_of(page)["runs"][0]["advice"] == advice and (advice["runs"], advice["memory"]) == (2, 4560)
    seen = drive(page, "figures")
    check_figures(seen, [{**programs(0, "--history", tmp_path / "stats.json"), "advice": advice}])
    assert {"advice.runs", "advice.evidence.cpu.mean_cores"} <= {one["from"] for one in seen["figures"]}


@pytest.fixture
def sized(make, tmp_path):
    """The page of a run with an input of 400 MiB, whose job has 38 earlier runs with sizes, and 2 that were killed for lack of memory."""
    lines = [{**recordings.RUN_LINE, "id": f"run-{i}", "started": 1.7e9 + 1e5 * i, "input_bytes": 20 * (i * 17 % 50 + 1) << 20, "input_source": "option"}
             for i in range(40)]
    for i, one in enumerate(lines):
        one["memory_peak_mib"] = one["memory_needed_mib"] = 200.0 + one["input_bytes"] / 2**20 * (1 + 0.01 * (i % 7))
    for i, had in (10, 300.0), (39, 700.0):
        lines[i].update(outcome="oom", end_oom="confirmed", oom_had_mib=had, oom_next_mib=2 * had)
    (tmp_path / "lines.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))

    def page(*history, job_name="train", **start):
        samples = [dict(one, job_name=job_name) for one in recordings.eight_samples()]
        samples[0]["run_start"] = {**recordings.START, "input_bytes": 400 << 20, "input_source": "option", **start}
        return make(samples, options=["--history", *(history or [tmp_path / "lines.jsonl"])])
    return page


def test_earlier_runs_are_dots_by_the_size_of_their_input_and_the_line_is_the_advice(sized, run, tmp_path):
    sizes = data_of(sized())["runs"][0]["sizes"]
    assert (len(sizes["runs"]), sorted(had for _, had in sizes["kills"])) == (39, [300, 700])
    assert sizes["newest"] == [[400 << 20, pytest.approx(256, abs=1)]] and sizes["newest"][0] in sizes["runs"]
    assert sizes["line"][0][0] == min(size for size, _ in sizes["runs"]) and sizes["line"][-1][0] == round(1.25 * max(size for size, _ in sizes["runs"]))
    for size, usual, advised in sizes["line"][::12]:
        answer = run("recommend", "--json", tmp_path / "run0.jsonl", tmp_path / "lines.jsonl", "--input-bytes", int(size)).out
        assert json.loads(answer)["memory"] == advised > usual > 0, size


def test_the_page_tells_the_memory_that_advice_saves_on_earlier_runs(sized, drive, run, tmp_path):
    page = sized()
    told = json.loads(run("recommend", "--backtest", "--json", "--job", "train", tmp_path / "lines.jsonl").out)
    assert data_of(page)["runs"][0]["saving"] == {key: told[key] for key in ("sentence", "saved_gib_hours", "saved_usd")}
    text = drive(page, "look")["text"].replace("\u00a0", " ")
    assert "Advice on earlier runs" in text and told["sentence"] in text and "It would have saved" in text
    assert data_of(sized(job_name="other"))["runs"][0]["saving"] is None


def test_a_plot_needs_three_runs_of_different_sizes(sized, run, tmp_path):
    assert data_of(sized(job_name="other"))["runs"][0]["sizes"] is None, "no run of this job"
    same = [{**json.loads(line), "input_bytes": 400 << 20} for line in (tmp_path / "lines.jsonl").open()]
    (tmp_path / "same.jsonl").write_text("".join(json.dumps(one) + "\n" for one in same))
    assert data_of(sized(tmp_path / "same.jsonl"))["runs"][0]["sizes"] is None
    (tmp_path / "few.jsonl").write_text("".join((tmp_path / "lines.jsonl").read_text().splitlines(True)[:1]))
    assert data_of(sized(tmp_path / "few.jsonl"))["runs"][0]["sizes"] is None
    assert "sizes" not in run("recommend", "--json", tmp_path / "run0.jsonl", tmp_path / "lines.jsonl").out


@pytest.mark.night
def test_the_plot_of_sizes_fits_each_screen(sized, drive):
    page = sized()
    seen = drive(page, "sizes")
    assert {look: seen["wide"][look] for look in ("run", "newest", "kill")} == {"run": 39, "newest": 1, "kill": 2}
    for screen in ("wide", "narrow"):
        assert seen[screen]["outside"] == 0 and seen[screen]["overlapping"] == 0, (screen, seen)
    assert "39 runs, and 2 killed for lack of memory" in seen["label"]
    # The dots stand where their numbers say: a larger input is further to the right, and a larger peak is higher.
    assert seen["rightwards"] and seen["upwards"]
    assert drive(page, "looks")["overflow"] <= 0
    assert drive(page, "axe", axe=npm_package("axe-core"))["violations"] == []


def test_every_number_of_compared_runs_is_one_of_the_programs(make, drive, programs, run, tmp_path):
    other = [dict(one, job_name="other") for one in recordings.eight_samples()[:6]]
    page = make(recordings.eight_samples(), other, options=["--price", "1.5"])
    compared = json.loads(run("compare-runs", "--json", tmp_path / "run0.jsonl", tmp_path / "run1.jsonl").out)
    check_figures(drive(page, "figures"), [{**programs(i, "--price", "1.5"), "comparison": compared} for i in range(2)])
    assert data_of(page)["comparison"] == compared


@pytest.mark.night
def test_repetitions_are_one_side_with_their_noise(run, drive, tmp_path):
    words = []
    for i, side in enumerate(["old", "old", "new", "new"]):
        samples = [dict(one, cpu=dict(one["cpu"], process_memory_mib=100.0 + i)) for one in recordings.eight_samples()]
        samples[-1]["run_end"] = dict(recordings.END, utime_secs=5.0 + i, wall_secs=8.0 + 2 * (side == "new") + i / 100)
        words.append(f"{side}={recordings.write(tmp_path / f'run{i}.jsonl', samples)}")
    assert run("report", "-o", tmp_path / "page.html", *words).returncode == 0
    compared = data_of(tmp_path / "page.html")["comparison"]
    assert compared == json.loads(run("compare-runs", "--json", *words).out)
    assert [(side["name"], side["runs"]) for side in compared["sides"]] == [("old", 2), ("new", 2)]
    text = drive(tmp_path / "page.html", "look")["text"].replace("\u00a0", " ")
    assert "old (2 runs)" in text and re.search(r"\+25\.\d % \(noise 0\.\d+ %\)", text)


@pytest.mark.night
def test_runs_of_one_name_are_told_by_their_sides(run, drive, tmp_path):
    words = []
    for side, memory, source in (("run 8", 100.0, "pss"), ("run 9", 2000.0, "rss")):
        samples = recordings.eight_samples()
        for one in samples:
            one["programs"] = [{"name": "cc1", "cpu_secs": 1.0 if side == "run 8" else 0.25, "memory_mib": 1.0}]
        samples[-1]["run_end"] = dict(recordings.END, memory_peak_mib=memory, memory_peak_source=source, wall_secs=8.0 if side == "run 8" else 96.0,
                                      programs=[{"name": "cc1", "cpu_secs": 8.0 if side == "run 8" else 2.0}])
        words.append(f"{side}={recordings.write(tmp_path / f'{side[-1]}.jsonl', samples)}")
    assert run("report", "-o", tmp_path / "page.html", *words).returncode == 0
    seen = drive(tmp_path / "page.html", "look")
    text = seen["text"].replace("\u00a0", " ")
    assert seen["heading"] == "demo: run 8 / run 9" and ".jsonl" not in text.split("Phases")[0].split("Machine and job")[0].split("\nFile")[0]
    assert "x 12.0" in text and "not comparable: measured in another way" in text and "CPU time of cc1" in text
    assert run("report", "-o", tmp_path / "one.html", words[0]).returncode == 0
    assert "run 8" in drive(tmp_path / "one.html", "look")["text"].split("Did it work?")[0]


@pytest.mark.night
def test_statistics_of_the_page_are_those_of_stats(make, drive, run, tmp_path):
    table = drive(make(recordings.eight_samples()), "tables")["rows"][0]["rows"]
    stats = {}
    for label, column in [("CPU: Job", "cpu.process_cores_used"), ("CPU: Machine", "cpu.utilization_pct"),
                          ("Memory: Job", "cpu.process_memory_mib"), ("Disk space: Machine", "totals.disk_space_used_gb")]:
        answer = json.loads(run("stats", "--json", "--column", column, "--agg", "mean,min,max", tmp_path / "run0.jsonl").out)
        stats[label] = answer[column]
    for label, one in stats.items():
        row = next(row for row in table if row[0] == label)
        values = [one["mean"], one["min"], one["max"]]
        assert row[1:4] == [written_bytes(v * 2**20) if "Memory" in label else written(v) + (" GB" if "space" in label else "")
                            for v in values], label


@pytest.mark.night
def test_signals_oom_and_marks_are_lines(run, drive, tmp_path):
    samples = recordings.eight_samples()
    samples[-1]["run_end"] = dict(recordings.END, reason="oom_kill_confirmed", exit_code=None, signal=9,
                                  signals=[{"signal": "TERM", "elapsed_secs": 2.0}])
    for i, one in enumerate(samples):
        one["cgroup"]["oom_kills"] = int(i >= 5)
    path = recordings.write(tmp_path / "run0.jsonl", samples)
    began = samples[0]["timestamp"] - samples[0]["elapsed_secs"]
    recordings.write(tmp_path / "run0.jsonl.marks", [
        {"timestamp_ns": round((began + secs) * 1e9), "monotonic_ns": 0, "event": event, "name": "load", "id": None, "pid": 7,
         "host": "node-1"} for event, secs in (("start", 1.0), ("stop", 5.0))])
    assert run("report", "-o", tmp_path / "page.html", path).returncode == 0
    seen = drive(tmp_path / "page.html", "lines")

    def near(columns, secs):
        return any(abs(x - secs / 8) < 0.01 for x in columns)

    assert near(seen["bad"], 6) and near(seen["ink"], 2) and near(seen["mark"], 1) and near(seen["mark"], 5), seen
    assert not near(seen["mark"], 3) and not near(seen["bad"], 2)
    assert seen["events"] == [["0:01.000", "load: began"], ["0:02.000", "TERM: signal passed on"],
                              ["0:05.000", "load: ended"], ["0:06.000", "killed for lack of memory"]]


@pytest.mark.cost
@pytest.mark.timeout(180)
def test_many_samples(make, drive, tmp_path):
    """100,000 samples with noise in every chart; the smallest and largest values must stay."""
    count = 100_000
    samples = [recordings.sample(i, cores=(i * 7919 % 1000) / 500, memory=100 + (i * 104729 % 5000) / 50,
                                 start=recordings.START if i == 0 else None, end=recordings.END if i == count - 1 else None)
               for i in range(count)]
    # As many events as possible: a kill in every sample, and a phase in every tenth.
    for i, one in enumerate(samples):
        one["cgroup"]["oom_kills"] = i
    began = samples[0]["timestamp"] - samples[0]["elapsed_secs"]
    recordings.write(tmp_path / "run0.jsonl.marks", [
        {"timestamp_ns": round((began + i + secs) * 1e9), "monotonic_ns": 0, "event": event, "name": f"phase {i % 3}", "id": None,
         "pid": 7, "host": "node-1"} for i in range(0, count, 10) for event, secs in (("start", 1.0), ("stop", 5.0))])
    begun = resource.getrusage(resource.RUSAGE_CHILDREN)
    page = make(samples)
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert ended.ru_utime + ended.ru_stime - begun.ru_utime - begun.ru_stime < 3
    seen = drive(page, "look")
    assert page.stat().st_size < 12 << 20
    print(f"ready {seen['took']} ms after its script began, {seen['ready']} ms after navigation")
    assert seen["took"] < 1000 and seen["ready"] < 1000
