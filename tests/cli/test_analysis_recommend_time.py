"""recommend: time limits, and the rule by size of input and attempt that engines evaluate."""
import json
import math
import re
import types

import pytest

import recordings

advice, MIB = recordings.advice, 1 << 20


def history(tmp_path, runs):
    """Writes lines of runs, the oldest first. A run is what differs from a good one of 1024 MiB."""
    path = tmp_path / "runs.jsonl"
    path.write_text("".join(json.dumps({**recordings.RUN_LINE, "id": f"run-{i}", "started": 1.7e9 + 1e5 * i, "memory_kernel_mib": 0.0,
                                        "samples": 60, **run}) + "\n" for i, run in enumerate(runs)))
    return path


def by_size(count=40, memory=lambda mib, i: 200 + mib * (1 + 0.01 * (i % 7)), secs=lambda mib, i: 100 + mib * (1 + 0.02 * (i % 5))):
    """Runs of inputs of 20 to 1000 MiB, in mixed order."""
    sizes = [20 * (i * 17 % 50 + 1) for i in range(count)]
    return [{"input_bytes": mib * MIB, "input_source": "option", "memory_peak_mib": float(memory(mib, i)),
             "memory_needed_mib": float(memory(mib, i)), "wall_secs": float(secs(mib, i))} for i, mib in enumerate(sizes)]


def time_of(run, path, *more):
    answer = advice(run, "--history", path, *more)
    return answer["time_secs"], answer["evidence"]["time"]


def test_one_run_gives_no_time_and_two_give_whole_minutes_above_the_longest(run, tmp_path):
    secs, evidence = time_of(run, history(tmp_path, [{"wall_secs": 1000.0}]))
    assert secs is None and set(evidence.values()) <= {None, 0}
    assert "Time" not in run("recommend", "--history", tmp_path / "runs.jsonl").out
    secs, evidence = time_of(run, history(tmp_path, [{"wall_secs": 1000.0}, {"wall_secs": 800.0}]))
    assert secs == 1800 and evidence["runs"] == 2, "30 % by scatter, and a half as there are only two: 1000 x 1.8 in whole minutes"
    assert "  Time     30 min      longest of 2 runs 16 min 40 s, and 80 % more\n" in run("recommend", "--history", tmp_path / "runs.jsonl").out
    secs, evidence = time_of(run, history(tmp_path, [{"wall_secs": 1000.0}] * 100))
    assert secs == 1320 and evidence["longest_secs"] == 1000 and evidence["buffer_pct"] == 30
    assert time_of(run, history(tmp_path, [{"wall_secs": 2.0}] * 3))[0] == 60


@pytest.mark.parametrize("ending", [
    {"outcome": "killed", "signal": 15}, {"outcome": "stopped", "reason": "stopped"}, {"outcome": "failed", "exit_code": 1}, {"outcome": "lost"},
    {"outcome": "oom", "end_oom": "confirmed", "oom_had_mib": 2048.0, "oom_next_mib": 4096.0}])
def test_a_run_that_did_not_end_well_says_at_least_until_a_later_run_shows_the_whole(run, tmp_path, ending):
    good = [{"wall_secs": 1000.0}] * 30
    usual = time_of(run, history(tmp_path, good))[0]
    assert time_of(run, history(tmp_path, [*good, {"wall_secs": 10.0, **ending}]))[0] == usual, "a short one does not count as quick"
    secs, evidence = time_of(run, history(tmp_path, [*good, {"wall_secs": 7201.0, **ending}]))
    assert secs == 7260 and evidence["cut_short_after_secs"] == 7201 and evidence["longest_secs"] == 1000
    text = run("recommend", "--history", tmp_path / "runs.jsonl").out
    assert "a run was cut short after 2 h, and no later one shows the whole\n" in text, text
    secs, evidence = time_of(run, history(tmp_path, [*good, {"wall_secs": 7201.0, **ending}, {"wall_secs": 1000.0}]))
    assert secs == usual and evidence["cut_short_after_secs"] is None
    assert time_of(run, history(tmp_path, [{"wall_secs": 1000.0}, {"wall_secs": 7201.0, **ending}]))[0] is None, "one good run is too few"


def test_a_process_that_was_attached_to_and_has_ended_gives_its_time(run, tmp_path):
    attached = {"outcome": "stopped", "reason": "target_exited", "exit_code": None, "wall_secs": 1000.0}
    assert time_of(run, history(tmp_path, [attached] * 100))[0] == 1320


def test_recordings_give_time_as_their_lines_do(run, tmp_path):
    def at(number, **end):
        return recordings.steady(tmp_path / f"{number}.jsonl", end={"wall_secs": 600.0 + number, **end},
                                 start={**recordings.NO_LIMITS, "run_id": f"r{number}"})
    well = [at(0), at(1)]
    assert advice(run, *well)["time_secs"] == 840
    assert advice(run, *well, at(2, reason="signal", signal=15, exit_code=None))["evidence"]["time"]["runs"] == 2
    assert advice(run, well[0], at(3, exit_code=1))["time_secs"] is None


def test_the_time_of_a_run_includes_the_descendants_that_it_waited_for(run, tmp_path):
    """Only the first process ends after 1 s. A limit by its time would kill the next run."""
    paths = [recordings.steady(tmp_path / f"{number}.jsonl", end={"wall_secs": 1.0, "tree_wall_secs": 600.0 + number},
                               start={**recordings.NO_LIMITS, "run_id": f"r{number}"}) for number in range(2)]
    assert advice(run, *paths)["time_secs"] == 840
    assert run("runs", "add", "--runs", tmp_path / "lines", *paths).returncode == 0
    assert advice(run, "--history", tmp_path / "lines")["time_secs"] == 840


def test_a_repeated_attempt_has_twice_the_time(run, tmp_path):
    path = history(tmp_path, [{"wall_secs": 1000.0}] * 100)
    assert [time_of(run, path, "--attempt", k)[0] for k in (1, 2, 3)] == [1320, 2640, 5220]
    assert "attempt 2: twice the attempt before\n" in run("recommend", "--history", path, "--attempt", 2).out


def test_time_follows_the_size_and_is_never_below_a_run_of_this_size_or_less(run, tmp_path):
    runs = by_size()
    path = history(tmp_path, runs)
    everything = time_of(run, path)[0]
    for mib in (20, 100, 500, 980):
        secs, evidence = time_of(run, path, "--input-bytes", mib * MIB)
        assert secs % 60 == 0 and secs >= max((one["wall_secs"] for one in runs if one["input_bytes"] <= mib * MIB), default=0)
        assert evidence["by_input"] == "line" and evidence["secs_per_input_gb"] > 900
        assert secs <= everything and (mib > 500 or secs < everything / 1.5)
    # No size is beyond a cut at another, larger size.
    cut = {"input_bytes": 900 * MIB, "input_source": "option", "outcome": "killed", "signal": 15, "wall_secs": 9000.0}
    path = history(tmp_path, [*runs, cut])
    assert time_of(run, path, "--input-bytes", 100 * MIB)[0] < 1000 and time_of(run, path, "--input-bytes", 950 * MIB)[0] == 9000


@pytest.mark.parametrize("form, part", [
    ("slurm", "#SBATCH --mem=1056M\n#SBATCH --time=31:11:00\n# after OUT_OF_MEMORY or TIMEOUT: sbatch --mem=1584M --time=62:22:00 SCRIPT\n"), ("nextflow", "memory '1056 MB'\ntime '1871 min'\n"),
    ("snakemake", "    mem_mb=1108,\n    runtime=1871\n"),
    ("kubernetes", "# in the spec of the pod or job, not of the container:\nactiveDeadlineSeconds: 112260\n")])
def test_forms_have_the_time_limit(run, tmp_path, form, part):
    path = history(tmp_path, [{"wall_secs": 86340.0, "memory_kernel_mib": 0.0}] * 200)
    assert run("recommend", "--history", path, "--for", form).out.endswith(part)
    alone = history(tmp_path, [{"wall_secs": 86340.0}])
    text = run("recommend", "--history", alone, "--for", form).out
    assert not re.search("time|Deadline", text), text


def kubernetes_bounds(run, *words):
    """Returns the text that stands before the comments, and (least, most) of {cores, MiB} in the comments, read as YAML's flow style."""
    text = run("recommend", "--for", "kubernetes", *words).out
    found = re.findall(r'^#     (?:min|max)Allowed: {cpu: "(\d+m?)", memory: (\d+)Mi}$', text, re.M)
    return text.split("#")[0], [(float(cpu.rstrip("m")) / (1000 if cpu.endswith("m") else 1), int(mib)) for cpu, mib in found], text


def test_kubernetes_has_the_bounds_of_an_autoscaler_around_the_request(run, tmp_path):
    runs = by_size()
    given = ("--history", history(tmp_path, runs), "--input-bytes", 500 * MIB)
    plain, (least, most), text = kubernetes_bounds(run, *given)
    request = int(re.search(r"requests:\n    cpu: \"2\"\n    memory: (\d+)Mi", plain).group(1))
    first, second = (advice(run, *given, "--attempt", k)["memory"] for k in (1, 2))
    assert request == first and least[1] < request < most[1]
    assert most[1] == pytest.approx(max(second, 1.5 * first), abs=16) and least[1] == pytest.approx(200 + 500 * 1.03, abs=32)
    assert least[0] == most[0] == 2 and text.index("maxAllowed") < text.index("activeDeadlineSeconds")
    assert [line for line in text.splitlines() if line.startswith("#")][1] == "#   containerPolicies:"
    # One run shows no usual need.
    assert kubernetes_bounds(run, "--history", history(tmp_path, runs[:1]))[1] == []


def snakemake_rule(text):
    """Returns {resource: function} of the resources of a rule, evaluated as Snakemake does."""
    return {name: eval(value) for name, value in re.findall(r"^    (\w+)=(lambda .*?),?$", text, re.M)}


def nextflow_rule(text):
    """Returns {directive: function of (bytes, attempt)}: MiB and minutes. The Groovy of the forms is turned into Python."""
    def function(code):
        for old, new in ((r"\(long\)", ""), (r"Math\.ceil", "ceil"), (r"Math\.(min|max)", r"\1"), (r"\(task\.attempt > 1 \? 1 : 0\)", "(attempt > 1)"),
                         (r"task\.attempt", "attempt"), (r"\[reads\]\.flatten\(\)\*\.size\(\)\.sum\(\)", "size"), (r"(\d)d\b", r"\1"), (r"1\.(MB|min)\b", "1")):
            code = re.sub(old, new, code)
        return lambda size, attempt: eval(code, {"ceil": math.ceil, "min": min, "max": max, "size": size, "attempt": attempt})
    return {name: function(code) for name, code in re.findall(r"^(memory|time) \{ (.*) \}$", text, re.M)}


@pytest.mark.parametrize("policy", ["max", "p95", "cost"])
@pytest.mark.parametrize("shape", ["line", "same"])
def test_engines_compute_as_much_as_the_advice_for_each_size_and_attempt(run, tmp_path, policy, shape):
    runs = by_size() if shape == "line" else by_size(memory=lambda mib, i: 500 + i * 7919 % 13, secs=lambda mib, i: 3000 + i * 7919 % 13)
    given = ("--history", history(tmp_path, runs), "--policy", policy)
    text = run("recommend", *given, "--for", "snakemake").out
    snakemake = snakemake_rule(text)
    nextflow = nextflow_rule(run("recommend", *given, "--for", "nextflow").out)
    assert "\nretries: 2\n" in text and ("follows the size" if shape == "line" else "the same for every size") in text
    for mib in (20, 500, 3000):
        before = 0
        for attempt in (1, 2, 3):
            memory = snakemake["mem_mb"](None, types.SimpleNamespace(size_mb=mib), attempt)
            minutes = snakemake["runtime"](None, types.SimpleNamespace(size_mb=mib), attempt)
            assert memory > 1.4 * before and isinstance(memory, int) and isinstance(minutes, int)
            before = memory
            assert nextflow["memory"](mib * MIB, attempt) == pytest.approx(memory * 1e6 / MIB, rel=0.01)
            assert abs(nextflow["time"](mib * MIB, attempt) - minutes) <= 1
            answer = advice(run, *given, "--input-bytes", mib * MIB, "--attempt", attempt)
            if answer["evidence"]["memory"]["by_input"] == shape:
                assert answer["memory"] - 17 <= memory * 1e6 / MIB <= 1.05 * answer["memory"] + 1, (mib, attempt, memory)
            if answer["evidence"]["time"]["by_input"] == shape:
                assert answer["time_secs"] / 60 - 1 <= minutes <= 1.1 * answer["time_secs"] / 60 + 2 ** (attempt - 1), (mib, attempt, minutes)


def test_the_rule_is_never_below_a_run_that_is_known(run, tmp_path):
    for number, runs in enumerate((by_size(), by_size(memory=lambda mib, i: 900 - mib / 2), by_size(memory=lambda mib, i: 300 + 40 * mib ** 0.5))):
        rule = snakemake_rule(run("recommend", "--history", history(tmp_path, runs), "--for", "snakemake").out)
        for one in runs:
            task = types.SimpleNamespace(size_mb=one["input_bytes"] / MIB)
            assert rule["mem_mb"](None, task, 1) * 1e6 / MIB >= one["memory_peak_mib"] and rule["runtime"](None, task, 1) * 60 >= one["wall_secs"], number


def test_an_unsettled_kill_and_the_kernel_s_memory_are_in_the_rule(run, tmp_path):
    runs = by_size()
    kill = {"input_bytes": 1000 * MIB, "input_source": "option", "outcome": "oom", "end_oom": "confirmed", "oom_had_mib": 4000.0, "oom_next_mib": 8000.0}
    rule = snakemake_rule(run("recommend", "--history", history(tmp_path, [*runs, kill]), "--for", "snakemake").out)
    assert rule["mem_mb"](None, types.SimpleNamespace(size_mb=1000), 1) * 1e6 / MIB >= 6000
    plain = snakemake_rule(run("recommend", "--history", history(tmp_path, runs), "--for", "snakemake").out)
    kernel = snakemake_rule(run("recommend", "--history", history(tmp_path, [{**one, "memory_kernel_mib": 100.0} for one in runs]), "--for", "snakemake").out)
    task = types.SimpleNamespace(size_mb=500)
    assert kernel["mem_mb"](None, task, 1) - plain["mem_mb"](None, task, 1) == pytest.approx(110 * MIB / 1e6, abs=2)


def test_a_comment_says_when_the_nearest_runs_would_reserve_less(run, tmp_path):
    path = history(tmp_path, by_size(memory=lambda mib, i: 200 if mib < 500 else 1600))
    for form, comment in (("snakemake", "# "), ("nextflow", "// ")):
        text = run("recommend", "--history", path, "--for", form).out
        assert re.search(rf"^{comment}the runs nearest in size would reserve \d+ % less, which no expression can say: recommend --input FILE does$", text, re.M), text
        assert "nearest" not in run("recommend", "--history", history(tmp_path, by_size()), "--for", form).out
        path = history(tmp_path, by_size(memory=lambda mib, i: 200 if mib < 500 else 1600))


def test_slurm_gets_a_number_and_how_to_ask_again(run, tmp_path):
    path = history(tmp_path, by_size())
    text = run("recommend", "--history", path, "--for", "slurm").out
    retry = re.search(r"\n# by the size of the input: recommend --input FILE\n# after OUT_OF_MEMORY or TIMEOUT: sbatch --mem=(\d+)M --time=0:(\d+):00 SCRIPT\n$", text)
    again = advice(run, "--history", path, "--attempt", 2)
    assert int(retry[1]) == pytest.approx(again["memory"], abs=16) and int(retry[2]) * 60 == pytest.approx(again["time_secs"], abs=60)
    answer = advice(run, "--history", path, "--input-bytes", 100 * MIB)
    text = run("recommend", "--history", path, "--input-bytes", 100 * MIB, "--for", "slurm").out
    assert f"\n#SBATCH --mem={answer['memory']}M\n" in text and "by the size" not in text and "\n# after OUT_OF_MEMORY" in text
    killed = {"outcome": "oom", "end_oom": "confirmed", "oom_had_mib": 2048.0, "oom_next_mib": 4096.0}
    one = run("recommend", "--history", history(tmp_path, by_size()[:1]), "--for", "slurm").out
    assert "sbatch" not in one, "one run shows no second attempt"
    both = run("recommend", "--history", history(tmp_path, [{}, killed]), "--for", "slurm").out
    first, second = map(int, re.findall(r"--mem=(\d+)M", both))
    assert second >= 1.5 * first > 1.4 * 2048


@pytest.mark.parametrize("known, shown", [(0, False), (7, False), (8, True)])
def test_eight_sizes_make_a_rule(run, tmp_path, known, shown):
    runs = by_size(20)
    for one in runs[known:]:
        del one["input_bytes"]
    path = history(tmp_path, runs)
    assert ("lambda" in run("recommend", "--history", path, "--for", "snakemake").out) == shown
    assert ("task.attempt" in run("recommend", "--history", path, "--for", "nextflow").out) == shown
    assert ("by the size of the input" in run("recommend", "--history", path, "--for", "slurm").out) == shown
