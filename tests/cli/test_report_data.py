"""The data of the page of `report`, without a browser: the options of its user, phases, comparison, forms and the rows of a kind."""
import json
import time

import pytest

import recordings
from report_pages import data_of, unpack

BEGIN = 1_700_000_000
GPUS = [{"uuid": "GPU-1", "name": "A", "power_watts": 100.0}, {"uuid": "GPU-2", "name": "A", "power_watts": 50.5}]


@pytest.fixture
def page(run, tmp_path):
    """page(words...) returns the data of the page that `report` makes of these words."""

    def make_page(*words):
        result = run("report", "-o", "page.html", *words)
        assert (result.returncode, result.out, result.err) == (0, "", "")
        return data_of(tmp_path / "page.html")

    return make_page


def test_the_page_holds_the_options_of_its_user(page, tmp_path):
    recordings.steady(tmp_path / "a.jsonl")
    plain = page("a.jsonl")
    assert [plain[key] for key in ("integration", "failed", "succeeded", "usd_per_hour", "instance")] == [None, False, False, None, None]
    assert 0 <= time.time() - plain["made"] < 3600 and "comparison" not in plain
    told = page("--price", "3.6", "--integration", "Metaflow", "--failed", "a.jsonl")
    assert [told[key] for key in ("integration", "failed", "succeeded", "usd_per_hour")] == ["Metaflow", True, False, 3.6]
    assert page("--succeeded", "a.jsonl")["succeeded"] is True
    assert dict(plain["job_texts"])["project_name"] == "Project" and all(label == label.split("(")[0].strip() for _, label in plain["job_texts"])


def test_a_run_has_its_file_its_side_and_its_end(page, tmp_path):
    (tmp_path / "deep").mkdir()
    recordings.steady(tmp_path / "deep" / "a.jsonl", count=5)
    recordings.steady(tmp_path / "b.jsonl", count=5)
    one, two = page("deep/a.jsonl", "other=b.jsonl")["runs"]
    assert (one["file"], one["side"]) == ("a.jsonl", "deep/a.jsonl")
    assert (two["file"], two["side"]) == ("b.jsonl", "other")
    assert one["run_start"]["cpu_count"] == 8 and one["run_end"]["wall_secs"] == 5
    assert one["samples_per_point"] == 1 and one["phases"] == [] and one["saving"] is None


def test_phases_have_their_calls_and_their_use(page, tmp_path):
    samples = recordings.eight_samples()
    recordings.write(tmp_path / "a.jsonl", samples)
    began = samples[0]["timestamp"] - samples[0]["elapsed_secs"]
    recordings.write_marks(tmp_path / "a.jsonl", began, [("start", "load", 1), ("stop", "load", 3), ("start", "load", 4), ("stop", "load", 5)])
    phase, = page("a.jsonl")["runs"][0]["phases"]
    assert (phase["name"], phase["secs"], phase["calls"]) == ("load", 3.0, [[1.0, 3.0], [4.0, 5.0]])
    # 1.0 and 1.5 cores in the second and third second, and 2.5 in the fifth.
    assert phase["use"]["process_cpu_usage"] == {
        "total": 5.0, "mean": pytest.approx(5 / 3, abs=1e-3), "max": 2.5, "least_call": 2.5, "most_call": 2.5}
    assert phase["use"]["process_memory_mib"]["max"] == 125.0
    assert "process_swap_mib" not in phase["use"]


def test_sides_are_compared_and_equal_ones_are_not(page, run, tmp_path):
    recordings.steady(tmp_path / "a.jsonl", cores=1.0)
    recordings.steady(tmp_path / "b.jsonl", cores=2.0)
    sides = ("one=a.jsonl", "two=b.jsonl")
    assert page(*sides)["comparison"] == json.loads(run("compare-runs", "--json", *sides).out)
    assert "comparison" not in page("same=a.jsonl", "same=b.jsonl")
    assert "comparison" in page("same=a.jsonl", "same=b.jsonl", "two=b.jsonl")


def test_the_request_has_each_form(page, run, tmp_path):
    recordings.steady(tmp_path / "a.jsonl")
    forms = page("a.jsonl")["runs"][0]["forms"]
    assert sorted(forms) == ["docker", "kubernetes", "metaflow", "nextflow", "slurm", "snakemake"]
    for form, text in forms.items():
        assert text == run("recommend", "--for", form, "a.jsonl").out


def test_each_row_has_its_columns_with_values(page, tmp_path):
    samples = [recordings.sample(i, start=recordings.START if i == 0 else None) for i in range(3)]
    samples[0]["gpu"], samples[1]["gpu"], samples[2]["gpu"] = GPUS[:1], GPUS, GPUS[1:]
    recordings.write(tmp_path / "a.jsonl", samples)
    rows = {one["rows"]: one for one in page("a.jsonl")["runs"][0]["rows"]}
    first, second = rows["gpu"]["instances"]
    assert rows["gpu"]["left_out"] == 0
    assert (first["name"], second["name"]) == ("GPU-1", "GPU-2")
    assert [(one["column"], one["unit"], unpack(one)) for one in first["columns"]] == [("gpu.power_watts", "W", [100.0, 100.0, None])]
    assert [unpack(one) for one in second["columns"]] == [[None, 50.5, 50.5]]


def test_earlier_runs_of_the_job_tell_the_saving(page, run, tmp_path):
    lines = [{**recordings.RUN_LINE, "id": f"run-{i}", "started": 1.7e9 + 1e5 * i} for i in range(12)]
    (tmp_path / "lines.jsonl").write_text(recordings.lines(lines))
    for name in ("train", "other"):
        recordings.write(tmp_path / f"{name}.jsonl", [dict(one, job_name=name) for one in recordings.eight_samples()])
    told = json.loads(run("recommend", "--backtest", "--json", "--job", "train", "lines.jsonl").out)
    saving = page("--history", "lines.jsonl", "train.jsonl")["runs"][0]["saving"]
    assert saving == {key: told[key] for key in ("sentence", "saved_gib_hours", "saved_usd")}
    assert page("--history", "lines.jsonl", "other.jsonl")["runs"][0]["saving"] is None


def test_a_second_run_of_a_file_has_columns_of_its_own(page, tmp_path):
    first = recordings.eight_samples()
    second = [recordings.sample(i, cores=2.0, memory=7.0, start=recordings.START if i == 0 else None, timestamp=1_700_001_000.5)
              for i in range(3)]
    recordings.write(tmp_path / "a.jsonl", first + second)
    run, = page("a.jsonl")["runs"]
    columns = {one["column"]: unpack(one) for one in run["columns"]}
    assert columns["cpu.process_memory_mib"] == [7.0] * 3 and run["summary"]["memory"]["peak_mib"] == 7.0


def test_standard_input_cannot_be_read_twice(run):
    result = run("report", "-o", "page.html", "-")
    assert result.returncode == 1 and "more than once" in result.err


@pytest.mark.parametrize("folder, title", [("align/.resource-tracker", "align"), ("steps", "steps")])
def test_a_workflow_has_the_name_of_its_folder(page, tmp_path, folder, title):
    (tmp_path / folder).mkdir(parents=True)
    recordings.steady(tmp_path / folder / "one.jsonl")
    recordings.steady(tmp_path / folder / "two.jsonl")
    data = page(folder)
    assert data["title"] == title and len(data["workflow"]["steps"]) == 2
    assert 0 <= time.time() - data["made"] < 3600


def test_a_price_and_a_history_that_fail_leave_no_page(run, tmp_path):
    recordings.steady(tmp_path / "a.jsonl")
    for words in (("--history", "missing.jsonl"), ("--history", "page.html"), ("missing.jsonl",)):
        (tmp_path / "page.html").unlink(missing_ok=True)
        result = run("report", "-o", "page.html", *words, "a.jsonl")
        assert result.returncode in (1, 2) and words[-1] in result.err and result.err.count("\n") == 1
        assert not (tmp_path / "page.html").exists()
