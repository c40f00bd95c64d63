"""ResourceTracker: its samples, its life, and the results it computes."""
import copy
import gc
import json
import multiprocessing
import operator
import os
import pickle
import re
import signal
import subprocess
import sys
import threading
import time

import pytest

from resource_tracker_native import ResourceTracker, StatSpec, TinyDataFrame, _native
from resource_tracker_native.dummy_workloads import cpu_multi, cpu_single
from resource_tracker_native.tracker import RunStatus
from work import burn

PROCESS = ["timestamp", "pid", "children", "utime", "stime", "cpu_usage", "memory_mib", "disk_read_bytes",
           "disk_write_bytes", "gpu_usage", "gpu_vram_mib", "gpu_utilized"]
SYSTEM = ["timestamp", "processes", "utime", "stime", "cpu_usage", "memory_free_mib", "memory_used_mib",
          "memory_buffers_mib", "memory_cached_mib", "memory_active_mib", "memory_inactive_mib", "disk_read_bytes",
          "disk_write_bytes", "disk_space_total_gb", "disk_space_used_gb", "disk_space_free_gb", "net_recv_bytes",
          "net_sent_bytes", "gpu_usage", "gpu_vram_mib", "gpu_utilized"]
STATS = {
    "process_cpu_usage": ["mean", "max"], "process_memory_mib": ["mean", "max"], "process_gpu_usage": ["mean", "max"],
    "process_gpu_vram_mib": ["mean", "max"], "process_gpu_utilized": ["mean", "max"],
    "system_disk_space_used_gb": ["max"], "system_net_recv_bytes": ["sum"], "system_net_sent_bytes": ["sum"],
    "timestamp": ["duration"],
}


def make(**arguments):
    return ResourceTracker(**{"interval": 0.05, "discover_cloud": False, **arguments})


@pytest.fixture(scope="module")
def recorded():
    """A finished run that was busy for a while."""
    tracker = make()
    block = bytearray(os.urandom(1 << 20) * 50)
    cpu_single(0.4)
    tracker.wait_for_samples(3, timeout=60)
    tracker.stop()
    assert block
    return tracker


# ---- what it records ----

def has_disk_mounts():
    """False in a chroot whose / is not a mount point: file systems are listed by their mounts."""
    with open("/proc/self/mountinfo") as mounts:
        return any(line.split(" - ")[1].split()[1].startswith("/dev/") for line in mounts)


def test_columns_and_types(recorded):
    assert recorded.process_metrics.columns == PROCESS and recorded.system_metrics.columns == SYSTEM
    for frame in (recorded.process_metrics, recorded.system_metrics):
        assert isinstance(frame, TinyDataFrame) and len(frame) == recorded.n_samples >= 3
        for row in frame:
            for name, value in row.items():
                whole = name in ("pid", "children", "processes", "gpu_utilized") or name.endswith("bytes")
                absent = value is None and name.startswith("disk_space_") and not has_disk_mounts()
                assert absent or type(value) is (int if whole else float), (name, value)
    assert set(recorded.process_metrics["pid"]) == {os.getpid()}
    assert max(recorded.process_metrics["memory_mib"]) > 50


def test_tables_can_be_pickled_and_copied(recorded):
    """Copies survive as artifacts of a flow, results of another process, ..."""
    for frame in (recorded.process_metrics, recorded.system_metrics[1:], recorded.get_combined_metrics(bytes=True)):
        for other in (pickle.loads(pickle.dumps(frame)), copy.deepcopy(frame)):
            assert other.columns == frame.columns and other.to_dict() == frame.to_dict()
    running = make()
    running.wait_for_samples(1, timeout=60)
    assert len(pickle.loads(pickle.dumps(running.process_metrics))) >= 1
    running.stop()


def test_older_columns():
    old, first = make(columns="0.4"), make(columns="0.1")
    for tracker in (old, first):
        tracker.wait_for_samples(2, timeout=60)
        tracker.stop()
    assert old.process_metrics.columns[6:9] == ["memory", "read_bytes", "write_bytes"]
    assert type(old.process_metrics[0]["memory"]) is int and old.process_metrics[0]["memory"] > 1024, "kB"
    assert first.process_metrics.columns[6] == "pss" and "memory_active_anon" in first.system_metrics.columns
    assert type(first.process_metrics[0]["utime"]) is int, "clock ticks"
    assert set(old.stats()) == {name.replace("_mib", "") for name in STATS}
    in_bytes, plain = old.get_combined_metrics(bytes=True), old.get_combined_metrics()
    assert in_bytes["process_memory"][0] == plain["process_memory"][0] * 1024
    with pytest.raises(ValueError, match="0.5"):
        make(columns="2")


def test_combined_columns(recorded):
    frame = recorded.get_combined_metrics()
    assert frame.columns == ["timestamp", *(f"system_{name}" for name in SYSTEM[1:]),
                             *(f"process_{name}" for name in PROCESS[1:])]
    for_people = recorded.get_combined_metrics(human_names=True)
    assert {"Timestamp", "System CPU usage", "Process memory usage", "System inbound network traffic"} <= set(for_people.columns)
    named = recorded.get_combined_metrics(system_prefix="", process_prefix="p.")
    assert "processes" in named.columns and "p.cpu_usage" in named.columns
    in_bytes = recorded.get_combined_metrics(bytes=True)
    assert in_bytes["process_memory_mib"][0] == frame["process_memory_mib"][0] * (1 << 20)
    total_gb = frame["system_disk_space_total_gb"][0]
    assert in_bytes["system_disk_space_total_gb"][0] == (total_gb * 10 ** 9 if has_disk_mounts() else None)
    later = recorded.get_combined_metrics(offset=2)
    assert later["timestamp"] == frame["timestamp"][2:] and len(recorded.get_combined_metrics(offset=10 ** 6)) == 0
    assert len(recorded.get_combined_metrics(offset=-1)) == len(frame), "nothing is left out, as in the package"


def test_data_can_be_read_and_changed_while_it_runs():
    with make(interval=0.01) as tracker:
        tracker.wait_for_samples(2, timeout=60)
        frame = tracker.process_metrics
        length, first = len(frame), frame[0]
        tracker.wait_for_samples(length + 5, timeout=60)
        assert len(frame) == length and len(frame["utime"]) == length, "a table does not grow"
        frame["utime"][0] = "changed"
        assert tracker.process_metrics[0] == first
        assert len(tracker.process_metrics) >= length + 5


def test_cpu_of_short_lived_children_is_exact():
    # bash reports this itself, after it has waited for all children.
    script = "for i in $(seq 60); do /bin/true; (i=0; while ((i++ < 2000)); do :; done); done; times"
    before = os.times()
    with make(interval=0.05) as tracker:
        time.sleep(0.06)
        own = os.times()
        told = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True).stdout
        used = os.times()
    secs = [int(part[:part.index("m")]) * 60 + float(part[part.index("m") + 1:-1])
            for line in told.splitlines() for part in line.split()]
    children = used.children_user + used.children_system - own.children_user - own.children_system
    assert abs(sum(secs) - children) < 0.05 * children + 0.02
    seen = sum(row["utime"] + row["stime"] for row in tracker.process_metrics)
    self_used = used.user + used.system - before.user - before.system
    # os.times() counts in ticks of 10 ms, and the tracker leaves out its own cost.
    assert children - 0.03 <= seen <= (children + self_used) * 1.01 + 0.05


def test_children_can_be_left_out():
    with make(children=False) as alone, make() as tree:
        subprocess.run(["bash", "-c", "for ((i = 0; i < 400000; i++)); do :; done"], check=True)
    used = [sum(row["utime"] + row["stime"] for row in tracker.process_metrics) for tracker in (alone, tree)]
    assert used[1] > used[0] * 3 and used[1] > 0.2


def test_another_process_is_followed_to_its_end():
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(0.5)"])
    tracker, alone = make(pid=child.pid), make(pid=child.pid, track_system=False)
    child.wait()
    count, ended = tracker.n_samples, alone.n_samples + 2
    tracker.wait_for_samples(count + 6, timeout=60)
    tracker.stop()
    assert alone.n_samples <= ended, "without the machine there is nothing to record after its end"
    assert len(tracker.system_metrics) >= count + 6, "the machine's rows go on"
    assert 2 <= len(tracker.process_metrics) <= count + 2 and len(tracker.get_combined_metrics()) == len(tracker.process_metrics)
    assert set(tracker.process_metrics["pid"]) == {child.pid}
    assert tracker.process_metrics["memory_mib"][0] > 1 and tracker.stats()["process_memory_mib"]["max"] > 1
    with pytest.raises(ProcessLookupError):
        make(pid=child.pid)


def test_one_kind_of_rows_alone():
    with make(track_system=False) as job, make(track_processes=False) as machine:
        job.wait_for_samples(2, timeout=60)
        machine.wait_for_samples(2, timeout=60)
    assert len(job.system_metrics) == 0 and len(machine.process_metrics) == 0
    assert job.trackers == ["process_tracker"] and machine.trackers == ["system_tracker"]
    assert job.stats()["process_memory_mib"]["max"] > 1 and job.stats()["system_net_recv_bytes"] == {"sum": None}
    assert machine.stats()["process_cpu_usage"] == {"mean": None, "max": None}
    assert machine.get_combined_metrics().columns == ["timestamp", *(f"system_{name}" for name in SYSTEM[1:])]
    assert job.recommend_resources()["memory"] >= 128
    with pytest.raises(RuntimeError, match="process"):
        machine.recommend_resources()
    assert machine.server_info["allocation"] == "unknown"
    assert "<html" in machine.report() and "<html" in job.report()


# ---- its life ----

def test_order_of_start_and_stop():
    tracker = make(autostart=False)
    assert not tracker.running and tracker.n_samples == 0 and len(tracker.process_metrics) == 0
    for call in (tracker.stop, tracker.snapshot, tracker.stats, tracker.wait_for_samples, tracker.recommend_resources,
                 tracker.report):
        with pytest.raises(RuntimeError):
            call()
    with pytest.raises(RuntimeError, match="was not started"):
        tracker.wait_for_samples()
    tracker.start()
    assert tracker.running and tracker.start_time <= time.time()
    with pytest.raises(RuntimeError, match="already running"):
        tracker.start()
    tracker.stop()
    assert not tracker.running and tracker.n_samples >= 1, "a short run has its last sample"
    stopped = tracker.stop_time
    tracker.stop()
    tracker.cleanup()
    assert tracker.stop_time == stopped
    with pytest.raises(RuntimeError, match="already stopped"):
        tracker.start()
    with pytest.raises(RuntimeError, match="already been stopped|been already stopped"):
        tracker.wait_for_samples(10 ** 6)


def test_programs_of_both_generations_can_start_it():
    tracker = make()
    assert tracker.running, "as the package did before 0.5"
    tracker.start()  # required since version 0.5
    with pytest.raises(RuntimeError):
        tracker.start()
    tracker.stop()
    with make() as tracker:
        assert tracker.running
    tracker = make(autostart=True)
    with pytest.raises(RuntimeError):
        tracker.start()


def test_context_manager_passes_exceptions_on():
    with pytest.raises(KeyError):
        with make() as tracker:
            raise KeyError("x")
    assert not tracker.running and tracker.n_samples >= 1
    with make() as tracker:
        tracker.stop(exit_code=3, run_status=RunStatus.failed)


def test_waiting():
    with make(interval=30) as tracker:
        begun = time.monotonic()
        with pytest.raises(RuntimeError, match="Timed out"):
            tracker.wait_for_samples(5, timeout=0.1)
        assert time.monotonic() - begun < 20
        ended = threading.Event()
        threading.Timer(0.05, ended.set).start()
        with pytest.raises(RuntimeError):
            tracker.wait_for_samples(5, timeout=0.3)
        assert ended.is_set(), "other threads run while one waits"


@pytest.mark.parametrize("arguments", [{"interval": 0}, {"interval": -1}, {"interval": float("nan")},
                                       {"method": "teleport"}, {"settings": {"no_such_setting": 1}}])
def test_senseless_arguments_are_refused(arguments):
    with pytest.raises(ValueError):
        make(**arguments)


def test_no_process_no_file_no_signal_handler(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    gc.collect()  # frees what earlier tests left

    def children():
        return open(f"/proc/self/task/{os.getpid()}/children").read().split()

    before = children()
    handlers = [signal.getsignal(number) for number in range(1, signal.NSIG)]
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    threads, descriptors = threading.active_count(), len(os.listdir("/proc/self/fd"))
    tracker = make()
    tracker.wait_for_samples(2, timeout=60)
    assert children() == before and threading.active_count() == threads
    assert handlers == [signal.getsignal(number) for number in range(1, signal.NSIG)]
    assert mask == signal.pthread_sigmask(signal.SIG_BLOCK, [])
    tracker.stop()
    del tracker
    gc.collect()
    assert os.listdir(tmp_path) == [] and len(os.listdir("/proc/self/fd")) == descriptors


def test_signals_reach_the_program_and_not_the_thread():
    seen = []
    before = signal.signal(signal.SIGUSR1, lambda *_: seen.append(threading.current_thread()))
    try:
        with make(interval=0.001) as tracker:
            for count in range(20):
                os.kill(os.getpid(), signal.SIGUSR1)
                deadline = time.monotonic() + 30
                while len(seen) <= count and time.monotonic() < deadline:
                    time.sleep(0.001)
            assert tracker.running
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert len(seen) == 20


def test_an_interrupt_ends_a_wait():
    script = ("from resource_tracker_native import ResourceTracker\nimport sys\n"
              "with ResourceTracker(interval=0.05, discover_cloud=False) as tracker:\n"
              "    print('here', flush=True)\n"
              "    import time\n"
              "    for _ in range(6000):\n"  # Python enters a sleep even if the signal came just before it
              "        time.sleep(0.01)\n")
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "here\n"
    process.send_signal(signal.SIGINT)
    _, problem = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGINT and "KeyboardInterrupt" in problem


def test_several_at_once_and_many_after_each_other():
    trackers = [make(interval=0.02) for _ in range(5)]
    for tracker in trackers:
        tracker.wait_for_samples(3, timeout=60)
    for tracker in trackers:
        tracker.stop()
    sums = [sum(tracker.process_metrics["utime"]) for tracker in trackers]
    assert all(tracker.n_samples >= 3 for tracker in trackers) and max(sums) < 60
    descriptors = len(os.listdir("/proc/self/fd"))
    for _ in range(50):
        make().stop()
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) <= descriptors


def _use(tracker, results):
    try:
        results.put(tracker.n_samples)
    except RuntimeError as problem:
        results.put(str(problem))
    with make() as own:
        own.wait_for_samples(2, timeout=60)
    results.put(own.n_samples)


def test_a_forked_child_has_trackers_of_its_own():
    context = multiprocessing.get_context("fork")
    with make(interval=0.005) as tracker:
        tracker.wait_for_samples(2, timeout=60)
        for _ in range(5):
            results = context.SimpleQueue()
            child = context.Process(target=_use, args=(tracker, results))
            child.start()
            assert "fork" in results.get(), "the parent's is refused, without a deadlock"
            assert results.get() >= 2
            child.join(60)
            assert child.exitcode == 0
        count = tracker.n_samples
        tracker.wait_for_samples(count + 2, timeout=60)


def test_threads_may_share_one():
    with make(interval=0.002) as tracker:
        tracker.wait_for_samples(1, timeout=60)
        problems = []

        def read():
            try:
                for _ in range(30):
                    frame = tracker.get_combined_metrics()
                    assert len(frame["process_utime"]) == len(frame)
            except Exception as problem:
                problems.append(problem)

        readers = [threading.Thread(target=read) for _ in range(4)]
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join(60)
        assert problems == []


def test_the_end_of_the_program_without_stop():
    script = ("from resource_tracker_native import ResourceTracker\n"
              "tracker = ResourceTracker(interval=0.001, discover_cloud=False)\ntracker.wait_for_samples(3)\n")
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


# ---- results ----

def test_stats(recorded):
    stats = recorded.stats()
    assert {column: list(values) for column, values in stats.items()} == STATS
    assert stats["process_memory_mib"]["max"] == round(max(recorded.process_metrics["memory_mib"]), 2)
    elapsed = recorded.stop_time - recorded.start_time
    # Each sample counts for the time since the one before, and the first one, which may come late, for an interval at most.
    cores, ends = recorded.process_metrics["cpu_usage"], recorded.process_metrics["timestamp"]
    begun = max(recorded.start_time, ends[0] - recorded.interval)
    lengths = [end - begin for begin, end in zip([begun, *ends], ends)]
    mean = sum(map(operator.mul, cores, lengths)) / sum(lengths)
    assert abs(stats["process_cpu_usage"]["mean"] - mean) < 0.02 and stats["process_cpu_usage"]["max"] == round(max(cores), 2)
    # The last sample is taken at the stop, before which a busy machine may hold it up.
    assert stats["timestamp"]["duration"] == pytest.approx(ends[-1] - begun, abs=0.011)
    assert elapsed - (begun - recorded.start_time) - 1 < stats["timestamp"]["duration"] <= elapsed + 0.05
    own = recorded.stats([StatSpec("process_utime", sum, "cpu"), StatSpec("system_processes", len),
                          StatSpec("no_such_column", max)])
    assert own == {"process_utime": {"cpu": sum(recorded.process_metrics["utime"])},
                   "system_processes": {"len": recorded.n_samples}}


def test_recommendations(recorded):
    wanted = recorded.recommend_resources()
    assert wanted == {"cpu": 1, "memory": 128, "gpu": 0, "vram": 0} or wanted["memory"] == 256
    earlier = dict(recorded.stats(), process_cpu_usage={"mean": 6.9, "max": 8}, process_memory_mib={"mean": 1, "max": 5000})
    cores = round((recorded.stats()["process_cpu_usage"]["mean"] + 6.9) / 2)
    # Two runs that differ get 52 % more than the larger. 200 of which one differs get 3 %.
    assert recorded.recommend_resources(historical_stats=[earlier]) == {"cpu": cores, "memory": 7600, "gpu": 0, "vram": 0}
    alike = [dict(earlier, process_memory_mib={"mean": 1, "max": 5000 - run % 7}) for run in range(199)]
    assert recorded.recommend_resources(historical_stats=alike)["memory"] == 5136


def test_several_cores_are_seen():
    with make() as tracker:
        cpu_multi(duration=0.3, ncores=2)
    assert tracker.process_metrics["children"] and max(tracker.process_metrics["children"]) >= 2
    cores = os.cpu_count() or 1
    assert max(tracker.process_metrics["cpu_usage"]) <= cores * 1.1 + 0.5


def test_report(recorded, tmp_path, monkeypatch):
    import webbrowser

    opened = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    report = recorded.report()
    assert report.startswith("<!DOCTYPE html>") and len(report) > 100_000
    assert "http://" not in report.replace("http://www.w3.org", ""), "it needs no network"
    assert report.save(str(tmp_path / "report.html")) is report
    assert (tmp_path / "report.html").read_text() == report
    assert report.browse() is report and opened[0].startswith("file://")
    os.unlink(opened[0][len("file://"):])
    assert "Metaflow 2.12" in recorded.report("Metaflow", status_failed=True, integration_version="2.12")


def test_a_recording_beside_it(tmp_path):
    path = tmp_path / "run.jsonl"
    with make(output_file=path, settings={"job_name": "test", "tag": ["a=1", "b=2"]}) as tracker:
        tracker.wait_for_samples(2, timeout=60)
        assert "<html" in tracker.report(), "of the recording so far"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(lines) == tracker.n_samples and lines[-1]["run_end"]["reason"] == "tracker_stopped"
    assert lines[0]["job_name"] == "test" and len(lines[0]["run_start"]["tags"]) == 2
    assert [round(line["timestamp"], 3) for line in lines] == tracker.process_metrics["timestamp"]


@pytest.mark.parametrize("settings, size", [({"input": ["a.bin", "deep"]}, 4300), ({"input": "*.bin"}, 300), ({"input_bytes": 5 * 10**9}, 5 * 10**9),
                                            ({"input": ["missing"]}, None)])
def test_the_size_of_the_input(tmp_path, monkeypatch, settings, size):
    (tmp_path / "deep").mkdir()
    (tmp_path / "a.bin").write_bytes(bytes(300))
    (tmp_path / "deep" / "x").write_bytes(bytes(4000))
    monkeypatch.chdir(tmp_path)
    with make(output_file="run.jsonl", settings=settings):
        pass
    start = json.loads((tmp_path / "run.jsonl").read_text().splitlines()[0])["run_start"]
    assert (start["input_bytes"], start["input_source"]) == (size, size and "option")


def test_snapshots(recorded, tmp_path):
    snapshot = recorded.snapshot()
    assert list(snapshot) == ["metadata", "server_info", "cloud_info", "process_metrics", "system_metrics"]
    assert list(snapshot["metadata"]) == [
        "version", "resource_tracker", "pid", "children", "interval", "method", "autostart", "track_processes",
        "track_system", "discover_server", "discover_cloud", "start_time", "stop_time", "duration"]
    assert snapshot["process_metrics"] == recorded.process_metrics.to_dict()
    path = str(tmp_path / "run.json.gz")
    recorded.dump(path)
    for again in (ResourceTracker.load(path), ResourceTracker.loads(recorded.dumps()),
                  ResourceTracker.from_snapshot(snapshot)):
        assert not again.running and again.n_samples == recorded.n_samples
        assert again.stats() == recorded.stats() and again.recommend_resources() == recorded.recommend_resources()
        assert again.server_info == recorded.server_info and again.pid == recorded.pid
        assert "<html" in again.report()
        with pytest.raises(RuntimeError):
            again.start()


def test_snapshots_of_earlier_versions():
    row = {"timestamp": 10.0, "pid": 5, "children": "", "utime": 1, "stime": 0, "cpu_usage": 1.0, "memory": 2048,
           "read_bytes": 1, "write_bytes": 2, "gpu_usage": 0, "gpu_vram": 3, "gpu_utilized": 0}
    machine = {"timestamp": 10.0, "cpu_usage": 1.0, "memory_used": 1024, "disk_space_used_gb": 1.0,
               "net_recv_bytes": 5, "net_sent_bytes": 6}
    snapshot = {"metadata": {
        "version": 1, "resource_tracker": {"version": "0.4.0", "implementation": "procfs"}, "pid": 5, "children": True,
        "interval": 1, "method": None, "autostart": True, "track_processes": True, "track_system": True,
        "discover_server": True, "discover_cloud": True, "start_time": 9.0, "stop_time": 10.5, "duration": 2.5},
        "server_info": None, "cloud_info": {"vendor": "aws"}, "process_metrics": [row], "system_metrics": [machine]}
    tracker = ResourceTracker.from_snapshot(snapshot)
    assert tracker.process_metrics[0]["memory_mib"] == 2.0 and tracker.process_metrics[0]["children"] is None
    stats = tracker.stats()
    assert stats["system_disk_space_used_gb"]["max"] == round((1 << 30) / 1e9, 2)
    assert stats["timestamp"]["duration"] == 1.0 and tracker.cloud_info == {"vendor": "aws"}


def test_where_it_ran(recorded):
    info = recorded.server_info
    assert list(info) == ["os", "vcpus", "memory_mib", "gpu_count", "gpu_names", "gpu_name", "gpu_memory_mib", "allocation"]
    assert info["os"] == "Linux" and info["vcpus"] == os.cpu_count() and info["allocation"] in ("dedicated", "shared")
    assert recorded.cloud_info is None and make(discover_server=False).server_info is None
    assert make(autostart=False).server_info is None


# ---- the page ----

def data_of(page):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S).group(1))


def page_of(tracker, **arguments):
    return data_of(tracker.report(**arguments))


SERVERS = ("vendor_id,api_reference,region_id,vcpus,memory_mib,gpu_count,gpu_memory_mib,price_usd_per_hour\n"
           "aws,small,us-east-1,2,4096,0,0,0.01\naws,big,us-east-1,8,8192,0,0,0.36\n")


@pytest.fixture(scope="module")
def longer():
    """A run long enough for advice."""
    with make() as tracker:
        time.sleep(1.3)
    return tracker


def test_a_report_shows_costs(longer, tmp_path):
    (tmp_path / "servers.csv").write_text(SERVERS)
    catalogue = str(tmp_path / "servers.csv")
    server = page_of(longer, catalogue=catalogue)["runs"][0]["advice"]["server"]
    assert (server["api_reference"], server["price_usd_per_hour"]) == ("small", 0.01)
    page = page_of(longer, catalogue=catalogue, instance="aws/us-east-1/big")
    assert (page["usd_per_hour"], page["instance"]) == (0.36, "aws/us-east-1/big")
    assert page_of(longer, usd_per_hour=2.5)["usd_per_hour"] == 2.5
    with pytest.raises(FileNotFoundError):
        longer.report(catalogue=catalogue, instance="aws/us-east-1/none")
    with pytest.raises(FileNotFoundError):
        longer.report(catalogue=str(tmp_path / "no.csv"))


def test_a_report_knows_its_cloud(longer, tmp_path):
    (tmp_path / "servers.csv").write_text(SERVERS)
    snapshot = {**longer.snapshot(), "cloud_info": {"vendor": "aws", "region": "us-east-1", "instance_type": "big"}}
    page = page_of(ResourceTracker.from_snapshot(snapshot), catalogue=str(tmp_path / "servers.csv"))
    assert (page["usd_per_hour"], page["instance"]) == (0.36, "aws/us-east-1/big")
    snapshot["cloud_info"]["instance_type"] = "of no list"
    page = page_of(ResourceTracker.from_snapshot(snapshot), catalogue=str(tmp_path / "servers.csv"))
    assert page["usd_per_hour"] is None and page["runs"][0]["advice"]["server"]["api_reference"] == "small"


def test_a_report_has_a_title(recorded, tmp_path):
    assert page_of(recorded, title="train/7")["runs"][0]["file"] == "train_7"
    assert page_of(recorded)["runs"][0]["file"] == os.path.basename(sys.argv[0])
    named = make(settings={"job_name": "nightly"})
    named.stop()
    assert page_of(named)["runs"][0]["file"] == "nightly"
    filed = make(output_file=str(tmp_path / "run.jsonl"))
    filed.stop()
    assert page_of(filed, title="mine")["runs"][0]["file"] == "mine"


# ---- in its own process ----

@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_a_process_of_its_own(method, tmp_path):
    path = tmp_path / "run.jsonl"
    # multiprocessing of Python 3.14 has processes of its own for the other tests.
    children = _native.process_descendants(os.getpid())
    tracker = make(method=method, output_file=path)
    threads = len(os.listdir("/proc/self/task"))
    tracker.wait_for_samples(3, timeout=60)
    burn(0.2)
    with pytest.raises(RuntimeError, match="Timed out"):
        tracker.wait_for_samples(10 ** 6, timeout=0.05)
    assert len(os.listdir("/proc/self/task")) == threads, "no thread of ours"
    assert tracker.process_metrics["children"][-1] == len(children), "it is no child of ours"
    assert set(tracker.process_metrics["pid"]) == {os.getpid()}
    tracker.stop()
    assert sum(map(sum, zip(tracker.process_metrics["utime"], tracker.process_metrics["stime"]))) >= 0.19
    assert tracker.stats()["process_cpu_usage"]["max"] > 0 and list(tracker.stats()) == list(STATS)
    assert "<html" in tracker.report() and ResourceTracker.loads(tracker.dumps()).n_samples == tracker.n_samples
    assert json.loads(path.read_text().splitlines()[-1])["run_end"]["reason"] == "tracker_stopped"


def test_its_recording_is_whole_however_the_program_dies(tmp_path):
    path = tmp_path / "run.jsonl"
    script = ("from resource_tracker_native import ResourceTracker\nimport os, signal\n"
              f"tracker = ResourceTracker(interval=0.05, method='spawn', output_file={str(path)!r}, discover_cloud=False)\n"
              "tracker.wait_for_samples(2, timeout=60)\nos.kill(os.getpid(), signal.SIGKILL)\n")
    assert subprocess.run([sys.executable, "-c", script], timeout=60).returncode == -signal.SIGKILL
    deadline = time.monotonic() + 30
    while not (path.read_text().endswith("\n") and json.loads(path.read_text().splitlines()[-1])["run_end"]):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_its_fork_is_refused():
    tracker = make(method="spawn")
    tracker.wait_for_samples(1, timeout=60)
    child = os.fork()
    if child == 0:
        try:
            tracker.n_samples
        except RuntimeError:
            os._exit(0)
        os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    tracker.wait_for_samples(tracker.n_samples + 1, timeout=60)


def test_the_line_of_a_run_is_appended_to_a_file_of_runs(tmp_path, monkeypatch):
    runs = tmp_path / "runs.jsonl"
    monkeypatch.delenv("TRACKER_RUNS", raising=False)
    for name in ("first", "second"):
        tracker = ResourceTracker(interval=0.05, output_file=str(tmp_path / f"{name}.jsonl"), settings={"job_name": name})
        tracker.wait_for_samples(n=2, timeout=30)
        with pytest.raises(RuntimeError, match="stop it first"):
            tracker.append_run(str(runs))
        tracker.stop()
        line = tracker.append_run(str(runs))
        assert line["name"] == name and line["mode"] == "attach" and line["samples"] >= 2
    assert [json.loads(text)["name"] for text in runs.read_text().splitlines()] == ["first", "second"]
    with pytest.raises(ValueError, match="TRACKER_RUNS"):
        tracker.append_run()
    monkeypatch.setenv("TRACKER_RUNS", str(tmp_path / "others.jsonl"))
    tracker.append_run()
    assert len((tmp_path / "others.jsonl").read_text().splitlines()) == 1
    with pytest.raises(ValueError, match="no line is appended"):
        tracker.append_run(str(tmp_path / "first.jsonl"))
    with ResourceTracker(interval=0.05) as tracker:
        pass
    with pytest.raises(RuntimeError, match="output_file"):
        tracker.append_run(str(runs))


def test_advice_is_that_of_the_command_for_an_input_and_an_attempt(tmp_path):
    runs = tmp_path / "runs.jsonl"
    sizes = [20 * (i * 17 % 50 + 1) for i in range(40)]
    runs.write_text("".join(json.dumps({
        "schema": 1, "id": f"run-{i}", "outcome": "ok", "name": "align", "started": 1.7e9 + 1e5 * i, "wall_secs": 100.0 + mib, "samples": 60,
        "memory_peak_mib": 200.0 + mib, "cores_mean": 1.0, "cores_needed": 1.0, "input_bytes": mib << 20, "input_source": "option"}) + "\n"
        for i, mib in enumerate(sizes)))
    settings = {"job_name": "align", "input_bytes": 100 << 20}
    with ResourceTracker(interval=0.05, output_file=str(tmp_path / "run.jsonl"), settings=settings) as tracker:
        tracker.wait_for_samples(n=25, timeout=30)
        with pytest.raises(RuntimeError, match="stop it first"):
            tracker.advice()
    small, large, again = (tracker.advice(str(runs), input_bytes=mib << 20, attempt=attempt) for mib, attempt in ((100, 1), (800, 1), (800, 2)))
    assert small["runs"] == 41 and 290 < small["memory"] < 450 and 1000 < large["memory"] < 1250
    assert again["memory"] >= 1.4 * large["memory"] and again["time_secs"] > large["time_secs"] > small["time_secs"]
    assert tracker.advice([str(runs)], policy="cost")["policy"] == "cost"
    assert "input.size_mb" in tracker.advice(str(runs), form="snakemake")
    with pytest.raises(ValueError, match="there is no policy 'most'"):
        tracker.advice(policy="most")
    with ResourceTracker(interval=0.05) as tracker:
        pass
    with pytest.raises(RuntimeError, match="output_file"):
        tracker.advice()


@pytest.mark.parametrize("text, said", [
    ("null", "a snapshot is a JSON object"), ("3", "a snapshot is a JSON object"), ("[]", "a snapshot is a JSON object"),
    ('"x"', "a snapshot is a JSON object"), ("{}", "it lacks metadata, server_info, cloud_info, process_metrics, system_metrics"),
    ('{"metadata": {}, "server_info": null, "cloud_info": null, "process_metrics": [], "system_metrics": []}', "its metadata lacks pid"),
    ('{"metadata": 3, "server_info": null, "cloud_info": null, "process_metrics": [], "system_metrics": []}', "its metadata is no object"),
])
def test_loads_refuses_other_text_in_a_line(text, said):
    with pytest.raises(ValueError) as refused:
        ResourceTracker.loads(text)
    assert said in str(refused.value) and "\n" not in str(refused.value)


@pytest.mark.parametrize("part", ["process_metrics", "system_metrics"])
@pytest.mark.parametrize("rows", [None, 3, "x", [3], {"cpu": 3}])
def test_a_snapshot_with_odd_rows_is_refused_in_a_line(part, rows):
    with make() as tracker:
        pass
    snapshot = {**tracker.snapshot(), part: rows}
    with pytest.raises(ValueError, match=f"its {part} are no rows"):
        ResourceTracker.from_snapshot(snapshot)
