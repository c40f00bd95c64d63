"""The words of advice about memory: each sentence and note says what decided, and stays away where it did not."""
import json

import pytest

from test_analysis_backtest import killed, line, write

NOTES = {"outlier", "input_beyond", "attempt", "unsettled_kill", "few_runs"}


def sized(number, peak, size, **more):
    return line(number, peak, input_bytes=int(size), input_source="option", **more)


def on_a_line(count, *, fixed=512.0, per_byte=2.0, off=0.0):
    """Peaks on a line through the sizes, every other one above it by `off`."""
    return [sized(i, (fixed + per_byte * (i + 1) * 100) * (1 + off * (i % 2)), (i + 1) * 100 * 2**20) for i in range(count)]


def words(run, tmp_path, lines, *arguments):
    """The text of the memory as one line, and the rules of the notes."""
    path = write(tmp_path / "runs.jsonl", lines)
    result = run("recommend", "--history", path, "--job", "align", *arguments)
    assert result.returncode == 0 and not result.err, result.err
    answer = json.loads(run("recommend", "--json", "--history", path, "--job", "align", *arguments).out)
    memory = result.out.split("  Memory ")[1].split("  Notes ")[0]
    assert all(len(row) <= 80 for row in run("recommend", "--history", path, "--job", "align", *arguments, env={"COLUMNS": "80"}).out.splitlines())
    return " ".join(memory.split()), {note["rule"]: note["text"] for note in answer["notes"] if note["rule"] in NOTES}


def test_a_line_is_told_by_its_fixed_part_its_bytes_and_its_margin(run, tmp_path):
    text, notes = words(run, tmp_path, on_a_line(37), "--input-bytes", 10 * 100 * 2**20)
    assert text.startswith("2608 MiB 2.55 GiB: 512 MiB and 2.00 bytes for each byte of input, and 3 % for the spread of 37 runs; attempt 2: "
                           "8.50 GiB (largest peak 7.73 GiB) on the last 36 runs: "), text
    assert not notes


def test_a_line_that_begins_below_zero_or_falls_is_told_so(run, tmp_path):
    below = on_a_line(20, fixed=-100, per_byte=2.0)[1:]
    assert "2.00 bytes for each byte of input" in words(run, tmp_path, below, "--input-bytes", 15 * 100 * 2**20)[0]
    falls = on_a_line(20, fixed=5000, per_byte=-2.0)
    assert "4.88 GiB less 2.00 bytes for each byte of input" in words(run, tmp_path, falls, "--policy", "p95", "--input-bytes", 9 * 100 * 2**20)[0]


def steps(count):
    """Three steps of needs that follow no line."""
    return [sized(i, [1000, 4000, 1500][i % 3] + i, [1, 10, 100][i % 3] * 2**30 + i) for i in range(count)]


def test_the_nearest_runs_are_told(run, tmp_path):
    text, notes = words(run, tmp_path, steps(60), "--policy", "p95", "--input-bytes", 2**30)
    assert ": by the 7 runs nearest in size of input, and " in text and " % for the spread of 60 runs; attempt 2: 4.36 GiB" in text, text
    assert not notes


def test_a_floor_is_told_as_the_largest_peak_of_smaller_inputs(run, tmp_path):
    text, notes = words(run, tmp_path, steps(60), "--input-bytes", 100 * 2**30 + 59)
    assert ": the largest peak of an input of this size or less, and " in text, text
    assert not notes


def test_an_input_beyond_all_known_is_told_and_held(run, tmp_path):
    lines = on_a_line(20)
    assert not words(run, tmp_path, lines, "--input-bytes", 20 * 100 * 2**20)[1]
    text, notes = words(run, tmp_path, lines, "--input-bytes", 21 * 100 * 2**20)
    assert "512 MiB and 2.00 bytes" in text and list(notes) == ["input_beyond"]
    assert notes["input_beyond"] == ("this input is larger than that of any earlier run: a line through them says what it takes, "
                                     "up to four times the largest peak")
    text, notes = words(run, tmp_path, lines, "--input-bytes", 10**13)
    assert "four times the largest need, as far as a line is trusted, and " in text and list(notes) == ["input_beyond"], text
    few = [sized(i, 1000, 100) for i in range(3)]
    assert words(run, tmp_path, few, "--input-bytes", 200)[1] == {
        "input_beyond": "this input is larger than that of any earlier run: it may take more than they did"}


def test_a_need_below_a_quarter_of_the_smallest_is_held(run, tmp_path):
    lines = on_a_line(20, fixed=-19000, per_byte=200)
    text, _ = words(run, tmp_path, lines, "--policy", "p95", "--input-bytes", 96 * 2**20)
    assert "a quarter of the smallest need, as far as a line is trusted" in text, text


def test_one_size_for_all_is_told_by_its_largest_peak(run, tmp_path):
    same = [line(i, 1000) for i in range(25)]
    assert words(run, tmp_path, same)[0].startswith("1040 MiB peak 1000 MiB, and 4 % for the spread of 25 runs (the peak of the process tree)")
    assert words(run, tmp_path, same[:1])[0].startswith("1200 MiB peak 1000 MiB, and 20 % more (the peak of the process tree)")
    kernel = [dict(one, memory_kernel_mib=200.0) for one in same]
    assert words(run, tmp_path, kernel)[0].startswith("1248 MiB peak 1000 MiB, 200 MiB for the kernel and files in memory, and 4 % for the spread of 25 runs (")


def test_policies_below_the_largest_say_their_amount(run, tmp_path):
    lines = [line(i, 8000 if i == 10 else 1000 + i % 7) for i in range(60)]
    text, _ = words(run, tmp_path, lines, "--policy", "p95")
    assert ": 1006 MiB, which 95 % of 60 runs stayed below, and " in text and "for the spread of 60 runs; attempt 2: 8.59 GiB" in text, text
    text, _ = words(run, tmp_path, lines, "--policy", "cost")
    assert (": 1003 MiB, which costs least in all for 60 runs, and 2 % for what a recording does not see; 1.7 % of the runs would be killed "
            "and repeated; attempt 2: 8.59 GiB (largest peak 7.81 GiB)") in text, text
    few, notes = words(run, tmp_path, lines[:3], "--policy", "cost")
    assert few.split(" MiB ", 1)[1].startswith("largest peak 1002 MiB, and 12 % for the spread of 3 runs (the peak of the process tree)"), few


@pytest.mark.parametrize("count, told", [(1, "1 run is"), (5, "5 runs are"), (6, None)])
def test_cost_says_that_it_guesses_from_few_runs(run, tmp_path, count, told):
    lines = [line(i, 1000 + i) for i in range(count)]
    text = told and f"{told} too few to know how often a run would be killed: with fewer than 6, --policy cost guesses"
    assert words(run, tmp_path, lines, "--policy", "cost")[1].get("few_runs") == text
    assert "few_runs" not in words(run, tmp_path, lines)[1]


@pytest.mark.parametrize("attempt, told", [
    (2, "attempt 2: 4.30 GiB, a tenth more than the largest peak; attempt 3: 6.45 GiB (largest peak 3.91 GiB)"),
    (3, "attempt 3: 6.45 GiB, half as much again as the attempt before had; attempt 4: 12.9 GiB (largest peak"),
    (4, "attempt 4: 12.9 GiB, twice what the attempt before had; attempt 5: 25.8 GiB (largest peak")])
def test_an_attempt_says_why_it_is_more(run, tmp_path, attempt, told):
    lines = [sized(i, 1000 + 3000 * (i == 3), 2**30) for i in range(30)]
    text, notes = words(run, tmp_path, lines, "--policy", "cost", "--attempt", attempt, "--input-bytes", 2**30)
    assert told in text, text
    assert notes["attempt"] == f"attempt {attempt} asks for more than the attempt before had"
    assert "attempt" not in words(run, tmp_path, lines, "--policy", "cost", "--input-bytes", 2**30)[1]


def test_a_kill_that_nothing_settled_decides_and_says_so(run, tmp_path):
    good = [sized(i, 500, 2**30) for i in range(10)]
    text, notes = words(run, tmp_path, [*good, killed(10, 1024, input_bytes=2**30, input_source="option")], "--input-bytes", 2**30)
    assert text.startswith("1536 MiB 1.50 GiB: half as much again as the 1.00 GiB that a run of about this input had when it ran out of "
                           "memory; attempt 2: 2.25 GiB (largest peak 1.00 GiB)"), text
    assert notes == {"unsettled_kill": "a run of about this input was killed with 1.00 GiB, and no later run shows what is enough: "
                                       "the advice is half as much again"}
    settled = [*good, killed(10, 1024, input_bytes=2**30, input_source="option"), sized(11, 1100, 2**30)]
    text, notes = words(run, tmp_path, settled, "--input-bytes", 2**30)
    assert "peak 1.07 GiB" in text and not notes, text
    # A kill of a much smaller input says nothing of this one.
    text, notes = words(run, tmp_path, [*good, killed(10, 1024, input_bytes=2**20, input_source="option")], "--input-bytes", 2**30)
    assert "unsettled_kill" not in notes


def test_an_outlier_is_told_and_its_reason_if_its_input_may_be_one(run, tmp_path):
    rest = ": --task counts the runs of one task alone, --policy cost lets such a run be killed and repeated"
    lines = [sized(i, 3010 if i == 5 else 1000, 2**30) for i in range(12)]
    assert words(run, tmp_path, lines, "--input-bytes", 2**30)[1] == {
        "outlier": "one run took more than 3 times the median, and the size of its input does not say why" + rest}
    assert words(run, tmp_path, lines)[1] == {"outlier": "one run took more than 3 times the median, and --input may say why" + rest}
    lines[5]["memory_peak_mib"] = 2990.0
    assert not words(run, tmp_path, lines)[1]
    # The size says why.
    assert not words(run, tmp_path, on_a_line(30, fixed=10), "--input-bytes", 2**30)[1]
