"""recommend: every rule against recordings whose right answer is known."""
import json
import pathlib
import re
import sqlite3

import pytest

import recordings

LIMITS, NO_LIMITS, make = recordings.LIMITS, recordings.NO_LIMITS, recordings.steady
advice, rules = recordings.advice, recordings.rules


@pytest.mark.parametrize("cores, cpu", [(0.27, 1), (0.0, 1), (1.01, 1), (1.05, 2), (1.5, 2), (2.0, 2), (2.51, 3), (3.4, 4)])
def test_cores_are_as_many_as_it_used_at_its_busiest(run, tmp_path, cores, cpu):
    answer = advice(run, make(tmp_path / "x.jsonl", cores=cores))
    assert answer["cpu"] == cpu and answer["cpu_limit"] == cpu


def with_cores(path, *cores, **more):
    """Writes a run that uses the given number of cores in each second."""
    samples = [json.loads(line) for line in make(path, count=len(cores), **more).open()]
    for one, used in zip(samples, cores):
        one["cpu"].update(process_cores_used=used, utilization_pct=used)
    samples[-1]["run_end"].update(utime_secs=sum(cores))
    return recordings.write(path, samples)


def without_figures(path, *groups):
    """The job's own figures of these groups are unknown, and the machine's stay."""
    samples = [json.loads(line) for line in make(path).open()]
    unknown = {key: None for key in samples[0]["cpu"] if any(group in key for group in groups)}
    for one in samples:
        one["cpu"].update(unknown)
    end = samples[-1]["run_end"]
    end.update({key: None for key in end if any(group in key for group in groups)})
    return recordings.write(path, samples)


def test_unknown_cores_stay_unknown(run, tmp_path):
    """The busiest ten seconds of no sample are unknown, not 0: `it used unknown cores on average: no slower`."""
    path = without_figures(tmp_path / "x.jsonl", "cores_used", "utime", "stime")
    answer = advice(run, path)
    assert answer["cpu"] is None and answer["evidence"]["cpu"]["busy_cores"] is None and answer["memory"] > 0
    assert "CPU      unknown: its CPU time was not recorded\n" in run("recommend", path).out


def test_the_machine_does_not_stand_for_a_job_that_could_not_be_read(run, tmp_path):
    path = without_figures(tmp_path / "x.jsonl", "process_", "cores_used", "utime", "stime", "memory", "peak")
    text = run("summary", path).out
    assert "CPU        not recorded\n" in text and "Memory     not recorded\n" in text, text
    assert run("recommend", path).out.startswith("No advice: no figure of its processes could be read.")
    assert run("regions", path).out.startswith("phase      calls    time  of run\nwhole run         8.00 s\n")


def test_no_figure_is_below_zero(run, tmp_path):
    """A damaged file had "a peak of -5.00 MiB, -0 % of the machine", and advice from it."""
    samples = [json.loads(line) for line in make(tmp_path / "x.jsonl").open()]
    for one in samples:
        one["cpu"].update(process_memory_mib=-5, process_cores_used=-0.5, process_disk_write_bytes=-30)
    samples[-1]["run_end"]["memory_peak_mib"] = -5.0
    path = recordings.write(tmp_path / "x.jsonl", samples)
    answer = advice(run, path)
    assert answer["cpu"] is None and answer["evidence"]["memory"]["sampled_peak_mib"] is None
    for command in ("summary", "regions", "stats"):
        assert not re.search(r" -\d", run(command, path).out), command


def test_two_cores_half_of_the_time_are_two_cores_or_half_as_long_again(run, tmp_path):
    """The mean is 1.0 core, but one core would take 9 s instead of 6."""
    path = with_cores(tmp_path / "x.jsonl", 2, 2, 2, 0, 0, 0)
    answer = advice(run, path)
    assert answer["cpu"] == 2 and answer["evidence"]["cpu"]["slower_pct"] == 0
    assert answer["evidence"]["cpu"]["with_fewer"] == [{"cores": 1, "slower_pct": pytest.approx(50, abs=0.1)}]
    text = run("recommend", path).out
    assert "it used 1.00 cores on average, at most 2.00: no slower" in text
    assert "with 1 it would take 50 % longer\n" in text


def test_four_seconds_of_one_thread_and_two_of_two(run, tmp_path):
    answer = advice(run, with_cores(tmp_path / "x.jsonl", 1, 1, 1, 1, 2, 2))
    assert answer["cpu"] == 2 and answer["evidence"]["cpu"]["with_fewer"][0]["slower_pct"] == pytest.approx(100 / 3, abs=0.1)


def test_a_limit_is_never_below_the_use(run, tmp_path):
    """make -j2 uses 1.34 cores on average."""
    path = with_cores(tmp_path / "x.jsonl", *[1.9, 0.8, 1.3, 1.36] * 3)
    assert "--cpus=2 " in run("recommend", "--for", "docker", path).out
    text = run("recommend", "--for", "kubernetes", path).out
    assert 'requests:\n    cpu: "1600m"\n' in text and 'limits:\n    cpu: "2"\n' in text


def test_a_job_on_a_busy_machine_is_not_called_no_slower(run, tmp_path):
    """The output once said `1 core` above `it would have used more cores`."""
    starved = {"pressure": {"cpu_some_secs": 0.6, "source": "cgroup"}}
    path = make(tmp_path / "x.jsonl", cores=0.6, start=dict(NO_LIMITS, cpu_count=2), **starved)
    samples = [json.loads(line) for line in path.open()]
    for one in samples:
        one["cpu"]["utilization_pct"] = 2.0
    recordings.write(path, samples)
    answer = advice(run, path)
    assert "cpu_starved" in rules(answer) and answer["evidence"]["cpu"]["at_least"]
    assert "at most 0.60: other programs had the other cores\n" in run("recommend", path).out
    assert note(answer, "cpu_starved") == "it was short of CPU for 4.80 s of 8.00 s: other programs kept the CPUs busy"
    # While it ran on 0.6 cores, another thread was ready for 0.6 of the time: a single core would hold it back.
    assert answer["cpu"] == 2 and "with 1 it would take" not in run("recommend", path).out
    assert answer["evidence"]["cpu"]["with_fewer"] == [], "how long it takes with one core is unknown, not 0 % longer"
    for one in samples:
        one["pressure"]["cpu_some_secs"] = 0.42
    recordings.write(path, samples)
    assert advice(run, path)["cpu"] == 1, "a single thread runs or waits"
    path = make(tmp_path / "y.jsonl", cores=0.6, start=dict(NO_LIMITS, cpu_count=2))
    assert not advice(run, path)["evidence"]["cpu"]["at_least"]


def test_fewer_cores_than_a_starved_job_had_cost_at_least_as_much_time(run, tmp_path):
    """A pool of four got 1.4 of 2 cores at times: how much faster two free cores are is unknown."""
    path = with_cores(tmp_path / "x.jsonl", 0.7, 1.4, 0.7, 1.4, start=dict(NO_LIMITS, cpu_count=2),
                      pressure={"cpu_some_secs": 0.9, "source": "cgroup"})
    samples = [json.loads(line) for line in path.open()]
    for one in samples:
        one["cpu"]["utilization_pct"] = 2.0
    text = run("recommend", recordings.write(path, samples)).out
    assert "it had no more cores when it could use them\n" in text and "with 1 it would take at least 2" in text, text
    assert "all its cores were busy, and more cores would have helped [cpu_starved]" in text


@pytest.mark.slow
def test_the_busiest_ten_seconds_count_in_a_long_run_and_a_moment_does_not(run, tmp_path):
    long = [1.0] * 2000
    assert advice(run, with_cores(tmp_path / "x.jsonl", *long, 8.0))["cpu"] == 2  # 1.7 over ten seconds
    assert advice(run, with_cores(tmp_path / "x.jsonl", *long, *[8.0] * 11))["cpu"] == 8
    assert advice(run, with_cores(tmp_path / "x.jsonl", *long, *[8.0] * 6, *long))["cpu"] == 6  # 5.2 over ten seconds


def test_the_cheapest_cores_show_their_cost_in_time(run, tmp_path):
    path = with_cores(tmp_path / "x.jsonl", 2, 2, 2, 0, 0, 0)
    answer = advice(run, "--policy", "cost", path)
    assert (answer["cpu"], answer["cpu_limit"], answer["policy"]) == (1, 2, "cost")
    assert "it takes 50 % longer than with 2" in run("recommend", "--policy", "cost", path).out
    assert "# it was faster with 2 cores: it takes 50 % longer now\n" in run("recommend", "--policy", "cost", "--for", "slurm", path).out
    assert advice(run, "--policy", "p95", with_cores(tmp_path / "y.jsonl", *[1.0] * 97, 8, 8, 8))["cpu"] == 1


def test_a_moment_at_the_start_or_end_counts_as_a_moment(run, tmp_path):
    """Samples of 1, 59 and 1 s, as an interval of a minute gives: the job used six cores nearly all the time, not two."""
    samples = [json.loads(line) for line in make(tmp_path / "x.jsonl", cores=6.0, gpu=1.0, count=3).open()]
    for one, secs, elapsed in zip(samples, (1.0, 59.0, 1.0), (1.0, 60.0, 61.0)):
        one.update(actual_interval_ms=1000 * secs, elapsed_secs=elapsed, timestamp=1_700_000_000.0 + elapsed)
    for one in (samples[0], samples[2]):
        one["cpu"].update(process_cores_used=0.0, process_gpu_usage=0.0)
    samples[-1]["run_end"].update(wall_secs=61.0, utime_secs=354.0)
    answer = advice(run, recordings.write(tmp_path / "x.jsonl", samples))
    assert answer["cpu"] == 6 and answer["evidence"]["cpu"]["mean_cores"] == pytest.approx(354 / 61, abs=0.006)
    assert answer["evidence"]["gpu"]["mean_gpus"] == pytest.approx(59 / 61, abs=0.006)


def test_notes_have_amounts_that_people_read(run, tmp_path):
    samples = [json.loads(line) for line in make(tmp_path / "x.jsonl", memory=1500.0).open()]
    for one in samples:
        one["memory"]["used_mib"] = 12345.0
        one["cgroup"] = {"throttled_periods": 9, "throttled_secs": 500.0, "oom_kills": 0}
    notes = {note["rule"]: note["text"] for note in advice(run, recordings.write(tmp_path / "x.jsonl", samples))["notes"]}
    assert notes["host_shared"] == "1500 of the 12345 MiB of memory in use were this job's; other programs used the rest"
    assert notes["throttled"] == "the CPU limit held it back for 1 h 6 min, summed over its CPUs, in 8.00 s"


def with_short_end(path, cores, last):
    """Writes three seconds of `cores`, and a last sample of a millisecond."""
    samples = [recordings.sample(i, cores=cores, start=NO_LIMITS if i == 0 else None) for i in range(3)]
    samples.append(recordings.sample(3, secs=3.001, cores=last, memory=None, actual_interval_ms=1.0,
                                     end=dict(recordings.END, wall_secs=3.001)))
    return recordings.write(path, samples)


def test_a_sleeping_job_used_little_but_more_than_zero(run, tmp_path):
    path = with_short_end(tmp_path / "x.jsonl", 0.0002, 0.0)
    assert "it used < 0.001 cores on average, at most < 0.001: " in run("recommend", path).out


def test_long_runs_are_told_in_hours_and_gibibytes_without_exponents(run, tmp_path):
    samples = [recordings.sample(i, secs=18000.0 * (i + 1), cores=1.0, start=NO_LIMITS if i == 0 else None,
                                 actual_interval_ms=18000000.0, end=dict(recordings.END, wall_secs=36000.0) if i else None)
               for i in range(2)]
    for one in samples:
        one["pressure"] = {"cpu_some_secs": 9000.0, "io_some_secs": 9000.0, "source": "cgroup"}
        one["cpu"]["utilization_pct"] = 7.8
        one["memory"]["used_mib"] = 1000.0
    notes = {note["rule"]: note["text"] for note in advice(run, recordings.write(tmp_path / "x.jsonl", samples))["notes"]}
    assert notes["cpu_starved"].startswith("it was short of CPU for 5 h of 10 h: ")
    assert notes["io_bound"] == "it waited for I/O for 5 h of 10 h"
    assert notes["host_shared"] == "1.00 of the 7.80 cores in use were this job's; other programs used the rest"


@pytest.mark.parametrize("peak, memory", [
    (1, 32), (27, 48), (106, 128), (107, 144), (250, 304), (426, 512), (630.55, 768), (853, 1024), (1706, 2048), (1707, 2064),
    (2560, 3072), (5000, 6000), (10240, 12288)])
def test_memory_is_the_peak_and_a_fifth_in_steps(run, tmp_path, peak, memory):
    assert advice(run, make(tmp_path / "x.jsonl", memory=float(peak)))["memory"] == memory


@pytest.mark.slow
def test_at_most_half_as_much_again_is_reserved(run, tmp_path):
    for peak in [107 * 1.07 ** i for i in range(90)]:
        memory = advice(run, make(tmp_path / "x.jsonl", memory=peak))["memory"]
        assert 1.2 <= memory / peak <= 1.5 + 1e-9, peak


def test_gpus_are_the_most_that_were_busy(run, tmp_path):
    answer = advice(run, make(tmp_path / "x.jsonl", gpu=1.9, vram=10240.0))
    assert (answer["gpu"], answer["vram"]) == (2, 12288)
    assert advice(run, make(tmp_path / "y.jsonl", gpu=0.004))["gpu"] == 1
    assert (lambda a: (a["gpu"], a["vram"]))(advice(run, make(tmp_path / "z.jsonl"))) == (0, 0)


def test_the_kernel_s_peak_of_a_process_counts_and_that_of_the_cgroup_does_not(run, tmp_path):
    answer = advice(run, make(tmp_path / "x.jsonl", end={"largest_process_peak_mib": 3000.0,
                                                         "cgroup_memory_peak_mib": 9000.0,
                                                         "memory_peak_mib": 9000.0,
                                                         "memory_peak_source": "cgroup"}))
    assert answer["memory"] == 3600
    assert answer["evidence"]["memory"]["sampled_peak_mib"] == 100.0
    assert answer["evidence"]["memory"]["largest_process_peak_mib"] == 3000.0


def test_the_peak_between_samples_counts_up_to_the_limit(run, tmp_path):
    end = {"memory_peak_mib": 160.0, "largest_process_peak_mib": 160.0, "memory_peak_between_mib": 310.0}
    answer = advice(run, make(tmp_path / "x.jsonl", memory=158.0, end=end))
    assert answer["memory"] == 384
    assert answer["evidence"]["memory"]["peak_between_samples_mib"] == 310.0
    assert answer["evidence"]["memory"]["basis"] == "what its processes may have held together between two samples"
    assert "384 MiB     peak 160 MiB, perhaps 310 MiB, and 20 % more\n" in run("recommend", tmp_path / "x.jsonl").out
    # The run ended well under its limit, so it did not need more.
    assert advice(run, make(tmp_path / "y.jsonl", memory=158.0, end=end, **memory_limit(250.0)))["memory"] == 304
    # Without a second process or memory outside resident sets it is the peak of the process.
    answer = advice(run, make(tmp_path / "z.jsonl", memory=158.0, end={**end, "memory_peak_between_mib": 160.0}))
    assert answer["memory"] == 192 and "between" not in answer["evidence"]["memory"]["basis"]


def test_a_peak_that_may_have_been_is_not_told_as_used(run, tmp_path):
    """73 MiB were seen, and 20 MiB of short-lived children before them; the limit is 100 MiB."""
    end = {"memory_peak_mib": 73.0, "largest_process_peak_mib": 73.0, "memory_peak_between_mib": 93.0}
    answer = advice(run, make(tmp_path / "x.jsonl", memory=73.0, end=end, **memory_limit(100.0)))
    assert answer["memory"] == 112 and not {"memory_near_limit", "memory_flat"} & set(rules(answer)), answer["notes"]
    answer = advice(run, make(tmp_path / "y.jsonl", memory=73.0, end=end, **memory_limit(1000.0)))
    assert note(answer, "memory_unused") == "1000 MiB were reserved, of which 73 MiB were used"


def memory_limit(mib):
    return {"start": dict(NO_LIMITS, memory_limit_mib=mib), "limits": dict(LIMITS, memory_limit_mib=mib)}


KILLED = {"reason": "oom_kill_confirmed", "signal": 9, "exit_code": None, "oom_kills": 1}


def note(answer, rule):
    return next(one["text"] for one in answer["notes"] if one["rule"] == rule)


def test_after_a_kill_at_a_limit_the_advice_is_twice_that_and_a_fifth(run, tmp_path):
    path = make(tmp_path / "x.jsonl", memory=1000.0, **memory_limit(4096.0), end=KILLED)
    answer = advice(run, path)
    assert answer["memory"] == 9840 and answer["evidence"]["memory"]["oom_floor_mib"] == pytest.approx(9830.4)
    assert answer["evidence"]["memory"]["at_least"] and "It needs at least 4.00 GiB" in note(answer, "oom")
    assert "it needs more than 4.00 GiB: it was killed with this amount" in run("recommend", path).out
    assert run("recommend", "--for", "slurm", path).out.startswith("# it was killed for lack of memory with 4.00 GiB: ")
    # A run that used less does not settle the kill: half as much again.
    assert advice(run, make(tmp_path / "y.jsonl"), path)["memory"] == 6160
    # A run that took more and survived settles the kill.
    answer = advice(run, make(tmp_path / "z.jsonl", memory=5000.0), path)
    assert answer["memory"] == 6000 and not answer["evidence"]["memory"]["at_least"]
    assert note(answer, "one_run" if answer["runs"] == 1 else "oom")


def later(path, secs):
    """Shifts the recording by `secs`."""
    samples = [json.loads(line) for line in path.open()]
    for one in samples:
        one["timestamp"] += secs
    return recordings.write(path, samples)


def test_a_run_that_took_nearly_as_much_settles_a_kill(run, tmp_path):
    """Others used a part of the limit of 280 MiB; with more room the job took 205. The advice never returns to the
    size that killed it.
    """
    killed = make(tmp_path / "killed.jsonl", memory=150.0, **memory_limit(280.0), end=KILLED)
    assert advice(run, killed)["memory"] == 672
    well = make(tmp_path / "well.jsonl", memory=205.0, **memory_limit(704.0))
    answer = advice(run, later(well, 60), killed)
    assert answer["memory"] == 320 and not answer["evidence"]["memory"]["at_least"]
    # A run before the kill proves nothing, because the next one took more.
    assert advice(run, later(well, -120), killed)["memory"] == 432


def test_a_process_larger_than_the_tree_counts_pages_twice(run, tmp_path):
    """It mapped a page three times, which the kernel's peak of a process counts three times, but no peak of the tree."""
    answer = advice(run, make(tmp_path / "x.jsonl", memory=301.0, end={"memory_peak_mib": 303.0, "memory_peak_source": "largest_process",
                                                                       "largest_process_peak_mib": 901.0}))
    assert answer["memory"] == 368 and answer["evidence"]["memory"]["largest_process_peak_mib"] == 303.0


def test_memory_that_only_the_control_group_charged_is_reserved(run, tmp_path):
    """Kernel memory of many small mappings, and memory between two samples: 300 MiB were charged, 40 of them page cache."""
    group = {"anon_mib": 100.0, "shmem_mib": 10.0, "file_mib": 50.0, "kernel_mib": 20.0}
    end = {"memory_peak_mib": 100.0, "largest_process_peak_mib": 100.0, "memory_peak_between_mib": 100.0}
    for charged, memory in ((300.0, 288), (140.0, 144), (None, 128)):
        path = make(tmp_path / f"{memory}.jsonl", memory=100.0, end={**end, "cgroup_memory_peak_mib": charged})
        samples = [json.loads(line) for line in path.open()]
        for one in samples:
            one["cgroup"].update(group)
        assert advice(run, recordings.write(path, samples))["memory"] == memory, charged


@pytest.mark.parametrize("memory, shared, written_mib, advised", [
    (60.0, 10.0, 200, 224),   # 150 MiB in files of /dev/shm
    (60.0, 10.0, 20, 96),     # most of them are of another job
    (60.0, 10.0, None, 80),
    (200.0, 150.0, 200, 240),  # the job maps them: they are in its memory
])
def test_files_that_a_job_keeps_in_memory_are_reserved(run, tmp_path, memory, shared, written_mib, advised):
    """A file in a tmpfs that no process has open is in no process, but the limit of a control group counts it."""
    path = make(tmp_path / "x.jsonl", memory=memory, end={"memory_peak_mib": memory, "largest_process_peak_mib": 50.0,
                                                          "memory_peak_between_mib": memory, "cgroup_memory_peak_mib": None})
    samples = [json.loads(line) for line in path.open()]
    for i, one in enumerate(samples):
        one["cpu"].update(process_private_mib=40.0, process_file_mib=10.0, process_shared_mib=shared, process_disk_write_bytes=0,
                          process_written_chars=written_mib and (written_mib << 20) // len(samples))
        one["cgroup"]["shmem_mib"] = 155.0 if i else 5.0
    assert advice(run, recordings.write(path, samples))["memory"] == advised


def test_ten_later_runs_that_took_less_settle_a_kill(run, tmp_path):
    killed = make(tmp_path / "killed.jsonl", memory=90.0, **memory_limit(1000.0), end=KILLED)
    runs = [later(make(tmp_path / f"{i}.jsonl"), 60 * (i + 1)) for i in range(10)]
    # Half as much again as the limit that killed it, then a tenth more than it.
    assert advice(run, *runs[:9], killed)["memory"] == 1504
    assert advice(run, *runs, killed)["memory"] == 1104


def with_kills(path, *, kills, memory, process, limit=100.0, end=None, **more):
    """A script that goes on and exits 0, while its group's counter rises to `kills` from the third sample on."""
    samples = [json.loads(line) for line in make(path, memory=memory, **memory_limit(limit), **more, end={
        "memory_peak_mib": max(memory, process), "largest_process_peak_mib": process, "oom_kills": None, **(end or {})}).open()]
    for i, one in enumerate(samples):
        one["cgroup"]["oom_kills"] = kills if i >= 2 else 0
    return recordings.write(path, samples)


def test_a_step_that_was_killed_raises_the_floor_though_the_script_exits_0(run, tmp_path):
    answer = advice(run, with_kills(tmp_path / "x.jsonl", kills=1, memory=10.0, process=97.0))
    assert answer["memory"] == 240 and "though the job went on" in note(answer, "oom") and "memory_flat" not in rules(answer)
    assert "one of its processes was killed with this amount\n" in run("recommend", tmp_path / "x.jsonl").out
    assert run("recommend", "--for", "slurm", tmp_path / "x.jsonl").out.startswith("# a process of it was killed for lack of memory with ")
    # The kills were in the same group, but no process of the job was nearly as large as the limit.
    answer = advice(run, with_kills(tmp_path / "y.jsonl", kills=1, memory=10.0, process=12.0))
    assert answer["memory"] == 32 and "oom" not in rules(answer)
    # Kills before the run are not its own.
    samples = [json.loads(line) for line in with_kills(tmp_path / "z.jsonl", kills=7, memory=60.0, process=97.0).open()]
    for one in samples:
        one["cgroup"]["oom_kills"] = 7
    assert "oom" not in rules(advice(run, recordings.write(tmp_path / "z.jsonl", samples)))


def test_a_recording_that_stops_at_its_limit_was_probably_killed(run, tmp_path):
    path = make(tmp_path / "x.jsonl", memory=95.0, **memory_limit(100.0), end=False)
    answer = advice(run, path)
    assert answer["memory"] == 240 and answer["cpu"] == 1 and answer["refused"] is None
    assert "probably killed for lack of memory" in note(answer, "oom")
    # A recording without an end, and below its limit, proves nothing.
    assert "no end" in advice(run, make(tmp_path / "y.jsonl", memory=50.0, **memory_limit(100.0), end=False))["refused"]
    # Memory that its group cannot give back counts as well.
    cgroup = {"oom_kills": 0, "anon_mib": 40.0, "shmem_mib": 50.0, "kernel_mib": 5.0}
    answer = advice(run, make(tmp_path / "z.jsonl", memory=40.0, **memory_limit(100.0), end=False, cgroup=cgroup))
    assert answer["memory"] == 240


def test_the_use_of_a_shared_group_is_no_evidence(run, tmp_path):
    """It went into a group with a limit and was killed there; the samples have the group before, which others fill."""
    end = {**KILLED, "oom_kills": None, "machine_oom_kills": 1, "cgroup_memory_peak_mib": None}
    shared = {"oom_kills": 0, "anon_mib": 900.0, "shmem_mib": 0.0, "kernel_mib": 300.0}
    answer = advice(run, make(tmp_path / "x.jsonl", memory=100.0, end=end, cgroup=shared))
    assert answer["memory"] < 1000 and "It needs at least 100 MiB" in note(answer, "oom")
    own = advice(run, make(tmp_path / "y.jsonl", memory=100.0, end={**end, "cgroup_memory_peak_mib": 1200.0}, cgroup=shared))
    assert "It needs at least 1.17 GiB" in note(own, "oom")


def test_a_bystander_of_a_full_machine_is_not_advised_twice_its_size(run, tmp_path):
    """Others used up the machine's 4096 MiB; 1000 of them were the job's."""
    end = dict(KILLED, reason="oom_kill_suspected", oom_kills=None)
    assert advice(run, make(tmp_path / "x.jsonl", memory=1000.0, end=end))["memory"] == 1200
    assert advice(run, make(tmp_path / "y.jsonl", memory=3000.0, end=end))["memory"] == 7200


def test_the_kernel_s_memory_for_many_processes_is_needed_as_well(run, tmp_path):
    """For 200 processes of 1 MiB each, the kernel keeps 25 MiB, which count against a limit."""
    samples = [json.loads(line) for line in make(tmp_path / "x.jsonl", memory=220.0).open()]
    for one in samples:
        one["cpu"].update(process_child_count=300, process_thread_count=301, process_rss_mib=4000.0)
    assert advice(run, recordings.write(tmp_path / "x.jsonl", samples))["memory"] == 304  # 1.1 x (220 + 45) and not 1.2 x 220


def test_swapped_memory_is_needed_as_well(run, tmp_path):
    """The limit is 200 MiB; 108 of 402 MiB are resident while 294 are swapped out."""
    samples = [json.loads(line) for line in make(tmp_path / "x.jsonl", memory=108.0, **memory_limit(200.0)).open()]
    for one in samples:
        one["cpu"]["process_swap_mib"] = 294.0
    answer = advice(run, recordings.write(tmp_path / "x.jsonl", samples))
    assert answer["memory"] == 496 and answer["evidence"]["memory"]["sampled_peak_mib"] == 402.0
    assert "294 MiB of its memory were swapped out" in note(answer, "swapped")


def test_history_averages_means_and_keeps_peaks(run, tmp_path):
    runs = [make(tmp_path / f"{i}.jsonl", cores=cores, memory=memory) for i, (cores, memory) in
            enumerate([(1.0, 100.0), (2.0, 900.0), (6.0, 300.0)])]
    answer = advice(run, *runs)
    assert (answer["cpu"], answer["memory"], answer["runs"]) == (6, 1344, 3)
    assert answer["evidence"]["cpu"]["mean_cores"] == 3 and "one_run" not in rules(answer)
    stats = tmp_path / "stats.json"
    stats.write_text(run("stats", "--json", runs[2]).out)
    answer = advice(run, runs[0], runs[1], "--history", stats)
    assert answer["cpu"] == 6 and answer["evidence"]["cpu"]["mean_cores"] == 3


def history_of(tmp_path, *peaks):
    """Writes runs a minute apart, the oldest first."""
    return [later(make(tmp_path / f"run{i}.jsonl", memory=float(peak), count=2), 60 * i) for i, peak in enumerate(peaks)]


def test_one_run_is_thin_and_says_so(run, tmp_path):
    assert "one run says little" in note(advice(run, *history_of(tmp_path, 400)), "one_run")
    assert "one_run" not in rules(advice(run, *history_of(tmp_path, 400, 410)))


def test_a_run_that_is_named_twice_counts_once(run, tmp_path):
    paths = [recordings.steady(tmp_path / f"{name}.jsonl", memory=memory, start=dict(recordings.NO_LIMITS, run_id=name), end={"exit_code": 0})
             for name, memory in (("a", 400.0), ("b", 600.0))]
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(pathlib.Path(paths[0]).read_bytes())
    lines = tmp_path / "runs.jsonl"
    lines.write_text(run("runs", "add", paths[0]).out)
    one, both = advice(run, paths[0]), advice(run, *paths)
    assert one["runs"] == 1 and one["memory"] == 480 and both["runs"] == 2
    for twice in ([paths[0], paths[0]], [paths[0], copy], [lines, paths[0]], [paths[0], "--history", paths[0]]):
        assert advice(run, *twice) == one, twice
    assert advice(run, *paths, copy, "--history", lines) == both


def test_a_run_without_a_sample_is_left_out(run, tmp_path):
    """Its tracker was killed at once."""
    empty, solid = tmp_path / "empty.jsonl", make(tmp_path / "x.jsonl", memory=400.0)
    empty.touch()
    for paths in ((empty, solid), (solid, empty)):
        answer = advice(run, *paths)
        assert (answer["memory"], answer["runs"], answer["runs_left_out"]) == (480, 2, 1)
        assert note(answer, "runs_left_out") == "1 of 2 runs have no whole sample"
    assert run("recommend", empty, empty).returncode == 1


@pytest.mark.slow
def test_policies_say_how_they_would_have_done(run, tmp_path):
    runs = history_of(tmp_path, *[400, 410, 405] * 8, 2000, *[400, 410, 405] * 5)
    figures = {policy: advice(run, "--policy", policy, *runs) for policy in ("max", "p95", "cost")}
    assert [figures[policy]["memory"] for policy in figures] == [2352, 432, 416]
    evidence = figures["max"]["evidence"]["memory"]
    assert (evidence["earlier_runs_tried"], evidence["earlier_runs_killed"]) == (39, 1)
    assert evidence["reserved_per_used"] > 1.6 > figures["p95"]["evidence"]["memory"]["reserved_per_used"]
    assert "would have killed 1" in note(figures["p95"], "risk") and "risk" not in rules(figures["max"])
    assert figures["p95"]["evidence"]["memory"]["buffer_pct"] == 5
    assert "on the last 39 runs: 1 killed, " in run("recommend", *runs).out
    # The order on the command line does not matter.
    assert advice(run, "--policy", "p95", *reversed(runs))["memory"] == 432
    two = run("recommend", "--policy", "p95", *runs[:2]).out
    assert "on the last run: 0 killed, " in two and "of the last run this advice would have killed 0" in two, two


def test_peaks_that_rise_are_followed(run, tmp_path):
    answer = advice(run, *history_of(tmp_path, *range(1000, 3000, 200)))
    assert answer["memory"] == 3728 and answer["evidence"]["memory"]["drift"] == "up" and "drift" in rules(answer)
    answer = advice(run, *history_of(tmp_path, *[2000] * 5, *[800] * 10))
    assert answer["memory"] == 864 and "newest 10 runs" in note(answer, "drift")


@pytest.mark.parametrize("make_it, why", [
    (lambda path: make(path, count=1), "one sample"),
    (lambda path: make(path, end=False), "no end"),
    (lambda path: make(path, end={"wall_secs": 0.5}), "0.50 s"),
    (lambda path: make(path, end={"reason": "exec_failed"}), "could not be started"),
])
def test_thin_data_is_refused_with_a_reason(run, tmp_path, make_it, why):
    path = make_it(tmp_path / "thin.jsonl")
    answer = advice(run, path)
    assert [answer[key] for key in ("cpu", "memory", "gpu", "vram")] == [None] * 4
    assert why in answer["refused"] and not answer["forced"]
    assert "No advice" in run("recommend", path).out
    assert run("recommend", "--for", "slurm", path).returncode == 1
    forced = advice(run, "--force", path)
    assert forced["cpu"] == 1 and forced["refused"] is None and forced["forced"] and "thin_data" in rules(forced)
    solid = advice(run, path, make(tmp_path / "solid.jsonl", cores=2.0))
    assert solid["cpu"] == 2 and solid["runs_left_out"] == 1 and "runs_left_out" in rules(solid)


START4 = dict(NO_LIMITS, cpu_count=4)


def test_an_end_without_a_reason_is_read(run, tmp_path):
    for reason in (None, "target_exited"):
        assert advice(run, make(tmp_path / "x.jsonl", end={"exit_code": None, "reason": reason}))["cpu"] == 1


@pytest.mark.parametrize("rule, figures, other", [
    ("idle_cores", {"cores": 1.0, "start": START4}, {"cores": 2.5, "start": START4}),
    ("cpu_bound", {"cores": 3.8, "start": START4}, {"cores": 3.0, "start": START4}),
    ("idle_cores", {"cores": 1.0, "start": START4, "others": 1.9}, {"cores": 1.0, "start": START4, "others": 2.1}),
    ("cpu_starved", {"pressure": {"cpu_some_secs": 0.25, "source": "cgroup"}, "start": START4, "others": 2.9},
     {"pressure": {"cpu_some_secs": 0.25, "source": "host"}, "start": START4, "others": 2.9}),
    ("cpu_starved", {"pressure": {"cpu_some_secs": 0.25, "source": "cgroup"}, "start": START4, "others": 2.9},
     {"pressure": {"cpu_some_secs": 0.25, "source": "cgroup"}, "cores": 4.0, "start": START4}),
    # Eight threads share one lock: they wait for a CPU in turn while others are free.
    ("cpu_starved", {"pressure": {"cpu_some_secs": 0.58, "source": "cgroup"}, "start": START4, "others": 2.9},
     {"pressure": {"cpu_some_secs": 0.58, "source": "cgroup"}, "start": START4, "others": 2.0}),
    ("throttled", {"cgroup": {"throttled_secs": 0.02, "throttled_periods": 1}}, {}),
    ("swapped", {"swap": 200.0}, {"swap": 0.0}),
    ("memory_near_limit", {"limits": dict(LIMITS, memory_limit_mib=105.0)},
     {"limits": dict(LIMITS, memory_limit_mib=200.0)}),
    ("memory_flat", {"limits": dict(LIMITS, memory_limit_mib=105.0)}, {"limits": dict(LIMITS, memory_limit_mib=200.0)}),
    ("memory_flat", {"limits": dict(LIMITS, memory_limit_mib=105.0)},
     {"limits": dict(LIMITS, memory_limit_mib=205.0), "end": {"largest_process_peak_mib": 204.0, "memory_peak_mib": 204.0},
      "memory": 50.0, "peak": 204.0}),
    ("gpu_memory_full", {"gpus": 1, "gpu": 0.9, "vram": 1000.0}, {"gpus": 1, "gpu": 0.9, "vram": 800.0}),
    ("memory_unused", {"limits": dict(LIMITS, memory_limit_mib=4096.0)},
     {"limits": dict(LIMITS, memory_limit_mib=200.0)}),
    ("idle_gpu", {"gpus": 1}, {"gpus": 1, "gpu": 0.9}),
    ("gpu_underused", {"gpus": 1, "gpu": 0.1}, {"gpus": 1, "gpu": 0.9}),
    ("io_bound", {"pressure": {"io_some_secs": 0.2, "source": "cgroup"}},
     {"pressure": {"io_some_secs": 0.2, "source": "host"}}),
    ("host_shared", {"others": 1.0}, {"others": 0.0}),
    # An idle system itself uses up to a tenth of the cores, and the memory of the operating system.
    ("host_shared", {"others": 1.0}, {"others": 0.7}),
    ("host_shared", {"memory": 100.0, "others_mib": 1500.0}, {"memory": 100.0, "others_mib": 900.0}),
    ("failed", {"end": {"exit_code": 3}}, {}),
    ("cut_short", {"end": {"exit_code": None, "reason": "duration"}}, {"end": {"exit_code": None, "reason": "target_exited"}}),
    ("cut_short", {"end": {"exit_code": None, "reason": "tracker_stopped"}}, {}),
])
def test_each_note_is_given_when_it_is_so_and_not_otherwise(run, tmp_path, rule, figures, other):
    for values, expected in ((dict(figures), True), (dict(other), False)):
        swap, gpus, others = values.pop("swap", None), values.pop("gpus", 0), values.pop("others", None)
        peak, others_mib = values.pop("peak", None), values.pop("others_mib", 0)
        path = make(tmp_path / "x.jsonl", **values)
        samples = [json.loads(line) for line in path.read_text().splitlines()]
        if peak:
            samples[-1]["cpu"]["process_memory_mib"] = peak
        for one in samples:
            one["cpu"]["process_swap_mib"] = swap
            one["memory"]["used_mib"] += others_mib
            one["gpu"] = [{"uuid": "GPU-1", "utilization_pct": 10.0, "vram_total_bytes": 1 << 30}] * gpus
            if others is not None:
                one["cpu"]["utilization_pct"] += others
        answer = advice(run, recordings.write(path, samples))
        assert (rule in rules(answer)) == expected, (rule, answer["notes"])
        if rule == "host_shared":
            assert answer["allocation"] == ("shared" if expected else "dedicated")


def test_a_signal_has_its_name(run, tmp_path):
    end = {"signal": 11, "exit_code": None, "reason": "signal"}
    assert note(advice(run, make(tmp_path / "x.jsonl", end=end)), "failed") == "it was killed by SIGSEGV: it may not have finished its work"


@pytest.mark.parametrize("form, text", [
    ("slurm", "#SBATCH --cpus-per-task=2\n#SBATCH --mem=768M\n#SBATCH --gpus=1\n"),
    ("kubernetes", 'resources:\n  requests:\n    cpu: "2"\n    memory: 768Mi\n  limits:\n    cpu: "2"\n    memory: 768Mi\n'
                   "    nvidia.com/gpu: 1\n"),
    ("docker", "docker run --cpus=2 --memory=768m --gpus=1\n"),
    ("nextflow", "cpus 2\nmemory '768 MB'\naccelerator 1\n"),
    ("snakemake", "threads: 2\nresources:\n    mem_mb=806,\n    gpu=1\n"),
    ("metaflow", "@resources(cpu=2, memory=768, gpu=1)\n"),
])
def test_forms_to_copy_and_paste(run, tmp_path, form, text):
    path = make(tmp_path / "x.jsonl", cores=2.0, memory=630.0, gpu=1.0)
    assert run("recommend", "--for", form, path).out == text


SERVERS = [("aws", "small", "us-east-1", 2, 1024, 0, 0, 0.01), ("aws", "big", "us-east-1", 8, 8192, 0, 0, 0.3),
           ("hcloud", "middle", "eu", 4, 4096, 0, 0, 0.02), ("aws", "gpu", "us-east-1", 8, 16384, 1, 16384, 1.0)]
COLUMNS = "vendor_id,api_reference,region_id,vcpus,memory_mib,gpu_count,gpu_memory_mib,price_usd_per_hour"


def catalogue(path):
    if path.suffix == ".csv":
        path.write_text("\n".join([COLUMNS, *(",".join(map(str, row)) for row in SERVERS)]) + "\n")
        return path
    with sqlite3.connect(path) as database:
        database.execute(f"CREATE TABLE servers ({COLUMNS})")
        database.executemany("INSERT INTO servers VALUES (?,?,?,?,?,?,?,?)", SERVERS)
    database.close()
    return path


@pytest.mark.parametrize("name", ["servers.csv", "servers.sqlite"])
def test_the_cheapest_server_of_a_catalogue_that_fits(run, tmp_path, name):
    servers, path = catalogue(tmp_path / name), make(tmp_path / "x.jsonl", cores=3.0, memory=1000.0, count=3600)
    answer = advice(run, "--catalogue", servers, "--instance", "aws/us-east-1/big", path)
    assert answer["server"]["api_reference"] == "middle" and answer["server"]["vcpus"] == 4
    assert answer["cost"] == {"duration_secs": 3600.0, "usd_per_hour": 0.3, "run_usd": 0.3, "advised_usd": 0.02,
                              "saved_usd": 0.28, "saved_pct": 93.33}
    answer = advice(run, "--catalogue", servers, "--server-filter", "vendor_id=aws", path)
    assert answer["server"]["api_reference"] == "big"
    answer = advice(run, "--catalogue", servers, "--server-filter", "vendor_id=none", path)
    assert answer["server"]["api_reference"] is None and "fits" in answer["server"]["problem"]
    gpu = advice(run, "--catalogue", servers, make(tmp_path / "g.jsonl", gpu=1.0, vram=8000.0))
    assert gpu["server"]["api_reference"] == "gpu"
    assert "middle" in run("recommend", "--catalogue", servers, path).out


def test_a_price_makes_the_cost(run, tmp_path):
    path = make(tmp_path / "x.jsonl", count=36)
    assert advice(run, "--price", "1.5", path)["cost"]["run_usd"] == 0.015
    assert "this run 0.015 USD" in run("recommend", "--price", "1.5", path).out


def test_an_unreachable_catalogue_is_reported_with_its_url(run, tmp_path):
    result = run("recommend", "--server", "--json", make(tmp_path / "x.jsonl"),
                 env={"KEEPER_API_URL": "http://127.0.0.1:9"})
    assert result.returncode == 0
    answer = json.loads(result.out)
    assert answer["cpu"] == 1 and answer["server"]["problem"] and answer["server"]["asked"]


def test_a_real_recording(run, tmp_path):
    run("-i", 0.25, "-o", tmp_path / "real.jsonl", "--", "sh", "-c", "sleep 1.2")
    answer = advice(run, tmp_path / "real.jsonl")
    assert (answer["cpu"], answer["memory"], answer["refused"]) == (1, 32, None)
    text = run("recommend", tmp_path / "real.jsonl").out
    assert text.startswith("Resources to request next time\n  CPU      1 ") and "32 MiB" in text


@pytest.mark.parametrize("arguments, status, part", [
    ([], 2, "name a recording"), (["missing.jsonl"], 1, "missing.jsonl"), (["--for", "pbs", "x.jsonl"], 1, "slurm"),
    (["--price", "cheap", "x.jsonl"], 2, "cheap"), (["--server-filter", "aws", "x.jsonl"], 2, "aws"),
    (["--policy", "most", "x.jsonl"], 2, "most"), (["--catalogue", "x.jsonl", "x.jsonl"], 1, "x.jsonl"), (["empty.jsonl"], 1, "empty.jsonl"), (["-"], 1, "file"),
])
def test_bad_input_is_one_clear_line(run, tmp_path, arguments, status, part):
    make(tmp_path / "x.jsonl")
    (tmp_path / "empty.jsonl").touch()
    result = run("recommend", *arguments)
    assert result.returncode == status and part in result.err.splitlines()[0] and not result.out


@pytest.mark.parametrize("more, words", [
    ({"cgroup": {"throttled_periods": 9, "throttled_secs": 0.5, "oom_kills": 0}}, "its CPU limit held it back"),
    ({"pressure": {"cpu_some_secs": 0.6, "source": "cgroup"}}, "other programs had the other cores")])
def test_little_use_of_two_cores_is_not_called_all_cores(run, tmp_path, more, words):
    """It once said that a job of 0.22 cores had no more than 2."""
    path = make(tmp_path / "x.jsonl", cores=0.22, start=dict(NO_LIMITS, cpu_count=2), **more)
    samples = [json.loads(line) for line in path.open()]
    samples[3]["cpu"]["process_cores_used"] = 0.47
    for one in samples:
        one["cpu"]["utilization_pct"] = 2.0
    text = run("recommend", recordings.write(path, samples)).out
    assert f"at most 0.47: {words}\n" in text and "no more cores" not in text, text


def test_earlier_runs_are_tried_with_the_rounded_advice(run, tmp_path):
    """Each run used 3 MiB, and the least that is advised is 32 MiB."""
    runs = history_of(tmp_path, 3, 3, 3)
    assert advice(run, *runs)["evidence"]["memory"]["reserved_per_used"] == pytest.approx(32 / 3, abs=0.001)
    text = run("recommend", *runs).out
    assert "(the least that is advised)" in text and "on the last 2 runs: 0 killed, reserved 10.7 times the used memory\n" in text, text


def test_advice_fits_the_size_of_the_input(run, tmp_path):
    """200 MiB and 3 bytes for each byte of input, by --input of a file, a folder and a pattern."""
    lines = [{"schema": 1, "id": f"r{i}", "outcome": "ok", "name": "fit", "started": 1e9 + i, "wall_secs": 60.0, "samples": 60,
              "memory_peak_mib": 200.0 + 3 * size, "memory_peak_source": "sampled", "memory_needed_mib": 200.0 + 3 * size, "memory_kernel_mib": 0.0,
              "cores_mean": 1.0, "cores_needed": 1.0, "input_bytes": size << 20, "input_source": "option"}
             for i, size in enumerate([5, 90, 40, 10, 70, 20, 60, 30, 80, 50, 15, 85])]
    (tmp_path / "runs.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (tmp_path / "part").mkdir()
    for name in ("a.bin", "part/b.bin"):
        with (tmp_path / name).open("wb") as file:
            file.truncate(25 << 20)

    def asked(*words):
        return advice(run, "--history", "runs.jsonl", *words)
    for words in (["--input", "a.bin", "--input", "part"], ["--input", "a.bin", "--input", "part/*.bin"], ["--input-bytes", 50 << 20]):
        answer = asked(*words)
        assert 350 <= answer["memory"] <= 400, answer
        told = answer["evidence"]["memory"]
        assert told["by_input"] == "line" and abs(told["bytes_per_input_byte"] - 3) < 0.01 and abs(told["fixed_mib"] - 200) < 1
        assert (told["input_bytes"], told["attempt"]) == (50 << 20, 1)
    assert asked()["memory"] >= 470 and asked()["evidence"]["memory"]["by_input"] == "same"
    beyond = asked("--input-bytes", 300 << 20)
    assert 1100 <= beyond["memory"] <= 1200 and "larger than that of any earlier run" in note(beyond, "input_beyond")
    again = asked("--input-bytes", 50 << 20, "--attempt", 2)
    assert again["memory"] >= 1.5 * 350 and "attempt 2 asks for more" in note(again, "attempt")
    # No number of attempts is taken for the first.
    many = [asked("--input-bytes", 50 << 20, "--attempt", attempt)["memory"] for attempt in (3, 999, 1000, 99999)]
    assert again["memory"] < many[0] and many[0] < many[1] == many[2] == many[3]
    refused = run("recommend", "--history", "runs.jsonl", "--input", "missing*")
    assert refused.returncode == 1 and "the size of the input 'missing*' is unknown" in refused.err
    # Sizes that were guessed from the command are none beside told ones.
    lines[3]["input_source"] = "arguments"
    lines[3]["memory_peak_mib"] = lines[3]["memory_needed_mib"] = 480.0
    (tmp_path / "runs.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert asked("--input-bytes", 50 << 20)["evidence"]["memory"]["by_input"] == "line"


def sized_line(i, size, peak, **more):
    return {"schema": 1, "id": f"r{i}", "outcome": "ok", "name": "fit", "started": 1e9 + i, "wall_secs": 60.0, "samples": 60,
            "memory_peak_mib": peak, "memory_peak_source": "sampled", "memory_needed_mib": peak, "memory_kernel_mib": 0.0,
            "cores_mean": 1.0, "cores_needed": 1.0, "input_bytes": size, "input_source": "option", **more}


def killed_line(i, size, had, **more):
    return sized_line(i, size, had / 2, outcome="oom", oom="confirmed", oom_had_mib=had, oom_next_mib=2.4 * had, **more)


@pytest.fixture
def asked_of(run, tmp_path):
    def ask(lines, size, *words):
        (tmp_path / "runs.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        return advice(run, "--history", "runs.jsonl", "--input-bytes", size, *words)
    return ask


def test_a_kill_of_this_size_asks_for_half_as_much_again(asked_of):
    lines = [sized_line(i, 1000, 100.0) for i in range(10)] + [killed_line(10, 2000, 400.0)]
    answer = asked_of(lines, 2000)
    assert answer["memory"] == 608 and "was killed with 400 MiB" in note(answer, "unsettled_kill")
    assert answer["evidence"]["memory"]["at_least"]
    # A kill of another size says nothing of these.
    for other in (1000, 5000):
        answer = asked_of(lines, other)
        assert answer["memory"] < 200 and not answer["evidence"]["memory"]["at_least"] and "unsettled_kill" not in rules(answer)
    # A smaller input says nothing of it, one of its size does.
    lines.append(sized_line(11, 1000, 100.0))
    assert asked_of(lines, 2000)["memory"] == 608
    lines.append(sized_line(12, 2000, 500.0))
    assert asked_of(lines, 2000)["memory"] < 608 and "unsettled_kill" not in rules(asked_of(lines, 2000))


def test_an_earlier_run_with_a_larger_input_settles_no_kill(asked_of):
    lines = [sized_line(i, 1000, 100.0) for i in range(10)] + [sized_line(10, 9000, 3000.0), killed_line(11, 2000, 400.0)]
    assert asked_of(lines, 2000)["memory"] >= 600
    # One with a smaller input took more and survived: the safe policy never says less, the others ask for more than was killed.
    lines = [sized_line(i, 1000, 100.0) for i in range(10)] + [sized_line(10, 1500, 700.0), killed_line(11, 2000, 400.0)]
    assert 700 <= asked_of(lines, 2000)["memory"] and "unsettled_kill" not in rules(asked_of(lines, 2000))
    for policy in ("cost", "p95"):
        assert asked_of(lines, 2000, "--policy", policy)["memory"] >= 600, policy


def test_sizes_that_were_guessed_are_unknown_beside_told_ones(asked_of):
    """Of runs and of kills: the files that a command names are something else than the input that a user tells."""
    lines = [sized_line(i, 1000 + 500 * i, 100.0) for i in range(12)]
    guessed = killed_line(12, 10, 400.0, input_source="arguments")
    # Its size could be any, so it counts for this one. As a told size of 10 bytes it would not.
    assert asked_of([*lines, guessed], 6000)["memory"] == 608
    assert asked_of([*lines, {**guessed, "input_source": "option"}], 6000)["memory"] < 200


@pytest.mark.parametrize("statuses, rules", [([0, 0], []), ([3, 0], ["failed"]), ([0, 3], ["runs_failed"]), ([3, 0, 3], ["failed", "runs_failed"])])
def test_a_run_that_failed_is_told_wherever_it_stands(run, tmp_path, statuses, rules):
    paths = [recordings.steady(tmp_path / f"{i}.jsonl", start=dict(recordings.NO_LIMITS, run_id=f"run-{i}"), end={"exit_code": status})
             for i, status in enumerate(statuses)]
    notes = {note["rule"]: note["text"] for note in json.loads(run("recommend", "--json", *paths).out)["notes"]}
    assert [rule for rule in notes if "failed" in rule] == rules
    count = len(statuses)
    assert notes.get("runs_failed", "").startswith(f"{count - statuses.count(0)} of {count} runs failed: " * ("runs_failed" in rules))
    assert f"next time, from {count} runs" in run("recommend", *paths).out


def test_one_run_that_is_left_is_one_run(run, tmp_path):
    recordings.steady(tmp_path / "a.jsonl", start=dict(recordings.NO_LIMITS, run_id="a"))
    recordings.steady(tmp_path / "b.jsonl", start=dict(recordings.NO_LIMITS, run_id="b"), count=1)
    assert "next time, from 1 run\n" in run("recommend", tmp_path / "a.jsonl", tmp_path / "b.jsonl").out
