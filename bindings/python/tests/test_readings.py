"""Readings of processes and the machine, the trackers that write CSV, and requests to services."""
import contextlib
import http.server
import io
import json
import os
import pathlib
import subprocess
import sys
import threading
import time

import pytest

import resource_tracker_native as rt
from resource_tracker_native import (ProcessTracker, ResourceTracker, SystemTracker, TinyDataFrame, keeper,
                                     tracker_procfs, tracker_psutil)
from resource_tracker_native.helpers import aggregate_stats, render_csv_row, round_memory
from resource_tracker_native.tracker import PidTracker

NO_PID = 2 ** 22 + 1


@pytest.fixture
def sleeper():
    child = subprocess.Popen([sys.executable, "-c", "import time; x = bytearray(30 << 20); print(1, flush=True); time.sleep(60)"],
                             stdout=subprocess.PIPE)
    child.stdout.readline()
    yield child
    child.kill()
    child.wait()


@pytest.fixture
def service():
    """A service on loopback that notes each request and has an answer for every path."""
    asked, answers = [], {}

    class Answer(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append((self.path, self.headers.get("X-Application-ID")))
            found = answers.get(self.path.split("?")[0])
            self.send_response(200 if found is not None else 404)
            self.end_headers()
            self.wfile.write(json.dumps(found).encode())

        def log_message(self, *arguments):
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Answer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", asked, answers
    server.shutdown()
    server.server_close()


# ---- readings ----

def test_a_process(sleeper):
    me = rt.get_process_stats(os.getpid())
    assert set(me) == {"timestamp", "pid", "children", "utime", "stime", "memory_mib", "disk_read_bytes",
                       "disk_write_bytes", "gpu_usage", "gpu_vram_mib", "gpu_utilized", "gpu_utilized_indexes"}
    assert me["children"] == 1 and me["memory_mib"] > 35, "with its child"
    alone = rt.get_process_stats(os.getpid(), children=False)
    assert alone["children"] is None and alone["memory_mib"] < me["memory_mib"] - 25
    assert tracker_procfs.get_process_children(os.getpid()) == {sleeper.pid}
    assert tracker_procfs.get_process_rss(sleeper.pid) > 30 << 10 < tracker_procfs.get_process_pss_rollup(sleeper.pid)
    io_counters = tracker_procfs.get_process_proc_io(os.getpid())
    assert {"rchar", "wchar", "read_bytes", "write_bytes"} <= set(io_counters)
    assert tracker_procfs.get_process_proc_times(os.getpid())["utime"] >= 1
    assert tracker_psutil.get_process_stats is tracker_procfs.get_process_stats


def test_a_process_that_is_gone_has_used_nothing():
    gone = rt.get_process_stats(NO_PID)
    assert (gone["utime"], gone["memory_mib"], gone["disk_read_bytes"], gone["children"]) == (0, 0, 0, 0)
    assert tracker_procfs.get_process_children(NO_PID) == set()
    assert tracker_procfs.get_process_rss(NO_PID) == tracker_procfs.get_process_pss_rollup(NO_PID) == 0
    assert tracker_procfs.get_process_proc_times(NO_PID) == {"utime": 0, "stime": 0}
    assert tracker_procfs.get_process_proc_io(NO_PID) == {"read_bytes": 0, "write_bytes": 0}


def test_the_machine():
    machine = rt.get_system_stats()
    total = int(next(line for line in open("/proc/meminfo") if line.startswith("MemTotal")).split()[1]) / 1024
    assert 0 < machine["memory_used_mib"] < total and 0 < machine["memory_free_mib"] < total
    assert machine["processes"] > 1 and machine["utime"] > 0 and machine["stime"] > 0
    assert "lo" not in machine["disk_stats"] and machine["disk_spaces"]
    for disk in machine["disk_stats"].values():
        assert set(disk) == {"read_bytes", "write_bytes"}
    for space in machine["disk_spaces"].values():
        assert space["total"] >= space["used"] + space["free"] >= 0
    assert machine["gpu_utilized"] is not None


def test_the_first_names():
    from resource_tracker_native.tracker import get_pid_stats, get_system_stats

    first = get_pid_stats(os.getpid())
    assert type(first["utime"]) is int and first["pss"] > 1024 and "memory_mib" not in first
    machine = get_system_stats()
    assert type(machine["memory_used"]) is int and "memory_active_anon" in machine
    assert all(set(disk) == {"read_sectors", "write_sectors"} for disk in machine["disk_stats"].values())
    import resource_tracker_native.tracker as module
    with pytest.raises(AttributeError, match="no_such"):
        module.no_such


def test_partitions():
    names = [name for name in os.listdir("/sys/class/block")]
    for name in names:
        assert rt.is_partition(name) is os.path.exists(f"/sys/class/block/{name}/partition")
    assert rt.is_partition("nosuchdisk1") is False


def test_helpers():
    assert [round_memory(mib) for mib in (0, 128, 128.01, 1024.1, 2048, 2048.5, 10000)] == [128, 128, 256, 2048, 2048, 3072, 10240]
    assert aggregate_stats([]) == {}
    assert aggregate_stats([{"a": {"mean": 1, "max": 5}}, {"a": {"mean": 3}, "t": {"duration": 2}}]) == {
        "a": {"mean": 2, "max": 5}, "t": {"duration": 2}}
    with pytest.raises(ValueError):
        aggregate_stats([{"a": {"median": 1}}])
    assert render_csv_row(["a", 1, None, 2.5]) == b'"a",1,"",2.5\n'


# ---- CSV ----

def kill_after_lines(process, text_so_far, count=4):
    """Runs in a thread and signals the process once that many lines have been written."""
    def wait():
        while text_so_far().count("\n") < count:
            time.sleep(0.02)
        process.kill()

    threading.Thread(target=wait, daemon=True).start()


def test_a_process_as_csv(sleeper, tmp_path):
    path = tmp_path / "process.csv"
    path.write_text("")
    kill_after_lines(sleeper, path.read_text)
    tracker = ProcessTracker(pid=sleeper.pid, interval=0.05, output_file=str(path))
    assert tracker.status == "exited"
    assert path.read_text().splitlines()[0] == ('"timestamp","pid","children","utime","stime","cpu_usage","memory_mib",'
                                                '"disk_read_bytes","disk_write_bytes","gpu_usage","gpu_vram_mib","gpu_utilized"')
    frame = TinyDataFrame(csv_file_path=str(path))
    assert len(frame) >= 2 and set(frame["pid"]) == {sleeper.pid} and frame["memory_mib"][0] > 30
    with pytest.raises(ProcessLookupError):
        ProcessTracker(pid=NO_PID)


def test_the_machine_as_csv_on_standard_output():
    script = "from resource_tracker_native import SystemTracker\nSystemTracker(interval=0.05)\n"
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    lines = [process.stdout.readline() for _ in range(4)]
    process.terminate()
    process.communicate(timeout=60)
    assert lines[0].startswith('"timestamp","processes","utime"')
    assert all(len(line.split(",")) == 21 for line in lines)
    stamps = [float(line.split(",")[0]) for line in lines[1:]]
    assert stamps == sorted(stamps) and stamps[0] > time.time() - 60


def test_csv_into_a_replaced_standard_output(sleeper):
    out = io.StringIO()
    kill_after_lines(sleeper, out.getvalue)
    with contextlib.redirect_stdout(out), pytest.warns(DeprecationWarning, match="ProcessTracker"):
        PidTracker(sleeper.pid, interval=0.05, columns="0.1")
    assert '"pss"' in out.getvalue().splitlines()[0] and len(out.getvalue().splitlines()) >= 2


def test_rows_by_hand():
    tracker = SystemTracker(interval=0.01, autostart=False)
    first, second = tracker.diff_stats(), tracker.diff_stats()
    assert tracker.cycle == 2 and first["timestamp"] <= second["timestamp"] and tracker() is None
    process = ProcessTracker(autostart=False, columns="0.4")
    assert process.diff_stats()["pid"] == os.getpid() and process.stats["memory_mib"] > 1
    with pytest.raises(ValueError):
        SystemTracker(interval=0)


# ---- services ----

def test_recommended_servers(service, monkeypatch, caplog):
    address, asked, answers = service
    monkeypatch.setenv("KEEPER_API_URL", address)
    with ResourceTracker(interval=0.05, discover_cloud=False) as tracker:
        tracker.wait_for_samples(2, timeout=60)
        answers["/servers"] = [{"vendor_id": "aws", "api_reference": "t4g.nano", "min_price_ondemand": 0.0042}]
        assert tracker.recommend_server(vendor_id="aws")["api_reference"] == "t4g.nano"
        path, application = asked[-1]
        assert path.startswith("/servers?vcpus_min=1&memory_min=0.125&vendor_id=aws&order_by=min_price_ondemand")
        assert "limit=1" in path and application == "resource-tracker"
        answers["/servers"] = []
        assert tracker.recommend_server() is None and "no server" in caplog.text
    prices = [{"region_id": "eu", "allocation": "ondemand", "operating_system": "Linux", "price": 2.0},
              {"region_id": "us", "allocation": "spot", "operating_system": "Linux", "price": 0.5},
              {"region_id": "us", "allocation": "ondemand", "operating_system": "Linux", "price": 1.0}]
    answers["/server/aws/x/prices"] = prices
    assert keeper.get_instance_price("aws", "us", "x") == 1.0 and keeper.get_instance_price("aws", "ap", "x") == 2.0
    assert keeper.get_instance_price("aws", "us", "none") is None


def test_without_a_network_the_answer_is_empty(caplog):
    assert keeper.keeper_request("/servers") is None and "cannot be asked" in caplog.text
    assert keeper.get_recommended_cloud_servers(1, 128) is None
    assert keeper.get_instance_price("aws", "us", "x") is None


def test_where_this_is():
    server = rt.get_server_info()
    assert server["vcpus"] == os.cpu_count() and server["memory_mib"] > 64 and server["gpu_count"] == len(server["gpu_names"])
    cloud = rt.get_cloud_info()  # from a service that does not exist: see conftest.py
    assert set(cloud) >= {"vendor", "instance_type", "region", "discovery_time"}
    assert cloud["vendor"] == cloud["region"] == cloud["instance_type"] == "unknown" and 0 <= cloud["discovery_time"] < 60
    for _ in range(40):  # an immediate answer must not get lost
        assert rt.get_cloud_info()["vendor"] == "unknown"


@pytest.mark.parametrize("exit_code,told,status", [(0, 0, "finished"), (3, 3, "failed"), (-9, 137, "failed"), (0, 1, "failed")])
def test_the_last_request_of_a_stream(tmp_path, monkeypatch, exit_code, told, status):
    monkeypatch.syspath_prepend(pathlib.Path(__file__).resolve().parents[3] / "tests" / "fakes")
    from sentinel import Sentinel

    server = Sentinel()
    try:
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
        monkeypatch.setenv("SENTINEL_API_URL", server.base)
        server.finish_answer = {"stats": {"process_cpu_usage": {"mean": 0.5}}, "name": "\u00fcber"}
        tracker = ResourceTracker(interval=0.05, discover_cloud=False, sentinel_token=server.token)
        tracker.start()
        tracker.wait_for_samples(2, timeout=60)
        tracker.stop(exit_code=exit_code, run_status=status)
        assert tracker.sentinel_result == server.finish_answer, "as the server answered"
        assert (server.run.finish["exit_code"], server.run.finish["run_status"]) == (told, status)
    finally:
        server.close()


def test_an_unreachable_stream_never_hinders(tmp_path, monkeypatch, caplog):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    with ResourceTracker(interval=0.05, discover_cloud=False, sentinel_token="secret", settings={"upload_deadline": 1},
                         streaming_metadata={"job_name": "test", "tags": {"a": "b"}}) as tracker:
        tracker.wait_for_samples(2, timeout=60)
        assert tracker.sentinel_result is None
    assert tracker.sentinel_result is None and "has not reached the server" in caplog.text
    assert len(tracker.process_metrics) >= 2


# ---- GPUs ----

@pytest.fixture
def two_gpus(monkeypatch, tmp_path):
    fake = pathlib.Path(os.environ.get("RESOURCE_TRACKER", "build/resource-tracker")).parent / "tests" / "fakes" / "nvml_fake.so"
    if not fake.exists():
        pytest.skip("the fake NVML is not built")
    script = tmp_path / "script"
    script.write_text("gpus 2\nutilization 0 50 10\nutilization 1 30 10\nmemory 0 80000 500 1500\nmemory 1 80000 500 0\n"
                      f"process 0 {os.getpid()} c 1000 40\n")
    monkeypatch.setenv("TRACKER_NVML_LIBRARY", str(fake))
    monkeypatch.setenv("NVML_FAKE_SCRIPT", str(script))


def test_gpus(two_gpus):
    server = rt.get_server_info()
    assert server["gpu_count"] == 2 and server["gpu_memory_mib"] == 160000 and server["gpu_name"] == server["gpu_names"][0] != ""
    with ResourceTracker(interval=0.1, discover_cloud=False) as tracker:
        deadline = time.monotonic() + 30
        while not (tracker.n_samples and (tracker.process_metrics["gpu_usage"][-1] or 0) > 0.3) and time.monotonic() < deadline:
            tracker.wait_for_samples(tracker.n_samples + 1, timeout=30)
    job, machine = tracker.process_metrics.tail(2)[0], tracker.system_metrics.tail(2)[0]
    assert (round(job["gpu_usage"], 2), job["gpu_vram_mib"], job["gpu_utilized"]) == (0.4, 1000, 1)
    assert (round(machine["gpu_usage"], 2), machine["gpu_vram_mib"], machine["gpu_utilized"]) == (0.8, 1500, 2)
    assert tracker.stats()["process_gpu_vram_mib"]["max"] == 1000
    wanted = tracker.recommend_resources()
    assert (wanted["gpu"], wanted["vram"]) == (1, 2048)


def test_gpus_read_once(two_gpus):
    mine, machine = rt.get_process_stats(os.getpid()), rt.get_system_stats()
    assert mine["gpu_vram_mib"] == 1000 and machine["gpu_vram_mib"] == 1500 and machine["gpu_utilized"] == 2
    assert set(mine) >= {"gpu_usage", "gpu_utilized", "gpu_utilized_indexes"}
    first = rt.tracker.get_pid_stats(os.getpid())
    assert first["gpu_utilized_indexes"] == mine["gpu_utilized_indexes"] and first["gpu_vram"] == 1000
    gpus = rt.server_info.get_gpu_info()
    assert (gpus["count"], gpus["memory_mib"], len(gpus["gpu_names"])) == (2, 160000, 2)


def test_the_parts_of_a_server():
    assert rt.server_info.get_total_memory_mib() == rt.get_server_info()["memory_mib"] > 64
    assert rt.server_info.get_gpu_info()["count"] == len(rt.server_info.get_gpu_info()["gpu_names"])


@pytest.mark.skipif(os.geteuid() != 0, reason="a network namespace takes root")
def test_traffic_with_the_loopback_interface_alone_is_zero():
    script = ("import ctypes, sys\n"
              "if ctypes.CDLL(None).unshare(0x40000000) != 0: sys.exit('skip')\n"
              "import resource_tracker_native as rt\n"
              "machine = rt.get_system_stats()\n"
              "row = rt.SystemTracker(interval=0.1, autostart=False).diff_stats()\n"
              "print(machine['net_recv_bytes'], machine['net_sent_bytes'], row['net_recv_bytes'], row['net_sent_bytes'])")
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=50)
    if "skip" in done.stderr:
        pytest.skip("namespaces are refused here")
    assert done.stdout.split() == ["0"] * 4, done.stderr


def test_the_machines_totals_agree_with_the_storage_driver(tmp_path):
    """Reads the meter, /proc/diskstats; other programs may write at the same time."""
    def written():
        with open("/proc/diskstats") as file:
            return sum(int(line.split()[9]) * 512 for line in file if line.split()[2].startswith(("vd", "sd", "nvme", "xvd")))

    def work():
        with open(tmp_path / "blob", "wb") as file:
            file.write(b"x" * 20_000_000)
            file.flush()
            os.fsync(file.fileno())

    before = written()
    work()
    if written() - before < 15_000_000:
        pytest.skip("what is written here reaches no disk")
    with ResourceTracker(interval=0.1, discover_cloud=False) as tracker:
        work()
    assert sum(tracker.system_metrics["disk_write_bytes"]) > 15_000_000
