"""GPUs of the kernel's own drivers, read from fixture trees by the whole program."""
import pytest


@pytest.fixture
def read_tree(run, helpers, tmp_path):
    """read_tree("hand-made-gpu-xe-6.12", ...) returns the samples of process 100 in a fixture tree."""

    def read(name, *arguments):
        path = tmp_path / "record.jsonl"
        result = run("--root", helpers.roots / name / "t0", "--pid", 100, "-i", 0.3, "--duration", 1.1, "-o", path,
                     *arguments)
        assert result.returncode == 0, result.err
        return helpers.json_lines(path)

    return read


def test_amdgpu(read_tree):
    sample = read_tree("hand-made-gpu-vega20-5.19")[-1]
    (gpu,) = sample["gpu"]
    assert (gpu["vendor"], gpu["uuid"]) == ("AMD", "GPU-5f2a1b3c4d5e6f70")
    assert gpu["utilization_pct"] == 37.0
    assert gpu["power_watts"] == 214.0
    assert gpu["energy_source"] == "power"
    assert gpu["attribution"] == "fdinfo"
    assert [process["pid"] for process in gpu["processes"]] == [100, 101]
    assert sample["cpu"]["process_gpu_vram_mib"] == 1024.0 + 512.0
    assert sample["cpu"]["process_main_gpu_vram_mib"] == 1024.0
    # Time stands still in a fixture tree.
    assert sample["cpu"]["process_gpu_usage"] == 0.0
    assert sample["totals"]["gpu_usage"] == 0.37


def test_a_tree_named_from_here(run, helpers, tmp_path):
    path = tmp_path / "record.jsonl"
    result = run("--root", "hand-made-gpu-vega20-5.19/t0", "--pid", 100, "-i", 0.3, "--duration", 0.7, "-o", path, cwd=helpers.roots)
    assert (result.returncode, result.err) == (0, "")
    assert helpers.json_lines(path)[-1]["gpu"][0]["utilization_pct"] == 37.0


def test_two_devices_of_different_kinds(read_tree):
    sample = read_tree("hand-made-gpu-navi31-6.8")[-1]
    card, processor = sample["gpu"]
    assert (card["memory_kind"], processor["memory_kind"]) == ("dedicated", "unified")
    assert processor["utilization_pct"] == 0.0
    assert processor["power_watts"] is None
    assert card["tenant_count"] == 2
    # An integrated GPU's memory belongs to the machine.
    assert sample["totals"]["gpu_vram_mib"] == 12288.0
    # 101 computes with ROCm, and the kernel does not count its queues: unknown, not zero.
    assert sample["cpu"]["process_gpu_usage"] is None


@pytest.mark.parametrize("name, vram_mib", [("hand-made-gpu-i915-6.2", 100.0), ("hand-made-gpu-xe-6.12", 23992 / 1024)])
def test_intel(read_tree, name, vram_mib):
    sample = read_tree(name)[-1]
    assert sample["cpu"]["process_gpu_vram_mib"] == pytest.approx(vram_mib, abs=0.001)
    assert sample["cpu"]["process_gpu_usage"] == 0.0
    # No file has the utilisation of the device or its memory in use.
    assert {gpu["utilization_pct"] for gpu in sample["gpu"]} == {None}
    assert sample["totals"]["gpu_usage"] is None
    assert sample["totals"]["gpu_vram_mib"] is None


def test_another_vendor_is_not_looked_for(read_tree):
    assert read_tree("hand-made-gpu-xe-6.12", "--gpu-vendor", "amd")[-1]["gpu"] == []
