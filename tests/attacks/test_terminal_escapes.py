"""Escape sequences in all printed text: every text of a recording, marks, price lists, file names, errors."""
import json
import pathlib
import re
import subprocess

import pytest

import recordings

EVIL = "e\x1b[31mv\x07\x9b\rl‮\u009b\x7f"
# Control characters of a terminal; newline and tab lay out tables, and a carriage return before a newline ends lines of CSV.
OBEYED = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f‪-‮⁦-⁩]|\r(?!\n)".encode("utf-8").decode())


def poison(value):
    """Replaces all texts of a JSON value, except those that decide how it is read."""
    if isinstance(value, dict):
        return {key: item if key in ("mode", "layout", "resource-tracker-version") else poison(item) for key, item in value.items()}
    if isinstance(value, list):
        return [poison(item) for item in value]
    return value + EVIL if isinstance(value, str) else value


def check(result):
    for stream in (result.out, result.err):
        text = stream if isinstance(stream, str) else stream.decode("utf-8", "surrogateescape")
        assert not OBEYED.search(text), OBEYED.search(text)


@pytest.fixture
def evil(tmp_path):
    samples = recordings.eight_samples()
    samples[0]["run_start"] = dict(samples[0]["run_start"], gpu_names=["gpu"], scheduler={"SLURM_JOB_ID": "7"},
                                   command='["a"]', image="image", kernel="6.1")
    path = recordings.write(tmp_path / "evil.jsonl", [poison(sample) for sample in samples])
    marks = [{"name": "phase" + EVIL, "action": action, "timestamp": samples[i]["timestamp"], "pid": 1}
             for action, i in (("start", 1), ("stop", 4))]
    (tmp_path / "evil.jsonl.marks").write_text("".join(json.dumps(mark) + "\n" for mark in marks))
    return path


COMMANDS = [("summary",), ("summary", "--json"), ("stats",), ("show",), ("recommend",), ("recommend", "--json"),
            ("recommend", "--for", "slurm"), ("recommend", "--for", "docker"), ("regions",), ("compare-runs", "SELF"),
            ("export", "-f", "csv"), ("export", "-f", "jsonl"), ("export", "-f", "json")]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_texts_of_a_recording(run, evil, command):
    name, *options = command
    result = run(name, *[evil if option == "SELF" else option for option in options], evil)
    check(result)
    assert result.out or result.err


def test_texts_of_a_price_list(run, tmp_path):
    path = recordings.steady(tmp_path / "run.jsonl", count=100)
    prices = tmp_path / "prices.csv"
    evil = EVIL.replace("\r", "")
    prices.write_text(f"vendor_id,api_reference,vcpus,memory_mib,price_usd_per_hour\nv{evil},t{evil},4,8192,0.1\n")
    result = run("recommend", "--catalogue", prices, path)
    check(result)
    assert result.returncode == 0 and "v" + "e?[31mv" in (result.out if isinstance(result.out, str) else result.out.decode())
    prices.write_text(f"a{EVIL},b\nc,d\n".replace("\r", ""))
    check(run("recommend", "--catalogue", prices, path))


NAME = "no\x1b[31mil\x07\u009b‮"


@pytest.mark.parametrize("name", ["summary", "stats", "show", "recommend", "report", "regions", "compare-runs", "combine"])
def test_names_of_files_in_errors(run, tmp_path, name):
    check(run(name, NAME))
    (tmp_path / NAME).write_text("{}\n")
    check(run(name, tmp_path / NAME))
    check(run(name, "--no-such" + NAME))


def test_words_on_the_command_line_of_the_recorder(run):
    for words in (("-o", NAME + "/x", "--", "true"), ("--", NAME), ("--no-such" + NAME,), ("--metrics", NAME, "--", "true"),
                  ("-c", NAME, "--", "true"), ("-i", NAME, "--", "true"), ("upload", NAME), (NAME,)):
        check(run("-q", *words) if words[0].startswith("-") else run(*words))


def test_the_name_of_the_history_of_a_run_that_is_not_listed(binary):
    done = subprocess.run([pathlib.Path(binary).with_name("resource-tracker-analysis"), "--keep", "none", f"/proc/{NAME}/1.jsonl"], capture_output=True,
                          text=True, check=False)
    assert "this run is not listed: " in done.stderr and not OBEYED.search(done.stderr)
