"""tests/gpu/on-real-gpu, which needs a real GPU, is complete: with everything of NVIDIA's faked, it compiles, runs
and compares.
"""
import gzip
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

sys.path.insert(0, os.path.dirname(__file__))
from gpu import Nvml

TESTS = pathlib.Path(__file__).resolve().parents[1]
SCRIPT = TESTS / "gpu" / "on-real-gpu"


def start(out, *arguments, env=None, timeout=100):
    return subprocess.run([SCRIPT, out, *map(str, arguments)], env={**os.environ, **(env or {})}, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=timeout)


def test_without_a_gpu_it_says_so(tmp_path):
    result = start(tmp_path / "out", env={"NVIDIA_SMI": str(tmp_path / "none")})
    assert result.returncode == 77
    assert "no nvidia-smi" in result.stderr


@pytest.mark.skipif(not shutil.which("cc"), reason="there is no compiler")
def test_the_load_compiles_without_a_toolkit(tmp_path):
    load = tmp_path / "cuda_load"
    subprocess.run(["cc", "-std=c17", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-o", load, TESTS / "gpu" / "cuda_load.c", "-ldl"],
                   check=True)
    none = subprocess.run([load, "1", "1", "1"], env={**os.environ, "CUDA_LIBRARY": "/nonexistent"}, capture_output=True, text=True)
    assert none.returncode == 77
    assert "/nonexistent" in none.stderr
    assert subprocess.run([load, "1", "101", "1"], capture_output=True).returncode == 2


@pytest.fixture
def faked(binary, tmp_path):
    nvml = Nvml(binary, tmp_path / "script")
    library = pathlib.Path(binary).parent / "tests" / "fakes" / "cuda_fake.so"
    if not nvml.library.exists() or not library.exists() or not shutil.which("cc"):
        pytest.skip("the fakes are not built")
    nvml.path.write_text("gpus 1\n")
    return nvml.env(NVIDIA_SMI=str(TESTS / "fakes" / "nvidia-smi.py"), CUDA_LIBRARY=str(library),
                    RESOURCE_TRACKER_BUILD=str(pathlib.Path(binary).parent))


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_everything_is_compared(faked, tmp_path):
    result = start(tmp_path / "out", 1024, 50, 14, "none", env=faked)
    assert result.returncode in (0, 1), result.stderr
    seen = (tmp_path / "out" / "seen.md").read_text()
    assert result.stdout.endswith(seen)
    assert seen.startswith("### NVIDIA Fake 80GB, driver 580.00.fake\n")
    rows = dict(re.findall(r"^\| (.*?) \| .* \| (holds|DOES NOT HOLD) \|$", seen, re.M))
    assert {"VRAM of the job: growth by the allocation", "utilisation of the device", "utilisation by the job", "energy",
            "persistence mode", "the first sample with values", "power, mean"} <= set(rows)
    # Checks that depend on the load of this machine are left out here.
    rows.pop("samples that came late")
    assert set(rows.values()) == {"holds"}, seen
    assert "growth by the allocation | 1024.0 MiB | 1024 MiB" in seen


def test_in_a_container_that_lists_no_processes_there_is_a_result_all_the_same(tmp_path):
    def gpu(i, busy):
        known = {"uuid": f"GPU-{i}", "index": i, "name": "A GPU", "utilization_pct": 50.0 * busy, "vram_used_bytes": busy << 30}
        unknown = ("process_count", "process_vram_bytes", "process_utilization_pct", "energy_joules", "power_watts",
                   "temperature_celsius", "frequency_mhz")
        return {**known, **dict.fromkeys(unknown), "attribution": "none", "detail": {}}

    samples = [{"timestamp": 100.0 + i, "elapsed_secs": i + 1.0, "actual_interval_ms": 1000, "missed_ticks": 0,
                "gpu": [gpu(0, 0), gpu(1, int(i > 5))]} for i in range(20)]
    for name in ("record", "idle"):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in samples))
    (tmp_path / "steps").write_text("context 100\nallocated 106\ndone 119\n")
    (tmp_path / "devices.csv").write_text("".join(f"{i}, GPU-{i}, A GPU, 580, 81920, Enabled, [N/A], 00:0{i}\n" for i in (0, 1)))
    (tmp_path / "persistence-after").write_text("Enabled\nEnabled\n")
    # The last line is cut off.
    (tmp_path / "device.csv").write_text("1, 50, 1024, [N/A], 40, 1980\n1, 5")
    (tmp_path / "processes.csv").write_text("")
    (tmp_path / "kernel").write_text("Linux\n")
    result = subprocess.run([sys.executable, TESTS / "gpu" / "compare.py", tmp_path, "1024", "50"], capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (1, "")
    rows = dict(re.findall(r"^\| (.*?) \| .* \| (holds|DOES NOT HOLD) \|$", (tmp_path / "seen.md").read_text(), re.M))
    assert rows["the device that the job was on"] == rows["utilisation by the job"] == "DOES NOT HOLD"
    assert rows["utilisation of the device"] == rows["memory of the device, at most"] == rows["CUDA contexts"] == "holds"


@pytest.mark.night
@pytest.mark.slow
@pytest.mark.timeout(120)
def test_a_wrong_figure_is_seen(faked, tmp_path):
    result = start(tmp_path / "out", 1024, 80, 14, "none", env=faked)
    assert result.returncode == 1
    assert re.search(r"utilisation of the device .* DOES NOT HOLD", result.stdout)


def loads(*arguments, env=None):
    return subprocess.run([sys.executable, TESTS / "gpu" / "loads.py", *map(str, arguments)], capture_output=True, text=True, timeout=100,
                          env={**os.environ, "GPU_LOAD_SECS": "1", **(env or {})})


def rows_of(text):
    return [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in text.splitlines() if line.startswith("| ")]


@pytest.mark.slow
def test_loads_that_cannot_run_here_say_why(faked, binary, tmp_path):
    result = loads(tmp_path, pathlib.Path(binary).parent, "tensor", "mps", "never_used", env={**faked, "PATH": "/usr/bin:/bin"})
    rows = rows_of(result.stdout)
    assert result.returncode == 0, result
    assert {row[2] for row in rows if row[0] == "tensor"} == {"not run: no PyTorch with CUDA"}
    assert {row[2] for row in rows if row[0] == "mps"} == {"not run: no nvidia-cuda-mps-control"}
    assert ("never_used", "summary: used by the job", "[False]", "-", "none", "holds") in rows


@pytest.mark.parametrize("active, terms", [(93.0, {"holds"}), (50.0, {"holds", "DOES NOT HOLD"})])
def test_a_load_is_held_against_its_own_count_and_the_other_meter(binary, tmp_path, active, terms):
    """The load did 93 % of what the device can do at this clock: 4,096 operations a cycle in each of 132 multiprocessors."""
    gpu = {"uuid": "GPU-0", "process_vram_bytes": 1 << 30, "process_utilization_pct": 99.0, "sm_active_pct": 96.0, "sm_occupancy_pct": 14.0,
           "tensor_active_pct": active, "dram_active_pct": 18.0, "fp32_active_pct": 0.0, "fp64_active_pct": 0.0, "frequency_mhz": 1500,
           "core_count": 132 * 128, "detail": {"compute_capability": "9.0"}}
    (tmp_path / "tensor.jsonl").write_text("".join(
        json.dumps({"timestamp": 100.0 + i, "gpu": [gpu], "tracker": {"cpu_secs": 0.007}}) + "\n" for i in range(10)))
    (tmp_path / "tensor.said").write_text(json.dumps({"begin": 100, "end": 110, "flops": 0.93 * 4096 * 132 * 1.5e9}) + "\n")
    (tmp_path / "tensor.nvml").write_text(json.dumps({"timestamp": 105, **{key: gpu[key] for key in gpu if key.endswith("active_pct")},
                                                      "tensor_active_pct": 93.0, "sm_occupancy_pct": 14.0}) + "\n")
    result = loads("--compare", tmp_path, pathlib.Path(binary).parent)
    rows = rows_of(result.stdout)[2:]
    assert {row[5] for row in rows} == terms and result.returncode == len(terms) - 1, result.stdout
    assert ("tensor", "tensor_active_pct", f"{active} %", "93.0 %", "93.0 % by its own count, within 15.0",
            "holds" if active > 90 else "DOES NOT HOLD") in rows
    assert "Recorder and helper took 7.0 ms of CPU time a sample in the median" in result.stdout


@pytest.fixture
def seen_on_h100(binary, tmp_path):
    """The recordings of an H100 (tests/gpu/seen-h100), with what the loads and the other meter said."""
    if not (pathlib.Path(binary).parent / "resource-tracker-analysis").exists():
        pytest.skip("this build has no analysis")
    for path in (TESTS / "gpu" / "seen-h100").iterdir():
        (tmp_path / path.stem).write_bytes(gzip.decompress(path.read_bytes()))
    return tmp_path


def test_recordings_of_a_real_gpu_are_judged_as_on_it(binary, seen_on_h100):
    result = loads("--compare", seen_on_h100, pathlib.Path(binary).parent, env={"GPU_LOAD_SECS": "6"})
    rows = rows_of(result.stdout)[1:]
    assert result.returncode == 0 and {row[5] for row in rows} == {"holds"}, result.stdout
    assert {row[0] for row in rows} == {"tensor", "held", "two_processes", "starved", "too_much", "never_used"}
    told = {row[:2]: row[2] for row in rows}
    assert told["tensor", "tensor_active_pct"] == "93.4 %"
    assert told["held", "summary: held without work"] == "6.3 s"
    assert "its 2 DataLoader workers (pt_data_worker) were busy on 1.98 cores. More workers would help" in told["starved", "bottleneck"]


def test_a_kept_recording_does_not_name_its_machine(tmp_path):
    identity = "2130cfa2-d980-8fef-67ac-63a8612934d1"
    sample = {"timestamp": 1.5, "host": "secret", "energy": None, "disk": [{"serial": "secret"}], "network": [{"mac_address": "secret"}],
              "gpu": [{"uuid": f"GPU-{identity}", "fan_pct": None, "power_watts": 0.0}],
              "run_start": {"boot_id": identity, "folder": "secret", "kernel": "6.18-secret", "cpu_count": 16}}
    for suffix, text in (("jsonl", json.dumps(sample)), ("said", "done 2.5"), ("nvml", "")):
        (tmp_path / f"held.{suffix}").write_text(text)
    result = loads("--keep", tmp_path, tmp_path / "kept", "held")
    assert result.returncode == 0, result.stderr
    nothing = "00000000-0000-0000-0000-000000000000"
    assert json.loads(gzip.decompress((tmp_path / "kept" / "held.jsonl.gz").read_bytes())) == {
        "timestamp": 1.5, "gpu": [{"uuid": f"GPU-{nothing}", "power_watts": 0.0}], "run_start": {"boot_id": nothing, "cpu_count": 16}}
    assert gzip.decompress((tmp_path / "kept" / "held.said.gz").read_bytes()) == b"done 2.5\n"
