"""The reason for a job's end, with real memory groups; and its status, whatever calls the system refuses."""
import contextlib
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import time

import pytest

import exact

from conftest import json_lines

MEMORY = pathlib.Path("/sys/fs/cgroup/memory")
PIDS = pathlib.Path("/sys/fs/cgroup/pids")
LIMIT_BYTES = 64 << 20

needs_memory = pytest.mark.skipif(not exact.is_root() or not (MEMORY / "memory.limit_in_bytes").exists(),
                                  reason="memory groups of version 1 are made by root")
needs_pids = pytest.mark.skipif(not exact.is_root() or not (PIDS / "cgroup.procs").exists(),
                                reason="groups that limit the number of processes are made by root")


def own_evidence(end):
    """Without the kills of other programs, which may run out of memory meanwhile."""
    return re.sub(r"; \d+ killed for lack of memory on the machine during the run(; confidence low)?", "", end["evidence"])


def is_plain_signal(end, own_kills=0):
    """If another program was killed for lack of memory during the run, the tracker has to suspect the same of the job."""
    others = (end["machine_oom_kills"] or 0) > own_kills and "; confidence low" in end["evidence"]
    return end["reason"] == "signal" or (end["reason"] == "oom_kill_suspected" and others)


@contextlib.contextmanager
def group(hierarchy, name):
    folder = hierarchy / f"test-{name}-{os.getpid()}-{time.monotonic_ns()}"
    folder.mkdir()
    try:
        yield folder
    finally:
        for _ in range(50):
            with contextlib.suppress(OSError):
                folder.rmdir()
                break
            time.sleep(0.05)


@pytest.fixture
def small_memory():
    with group(MEMORY, "oom") as folder:
        (folder / "memory.limit_in_bytes").write_text(str(LIMIT_BYTES))
        with contextlib.suppress(OSError):
            (folder / "memory.memsw.limit_in_bytes").write_text(str(LIMIT_BYTES))
        yield folder


def oom_kills(folder):
    lines = dict(line.split() for line in (folder / "memory.oom_control").read_text().splitlines())
    return int(lines["oom_kill"])


def last_kills():
    """The kernel's last lines about killed processes, for the message of a test that fails."""
    log = subprocess.run(["dmesg"], capture_output=True, text=True, check=False).stdout
    return [line for line in log.splitlines() if "Killed process" in line][-3:]


EAT = ["sh", "-c", "sleep 0.1; exec " + sys.executable + " -c 'x = bytearray(300 << 20)'"]


def moves_itself(folder, then):
    """Starts a job as cgexec and a scheduler's step do: in a group without its tracker."""
    return ["sh", "-c", f"echo 0 >{folder}/cgroup.procs; sleep 1.5; {then}"]


@needs_memory
def test_job_beside_its_tracker_is_confirmed(record, small_memory):
    """In a container or a scheduler's step, the tracker is in the same group and knows that it was not killed."""
    result, samples = record("-i", 0.02, "--", *EAT, preexec_fn=exact.enter(small_memory))
    assert oom_kills(small_memory) == 1, last_kills()
    assert result.returncode == -signal.SIGKILL
    end = samples[-1]["run_end"]
    assert (end["reason"], end["signal"], end["oom_kills"]) == ("oom_kill_confirmed", signal.SIGKILL, 1), end
    assert "SIGKILL" in end["evidence"] and "1 of the job's processes killed for lack of memory" in end["evidence"], end
    assert all(sample["limits"]["memory_limit_mib"] == 64.0 for sample in samples)


@needs_memory
def test_job_that_dies_before_its_tracker_looks_is_told(record, small_memory):
    """On a busy machine, the tracker first runs when the job is over."""
    stopped = ["sh", "-c", f"p=$PPID; (sleep 1; kill -CONT $p) & kill -STOP $p; {EAT[2].partition('; ')[2]}"]
    _, samples = record("-i", 1, "--", *stopped, preexec_fn=exact.enter(small_memory))
    assert oom_kills(small_memory) == 1, last_kills()
    end = samples[-1]["run_end"]
    assert end["reason"].startswith("oom_kill") and end["cgroup_oom_kills"] == 1, end


@needs_memory
def test_sample_while_the_job_dies_stays_in_its_group(record, small_memory):
    """The kernel shows an exiting process in the root group, which has another counter and other memory."""
    for _ in range(3):
        _, samples = record("-i", 0.2, "--", "sh", "-c", "sleep 0.35; " + EAT[2].partition("; ")[2],
                            preexec_fn=exact.enter(small_memory))
        assert samples[-1]["run_end"]["oom_kill_limit_mib"] == 64, samples[-1]["run_end"]
        assert all(sample["cgroup"]["memory_current_mib"] <= 64 for sample in samples)


@needs_memory
def test_child_that_is_killed_for_memory_is_evidence_though_the_job_succeeds(record, small_memory):
    result, samples = record("-i", 0.02, "--", "sh", "-c", f"{EAT[2].replace('exec ', '')}; exit 0",
                             preexec_fn=exact.enter(small_memory))
    assert oom_kills(small_memory) == 1, last_kills()
    assert result.returncode == 0
    end = samples[-1]["run_end"]
    assert (end["reason"], end["exit_code"], end["oom_kills"], end["cgroup_oom_kills"]) == ("exit", 0, 1, 1)
    assert (end["oom_kill_limit_mib"], round(end["oom_kill_peak_mib"])) == (64, 64)
    # Milliseconds beside microseconds.
    assert 0 < end["oom_kill_elapsed_secs"] <= samples[-1]["elapsed_secs"] + 0.0005
    assert "killed for lack of memory" in end["evidence"], end["evidence"]


@needs_memory
def test_worker_that_was_killed_for_memory_does_not_explain_a_later_sigkill(record, small_memory):
    worker = EAT[2].replace("exec ", "")
    _, samples = record("-i", 0.5, "--", *moves_itself(small_memory, f"{worker}; sleep 5; kill -9 $$"))
    end = samples[-1]["run_end"]
    assert is_plain_signal(end, own_kills=1) and (end["signal"], end["oom_kills"]) == (signal.SIGKILL, 1), end
    assert "s before the end" in end["evidence"], end["evidence"]


@needs_memory
@pytest.mark.parametrize("interval", [0.2, 1, 8])
@pytest.mark.parametrize("delay", [0, 0.5, 1.5])
def test_job_that_moved_into_a_group_and_was_killed_there(record, small_memory, interval, delay):
    """If the job is killed before the tracker sees the move, the kill is suspected; a readable kernel log confirms it."""
    job = f"sleep 0.2; echo $$ >{small_memory}/cgroup.procs; sleep {delay}; {EAT[2].partition('; ')[2]}"
    _, samples = record("-i", interval, "--", "sh", "-c", job)
    end = samples[-1]["run_end"]
    assert end["reason"].startswith("oom_kill") and end["signal"] == signal.SIGKILL, end
    assert end["machine_oom_kills"] >= 1


@needs_memory
def test_sigkill_in_a_limited_group_is_not_called_lack_of_memory(record, small_memory):
    result, samples = record("--", "sh", "-c", "kill -9 $$", preexec_fn=exact.enter(small_memory))
    assert result.returncode == -signal.SIGKILL
    end = samples[-1]["run_end"]
    assert is_plain_signal(end) and "memory" not in own_evidence(end), end


@needs_memory
def test_kill_in_a_group_that_holds_only_the_tree_is_confirmed(record, small_memory):
    result, samples = record("-i", 0.2, "--", *moves_itself(small_memory, EAT[2]))
    assert oom_kills(small_memory) == 1, last_kills()
    assert result.returncode == -signal.SIGKILL
    end = samples[-1]["run_end"]
    assert (end["reason"], end["signal"], end["oom_kills"]) == ("oom_kill_confirmed", signal.SIGKILL, 1)
    assert "1 of the job's processes killed for lack of memory" in end["evidence"], end["evidence"]


@needs_memory
def test_kill_in_a_group_that_others_share_counts_no_kills_of_the_job(record, small_memory):
    """The counter may belong to other processes; the kernel's log, if readable, still names the job."""
    stranger = subprocess.Popen(["sleep", "50"], preexec_fn=exact.enter(small_memory))
    try:
        _, samples = record("-i", 0.2, "--", *moves_itself(small_memory, EAT[2]))
    finally:
        stranger.kill()
        stranger.wait()
    end = samples[-1]["run_end"]
    assert (end["oom_kills"], end["cgroup_oom_kills"]) == (None, 1)
    assert "which others share" in end["evidence"], end["evidence"]
    named = "the kernel's log names it" in end["evidence"]
    assert end["reason"] == ("oom_kill_confirmed" if named else "oom_kill_suspected")


@needs_memory
def test_earlier_kills_of_the_group_are_not_the_jobs(record, small_memory):
    """A job may be moved into a group whose counter is not 0."""
    subprocess.run(EAT, preexec_fn=exact.enter(small_memory))
    assert oom_kills(small_memory) == 1, last_kills()
    _, samples = record("-i", 0.2, "--", *moves_itself(small_memory, "kill -9 $$"))
    end = samples[-1]["run_end"]
    assert end["oom_kills"] == 0 and is_plain_signal(end) and "memory" not in own_evidence(end), end


@needs_memory
def test_kill_of_a_child_is_told_of_a_tree_that_runs_already(spawn, small_memory, tmp_path, helpers):
    job = subprocess.Popen(["sh", "-c", f"read go; {EAT[2].replace('exec ', '')}; sleep 0.3"],
                           stdin=subprocess.PIPE, preexec_fn=exact.enter(small_memory))
    path = tmp_path / "record.jsonl"
    try:
        tracker = spawn("-i", 0.1, "-o", path, "--no-summary", "--pid", job.pid)
        helpers.wait_until(lambda: path.exists() and path.read_bytes().count(b"\n") >= 2)
        job.communicate(b"\n")
        assert tracker.wait() == 0
    finally:
        job.kill()
        job.wait()
    # The kernel may kill a second process before the first has gone.
    kills = oom_kills(small_memory)
    end = helpers.json_lines(path)[-1]["run_end"]
    assert kills >= 1 and (end["reason"], end["oom_kills"]) == ("target_exited", kills)
    assert end["evidence"] == f"the process has gone; {kills} of the job's processes killed for lack of memory"


@needs_memory
def test_a_record_is_left_where_tracker_and_job_are_killed_together(spawn, small_memory, tmp_path, helpers):
    """memory.oom.group kills the recorder too: the end is missing, but every sample before it is on disk."""
    path = tmp_path / "record.jsonl"
    tracker = spawn("-i", 0.02, "-o", path, "--no-summary", "--", "sleep", "20", start_new_session=True,
                    preexec_fn=exact.enter(small_memory))
    helpers.wait_until(lambda: path.exists() and path.read_bytes().count(b"\n") >= 5)
    for pid in map(int, (small_memory / "cgroup.procs").read_text().split()):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    assert tracker.wait() == -signal.SIGKILL
    whole = path.read_bytes().rpartition(b"\n")[0] + b"\n"
    samples = helpers.json_lines(whole)
    assert [sample["sample"] for sample in samples] == list(range(len(samples)))
    assert samples[-1]["run_end"] is None and samples[-1]["cpu"]["process_rss_mib"] > 0


# ---- the job's status is passed on, whatever the system refuses


def limited(which, value):
    return lambda: resource.setrlimit(which, (value, value))


@pytest.mark.parametrize("status", [0, 7])
@pytest.mark.parametrize("which, value", [(resource.RLIMIT_NOFILE, 8), (resource.RLIMIT_NOFILE, 5),
                                          (resource.RLIMIT_FSIZE, 100), (resource.RLIMIT_FSIZE, 0),
                                          (resource.RLIMIT_CORE, 0), (resource.RLIMIT_STACK, 256 << 10)])
def test_resource_limits(run, which, value, status):
    result = run("-i", 0.02, "-o", "record.jsonl", "--", "sh", "-c", f"sleep 0.1; exit {status}",
                 preexec_fn=limited(which, value))
    assert result.returncode in ((status, 125) if which == resource.RLIMIT_NOFILE and value < 8 else (status,)), result.err


def test_the_job_has_the_limit_that_we_were_given(run):
    result = run("-q", "--", "sh", "-c", "ulimit -Sn; ulimit -Hn", preexec_fn=limited(resource.RLIMIT_NOFILE, 8))
    assert result.out.split() == ["8", "8"]


@needs_pids
def test_no_process_is_left_for_us(record):
    """The job uses up all pids. Sampling continues, and the status is passed on."""
    with group(PIDS, "full") as folder:
        (folder / "pids.max").write_text("12")
        result, samples = record("-i", 0.02, "--", "sh", "-c",
                                 "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14; do sleep 0.3 & done 2>/dev/null; "
                                 "sleep 0.3; exit 5", preexec_fn=exact.enter(folder))
    # A shell that cannot fork exits with 2 or 254. Either way it is the job's status.
    assert result.returncode == samples[-1]["run_end"]["exit_code"] != 0
    assert samples[-1]["run_end"]["reason"] == "exit"


@pytest.mark.parametrize("closed", [(0,), (1,), (2,), (0, 1, 2)])
def test_closed_descriptors(binary, tmp_path, closed):
    def close():
        for fd in closed:
            os.close(fd)

    record = tmp_path / "record.jsonl"
    done = subprocess.run([binary, "-i", "0.02", "-o", record, "--", "sh", "-c", "sleep 0.1; exit 9"],
                          preexec_fn=close, cwd=tmp_path)
    assert done.returncode == 9
    assert json_lines(record)[-1]["run_end"]["exit_code"] == 9


# ---- limits that change ----------------------------------------------------------------------------------------

@needs_memory
@pytest.mark.parametrize("interval", ["0.3", "11"])
def test_a_limit_that_is_raised_is_seen_within_a_second_and_at_the_end(spawn, tmp_path, helpers, interval):
    """`docker update --memory` writes to the group of a job that runs."""
    with group(MEMORY, "raised") as folder:
        (folder / "memory.limit_in_bytes").write_text(str(200 << 20))
        tracker = spawn("--cgroup=off", "-i", interval, "-q", "-o", "run.jsonl", "--", "sleep", "3.5", preexec_fn=exact.enter(folder))
        helpers.wait_until(lambda: (tmp_path / "run.jsonl").exists() and (tmp_path / "run.jsonl").read_text().endswith("\n"))
        (folder / "memory.limit_in_bytes").write_text(str(800 << 20))
        assert tracker.wait() == 0
    told = [(one["elapsed_secs"], one["limits"]["memory_limit_mib"]) for one in helpers.json_lines(tmp_path / "run.jsonl")]
    assert told[0][1] == 200.0 and told[-1][1] == 800.0
    # A second, and an interval until the next sample looks.
    assert all(limit == 800.0 for secs, limit in told if secs > told[0][0] + 1.6)


@needs_memory
def test_a_limit_that_changes_before_the_first_sample_is_that_of_the_start(spawn, tmp_path, helpers):
    with group(MEMORY, "before-first") as folder:
        limit = folder / "memory.limit_in_bytes"
        limit.write_text(str(200 << 20))
        tracker = spawn("--cgroup=off", "-i", "60", "-q", "-o", "run.jsonl", "--", "sleep", "2", preexec_fn=exact.enter(folder))
        # The recorder keeps the file open that it has read.
        helpers.wait_until(lambda: any(fd.exists() and fd.samefile(limit) for fd in pathlib.Path(f"/proc/{tracker.pid}/fd").iterdir()))
        limit.write_text(str(800 << 20))
        assert tracker.wait() == 0
    first = helpers.json_lines(tmp_path / "run.jsonl")[0]
    assert (first["run_start"]["memory_limit_mib"], first["limits"]["memory_limit_mib"]) == (200.0, 800.0)


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two CPUs")
def test_cpus_that_are_taken_away_are_seen_within_a_second(spawn, tmp_path, helpers):
    tracker = spawn("-i", "0.3", "-q", "-o", "run.jsonl", "--", "sh", "-c", "echo $$ >pid; exec sleep 3.5")
    helpers.wait_until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text().strip())
    os.sched_setaffinity(int((tmp_path / "pid").read_text()), {min(os.sched_getaffinity(0))})
    assert tracker.wait() == 0
    told = [(one["elapsed_secs"], one["limits"]["cpuset_cores"]) for one in helpers.json_lines(tmp_path / "run.jsonl")]
    assert all(count == 1 for secs, count in told if secs > 2.5) and told[-1][1] == 1
