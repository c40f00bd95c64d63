"""Tests the extension modules in the way the package's Python uses them."""
import json
import os
import time

import pytest

from resource_tracker_native import _native


def test_settings_and_metrics_are_those_of_the_library():
    assert {"interval", "pid", "output", "csv-layout"} <= set(_native.settings())
    metrics = {metric["name"]: metric for metric in _native.metrics()}
    assert metrics["memory.used_mib"]["unit"] == "MiB"
    assert metrics["memory.used_mib"]["type"] == "float"
    assert all(metric["help"] for metric in metrics.values())


def test_sampling_in_the_background():
    tracker = _native.Tracker([("interval", "0.05"), ("pid", str(os.getpid()))])
    assert tracker.state == "ready"
    tracker.start()
    assert tracker.state == "running"
    assert tracker.wait_for_samples(3, 30)
    assert tracker.get("sample") is not None and tracker.get("tracked_pid") == os.getpid()
    tracker.stop()
    assert tracker.get("cpu.per_core_pct[0]") == tracker.get("cpu.per_core_pct", 0)
    for wrong in ("cpu.per_core_pct[100000]", "disk[sda", "memory[0].used_mib"):
        with pytest.raises(KeyError):
            tracker.get(wrong)
    assert tracker.state == "stopped" and tracker.sample_count >= 3
    assert not tracker.wait_for_samples(10 ** 9, 1), "there never will be as many"
    with pytest.raises(OSError):
        tracker.start()


def test_texts_about_the_job_are_those_of_the_library():
    """streaming_metadata goes into the recording by the settings of the library, so a new text needs no line here."""
    from resource_tracker_native._settings import job_settings
    assert job_settings() >= {"job_name", "project_name", "stage_name", "task_name", "team", "env", "language", "orchestrator", "executor",
                              "external_run_id", "container_image"}
    assert not job_settings() & {"interval", "pid", "output", "host", "command", "tag", "mode"}


def test_values_of_one_moment_are_those_of_each_metric():
    tracker = _native.Tracker([("interval", "0.01"), ("pid", str(os.getpid()))])
    assert tracker.values() is None, "there is no sample yet"
    tracker.sample()
    values = tracker.values()
    assert len(values) > 100 and values["tracked_pid"] == os.getpid() and values["job_name"] is None
    for name, value in values.items():
        each = [tracker.get(name, i) for i in range(len(value))] if isinstance(value, list) else tracker.get(name)
        assert value == pytest.approx(each, abs=0.01) if isinstance(each, float) else len(str(value)) > 0
    assert len(values["cpu.per_core_pct"]) == tracker.instance_count("cpu.per_core_pct") > 0
    tracker.start()
    assert tracker.wait_for_samples(3, 30)
    assert tracker.values()["sample"] > values["sample"]
    tracker.close()


def test_errors_have_the_text_of_their_call():
    tracker = _native.Tracker([("interval", "0.01")])
    tracker.start()
    with pytest.raises(OSError, match="a background thread samples: call rt_stop"):
        tracker.sample()
    tracker.stop()
    with pytest.raises(OSError, match="the recording has ended"):
        tracker.start()
    with pytest.raises(OSError, match="nothing is streamed"):
        tracker.wait_for_upload(0)
    with pytest.raises(OSError, match="there is no process with this pid"):
        _native.process_rss(2 ** 22 + 1)


def test_settings_that_are_none_are_refused_with_the_reason():
    with pytest.raises(ValueError, match="interval"):
        _native.Tracker([("interval", "soon")])
    with pytest.raises(ValueError):
        _native.Tracker([("no-such-setting", "1")])
    with pytest.raises(ProcessLookupError, match="pid"):
        _native.Tracker([("pid", str(2 ** 22 + 1))])


def test_a_fork_is_refused_and_ends_without_waiting():
    tracker = _native.Tracker([("interval", "0.01")])
    tracker.start()
    assert tracker.wait_for_samples(2, 30)
    child = os.fork()
    if child == 0:
        try:
            tracker.sample_count
        except RuntimeError:
            del tracker
            os._exit(0)
        os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    count = tracker.sample_count
    assert tracker.wait_for_samples(count + 1, 30), "the parent's tracker goes on"


def test_one_shot_readers():
    process = _native.process_read(os.getpid(), False)
    assert process["pid"] == os.getpid() and process["rss_bytes"] > 1 << 20
    assert _native.system_read()["memory_total_bytes"] > _native.system_read()["memory_used_bytes"] > 0
    child = os.fork()
    if child == 0:
        time.sleep(30)
    assert child in _native.process_descendants(os.getpid())
    os.kill(child, 9)
    os.waitpid(child, 0)
    with pytest.raises(ProcessLookupError):
        _native.process_rss(2 ** 22 + 1)


def test_marks_without_a_recording_do_nothing(tmp_path):
    marks = _native.Marks()
    assert not marks.active and marks.start("load") == 0
    marks = _native.Marks(tmp_path / "run.marks")
    marks.stop("load", marks.start("load"))
    assert (tmp_path / "run.marks").read_text().count("\n") == 2


@pytest.mark.parametrize("name", ["_native", "_analysis"])
def test_type_hints_match_the_module(name):
    import ast
    import importlib
    import pathlib

    module = importlib.import_module(f"resource_tracker_native.{name}")
    hints = ast.parse((pathlib.Path(module.__file__).parent / f"{name}.pyi").read_text())
    hinted = {node.name for node in hints.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    assert hinted == {public for public in vars(module) if not public.startswith("_")} - {"version"}
    for node in hints.body:
        if isinstance(node, ast.ClassDef):
            methods = {member.name for member in node.body if isinstance(member, ast.FunctionDef)}
            assert methods == {public for public in vars(getattr(module, node.name)) if not public.startswith("_")} | {"__init__"}


def test_recordings_are_read(tmp_path):
    from resource_tracker_native import _analysis

    path = tmp_path / "run.jsonl"
    tracker = _native.Tracker([("interval", "0.05"), ("pid", str(os.getpid())), ("output", str(path))])
    tracker.start()
    tracker.wait_for_samples(3, 30)
    tracker.stop()
    columns = _analysis.read_record([path], ["process_memory_mib", "system_processes"])
    assert list(columns) == ["process_memory_mib", "system_processes"] and len(columns["system_processes"]) >= 3
    assert '"memory"' in _analysis.summary(path) and "CPU" in _analysis.summary(path, form="text")
    assert set(json.loads(_analysis.summary(path))["first_failure"].values()) == {None}
    *lines, last = path.read_text().splitlines()
    last = json.loads(last)
    last["run_end"]["first_failure"] = {"program": "cc1", "pid": 44, "signal": 11, "certainty": "sure"}
    (tmp_path / "failed.jsonl").write_text("\n".join([*lines, json.dumps(last)]) + "\n")
    first = json.loads(_analysis.summary(tmp_path / "failed.jsonl"))["first_failure"]
    assert (first["program"], first["pid"], first["signal"], first["exit_code"], first["out_of_memory"]) == ("cc1", 44, 11, None, None)
    with pytest.raises(FileNotFoundError, match="none"):
        _analysis.summary(tmp_path / "none.jsonl")
    with pytest.raises(ValueError, match="form"):
        _analysis.summary(path, form="poem")
    _analysis.export(path, tmp_path / "run.csv", layout="system")
    assert "memory_used_mib" in _analysis.read_csv(tmp_path / "run.csv")
    assert "memory" in _analysis.compare([("a", path), ("b", path)], form="text").lower()
