"""Words that users type: durations, abbreviations, typos, and the subcommands help and version."""
import json
import os
import re
import shutil
import subprocess
import time

import pytest

import recordings

OWN_ERROR, USAGE = 125, 2

# ---- durations -----------------------------------------------------------------------------------------


def interval_of(samples):
    return samples[0]["run_start"]["interval_secs"]


@pytest.mark.parametrize("text, secs", [("250ms", 0.25), ("1s", 1.0), ("0.5m", 30.0), ("1h", 3600.0), ("1d", 86400.0),
                                        ("2", 2.0)])
def test_interval_takes_units(record, text, secs):
    result, samples = record("-i", text, "--", "true")
    assert (result.returncode, interval_of(samples)) == (0, secs)


def test_interval_takes_units_in_the_environment_and_the_file(record, tmp_path, needs_toml):
    assert interval_of(record("--", "true", env={"TRACKER_INTERVAL": "250ms"})[1]) == 0.25
    (tmp_path / "resource-tracker.toml").write_text('[tracker]\ninterval_secs = "0.5m"\nupload_deadline = "2s"\n')
    result, samples = record("--", "true")
    assert (interval_of(samples), result.err) == (30.0, "")


def test_duration_takes_units(run):
    started = time.monotonic()
    result = run("-i", "100ms", "--duration", "300ms", "-o", "run.jsonl")
    assert result.returncode == 0 and time.monotonic() - started < 10
    result = run("--start-at", "+200ms", "-i", "100ms", "--duration", "300ms", "-o", "late.jsonl")
    assert result.returncode == 0


@pytest.mark.parametrize("option", ["-i", "--duration", "--upload-deadline"])
@pytest.mark.parametrize("text", ["5x", "ms", "1m30s", "1 2", "5M"])
def test_other_units_are_refused(run, tmp_path, option, text):
    result = run(option, text, "--", "touch", "started")
    assert result.returncode == OWN_ERROR and "length of time" in result.err
    assert not (tmp_path / "started").exists()


# ---- abbreviations are refused, near names are suggested -------------------------------------------------

@pytest.fixture
def recorded(tmp_path):
    path = tmp_path / "run.jsonl"
    recordings.steady(path)
    return path


SUBCOMMANDS = ("summary", "stats", "show", "recommend", "report", "compare-runs", "regions", "export", "combine")


@pytest.mark.parametrize("name", SUBCOMMANDS)
@pytest.mark.parametrize("word, meant", [("--outpu", "output"), ("--outpu=x", "output"), ("--ouptut", "output")])
def test_subcommands_take_no_abbreviations(run, recorded, binary, name, word, meant):
    result = run(name, recorded, word)
    if "needs resource-tracker-analysis" in result.err:
        pytest.skip("built without the analysis")
    assert (result.returncode, result.out) == (USAGE, "")
    assert f"unknown option '{word}'; the nearest is --{meant} (see resource-tracker {name} --help)" in result.err


def test_a_value_that_looks_like_an_option_is_given_behind_an_equals_sign(run, recorded, tmp_path):
    """A forgotten value is more frequent, and would make a file of that name."""
    result = run("stats", "-o", "--js", recorded)
    if "needs resource-tracker-analysis" in result.err:
        pytest.skip("built without the analysis")
    assert result.returncode == USAGE and "if that is meant: --output=--js" in result.err
    assert run("stats", "--output=--js", recorded).returncode == 0 and (tmp_path / "--js").exists()


@pytest.mark.parametrize("words, message", [
    (["stats", "--round"], "--round needs N"),
    (["summary", "--format", "yaml"], "--format: 'yaml' is unknown; give one of text, json, markdown, gpu-tracker"),
    (["summary", "--json=maybe"], "--json: 'maybe' is neither yes nor no; give 1 or 0"),
    (["show", "--rows", "1", "--rows", "2"], "--rows is given twice"),
    (["show", "--rows", "x"], "--rows: 'x' is not a valid value"),
    (["regions", "-marks"], "unknown option '-marks'; the nearest is --marks"),
    (["upload", "--root"], "--root needs DIR"),
    (["discover", "moon"], "name one of host, cloud, all"),
    (["metrics", "--json", "--bogus"], "unknown option '--bogus'"),
    (["mark", "--id", "--json"], "--id needs ID, but '--json' follows; if that is meant: --id=--json"),
    (["version", "now"], "'now' is one word too many"),
])
def test_every_subcommand_speaks_alike_of_a_mistake(run, recorded, words, message):
    """One line, one exit status, from whichever of the three programs the subcommand comes."""
    result = run(words[0], *words[1:])
    if "is not installed" in result.err:
        pytest.skip(result.err)
    assert (result.returncode, result.out) == (USAGE, "")
    assert result.err == f"resource-tracker {words[0]}: {message} (see resource-tracker {words[0]} --help)\n"


def test_a_switch_of_a_subcommand_can_be_turned_off(run, recorded):
    result = run("stats", "--json=no", recorded)
    if "needs resource-tracker-analysis" in result.err:
        pytest.skip("built without the analysis")
    assert result.out == run("stats", recorded).out != run("stats", "--json", recorded).out


def test_the_nearest_option_may_be_the_beginning_of_the_word(run, recorded):
    result = run("recommend", "--format", "slurm", recorded)
    if "needs resource-tracker-analysis" not in result.err:
        assert "unknown option '--format'; the nearest is --for" in result.err


def test_an_option_that_is_like_none_has_no_nearest(run, recorded):
    assert "nearest" not in run("--zzz", "--", "true").err
    assert "nearest" not in run("-x", "--", "true").err
    result = run("summary", "--zzz", recorded)
    if "needs resource-tracker-analysis" not in result.err:
        assert "unknown option '--zzz' (see" in result.err


@pytest.mark.parametrize("subcommand", ["upload", "discover"])
def test_subcommands_of_the_network_take_no_abbreviations(run, subcommand):
    result = run(subcommand, "--jso")
    if "needs resource-tracker-net" in result.err:
        pytest.skip("built without the network")
    assert result.returncode == USAGE and "--jso" in result.err


@pytest.mark.parametrize("text, meant", [
    ("interval = 2\n", "interval is ignored; the nearest is tracker.interval_secs"),
    ("[job]\ninterval_secs = 2\n", "job.interval_secs is ignored; the nearest is tracker.interval_secs"),
    ("[tracker]\nintervall = 2\n", "tracker.intervall is ignored; the nearest is tracker.interval_secs"),
    ("[tracker]\njob_name = 'x'\n", "tracker.job_name is ignored; the nearest is job.name"),
    ("[foo]\nx = 1\n", "foo.x is ignored\n"),
])
def test_an_unknown_key_names_a_near_one(run, tmp_path, needs_toml, text, meant):
    (tmp_path / "resource-tracker.toml").write_text(text)
    result = run("-q", "--", "true")
    assert result.returncode == 0 and "unknown key " + meant in result.err


@pytest.mark.parametrize("text, told", [
    ("tracker = []\n", ["1: unknown key tracker is ignored; the nearest is "]),
    ("[tracker]\nintervall = []\nquiet = {}\n", ["2: unknown key tracker.intervall is ignored; the nearest is ", "3: tracker.quiet has an invalid value; ignored"]),
    ("[tracker]\ninterval_secs = []\n", ["2: tracker.interval_secs has an invalid value; ignored"]),
    ("[tracker]\nquiet = true\nmetrics = []\noutput = []\n", []),
])
def test_an_empty_list_is_told_unless_the_key_takes_one(run, tmp_path, needs_toml, text, told):
    (tmp_path / "resource-tracker.toml").write_text(text)
    result = run("-o", "run.jsonl", "--", "true")
    lines = result.err.splitlines()
    assert result.returncode == 0 and len(lines) == len(told), lines
    for line, one in zip(lines, told):
        assert line.startswith("resource-tracker: resource-tracker.toml:" + one)


def test_a_metric_that_is_like_none_has_no_nearest(run, recorded):
    result = run("stats", "-c", "process_cores_usd", recorded)
    if "needs resource-tracker-analysis" in result.err:
        pytest.skip("built without the analysis")
    assert "the nearest is process_cores_used" in result.err
    assert "nearest" not in run("stats", "-c", "qqqq", recorded).err


def test_metrics_are_known_by_their_last_part_and_by_a_near_name(run):
    assert run("metrics", "--names", "process_rss_mib").out == "cpu.process_rss_mib\n"
    assert "the nearest is cpu.process_rss_mib" in run("metrics", "proces_rss_mib").err
    assert "the nearest is cpu.process_rss_mib" in run("metrics", "cpu.proces_rss_mib").err
    for word in "x", "nosuch", "zzzz":
        result = run("metrics", word)
        assert result.returncode == USAGE and "nearest" not in result.err


# ---- help and version ------------------------------------------------------------------------------------

def test_help_and_version_are_subcommands(run):
    assert run("help").out == run("--help").out
    assert run("help", "--all").out == run("--help=all").out
    assert run("version").out == run("--version").out
    assert json.loads(run("version", "--json").out) == {"version": run("--version").out.split()[1]}
    assert run("version", "now").returncode == USAGE


def test_version_verbose_names_libc_compiler_and_programs(run, tmp_path):
    lines = run("--version", "--verbose").out.splitlines()
    assert lines[0] == run("--version").out.strip()
    facts = dict(re.split(r":\s+", line, maxsplit=1) for line in lines[1:])
    assert list(facts) == ["libc", "compiler", "configuration file", "analysis", "network", "helper"]
    assert re.match(r"(glibc \d|musl$)", facts["libc"]) and re.search(r"(gcc|[Cc]lang) ?\d", facts["compiler"])
    assert facts["configuration file"] in ("yes", "no")
    assert all(facts[name] == "not installed" or os.access(facts[name], os.X_OK) for name in ("analysis", "network", "helper"))
    alone = tmp_path / "resource-tracker"
    shutil.copy(run("--version").args[0], alone)
    text = subprocess.run([alone, "--verbose", "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout
    assert str(tmp_path) not in text
    assert "--verbose belongs to --version" in run("--verbose", "--", "true").err


def test_help_of_a_subcommand(run):
    assert run("help", "metrics").out == run("metrics", "--help").out
    summary = run("help", "summary")
    assert summary.out == run("summary", "--help").out
    result = run("help", "sumary")
    assert result.returncode == USAGE and "the nearest is summary" in result.err
    assert run("help", "frobnicate").returncode == USAGE


def test_programs_called_help_can_still_be_recorded(run, tmp_path):
    program = tmp_path / "help"
    program.write_text("#!/bin/sh\necho helped\n")
    program.chmod(0o755)
    assert run("-q", "--", "./help").out == "helped\n"


# ---- config show -----------------------------------------------------------------------------------------

def shown(run, *arguments, **popen):
    rows = json.loads(run("config", "show", "--json", *arguments, **popen).out)
    return {row["option"]: row for row in rows if row["option"] != "tag"}, [row for row in rows if row["option"] == "tag"]


def test_config_show_names_the_origin_of_each_setting(run, tmp_path):
    rows, _ = shown(run)
    assert rows["interval"] == {"option": "interval", "key": "tracker.interval_secs", "value": "1s", "from": "default",
                                "problem": None}
    rows, _ = shown(run, env={"TRACKER_INTERVAL": "5m", "TRACKER_DURATION": "x"})
    assert (rows["interval"]["value"], rows["interval"]["from"]) == ("5m", "TRACKER_INTERVAL")
    assert "not a length of time" in rows["duration"]["problem"]
    text = run("config", "show").out
    assert any(line.split() == ["tracker.interval_secs", "1s", "default"] for line in text.splitlines())


def test_config_show_reads_the_file_as_a_recording_does(run, needs_toml, tmp_path):
    (tmp_path / "job.toml").write_text('[tracker]\ninterval_secs = 2\nquiet = true\nintervall = 3\n[job]\ntag = ["a=1", "b=2"]\n')
    result = run("config", "show", "--json", "-c", "job.toml", env={"TRACKER_INTERVAL": "3"})
    assert "job.toml:4: unknown key tracker.intervall is ignored; the nearest is tracker.interval_secs" in result.err
    rows, tags = shown(run, "-c", "job.toml", env={"TRACKER_INTERVAL": "3"})
    assert (rows["interval"]["value"], rows["interval"]["from"]) == ("3", "TRACKER_INTERVAL")
    assert (rows["quiet"]["value"], rows["quiet"]["from"]) == ("1", "job.toml:3")
    assert [(tag["value"], tag["from"]) for tag in tags] == [("a=1", "job.toml:6"), ("b=2", "job.toml:6")]
    (tmp_path / "job.toml").rename(tmp_path / "resource-tracker.toml")
    assert shown(run)[0]["interval"]["from"] == "resource-tracker.toml:2"
    assert run("config").returncode == USAGE and run("config", "set").returncode == USAGE
