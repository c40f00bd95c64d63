"""recommend --jobs: how many steps of a recorded build to run at once, and the limit that is named."""
import json
import os
import subprocess

import pytest

import recordings
from conftest import BUILD


def step(folder, number, task, command, *, secs=4.0, memory=100.0, busy=1.0, waited=0.0, others=0.0, files=None, tags=None, job_secs=None):
    """A step that began when the one before ended, with all its samples alike."""
    begun = 1_700_000_000.5 + number * secs
    start = {**recordings.START, "cpu_count": 2, "cpu_limit_cores": None, "cpuset_cores": None, "task_name": task, "tags": tags, "command": command and json.dumps(command)}
    end = {**recordings.END, "exit_code": 0, "wall_secs": job_secs or secs, "tree_wall_secs": secs, "utime_secs": busy * secs, "stime_secs": 0.0, "memory_peak_mib": memory,
           "largest_process_peak_mib": memory}
    last = int(secs) - 1
    samples = [recordings.sample(i, cores=busy, memory=memory, timestamp=begun, job_name="make", start=start if i == 0 else None,
                                 end=end if i == last else None) for i in range(int(secs))]
    for sample in samples:
        sample["cpu"].update(utilization_pct=busy + others, process_cpu_wait_secs=waited, process_cpu_wait_known_secs=busy, process_file_mib=files)
        sample["cgroup"] = None
        sample["limits"] = {"cpu_limit_cores": None, "memory_limit_mib": None, "cpuset_cores": None}
        sample["programs"] = [{"name": "cc1", "memory_mib": memory, "cpu_secs": busy}]
    return recordings.write(folder / f"{number:02}-{task or 'x'}.jsonl", samples)


@pytest.fixture
def build(tmp_path):
    """Four objects, and two links that take 3,000 MiB each."""
    folder = tmp_path / "steps" / "deep"
    folder.mkdir(parents=True)
    names = [f"o{i}.o" for i in range(4)]
    for i, name in enumerate(names):
        step(folder, i, name, ["gcc", "-c", f"o{i}.c", "-o", name])
    for i, name in enumerate(("one", "two")):
        step(folder, 4 + i, name, ["sh", "-c", f"gcc -o {name} {' '.join(names)}"], memory=3000.0)
    return tmp_path / "steps"


def advice(run, *words):
    result = run("recommend", "--jobs", "--json", *words)
    assert result.returncode == 0, result.err
    answer = json.loads(result.out)
    return answer, {plan["jobs"]: plan for plan in answer["plans"]}


def test_a_step_lasts_as_long_as_the_descendants_that_it_waited_for(run, tmp_path):
    for number, name in enumerate(("a", "b")):
        step(tmp_path, number, name, ["make", name], job_secs=0.5)
    assert advice(run, "--cores", 4, "--memory", 16000, tmp_path)[1][1]["wall_secs"] == pytest.approx(8)


def test_links_wait_for_their_objects_and_the_chain_is_the_limit(run, build):
    answer, plans = advice(run, "--cores", 4, "--memory", 16000, build)
    assert answer["steps"] == 6 and answer["steps_without_command"] == 0
    assert [plans[jobs]["wall_secs"] for jobs in (1, 2, 4, 8)] == pytest.approx([24, 12, 8, 8])
    assert plans[1]["peak_mib"] == 3000 and plans[4]["peak_mib"] == 6000
    # Links are played up to 10 % longer, and wait for the last object. Two that begin apart still meet.
    assert 8 < plans[4]["wall_most_secs"] <= 8.8 and 7.2 <= plans[4]["wall_least_secs"] <= 8
    assert plans[4]["peak_least_mib"] == plans[4]["peak_most_mib"] == 6000
    assert (answer["jobs"], answer["limit"], answer["chain_secs"]) == (4, "chain", pytest.approx(8))


def test_links_that_do_not_fit_together_are_named(run, build):
    answer, plans = advice(run, "--cores", 4, "--memory", 5000, build)
    assert plans[1]["fits"] and not plans[2]["fits"] and answer["jobs"] == 1 and answer["limit"] == "memory"
    assert answer["limit_text"] == "at -j 2 one (2.93 GiB) and two (2.93 GiB) would overlap: 5.86 GiB of 4.88 GiB"
    text = run("recommend", "-j", "--cores", 4, "--memory", 5000, build).out
    assert text.startswith("-j 1; at -j 2 one (2.93 GiB) and two (2.93 GiB) would overlap") and "* 1" in text
    assert run("recommend", "-j", "--memory", 100, build).out.startswith("the steps do not fit, not even one by one: at -j 1 one (2.93 GiB)")


def test_two_cores_are_shared(run, build):
    answer, plans = advice(run, "--cores", 2, "--memory", 16000, build)
    assert plans[2]["wall_secs"] == plans[4]["wall_secs"] == pytest.approx(12)
    assert (answer["jobs"], answer["limit"]) == (2, "cores")


@pytest.mark.parametrize(("busy", "waited", "others", "secs"), [
    (0.5, 0.5, 1.5, 2), (0.5, 0.5, 0, 4), (1.5, 3.0, 0.5, 3), (0.5, 0.25, 1.5, 3), (1.0, 0.5, 0.5, 4)], ids=[
    "one thread beside others", "alone", "threads that share the cores among themselves", "a step that also sleeps", "a core is free"])
def test_waiting_for_a_core_counts_only_as_far_as_others_used_cores(run, tmp_path, busy, waited, others, secs):
    step(tmp_path, 0, "", ["x"], busy=busy, waited=waited, others=others)
    _, plans = advice(run, "--cores", 2, "--memory", 16000, tmp_path)
    assert plans[1]["wall_secs"] == pytest.approx(secs)


def test_steps_wait_for_the_needs_that_they_tell(run, tmp_path):
    for i, tags in enumerate(({"needs": "", "makes": "x/1 y"}, {"needs": "x/1"}, {"needs": "z"})):
        step(tmp_path, i, "", None, tags=tags)
    answer, plans = advice(run, "--cores", 4, "--memory", 16000, tmp_path)
    assert plans[4]["wall_secs"] == pytest.approx(8) and "no recorded command" not in answer["assumption"]


def test_the_pages_of_one_program_count_once(run, tmp_path):
    for i, files in enumerate((70.0, 60.0, None)):
        step(tmp_path, i, "", ["x"], files=files)
    _, plans = advice(run, "--cores", 4, "--memory", 16000, tmp_path)
    assert [plans[jobs]["peak_mib"] for jobs in (1, 2, 3)] == pytest.approx([100, 140, 240])
    assert plans[3]["peak_bound_mib"] == 300


def test_the_kernels_peak_belongs_to_the_largest_sample(run, tmp_path):
    for i, course in enumerate(((100, 300, 100, 100), (100, 100, 100, 300))):
        path = step(tmp_path, i, "", ["x"], memory=400.0)
        samples = [json.loads(line) for line in path.read_text().splitlines()]
        for sample, memory in zip(samples, course, strict=True):
            sample["cpu"].update(process_memory_mib=float(memory), process_rss_mib=float(memory))
        recordings.write(path, samples)
    _, plans = advice(run, "--cores", 4, "--memory", 16000, tmp_path)
    assert plans[1]["peak_mib"] == 400 and plans[2]["peak_mib"] == 500 and plans[2]["peak_bound_mib"] == 800


def test_steps_without_a_command_are_told_and_broken_ones_are_counted(run, tmp_path):
    for i in range(2):
        step(tmp_path, i, "", None)
    (tmp_path / "torn.jsonl").write_text('{"timest')
    answer, plans = advice(run, "--cores", 2, "--memory", 16000, tmp_path)
    assert (answer["steps"], answer["steps_without_command"], answer["unreadable"]) == (2, 2, 1)
    assert plans[2]["wall_secs"] == pytest.approx(4) and "TRACKER_RECORD_COMMAND=1" in answer["assumption"]


@pytest.mark.parametrize(("words", "told"), [
    (("-j",), "name the folder"), (("-j", "--cores", 0, "."), "--cores"), (("-j", "--memory", "x", "."), "--memory"),
    (("-j", "."), "no recording in it")])
def test_bad_words_get_one_line(run, words, told):
    result = run("recommend", *words)
    assert result.returncode in (1, 2) and told in result.err and len(result.err.splitlines()) == 1, result.err


def test_cores_belong_to_jobs(run, build):
    recording = next(build.glob("*/*.jsonl"))
    result = run("recommend", "--cores", 4, recording)
    assert result.returncode == 2 and "--jobs" in result.err


def test_a_make_that_was_recorded_is_planned(run, tmp_path):
    shell = BUILD / "src" / "shell" / "bash"
    if not shell.exists():
        pytest.skip("built without the recording shell")
    (tmp_path / "Makefile").write_text(
        f"SHELL = {shell}\nexport TRACKER_TASK_NAME = $@\nall: p\na b c:\n\tsleep 0.4; echo x >$@\np: a b c\n\tsleep 0.3; cat a b c >$@\n")
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("TRACKER_", "MAKE"))}
    subprocess.run(["make", "-s", "-C", tmp_path], check=True, env={**kept, "TRACKER_HISTORY": "off", "TRACKER_RECORD_COMMAND": "1"})
    answer, plans = advice(run, "--cores", 4, "--memory", 16000, tmp_path / ".resource-tracker")
    assert answer["steps"] == 4 and answer["steps_without_command"] == 0
    # Three sleeps and then one. The plan takes off the time that a busy machine added, but only roughly.
    assert plans[1]["wall_secs"] >= 1.3 and plans[3]["wall_secs"] >= 0.6
    assert plans[1]["wall_secs"] - plans[3]["wall_secs"] > 0.5 and answer["chain_secs"] >= 0.6
