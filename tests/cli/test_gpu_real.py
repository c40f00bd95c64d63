"""tests/gpu/on-real-gpu, which wants a real GPU, is whole: it compiles, runs and compares with everything of NVIDIA's faked."""
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
    result = start(tmp_path / "out", 1024, 50, 16, env=faked)
    seen = (tmp_path / "out" / "seen.md").read_text()
    assert result.stdout.endswith(seen)
    assert seen.startswith("### NVIDIA Fake 80GB, driver 580.00.fake\n")
    rows = dict(re.findall(r"^\| (.*?) \| .* \| (holds|DOES NOT HOLD) \|$", seen, re.M))
    assert {"VRAM of the job: growth by the allocation", "utilisation of the device", "utilisation by the job", "energy",
            "persistence mode", "the first sample with values", "power, mean"} <= set(rows)
    # What depends on how busy this machine is, is not asked here.
    rows.pop("samples that came late")
    assert set(rows.values()) == {"holds"}, seen
    assert "growth by the allocation | 1024.0 MiB | 1024 MiB" in seen


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_a_wrong_figure_is_seen(faked, tmp_path):
    result = start(tmp_path / "out", 1024, 80, 12, env=faked)
    assert result.returncode == 1
    assert re.search(r"utilisation of the device .* DOES NOT HOLD", result.stdout)
