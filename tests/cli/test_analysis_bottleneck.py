"""What held a run up: every rule against recordings of which the right answer is known."""
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


@pytest.mark.parametrize("figures, rule, text", [
    ({"cores": 3.5}, "cpu_bound", "3.50 of 4 cores were busy on average."),
    ({"cores": 3.3}, "none", "It was not throttled, not short of memory, and did not use all its cores."),
    ({"cores": 1.0}, "one_core", "1.00 of 4 cores were busy on average, as when most of it runs in one thread."),
    ({"cores": 1.2}, "none", None),
    ({**of("cgroup", cpu=0.3), "cores": 1.0}, "cpu_pressure", "Some of it waited for a CPU during 30.0 % of the time."),
    ({**of("cgroup", cpu=0.1), "cores": 1.0}, "one_core", None),
    ({"cores": 0.1}, "idle", None),
    ({"limits": dict(recordings.LIMITS, memory_limit_mib=105.0)}, "memory_near_limit", "Its peak reached 95.2 % of what it may use."),
    ({"end": {"reason": "oom_kill_confirmed", "signal": 9, "exit_code": None}}, "oom", "It was killed for lack of memory."),
    ({"end": {"oom_kills": 2}}, "oom", "A process was killed for lack of memory, though not the job itself."),
    ({"cgroup": {"throttled_secs": 0.125, "throttled_periods": 1}}, "throttled",
     "The CPU limit held it back for 1.00 s, summed over its CPUs."),
    ({"cgroup": {"throttled_secs": 0.05, "throttled_periods": 1}, "cores": 2.0}, "none", None),
    ({**of("cgroup", io=0.25)}, "io_bound", "Some of it waited for I/O during 25.0 % of the time."),
    ({**of("host", io=0.25)}, "none", None),
    ({**of("cgroup", io=0.05), "cores": 2.0}, "none", None),
    ({**of("cgroup", memory=0.125)}, "memory_pressure", "Some of it waited for memory during 12.5 % of the time."),
    ({**of("cgroup", cpu=0.3), "cores": 2.0}, "cpu_pressure", "Some of it waited for a CPU during 30.0 % of the time."),
    ({**of("cgroup", cpu=0.3), "others": 3.5}, "cpu_taken",
     "Some of it waited for a CPU during 30.0 % of the time, while others kept the CPUs busy."),
    ({**of("host", cpu=0.3), "others": 3.5}, "none", None),
    ({**of("host", cpu=0.98), "others": 3.9, "cores": 0.01}, "idle", None),
    ({**of("cgroup", cpu=0.3), "others": 2.5}, "cpu_pressure", None),
    ({**of("cgroup", cpu=0.9), "cores": 4.0}, "cpu_bound", "4.00 of 4 cores were busy on average."),
    ({"gpu": 0.9, "gpus": 1}, "gpu_bound", "0.90 of 1 GPU was busy on average."),
    ({"gpu": 0.5, "gpus": 1, "cores": 2.0}, "none", None),
])
def test_each_rule(run, tmp_path, figures, rule, text):
    values = {"cores": 0.5, "start": FOUR, **figures}
    gpus, others = values.pop("gpus", 0), values.pop("others", 0)
    path = recordings.steady(tmp_path / "x.jsonl", **values)
    samples = [json.loads(line) for line in path.read_text().splitlines()]
    for one in samples:
        one["gpu"] = [{"uuid": "GPU-1", "utilization_pct": 90.0, "vram_total_bytes": 1 << 30}] * gpus
        one["cpu"]["utilization_pct"] += others
    found = find(run, recordings.write(path, samples))
    assert found[0]["rule"] == rule, found
    assert text is None or found[0]["text"] == text


@pytest.mark.parametrize("missing, rule, text", [
    ({"cpu", "cgroup", "pressure", "memory", "limits"}, "unknown", "How much of the CPU it used is not recorded."),
    ({"cgroup"}, "none", "It was not short of memory, and did not use all its cores."),
    ({"cgroup", "memory"}, "none", "It did not use all its cores."),
    ({"memory"}, "none", "It was not throttled, and did not use all its cores."),
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
    assert find(run, path)[0]["text"].endswith("it was sleeping, or waiting for something.")


def test_the_weightiest_comes_first(run, tmp_path):
    path = recordings.steady(tmp_path / "x.jsonl", cores=4.0, start=FOUR, **of("cgroup", io=0.5, memory=0.2),
                             end={"reason": "oom_kill_suspected", "signal": 9, "exit_code": None},
                             cgroup={"throttled_secs": 0.2, "throttled_periods": 1})
    assert [one["rule"] for one in find(run, path)] == ["oom", "cpu_bound", "throttled", "io_bound", "memory_pressure"]


def test_the_machine_alone_is_judged_by_its_own_use(run, tmp_path):
    samples = [recordings.sample(i, memory=None, tracked_pid=None, start=FOUR if i == 0 else None) for i in range(4)]
    for one in samples:
        one["cpu"] = {"utilization_pct": 3.9}
        one["limits"] = one["cgroup"] = None
    assert find(run, recordings.write(tmp_path / "x.jsonl", samples))[0]["rule"] == "cpu_bound"
