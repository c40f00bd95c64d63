"""The command and its arguments, subcommands, and completions."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

OWN_ERROR, USAGE = 125, 2
TOP = pathlib.Path(__file__).resolve().parents[2]

# ---- the command ---------------------------------------------------------------------------------------

PRINT_ARGUMENTS = "import json, sys; print(json.dumps(sys.argv[1:]))"


@pytest.mark.parametrize("separator", [[], ["--"], ["-q", "--"]])
def test_arguments_of_the_command_are_its_own(run, separator):
    arguments = ["--output", "a b", "-o", "x", "--", "-i", "0", "", "*", "$HOME", "'\"", "--help", "é\n"]
    result = run(*separator, sys.executable, "-c", PRINT_ARGUMENTS, *arguments)
    assert json.loads(result.stdout) == arguments


def test_script_without_interpreter_runs_through_sh(run, tmp_path):
    script = tmp_path / "script"
    script.write_text('echo "$0|$1|$#"; exit 9\n')
    script.chmod(0o755)
    result = run("-q", "--", "./script", "a b", "c")
    assert (result.returncode, result.out) == (9, "./script|a b|2\n")
    result = run("-q", "--", "script", "x", env={"PATH": f"{tmp_path}:{os.environ['PATH']}"})
    assert (result.returncode, result.out) == (9, f"{tmp_path}/script|x|1\n")


def test_samples_go_to_stderr_while_wrapping_and_to_stdout_otherwise(run, helpers):
    result = run("--", "echo", "hello")
    assert result.out == "hello\n" and helpers.json_lines(result.stderr)
    result = run("-i", 0.1, "--duration", 0.25)
    assert result.err == "" and len(helpers.json_lines(result.stdout)) >= 2


def test_dash_is_stdout(run, helpers):
    result = run("-o", "-", "--", "true")
    assert result.err == "" and helpers.json_lines(result.stdout)


def test_options_without_effect_are_said(run):
    assert run("-q", "--keep-running", "--", "true").err == (
        "resource-tracker: --keep-running has no effect while wrapping a command\n")
    assert run("-q", "--keep-running", "--no-warnings", "--", "true").err == ""


@pytest.mark.parametrize("words, told", [
    (["-o", "true"], True), (["-o", "host.jsonl"], False), (["-o", "./true"], False), (["-o", "no-such-program"], False),
    (["-o", "true", "--no-warnings"], False), (["-o", "true", "--", "true"], False), (["-o", "true", "--pid", os.getpid()], False)])
def test_a_command_in_the_place_of_the_output_is_told(run, words, told):
    result = run("--no-summary", "--duration", 0.01, *words)
    assert result.returncode == 0
    assert result.err == told * ("resource-tracker: -o takes 'true' as its file, and the machine is recorded (to run it: -o FILE true)\n")


def test_job_is_told_where_its_marks_go(run, tmp_path):
    job = ["sh", "-c", "echo \"${RESOURCE_TRACKER_MARKS-none}\""]
    folder = tmp_path.resolve()
    assert run("-o", "first.jsonl", "-o", "second.jsonl", "--", *job).out == f"{folder}/first.jsonl.marks\n"
    assert run("-o", "/dev/null", "--", *job).out == "none\n"
    assert run("--", *job, env={"RESOURCE_TRACKER_MARKS": "/outer"}).out == "/outer\n"
    assert run("-o", "run-%p.jsonl", "--", *job).out.startswith(f"{folder}/run-")


# ---- subcommands ---------------------------------------------------------------------------------------


def test_subcommands_are_handed_over(run, program_with_analysis):
    result = run("stats", "--json", "a b", program=program_with_analysis)
    assert (result.returncode, result.out) == (3, "analysis stats --json a b\n")


def test_subcommand_from_libexec(run, binary, tmp_path):
    (tmp_path / "prefix/bin").mkdir(parents=True)
    (tmp_path / "prefix/libexec/resource-tracker").mkdir(parents=True)
    analysis = tmp_path / "prefix/libexec/resource-tracker/resource-tracker-analysis"
    analysis.write_text("#!/bin/sh\necho found\n")
    analysis.chmod(0o755)
    program = shutil.copy(binary, tmp_path / "prefix/bin")
    (tmp_path / "link").symlink_to(program)
    assert run("summary", program=tmp_path / "link").out == "found\n"


def test_subcommand_names_are_commands_behind_an_option(run, tmp_path):
    program = tmp_path / "show"
    program.write_text("#!/bin/sh\necho wrapped\n")
    program.chmod(0o755)
    path = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    assert run("-q", "show", env=path).out == "wrapped\n"
    assert run("-q", "--", "show", env=path).out == "wrapped\n"


def test_missing_analysis_program(run, binary, tmp_path):
    program = shutil.copy(binary, tmp_path)
    result = run("show", "x", program=program, env={"PATH": "/nonexistent"})
    assert result.returncode == OWN_ERROR and "'show' needs resource-tracker-analysis" in result.err
    (tmp_path / "show").write_text("#!/bin/sh\n")
    (tmp_path / "show").chmod(0o755)
    lines = run("show", "x", program=program, env={"PATH": str(tmp_path)}).err.splitlines()
    assert lines[1:] == ["resource-tracker: to record the program 'show': resource-tracker -- show ..."]


@pytest.mark.parametrize("name", ["show", "stats", "combine", "compare-runs", "upload", "discover", "metrics", "mark"])
def test_a_subcommand_that_is_also_a_program_says_how_to_wrap_it(run, binary, tmp_path, name):
    """On a usage error, the message says how to run a program of the same name."""
    owner = "resource-tracker-net" if name in ("upload", "discover") else "resource-tracker-analysis"
    if name not in ("metrics", "mark") and not (pathlib.Path(binary).parent / owner).exists():
        pytest.skip(f"built without {owner}")
    hint = f"resource-tracker: to record the program '{name}': resource-tracker -- {name} ..."
    without = run(name, "--no-such-option", env={"PATH": "/nonexistent"})
    assert without.returncode and "--no-such-option" in without.err and hint not in without.err
    (tmp_path / name).write_text("#!/bin/sh\n")
    (tmp_path / name).chmod(0o755)
    with_program = run(name, "--no-such-option", env={"PATH": str(tmp_path)})
    assert with_program.returncode == without.returncode
    assert with_program.err.splitlines() == [*without.err.splitlines(), hint]


def test_metrics_table_and_json_agree(run):
    metrics = json.loads(run("metrics", "--json").stdout)
    names = [metric["name"] for metric in metrics]
    assert "cpu.process_cores_used" in names and "memory.used_mib" in names and len(set(names)) == len(names)
    heading, *rows = run("metrics").out.splitlines()
    assert heading.split()[:4] == ["NAME", "UNIT", "KIND", "COST"]
    assert [row.split()[0] for row in rows] == names
    assert all(metric["help"] and metric["kind"] and metric["type"] and metric["cost"] for metric in metrics)


def test_metrics_by_name(run):
    assert [m["name"] for m in json.loads(run("metrics", "memory.used_mib", "--json").stdout)] == ["memory.used_mib"]
    group = [m["name"] for m in json.loads(run("metrics", "--json", "memory").stdout)]
    assert group == [m["name"] for m in json.loads(run("metrics", "--json", "memory.*").stdout)] and len(group) > 5
    for argument, text in [("nosuch", "there is no metric 'nosuch'"), ("--bogus", "unknown option '--bogus'")]:
        result = run("metrics", argument)
        assert (result.returncode, result.stdout) == (USAGE, b"") and f"metrics: {text}" in result.err
    assert run("metrics", "--help").out.startswith("Every metric")


# ---- completions ---------------------------------------------------------------------------------------


@pytest.fixture
def completion_folder(binary):
    folder = pathlib.Path(binary).resolve().parent / "src" / "cli"
    if not (folder / "resource-tracker.bash").exists():
        pytest.skip("the completions are not built (cross build without a native compiler)")
    return folder


def complete_in_bash(folder, *words):
    script = (f"source '{folder}/resource-tracker.bash'; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); "
              "_resource_tracker; printf '%s\\n' \"${COMPREPLY[@]}\"")
    done = subprocess.run(["bash", "--norc", "-c", script, "bash", "resource-tracker", *words], capture_output=True,
                          text=True, cwd=TOP, check=True)
    assert done.stderr == ""
    return set(done.stdout.split())


def complete_in_fish(folder, *words):
    line = " ".join(["resource-tracker", *words])
    done = subprocess.run(["fish", "--no-config", "-c", f"source {folder}/resource-tracker.fish; complete -C '{line}'"],
                          capture_output=True, text=True, cwd=TOP, check=True)
    return {row.split("\t")[0].split("=")[-1] for row in done.stdout.splitlines()}


@pytest.fixture(params=["bash", "fish"])
def complete(request, completion_folder):
    if not shutil.which(request.param):
        pytest.skip(f"{request.param} is not installed")
    function = {"bash": complete_in_bash, "fish": complete_in_fish}[request.param]
    return lambda *words: function(completion_folder, *words)


def test_completion_of_options(complete):
    assert {"--csv-layout", "--pss", "--output"} <= complete("--")
    assert complete("--csv") == {"--csv-layout"}
    assert complete("--format", "") >= {"json", "csv"}
    assert complete("-i", "1", "-f", "c") == {"csv"}
    assert "LICENSE" in complete("--output", "LIC")


def test_completion_of_subcommands_and_commands(complete):
    assert "compare-runs" in complete("comp")
    assert "compare-runs" not in complete("-q", "comp")
    assert "sha512sum" in complete("-q", "sha512su")
    assert "--csv-layout" not in complete("-q", "sort", "--")


def test_completion_inside_a_subcommand(complete):
    assert {"--column", "--agg", "--round", "--output"} <= complete("stats", "--")
    assert "--csv-layout" not in complete("stats", "--") and "--csv-layout" in complete("export", "run.jsonl", "--")
    assert complete("recommend", "--policy", "") == {"max", "p95", "cost"}
    assert complete("compare-runs", "--stat", "m") == {"min", "max", "mean"}
    assert {"host", "cloud", "all"} <= complete("discover", "")
    assert {"summary", "help", "version"} <= complete("help", "")
    assert "LICENSE" in complete("summary", "LIC") and "LICENSE" in complete("stats", "-o", "LIC")
    assert "--column" not in complete("-q", "stats", "--")


def test_completion_of_recordings(complete, tmp_path):
    for name in ("run.jsonl", "run.csv.gz", "run.jsonl.1", "notes.txt"):
        (tmp_path / name).write_text("")
    (tmp_path / "sub").mkdir()
    offered = {os.path.basename(word.rstrip("/")) for word in complete("report", f"{tmp_path}/")}
    assert {"run.jsonl", "run.csv.gz", "run.jsonl.1", "sub"} <= offered and "notes.txt" not in offered
    assert f"{tmp_path}/notes.txt" in complete("report", f"{tmp_path}/no")
    assert {"start", "stop"} <= complete("mark", "load", "")


def test_completion_of_values_behind_equals(completion_folder):
    assert complete_in_bash(completion_folder, "--format", "=", "j") == {"json"}
    assert complete_in_bash(completion_folder, "--summary", "=", "") == {"text", "json"}


def test_zsh_completion_parses(completion_folder):
    if not shutil.which("zsh"):
        pytest.skip("zsh is not installed")
    subprocess.run(["zsh", "-f", "-n", completion_folder / "_resource-tracker"], check=True)


ZSH = """
zmodload zsh/zpty
setopt extendedglob
zpty shell zsh -f -i
zpty -w shell "PS1=; fpath=($1 \\$fpath); autoload -Uz compinit; compinit -u -D; cd $2; LISTMAX=10000; echo rea'dy'"
zpty -r shell line '*ready*'
zpty -w -n shell "$3"$'\\t'
text= plain=
for ((tries = 0; tries < 150; tries++)); do
	while zpty -r -t shell line; do text+=$line; done
	plain=${text//$'\\e['[0-9;?]#[a-zA-Z]/}
	[[ $plain == *"$4"* ]] && break
	sleep 0.2
done
print -r -- $text
zpty -d shell
"""


def complete_in_zsh(folder, line, wanted):
    """The text of a terminal after the tabulator key, as soon as it has the wanted word, or after 30 seconds."""
    done = subprocess.run(["zsh", "-f", "-c", ZSH, "zsh", folder, TOP, line, wanted], capture_output=True, text=True, timeout=90)
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", done.stdout)


def test_zsh_completion_inside_a_subcommand(completion_folder):
    if not shutil.which("zsh"):
        pytest.skip("zsh is not installed")
    said = complete_in_zsh(completion_folder, "resource-tracker recommend --poli", "--policy")
    assert "--policy" in said
    said = complete_in_zsh(completion_folder, "resource-tracker compare-runs --stat m", "mean")
    assert "mean" in said and "std" not in said
    assert "--csv-layout" in complete_in_zsh(completion_folder, "resource-tracker export --csv-", "--csv-layout")
    assert "LICENSE" in complete_in_zsh(completion_folder, "resource-tracker summary LICEN", "LICENSE")


@pytest.fixture
def kept_runs(binary, tmp_path, monkeypatch):
    """A history of two runs, and the program on PATH."""
    if not (pathlib.Path(binary).parent / "resource-tracker-analysis").exists():
        pytest.skip("built without the analysis")
    line = {"schema": 1, "outcome": "ok", "folder": "x", "started": 1.0}
    history = tmp_path / "history"
    history.mkdir(mode=0o700)
    (history / "runs.jsonl").write_text("".join(
        json.dumps({**line, "number": number, "name": name}) + "\n" for number, name in ((4711, "nightly"), (4712, "two words"))))
    monkeypatch.setenv("TRACKER_HISTORY", str(history))
    monkeypatch.setenv("PATH", f"{pathlib.Path(binary).resolve().parent}:{os.environ['PATH']}")


def test_completion_of_runs(complete, kept_runs):
    assert {"last", "last~1", "4711", "4712", "nightly"} <= complete("summary", "")
    assert complete("report", "nig") == {"nightly"} and "LICENSE" in complete("report", "LIC")
    assert complete("rm", "47") == {"4711", "4712"} and "LICENSE" not in complete("tag", "LIC")
    assert "last~1" in complete("compare-runs", "4711", "last")


def test_completion_of_metrics(complete, kept_runs):
    assert complete("metrics", "cpu.process_rss") == {"cpu.process_rss_mib"}
    assert "memory.used_mib" in complete("stats", "-c", "memory.used")
    assert "memory.used_mib" in complete("--metrics", "memory.used")
    listed = complete("stats", "--column", "memory.used_mib,cpu.process_rss")
    assert listed == {"memory.used_mib,cpu.process_rss_mib"}


def test_completion_of_metrics_without_their_group(completion_folder, kept_runs):
    """fish offers the name with its group, because it also looks in the middle of words."""
    assert complete_in_bash(completion_folder, "metrics", "process_rss") == {"process_rss_mib"}
    assert complete_in_bash(completion_folder, "stats", "-c", "memory.used_mib,process_rss") == {"memory.used_mib,process_rss_mib"}
    if shutil.which("zsh"):
        assert "process_rss_mib" in complete_in_zsh(completion_folder, "resource-tracker metrics process_rs", "process_rss_mib")


def test_bash_completes_a_run_of_two_words_behind_a_backslash(completion_folder, kept_runs):
    assert complete_in_bash(completion_folder, "summary", "two\\ wo") == {"two", "words"}  # one word for readline


def test_zsh_completion_of_runs_and_metrics(completion_folder, kept_runs):
    if not shutil.which("zsh"):
        pytest.skip("zsh is not installed")
    assert "nightly" in complete_in_zsh(completion_folder, "resource-tracker summary nigh", "nightly")
    assert "nightly" in complete_in_zsh(completion_folder, "resource-tracker rm nigh", "nightly")
    assert "LICENSE" in complete_in_zsh(completion_folder, "resource-tracker report LICEN", "LICENSE")
    assert "process_rss_mib" in complete_in_zsh(completion_folder, "resource-tracker metrics cpu.process_rs", "process_rss_mib")
    assert "process_rss_mib" in complete_in_zsh(completion_folder, "resource-tracker stats -c memory.used_mib,cpu.process_rs", "process_rss_mib")
