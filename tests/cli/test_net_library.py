"""Streaming and discovery through the library, by the programs of examples/."""
import json
import os
import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "fakes"))
from sentinel import Metadata  # noqa: E402
from sentinel_support import compare_rows, needs_net, net_program, sent_rows, states, template, world  # noqa: E402,F401

EXAMPLES = net_program().parent / "examples"
pytestmark = [needs_net, pytest.mark.skipif(not (EXAMPLES / "streamed").exists(), reason="the examples are not built")]

# Texts of rt_error_text().
NOT_STREAMED = "nothing is streamed: the setting stream is off, or rt_next_warning() says why"
IN_THE_SPOOL = "a part could not be sent and stays in the spool: run resource-tracker upload"


@pytest.fixture
def example(world):
    def run(name, *arguments, **env):
        env = world.env(**{"TRACKER_NET": str(net_program()), "TRACKER_HELPER": str(
            net_program().with_name("resource-tracker-helper")), "HOME": str(world.path), **env})
        result = subprocess.run([EXAMPLES / name, *arguments], env=env, capture_output=True, text=True, timeout=40,
                                cwd=world.path, stdin=subprocess.DEVNULL)
        return result.returncode, result.stdout, result.stderr
    return run


def test_a_tracker_is_streamed(world, example, helpers):
    world.serve()
    assert example("streamed", "run.jsonl") == (0, "all is sent\n", "")
    compare_rows(sent_rows(world.sentinel.run), helpers.json_lines(world.path / "run.jsonl"))
    assert world.sentinel.run.start["job_name"] == "streamed"
    assert (world.sentinel.run.finish["run_status"], world.sentinel.run.finish["exit_code"]) == ("finished", 0)


def test_without_a_json_file_there_is_a_spool(world, example):
    world.serve()
    assert example("streamed", "run.csv") == (0, "all is sent\n", "")
    assert len(sent_rows(world.sentinel.run)) == len(world.path.joinpath("run.csv").read_text().splitlines()) - 1
    assert not list(world.path.rglob("*.spool"))


def test_without_a_token(world, example):
    world.serve()
    assert example("streamed", "run.jsonl", SENTINEL_API_TOKEN="") == (0, f"{NOT_STREAMED}\n", "")
    assert not world.sentinel.requests


@pytest.mark.parametrize("program", ["/nonexistent", "/bin/true"])
def test_without_the_program(world, example, helpers, program):
    world.serve()
    status, out, err = example("streamed", "run.jsonl", TRACKER_NET=program)
    if program == "/bin/true":
        assert (status, out) == (1, f"{IN_THE_SPOOL}\n")
    else:
        assert (status, out) == (0, f"{NOT_STREAMED}\n") and "resource-tracker-net is not installed" in err
    assert len(helpers.json_lines(world.path / "run.jsonl")) >= 3


def test_a_server_that_is_dead(world, example):
    """Messages become warnings of the library. stderr has only the caller's own output."""
    status, out, err = example("streamed", "run.jsonl", SENTINEL_API_URL="http://127.0.0.1:1")
    assert (status, out) == (1, f"{IN_THE_SPOOL}\n")
    assert all(line.startswith("warning: ") for line in err.splitlines())
    assert "resource-tracker upload" in err
    spool = world.path / ".local/state/resource-tracker/spool"
    assert states(spool)[0]["rows"] >= 3


def test_which_machine(world, example):
    status, out, err = example("what_machine")
    assert (status, err) == (0, "") and json.loads(out)["host"]["host_hostname"] == os.uname().nodename
    assert "cloud" not in json.loads(out) and not world.sentinel


def test_which_cloud(world, example):
    service = world.open(Metadata({}))
    status, out, err = example("what_machine", "cloud", TRACKER_METADATA_URL=service.url)
    assert (status, err) == (0, "") and json.loads(out)["cloud"]["cloud_vendor_id"] is None


def test_discovery_without_the_program(example):
    assert example("what_machine", TRACKER_NET="/nonexistent") == (1, "", "cannot tell: resource-tracker-net is not installed\n")
    assert example("what_machine", TRACKER_NET="/bin/true") == (1, "", "cannot tell: resource-tracker-net has failed\n")
