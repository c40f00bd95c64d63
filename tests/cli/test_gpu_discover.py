"""`discover host` lists GPUs by asking the recorder, and only if there is a device file or a named library."""
import json
import os
import shutil
import subprocess
import sys
import time

import pytest

sys.path.insert(0, os.path.dirname(__file__))
from gpu import traced_environment


@pytest.fixture
def discover(binary, helpers, tmp_path):
    if not os.path.exists(f"{binary}-net"):
        pytest.skip("resource-tracker-net is not built")

    def ask(*arguments, env=None, program=binary):
        done = subprocess.run([program, "discover", "host", *map(str, arguments)], cwd=tmp_path, capture_output=True,
                              env={**helpers.clean_environment(), **(env or {})}, stdin=subprocess.DEVNULL, timeout=30)
        assert (done.returncode, done.stderr) == (0, b"")
        return json.loads(done.stdout)

    return ask


def test_every_gpu_is_listed(discover, nvml, tmp_path):
    nvml.say("gpus 8", "mig 1 2", *[f"memory {i} {1000 * (i + 1)} 10 5" for i in range(8)])
    # Settings for recordings do not affect the question.
    found = discover(env=nvml.env(TRACKER_OUTPUT=str(tmp_path / "a.jsonl"), TRACKER_METRICS="cpu.*",
                                  TRACKER_GPUS="used", CUDA_VISIBLE_DEVICES="3"))
    host, gpus = found["host"], found["gpus"]
    assert (host["host_gpu_model"], host["host_gpu_count"]) == ("NVIDIA Fake 80GB", 8)
    assert host["host_gpu_memory_mib"] == sum(1000 * (i + 1) for i in range(8))
    assert [gpu["host_id"] for gpu in gpus] == [f"0000:1{i}:00.0" for i in range(8)]
    assert gpus[2] == {
        "uuid": "GPU-00000002-0000-0000-0000-000000000000", "name": "NVIDIA Fake 80GB", "vendor": "NVIDIA",
        "host_id": "0000:12:00.0", "memory_kind": "dedicated", "vram_total_bytes": 3000 << 20}
    assert not (tmp_path / "a.jsonl").exists()


def test_as_python_has_it(discover, nvml):
    nvml.say("gpus 2")
    info = discover("--python", env=nvml.env())["server_info"]
    assert (info["gpu_count"], info["gpu_name"], info["gpu_memory_mib"]) == (2, "NVIDIA Fake 80GB", 163840.0)
    assert info["gpu_names"] == ["NVIDIA Fake 80GB"] * 2


def test_hidden_facts_are_null(discover, nvml):
    nvml.say("gpus 2")
    found = discover(env=nvml.env(TRACKER_HOST_GPU_COUNT="0"))
    assert (found["host"]["host_gpu_count"], found["gpus"]) == (None, [])


def test_gpus_of_the_kernels_drivers(discover, helpers):
    found = discover("--root", helpers.roots / "hand-made-gpu-navi31-6.8" / "t0")
    assert [gpu["memory_kind"] for gpu in found["gpus"]] == ["dedicated", "unified"]
    # An integrated GPU's memory belongs to the machine.
    assert found["host"]["host_gpu_memory_mib"] == found["gpus"][0]["vram_total_bytes"] >> 20


def test_no_gpu_is_an_empty_list(discover, nvml, helpers):
    nvml.say("gpus 0")
    assert discover(env=nvml.env())["gpus"] == []
    assert discover("--root", helpers.roots / "hand-made-cgroup2-6.6" / "t0")["gpus"] == []


@pytest.mark.skipif(not shutil.which("strace"), reason="strace is missing")
def test_without_a_device_file_no_driver_is_asked(binary, helpers, tmp_path):
    trace = tmp_path / "trace"
    done = subprocess.run(["strace", "-f", "-s", "4096", "-o", trace, "-e", "trace=execve,faccessat,faccessat2", f"{binary}-net",
                           "discover", "host", "--root", helpers.roots / "hand-made-cgroup2-6.6" / "t0"], capture_output=True,
                          env={**helpers.clean_environment(), **traced_environment()}, stdin=subprocess.DEVNULL, timeout=30)
    if done.returncode:
        pytest.skip("this machine does not let strace trace")
    text = trace.read_text()
    assert '"--gpus"' not in text and "resource-tracker-helper" not in text
    assert {path for path in ("dev/nvidiactl", "dev/dxg", "dev/dri") if f'"{path}"' in text} == {"dev/nvidiactl", "dev/dxg", "dev/dri"}


@pytest.mark.slow
def test_a_driver_that_hangs_leaves_it_unknown(discover, nvml):
    nvml.say("gpus 1", "hang nvmlInit")
    began = time.monotonic()
    found = discover(env=nvml.env())
    assert found["gpus"] is None
    assert found["host"]["host_gpu_count"] is None
    assert time.monotonic() - began < 15
