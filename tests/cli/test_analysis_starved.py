"""GPUs that wait for their input: the sentence and its evidence, on recordings made by hand."""
import json

import pytest

import recordings

START = dict(recordings.NO_LIMITS, cpu_count=16)
TRAIN = "python3 train.py"


def program(name, cores, processes, vram=None):
    return {"name": name, "cpu_secs": cores, "cpu_total_secs": cores, "process_count": processes, "gpu_vram_mib": vram}


def training(path, programs, *, busy=(20.0,) * 20, cores=None, others=0.0, waits=(), io=None, held=True, gpus=1, count=None):
    """A run with a sample for each of `busy` (percent of the GPU's time that the job keeps it working)."""
    cores = sum(one["cpu_secs"] for one in programs) if cores is None else cores
    recordings.steady(path, cores=cores, count=len(busy), start=START, programs=programs,
                      end={"waits": [dict({"target": None, "program": TRAIN, "wait_pct": 50.0, "look_count": 40}, **wait)
                                     for wait in waits]})
    samples = [json.loads(line) for line in path.read_text().splitlines()]
    for one, part in zip(samples, busy):
        one["cpu"]["utilization_pct"] = cores + others
        one["cpu"].update(process_gpu_usage=gpus * part / 100, process_gpu_utilized=gpus)
        if io is not None:
            one["pressure"] = {"io_some_secs": io, "source": "cgroup"}
        one["gpu"] = [{"uuid": f"GPU-{n}", "index": n, "utilization_pct": part, "process_utilization_pct": part,
                       "process_count": int(held), "process_vram_bytes": 1 << 30 if held else 0,
                       "processes": [{"type": "compute", "pid": 4711, "vram_bytes": 1 << 30}]} for n in range(gpus)]
    return recordings.write(path, samples)


def starved(run, path):
    result = run("summary", "--json", path)
    assert result.returncode == 0, result.err
    found = {one["rule"]: one for one in json.loads(result.out)["bottlenecks"]}
    return found["gpu_starved"]["text"] if "gpu_starved" in found else None


IDLE = "Its GPU had no work for 80.0 % of the 20.0 s from first to last use, "
WORKERS = [program(TRAIN, 0.1, 1, 1024.0), program("pt_data_worker", 3.6, 4)]


@pytest.mark.parametrize("programs, more, text", [
    (WORKERS, {}, "while its 4 DataLoader workers (pt_data_worker) were busy on 3.60 cores. More workers would help: 12.3 cores were free."),
    ([WORKERS[0], program("pt_data_worker", 0.9, 1)], {},
     "while its 1 DataLoader worker (pt_data_worker) was busy on 0.90 cores. More workers would help: 15.0 cores were free."),
    # Others use the machine, or the job all of it.
    (WORKERS, {"others": 12.0}, "while its 4 DataLoader workers (pt_data_worker) were busy on 3.60 cores, and no core was free for more."),
    (WORKERS, {"cores": 15.5}, "while its 4 DataLoader workers (pt_data_worker) were busy on 3.60 cores, and no core was free for more."),
    # Older PyTorch and other loaders do not name their workers.
    ([program(TRAIN, 8.5, 9, 1024.0)], {},
     "while python3 train.py was busy on 8.50 cores: 8 processes beside the 1 on the GPU. More workers would help: 7.50 cores were free."),
    ([program(TRAIN, 1.9, 2, 1024.0)], {},
     "while python3 train.py was busy on 1.90 cores: 1 process beside the 1 on the GPU. More workers would help: 14.1 cores were free."),
    # That core may be the one of the process on the GPU.
    ([program(TRAIN, 1.0, 2, 1024.0)], {},
     "while python3 train.py was busy on 1.00 cores, in the process that feeds the GPU. If that is its input, workers would help: "
     "15.0 cores were free."),
    ([program(TRAIN, 0.1, 1, 1024.0), program("ffmpeg", 2.0, 2)], {},
     "while ffmpeg was busy on 2.00 cores. If it makes the input, more of it would help: 13.9 cores were free."),
    # Workers that wait prove nothing, nor do programs without a row of their own.
    ([program(TRAIN, 0.1, 1, 1024.0), program("pt_data_worker", 0.9, 8)], {}, None),
    ([program(TRAIN, 0.1, 1, 1024.0), program("others", 5.0, 9)], {}, None),
    ([program(TRAIN, 0.1, 1, 1024.0)], {"waits": [{"class": "storage", "target": "disk vda (ext4)", "wait_secs": 8.0}]},
     "while the job waited for storage: disk vda (ext4) for 8.00 s (python3 train.py)."),
    ([program(TRAIN, 0.1, 1, 1024.0)], {"waits": [{"class": "events", "wait_secs": 9.0}, {"class": "lock", "wait_secs": 6.0}]},
     "while the job waited for a lock for 6.00 s (python3 train.py)."),
    ([program(TRAIN, 0.1, 1, 1024.0)], {"waits": [{"class": "storage", "wait_secs": 2.0}]}, None),
    ([program(TRAIN, 0.1, 1, 1024.0)], {"io": 0.5}, "while some process of the job waited for I/O during 50.0 % of that."),
    ([program(TRAIN, 0.1, 1, 1024.0)], {"io": 0.1}, None),
    (WORKERS, {"busy": (90.0,) * 20}, None),
    # Another job works on the GPU, and this one holds nothing of it.
    (WORKERS, {"held": False}, None),
])
def test_the_input_of_an_idle_gpu(run, tmp_path, programs, more, text):
    found = starved(run, training(tmp_path / "x.jsonl", programs, **more))
    assert found == (text and IDLE + text)


def test_loading_and_saving_do_not_count(run, tmp_path):
    """Only the time from the first to the last use counts, and only waits that cannot lie outside of it."""
    busy = (0.0,) * 20 + (50.0,) * 20 + (0.0,) * 20
    found = starved(run, training(tmp_path / "x.jsonl", [program(TRAIN, 8.5, 9, 1024.0)], busy=busy))
    assert found.startswith("Its GPU had no work for 50.0 % of the 20.0 s from first to last use, while python3 train.py ")
    alone = [program(TRAIN, 0.1, 1, 1024.0)]
    for secs, told in ((42.0, False), (44.0, True)):
        path = training(tmp_path / "y.jsonl", alone, busy=busy, waits=[{"class": "storage", "wait_secs": secs}])
        assert (starved(run, path) is not None) == told
    assert starved(run, training(tmp_path / "z.jsonl", [program(TRAIN, 8.5, 9, 1024.0)], busy=(0.0,) * 20)) is None


def test_busy_workers_are_a_use_of_the_gpu(run, tmp_path):
    """As on an H200: two busy workers, kernels of microseconds, and a use of 0 % in each sample but the first."""
    loading, path = [program(TRAIN, 1.0, 1, 1024.0)], tmp_path / "x.jsonl"
    training(path, loading, busy=(0.0,) * 5 + (1.0,) + (0.0,) * 14)
    samples = [json.loads(line) for line in path.read_text().splitlines()]
    for one in samples[7:17]:
        one["programs"] = [loading[0], program("pt_data_worker", 1.9, 2)]
    recordings.write(path, samples)
    assert starved(run, path).startswith("Its GPU had no work for 99.9 % of the 12.0 s from first to last use, while its 2 DataLoader workers ")


def test_a_busy_gpu_comes_before_the_core_that_drives_it(run, tmp_path):
    """The thread that synchronizes spins. A GPU that is idle between two uses is another matter."""
    def rules(busy):
        path = training(tmp_path / "x.jsonl", [program(TRAIN, 1.0, 1, 1024.0)], busy=busy)
        found = json.loads(run("summary", "--json", path).out)["bottlenecks"]
        return [one["rule"] for one in found], found[0]["text"]
    assert rules((0.0,) * 8 + (99.0,) * 12) == (
        ["gpu_mostly", "one_core"], "0.59 of 1 GPU was busy on average, and 99.0 % of the time from first to last use.")
    assert rules((0.0,) * 11 + (99.0,) * 9)[0] == ["one_core"]
    assert rules((65.0,) * 20)[0][:1] != ["gpu_mostly"]
    assert rules((99.0,) * 20)[0][0] == "gpu_bound"


def test_idle_samples_between_two_uses_count(run, tmp_path):
    found = starved(run, training(tmp_path / "x.jsonl", WORKERS, busy=(100.0, 0.0, 0.0, 0.0) * 5 + (100.0,), gpus=2))
    assert found.startswith("Its GPUs had no work for 71.4 % of the 21.0 s from first to last use, ")


def test_a_divided_gpu_counts_by_its_instances(run, tmp_path):
    path = training(tmp_path / "x.jsonl", WORKERS)
    samples = [json.loads(line) for line in path.read_text().splitlines()]
    for one in samples:
        one["gpu"].append(dict(one["gpu"][0], uuid="MIG-1", mig_parent="GPU-0", process_utilization_pct=100.0))
    assert starved(run, recordings.write(path, samples)) is None


def test_starvation_is_the_first_answer_and_on_the_page(run, tmp_path):
    path = training(tmp_path / "x.jsonl", WORKERS)
    assert "Bottleneck GPU input: Its GPU had no work" in run("summary", path).out
    page = tmp_path / "page.html"
    assert run("report", path, "-o", page).returncode == 0
    assert "DataLoader workers (pt_data_worker)" in page.read_text()
