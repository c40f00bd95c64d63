"""resource_tracker_native.gpu_tracker: the interface, units, texts and files of the package gpu_tracker."""
import csv
import inspect
import json
import logging
import multiprocessing
import os
import pathlib
import signal
import sqlite3
import subprocess
import sys
import threading
import time

import pytest

from resource_tracker_native import gpu_tracker
from resource_tracker_native.gpu_tracker import (SubTracker, SubTrackingAnalyzer, Tracker, TrackingComparison, sub_track,
                                                 sub_tracker, tracker)
from work import burn

PROGRAM = os.environ["RESOURCE_TRACKER"]
FAKE_NVML = pathlib.Path(PROGRAM).parent / "tests" / "fakes" / "nvml_fake.so"
GPU = "GPU-0000000{}-0000-0000-0000-000000000000"
GIB_IN_MB = 1073.741824
ALLOCATED_MIB = 80


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def warnings(caplog):
    """warnings() returns the texts logged so far."""
    caplog.set_level(logging.WARNING)
    return lambda: [record.getMessage() for record in caplog.records]


@pytest.fixture
def recording(monkeypatch):
    """Keeps the recordings of trackers; recording() returns the path of the only one."""
    monkeypatch.setattr(tracker.os, "remove", lambda path: None)

    def only_one():
        [path] = pathlib.Path().glob(".gpu-tracker_*.jsonl")
        return path

    return only_one


def command(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], check=True, capture_output=True, text=True).stdout


def run_python(text, **more):
    return subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, **more)


# ---- the interface ------------------------------------------------------------------------------------------

EMPTY = inspect.Parameter.empty
# From gpu_tracker's API page; its version 5 added the last two parameters of Tracker.
PARAMETERS = {
    Tracker: {"sleep_time": 1.0, "ram_unit": "gigabytes", "gpu_ram_unit": "gigabytes", "time_unit": "hours",
              "n_expected_cores": None, "gpu_uuids": None, "disable_logs": False, "process_id": None,
              "resource_usage_file": None, "n_join_attempts": 5, "join_timeout": 10.0, "gpu_brand": None,
              "tracking_file": None, "overwrite": False},
    tracker.RSSValues: {"total_rss": 0.0, "private_rss": 0.0, "shared_rss": 0.0},
    tracker.ProcessingUnitPercentages: {"max_sum_percent": 0.0, "max_hardware_percent": 0.0, "mean_sum_percent": 0.0,
                                        "mean_hardware_percent": 0.0},
    tracker.MaxGPURAM: {"unit": EMPTY, "system_capacity": EMPTY, "system": 0.0, "main": 0.0, "descendants": 0.0,
                        "combined": 0.0},
    tracker.ComputeTime: {"unit": EMPTY, "time": 0.0},
    tracker.ResourceUsage: dict.fromkeys(["max_ram", "max_gpu_ram", "cpu_utilization", "gpu_utilization",
                                          "compute_time"], EMPTY),
    SubTracker: {"code_block_name": None, "code_block_attribute": None, "sub_tracking_file": None, "overwrite": False},
    sub_track: {"code_block_name": None, "code_block_attribute": None, "sub_tracking_file": None, "overwrite": False},
    SubTrackingAnalyzer: {"tracking_file": EMPTY, "sub_tracking_file": EMPTY},
    TrackingComparison: {"file_path_map": EMPTY},
}
NAMES = {
    tracker.MaxRAM: ["unit", "system_capacity", "system", "main", "descendants", "combined"],
    tracker.CPUUtilization: ["system_core_count", "n_expected_cores", "system", "main", "descendants", "combined",
                             "main_n_threads", "descendants_n_threads", "combined_n_threads"],
    tracker.GPUUtilization: ["system_gpu_count", "n_expected_gpus", "gpu_percentages"],
}


@pytest.mark.parametrize("thing", PARAMETERS, ids=lambda thing: thing.__name__)
def test_parameters_and_defaults_are_those_of_the_api_page(thing):
    found = inspect.signature(thing).parameters
    assert {name: parameter.default for name, parameter in found.items()} == PARAMETERS[thing]
    assert list(found) == list(PARAMETERS[thing]) and thing.__doc__


@pytest.mark.parametrize("kind", NAMES, ids=lambda kind: kind.__name__)
def test_fields_of_parts_with_parts(kind):
    assert list(inspect.signature(kind).parameters) == NAMES[kind]
    part = kind("gigabytes", 1.0) if kind is tracker.MaxRAM else kind(2, 1)
    inner = part.main if hasattr(part, "main") else part.gpu_percentages
    assert set(vars(inner).values()) == {0.0}


def test_names_of_the_package():
    assert tracker.Tracker is Tracker is gpu_tracker.Tracker
    assert [(state.name, state.value) for state in Tracker.State] == [("NEW", 0), ("STARTED", 1), ("STOPPED", 2)]
    assert set(gpu_tracker.__all__) == {"SubTracker", "SubTrackingAnalyzer", "Tracker", "TrackingComparison", "__version__",
                                        "sub_track"}


def test_states_and_calls_in_the_wrong_order(tmp_path):
    one = Tracker(disable_logs=True)
    assert (one.state, repr(one), one.resource_usage) == (Tracker.State.NEW, "State: NEW", None)
    for call in (one.stop, one.to_json, one.__str__):
        with pytest.raises(RuntimeError):
            call()
    one.start()
    assert repr(one) == "State: STARTED" and len(list(tmp_path.glob(".gpu-tracker_*.jsonl"))) == 1
    for call in (one.start, one.to_json):
        with pytest.raises(RuntimeError):
            call()
    one.stop()
    assert repr(one) == "State: STOPPED" and one.resource_usage is not None
    for call in (one.start, one.stop):
        with pytest.raises(RuntimeError):
            call()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("arguments, words", [
    ({"sleep_time": 0.0}, "Sleep time of 0.0 is invalid. Must be at least 0.1 seconds."),
    ({"sleep_time": float("nan")}, "Sleep time"),
    ({"ram_unit": "mib"}, "Valid values are bytes, gigabytes, kilobytes, megabytes, terabytes"),
    ({"gpu_ram_unit": "x"}, '"x" is not a valid GPU RAM unit'),
    ({"time_unit": "weeks"}, "Valid values are days, hours, minutes, seconds"),
    ({"gpu_brand": "abacus"}, '"abacus" is not a valid GPU brand'),
    ({"tracking_file": "x.txt"}, 'Valid file extensions are ".csv" and ".sqlite"'),
], ids=lambda value: next(iter(value)) if isinstance(value, dict) else "")
def test_invalid_arguments_are_value_errors(arguments, words):
    with pytest.raises(ValueError) as caught:
        Tracker(**arguments)
    assert words in str(caught.value)


# ---- figures ------------------------------------------------------------------------------------------------

def test_figures_and_text_are_those_of_the_command(recording):
    with Tracker(sleep_time=0.1, ram_unit="megabytes", gpu_ram_unit="bytes", time_unit="seconds", n_expected_cores=3) as one:
        burn(0.25)
    layout = ["--layout", "gpu_tracker", "--ram-unit", "megabytes", "--gpu-ram-unit", "bytes", "--time-unit", "seconds",
              "--expected-cores", "3", recording()]
    assert one.to_json() == json.loads(command("summary", "--json", *layout))
    assert list(one.to_json()) == ["max_ram", "max_gpu_ram", "cpu_utilization", "gpu_utilization", "compute_time"]
    assert str(one) == command("summary", *layout).rstrip("\n")
    assert one.resource_usage.cpu_utilization.n_expected_cores == 3


def test_units_scale_the_same_figures(recording):
    with Tracker(sleep_time=0.1):
        time.sleep(0.2)
    usual = tracker.read_resource_usage(recording())
    small = tracker.read_resource_usage(recording(), "bytes", "kilobytes", "seconds")
    assert (usual.max_ram.unit, usual.max_gpu_ram.unit, usual.compute_time.unit) == ("gigabytes", "gigabytes", "hours")
    assert small.max_ram.system_capacity == pytest.approx(usual.max_ram.system_capacity * 1e9)
    assert small.max_ram.combined.total_rss == pytest.approx(usual.max_ram.combined.total_rss * 1e9)
    assert small.compute_time.time == pytest.approx(usual.compute_time.time * 3600)


def test_cpu_and_compute_time_of_the_body():
    with Tracker(sleep_time=0.1, time_unit="seconds", n_expected_cores=1) as one:
        began, cpu_before = time.monotonic(), time.process_time()
        burn(0.5)
        wall, cpu = time.monotonic() - began, time.process_time() - cpu_before
    usage = one.resource_usage
    assert wall <= usage.compute_time.time < wall + 2
    used = usage.cpu_utilization.main.mean_sum_percent / 100 * usage.compute_time.time
    assert used == pytest.approx(cpu, abs=0.1)
    assert usage.cpu_utilization.main.mean_hardware_percent == usage.cpu_utilization.main.mean_sum_percent


CHILD = f"""
import sys
block = bytearray({ALLOCATED_MIB} << 20)
for i in range(0, len(block), 4096):
    block[i] = 1
print("ready", flush=True)
sys.stdin.readline()
"""


def test_children_are_descendants():
    with Tracker(sleep_time=0.1, ram_unit="megabytes") as one:
        children = [subprocess.Popen([sys.executable, "-c", CHILD], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
                    for _ in range(2)]
        for child in children:
            child.stdout.readline()
        time.sleep(0.3)
        for child in children:
            child.communicate(b"\n")
    ram = one.resource_usage.max_ram
    allocated = 2 * ALLOCATED_MIB * GIB_IN_MB / 1024
    assert ram.descendants.total_rss > allocated and ram.combined.total_rss > allocated
    assert ram.main.total_rss < ram.descendants.total_rss
    assert one.resource_usage.cpu_utilization.descendants_n_threads >= 2
    # PSS is read only now and then. The shared part must not be the difference to an old value.
    assert 0 < ram.main.private_rss <= ram.main.total_rss and 0 < ram.descendants.private_rss <= ram.descendants.total_rss
    assert 0 < ram.main.shared_rss < allocated / 2 and 0 < ram.descendants.shared_rss < allocated / 2


def test_unavailable_values_are_unknown_instead_of_zero(recording):
    with Tracker(sleep_time=0.1):
        with subprocess.Popen([sys.executable, "-c", CHILD], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
            child.stdout.readline()
            time.sleep(0.3)
            child.communicate(b"\n")
    path = pathlib.Path("older.jsonl")
    samples = [json.loads(line) for line in recording().read_text().splitlines()]
    for one in samples:
        one["cpu"].pop("process_main_private_mib", None)
    path.write_text("".join(json.dumps(one) + "\n" for one in samples))
    usage = tracker.read_resource_usage(path)
    assert usage.max_ram.main.private_rss is None and usage.max_ram.descendants.shared_rss is None
    assert usage.max_ram.combined.private_rss > 0 and "Private RSS: unknown" in str(usage)


def test_another_process_is_tracked_and_not_ours():
    with subprocess.Popen([sys.executable, "-c", CHILD], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        child.stdout.readline()
        with Tracker(sleep_time=0.1, ram_unit="megabytes", process_id=child.pid) as one:
            burn(0.3)
        child.communicate(b"\n")
    assert one.resource_usage.max_ram.main.total_rss > ALLOCATED_MIB * 1.048576
    assert one.resource_usage.cpu_utilization.combined.mean_sum_percent < 10


def test_no_process_is_added_and_none_is_left():
    children = pathlib.Path(f"/proc/self/task/{os.getpid()}/children")
    before = children.read_text()
    with Tracker(sleep_time=0.1, disable_logs=True):
        time.sleep(0.15)
    assert children.read_text() == before


def test_the_example_of_the_documentation(capsys):
    page = pathlib.Path(__file__).resolve().parents[3] / "docs" / "from-gpu-tracker.md"
    found = {}
    exec(page.read_text().split("```python\n")[1].split("```")[0], found)
    assert found["peak"] == found["tracker"].resource_usage.max_ram.combined.total_rss > 10
    assert capsys.readouterr().out.startswith("Max RAM:\n   Unit: megabytes\n") and os.path.exists("tracking.csv")


# ---- what may go wrong --------------------------------------------------------------------------------------

def test_an_exception_in_the_body_passes_and_the_figures_are_there():
    one = Tracker(sleep_time=0.1)
    with pytest.raises(ZeroDivisionError):
        with one:
            1 / 0
    assert one.state == Tracker.State.STOPPED and one.resource_usage.max_ram.main.total_rss > 0


def test_the_body_may_change_the_working_directory(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    with Tracker(tracking_file="t.csv") as one:
        os.chdir("elsewhere")
    assert one.resource_usage and sorted(path.name for path in tmp_path.iterdir()) == ["elsewhere", "t.csv"]


def test_a_working_directory_that_is_not_writable(tmp_path, monkeypatch):
    monkeypatch.setattr(tracker.os, "access", lambda path, mode: False)
    monkeypatch.setattr(tracker.tempfile, "gettempdir", lambda: str(tmp_path / "elsewhere"))
    (tmp_path / "elsewhere").mkdir()
    with Tracker() as one:
        assert len(list((tmp_path / "elsewhere").iterdir())) == 1
    assert one.resource_usage and list((tmp_path / "elsewhere").iterdir()) == []


def test_warnings_are_logged_unless_disabled(warnings):
    with Tracker():
        pass
    assert warnings() == ["No GPU was found. The GPU RAM and GPU utilization values are 0.0."]
    with Tracker(disable_logs=True):
        pass
    assert len(warnings()) == 1


@pytest.fixture
def ended():
    child = subprocess.Popen(["true"])
    child.wait()
    return child.pid


def test_a_process_that_ended_before_has_used_nothing(warnings, ended):
    with Tracker(process_id=ended) as one:
        time.sleep(0.1)
    assert warnings()[0] == f"The target process of ID {ended} ended before tracking could begin."
    usage = one.resource_usage
    assert usage.compute_time.time == 0.0 and usage.max_ram.system_capacity > 0
    assert usage.max_ram.main == usage.max_ram.descendants == usage.max_ram.combined == tracker.RSSValues()
    assert usage.cpu_utilization.main == tracker.ProcessingUnitPercentages() and usage.cpu_utilization.main_n_threads == 0
    assert usage.cpu_utilization.system_core_count == os.cpu_count() and usage.max_ram.system > 0
    assert "Total RSS: 0.0" in str(one)


def test_a_process_that_ends_first_is_said(warnings):
    with subprocess.Popen([sys.executable, "-c", CHILD], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        child.stdout.readline()
        with Tracker(sleep_time=0.1, process_id=child.pid, time_unit="seconds") as one:
            time.sleep(0.2)
            child.communicate(b"\n")
            time.sleep(1)
    assert warnings()[0] == f"The target process of ID {child.pid} ended before tracking was stopped."
    assert one.resource_usage.max_ram.main.total_rss > 0


def test_a_killed_program_leaves_its_recording(tmp_path):
    done = run_python("""
import os, signal, time
from resource_tracker_native.gpu_tracker import Tracker
with Tracker(sleep_time=0.1, resource_usage_file="backup 100%.pkl"):
    time.sleep(0.35)
    os.kill(os.getpid(), signal.SIGKILL)
""")
    assert done.returncode == -signal.SIGKILL
    assert [path.name for path in tmp_path.iterdir()] == ["backup 100%.pkl"]
    usage = tracker.read_resource_usage("backup 100%.pkl", time_unit="seconds")
    assert usage.max_ram.main.total_rss > 0 and 0.2 < usage.compute_time.time < 5


def test_a_removed_recording_is_an_error(tmp_path):
    one = Tracker(resource_usage_file="backup.jsonl").__enter__()
    os.remove("backup.jsonl")
    with pytest.raises(RuntimeError):
        one.stop()
    assert one.state == Tracker.State.STOPPED


def test_a_sampler_that_hangs_is_not_waited_for_without_end(warnings, monkeypatch):
    one = Tracker(sleep_time=0.1, n_join_attempts=2, join_timeout=0.05)
    one.start()
    time.sleep(0.3)
    go_on, stop = threading.Event(), one._recorder.stop
    monkeypatch.setattr(one._recorder, "stop", lambda: go_on.wait(60))
    monkeypatch.setattr(one, "_age_secs", lambda: 100.0)
    one.stop()
    go_on.set()
    stop()
    assert [text.split(".")[0] for text in warnings()] == [
        "The tracker is still sampling after the join timeout", "The tracker is still sampling after the join timeout",
        "The tracker is still sampling after 2 attempts to join",
        "Tracking is stopping and it has been 100", "No GPU was found"]
    assert one.resource_usage.max_ram.main.total_rss > 0


def test_a_forked_child_of_the_body_does_no_harm():
    with Tracker(sleep_time=0.1) as one:
        child = multiprocessing.get_context("fork").Process(target=burn, args=(0.1,))
        child.start()
        child.join()
    assert child.exitcode == 0 and one.resource_usage.cpu_utilization.combined.mean_sum_percent > 0


# ---- tracking files -----------------------------------------------------------------------------------------

COLUMNS = ["main_ram", "descendants_ram", "combined_ram", "system_ram", "main_gpu_ram", "descendants_gpu_ram",
           "combined_gpu_ram", "system_gpu_ram", "gpu_sum_utilization_percent", "gpu_hardware_utilization_percent",
           "main_n_threads", "descendants_n_threads", "combined_n_threads", "cpu_system_sum_utilization_percent",
           "cpu_system_hardware_utilization_percent", "cpu_main_sum_utilization_percent",
           "cpu_main_hardware_utilization_percent", "cpu_descendants_sum_utilization_percent",
           "cpu_descendants_hardware_utilization_percent", "cpu_combined_sum_utilization_percent",
           "cpu_combined_hardware_utilization_percent", "timestamp"]
STATIC = ["ram_unit", "gpu_ram_unit", "time_unit", "ram_system_capacity", "gpu_ram_system_capacity", "system_core_count",
          "n_expected_cores", "system_gpu_count", "n_expected_gpus"]


def test_tracking_files_have_every_sample():
    before = time.time()
    with Tracker(sleep_time=0.1, ram_unit="megabytes", tracking_file="t.csv", n_expected_cores=1) as one:
        burn(0.3)
    with open("t.csv", newline="") as file:
        static_names, static, names, *rows = csv.reader(file)
    assert (static_names, names) == (STATIC, COLUMNS) and len(rows) >= 3
    assert static[:3] == ["megabytes", "gigabytes", "hours"] and static[6] == "1"
    most = max(float(row[0]) for row in rows)
    assert most == pytest.approx(one.resource_usage.max_ram.main.total_rss)
    assert all(before < float(row[-1]) < time.time() for row in rows)


def test_tracking_files_may_be_sqlite():
    with Tracker(sleep_time=0.1, tracking_file="t.sqlite"):
        time.sleep(0.25)
    with sqlite3.connect("t.sqlite") as database:
        assert database.execute("SELECT count(*), min(main_ram) > 0 FROM data").fetchone()[1] == 1
        assert [row[1] for row in database.execute("PRAGMA table_info(static_data)")] == STATIC


def test_a_tracking_file_is_replaced_only_when_asked(tmp_path):
    (tmp_path / "t.csv").write_text("mine")
    with pytest.raises(FileExistsError):
        Tracker(tracking_file="t.csv")
    assert (tmp_path / "t.csv").read_text() == "mine"
    with Tracker(tracking_file="t.csv", overwrite=True):
        pass
    assert (tmp_path / "t.csv").read_text().startswith("ram_unit,")


# ---- GPUs ---------------------------------------------------------------------------------------------------

@pytest.fixture
def two_gpus(monkeypatch, tmp_path):
    if not FAKE_NVML.exists():
        pytest.skip("the fake NVML is not built")
    script = tmp_path / "script"
    script.write_text("gpus 2\nutilization 0 50 10\nutilization 1 30 10\nmemory 0 80000 500 1500\nmemory 1 80000 500 0\n"
                      f"process 0 {os.getpid()} c 1000 40\n")
    # The helper process inherits these variables, because os.environ also changes the C environment.
    monkeypatch.setenv("TRACKER_NVML_LIBRARY", str(FAKE_NVML))
    monkeypatch.setenv("NVML_FAKE_SCRIPT", str(script))


def test_gpus_and_the_processs_share_of_them(two_gpus, warnings):
    with Tracker(sleep_time=0.2, gpu_ram_unit="megabytes") as one:
        time.sleep(0.7)
    assert warnings() == []
    ram, busy = one.resource_usage.max_gpu_ram, one.resource_usage.gpu_utilization
    # The driver reports MiB. We convert them to megabytes; gpu_tracker takes them for megabytes.
    assert ram.system_capacity == pytest.approx(160000 * 1.048576) and ram.main == pytest.approx(1000 * 1.048576)
    assert (ram.descendants, ram.combined) == (0.0, ram.main)
    assert (busy.system_gpu_count, busy.n_expected_gpus) == (2, 2)
    assert list(vars(busy.gpu_percentages).values()) == pytest.approx([80.0, 40.0, 80.0, 40.0])


def test_chosen_gpus_alone(two_gpus):
    with Tracker(sleep_time=0.2, gpu_uuids={GPU.format(1)}, gpu_brand="nvidia", tracking_file="t.csv") as one:
        time.sleep(0.7)
    busy = one.resource_usage.gpu_utilization
    assert (busy.system_gpu_count, busy.n_expected_gpus) == (2, 1)
    assert list(vars(busy.gpu_percentages).values()) == pytest.approx([30.0] * 4)
    with open("t.csv", newline="") as file:
        _, static, names, *rows = csv.reader(file)
    assert static[-2:] == ["2", "1"]
    assert {row[names.index("gpu_sum_utilization_percent")] for row in rows if row[8]} == {"30.0"}
    with pytest.raises(ValueError) as caught:
        Tracker(gpu_uuids={"GPU-x"})
    assert str(caught.value).endswith(f"Available UUIDs are: {GPU.format(0)}, {GPU.format(1)}")
    with pytest.raises(ValueError, match="the set is empty"):
        Tracker(gpu_uuids=set())


@pytest.mark.parametrize("uuids", [{"GPU-x"}, set()], ids=["some", "none"])
def test_chosen_gpus_make_no_difference_without_any(monkeypatch, warnings, uuids):
    monkeypatch.setattr(tracker.engine, "GPU_WAIT_SECS", 30.0)
    begun = time.monotonic()
    with Tracker(sleep_time=0.1, gpu_uuids=uuids, tracking_file="t.csv") as one:
        pass
    if one.resource_usage.gpu_utilization.system_gpu_count:
        pytest.skip("this machine has a GPU")
    assert time.monotonic() - begun < 15, "nobody was waited for"
    assert one.resource_usage.gpu_utilization.n_expected_gpus == 0
    assert warnings() == ["No GPU was found. The GPU RAM and GPU utilization values are 0.0."]
