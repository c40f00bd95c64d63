"""Every process that becomes our child is reaped; the job's descendants count, others do not."""
import os
import signal
import subprocess
import sys
import time

import pytest

from conftest import wait_until
from memory_truth import Members
from namespaces import OWN_PROC
from processes import children_of
from wrap_driver import DRIVER, Log, has_gone, log, needs_root, state_of, wrap  # noqa: F401

PR_SET_CHILD_SUBREAPER = 36

# Double fork: the middle process ends at once, the last one burns CPU and ends by itself.
DAEMONS = """
import os, sys, time
def daemon(cpu_secs):
    if os.fork() == 0:
        if os.fork() == 0:
            os.setsid()
            while time.process_time() < cpu_secs:
                pass
            os._exit(0)
        os._exit(0)
    os.wait()
def stay_until_told():
    while not os.path.exists("told"):
        time.sleep(0.01)
"""


def test_each_is_looked_at_as_a_zombie_first(wrap, log, tmp_path):
    code = DAEMONS + "daemon(0.05)\ndaemon(0.05)\nstay_until_told()\nraise SystemExit(3)"
    process = wrap(sys.executable, "-c", code)
    log.wait_for("reaped", 2)
    (tmp_path / "told").touch()
    assert process.wait(20) == 3
    looked, reaped = log.events("reaping"), log.events("reaped")
    assert [event["id"] for event in looked] == [event["id"] for event in reaped] and len(reaped) == 3
    assert {event["state"] for event in looked} == {"Z"}
    orphans = [pair for pair in zip(looked, reaped) if pair[0]["id"] != log.one("started")["id"]]
    for zombie, ended in orphans:
        # A zombie's clock shows all that the process itself has read. The kernel may count the end of the exit only after this
        # look: a zombie's clock still grew, by 33 us once. wait4() rounds its two times down to whole microseconds each.
        assert 50_000 <= zombie["clock_us"] <= ended["cpu_us"] + 1
        assert ended["cpu_us"] < 250_000
    assert log.one("descendants")["id"] == 0


def test_orphans_are_reaped_while_the_job_runs(wrap, log, tmp_path):
    code = DAEMONS + "[daemon(0) for _ in range(300)]\nprint('up', flush=True)\nstay_until_told()"
    process = wrap(sys.executable, "-c", code, stdout=subprocess.PIPE)
    process.stdout.readline()
    job = log.one("started")["id"]
    log.wait_for("reaped", 300)
    assert len(children_of(process.pid)) == 2
    wait_until(lambda: state_of(job) == "S", what="the job sleeps between its looks")
    (tmp_path / "told").touch()
    assert process.wait(10) == 0


def test_orphans_that_are_dead_already_do_not_delay_the_end(wrap, log):
    """Hundreds of children are reparented to us when the job ends, and then end themselves. The status comes first."""
    code = """
import os
r, w = os.pipe()
for _ in range(400):
    if os.fork() == 0:
        os.close(w)
        os.read(r, 1)
        os._exit(0)
os.close(w)
os._exit(8)
"""
    process = wrap("--interval", 10, sys.executable, "-c", code)
    assert process.wait(30) == 8
    end = log.one("end")
    assert end["status"] == 8 << 8
    left = log.one("descendants")["id"]
    assert len(log.events("reaped")) + left >= 401 - 5  # some may end between the count and the last look


def test_running_descendants_are_counted_and_left_alone(wrap, log, tmp_path):
    code = "(sleep 40; true) & (sh -c 'sleep 40 & sleep 40; true') & read line <end; exit 2"
    os.mkfifo(tmp_path / "end")
    process = wrap("sh", "-c", code, process_group=0)
    job = Members(log.wait_for("started")[0]["id"])
    wait_until(lambda: len(job.now()) == 6, what="the job and five descendants")
    (tmp_path / "end").write_text("now\n")
    assert process.wait(20) == 2
    assert log.one("descendants")["id"] == 5
    os.killpg(process.pid, signal.SIGKILL)


def test_waiting_for_descendants(wrap, log):
    started = time.monotonic()
    assert wrap("--wait-descendants", "--interval", 50, "sh", "-c", "(sleep 0.2; setsid sh -c 'sleep 0.3; exit 1' &) & exit 4").wait() == 4
    assert 0.45 < time.monotonic() - started < 3
    assert log.one("descendants")["id"] == 0
    end, last = log.one("end"), log.events("tick")[-1]
    assert last["id"] > end["ns"]  # sampling continued after the job's end


@pytest.mark.parametrize("helper", [[], ["--helper"]])
def test_waiting_for_descendants_can_be_ended(wrap, log, helper):
    process = wrap("--wait-descendants", *helper, "sh", "-c", "sleep 20 & echo $! > pid; exit 5", process_group=0)
    job = log.wait_for("started")[0]["id"]
    wait_until(lambda: has_gone(job))
    time.sleep(0.05)
    process.terminate()
    assert process.wait(5) == 5
    assert log.one("descendants")["id"] == 1
    os.killpg(process.pid, signal.SIGKILL)


def test_helpers_are_neither_counted_nor_waited_for(wrap, log):
    process = wrap("--helper", "--wait-descendants", "sh", "-c", "(sleep 0.1 &); exit 6")
    helper = log.wait_for("helper")[0]["id"]
    assert process.wait(10) == 6
    assert helper not in [event["id"] for event in log.events("reaped")]
    assert log.one("descendants")["id"] == 0


def test_a_helper_that_ends_is_reaped_in_silence(wrap, log):
    process = wrap("--helper", "sleep", "0.4")
    helper = log.wait_for("helper")[0]["id"]
    os.kill(helper, signal.SIGTERM)
    wait_until(lambda: state_of(helper) is None)
    assert process.wait(10) == 0
    assert [event["id"] for event in log.events("reaped")] == [log.one("started")["id"]]


def test_children_from_before_are_not_the_jobs(log, tmp_path):
    """A shell with background commands that ends in `exec` leaves these to us."""
    script = f"sleep 0.1 & sleep 30 & echo $! > other; (exit 0) & exec {DRIVER} --wait-descendants --log {log.path} sh -c 'sleep 0.3; exit 7'"
    process = subprocess.Popen(["sh", "-c", script], cwd=tmp_path)
    assert process.wait(10) == 7
    assert [event["id"] for event in log.events("reaped")] == [log.one("started")["id"]]
    assert log.one("descendants")["id"] == 0
    other = int((tmp_path / "other").read_text())
    assert state_of(other) == "S"
    os.kill(other, signal.SIGKILL)


def test_a_dead_child_from_before_does_not_hinder(log, tmp_path):
    code = f"import os\nif os.fork() == 0: os._exit(1)\nimport time; time.sleep(0.1)\n" \
           f"os.execv({DRIVER!r}, [{DRIVER!r}, '--log', {str(log.path)!r}, 'sh', '-c', '(true &); sleep 0.1; exit 9'])"
    assert subprocess.run([sys.executable, "-c", code], timeout=20).returncode == 9
    assert len(log.events("reaped")) == 2  # the orphan and the job


def test_nothing_is_left_of_us(tmp_path):
    """Under a process that adopts orphans without reaping them, neither the witness nor another process stays a zombie."""
    code = f"""
import ctypes, os, subprocess, sys, time
ctypes.CDLL(None).prctl({PR_SET_CHILD_SUBREAPER}, 1, 0, 0, 0)
pid = os.fork()
if pid == 0:
    os.execv({DRIVER!r}, [{DRIVER!r}, "--helper", "sh", "-c", "(sleep 0.05 &); sleep 0.1"])
os.waitpid(pid, 0)
children = []
for _ in range(1000):
    children = open(f"/proc/{{os.getpid()}}/task/{{os.getpid()}}/children").read().split()
    if len(children) <= 1:
        break
    time.sleep(0.01)
print(children)
"""
    found = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=True).stdout
    assert len(eval(found)) <= 1  # the driver's own helper, which the test makes outlive it


@needs_root
def test_pid_1_reaps_everything(log):
    code = DAEMONS + "[daemon(0) for _ in range(50)]\ntime.sleep(0.3)\n" \
        "print(len([name for name in os.listdir('/proc') if name.isdigit()]))\nraise SystemExit(12)"
    done = subprocess.run(["unshare", "--pid", "--fork", *OWN_PROC, DRIVER, "--log", str(log.path), sys.executable,
                           "-c", code], stdout=subprocess.PIPE, text=True)
    assert done.returncode == 12
    assert int(done.stdout) == 3  # we, the witness, the job
    assert len(log.events("reaped")) == 51


def test_a_leader_that_has_left_its_threads_is_not_the_end(wrap, log, tmp_path):
    source = tmp_path / "leader.c"
    source.write_text("#include <pthread.h>\n#include <stdlib.h>\n#include <unistd.h>\n"
                      "static void *run(void *unused) { usleep(300000); exit(21); return unused; }\n"
                      "int main(void) { pthread_t thread; pthread_create(&thread, 0, run, 0); pthread_exit(0); }\n")
    subprocess.run(["cc", "-pthread", "-o", tmp_path / "leader", source], check=True)
    process = wrap(tmp_path / "leader")
    job = log.wait_for("started")[0]["id"]
    wait_until(lambda: state_of(job) == "Z")
    assert log.events("end") == []
    assert process.wait(10) == 21


def test_cpu_time_is_that_of_the_kernel(wrap, log):
    code = "import os, time\nwhile time.process_time() < 0.2: pass\n" \
           "u = os.times()\nprint(round((u.user + u.system) * 1000))"
    process = wrap(sys.executable, "-c", code, stdout=subprocess.PIPE)
    assert process.wait(10) == 0
    job = log.one("reaped")
    assert 200_000 <= job["cpu_us"] < 300_000


def test_ticks_keep_to_their_grid_under_a_storm_of_orphans(wrap, log):
    code = DAEMONS + "end = time.time() + 1\nwhile time.time() < end: daemon(0)"
    assert wrap("--interval", 50, sys.executable, "-c", code).wait(20) == 0
    due_ns = [event["id"] - event["late"] for event in log.events("tick")]
    # On a loaded machine some ticks are late or left out, but none moves the grid.
    assert len(due_ns) > 1
    assert all(later > earlier and (later - earlier) % 50_000_000 == 0 for earlier, later in zip(due_ns, due_ns[1:]))
