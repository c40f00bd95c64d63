"""NVIDIA GPUs in the program's output, with a fake NVML: devices, processes, selection, unknown values."""
import errno
import os
import pathlib
import sys

import pytest

sys.path.insert(0, os.path.dirname(__file__))
from gpu import Nvml, stay_until
from libc_words import words_of

MIB = 1 << 20


@pytest.fixture
def gpu_record(record, nvml):
    """gpu_record(["gpus 1", ...], *arguments) returns the samples of a run with that script."""

    def start(script, *arguments, env=None, **popen):
        nvml.say(*script)
        return record(*arguments, env=nvml.env(**(env or {})), **popen)

    return start


def on_gpu(nvml, *lines):
    """Returns a job that uses the GPU: its shell adds lines with its own pid to the script, and stays a while."""
    said = "\\n".join(lines)
    return ["--", "sh", "-c", f"printf '{said}\\n' $$ >>{nvml.path}; sleep 0.9"]


def last(samples):
    return samples[-1]


def process_keys(sample):
    return {key: value for key, value in sample["cpu"].items() if "gpu" in key}


# ---- without ---------------------------------------------------------------------------------------------------


def test_without_a_gpu_all_is_zero_and_no_helper_runs(record):
    if any(os.path.exists(path) for path in ("/dev/nvidiactl", "/dev/dxg", "/dev/dri")):
        pytest.skip("this machine has device files of GPUs")
    result, samples = record("-i", 0.1, "--", "sleep", 0.25)
    assert result.err == ""
    for sample in samples:
        assert sample["gpu"] == []
        assert (sample["totals"]["gpu_usage"], sample["totals"]["gpu_vram_mib"]) == (0.0, 0.0)
        assert set(process_keys(sample).values()) == {0}
        assert sample["tracker"]["helpers"] == 0
    assert samples[0]["run_start"]["gpu_names"] == []


def test_no_devices_behind_the_library(gpu_record, tmp_path):
    log = tmp_path / "calls"
    result, samples = gpu_record(["gpus 0", f"log {log}"], "-i", 0.1, "--", "sleep", 2)
    assert result.err == ""
    assert last(samples)["gpu"] == []
    assert last(samples)["totals"]["gpu_usage"] == 0.0
    assert set(process_keys(last(samples)).values()) == {0}
    # The helper does not retry at every sample: the driver may start late, so it tries again after 1, 3, 7 ...
    # seconds.
    assert 1 <= log.read_text().split().count("nvmlInit") <= 2


def test_devices_that_come_up_late(gpu_record, nvml):
    result, samples = gpu_record(
        ["gpus 0"], "-i", 0.2, "--", "sh", "-c",
        f"sleep 0.4; printf 'gpus 2\\nutilization 1 60 0\\nprocess 1 %d c 30 20\\n' $$ >{nvml.path}; sleep 2.2")
    assert result.err == ""
    assert samples[0]["gpu"] == []
    assert [gpu["index"] for gpu in last(samples)["gpu"]] == [0, 1]
    assert last(samples)["totals"]["gpu_usage"] == pytest.approx(0.6)
    assert last(samples)["cpu"]["process_gpu_vram_mib"] == 30.0


# ---- devices ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 8, 16])
def test_every_device_has_its_row(gpu_record, count):
    script = [f"gpus {count}"] + [f"utilization {i} {5 * i} 1" for i in range(count)]
    script += [f"memory {i} 81920 600 {1000 + i}" for i in range(count)]
    _, samples = gpu_record(script, "-i", 0.3, "--", "sleep", 0.8)
    # The first sample has them, too: the library is initialised by then.
    for sample in samples:
        assert [gpu["index"] for gpu in sample["gpu"]] == list(range(count))
        assert [gpu["utilization_pct"] for gpu in sample["gpu"]] == [5.0 * i for i in range(count)]
        assert len({gpu["uuid"] for gpu in sample["gpu"]}) == count
        assert sample["totals"]["gpu_usage"] == pytest.approx(sum(5 * i for i in range(count)) / 100)
        assert sample["totals"]["gpu_vram_mib"] == sum(1000 + i for i in range(count))
        assert sample["totals"]["gpu_utilized"] == count - 1
    assert samples[0]["run_start"]["gpu_names"] == ["NVIDIA Fake 80GB"] * count
    assert last(samples)["tracker"]["helpers"] == 2


def test_all_keys_of_a_device(gpu_record):
    _, samples = gpu_record(["gpus 1", "remapped 0 4 2 1 0", "utilization 0 75 30", "memory 0 81920 600 20480"],
                            "-i", 0.3, "--", "sleep", 2)
    # The counter is read every 0.3 s beside the samples. On a busy machine a sample may come between two readings, and its joules are in the next one.
    joules = sum(sample["gpu"][0]["energy_joules"] or 0 for sample in samples if sample["gpu"])
    assert 0.6 <= joules / (318.5 * samples[-1]["run_end"]["wall_secs"]) <= 1.1
    gpu = last(samples[:-1])["gpu"][0]
    assert gpu["name"] == "NVIDIA Fake 80GB"
    assert gpu["vendor"] == "NVIDIA"
    assert gpu["host_id"] == "0000:10:00.0"
    assert gpu["memory_kind"] == "dedicated"
    assert gpu["vram_total_bytes"] == 81920 * MIB
    assert gpu["vram_used_bytes"] == 20480 * MIB
    assert gpu["vram_used_pct"] == 25.0
    assert gpu["memory_utilization_pct"] == 30.0
    assert gpu["temperature_celsius"] == 40
    assert gpu["power_watts"] == 318.5
    assert gpu["power_limit_watts"] == 700.0
    assert gpu["energy_source"] == "counter"
    assert (gpu["frequency_mhz"], gpu["memory_frequency_mhz"]) == (1980, 3201)
    assert gpu["performance_state"] == 0
    assert (gpu["frequency_max_mhz"], gpu["pcie_generation"], gpu["pcie_generation_max"]) == (2100, 3, 5)
    assert (gpu["pcie_lanes"], gpu["pcie_lanes_max"], gpu["xid_errors"], gpu["last_xid"]) == (8, 16, 0, 0)
    assert gpu["throttle_reasons"] == "power_cap+thermal_hardware"
    assert gpu["pcie_rx_bytes_per_sec"] == 2e6
    assert gpu["nvlink_rx_bytes_per_sec"] == pytest.approx(2 * gpu["nvlink_tx_bytes_per_sec"], rel=0.01)
    assert (gpu["ecc_corrected_errors"], gpu["ecc_uncorrected_errors"]) == (3, 1)
    rows = ("remapped_rows_corrected", "remapped_rows_uncorrected", "remap_pending", "remap_failed")
    assert [gpu[key] for key in rows] == [4, 2, 1, 0]
    assert gpu["core_count"] == 16896
    assert gpu["detail"]["driver_version"] == "580.00.fake"
    assert 0 <= gpu["age_secs"] < 1


ACTIVITY = [f"{unit}_pct" for unit in ("sm_active", "sm_occupancy", "tensor_active", "fp64_active", "fp32_active", "fp16_active", "dram_active")]


def test_units_of_a_device_are_means_of_the_interval(gpu_record):
    """Metric number n of the fake is n percent of what the script says."""
    _, samples = gpu_record(["gpus 1", "gpm 0 50"], "-i", 0.4, "--", "sleep", 1.3)
    gpu = last(samples)["gpu"][0]
    assert [gpu[key] for key in ACTIVITY] == [1.0, 1.5, 2.5, 5.5, 6.0, 6.5, 5.0]
    assert gpu["pcie_tx_bytes_per_sec"] == pytest.approx(10 * MIB)
    assert gpu["nvlink_rx_bytes_per_sec"] == pytest.approx(30 * MIB)


@pytest.mark.parametrize("script,reason", [([], "this kernel or device does not count it"),
                                           (["gpm 0 50", "result nvmlGpmSampleGet 19"], words_of(errno.EBUSY))])
def test_units_without_gpm_are_null_with_the_reason(gpu_record, script, reason):
    result, samples = gpu_record(["gpus 1", *script], "-i", 0.3, "--why", "--", "sleep", 0.7)
    assert [last(samples)["gpu"][0][key] for key in ACTIVITY] == [None] * len(ACTIVITY)
    for key in ACTIVITY:
        assert f"gpu.{key} (GPU-00000000-0000-0000-0000-000000000000): {reason}" in result.err


def test_csv_and_json_agree(run, nvml, tmp_path, helpers):
    nvml.say("gpus 2", "utilization 0 75 30", "memory 0 81920 600 1000", "utilization 1 25 0", "memory 1 81920 600 500")
    result = run("-i", 0.3, "-o", tmp_path / "a.jsonl", "-o", tmp_path / "a.csv",
                 *on_gpu(nvml, "process 0 %d c 300 50"), env=nvml.env())
    assert result.returncode == 0
    samples, rows = helpers.json_lines(tmp_path / "a.jsonl"), helpers.csv_rows(tmp_path / "a.csv")
    assert len(samples) == len(rows)
    for sample, row in zip(samples, rows):
        assert float(row["system_gpu_usage"]) == sample["totals"]["gpu_usage"] == 1.0
        assert float(row["system_gpu_vram_mib"]) == sample["totals"]["gpu_vram_mib"] == 1500.0
        assert int(row["system_gpu_utilized"]) == sample["totals"]["gpu_utilized"] == 2
        for csv, key in (("process_gpu_usage", "process_gpu_usage"), ("process_gpu_vram_mib", "process_gpu_vram_mib")):
            assert (float(row[csv]) if row[csv] else None) == sample["cpu"][key]
    assert rows[-1]["process_gpu_vram_mib"] == "300.0000"


# ---- processes -------------------------------------------------------------------------------------------------


def test_gpu_use_of_the_tree(gpu_record, nvml):
    _, samples = gpu_record(["gpus 2", "utilization 0 90 0", "memory 0 81920 600 2000", "process 0 1 c 700 30"],
                            "-i", 0.3, *on_gpu(nvml, "process 0 %d cg 1000 60"))
    sample = samples[1]
    assert sample["cpu"]["process_gpu_usage"] == pytest.approx(0.6, abs=0.02)
    assert sample["cpu"]["process_gpu_vram_mib"] == 1000.0
    assert sample["cpu"]["process_main_gpu_vram_mib"] == 1000.0
    assert sample["cpu"]["process_gpu_utilized"] == 1
    gpu = sample["gpu"][0]
    assert gpu["process_utilization_pct"] == pytest.approx(60, abs=2)
    assert gpu["process_vram_bytes"] == 1000 * MIB
    assert (gpu["process_count"], gpu["tenant_count"]) == (1, 2)
    assert gpu["unattributed_vram_bytes"] == 300 * MIB
    assert gpu["attribution"] == "pid"
    assert [process["type"] for process in gpu["processes"]] == ["both"]
    assert gpu["processes"][0]["pid"] == sample["tracked_pid"]
    assert sample["gpu"][1]["process_utilization_pct"] == 0.0


@pytest.mark.parametrize("beside, use", [((), 0.5), (("process 0 %d c 100 -1",), None), (("process 0 %d cm 100 -1",), None)])
def test_gpu_use_of_a_client_of_mps(gpu_record, nvml, beside, use):
    """As seen on an H100: the server (pid 1) has the samples of all its clients. Another process, or another's client, is beside it."""
    beside = [line % os.getpid() for line in beside]
    _, samples = gpu_record(["gpus 1", "utilization 0 50 0", "memory 0 81920 600 2000", "process 0 1 c 66 50", *beside],
                            "-i", 0.3, *on_gpu(nvml, "process 0 %d cm 1000 -1"))
    sample, gpu = samples[1], samples[1]["gpu"][0]
    assert sample["cpu"]["process_gpu_usage"] == (use and pytest.approx(use, abs=0.02))
    assert (gpu["attribution"], gpu["process_count"], gpu["process_vram_bytes"]) == ("device" if use else "pid", 1, 1000 * MIB)
    assert [(one["type"], one["utilization_pct"]) for one in gpu["processes"]] == [("compute", None)]


def test_descendants_count_as_well(gpu_record, nvml):
    _, samples = gpu_record(["gpus 1"], "-i", 0.3, "--", "sh", "-c",
                            f"(sh -c 'echo process 0 $$ c 100 20 >>{nvml.path}; sleep 0.9') & wait")
    assert samples[1]["cpu"]["process_gpu_vram_mib"] == 100.0
    assert samples[1]["cpu"]["process_main_gpu_vram_mib"] == 0.0


def test_programs_have_their_parts_of_the_memory(gpu_record, nvml):
    """head holds memory on two devices, and sleep on one. Programs without a row of their own are in the last row."""
    job = (f"sleep 1.4 & sleeper=$!; head -c 1000000000000 /dev/zero >/dev/null & "
           f"printf 'gpus 2\\nprocess 1 %d c 300 20\\nprocess 0 %d c 700 20\\nprocess 1 %d c 500 20\\n' $! $! $sleeper "
           f">{nvml.path}.new; mv {nvml.path}.new {nvml.path}; sleep 1; kill $!; wait")
    for options, expected in (([], {"head": 1000.0, "sleep": 500.0}), (["--metrics", "programs.gpu_vram_mib"], {"head": 1000.0, "sleep": 500.0}),
                              (["--programs", "1"], {"head": 1000.0, "others": 500.0})):
        _, samples = gpu_record(["gpus 2"], "-i", 0.2, *options, "--", "sh", "-c", job)
        found = [{row["name"]: row["gpu_vram_mib"] for row in sample["programs"] if row["gpu_vram_mib"]} for sample in samples]
        assert expected in found, found


def test_the_last_sample_still_knows_the_job(gpu_record, nvml):
    """A job that ends before the first sample is due has only one sample, taken after its end."""
    nvml.say("gpus 1")
    _, samples = gpu_record(["gpus 1"], "-i", 5, *on_gpu(nvml, "process 0 %d c 640 35"))
    assert len(samples) == 1
    assert samples[0]["cpu"]["process_gpu_vram_mib"] == 640.0
    # On a busy machine the shell says some hundredths of a second late that it uses the GPU.
    assert 0.25 < samples[0]["cpu"]["process_gpu_usage"] <= 0.37


def test_samples_from_before_the_job_are_not_the_jobs(gpu_record):
    _, samples = gpu_record(["gpus 1"], "--", "true")
    assert len(samples) == 1
    age_secs = samples[0]["gpu"][0]["age_secs"] if samples[0]["gpu"] else float("inf")
    wall_secs = samples[0]["run_end"]["wall_secs"]
    found = set(process_keys(samples[0]).values())
    # The age is told in milliseconds: within one of the job's start it may have been before or after that.
    assert len(found) == 1
    assert found <= ({None} if age_secs > wall_secs + 0.001 else {0} if age_secs < wall_secs - 0.001 else {None, 0})


def test_in_attach_mode(gpu_record, nvml, spawn, helpers):
    target = spawn("30", program="sleep")
    _, samples = gpu_record(["gpus 1", f"process 0 {target.pid} c 50 10"], "-i", 0.2, "--duration", 0.7,
                            "--pid", target.pid)
    assert samples[1]["cpu"]["process_gpu_vram_mib"] == 50.0


def test_without_a_tree_nothing_is_attributed(gpu_record):
    _, samples = gpu_record(["gpus 1", "utilization 0 50 0", "process 0 1 c 50 10"], "-i", 0.3, "--duration", 0.8)
    assert samples[1]["gpu"][0]["utilization_pct"] == 50.0
    assert samples[1]["gpu"][0]["process_utilization_pct"] is None
    assert samples[1]["gpu"][0]["processes"] == []
    assert samples[1]["gpu"][0]["tenant_count"] == 1
    assert set(process_keys(samples[1]).values()) == {None}


# ---- MIG -------------------------------------------------------------------------------------------------------


def test_instances(gpu_record, nvml):
    _, samples = gpu_record(["gpus 1", "mig 0 2", "gpm 0 70", "memory 0 81920 600 4000"],
                            "-i", 0.3, *on_gpu(nvml, "instance_process 0 1 %d 500"))
    sample = samples[1]
    whole, first, second = sample["gpu"]
    assert whole["utilization_pct"] is None
    assert second["mig_parent"] == whole["uuid"]
    assert (second["mig_gpu_instance"], second["mig_compute_instance"]) == (8, 0)
    assert second["utilization_pct"] == 70.0
    assert second["process_vram_bytes"] == 500 * MIB
    # The job has the whole instance, so its utilisation is the job's, as a seventh of a GPU.
    assert second["attribution"] == "device"
    assert sample["cpu"]["process_gpu_usage"] == pytest.approx(0.7 / 7, abs=0.001)
    assert sample["totals"]["gpu_usage"] == pytest.approx(1.4 / 7, abs=0.001)
    # The memory of the device counts once, not again for each instance.
    assert sample["totals"]["gpu_vram_mib"] == 4000.0


def test_instances_without_gpm_have_no_utilisation(gpu_record, nvml):
    _, samples = gpu_record(["gpus 1", "mig 0 1"], "-i", 0.3, *on_gpu(nvml, "instance_process 0 0 %d 500"))
    assert samples[1]["gpu"][1]["utilization_pct"] is None
    assert samples[1]["totals"]["gpu_usage"] is None
    assert samples[1]["cpu"]["process_gpu_usage"] is None
    assert samples[1]["cpu"]["process_gpu_vram_mib"] == 500.0


# ---- unknown values --------------------------------------------------------------------------------------------


def test_an_unsupported_counter_is_null_alone(gpu_record):
    _, samples = gpu_record(["gpus 1", "utilization 0 75 30", "result nvmlDeviceGetPowerUsage 3",
                             "result nvmlDeviceGetFanSpeed 3"], "-i", 0.3, "--", "sleep", 0.7)
    gpu = last(samples)["gpu"][0]
    assert (gpu["power_watts"], gpu["fan_pct"]) == (None, None)
    assert (gpu["utilization_pct"], gpu["temperature_celsius"]) == (75.0, 40)


@pytest.mark.parametrize("script", [[], ["result nvmlDeviceGetMemoryInfo_v2 3", "result nvmlDeviceGetMemoryInfo 3"]])
def test_a_process_holds_at_most_the_devices_memory(gpu_record, nvml, script):
    # 2^64 - 2^20 bytes
    _, samples = gpu_record(["gpus 1", *script], "-i", 0.3, *on_gpu(nvml, "process 0 %d c 17592186044415 30"))
    gpu = last(samples)["gpu"][0]
    assert (gpu["process_vram_bytes"], gpu["processes"][0]["vram_bytes"]) == (None, None)
    assert gpu["process_utilization_pct"] == pytest.approx(30, abs=1)
    assert last(samples)["cpu"]["process_gpu_vram_mib"] == (0.0 if script else None)


def test_devices_without_a_uuid_are_told_apart(gpu_record):
    _, samples = gpu_record(["gpus 2", "mig 1 2", "utilization 0 50 0", "result nvmlDeviceGetUUID 3"], "-i", 0.3, "--", "sleep", 2)
    assert [gpu["uuid"] for gpu in last(samples)["gpu"]] == [
        "nvidia-0000:10:00.0", "nvidia-0000:11:00.0", "nvidia-0000:11:00.0/7/0", "nvidia-0000:11:00.0/8/0"]
    assert last(samples)["gpu"][2]["mig_parent"] == "nvidia-0000:11:00.0"
    # A helper that has had no processor tells the same reading twice; the next one has the energy of both times.
    assert sum(sample["gpu"][0]["energy_joules"] or 0 for sample in samples if sample["gpu"]) > 0


def test_reasons_can_be_asked_for(gpu_record):
    result, _ = gpu_record(["gpus 1", "result nvmlDeviceGetFanSpeed 3"], "--why", "-i", 0.3, "--", "sleep", 0.7)
    assert "gpu.fan_pct (GPU-00000000-0000-0000-0000-000000000000): this kernel or device does not count it" in result.err


def test_unified_memory_does_not_count_as_vram(gpu_record, nvml):
    _, samples = gpu_record(["gpus 1", "result nvmlDeviceGetMemoryInfo_v2 3", "result nvmlDeviceGetMemoryInfo 3"],
                            "-i", 0.3, *on_gpu(nvml, "process 0 %d c 300 25"))
    gpu = last(samples)["gpu"][0]
    # The driver's values of the process stay with the device and are in no sum.
    assert gpu["process_vram_bytes"] == 300 * MIB
    assert last(samples)["cpu"]["process_gpu_vram_mib"] == last(samples)["cpu"]["process_main_gpu_vram_mib"] == 0.0
    assert last(samples)["cpu"]["process_gpu_usage"] == pytest.approx(0.25, abs=0.01)
    assert gpu["memory_kind"] == "unified"
    assert (gpu["vram_total_bytes"], gpu["vram_used_bytes"]) == (None, None)
    assert last(samples)["totals"]["gpu_vram_mib"] == 0.0


def test_a_device_that_is_lost_is_null_from_then_on(gpu_record, nvml):
    result, samples = gpu_record(
        ["gpus 2", "utilization 0 50 0", "utilization 1 60 0"], "-i", 0.2, "--", "sh", "-c",
        f"sleep 0.7; printf 'gpus 2\\nutilization 0 50 0\\nresult nvmlDeviceGetMemoryInfo_v2 15 1\\n' >{nvml.path};"
        " sleep 0.9; exit 7")
    assert result.returncode == 7
    assert samples[1]["totals"]["gpu_usage"] == pytest.approx(1.1)
    assert len(last(samples)["gpu"]) == 2
    assert last(samples)["gpu"][0]["utilization_pct"] == 50.0
    assert last(samples)["gpu"][1]["utilization_pct"] is None
    assert last(samples)["gpu"][1]["vram_total_bytes"] == 81920 * MIB
    assert last(samples)["totals"]["gpu_usage"] is None


def test_a_removed_device_keeps_its_row(gpu_record, nvml):
    def script(*more):
        return ["gpus 3", "utilization 0 10 0", "utilization 1 20 0", "utilization 2 50 0", "memory 2 81920 600 700", *more]

    gone = "\\n".join(script("gone 1", "result nvmlDeviceGetMemoryInfo_v2 15 1", "process 2 %d c 300 40"))
    result, samples = gpu_record(script(), "-i", 0.1, "--", "sh", "-c",
                                 f"sleep 0.5; printf '{gone}\\n' $$ >{nvml.path}; sleep 4.5; exit 7")
    assert result.returncode == 7
    assert result.err == ""
    for sample in samples:
        assert [gpu["index"] for gpu in sample["gpu"]] == [0, 1, 2]
        assert [gpu["uuid"][11] for gpu in sample["gpu"]] == ["0", "1", "2"]
        assert (sample["gpu"][0]["utilization_pct"], sample["gpu"][2]["utilization_pct"]) == (10.0, 50.0)
    lost, other = last(samples)["gpu"][1:]
    assert (lost["utilization_pct"], lost["vram_used_bytes"], lost["energy_joules"]) == (None, None, None)
    assert (lost["vram_total_bytes"], lost["host_id"]) == (81920 * MIB, "0000:11:00.0")
    assert other["process_vram_bytes"] == 300 * MIB
    assert other["process_utilization_pct"] == pytest.approx(40, abs=1)
    assert last(samples)["totals"]["gpu_usage"] is None
    # The job does not hold the lost device's file open, so it cannot have used the device.
    assert last(samples)["cpu"]["process_gpu_vram_mib"] == 300.0


def test_a_driver_that_does_not_fit_is_told_once(gpu_record):
    result, samples = gpu_record(["gpus 1", "result nvmlInit 18"], "-i", 0.2, "--", "sleep", 1.5)
    assert result.returncode == 0
    assert result.err.count("Driver/library version mismatch") == 1
    assert {sample["totals"]["gpu_usage"] for sample in samples} == {None}


def test_a_library_that_is_not_there_is_told_once(record):
    result, samples = record("-i", 0.2, "--", "sleep", 0.8, env={"TRACKER_NVML_LIBRARY": "/nonexistent/libnvidia-ml.so"})
    assert result.returncode == 0
    assert result.err.count("/nonexistent/libnvidia-ml.so") == 1
    assert last(samples)["gpu"] == []
    assert last(samples)["totals"]["gpu_usage"] is None
    assert set(process_keys(last(samples)).values()) == {None}


def test_no_setting_is_touched_and_the_library_is_initialised_once(gpu_record, tmp_path):
    log = tmp_path / "calls"
    gpu_record(["gpus 2", f"log {log}"], "-i", 0.2, "--", "sleep", 1)
    calls = log.read_text().split()
    assert calls.count("nvmlInit") == 1
    assert all("Get" in call or call in ("nvmlInit", "nvmlGpmQueryDeviceSupport", "nvmlGpmSampleAlloc", "nvmlEventSetCreate", "nvmlDeviceRegisterEvents",
                                        "nvmlEventSetWait_v2") for call in calls)
    # Constant values are read once.
    assert calls.count("nvmlDeviceGetName") == calls.count("nvmlDeviceGetUUID") == 2


def test_an_old_library(run, binary, tmp_path, helpers):
    old = Nvml(binary, tmp_path / "old.script", "nvml_fake_old")
    if not old.library.exists():
        pytest.skip(f"{old.library} is not built")
    old.say("gpus 1", "utilization 0 40 0", "memory 0 16384 300 1000")
    result = run("-i", 0.3, "-o", tmp_path / "a.jsonl", *on_gpu(old, "process 0 %d c 200 15"), env=old.env())
    assert result.returncode == 0
    sample = helpers.json_lines(tmp_path / "a.jsonl")[1]
    assert sample["gpu"][0]["vram_used_bytes"] == 1300 * MIB
    assert sample["cpu"]["process_gpu_vram_mib"] == 200.0


# ---- which devices ---------------------------------------------------------------------------------------------


def surveyed(samples):
    """Returns the first sample with devices. On a busy machine, the helper answers late."""
    return next(sample for sample in samples[1:] if sample["gpu"])


def indexes(samples):
    return [device["index"] for device in surveyed(samples)["gpu"]]


def staying(tmp_path):
    """Returns a job that stays until a sample has devices."""
    return ["--", "sh", "-c", stay_until(tmp_path / "record.jsonl", '"gpu":[{')]


FOUR = ["gpus 4"] + [f"utilization {i} 50 0" for i in range(4)] + [f"memory {i} 81920 600 100" for i in range(4)]


def test_hidden_devices_are_left_out(gpu_record, tmp_path):
    _, samples = gpu_record(FOUR, "-i", 0.3, *staying(tmp_path), env={"CUDA_VISIBLE_DEVICES": "1,3"})
    assert indexes(samples) == [1, 3]
    assert surveyed(samples)["totals"]["gpu_usage"] == 1.0
    assert surveyed(samples)["totals"]["gpu_vram_mib"] == 200.0


def test_devices_hidden_by_cuda_visible_devices(gpu_record, tmp_path):
    """The job's own environment counts."""
    _, command, *words = staying(tmp_path)
    _, samples = gpu_record(FOUR, "-i", 0.3, "--", "env", "CUDA_VISIBLE_DEVICES=2", command, *words)
    assert [device["index"] for device in samples[-2]["gpu"]] == [2]


def test_all(gpu_record, tmp_path):
    _, samples = gpu_record(FOUR, "--gpus", "all", "-i", 0.3, *staying(tmp_path), env={"CUDA_VISIBLE_DEVICES": "1"})
    assert indexes(samples) == [0, 1, 2, 3]
    assert [device["visible"] for device in surveyed(samples)["gpu"]] == [False, True, False, False]


def test_used(gpu_record, nvml):
    _, samples = gpu_record(FOUR, "--gpus", "used", "-i", 0.3, *on_gpu(nvml, "process 2 %d c 10 10"))
    assert indexes(samples) == [2]
    assert samples[1]["totals"]["gpu_usage"] == 0.5


def test_by_name(gpu_record, tmp_path):
    _, samples = gpu_record(FOUR, "--gpus", "GPU-00000003,0000:10:00.0", "-i", 0.3, *staying(tmp_path))
    assert indexes(samples) == [0, 3]


def test_a_name_that_no_device_has_is_told(gpu_record):
    result, samples = gpu_record(FOUR[:1], "--gpus", "GPU-ffff", "-i", 0.3, "--", "sleep", 0.9)
    assert result.returncode == 0
    assert "--gpus: no GPU 'GPU-ffff' here; there is GPU-00000000-0000-0000-0000-000000000000" in result.err
    assert last(samples)["gpu"] == []


def test_gpu_use_of_the_tree_counts_on_hidden_devices(gpu_record, nvml):
    _, samples = gpu_record(FOUR, "--gpus", "GPU-00000003", "-i", 0.3, *on_gpu(nvml, "process 2 %d c 10 10"))
    assert indexes(samples) == [3]
    assert samples[1]["cpu"]["process_gpu_vram_mib"] == 10.0


def test_another_vendor(gpu_record):
    _, samples = gpu_record(FOUR, "--gpu-vendor", "amd", "-i", 0.3, "--", "sleep", 0.8)
    assert last(samples)["gpu"] == []
    assert last(samples)["totals"]["gpu_usage"] == 0.0


def test_metrics_that_need_no_gpu_start_no_helper(gpu_record, tmp_path):
    log = tmp_path / "calls"
    gpu_record(["gpus 1", f"log {log}"], "--metrics", "cpu.process_rss_mib", "-i", 0.2, "--", "sleep", 0.4)
    assert not log.exists()
    _, samples = gpu_record(["gpus 1", f"log {log}"], "--metrics", "process_gpu_usage", "-i", 0.2, "--", "sleep", 0.5)
    assert log.exists()
    assert last(samples)["cpu"]["process_gpu_usage"] == 0.0


@pytest.mark.parametrize("value", ["usd", "GPU-1,,GPU-2", "all,used", "visible "])
def test_misspelt_words_are_refused(run, value):
    result = run("--gpus", value, "--", "true")
    assert result.returncode == 125
    assert "gpus" in result.err
