"""The examples that need no compiler: any language, by the command line and marks."""
import csv
import json
import pathlib
import subprocess

from conftest import clean_environment

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"


def test_any_language(binary, run, tmp_path):
    environment = dict(clean_environment(), TRACKER=binary, NO_ANALYSIS="1")
    result = subprocess.run([EXAMPLES / "any_language.sh", tmp_path], env=environment, capture_output=True, text=True,
                            timeout=60, stdin=subprocess.DEVNULL)
    assert (result.returncode, result.stderr) == (0, "")
    samples, seconds = result.stdout.split(" samples, ")[0], float(result.stdout.split(", ")[1].split()[0])
    rows = list(csv.DictReader((tmp_path / "run.csv").open()))
    end = json.loads((tmp_path / "run.jsonl").read_text().splitlines()[-1])["run_end"]
    assert len(rows) == int(samples) and abs(seconds - end["utime_secs"] - end["stime_secs"]) < 0.01
    numbers = [float(line) for line in (tmp_path / "numbers").read_text().splitlines()]
    assert len(numbers) == 200000 and numbers == sorted(numbers)
    marks = [json.loads(line) for line in (tmp_path / "run.jsonl.marks").read_text().splitlines()]
    assert [(mark["name"], mark["event"]) for mark in marks] == [
        ("generate", "start"), ("generate", "stop"), ("sort", "start"), ("sort", "stop")]
