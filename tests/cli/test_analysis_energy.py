"""Energy and carbon in the summary, from recordings with known values."""
import json

import pytest

import recordings


def of(run, path):
    text = run("summary", path)
    figures = run("summary", "--json", path)
    assert text.returncode == figures.returncode == 0, figures.err
    line = next((one.strip() for one in text.out.splitlines() if one.startswith("  Energy")), None)
    return json.loads(figures.out)["energy"], line


def with_energy(path, machine, job, factor=None, **start):
    samples = recordings.eight_samples()
    for one in samples:
        one["cpu"].update(energy_joules=machine, process_cpu_energy_joules=job)
    samples[0]["run_start"] = dict(samples[0]["run_start"], carbon_g_per_kwh=factor, **start)
    return recordings.write(path, samples)


def test_energy_of_the_machine_and_the_part_of_the_job(run, tmp_path):
    figures, line = of(run, with_energy(tmp_path / "a.jsonl", 50.0, 12.5))
    assert figures == {"machine_cpu_joules": 400.0, "job_cpu_estimate_joules": 100.0, "carbon_g_per_kwh": None, "carbon_grams": None}
    assert line == "Energy     400 J by all CPU sockets (whole machine), about 100 J of it for the job, by its part of the CPU time"


def test_a_sum_with_a_gap_is_a_least(run, tmp_path):
    """A counter fell in the middle of the run, so the energy of one sample is unknown."""
    path = with_energy(tmp_path / "a.jsonl", 50.0, 12.5)
    samples = [json.loads(line) for line in path.read_text().splitlines()]
    samples[4]["cpu"].update(energy_joules=None, process_cpu_energy_joules=None)
    assert of(run, recordings.write(path, samples))[1].startswith(
        "Energy     at least 350 J by all CPU sockets (whole machine), at least 87.5 J of it for the job")


@pytest.mark.parametrize("machine", [[0.0] + [None] * 7, [0.0] * 8])
def test_sockets_that_used_nothing_are_not_told(run, tmp_path, machine):
    """A counter that stands still, or that cannot be read any more, has counted nothing."""
    path = with_energy(tmp_path / "a.jsonl", 0.0, 0.0)
    samples = [json.loads(line) for line in path.read_text().splitlines()]
    for one, joules in zip(samples, machine):
        one["cpu"].update(energy_joules=joules, process_cpu_energy_joules=joules)
    assert of(run, recordings.write(path, samples))[1] is None


def test_carbon_needs_a_factor_of_the_user(run, tmp_path):
    figures, line = of(run, with_energy(tmp_path / "a.jsonl", 50.0, 12.5, factor=360.0))
    assert figures["carbon_grams"] == pytest.approx(100 / 3.6e6 * 360)
    assert line.endswith(", about 0.010 g of CO2 at 360 g/kWh")


def test_no_line_without_energy(run, tmp_path):
    figures, line = of(run, with_energy(tmp_path / "a.jsonl", None, None, factor=360.0))
    assert line is None and figures["carbon_grams"] is None
