"""The recipe of a figure of a run in CONTRIBUTING.md, followed in a copy of the sources: one row, and it is everywhere."""
import json
import os
import shutil
import subprocess
import sys

import pytest

import recordings
from report_pages import data_of
from test_recipes import TOP, Copy
from without_report import report_is_missing

sys.path.insert(0, str(TOP / "tests" / "fakes"))
import otlp  # noqa: E402
from sentinel_support import net_program  # noqa: E402

TABLE = "src/figures/run_figures.def"
FAULTS_PER_SAMPLE, SAMPLES = 250, 8
FAULTS = FAULTS_PER_SAMPLE * SAMPLES


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A copy of the sources with one figure more, built."""
    meson = shutil.which("meson")
    if not meson or not (TOP / ".git").exists():
        pytest.skip("needs meson and the repository")
    copy = Copy(tmp_path_factory.mktemp("figure"))
    copy.add(TABLE, "FIGURE(io, cache_refault_bytes",
             'SUM_OF(io, minor_faults, WHOLE, 0, tree, process_minor_faults, LINE(56, "minor_faults"), ALIAS("soft_faults"),'
             ' COMPARED("minor_faults", ""), WORDS(Tracker, NUMBER, ", ", " minor fault|"))')
    assert copy.take_count() == {TABLE: 1}
    # Its percentiles in the history of a fleet.
    copy.add(TABLE, "FLEET(memory_mib", "FLEET(minor_faults, io_minor_faults, SUM, NULL)")
    assert copy.take_count() == {TABLE: 1}
    made = copy.run(meson, "setup", "build", "-Dtests=disabled", "-Doptimization=0", "-Dwerror=true")
    assert made.returncode == 0, made.stdout[-2000:]
    made = copy.run("nice", "ninja", "-C", "build", "product")
    assert made.returncode == 0, made.stdout[-3000:]
    if not (copy.folder / "build" / "resource-tracker-analysis").exists():
        pytest.skip("needs the analysis")
    return copy


@pytest.fixture
def use(built, tmp_path):
    """use(words, ...) runs the program of the copy in the test's folder."""
    def run_program(*words, status=0, **environment):
        done = subprocess.run([built.folder / "build" / "resource-tracker", *map(str, words)], cwd=tmp_path, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), **environment})
        assert done.returncode == status, done.stderr
        return done.stdout + (done.stderr if status else "")

    return run_program


@pytest.fixture
def kept(tmp_path):
    """Writes the recording of a run with so many faults in each sample."""
    def write_run(name, faults):
        samples = recordings.eight_samples()
        for one in samples:
            one["cpu"]["process_minor_faults"] = faults
            one["timestamp"] += 100 * faults
        samples[0]["run_start"] = dict(samples[0]["run_start"], run_id=name)
        samples[-1]["run_end"] = dict(recordings.END, exit_code=0)
        return recordings.write(tmp_path / f"{name}.jsonl", samples)

    return write_run


def figure_of(comparison):
    return next(one for one in json.loads(comparison)["metrics"] if one["name"] == "minor_faults")


@pytest.mark.slow
@pytest.mark.night
@pytest.mark.timeout(600)
def test_a_figure_is_in_the_summary_the_report_and_the_comparison(use, kept, tmp_path):
    path, more = kept("a", FAULTS_PER_SAMPLE), kept("b", 2 * FAULTS_PER_SAMPLE)
    assert json.loads(use("summary", "--json", path))["io"]["minor_faults"] == FAULTS
    assert f", {FAULTS} minor faults" in " ".join(use("summary", path).split())
    compared = figure_of(use("compare-runs", "--json", path, more))
    assert [side["mean"] for side in compared["sides"]] == [FAULTS, 2 * FAULTS]
    if not report_is_missing():
        use("report", "-o", "page.html", path, more)
        page = data_of(tmp_path / "page.html")
        assert [one["summary"]["io"]["minor_faults"] for one in page["runs"]] == [FAULTS, 2 * FAULTS]
        assert "minor_faults" in [one["name"] for one in page["comparison"]["metrics"]]


@pytest.mark.slow
@pytest.mark.night
@pytest.mark.timeout(600)
def test_a_figure_is_in_the_line_the_gate_and_the_history(use, kept, tmp_path):
    for number in range(4):
        use("runs", "add", "--runs", "runs.jsonl", kept(f"good{number}", FAULTS_PER_SAMPLE + number))
    [*lines] = map(json.loads, (tmp_path / "runs.jsonl").read_text().splitlines())
    assert [line["minor_faults"] for line in lines] == [FAULTS + SAMPLES * number for number in range(4)]
    [group] = json.loads(use("history", "--json", "runs.jsonl"))["groups"]
    assert group["minor_faults"] == {"p50": FAULTS + 12, "p95": pytest.approx(FAULTS + 22.8), "max": FAULTS + 24}
    new = kept("new", 2 * FAULTS_PER_SAMPLE)
    gate = ("compare-runs", "--last-good", 10, "--runs", "runs.jsonl")
    assert figure_of(use(*gate, "--json", new))["sides"][1]["mean"] == 2 * FAULTS
    for name in ("minor_faults", "minor faults", "soft_faults"):
        assert f"minor_faults is {2 * FAULTS}" in use(*gate, "--fail-if", f"{name}>+50%", new, status=3)
    # An earlier key of a line is read as well.
    lines[0]["soft_faults"] = lines[0].pop("minor_faults")
    (tmp_path / "old.jsonl").write_text(json.dumps(lines[0]) + "\n")
    [group] = json.loads(use("history", "--json", "old.jsonl"))["groups"]
    assert group["minor_faults"]["max"] == FAULTS


@pytest.mark.slow
@pytest.mark.night
@pytest.mark.timeout(600)
def test_a_figure_is_in_the_history_of_this_machine_and_in_the_end_for_otlp(use, tmp_path):
    if not net_program().exists():
        pytest.skip("resource-tracker-net is not built")
    receiver = otlp.Receiver()
    use("--stream", "otlp", "--spool", tmp_path / "spool", "-i", 0.1, "-q", "-o", "run.jsonl", "--", "true",
        OTEL_EXPORTER_OTLP_ENDPOINT=receiver.url)
    (tmp_path / "kept").mkdir(mode=0o700)
    (tmp_path / "run.jsonl").rename(tmp_path / "kept" / "1.jsonl")
    [run] = json.loads(use("ls", "--json", TRACKER_HISTORY=str(tmp_path / "kept")))
    [record] = receiver.logs
    assert record["attributes"]["resource_tracker.run.minor_faults"] == run["minor_faults"] > 0
    receiver.close()
