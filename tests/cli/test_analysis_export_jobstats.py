"""export --format jobstats: the record of a Slurm job that jobstats and reportseff read."""
import base64
import gzip
import json

import recordings

JOB = {"SLURM_JOB_ID": "77", "SLURM_CPUS_ON_NODE": "4", "SLURM_MEM_PER_NODE": "2048"}


def record_of(text):
    assert text.startswith("JS1:") and text.count("\n") == 1
    return json.loads(gzip.decompress(base64.b64decode(text[4:], validate=False)))


def write(folder, name, memories, *, host="node-1", cores=0.5, late=0.0, peak=None, variables=JOB, gpu=()):
    start = {**recordings.NO_LIMITS, "scheduler": dict(variables)}
    last = len(memories) - 1
    samples = [recordings.sample(number, cores=cores, memory=memory, host=host, timestamp=1_700_000_000.5 + late, gpu=list(gpu),
                                 elapsed_secs=number + 1.0, start=start if number == 0 else None,
                                 end={**recordings.END, "memory_peak_mib": peak} if number == last else None)
               for number, memory in enumerate(memories)]
    return recordings.write(folder / name, samples)


def test_tasks_of_a_node_are_summed_at_each_time(run, tmp_path):
    # The second rank begins two seconds later and 0.25 s off the grid; its 300 MiB meet the 100 of the first.
    one = write(tmp_path, "slurm-77.0.0.jsonl", [400.0, 400.0, 100.0, 100.0, None])
    two = write(tmp_path, "slurm-77.0.1.jsonl", [300.0, 200.0, None], late=2.25)
    other = write(tmp_path, "slurm-77.0.2.jsonl", [50.0, 60.0], host="node-2", cores=1.0)
    result = run("export", "--format", "jobstats", one, two, other)
    assert result.returncode == 0, result.err
    assert record_of(result.out) == {
        "nodes": {"node-1": {"total_memory": 2048 << 20, "used_memory": 400 << 20, "total_time": 4.0, "cpus": 4},
                  "node-2": {"total_memory": 2048 << 20, "used_memory": 60 << 20, "total_time": 2.0, "cpus": 4}},
        "total_time": 5.25, "gpus": 0}
    # At the same time they are 700 MiB.
    two = write(tmp_path, "slurm-77.0.1.jsonl", [300.0, 200.0, None])
    assert record_of(run("export", "--format", "jobstats", one, two).out)["nodes"]["node-1"]["used_memory"] == 700 << 20


def test_peak_between_the_samples_counts(run, tmp_path):
    one = write(tmp_path, "one.jsonl", [100.0, 100.0], peak=900.0)
    assert record_of(run("export", "--format", "jobstats", one).out)["nodes"]["node-1"]["used_memory"] == 900 << 20


def test_share_of_a_node_is_the_memory_of_each_cpu_or_the_limit(run, tmp_path):
    per_cpu = {"SLURM_JOB_ID": "77", "SLURM_CPUS_ON_NODE": "3", "SLURM_MEM_PER_CPU": "500"}
    node = record_of(run("export", "--format", "jobstats", write(tmp_path, "a.jsonl", [1.0], variables=per_cpu)).out)["nodes"]["node-1"]
    assert (node["cpus"], node["total_memory"]) == (3, 1500 << 20)
    # Without Slurm and limits it is the machine, and so it is if no machine can have as much.
    for variables in ({}, {**JOB, "SLURM_CPUS_ON_NODE": "9" * 20, "SLURM_MEM_PER_NODE": "9" * 20},
                      {"SLURM_JOB_ID": "77", "SLURM_CPUS_ON_NODE": "8", "SLURM_MEM_PER_CPU": "9" * 9}):
        node = record_of(run("export", "--format", "jobstats", write(tmp_path, "b.jsonl", [1.0], variables=variables)).out)["nodes"]["node-1"]
        assert (node["cpus"], node["total_memory"]) == (8, 4096 << 20)


def test_memory_that_is_unknown_is_left_out(run, tmp_path):
    node = record_of(run("export", "--format", "jobstats", write(tmp_path, "a.jsonl", [None, None])).out)["nodes"]["node-1"]
    assert "used_memory" not in node and node["total_time"] == 1.0


def test_gpus_that_the_job_may_see_count_once(run, tmp_path):
    def gpu(index, used, visible=True, **more):
        return {"uuid": f"GPU-{index}", "index": index, "visible": visible, "vram_total_bytes": 8 << 30, "vram_used_bytes": used << 30,
                "utilization_pct": 40.0, **more}

    gpus = [gpu(0, 2), gpu(1, 3, visible=False), gpu(2, 1, mig_parent="GPU-0")]
    files = [write(tmp_path, f"{rank}.jsonl", [1.0, 1.0], gpu=gpus) for rank in range(2)]
    record = record_of(run("export", "--format", "jobstats", *files).out)
    assert record["gpus"] == 1
    node = record["nodes"]["node-1"]
    assert node["gpu_total_memory"] == {"0": 8 << 30} and node["gpu_used_memory"] == {"0": 2 << 30}
    assert node["gpu_utilization"] == {"0": 40.0}


def test_figures_of_a_gpu_that_are_unknown_are_left_out(run, tmp_path):
    gpu = {"uuid": "GPU-0", "index": 0, "visible": True, "vram_total_bytes": 8 << 30, "vram_used_bytes": None, "utilization_pct": None}
    record = record_of(run("export", "--format", "jobstats", write(tmp_path, "a.jsonl", [1.0, 1.0], gpu=[gpu])).out)
    assert record["gpus"] == 1
    node = record["nodes"]["node-1"]
    assert node["gpu_total_memory"] == {"0": 8 << 30} and node["gpu_used_memory"] == {} and node["gpu_utilization"] == {}


def test_a_task_without_a_sample_leaves_the_others(run, tmp_path):
    whole = write(tmp_path, "whole.jsonl", [100.0, 100.0])
    empty = tmp_path / "empty.jsonl"
    empty.touch()
    torn = tmp_path / "torn.jsonl"
    torn.write_bytes((tmp_path / "whole.jsonl").read_bytes()[:40])
    alone = run("export", "--format", "jobstats", whole)
    for others in ([empty, whole], [whole, empty], [empty, whole, torn]):
        result = run("export", "--format", "jobstats", *others)
        assert result.returncode == 0 and record_of(result.out) == record_of(alone.out), result.err
    for file in empty, torn:
        result = run("export", "--format", "jobstats", file)
        assert result.returncode == 1 and not result.out
        assert f"{file}: " in result.err and "sample has been written yet" in result.err


def test_recordings_of_two_jobs_are_refused(run, tmp_path):
    one = write(tmp_path, "one.jsonl", [1.0])
    two = write(tmp_path, "two.jsonl", [1.0], variables={**JOB, "SLURM_JOB_ID": "78"})
    result = run("export", "--format", "jobstats", one, two)
    assert result.returncode == 1 and not result.out
    assert "two.jsonl is of job 78" in result.err and "job 77" in result.err


def test_a_pipe_and_a_file_get_the_same_record(run, tmp_path):
    one = write(tmp_path, "one.jsonl", [100.0, 100.0])
    text = run("export", "--format", "jobstats", one).out
    assert run("export", "--format", "jobstats", "-", stdin=one.read_bytes()).out == text
    assert run("export", "--format", "jobstats", one, "-o", tmp_path / "record").returncode == 0
    assert (tmp_path / "record").read_text() == text
