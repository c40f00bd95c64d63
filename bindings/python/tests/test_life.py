"""When a ResourceTracker begins and ends: construction and start(), signals, forks, streams."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import pytest

from resource_tracker_native import ResourceTracker, _native
from resource_tracker_native.dummy_workloads import cpu_single
from work import burn

FAKES = pathlib.Path(__file__).resolve().parents[3] / "tests" / "fakes"


def make(**arguments):
    return ResourceTracker(**{"interval": 0.05, "discover_cloud": False, **arguments})


@pytest.fixture
def server(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(FAKES)
    from sentinel import Sentinel

    one = Sentinel()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("SENTINEL_API_URL", one.base)
    yield one
    one.close()


# ---- the time before start() ----

@pytest.mark.parametrize("method", [None, "spawn"])
def test_time_before_the_start_does_not_count(method):
    tracker = make(method=method)
    block = bytearray(os.urandom(1 << 20) * 150)
    cpu_single(0.5)
    del block
    tracker.wait_for_samples(3, timeout=60)
    tracker.start()
    begun = time.time()
    time.sleep(0.4)
    tracker.stop()
    stats = tracker.stats()
    assert stats["timestamp"]["duration"] < 0.45 + (time.time() - begun - 0.4), stats
    assert stats["process_cpu_usage"]["mean"] < 0.3 and stats["process_memory_mib"]["max"] < 120, stats
    assert tracker.process_metrics["timestamp"][0] > begun - 0.01
    with pytest.raises(RuntimeError):
        tracker.start()


def test_a_program_that_never_starts_it_has_all_since_its_construction():
    tracker, used = make(), time.process_time()
    burn(0.3)
    tracker.stop()
    used = time.process_time() - used
    assert sum(row["utime"] + row["stime"] for row in tracker.process_metrics) > 0.8 * used > 0


@pytest.mark.parametrize("append", [False, True])
@pytest.mark.parametrize("method", [None, "spawn"])
def test_a_recording_begins_with_the_start(tmp_path, append, method):
    path = tmp_path / "run.jsonl"
    earlier = "{}\n" if append else ""
    if append:
        path.write_text(earlier)
    tracker = make(output_file=str(path), method=method, settings={"append": append})
    tracker.wait_for_samples(3, timeout=60)
    with tracker:
        begun = time.time()
        tracker.wait_for_samples(2, timeout=60)
    text = path.read_text()
    assert text.startswith(earlier)
    samples = [json.loads(line) for line in text[len(earlier):].splitlines()]
    assert len(samples) == tracker.n_samples and samples[0]["sample"] == 0 and samples[0]["timestamp"] > begun - 0.01
    assert sum(sample["run_start"] is not None and "schema_version" in sample["run_start"] for sample in samples) >= 1
    assert os.listdir(tmp_path) == ["run.jsonl"], "nothing is left of what came before"


def test_output_that_cannot_be_taken_back_stays(tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    tracker = make(output_file=str(fifo))
    tracker.wait_for_samples(2, timeout=60)
    count = tracker.n_samples
    with tracker:
        assert tracker.n_samples >= count
    assert fifo.exists()
    os.close(reader)


# ---- signals ----

WAITS = {
    "samples": "tracker.wait_for_samples(10 ** 9, timeout=60)",
    "samples of another process": "spawned.wait_for_samples(10 ** 9, timeout=60)",
    "samples without a limit": "native.wait_for_samples(10 ** 9, -1)",
    "upload": "streamed.wait_for_upload(60)",
    "cloud": "get_cloud_info()",
}


@pytest.mark.parametrize("wait", WAITS)
def test_ctrl_c_ends_a_wait_at_once(server, tmp_path, wait):
    """Runs in its own program, whose server does not answer."""
    script = f"""
import os, signal, sys, threading, time
sys.path.insert(0, {str(FAKES)!r})
from resource_tracker_native import ResourceTracker, _native, get_cloud_info
from sentinel import Sentinel
if {wait!r} in ("upload", "cloud"):
    silent = Sentinel()
    silent.trouble = lambda request: "hang 30"
if {wait!r} == "cloud":
    os.environ["TRACKER_METADATA_URL"] = silent.base
elif {wait!r} == "upload":
    variables = [("SENTINEL_API_TOKEN", silent.token), ("SENTINEL_API_URL", silent.base)]
    streamed = _native.Tracker([("stream", "auto"), ("interval", "0.05"), ("spool", {str(tmp_path)!r}), ("upload-deadline", "50")],
                               variables=variables)
    streamed.start()
    time.sleep(0.2)
    streamed.stop()
elif {wait!r} == "samples of another process":
    spawned = ResourceTracker(method="spawn", discover_cloud=False)
else:
    tracker = ResourceTracker(discover_cloud=False)
    native = tracker._native
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
begun = time.monotonic()
try:
    {WAITS[wait]}
except KeyboardInterrupt:
    print(time.monotonic() - begun, flush=True)
os._exit(0)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=50)
    assert done.returncode == 0 and done.stdout, done.stderr
    assert 0.4 < float(done.stdout) < 2, "half a second until the signal"


def test_a_handler_that_returns_does_not_end_a_wait():
    heard = []
    before = signal.signal(signal.SIGUSR1, lambda *_: heard.append(time.monotonic()))
    timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGUSR1))
    try:
        with make() as tracker:
            timer.start()
            tracker.wait_for_samples(12, timeout=60)
        assert len(heard) == 1 and tracker.n_samples >= 12
    finally:
        timer.join()
        signal.signal(signal.SIGUSR1, before)


@pytest.mark.parametrize("method", [None, "spawn"])
def test_a_negative_timeout_does_not_wait(method):
    with make(method=method) as tracker:
        begun = time.monotonic()
        with pytest.raises(RuntimeError, match="Timed out"):
            tracker.wait_for_samples(10 ** 9, timeout=-1)
        assert time.monotonic() - begun < 1
        tracker.wait_for_samples(2, timeout=60)
        tracker.wait_for_samples(1, timeout=-1)


def test_a_timeout_is_a_number():
    with make() as tracker, pytest.raises(ValueError, match="not a number"):
        tracker._native.wait_for_samples(10, float("nan"))


# ---- forks ----

@pytest.mark.parametrize("method", [None, "spawn"])
@pytest.mark.parametrize("leave", ["sys.exit(0)", "pass", "raise ValueError"])
def test_a_forked_child_that_leaves_the_body_does_nothing(method, leave):
    script = f"""
import os, sys, warnings
warnings.simplefilter("ignore")
from resource_tracker_native import ResourceTracker
tracker = ResourceTracker(interval=0.05, discover_cloud=False, method={method!r})
try:
    with tracker:
        child = os.fork()
        if child == 0:
            {leave}
        else:
            assert os.waitpid(child, 0)[1] == 0
            tracker.wait_for_samples(tracker.n_samples + 2, timeout=60)
except ValueError:
    pass
if child:
    print(tracker.n_samples, tracker.stats()["process_memory_mib"]["max"])
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=50)
    assert (done.returncode, done.stderr) == (0, "") and int(done.stdout.split()[0]) >= 2


def test_a_fork_does_not_begin_its_parent_s_tracker_anew(tmp_path):
    path = tmp_path / "run.jsonl"
    tracker = make(output_file=str(path))
    tracker.wait_for_samples(1, timeout=60)
    child = os.fork()
    if child == 0:
        try:
            tracker.start()
        except RuntimeError:
            os._exit(0)
        os._exit(1)
    assert os.waitpid(child, 0)[1] == 0 and path.exists()
    tracker.stop()


# ---- streams ----

def test_metadata_of_a_stream_is_passed_on_and_sets_nothing(server, tmp_path):
    server.further_names = {"pid", "output", "interval", "foo", "nested"}
    metadata = {"job_name": "test", "command": ["python", "x y.py"], "pid": 1, "interval": 5, "output": str(tmp_path / "no"),
                "foo": 1.5, "nested": {"a": [None, "\u00fc"]}, "team": None, "external_run_id": "7", "tags": {"colour": "green"}}
    with make(sentinel_token=server.token, streaming_metadata=metadata, output_file=str(tmp_path / "run.jsonl")) as tracker:
        tracker.wait_for_samples(3, timeout=60)
    start = server.run.start
    assert json.loads(start.pop("command")) == ["python", "x y.py"]
    assert start["tags"] == [{"key": "colour", "value": "green"}]
    for name in ("job_name", "pid", "interval", "output", "foo", "nested", "external_run_id"):
        assert start[name] == metadata[name], name
    assert "team" not in start
    assert set(tracker.process_metrics["pid"]) == {os.getpid()} and not (tmp_path / "no").exists()
    first = json.loads((tmp_path / "run.jsonl").read_text().splitlines()[0])
    assert first["job_name"] == "test" and first["run_start"]["interval_secs"] == 0.05


def test_a_command_may_be_a_line(server):
    with make(sentinel_token=server.token, streaming_metadata={"command": "python 'x y.py'"}) as tracker:
        tracker.wait_for_samples(1, timeout=60)
    assert json.loads(server.run.start["command"]) == ["python", "x y.py"]


def test_a_stream_begins_with_the_start(server, caplog):
    tracker = make(sentinel_token=server.token)
    tracker.wait_for_samples(2, timeout=60)
    with tracker:
        tracker.wait_for_samples(2, timeout=60)
    assert len(server.runs) == 1 and tracker.sentinel_result["processing"] == {"status": "ok"}
    never = make(sentinel_token=server.token)
    never.wait_for_samples(1, timeout=60)
    never.stop()
    assert len(server.runs) == 1 and never.sentinel_result is None and "was not streamed" in caplog.text


def test_metadata_that_is_too_long_is_refused(server):
    with pytest.raises(ValueError, match="streaming_metadata"):
        make(sentinel_token=server.token, streaming_metadata={"foo": "x" * 200_000}, autostart=True)


def test_a_long_answer_arrives_whole(server):
    server.finish_answer = {"stats": {f"column_{i}": {"mean": i / 7} for i in range(3000)}}
    with make(sentinel_token=server.token) as tracker:
        tracker.wait_for_samples(1, timeout=60)
    assert tracker.sentinel_result == server.finish_answer


def test_an_upload_has_no_answer_before_its_end():
    tracker = _native.Tracker([("interval", "1")])
    assert tracker.upload_answer() is None
    tracker.close()


# ---- after the end ----

def descriptors():
    return sorted(os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{fd}"))


@pytest.mark.parametrize("method", [None, "spawn"])
@pytest.mark.parametrize("output", [False, True])
def test_a_stopped_tracker_holds_no_descriptor_of_its_sources(tmp_path, method, output):
    """It held 35 until it was deleted, so 29 kept objects exhausted 1,024. Its figures stay readable."""
    before = descriptors()
    with make(output_file=str(tmp_path / "run.jsonl") if output else None, method=method) as tracker:
        tracker.wait_for_samples(3, timeout=60)
    # With a recorder of its own, the results are on the other side of one socket.
    assert len(descriptors()) - len(before) <= (method is not None), descriptors()
    assert tracker.n_samples >= 3 and len(tracker.process_metrics) >= 1 and tracker.system_metrics[0]["timestamp"] > 0
    assert tracker.server_info and tracker.stats()


def test_many_stopped_trackers_can_be_kept():
    kept = []
    for _ in range(12):
        with make(method=None) as tracker:
            tracker.wait_for_samples(1, timeout=60)
        kept.append(tracker)
    assert len(descriptors()) < 40, descriptors()


@pytest.mark.parametrize("method", [None, "spawn"])
def test_eight_threads_may_stop_at_once(method):
    """BlockingIOError was raised in seven of them."""
    for _ in range(5):
        tracker, problems, counts = make(method=method), [], []
        tracker.wait_for_samples(1, timeout=60)
        gate = threading.Barrier(8)

        def stop():
            gate.wait()
            try:
                tracker.stop()
                counts.append(tracker.n_samples)
            except BaseException as problem:  # noqa: BLE001
                problems.append(problem)

        threads = [threading.Thread(target=stop) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not problems and len(set(counts)) == 1, (problems, counts)
