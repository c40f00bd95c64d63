"""Waiting for a CPU and context switches of the job, beside what its own threads say of themselves."""
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

import pytest

from conftest import json_lines, summed

# The kernel's counters of a thread, as the thread itself reads them: it prints seconds on a CPU and waiting for one.
SAYS = """
import hashlib, os, resource, sys, threading, time
BLOCK = bytes(100_000)
def spin(secs):
    # Threads wait for a CPU and not for each other: a hash does without the interpreter's lock.
    end = time.monotonic() + secs
    while time.monotonic() < end:
        hashlib.sha256(BLOCK)
def say():
    run, wait, _ = open("/proc/thread-self/schedstat").read().split()
    os.write(1, f"{int(run) / 1e9} {int(wait) / 1e9}\\n".encode())
def one_core():
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
"""
PROCESSES = SAYS + """
one_core()
for _ in range(2):
    if os.fork() == 0:
        spin(1.2); say(); time.sleep(0.6); os._exit(0)
os.wait(); os.wait(); say()
"""
THREADS = SAYS + """
def work():
    spin(1.2); say(); time.sleep(0.6)
one_core()
many = [threading.Thread(target=work) for _ in range(6)]
for one in many: one.start()
for one in many: one.join()
say()
"""
SHORT = SAYS + """
one_core()
def lives_short(_):
    if os.fork() == 0:
        spin(0.004); say(); os._exit(0)
for i in range(120):
    lives_short(i); lives_short(i); os.wait(); os.wait()
"""


def python(code):
    return "--", sys.executable, "-c", code


def said(out):
    """Returns (seconds on a CPU, seconds waiting) of all threads that spoke."""
    pairs = [tuple(map(float, line.split())) for line in out.splitlines()]
    return sum(run for run, _ in pairs), sum(wait for _, wait in pairs)


def told(samples, name):
    known = [sample["cpu"][name] for sample in samples]
    assert None not in known, known
    return summed(samples, name)


@pytest.mark.parametrize("code", [PROCESSES, THREADS], ids=["processes", "threads"])
def test_threads_on_one_core_wait_as_long_as_they_say(recorded, code):
    samples, out = recorded("-i", "0.2", *python(code))
    run, wait = said(out)
    waited, known = told(samples, "process_cpu_wait_secs"), told(samples, "process_cpu_wait_known_secs")
    assert wait > 0.4 * (run + wait), "two loops on one core should wait half of the time"
    # Each of them waits once more before it ends.
    assert wait * 0.98 - 0.01 <= waited <= wait * 1.2 + 0.4, (waited, wait)
    assert run * 0.98 - 0.01 <= known
    end = samples[-1]["run_end"]
    assert end["tree_cpu_wait_secs"] == pytest.approx(waited, abs=0.001 * len(samples))
    assert end["tree_cpu_wait_known_secs"] <= end["tree_utime_secs"] + end["tree_stime_secs"] + 0.01


def test_waiting_of_short_lived_children_is_a_lower_bound_that_tells_its_part(recorded):
    samples, out = recorded("-i", "0.5", *python(SHORT))
    _, wait = said(out)
    cpu = sum(sample["cpu"]["process_utime_secs"] + sample["cpu"]["process_stime_secs"] for sample in samples)
    known = told(samples, "process_cpu_wait_known_secs")
    assert known < 0.7 * cpu, "most of the CPU time was in children that ended between two samples"
    assert told(samples, "process_cpu_wait_secs") < wait + 0.3


@pytest.mark.alone
def test_waiting_before_an_attach_does_not_count(binary, tmp_path):
    code = SAYS + """
def work():
    spin(0.8); say()
    while True: time.sleep(0.1)
one_core()
many = [threading.Thread(target=work) for _ in range(4)]
for one in many: one.start()
time.sleep(60)
"""
    job = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    try:
        _, before = said("".join(job.stdout.readline().decode() for _ in range(4)))
        subprocess.run([binary, "-p", str(job.pid), "-i", "0.2", "--duration", "1", "-q", "-o", tmp_path / "run.jsonl"], check=True)
    finally:
        job.kill()
        job.wait()
        job.stdout.close()
    samples = json_lines(tmp_path / "run.jsonl")
    assert before > 1
    assert told(samples, "process_cpu_wait_secs") < 0.8
    assert told(samples, "process_cpu_wait_known_secs") < 0.3
    # Four threads sleep ten times a second.
    assert 10 <= told(samples, "process_voluntary_switches") <= 80


def switches_of(pid, tid):
    """Returns the voluntary switches of a thread."""
    return int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", pathlib.Path(f"/proc/{pid}/task/{tid}/status").read_text(), re.M)[1])


def switches_of_all(pid, tids):
    return sum(switches_of(pid, tid) for tid in tids)


@pytest.mark.parametrize("interval, rest, threads", [(0.1, 0.25, 8), (0.4, 1.1, 8), (0.4, 0.25, 150)])
def test_threads_that_sleep_between_two_samples_count_until_the_recording_ends(binary, tmp_path, interval, rest, threads):
    """The last sample reads all threads, also those that were asleep or had no turn at the sample before."""
    code = f"""if True:
        import threading, time
        def work():
            while True: time.sleep({rest})
        for _ in range({threads}): threading.Thread(target=work, daemon=True).start()
        print(flush=True)
        while True: time.sleep(0.2)"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as job:
        try:
            job.stdout.readline()
            others = [tid for tid in os.listdir(f"/proc/{job.pid}/task") if int(tid) != job.pid]
            every = (job.pid, *others)
            before, run = switches_of_all(job.pid, every), tmp_path / "run.jsonl"
            with subprocess.Popen([binary, "-p", str(job.pid), "-i", str(interval), "--duration", "2.4", "-q", "-o", run]) as recorder:
                while not (run.exists() and b"\n" in run.read_bytes()) and recorder.poll() is None:
                    time.sleep(0.005)
                first = switches_of_all(job.pid, every)
            after = switches_of_all(job.pid, every)
            assert recorder.returncode == 0
        finally:
            job.kill()
    counted = told(json_lines(run), "process_voluntary_switches")
    assert len(others) == threads and after - before > 20
    # The recorder begins to count between the first look and its first sample, and stops before the last look.
    assert 0.85 * (after - first) <= counted <= after - before, (before, first, after, counted)


@pytest.fixture
def switches_since():
    """switches_since() returns the context switches (voluntary, involuntary) of children that this test has waited for."""

    def count():
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_nvcsw, used.ru_nivcsw

    before = count()
    return lambda: [now - then for now, then in zip(count(), before)]


def test_context_switches_are_those_of_the_job_itself(recorded, switches_since):
    code = SAYS + """
one_core()
if os.fork() == 0:
    for _ in range(300): time.sleep(0.001)
    spin(0.5); os._exit(0)
spin(0.5)
os.wait()
who = [resource.getrusage(one) for one in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
print(sum(one.ru_nvcsw for one in who), sum(one.ru_nivcsw for one in who), flush=True)
os._exit(0)
"""
    samples, out = recorded("-i", "0.2", *python(code))
    voluntary, involuntary = map(int, out.split())
    end = samples[-1]["run_end"]
    # On a busy machine the job loses its CPU any number of times after it has spoken. The kernel's count of the recorder
    # and the job together is the other bound.
    with_recorder = switches_since()
    assert voluntary <= end["voluntary_switches"] <= with_recorder[0]
    assert involuntary <= end["involuntary_switches"] <= with_recorder[1]
    assert voluntary >= 300
    live = told(samples, "process_voluntary_switches")
    assert voluntary / 2 <= live <= end["voluntary_switches"]


@pytest.mark.skipif(not shutil.which("time"), reason="needs GNU time")
def test_context_switches_agree_with_gnu_time(run, switches_since, tmp_path):
    path = tmp_path / "run.jsonl"
    code = "import time\nfor _ in range(200): time.sleep(0.001)"
    done = run("-o", path, "-q", "--no-summary", "--", shutil.which("time"), "-f", "%w %c", sys.executable, "-c", code)
    voluntary, involuntary = map(int, done.err.split())
    end = json.loads(path.read_text().splitlines()[-1])["run_end"]
    # GNU time itself waits for its child, and loses its CPU any number of times on a busy machine. The kernel's count of the
    # recorder and the job together is the other bound.
    with_recorder = switches_since()
    assert voluntary <= end["voluntary_switches"] <= with_recorder[0]
    assert involuntary <= end["involuntary_switches"] <= with_recorder[1]


def test_a_job_that_sleeps_waits_for_no_cpu(recorded):
    samples, _ = recorded("-i", "0.3", "--", "sleep", "1")
    assert told(samples, "process_cpu_wait_secs") < 0.2


STRACE = shutil.which("strace")


def opened(binary, tmp_path, *arguments):
    trace = tmp_path / "trace"
    subprocess.run([STRACE, "-o", trace, "-e", "trace=openat,pread64", "-y", "-s", "0", binary, "-o", tmp_path / "run.jsonl", "-q", "--no-summary",
                    "-i", "0.2", *arguments], check=True, stdout=subprocess.DEVNULL)
    return trace.read_text()


@pytest.mark.skipif(not STRACE, reason="needs strace")
def test_nothing_is_read_where_waiting_is_not_wanted(no_leak_check, binary, tmp_path):
    trace = opened(binary, tmp_path, "--metrics", "process_cores_used,process_memory_mib", "--", "sleep", "0.5")
    assert "schedstat" not in trace and trace
    assert "schedstat" in opened(binary, tmp_path, "--", "sleep", "0.5")


@pytest.mark.skipif(not STRACE, reason="needs strace")
def test_threads_that_did_not_run_are_not_read_again(no_leak_check, binary, tmp_path):
    """300 idle children: their counters are read once each, and not at every sample."""
    code = "import os, time\nfor _ in range(300):\n    if os.fork() == 0:\n        time.sleep(60)\nprint('ready', flush=True)\ntime.sleep(60)"
    job = subprocess.Popen([sys.executable, "-c", code], start_new_session=True, stdout=subprocess.PIPE)
    try:
        assert job.stdout.readline() == b"ready\n"
        trace = opened(binary, tmp_path, "-p", str(job.pid), "--duration", "1.2")
    finally:
        os.killpg(job.pid, 9)
        job.wait()
        job.stdout.close()
    reads = [line for line in trace.splitlines() if "/schedstat" in line and line.startswith("pread64")]
    assert 250 <= len(reads) <= 450, len(reads)


@pytest.mark.skipif(not STRACE, reason="needs strace")
def test_idle_threads_of_a_busy_process_cost_one_small_reading(no_leak_check, binary, tmp_path):
    """The times of 16 threads that wait are read for a second and at the end, through descriptors that stay open, their switches once."""
    code = """if True:
        import threading, time
        gate = threading.Lock()
        gate.acquire()
        for _ in range(16):
            threading.Thread(target=gate.acquire, daemon=True).start()
        print('ready', flush=True)
        while True:
            time.sleep(0.01)"""
    job = subprocess.Popen([sys.executable, "-c", code], start_new_session=True, stdout=subprocess.PIPE)
    try:
        assert job.stdout.readline() == b"ready\n"
        trace = opened(binary, tmp_path, "-p", str(job.pid), "--duration", "4")
    finally:
        os.killpg(job.pid, 9)
        job.wait()
        job.stdout.close()
    lines = [line for line in trace.splitlines() if f"{job.pid}/task/" in line]
    kinds = {(call, name): sum(line.startswith(call) and f"/{name}" in line for line in lines)
             for call in ("openat", "pread64") for name in ("schedstat", "status")}
    # The main thread is read through files of the process itself. A thread may have reached the lock after the first sample.
    assert kinds["openat", "schedstat"] <= 17 and kinds["openat", "status"] <= 20, kinds
    assert 3 * 16 <= kinds["pread64", "schedstat"] <= 9 * 17, kinds


@pytest.mark.alone
def test_a_thread_that_wakes_after_a_long_sleep_is_counted(binary, tmp_path):
    """A sleeping thread is read every four seconds. Its counters have by then grown by all that it did."""
    code = """if True:
        import threading, time
        def work():
            time.sleep(1.5)
            end = time.thread_time() + 0.7
            while time.thread_time() < end: sum(range(500))
            time.sleep(9)
        threading.Thread(target=work, daemon=True).start()
        end = time.monotonic() + 7
        while time.monotonic() < end: time.sleep(0.01)"""
    path = tmp_path / "run.jsonl"
    subprocess.run([binary, "-i", "0.25", "-q", "--no-summary", "-o", path, "--", sys.executable, "-c", code], check=True)
    rows = [json.loads(line)["cpu"] for line in path.open()]
    known = sum(row["process_cpu_wait_known_secs"] or 0 for row in rows)
    used = sum(row["process_utime_secs"] + row["process_stime_secs"] for row in rows)
    assert used > 0.7 and known > 0.95 * used


# ---- the summary's answer on a busy machine --------------------------------------------------------------------------

LOOP = "import os, time\nend = time.monotonic() + {secs}\nwhile time.monotonic() < end: sum(range(500))"


@pytest.fixture
def busy_machine():
    """Twice as many loops as CPUs."""
    loops = [subprocess.Popen([sys.executable, "-c", LOOP.format(secs=30)]) for _ in range(2 * os.cpu_count())]
    yield
    for one in loops:
        one.kill()
    for one in loops:
        one.wait()


def first_bottleneck(binary, folder, user, *job):
    """The answer for a job that a user without privileges runs, or the user of the test."""
    path = folder / f"{len(list(folder.iterdir()))}.jsonl"
    subprocess.run([*user, folder / "resource-tracker", "-i", "0.4", "-q", "--no-summary", "-o", path, "--", *job], check=False, cwd="/")
    text = subprocess.run([binary, "summary", "--json", path], check=True, stdout=subprocess.PIPE).stdout
    return json.loads(text)["bottlenecks"][0]


@pytest.fixture
def open_folder(binary):
    """A folder with the recorder that every user may enter and write to, because test folders belong to root."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="rt-waiting-"))
    folder.chmod(0o777)
    shutil.copy(binary, folder / "resource-tracker")
    yield folder
    shutil.rmtree(folder)


USERS = [pytest.param([], id="as it is")]
if os.geteuid() == 0 and shutil.which("setpriv"):
    USERS.append(pytest.param(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"], id="without privileges"))


@pytest.mark.parametrize("user", USERS)
def test_a_job_that_waits_for_a_cpu_is_told_so_and_one_that_sleeps_beside_it_is_not(binary, open_folder, busy_machine, user):
    loop = first_bottleneck(binary, open_folder, user, "timeout", "2.5", "sh", "-c", "while :; do :; done")
    assert loop["rule"] == "cpu_taken" and loop["text"].startswith("Its threads waited for a CPU for "), loop
    asleep = first_bottleneck(binary, open_folder, user, "sleep", "2")
    assert asleep["rule"] == "waited" and "for a timer" in asleep["text"], asleep
