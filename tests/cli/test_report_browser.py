"""The page of `report`: its charts and controls, in Chromium and Firefox (tests/browser/page.mjs drives them)."""
import base64
import os
import re
import shutil
import subprocess
import sys

import pytest

sys.path.insert(0, os.path.dirname(__file__))
import recordings
import report_pages
from report_pages import WHOLE, both_browsers, data_of, drive, driver, make, npm_package, unpack  # noqa: E402, F401

# The browsers look at pages, which are the same from every build. The row `browsers` of .ci/run has these tests of both browsers.
pytestmark = [pytest.mark.plain, pytest.mark.night]


# ---- phases, rows, gaps, comparison ----


@pytest.fixture
def marked(run, tmp_path):
    """The page of eight samples with phases: load 0.5 to 2.5 s, then epoch twice, 3 to 4 s and 5 to 7 s."""
    samples = recordings.eight_samples()
    path = recordings.write(tmp_path / "run0.jsonl", samples)
    began = samples[0]["timestamp"] - samples[0]["elapsed_secs"]
    recordings.write(tmp_path / "run0.jsonl.marks", [
        {"timestamp_ns": round((began + secs) * 1e9), "monotonic_ns": 0, "event": event, "name": name, "id": None, "pid": 7,
         "host": "node-1"} for name, start, stop in (("load", 0.5, 2.5), ("epoch", 3.0, 4.0), ("epoch", 5.0, 7.0))
        for event, secs in (("start", start), ("stop", stop))])
    result = run("report", "-o", tmp_path / "page.html", path)
    assert result.returncode == 0, result.err
    return tmp_path / "page.html"


@both_browsers
def test_phases_have_a_bar_and_a_table(marked, drive, browser):
    """Sample i has 0.5 (i + 1) cores over the second that ends at i + 1, and 25 (i + 1) MiB at that moment."""
    seen = drive(marked, "phases", browser)
    assert seen["heads"][6:8] == ["Read from storage", "Written to storage"]
    load, epoch = [[cell.split("\n") for cell in row] for row in seen["rows"]]
    assert load == [["load"], ["1"], ["2.00 s"], ["2.00 s"], ["1.00"], ["50.0 MiB"], ["8.00 KiB"], ["16.0 KiB"]]
    # The calls used 2.0 s, and 3.0 + 3.5 s of CPU time; the samples within them had 100 and 175 MiB.
    assert epoch == [["epoch"], ["2"], ["3.00 s", "1.00 s \u2013 2.00 s each"], ["8.50 s", "2.00 s \u2013 6.50 s each"], ["2.83"],
                     ["175 MiB", "100 MiB \u2013 175 MiB each"], ["12.0 KiB", "4.00 KiB \u2013 8.00 KiB each"],
                     ["24.0 KiB", "8.00 KiB \u2013 16.0 KiB each"]]
    # The bar has the same axis as the charts: load, epoch, epoch, and nothing in the last second.
    assert len(set(seen["bar"])) == 3 and seen["bar"][1] == seen["bar"][2]
    # The name of a phase shows its time.
    assert seen["where"] == "0:00.5 \u2013 0:02.5"


def test_the_caption_of_a_wide_table_stays_within_a_narrow_page(marked, drive):
    seen = drive(marked, "looks")
    assert seen["captions"] and max(seen["captions"]) <= 390


def everything_marked(run, tmp_path):
    """A page with phases, programs and long advice. The first program did nearly all, and the kernel cut a name."""
    samples = recordings.eight_samples()
    names = ["python3 train.py", "bash", "readlink", "basename", "resource-tracke", "env"]
    for one in samples:
        one["programs"] = [{"name": name, "cpu_secs": 1.0 if i == 0 else 0.001, "memory_mib": 64.0} for i, name in enumerate(names)]
    samples[-1]["run_end"] = dict(recordings.END, programs=[
        {"name": name, "cpu_secs": 8.0 if i == 0 else 0.0014, "cpu_estimated_secs": 0.0001, "memory_peak_mib": 64.0, "disk_read_bytes": 4096,
         "disk_read_estimated_bytes": 2, "disk_write_bytes": 0, "disk_write_estimated_bytes": 0, "process_count": 3} for i, name in enumerate(names)])
    path = recordings.write(tmp_path / "run0.jsonl", samples)
    recordings.write_marks(path, samples[0]["timestamp"] - samples[0]["elapsed_secs"], [
        ("start", "load", 0.5), ("stop", "load", 2.5), ("start", "epoch", 3.0), ("stop", "epoch", 7.0)])
    assert run("report", "-o", tmp_path / "page.html", path).returncode == 0
    return tmp_path / "page.html"


def test_charts_begin_in_the_first_screen_and_no_table_is_cut(run, tmp_path, drive):
    """The first chart once began at 1,730 pixels, and tables lost columns on a page of 500 pixels."""
    seen = drive(everything_marked(run, tmp_path), "fit")
    assert seen["chart"] < 780 and seen["wide"] == [] and seen["narrow"] == [], seen
    assert seen["labels"][0].startswith('"Calls') or "Calls" in seen["labels"][0], seen["labels"]


def test_small_programs_are_folded_and_a_cut_name_says_so(run, tmp_path, drive):
    page = everything_marked(run, tmp_path)
    large, small = [one["rows"] for one in drive(page, "tables")["rows"] if one["rows"][0][0] == "Program"]
    assert [row[0] for row in large[1:]] == ["python3 train.py"] and len(small) == 6
    assert "resource-tracke\u2026" in [row[0] for row in small]
    # An estimate of less than 1 % of its figure has no line.
    assert "estimated" not in "".join(large[1] + [cell for row in small for cell in row[3:]])


def test_a_page_takes_few_sheets(run, tmp_path, drive):
    if not shutil.which("pdfinfo"):
        pytest.skip("needs pdfinfo")
    (tmp_path / "page.pdf").write_bytes(base64.b64decode(drive(everything_marked(run, tmp_path), "paper")["pdf"]))
    info = subprocess.run(["pdfinfo", tmp_path / "page.pdf"], capture_output=True, text=True, check=True).stdout
    assert int(re.search(r"Pages:\s+(\d+)", info)[1]) <= 3
    text = subprocess.run(["pdftotext", "-l", "1", "-layout", tmp_path / "page.pdf", "-"], capture_output=True, text=True, check=True).stdout
    assert "CPU by program" in text, "the charts begin on the first sheet"


def test_colours_of_programs_are_far_apart():
    """Two programs once shared one blue."""
    css = (report_pages.TOP / "src" / "report" / "page" / "page.css").read_text()
    themes = re.findall(r"--c0: .*--c7: #\w{6}", css)
    assert len(themes) == 3
    for theme in themes:
        colours = [tuple(int(text[i:i + 2], 16) for i in (0, 2, 4)) for text in re.findall(r"--c\d: #(\w{6})", theme)]
        assert len(colours) == 8
        for i, one in enumerate(colours):
            for other in colours[:i]:
                assert distance(one, other) > 95, (one, other)


def distance(one, other):
    """The "redmean" distance, which follows the eye better than that of plain numbers."""
    mean = (one[0] + other[0]) / 2
    red, green, blue = ((a - b) ** 2 for a, b in zip(one, other))
    return ((2 + mean / 256) * red + 4 * green + (2 + (255 - mean) / 256) * blue) ** 0.5


def test_a_page_without_phases_has_no_bar_and_no_empty_list(make, drive):
    seen = drive(make(recordings.eight_samples()), "look")
    assert "chart-phases" not in seen["charts"] and seen["empty"] == []


def gpu(number, i, **more):
    return {"uuid": f"GPU-{number}", "index": number, "name": "T4", "utilization_pct": 10.0 * number + i, "vram_total_bytes": 16 << 30,
            "vram_used_bytes": (1 + number) << 30, "power_watts": 50.0, "temperature_celsius": 40 + number, "sm_active_pct": 5.0 * number, "age_secs": 0.1, **more}


def test_each_gpu_has_lines_until_its_values_are_too_old(make, drive):
    samples = recordings.eight_samples()
    for i, one in enumerate(samples):
        one["gpu"] = [gpu(0, i), gpu(1, i, age_secs=0.1 if i < 4 else 60.0)] + ([gpu(2, i)] if i >= 4 else [])
    page = make(samples)
    (rows,) = [one for one in data_of(page)["runs"][0]["rows"] if one["rows"] == "gpu"]
    columns = {one["name"]: {column["column"]: unpack(column) for column in one["columns"]} for one in rows["instances"]}
    assert columns["GPU-1"]["gpu.utilization_pct"] == [10.0 + i for i in range(8)]
    assert columns["GPU-2"]["gpu.vram_used_bytes"] == [None] * 4 + [3 << 30] * 4  # it came later
    seen = drive(page, "look")
    assert {f"chart-gpu-{name}" for name in ("use", "sm", "memory", "power", "temperature")} <= set(seen["charts"])
    assert "chart-gpu-tensor" not in seen["charts"]
    drawn = {name: drive(page, "drawn", chart="gpu-temperature", colour=name)["full"] for name in ("c0", "c1", "c2")}
    # The values at 5 s are a minute old; the third GPU begins there.
    assert max(drawn["c0"]) > 0.97 and 0.45 < max(drawn["c1"]) < 0.53 and 0.6 < min(drawn["c2"]) < 0.65


def test_a_stack_has_the_largest_rows_and_the_sum_of_all_others(make, drive):
    """Twelve GPUs with 1, 2, ... 12 GiB in use: the largest eight, and 1 + 2 + 3 + 4 GiB."""
    samples = recordings.eight_samples()
    for i, one in enumerate(samples):
        one["gpu"] = [gpu(number, i) for number in range(12)]
    page = make(samples)
    rows = [row for row in drive(page, "tables")["rows"][0]["rows"] if row[0].startswith("Memory of each GPU")]
    assert [(row[0].split(": ")[1], row[3]) for row in rows] == [(f"GPU {i}", f"{i + 1}.0 GiB" if i > 8 else f"{i + 1}.00 GiB")
                                                                 for i in range(11, 3, -1)] + [("others", "10.0 GiB")]
    # The areas reach from the bottom to the top of the stack: each colour is somewhere, above the ones before it.
    assert all(len(drive(page, "drawn", chart="gpu-memory", colour=f"c{i}")["full"]) > 500 for i in (0, 4, 7))


@pytest.mark.parametrize("peak, source, at, is_line", [
    (175.0, "pss", 7.0, False), (325.0, "largest_process", None, True), (200.0, "pss", 6.5, True)])
def test_a_peak_that_no_sample_reaches_is_a_line_at_its_height(make, drive, peak, source, at, is_line):
    """A dot floated above the line of the samples. Their line ends at 7 of 8 seconds; that of a peak goes to the edge."""
    samples = recordings.eight_samples()
    samples[-1]["run_end"] = dict(recordings.END, memory_peak_mib=peak, memory_peak_source=source, memory_peak_elapsed_secs=at)
    full = drive(make(samples), "drawn", chart="memory", colour="job")["full"]
    assert (max(full) > 0.97) == is_line and max(full) > 0.85


def test_no_two_areas_of_a_stack_share_a_colour(make, drive):
    """The ninth of nine once had the colour of the first."""
    samples = recordings.eight_samples()
    for i, one in enumerate(samples):
        one["gpu"] = [gpu(number, i) for number in range(9)]
    colours = [colour for chart, colour in drive(make(samples), "fit")["colours"] if chart == "chart-gpu-memory"]
    assert len(colours) == len(set(colours)) == 9, colours


def test_sockets_have_a_chart_where_their_power_is_known(make, drive):
    samples = recordings.eight_samples()
    for one in samples:
        one["energy"] = [{"zone": "package-0", "power_watts": 35.5}, {"zone": "package-1", "power_watts": 12.0}]
    page = make(samples)
    assert "chart-energy" in drive(page, "look")["charts"]
    rows = drive(page, "tables")["rows"][0]["rows"]
    assert ["Power of the CPUs: package-1", "12.0 W", "12.0 W", "12.0 W", "0:01.0"] in rows


def test_programs_are_areas_and_a_table(make, drive):
    """cc1 uses 3 of 4 seconds of CPU time, in 7 of 8 samples."""
    samples = recordings.eight_samples()
    for i, one in enumerate(samples):
        one["programs"] = [{"name": "cc1", "cpu_secs": 0.75, "memory_mib": 64.0}] * (i < 7) + [{"name": "<b>sh</b>", "cpu_secs": 0.25, "memory_mib": 1.0}]
    samples[-1]["run_end"] = dict(recordings.END, programs=[
        {"name": name, "cpu_secs": cpu, "cpu_estimated_secs": cpu / 10, "memory_peak_mib": peak, "disk_read_bytes": 4096,
         "disk_read_estimated_bytes": 1024, "disk_write_bytes": 0, "disk_write_estimated_bytes": 0, "process_count": 3}
        for name, cpu, peak in (("cc1", 3.0, 64.0), ("<b>sh</b>", 1.0, 1.0))])
    page = make(samples)
    assert {"table-programs", "chart-programs-cpu", "chart-programs-memory"} <= set(drive(page, "look")["charts"])
    programs, statistics = drive(page, "tables")["rows"][:2]
    assert programs["rows"][0][4:6] == ["Read from storage", "Written to storage"]
    assert programs["rows"][1] == ["cc1", "3.00 s0.30 s estimated", "75.0 %", "64.0 MiB", "4.00 KiB1.00 KiB estimated", "0", "3"]
    assert ["CPU by program: cc1", "0.75", "0.75", "0.75", "0:01.0"] in statistics["rows"]
    assert programs["rows"][2][0] == "<b>sh</b>"
    # cc1 has the same colour in both charts, and fills almost all of the memory.
    assert all(len(drive(page, "drawn", chart=f"programs-{name}", colour="c0")["full"]) > 500 for name in ("cpu", "memory"))


def test_the_job_s_time_is_a_stack_of_its_states(make, drive):
    """A socket for 1.5 s is named by one sample: the half second before it belongs to the sample before, whose job ran for 0.25 s."""
    samples = recordings.eight_samples()
    for one in samples:
        one["cpu"].update(process_cores_used=0.25, process_cpu_wait_secs=0.25)
    assert "chart-states" not in drive(make(samples), "look")["charts"]
    for number, kind, secs in ((1, "sleep", 0.5), (3, "socket", 1.5), (6, "storage", 0.5), (7, "storage", 0.5)):
        samples[number]["waits"] = [{"class": kind, "target": None, "program": "a", "wait_secs": secs}]
    samples[3]["cpu"].update(process_cores_used=0.0, process_cpu_wait_secs=0.0)
    # Two threads that run share what no wait has.
    samples[7]["cpu"].update(process_cores_used=1.5, process_cpu_wait_secs=0.5)
    page = make(samples)
    seen = drive(page, "look")
    assert seen["charts"][0] == "chart-states" and "no look could name the wait" in seen["text"]
    rows = {row[0].split(": ")[1]: row[1:] for row in drive(page, "tables")["rows"][0]["rows"] if row[0].startswith("What the job did")}
    # Mean, smallest and largest.
    assert rows == {
        "running": ["23.4 %", "0 %", "37.5 %", "0:08.0"], "waiting for a CPU": ["20.3 %", "0 %", "25.0 %", "0:01.0"],
        "socket": ["18.8 %", "0 %", "100 %", "0:04.0"], "storage": ["12.5 %", "0 %", "50.0 %", "0:07.0"],
        "timer (sleep)": ["6.25 %", "0 %", "50.0 %", "0:02.0"]}, rows


def test_disks_are_lines_of_their_own_if_several_are_busy(make, drive):
    samples = recordings.eight_samples()
    assert "chart-disks" not in drive(make(samples), "look")["charts"]
    for i, one in enumerate(samples):
        one["disk"] = [{"device": name, "read_bytes_per_sec": 1000.0 * i, "write_bytes_per_sec": 500.0} for name in ("sda", "sdb", "loop0")]
        one["disk"][2].update(read_bytes_per_sec=0.0, write_bytes_per_sec=0.0)
    page = make(samples)
    assert "chart-disks" in drive(page, "look")["charts"]
    statistics = drive(page, "tables")["rows"][0]["rows"]
    assert ["Disk by device: sda", "3.91 KiB/s", "500 B/s", "7.32 KiB/s", "0:08.0"] in statistics
    assert not any("loop0" in row[0] for row in statistics)


def test_a_line_ends_where_samples_are_missing(make, drive):
    samples = [recordings.sample(i, start=recordings.START if i == 0 else None) for i in range(100) if not 40 <= i < 60]
    seen = drive(make(samples), "drawn", chart="cpu", colour="job")
    assert min(seen["full"]) < 0.02 and max(seen["full"]) > 0.98
    assert not [x for x in seen["full"] if 0.42 < x < 0.58]


def test_many_samples_are_a_mean_in_a_pale_band(make, drive):
    """Values jump between 0 and 4 cores; the mean is 2 and has no fill."""
    samples = [recordings.sample(i, cores=4.0 * (i % 2), start=recordings.START if i == 0 else None) for i in range(6000)]
    seen = drive(make(samples), "drawn", chart="cpu", colour="job")
    assert len(seen["pale"]) > 500
    few = drive(make(samples[:100]), "drawn", chart="cpu", colour="job")
    assert len(few["full"]) > 500


@both_browsers
def test_runs_lie_over_each_other(make, drive, browser):
    other = [dict(one) for one in recordings.eight_samples()]
    other[-1]["run_end"] = dict(recordings.END, wall_secs=16.0)
    for one in other:
        one["elapsed_secs"] *= 2
    seen = drive(make(recordings.eight_samples(), other), "overlay", browser)
    assert seen["labels"] == ["run0.jsonl", "run1.jsonl"] and (seen["plots"], seen["beside"]) == (1, 2)
    assert "run1.jsonl is 100 % slower than run0.jsonl" in seen["verdict"] and "bad" in seen["mood"] and seen["worse"] > 0
    assert seen["hash"] == "#side=1"


# ---- the browser: keyboard, readers, addresses, files, paper ----


def everything(make):
    """Runs that show each part of the page."""
    samples = recordings.eight_samples()
    samples[0]["run_start"] = dict(recordings.START, gpu_names=["T4", "T4"], command='["make", "-j2"]')
    for i, one in enumerate(samples):
        one["gpu"] = [gpu(0, i), gpu(1, i)]
    samples[-1]["run_end"] = dict(recordings.END, signals=[{"signal": "TERM", "elapsed_secs": 2.0}])
    return make(samples)


@both_browsers
def test_axe_finds_no_violation(make, marked, drive, browser):
    axe = npm_package("axe-core")
    pages = [marked, everything(make), make(recordings.eight_samples(), [dict(one, job_name="other") for one in recordings.eight_samples()])]
    for page in pages:
        seen = drive(page, "axe", browser, axe=axe)
        assert not seen["violations"], "\n".join(seen["violations"])
        assert seen["rules"] > 80


def test_the_tree_of_a_screen_reader(marked, drive):
    tree = drive(marked, "tree")["tree"]
    for part in ['heading "Did it work?" [level=2]', 'region "Charts. Arrow keys', 'img "When each phase ran: load from 0:00.5, epoch from 0:03.0"',
                 'img "CPU over time. Machine: at most 4.50, Job: at most 4.00.', 'toolbar "Shown time"', 'button "Zoom in"',
                 'columnheader "CPU time"', 'rowheader "epoch"', 'button "PNG: save a picture of the chart CPU"']:
        assert part in tree, part


def test_the_tab_key_reaches_everything(marked, drive):
    seen = drive(marked, "tab")
    order = [seen["stops"].index(name) for name in ("Dark: switch the colours", "Zoom out", "Reset: show the whole run",
                                                    "PNG: save a picture of the chart CPU", "load")]
    assert order == sorted(order) and seen["where"] == "0:00.5 \u2013 0:02.5"


@both_browsers
def test_the_shown_time_is_in_the_address(make, drive, browser):
    page = make(recordings.eight_samples())
    seen = drive(page, "fragment", browser)
    assert (seen["first"], seen["hash"], seen["changed"]) == (WHOLE, "#t=2,6", "0:01.0 \u2013 0:03.0")
    assert drive(page, "fragment", browser, hash="#t=2,6")["first"] == "0:02.0 \u2013 0:06.0"
    for nonsense in ("#t=6,2", "#t=NaN,x", "#t=", "#t=-1e9,1e9"):
        assert drive(page, "fragment", browser, hash=nonsense)["first"] == WHOLE


@both_browsers
def test_the_wheel_zooms_with_a_modifier_only(make, drive, browser):
    seen = drive(make(recordings.eight_samples()), "wheel", browser)
    assert (seen["whole"], seen["plain"], seen["scale"]) == (WHOLE, "", 1)
    # Half as much time around 2 s, which stays below the pointer.
    assert seen["zoomed"] == "0:01.0 \u2013 0:05.0"


def test_charts_can_be_saved_and_snippets_copied(make, drive):
    seen = drive(make(recordings.eight_samples()), "save")
    name, text = seen["all"]
    rows = [line.split(",") for line in text.splitlines()]
    assert name == "demo-samples.csv" and rows[0][:4] == ["elapsed_secs", "time", "CPU: Machine [cores]", "CPU: Job [cores]"]
    # The shown time is 2 s to 6 s.
    assert [row[0] for row in rows[1:]] == ["2", "3", "4", "5", "6"] and rows[1][1] == "2023-11-14T22:13:22.500Z"
    assert [row[3] for row in rows[1:]] == ["1", "1.5", "2", "2.5", "3"]
    assert seen["one"][0] == "demo-memory.csv" and len(seen["one"][1].splitlines()[0].split(",")) == 5
    name, kind, width, height = seen["picture"]
    assert (name, kind) == ("demo-cpu.png", "PNG") and width > 900 and height > 200
    assert seen["copied"].strip() == seen["form"].strip() and "--mem=" in seen["copied"]


def test_local_time_stands_beside_elapsed_time(make, drive):
    seen = drive(make(recordings.eight_samples()), "clock")
    assert seen["range"].split("\n") == ["0:04.00", "2023-11-14 22:13:24 UTC"] and seen["hash"] in ("", "#clock=local")


def test_the_answers_fit_on_the_first_sheet(make, drive, tmp_path):
    if not shutil.which("pdftotext"):
        pytest.skip("needs pdftotext")
    (tmp_path / "page.pdf").write_bytes(base64.b64decode(drive(everything(make), "paper")["pdf"]))
    text = subprocess.run(["pdftotext", "-l", "1", "-layout", tmp_path / "page.pdf", "-"], capture_output=True, text=True, check=True).stdout
    for answer in ["Did it work?", "How long did it take?", "What was the bottleneck?", "What should the next run request?", "How much did it use?",
                   "Each GPU", "Disk space"]:
        assert answer in text, answer
