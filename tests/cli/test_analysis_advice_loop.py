"""With the advice of `recommend` as real memory limits, a job that was killed ends well; see advice_loop.py."""
import pytest

import advice_loop

# A sanitiser makes the recorder larger than the jobs, so the kernel would kill the recorder instead.
pytestmark = [pytest.mark.plain,
              pytest.mark.skipif(not advice_loop.needs_groups, reason="limits memory by control groups: needs root and a memory controller")]

OOM_JOBS = [job.name for job in advice_loop.oom_jobs("")]
# Memory that other programs allocate raises the bound of a peak between two samples.
SPIKES = [pytest.param(name, marks=pytest.mark.alone) for name in ("memfd and a short-lived object", "System V, spike in a child")]
OTHERS = ["memfd that is not mapped", "40 MiB, 60 workers, 2 % overwritten", "freed and taken again", "4 ranks of 30 to 120 MiB", "a daemon does the work", "sleep",
          "short child that is larger than its parent", "a shell's short steps"]


@pytest.fixture
def follow(binary, tmp_path):
    """Uses default settings. It ignores durations, because tests run on busy machines."""

    def follow_job(name):
        jobs = {job.name: job for job in advice_loop.all_jobs(binary, tmp_path)}
        return advice_loop.follow(binary, jobs[name], tmp_path, timing=False)

    return follow_job


@pytest.mark.timeout(120)
@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.night] * (i % 2)) for i, name in enumerate(OOM_JOBS)])
def test_a_job_that_ran_out_of_memory_ends_well_within_two_rounds(follow, name):
    outcome = follow(name)
    assert not outcome.faults, advice_loop.row(outcome)
    assert outcome.advice.answer["evidence"]["memory"]["at_least"]
    assert "oom" in [note["rule"] for note in outcome.advice.answer["notes"]]


@pytest.mark.timeout(120)
@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.night] * (i % 2)) for i, name in enumerate(OTHERS)] + SPIKES)
def test_a_job_ends_well_with_the_advice(follow, name):
    outcome = follow(name)
    assert not outcome.faults and outcome.rounds == 1, advice_loop.row(outcome)


@pytest.mark.timeout(120)
def test_follow_finds_too_little(follow, monkeypatch):
    real = advice_loop.ask

    def too_little(binary, runs):
        advice = real(binary, runs)
        advice.memory_mib = 64
        return advice

    monkeypatch.setattr(advice_loop, "ask", too_little)
    assert follow("memfd, 7 processes").faults == ["did not end well"]


@pytest.mark.timeout(120)
def test_follow_finds_too_much(follow, monkeypatch):
    real = advice_loop.ask

    def too_much(binary, runs):
        advice = real(binary, runs)
        advice.memory_mib *= 2
        return advice

    monkeypatch.setattr(advice_loop, "ask", too_much)
    assert follow("memfd, 7 processes").faults == ["reserves too much"]
