"""combine: ranks are summed, hosts count once, nothing is lost or doubled."""
import json

import pytest

import recordings


def part(path, *, rank=0, host="node-1", shift=0.0, count=8, cores=1.0, end=None):
    samples = []
    for i in range(count):
        one = recordings.sample(i, cores=cores, memory=100.0, timestamp=1_700_000_000.25 + shift,
                                start=recordings.START if i == 0 else None)
        one.update(rank=rank, host=host, tracked_pid=100 + rank)
        samples.append(one)
    if end is not False:
        samples[-1]["run_end"] = {**recordings.END, "exit_code": 0, **(end or {})}
    return recordings.write(path, samples)


@pytest.fixture
def combine(run, helpers, tmp_path):
    def into_samples(*paths):
        result = run("combine", "--force", "-o", tmp_path / "all.jsonl", *paths)
        assert result.returncode == 0, result.err
        return helpers.json_lines(tmp_path / "all.jsonl")

    return into_samples


def test_ranks_of_one_host_are_summed_and_the_host_counts_once(combine, run, tmp_path):
    paths = [part(tmp_path / f"{rank}.jsonl", rank=rank, shift=0.1 * rank) for rank in range(3)]
    samples = combine(*paths)
    assert len(samples) == 8
    for sample in samples:
        cpu = sample["cpu"]
        assert cpu["process_cores_used"] == 3.0 and cpu["process_memory_mib"] == 300.0
        assert cpu["process_utime_secs"] == 2.25 and cpu["utilization_pct"] == 1.5
        assert sample["memory"]["total_mib"] == 4096.0 and sample["totals"]["disk_read_bytes"] == 5000
        assert sample["host"] == "node-1"
    assert samples[0]["run_start"]["cpu_count"] == 8
    end = samples[-1]["run_end"]
    assert (end["utime_secs"], end["stime_secs"], end["largest_process_peak_mib"]) == (27.0, 9.0, 130.0)
    figures = json.loads(run("summary", "--json", tmp_path / "all.jsonl").out)
    # The end has 36 s of CPU time in 8.2 s, more than the samples: the most is at least the mean.
    assert figures["cores"]["max"] == figures["cores"]["mean"] == 4.3902 and figures["io"]["read_bytes"] == 3 * 8 * 4096


def test_a_sum_of_memory_is_as_good_as_the_weakest_of_its_parts(combine, run, tmp_path):
    paths = [part(tmp_path / f"{rank}.jsonl", rank=rank, shift=0.1 * rank) for rank in range(2)]
    samples = [json.loads(line) for line in paths[1].open()]
    for one in samples[3:]:
        one["cpu"]["process_memory_source"] = "rss"
    samples[-1]["cpu"].update(process_memory_source=None, process_memory_mib=None)
    recordings.write(paths[1], samples)
    assert [one["cpu"]["process_memory_source"] for one in combine(*paths)] == ["pss"] * 3 + ["rss"] * 4 + ["pss"]


def test_every_host_counts(combine, tmp_path):
    samples = combine(*[part(tmp_path / f"{rank}.jsonl", rank=rank, host=f"node-{rank // 2}") for rank in range(4)])
    assert {sample["memory"]["total_mib"] for sample in samples} == {8192.0}
    assert {sample["cpu"]["process_cores_used"] for sample in samples} == {4.0}
    assert samples[0]["run_start"]["cpu_count"] == 16 and samples[0]["host"] == "2 hosts"


def test_a_recording_that_names_no_host_is_of_the_only_one_that_others_name(combine, tmp_path):
    """CSV has no column for it: the machine of a CSV and a JSONL counted twice, as "2 hosts"."""
    paths = [part(tmp_path / f"{rank}.jsonl", rank=rank) for rank in range(2)]
    samples = [json.loads(line) for line in paths[0].open()]
    for one in samples:
        one["host"] = None
    recordings.write(paths[0], samples)
    combined = combine(*paths)
    assert {sample["memory"]["total_mib"] for sample in combined} == {4096.0}
    assert {sample["cpu"]["process_cores_used"] for sample in combined} == {2.0}
    assert {sample["host"] for sample in combined} == {None}
    elsewhere = part(tmp_path / "2.jsonl", rank=2, host="elsewhere")
    assert combine(*paths, elsewhere)[0]["host"] == "3 hosts"


def test_a_recording_of_the_host_and_those_of_processes_alone(combine, tmp_path):
    """Combines a recording of the host and some of processes: in any order, the machine counts once and each process
    once.
    """
    host, *ranks = [[json.loads(line) for line in part(tmp_path / f"{i}.jsonl", rank=i).read_text().splitlines()] for i in range(3)]
    for one in host:
        one["cpu"] = {name: value for name, value in one["cpu"].items() if not name.startswith("process_")}
        one["tracked_pid"] = None
    for samples in ranks:
        for one in samples:
            one["cpu"] = {name: value for name, value in one["cpu"].items() if name.startswith("process_")}
            one["memory"] = one["totals"] = None
    files = [recordings.write(tmp_path / f"{i}.jsonl", samples) for i, samples in enumerate([host, *ranks])]
    for order in (files, files[::-1]):
        samples = combine(*order)
        assert len(samples) == 8
        for one in samples:
            assert one["cpu"]["process_cores_used"] == 2.0 and one["cpu"]["utilization_pct"] == 1.5
            assert one["memory"]["total_mib"] == 4096.0 and one["totals"]["disk_read_bytes"] == 5000
        assert samples[0]["run_start"]["cpu_count"] == 8


def test_gpus_of_all_ranks_are_there_once(combine, run, tmp_path):
    """Ranks 0 and 1 share GPU-a of one machine, rank 2 sees GPU-b of it, and rank 3 is on another machine."""
    files = []
    for rank, (host, uuid) in enumerate([("node-1", "GPU-a"), ("node-1", "GPU-a"), ("node-1", "GPU-b"), ("node-2", "GPU-a")]):
        samples = [json.loads(line) for line in part(tmp_path / f"{rank}.jsonl", rank=rank, host=host).read_text().splitlines()]
        for one in samples:
            one["gpu"] = [{"uuid": uuid, "utilization_pct": 50.0, "vram_total_bytes": 1 << 30, "vram_used_bytes": 1 << 20}]
            one["cpu"]["process_gpu_usage"] = 0.25
        files.append(recordings.write(tmp_path / f"{rank}.jsonl", samples))
    for one in combine(*files):
        assert sorted(gpu["uuid"] for gpu in one["gpu"]) == ["GPU-a", "GPU-a", "GPU-b"]
        assert {gpu["utilization_pct"] for gpu in one["gpu"]} == {50.0} and one["cpu"]["process_gpu_usage"] == 1.0
    gpu = json.loads(run("summary", "--json", tmp_path / "all.jsonl").out)["gpu"]
    assert (gpu["count"], gpu["memory_total_mib"], gpu["mean"]) == (3, 3072.0, 1.0)


def test_a_machine_that_joins_later_counts_among_those_there_were(combine, tmp_path):
    samples = combine(part(tmp_path / "a.jsonl", count=4), part(tmp_path / "b.jsonl", rank=1, host="node-2", shift=2.0, count=4))
    assert samples[0]["run_start"]["cpu_count"] == 16 and samples[0]["run_start"]["memory_total_mib"] == 8192.0
    assert [one["memory"]["total_mib"] for one in samples] == [4096.0, 4096.0, 8192.0, 8192.0, 4096.0, 4096.0]
    assert {one["job_name"] for one in samples} == {"demo"}


def test_parts_that_begin_later_or_end_earlier_count_while_they_run(combine, tmp_path):
    samples = combine(part(tmp_path / "a.jsonl", count=8), part(tmp_path / "b.jsonl", rank=1, shift=4.0, count=8))
    assert [sample["cpu"]["process_cores_used"] for sample in samples] == [1.0] * 4 + [2.0] * 4 + [1.0] * 4
    assert sum(sample["cpu"]["process_disk_read_bytes"] for sample in samples) == 16 * 4096
    assert [sample["totals"]["net_recv_bytes"] for sample in samples] == [100] * 12


@pytest.mark.parametrize("sources, combined, words", [
    (("sockets", "sockets"), "sockets", "received 2.00 MiB, sent 20.0 KiB over 2 TCP connections"),
    (("sockets", "bound"), "bound", "received 2.00 MiB"),
    (("sockets", "namespace"), "mixed", "received 2.00 MiB"),
])
def test_the_network_is_told_as_it_was_counted(combine, run, tmp_path, sources, combined, words):
    """The source was lost, and connections of ranks were told as traffic of "the job's own network namespace"."""
    parts = []
    for i, source in enumerate(sources):
        path = part(tmp_path / f"{i}.jsonl", rank=i)
        samples = [json.loads(line) for line in path.open()]
        for one in samples:
            one["cpu"].update(process_net_recv_bytes=1 << 17, process_net_sent_bytes=1280, process_net_source=source)
        samples[-1]["run_end"].update(net_recv_bytes=1 << 20, net_sent_bytes=10240, net_recv_bound_bytes=1 << 20, net_sent_bound_bytes=10240,
                                      net_connections=1, net_source=source)
        parts.append(recordings.write(path, samples))
    samples = combine(*parts)
    assert samples[-1]["cpu"]["process_net_source"] == samples[-1]["run_end"]["net_source"] == combined
    assert (samples[-1]["run_end"]["net_recv_bytes"], samples[-1]["run_end"]["net_connections"]) == (2 << 20, 2)
    text = run("summary", tmp_path / "all.jsonl").out
    assert words in text and ("own network namespace" in text) == (combined == "mixed"), text


def test_the_worst_end_is_the_end(combine, tmp_path):
    a, b = part(tmp_path / "a.jsonl"), part(tmp_path / "b.jsonl", rank=1, end={"exit_code": 3})
    assert combine(a, b)[-1]["run_end"]["exit_code"] == 3
    killed = part(tmp_path / "c.jsonl", rank=2, end={"reason": "oom_kill_confirmed", "signal": 9, "exit_code": None})
    assert combine(a, b, killed)[-1]["run_end"]["reason"] == "oom_kill_confirmed"
    assert combine(a, part(tmp_path / "d.jsonl", rank=3, end=False))[-1]["run_end"] is None


def changed(path, **groups):
    """Changes some groups of values in each sample of a recording, and in run_start."""
    samples = [json.loads(line) for line in path.open()]
    for one in samples:
        for group, values in groups.items():
            if group == "run_start":
                if one[group]:
                    one[group].update(values)
            else:
                one[group] = {**(one.get(group) or {}), **values}
    return recordings.write(path, samples)


def test_metadata_that_all_parts_share_is_kept(combine, tmp_path):
    same = {"kernel": "6.1", "cpu_model": "X", "container_image": "img:1", "tags": {"a": "b", "team": "x"},
            "scheduler": {"SLURM_JOB_ID": "7", "SLURM_NTASKS": "2"}}
    a = changed(part(tmp_path / "a.jsonl"), run_start={**same, "scheduler": {**same["scheduler"], "SLURM_PROCID": "0"}})
    b = changed(part(tmp_path / "b.jsonl", rank=1),
                run_start={**same, "task_name": "other", "scheduler": {**same["scheduler"], "SLURM_PROCID": "1"}})
    start = combine(a, b)[0]["run_start"]
    assert {key: start[key] for key in same} == same and start["executable"] == "make"
    assert start["memory_limit_mib"] == 512.0 and start["task_name"] is None and start["mode"] == "combined"


def test_limits_that_agree_are_kept_on_a_host_and_summed_over_hosts(combine, tmp_path):
    limit = {"cpu_limit_cores": 2.0, "memory_limit_mib": 512.0, "cpuset_cores": 4}
    parts = [changed(part(tmp_path / f"{i}.jsonl", rank=i, host=f"node-{i // 2}"), limits=limit) for i in range(4)]
    assert combine(*parts[:2])[3]["limits"] == limit
    assert combine(*parts)[3]["limits"] == {"cpu_limit_cores": 4.0, "memory_limit_mib": 1024.0, "cpuset_cores": 8}
    changed(parts[1], limits={"cpu_limit_cores": None})
    assert combine(*parts[:2])[3]["limits"] == {**limit, "cpu_limit_cores": None}


def test_ranks_short_of_cpu_are_not_idle_when_combined(combine, run, tmp_path):
    """Each rank got half a core of the two that its group may use, and waited for the other half."""
    stalls = {"cpu_some_secs": 0.9, "source": "cgroup"}
    parts = [changed(part(tmp_path / f"{i}.jsonl", rank=i, cores=0.5), pressure=stalls,
                     cgroup={"throttled_periods": 9, "throttled_secs": 0.8}) for i in range(2)]
    parts.append(changed(part(tmp_path / "2.jsonl", rank=2, cores=0.5), pressure={"cpu_some_secs": 1.0, "source": "host"}))
    sample = combine(*parts)[3]
    assert sample["pressure"]["cpu_some_secs"] == 0.9 and sample["pressure"]["source"] == "cgroup"
    assert (sample["cgroup"]["throttled_periods"], sample["cgroup"]["throttled_secs"]) == (9, 0.8)
    text = run("summary", tmp_path / "all.jsonl").out
    assert "short of CPU for" in text and "idle" not in text


def test_four_ranks_of_one_process_are_four_processes(combine, run, tmp_path):
    parts = []
    for i in range(4):
        path = part(tmp_path / f"{i}.jsonl", rank=i)
        samples = [json.loads(line) for line in path.open()]
        for one in samples:
            one["cpu"].update(process_child_count=0, process_thread_count=1)
        parts.append(recordings.write(path, samples))
    assert {one["cpu"]["process_child_count"] for one in combine(*parts)} == {3}
    assert "at most 4 at a time, 4 threads" in run("summary", tmp_path / "all.jsonl").out


def test_the_same_recording_twice_is_refused(run, tmp_path):
    a = part(tmp_path / "a.jsonl")
    result = run("combine", "-o", tmp_path / "all.jsonl", a, a)
    assert result.returncode == 1 and "twice" in result.err and not (tmp_path / "all.jsonl").exists()


def test_real_ranks_with_their_marks(run, binary, tmp_path):
    for rank in range(2):
        job = f"{binary} mark work start; sleep 0.4; {binary} mark work stop; sleep 0.2"
        run("-i", 0.1, "-o", f"{rank}.jsonl", "--", "sh", "-c", job, env={"PMI_RANK": str(rank)})
    assert run("combine", "-o", "all.jsonl", "0.jsonl", "1.jsonl").returncode == 0
    answer = json.loads(run("regions", "--json", "all.jsonl").out)
    assert [(one["name"], one["num_calls"]) for one in answer["code_block_results"]] == [("work", 2)]
    whole = [json.loads(run("summary", "--json", name).out)["time"]["cpu_secs"] for name in
             ("0.jsonl", "1.jsonl", "all.jsonl")]
    assert whole[2] == pytest.approx(whole[0] + whole[1], abs=1e-5)


@pytest.mark.parametrize("arguments, status", [([], 2), (["missing"], 1), (["empty"], 1)])
def test_bad_input_is_one_clear_line(run, tmp_path, arguments, status):
    (tmp_path / "empty").touch()
    result = run("combine", *arguments)
    assert result.returncode == status and result.err and not result.out


def test_a_time_that_no_count_holds_leaves_the_whole_seconds_unknown(combine, tmp_path):
    path = part(tmp_path / "a.jsonl", count=1, end=False)
    beyond = recordings.write(path, [dict(json.loads(path.read_text()), timestamp=None, timestamp_secs=2**63 - 1)])
    one, = combine(beyond)
    assert (one["timestamp"], one["timestamp_secs"]) == (2**63, None)
