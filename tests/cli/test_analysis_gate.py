"""compare-runs --last-good: a run against the last good runs of its job, as the gate of a CI system."""
import json
import math
import statistics

import pytest

import recordings

PEAKS = [100.0, 104.0, 96.0, 101.0, 99.0]
T_OF_FOUR = 4.60  # Student's t, 4 degrees of freedom, one in a hundred


@pytest.fixture
def kept(run, tmp_path):
    """Writes a recording and adds its line to runs.jsonl."""
    def keep(name, *, memory=100.0, wall=8.0, code=0, job="build", task=None, started=1_700_000_000.5, cpu=None, add=True):
        samples = recordings.eight_samples()
        for number, one in enumerate(samples):
            one.update(job_name=job, timestamp=started + number + 1, timestamp_secs=int(started + number + 1))
        samples[0]["run_start"] = dict(samples[0]["run_start"], run_id=f"id-{name}", task_name=task, cpu_model=cpu)
        samples[-1]["run_end"] = dict(recordings.END, memory_peak_mib=memory, wall_secs=wall, exit_code=code)
        path = recordings.write(tmp_path / f"{name}.jsonl", samples)
        if add:
            assert run("runs", "add", "--runs", "runs.jsonl", path).returncode == 0
        return path

    return keep


@pytest.fixture
def history(kept):
    for number, peak in enumerate(PEAKS):
        kept(f"good{number}", memory=peak, started=1_700_000_000.5 + 100 * number)


def gate(run, path, *arguments, last_good=10):
    return run("compare-runs", "--last-good", last_good, "--runs", "runs.jsonl", *arguments, path)


def test_lines_that_are_left_out_of_the_good_runs_are_told(run, kept, history, tmp_path):
    with open(tmp_path / "runs.jsonl", "a") as file:
        file.write('{"schema":9,"id":"x","outcome":"ok"}\n')
    result = gate(run, kept("new", started=1_700_001_000.5))
    assert "left out: 1 line of schema 9 (this program knows schema 1; a newer one reads more)\n" in result.err


def test_the_noise_is_the_scatter_of_the_good_runs(run, kept, history):
    new = kept("new", memory=130.0, started=1_700_001_000.5)
    answer = json.loads(gate(run, new, "--json").out)
    peak = next(one for one in answer["metrics"] if one["name"] == "memory_peak")["sides"]
    assert [side["runs"] for side in peak] == [5, 1] and peak[0]["mean"] == statistics.mean(PEAKS)
    noise = T_OF_FOUR * statistics.stdev(PEAKS) * math.sqrt(1 + 1 / 5)
    assert peak[1]["noise_pct"] == pytest.approx(noise, rel=1e-6) and peak[1]["beyond_noise"] is True
    assert [side["name"] for side in answer["sides"]] == ["good runs", str(new)]


@pytest.mark.parametrize("memory, status", [(130.0, 3), (112.0, 0), (104.0, 0), (70.0, 0)])
def test_only_a_change_beyond_bound_and_noise_fails(run, kept, history, memory, status):
    """12 % more is beyond the bound of 10 %, yet within the noise of 14.9 %."""
    result = gate(run, kept("new", memory=memory, started=1_700_001_000.5), "--fail-if", "memory_peak>+10%")
    assert result.returncode == status
    assert ("memory_peak is 130 MiB" in result.err) == (status == 3)


def test_other_jobs_other_tasks_failed_and_later_runs_do_not_count(run, kept, history):
    kept("failed", memory=500.0, code=1, started=1_700_000_600.5)
    kept("other", memory=500.0, job="test", started=1_700_000_600.5)
    kept("task", memory=500.0, task="lint", started=1_700_000_600.5)
    kept("later", memory=500.0, started=1_700_002_000.5)
    new = kept("new", memory=100.0, started=1_700_001_000.5)
    answer = json.loads(gate(run, new, "--json").out)
    assert answer["sides"][0]["runs"] == 5 and answer["sides"][1]["runs"] == 1


def test_the_newest_count_and_each_run_once(run, kept, history):
    for _ in range(3):
        assert run("runs", "add", "--runs", "runs.jsonl", "good4.jsonl").returncode == 0
    new = kept("new", started=1_700_001_000.5)
    answer = json.loads(gate(run, new, "--json", last_good=3).out)
    peak = next(one for one in answer["metrics"] if one["name"] == "memory_peak")["sides"][0]
    assert (peak["runs"], peak["min"], peak["max"]) == (3, min(PEAKS[2:]), max(PEAKS[2:]))


def test_fewer_than_three_good_runs_judge_no_change_but_bounds(run, kept):
    kept("good0")
    kept("good1", started=1_700_000_100.5)
    new = kept("new", memory=900.0, started=1_700_001_000.5)
    result = gate(run, new, "--fail-if", "memory_peak>+10%")
    assert result.returncode == 0 and "2 good runs of build before this one" in result.err
    assert gate(run, new, "--fail-if", "memory_peak>800").returncode == 3


def test_runs_on_other_cpus_are_told(run, kept):
    for number, cpu in enumerate(["A", "B", "B", "A"]):
        kept(f"good{number}", cpu=cpu, started=1_700_000_000.5 + 100 * number)
    assert "2 of the 4 good runs of build had another CPU model" in gate(run, kept("new", cpu="A", started=1_700_001_000.5)).err
    assert gate(run, "good1.jsonl").err == "resource-tracker compare-runs: 1 good run of build before this one: changes in percent " \
        "are judged from 3 on\nresource-tracker compare-runs: 1 of the 1 good runs of build had another CPU model\n"


def test_the_first_run_of_a_job_passes(run, kept):
    new = kept("new")
    result = gate(run, new, "--fail-if", "memory_peak>+10%")
    assert result.returncode == 0 and "0 good runs of build" in result.err and "memory peak" in result.out


def test_a_run_without_a_line_is_compared_as_well(run, kept, history):
    assert gate(run, kept("new", memory=130.0, started=1_700_001_000.5, add=False), "--fail-if", "memory_peak>+10%").returncode == 3


def test_single_runs_against_three_named_ones_have_the_same_noise(run, kept, history):
    new = kept("new", memory=112.0, started=1_700_001_000.5)
    old = [f"old=good{number}.jsonl" for number in range(5)]
    assert run("compare-runs", "--fail-if", "memory_peak>+10%", *old, new).returncode == 0
    assert run("compare-runs", "--fail-if", "memory_peak>+10%", *old[:1], new).returncode == 3


@pytest.mark.parametrize("arguments, status", [
    (["--last-good", "0", "new.jsonl"], 2), (["--last-good", "x", "new.jsonl"], 2), (["--last-good", "3"], 2),
    (["--last-good", "3", "new.jsonl", "new.jsonl"], 2), (["--runs", "runs.jsonl", "new.jsonl", "new.jsonl"], 2),
    (["--last-good", "3", "--stat", "max", "new.jsonl"], 2), (["--last-good", "3", "--runs", "missing", "new.jsonl"], 1),
    (["--last-good", "3", "--runs", "new.jsonl", "new.jsonl"], 1), (["--last-good", "3", "new.jsonl"], 1)])
def test_bad_input_is_one_clear_line(run, kept, arguments, status):
    kept("new")
    result = run("compare-runs", *arguments)
    assert result.returncode == status and result.err and not result.out


def damaged(path):
    """Puts a line that is not a sample into a recording."""
    samples = path.read_text().splitlines(keepends=True)
    path.write_text("".join([*samples[:4], '{"damaged\n', *samples[4:]]))
    return path


@pytest.mark.parametrize("name", ["damaged_lines", "damaged lines", "bad_lines"])
def test_each_amount_of_a_line_reaches_the_gate(run, kept, history, name):
    new = damaged(kept("new", started=1_700_001_000.5, add=False))
    result = gate(run, new, "--fail-if", f"{name}>0")
    assert result.returncode == 3 and "damaged_lines is 1 in" in result.err and ", 0 in good runs" in result.err
    assert gate(run, new, "--fail-if", f"{name}>1").returncode == 0


def test_the_gate_compares_all_amounts_and_no_other_figure(run, kept, history, tmp_path):
    new = kept("new", started=1_700_001_000.5)
    answer = json.loads(gate(run, new, "--json").out)
    names = [one["name"] for one in answer["metrics"]]
    line = json.loads((tmp_path / "runs.jsonl").read_text().splitlines()[-1])
    assert {"threads_max", "cores_p95", "memory_p95_mib", "samples", "missed_ticks", "damaged_lines"} <= set(names)
    assert len(names) == len(set(names)) and not {"started", "ended", "exit_code", "rank", "wall_secs"} & set(names)
    side = next(one for one in answer["metrics"] if one["name"] == "cores_p95")["sides"][1]
    assert side["mean"] == line["cores_p95"]


def test_a_figure_is_known_by_each_of_its_names(run, kept, history):
    new = kept("new", wall=20.0, started=1_700_001_000.5)
    for name in ("wall_time", "wall time", "wall_secs"):
        assert gate(run, new, "--fail-if", f"{name}>10").returncode == 3
        assert run("compare-runs", "good0.jsonl", new, "--fail-if", f"{name}>10").returncode == 3
    for name in ("cpu_pressure", "cpu_stall_secs", "cpu_pressure_secs"):
        assert gate(run, new, "--fail-if", f"{name}<1").returncode == 3
    assert "no run has a figure 'wall_sec'" in gate(run, new, "--fail-if", "wall_sec>10").err
    # Runs that are compared with each other have no line.
    assert "no run has a figure 'damaged_lines'" in run("compare-runs", "good0.jsonl", new, "--fail-if", "damaged_lines>0").err
