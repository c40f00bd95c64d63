"""recommend: several ranks of one job, on one host or several."""
import json

import recordings

make, advice, rules = recordings.steady, recordings.advice, recordings.rules


def note(answer, rule):
    return next(one["text"] for one in answer["notes"] if one["rule"] == rule)


def rank(path, number, *, host="node-1", memory=100.0, cores=1.0, scheduler=None, **more):
    samples = [json.loads(line) for line in make(path, memory=memory, cores=cores, **more).open()]
    for one in samples:
        one.update(rank=number, host=host)
    samples[0]["run_start"]["scheduler"] = scheduler or {}
    return recordings.write(path, samples)


def slurm(number, tasks=4, nodes=1, step="0"):
    return {"SLURM_JOB_ID": "7", "SLURM_STEP_ID": step, "SLURM_PROCID": str(number), "SLURM_NTASKS": str(tasks),
            "SLURM_JOB_NUM_NODES": str(nodes)}


def test_ranks_on_one_host_are_added_up(run, tmp_path):
    """Four ranks of 50 to 220 MiB are a job of 541 MiB. The advice was once `--mem=512M`."""
    runs = [rank(tmp_path / f"{i}.jsonl", i, memory=mib, scheduler=slurm(i)) for i, mib in enumerate([50.0, 110.0, 161.0, 220.0])]
    text = run("recommend", "--for", "slurm", *runs).out
    assert text == "#SBATCH --nodes=1\n#SBATCH --ntasks=4\n#SBATCH --cpus-per-task=1\n#SBATCH --mem=656M\n"
    answer = advice(run, *runs)
    assert (answer["runs"], answer["cpu"], answer["memory"]) == (1, 4, 656) and "one_run" in rules(answer)
    assert answer["tasks"] == {"count": 4, "recorded": 4, "hosts": 1, "on_one_host": 4, "cpus_per_task": 1,
                               "largest_memory_mib": 220.0}
    assert "4 on one host of 1, 1 CPU each" in run("recommend", *runs).out


def short_of_cpu(path, number, machine, scheduler):
    """Writes a rank that got half of a core on a machine of two, where `machine` cores were in use."""
    samples = [json.loads(line) for line in rank(path, number, cores=0.5, scheduler=scheduler, start=dict(recordings.NO_LIMITS, cpu_count=2),
                                                 pressure={"cpu_some_secs": 0.6, "source": "cgroup"}).open()]
    samples[0]["run_start"]["scheduler"] = scheduler
    for one in samples:
        one["cpu"]["utilization_pct"] = machine
    return recordings.write(path, samples)


def test_ranks_of_the_same_job_are_not_other_programs(run, tmp_path):
    """Four ranks use the two cores of a host. Seen from one of them, three quarters of that are others'."""
    runs = [short_of_cpu(tmp_path / f"{i}.jsonl", i, 2.0, slurm(i)) for i in range(4)]
    answer = advice(run, *runs)
    assert "all its cores were busy, and more cores would have helped" in note(answer, "cpu_starved")
    assert "host_shared" not in rules(answer) and answer["allocation"] == "dedicated"
    # Only one of the four has a recording: the others may be this job's ranks.
    answer = advice(run, runs[0])
    assert note(answer, "cpu_starved").endswith(": no CPU was free")
    assert "host_shared" not in rules(answer) and answer["allocation"] == "unknown"
    # Two ranks and another program.
    runs = [short_of_cpu(tmp_path / f"s{i}.jsonl", i, 2.0, slurm(i, tasks=2)) for i in range(2)]
    assert note(advice(run, *runs), "host_shared").startswith("1.00 of the 2.00 cores in use were this job's")


def test_ranks_on_several_hosts_bring_their_own_memory(run, tmp_path):
    runs = [rank(tmp_path / f"{i}.jsonl", i, host=f"node-{i % 2}", memory=400.0, cores=2.0, scheduler=slurm(i, nodes=2)) for i in range(4)]
    assert run("recommend", "--for", "slurm", *runs).out == (
        "#SBATCH --nodes=2\n#SBATCH --ntasks=4\n#SBATCH --cpus-per-task=2\n#SBATCH --mem-per-cpu=240M\n")
    assert advice(run, *runs)["memory"] == 960


def test_a_rank_that_was_not_recorded_is_like_the_others(run, tmp_path):
    runs = [rank(tmp_path / f"{i}.jsonl", i, memory=mib, scheduler=slurm(i)) for i, mib in enumerate([300.0, 500.0])]
    answer = advice(run, *runs)
    assert answer["memory"] == 1920 and "2 of 4 tasks were recorded" in note(answer, "ranks_missing")


def test_a_batch_script_that_starts_its_ranks_holds_all_of_them(run, tmp_path):
    scheduler = {"SLURM_JOB_ID": "7", "SLURM_PROCID": "0", "SLURM_NTASKS": "4", "SLURM_JOB_NUM_NODES": "1"}
    path = rank(tmp_path / "x.jsonl", 0, memory=541.0, cores=4.0, scheduler=scheduler)
    assert run("recommend", "--for", "slurm", path).out == (
        "#SBATCH --nodes=1\n#SBATCH --ntasks=4\n#SBATCH --cpus-per-task=1\n#SBATCH --mem=656M\n")


def test_a_real_task_knows_its_job(run, tmp_path):
    """Records one of 4 tasks on 2 nodes in Slurm's environment."""
    run("-i", 0.25, "-o", tmp_path / "real.jsonl", "--", "sh", "-c", "sleep 1.2", env=slurm(1, tasks=4, nodes=2))
    text = run("recommend", "--for", "slurm", tmp_path / "real.jsonl").out
    assert text == "#SBATCH --nodes=2\n#SBATCH --ntasks=4\n#SBATCH --cpus-per-task=1\n#SBATCH --mem-per-cpu=16M\n"
    assert "1 of 4 tasks were recorded" in note(advice(run, tmp_path / "real.jsonl"), "ranks_missing")


def test_ranks_without_a_scheduler_are_those_of_the_same_time(run, tmp_path):
    runs = [rank(tmp_path / f"{i}.jsonl", i, memory=300.0) for i in range(3)]
    assert (lambda answer: (answer["runs"], answer["memory"]))(advice(run, *runs)) == (1, 1088)
    # The same ranks a minute later are another run; so are other steps of a job, and a job that was started again.
    later = [json.loads(line) for line in runs[0].open()]
    for one in later:
        one["timestamp"] += 60
    other = recordings.write(tmp_path / "later.jsonl", later)
    assert advice(run, *runs, other)["runs"] == 2
    steps = [rank(tmp_path / f"s{i}.jsonl", i % 2, memory=300.0, scheduler=slurm(i % 2, 2, step=str(i // 2))) for i in range(4)]
    assert (lambda answer: (answer["runs"], answer["memory"]))(advice(run, *steps)) == (2, 688)
    again = rank(tmp_path / "again.jsonl", 0, memory=300.0, scheduler=slurm(0, 2))
    assert advice(run, steps[0], steps[1], again)["runs"] == 2
