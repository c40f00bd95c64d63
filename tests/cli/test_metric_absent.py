"""Every metric of the catalogue is null, with a reason, where its source is missing.

A new metric must be null on a machine without files (`nothing`), or stand in another case of CASES, or in ALWAYS with the reason why it
is never null.
"""
import fnmatch
import json
import subprocess

import pytest

import exact
from conftest import json_lines
from gpu import stay_until

# Metrics that can never be null.
ALWAYS = {
    "timestamp": "the clock of the kernel needs no file", "timestamp_secs": "as timestamp",
    "elapsed_secs": "as timestamp", "actual_interval_ms": "as timestamp", "run_end.wall_secs": "as timestamp",
    "tracker.cpu_secs": "as timestamp", "tracker.sample_ms": "as timestamp",
    "host": "uname(2) needs no file",
    "sample": "the recorder counts it", "missed_ticks": "the recorder counts it",
    "tracker.dropped_samples": "the recorder counts it", "tracker.helpers": "the recorder counts it",
    "run_end.samples": "the recorder counts it", "run_end.missed_ticks": "the recorder counts it",
    "run_end.dropped_samples": "the recorder counts it",
    "run_end.reason": "the recorder decides it", "run_end.evidence": "as run_end.reason, where the recorder itself ends the run",
    "run_start.schema_version": "a constant", "run_start.run_id": "the recorder makes it",
    "run_start.figures_from": "it names the files that are missing",
    "run_start.mode": "a setting with a default", "run_start.interval_secs": "a setting with a default",
    "run_start.children": "a setting with a default", "run_start.aligned": "a setting with a default",
    "run_start.tags.*": "an empty map says that none was given", "run_start.scheduler.*": "an empty map says that none was found",
    "run_end.signals.*": "an empty list says that none was passed on",
}

# Reasons that name no missing source: no collector set the metric, or it needs a second sample.
NO_REASON = ("not measured here", "needs an earlier sample", "switched off by an option")

STAT_ALONE = ("100 (job) S 1 100 100 0 -1 4194560 10 0 0 0 5 5 0 0 20 0 1 0 100 10000000 100 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 "
              "17 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n")


@pytest.fixture
def record_reasons(run, binary, tmp_path):
    """record_reasons(*arguments) returns the samples, and the reasons by the names of metrics and groups. `refuse` is a call to refuse."""

    def record(*arguments, refuse=None, env=None):
        path = tmp_path / "run.jsonl"
        program = exact.build_workload(binary, tmp_path, "refuse") if refuse else binary
        if refuse and subprocess.run([program, "kcmp", "1", "true"]).returncode:
            pytest.skip("no filters of system calls here")
        before = [*refuse, binary] if refuse else []
        done = run(*before, "-q", "--no-summary", "--why", "-o", path, *arguments, program=program, env=env)
        assert done.returncode == 0, done.err
        lines = [line.split(": ", 3)[2:] for line in done.err.splitlines() if ": null: " in line]
        return json_lines(path), {name.split(" (")[0]: reason for name, reason in lines}

    return record


def nothing(record, folder, _nvml):
    """A machine without a file, and no job."""
    return record("--root", folder, "-i", 1, "--duration", 0.3)


def gpus_without_sys(record, folder, _nvml):
    """Device files of GPUs, of which /sys tells nothing."""
    (folder / "dev" / "dri").mkdir(parents=True)
    return record("--root", folder, "-i", 1, "--duration", 0.3)


def files_without_lines(record, folder, _nvml):
    """All files are there, and lack what is read in them."""
    files = {
        "proc/meminfo": "MemTotal: 1000 kB", "proc/stat": "cpu0 1 2 3 4", "proc/diskstats": "8 0 sda 1 2 3 4 5 6 7 8 9 10 11",
        "proc/net/dev": " eth0: 1", "proc/self/mountinfo": "22 1 0:21 / /sys/fs/cgroup rw - cgroup2 cgroup rw",
        "proc/100/stat": STAT_ALONE, "proc/100/cgroup": "0::/j", "sys/class/powercap/intel-rapl:0/name": "package-0",
        "dev/dri/renderD128": "", "sys/class/drm/renderD128/device/uevent": "DRIVER=amdgpu\nPCI_SLOT_NAME=0000:03:00.0",
        "sys/class/block/sda/device/model": "",
    }
    empty = [*(f"proc/{name}" for name in ("loadavg", "cpuinfo", "pressure/cpu", "pressure/io", "pressure/memory")),
             *(f"proc/100/{name}" for name in ("statm", "io", "status", "schedstat", "smaps_rollup")),
             *(f"sys/fs/cgroup/j/{name}" for name in ("memory.current", "memory.peak", "memory.stat", "memory.events", "memory.numa_stat",
                                                      "cpu.stat", "cpu.pressure", "memory.pressure", "io.pressure", "io.stat")),
             "sys/class/block/sda/size", "sys/devices/system/node/node0/meminfo", "sys/devices/system/node/node1/meminfo",
             "sys/class/powercap/intel-rapl:0/energy_uj", "sys/class/net/eth0/mtu"]
    for path, text in {**dict.fromkeys(empty, ""), **files}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text + "\n")
    return record("--root", folder, "--pid", 100, "-i", 0.5, "--duration", 1.2)


def process_without_files(record, folder, _nvml):
    """Of the job's files, only stat can be read."""
    (folder / "proc" / "100").mkdir(parents=True)
    (folder / "proc" / "100" / "stat").write_text(STAT_ALONE)
    return record("--root", folder, "--pid", 100, "-i", 1, "--duration", 0.3)


def driver_without_readings(record, _folder, nvml):
    """NVML lists a device and the job on it, and knows nothing of them."""
    nvml.say("gpus 1", "all_bits 32")
    recording = nvml.path.with_name("run.jsonl")
    job = f"printf 'process 0 %d c 300 25\\n' $$ >>{nvml.path}; " + stay_until(recording, '"processes":[{', samples=3)
    return record("-i", 0.3, "--", "sh", "-c", job, env=nvml.env())


def sockets_refused(record, _folder, _nvml):
    """The kernel gives no netlink socket."""
    return record("-i", 1, "--", "true", refuse=["socket", "1"])


def job_of_another(record, _folder, _nvml):
    """The job is the child of another process, so wait4(2) tells nothing of it."""
    job = subprocess.Popen(["sleep", "30"])
    try:
        return record("-i", 1, "--pid", job.pid, "--duration", 0.3)
    finally:
        job.kill()
        job.wait()


GPU_READINGS = ("gpu.*_pct", "gpu.vram_*", "gpu.temperature_celsius", "gpu.power_*", "gpu.energy_*", "gpu.*frequency_mhz",
                "gpu.performance_state", "gpu.throttle_reasons", "gpu.*_per_sec", "gpu.ecc_*", "gpu.core_count", "gpu.process_vram_bytes",
                "gpu.unattributed_vram_bytes", "gpu.processes.*_pct", "gpu.processes.vram_bytes", "totals.gpu_*", "cpu.process_gpu_*",
                "programs.gpu_vram_mib")

# Each case with the metrics that must be null there; "!" in front takes some out again.
CASES = {
    nothing: ["*", "!gpu.*", "!totals.gpu_*", "!run_start.gpu_names", *(f"!{name}" for name in ALWAYS)],
    gpus_without_sys: ["gpu.*", "totals.gpu_*", "run_start.gpu_names"],
    files_without_lines: ["memory.*", "!memory.total_mib", "cpu.*", "!cpu.process_*", "numa.*", "!numa.node", "energy.*", "!energy.zone",
                          "network.*", "!network.interface", "!network.rx_*", "disk.model", "disk.vendor", "disk.serial", "disk.device_type",
                          "disk.capacity_bytes", "cgroup.*", "!cgroup.oom_kills", "pressure.*_secs", "totals.net_sent_bytes", "totals.gpu_*",
                          "gpu.*_pct", "!gpu.process*", "gpu.vram_*", "gpu.power_*", "gpu.temperature_celsius",
                          "cpu.process_disk_*", "cpu.process_*_chars", "cpu.process_cpu_wait*", "cpu.process_*_switches"],
    process_without_files: ["cpu.process_*_mib", "cpu.process_disk_*", "cpu.process_*_chars", "cpu.process_cpu_wait*", "cpu.process_*_switches",
                            "cpu.process_cpu_energy_joules", "cpu.process_memory_source", "!cpu.process_*gpu*", "programs.memory_mib",
                            "programs.disk_*", "programs.*_chars", "job_disk.*", "run_end.tree_cpu_wait*", "run_end.programs.disk_*"],
    driver_without_readings: GPU_READINGS,
    sockets_refused: ["cpu.process_net_*", "run_end.net_*"],
    job_of_another: ["run_end.utime_secs", "run_end.stime_secs", "run_end.*voluntary_switches", "run_end.exit_code", "run_end.signal"],
}


def chosen(names, globs):
    found = set()
    for glob in globs:
        if glob.startswith("!"):
            found -= set(fnmatch.filter(names, glob[1:]))
        else:
            matching = set(fnmatch.filter(names, glob))
            assert matching, f"no metric is named {glob}"
            found |= matching
    return found


def values_at(value, keys):
    """The values below a place; an empty list counts as a value, because it says that there is none."""
    if value is None or not keys:
        return [value]
    if isinstance(value, list):
        return [found for one in value for found in values_at(one, keys)] or [[]]
    return values_at(value.get(keys[0]), keys[1:])


@pytest.fixture(scope="module")
def catalogue(binary):
    return [metric["name"] for metric in json.loads(subprocess.run([binary, "metrics", "--json"], check=True, capture_output=True).stdout)]


def test_each_metric_has_a_case_in_which_it_is_null(catalogue):
    covered = set().union(*(chosen(catalogue, globs) for globs in CASES.values()))
    always = chosen(catalogue, ALWAYS)
    assert sorted(set(catalogue) - covered - always) == []
    assert sorted(covered & always) == []


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_a_metric_without_its_source_is_null_with_a_reason(case, catalogue, record_reasons, nvml, tmp_path):
    folder = tmp_path / "root"
    folder.mkdir()
    samples, reasons = case(record_reasons, folder, nvml)
    wrong = {}
    for name in sorted(chosen(catalogue, CASES[case])):
        values = [value for sample in samples for value in values_at(sample, name.split("."))]
        groups = name.split(".")
        reason = next((reasons[".".join(groups[:n])] for n in range(len(groups), 0, -1) if ".".join(groups[:n]) in reasons), None)
        # The last sample has no run_start in a run of several.
        has_reason = reason not in (None, *NO_REASON) or (name.startswith("run_start.") and len(samples) > 1)
        if any(value is not None for value in values) or not has_reason:
            wrong[name] = values[-1], reason
    assert wrong == {}
