"""A workflow from its steps: summary of a folder, and of a file of runs."""
import json
import os
import re
import shutil
import subprocess
import time

import pytest

from conftest import TOP, clean_environment, json_lines
from recordings import NO_LIMITS, RUN_LINE, lines, steady

BEGAN = 1_700_000_000.0


def step(name, start, secs, *, task="", **more):
    """The line of a step that ran on one of two cores and asked for four."""
    return {**RUN_LINE, "id": f"{name}-{task}-{start}", "name": name, "job_name": name, "task": task or None, "started": BEGAN + start,
            "ended": BEGAN + start + secs, "wall_secs": secs, "cpu_secs": secs, "cores_mean": 1.0, "cores_max": 1.0, **more}


FAILED = {"outcome": "failed", "exit_code": 3, "end": "exit status 3"}
GRAPH = [step("load", 0, 10), step("align", 10.1, 20, task="s=1", **FAILED), step("align", 10.1, 12, task="s=2"),
         step("align", 30.2, 22, task="s=1"), step("merge", 52.3, 5)]


def write_runs(path, steps):
    path.write_text(lines(steps))
    return path


def workflow_of(run, *paths):
    done = run("summary", "--json", "--workflow", *paths)
    assert done.returncode == 0, done.err
    return json.loads(done.out)


def name_of(one):
    return one["rule"] + (f" ({one['task']})" if one["task"] else "")


def path_of(found):
    return [name_of(found["steps"][index]) for index in found["path"]]


def test_a_step_lasts_as_long_as_the_descendants_that_it_waited_for(run, tmp_path):
    found = workflow_of(run, write_runs(tmp_path / "runs.jsonl", [step("load", 0, 1, tree_wall_secs=10.0), step("merge", 10, 5)]))
    assert path_of(found) == ["load", "merge"] and (found["wall_secs"], found["path_secs"]) == (15.0, 15.0)


def test_the_path_goes_through_the_failed_attempt_and_its_repeat(run, tmp_path):
    found = workflow_of(run, write_runs(tmp_path / "runs.jsonl", GRAPH))
    assert path_of(found) == ["load", "align (s=1)", "align (s=1)", "merge"]
    assert (found["wall_secs"], found["path_secs"], found["failed"], found["repeated"], found["slots"]) == (57.3, 57.0, 1, 1, 2)
    by_rule = {rule["rule"]: rule for rule in found["rules"]}
    assert (by_rule["align"]["steps"], by_rule["align"]["failed"], by_rule["align"]["repeated"]) == (3, 1, 1)
    assert (by_rule["align"]["asked_core_secs"], by_rule["align"]["idle_core_secs"]) == (216.0, 162.0)
    other = next(one for one in found["steps"] if one["task"] == "s=2")
    assert other["slack_secs"] == pytest.approx(30.2 - 22.1) and not other["on_path"]
    assert [(one["attempt"], one["is_last_attempt"]) for one in found["steps"] if one["task"] == "s=1"] == [(1, False), (2, True)]


def test_equal_commands_that_ended_well_count_once_each(run, tmp_path):
    found = workflow_of(run, write_runs(tmp_path / "runs.jsonl", [step("cc", 0, 1), step("cc", 1.1, 1), step("cc", 1.1, 1, **dict(FAILED, id="other")), step("cc", 1.2, 1)]))
    assert found["repeated"] == 0


def test_the_text_has_forty_lines_at_most_and_names_failed_and_damaged_steps(run, tmp_path):
    folder = tmp_path / "work" / ".resource-tracker"
    folder.mkdir(parents=True)
    for i in range(60):
        with_end = {"exit_code": 3} if i % 10 == 0 else None
        steady(folder / f"step{i}.jsonl", start=dict(NO_LIMITS, task_name=f"target-with-a-long-name-{i}.o"), end=with_end)
    for i in range(9):
        (folder / f"torn{i}.jsonl").write_text('{"timestamp": 1700')
    done = run("summary", tmp_path / "work")
    assert (done.returncode, done.err) == (0, "")
    assert len(done.out.splitlines()) <= 40, done.out
    assert "60 steps in" in done.out and "6 failed" in done.out and "and 7 more damaged recordings" in done.out
    assert "torn0.jsonl" in done.out and "Failed: " in done.out
    found = json.loads(run("summary", "--json", tmp_path / "work").out)
    assert (len(found["steps"]), len(found["damaged"])) == (60, 9) and all("torn" in one for one in found["damaged"])


def test_a_recording_and_its_line_are_the_same_step(run, tmp_path):
    path = steady(tmp_path / "one.jsonl", cores=1.5, memory=200.0, start=dict(NO_LIMITS, task_name="all"))
    line = run("runs", "add", path).out
    (tmp_path / "runs.jsonl").write_text(line)
    of_line, of_file = workflow_of(run, tmp_path / "runs.jsonl"), workflow_of(run, path)
    assert of_line["steps"] == of_file["steps"]
    assert (of_file["steps"][0]["rule"], of_file["steps"][0]["wall_secs"], of_file["steps"][0]["cpu_secs"]) == ("demo", 8.0, 12.0)


def test_a_file_of_runs_beside_the_recordings_counts_no_step_twice(run, tmp_path):
    for i in range(3):
        steady(tmp_path / f"{i}.jsonl", start=dict(NO_LIMITS, run_id=f"run-{i}"))
    (tmp_path / "runs.jsonl").write_text(run("runs", "add", tmp_path / "1.jsonl", tmp_path / "2.jsonl").out + lines([step("gone", 0, 1)]))
    found = json.loads(run("summary", "--json", tmp_path).out)
    assert (sorted(one["rule"] for one in found["steps"]), found["damaged"]) == (["demo", "demo", "demo", "gone"], [])
    assert sum(bool(one["recording"]) for one in found["steps"]) == 3


def test_tables_of_the_project_stay_out_of_its_steps(run, tmp_path):
    steady(tmp_path / "one.jsonl", start=NO_LIMITS)
    (tmp_path / "data.csv").write_text("sample,reads\n1,2\n")
    (tmp_path / "torn.jsonl").write_text('{"timestamp": 1700')
    found = json.loads(run("summary", "--json", tmp_path).out)
    assert len(found["steps"]) == 1 and len(found["damaged"]) == 1 and "torn.jsonl" in found["damaged"][0]
    assert "data.csv" in json.loads(run("summary", "--json", "--workflow", tmp_path / "one.jsonl", tmp_path / "data.csv").out)["damaged"][0]


def test_a_command_without_a_name_is_not_the_repeat_of_another(run, tmp_path):
    shells = [dict(step("bash (w)", at, 1, **(FAILED if at < 4 else {})), job_name=None, executable="bash") for at in (0, 2, 4)]
    scripts = [dict(step("fit.sh", at, 1, **(FAILED if at < 4 else {})), job_name=None, executable="bash") for at in (0, 2, 4)]
    found = workflow_of(run, write_runs(tmp_path / "runs.jsonl", shells + scripts))
    attempts = {name: [one["attempt"] for one in found["steps"] if one["rule"] == name] for name in ("bash (w)", "fit.sh")}
    assert (attempts, found["failed"], found["repeated"]) == ({"bash (w)": [1, 1, 1], "fit.sh": [1, 2, 3]}, 4, 2)


def test_a_link_names_a_folder_and_is_not_followed_below_it(run, tmp_path):
    (tmp_path / "steps" / ".hidden").mkdir(parents=True)
    for name in ("a.jsonl", ".hidden/b.jsonl"):
        steady(tmp_path / "steps" / name, start=NO_LIMITS)
    (tmp_path / "steps" / "loop").symlink_to(tmp_path)
    (tmp_path / "link").symlink_to(tmp_path / "steps")
    found = workflow_of(run, tmp_path / "link")
    assert [one["recording"] for one in found["steps"]] == [str(tmp_path / "link" / "a.jsonl")] and found["damaged"] == []


def test_a_folder_without_a_readable_step_says_so(run, tmp_path):
    done = run("summary", tmp_path)
    assert done.returncode == 1 and "there is no recording in it" in done.err
    (tmp_path / "torn.jsonl").write_text('{"timestamp": 1700')
    done = run("summary", tmp_path)
    assert done.returncode == 1 and "no step of 1 could be read: " in done.err and done.err.count("torn.jsonl") == 1
    done = run("summary", "--markdown", tmp_path)
    assert done.returncode == 2 and "a workflow has a text and --json" in done.err


def test_a_folder_is_named_that_this_user_may_not_read(run, binary, tmp_path):
    (tmp_path / "closed").mkdir(mode=0)
    if os.geteuid() == 0:
        done = run("--bounding-set=-dac_override,-dac_read_search", binary, "summary", "closed", cwd=tmp_path, program=shutil.which("setpriv"))
    else:
        done = run("summary", "closed", cwd=tmp_path)
    assert (done.returncode, done.err) == (1, "resource-tracker summary: no step of 1 could be read: closed: Permission denied\n")


@pytest.mark.slow
def test_five_thousand_steps_are_all_there(run, tmp_path):
    runs = write_runs(tmp_path / "runs.jsonl", [step("rule", i // 8 * 1.01, 1, task=f"i={i}") for i in range(5000)])
    began = time.process_time()
    found = workflow_of(run, runs)
    assert (len(found["steps"]), len(found["path"]), found["slots"]) == (5000, 625, 8)
    assert time.process_time() - began < 10 and len(json_lines(runs)) == 5000
    assert len(run("summary", "--workflow", runs).out.splitlines()) <= 40


def test_a_step_of_make_has_the_name_of_its_target_everywhere(run, tmp_path):
    runs, page = tmp_path / "runs.txt", tmp_path / "page.html"
    for i, (folder, target) in enumerate([("one", "all"), ("one", "main.o"), ("two", "all")]):
        start = dict(NO_LIMITS, executable="bash", program=f"bash ({folder})", folder=folder, task_name=target, run_id=f"run-{i}")
        samples = [json.loads(line) for line in steady(tmp_path / f"{i}.jsonl", start=start).read_text().splitlines()]
        (tmp_path / f"{i}.jsonl").write_text(lines([dict(one, job_name=None) for one in samples]))
        assert run("runs", "add", "--runs", runs, tmp_path / f"{i}.jsonl").returncode == 0
    jobs = [group["job"] for group in json.loads(run("history", "--json", runs).out)["groups"]]
    assert sorted(jobs) == ["all (one)", "all (two)", "main.o (one)"]
    assert run("recommend", "--history", runs, "--job", "main.o (one)").returncode == 0
    assert run("summary", tmp_path / "1.jsonl").out.startswith("main.o (one),")
    assert run("report", tmp_path / "1.jsonl", "-o", page).returncode == 0 and "main.o (one)" in page.read_text()
    assert [name_of(one) for one in workflow_of(run, tmp_path / "0.jsonl", tmp_path / "1.jsonl")["steps"]] == ["all", "main.o"]
    # A script keeps its own name, beside its task.
    start = dict(NO_LIMITS, executable="bash", program="run.sh", folder="one", task_name="all")
    samples = [json.loads(line) for line in steady(tmp_path / "3.jsonl", start=start).read_text().splitlines()]
    (tmp_path / "3.jsonl").write_text(lines([dict(one, job_name=None) for one in samples]))
    assert run("summary", tmp_path / "3.jsonl").out.startswith("run.sh, task all")


def needing(needs, makes=None):
    return {"tags": {"needs": needs, **({"makes": makes} if makes else {})}}


def steps_by_name(found):
    return {name_of(one): one for one in found["steps"]}


def test_the_path_follows_told_needs_although_another_step_ends_later(run, tmp_path):
    """The engine takes 0.6 s to start d, in which "late" ends. Only files tell that d needs b (n=1) and not late."""
    steps = [step("a", 0, 10, **needing("")), step("b", 10.1, 8, task="n=1", **needing("a.txt x.csv", "b/1.txt")), step("b", 10.1, 6, task="n=2", **needing("a.txt", "b/2.txt")),
             step("late", 0, 18.6), step("d", 18.7, 5, **needing("b/1.txt b/2.txt b/2.txt")), step("end", 25, 1, **needing("d e", "."))]
    steps[0]["tags"]["makes"] = "a.log a.txt"
    path = write_runs(tmp_path / "runs.jsonl", steps)
    found = workflow_of(run, path)
    assert path_of(found) == ["a", "b (n=1)", "d", "end"]
    by_name, names = steps_by_name(found), [name_of(one) for one in found["steps"]]
    assert {name: one["needs"] and [names[need] for need in one["needs"]] for name, one in by_name.items()} == {
        "a": [], "b (n=1)": ["a"], "b (n=2)": ["a"], "late": None, "d": ["b (n=1)", "b (n=2)"], "end": ["d"]}
    assert (by_name["d"]["waited_secs"], by_name["d"]["gap_secs"], by_name["d"]["waited_for_slot"]) == (0.6, 0.6, False)
    assert (by_name["late"]["waited_secs"], by_name["late"]["waited_for_slot"]) == (None, None)
    assert "The needs of 5 of 6 steps are known" in " ".join(run("summary", "--workflow", path).out.split())
    for one in steps:
        one["tags"] = {}
    assert path_of(workflow_of(run, write_runs(tmp_path / "untold.jsonl", steps))) == ["late", "d", "end"]


@pytest.mark.parametrize("cores, before", [({}, "long"), ({"cores_asked": None}, "long"), ({"cores_asked": 2.0}, "a")], ids=["of four cores each", "of a slot each", "with a core left"])
def test_a_step_that_is_ready_waits_for_a_slot(run, tmp_path, cores, before):
    """Two slots: c is ready at 2, as d takes the slot of a. It begins as "long" ends. With two cores of its six in use, it did not wait for that."""
    steps = [step("a", 0, 2, **needing("")), step("long", 0, 6, **needing("")), step("d", 2.01, 9, **needing("a")), step("c", 6.01, 3, **needing("a"))]
    for one in steps:
        one.update(cores)
    if cores.get("cores_asked"):
        steps.append(step("wide", 20, 1, cores_asked=6.0))
    found = workflow_of(run, write_runs(tmp_path / "runs.jsonl", steps))
    one = steps_by_name(found)["c"]
    assert (found["steps"][one["before"]]["rule"], one["waited_for_slot"], one["waited_secs"]) == (before, before == "long", 4.01)


def test_more_slots_start_a_step_as_its_needs_are_done(run, tmp_path):
    """Two slots: c is ready at 2 and begins at 6. Without its needs, it counts as ready since the slots were full."""
    steps = [step("a", 0, 2, **needing("")), step("long", 0, 6, **needing("")), step("d", 2.01, 6, **needing("a")), step("c", 6.01, 6, **needing("a"))]
    by_what = {one["what"]: one for one in workflow_of(run, write_runs(tmp_path / "runs.jsonl", steps))["estimates"]}
    more = by_what["6 slots instead of 2"]
    assert more["wall_secs"] == pytest.approx(8, abs=0.1) and "known to need" in more["assumption"]
    for one in steps:
        one["tags"] = {}
    by_what = {one["what"]: one for one in workflow_of(run, write_runs(tmp_path / "untold.jsonl", steps))["estimates"]}
    assert by_what["6 slots instead of 2"]["wall_secs"] == pytest.approx(6, abs=0.1)


def test_more_slots_repeat_no_step_before_it_has_failed(run, tmp_path):
    """Without told needs, all steps but the repeated one count as ready since the slots were full."""
    steps = [step("x", 0, 4, **FAILED), step("p", 0, 2), step("q", 2.01, 2), step("x", 4.01, 3), step("r", 4.02, 2), step("s", 6.03, 2)]
    found = workflow_of(run, write_runs(tmp_path / "runs.jsonl", steps))
    by_what = {one["what"]: one["wall_secs"] for one in found["estimates"]}
    assert found["repeated"] == 1 and by_what["6 slots instead of 2"] == pytest.approx(7, abs=0.1)


def test_a_step_that_began_at_once_waited_for_no_slot(run, tmp_path):
    """All slots are in use from then on, and "other" ended in the moment between."""
    steps = [step("a", 0, 2, **needing("")), step("other", 0, 2.005), step("c", 2.01, 3, **needing("a")), step("next", 2.015, 3)]
    found = workflow_of(run, write_runs(tmp_path / "runs.jsonl", steps))
    one = steps_by_name(found)["c"]
    assert (found["steps"][one["before"]]["rule"], one["waited_for_slot"]) == ("a", False)


def test_more_slots_start_no_step_before_the_last_of_its_needs(run, tmp_path):
    """p was the last need of "end", because it waited for a slot. With more slots that is q, which ends at 7."""
    steps = [step("long", 0, 6, **needing("")), step("q", 0, 7, **needing("")), step("p", 6.01, 3, **needing("")), step("end", 9.02, 1, **needing("p q"))]
    by_what = {one["what"]: one["wall_secs"] for one in workflow_of(run, write_runs(tmp_path / "runs.jsonl", steps))["estimates"]}
    assert by_what["6 slots instead of 2"] == pytest.approx(8, abs=0.1)


def test_a_faster_rule_leaves_the_path_to_the_other_step_that_is_needed(run, tmp_path):
    """fit takes 10 s on 2 cores, load takes 8: with 4 cores, end begins after load, at 8, and not at 5."""
    steps = [step("fit", 0, 10, cores_asked=2.0, cores_max=2.0, cpu_secs=20.0, **needing("")), step("load", 0, 8, **needing("")), step("end", 10, 2, **needing("fit load"))]
    by_what = {one["what"]: one["wall_secs"] for one in workflow_of(run, write_runs(tmp_path / "runs.jsonl", steps))["estimates"]}
    assert by_what["fit with 4 cores"] == pytest.approx(10, abs=0.1)


def test_lines_of_a_recipe_and_attempts_need_each_other(run, tmp_path):
    steps = [step("x", 0, 1, id="1", **needing("")), step("other", 0, 1.1), step("x", 1.2, 1, id="2", **needing("")),
             step("x", 2.3, 1, id="3", **needing(" "), **FAILED), step("x", 2.35, 1, id="4", **needing(""))]
    found = workflow_of(run, write_runs(tmp_path / "runs.jsonl", steps))
    assert [one["needs"] for one in found["steps"] if one["rule"] == "x"] == [[], [0 if found["steps"][0]["rule"] == "x" else 1], [2], []]


def test_a_repeated_task_with_a_folder_of_its_own_needs_the_attempt_that_failed(run, tmp_path):
    """As Nextflow repeats tasks: each attempt makes another name, and both need the same."""
    steps = [step("split", 0, 2, **needing("", "00/1")), step("align", 2.1, 1, task="align (1)", **needing("00/1", "00/2")), step("align", 2.1, 4, task="align (2)", **needing("00/1", "00/3"), **FAILED),
             step("align", 6.2, 5, task="align (2)", **needing("00/1", "00/4")), step("merge", 11.3, 1, **needing("00/2 00/4", "00/5"))]
    found = workflow_of(run, write_runs(tmp_path / "runs.jsonl", steps))
    assert path_of(found) == ["split", "align (align (2))", "align (align (2))", "merge"]
    assert sorted([one["needs"] for one in found["steps"] if one["task"] == "align (2)"], key=len) == [[0], [2, 0]]


def ranks(name, start, secs, cpu=None, **more):
    """The lines of a parallel program, one for each rank."""
    return [step(name, start, one, rank=i, id=f"{name}-{more.get('task')}-{start}-{i}", host=f"node-{i // 2}", cpu_secs=cpu[i] if cpu else one, memory_peak_mib=100.0 * (i + 1), **more)
            for i, one in enumerate(secs)]


def test_ranks_have_their_spread_and_the_one_that_ended_last_is_the_straggler(run, tmp_path):
    path = write_runs(tmp_path / "runs.jsonl", [*ranks("solve", 0, [10, 11, 15, 10]), step("plot", 16, 3)])
    found = workflow_of(run, path)
    (one,) = found["ranks"]
    assert (one["rule"], one["ranks"]) == ("solve", 4)
    assert one["wall_secs"] == {"min": 10, "median": 10.5, "max": 15} and one["memory_peak_mib"] == {"min": 100, "median": 250, "max": 400}
    assert (found["steps"][one["straggler"]]["rank"], one["straggler_by"], one["straggler_over_pct"]) == (2, "wall_secs", pytest.approx(42.9))
    text = " ".join(run("summary", "--workflow", path).out.split())
    assert "Ranks of solve: 4 (min, median, max); time 10.0 s, 10.5 s, 15.0 s; CPU time 10.0 s, 10.5 s, 15.0 s; memory 100 MiB, 250 MiB, 400 MiB; straggler: rank 2 on node-1, time 43 % over the median" in text


def test_ranks_with_gpus_tell_their_work_and_how_long_they_held_them_without(run, tmp_path):
    lines = ranks("train", 0, [100, 100, 100])
    for line, mean, hours in zip(lines, (0.91, 0.88, 0.3), (0, 0.0014, 0.0167)):
        line |= {"gpus": 8, "gpu_mean": mean, "gpu_held_idle_hours": hours}
    path = write_runs(tmp_path / "runs.jsonl", lines)
    (one,) = workflow_of(run, path)["ranks"]
    assert one["gpu_mean"] == {"min": 0.3, "median": 0.88, "max": 0.91} and one["gpu_held_idle_secs"] == {"min": 0, "median": 5.04, "max": 60.12}
    text = " ".join(run("summary", "--workflow", path).out.split())
    assert "; GPUs at work 0.30, 0.88, 0.91; GPUs held without work for 0 ms, 5.04 s, 1 min; " in text, text
    del lines[1]["gpu_held_idle_hours"]
    path = write_runs(tmp_path / "unknown.jsonl", lines)
    assert workflow_of(run, path)["ranks"][0]["gpu_held_idle_secs"] == {"min": None, "median": None, "max": None}
    assert "GPUs held" not in run("summary", "--workflow", path).out


def test_the_straggler_of_ranks_that_end_together_computed_longest(run, tmp_path):
    (one,) = workflow_of(run, write_runs(tmp_path / "runs.jsonl", ranks("solve", 0, [10, 10, 10, 10.1], [4, 9, 5, 4])))["ranks"]
    assert (one["straggler"], one["straggler_by"]) == (1, "cpu_secs") and one["cpu_secs"] == {"min": 4, "median": 4.5, "max": 9}
    path = write_runs(tmp_path / "alike.jsonl", ranks("solve", 0, [10, 10, 10], [9, 9, 9.1]))
    (one,) = workflow_of(run, path)["ranks"]
    assert (one["straggler"], one["straggler_by"], one["straggler_over_pct"]) == (None, None, None)
    assert "none stands out" in run("summary", "--workflow", path).out


def test_a_program_that_runs_twice_has_two_sets_of_ranks(run, tmp_path):
    steps = [*ranks("solve", 0, [5, 5]), *ranks("solve", 5.1, [5, 6, 5]), *ranks("solve", 60, [1]), *ranks("other", 0, [2, 2], task="a"), *ranks("other", 0, [2, 2], task="b"),
             step("plain", 0, 1), step("plain", 0, 2, id="again")]
    steps[1]["cpu_secs"] = None
    found = workflow_of(run, write_runs(tmp_path / "runs.jsonl", steps))["ranks"]
    assert [(one["rule"], one["task"], one["ranks"]) for one in found] == [("other", "a", 2), ("other", "b", 2), ("solve", None, 2), ("solve", None, 3)]
    assert found[2]["cpu_secs"] == {"min": None, "median": None, "max": None}
    text = run("summary", "--workflow", tmp_path / "runs.jsonl").out
    assert "Ranks of solve: 3" in text and "and 3 more with ranks" in text


def folder_of_sources(folder):
    (folder / "a.c").write_text("int a(void) { return 0; }\n")
    (folder / "main.c").write_text("int a(void); int main(void) { return a(); }\n")
    (folder / ".resource-tracker").mkdir()


def needs_by_name(run, folder):
    found = workflow_of(run, folder / ".resource-tracker")
    names = [name_of(one) for one in found["steps"]]
    return {name: sorted({names[need] for need in one["needs"] or []}) for name, one in zip(names, found["steps"])}, [names[index] for index in found["path"]]


@pytest.mark.skipif(not shutil.which("ninja") or not shutil.which("cc"), reason="ninja or a compiler is missing")
def test_targets_of_ninja_need_the_input_of_their_rule(run, binary, tmp_path):
    folder_of_sources(tmp_path)
    rule = re.search(r"^rule cc\n  command = .*$", (TOP / "docs" / "ENGINES.md").read_text(), re.M)[0].replace("resource-tracker -q", f"{binary} -q")
    link = rule.replace("rule cc", "rule link").replace("-c $in", "$in")
    (tmp_path / "build.ninja").write_text(f"{rule}\n{link}\nbuild a.o: cc a.c\nbuild main.o: cc main.c\nbuild prog: link main.o a.o\n")
    subprocess.run(["ninja", "-j1", "prog"], cwd=tmp_path, env=clean_environment(), check=True, stdout=subprocess.DEVNULL)
    needs, path = needs_by_name(run, tmp_path)
    assert (needs["prog"], needs["a.o"], path[-1]) == (["a.o", "main.o"], [], "prog")


@pytest.mark.skipif(not shutil.which("ninja") or not shutil.which("cmake") or not shutil.which("cc"), reason="CMake, ninja or a compiler is missing")
def test_targets_of_cmake_need_their_objects_and_libraries(run, binary, tmp_path):
    folder_of_sources(tmp_path)
    lines = re.search(r"^```cmake\n(.*?)^```", (TOP / "docs" / "ENGINES.md").read_text(), re.M | re.S)[1]
    (tmp_path / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.16)\nproject(demo C)\n" + lines + "add_custom_command(OUTPUT b.c COMMAND touch b.c)\n"
                                             "add_library(a STATIC a.c)\nadd_executable(prog main.c b.c)\ntarget_link_libraries(prog a)\n")
    environment = {**clean_environment(), "PATH": f"{os.path.dirname(binary)}:{os.environ['PATH']}"}
    for words in (["cmake", "-G", "Ninja", "-B", "out", "."], ["ninja", "-C", "out", "-j1"]):
        subprocess.run(words, cwd=tmp_path, env=environment, check=True, stdout=subprocess.DEVNULL)
    needs, path = needs_by_name(run, tmp_path / "out")
    objects = "CMakeFiles/prog.dir/main.c.o", "CMakeFiles/prog.dir/b.c.o"
    assert set(objects) | {"liba.a"} <= set(needs["prog"]) and needs["liba.a"][0] == "CMakeFiles/a.dir/a.c.o" and path[-1] == "prog"
    assert needs["b.c"] == [], "a command of its own is no step"


def test_a_task_that_names_its_rule_is_told_once(run, tmp_path):
    """As those of Nextflow. A task that only begins like its rule does not."""
    steps = [step("ALIGN", 0, 3, task="ALIGN (s 1)"), step("ALIGN", 3, 2, task="ALIGNED"), step("JOIN", 5, 1, task="JOIN")]
    text = run("summary", "--workflow", write_runs(tmp_path / "runs.jsonl", steps)).out
    assert [line.split("  ")[0] for line in text.split("STEP", 1)[1].splitlines()[1:4]] == ["ALIGN (s 1)", "ALIGN (ALIGNED)", "JOIN"]


def test_small_memory_keeps_its_figures(run, tmp_path):
    found = workflow_of(run, write_runs(tmp_path / "runs.jsonl", [step("small", 0, 1, memory_peak_mib=0.711), step("large", 1, 1, memory_peak_mib=123.456)]))
    assert [one["memory_peak_mib"] for one in found["steps"]] == [0.711, 123.5]
