"""Jobs whose wait is known: the end of the run names it, with its time."""
import json
import os
import pty
import subprocess
import sys

import pytest

import recordings

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
    "the lock of a file that the job holds": (["sh", "-c", "flock lock sleep 2 & while flock -n lock true; do sleep 0.05; done; flock lock true"], "sleep", None, "sleep"),
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
TWO_WAITS = PYTHON + ["import time,socket; time.sleep(1); c=socket.create_server(('127.0.0.1',0)); c.settimeout(1)\n"
                      "try: c.accept()\nexcept OSError: pass"]
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
    assert 1.2 <= first["wait_secs"] <= end["wall_secs"]
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
    assert len(record_end(binary, tmp_path, TWO_WAITS)["waits"]) == 2
    one = record_end(binary, tmp_path, TWO_WAITS, "--waits", "1")["waits"]
    assert len(one) == 2 and one[1]["program"] == "others" and one[1]["target"] is None


def test_the_summary_names_the_wait(binary, run, tmp_path):
    record_end(binary, tmp_path, ["sleep", "1.5"])
    found = json.loads(run("summary", "--json", tmp_path / "run.jsonl").out)["bottlenecks"][0]
    assert found["rule"] == "waited"
    assert found["text"].startswith("It waited for a timer (sleep) during about ") and found["text"].endswith(" % of the time (sleep).")



@pytest.mark.parametrize("options", [(), ("--static-once",)])
def test_the_waits_of_the_samples_add_up_to_those_of_the_end(binary, tmp_path, options):
    end = record_end(binary, tmp_path, TWO_WAITS, *options)
    samples = [json.loads(line) for line in (tmp_path / "run.jsonl").read_text().splitlines()]
    rows = [row for sample in samples for row in sample.get("waits", [])]
    told = {(row["class"], row["target"], row["program"]) for row in end["waits"]}
    assert len(told) == 2 and {(row["class"], row["target"], row["program"]) for row in rows} == told
    for one in end["waits"]:
        of_samples = [row["wait_secs"] for row in rows if row["class"] == one["class"]]
        assert sum(of_samples) == pytest.approx(one["wait_secs"], abs=0.001 * len(of_samples))
    assert [row["class"] for row in rows] == sorted((row["class"] for row in rows), key=["sleep", "socket"].index)


def test_a_busy_sample_and_waits_off_have_no_row(binary, tmp_path):
    record_end(binary, tmp_path, BUSY)
    text = (tmp_path / "run.jsonl").read_text().splitlines()
    assert sum('"waits":[{' in line for line in text[2:-1]) <= len(text) // 4, "others of the machine may hold a look up"
    assert record_end(binary, tmp_path, ["sleep", "1"], "--waits", "off")["waits"] is None
    assert '"waits":[' not in (tmp_path / "run.jsonl").read_text()
    record_end(binary, tmp_path, ["sleep", "1"], "--metrics", "cpu.process_cores_used")
    assert '"waits":[{' not in (tmp_path / "run.jsonl").read_text().splitlines()[1]


def wait(group, target, program, secs, **more):
    return {"class": group, "target": target, "program": program, "wait_secs": secs, **more}


def waits_of_samples():
    """Eight samples of a second: 1.5 s for a port by two programs, then 0.75 s for a timer, and nothing in those between."""
    port = "TCP port 5432 of another machine"
    rows = {1: wait("socket", port, "psql", 0.5), 2: wait("socket", port, "python3", 1.0), 4: wait("sleep", None, "sleep", 0.75)}
    made = [recordings.sample(i, start=recordings.START if i == 0 else None) for i in range(8)]
    for number, row in rows.items():
        made[number]["waits"] = [row]
    return made


def test_stats_by_wait(run, tmp_path):
    made = waits_of_samples()
    path = recordings.write(tmp_path / "run.jsonl", made)
    lines = run("stats", "--by", "wait", path).out.splitlines()
    assert lines[0].split() == ["wait", "target", "program", "time", "of", "the", "run", "samples"]
    assert [line.split() for line in lines[1:]] == [
        "socket TCP port 5432 of another machine python3 1.00 s 12.5 % 1".split(),
        "sleep - sleep 0.75 s 9.4 % 1".split(), "socket TCP port 5432 of another machine psql 0.50 s 6.2 % 1".split()], lines
    told = json.loads(run("stats", "--by", "wait", "--json", path).out)
    assert told[1] == {"class": "sleep", "target": None, "program": "sleep", "wait_secs": 0.75, "run_pct": 9.38, "look_count": 1}
    assert json.loads(run("summary", "--json", path).out)["waits"] == told
    # The end counts instead of the samples, which may be damaged or thinned out.
    made[7]["run_end"] = {**recordings.END, "waits": [wait("pipe", "its own", "cat", 6.0, wait_pct=100.0, look_count=6)]}
    told = json.loads(run("stats", "--by", "wait", "--json", recordings.write(tmp_path / "end.jsonl", made)).out)
    assert [(one["class"], one["wait_secs"], one["run_pct"], one["look_count"]) for one in told] == [("pipe", 6.0, 75.0, 6)]


def test_the_words_of_a_wait_are_not_those_of_an_earlier_sample(run, tmp_path):
    made = waits_of_samples()[:3]
    made[2] = {key: value for key, value in made[2].items() if key not in ("job_name", "run_start")}
    made[2]["waits"] = [wait("socket", None, "python3", 1.0)]
    told = json.loads(run("stats", "--by", "wait", "--json", recordings.write(tmp_path / "run.jsonl", made)).out)
    assert {(one["program"], one["target"]) for one in told} == {("psql", "TCP port 5432 of another machine"), ("python3", None)}


def test_stats_by_wait_tells_when_there_are_none(run, tmp_path):
    path = recordings.write(tmp_path / "run.jsonl", recordings.eight_samples())
    result = run("stats", "--by", "wait", path)
    assert result.returncode != 0 and "--waits off" in result.err
    assert json.loads(run("summary", "--json", path).out)["waits"] == []
    assert run("stats", "--by", "wait", "-c", "timestamp", path).returncode == 2


def test_a_run_without_an_end_names_its_wait(run, tmp_path):
    made = [recordings.sample(i, cores=0.01, cgroup={}, start=recordings.START if i == 0 else None) for i in range(8)]
    for each in made:
        each["waits"] = [wait("socket", "TCP port 5432 of another machine", "psql", 0.9)]
    found = json.loads(run("summary", "--json", recordings.write(tmp_path / "run.jsonl", made)).out)["bottlenecks"][0]
    assert found["text"] == "It waited for TCP port 5432 of another machine during about 90.0 % of the time (psql)."


def test_record_targets_has_addresses_that_no_summary_repeats(binary, run, tmp_path):
    job = PYTHON + ["import socket,threading,os,sys; s=socket.create_server(('127.0.0.77',0)); c=socket.create_connection(s.getsockname())\n"
                    "threading.Timer(1,lambda:os._exit(0)).start(); c.recv(1)"]
    end = record_end(binary, tmp_path, job, "--record-targets", "--runs", "runs.jsonl")
    assert end["waits"][0]["detail"].startswith("127.0.0.77:") and end["waits"][0]["target"].startswith("TCP port ")
    path = tmp_path / "run.jsonl"
    rows = [row for line in path.read_text().splitlines() for row in json.loads(line).get("waits", [])]
    assert end["waits"][0]["detail"] in {row["detail"] for row in rows}
    told = [run(*words, path).out for words in (("summary",), ("summary", "--json"), ("stats", "--by", "wait"), ("compare-runs", path))]
    assert all("127.0.0.77" not in text for text in [*told, (tmp_path / "runs.jsonl").read_text()])
    end = record_end(binary, tmp_path, job)
    assert end["waits"][0]["detail"] is None and "127.0.0.77" not in path.read_text()
