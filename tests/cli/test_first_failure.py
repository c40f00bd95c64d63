"""Which process of a job failed first: jobs with one planted fault, and jobs that end with 0. bench/failures has many of each shape."""
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

BENCH = pathlib.Path(__file__).resolve().parents[2] / "bench" / "failures"
SHAPES = ["set_e", "pipefail", "pipe_crash", "timeout", "make_k", "make_nested", "xargs", "python_pool", "threads", "subreaper", "code_kept"]


def hears_ends(recorded):
    """Whether the kernel tells this user here how processes end."""
    samples, _ = recorded("--", "true")
    return samples[-1]["run_end"]["failure_count"] is not None


@pytest.fixture
def bench():
    loader = importlib.machinery.SourceFileLoader("bench_failures", str(BENCH))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("bench_failures", loader))
    loader.exec_module(module)
    return module


@pytest.mark.alone
def test_planted_faults_are_found_and_clean_jobs_accuse_no_process(bench, binary, recorded):
    if not hears_ends(recorded):
        pytest.skip("the kernel delivers no process events here")
    shapes = [shape for shape in SHAPES if shutil.which(bench.NEEDS.get(shape, "sh"))]
    sums, wrong = bench.run(pathlib.Path(binary).parent, shapes, len(shapes))
    assert (sums["right"], sums["accused"], sums["clean"], wrong) == (len(shapes), 0, len(shapes), [])
    assert sums["sure_right"] == sums["sure"] > 0


def test_the_summary_the_line_and_the_recording_tell_it(run, tmp_path, recorded):
    if not hears_ends(recorded):
        pytest.skip("the kernel delivers no process events here")
    path, runs = tmp_path / "run.jsonl", tmp_path / "runs.jsonl"
    text = "ulimit -c 0; sh -c 'sleep 0.3; kill -SEGV $$'; r=$?; grep -q zzz /dev/null; exit $r"
    result = run("-o", path, "-i", 0.1, "--runs", runs, "--", "bash", "-c", text)
    first = json.loads(path.read_text().splitlines()[-1])["run_end"]["first_failure"]
    assert result.returncode == 139 and (first["program"], first["signal"], first["exit_code"], first["certainty"]) == ("sh", 11, None, "sure")
    assert first["parents"] == "bash (exit status 139)" and first["out_of_memory"] is False
    assert first["memory_mib"] > 0 and 0 <= first["sample_age_secs"] < 0.3 and 0 <= first["before_end_secs"] < 5
    words = json.loads(runs.read_text())["failed_first"]
    assert words.startswith("sh was killed by SIGSEGV") and words.endswith("; bash (exit status 139) passed it on")
    reasons = json.loads(run("history", "--json", runs).out)["groups"][0]["reasons"]
    assert reasons == {"exit 139 (sh)": 1}
    summary = run("summary", path).out
    assert " ".join(summary.split()).startswith(f"Failed: exit status 139; {words} bash")
    # No argument leaves the job, as for the names of programs.
    assert "zzz" not in json.dumps(first) + words


def test_a_job_that_fails_by_itself_has_no_line_of_its_own(run, tmp_path):
    path = tmp_path / "run.jsonl"
    run("-o", path, "-q", "--", "sh", "-c", "exit 3")
    end = json.loads(path.read_text().splitlines()[-1])["run_end"]
    assert end["first_failure"] is None or (end["first_failure"]["program"], end["first_failure"]["parents"]) == ("sh", None)
    assert run("summary", path).out.startswith("Failed: exit status 3\n")


def test_without_events_it_is_unknown_with_the_reason(binary, tmp_path):
    """In a PID namespace of its own, the kernel delivers none."""
    if os.getuid() or not shutil.which("unshare"):
        pytest.skip("needs root and unshare")
    own = ["unshare", "-p", "-f", "--mount-proc"]
    if subprocess.run([*own, "true"], check=False).returncode:
        pytest.skip("no mounts of its own here, as in a chroot")
    path = tmp_path / "run.jsonl"
    done = subprocess.run([*own, binary, "-q", "-o", path, "--why", "--", "sh", "-c", "(exit 4) || exit 3"],
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 3, done.stderr
    end = json.loads(path.read_text().splitlines()[-1])["run_end"]
    assert (end["first_failure"], end["failures"], end["failure_count"]) == (None, None, None)
    assert "the kernel does not tell this user here how processes end" in done.stderr


GET_INFO = """
import fcntl, os
pid = os.fork()
if not pid: os._exit(3)
fd = os.pidfd_open(pid)
os.waitpid(pid, 0)
info = bytearray(64)
info[0] = 8
fcntl.ioctl(fd, 0xc040ff0b, info)
assert info[0] & 8
"""


@pytest.mark.alone
@pytest.mark.skipif(os.getuid() != 0 or not shutil.which("unshare"), reason="needs root and unshare")
@pytest.mark.parametrize("job, program, exit_code, signal", [
    ("bash -c 'ulimit -c 0; sh -c \"read x <a; kill -SEGV \\$\\$\"; exit $?'", "sh", None, 11),
    ("bash -c 'sh -c \"read x <a; exit 4\"; exit $?'", "sh", 4, None),
    ("bash -c 'sh -c \"read x <a; exit 4\" || true; exit 3'", None, None, None),
    ("bash -c 'ulimit -c 0; sh -c \"read x <a; kill -SEGV \\$\\$\" || true'", None, None, None)])
def test_without_events_a_process_that_samples_saw_may_be_named(binary, tmp_path, helpers, job, program, exit_code, signal):
    """Since Linux 6.15, a descriptor of a process tells how it ended."""
    if subprocess.run([sys.executable, "-c", GET_INFO], capture_output=True).returncode:
        pytest.skip("the kernel's descriptors of processes do not tell how they end")
    if subprocess.run(["unshare", "-p", "-f", "--mount-proc", "true"], capture_output=True).returncode:
        pytest.skip("no PID namespace with a /proc of its own can be made here, as in a chroot")
    path, gate = tmp_path / "run.jsonl", tmp_path / "a"
    os.mkfifo(gate)
    tracker = subprocess.Popen(["unshare", "-p", "-f", "--mount-proc", binary, "-q", "-i", "0.5", "-o", path, "--", "sh", "-c", job],
                               cwd=tmp_path, stderr=subprocess.DEVNULL)
    # Opened when the inner shell waits for it. It goes on when two samples more have seen it.
    with gate.open("w", encoding="ascii") as opened:
        seen = path.read_text().count("\n") if path.exists() else 0
        helpers.wait_until(lambda: path.exists() and path.read_text().count("\n") >= seen + 2)
        opened.write("go\n")
    tracker.wait(timeout=60)
    end = json.loads(path.read_text().splitlines()[-1])["run_end"]
    assert end["failure_count"] is None
    if not program:
        assert end["first_failure"] is None
        return
    first = end["first_failure"]
    assert (first["program"], first["exit_code"], first["signal"], first["certainty"]) == (program, exit_code, signal, "probably")
    assert first["out_of_memory"] is False and first["parents"].startswith("sh (exit status ") and first["memory_mib"] > 0
