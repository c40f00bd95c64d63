"""action.yml: its shell steps run here as GitHub's runner runs them, with a cache that is a folder."""
import os
import pathlib
import re
import subprocess

import pytest

import recordings
from conftest import BUILD, TOP, clean_environment, json_lines

SHELL = ["bash", "--noprofile", "--norc", "-eo", "pipefail"]  # what GitHub's runner makes of `shell: bash`


def shell_steps():
    """Returns the `run:` blocks of action.yml and their `env:`, by a reader of this file alone: the tests have no YAML reader."""
    steps = []
    for text in re.split(r"^    - ", (TOP / "action.yml").read_text(), flags=re.M)[1:]:
        script = re.search(r"^      run: \|\n((?:        .*\n|\n)+)", text, re.M)
        if script:
            variables = dict(re.findall(r"^        (RT_\w+): \$\{\{ ([\w.-]+) \}\}$", text, re.M))
            steps.append((re.sub(r"^        ", "", script[1], flags=re.M), variables))
    return steps


class Runner:
    def __init__(self, folder):
        self.folder = folder
        self.path = f"{BUILD}:{os.environ['PATH']}"
        self.summary = ""

    def step(self, number, **inputs):
        """Runs the shell step with that number. Files that the runner hands over are fresh for each step."""
        script, variables = shell_steps()[number]
        values = {"inputs.folder": ".resource-tracker", "inputs.steps": "", "inputs.last-good": "10", "inputs.name": "", "inputs.fail-if": "",
                  "github.action_path": str(TOP), **{f"inputs.{name.replace('_', '-')}": value for name, value in inputs.items()}}
        values.update({name: value for name, value in inputs.items() if name.startswith("github.")})
        files = {name: self.folder / f"{name}.txt" for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT", "GITHUB_PATH", "GITHUB_ENV")}
        for path in files.values():
            path.write_text("")
        (self.folder / "step.sh").write_text(script)
        environment = {**clean_environment(), "PATH": self.path, "RUNNER_TEMP": str(self.folder), "GITHUB_ACTIONS": "true",
                       "GITHUB_WORKFLOW": "CI", "GITHUB_JOB": "build", "LC_ALL": "C.UTF-8", **{name: str(path) for name, path in files.items()},
                       **{name: values[expression] for name, expression in variables.items()}}
        result = subprocess.run([*SHELL, "step.sh"], cwd=self.folder, env=environment, stdin=subprocess.DEVNULL,
                                capture_output=True, text=True, timeout=50)
        self.summary = files["GITHUB_STEP_SUMMARY"].read_text()
        self.output = dict(line.split("=", 1) for line in files["GITHUB_OUTPUT"].read_text().splitlines())
        self.added_path = files["GITHUB_PATH"].read_text()
        self.added_env = files["GITHUB_ENV"].read_text()
        return result


@pytest.fixture
def runner(tmp_path):
    return Runner(tmp_path)


def test_no_plain_text_of_the_yaml_files_is_a_mapping():
    """Text without quotes ends at a colon before a space: a reader of YAML refuses the file. bench/steps runs them on real runners."""
    for name in "action.yml", "examples/ci/track.yml", "examples/ci/gitlab-ci.yml":
        block = None
        for line in (TOP / name).read_text().splitlines():
            indent = len(line) - len(line.lstrip())
            block = block if block is None or indent > block or not line.strip() else None
            found = re.match(r"\s*(?:- )?[\w-]+: (.*)", line)
            if block is None and found:
                block = indent if found[1] == "|" else None
                assert found[1][:1] in "'\"{[|" or ": " not in found[1], (name, line)


def test_the_step_runs_as_githubs_shell_and_has_a_summary(runner):
    result = runner.step(2, run='echo "a  b"\necho err >&2')
    assert (result.returncode, result.stdout, result.stderr) == (0, "a  b\n", "err\n")
    assert runner.summary.startswith("### **bash**, job CI, on ") and "| **CPU** |" in runner.summary
    assert json_lines(pathlib.Path(runner.output["recording"]))[-1]["run_end"]["exit_code"] == 0
    line, = json_lines(runner.folder / ".resource-tracker" / "runs.jsonl")
    assert (line["name"], line["task"], line["outcome"]) == ("CI", "build", "ok")


def test_the_job_tells_its_input_by_a_variable(runner, monkeypatch):
    monkeypatch.setitem(globals(), "clean_environment", lambda clean=clean_environment: {**clean(), "TRACKER_INPUT": "data/*"})
    (runner.folder / "data").mkdir()
    (runner.folder / "data" / "a").write_bytes(bytes(700))
    runner.step(2, run="true")
    start = json_lines(pathlib.Path(runner.output["recording"]))[0]["run_start"]
    assert (start["input_bytes"], start["input_source"]) == (700, "option")


def test_a_failing_line_fails_the_step_with_its_status_and_a_summary(runner):
    result = runner.step(2, run="echo before\nfalse | true\nexit 5\necho after", fail_if="wall_time>0")
    assert (result.returncode, result.stdout) == (1, "before\n"), "pipefail and -e stop at the second line"
    assert runner.summary.startswith("### **Failed: exit status 1**")


def test_the_gate_compares_with_the_last_good_runs(runner, run):
    for number, peak in enumerate((1.0, 1.1, 0.9, 1.0)):
        samples = recordings.eight_samples()
        for one in samples:
            one["job_name"] = "CI"
        samples[0]["run_start"] = dict(samples[0]["run_start"], run_id=f"id-{number}", task_name="build")
        samples[-1]["run_end"] = dict(recordings.END, memory_peak_mib=peak, exit_code=0)
        recordings.write(runner.folder / "old.jsonl", samples)
        (runner.folder / ".resource-tracker").mkdir(exist_ok=True)
        assert run("runs", "add", "--runs", ".resource-tracker/runs.jsonl", "old.jsonl").returncode == 0
    command = "perl -e '$x = \"a\" x 2e7; sleep 0'"
    result = runner.step(2, run=command, fail_if="\nmemory_peak > +10%\n")
    assert result.returncode == 3, result.stderr
    assert re.search(r"^::error title=resource-tracker::.*memory_peak is \d+(\.\d+)? MiB in now, 1.00 MiB in good runs", result.stdout, re.M)
    assert "good runs (4)" in runner.summary and runner.summary.count("```") == 2
    assert runner.step(2, run=command, fail_if="wall_time>50").returncode == 0
    assert runner.step(2, run=command, fail_if="nonsense>1").returncode == 2


def test_the_first_run_passes_and_tells_why(runner):
    result = runner.step(2, run="true", name="mine", fail_if="memory_peak>+10%")
    assert result.returncode == 0 and "::notice title=resource-tracker::" in result.stdout
    assert "0 good runs of mine (build) before this one" in runner.summary


def test_the_program_of_path_comes_before_a_build(runner, tmp_path):
    sources = tmp_path / "sources"
    sources.mkdir()
    (sources / "Makefile").write_text("all:\n\t@mkdir -p build && touch build/resource-tracker\n")
    result = runner.step(0, **{"github.action_path": str(sources)})
    assert result.returncode == 0 and not runner.added_path and not (sources / "build").exists()
    runner.path = "/usr/bin:/bin"
    result = runner.step(0, **{"github.action_path": str(sources)})
    assert result.returncode == 0 and runner.added_path == f"{sources}/build\n"
    assert (sources / "build" / "resource-tracker").exists()


def test_all_steps_of_a_job_are_recorded_and_have_a_page(runner):
    if not (BUILD / "src" / "shell" / "bash").exists():
        pytest.skip("built without the recording shell")
    result = runner.step(1, steps="start")
    assert (result.returncode, result.stderr) == (0, "") and runner.added_path == f"{BUILD / 'src' / 'shell'}\n"
    folder = runner.folder / ".resource-tracker" / "steps"
    assert runner.added_env == f"TRACKER_SHELL_OUTPUT={folder}/%n.%t.%p.jsonl\n"
    path, variable = runner.added_path.strip(), runner.added_env.strip().split("=", 1)
    for name, script in (("install", "sleep 0.2; bash -c true"), ("test", "exit 3")):
        environment = {**clean_environment(), variable[0]: variable[1], "PATH": f"{path}:{runner.path}", "GITHUB_ACTIONS": "true", "GITHUB_WORKFLOW": "CI", "GITHUB_JOB": "build",
                       "GITHUB_ACTION": name}
        done = subprocess.run(["bash", *SHELL[1:], "-c", script], cwd=runner.folder, env=environment, stdin=subprocess.DEVNULL, timeout=50)
        assert done.returncode == (3 if name == "test" else 0)
    result = runner.step(1, steps="page")
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    assert runner.summary.startswith("```\n2 steps in ") and "1 failed" in runner.summary and "build/install" in runner.summary and runner.summary.endswith("```\n")
    assert runner.output["page"] == f"{folder}/steps.html" and "build/test" in (folder / "steps.html").read_text()


def test_a_job_without_a_recorded_step_ends_well(runner):
    result = runner.step(1, steps="page")
    assert (result.returncode, runner.summary) == (0, "") and "::notice title=resource-tracker::no step was recorded: " in result.stdout
    assert runner.step(1, steps="pages").returncode == 2


def test_the_script_of_the_gitlab_job_runs(runner):
    page = (TOP / "docs" / "CI.md").read_text()
    script, = re.findall(r"^  script:\n((?:    - .*\n)+)  cache:\n", page, re.M)
    commands = re.sub(r"^    - ", "", script, flags=re.M).replace("make -j4", "true")
    assert commands.count("\n") == 3 and "--markdown" in page
    # GitLab's runner runs the lines in one shell with -e.
    result = subprocess.run(["bash", "-eo", "pipefail", "-c", commands], cwd=runner.folder, stdin=subprocess.DEVNULL, capture_output=True,
                            text=True, timeout=50, env={**clean_environment(), "PATH": runner.path, "GITLAB_CI": "true", "CI_JOB_NAME": "build"})
    assert result.returncode == 0 and "0 good runs of build before this one" in result.stderr, result.stderr
    assert "good runs: none yet, now: exit status 0. " in result.stdout and "Bottleneck" in result.stdout
