"""Recordings made by hand, whose every number is known."""
import json


def sample(number, *, secs=None, cores=1.0, memory=100.0, start=None, end=None, timestamp=1_700_000_000.5, **more):
    """Returns a sample in the shape of the catalogue, with the values that analyses use."""
    elapsed = number + 1.0 if secs is None else secs
    value = {
        "timestamp_secs": int(timestamp + elapsed), "timestamp": timestamp + elapsed, "elapsed_secs": elapsed,
        "actual_interval_ms": 1000.0, "sample": number, "missed_ticks": 0, "host": "node-1", "rank": None,
        "job_name": "demo", "tracked_pid": 42,
        "cpu": {"utilization_pct": cores + 0.5, "utime_secs": cores * 0.75, "stime_secs": cores * 0.25,
                "process_count": 99, "per_core_pct": [50.0, 25.0], "process_cores_used": cores,
                "process_child_count": 2, "process_utime_secs": cores * 0.75, "process_stime_secs": cores * 0.25,
                "process_memory_mib": memory, "process_pss_mib": memory,
                "process_rss_mib": None if memory is None else memory * 1.5,
                "process_private_mib": None if memory is None else memory * 0.75,
                "process_disk_read_bytes": 4096, "process_disk_write_bytes": 8192, "process_gpu_usage": 0.0,
                "process_gpu_vram_mib": 0.0, "process_gpu_utilized": 0, "process_thread_count": 5,
                "process_main_utime_secs": cores * 0.25, "process_main_stime_secs": 0.0,
                "process_main_rss_mib": None if memory is None else memory * 0.5, "process_main_thread_count": 1,
                "process_main_gpu_vram_mib": 0.0, "process_memory_source": "pss"},
        "memory": {"total_mib": 4096.0, "used_mib": 1024.0, "free_mib": 1000.0, "available_mib": 3072.0,
                   "buffers_mib": 24.0, "cached_mib": 2048.0, "active_mib": 500.0, "inactive_mib": 400.0},
        "network": [{"interface": "eth0", "rx_bytes_per_sec": 100.0, "tx_bytes_per_sec": 50.0,
                     "rx_bytes_total": 1000 + 100 * number, "tx_bytes_total": 500 + 50 * number}],
        "disk": [{"device": "sda", "read_bytes_per_sec": 4096.0, "write_bytes_per_sec": 8192.0,
                  "mounts": [{"mount_point": "/", "used_pct": 12.5}]}],
        "gpu": [],
        "totals": {"disk_read_bytes": 5000, "disk_write_bytes": 9000, "disk_space_total_gb": 100.0,
                   "disk_space_used_gb": 40.25, "disk_space_free_gb": 59.75, "net_recv_bytes": 100,
                   "net_sent_bytes": 50, "gpu_usage": 0.0, "gpu_vram_mib": 0.0, "gpu_utilized": 0},
        "limits": {"cpu_limit_cores": 2.0, "memory_limit_mib": 512.0, "cpuset_cores": 4},
        "cgroup": {"throttled_periods": 1, "throttled_secs": 0.125, "oom_kills": 0},
        "pressure": {"cpu_some_secs": 0.0, "source": "cgroup"},
        "tracker": {"cpu_secs": 0.001, "rss_mib": 2.5, "sample_ms": 0.25, "dropped_samples": 0, "helpers": 0},
        "run_start": start, "run_end": end, "resource-tracker-version": "0.1.0",
    }
    value.update(more)
    return value


START = {"schema_version": 1, "cpu_count": 8, "memory_total_mib": 4096.0, "cpu_limit_cores": 2.0,
         "memory_limit_mib": 512.0, "cpuset_cores": 4, "executable": "make", "argument_count": 2, "mode": "wrap",
         "interval_secs": 1.0, "children": True, "tags": {"a": "b"}, "scheduler": {}, "gpu_names": []}
END = {"reason": "exit", "evidence": "wait status: exit code 3", "exit_code": 3, "signal": None, "utime_secs": 9.0,
       "stime_secs": 3.0, "wall_secs": 8.0, "memory_peak_mib": 256.0, "memory_peak_source": "pss",
       "memory_peak_elapsed_secs": 6.5, "largest_process_peak_mib": 130.0, "cgroup_memory_peak_mib": 400.0,
       "descendants_running": 0, "oom_kills": 0, "signals": []}

FIRST_FAILURE = {"program": "cc1", "pid": 44, "exit_code": None, "signal": 11, "core_dumped": True, "out_of_memory": None, "elapsed_secs": 7.5,
                 "cpu_secs": 2.25, "memory_mib": 300.5, "sample_age_secs": 0.5, "parents": "make (exit status 2) > gcc (exit status 1)",
                 "before_end_secs": 0.5, "certainty": "probably", "other_program": "as", "other_pid": 45}


def eight_samples():
    """Returns samples with 0.5, 1.0, ... 4.0 cores and 25, 50, ... MiB. The last has no memory: the job has gone."""
    return [sample(i, cores=0.5 * (i + 1), memory=25.0 * (i + 1) if i < 7 else None, start=START if i == 0 else None,
                   end=END if i == 7 else None) for i in range(8)]


def lines(samples):
    return "".join(json.dumps(one, separators=(",", ":")) + "\n" for one in samples)


def write(path, samples):
    path.write_text(lines(samples))
    return path


def write_marks(recording, begin, marks):
    """Writes marks beside a recording: (start or stop, phase, seconds after `begin`)."""
    recording.with_name(recording.name + ".marks").write_text(lines([
        {"timestamp_ns": int((begin + secs) * 1e3) * 10**6, "event": event, "name": phase, "id": None, "pid": 1, "host": "h"}
        for event, phase, secs in marks]))


LIMITS = {"cpu_limit_cores": None, "memory_limit_mib": None, "cpuset_cores": None}
NO_LIMITS = dict(START, **LIMITS)


def steady(path, *, cores=1.0, memory=100.0, count=8, end=None, start=None, gpu=0.0, vram=0.0, **more):
    """Writes a run of `count` seconds with the same figures in every sample. `end`: changes to run_end, or None for
    no end.
    """
    samples = []
    for i in range(count):
        one = sample(i, cores=cores, memory=memory, start=(start or NO_LIMITS) if i == 0 else None)
        one["cpu"].update(process_gpu_usage=gpu, process_gpu_vram_mib=vram, utilization_pct=cores)
        one["memory"]["used_mib"] = memory
        one["limits"] = dict(LIMITS)
        one["cgroup"] = {"throttled_periods": 0, "throttled_secs": 0.0, "oom_kills": 0}
        for group, values in more.items():
            one[group] = values
        samples.append(one)
    if end is not False:
        samples[-1]["run_end"] = {**END, "exit_code": 0, "wall_secs": float(count), "utime_secs": cores * count,
                                  "stime_secs": 0.0, "memory_peak_mib": memory, "largest_process_peak_mib": memory / 2,
                                  **(end or {})}
    return write(path, samples)


SYSTEM_COLUMNS = ("timestamp,processes,utime,stime,cpu_usage,memory_free_mib,memory_used_mib,memory_buffers_mib,"
                  "memory_cached_mib,memory_active_mib,memory_inactive_mib,disk_read_bytes,disk_write_bytes,"
                  "disk_space_total_gb,disk_space_used_gb,disk_space_free_gb,net_recv_bytes,net_sent_bytes,gpu_usage,"
                  "gpu_vram_mib,gpu_utilized").split(",")
PROCESS_COLUMNS = ("timestamp,pid,children,utime,stime,cpu_usage,memory_mib,disk_read_bytes,disk_write_bytes,gpu_usage,"
                   "gpu_vram_mib,gpu_utilized").split(",")

# The line of a run that ended well: 100 s, 2 cores, 1000 MiB of 4000 asked for (docs/FLEET.md).
RUN_LINE = {"schema": 1, "id": "run-0", "outcome": "ok", "name": "train", "task": None, "job_name": "train", "host": "node-1", "rank": None,
            "tags": {"team": "blue"}, "scheduler": {}, "scheduler_job": None, "started": 1_700_000_000.0, "ended": 1_700_000_100.0, "wall_secs": 100.0,
            "exit_code": 0, "signal": None, "cpu_secs": 200.0, "cores_mean": 2.0, "cores_max": 2.0, "cores_p95": 2.0, "cores_limit": 8.0,
            "cores_limit_source": "machine", "cores_asked": 4.0, "memory_asked_mib": 4096.0, "memory_peak_mib": 1024.0,
            "memory_limit_mib": 64000.0, "memory_limit_source": "machine", "oom_had_mib": None, "oom_next_mib": None,
            "memory_needed_mib": 1024.0, "memory_kernel_mib": 1.0, "cores_needed": 2.0, "gpu_max": 0.0, "gpu_memory_max_mib": 0.0,
            "says_little": None}


def advice(run, *arguments):
    """Returns the answer of `recommend --json`."""
    result = run("recommend", "--json", *arguments)
    assert result.returncode == 0, result.err
    return json.loads(result.out)


def rules(answer):
    return [note["rule"] for note in answer["notes"]]
