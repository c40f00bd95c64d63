"""The programs that pip installs with the package, and python -m resource_tracker_native."""
import json
import os
import pathlib
import subprocess
import sys
import sysconfig

import pytest

SCRIPTS = pathlib.Path(sysconfig.get_path("scripts"))
LIBEXEC = pathlib.Path(sysconfig.get_path("data")) / "libexec/resource-tracker"


def run(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL).stdout


def last_line(path):
    return json.loads(path.read_text().splitlines()[-1])


@pytest.mark.parametrize("name, words", [("resource-tracker", []), ("resource-tracker-analysis", ["summary"]), ("resource-tracker-net", ["discover"])])
def test_pip_installs_each_command(name, words):
    assert "[OPTIONS]" in run(SCRIPTS / name, *words, "--help")


def test_the_command_records_and_finds_the_other_programs(tmp_path):
    run(SCRIPTS / "resource-tracker", "-o", tmp_path / "run.jsonl", "--no-summary", "--", "true")
    assert last_line(tmp_path / "run.jsonl")["run_end"]["exit_code"] == 0
    assert "CPU" in run(SCRIPTS / "resource-tracker", "summary", tmp_path / "run.jsonl")
    verbose = run(SCRIPTS / "resource-tracker", "--version", "--verbose")
    found = {os.path.realpath(word) for word in verbose.split() if word.startswith("/")}
    assert {os.path.realpath(path) for path in (SCRIPTS / "resource-tracker-analysis", SCRIPTS / "resource-tracker-net",
                                               LIBEXEC / "resource-tracker-helper")} <= found, verbose


def test_the_module_is_the_command(tmp_path):
    module = [sys.executable, "-m", "resource_tracker_native"]
    assert run(*module, "--version") == run(SCRIPTS / "resource-tracker", "--version")
    done = subprocess.run([*module, "-o", tmp_path / "run.jsonl", "--no-summary", "--", "sh", "-c", "exit 3"], stdin=subprocess.DEVNULL)
    assert done.returncode == 3 and last_line(tmp_path / "run.jsonl")["run_end"]["exit_code"] == 3


def test_the_library_finds_the_installed_programs(tmp_path):
    """A recorder apart is a whole recorder in the helper program, which lies outside the package."""
    code = ("import resource_tracker_native as native\n"
            "tracker = native.ResourceTracker(interval=0.1, method='spawn')\n"
            "tracker.wait_for_samples(2)\ntracker.stop()\nprint(len(tracker.process_metrics))\n")
    assert int(run(sys.executable, "-W", "error", "-c", code)) >= 2
