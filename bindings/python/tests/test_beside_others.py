"""Beside packages that are not needed: polars, pyarrow and pandas take tables, notebooks show them, type checkers agree.

tools/python-extras fetches them in CI and for `make test EXTRAS=1`; these tests are skipped otherwise.
"""
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

EXTRAS = os.environ.get("RESOURCE_TRACKER_EXTRAS")
TOP = pathlib.Path(__file__).resolve().parents[3]

pytestmark = pytest.mark.skipif(not EXTRAS, reason="polars, mypy and others are not installed: make test EXTRAS=1")


def site_packages():
    import resource_tracker_native

    return str(pathlib.Path(resource_tracker_native.__file__).parent.parent)


def extra(*arguments, **more):
    environment = dict(os.environ, PYTHONPATH=site_packages(), MYPYPATH="", HOME=str(more.get("cwd", "/tmp")))
    return subprocess.run([f"{EXTRAS}/bin/{arguments[0]}", *arguments[1:]], capture_output=True, text=True, env=environment,
                          timeout=55, **more)


# ---- tables ----

TABLES = """
import json
import pandas, polars, pyarrow
from resource_tracker_native import ResourceTracker, TinyDataFrame

frame = TinyDataFrame({"i": [1, None, 3], "r": [1.5, 2, None], "t": ["a", "\u00fc\\n", None], "n": [None] * 3,
                       "b": [True, None, False], "m": [1, "x", None]})
arrow = pyarrow.table(frame)
arrow.validate(full=True)
assert [str(field.type) for field in arrow.schema] == ["int64", "double", "large_string", "double", "bool", "large_string"]
assert arrow.to_pydict() == {**{name: frame[name] for name in "irtnb"}, "m": ["1", "x", None]}
assert polars.DataFrame(frame).to_dict(as_series=False) == arrow.to_pydict()
for empty in (TinyDataFrame(data=[]), TinyDataFrame({"a": []})):
    assert pyarrow.table(empty).num_rows == polars.DataFrame(empty).height == 0
with ResourceTracker(interval=0.02, discover_cloud=False) as tracker:
    tracker.wait_for_samples(10, timeout=60)
    assert polars.DataFrame(tracker.process_metrics).height >= 10
for table in (tracker.process_metrics, tracker.system_metrics, tracker.get_combined_metrics(), tracker.process_metrics[2:5]):
    other = polars.DataFrame(table)
    assert other.columns == table.columns == list(pandas.DataFrame(table).columns) and other.height == len(table) == pyarrow.table(table).num_rows
    assert other["timestamp"].to_list() == table["timestamp"]
print("well")
"""


def test_polars_and_pyarrow_take_a_table_in_one_call():
    done = extra("python", "-c", TABLES)
    assert done.stdout == "well\n", done.stderr


# ---- notebooks ----

NOTEBOOK = """
import json, sys
import nbformat
from nbclient import NotebookClient

cells = json.load(sys.stdin)
notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
NotebookClient(notebook, timeout=50, kernel_name="python3").execute()
print(json.dumps([[dict(output) for output in cell.outputs] for cell in notebook.cells]))
"""
CELLS = [
    "from resource_tracker_native import ResourceTracker\nimport time\ntracker = ResourceTracker(interval=0.05, discover_cloud=False)\ntracker.start()",
    "time.sleep(0.5)",
    "with ResourceTracker(interval=0.05, discover_cloud=False) as other:\n    other.wait_for_samples(3)",
    "from resource_tracker_native.gpu_tracker import Tracker\nwith Tracker(disable_logs=True):\n    time.sleep(0.3)",
    "tracker.stop()",
    "tracker.process_metrics",
    "tracker",
    "tracker.report()",
]


def test_a_notebook_stays_quiet_and_shows_tables(tmp_path):
    done = extra("python", "-c", NOTEBOOK, input=json.dumps(CELLS), cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
    outputs = json.loads(done.stdout.splitlines()[-1])
    assert outputs[:5] == [[]] * 5, "nothing is printed while it records"
    for shown, words in zip(outputs[5:], ["<th>memory_mib</th>", "ResourceTracker of process", "<iframe srcdoc="]):
        html, = [output["data"]["text/html"] for output in shown]
        assert words in html


# ---- types ----

def snippets(folder):
    """Returns the documents' code blocks and the programs that use the types. Those for other packages (Metaflow, the engines of
    docs/PYTHON-ENGINES.md) need types that are not ours.
    """
    documents = [path for path in sorted((TOP / "docs").rglob("*.md")) if path.name != "PYTHON-ENGINES.md"]
    for path in [TOP / "README.md", *documents, TOP / "bindings" / "python" / "README.md"]:
        for number, block in enumerate(re.findall(r"^```python\n(.*?)^```", path.read_text(), re.S | re.M)):
            if "metaflow" not in block:
                name = re.sub(r"\W", "_", f"{path.relative_to(TOP)}_{number}")
                (folder / f"{name}.py").write_text("def work() -> None: ...\n\n\n" * ("work()" in block) + block)
                yield f"{name}.py"
    example = TOP / "bindings" / "python" / "examples" / "standalone.py"
    (folder / "standalone.py").write_text(example.read_text())
    yield "standalone.py"
    (folder / "uses.py").write_text(USES)
    yield "uses.py"


USES = """
from typing import Optional
from resource_tracker_native import ResourceTracker, TinyDataFrame, get_process_stats
from resource_tracker_native.gpu_tracker import Tracker
from resource_tracker_native.report import Report
from resource_tracker_native.server_info import get_gpu_info, get_total_memory_mib

with ResourceTracker() as tracker:
    tracker.wait_for_samples(2, timeout=5)
info = tracker.server_info
if info is not None:
    print(info["vcpus"])
frame: TinyDataFrame = tracker.process_metrics
page: Report = tracker.report().save("report.html")
total: float = get_total_memory_mib()
print(get_gpu_info()["count"], get_process_stats(1)["memory_mib"])
with Tracker() as gpus:
    pass
usage = gpus.resource_usage
assert usage is not None
peak: Optional[float] = usage.max_ram.combined.total_rss
threads: Optional[int] = usage.cpu_utilization.main_n_threads
"""
UNSOUND = """
from resource_tracker_native import ResourceTracker
from resource_tracker_native.gpu_tracker import Tracker

with Tracker() as tracker:
    pass
tracker.resource_usage.max_ram
usage = tracker.resource_usage
assert usage is not None
usage.max_ram.combined.total_rss + 1
ResourceTracker().server_info["vcpus"]
"""


@pytest.mark.timeout(240)
@pytest.mark.parametrize("checker", [["mypy", "--strict", "--no-incremental", "--cache-dir=/dev/null"], pytest.param(["pyright"], marks=pytest.mark.night)])
def test_type_checkers_pass_on_the_documents_examples(tmp_path, checker):
    names = list(snippets(tmp_path))
    assert len(names) > 6
    python = ["--python-executable" if checker[0] == "mypy" else "--pythonpath", sys.executable]
    done = extra(*checker, *python, *names, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    (tmp_path / "unsound.py").write_text(UNSOUND)
    done = extra(*checker, *python, "unsound.py", cwd=tmp_path)
    lines = set(re.findall(r"unsound\.py:(\d+)", done.stdout))
    assert done.returncode == 1 and lines == {"7", "10", "11"}, "what may be None has to be looked at: " + done.stdout
