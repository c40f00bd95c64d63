"""recommend --backtest: the runs of a job in their order, as advice, the request and simple rules would have served them."""
import json
import math
import random
import time

import pytest

SECS = 1800.0
HOURS = SECS / 3600


def line(number, peak, **more):
    return {"schema": 1, "id": f"run-{number}", "name": "align", "outcome": "ok", "started": 1.7e9 + 3600 * number, "wall_secs": SECS,
            "memory_peak_mib": float(peak), "cores_mean": 1.0, **more}


def killed(number, had, **more):
    return line(number, had, outcome="oom", end_oom="confirmed", oom_had_mib=float(had), oom_next_mib=2.4 * had, **more)


def write(path, lines):
    path.write_text("".join(json.dumps(one) + "\n" for one in lines))
    return path


def backtest(run, path, *arguments):
    result = run("recommend", "--backtest", "--json", "--history", path, *arguments)
    assert result.returncode == 0 and not result.err, result.err
    return json.loads(result.out)


def rules(job):
    return {rule["rule"]: rule for rule in job["rules"]}


def in_steps(mib):
    return max(32, 16 * math.ceil(mib / 16))


def advised(run, path, lines, *arguments):
    answer = run("recommend", "--json", "--job", "align", "--history", write(path, lines), *arguments)
    return json.loads(answer.out)["memory"]


@pytest.mark.parametrize("policy", ["max", "cost", "p95"])
def test_each_run_gets_the_advice_that_its_earlier_runs_give(run, tmp_path, policy):
    """With inputs, and again after each attempt that was too small."""
    chance = random.Random(7)
    lines = [line(i, 200 + size / 2**19 * chance.uniform(0.8, 1.2), input_bytes=size, input_source="option")
             for i, size in enumerate(int(chance.lognormvariate(19, 0.7)) for _ in range(24))]
    reserved = wasted = kills = 0
    for i in range(1, len(lines)):
        known, size, peak = lines[:i], ["--policy", policy, "--input-bytes", lines[i]["input_bytes"]], lines[i]["memory_peak_mib"]
        mib, attempt = advised(run, tmp_path / "known.jsonl", known, *size), 1
        kills += mib < peak
        while mib < peak:
            reserved, wasted, attempt = reserved + mib, wasted + mib, attempt + 1
            known = [*known, killed(i, mib, id=f"try-{attempt}", input_bytes=lines[i]["input_bytes"], input_source="option")]
            mib = advised(run, tmp_path / "known.jsonl", known, *size, "--attempt", attempt)
        reserved, wasted = reserved + mib, wasted + mib - peak
    found = rules(backtest(run, write(tmp_path / "all.jsonl", lines), "--policy", policy)["all"])[policy]
    assert (found["runs"], found["killed"]) == (23, kills) and kills > 0
    assert found["reserved_gib_hours"] == pytest.approx(reserved * HOURS / 1024, abs=1e-5)
    assert found["wasted_gib_hours"] == pytest.approx(wasted * HOURS / 1024, abs=1e-5)


def test_simple_rules_double_after_a_kill_and_the_request_is_as_it_was_made(run, tmp_path):
    peaks = [1000, 500, 3000, 700]
    found = rules(backtest(run, write(tmp_path / "x.jsonl", [line(i, peak, memory_asked_mib=4096.0)
                                                            for i, peak in enumerate(peaks)]))["all"])
    for name, factor in ("largest + 20 %", 1.2), ("largest + 15 %", 1.15):
        first, large = in_steps(1000 * factor), in_steps(3000 * factor)
        assert found[name]["killed"] == 1
        assert found[name]["reserved_gib_hours"] == pytest.approx((first + (1 + 2 + 4) * first + large) * HOURS / 1024, abs=1e-5)
        waste = (first - 500) + 3 * first + (4 * first - 3000) + (large - 700)
        assert found[name]["wasted_gib_hours"] == pytest.approx(waste * HOURS / 1024, abs=1e-5)
    asked = found["as asked"]
    assert (asked["runs"], asked["killed"]) == (3, 0)
    assert asked["reserved_gib_hours"] == pytest.approx(3 * 4096 * HOURS / 1024, abs=1e-5)
    assert asked["wasted_gib_hours"] == pytest.approx((3 * 4096 - 4200) * HOURS / 1024, abs=1e-5)


def test_a_real_kill_counts_where_a_rule_reserves_no_more_than_the_run_had(run, tmp_path):
    lines = [line(0, 1000, memory_asked_mib=2048.0), killed(1, 2048, memory_asked_mib=2048.0), line(2, 900, memory_asked_mib=2048.0)]
    answer = backtest(run, write(tmp_path / "x.jsonl", lines))
    found = rules(answer["all"])
    assert {name: (rule["runs"], rule["killed"]) for name, rule in found.items()} == {
        "max": (2, 1), "as asked": (2, 1), "largest + 20 %": (2, 1), "largest + 15 %": (2, 1)}
    assert answer["sentence"].endswith("with 1 of 2 runs killed instead of 1")
    assert found["as asked"]["reserved_gib_hours"] == pytest.approx(2048 * HOURS / 1024)  # the need of a killed run is unknown
    assert found["max"]["reserved_gib_hours"] == pytest.approx(3072 * HOURS / 1024)  # and is learned: half as much again
    roomy = [line(0, 4000), killed(1, 2048, memory_asked_mib=2048.0), line(2, 900)]
    assert rules(backtest(run, write(tmp_path / "y.jsonl", roomy))["all"])["max"]["killed"] == 0


def test_the_sentence_compares_with_the_request_or_with_the_largest_and_a_fifth(run, tmp_path):
    lines = [line(i, 1000, memory_asked_mib=4000.0) for i in range(101)]
    max_mib = [in_steps(1000 * (1 + max(0.02, 0.2 / known ** 0.5))) for known in range(1, 101)]
    less = 100 * (1 - sum(max_mib) / 400000)
    sentence = f"max would have reserved {less:.0f} % less memory than was asked, with 0 of 100 runs killed"
    path = write(tmp_path / "x.jsonl", lines)
    assert backtest(run, path)["sentence"] == sentence
    text = run("recommend", "--backtest", "--history", path).out
    assert text.splitlines()[0].split() == ["JOB", "RULE", "RUNS", "GIB", "H", "RESERVED", "GIB", "H", "WASTED", "KILLED"]
    saved = (400000 - sum(max_mib)) * HOURS / 1024
    assert text.splitlines()[-2] == sentence and "all jobs" not in text
    assert text.splitlines()[-1] == f"it would have saved {saved:.0f} GiB h"
    for one in lines:
        del one["memory_asked_mib"]
    assert backtest(run, write(path, lines))["sentence"] == (
        f"max would have reserved {100 * (1 - sum(max_mib) / 120000):.0f} % less memory than the largest peak and 20 %, "
        "with 0 of 100 runs killed")


def test_hours_have_their_price(run, tmp_path):
    path = write(tmp_path / "x.jsonl", [line(i, 1000, memory_asked_mib=4096.0) for i in range(3)])
    answer = backtest(run, path, "--gib-price", "0.5")
    found = rules(answer["all"])
    assert found["as asked"]["reserved_usd"] == pytest.approx(2 * 4 * HOURS * 0.5)
    saved = 2 * 4 * HOURS - found["max"]["reserved_gib_hours"]
    assert answer["saved_gib_hours"] == pytest.approx(saved, abs=1e-5) and answer["saved_usd"] == pytest.approx(saved * 0.5, abs=1e-5)
    text = run("recommend", "--backtest", "--gib-price", "0.5", path).out.splitlines()
    assert text[0].split()[-3:] == ["USD", "RESERVED", "KILLED"] and text[2].split()[-2] == "2"
    assert text[-1] == f"it would have saved {saved:.2f} GiB h, {saved * 0.5:.4g} USD"
    unpriced = backtest(run, path)
    assert unpriced["saved_usd"] is None and unpriced["all"]["rules"][0]["reserved_usd"] is None
    assert "USD" not in run("recommend", "--backtest", path).out
    # Advice may take more than was asked.
    write(path, [line(i, 1000, memory_asked_mib=1010.0) for i in range(3)])
    assert run("recommend", "--backtest", path).out.splitlines()[-1].startswith("it would have cost 0.")


def test_history_tells_the_memory_that_advice_saves(run, tmp_path):
    lines = [line(i, 1000, memory_asked_mib=4096.0) for i in range(6)] + [line(i + 6, 500, name="sort", memory_asked_mib=2048.0) for i in range(3)]
    path = write(tmp_path / "x.jsonl", lines)
    answer = json.loads(run("history", "--saved", "--gib-price", "0.5", "--json", path).out)
    replayed = backtest(run, path, "--gib-price", "0.5")
    assert answer["saved"] == {key: replayed[key] for key in ("sentence", "saved_gib_hours", "saved_usd")}
    align = next(group for group in answer["groups"] if group["job"] == "align")
    assert align["unused_memory_usd"] == pytest.approx(6 * (4096 - 1000) / 1024 * HOURS * 0.5)
    text = run("history", "--saved", "--gib-price", "0.5", path).out
    assert f"unused memory: {align['unused_memory_usd']:.4g} USD\n" in text
    assert text.splitlines()[-2] == replayed["sentence"] and text.splitlines()[-1].endswith(f"{replayed['saved_usd']:.4g} USD")
    only = json.loads(run("history", "--saved", "--json", "--job", "sort", path).out)
    assert only["saved"]["sentence"] == backtest(run, path, "--job", "sort")["sentence"] and only["saved"]["saved_usd"] is None
    since = time.strftime("%Y-%m-%d", time.localtime(1.7e9))
    late = write(tmp_path / "late.jsonl", [line(i - 50, 9000) for i in range(2)] + lines)
    assert json.loads(run("history", "--saved", "--json", "--since", since, late).out)["runs"] == 9
    assert json.loads(run("history", "--saved", "--json", "--since", since, late).out)["saved"]["sentence"] == replayed["sentence"]
    plain = run("history", "--json", path).out
    assert "saved" not in json.loads(plain) and json.loads(plain)["groups"][0]["unused_memory_usd"] is None
    assert "USD" not in run("history", path).out and "saved" not in run("history", path).out


def test_a_history_that_cannot_be_replayed_is_still_printed(run, tmp_path):
    result = run("history", "--saved", write(tmp_path / "x.jsonl", [line(0, 1000)]))
    assert result.returncode == 1 and "align" in result.out and "a run needs an earlier one of its job" in result.err
    result = run("recommend", "--gib-price", "1", "--job", "align", tmp_path / "x.jsonl")
    assert result.returncode == 2 and "--gib-price is for --backtest" in result.err


def test_the_advice_keeps_to_the_bounds_of_a_site(run, tmp_path):
    lines = [line(i, 1000) for i in range(3)]
    path, bounds = write(tmp_path / "x.jsonl", lines), ("--memory-step", "1024", "--memory-least", "2500")
    found = rules(backtest(run, path, *bounds)["all"])
    assert found["max"]["reserved_gib_hours"] == pytest.approx(2 * 3 * HOURS)
    assert found["largest + 20 %"]["reserved_gib_hours"] == pytest.approx(2 * in_steps(1200) * HOURS / 1024)
    assert advised(run, path, lines, "--memory-step", "1024") == 2048 and advised(run, path, lines, "--memory-least", "2500") == 2512
    assert advised(run, path, lines, *bounds) == 3072 and advised(run, path, lines, "--memory-step", "1000.5") == 2001
    assert advised(run, path, lines, *bounds, "--attempt", "2") == 5120, "half as much again as 3072, by the site's steps"
    for bound in bounds[:2], bounds[2:], ("--memory-step", "4096"), ("--memory-least", "5000", "--memory-step", "700"):
        given = [advised(run, path, lines, *bound, "--attempt", k) for k in range(1, 7)]
        assert all(after > 1.2 * before for before, after in zip(given, given[1:])), (bound, given)


@pytest.mark.parametrize("bounds, is_least", [([], False), (["--memory-least", "2500"], True), (["--memory-step", "2048"], False)])
def test_the_least_of_a_site_is_named_where_it_decides(run, tmp_path, bounds, is_least):
    answer = json.loads(run("recommend", "--json", "--history", write(tmp_path / "x.jsonl", [line(i, 1000, cores_needed=1.0) for i in range(3)]), *bounds).out)
    assert (answer["evidence"]["memory"]["basis"] == "the least that is advised") == is_least
    form = run("recommend", "--for", "slurm", "--history", tmp_path / "x.jsonl", "--memory-step", "1024").out
    assert "#SBATCH --mem=2048M\n" in form and "sbatch --mem=3072M " in form


def test_runs_are_ordered_by_start_and_the_last_line_of_a_run_counts(run, tmp_path):
    lines = [line(i, 100 * (i + 1), memory_asked_mib=2000.0) for i in range(8)]
    whole = backtest(run, write(tmp_path / "x.jsonl", lines))
    mixed = [dict(lines[3], memory_peak_mib=9999.0), *reversed(lines), dict(line(9, 1), outcome="running")]
    assert backtest(run, write(tmp_path / "y.jsonl", mixed)) == whole


def test_only_the_newest_two_hundred_runs_are_known(run, tmp_path):
    lines = [line(0, 9000), *(line(i, 1000) for i in range(1, 262))]
    found = rules(backtest(run, write(tmp_path / "x.jsonl", lines))["all"])["largest + 20 %"]
    assert found["reserved_gib_hours"] == pytest.approx((200 * in_steps(10800) + 61 * in_steps(1200)) * HOURS / 1024, abs=1e-4)


def test_each_job_is_replayed_by_itself_and_one_may_be_chosen(run, tmp_path):
    lines = [line(i, 1000) for i in range(3)] + [line(i + 3, 5000, name="sort", task="a") for i in range(4)] + [line(9, 10, name="once")]
    path = write(tmp_path / "x.jsonl", lines)
    answer = backtest(run, path)
    assert [(job["job"], job["rules"][0]["runs"]) for job in answer["jobs"]] == [("sort", 3), ("align", 2)]
    assert answer["all"]["rules"][0]["runs"] == 5 and "all jobs" in run("recommend", "--backtest", path).out
    assert [job["job"] for job in backtest(run, path, "--job", "align")["jobs"]] == ["align"]
    assert [job["job"] for job in backtest(run, path, "--task", "a")["jobs"]] == ["sort"]


def test_lines_that_say_nothing_are_counted(run, tmp_path):
    lines = [line(0, 1000), line(1, 1000), line(2, 500, rank=1, tasks=4), {"schema": 99, "name": "align"}]
    path = write(tmp_path / "x.jsonl", lines)
    assert backtest(run, path)["lines_left_out"] == 2
    text = run("recommend", "--backtest", path).out
    assert "left out: 1 line of ranks\n" in text and "schema 99" in text


@pytest.mark.parametrize("arguments, status, part", [
    (["missing.jsonl"], 1, "missing.jsonl"), (["one.jsonl"], 1, "an earlier one of its job"), (["--job", "none", "one.jsonl"], 1, "0 runs"),
    (["--for", "slurm", "one.jsonl"], 2, "leave out --for"), (["--attempt", "2", "one.jsonl"], 2, "leave out --attempt"),
    (["--input-bytes", "5", "one.jsonl"], 2, "leave out --input-bytes"), (["text.jsonl"], 1, "text.jsonl")])
def test_bad_input_of_a_replay_is_one_clear_line(run, tmp_path, arguments, status, part):
    write(tmp_path / "one.jsonl", [line(0, 1000)])
    (tmp_path / "text.jsonl").write_text("no line of a run\n")
    result = run("recommend", "--backtest", *arguments)
    assert result.returncode == status and part in result.err.splitlines()[0] and not result.out
    assert len(result.err.splitlines()) <= (1 if status == 1 else 2), result.err
