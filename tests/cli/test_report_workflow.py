"""The page of a workflow: what it shows, its keys and clicks, its speed, in Chromium and Firefox."""
import json
import os
import sys

import pytest

sys.path.insert(0, os.path.dirname(__file__))
from recordings import END, NO_LIMITS, sample, steady, write
from report_pages import HOSTILE, both_browsers, data_of, drive, driver, npm_package  # noqa: F401
from test_analysis_workflow import FAILED, ranks, step, write_runs

pytestmark = pytest.mark.plain
MOST_BYTES, MOST_MS = 5 << 20, 2000


def sample_flow(samples=12):
    """An alignment of 12 samples by four slots, one of which fails once, and their merge."""
    steps = [step("index", 0, 40, cores_mean=0.9)]
    for i in range(samples):
        start = 41 + i // 4 * 62.0
        steps.append(step("align", start, 60 - i % 4 * 6, task=f"sample=S{i:02}", cores_mean=2.6 - 0.4 * (i % 3), cores_max=3.5, cpu_secs=120.0,
                          memory_peak_mib=1500.0 + 100 * i, cores_limit=8.0, **(FAILED if i == 5 else {})))
        steps.append(step("sort", start + 60.5 - i % 4 * 6, 1 + i % 4, task=f"sample=S{i:02}", cores_mean=0.6, memory_peak_mib=400.0, cores_limit=8.0))
    steps.append(step("align", 41 + 3 * 62.0, 55, task="sample=S05", cores_mean=2.2, memory_peak_mib=2000.0, cores_limit=8.0))
    return [*steps, step("merge", 283.4, 30, cores_mean=1.0, memory_peak_mib=3000.0, cores_limit=8.0)]


@pytest.fixture
def make_flow(run, tmp_path):
    def make_page(steps, *more):
        result = run("report", "--workflow", write_runs(tmp_path / "runs.jsonl", steps), *more, "-o", tmp_path / "page.html")
        assert (result.returncode, result.out, result.err) == (0, "", "")
        return tmp_path / "page.html"

    return make_page


@both_browsers
def test_the_page_shows_all_steps_and_a_click_shows_one(make_flow, drive, browser, tmp_path):
    (tmp_path / "torn.jsonl").write_text('{"timestamp": 17')
    seen = drive(make_flow(sample_flow(), tmp_path / "torn.jsonl"), "flow", browser)
    assert seen["charts"] == ["chart-lanes", "chart-cores", "chart-memory"] and seen["overflow"] <= 0
    assert "1 recording could not be read" in seen["text"] and "27 steps" in seen["text"] and "torn.jsonl" in seen["text"]
    assert "No step is known to have failed" in seen["text"] and "null" not in seen["text"] and "undefined" not in seen["text"] and "NaN" not in seen["text"]
    assert seen["path"][0] == "index" and seen["path"][-2:] == ["align (sample=S05)", "merge"]
    # The last step of the path is chosen first. A key goes along its lane, and a click on the canvas takes the step there.
    assert seen["chosen"] == ["Step: merge", "Step: align (sample=S05)", "Step: index"]
    assert seen["failed"] == ["align (sample=S05)"] and seen["named"] == ["sort (sample=S07)"]
    assert seen["longest"] == ["align (sample=S00)", "descending"]
    assert seen["zoomed"] != seen["whole"] and seen["reset"] == seen["whole"]


@pytest.mark.night
def test_the_page_holds_to_the_rules_for_all_readers(make_flow, drive):
    page = make_flow(sample_flow())
    seen = drive(page, "axe", axe=npm_package("axe-core"))
    assert seen["violations"] == [] and seen["rules"] > 50
    assert drive(page, "looks")["overflow"] <= 0 and "All ended well, after 1 repeat" in drive(page, "look")["text"]


@pytest.fixture
def page_of_many(make_flow):
    return make_flow([step(f"rule{i % 12}", i // 8 * 1.01, 1, task=f"wildcard={i}", recording=f"/work/.resource-tracker/rule.{i}.jsonl") for i in range(5000)])


def test_five_thousand_steps_take_less_than_five_mebibytes(page_of_many, drive):
    assert page_of_many.stat().st_size < MOST_BYTES and len(data_of(page_of_many)["workflow"]["steps"]) == 5000
    assert "5000 of 5000 steps; the first 200 are shown" in drive(page_of_many, "look")["text"]


@pytest.mark.cost
def test_five_thousand_steps_take_less_than_two_seconds(page_of_many, drive):
    assert drive(page_of_many, "look")["took"] < MOST_MS


@pytest.mark.night
def test_ranks_have_a_table_with_their_straggler(make_flow, drive):
    steps = [*ranks("solve", 0, [10, 11, 15, 10]), *ranks("alike", 20, [3, 3])]
    page = make_flow(steps)
    text = drive(page, "look")["text"].replace("\xa0", " ")
    assert "10.0 s / 10.5 s / 15.0 s" in text and "rank 2 on node-1: time 42.9 % over the median" in text
    assert "at most 700 MiB of 62.5 GiB on node-1" in text, "the memory of one host beside that host's own"
    assert "none stands out" in text and "undefined" not in text
    assert drive(page, "looks")["overflow"] <= 0
    assert drive(page, "axe", axe=npm_package("axe-core"))["violations"] == []
    assert "Straggler" not in drive(make_flow(sample_flow()), "look")["text"]
    assert "GPUs at work" not in text
    for line in steps[:4]:
        line |= {"gpus": 8, "gpu_mean": 0.25 * (1 + line["rank"]), "gpu_held_idle_hours": 0.01}
    page = make_flow(steps)
    text = drive(page, "look")["text"].replace("\xa0", " ")
    assert "0.25 / 0.62 / 1.00" in text and "36.0 s / 36.0 s / 36.0 s" in text and "undefined" not in text, text
    assert drive(page, "looks")["overflow"] <= 0


def test_memory_of_steps_is_added_up_over_their_time(run, drive, tmp_path):
    """One step has 1,000 MiB early and the other one late, so that together they never need 2,048 MiB. Against a long workflow none has a course."""
    (tmp_path / "steps").mkdir()
    for name, levels in (("early", [1000] * 9 + [100] * 11), ("late", [100] * 11 + [1000] * 9), ("short", [50] * 2)):
        samples = [sample(i, cores=0.5 + i % 2, memory=level, timestamp=1_700_000_000.5, job_name=name, start=NO_LIMITS if i == 0 else None) for i, level in enumerate(levels)]
        samples[-1]["run_end"] = {**END, "exit_code": 0, "wall_secs": len(levels) + 1.0, "memory_peak_mib": max(levels) + 24.0}
        for one in samples:
            one["cgroup"] = None
        write(tmp_path / "steps" / f"{name}.jsonl", samples)
    runs = write_runs(tmp_path / "steps" / "runs.jsonl", [step("long", 2000, 500)])
    found = json.loads(run("report", "--workflow", "--json", tmp_path / "steps").out)
    by_name = {one["rule"]: one["course"] for one in found["steps"]}
    assert by_name["short"] is None and by_name["long"] is None
    runs.unlink()
    found = json.loads(run("report", "--workflow", "--json", tmp_path / "steps").out)
    by_name = {one["rule"]: one["course"] for one in found["steps"]}
    early, late = by_name["early"], by_name["late"]
    assert len(early["cores"]) == len(early["memory_mib"]) == 240 and len(by_name["short"]["cores"]) == 34
    assert (early["memory_mib"][0], max(early["memory_mib"]), early["memory_mib"][-1]) == (1024, 1024, 100)
    assert max(late["memory_mib"][:110]) == 100 and max(late["memory_mib"]) == 1024
    assert sum(early["cores"]) / 240 == pytest.approx(1.0, abs=0.05)
    assert early["memory_mib"].count(1024) == 1 and None not in late["cores"], "the kernel's peak is in one part, and a part without a sample is like the one before"
    assert run("summary", "--workflow", "--json", tmp_path / "steps").out.count('"course":null') == 3
    run("report", "--workflow", tmp_path / "steps", "-o", tmp_path / "page.html")
    text = drive(tmp_path / "page.html", "look")["text"].replace("\xa0", " ")
    assert "at most 1.17 GiB of" in text and "over time" in text, text


def test_the_chosen_step_tells_its_needs(make_flow, drive):
    needs = {"tags": {"needs": "a b"}}
    page = make_flow([step("a", 0, 2, tags={"needs": ""}), step("b", 0, 6), step("c", 6.1, 6, tags={"needs": "b"}), step("end", 12.2, 1, **needs)])
    text = drive(page, "look")["text"].replace("\xa0", " ")
    assert "The needs of 3 of 4 steps are known" in text and "Needs\na, b" in text and "undefined" not in text


def test_names_of_steps_are_text(make_flow, drive):
    seen = drive(make_flow([step(HOSTILE, 0, 1), step("next", 1, 1)]), "look")
    assert seen["images"] == 0 and HOSTILE in seen["text"]


def test_report_of_a_folder_is_titled_by_it_and_json_is_that_of_summary_with_courses(run, tmp_path):
    folder = tmp_path / "build" / ".resource-tracker"
    folder.mkdir(parents=True)
    steady(folder / "one.jsonl", start=NO_LIMITS)
    assert run("report", folder, "-o", tmp_path / "page.html").returncode == 0
    assert data_of(tmp_path / "page.html")["title"] == "build"
    of_report, of_summary = json.loads(run("report", "--json", folder).out), json.loads(run("summary", "--json", folder).out)
    assert of_report == data_of(tmp_path / "page.html")["workflow"]
    assert [len(one.pop("course")["cores"]) for one in of_report["steps"]] == [240] and [one.pop("course") for one in of_summary["steps"]] == [None]
    assert of_report == of_summary
    done = run("report", folder)
    assert done.returncode == 2 and "name the page to write" in done.err
    done = run("report", "--json", folder / "one.jsonl")
    assert done.returncode == 2 and "--json is for workflows" in done.err
