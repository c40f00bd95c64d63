"""Jobs whose wait is known: the end of the run names it, with its time."""
import json
import os
import pty
import subprocess
import sys

import pytest

PYTHON = [sys.executable, "-c"]
JOBS = {
    "sleep": (["sleep", "2"], "sleep", None, "sleep"),
    "a child of a shell": (["sh", "-c", "sleep 2; true"], "sleep", None, "sleep"),
    "a reader of a pipe waits for the writer": (["sh", "-c", "sleep 2 | cat; true"], "sleep", None, "sleep"),
    "an answer over TCP": (PYTHON + [
        "import socket; s=socket.create_server(('127.0.0.1',0)); c=socket.create_connection(s.getsockname())\n"
        "import threading,os; threading.Timer(2,lambda:os._exit(0)).start(); c.recv(1)"], "socket", "TCP port ", "python3"),
    "a client over TCP": (PYTHON + [
        "import socket,signal; signal.alarm(2); signal.signal(14,lambda *_:exit()); socket.create_server(('127.0.0.1',0)).accept()"],
        "socket", "a client of TCP port ", "python3"),
    "a thread that is waited for and waits for a client": (PYTHON + [
        "import threading,signal,socket; signal.alarm(2); s=socket.create_server(('127.0.0.1',0))\n"
        "c=socket.create_connection(s.getsockname()); t=threading.Thread(target=lambda:c.recv(1)); t.start(); t.join()"],
        "socket", "TCP port ", "python3"),
    "a pool of idle workers": (PYTHON + [
        "import threading,time,queue; q=queue.Queue(); [threading.Thread(target=q.get,daemon=True).start() for _ in range(20)]; time.sleep(2)"],
        "sleep", None, "python3"),
    "the lock of a file that the job holds": (["sh", "-c", "flock lock sleep 2 & sleep 0.2; flock lock true"], "sleep", None, "sleep"),
    "threads that wait for the same": (PYTHON + [
        "import threading,signal,socket; signal.alarm(2); s=socket.create_server(('127.0.0.1',0))\n"
        "t=[threading.Thread(target=lambda:socket.create_connection(s.getsockname()).recv(1)) for _ in '123']\n"
        "for x in t: x.start()\nfor x in t: x.join()"], "socket", "TCP port ", "python3"),
    "an event loop that a thread wakes": (PYTHON + [
        "import asyncio,signal,socket; signal.alarm(2); s=socket.create_server(('127.0.0.1',0))\n"
        "c=socket.create_connection(s.getsockname()); asyncio.run(asyncio.to_thread(c.recv,1))"], "socket", "TCP port ", "python3"),
    "a condition with a time limit": (PYTHON + ["import threading; threading.Event().wait(2)"], "sleep", None, "python3"),
    "make": (["make", "-j2", "-f", "makefile"], "sleep", None, "sleep"),
    "a child by communicate": (PYTHON + ["import subprocess; subprocess.run(['sleep','2'],capture_output=True)"], "sleep", None, "sleep"),
    "a named pipe without a writer": (["sh", "-c", "timeout 2 cat fifo"], "pipe", None, "cat"),
    "a stopped process": (["sh", "-c", "sh -c 'kill -STOP $$' & p=$!; sleep 2; kill -CONT $p"], "sleep", None, "sleep"),
}
BUSY = ["timeout", "2", "sh", "-c", "while :; do :; done"]


def record_end(binary, folder, job, *options, **more):
    output = folder / "run.jsonl"
    subprocess.run([binary, "-q", "-i", "0.25", "-o", output, *options, "--", *job], cwd=folder, stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, **more)
    return json.loads(output.read_text().splitlines()[-1])["run_end"]


def prepare(folder):
    os.mkfifo(folder / "fifo")
    (folder / "makefile").write_text("all: a b c\na b c:\n\tsleep 1\n")


@pytest.mark.parametrize("name", JOBS)
def test_a_known_wait_is_named(binary, tmp_path, name):
    job, group, target, program = JOBS[name]
    prepare(tmp_path)
    end = record_end(binary, tmp_path, job)
    first = end["waits"][0]
    assert (first["class"], first["program"]) == (group, program), end["waits"]
    assert (first["target"] or "").startswith(target or "") and (first["target"] is None) == (target is None or group == "sleep"), first
    # Python takes up to half a second to start on a busy machine.
    assert 1.2 <= first["wait_secs"] <= end["wall_secs"] + 0.01
    assert sum(row["wait_pct"] for row in end["waits"]) <= 100.1


def test_a_busy_job_waited_for_nothing(binary, tmp_path):
    end = record_end(binary, tmp_path, BUSY)
    assert sum(row["wait_secs"] for row in end["waits"]) <= 0.01 * end["wall_secs"]


def test_the_terminal_is_named(binary, tmp_path):
    output = tmp_path / "run.jsonl"
    leader, follower = pty.openpty()
    with subprocess.Popen([binary, "-q", "-i", "0.25", "-o", output, "--", "cat"], stdin=follower, stdout=follower) as process:
        try:
            process.wait(1.5)
        except subprocess.TimeoutExpired:
            os.write(leader, b"\x04")
        process.wait(10)
    os.close(leader)
    os.close(follower)
    assert json.loads(output.read_text().splitlines()[-1])["run_end"]["waits"][0]["class"] == "terminal"


def test_waits_past_the_most_count_by_class(binary, tmp_path):
    job = PYTHON + ["import time,socket; time.sleep(1); c=socket.create_server(('127.0.0.1',0)); c.settimeout(1)\n"
                    "try: c.accept()\nexcept OSError: pass"]
    assert len(record_end(binary, tmp_path, job)["waits"]) == 2
    one = record_end(binary, tmp_path, job, "--waits", "1")["waits"]
    assert len(one) == 2 and one[1]["program"] == "others" and one[1]["target"] is None


def test_the_summary_names_the_wait(binary, run, tmp_path):
    record_end(binary, tmp_path, ["sleep", "1.5"])
    found = json.loads(run("summary", "--json", tmp_path / "run.jsonl").out)["bottlenecks"][0]
    assert found["rule"] == "waited"
    assert found["text"].startswith("It waited for a timer (sleep) during about ") and found["text"].endswith(" % of the time (sleep).")
