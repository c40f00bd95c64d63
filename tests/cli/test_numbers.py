"""Figures that were false once: each test failed before the fix."""
import json
import os
import shutil
import subprocess
import sys
import time

import pytest

import memory_truth
import recordings
from conftest import clean_environment, json_lines, summed

WRITE_32_MIB = "import os; fd = os.open('data', os.O_CREAT | os.O_WRONLY); os.write(fd, bytes(1 << 25)); os.fsync(fd)"


@pytest.fixture
def record(recorded):
    """record("-i", 0.1, "--", "true") returns the samples."""
    return lambda *arguments, **options: recorded(*arguments, **options)[0]


# ---- a derived metric has its sources, whatever metrics are selected ------------------------------------------------

def test_totals_alone_are_sums_of_the_machine_and_not_0(record, tmp_path):
    samples = record("--metrics", "totals", "-i", 0.2, "--", sys.executable, "-c", WRITE_32_MIB + "; import time; time.sleep(0.3)")
    known = [one["totals"]["disk_write_bytes"] for one in samples if one["totals"]["disk_write_bytes"] is not None]
    whole = record("-i", 0.2, "--", sys.executable, "-c", WRITE_32_MIB + "; import time; time.sleep(0.3)")
    all_of_it = [one["totals"]["disk_write_bytes"] for one in whole if one["totals"]["disk_write_bytes"] is not None]
    if sum(all_of_it) < 1 << 25:
        pytest.skip("this file system is on no disk that is counted")
    assert sum(known) >= 1 << 25, samples


@pytest.mark.parametrize("name, path", [
    ("disk.read_bytes_per_sec", ("disk", 0, "read_bytes_per_sec")),
    ("network.rx_bytes_per_sec", ("network", 0, "rx_bytes_per_sec")),
    ("cgroup_usage_secs", ("cpu", "cgroup_usage_secs")),
])
def test_a_rate_alone_equals_that_among_all_metrics(record, name, path):
    def value(samples):
        found = samples[-1]
        for key in path:
            found = found[key] if not isinstance(key, int) or found else None
            if found is None:
                return None
        return found

    together, alone = (value(record(*options, "-i", 0.2, "--", "sleep", "0.5")) for options in ((), ("--metrics", name)))
    assert (alone is None) == (together is None)


@pytest.mark.parametrize("group, names", [
    ("run_end", ["tree_utime_secs", "tree_wall_secs", "tree_cpu_wait_secs", "memory_peak_elapsed_secs", "net_recv_bytes", "net_source",
                 "cgroup_oom_kills"]),
    ("run_start", ["memory_total_mib", "cpuset_cores"]),
])
def test_figures_of_a_run_alone_are_known_as_among_all_metrics(record, binary, tmp_path, group, names):
    """They come from rows that are not recorded then. The job is largest while it sleeps, so that a sample has its peak."""
    job = ["-i", 0.1, "--", memory_truth.build_job(binary, tmp_path),
           *"private 30 fork 1 { read sleep 400 } wait".split()]

    def known(samples):
        of_run = samples[-1 if group == "run_end" else 0][group]
        return {name for name in names if of_run[name] is not None}

    together = known(record(*job))
    for name in names:
        samples = record("--metrics", f"{group}.{name}", *job)
        assert known(samples) >= {name} & together, name
        assert all(sample["cpu"]["process_utime_secs"] is None and sample["memory"]["total_mib"] is None for sample in samples)
    assert names[0] in together


def test_lists_that_were_not_read_before_the_end_are_null_and_not_empty(record):
    for _ in range(20):
        disks = record("--", "true")[0]["disk"]
        # A run of some milliseconds may end before the file systems are read.
        if disks and disks[0]["capacity_bytes"] is None:
            assert all(disk["mounts"] is None for disk in disks)
            return
    pytest.skip("no run ended before its tracker looked around, or there is no disk")


# ---- CPU time of processes that the job did not wait for
# -------------------------------------------------------------

BURN = "while time.process_time() < {}: pass\n"


def burner(secs):
    """Returns shell words that keep a core busy in another session."""
    return f"setsid {sys.executable} -c 'import time\n{BURN.format(secs)}'"


# Ends when the burner that it left in the background has used 0.4 s of CPU time.
DAEMON = (f"(setsid {sys.executable} -c 'import time\n{BURN.format(0.4)}open(\"spent\", \"w\")\n{BURN.format(5)}' &); "
          "until [ -e spent ]; do sleep 0.05; done")


def cpu_secs(samples):
    return summed(samples, "process_utime_secs") + summed(samples, "process_stime_secs")


def told(run, samples, path):
    """The results of run_end, the summary and the advice: (CPU seconds, mean cores, wall seconds)."""
    end, figures = samples[-1]["run_end"], json.loads(run("summary", "--json", path).out)
    tree_secs = end["tree_utime_secs"] + end["tree_stime_secs"]
    assert tree_secs == pytest.approx(cpu_secs(samples), abs=0.01)
    return figures["time"]["cpu_secs"], figures["cores"]["mean"], tree_secs


@pytest.mark.parametrize("options, script, least, mean", [
    ((), DAEMON, 0.39, (0.01, 1.5)),
    (("--wait-descendants",), f"({burner(1)} &); sleep 0.2", 0.98, (0.15, 1.05)),
    (("--no-children",), f"{burner(1)}; true", 0.0, (0.0, 0.2)),
], ids=["daemon", "waited for descendants", "without children"])
def test_the_summary_counts_the_cpu_time_that_the_samples_saw(record, run, tmp_path, options, script, least, mean):
    samples = record("-i", 0.3, *options, "--", "sh", "-c", script)
    cpu, cores, tree = told(run, samples, tmp_path / "run.jsonl")
    assert cpu == pytest.approx(tree, abs=0.01) and cpu >= least
    assert mean[0] <= cores <= mean[1]


def process_clock(pid):
    """Seconds of CPU time; the number of the clock is that of clock_getcpuclockid(3)."""
    return time.clock_gettime(~pid << 3 | 2)


def test_the_end_of_an_attached_process_has_its_cpu_time(record, run, tmp_path):
    with subprocess.Popen([sys.executable, "-c", "import time\n" + BURN.format(30)]) as job:
        before = process_clock(job.pid)
        samples = record("-i", 0.3, "--duration", 1, "--pid", job.pid)
        used = process_clock(job.pid) - before
        job.kill()
    cpu, cores, tree = told(run, samples, tmp_path / "run.jsonl")
    assert samples[-1]["run_end"]["utime_secs"] is None
    # The job also ran while the recorder started and ended. Recorded times are rounded to a microsecond.
    assert cpu == pytest.approx(tree, abs=0.01) and used / 2 <= cpu <= used + 1e-6 and 0 < cores <= 1.05


def test_a_job_that_waits_for_all_has_the_figures_of_wait4(record, run, tmp_path):
    samples = record("-i", 0.3, "--", sys.executable, "-c", "import time\n" + BURN.format(0.5))
    end, figures = samples[-1]["run_end"], json.loads(run("summary", "--json", tmp_path / "run.jsonl").out)
    assert figures["time"]["user_secs"] == end["utime_secs"] and figures["time"]["system_secs"] == end["stime_secs"]
    assert end["tree_wall_secs"] == end["wall_secs"]


def test_the_wall_time_of_a_job_of_a_millisecond_is_not_below_its_cpu_time(record):
    for _ in range(20):
        end = record("--", "true")[-1]["run_end"]
        assert end["wall_secs"] >= end["utime_secs"] + end["stime_secs"], end


def test_a_csv_row_of_a_moment_is_told_without_impossible_figures(run, tmp_path):
    path = tmp_path / "run.csv"
    assert run("-q", "--no-summary", "-o", path, "--", "true").returncode == 0
    text = run("summary", path).out
    assert " inf" not in text and " nan" not in text and " 0 ms" not in text, text
    assert "CSV does not record how it ended; -o FILE.jsonl does" in text and text.startswith("run.csv (pid ")
    figures = json.loads(run("summary", "--json", path).out)
    assert figures["time"]["wall_secs"] is None and figures["cores"]["mean"] is None


# ---- a tracker that has to wait
# --------------------------------------------------------------------------------------

@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("strace"), reason="needs strace")
@pytest.mark.parametrize("delay", ["delay_enter", "delay_exit"])
def test_the_machine_uses_no_more_cores_than_it_has_when_a_sample_takes_long(binary, tmp_path, no_leak_check, delay):
    path = tmp_path / "run.jsonl"
    busy = [subprocess.Popen([sys.executable, "-c", "import time\n" + BURN.format(30)]) for _ in range(os.cpu_count())]
    try:
        done = subprocess.run(
            ["strace", "-qq", "-o", "/dev/null", "-P", "/proc/stat", "-e", "trace=pread64",
             "-e", f"inject=pread64:{delay}=700000:when=3", binary, "-q", "-o", path, "-i", "0.1", "--duration", "1.5"],
            capture_output=True, env=clean_environment())
    finally:
        for process in busy:
            process.kill()
            process.wait()
    if done.returncode and b"ptrace" in done.stderr:
        pytest.skip("strace may not trace here")
    samples = json_lines(path)
    assert max(one["actual_interval_ms"] for one in samples) > 600, "the delay was not felt"
    assert max(one["cpu"]["utilization_pct"] for one in samples) <= os.cpu_count() + 0.05
    assert max(max(one["cpu"]["per_core_pct"]) for one in samples) <= 105


# ---- waiting of the job and of others
# --------------------------------------------------------------------------------

def test_a_sleeping_job_on_a_busy_machine_was_not_short_of_cpu(run, tmp_path):
    busy = [subprocess.Popen([sys.executable, "-c", "import time\n" + BURN.format(30)]) for _ in range(2 * os.cpu_count())]
    try:
        # An ordinary user's job has no control group of its own.
        path = tmp_path / "run.jsonl"
        assert run("-q", "--no-summary", "--cgroup=off", "-i", 0.2, "-o", path, "--", "sleep", "2").returncode == 0
    finally:
        for process in busy:
            process.kill()
            process.wait()
    figures = json.loads(run("summary", "--json", path).out)
    text = run("summary", path).out
    if figures["waiting"]["pressure_source"] == "host":
        assert figures["waiting"]["cpu_pressure_secs"] is None
        assert figures["waiting"]["machine_cpu_pressure_secs"] > 0.5
        assert "Held up" not in text or figures["waiting"]["cpu_short_secs"]
        assert "not necessarily the job's" in text
        # Its threads may wait for a CPU before they sleep. The two figures are read one after the other.
        own = figures["waiting"]["cpu_wait_secs"] or 0
        assert own < 1 and (figures["waiting"]["cpu_short_secs"] or 0) <= own + 0.1, figures["waiting"]
    assert figures["bottlenecks"][0]["rule"] == "waited", figures["bottlenecks"]


# ---- bytes that reached storage
# ---------------------------------------------------------------------------------------

def test_a_file_that_was_deleted_at_once_is_not_told_as_written_to_storage(record, run, tmp_path):
    mib = 1 << 20
    samples = record("-i", 0.5, "--", sys.executable, "-c", f"open('gone', 'wb').write(bytes(24 * {mib})); import os; os.remove('gone')")

    def total(name):
        return summed(samples, name)

    if total("process_disk_write_bytes") < 24 * mib:
        pytest.skip("the files of this test lie in memory")
    assert total("process_disk_cancelled_bytes") >= 20 * mib
    figures = json.loads(run("summary", "--json", tmp_path / "run.jsonl").out)["io"]
    assert figures["written_bytes"] == total("process_disk_write_bytes") - total("process_disk_cancelled_bytes") <= 4 * mib
    assert "MiB in files that were deleted before they reached it)" in run("summary", tmp_path / "run.jsonl").out


# ---- the group of the figures
# ------------------------------------------------------------------------------------------

def group(folder, **files):
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)


def last_cgroup(run, tree, *options):
    result = run("--root", tree, "-i", 0.01, "--duration", 0.03, *options)
    assert result.returncode == 0, result.err
    return json.loads(result.out.splitlines()[-1])["cgroup"]


def test_memory_is_of_the_nearest_group_that_has_the_controller(run, tmp_path):
    mounted = tmp_path / "sys/fs/cgroup"
    group(mounted / "job", memory__current="52428800\n", memory__events__local="oom_kill 3\n", cpu__stat="usage_usec 7000000\n")
    group(mounted / "job/own", cpu__stat="usage_usec 2500000\n")
    group(tmp_path / "proc/self", cgroup="0::/job/own\n", mountinfo="30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n")
    row = last_cgroup(run, tmp_path)
    assert (row["cpu_usage_secs"], row["memory_current_mib"], row["oom_kills"]) == (2.5, 50.0, 3)


@pytest.mark.parametrize("memory_path, cpu_secs", [("/session", None), ("/", 9.0)])
def test_the_root_of_one_hierarchy_is_not_told_beside_a_group_of_another(run, tmp_path, memory_path, cpu_secs):
    mounted = tmp_path / "sys/fs/cgroup"
    group(mounted / "cpuacct", cpuacct__usage="9000000000\n")
    group(mounted / "memory", memory__usage_in_bytes="52428800\n")
    group(mounted / "memory/session", memory__usage_in_bytes="52428800\n")
    group(tmp_path / "proc/self", cgroup=f"4:memory:{memory_path}\n2:cpuacct:/\n",
          mountinfo="30 1 0:26 / /sys/fs/cgroup/cpuacct rw - cgroup cgroup rw,cpuacct\n"
                    "31 1 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n")
    row = last_cgroup(run, tmp_path)
    assert (row["cpu_usage_secs"], row["memory_current_mib"]) == (cpu_secs, 50.0)


def test_the_peak_of_a_group_with_others_in_it_is_not_the_jobs(record):
    """The test runs in the group of its session; the peak of that group says nothing about a sleep."""
    end = record("-i", 0.2, "--cgroup=off", "--", "sleep", "0.5")[-1]["run_end"]
    assert end["cgroup_memory_peak_mib"] is None


# ---- space in df's way of counting
# -------------------------------------------------------------------------------------

def space_of(run, tmp_path, mounts, statvfs):
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/mountinfo").write_text(mounts)
    (tmp_path / ".statvfs").write_text(statvfs)
    result = run("--root", tmp_path, "-i", 0.01, "--duration", 0.05)
    assert result.returncode == 0, result.err
    return json.loads(result.out.splitlines()[-1])


def test_reserved_blocks_are_neither_used_nor_available(run, tmp_path):
    sample = space_of(run, tmp_path, "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n", "/ 100000000000 90000000000 30000000000\n")
    totals = sample["totals"]
    assert (totals["disk_space_total_gb"], totals["disk_space_used_gb"], totals["disk_space_free_gb"]) == (100.0, 10.0, 30.0)
    assert sample["disk"][0]["mounts"][0]["used_pct"] == 25.0


def test_an_image_is_counted_where_its_file_lies_and_named_like_a_device(run, tmp_path):
    sample = space_of(run, tmp_path, "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n23 22 7:1 / /image rw - ext4 /dev/loop1 rw\n",
                      "/ 100000000000 90000000000 30000000000\n/image 7000000000 1000000000 1000000000\n")
    assert sample["totals"]["disk_space_total_gb"] == 100.0 and sample["totals"]["disk_space_used_gb"] == 10.0
    assert [disk["device"] for disk in sample["disk"]] == ["sda1", "loop1"]


def test_a_root_that_is_an_image_itself_counts(run, tmp_path):
    sample = space_of(run, tmp_path, "22 1 7:0 / / rw - ext4 /dev/loop0 rw\n", "/ 1000000000 600000000 600000000\n")
    assert sample["totals"]["disk_space_total_gb"] == 1.0


# ---- traffic of the job's own network namespace
# --------------------------------------------------------------------------

SEND = """
import socket, time
time.sleep({wait})
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for i in range({count}):
    udp.sendto(bytes(1000), ("10.213.7.2", 9))
    if i % 50 == 0: time.sleep(0.001)
time.sleep({after})
"""


@pytest.fixture
def pair_of_namespaces(tmp_path):
    """Makes a namespace that can reach 10.213.7.2, yields its name, and removes it after the test."""
    names = [f"rt-{os.getpid()}-{side}" for side in "ab"]
    commands = [f"ip netns add {names[0]}", f"ip netns add {names[1]}",
                f"ip -n {names[0]} link add rt0 type veth peer name rt0 netns {names[1]}",
                f"ip -n {names[0]} addr add 10.213.7.1/24 dev rt0", f"ip -n {names[1]} addr add 10.213.7.2/24 dev rt0",
                f"ip -n {names[0]} link set rt0 up", f"ip -n {names[1]} link set rt0 up"]
    try:
        for command in commands:
            if not shutil.which("ip") or subprocess.run(command.split(), capture_output=True).returncode:
                pytest.skip("namespaces with a network are made by root, with ip(8)")
        yield names[0]
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], capture_output=True)


@pytest.mark.parametrize("attached", [False, True], ids=["wrapped", "attached"])
def test_the_traffic_of_a_namespace_of_the_jobs_own_is_the_jobs(record, run, tmp_path, pair_of_namespaces, attached):
    command = ["ip", "netns", "exec", pair_of_namespaces, sys.executable, "-c", SEND.format(wait=0.7, count=4000, after=0.5)]
    if attached:
        with subprocess.Popen(command) as job:
            time.sleep(0.3)
            samples = record("-i", 0.2, "--pid", job.pid)
            job.wait()
    else:
        samples = record("-i", 0.2, "--", *command)
    sent = summed(samples, "process_net_sent_bytes")
    assert 4_000_000 <= sent <= 4_400_000, [one["cpu"]["process_net_sent_bytes"] for one in samples]
    assert json.loads(run("summary", "--json", tmp_path / "run.jsonl").out)["network"]["sent_bytes"] == sent
    assert "(the job's own network namespace; loopback not counted)" in run("summary", tmp_path / "run.jsonl").out


def test_traffic_of_others_in_the_namespace_of_the_tracker_is_not_told_as_the_jobs(record, run, tmp_path):
    samples = record("-i", 0.2, "--", "sleep", "0.5")
    assert all(not one["cpu"]["process_net_sent_bytes"] for one in samples)
    assert "(the job's own" not in run("summary", tmp_path / "run.jsonl").out


# ---- work done elsewhere
# ---------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("name, instead", [
    ("srun", "srun resource-tracker -- COMMAND"), ("ssh", "ssh HOST resource-tracker -- COMMAND"),
    ("docker", "docker run IMAGE resource-tracker -- COMMAND"), ("kubectl", "as the command of the container"),
    ("sbatch", "in the script"), ("podman", "podman run IMAGE"),
])
def test_an_idle_launcher_is_told_to_have_its_work_elsewhere(record, run, tmp_path, name, instead):
    client = tmp_path / name
    client.write_text("#!/bin/sh\nsleep 0.3\n")
    client.chmod(0o755)
    record("-i", 0.1, "--", client)
    found = json.loads(run("summary", "--json", tmp_path / "run.jsonl").out)["bottlenecks"][0]
    assert found["rule"] == "elsewhere" and instead in found["text"] and found["text"].endswith("."), found
    assert "It ran elsewhere" in run("summary", tmp_path / "run.jsonl").out
    # The client needs 128 MiB; advice from it would kill the next run of the real work.
    advice = json.loads(run("recommend", "--json", tmp_path / "run.jsonl").out)
    assert advice["memory"] is None and name in advice["refused"] and instead in advice["refused"]


def programs_of(path, seen, cores, name="kubectl"):
    """A run of a shell of 8 s. Sample i has the program `name` if i is in `seen`."""
    recordings.steady(path, cores=cores, start={**recordings.NO_LIMITS, "executable": "bash", "mode": "wrap"})
    samples = [json.loads(line) for line in path.read_text().splitlines()]
    for i, one in enumerate(samples):
        one["programs"] = [{"name": "bash", "process_count": 1, "cpu_total_secs": cores * (i + 1)},
                           {"name": name, "process_count": int(i in seen), "exited_count": int(i == max(seen) + 1), "cpu_total_secs": 0.001}]
    recordings.write(path, samples)


@pytest.mark.parametrize("seen, cores, name, rule", [
    (range(7), 0.01, "kubectl", "elsewhere"), (range(2, 7), 0.01, "docker", "elsewhere"),
    (range(2), 0.01, "kubectl", "idle"), (range(7), 0.01, "kubectx", "idle"), (range(7), 0.9, "kubectl", "one_core")],
    ids=["all the time", "most of the time", "a short time", "another program", "the job works itself"])
def test_a_launcher_below_a_shell_is_told(run, tmp_path, seen, cores, name, rule):
    """Engines and CI systems start each step by a shell."""
    programs_of(tmp_path / "run.jsonl", seen, cores, name)
    found = json.loads(run("summary", "--json", tmp_path / "run.jsonl").out)["bottlenecks"][0]
    assert found["rule"] == rule, found
    advice = json.loads(run("recommend", "--json", tmp_path / "run.jsonl").out)
    assert (advice["memory"] is None) == (rule == "elsewhere") == (name in (advice["refused"] or ""))


def test_a_launcher_that_works_itself_is_judged_by_its_work(record, run, tmp_path):
    client = tmp_path / "docker"
    client.write_text(f"#!/bin/sh\nexec {sys.executable} -c 'while __import__(\"time\").process_time() < 0.5: pass'\n")
    client.chmod(0o755)
    record("-i", 0.1, "--", client)
    rules = [one["rule"] for one in json.loads(run("summary", "--json", tmp_path / "run.jsonl").out)["bottlenecks"]]
    assert "elsewhere" not in rules


# ---- the number of processes that have ended, and the tracker's own cost
# -----------------------------------------------------

@pytest.mark.parametrize("script, ended", [
    ("exec sleep 0.4", 1),
    ("i=0; while [ $i -lt 300 ]; do env true; i=$((i + 1)); done; exec sleep 0.3", 301),
    ("(exec env true); exec sleep 0.4", 2),
], ids=["one process", "many unseen", "one unseen"])
@pytest.mark.parametrize("programs", ["off", "8"])
def test_the_number_of_ended_processes_is_exact_or_null(record, run, tmp_path, script, ended, programs):
    samples = record("-i", 0.2, "--programs", programs, "--", "sh", "-c", script)
    # Process events tell of each end. They are not to be had everywhere, and too many stop the listener. Without them, a
    # look between two samples may still see the one process that a sample misses.
    allowed = {ended} if ended == 1 else {ended, None}
    count = samples[-1]["cpu"]["process_exited_count"]
    assert count in allowed
    assert json.loads(run("summary", "--json", tmp_path / "run.jsonl").out)["processes"]["exited"] == count


@pytest.mark.plain
def test_the_cost_of_the_tracker_includes_its_start(binary, tmp_path):
    path = tmp_path / "run.jsonl"
    pid = os.posix_spawn(binary, [binary, "-q", "--no-summary", "-o", os.fspath(path), "--", "sleep", "0.3"], clean_environment())
    _, status, used = os.wait4(pid, 0)
    samples = json_lines(path)
    end = samples[-1]["run_end"]
    truth = used.ru_utime + used.ru_stime - end["utime_secs"] - end["stime_secs"]
    told = sum(one["tracker"]["cpu_secs"] for one in samples)
    # It was once 42 to 55 % of the truth; KNOWN_LIMITS.md lists the parts that are still missing.
    assert status == 0 and 0.65 * truth <= told <= truth + 0.001, (told, truth)
