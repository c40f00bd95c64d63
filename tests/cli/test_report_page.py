"""The page of `report`: what is in it, and what it does in a real browser (tests/browser/page.mjs drives Chromium)."""
import base64
import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest

import recordings

TOP = pathlib.Path(__file__).resolve().parents[2]
PLAYWRIGHT = ("playwright-core@1.64.1",
              "BC4s8y6SEVA6Q1rSxZTto8hI1KUI3xXlHGZgvGqP4IqPdI/a6FX9H29IDNz7vKo9l21b6LfYosScPL6M3xxyDQ==")
HOSTILE = "</script><img src=x onerror=alert(1)><!--"
WHOLE = "0:00.0 \u2013 0:08.0"


@pytest.fixture(scope="session")
def playwright():
    if not shutil.which("node") or not shutil.which("chromium"):
        pytest.skip("needs node and chromium")
    found = subprocess.run([TOP / "tools" / "npm-package", *PLAYWRIGHT], capture_output=True, text=True)
    if found.returncode:
        pytest.skip(found.stderr.strip())
    return found.stdout.strip()


@pytest.fixture
def make(run, tmp_path):
    """make(samples, ..., options=[]) is the path of the page of these runs."""

    def make_page(*runs, options=()):
        paths = [recordings.write(tmp_path / f"run{i}.jsonl", samples) for i, samples in enumerate(runs)]
        result = run("report", "-o", tmp_path / "page.html", *options, *paths)
        if "without the page of reports" in result.err:
            pytest.skip(result.err.strip())
        assert (result.returncode, result.out, result.err) == (0, "", "")
        return tmp_path / "page.html"

    return make_page


@pytest.fixture
def drive(playwright, tmp_path):
    """drive(page, scenario) is what was seen; the console has stayed empty and nothing but the page was asked for."""

    def look(page, scenario):
        environment = dict(os.environ, TMPDIR=str(tmp_path), HOME=str(tmp_path))
        done = subprocess.run(["node", TOP / "tests" / "browser" / "page.mjs", playwright, shutil.which("chromium"), page,
                               scenario, *filter(None, [os.environ.get("SCREENSHOTS")])],
                              capture_output=True, text=True, env=environment, stdin=subprocess.DEVNULL)
        assert done.returncode == 0, done.stderr
        seen = json.loads(done.stdout)
        assert seen["problems"] == []
        assert [one for one in seen["requests"] if not one.startswith(("file:", "data:"))] == []
        return seen

    return look


def data_of(page):
    text = page.read_text()
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S).group(1))


def unpack(column):
    """src/report/series.h, read by somebody else."""
    packed = base64.b64decode(column["data"])
    values, at, last = [], 0, 0

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = packed[at]
            at += 1
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(packed):
        token = number()
        if token > 1:
            last += (token - 1) // 2 if token % 2 else -(token // 2)
        values += [None if token == 0 else last / 10 ** column["decimals"]] * (1 if token > 1 else number())
    return values


def test_columns_come_back_exactly(make):
    samples = recordings.eight_samples()
    columns = {one["column"]: unpack(one) for one in data_of(make(samples))["runs"][0]["columns"]}
    assert columns["elapsed_secs"] == [one["elapsed_secs"] for one in samples]
    assert columns["cpu.process_cores_used"] == [one["cpu"]["process_cores_used"] for one in samples]
    assert columns["cpu.process_memory_mib"] == [one["cpu"]["process_memory_mib"] for one in samples]
    assert columns["totals.disk_read_bytes"] == [5000] * 8
    assert "cpu.process_swap_mib" not in columns  # it is in no sample


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
    result = run("-i", "0.05", "-o", "run.jsonl", "--report", "page.html", "--", "sh", "-c", job)
    if "without the page of reports" in result.err:
        pytest.skip(result.err.strip())
    (after, opened), (load, loaded) = [(one["name"], one["calls"]) for one in data_of(tmp_path / "page.html")["runs"][0]["phases"]]
    assert (after, load) == ("a<b", "load")
    assert 0.15 < loaded[0][1] - loaded[0][0] < 5 and opened[0][0] >= loaded[0][1]


@pytest.mark.parametrize("content, wanted", [("", "empty"), ("nonsense\n", "recording")])
def test_no_recording_is_one_line(run, tmp_path, content, wanted):
    (tmp_path / "bad").write_text(content)
    result = run("report", "-o", tmp_path / "page.html", tmp_path / "bad")
    assert result.returncode == 1 and result.err.count("\n") == 1 and wanted in result.err
    assert not (tmp_path / "page.html").exists()


def test_first_screen_answers(make, drive):
    seen = drive(make(recordings.eight_samples(), options=["--price", "3.6", "--integration", "Metaflow"]), "look")
    text = seen["text"].replace("\u00a0", " ")
    for answer in ["Failed with exit status 3", "wait status: exit code 3", "8.00 s", "12.0 s of CPU time", "$0.008", "mean 1.50",
                   "peak 256 MiB of 512 MiB", "What to ask for next?", "What held it up?", "from Metaflow", "a=b"]:
        assert answer in text, answer
    assert seen["charts"] == [f"chart-{name}" for name in ["cpu", "memory", "disk", "space", "network", "waiting", "processes"]]
    assert seen["title"].startswith("demo")


def test_hostile_name_stays_text(make, drive):
    samples = [dict(one, job_name=HOSTILE, host=HOSTILE) for one in recordings.eight_samples()]
    samples[0]["run_start"] = dict(recordings.START, executable=HOSTILE, tags={HOSTILE: HOSTILE})
    samples[-1]["run_end"] = dict(recordings.END, evidence=HOSTILE, signals=[{"signal": HOSTILE, "elapsed_secs": 2.0}])
    seen = drive(make(samples, options=["--integration", HOSTILE]), "look")
    assert (seen["heading"], seen["images"], seen["scripts"]) == (HOSTILE, 0, 3)


def test_hover_reads_all_charts(make, drive):
    seen = drive(make(recordings.eight_samples()), "hover")
    assert all(value.startswith("max ") for value in seen["before"])
    assert len(set(seen["pointers"])) == 1 and "translate(-10" not in seen["pointers"][0]
    # Half way is 4 s: the fourth sample, with 2 cores and 100 MiB.
    assert seen["where"].startswith("0:04")
    assert "2.00" in seen["during"] and "100 MiB" in seen["during"] and "150 MiB" in seen["during"]
    assert seen["after"] == seen["before"]


def test_zoom_pan_and_reset(make, drive):
    seen = drive(make(recordings.eight_samples()), "zoom")
    assert seen["whole"] == seen["reset"] == WHOLE
    assert seen["dragged"] == "0:02.0 \u2013 0:06.0"
    assert seen["panned"] == "0:03.0 \u2013 0:07.0"
    assert len(set(seen["pointers"])) == 1


def test_keys(make, drive):
    seen = drive(make(recordings.eight_samples()), "keys")
    assert seen["whole"] == seen["all"] == WHOLE
    assert seen["nearer"] == seen["earlier"] == "0:02.0 \u2013 0:06.0" and seen["later"] == "0:02.8 \u2013 0:06.8"
    assert [seen[name][:4] for name in ("first", "second", "back")] == ["0:04", "0:05", "0:04"]


def test_tables_say_what_the_charts_show(make, drive):
    statistics, samples = drive(make(recordings.eight_samples()), "tables")["rows"]
    assert ["CPU: Job", "2.25", "0.50", "4.00", "0:08.0"] in statistics["rows"]
    assert len(samples["rows"]) == 9 and samples["rows"][1][0] == "0:01.000"


def test_looks(make, drive):
    seen = drive(make(recordings.eight_samples()), "looks")
    assert seen["light"] != seen["dark"] == seen["afterPrint"]
    assert seen["overflow"] <= 0 and seen["pdf"] > 10000


def test_series_can_be_hidden(make, drive):
    seen = drive(make(recordings.eight_samples()), "toggle")
    assert (seen["before"], seen["after"]) == ("true", "false")


def test_runs_side_by_side(make, drive):
    other = [dict(one, job_name="other") for one in recordings.eight_samples()[:4]]
    seen = drive(make(recordings.eight_samples(), other), "look")
    assert "demo" in seen["title"] and "other" in seen["title"]
    text = seen["text"].replace("\u00a0", " ")
    assert "No end is recorded" in text and "Failed with exit status 3" in text and "\u221250.0 %" in text


@pytest.mark.cost
@pytest.mark.timeout(180)
def test_many_samples(make, drive, tmp_path):
    """100,000 samples with noise in every chart; the smallest and largest values must stay."""
    count = 100_000
    samples = [recordings.sample(i, cores=(i * 7919 % 1000) / 500, memory=100 + (i * 104729 % 5000) / 50,
                                 start=recordings.START if i == 0 else None, end=recordings.END if i == count - 1 else None)
               for i in range(count)]
    page = make(samples)
    seen = drive(page, "look")
    assert page.stat().st_size < 12 << 20
    print(f"ready {seen['took']} ms after its script began, {seen['ready']} ms after navigation")
    assert seen["took"] < 1000
