"""--signal-at: a signal before a limit ends the job, once, to the process that is meant, and the recording says when or why not."""
import json
import subprocess
import sys
import time

import pytest

import exact
import recordings
from test_exact_end import MEMORY, group, needs_memory

OWN_ERROR = 125
# Prints the signals that it gets. It ends 0.3 s after the first one, or by itself after the time that it is given. Its handler comes late if there is a second number.
JOB = """
import signal, sys, time
got = []
def note(number, frame): got.append(signal.Signals(number).name)
time.sleep(float(sys.argv[2]) if len(sys.argv) > 2 else 0)
for number in (signal.SIGUSR1, signal.SIGTERM): signal.signal(number, note)
end = time.monotonic() + float(sys.argv[1])
while time.monotonic() < end and not got: time.sleep(0.02)
time.sleep(0.3 if got else 0)
print(' '.join(got) or 'none')
"""
# The same for SIGTERM, of a program that starts at once: Python may take a second and more on a busy machine.
SOON_READY = ["sh", "-c", "trap 'echo SIGTERM; exit' TERM; for i in $(seq 600); do sleep 0.05; done; echo none"]
# A level that each program has at once.
ALWAYS = "memory=0.0001%"


@pytest.fixture
def job(tmp_path):
    path = tmp_path / "job.py"
    path.write_text(JOB)
    return [sys.executable, str(path)]


@pytest.fixture
def rows(run, helpers, tmp_path):
    """rows(rules, *command) returns what the job printed, and the rows of all samples."""

    def start(rules, *command, **popen):
        path = tmp_path / "run.jsonl"
        result = run("-q", "-i", "0.1", "-o", path, "--signal-at", rules, "--", *command, **popen)
        samples = helpers.json_lines(path)
        assert all("signals_at" not in sample or sample["signals_at"] for sample in samples)
        return result.out.strip(), [row for sample in samples for row in sample.get("signals_at", [])]

    return start


def test_memory_at_the_level_sends_the_signal_once(rows, job):
    out, (row,) = rows(f"{ALWAYS}:USR1", *job, "30")
    assert out == "SIGUSR1"
    assert row["rule"] == f"{ALWAYS}:USR1" and row["process_count"] == 1 and row["not_sent"] is None and row["elapsed_secs"] > 0
    assert " of " in row["because"] and row["because"].endswith(" MiB")


def test_a_handler_that_comes_late_gets_the_signal_when_it_is_there(rows, job):
    """SIGUSR1 ends a process without a handler, so it is not sent before."""
    out, (row,) = rows(f"{ALWAYS}:USR1", *job, "30", "0.5")
    assert out == "SIGUSR1" and row["elapsed_secs"] > 0.4


def test_a_process_without_a_handler_lives(rows):
    out, (row,) = rows(f"{ALWAYS}:USR1", "sh", "-c", "sleep 1; echo alive")
    assert out == "alive"
    assert row["process_count"] == 0 and row["elapsed_secs"] is None and "no handler" in row["not_sent"] and row["because"]


def test_time_after_the_start_does_not_wait_for_a_sample(run, helpers, tmp_path):
    path = tmp_path / "run.jsonl"
    assert run("-q", "-i", "5", "-o", path, "--signal-at", "time=1.2s:TERM", "--", *SOON_READY).out == "SIGTERM\n"
    (row,) = [row for sample in helpers.json_lines(path) for row in sample.get("signals_at", [])]
    assert 1.2 <= row["elapsed_secs"] < 4 and row["because"] == "1.2 s after the start"


@pytest.mark.parametrize("rule, because", [
    ("time=-28.5s/30s:TERM", "28.5 s before the limit that was given"), ("time=5%/30s:TERM", "28.5 s before the limit that was given")])
def test_a_given_time_limit(rows, rule, because):
    out, (row,) = rows(rule, *SOON_READY)
    assert out == "SIGTERM" and row["because"] == because and row["elapsed_secs"] >= 1.5


@pytest.mark.parametrize("place", ["first process", "ancestor"])
def test_the_limit_of_timeout(run, rows, binary, job, place, tmp_path, helpers):
    """The signal goes to the program that timeout runs, not to timeout."""
    rule, limit = "time=-56s:USR1", ["timeout", "-k", "5", "60s"]
    if place == "first process":
        out, (row,) = rows(rule, *limit, *job, "30")
    else:
        path = tmp_path / "inside.jsonl"
        out = run(*limit[1:], binary, "-q", "-i", "0.1", "-o", path, "--signal-at", rule, "--", *job, "30", program="timeout").out.strip()
        (row,) = [row for sample in helpers.json_lines(path) for row in sample.get("signals_at", [])]
    assert out == "SIGUSR1" and row["because"] == "56 s before the limit of timeout" and row["process_count"] == 1


def test_the_limit_of_slurm(rows, job):
    """The time that Slurm tells is in whole seconds. The job has some to begin."""
    now = int(time.time())
    out, (row,) = rows("time=-58s:TERM", *job, "30", env={"SLURM_JOB_START_TIME": str(now - 100), "SLURM_JOB_END_TIME": str(now + 64)})
    assert out == "SIGTERM" and row["because"] == "58 s before the limit of Slurm"


def test_the_processes_of_a_named_program(rows, job):
    name = subprocess.run([sys.executable, "-c", "print(open('/proc/self/comm').read())"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    out, (row,) = rows(f"{ALWAYS}:USR1:{name}", "sh", "-c", f"{' '.join(job)} 30 & {' '.join(job)} 30 & wait; echo shell")
    assert row["process_count"] in (1, 2) and out.endswith("shell") and "SIGUSR1" in out


def test_signals_that_were_not_sent_say_why(rows):
    out, found = rows("memory=100%:TERM,time=-1h:TERM,time=1h:TERM,time=-1h/1.1h:TERM", "sh", "-c", "sleep 0.3; echo end")
    assert out == "end"
    assert [(row["process_count"], row["elapsed_secs"], row["because"]) for row in found] == [(0, None, None)] * 4
    why = [row["not_sent"] for row in found]
    # These tests may themselves run below a timeout(1).
    assert why.pop(1) in ("no time limit is known", "the job started later than that", "the recording ended before that time")
    assert why == ["memory stayed below that level", "the recording ended before that time", "the recording ended before that time"]


def test_a_rule_that_is_due_when_the_recording_has_ended_is_told_at_the_start(run):
    rules = "time=0.3s:TERM,time=0.2s:TERM,time=-1s/1.3s:USR1,time=50%/1m:USR2,time=0.1s:USR1,time=-10m:TERM,memory=90%:TERM"
    result = run("--duration", 0.2, "--signal-at", rules, "-o", "run.jsonl", "--", "true")
    assert (result.returncode, result.err.splitlines()) == (0, [
        f"resource-tracker: --signal-at: {rule} is never sent, because --duration ends before" for rule in
        ("time=0.3s:TERM", "time=0.2s:TERM", "time=-1s/1.3s:USR1", "time=50%/1m:USR2")])


def test_no_process_runs_the_program(rows):
    _, (row,) = rows(f"{ALWAYS}:TERM:no-such-program", "sleep", "0.5")
    assert row["not_sent"] == "no process of the job runs that program"


def test_a_limit_that_the_job_began_after(rows):
    _, (row,) = rows("time=-2h:TERM", "timeout", "3600", "sleep", "0.3")
    assert row["not_sent"] == "the job started later than that"


def test_an_attached_process_gets_its_signal(run, helpers, job, tmp_path):
    path = tmp_path / "run.jsonl"
    process = subprocess.Popen([*job, "30"], stdout=subprocess.PIPE, text=True)
    run("-q", "-i", "0.1", "-o", path, "--signal-at", f"{ALWAYS}:USR1", "--pid", process.pid)
    assert process.communicate(timeout=30)[0].strip() == "SIGUSR1"
    assert [row["process_count"] for sample in helpers.json_lines(path) for row in sample.get("signals_at", [])] == [1]


def test_a_rule_works_whatever_is_recorded(run, helpers, job, tmp_path):
    path = tmp_path / "run.jsonl"
    assert run("-q", "-i", "0.1", "-o", path, "--metrics", "cpu.utilization_pct", "--signal-at", f"{ALWAYS}:USR1", "--", *job, "30").out == "SIGUSR1\n"
    (row,) = [row for sample in helpers.json_lines(path) for row in sample.get("signals_at", [])]
    assert row["process_count"] == 1 and "memory" not in helpers.json_lines(path)[0]["cpu"]


def signal_row(rule, secs, because, count, not_sent):
    return {"rule": rule, "elapsed_secs": secs, "because": because, "process_count": count, "not_sent": not_sent}


def test_the_summary_says_which_signals_were_sent_and_why_others_were_not(run, tmp_path):
    made = [recordings.sample(i, start=recordings.START if i == 0 else None, end=recordings.END if i == 3 else None) for i in range(4)]
    path = recordings.write(tmp_path / "none.jsonl", made)
    assert json.loads(run("summary", "--json", path).out)["end"]["signals_at"] is None
    assert "Signals" not in run("summary", path).out
    made[1]["signals_at"] = [signal_row("memory=90%:USR1:py\033thon3", 100.5, "912 of 1000 MiB, full in 40 s", 2, "Operation not permitted")]
    made[3]["signals_at"] = [signal_row("time=-2m:TERM", None, None, 0, "the recording ended before that time")]
    path = recordings.write(tmp_path / "run.jsonl", made)
    assert json.loads(run("summary", "--json", path).out)["end"]["signals_at"] == (
        "memory=90%:USR1:py\033thon3 sent to 2 processes after 1 min 41 s (912 of 1000 MiB, full in 40 s), not to all (Operation not permitted); "
        "time=-2m:TERM not sent (the recording ended before that time)")
    text = " ".join(run("summary", path).out.split())
    assert "Signals memory=90%:USR1:py?thon3 sent to 2 processes" in text and "\033thon3" not in text
    # More of them than have room.
    made[3]["signals_at"] *= 20
    run("summary", recordings.write(tmp_path / "many.jsonl", made))


@needs_memory
def test_a_limit_that_is_lowered_in_mid_run_counts(spawn, helpers, tmp_path, job):
    """`docker update --memory` writes to the group of a job that runs."""
    path, begun = tmp_path / "run.jsonl", tmp_path / "begun"
    hold = "import sys; held = b'x' * (100 << 20); open(sys.argv.pop(1), 'w').close(); exec(open(sys.argv.pop(1)).read())"
    with group(MEMORY, "lowered") as folder:
        (folder / "memory.limit_in_bytes").write_text(str(2000 << 20))
        tracker = spawn("--cgroup=off", "-i", "0.2", "-q", "-o", path, "--signal-at", "memory=75%:USR1", "--",
                        job[0], "-c", hold, begun, job[1], "30", preexec_fn=exact.enter(folder))
        helpers.wait_until(begun.exists)
        (folder / "memory.limit_in_bytes").write_text(str(135 << 20))
        assert tracker.wait() == 0
    (row,) = [row for sample in helpers.json_lines(path) for row in sample.get("signals_at", [])]
    assert row["process_count"] == 1 and row["because"].endswith(" of 135 MiB")


@pytest.mark.parametrize("rule, message", [
    ("memory", "'memory' is not a rule; give for example memory=90%:USR1 or time=-120s:TERM"),
    ("memory=90%:USR1,", "'' is not a rule; give for example memory=90%:USR1 or time=-120s:TERM"),
    ("memory=90:USR1", "'memory=90:USR1' is not a part of the memory limit; give for example memory=90%:USR1"),
    ("time=soon:USR1", "'time=soon:USR1' is not a time; give for example time=-120s:TERM, time=90%:TERM or time=58m:TERM"),
    ("time=-5m/4m:USR1", "'time=-5m/4m:USR1' is due before the job starts"),
    ("time=-5m:KILL", "'time=-5m:KILL' asks for a signal that leaves the job no time to save its state; give for example TERM"),
    ("time=-5m:NO", "'time=-5m:NO' names no signal that is known; give for example USR1 or TERM"),
    ("disk=90%:USR1", "'disk=90%:USR1' watches neither memory nor time"),
    ("memory=90%:USR1:" + "x" * 90, f"'memory=90%:USR1:{'x' * 44}' is too long; a rule has at most 63 characters")])
def test_a_bad_rule_gets_one_clear_line(run, rule, message):
    result = run("--signal-at", rule, "--", "true")
    assert result.returncode == OWN_ERROR and result.err == f"resource-tracker: --signal-at: {message}\n"


def test_a_recording_without_rules_has_no_such_key(run, helpers, tmp_path):
    path = tmp_path / "run.jsonl"
    run("-q", "-o", path, "--", "true")
    assert all("signals_at" not in json.dumps(sample) for sample in helpers.json_lines(path))
