"""TRACKER_DEBUG=1: a line for each thing that a part of the recorder does; members: a line for each member of the job."""
import json
import pathlib
import re
import shlex

import pytest

from conftest import BUILD

LINE = re.compile(r"resource-tracker: debug (\d+)\.(\d{6}) (\w+): (.*?)(?:, (\d+) us)?$")


def debug_lines(text):
    found = [LINE.fullmatch(line) for line in text.splitlines()]
    assert all(found), text
    return [(int(one[1]) + int(one[2]) / 1e6, one[3], one[4], one[5]) for one in found]


def test_each_part_reports_its_work_with_times(run):
    result = run("-o", "run.jsonl", "-i", "0.1", "--", "sleep", "0.25", env={"TRACKER_DEBUG": "1"})
    assert result.returncode == 0
    lines = debug_lines(result.err)
    assert lines[0][0] == 0 and lines[-1][0] < 60
    texts = {(part, text) for _, part, text, _ in lines}
    assert ("collector", "host_memory is open") in texts and ("collector", "host_memory has read sample 1") in texts
    assert any(part == "job" and re.fullmatch(r"is process \d+", text) for part, text in texts)
    assert any(part == "witness" for part, _ in texts)
    assert ("outputs", "sample 0 is written to 1 of them") in texts
    assert all(took is not None for _, part, _, took in lines if part in ("collector", "outputs", "job"))


def test_a_group_that_is_left_out_needs_no_collector(run):
    result = run("-o", "run.jsonl", "--metrics", "memory", "--", "true", env={"TRACKER_DEBUG": "1"})
    texts = {text for _, part, text, _ in debug_lines(result.err) if part == "collector"}
    assert "host_memory is open" in texts and "host_disk is not needed" in texts
    assert "host_disk has read sample 0" not in texts


def test_a_follower_is_among_them(run, tmp_path):
    result = run("-o", "run.jsonl", "--upload-deadline", "0", "--spool", tmp_path / "spool", "--", "true",
                 env={"TRACKER_DEBUG": "1", "SENTINEL_API_TOKEN": "x", "SENTINEL_API_URL": "http://127.0.0.1:9"})
    told = [line for line in result.err.splitlines() if " follower: " in line]
    assert "follows" in told[0] and (": error" in told[0] or any("is told of the end" in line for line in told))


@pytest.mark.skipif(not (BUILD / "resource-tracker-net").exists(), reason="the build has no network")
def test_the_follower_speaks_itself(run, tmp_path):
    result = run("-o", "run.jsonl", "--upload-deadline", "2", "--spool", tmp_path / "spool", "--", "true",
                 env={"TRACKER_DEBUG": "1", "SENTINEL_API_TOKEN": "secret-of-the-test", "SENTINEL_API_URL": "http://127.0.0.1:9"})
    lines = debug_lines("".join(line + "\n" for line in result.err.splitlines() if ": debug " in line))
    own = {text: took for _, part, text, took in lines if part == "follower"}
    assert any(re.fullmatch(r"process \d+ of resource-tracker-net [\d.]+ follows .*run\.jsonl from byte 0", text) for text in own)
    assert any(re.fullmatch(r"batch 0 is cut: samples \d+, bytes \d+", text) for text in own)
    assert own["registering the run: failed, will be tried again"] is not None
    assert "ends: a part is left" in own and "the recording has ended" in own
    assert "secret-of-the-test" not in result.err
    # The recorder does not repeat them as warnings of its own.
    assert "says: resource-tracker: debug" not in result.err


def test_the_helper_and_its_worker_speak_themselves(run, nvml):
    nvml.say("gpus 1")
    result = run("-o", "run.jsonl", "-i", "0.1", "--", "sleep", "1", env=nvml.env(TRACKER_DEBUG="1"))
    lines = debug_lines(result.err)
    helper = [text for _, part, text, _ in lines if part == "helper"]
    assert any(re.fullmatch(r"process \d+ of resource-tracker-helper [\d.]+ is there for kind gpu", text) for text in helper)
    assert any(re.fullmatch(r"worker \d+ is started", text) for text in helper)
    passes = [(text, took) for _, part, text, took in lines if part == "worker"]
    assert any(re.fullmatch(r"pass 1 has an answer of \d+ bytes", text) and took is not None for text, took in passes)
    assert any(text.startswith("ends: the recorder") for text in helper)
    assert run("-o", "run.jsonl", "--append", "-i", "0.1", "--", "sleep", "0.3", env=nvml.env()).err == ""


def test_nothing_is_said_without_it(run):
    for value in ("", "0", "yes"):
        assert run("-o", "run.jsonl", "--append", "--", "true", env={"TRACKER_DEBUG": value}).err == ""


MEMBER = re.compile(r"(\d+) (.+): cpu ([\d.]+) s = ([\d.]+) own \+ ([\d.]+) waited for \+ ([\d.]+) carried \+ ([\d.]+) settled - ([\d.]+) before "
                    r"\((.+)\); memory ([\d.]+) MiB of ([\d.]+) resident, by (.+) \((.*)\); family of (\d+), "
                    r"smaps_rollup takes ([\d.]+) ms of ([\d.]+) at most")


def member_samples(text):
    """{sample: (the job's line, [the match of each member])}; only lines of members are there."""
    samples = {}
    for _, part, line, took in debug_lines(text):
        assert part == "member" and took is None
        if line.startswith("sample "):
            job, members = [], []
            samples[int(line.split()[1])] = job, members
        elif line.startswith("job: "):
            job.append(line)
        else:
            members.append(MEMBER.fullmatch(line))
            assert members[-1], line
    return {number: (job[0] if job else "", members) for number, (job, members) in samples.items()}


def test_lines_of_members_add_up_to_the_sample(run, tmp_path):
    job = (BUILD / "tests/fakes/memory-job", *"private 120 fork 3 { read overwrite 10 sleep 1400 }".split())
    result = run("-o", "run.jsonl", "-i", "0.4", "--", *job, env={"TRACKER_DEBUG": "members"})
    told = member_samples(result.err)
    samples = [json.loads(line) for line in (tmp_path / "run.jsonl").open()]
    recorded = {number: sample["cpu"]["process_memory_mib"] for number, sample in enumerate(samples)}
    checked = 0
    for number, (whole, members) in told.items():
        for member in members:
            total, own, waited, carried, settled, before = (float(member[i]) for i in range(3, 9))
            assert abs(own + waited + carried + settled - before - total) < 0.004
        if len(members) == 4 and recorded.get(number):
            assert abs(sum(float(member[10]) for member in members) - recorded[number]) < 0.4, whole
            assert abs(int(whole.split()[1]) / 1024 - recorded[number]) < 0.1
            assert {member[14] for member in members} == {"4"}
            checked += 1
    assert checked >= 2, result.err


def test_the_source_of_each_member_has_its_reason(run):
    job = (BUILD / "tests/fakes/memory-job", *"private 120 fork 3 { sleep 2500 }".split())
    members = [member for _, found in member_samples(
        run("-o", "run.jsonl", "-i", "0.4", "--", *job, env={"TRACKER_DEBUG": "members"}).err).values() for member in found]
    sampled = [member for member in members if member[12] == "sampled pages"]
    # The others of the family are read in the same way.
    assert any(float(member[15]) > float(member[16]) for member in sampled)
    assert any(member[13].startswith("read now") for member in sampled)
    assert any("still right" in member[13] for member in sampled)
    off = run("-o", "run.jsonl", "--append", "--pss", "off", "-i", "0.4", "--", *job, env={"TRACKER_DEBUG": "members"}).err
    assert {(member[12], member[13]) for _, found in member_samples(off).values() for member in found if member[14] == "4"} >= {
        ("page faults alone", "readings are off")}


def shape_of(line):
    return re.sub(r"\d+(\.\d+)?", "N", line)


def test_the_recipe_shows_lines_that_its_command_writes(run):
    recipe = (pathlib.Path(__file__).resolve().parents[2] / "CONTRIBUTING.md").read_text()
    lines = re.search(r"\*\*Find out why a figure is what it is\.\*\*.*?```console\n(.*?)```", recipe, re.S)[1].splitlines()
    command = next(line for line in lines if line.startswith("$ build/"))
    arguments = shlex.split(command[2:].replace(" build/tests", f" {BUILD}/tests"))[1:]
    result = run(*arguments, env={"TRACKER_DEBUG": lines[0].rpartition("=")[2]})
    shown = [line for line in lines if not line.startswith("$")]
    assert len(shown) == 4
    assert {shape_of(line) for line in shown} <= {shape_of(line) for line in result.err.splitlines()}, result.err
