"""export --format otlp|openmetrics|influx: recordings as time series."""
import collections
import os
import pathlib
import re
import sys

import pytest

import recordings

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "fakes"))
import otlp  # noqa: E402

SAMPLE = re.compile(r'(\w+)\{((?:\w+="(?:[^"\\\n]|\\[\\"n])*",?)*)\} (\S+) (\d+\.\d{3})')
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


@pytest.fixture
def job(run, helpers, tmp_path):
    """A real job, and the samples of its recording."""
    result = run("-i", 0.1, "-o", "run.jsonl", "-n", 'a "job", x=1', "--tag", "team=b lue", "--", "sh", "-c",
                 "head -c 3000000 /dev/zero > out; sleep 0.4; exit 2")
    assert result.returncode == 2
    return tmp_path / "run.jsonl", helpers.json_lines(tmp_path / "run.jsonl")


@pytest.fixture
def export(run, tmp_path):
    def to(form, *files):
        result = run("export", "--format", form, *files, "--force", "-o", tmp_path / "out")
        assert (result.returncode, result.out, result.err) == (0, "", "")
        return tmp_path / "out"

    return to


def totals(samples):
    return {mode: sum(sample["cpu"][f"process_{mode[0]}time_secs"] for sample in samples) for mode in ("user", "system")}


def openmetrics(text):
    """{name: {labels: [(time, value)]}}. Families stand together and are announced, and times grow."""
    lines = text.splitlines()
    assert lines.pop() == "# EOF"
    series, family, seen = {}, None, set()
    for line in lines:
        if line.startswith("# TYPE "):
            family, form = line.split()[2:]
            assert family not in seen
            seen.add(family)
            continue
        if line.startswith("# UNIT "):
            assert line.split()[2] == family and family.endswith("_" + line.split()[3])
            continue
        name, labels, value, at = SAMPLE.fullmatch(line).groups()
        assert name == family + {"counter": "_total", "info": "_info", "gauge": ""}[form]
        points = series.setdefault(name, {}).setdefault(frozenset(LABEL.findall(labels)), [])
        assert not points or points[-1][0] < float(at)
        points.append((float(at), float(value)))
    return series


def last_of(series, name, label=None):
    [points] = [points for labels, points in series[name].items() if label is None or label in labels]
    return points[-1][1]


def test_openmetrics(job, export):
    path, samples = job
    series = openmetrics(export("openmetrics", path).read_text())
    for mode, total in totals(samples).items():
        assert last_of(series, "process_cpu_time_seconds_total", ("cpu_mode", mode)) == pytest.approx(total, abs=1e-4)
    assert last_of(series, "resource_tracker_run_exit_code") == 2
    assert last_of(series, "resource_tracker_run_ended", ("reason", "exit")) == 1
    [points] = series["system_memory_limit_bytes"].values()
    assert [value for _, value in points] == [sample["memory"]["total_mib"] * 2**20 for sample in samples]
    [(labels, points)] = series["target_info"].items()
    assert ("team", "b lue") in labels and ("instance", samples[0]["run_start"]["run_id"]) in labels and len(points) == 2
    assert ("job", r'a \"job\", x=1') in labels


def test_otlp(job, export):
    path, samples = job
    request = otlp.decode("METRICS", export("otlp", path).read_bytes())
    run = {}
    for message in request["resource"]:
        for scope in message["scopes"]:
            for metric in scope["metrics"]:
                otlp.Receiver.take_metric(run, metric)
    for series in run.values():
        series.check()
    for mode, total in totals(samples).items():
        found = otlp.find(run, "process.cpu.time", mode=mode)
        assert found.values[-1] == pytest.approx(total, abs=1e-4) and len(found.values) == 1 + len(samples)
    assert otlp.find(run, "system.memory.limit").values == [sample["memory"]["total_mib"] * 2**20 for sample in samples]


def test_programs_have_series_of_their_own(job, export):
    """The job has fewer than eight programs, so each that was seen has a row in every sample, and its last total is that of the run."""
    path, samples = job
    series = openmetrics(export("openmetrics", path).read_text())
    totals = {row["name"]: row["cpu_secs"] for row in samples[-1]["run_end"]["programs"]}
    assert {"sh", "sleep"} <= set(totals)
    for name, secs in totals.items():
        assert last_of(series, "resource_tracker_program_cpu_time_seconds_total", ("program", name)) == pytest.approx(secs, abs=1e-9)
    tree = [sample["cpu"]["process_memory_mib"] for sample in samples]
    memory = series["resource_tracker_program_memory_usage_bytes"].values()
    sums = collections.Counter()
    for points in memory:
        sums.update(dict(points))
    known = [mib * 2**20 for mib in tree if mib is not None]
    assert [value for _, value in sorted(sums.items())] == pytest.approx(known, abs=600 * len(totals))


def test_influx(job, export):
    path, samples = job
    values = {}
    for line in export("influx", path).read_text().splitlines():
        name, tags, value, at = re.fullmatch(r"(\w+)((?:,\w+=(?:[^\\ ,=]|\\.)+)+) value=(\S+) (\d{19})", line).groups()
        assert ",team=b\\ lue" in tags and ',service_name=a\\ "job"\\,\\ x\\=1' in tags
        values.setdefault((name, tags.partition(",cpu_mode=")[2]), []).append((int(at), float(value)))
    for mode, total in totals(samples).items():
        points = values["process_cpu_time_seconds_total", mode]
        assert points == sorted(points) and len(points) == 1 + len(samples)
        assert points[-1][1] == pytest.approx(total, abs=1e-4)


def test_several_runs_are_several_series(run, export, tmp_path, helpers):
    for _ in range(2):
        assert run("-i", 0.1, "--append", "-o", "run.jsonl", "--", "true").returncode == 0
    ids = {sample["run_start"]["run_id"] for sample in helpers.json_lines(tmp_path / "run.jsonl") if sample["run_start"]}
    series = openmetrics(export("openmetrics", tmp_path / "run.jsonl").read_text())
    assert {dict(labels)["instance"] for labels in series["resource_tracker_run_exit_code"]} == ids and len(ids) == 2
    assert len(series["target_info"]) == 2


def test_recordings_without_identity_and_long_ones(export, tmp_path):
    """More samples than one request has, and none of our own fields."""
    path = recordings.write(tmp_path / "eight.jsonl", recordings.eight_samples())
    series = openmetrics(export("openmetrics", path).read_text())
    assert {dict(labels)["instance"] for labels in series["target_info"]} != {""}
    request = otlp.decode("METRICS", export("otlp", path).read_bytes())
    assert request["resource"]


def test_standard_input_is_read_once(job, run):
    path, _ = job
    result = run("export", "--format", "influx", "-", stdin=path.read_bytes())
    assert result.returncode == 0 and "process_cpu_time_seconds_total" in result.out
    result = run("export", "--format", "openmetrics", "-", stdin=path.read_bytes())
    assert result.returncode == 1 and "cannot be read twice" in result.err


def test_no_sample(run, tmp_path):
    (tmp_path / "empty.jsonl").write_text("")
    result = run("export", "--format", "otlp", "empty.jsonl", "-o", "out")
    assert result.returncode != 0 and not (tmp_path / "out").exists()


@pytest.mark.parametrize("form", ["openmetrics", "influx"])
def test_names_cannot_write_control_characters_or_lines(run, export, tmp_path, form):
    assert run("-o", "run.jsonl", "-n", "a\x1b[31m\nb", "--", "true").returncode == 0
    text = export(form, tmp_path / "run.jsonl").read_text()
    assert "a?[31m?b" in text and not any(character < " " for character in text.replace("\n", ""))


def test_protocol_buffers_are_not_written_to_a_terminal(run, job, helpers):
    path, _ = job
    leader, follower = os.openpty()
    result = run("export", "-f", "otlp", path, stdout=follower)
    os.close(follower)
    os.close(leader)
    assert (result.returncode, result.err) == (1, "resource-tracker export: -f otlp is not text; write it to a file (-o FILE)\n")
