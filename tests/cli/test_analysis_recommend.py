"""recommend: every rule against recordings of which the right answer is known."""
import json
import sqlite3

import pytest

import recordings

LIMITS, NO_LIMITS, make = recordings.LIMITS, recordings.NO_LIMITS, recordings.steady


def advice(run, *arguments):
    result = run("recommend", "--json", *arguments)
    assert result.returncode == 0, result.err
    return json.loads(result.out)


def rules(answer):
    return [note["rule"] for note in answer["notes"]]


@pytest.mark.parametrize("cores, cpu", [(0.27, 1), (0.0, 1), (1.5, 2), (2.5, 2), (2.51, 3), (3.5, 4), (3.4, 3)])
def test_cores_are_the_mean_rounded_half_to_even(run, tmp_path, cores, cpu):
    assert advice(run, make(tmp_path / "x.jsonl", cores=cores))["cpu"] == cpu


def test_a_moment_at_the_start_or_end_counts_as_a_moment(run, tmp_path):
    """Samples of 1, 59 and 1 s, as a minute's interval gives: six cores for nearly all of the time are not two."""
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
    assert notes["host_shared"] == "others used the machine too: of 12345 MiB of memory in use, 1500 were its own"
    assert notes["throttled"] == "the CPU limit held it back for 1 h 6 min, summed over its CPUs, in 8.00 s"


def with_short_end(path, cores, last):
    """Three seconds of `cores`, and a last sample of a millisecond."""
    samples = [recordings.sample(i, cores=cores, start=NO_LIMITS if i == 0 else None) for i in range(3)]
    samples.append(recordings.sample(3, secs=3.001, cores=last, memory=None, actual_interval_ms=1.0,
                                     end=dict(recordings.END, wall_secs=3.001)))
    return recordings.write(path, samples)


def test_what_slept_used_little_and_not_nothing(run, tmp_path):
    path = with_short_end(tmp_path / "x.jsonl", 0.0002, 0.0)
    assert "it used < 0.001 cores on average, at most < 0.001\n" in run("recommend", path).out


def test_long_runs_are_told_in_hours_and_gibibytes_without_exponents(run, tmp_path):
    samples = [recordings.sample(i, secs=18000.0 * (i + 1), cores=1.0, start=NO_LIMITS if i == 0 else None,
                                 actual_interval_ms=18000000.0, end=dict(recordings.END, wall_secs=36000.0) if i else None)
               for i in range(2)]
    for one in samples:
        one["pressure"] = {"cpu_some_secs": 9000.0, "io_some_secs": 9000.0, "source": "cgroup"}
        one["cpu"]["utilization_pct"] = 1.0
        one["memory"]["used_mib"] = 43210.0
    notes = {note["rule"]: note["text"] for note in advice(run, recordings.write(tmp_path / "x.jsonl", samples))["notes"]}
    assert notes["cpu_starved"].startswith("it waited for a CPU for 5 h of 10 h: ")
    assert notes["io_bound"] == "it waited for I/O for 5 h of 10 h"
    assert notes["host_shared"] == "others used the machine too: of 43210 MiB of memory in use, 100 were its own"


@pytest.mark.parametrize("peak, memory", [
    (1, 128), (106, 128), (107, 256), (250, 512), (630.55, 1024), (853, 1024), (1706, 2048), (1707, 3072),
    (2560, 3072), (5000, 6144), (10240, 12288)])
def test_memory_is_the_peak_and_a_fifth_in_steps(run, tmp_path, peak, memory):
    assert advice(run, make(tmp_path / "x.jsonl", memory=float(peak)))["memory"] == memory


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
    assert answer["memory"] == 4096
    assert answer["evidence"]["memory"]["sampled_peak_mib"] == 100.0
    assert answer["evidence"]["memory"]["largest_process_peak_mib"] == 3000.0


def test_an_oom_kill_raises_the_floor_above_what_it_had(run, tmp_path):
    start = dict(NO_LIMITS, memory_limit_mib=4096.0)
    path = make(tmp_path / "x.jsonl", memory=1000.0, start=start, limits=dict(LIMITS, memory_limit_mib=4096.0),
                end={"reason": "oom_kill_confirmed", "signal": 9, "exit_code": None, "oom_kills": 1})
    answer = advice(run, path)
    assert answer["memory"] == 5120 and answer["evidence"]["memory"]["oom_floor_mib"] == pytest.approx(4915.2)
    assert "oom" in rules(answer)
    # Also when a later run that used less is asked about.
    assert advice(run, make(tmp_path / "y.jsonl"), path)["memory"] == 5120


def test_history_averages_means_and_keeps_peaks(run, tmp_path):
    runs = [make(tmp_path / f"{i}.jsonl", cores=cores, memory=memory) for i, (cores, memory) in
            enumerate([(1.0, 100.0), (2.0, 900.0), (6.0, 300.0)])]
    answer = advice(run, *runs)
    assert (answer["cpu"], answer["memory"], answer["runs"]) == (3, 2048, 3)
    stats = tmp_path / "stats.json"
    stats.write_text(run("stats", "--json", runs[2]).out)
    assert advice(run, runs[0], runs[1], "--history", stats)["cpu"] == 3


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


@pytest.mark.parametrize("rule, figures, other", [
    ("idle_cores", {"cores": 1.0, "start": START4}, {"cores": 2.5, "start": START4}),
    ("cpu_bound", {"cores": 3.8, "start": START4}, {"cores": 3.0, "start": START4}),
    ("idle_cores", {"cores": 1.0, "start": START4, "others": 1.9}, {"cores": 1.0, "start": START4, "others": 2.1}),
    ("cpu_starved", {"pressure": {"cpu_some_secs": 0.25, "source": "cgroup"}, "start": START4},
     {"pressure": {"cpu_some_secs": 0.25, "source": "host"}, "start": START4}),
    ("cpu_starved", {"pressure": {"cpu_some_secs": 0.25, "source": "cgroup"}, "start": START4},
     {"pressure": {"cpu_some_secs": 0.25, "source": "cgroup"}, "cores": 4.0, "start": START4}),
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
    ("failed", {"end": {"exit_code": 3}}, {}),
    ("cut_short", {"end": {"exit_code": None, "reason": "duration"}}, {"end": {"exit_code": None, "reason": "target_exited"}}),
    ("cut_short", {"end": {"exit_code": None, "reason": "tracker_stopped"}}, {}),
])
def test_each_note_is_given_when_it_is_so_and_not_otherwise(run, tmp_path, rule, figures, other):
    for values, expected in ((dict(figures), True), (dict(other), False)):
        swap, gpus, others = values.pop("swap", None), values.pop("gpus", 0), values.pop("others", None)
        peak = values.pop("peak", None)
        path = make(tmp_path / "x.jsonl", **values)
        samples = [json.loads(line) for line in path.read_text().splitlines()]
        if peak:
            samples[-1]["cpu"]["process_memory_mib"] = peak
        for one in samples:
            one["cpu"]["process_swap_mib"] = swap
            one["gpu"] = [{"uuid": "GPU-1", "utilization_pct": 10.0, "vram_total_bytes": 1 << 30}] * gpus
            if others is not None:
                one["cpu"]["utilization_pct"] += others
        answer = advice(run, recordings.write(path, samples))
        assert (rule in rules(answer)) == expected, (rule, answer["notes"])
        if rule == "host_shared":
            assert answer["allocation"] == ("shared" if others else "dedicated")


@pytest.mark.parametrize("form, text", [
    ("slurm", "#SBATCH --cpus-per-task=2\n#SBATCH --mem=1024M\n#SBATCH --gpus=1\n"),
    ("kubernetes", 'resources:\n  requests:\n    cpu: "2"\n    memory: 1024Mi\n  limits:\n    memory: 1024Mi\n'
                   "    nvidia.com/gpu: 1\n"),
    ("docker", "docker run --cpus=2 --memory=1024m --gpus=1\n"),
    ("nextflow", "cpus 2\nmemory '1024 MB'\naccelerator 1\n"),
    ("snakemake", "threads: 2\nresources:\n    mem_mb=1074,\n    gpu=1\n"),
    ("metaflow", "@resources(cpu=2, memory=1024, gpu=1)\n"),
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


def test_asking_nobody_is_said_with_what_would_have_been_asked(run, tmp_path):
    result = run("recommend", "--server", "--json", make(tmp_path / "x.jsonl"),
                 env={"KEEPER_API_URL": "http://127.0.0.1:9"})
    assert result.returncode == 0
    answer = json.loads(result.out)
    assert answer["cpu"] == 1 and answer["server"]["problem"] and answer["server"]["asked"]


def test_a_real_recording(run, tmp_path):
    run("-i", 0.25, "-o", tmp_path / "real.jsonl", "--", "sh", "-c", "sleep 1.2")
    answer = advice(run, tmp_path / "real.jsonl")
    assert (answer["cpu"], answer["memory"], answer["refused"]) == (1, 128, None)
    text = run("recommend", tmp_path / "real.jsonl").out
    assert text.startswith("What to ask for next time\n  CPU      1 ") and "128 MiB" in text


@pytest.mark.parametrize("arguments, status, part", [
    ([], 2, "name a recording"), (["missing.jsonl"], 1, "missing.jsonl"), (["--for", "pbs", "x.jsonl"], 1, "slurm"),
    (["--price", "cheap", "x.jsonl"], 2, "cheap"), (["--server-filter", "aws", "x.jsonl"], 2, "aws"),
    (["--catalogue", "x.jsonl", "x.jsonl"], 1, "x.jsonl"), (["empty.jsonl"], 1, "empty.jsonl"), (["-"], 1, "file"),
])
def test_bad_input_is_one_clear_line(run, tmp_path, arguments, status, part):
    make(tmp_path / "x.jsonl")
    (tmp_path / "empty.jsonl").touch()
    result = run("recommend", *arguments)
    assert result.returncode == status and part in result.err.splitlines()[0] and not result.out
