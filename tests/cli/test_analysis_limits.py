"""Limits and sizes that change during a run: each percentage, sentence and advice uses what was in force at its moment."""
import json

import pytest

import recordings

KNOWN = {"cpu_limit_cores": None, "memory_limit_mib": None, "cpuset_cores": 8}


SUCCESS = {"exit_code": 0, "evidence": "wait status: exit code 0", "memory_peak_mib": None, "largest_process_peak_mib": None,
           "cgroup_memory_peak_mib": None}


def course(path, limits, *, memory=100.0, total=None, cores=1.0, end=None, start=None):
    """A run of one sample a second with these limits, memory, total memory and cores: a list, or one value for all.

    Its start has the first limits, or those of `start`."""
    at = lambda values, i: values[i] if isinstance(values, list) else values
    made = [recordings.sample(i, cores=at(cores, i), memory=at(memory, i), limits={**KNOWN, **at(limits, i)},
                              start={**recordings.START, **KNOWN, **at(limits, 0), **(start or {})} if i == 0 else None) for i in range(8)]
    for i, one in enumerate(made):
        if total:
            one["memory"]["total_mib"] = at(total, i)
    if end:
        made[-1]["run_end"] = {**recordings.END, **end}
    return recordings.write(path, made)


def summary(run, path):
    return json.loads(run("summary", "--json", path).out)


def steps(before, after, at=4):
    return [before] * at + [after] * (8 - at)


RAISED = steps({"memory_limit_mib": 200.0}, {"memory_limit_mib": 800.0})


def test_the_limit_is_that_of_the_moment_of_the_peak(run, tmp_path):
    path = course(tmp_path / "run.jsonl", RAISED, memory=steps(150.0, 740.0))
    found = summary(run, path)
    assert (found["memory"]["limit_mib"], found["memory"]["limit_source"], found["memory"]["peak_of_limit_pct"]) == (800.0, "cgroup limit", 92.5)
    assert found["limit_changes"] == [{"elapsed_secs": 5.0, "what": "memory_limit_mib", "from": 200.0, "to": 800.0}]
    assert "Limits     memory limit raised from 200 MiB to 800 MiB after 5.00 s\n" in run("summary", path).out


def test_a_change_before_the_first_sample_is_told(run, tmp_path):
    """All of a run of less than a second may come before its first sample. Its time has the higher number of cores."""
    path = course(tmp_path / "run.jsonl", {"memory_limit_mib": 800.0, "cpu_limit_cores": 0.5}, cores=[1.5] + [0.25] * 7,
                  start={"memory_limit_mib": 200.0, "cpu_limit_cores": 2.0})
    found = summary(run, path)
    assert found["limit_changes"] == [{"elapsed_secs": 1.0, "what": "memory_limit_mib", "from": 200.0, "to": 800.0},
                                      {"elapsed_secs": 1.0, "what": "cpu_limit_cores", "from": 2.0, "to": 0.5}]
    assert (found["cores"]["limit"], found["cores"]["limit_source"]) == (0.688, "cgroup limit")


def test_a_peak_before_the_change_has_the_old_limit(run, tmp_path):
    path = course(tmp_path / "run.jsonl", RAISED, memory=steps(190.0, 100.0), end=SUCCESS)
    assert summary(run, path)["memory"]["peak_of_limit_pct"] == 95.0
    assert "the limit of 200 MiB" in run("recommend", path).out


def test_a_change_is_noticed_after_it_was_made(run, tmp_path):
    """The kernel tells a peak of 500 MiB after 4.2 s. The sample after 5 s is the first with the limit that allowed it."""
    path = course(tmp_path / "run.jsonl", RAISED, memory=100.0, end={"memory_peak_mib": 500.0, "memory_peak_elapsed_secs": 4.2,
                                                                     "largest_process_peak_mib": 500.0})
    assert summary(run, path)["memory"]["limit_mib"] == 800.0


@pytest.mark.parametrize("charged, pct, said, held_up", [
    (110.0, 91.67, "peak 185 MiB after 7.50 s, with pages that do not count against its limit; its control group held 110 MiB, 92 % of 120 MiB (cgroup limit)", True),
    (60.0, 50.0, "its control group held 60.0 MiB, 50 % of 120 MiB (cgroup limit)", False),
    (130.0, 100.0, "its control group held 120 MiB, 100 % of 120 MiB (cgroup limit)", True),
    (None, None, "with pages that do not count against its limit of 120 MiB (cgroup limit)", False)])
def test_a_peak_above_the_limit_counts_by_its_charged_memory(run, tmp_path, charged, pct, said, held_up):
    """A cached file of 60 MiB that the job maps is charged to the group that read it first: 154 % of the limit were told."""
    path = course(tmp_path / "run.jsonl", {"memory_limit_mib": 120.0}, memory=[20.0 + 20 * i for i in range(8)],
                  end={**SUCCESS, "memory_peak_mib": 185.0, "memory_peak_elapsed_secs": 7.5})
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines:
        line["cgroup"] |= {"anon_mib": charged, "file_mib": 0.5, "shmem_mib": 0.0, "kernel_mib": 0.0}
    recordings.write(path, lines)
    found, text = summary(run, path), " ".join(run("summary", path).out.split())
    assert (found["memory"]["peak_mib"], found["memory"]["peak_of_limit_pct"]) == (185.0, pct)
    assert said in text and ("memory_near_limit" in [one["rule"] for one in found["bottlenecks"]]) == held_up
    advice = " ".join(run("recommend", path).out.split())
    assert ("of the limit of 120 MiB" in advice) == held_up and (not held_up or f"its peak was {pct:.0f} %" in advice)


def test_a_group_that_a_kill_emptied_had_its_limit(run, tmp_path):
    """The only sample came after the kill: "its control group held 1.04 MiB, 1 % of 120 MiB" was told of a job killed at 120 MiB."""
    end = {"memory_peak_mib": 125.0, "largest_process_peak_mib": 125.0, "memory_peak_source": "largest_process", "oom_kills": 1,
           "oom_kill_limit_mib": 120.0, "oom_kill_peak_mib": 120.0, "signal": 9}
    path = recordings.write(tmp_path / "run.jsonl", [recordings.sample(0, memory=None, limits={**KNOWN, "memory_limit_mib": 120.0},
                            cgroup={"anon_mib": 1.0, "file_mib": 0.0, "shmem_mib": 0.0, "kernel_mib": 0.04}, start=recordings.START,
                            end={**recordings.END, **end})])
    assert "its control group held 120 MiB, 100 % of 120 MiB (cgroup limit)" in " ".join(run("summary", path).out.split())


@pytest.mark.parametrize("order", [1, -1])
def test_a_peak_at_an_unknown_time_has_the_highest_limit(run, tmp_path, order):
    path = course(tmp_path / "run.jsonl", RAISED[::order], end={"memory_peak_mib": 180.0, "memory_peak_elapsed_secs": None,
                                                                "largest_process_peak_mib": 180.0, "memory_peak_source": "largest_process"})
    assert summary(run, path)["memory"]["limit_mib"] == 800.0


def test_a_balloon_is_measured_by_the_memory_at_the_peak(run, tmp_path):
    path = course(tmp_path / "run.jsonl", {}, total=steps(4096.0, 16384.0), memory=steps(1000.0, 8192.0),
                  start={"memory_limit_mib": None})
    found = summary(run, path)
    assert (found["memory"]["peak_of_limit_pct"], found["memory"]["limit_source"]) == (50.0, "machine")
    assert found["limit_changes"] == [{"elapsed_secs": 5.0, "what": "memory_total_mib", "from": 4096.0, "to": 16384.0}]
    assert "memory of the machine raised from 4.00 GiB to 16.0 GiB" in run("summary", path).out
    assert [one["rule"] for one in found["bottlenecks"] if "memory" in one["rule"]] == []


@pytest.mark.parametrize("before, after, words", [(0.0, 2048.0, "swap of 2.00 GiB added"), (2048.0, 0.0, "swap of 2.00 GiB removed"),
                                                  (2048.0, 6144.0, "swap raised from 2.00 GiB to 6.00 GiB")])
def test_swap_that_changes_is_told(run, tmp_path, before, after, words):
    path = course(tmp_path / "run.jsonl", {})
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line, size in zip(lines, steps(before, after)):
        line["memory"]["swap_total_mib"] = size
    # A reading that is missing has not changed it.
    lines[6]["memory"]["swap_total_mib"] = None
    recordings.write(path, lines)
    assert summary(run, path)["limit_changes"] == [{"elapsed_secs": 5.0, "what": "swap_total_mib", "from": before, "to": after}]
    assert f"Limits     {words} after 5.00 s\n" in run("summary", path).out


def test_the_memory_of_the_machine_may_move_a_little(run, tmp_path):
    assert summary(run, course(tmp_path / "run.jsonl", {}, total=steps(16000.0, 16004.0)))["limit_changes"] == []


@pytest.mark.parametrize("before, after, words", [
    ({"memory_limit_mib": 800.0}, {"memory_limit_mib": None}, "memory limit of 800 MiB lifted after 5.00 s"),
    ({"memory_limit_mib": None}, {"memory_limit_mib": 800.0}, "memory limit of 800 MiB set after 5.00 s"),
    ({"cpu_limit_cores": 4.0}, {"cpu_limit_cores": 1.5}, "CPU limit lowered from 4 to 1.5 after 5.00 s"),
    ({"cpuset_cores": 4}, {"cpuset_cores": 2}, "CPUs that it may use lowered from 4 to 2 after 5.00 s"),
])
def test_each_change_is_told(run, tmp_path, before, after, words):
    path = course(tmp_path / "run.jsonl", steps(before, after))
    assert words in run("summary", path).out
    assert len(summary(run, path)["limit_changes"]) == 1


def test_limits_that_later_samples_leave_out_have_not_changed(run, tmp_path):
    made = recordings.eight_samples()
    for one in made[1:]:
        del one["limits"]
    found = summary(run, recordings.write(tmp_path / "run.jsonl", made))
    assert found["limit_changes"] == [] and found["memory"]["limit_mib"] == 512.0 and found["cores"]["limit"] == 2.0


def test_a_first_sample_without_limits_has_those_of_the_next(run, tmp_path):
    made = recordings.eight_samples()
    made[0]["limits"] = {name: None for name in made[0]["limits"]}
    assert summary(run, recordings.write(tmp_path / "run.jsonl", made))["limit_changes"] == []


def test_use_of_cores_is_held_against_the_mean_of_the_limits(run, tmp_path):
    """Two cores for 4 s and one for 4 s, all of them busy: 1.5 of 1.5."""
    path = course(tmp_path / "run.jsonl", steps({"cpu_limit_cores": 2.0}, {"cpu_limit_cores": 1.0}), cores=steps(2.0, 1.0), end=SUCCESS)
    found = summary(run, path)
    assert found["cores"]["limit"] == 1.5
    assert "all of its 1.5 cores" in run("recommend", path).out


def test_a_limit_that_was_lifted_is_not_the_size_of_the_machine(run, tmp_path):
    """Half a core for 4 s, then all 8: the machine has more than the mean of 4.25, which never was a limit."""
    limits = steps({**KNOWN, "cpu_limit_cores": 0.5}, KNOWN)
    made = [recordings.sample(i, cores=0.5, limits=limits[i], cgroup={"throttled_secs": 0.5 if i < 4 else 0.0},
                              start={**recordings.START, **limits[0]} if i == 0 else None) for i in range(8)]
    found = summary(run, recordings.write(tmp_path / "run.jsonl", made))
    assert (found["cores"]["limit"], found["cores"]["limit_source"]) == (4.25, "cgroup limit")
    assert found["bottlenecks"][0]["text"] == "The CPU limit held it back for 2.00 s, summed over its CPUs."


def test_cpus_that_come_online_count(run, tmp_path):
    path = course(tmp_path / "run.jsonl", steps({"cpuset_cores": 8}, {"cpuset_cores": 16}), cores=steps(8.0, 16.0),
                  start={"cpu_limit_cores": None})
    found = summary(run, path)["cores"]
    assert (found["limit"], found["limit_source"]) == (12.0, "machine")


def test_many_changes_are_counted(run, tmp_path):
    path = course(tmp_path / "run.jsonl", [{"memory_limit_mib": 200.0 + 100 * i} for i in range(8)])
    assert len(summary(run, path)["limit_changes"]) == 7
    assert "; and 3 more changes" in " ".join(run("summary", path).out.split())


def test_a_gpu_that_is_divided_anew_has_the_total_of_its_peak(run, tmp_path):
    device = lambda used, total: [{"uuid": "GPU-1", "name": "H", "index": 0, "utilization_pct": 50.0, "vram_used_bytes": used << 20,
                                   "vram_total_bytes": total << 20, "process_count": 1}]
    made = [recordings.sample(i, gpu=device(900, 1000) if i < 4 else device(100, 250), start=recordings.START if i == 0 else None)
            for i in range(8)]
    found = summary(run, recordings.write(tmp_path / "run.jsonl", made))["gpus"][0]
    assert (found["memory_max_mib"], found["memory_total_mib"]) == (900.0, 1000.0)


def test_a_mean_limit_has_no_more_digits_than_one_reads(run, tmp_path):
    path = course(tmp_path / "run.jsonl", steps({"cpu_limit_cores": 4.0}, {"cpu_limit_cores": 1.0}, at=1))
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:7]))
    assert " of 1.429 cores (cgroup limit) on average" in run("summary", path).out


def test_a_limit_of_0_has_no_percentage(run, tmp_path):
    path = course(tmp_path / "run.jsonl", {"memory_limit_mib": 0.0})
    assert "0 % of 0" not in run("summary", path).out
    assert summary(run, path)["memory"]["peak_of_limit_pct"] is None


@pytest.mark.parametrize("end", [SUCCESS, None])
def test_no_advice_comes_from_a_limit_of_0(run, tmp_path, end):
    """The group's memory is held against a limit, and data that was read again against the page cache that fits below it."""
    path = course(tmp_path / "run.jsonl", {"memory_limit_mib": 0.0}, end=end)
    samples = [json.loads(line) for line in path.read_text().splitlines()]
    for one in samples:
        one["cgroup"] |= {"anon_mib": 100.0, "file_mib": 0.5, "shmem_mib": 0.0, "kernel_mib": 0.0, "cache_refault_bytes": 12288}
        one["cpu"]["process_disk_read_bytes"] = 12288
    recordings.write(path, samples)
    assert "Bottleneck Memory" not in run("summary", path).out
    rules = {note["rule"] for note in json.loads(run("recommend", "--json", path).out)["notes"]}
    assert not {"memory_near_limit", "memory_flat", "cache_too_small", "oom"} & rules


@pytest.mark.parametrize("of_start", [False, True])
def test_a_limit_of_0_cores_is_none(run, tmp_path, of_start):
    """A counter that lies: the kernel refuses such a quota."""
    none = {"cpu_limit_cores": 0.0}
    path = course(tmp_path / "run.jsonl", none, end=SUCCESS, start=none)
    if of_start:
        samples = [json.loads(line) for line in path.read_text().splitlines()]
        recordings.write(path, [{**sample, "limits": None} for sample in samples])
    text = run("summary", path).out
    assert "of 0 cores" not in text and "cores (cgroup limit)" not in text, text
    assert "cpu_bound" not in {note["rule"] for note in json.loads(run("recommend", "--json", path).out)["notes"]}
