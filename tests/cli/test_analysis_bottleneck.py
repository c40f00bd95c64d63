"""The bottleneck of a run: every rule against recordings with a known answer."""
import json

import pytest

import recordings

FOUR = dict(recordings.NO_LIMITS, cpu_count=4)


def find(run, path):
    result = run("summary", "--json", path)
    assert result.returncode == 0, result.err
    found = json.loads(result.out)["bottlenecks"]
    assert f"Bottleneck {found[0]['title']}: {found[0]['text']}\n" in run("summary", path).out
    return found


def of(source, **secs):
    return {"pressure": {**{f"{name}_some_secs": value for name, value in secs.items()}, "source": source}}


def waited(secs, known_secs, forced=200, by_choice=5):
    """The waiting of the job's own threads in each sample, and their CPU time."""
    return {"process_cpu_wait_secs": secs, "process_cpu_wait_known_secs": known_secs, "process_involuntary_switches": forced,
            "process_voluntary_switches": by_choice}


def reread(gib, of_gib):
    """Returns a run of 8 seconds below a limit of 200 MiB that read `of_gib`, partly twice."""
    return {"limits": dict(recordings.LIMITS, memory_limit_mib=200.0), "read_bytes": int(of_gib * (1 << 27)),
            "cgroup": {"throttled_periods": 0, "throttled_secs": 0.0, "cache_refault_bytes": int(gib * (1 << 27))}}


@pytest.mark.parametrize("figures, rule, text", [
    ({"cores": 3.5}, "cpu_bound", "3.50 of 4 cores were busy on average."),
    ({"cores": 3.3}, "none", "It was not throttled, not short of memory, and did not use all its cores, though 0.70 of them were free."),
    ({"cores": 3.3, "others": 0.65}, "none", "It was not throttled, not short of memory, and did not use all its cores."),
    ({"cores": 1.0}, "one_core",
     "About one core was in use during 100 % of the time (on average 1.00 of 4 cores): one thread works, or several threads take turns."),
    ({"cores": 1.2}, "none", None),
    ({**of("cgroup", cpu=0.58), "cores": 1.0}, "one_core", None),
    ({**of("cgroup", cpu=0.58), "cores": 1.0, "others": 2.9}, "cpu_taken", None),
    ({**of("host", cpu=0.58), "cores": 1.0, "others": 2.9}, "none", None),
    ({**of("cgroup", cpu=0.3), "cores": 0.1, "others": 3.8}, "cpu_taken", None),
    ({**of("cgroup", cpu=0.3), "cores": 0.1, "others": 3.8, "start": dict(FOUR, executable="docker")}, "elsewhere", None),
    ({**of("cgroup", cpu=0.9), "cores": 0.1, "others": 3.8, "start": dict(FOUR, executable="docker")}, "cpu_taken", None),
    ({**of("cgroup", cpu=0.1), "cores": 1.0}, "one_core", None),
    ({"cores": 0.1}, "idle", None),
    ({"cores": 0.1, "end": {"exit_code": 1, "process_limit": "an address space of 390 MiB (ulimit -v)"}}, "process_limit",
     "It failed, limited to an address space of 390 MiB (ulimit -v): raise this limit if it is the reason."),
    ({"cores": 1.0, "end": {"exit_code": 1, "process_limit": "an address space of 390 MiB (ulimit -v)"}}, "one_core", None),
    ({"cores": 1.0, "end": {"exit_code": 1, "process_limit": "data of 390 MiB (ulimit -d), near its peak of 383 MiB"}},
     "process_limit", None),
    ({"cores": 1.0, "end": {"exit_code": 1, "process_limit": "9 processes and threads (pids.max), so that a fork failed"}}, "process_limit",
     "It failed, limited to 9 processes and threads (pids.max), so that a fork failed: raise this limit if it is the reason."),
    ({"cores": 0.1, "end": {"exit_code": 0, "process_limit": "9 processes and threads (pids.max), so that a fork failed"}}, "process_limit",
     "It was limited to 9 processes and threads (pids.max), so that a fork failed: raise this limit."),
    ({"cores": 1.0, "end": {"reason": "signal", "signal": 15, "exit_code": None, "process_limit": "files of 20 KiB (ulimit -f)"}},
     "one_core", None),
    ({"cores": 1.0, "end": {"reason": "signal", "signal": 25, "exit_code": None, "process_limit": "files of 20 KiB (ulimit -f)"}},
     "process_limit", None),
    ({"limits": dict(recordings.LIMITS, memory_limit_mib=105.0)}, "memory_near_limit", "Its peak reached 95.2 % of the memory that it may use."),
    ({"end": {"reason": "oom_kill_confirmed", "signal": 9, "exit_code": None}}, "oom", "It was killed for lack of memory."),
    ({"limits": dict(recordings.LIMITS, memory_limit_mib=300.0), "end": {"reason": "oom_kill_confirmed", "signal": 9, "exit_code": None, "cgroup_oom_kills": 1}},
     "oom", "It was killed for lack of memory. Its processes were seen with 100 MiB of the 300 MiB: full pipes, sockets and files in memory count as well."),
    ({"limits": dict(recordings.LIMITS, memory_limit_mib=150.0), "end": {"reason": "oom_kill_confirmed", "signal": 9, "exit_code": None, "cgroup_oom_kills": 1}},
     "oom", "It was killed for lack of memory."),
    ({"end": {"oom_kills": 2}}, "oom", "A process was killed for lack of memory, though not the job itself."),
    ({"cgroup": {"throttled_secs": 0.125, "throttled_periods": 1}}, "throttled",
     "The CPU limit held it back for 1.00 s, summed over its CPUs."),
    ({"cgroup": {"throttled_secs": 0.05, "throttled_periods": 1}, "cores": 2.0}, "none", None),
    ({**of("cgroup", io=0.25), "cores": 0.2}, "io_bound", "At least one of its processes waited for I/O during 25.0 % of the time."),
    # A copy into the page cache: 63 % of a core for 13 % of waiting is not "Disk".
    ({**of("cgroup", io=0.13), "cores": 0.63}, "io_bound",
     "At least one of its processes waited for I/O during 13.0 % of the time, and they used 0.63 cores on average."),
    ({**of("cgroup", io=0.166), "cores": 0.76}, "one_core", None),
    ({**of("host", io=0.25)}, "none", None),
    ({**of("cgroup", io=0.25), **reread(1.5, 2.0)}, "cache_too_small",
     "1.50 GiB of the 2.00 GiB read from storage had been in memory before: the page cache had no room for it in 200 MiB (cgroup limit)."),
    ({**of("cgroup", io=0.25), **reread(3.0, 2.0)}, "cache_too_small", None),
    ({**of("cgroup", io=0.25), **reread(0.9, 2.0)}, "io_bound", None),
    ({**of("cgroup", io=0.25), **reread(0.15, 0.2)}, "io_bound", None),
    ({**of("cgroup", io=0.05), "cores": 2.0}, "none", None),
    ({**of("cgroup", memory=0.125)}, "memory_pressure", "At least one of its processes waited for memory during 12.5 % of the time."),
    ({**of("cgroup", cpu=0.58), "cores": 2.0}, "none",
     "It was not throttled, not short of memory, and did not use all its cores, though 2.00 of them were free."),
    ({**of("cgroup", cpu=0.3), "cores": 2.0, "others": 1.8}, "cpu_pressure",
     "At least one of its processes waited for a CPU during 30.0 % of the time, while all CPUs were busy."),
    ({**of("cgroup", cpu=0.3), "cores": 2.0, "start": dict(FOUR, cpuset_cores=3)}, "cpu_pressure",
     "At least one of its processes waited for a CPU during 30.0 % of the time."),
    ({**of("cgroup", cpu=0.3), "others": 3.5}, "cpu_taken",
     "At least one of its processes waited for a CPU during 30.0 % of the time, while others kept the CPUs busy."),
    ({**of("host", cpu=0.3), "others": 3.5}, "none", None),
    # An ordinary user's job has no pressure of its own: it may have slept, or waited for the others.
    ({**of("host", cpu=0.98), "others": 3.9, "cores": 0.01}, "idle", "It used little CPU time: it was sleeping or waiting, perhaps "
     "for a CPU, because other programs kept them busy."),
    ({**of("cgroup", cpu=0.0), "others": 3.9, "cores": 0.01}, "idle",
     "It used little CPU time: it was sleeping or waiting for something else."),
    # Its own threads tell whether it waited, whatever the pressure of the machine or of its group says.
    ({**of("host", cpu=0.98), "others": 3.9, "cores": 0.01, "threads": waited(0.0, 0.01)}, "idle",
     "It used little CPU time: it was sleeping or waiting for something else."),
    ({**of("host", cpu=0.98), "others": 3.4, "cores": 0.5, "threads": waited(1.5, 0.5)}, "cpu_taken",
     "Its threads waited for a CPU for 12.0 s and ran for 4.00 s, while others kept the CPUs busy."),
    ({**of("cgroup", cpu=0.9), "others": 3.4, "cores": 0.5, "threads": waited(0.01, 0.5)}, "none", None),
    ({**of("cgroup", cpu=0.9), "others": 1.0, "cores": 3.0, "threads": waited(0.25, 3.0)}, "none", None),
    ({**of("cgroup", cpu=0.9), "others": 1.0, "cores": 3.0, "threads": waited(1.5, 3.0)}, "cpu_pressure",
     "Its threads waited for a CPU for 12.0 s and ran for 24.0 s, while all CPUs were busy."),
    ({**of("host", cpu=0.9), "others": 3.4, "cores": 0.5, "threads": waited(0.3, 0.3)}, "cpu_taken",
     "Its threads waited for a CPU for at least 2.40 s and ran for 4.00 s, while others kept the CPUs busy."),
    # Too few of them were read: the pressure of its group decides, or it is unknown.
    ({**of("cgroup", cpu=0.9), "others": 3.4, "cores": 0.5, "threads": waited(0.0, 0.1)}, "cpu_taken",
     "At least one of its processes waited for a CPU during 90.0 % of the time, while others kept the CPUs busy."),
    ({**of("host", cpu=0.9), "others": 3.4, "cores": 0.5, "threads": waited(0.1, 0.1)}, "none", None),
    ({**of("cgroup", cpu=0.9), "cores": 1.0, "threads": waited(1.0, 1.0)}, "cpu_confined",
     "Its threads waited for a CPU for 8.00 s and ran for 8.00 s, while other CPUs were free: they may be confined to too few "
     "(taskset, affinity)."),
    ({**of("cgroup", cpu=0.9), "cores": 1.0, "threads": waited(1.0, 1.0, by_choice=300)}, "one_core", None),
    ({**of("cgroup", cpu=0.3), "others": 2.5}, "none", None),
    ({**of("cgroup", cpu=0.9), "cores": 4.0}, "cpu_bound", "4.00 of 4 cores were busy on average."),
    ({"gpu": 0.9, "gpus": 1}, "gpu_bound", "0.90 of 1 GPU was busy on average."),
    ({"gpu": 0.5, "gpus": 1, "cores": 2.0}, "none", None),
    ({"gpu": 0.7, "gpus": 1, "cores": 0.1, **of("cgroup", cpu=0.3)}, "gpu_mostly",
     "0.70 of 1 GPU was busy on average, and waited for other work the rest of the time."),
    ({"gpu": 0.7, "gpus": 1, "cores": 0.1, **of("host", cpu=0.9), "others": 3.9}, "gpu_mostly", None),
    ({"gpu": 0.95, "gpus": 8, "gpus_used": 1, "cores": 0.1}, "gpu_bound", "0.95 of 1 GPU was busy on average."),
    ({"limits": dict(recordings.LIMITS, cpu_limit_cores=0.5), "cores": 0.5, **of("cgroup", cpu=0.9),
      "cgroup": {"throttled_secs": 1.5, "throttled_periods": 10}}, "throttled",
     "The CPU limit of 0.5 cores held it back for 12.0 s, summed over its CPUs."),
])
def test_each_rule(run, tmp_path, figures, rule, text):
    values = {"cores": 0.5, "start": FOUR, **figures}
    gpus, others, used = values.pop("gpus", 0), values.pop("others", 0), values.pop("gpus_used", 0)
    read_bytes, threads = values.pop("read_bytes", 0), values.pop("threads", {})
    path = recordings.steady(tmp_path / "x.jsonl", **values)
    samples = [json.loads(line) for line in path.read_text().splitlines()]
    for one in samples:
        one["gpu"] = [{"uuid": "GPU-1", "utilization_pct": 90.0, "vram_total_bytes": 1 << 30}] * gpus
        one["cpu"]["utilization_pct"] += others
        one["cpu"].update(process_gpu_utilized=used, process_disk_read_bytes=read_bytes, **threads)
    found = find(run, recordings.write(path, samples))
    assert found[0]["rule"] == rule, found
    assert text is None or found[0]["text"] == text


@pytest.mark.parametrize("missing, rule, text", [
    ({"cpu", "cgroup", "pressure", "memory", "limits"}, "unknown", "Its CPU use is not recorded."),
    ({"cgroup"}, "none", "It was not short of memory, and did not use all its cores, though 2.00 of them were free."),
    ({"cgroup", "memory"}, "none", "It did not use all its cores, though 2.00 of them were free."),
    ({"memory"}, "none", "It was not throttled, and did not use all its cores, though 2.00 of them were free."),
])
def test_unmeasured_causes_are_not_ruled_out(run, tmp_path, missing, rule, text):
    path = recordings.steady(tmp_path / "x.jsonl", cores=2.0, start=dict(FOUR, memory_total_mib=None))
    samples = [json.loads(line) for line in path.read_text().splitlines()]
    for one in samples:
        for group in missing:
            one[group] = None
    if "cpu" in missing:
        samples[-1]["run_end"].update(utime_secs=None, stime_secs=None)
    [found] = find(run, recordings.write(path, samples))
    assert (found["rule"], found["text"]) == (rule, text)


def test_cores_in_use_without_times_are_known(run, tmp_path):
    path = recordings.steady(tmp_path / "x.jsonl", cores=3.5, start=FOUR)
    samples = [json.loads(line) for line in path.read_text().splitlines()]
    for one in samples:
        one["cpu"] = {"process_cores_used": 3.5}
    samples[-1]["run_end"].update(utime_secs=None, stime_secs=None)
    assert find(run, recordings.write(path, samples))[0]["rule"] == "cpu_bound"
    assert json.loads(run("summary", "--json", path).out)["cores"]["mean"] == 3.5


@pytest.mark.parametrize("io_secs", [None, 0.0])
def test_an_idle_run_is_not_said_to_have_waited_outside_this_machine(run, tmp_path, io_secs):
    path = recordings.steady(tmp_path / "x.jsonl", cores=0.1, start=FOUR, **of("cgroup", io=io_secs))
    assert find(run, path)[0]["text"].endswith("it was sleeping or waiting for something else.")


@pytest.mark.parametrize("cores, title", [(0.2, "Disk"), (0.63, "Disk, at times")])
def test_a_disk_holds_a_run_up_if_it_waited_longer_than_it_computed(run, tmp_path, cores, title):
    assert find(run, recordings.steady(tmp_path / "x.jsonl", cores=cores, start=FOUR, **of("cgroup", io=0.25)))[0]["title"] == title


def test_the_weightiest_comes_first(run, tmp_path):
    path = recordings.steady(tmp_path / "x.jsonl", cores=4.0, start=FOUR, **of("cgroup", io=0.5, memory=0.2),
                             end={"reason": "oom_kill_suspected", "signal": 9, "exit_code": None},
                             cgroup={"throttled_secs": 0.2, "throttled_periods": 1})
    assert [one["rule"] for one in find(run, path)] == ["oom", "throttled", "io_bound", "memory_pressure"]


def test_the_machine_alone_is_judged_by_its_own_use(run, tmp_path):
    samples = [recordings.sample(i, memory=None, tracked_pid=None, start=dict(FOUR, mode="host") if i == 0 else None) for i in range(4)]
    for one in samples:
        one["cpu"] = {"utilization_pct": 3.9}
        one["limits"] = one["cgroup"] = None
    assert find(run, recordings.write(tmp_path / "x.jsonl", samples))[0]["rule"] == "cpu_bound"


def course(tmp_path, cores, start=None, **more):
    """Writes a run whose samples use the given cores, one second each."""
    path = recordings.steady(tmp_path / "x.jsonl", count=len(cores), start=start or dict(recordings.NO_LIMITS, cpu_count=2), **more)
    samples = [json.loads(line) for line in path.read_text().splitlines()]
    for one, used in zip(samples, cores):
        one["cpu"].update(utilization_pct=used, process_cores_used=used, process_utime_secs=used, process_stime_secs=0.0)
    samples[-1]["run_end"]["utime_secs"] = sum(cores)
    return recordings.write(path, samples)


@pytest.mark.parametrize("cores, rules, text", [
    ([1.98] * 3 + [0.0] * 3, ["cpu_at_times"], "All of its 2 cores were busy for 3.00 s of 6.00 s."),
    ([1.0] * 4 + [2.0] * 2, ["one_core", "cpu_at_times"], None),
    ([1.0] * 6, ["one_core"], None),
    ([1.39] * 4, ["none"], None),
    ([0.02] * 4, ["idle"], "It used little CPU time: it was sleeping or waiting for something else."),
], ids=["two cores half of the time", "one thread, then two", "one thread", "three of a pipe", "asleep"])
def test_use_of_cores_is_told_by_its_course_rather_than_its_mean(run, tmp_path, cores, rules, text):
    found = find(run, course(tmp_path, cores))
    assert [one["rule"] for one in found] == rules, found
    assert text is None or found[0]["text"] == text


def test_waiting_counts_only_in_samples_that_left_no_cpu_free(run, tmp_path):
    """Half of the time both CPUs are busy. The rest of the time threads pass a lock around on one CPU."""
    found = find(run, course(tmp_path, [2.0, 1.0] * 4, pressure={"cpu_some_secs": 0.6, "source": "cgroup"}))
    assert found[-1]["text"].startswith("At least one of its processes waited for a CPU during 30.0 % of the time"), found
    waiting = json.loads(run("summary", "--json", tmp_path / "x.jsonl").out)["waiting"]
    assert (waiting["cpu_pressure_secs"], waiting["cpu_short_secs"]) == (4.8, 2.4)


def test_shares_of_a_run_after_waiting_for_descendants(run, tmp_path):
    """The job's first process takes 0.5 s of 8 s: waits were 703 % of the time, and the tracker's cost 16 times too high."""
    path = course(tmp_path, [2.0, 1.0] * 4, pressure={"cpu_some_secs": 0.6, "source": "cgroup"})
    samples = [json.loads(line) for line in path.read_text().splitlines()]
    samples[-1]["run_end"].update(wall_secs=0.5, tree_wall_secs=8.0, tree_utime_secs=12.0, tree_stime_secs=0.0)
    texts = [one["text"] for one in find(run, recordings.write(path, samples))]
    assert any("waited for a CPU during 30.0 % of the time" in text for text in texts), texts
    summary = json.loads(run("summary", "--json", path).out)
    assert summary["time"]["wall_secs"] == 0.5 and summary["tracker"]["cpu_of_core_pct"] == 0.1
    assert " UTC, 0.50 s, and 8.00 s with its descendants: " in run("summary", path).out
    samples[-1]["run_end"].update(wall_secs=7.95)
    assert "descendants: " not in run("summary", recordings.write(path, samples)).out


def test_threads_that_take_turns_are_not_held_up(run, tmp_path):
    path = course(tmp_path, [1.0] * 4, pressure={"cpu_some_secs": 0.58, "source": "cgroup"})
    assert "short of CPU" not in run("summary", path).out
    assert "cpu_starved" not in [one["rule"] for one in json.loads(run("recommend", "--json", path).out)["notes"]]


def test_a_cache_without_room_is_advised_memory_rather_than_a_disk(run, tmp_path):
    figures = {**of("cgroup", io=0.25), **reread(1.5, 2.0)}
    read_bytes = figures.pop("read_bytes")
    path = recordings.steady(tmp_path / "x.jsonl", start=FOUR, **figures)
    samples = [json.loads(line) for line in path.read_text().splitlines()]
    for one in samples:
        one["cpu"]["process_disk_read_bytes"] = read_bytes
    notes = {note["rule"]: note["text"] for note in json.loads(run("recommend", "--json", recordings.write(path, samples)).out)["notes"]}
    assert notes["cache_too_small"].startswith("it read 1.50 GiB again"), notes
    assert "io_bound" not in notes


def test_a_machine_has_no_thread_of_its_own(run, tmp_path):
    samples = [recordings.sample(i, memory=None, tracked_pid=None, start=dict(FOUR, mode="host") if i == 0 else None) for i in range(4)]
    for one in samples:
        one["cpu"] = {"utilization_pct": 1.0}
        one["limits"] = one["cgroup"] = None
    assert find(run, recordings.write(tmp_path / "x.jsonl", samples))[0]["rule"] == "none"


def test_idle_gpus_take_one_line(run, tmp_path):
    path = recordings.steady(tmp_path / "x.jsonl", cores=0.1, start=FOUR, gpu=0.7, vram=4000.0)
    samples = [json.loads(line) for line in path.read_text().splitlines()]
    for one in samples:
        one["cpu"]["process_gpu_utilized"] = 1
        one["gpu"] = [{"index": i, "uuid": f"GPU-{i}", "utilization_pct": busy, "vram_total_bytes": 80 << 30,
                       "vram_used_bytes": {0: 4 << 30, 4: 40 << 30}.get(i, 600 << 20), "process_count": int(i == 0),
                       "process_vram_bytes": (4 << 30) if i == 0 else 0}
                      for i, busy in enumerate([70.0, 0.0, 0.0, 30.0, 0.0, 0.0])]
    text = run("summary", recordings.write(path, samples)).out
    lines = text[text.index("GPU"):text.index("Bottleneck")].splitlines()[1:-1]
    assert [line.split(";")[0].strip() for line in lines] == [
        "0: mean 70 %, max 70 %", "3: mean 30 %, max 30 %", "4: mean 0 %, max 0 %", "1, 2, 5: idle"], text
    assert "Bottleneck GPU, most of the time: 0.70 of 1 GPU was busy" in text


@pytest.mark.parametrize("secs, shown", [(0.04, None), (0.5, "short of CPU for 4.00 s; its threads waited for a CPU for 4.00 s in all, and lost it 1600 times")])
def test_waiting_of_threads_is_shown_if_it_matters(run, tmp_path, secs, shown):
    """A start on a busy machine alone takes some milliseconds of waiting."""
    path = recordings.steady(tmp_path / "x.jsonl", cores=0.5, start=FOUR, **of("host", cpu=0.0))
    samples = [json.loads(line) for line in path.read_text().splitlines()]
    for one in samples:
        one["cpu"]["utilization_pct"] = 3.9
        one["cpu"].update(waited(secs, 0.5))
    text = run("summary", recordings.write(path, samples)).out
    assert ("Held up" in text) == (shown is not None), text
    assert shown is None or f"Held up    {shown}\n" in text, text


def test_waiting_of_short_lived_threads_is_a_lower_bound(run, tmp_path):
    path = recordings.steady(tmp_path / "x.jsonl", cores=0.5, start=FOUR, **of("host", cpu=0.0))
    samples = [json.loads(line) for line in path.read_text().splitlines()]
    for one in samples:
        one["cpu"]["utilization_pct"] = 3.9
        one["cpu"].update(waited(0.5, 0.25))
    figures = json.loads(run("summary", "--json", recordings.write(path, samples)).out)["waiting"]
    assert (figures["cpu_wait_secs"], figures["cpu_wait_known_pct"]) == (4.0, 50.0)
    assert "its threads waited for a CPU for at least 4.00 s in all" in run("summary", path).out


@pytest.mark.parametrize("secs, rule", [(0.008, "unknown"), (0.03, "none"), (1.0, "cpu_pressure")])
def test_a_wait_of_a_few_milliseconds_holds_nothing_up(run, tmp_path, secs, rule):
    """A quarter of the time, so that less than 10 ms are noise."""
    one = recordings.sample(0, secs=secs, start=dict(recordings.NO_LIMITS, cpu_count=2), actual_interval_ms=secs * 1000,
                            pressure={"cpu_some_secs": secs / 4, "io_some_secs": 0.0, "memory_some_secs": 0.0, "source": "cgroup"},
                            limits=dict(recordings.LIMITS), cgroup={"throttled_periods": 0, "throttled_secs": 0.0, "oom_kills": 0},
                            end={**recordings.END, "exit_code": 0, "wall_secs": secs, "utime_secs": 1.5 * secs, "stime_secs": 0.0})
    one["cpu"].update(process_cores_used=1.5, process_utime_secs=1.5 * secs, process_stime_secs=0.0, utilization_pct=2.0,
                      utime_secs=2.0 * secs, stime_secs=0.0)
    found = find(run, recordings.write(tmp_path / "short.jsonl", [one]))
    assert found[0]["rule"] == rule, found


@pytest.mark.parametrize("exit_code", [0, 2])
def test_kills_on_the_machine_are_told_of_the_machine(run, tmp_path, exit_code):
    path = recordings.steady(tmp_path / "run.jsonl", end={"exit_code": exit_code, "machine_oom_kills": 32, "oom_kills": None})
    lines = run("summary", path).out.splitlines()
    told = [line for line in lines if "32 processes of the machine were killed for lack of memory" in line]
    assert len(told) == 1 and told[0].startswith("  Machine ")
    assert "memory" not in "".join(lines[:2]).lower()
