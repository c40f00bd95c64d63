"""A tracker that is killed at any moment leaves a record that is valid up to the last sample."""
import importlib.util
import pathlib

import pytest

SOAK = pathlib.Path(__file__).resolve().parents[1] / "soak" / "kill_tracker.py"


@pytest.fixture(scope="module")
def soak():
    spec = importlib.util.spec_from_file_location("kill_tracker", SOAK)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_killed_at_random_fifty_times(binary, tmp_path, soak):
    totals = soak.kill_again_and_again(binary, tmp_path, kills=50, seed=1)
    assert totals.kills == 50
    totals.check()


@pytest.mark.parametrize("numbers", [[1, 2], [0, 2], [0, 1, 1], [0, 1, 0]])
def test_the_check_notices_a_gap(soak, numbers):
    with pytest.raises(AssertionError, match="gap"):
        soak.check_run([{"sample": number} for number in numbers])


@pytest.mark.parametrize("ages", [[0.001] * 10, [0.03] * 50, [0.001] * 40 + [0.2] * 10])
def test_the_check_notices_held_back_samples(soak, ages):
    with pytest.raises(AssertionError):
        totals = soak.Totals(kills=50, ages_secs=ages)
        totals.check()
        totals.check_ages()
    soak.Totals(kills=50, ages_secs=[0.001] * 49 + [0.2]).check_ages()


@pytest.mark.plain
def test_the_check_notices_a_writer_that_buffers(tmp_path, soak):
    """A program that numbers and dates its samples correctly, but writes them late, does not pass."""
    fake = tmp_path / "buffering"
    fake.write_text("#!/usr/bin/env python3\n"
                    "import json, sys, time\n"
                    "with open('run.jsonl', 'a') as record:\n"
                    "    for number in range(1000):\n"
                    "        print(json.dumps({'sample': number, 'timestamp': time.time(), 'x': 'x' * 300}),\n"
                    "              file=record)\n"
                    "        time.sleep(0.005)\n")
    fake.chmod(0o755)
    with pytest.raises((AssertionError, ValueError)):
        soak.kill_again_and_again(str(fake), tmp_path, kills=30, seed=1).check_ages()
