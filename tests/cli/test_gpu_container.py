"""A container whose process ids are not those that the driver lists: known values, their method, and unknown values."""
import os
import shutil
import sys

import pytest

sys.path.insert(0, os.path.dirname(__file__))
from gpu import Nvml

MIB = 1 << 20


@pytest.fixture
def attached(binary, run, helpers, tmp_path):
    """attached(holder, *lines) returns result and last sample after attaching to process 100 in its own pid namespace."""
    nvml = Nvml(binary, tmp_path / "nvml.script")
    if not nvml.library.exists():
        pytest.skip(f"{nvml.library} is not built")
    root = tmp_path / "root"
    shutil.copytree(helpers.roots / "hand-made-gpu-vega20-5.19" / "t0" / "proc", root / "proc", symlinks=True)
    (root / "proc" / "self" / "ns").mkdir(parents=True)
    (root / "proc" / "self" / "ns" / "pid").symlink_to("pid:[4026532999]")
    for pid in (100, 101, 102):
        shutil.rmtree(root / "proc" / str(pid) / "fd", ignore_errors=True)
        (root / "proc" / str(pid) / "fd").mkdir()
        (root / "proc" / str(pid) / "fd" / "0").symlink_to("/dev/null")

    def attach(holder, *lines):
        if holder:
            (root / "proc" / "101" / "fd" / "7").symlink_to("/dev/nvidia0")
        nvml.say("gpus 1", "utilization 0 80 10", "memory 0 81920 600 3000", *lines)
        path = tmp_path / "record.jsonl"
        result = run("--root", root, "--pid", 100, "--gpu-vendor", "nvidia", "--why", "-i", 0.3, "--duration", 1.1, "-o", path,
                     env=nvml.env())
        assert result.returncode == 0, result.err
        return result, helpers.json_lines(path)[-1]

    return attach


def test_ids_that_are_ours(attached):
    _, sample = attached(True, "process 0 101 c 2000 60")
    gpu = sample["gpu"][0]
    assert (gpu["attribution"], gpu["process_count"], gpu["process_vram_bytes"]) == ("pid", 1, 2000 * MIB)
    assert sample["cpu"]["process_gpu_usage"] == pytest.approx(0.6, abs=0.01)


def test_the_only_tenant_while_a_member_holds_the_device(attached):
    _, sample = attached(True, "process 0 900101 c 2000 60")
    gpu = sample["gpu"][0]
    assert (gpu["attribution"], gpu["process_count"], gpu["process_vram_bytes"]) == ("device", 1, 2000 * MIB)
    assert sample["cpu"]["process_gpu_usage"] == pytest.approx(0.6, abs=0.01)
    assert sample["cpu"]["process_gpu_vram_mib"] == 2000.0


def test_several_tenants_cannot_be_told_apart(attached):
    result, sample = attached(True, "process 0 900101 c 2000 60", "process 0 900102 c 500 10")
    gpu = sample["gpu"][0]
    assert gpu["attribution"] == "none"
    assert {gpu[key] for key in ("process_count", "process_utilization_pct", "process_vram_bytes")} == {None}
    assert (sample["cpu"]["process_gpu_usage"], sample["cpu"]["process_gpu_vram_mib"]) == (None, None)
    # The device itself is known, and --why explains the missing values.
    assert (gpu["utilization_pct"], gpu["tenant_count"]) == (80.0, 2)
    assert "cpu.process_gpu_usage: the part that belongs to the job is unknown" in result.err


def test_a_device_that_no_member_holds_is_not_used(attached):
    _, sample = attached(False, "process 0 900101 c 2000 60", "process 0 900102 c 500 10")
    assert sample["gpu"][0]["attribution"] == "files"
    assert (sample["cpu"]["process_gpu_usage"], sample["cpu"]["process_gpu_vram_mib"]) == (0.0, 0.0)


def test_an_emptied_list_does_not_mean_idle(attached):
    _, sample = attached(True)
    assert sample["gpu"][0]["attribution"] == "none"
    assert sample["cpu"]["process_gpu_usage"] is None
