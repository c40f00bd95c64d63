"""Sub-tracking of resource_tracker_native.gpu_tracker: marks, analysis and comparison."""
import csv
import inspect
import json
import logging
import os
import pickle
import sqlite3
import subprocess
import sys
import time

import pytest

from resource_tracker_native.gpu_tracker import (SubTracker, SubTrackingAnalyzer, Tracker, TrackingComparison, sub_track,
                                                 sub_tracker)
from test_gpu_tracker import COLUMNS, PROGRAM, STATIC, burn


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def warnings(caplog):
    """warnings() returns the texts logged so far."""
    caplog.set_level(logging.WARNING)
    return lambda: [record.getMessage() for record in caplog.records]


def command(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], check=True, capture_output=True, text=True).stdout


# ---- sub-tracking -------------------------------------------------------------------------------------------

def rows_of(path):
    if str(path).endswith(".sqlite"):
        with sqlite3.connect(path) as database:
            return [tuple(map(str, row)) for row in database.execute("SELECT * FROM data")]
    with open(path, newline="") as file:
        header, *rows = csv.reader(file)
    assert header == ["process_id", "code_block_name", "position", "timestamp"]
    return [tuple(row) for row in rows]


@pytest.mark.parametrize("extension", ["csv", "sqlite"])
def test_a_context_marks_its_start_and_stop(extension):
    before = time.time()
    for _ in range(2):
        with SubTracker('say "a", b', sub_tracking_file=f"sub.{extension}") as one:
            assert (one.code_block_name, one.sub_tracking_file) == ('say "a", b', f"sub.{extension}")
    rows = rows_of(f"sub.{extension}")
    assert [row[:3] for row in rows] == [(str(os.getpid()), 'say "a", b', position) for position in "0101"]
    times = [float(row[3]) for row in rows]
    assert times == sorted(times) and before <= times[0] and times[-1] <= time.time()


def test_names_and_files_that_are_not_given():
    with SubTracker() as one:
        line = inspect.currentframe().f_lineno - 1
    assert one.code_block_name == f"{os.path.relpath(__file__)}:{line}" and one.sub_tracking_file == f"{os.getpid()}.csv"
    assert SubTracker(code_block_attribute="part").code_block_name == f"{os.path.relpath(__file__)}:part"
    assert len(rows_of(one.sub_tracking_file)) == 2


def test_a_decorated_function_is_a_code_block():
    @sub_track(sub_tracking_file="sub.csv")
    def add(a, *, b):
        """Adds."""
        return a + b

    @sub_track(code_block_attribute="that", sub_tracking_file="sub.csv")
    def fail():
        raise KeyError("x")

    @sub_track("named", sub_tracking_file="sub.csv")
    def nothing():
        pass

    assert add(1, b=2) == 3 and add.__name__ == "add" and add.__doc__ == "Adds." and nothing() is None
    with pytest.raises(KeyError):
        fail()
    assert [(row[1], row[2]) for row in rows_of("sub.csv")] == [
        (name, position) for name in (f"{os.path.abspath(__file__)}:add", "named", f"{os.path.abspath(__file__)}:that")
        for position in "01"]


def test_a_sub_tracking_file_is_replaced_only_when_asked(tmp_path):
    (tmp_path / "sub.csv").write_text("mine")
    with pytest.raises(FileExistsError):
        with SubTracker("x", sub_tracking_file="sub.csv"):
            pass
    with SubTracker("x", sub_tracking_file="sub.csv", overwrite=True):
        pass
    assert len(rows_of("sub.csv")) == 2
    os.remove("sub.csv")
    with pytest.raises(FileNotFoundError):
        SubTracker("x", sub_tracking_file="sub.csv").__enter__()
    with pytest.raises(ValueError):
        SubTracker("x", sub_tracking_file="sub.txt")


def test_a_block_is_a_phase_of_the_recording_around_it():
    program = """
import time
from resource_tracker_native.gpu_tracker import SubTracker
for _ in range(2):
    with SubTracker("load", sub_tracking_file="sub.csv"):
        time.sleep(0.15)
"""
    command("-q", "-o", "run.jsonl", "-i", "0.1", "--", sys.executable, "-c", program)
    [phase] = json.loads(command("regions", "--json", "run.jsonl"))["code_block_results"]
    assert (phase["name"], phase["num_calls"]) == ("load", 2) and 0.3 <= phase["compute_time"]["total"] < 30
    assert len(rows_of("sub.csv")) == 4


def test_a_recording_that_cannot_be_marked_does_not_matter(monkeypatch, tmp_path):
    done = subprocess.run([sys.executable, "-c", "from resource_tracker_native.gpu_tracker import SubTracker\n"
                           "with SubTracker('x', sub_tracking_file='sub.csv'):\n pass"], capture_output=True, text=True,
                          env={**os.environ, "RESOURCE_TRACKER_MARKS": str(tmp_path)})
    assert done.returncode == 0, done.stderr
    assert len(rows_of("sub.csv")) == 2


@pytest.fixture(params=["csv", "sqlite"])
def tracked(request):
    """(tracking file, sub-tracking file) of a session with two blocks."""
    tracking, marks = f"tracking.{request.param}", f"sub.{request.param}"
    with Tracker(sleep_time=0.1, tracking_file=tracking, disable_logs=True):
        for _ in range(2):
            with SubTracker("load", sub_tracking_file=marks):
                time.sleep(0.25)
        with SubTracker("fit", sub_tracking_file=marks):
            burn(0.2)
    return tracking, marks


def test_the_analysis_is_that_of_the_command(tracked):
    analyzer = SubTrackingAnalyzer(*tracked)
    results = analyzer.sub_tracking_results()
    files = ["--tracking-file", tracked[0], "--sub-tracking-file", tracked[1]]
    assert results.to_json() == json.loads(command("regions", "--json", *files))
    assert str(results) == command("regions", "--format", "gpu-tracker", *files)
    assert [block.name for block in results.code_block_results] == analyzer.load_code_block_names() == ["fit", "load"]
    load = results.code_block_results[1]
    assert (load.num_calls, load.num_non_empty_calls) == (2, 2) and load.num_timepoints >= 2
    assert load.compute_time.total == pytest.approx(load.compute_time["mean"] * 2) and load.compute_time["min"] >= 0.25
    assert load.resource_usage.loc["main_ram", "max"] > 0


def test_the_parts_of_the_analysis(tracked):
    analyzer = SubTrackingAnalyzer(*tracked)
    assert list(analyzer.read_static_data()) == STATIC and analyzer.read_static_data().ram_unit == "gigabytes"
    overall = analyzer.overall_timepoint_results()
    assert overall.index == COLUMNS[:-1] and overall.columns == ["min", "max", "mean", "std"]
    # The mean of equal values may differ from them in its last bit.
    mean = overall.mean["main_ram"]
    assert overall["min"]["main_ram"] <= mean * (1 + 1e-12) and mean <= overall.loc["main_ram", "max"] * (1 + 1e-12)
    pairs = analyzer.load_timestamp_pairs("load")
    assert len(pairs) == 2 and all(start < stop for start, stop in pairs) and analyzer.load_timestamp_pairs("x") == []
    points = analyzer.load_timepoints(pairs)
    assert points.columns == COLUMNS
    assert len(points) == analyzer.sub_tracking_results().code_block_results[1].num_timepoints
    assert all(any(start <= time_ <= stop for start, stop in pairs) for time_ in points["timestamp"])


def test_nested_and_concurrent_calls_of_a_block_belong_to_their_callers():
    rows = [(1, "p", 0, 1.0), (2, "p", 0, 2.0), (1, "p", 0, 3.0), (1, "p", 1, 3.25), (2, "p", 1, 4.0), (1, "p", 1, 6.0),
            (3, "p", 0, 7.0)]
    with open("sub.csv", "w", newline="") as file:
        csv.writer(file).writerows([("process_id", "code_block_name", "position", "timestamp"), *rows])
    assert SubTrackingAnalyzer(None, "sub.csv").load_timestamp_pairs("p") == [(1.0, 6.0), (2.0, 4.0), (3.0, 3.25)]


@pytest.mark.parametrize("extension", ["csv", "sqlite"])
def test_files_of_several_processes_are_combined(extension):
    for name in ("b", "a"):
        with SubTracker(name, sub_tracking_file=f"{name}.{extension}"):
            pass
    target = SubTrackingAnalyzer(None, f"all.{extension}")
    target.combine_sub_tracking_files([f"b.{extension}", f"a.{extension}"])
    assert rows_of(f"all.{extension}") == rows_of(f"b.{extension}") + rows_of(f"a.{extension}")
    assert target.load_code_block_names() == ["a", "b"]
    with pytest.raises(ValueError):
        target.combine_sub_tracking_files([f"a.{extension}"])
    with pytest.raises(ValueError):
        SubTrackingAnalyzer(None, f"more.{extension}").combine_sub_tracking_files(["a.other"])


def test_files_that_are_not_there_or_something_else(tmp_path):
    with pytest.raises(FileNotFoundError):
        SubTrackingAnalyzer("no.csv", "none.csv").overall_timepoint_results()
    with pytest.raises(ValueError):
        SubTrackingAnalyzer("no.xls", "none.csv")
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError):
        SubTrackingAnalyzer("other.csv", None).overall_timepoint_results()


# ---- comparison ---------------------------------------------------------------------------------------------

def results(memory, secs, block="x.py:9", blocks=2):
    """Returns the figures of a session with one measure."""
    def figures(value):
        return {"min": value, "max": value * 2, "mean": value * 1.5, "std": 0.5}

    return {"overall": {"main_ram": figures(memory)}, "static_data": {"ram_unit": "gigabytes"},
            "code_block_results": [
                {"name": name, "num_timepoints": 1, "num_calls": 1, "num_non_empty_calls": 1,
                 "compute_time": dict(figures(secs), total=secs), "resource_usage": {"main_ram": figures(memory)}}
                for name in ["load", block][:blocks]]}


@pytest.fixture
def session(tmp_path):
    """session(name, ...) writes results; every second one as JSON, the form of other programs."""
    def write(name, *arguments, **more):
        found = sub_tracker.SubTrackingResults.from_json(results(*arguments, **more))
        path = tmp_path / name
        path.write_bytes(json.dumps(found.to_json()).encode() if name > "B" else pickle.dumps(found))
        return str(path)

    return write


COMPARED = """Overall Resource Usage:
	Main Ram:
		   B   A
		 1.5 3.0
Code Block Resource Usage:
	Main Ram:
		load:
			   B   A
			 1.5 3.0
		x.py:10 -> x.py:9:
			   B   A
			 1.5 3.0
Code Block Compute Time:
	load:
		   A   B
		 6.0 7.5
	x.py:10 -> x.py:9:
		   A   B
		 6.0 7.5
"""


def test_sessions_are_compared(session, warnings):
    comparison = TrackingComparison({"A": session("A", 2.0, 4.0), "B": session("B.json", 1.0, 5.0, "x.py:10")})
    assert len(warnings()) == 1 and "x.py:10" in warnings()[0] and "differ by line number" in warnings()[0]
    compared = comparison.compare()
    assert str(compared) == COMPARED
    assert compared.to_json()["code_block_compute_time"]["load"] == {"A": 6.0, "B": 7.5}
    assert list(comparison.compare("max").overall_resource_usage["main_ram"].items()) == [("B", 2.0), ("A", 4.0)]
    assert comparison.compare("std").to_json()["overall_resource_usage"] == {"main_ram": {"A": 0.5, "B": 0.5}}
    assert list(comparison.results_map) == ["A", "B"]
    with pytest.raises(ValueError):
        comparison.compare("median")


@pytest.mark.parametrize("statistic", sub_tracker.STATISTICS)
def test_the_comparison_is_that_of_the_command(tmp_path, statistic):
    sessions = {"A": results(2.0, 4.0), "B": results(1.0, 5.0, "x.py:10"), "C": results(3.0, 0.25)}
    for name, found in sessions.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(found))
    compared = TrackingComparison({name: f"{name}.json" for name in sessions}).compare(statistic)
    words = ["compare-runs", "--stat", statistic, *(f"{name}={name}.json" for name in sessions)]
    assert compared.to_json() == json.loads(command(*words, "--json"))
    assert str(compared) == command(*words)


def test_sessions_without_blocks_are_compared_overall(session):
    compared = TrackingComparison({name: session(name, 1.0, 1.0, blocks=0) for name in ("A", "C")}).compare()
    assert compared.to_json() == {"overall_resource_usage": {"main_ram": {"A": 1.5, "C": 1.5}},
                                  "code_block_resource_usage": {}, "code_block_compute_time": {}}
    assert str(compared).startswith("Overall Resource Usage:\n\tMain Ram:\n")


@pytest.mark.parametrize("more, words", [({"blocks": 1}, "same number of code blocks"),
                                         ({"block": "y.py:9"}, 'does not match code block name "y.py:9"'),
                                         ({"block": "save"}, "does not match")])
def test_sessions_that_do_not_match_are_value_errors(session, more, words):
    with pytest.raises(ValueError) as caught:
        TrackingComparison({"A": session("A", 1.0, 1.0), "C": session("C", 1.0, 1.0, **more)})
    assert words in str(caught.value)


def test_line_numbers_are_ordered_by_size(session):
    blocks = [sub_tracker.CodeBlockResults(name, 0, 0, 0, {}, {}) for name in ("x:10", "x:9", "a", "x:100")]
    assert [block.name for block in sub_tracker._in_order(blocks)] == ["a", "x:9", "x:10", "x:100"]


class Hostile:
    def __reduce__(self):
        return os.mkdir, ("made",)


def test_a_foreign_pickle_runs_no_code(tmp_path):
    (tmp_path / "bad.pkl").write_bytes(pickle.dumps(Hostile()))
    with pytest.raises(pickle.UnpicklingError):
        TrackingComparison({"A": "bad.pkl"})
    assert not (tmp_path / "made").exists()


# Writes results the way gpu_tracker pickles them, with stand-ins for the classes of pandas and numpy that a pickle
# names.
GPU_TRACKER_S = '''
import pickle, struct, sys, types


def module(name):
    return sys.modules.setdefault(name, types.ModuleType(name))


def named(place, name, value):
    value.__module__, value.__qualname__, value.__name__ = place, name, name
    setattr(module(place), name, value)
    return value


class Made:
    def __init__(self, how):
        self.how = how

    def __reduce__(self):
        return self.how


for part in ("pandas", "pandas.core", "pandas.core.internals", "pandas._libs", "numpy.core", "gpu_tracker"):
    module(part)
function = lambda place, name: named(place, name, lambda *arguments: None)
kind = lambda place, name: named(place, name, type(name, (), {}))
array = kind("numpy", "ndarray")
dtype, reconstruct = function("numpy", "dtype"), function("numpy.core.multiarray", "_reconstruct")
scalar = function("numpy.core.multiarray", "scalar")
new_index, index = function("pandas.core.indexes.base", "_new_Index"), kind("pandas.core.indexes.base", "Index")
unpickle_block = function("pandas._libs.internals", "_unpickle_block")
table, series = kind("pandas.core.frame", "DataFrame"), kind("pandas.core.series", "Series")
managers = "pandas.core.internals.managers"
manager, single = function(managers, "BlockManager"), kind(managers, "SingleBlockManager")
results, block = kind("gpu_tracker.sub_tracker", "SubTrackingResults"), kind("gpu_tracker.sub_tracker", "CodeBlockResults")
REAL = Made((dtype, ("f8", False, True), (3, "<", None, None, None, -1, -1, 0)))
OBJECT = Made((dtype, ("O8", False, True), (3, "|", None, None, None, -1, -1, 63)))


def cells(shape, values, fortran=False):
    data = struct.pack(f"<{len(values)}d", *values) if all(isinstance(value, float) for value in values) else list(values)
    return Made((reconstruct, (array, (0,), b"b"), (1, shape, REAL if isinstance(data, bytes) else OBJECT, fortran, data)))


def labels(values):
    return Made((new_index, (index, {"data": cells((len(values),), values), "name": None})))


def state_of(made, state):
    made.__dict__.update(state)
    return made


def row(values):
    """A Series."""
    inner = Manager([labels(list(values))], cells((len(values),), list(values.values())))
    return state_of(series(), {"_mgr": inner, "_typ": "series", "_name": None})


class Manager(single):
    def __init__(self, axes, values):
        self.axes, self.values = axes, values

    def __reduce__(self):
        return single, (), (self.axes, [self.values], [], {"0.14.1": {"axes": self.axes, "blocks": [
            {"values": self.values, "mgr_locs": slice(0, 1, 1)}]}})


def frame(rows, fortran):
    names, columns = list(rows), list(next(iter(rows.values())))
    # Two blocks: the first column, and the rest.
    parts = []
    for begin, end in ((0, 1), (1, len(columns))):
        lines = [[rows[name][column] for name in names] for column in columns[begin:end]]
        flat = [value for line in (zip(*lines) if fortran else lines) for value in line]
        parts.append(Made((unpickle_block, (cells((end - begin, len(names)), flat, fortran), slice(begin, end, 1), 2))))
    return state_of(table(), {"_mgr": Made((manager, (tuple(parts), [labels(columns), labels(names)]))), "_typ": "dataframe"})


usage = {"main_ram": {"min": 0.5, "max": 2.5, "mean": 1.25, "std": float("nan")}, "system_ram": {"min": 4.0, "max": 6.0, "mean": 5.0, "std": 0.5}}
static = {"ram_unit": "gigabytes", "system_core_count": Made((scalar, (Made((dtype, ("i8", False, True), (3, "<", None, None, None, -1, -1, 0))),
                                                                        struct.pack("<q", 8))))}
one = state_of(block(), {"name": "load", "num_timepoints": 3, "num_calls": 2, "num_non_empty_calls": 1,
                         "compute_time": row({"min": 1.0, "max": 2.0, "mean": 1.5, "std": 0.5, "total": 3.0}), "resource_usage": frame(usage, True)})
pickle.dump(state_of(results(), {"overall": frame(usage, False), "static_data": row(static), "code_block_results": [one]}),
            open(sys.argv[1], "wb"), protocol=int(sys.argv[2]))
'''


@pytest.mark.parametrize("protocol", range(2, 6))
def test_gpu_tracker_s_pickles_are_read(tmp_path, protocol):
    subprocess.run([sys.executable, "-c", GPU_TRACKER_S, "theirs.pkl", str(protocol)], check=True, cwd=tmp_path)
    found = sub_tracker.load_results(str(tmp_path / "theirs.pkl"))
    assert found.static_data == {"ram_unit": "gigabytes", "system_core_count": 8}
    usage = {"main_ram": {"min": 0.5, "max": 2.5, "mean": 1.25, "std": None}, "system_ram": {"min": 4.0, "max": 6.0, "mean": 5.0, "std": 0.5}}
    assert found.overall.rows() == usage
    block, = found.code_block_results
    assert (block.name, block.num_timepoints, block.num_calls, block.num_non_empty_calls) == ("load", 3, 2, 1)
    assert block.compute_time["total"] == 3.0 and block.resource_usage.rows() == usage
    compared = TrackingComparison({"A": str(tmp_path / "theirs.pkl"), "B": str(tmp_path / "theirs.pkl")}).compare("max")
    assert compared.overall_resource_usage["main_ram"] == {"A": 2.5, "B": 2.5}


@pytest.mark.parametrize("content", [
    pickle.dumps(Hostile()), pickle.dumps([1, 2]), b"", b"\x80\x04.", b"cos\nsystem\n(S'true'\ntR.",
    b"cbuiltins\neval\n(S'1'\ntR.", b"cpandas.core.frame\nDataFrame\n)\x81.",
    b"cnumpy\ndtype\n(S'V8'\ntR.", b"cgpu_tracker.sub_tracker\nSubTrackingResults\n)\x81}b.",
])
def test_other_pickles_are_refused_with_advice(tmp_path, content):
    (tmp_path / "bad.pkl").write_bytes(content)
    with pytest.raises(pickle.UnpicklingError) as caught:
        TrackingComparison({"A": str(tmp_path / "bad.pkl")})
    if b"system" in content:
        assert "os.system is not a part of results" in str(caught.value) and ".to_json()" in str(caught.value)


def test_results_survive_a_pickle(session):
    found = sub_tracker.load_results(session("A", 2.0, 4.0))
    assert pickle.loads(pickle.dumps(found)) == found and found.to_json() == results(2.0, 4.0)


def test_timepoints_need_a_tracking_file(tmp_path):
    analyzer = SubTrackingAnalyzer(None, str(tmp_path / "sub.csv"))
    with pytest.raises(ValueError, match="without a tracking file"):
        analyzer.load_timepoints([(0.0, 1.0)])
