"""Makes the same calls as with the Python package resource-tracker 0.5.0, if a registry provided it: names, defaults,
shapes.
"""
import importlib
import inspect
import os
import sys
import time

import pytest

import resource_tracker_native as ours

PEER = os.environ.get("RESOURCE_TRACKER_PEER", "")
if not os.path.isdir(PEER):
    pytest.skip("the package is not there (tools/python-peer)", allow_module_level=True)
sys.path.append(PEER)
theirs = pytest.importorskip("resource_tracker")


def module(package, name):
    return importlib.import_module(f"{package.__name__}.{name}")


def parameters(function):
    return [(name, parameter.kind) for name, parameter in inspect.signature(function).parameters.items()]


# These names belong to its own machinery.
INTERNAL = {"get_total_memory_mib", "get_gpu_info", "get_sector_sizes"}


@pytest.fixture(scope="module")
def used_secs():
    return []


@pytest.fixture(scope="module")
def runs(used_secs):
    """Both packages record the same second."""
    both = [package.ResourceTracker(interval=0.25, discover_cloud=False) for package in (theirs, ours)]
    for tracker in both:
        tracker.start()
    before = time.process_time()
    end = time.time() + 1.6
    while time.time() < end:
        sum(range(1000))
    used_secs.append(time.process_time() - before)
    for tracker in both:
        tracker.wait_for_samples(2, timeout=30)
        tracker.stop()
    return both


def test_every_public_name_of_the_modules_is_there():
    for name in ("tracker", "tiny_data_frame", "tracker_procfs", "keeper", "report", "server_info", "cloud_info",
                 "dummy_workloads"):
        for public, value in vars(module(theirs, name)).items():
            if not public.startswith("_") and getattr(value, "__module__", "") == module(theirs, name).__name__:
                assert hasattr(module(ours, name), public) or public in INTERNAL, public
    assert set(theirs.__all__) <= set(ours.__all__)
    statuses = [module(package, "sentinel_api").RunStatus for package in (theirs, ours)]
    assert [status.value for status in statuses[0]] == [status.value for status in statuses[1]]


@pytest.mark.parametrize("name", ["ResourceTracker", "ProcessTracker", "SystemTracker", "TinyDataFrame"])
def test_every_method_takes_the_same_arguments(name):
    source = "tiny_data_frame" if name == "TinyDataFrame" else "tracker"
    their_class, our_class = getattr(module(theirs, source), name), getattr(module(ours, source), name)
    for member, value in vars(their_class).items():
        if member.startswith("_") and member not in ("__init__", "__call__", "__enter__", "__exit__", "__len__"):
            continue
        if inspect.isfunction(value):
            wanted, have = parameters(value), parameters(getattr(our_class, member))
            assert have[:len(wanted)] == wanted, member
        else:
            assert hasattr(our_class, member), member


def test_defaults_but_autostart_and_those_of_import_time():
    for name in ("ResourceTracker", "ProcessTracker", "SystemTracker"):
        wanted = inspect.signature(getattr(module(theirs, "tracker"), name)).parameters
        have = inspect.signature(getattr(ours, name)).parameters
        for parameter in wanted:
            if parameter in ("pid", "start_time") or (name, parameter) == ("ResourceTracker", "autostart"):
                assert have[parameter].default is None
            else:
                assert have[parameter].default == wanted[parameter].default, (name, parameter)


def test_columns_and_keys(runs):
    their_run, our_run = runs
    for frame in ("process_metrics", "system_metrics"):
        assert getattr(our_run, frame).columns == getattr(their_run, frame).columns
    for arguments in ({}, {"human_names": True}, {"bytes": True, "system_prefix": "s_", "process_prefix": "p_"}):
        assert our_run.get_combined_metrics(**arguments).columns == their_run.get_combined_metrics(**arguments).columns
    wanted, have = their_run.stats(), our_run.stats()
    assert {column: list(values) for column, values in have.items()} == {column: list(values) for column, values in wanted.items()}
    assert list(our_run.recommend_resources()) == list(their_run.recommend_resources())
    assert list(our_run.server_info) == list(their_run.server_info)
    theirs_kept, ours_kept = their_run.snapshot(), our_run.snapshot()
    assert list(ours_kept) == list(theirs_kept) and list(ours_kept["metadata"]) == list(theirs_kept["metadata"])
    assert type(our_run.report()).__mro__[1] is type(their_run.process_metrics.to_csv())


def test_values_agree_where_the_package_is_right(runs, used_secs):
    seen = [sum(tracker.process_metrics["utime"] + tracker.process_metrics["stime"]) for tracker in runs]
    # Its tracker processes are our children, and its last sample is some time before the end.
    assert 0.95 * used_secs[0] < seen[1] < used_secs[0] + 1 and seen[0] > 0
    their_machine, our_machine = module(theirs, "tracker_procfs").get_system_stats(), ours.get_system_stats()
    assert set(our_machine) == set(their_machine)
    for name in ("memory_free_mib", "memory_used_mib", "memory_cached_mib", "utime", "stime", "processes"):
        assert abs(our_machine[name] - their_machine[name]) <= 64 + 0.05 * their_machine[name], name
    their_process = module(theirs, "tracker_procfs").get_process_stats(os.getpid())
    our_process = ours.get_process_stats(os.getpid())
    assert set(our_process) == set(their_process)
    assert abs(our_process["memory_mib"] - their_process["memory_mib"]) < 5
    assert abs(our_process["utime"] - their_process["utime"]) < 0.25


def test_snapshots_go_both_ways(runs):
    their_run, our_run = runs
    here, there = ours.ResourceTracker.loads(their_run.dumps()), theirs.ResourceTracker.loads(our_run.dumps())
    assert here.n_samples == their_run.n_samples and there.n_samples == our_run.n_samples
    assert here.stats()["process_memory_mib"]["max"] == their_run.stats()["process_memory_mib"]["max"]
    assert there.stats()["process_memory_mib"]["max"] == our_run.stats()["process_memory_mib"]["max"]
    assert "<html" in here.report()


def test_tables_print_alike():
    columns = {"name": ["a", "bb", None], "x": [1, 2.5, -3], "yy": [10, 200, 3000]}
    frames = [package.TinyDataFrame(data=columns) for package in (module(theirs, "tiny_data_frame"), ours)]
    for view in (str, repr, list, len, lambda frame: frame.to_csv(), lambda frame: frame.to_csv(quote_strings=False),
                 lambda frame: frame[1:].to_dict(), lambda frame: frame[["yy"]].columns):
        assert view(frames[1]) == view(frames[0])
