"""@track_resources in flows that a real Metaflow runs, with a local datastore."""
import base64
import gzip
import json
import os
import pathlib
import pickle
import re
import shutil
import subprocess
import sysconfig
import tempfile
import time

import pytest

from resource_tracker_native.metaflow import StepRecorder, TrackedResources, card_html, error_artifact
from resource_tracker_native.metaflow import artifact as artifact_module
from work import burn

TOP = pathlib.Path(__file__).resolve().parents[3]
EXAMPLE = TOP / "bindings" / "python" / "examples" / "tracked_flow.py"
PROCESS_COLUMNS = ["timestamp", "pid", "children", "utime", "stime", "cpu_usage", "memory", "read_bytes", "write_bytes",
                   "gpu_usage", "gpu_vram", "gpu_utilized"]
SYSTEM_COLUMNS = ["timestamp", "processes", "utime", "stime", "cpu_usage", "memory_free", "memory_used", "memory_buffers",
                  "memory_cached", "memory_active", "memory_inactive", "disk_read_bytes", "disk_write_bytes",
                  "disk_space_total_gb", "disk_space_used_gb", "disk_space_free_gb", "net_recv_bytes", "net_sent_bytes",
                  "gpu_usage", "gpu_vram", "gpu_utilized"]


class Flows:
    """A folder with its own datastore, in which flows run and are read."""

    def __init__(self, python, folder):
        self.python, self.folder = python, folder
        # The environment has none of the user's settings, and nothing here leaves this machine.
        self.environment = {
            "PATH": os.environ["PATH"], "HOME": str(folder), "LC_ALL": "C.UTF-8", "METAFLOW_USER": "tester",
            "METAFLOW_HOME": str(folder / "home"), "METAFLOW_DEFAULT_DATASTORE": "local",
            "METAFLOW_DEFAULT_METADATA": "local", "NO_COLOR": "1", "PYTHONDONTWRITEBYTECODE": "1",
            # Only the wheel is installed here; Metaflow is in the environment of its own Python.
            "PYTHONPATH": sysconfig.get_path("platlib")}

    def run(self, script, *arguments, check=True, limit_secs=100):
        done = subprocess.run([self.python, script, "--no-pylint", "run", *arguments], cwd=self.folder, env=self.environment,
                              capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=limit_secs)
        assert not check or done.returncode == 0, done.stdout + done.stderr
        return done

    def read(self, text):
        """Returns the JSON that a program with Metaflow's client prints."""
        head = "import json\nfrom metaflow import Flow, namespace\n"
        done = subprocess.run([self.python, "-c", head + text], cwd=self.folder, env=self.environment, capture_output=True,
                              text=True, stdin=subprocess.DEVNULL, timeout=100)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def cards(self, flow, step):
        """Returns the card pages of a step, oldest first."""
        pages = self.folder.glob(f".metaflow/mf.cards/{flow}/runs/*/steps/{step}/tasks/*/cards/*.html")
        return [path.read_text() for path in sorted(pages, key=lambda path: (path.parts[-7], path.parts[-3]))]


@pytest.fixture(scope="session")
def metaflow_python():
    found = subprocess.run([TOP / "tools" / "metaflow-venv"], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if found.returncode:
        pytest.skip(found.stderr.strip())
    return found.stdout.strip()


@pytest.fixture(scope="session")
def example(metaflow_python, tmp_path_factory):
    """Runs the example: two runs succeed, then one fails."""
    flows = Flows(metaflow_python, tmp_path_factory.mktemp("example"))
    flows.first, flows.second = flows.run(EXAMPLE), flows.run(EXAMPLE)
    flows.failed = flows.run(EXAMPLE, "--fail", "1", check=False)
    return flows


def data_of(page):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S).group(1))


@pytest.fixture
def needs_page(tmp_path):
    """A recorder for tests of the card's content."""
    recorder = StepRecorder(0.1)
    try:
        card_html(recorder.finish(False, []))
    finally:
        recorder.close()


# ---- the example --------------------------------------------------------------------------------------------

def test_the_artifact_has_the_documented_shape(example):
    seen = example.read("""
data = list(Flow("TrackedFlow").runs())[-1]["start"].task.data.resource_tracker_data
process, system = data["process_metrics"], data["system_metrics"]
print(json.dumps({"keys": sorted(data), "process": process.columns, "system": system.columns, "rows": [len(process), len(system)],
                  "memory": process["memory"], **{name: data[name] for name in (
                      "cloud_info", "server_info", "stats", "historical_stats", "step_failed")},
                  "isdict": isinstance(data, dict), "tracker": sorted(data["tracker"])}))
""")
    assert seen["process"] == PROCESS_COLUMNS and seen["system"] == SYSTEM_COLUMNS and seen["isdict"]
    assert set(seen["keys"]) >= {"process_metrics", "system_metrics", "cloud_info", "server_info", "stats", "historical_stats",
                                 "tracker", "step_failed"}
    assert seen["rows"][0] == seen["rows"][1] >= 4
    assert set(seen["cloud_info"]) == {"vendor", "instance_type", "region", "discovery_time"}
    assert {"vcpus", "memory_mb", "gpu_count", "gpu_names", "gpu_memory_mb", "memory_mib", "os"} <= set(seen["server_info"])
    assert {name: sorted(value) if isinstance(value, dict) else None for name, value in seen["stats"].items()} == {
        "cpu_usage": ["max", "mean"], "memory_usage": ["max", "mean"], "gpu_usage": ["max", "mean"],
        "gpu_vram": ["max", "mean"], "gpu_utilized": ["max", "mean"], "disk_usage": ["max"],
        "traffic": ["inbound", "outbound"], "duration": None}
    # The step allocates 100 MB; the figures are in kB of 1,024 bytes.
    assert 97000 < seen["stats"]["memory_usage"]["max"] < 400000 and seen["stats"]["duration"] >= 1.5
    assert max(seen["memory"]) == pytest.approx(seen["stats"]["memory_usage"]["max"], rel=0.001)
    assert seen["historical_stats"]["available"] is False and seen["step_failed"] is False
    assert seen["tracker"] == ["cloud_info", "metadata", "process_metrics", "server_info", "system_metrics"]


def test_earlier_runs_count(example, needs_page):
    seen = example.read("""
runs = list(Flow("TrackedFlow").runs())[::-1]
found = [run["start"].task.data.resource_tracker_data for run in runs]
print(json.dumps([[data["historical_stats"], data["stats"]] for data in found]))
""")
    (_, first), (history, second), (both, _) = seen
    assert history["available"] and history["runs_analyzed"] == 1 and both["runs_analyzed"] == 2
    assert history["avg_cpu_mean"] == first["cpu_usage"]["mean"]
    assert both["max_memory_max"] == max(run["memory_usage"]["max"] for run in (first, second))
    assert both["avg_duration"] == pytest.approx((first["duration"] + second["duration"]) / 2)
    advice = [data_of(page)["runs"][0]["advice"] for page in example.cards("TrackedFlow", "start")]
    assert [one["runs"] for one in advice] == [1, 2, 3] and advice[1]["cpu"] >= 1 and advice[1]["memory"] >= 128


def test_a_failed_step_has_its_artifact_and_its_card(example, needs_page):
    assert example.failed.returncode == 1 and "as you wished" in example.failed.stdout + example.failed.stderr
    seen = example.read("""
run = Flow("TrackedFlow").latest_run
data = run["start"].task.data.resource_tracker_data
print(json.dumps([run.successful, data["step_failed"], data["stats"]["memory_usage"]["max"], len(data["process_metrics"])]))
""")
    assert seen[:2] == [False, True] and seen[2] > 97000 and seen[3] >= 4
    pages = [data_of(page) for page in example.cards("TrackedFlow", "start")]
    assert [(page["failed"], page["succeeded"], page["integration"]) for page in pages] == [
        (False, True, "Metaflow"), (False, True, "Metaflow"), (True, False, "Metaflow")]


def test_the_interval_is_honoured(example):
    seen = example.read("""
run = list(Flow("TrackedFlow").runs())[-1]
tasks = [run["start"].task, *run["part"]]
found = [task.data.resource_tracker_data for task in tasks]
import gzip
recordings = [[json.loads(line) for line in gzip.decompress(one["recording"]).splitlines()] for one in found]
print(json.dumps([[one["tracker"]["metadata"]["interval"], recording[-1]["elapsed_secs"], len(recording),
                   sum(sample["missed_ticks"] for sample in recording)] for one, recording in zip(found, recordings)]))
""")
    assert [interval for interval, *_ in seen] == [0.25, 0.1, 0.1]
    for interval, secs, samples, missed in seen:
        # The last sample is taken at the end. A busy machine may miss others, and then counts them as missed.
        assert abs(samples - 1 + missed - secs // interval) <= 1, seen


def test_parallel_steps_and_their_join(example):
    assert "slept for 0.6 s" in example.first.stdout
    assert len(example.cards("TrackedFlow", "part")) == 4
    assert example.read("""
run = list(Flow("TrackedFlow").runs())[-1]
print(json.dumps([sorted(round(task.data.resource_tracker_data["stats"]["duration"], 1) >= 0.2 for task in run["part"]),
                  "resource_tracker_data" in run["end"].task]))
""") == [[True, True], False]


@pytest.mark.night
def test_the_card_is_drawn_in_a_browser_without_a_network(example, needs_page, tmp_path):
    if not shutil.which("node") or not shutil.which("chromium"):
        pytest.skip("needs node and chromium")
    package = json.loads((TOP / "tests" / "browser" / "packages.json").read_text())["playwright-core"]
    found = subprocess.run([TOP / "tools" / "npm-package", *package], capture_output=True, text=True)
    if found.returncode:
        pytest.skip(found.stderr.strip())
    page = tmp_path / "card.html"
    page.write_text(example.cards("TrackedFlow", "start")[1])
    # The browser puts a socket there, whose path may have 107 bytes.
    with tempfile.TemporaryDirectory(prefix="rt-", dir="/tmp") as folder:
        request = {"browser": "chromium", "executable": shutil.which("chromium"), "page": str(page), "scenario": "look"}
        done = subprocess.run(["node", TOP / "tests" / "browser" / "page.mjs", found.stdout.strip(), folder], capture_output=True,
                              text=True, input=json.dumps(request) + "\n", env={**os.environ, "TMPDIR": folder, "HOME": folder})
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["problems"] == [] and [one for one in seen["requests"] if not one.startswith(("file:", "data:"))] == []
    assert seen["heading"] == "TrackedFlow/start 1" and "Succeeded" in seen["text"] and "from Metaflow" in seen["text"]
    assert re.search(r"@resources\(cpu=\d+, memory=\d+\)", seen["text"]) and "From 2 runs" in seen["text"]
    assert {"chart-cpu", "chart-memory", "chart-disk"} <= set(seen["charts"])


# The flow of the package's documentation, word for word except for the length of the sleep.
DOCUMENTED_FLOW = '''
from time import sleep
from metaflow import Flow, FlowSpec, step, track_resources

class ResourceTrackingFlow(FlowSpec):
    @step
    def start(self):
        print("Starting step")
        self.next(self.my_sleeping_data)

    @track_resources
    @step
    def my_sleeping_data(self):
        data = bytearray(500 * 1024 * 1024)  # 500MB
        sleep(1.2)
        self.next(self.end)

    @step
    def end(self):
        print("Step finished")
        pass

if __name__ == "__main__":
    ResourceTrackingFlow()
'''


@pytest.mark.night
def test_the_flow_of_the_documentation(metaflow_python, tmp_path):
    flows = Flows(metaflow_python, tmp_path)
    (tmp_path / "flow.py").write_text(DOCUMENTED_FLOW)
    assert "Step finished" in flows.run("flow.py").stdout
    assert flows.read("""
artifact = Flow("ResourceTrackingFlow").latest_run.data.resource_tracker_data
samples, duration = len(artifact["process_metrics"]), artifact["stats"]["duration"]
print(json.dumps([2 <= samples <= 1 + duration, duration > 1.2]))  # one each second, and one at the end
""") == [True, True]
    assert len(flows.cards("ResourceTrackingFlow", "my_sleeping_data")) == 1


@pytest.mark.night
def test_the_flow_of_our_documentation(metaflow_python, tmp_path):
    readme = (TOP / "bindings" / "python" / "README.md").read_text()
    [flow] = [block for block in re.findall(r"```python\n(.*?)```", readme, re.S) if "track_resources" in block]
    (tmp_path / "flow.py").write_text(flow)
    flows = Flows(metaflow_python, tmp_path)
    flows.run("flow.py")
    assert len(flows.cards("ResourceTrackingFlow", "start")) == 1


# ---- use by others, and failures ----------------------------------------------------------------------------

OTHER_FLOW = '''
import sys
from metaflow import FlowSpec, card, current, retry, step, track_resources
from metaflow.cards import Markdown

class OtherFlow(FlowSpec):
    @track_resources(artifact_name="mine", interval=0.1)
    @card(id="own", type="blank")
    @step
    def start(self):
        current.card["own"].append(Markdown("my words"))
        self.next(self.silent)

    @track_resources(create_card=False)
    @step
    def silent(self):
        self.next(self.wrong)

    @track_resources(interval=-1)
    @step
    def wrong(self):
        self.next(self.again)

    @retry(times=1, minutes_between_retries=0)
    @track_resources
    @step
    def again(self):
        if current.retry_count == 0:
            raise RuntimeError("once")
        self.next(self.without)

    @track_resources
    @step
    def without(self):
        self.next(self.end)

    @step
    def end(self):
        pass

if __name__ == "__main__":
    if "without" in " ".join(sys.argv):
        # Simulates a machine without the package, such as that of a remote step.
        sys.modules["resource_tracker_native.metaflow"] = None
    OtherFlow()
'''


@pytest.fixture(scope="session")
def other(metaflow_python, tmp_path_factory):
    flows = Flows(metaflow_python, tmp_path_factory.mktemp("other"))
    (flows.folder / "other_flow.py").write_text(OTHER_FLOW)
    flows.done = flows.run("other_flow.py")
    flows.data = flows.read("""
run = Flow("OtherFlow").latest_run
tasks = {step.id: step.task for step in run}
found = {name: task[artifact].data for name, task in tasks.items() for artifact in ("mine", "resource_tracker_data") if artifact in task}
print(json.dumps({name: [data.get("error"), data.get("step_failed"), sorted(data)] for name, data in found.items()}))
""")
    return flows


@pytest.mark.night
def test_the_tracker_never_fails_a_step(other):
    assert other.done.returncode == 0
    error, _, keys = other.data["wrong"]
    assert keys == ["error"] and error["error_type"] == "ValueError" and "interval" in error["error_message"]
    assert "[@track_resources]" in other.done.stdout and "interval" in other.done.stdout
    error, _, keys = other.data["without"]
    assert keys == ["error"] and error["error_type"] in ("ModuleNotFoundError", "ImportError")
    [page] = other.cards("OtherFlow", "wrong")
    assert "Tracking went wrong" in page and "interval" in page
    [page] = other.cards("OtherFlow", "without")
    assert "is not installed where this step ran" in page


@pytest.mark.night
def test_names_and_cards_are_chosen(other, needs_page):
    pages = other.cards("OtherFlow", "start")
    # Metaflow's own card stores its content as base64.
    texts = [base64.b64decode(one) for page in pages for one in re.findall(r'"([A-Za-z0-9+/]{200,}={0,2})"', page)]
    assert len(pages) == 2 and any(b"my words" in text for text in texts)
    assert sum('id="data"' in page and "OtherFlow/start" in page for page in pages) == 1
    assert other.cards("OtherFlow", "silent") == [] and other.data["silent"][0] is None
    assert "Card render failed" not in other.done.stdout


@pytest.mark.night
def test_a_step_that_is_tried_again_has_the_last_try(other):
    assert other.data["again"][:2] == [None, False]


@pytest.mark.night
def test_the_card_of_a_running_step_is_made_again(metaflow_python, needs_page, tmp_path):
    flows = Flows(metaflow_python, tmp_path)
    done = flows.run(EXAMPLE.with_name("live_card_flow.py"), limit_secs=400)
    assert "the step showed 2 cards of itself while it ran" in done.stdout and "Card render failed" not in done.stdout
    cards = flows.read('print(json.dumps(Flow("LiveCardFlow").latest_run["start"].task.data.cards))')
    figures = [data_of(card) for card in cards]
    assert all(card.count('<meta http-equiv="refresh" content="1">') == 1 for card in cards)
    assert figures[0] != figures[1]
    # The last card is that of the whole step, and is not loaded again.
    [page] = flows.cards("LiveCardFlow", "start")
    assert 'http-equiv="refresh"' not in page and 'id="data"' in page
    # A step that is shorter than its first minute costs no process besides that of its only card.
    [page] = flows.cards("LiveCardFlow", "work")
    assert 'http-equiv="refresh"' not in page
    folder = next(tmp_path.glob(".metaflow/mf.cards/LiveCardFlow/runs/*/steps"))
    assert [path.parts[-5] for path in folder.rglob("*.data.json")] == ["start"]


# ---- the artifact without Metaflow --------------------------------------------------------------------------

@pytest.fixture
def tracked():
    recorder = StepRecorder(0.1, job_name="some", stage_name=None)
    try:
        time.sleep(0.35)
        return recorder.finish(True, [STATS])
    finally:
        recorder.close()


STATS = {"process_cpu_usage": {"mean": 1.5, "max": 2.0}, "process_memory_mib": {"mean": 10.0, "max": 64.0},
         "process_gpu_usage": {"mean": 0.0, "max": 0.0}, "process_gpu_vram_mib": {"mean": 0.0, "max": 0.0},
         "process_gpu_utilized": {"mean": 0, "max": 0}, "system_disk_space_used_gb": {"max": 1.0},
         "system_net_recv_bytes": {"sum": 5}, "system_net_sent_bytes": {"sum": 6}, "timestamp": {"duration": 8.0}}


def test_an_artifact_keeps_the_recording_and_makes_the_rest(tracked):
    small = len(pickle.dumps(tracked))
    again = pickle.loads(pickle.dumps(tracked))
    assert small < 20000 and isinstance(again, TrackedResources)
    assert again["process_metrics"].columns == PROCESS_COLUMNS and "process_metrics" in again
    assert again.get("system_metrics").columns == SYSTEM_COLUMNS and again.get("nothing", 7) == 7
    assert len(again["tracker"]["process_metrics"]) == len(again["process_metrics"])
    assert dict(again.items()).keys() == set(again) and "bytes>" in repr(again) and "TinyDataFrame" in repr(again)
    assert "made when it is asked for" in repr(pickle.loads(pickle.dumps(again)))
    samples = [json.loads(line) for line in gzip.decompress(again["recording"]).splitlines()]
    assert samples[-1]["run_end"]["reason"] == "tracker_stopped" and samples[0]["job_name"] == "some"
    assert len(pickle.dumps(again)) == small


def test_time_after_the_step_is_not_counted():
    recorder = StepRecorder(0.1)
    recorder.stop()
    burn(0.3)
    found = recorder.finish(False, [])
    recorder.close()
    assert sum(found["process_metrics"]["utime"]) < 0.2


def test_recordings_of_steps_leave_no_files(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    recorder = StepRecorder(0.1)
    assert len(list(tmp_path.iterdir())) == 1
    found = recorder.finish(False, [])
    found["process_metrics"]
    recorder.close()
    with pytest.raises(ValueError):
        StepRecorder(-1)
    assert list(tmp_path.iterdir()) == []


def test_earlier_runs_in_the_documented_shape(tracked):
    assert tracked["historical_stats"] == {
        "available": True, "runs_analyzed": 1, "avg_cpu_mean": 1.5, "max_memory_max": 65536.0, "avg_gpu_mean": 0.0,
        "max_vram_max": 0.0, "max_gpu_count": 0, "avg_duration": 8.0}
    assert artifact_module.historical_stats([])["available"] is False


def test_history_of_the_python_package_counts(tracked):
    of_package = {"step_failed": False, "tracker": tracked["tracker"], "historical_stats": []}
    stats = artifact_module.stats_of(of_package)
    assert stats["process_memory_mib"]["max"] == pytest.approx(tracked["step_stats"]["process_memory_mib"]["max"], abs=0.02)
    assert artifact_module.stats_of({"error": {"error_type": "x"}}) is None and artifact_module.stats_of(None) is None
    assert artifact_module.present_names({"process_memory": {"max": 2048}}) == {"process_memory_mib": {"max": 2.0}}


def test_the_card_of_an_artifact_of_the_python_package(tracked, needs_page):
    page = data_of(card_html({"step_failed": True, "tracker": tracked["tracker"], "historical_stats": [STATS]}))
    assert page["failed"] is True and page["runs"][0]["advice"]["runs"] == 2


def test_a_card_shows_the_cost_of_a_step(needs_page, tmp_path):
    (tmp_path / "servers.csv").write_text("vendor_id,api_reference,region_id,vcpus,memory_mib,price_usd_per_hour\n"
                                          "aws,small,us-east-1,2,4096,0.01\naws,big,us-east-1,8,8192,0.36\n")
    prices = {"catalogue": str(tmp_path / "servers.csv"), "instance": "aws/us-east-1/big", "usd_per_hour": None}
    recorder = StepRecorder(0.1, prices=prices, job_name="Flow/start")
    try:
        time.sleep(1.2)
        artifact = pickle.loads(pickle.dumps(recorder.finish(False, [])))
    finally:
        recorder.close()
    page = data_of(card_html(artifact))
    assert (page["usd_per_hour"], page["instance"], page["integration"]) == (0.36, "aws/us-east-1/big", "Metaflow")
    assert page["runs"][0]["advice"]["server"]["api_reference"] == "small" and page["runs"][0]["summary"]["run"]["job_name"] == "Flow/start"


def test_the_card_of_an_error_is_text_not_markup():
    page = card_html(error_artifact(ValueError("<script>alert(1)</script>")))
    assert "<script>" not in page and "&lt;script&gt;alert(1)" in page and "ValueError" in page
    assert "just text" in card_html({"error": "just text"})
