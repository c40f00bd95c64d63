"""Refused and ignored input, with one clear line each: arguments, environment, configuration file."""
import json
import os
import re
import threading

import pytest

OWN_ERROR, NOT_EXECUTABLE, NOT_FOUND = 125, 126, 127


def assert_refused(result, text, status=OWN_ERROR):
    assert result.returncode == status, result.err
    assert result.stdout == b""
    assert result.err.count("\n") == 1 and result.err.startswith("resource-tracker: "), result.err
    assert text in result.err


BAD = [
    (["-i", "0"], "--interval: '0' is too short; the least is 0.001 seconds"),
    (["-i", "-1"], "--interval: '-1' is too short"),
    (["-i", "nan"], "--interval: 'nan' is not a length of time"),
    (["--interval", "soon"], "--interval: 'soon' is not a length of time"),
    (["-i", "1e-9"], "--interval: '1e-9' is too short"),
    (["-i", "1e99"], "--interval: '1e99' is too long"),
    (["-i"], "--interval needs TIME"),
    (["--output"], "--output needs FILE"),
    (["-o", "--quiet"], "--output needs FILE, but '--quiet' follows; if that is meant: --output=--quiet"),
    (["--intervall", "1"], "unknown option '--intervall'; the nearest is --interval"),
    (["--inter", "1"], "unknown option '--inter'; the nearest is --interval"),
    (["--csv=1"], "unknown option '--csv=1'; the nearest is --csv-layout"),
    (["-interval", "1"], "unknown option '-interval'; the nearest is --interval"),
    (["-X"], "unknown option '-X' (see"),
    (["-qX"], "unknown option '-qX' (see"),
    (["-"], "'-' is neither an option nor a command"),
    (["-f", "xml"], "--format: 'xml' is unknown; give one of json, csv"),
    (["--csv-layout", "wide"], "--csv-layout: 'wide' is unknown; give one of combined, system, process"),
    (["--pss", "maybe"], "--pss: 'maybe' is unknown; give one of auto, always, off"),
    (["--summary=xml"], "--summary: 'xml' is unknown; give one of text, json"),
    (["--quiet=maybe"], "--quiet: 'maybe' is neither yes nor no; give 1 or 0"),
    (["--append=maybe"], "--append: 'maybe' is neither yes nor no; give 1 or 0"),
    (["--tag", "novalue"], "--tag: 'novalue' has no '='; give KEY=VALUE"),
    (["--tag", "=x"], "--tag: '=x' has no key before the '='; give KEY=VALUE"),
    (["--start-at", "noon"], "--start-at: 'noon' is not a time; give for example"),
    (["--duration", "0"], "--duration: '0' is not more than 0 seconds"),
    (["--metrics", ","], "--metrics: ',' names no metric"),
    (["--metrics", "cpu.*,nosuch.thing"], "--metrics: 'nosuch.thing' names no metric"),
    (["--pid", "1"], "--pid and a command exclude each other"),
    (["-i", "1", "-i", "2"], "--interval is given twice"),
    (["-o", "a", "-o", "a"], "--output: 'a' is given twice"),
    (["-o", "missing/file"], "missing/file"),
    (["-o", "."], "."),
    (["-o", "%x"], "%x"),
    (["--root", "missing"], "missing"),
]


@pytest.mark.parametrize("arguments, text", BAD, ids=[" ".join(case[0]) for case in BAD])
def test_bad_arguments_are_one_line_and_start_nothing(run, tmp_path, arguments, text):
    command = ["touch", tmp_path / "started"]
    # Only the last argument can lack its value.
    is_cut = len(arguments) == 1 and arguments[0] in ("-i", "--output")
    assert_refused(run(*arguments, *([] if is_cut else ["--", *command])), text)
    assert not (tmp_path / "started").exists()


@pytest.mark.parametrize("variable, value, text", [
    ("TRACKER_INTERVAL", "0", "TRACKER_INTERVAL: '0' is too short"),
    ("TRACKER_TAG", "a=1\nb", "TRACKER_TAG: 'b' has no '='"),
    ("TRACKER_QUIET", "perhaps", "TRACKER_QUIET: 'perhaps' is neither yes nor no"),
    ("TRACKER_FORMAT", "xml", "TRACKER_FORMAT: 'xml' is unknown"),
])
def test_bad_environment_is_one_line_and_starts_nothing(run, tmp_path, variable, value, text):
    assert_refused(run("--", "touch", tmp_path / "started", env={variable: value}), text)
    assert not (tmp_path / "started").exists()


@pytest.mark.parametrize("pid, text", [("99999999", "99999999"), ("0", "'0' is not a process id"),
                                       ("x", "'x' is not a process id"), ("-5", "'-5' is not a process id")])
def test_no_such_process(run, pid, text):
    assert_refused(run("--pid", pid), text)


def test_the_pid_of_a_thread_is_refused_with_that_of_its_process(run):
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    try:
        result = run("--pid", thread.native_id)
    finally:
        done.set()
        thread.join()
    assert_refused(result, f"{thread.native_id} is a thread: give its process, {os.getpid()} (--pid)")


def test_no_command_after_the_separator(run):
    assert_refused(run("--"), "there is no command after '--'")


def test_empty_command(run):
    assert_refused(run("-i", 1, ""), "the command is empty", NOT_FOUND)
    assert_refused(run("--", ""), "the command is empty", NOT_FOUND)


def test_command_not_found_is_recorded(record):
    result, samples = record("--", "no-such-command-anywhere")
    assert_refused(result, "no-such-command-anywhere: command not found", NOT_FOUND)
    assert samples[-1]["run_end"]["reason"] == "exec_failed"
    assert {one["name"] for one in samples[-1]["programs"] + samples[-1]["run_end"]["programs"]} == {"no-such-command-anywhere"}


def test_a_mistyped_command_gets_one_line_and_no_samples(run, tmp_path):
    for words in (["no-such-command-anywhere"], ["-f", "json", "--", "no-such-command-anywhere"]):
        assert run(*words).err == "resource-tracker: no-such-command-anywhere: command not found\n"
    (tmp_path / "plain").write_text("text")
    assert run("--", "./plain").err == "resource-tracker: ./plain: Permission denied\n"
    assert run("-o", "-", "--", "no-such-command-anywhere").out.count('"exec_failed"') == 1


def test_a_mistyped_subcommand_is_a_command_not_found_that_names_the_nearest(run):
    assert_refused(run("-q", "summry", "x.jsonl"), "summry: command not found; the nearest subcommand is summary", NOT_FOUND)
    assert_refused(run("-q", "summary", "x.jsonl"), "summary: command not found; the subcommand of this name comes first, before all options",
                   NOT_FOUND)
    assert run("-q", "sumo").err == "resource-tracker: sumo: command not found\n"


def test_command_not_executable_is_recorded(record, tmp_path):
    (tmp_path / "plain").write_text("text")
    result, samples = record("--", "./plain")
    assert_refused(result, "./plain: Permission denied", NOT_EXECUTABLE)
    assert samples[-1]["run_end"]["reason"] == "exec_failed"


def test_locked_output_is_refused(run, spawn, helpers, tmp_path):
    path = tmp_path / "held.jsonl"
    spawn("-i", 0.1, "-o", path)
    helpers.wait_until(lambda: path.exists() and path.stat().st_size > 0)
    before = path.stat().st_size
    assert_refused(run("-o", path, "--", "touch", tmp_path / "started"), "held.jsonl")
    assert not (tmp_path / "started").exists() and not (tmp_path / "held.jsonl.1").exists()
    assert path.stat().st_size >= before


def test_inherited_output_that_is_being_written_is_ignored(run, binary, helpers, tmp_path):
    path = tmp_path / "shared.jsonl"
    result = run("-i", 60, "--", binary, "-i", 60, "--", "sh", "-c", "exit 5", env={"TRACKER_OUTPUT": str(path)})
    assert result.returncode == 5
    warnings = [line for line in result.err.splitlines() if line.startswith("resource-tracker: ")]
    inner = [json.loads(line) for line in result.err.splitlines() if line.startswith("{")]
    assert len(warnings) == 1 and "shared.jsonl" in warnings[0] and not (tmp_path / "shared.jsonl.1").exists()
    # Beside other load, each has an early sample, too.
    for samples in (inner, helpers.json_lines(path)):
        assert samples and [sample["sample"] for sample in samples] == list(range(len(samples)))


def test_help_that_cannot_be_written(run):
    with open("/dev/full", "w") as full:
        assert run("--help", stdout=full).returncode == OWN_ERROR


def test_control_characters_do_not_reach_the_terminal(run):
    error = run("-f", "a\x1b[31m\nb", "--", "true").err
    assert error.count("\n") == 1 and "\x1b" not in error


# ---- the configuration file ----------------------------------------------------------------------------


def test_file_that_does_not_parse(run, needs_toml, tmp_path):
    (tmp_path / "resource-tracker.toml").write_text("[tracker]\ninterval_secs = = 2\n")
    result = run("-q", "--", "sh", "-c", "exit 3")
    assert result.returncode == 3
    assert re.fullmatch(r"resource-tracker: resource-tracker\.toml:2:17: .+; going on without this file\n", result.err)


def test_unknown_key(run, needs_toml, tmp_path):
    (tmp_path / "resource-tracker.toml").write_text("[tracker]\ninterval = 2\nquiet = true\n")
    result = run("--", "sh", "-c", "exit 3")
    assert (result.returncode, result.err) == (3, "resource-tracker: resource-tracker.toml:2: unknown key tracker.interval "
                                               "is ignored; the nearest is tracker.interval_secs\n")


@pytest.mark.parametrize("line, text", [
    ("interval_secs = 0", "tracker.interval_secs: '0' is too short"),
    ("interval_secs = nan", "tracker.interval_secs: 'nan' is not a length of time"),
    ("interval_secs = 'x'", "tracker.interval_secs: 'x' is not a length of time"),
    ("interval_secs = [[1]]", "tracker.interval_secs has an invalid value"),
    ("format = 3", "tracker.format: '3' is unknown"),
    ("append = 'maybe'", "tracker.append: 'maybe' is neither yes nor no"),
    ("why = 'maybe'", "tracker.why: 'maybe' is neither yes nor no"),
])
def test_bad_value_is_a_warning(run, needs_toml, tmp_path, line, text):
    (tmp_path / "resource-tracker.toml").write_text(f"[tracker]\n{line}\n")
    result = run("-q", "--", "sh", "-c", "exit 3")
    assert result.returncode == 3 and result.err.count("\n") == 1
    assert result.err.startswith("resource-tracker: resource-tracker.toml:2: ") and text in result.err


@pytest.mark.parametrize("settings, text", [
    ('output = ["absent/run.jsonl"]', "cannot write to 'absent/run.jsonl'"),
    ('output = ["run-%q.jsonl"]', "output 'run-%q.jsonl'"),
    ('output = ["resource-tracker.toml"]', "cannot write to 'resource-tracker.toml'"),
    ('root = "/absent"', "root folder '/absent' cannot be opened"),
    ('output = ["absent/run.jsonl"]\nroot = "/absent"', "cannot write to 'absent/run.jsonl'"),
])
def test_a_place_in_the_file_that_cannot_be_used_stops_no_job(run, needs_toml, tmp_path, settings, text):
    (tmp_path / "resource-tracker.toml").write_text(f"[tracker]\nquiet = true\n{settings}\n")
    result = run("sh", "-c", "echo it ran; exit 3")
    assert (result.returncode, result.out) == (3, "it ran\n"), result.err
    assert text in result.err and "ignored" in result.err


def test_only_the_outputs_of_the_file_that_cannot_be_used_are_left_out(run, helpers, needs_toml, tmp_path):
    (tmp_path / "resource-tracker.toml").write_text(
        '[tracker]\noutput = [\n "first.csv",\n "new%u.csv",\n "absent/run.jsonl",\n "last.jsonl",\n "run-%q.csv"]\n')
    (tmp_path / "site.toml").write_text('[tracker]\noutput = ["site.jsonl"]\n')
    result = run("sh", "-c", "exit 3", env={"TRACKER_SITE_CONFIG": "site.toml"})
    assert result.returncode == 3
    lines = result.err.splitlines()
    assert [line.partition(" cannot write")[0].partition(" output ")[0] for line in lines] == [
        "resource-tracker: resource-tracker.toml:5: tracker.output:",
        "resource-tracker: resource-tracker.toml:7: tracker.output:"], result.err
    assert "'absent/run.jsonl'" in lines[0] and "'run-%q.csv'" in lines[1]
    assert all(line.endswith("; ignored") for line in lines)
    assert helpers.json_lines(tmp_path / "last.jsonl")[-1]["run_end"]["exit_code"] == 3
    # Each was opened a second time: neither another name nor a second header came of it.
    assert sorted(path.name for path in tmp_path.iterdir()) == ["first.csv", "last.jsonl", "new.csv", "resource-tracker.toml", "site.toml"]
    for name in ("first.csv", "new.csv"):
        assert (tmp_path / name).read_text().count("timestamp") == 1


def test_only_the_inherited_output_that_is_held_is_left_out(run, spawn, helpers, tmp_path):
    path = tmp_path / "held.jsonl"
    spawn("-i", 0.1, "-o", path)
    helpers.wait_until(lambda: path.exists() and path.stat().st_size > 0)
    result = run("true", env={"TRACKER_OUTPUT": "held.jsonl\nfree.jsonl"})
    assert result.returncode == 0
    assert re.fullmatch(r"resource-tracker: TRACKER_OUTPUT: .*held\.jsonl.*; ignored\n", result.err), result.err
    assert helpers.json_lines(tmp_path / "free.jsonl")[-1]["run_end"]["exit_code"] == 0


def test_a_root_in_the_file_that_cannot_be_used_leaves_the_outputs(run, helpers, needs_toml, tmp_path):
    (tmp_path / "resource-tracker.toml").write_text('[tracker]\nroot = "/absent"\noutput = ["run.jsonl"]\n')
    assert run("true").returncode == 0
    assert helpers.json_lines(tmp_path / "run.jsonl")[-1]["run_end"]["exit_code"] == 0


def test_a_place_in_the_file_counts_no_more_if_the_user_gives_another(run, needs_toml, tmp_path):
    (tmp_path / "resource-tracker.toml").write_text('[tracker]\nquiet = true\noutput = ["run.jsonl"]\n')
    assert run("-o", "absent/run.jsonl", "--", "true").returncode == 125
    assert run("true", env={"TRACKER_OUTPUT": "absent/run.jsonl"}).returncode == 125


def test_unreadable_and_odd_files(run, needs_toml, tmp_path):
    assert "Is a directory" in run("-c", ".", "-q", "--", "true").err
    (tmp_path / "binary.toml").write_bytes(bytes(range(256)))
    assert run("-c", "binary.toml", "-q", "--", "true").returncode == 0
    (tmp_path / "empty.toml").write_bytes(b"")
    assert run("-c", "empty.toml", "-q", "--", "true").err == ""
    (tmp_path / "long.toml").write_text("k" * 100_000 + " = 1\n")
    result = run("-c", "long.toml", "-q", "--", "true")
    assert result.returncode == 0 and len(result.err) < 500
    (tmp_path / "huge.toml").write_text("#" * (2 << 20))
    assert "too large" in run("-c", "huge.toml", "-q", "--", "true").err
    (tmp_path / "nul.toml").write_bytes(b"[job]\nna\0me = 1\n")
    assert run("-c", "nul.toml", "-q", "--", "true").err == (
        "resource-tracker: nul.toml:2:3: a NUL byte; going on without this file\n")
    (tmp_path / "letters.toml").write_text("[job]\nname = \u00e9\n")
    assert "letters.toml:2:8: " in run("-c", "letters.toml", "-q", "--", "true").err
    (tmp_path / "deep.toml").write_text("a = " + "[" * 50_000)
    assert run("-c", "deep.toml", "-q", "--", "true").returncode == 0


def test_times_may_be_toml_times(record, needs_toml, tmp_path):
    (tmp_path / "resource-tracker.toml").write_text("[tracker]\nstart_at = 2020-01-01T00:00:00Z\n")
    result, _ = record("--", "true")
    assert (result.returncode, result.err) == (0, "")
