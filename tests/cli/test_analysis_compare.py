"""compare-runs: differences in percent, with noise if several runs show it."""
import json
import math
import re
import statistics

import pytest

import recordings


@pytest.fixture
def make(tmp_path):
    def one(name, *, memory=100.0, wall=8.0, marks=()):
        samples = recordings.eight_samples()
        samples[-1]["run_end"] = dict(recordings.END, memory_peak_mib=memory, wall_secs=wall)
        path = recordings.write(tmp_path / name, samples)
        if marks:
            recordings.write_marks(path, 1_700_000_000.5, marks)
        return path

    return one


def figures(run, *arguments):
    result = run("compare-runs", "--json", *arguments)
    assert result.returncode == 0, result.err
    answer = json.loads(result.out)
    return answer, {one["name"]: one["sides"] for one in answer["metrics"] + answer["phases"]}


def test_wall_time_cpu_time_and_memory_stand_first_then_the_largest_change(run, make):
    a, b, c = make("a.jsonl"), make("b.jsonl", memory=150.0, wall=10.0), make("c.jsonl", memory=50.0)
    answer, found = figures(run, a, b, c)
    assert [one["name"] for one in answer["sides"]] == [str(a), str(b), str(c)]
    assert [side["change_pct"] for side in found["memory_peak"]] == [None, 50.0, -50.0]
    assert [side["mean"] for side in found["wall_time"]] == [8.0, 10.0, 8.0]
    assert found["wall_time"][1]["change_pct"] == 25.0 and found["wall_time"][1]["noise_pct"] is None
    assert [one["name"] for one in answer["metrics"][:3]] == ["wall_time", "cpu_time", "memory_peak"]
    assert found["cores_max"][1]["change_pct"] == 0.0 and found["cores_max"][1]["negligible"] is True
    changes = [max(abs(side["change_pct"] or 0) for side in one["sides"] if not side["negligible"])
               if any(side["negligible"] is False for side in one["sides"]) else 0 for one in answer["metrics"][3:]]
    assert changes == sorted(changes, reverse=True)
    assert answer["sides"][0]["outcome"] == "exit status 3"


WAITED, LEFT, NONE = {"tree_wall_secs": 20.0, "descendants_running": 0}, {"descendants_running": 2}, {"descendants_running": 0}


@pytest.mark.parametrize("sides, told, noted", [
    ([WAITED, LEFT], ["waited_for", "left_running"], "side-0.jsonl was recorded until its last process ended, side-1.jsonl left"),
    ([LEFT, WAITED], ["left_running", "waited_for"], "side-1.jsonl was recorded until its last process ended, side-0.jsonl left"),
    ([WAITED, WAITED], ["waited_for"] * 2, None), ([LEFT, LEFT], ["left_running"] * 2, None),
    # A job that leaves nothing behind is whole without waiting.
    ([WAITED, NONE], ["waited_for", None], None), ([LEFT, NONE], ["left_running", None], None), ([NONE, NONE], [None, None], None),
])
def test_a_side_that_waited_for_descendants_beside_one_that_left_them_is_told(run, tmp_path, sides, told, noted):
    paths = []
    for number, end in enumerate(sides):
        samples = recordings.eight_samples()
        samples[-1]["run_end"] = dict(recordings.END, wall_secs=8.0, **end)
        paths.append(recordings.write(tmp_path / f"side-{number}.jsonl", samples))
    assert [side["descendants"] for side in figures(run, *paths)[0]["sides"]] == told
    text = run("compare-runs", *paths).out
    notes = [line for line in text.splitlines() if "until its last process ended" in line]
    assert len(notes) == (noted is not None) and (not noted or notes[0].startswith(noted)), text


def test_a_tenfold_change_is_a_factor(run, make):
    text = run("compare-runs", make("a.jsonl"), make("b.jsonl", memory=1001.0, wall=79.0)).out
    lines = {line.split("  ")[0]: line.split("  ")[-1].strip() for line in text.splitlines()}
    assert (lines["wall time"], lines["memory peak"]) == ("+887.5 %", "x 10")


def test_the_text_is_ordered_by_subject(run, tmp_path):
    """Small figures change most in percent, and would stand between those that belong together."""
    sides = []
    for name, factor in ("a", 1), ("b", 2):
        samples = recordings.eight_samples()
        for one in samples:
            one["cpu"].update(process_disk_write_bytes=factor ** 4 << 20, process_read_chars=factor ** 3 << 20,
                              process_utime_secs=0.5 * factor, process_stime_secs=0.5 * factor ** 2,
                              process_voluntary_switches=100 * factor ** 5)
        samples[-1]["run_end"] = {**recordings.END, "utime_secs": 4.0 * factor, "stime_secs": 4.0 * factor ** 2}
        sides.append(recordings.write(tmp_path / f"{name}.jsonl", samples))
    table = run("compare-runs", *sides).out.split("\n\n")[1].splitlines()[1:]
    names = [line.split("  ")[0].strip() for line in table]
    assert names[:4] == ["outcome", "wall time", "cpu time", "memory peak"]
    subjects = ["user time", "system time", "written", "read by calls", "voluntary switches"]
    assert [name for name in names if name in subjects] == subjects


def test_several_runs_tell_the_noise(run, make):
    a, b = [100.0, 104.0, 96.0], [110.0, 114.0, 106.0]
    runs = [f"{side}={make(f'{side}{i}.jsonl', memory=value)}" for side, values in (("a", a), ("b", b))
            for i, value in enumerate(values)]
    _, found = figures(run, *runs)
    noise = 2 * math.sqrt(statistics.variance(a) / 3 + statistics.variance(b) / 3)
    side = found["memory_peak"][1]
    assert (side["mean"], side["min"], side["max"], side["runs"]) == (110.0, 106.0, 114.0, 3)
    assert side["change_pct"] == pytest.approx(10.0) and side["noise_pct"] == pytest.approx(noise)
    assert side["beyond_noise"] is True
    text = run("compare-runs", *runs).out
    assert "a (3)" in text and "+10.0 % (noise 6.5) *" in text


def test_the_verdict_names_the_noise_of_a_longer_run(run, tmp_path):
    runs = [f"{side}={varied(tmp_path / f'{side}{wall}.jsonl', wall=wall)}" for side, walls in (("a", (6.0, 8.0, 12.0)), ("b", (8.0, 10.0, 13.0)))
            for wall in walls]
    assert run("compare-runs", *runs).out.startswith("b took as long as a, within the noise; the same memory.\n")


def test_phases_are_compared_by_name(run, make):
    a = make("a.jsonl", marks=[("start", "load", 1.5), ("stop", "load", 3.5)])
    b = make("b.jsonl", marks=[("start", "load", 1.5), ("stop", "load", 4.5), ("start", "new", 5), ("stop", "new", 6)])
    answer, found = figures(run, a, b)
    assert found["load.secs"][1]["change_pct"] == pytest.approx(50.0, rel=1e-6)
    assert found["load.memory_max"][1]["mean"] == 100.0
    assert found["new.secs"][0]["mean"] is None and found["new.secs"][1]["mean"] == pytest.approx(1.0)
    text = run("compare-runs", a, b).out
    assert re.search(r"^Phases\n.*\n(load|new): time ", text, re.M) and "load: largest memory sample" in text and "load.secs" not in text
    assert run("compare-runs", "--fail-if", "load.secs>+40%", a, b).returncode == 3


@pytest.mark.parametrize("condition, status", [
    ("memory_peak>+10%", 3), ("memory_peak > +60 %", 0), ("memory_peak<-10%", 0), ("memory_peak>149", 3),
    ("wall_time>+1%", 0), ("wall_time<9", 3), ("memory_peak", 2), ("nonsense>1", 2), (">3", 2), ("memory_peak>x", 2)])
def test_fail_if(run, make, condition, status):
    result = run("compare-runs", "--fail-if", condition, make("a.jsonl"), make("b.jsonl", memory=150.0))
    assert result.returncode == status and bool(result.err) == bool(status)


@pytest.fixture
def changed(tmp_path):
    """Writes a steady run, and one that differs only in the figures of one group."""
    def pair(group, **figures):
        a, b = recordings.steady(tmp_path / "a.jsonl"), recordings.steady(tmp_path / "b.jsonl", memory=300.0)
        samples = [json.loads(line) for line in b.open()]
        for one in samples:
            one[group].update(figures)
        return a, recordings.write(b, samples)

    return pair


def test_values_that_rise_from_zero_stand_beside_values_that_stay_zero(run, changed):
    a, b = changed("cgroup", throttled_secs=0.5)
    answer, found = figures(run, a, b)
    assert found["throttled"][1]["change_pct"] is None and found["throttled"][1]["mean"] == 4.0
    names = [one["name"] for one in answer["metrics"]]
    assert names.index("memory_peak") < names.index("throttled") < names.index("system_time")
    line = next(line for line in run("compare-runs", a, b).out.splitlines() if line.startswith("throttled "))
    assert line.split() == ["throttled", "0", "4.00", "s", "from", "0"]
    result = run("compare-runs", "--fail-if", "throttled>+10%", a, b)
    assert result.returncode == 3 and result.err.endswith(f"throttled is 4.00 s in {b}, 0 in {a}\n")


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("condition", ["gpu_mean>+10%", "gpu_mean<+10%", "gpu_mean>1"])
def test_a_condition_on_a_value_missing_on_one_side_fails(run, changed, condition, swapped):
    a, b = changed("cpu", process_gpu_usage=None)
    result = run("compare-runs", "--fail-if", condition, *((b, a) if swapped else (a, b)))
    if swapped and "%" not in condition:
        assert result.returncode == 0
    else:
        assert result.returncode == 1 and result.err.endswith(f"gpu_mean of {b} is unknown\n")
    # A regression sets the exit status even if another condition cannot be judged.
    assert run("compare-runs", "--fail-if", condition, "--fail-if", "memory_peak>200", a, b).returncode == 3


def test_a_change_within_the_noise_fails_nothing(run, make):
    runs = [f"{side}={make(f'{side}{i}.jsonl', memory=value)}" for side, values in
            (("a", [80.0, 120.0]), ("b", [100.0, 140.0])) for i, value in enumerate(values)]
    assert run("compare-runs", "--fail-if", "memory_peak>+10%", *runs).returncode == 0


def test_a_condition_is_told_with_units(run, make):
    a, b = make("a.jsonl"), make("b.jsonl", memory=150.0, wall=10.0)
    said = run("compare-runs", "--fail-if", "memory_peak>+10%", "--fail-if", "wall_time>9", a, b).err
    assert f"memory_peak is 150 MiB in {b}, 100 MiB in {a} (+50.0 %)" in said
    assert f"wall_time is 10.0 s in {b}, 8.00 s in {a} (+25.0 %)" in said


def test_a_difference_too_small_for_its_unit_is_not_told_in_percent(run, make):
    a, b = make("a.jsonl", memory=2.0), make("b.jsonl", memory=2.5)
    line = next(line for line in run("compare-runs", a, b).out.splitlines() if line.startswith("memory peak "))
    assert line.split() == ["memory", "peak", "2.00", "MiB", "2.50", "MiB", "="]
    assert run("compare-runs", "--fail-if", "memory_peak>+10%", a, b).returncode == 0


def varied(path, *, user=6.0, wall=8.0, memory=100.0, end=None, **sums):
    """Writes a steady run of 8 samples with these sums."""
    recordings.steady(path, cores=user / 8, memory=memory, end={"wall_secs": wall, **(end or {})})
    samples = [json.loads(line) for line in path.open()]
    for one in samples:
        one["pressure"] = {"source": "cgroup", "cpu_some_secs": 0.0, "io_some_secs": 0.0, "memory_some_secs": 0.0,
                           **{name: value / 8 for name, value in sums.items()}}
    return recordings.write(path, samples)


@pytest.mark.parametrize("changed, verdict", [
    ({}, "b.jsonl took as long as a.jsonl; the same memory."),
    ({"wall": 9.44, "user": 7.5}, "b.jsonl is 18 % slower than a.jsonl: 25 % more CPU time, mostly in user mode; the same memory."),
    ({"wall": 6.0, "user": 4.0, "memory": 150.0},
     "b.jsonl is 25 % faster than a.jsonl: it did less work, 33 % less CPU time, mostly in user mode; 50 % more memory."),
    ({"wall": 12.0, "io_some_secs": 4.0}, "b.jsonl is 50 % slower than a.jsonl: it waited longer for I/O; the same memory."),
    ({"wall": 12.0, "cpu_some_secs": 4.0}, "b.jsonl is 50 % slower than a.jsonl: it waited longer for a CPU; the same memory."),
    ({"wall": 12.0}, "b.jsonl is 50 % slower than a.jsonl: the same CPU time, on fewer cores at once or with more waiting; the same memory."),
    # The CPU time has increased, but far less than the wall time.
    ({"wall": 12.0, "user": 6.5}, "b.jsonl is 50 % slower than a.jsonl: 8 % more CPU time, on fewer cores at once or with more "
     "waiting; the same memory."),
    ({"wall": 12.0, "user": 5.0}, "b.jsonl is 50 % slower than a.jsonl: 17 % less CPU time, on fewer cores at once or with more "
     "waiting; the same memory."),
    ({"user": 9.0}, "b.jsonl took as long as a.jsonl; 50 % more CPU time; the same memory."),
    ({"wall": 8.2}, "b.jsonl took as long as a.jsonl; the same memory."),
    # A run that failed is not faster: it did not do its work.
    ({"wall": 2.0, "end": {"exit_code": 7}},
     "a.jsonl: exit status 0, b.jsonl: exit status 7. b.jsonl took 75 % less time than a.jsonl; the same memory."),
    ({"end": {"exit_code": 7}}, "a.jsonl: exit status 0, b.jsonl: exit status 7. b.jsonl took as long as a.jsonl; the same memory."),
])
def test_the_verdict_is_one_sentence(run, tmp_path, changed, verdict):
    a, b = varied(tmp_path / "a.jsonl"), varied(tmp_path / "b.jsonl", **changed)
    result = run("compare-runs", a, b)
    assert result.out.splitlines()[0] == verdict
    assert json.loads(run("compare-runs", "--json", a, b).out)["verdict"] == verdict


@pytest.mark.parametrize("base, changed, cause", [
    # A third of the work also waits less: both explain the change, but the work comes first.
    ({"cpu_some_secs": 4.5}, {"wall": 3.0, "user": 1.7, "cpu_some_secs": 0.1}, "it did less work, 72 % less CPU time, mostly in user mode"),
    # A wait that explains less than half of the change stays untold.
    ({}, {"wall": 12.0, "io_some_secs": 1.5}, "the same CPU time, on fewer cores at once or with more waiting"),
    # The larger one of two waits is told.
    ({}, {"wall": 12.0, "cpu_some_secs": 2.1, "io_some_secs": 3.5}, "it waited longer for I/O"),
    # Half more CPU time does not explain three times the time.
    ({}, {"wall": 24.0, "user": 9.0}, "50 % more CPU time, on fewer cores at once or with more waiting"),
])
def test_a_cause_explains_most_of_the_change(run, tmp_path, base, changed, cause):
    text = run("compare-runs", varied(tmp_path / "a.jsonl", **base), varied(tmp_path / "b.jsonl", **changed)).out
    assert text.splitlines()[0].split(": ", 1)[1] == f"{cause}; the same memory."


def waited(path, wall, **waits):
    """A run whose processes waited for these, in seconds."""
    return varied(path, wall=wall, end={"waits": [
        {"class": name, "target": None, "program": "python3 load.py", "wait_secs": secs, "wait_pct": 10.0, "look_count": 40}
        for name, secs in waits.items()]})


@pytest.mark.parametrize("base, changed, wall, verdict, note", [
    ({"pipe": 1.0, "sleep": 2.0}, {"pipe": 4.8, "sleep": 2.0}, 12.0, "slower than a.jsonl: it waited longer for a pipe", "a pipe +3.8 s"),
    ({"pipe": 4.8}, {"pipe": 1.0}, 4.2, "faster than a.jsonl: it waited less for a pipe", "a pipe -3.8 s"),
    # A wait that only one side has was none on the other, if that was recorded with waits.
    ({"sleep": 2.0}, {"sleep": 2.0, "pipe": 3.9}, 12.0, "slower than a.jsonl: it waited longer for a pipe", "a pipe +3.9 s"),
    ({}, {"pipe": 3.9}, 12.0, "slower than a.jsonl: the same CPU time, on fewer cores at once or with more waiting", None),
    # It explains less than half of the change.
    ({"pipe": 1.0}, {"pipe": 2.0}, 12.0, "slower than a.jsonl: the same CPU time, on fewer cores at once or with more waiting", "a pipe +1.0 s"),
])
def test_the_wait_that_grew_is_told(run, tmp_path, base, changed, wall, verdict, note):
    text = run("compare-runs", waited(tmp_path / "a.jsonl", 8.0, **base), waited(tmp_path / "b.jsonl", wall, **changed)).out
    assert text.splitlines()[0].split(" % ", 1)[1] == f"{verdict}; the same memory.", text
    assert next((line.split(": ")[1] for line in text.splitlines() if line.startswith("Waits in ")), None) == note, text


def test_rows_that_compare_nothing_are_left_out(run, tmp_path):
    """Other programs' traffic rose 600 times, and each run has phases of its own."""
    a, b = varied(tmp_path / "a.jsonl"), varied(tmp_path / "b.jsonl")
    samples = [json.loads(line) for line in b.open()]
    for one in samples:
        one["totals"]["net_recv_bytes"] *= 100_000
    recordings.write(b, samples)
    for path, own in ((a, "first"), (b, "second")):
        recordings.write_marks(path, 1_700_000_000.5, [("start", "both", 1.0), ("stop", "both", 4.0), ("start", own, 4.0), ("stop", own, 6.0)])
    text = run("compare-runs", a, b).out
    assert "machine received" not in text and "both: time" in text and "first: " not in text and "second: " not in text, text
    assert text.endswith("2 phases are not on all sides (--json has all)\n"), text
    assert "both: calls" not in text, "a figure of a phase that is the same"
    answer = json.loads(run("compare-runs", "--json", a, b).out)
    assert "machine_received" in [one["name"] for one in answer["metrics"]] and "first.secs" in [one["name"] for one in answer["phases"]]


def test_a_figure_that_a_side_lacks_is_counted_and_not_listed(run, tmp_path):
    a, b = varied(tmp_path / "a.jsonl"), varied(tmp_path / "b.jsonl", wall=12.0)
    samples = [json.loads(line) for line in b.open()]
    for one in samples:
        one["cpu"]["process_disk_read_bytes"] = None
    text = run("compare-runs", a, recordings.write(b, samples)).out
    assert "unknown  " not in text and "1 figure is unknown on a side\n" in text, text


def test_figures_that_are_the_same_are_counted_and_not_listed(run, tmp_path):
    text = run("compare-runs", varied(tmp_path / "a.jsonl"), varied(tmp_path / "b.jsonl")).out
    assert all(f"\n{name} " in text for name in ("wall time", "cpu time", "memory peak", "outcome"))
    assert "machine received" not in text and "other figures are the same or differ too little to tell" in text


def test_real_recordings(run, tmp_path):
    for name, secs in (("a", 0.2), ("b", 0.7)):
        run("-i", 0.1, "-o", f"{name}.jsonl", "--", "sleep", secs)
    _, found = figures(run, "a.jsonl", "b.jsonl")
    assert found["wall_time"][1]["change_pct"] > 50


@pytest.mark.parametrize("arguments, status", [([], 2), (["a.jsonl"], 2), (["a.jsonl", "missing"], 1),
                                               (["x=a.jsonl", "x=a.jsonl"], 1), (["a.jsonl", "-"], 1)])
def test_bad_input_is_one_clear_line(run, make, arguments, status):
    make("a.jsonl")
    result = run("compare-runs", *arguments)
    assert result.returncode == status and result.err and not result.out
