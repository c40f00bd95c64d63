"""However the program ends, none of its processes stays behind, and its witness is replaced."""
import json
import os
import pathlib
import signal
import subprocess
import time

import pytest

FAKES = "tests/fakes"


def name_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return None


def processes():
    """Returns {pid: (parent, name)} of all processes."""
    found = {}
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            text = path.read_text()
        except OSError:
            continue
        name, rest = text[text.index("(") + 1:text.rindex(")")], text[text.rindex(")") + 2:].split()
        found[int(path.parent.name)] = (int(rest[1]), name)
    return found


def below(pid):
    found, members = processes(), {pid}
    for _ in range(10):
        members |= {child for child, (parent, _) in found.items() if parent in members}
    return {member: found[member][1] for member in members - {pid} if member in found}


def wait_until(condition, secs=10):
    deadline = time.monotonic() + secs
    while time.monotonic() < deadline:
        if value := condition():
            return value
        time.sleep(0.01)
    raise AssertionError("it did not happen")


@pytest.fixture
def with_helper(binary, spawn, tmp_path):
    """Starts the program with a helper for GPUs, in its own session; (process, its own processes, the job)."""
    library = pathlib.Path(binary).parent / FAKES / "nvml_fake.so"
    if not library.exists() or not (pathlib.Path(binary).parent / "resource-tracker-helper").exists():
        pytest.skip("this build has no helper, or no fake library of a vendor")
    process = spawn("-q", "-i", "0.1", "-o", "run.jsonl", "--no-summary", "--", "sleep", "30", start_new_session=True,
                    env={"TRACKER_NVML_LIBRARY": str(library)})
    wait_until(lambda: {"sleep", "rt-helper", "rt-witness"} <= set(below(process.pid).values()))
    running = below(process.pid)
    job = next(pid for pid, name in running.items() if name == "sleep")
    yield process, {pid: name for pid, name in running.items() if pid != job}, job
    for pid in (job, *running):
        if name_of(pid) in ("sleep", "rt-helper", "rt-worker", "rt-witness"):
            os.kill(pid, signal.SIGKILL)


def have_gone(own):
    return not [pid for pid, name in own.items() if name_of(pid) == name]


def test_a_tracker_that_is_stopped_with_all_its_processes_and_killed(with_helper):
    """A stopped helper does not notice the end of its recorder."""
    process, own, job = with_helper
    for pid in (process.pid, *own):
        os.kill(pid, signal.SIGSTOP)
    process.kill()
    process.wait()
    wait_until(lambda: have_gone(own))
    assert name_of(job) == "sleep", "the job goes on"


def test_a_tracker_in_a_group_that_is_stopped_and_killed(with_helper):
    process, own, _ = with_helper
    os.killpg(process.pid, signal.SIGSTOP)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    wait_until(lambda: have_gone(own))


def test_a_tracker_that_is_killed(with_helper):
    process, own, _ = with_helper
    process.kill()
    process.wait()
    wait_until(lambda: have_gone(own))


def test_a_killed_witness_is_replaced_outside_of_the_tree(spawn, tmp_path):
    process = spawn("-q", "-i", "0.05", "-o", "run.jsonl", "--no-summary", "--", "sleep", "1.5")
    witness = wait_until(lambda: [pid for pid, name in below(process.pid).items() if name == "rt-witness"])
    wait_until(lambda: "sleep" in below(process.pid).values())
    os.kill(witness[0], signal.SIGKILL)
    other = wait_until(lambda: [pid for pid, name in below(process.pid).items() if name == "rt-witness" and pid != witness[0]])
    assert process.wait(10) == 0
    wait_until(lambda: name_of(other[0]) is None)
    samples = [json.loads(line) for line in (tmp_path / "run.jsonl").open()]
    assert {sample["cpu"]["process_child_count"] for sample in samples} <= {0, None}
    assert samples[-1]["run_end"]["exit_code"] == 0
