"""The use of a job by program: sums that equal the tree's, names, short-lived processes, and its cost."""
import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import time

import pytest

import exact

from conftest import json_lines
from exit_records import ExitRecords
from namespaces import OWN_PROC, needs_private_mounts

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "fakes"))
from reap_meter import Meter  # noqa: E402

SPIN = "import time\nend = time.process_time() + {secs}\nwhile time.process_time() < end: pass\n"
EXIT_THREAD = {"x86_64": 60, "aarch64": 93}
# Another thread works on when the main one has ended.
WORK_WITHOUT_MAIN = f"""import ctypes, os, threading, time
def work():
    end = time.process_time() + 0.6
    while time.process_time() < end: pass
    os._exit(0)
{{first}}
threading.Thread(target=work).start()
ctypes.CDLL(None).syscall({EXIT_THREAD.get(platform.machine())}, 0)
"""
SUMS = [("disk_read_bytes", "process_disk_read_bytes"), ("disk_write_bytes", "process_disk_write_bytes"),
        ("read_chars", "process_read_chars"), ("written_chars", "process_written_chars")]


def has_something(row):
    """A number above 0, or one that is unknown."""
    return any(value is None or value > 0 for name, value in row.items() if name != "name")


def check_sums(samples, most=8):
    """In every case the rows of each sample add up to the tree's figures, and no total goes down."""
    totals = {}
    for sample in samples:
        rows, tree = sample["programs"], sample["cpu"]
        assert len(rows) <= most + 1 and len({row["name"] for row in rows}) == len(rows), rows
        used = tree["process_utime_secs"] + tree["process_stime_secs"]
        assert sum(row["cpu_secs"] for row in rows) == pytest.approx(used, abs=1e-6), sample
        if tree["process_memory_mib"] is not None:
            assert sum(row["memory_mib"] for row in rows) == pytest.approx(tree["process_memory_mib"], abs=1e-3)
        for name, whole in SUMS:
            if tree[whole] is not None:
                assert sum(row[name] for row in rows) == tree[whole], name
        for row in rows:
            assert row["cpu_estimated_secs"] <= row["cpu_total_secs"] + 1e-9
            if row["disk_read_bytes"] is not None:
                assert 0 <= row["disk_estimated_bytes"] <= row["disk_read_bytes"] + row["disk_write_bytes"], row
                assert 0 <= row["estimated_chars"] <= row["read_chars"] + row["written_chars"], row
            assert has_something(row), rows
            if row["name"] != "others":
                assert row["cpu_total_secs"] >= totals.get(row["name"], 0) - 1e-9
                totals[row["name"]] = row["cpu_total_secs"]


def programs_of(samples, most=8):
    """The totals of the run by name. Their sum is what wait4() told."""
    check_sums(samples, most)
    end = samples[-1]["run_end"]
    whole = end["tree_utime_secs"] + end["tree_stime_secs"]
    assert sum(row["cpu_secs"] for row in end["programs"]) == pytest.approx(whole, abs=2e-4)
    assert all(has_something(row) for row in end["programs"]), end["programs"]
    return {row["name"]: row for row in end["programs"]}


def hears_events(samples):
    """Whether no event was lost: the kernel delivers them here, and the machine did not fork too much."""
    return samples[-1]["cpu"]["process_exited_count"] is not None


@pytest.fixture
def meter(tmp_path):
    """An independent meter, and the words before a command that it is to look at."""
    # The programs of this machine load it, so its compiler makes it: that of the build may be for musl.
    library = tmp_path / "reap_meter.so"
    source = pathlib.Path(__file__).parents[1] / "fakes" / "reap-meter.c"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-D_GNU_SOURCE", "-o", library, source], check=True)
    return Meter(tmp_path / "meter"), ["env", f"LD_PRELOAD={library}", f"REAP_METER={tmp_path / 'meter'}"]


@pytest.mark.plain
def test_interpreters_show_their_script_and_no_argument(record, tmp_path):
    script = tmp_path / "train.py"
    script.write_text(SPIN.format(secs=0.4))
    _, samples = record("-i", 0.1, "--", sys.executable, script, "--password", "secret")
    found = programs_of(samples)
    name = next(name for name in found if name.endswith(" train.py"))
    assert name.startswith("python") and found[name]["cpu_secs"] > 0.35, found
    assert "secret" not in json.dumps(samples)


@pytest.mark.plain
def test_an_exec_leaves_the_earlier_time_with_the_earlier_program(record, tmp_path):
    first, second = tmp_path / "first.py", tmp_path / "second.py"
    first.write_text(SPIN.format(secs=0.5) + f"import os\nos.execv({sys.executable!r}, ['python3', {str(second)!r}])\n")
    second.write_text(SPIN.format(secs=0.6))
    _, samples = record("-i", 0.1, "--", sys.executable, first)
    found = programs_of(samples)
    used = {name.split()[-1]: row["cpu_secs"] for name, row in found.items()}
    # Without events, the time since the sample before the exec is the new program's.
    slack = 0.1 if hears_events(samples) else 0.25
    assert used["first.py"] == pytest.approx(0.5, abs=slack) and used["second.py"] == pytest.approx(0.6, abs=slack + 0.05)


@pytest.mark.plain
def test_a_fork_pool_divides_its_memory_once(record, tmp_path):
    script = tmp_path / "pool.py"
    script.write_text("import os, time\nheld = bytearray(os.urandom(1 << 20)) * 100\n"
                      "for _ in range(4):\n    if os.fork() == 0:\n        time.sleep(1)\n        os._exit(0)\ntime.sleep(1.2)\n")
    _, samples = record("-i", 0.2, "--", sys.executable, script)
    found = programs_of(samples)
    row = next(row for name, row in found.items() if name.endswith(" pool.py"))
    assert 95 < row["memory_peak_mib"] < 160 and row["process_count"] == 5, row


def test_a_worker_of_a_data_loader_is_told_from_the_program_that_forked_it(record, tmp_path):
    # It has the arguments of its parent. It works until a sample has its name, 20 s at most.
    script = tmp_path / "train.py"
    script.write_text("import ctypes, os, sys, time\nworker = os.fork()\nif worker:\n    os.waitpid(worker, 0)\n    os._exit(0)\n"
                      "ctypes.CDLL(None).prctl(15, b'pt_data_worker', 0, 0, 0)\nend = time.process_time() + 20\n"
                      "while time.process_time() < end and '\"pt_data_worker\"' not in open(sys.argv[1]).read(): pass\n")
    _, samples = record("-i", 0.2, "--", sys.executable, script, tmp_path / "record.jsonl")
    found = programs_of(samples)
    assert found["pt_data_worker"]["process_count"] == 1 and found["pt_data_worker"]["cpu_secs"] > 0, found
    assert any(name.endswith(" train.py") for name in found), found


@pytest.mark.plain
@pytest.mark.skipif(platform.machine() not in EXIT_THREAD, reason="the number of exit(2) is unknown here")
def test_a_program_keeps_its_name_when_its_main_thread_has_ended(record, tmp_path):
    # The kernel then shows no code and no arguments of the process, as when a process exits.
    script = tmp_path / "worker.py"
    script.write_text(WORK_WITHOUT_MAIN.format(first="time.sleep(0.3)"))
    _, samples = record("-i", 0.1, "--", sys.executable, script)
    found = programs_of(samples)
    assert [name.split()[-1] for name in found] == ["worker.py"], found


@pytest.mark.plain
@pytest.mark.skipif(platform.machine() not in EXIT_THREAD, reason="the number of exit(2) is unknown here")
def test_a_child_ends_once_when_its_main_thread_ends_first(record, tmp_path):
    # Its end was told while it ran, and again by its last exit record.
    script = tmp_path / "worker.py"
    script.write_text(WORK_WITHOUT_MAIN.format(first="os.fork() and (os.wait(), os._exit(0))"))
    _, samples = record("-i", 0.1, "--", sys.executable, script)
    found = programs_of(samples)
    counts = [row["process_count"] for row in found.values()]
    assert None in counts or sum(counts) == 2, found
    if hears_events(samples):
        # A sample may be taken between the end of the child and that of its parent.
        working = samples[:len(samples) // 2]
        assert [sample["cpu"]["process_exited_count"] for sample in working] == [0] * len(working)
        assert samples[-1]["cpu"]["process_exited_count"] == 2


@pytest.mark.plain
def test_short_children_of_a_shell_are_told_or_are_children_of_it(record, tmp_path):
    script = tmp_path / "loop.sh"
    script.write_text("i=0\nwhile [ $i -lt 150 ]; do env true; i=$((i + 1)); done\n")
    _, samples = record("-i", 0.2, "--", "sh", script)
    found = programs_of(samples)
    children = {name: row for name, row in found.items() if name in ("true", "env", "short-lived children of sh loop.sh")}
    assert sum(row["cpu_secs"] for row in children.values()) > 0.04, found
    if hears_events(samples):
        # Each one execs env, and then true. One whose exec is seen too late counts as the shell that it was.
        assert sum(row["process_count"] for row in found.values()) == 151, found
        assert sum(row["process_count"] for row in children.values()) >= 140, found


@pytest.mark.plain
def test_a_pipeline_shows_each_of_its_programs(record, tmp_path):
    _, samples = record("-i", 0.1, "--", "sh", "-c", "head -c 60000000 /dev/zero | od -v | wc -c >/dev/null")
    found = programs_of(samples)
    assert found["od"]["cpu_secs"] > 0.2 and found["od"]["cpu_secs"] > 5 * found["head"]["cpu_secs"], found


@pytest.mark.plain
def test_threads_are_of_their_program(record, tmp_path):
    script = tmp_path / "threads.py"
    script.write_text("import threading, hashlib\ndata = bytes(1 << 24)\n"
                      "def work():\n    for _ in range(6): hashlib.sha256(data).digest()\n"
                      "all = [threading.Thread(target=work) for _ in range(3)]\n"
                      "[one.start() for one in all]; [one.join() for one in all]\n")
    _, samples = record("-i", 0.1, "--", sys.executable, script)
    found = programs_of(samples)
    name = next(name for name in found if name.endswith(" threads.py"))
    assert found[name]["cpu_secs"] > 0.8 * sum(row["cpu_secs"] for row in found.values()), found


@pytest.mark.plain
@pytest.mark.skipif(not shutil.which("make"), reason="needs make")
def test_every_process_of_a_make_has_the_name_and_the_time_of_its_exit_record(binary, tmp_path):
    """Grandchildren of a millisecond as well, and not only while the recorder can afford to read each event at once."""
    (tmp_path / "Makefile").write_text(f"all: {' '.join(f't{i}' for i in range(120))}\nt%:\n\t@echo $@ | od -v | md5sum >/dev/null; "
                                       "head -c 300000 /dev/zero | sha256sum >/dev/null\n")
    try:
        records = ExitRecords().__enter__()
    except OSError as error:
        pytest.skip(f"exit records cannot be had: {error}")
    with records:
        recorder = subprocess.Popen([binary, "-q", "--no-summary", "--programs", "20", "-o", tmp_path / "run.jsonl", "--", "make", "-sj2"],
                                    cwd=tmp_path, stdin=subprocess.DEVNULL)
        assert recorder.wait(timeout=120) == 0
        truth = records.of_tree(recorder.pid)
    samples = json_lines(tmp_path / "run.jsonl")
    found = programs_of(samples)
    if not hears_events(samples):
        pytest.skip("the kernel delivers no events here, or the machine forks too much")
    whole = sum(secs for secs, _ in truth.values())
    for name in ("od", "md5sum", "head", "sha256sum"):
        secs, processes = truth[name]
        row = found[name]
        assert processes == 120, ("the meter lost a record", name, truth)
        assert row["process_count"] == processes, (name, found, truth)
        # A record lacks the time of freeing the memory, which is estimated.
        assert row["cpu_secs"] - row["cpu_estimated_secs"] == pytest.approx(secs, abs=0.02 * whole), (name, found, truth)


@pytest.mark.alone
@pytest.mark.skipif(os.geteuid(), reason="exit records are for root")
@pytest.mark.skipif(not shutil.which("make") or not shutil.which("dd"), reason="needs make and dd")
def test_exit_records_of_root_agree_with_an_independent_meter(record, meter, tmp_path):
    """Processes, bytes and time of short-lived programs. A record is of whole KiB, and lacks time that is estimated."""
    script = tmp_path / "twice.sh"
    script.write_text("#!/bin/sh\n(head -c 3000000 /dev/zero | md5sum | cat)\n(:)\nmd5sum /dev/null\n")
    script.chmod(0o755)
    rules = "\n".join(f"{i}:\n\t{script} >/dev/null; dd if=/dev/zero of=$@ bs=64k count=4 2>/dev/null" for i in range(40))
    (tmp_path / "Makefile").write_text(f"all: {' '.join(map(str, range(40)))}\n{rules}\n")
    truth, before = meter
    _, samples = record("-i", 0.25, "--programs", 32, "--", *before, "make", "-s", "-j2", "-C", tmp_path)
    if not hears_events(samples):
        pytest.skip("the kernel delivers no events here, or the machine forks too much")
    # A script that was looked at is "sh twice.sh", another one twice.sh.
    found = {}
    for name, row in programs_of(samples, 32).items():
        one = found.setdefault(name.split()[-1], {"process_count": 0, "cpu_secs": 0, "disk_write_bytes": 0})
        for key in one:
            one[key] += row[key]
    # The recorder reaps make itself.
    found = {name: row for name, row in found.items() if row["process_count"] and name != "make"}
    rows = truth.truth()
    assert not truth.missed
    assert {name: row["process_count"] for name, row in found.items()} == {name: row[1] for name, row in rows.items()}
    whole = sum(row[0] for row in rows.values())
    for name, (secs, _, (_, written_bytes, *_)) in rows.items():
        assert found[name]["cpu_secs"] == pytest.approx(secs, abs=0.03 * whole), (name, found, rows)
        assert found[name]["disk_write_bytes"] == pytest.approx(written_bytes, abs=65536), (name, found, rows)
    assert rows["dd"][2][1] >= 40 * 262144 or exact.is_in_memory(tmp_path)


@pytest.fixture
def as_nobody(program_for_everybody):
    """Runs a job as an ordinary user, in a folder of that user. Returns the samples."""
    folder = pathlib.Path(os.path.dirname(program_for_everybody)) / "work"
    folder.mkdir()
    folder.chmod(0o777)

    def record_as_nobody(*command, options=()):
        become = {} if os.geteuid() else {"user": 65534, "group": 65534, "extra_groups": []}
        subprocess.run([program_for_everybody, "-q", "--no-summary", "-o", folder / "run.jsonl", *options, "--", *command], cwd=folder,
                       stdin=subprocess.DEVNULL, check=True, timeout=60, **become)
        return json_lines(folder / "run.jsonl")
    return record_as_nobody


@pytest.mark.plain
@pytest.mark.skipif(platform.machine() not in EXIT_THREAD, reason="the number of exit(2) is unknown here")
@pytest.mark.parametrize("interval", ["0.1", "0.25"])
def test_an_ordinary_user_sees_a_child_outlive_its_main_thread(as_nobody, program_for_everybody, interval):
    """Its end was told while it ran, and the shell got its time since the last sample."""
    python = sys.executable if os.geteuid() else shutil.which("python3", path="/usr/bin:/bin")
    if not python:
        pytest.skip("no python3 that an ordinary user may run")
    script = pathlib.Path(program_for_everybody).parent / "worker.py"
    script.write_text(WORK_WITHOUT_MAIN.format(first=""))
    samples = as_nobody("sh", "-c", f"{python} {script}; true", options=["-i", interval])
    if not hears_events(samples):
        pytest.skip("the kernel delivers no events here, or the machine forks too much")
    found = programs_of(samples)
    worker = next(row for name, row in found.items() if name.endswith(" worker.py"))
    working = samples[:len(samples) // 2]
    assert [sample["cpu"]["process_exited_count"] for sample in working] == [0] * len(working)
    assert samples[-1]["cpu"]["process_exited_count"] == 2
    assert worker["process_count"] == 1 and worker["cpu_secs"] > 0.5 and found["sh"]["cpu_secs"] < 0.1, found


@pytest.mark.plain
def test_bytes_that_are_spread_over_ended_programs_are_marked_as_estimated(as_nobody, program_for_everybody):
    """The kernel adds the bytes of an ended child to those of its parent, which an ordinary user cannot tell apart."""
    script = "for i in 1 2 3 4 5 6; do head -c 3000000 /dev/zero >a$i; md5sum a$i >/dev/null; done"
    samples = as_nobody("sh", "-c", script, options=["-i", "0.2"])
    end = programs_of(samples)
    written, read_estimated, estimated = (sum(row[name] for row in end.values()) for name in (
        "disk_write_bytes", "disk_read_estimated_bytes", "disk_write_estimated_bytes"))
    if not written and exact.is_in_memory(program_for_everybody):
        pytest.skip("the temporary folder is on no disk")
    # A sample that finds a program alive, as more do on a busy machine, needs no estimate of it. 18 MB are written, and read again.
    assert written >= 18_000_000 and estimated > 0.5 * written
    assert read_estimated + estimated == sum(row["disk_estimated_bytes"] for sample in samples for row in sample["programs"])
    assert sum(row["estimated_chars"] for sample in samples for row in sample["programs"]) > 18_000_000


@pytest.mark.plain
def test_bytes_of_a_single_program_are_exact(as_nobody):
    samples = as_nobody("head", "-c", "30000000", "/dev/zero", options=["-i", "0.05"])
    # On a busy machine, a sample sees the process before it calls exec.
    assert [name for name in programs_of(samples) if name != "resource-tracker"] == ["head"]
    assert samples[-1]["run_end"]["programs"][0]["disk_write_estimated_bytes"] == 0
    assert sum(row["read_chars"] for sample in samples for row in sample["programs"]) >= 30_000_000
    assert all(row["estimated_chars"] == 0 for sample in samples for row in sample["programs"])


@pytest.mark.plain
@pytest.mark.skipif(not shutil.which("make") or not shutil.which("gcc"), reason="needs make and gcc")
@pytest.mark.parametrize("user", [pytest.param("self", marks=pytest.mark.night), "nobody"])
def test_a_compile_names_its_compiler(binary, tmp_path, program_for_everybody, user):
    if user == "nobody" and os.geteuid():
        pytest.skip("only root becomes another user")
    folder = pathlib.Path(os.path.dirname(program_for_everybody)) / "work"
    folder.mkdir()
    folder.chmod(0o777)
    lines = "\n".join(f"int f{i}(int a, int b) {{ int s = 0; for (int j = 0; j < a; j++) s += (j * {i}) ^ (b << (j & 7)); return s; }}"
                      for i in range(150))
    for i in range(4):
        (folder / f"x{i}.c").write_text(f"#include <stdio.h>\n#include <stdlib.h>\n{lines}\n")
    (folder / "Makefile").write_text("all: $(patsubst %.c,%.o,$(wildcard *.c))\n%.o: %.c\n\t@$(shell command -v gcc) -O2 -c -o $@ $<\n")
    become = {"user": 65534, "group": 65534, "extra_groups": []} if user == "nobody" else {}
    environment = {"PATH": "/usr/bin:/bin", "CCACHE_DISABLE": "1", "HOME": os.fspath(folder)}
    subprocess.run([program_for_everybody, "-q", "--no-summary", "-o", folder / "run.jsonl", "-i", "0.5", "--", "make", "-s", "-j2"],
                   cwd=folder, env=environment, check=True, timeout=120, **become)
    samples = [json.loads(line) for line in (folder / "run.jsonl").read_text().splitlines()]
    found = programs_of(samples)
    compiler = found["cc1"]["cpu_secs"]
    whole = samples[-1]["run_end"]["utime_secs"] + samples[-1]["run_end"]["stime_secs"]
    assert compiler > 0.7 * whole, found
    if hears_events(samples):
        # On a busy machine the name of one that lives for milliseconds comes too late; its end is seen in any case.
        short = sum(row["process_count"] for name, row in found.items() if name == "as" or name.startswith("short-lived"))
        assert short >= 4 and found["cc1"]["process_count"] == 4, found


@pytest.mark.plain
def test_a_daemon_that_leaves_an_attached_tree_between_two_samples_is_kept(record, tmp_path):
    # The child's parent ends at once, so that no list of children shows it at the next sample.
    code = ("import os, time\ntime.sleep(0.7)\nif os.fork() == 0:\n    if os.fork() == 0:\n"
            "        os.setsid()\n        end = time.process_time() + 1\n        while time.process_time() < end: pass\n        os._exit(0)\n"
            "    os._exit(0)\nos.wait()\ntime.sleep(3)\n")
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.DEVNULL) as job:
        _, samples = record("-i", 0.5, "--pid", job.pid, "--duration", 3, "--no-summary")
        job.wait()
    check_sums(samples)
    if not hears_events(samples):
        pytest.skip("the kernel delivers no events here, or the machine forks too much")
    used = sum(sample["cpu"]["process_utime_secs"] + sample["cpu"]["process_stime_secs"] for sample in samples)
    assert used > 0.2, used


@pytest.mark.plain
@pytest.mark.parametrize("words", [["--programs", "off"], ["--no-process"]])
def test_without_programs_or_processes_nothing_listens(spawn, tmp_path, words):
    process = spawn("-q", "-o", tmp_path / "run.jsonl", *words, "--", "sh", "-c", "true; sleep 1")
    time.sleep(0.4)
    assert len(os.listdir(f"/proc/{process.pid}/task")) == 1
    process.wait(timeout=10)
    samples = json_lines(tmp_path / "run.jsonl")
    assert not any(sample["programs"] for sample in samples) and not samples[-1]["run_end"]["programs"]


@pytest.mark.plain
@pytest.mark.parametrize("metrics", ["programs.cpu_total_secs", *(pytest.param(metrics, marks=pytest.mark.night) for metrics in (
    "programs.*", "run_end.programs.*", "programs.name"))])
def test_programs_can_be_all_that_is_recorded(record, metrics):
    """They need the figures of the tree, which are not recorded then."""
    _, samples = record("-i", 0.1, "--metrics", metrics, "--", "sh", "-c", "head -c 30000000 /dev/zero | od -v >/dev/null")
    end, rows = samples[-1]["run_end"], [row for sample in samples for row in sample["programs"]]
    found = {row["name"]: row["cpu_secs"] for row in end["programs"]}
    assert found["od"] > 0.1 and sum(found.values()) == pytest.approx(end["utime_secs"] + end["stime_secs"], abs=0.01)
    assert "od" in {row["name"] for row in rows}
    assert max(row["cpu_total_secs"] or 0 for row in rows) > 0.1 or "cpu_total_secs" not in metrics
    assert all(sample["cpu"]["process_utime_secs"] is None for sample in samples)


@pytest.mark.plain
def test_others_hold_the_programs_without_a_row(record, tmp_path):
    script = "for i in 1 2; do sleep 0.3 & od -v -N 8000000 /dev/zero >/dev/null; head -c 10000000 /dev/zero | wc -c >/dev/null; done; wait"
    _, samples = record("-i", 0.1, "--programs", 2, "--", "sh", "-c", script)
    found = programs_of(samples)
    assert len(found) == 3 and "others" in found and all(len(sample["programs"]) <= 3 for sample in samples)


# ---- what is made of them -------------------------------------------------------------------------------------

def sample_line(number, programs, end=None):
    """A sample of a recording made by hand: programs is {name: total CPU seconds}."""
    rows = [{"name": name, "cpu_secs": secs, "cpu_total_secs": secs, "cpu_estimated_secs": secs / 2, "memory_mib": 10.0 * number,
             "process_count": 1, "exited_count": number} for name, secs in programs.items()]
    return json.dumps({"timestamp": 1e9 + number, "elapsed_secs": number + 0.0, "actual_interval_ms": 1000.0, "sample": number,
                       "cpu": {"process_cores_used": 1.0, "process_child_count": 1, "process_utime_secs": 1.0, "process_stime_secs": 0.0},
                       "programs": rows, "run_end": end}) + "\n"


@pytest.fixture
def by_hand(tmp_path):
    def write(name, programs, end=None):
        path = tmp_path / name
        path.write_text(sample_line(0, {}) + sample_line(1, programs) + (sample_line(2, programs, end) if end else ""))
        return path
    return write


def test_a_summary_names_the_programs(run, by_hand):
    path = by_hand("a.jsonl", {"cc1plus": 7.1, "ninja": 0.2, "others": 2.7})
    assert "Programs cc1plus 71 %, ninja 2 %, others 27 % of the CPU time (50 % of it estimated)" in " ".join(run("summary", path).out.split())
    told = json.loads(run("summary", "--json", path).out)["programs"]
    assert [(one["name"], one["cpu_secs"]) for one in told] == [("cc1plus", 7.1), ("ninja", 0.2), ("others", 2.7)]


def test_the_end_of_a_run_has_the_totals(run, by_hand):
    end = {"reason": "exit", "exit_code": 0, "programs": [
        {"name": "cc1plus", "cpu_secs": 8.0, "cpu_estimated_secs": 0.0, "memory_peak_mib": 300.0, "process_count": 12},
        {"name": "others", "cpu_secs": 2.0, "cpu_estimated_secs": 0.0, "memory_peak_mib": None, "process_count": 90}]}
    path = by_hand("a.jsonl", {"make": 3.0}, end)
    told = json.loads(run("stats", "--by", "program", "--json", path).out)
    assert [(one["name"], one["cpu_secs"], one["cpu_pct"], one["memory_peak_mib"], one["processes"]) for one in told] == [
        ("cc1plus", 8.0, 80.0, 300.0, 12), ("others", 2.0, 20.0, None, None)]
    lines = run("stats", "--by", "program", path).out.splitlines()
    assert lines[0].split() == ["program", "CPU", "time", "share", "estimated", "memory", "max", "processes"]
    assert lines[1].split() == ["cc1plus", "8.00", "s", "80.0", "%", "0", "300", "MiB", "12"]
    assert lines[2].split() == ["others", "2.00", "s", "20.0", "%", "0", "-", "-"]


def test_stats_by_program_tells_when_there_are_none(run, by_hand):
    result = run("stats", "--by", "program", by_hand("a.jsonl", {}))
    assert result.returncode != 0 and "--programs off" in result.err
    assert "give one of program, wait" in run("stats", "--by", "colour", by_hand("b.jsonl", {"x": 1.0})).err


def test_a_comparison_names_the_programs_that_changed(run, by_hand):
    one, two = by_hand("a.jsonl", {"cc1plus": 7.0, "ninja": 0.2}), by_hand("b.jsonl", {"cc1plus": 25.2, "ninja": 0.2, "ld": 1.5})
    assert "CPU time by program in b.jsonl: cc1plus +18.2 s, ld +1.5 s" in run("compare-runs", one, two).out
    told = {one["name"]: one["sides"] for one in json.loads(run("compare-runs", "--json", one, two).out)["metrics"]}
    assert [side["mean"] for side in told["program_cpu[ld]"]] == [0, 1.5]


def test_a_comparison_names_the_programs_that_changed_most(run, by_hand):
    one = by_hand("a.jsonl", {"make": 1.0, "as": 1.0, "ld": 1.0, "ar": 1.0, "cc1": 8.0, "sh": 1.0})
    two = by_hand("b.jsonl", {"make": 1.5, "as": 1.6, "ld": 0.3, "ar": 1.2, "cc1": 12.5, "sh": 1.0})
    assert "CPU time by program in b.jsonl: cc1 +4.5 s, ld -0.7 s, as +0.6 s, make +0.5 s\n" in run("compare-runs", one, two).out


@needs_private_mounts
def test_a_job_of_a_moment_has_its_program_in_a_container(binary, tmp_path):
    """Process events come in the initial PID namespace only, and the job ends before its first sample."""
    recording = tmp_path / "run.jsonl"
    subprocess.run(["unshare", "--pid", "--fork", *OWN_PROC, binary, "-q", "-o", recording, "--", "true"], check=True, timeout=60,
                   stdin=subprocess.DEVNULL)
    assert set(programs_of(json_lines(recording))) == {"true"}


@needs_private_mounts
def test_the_number_of_processes_that_nothing_saw_is_unknown(binary, run, tmp_path):
    """In a container no event comes, and each process ends between two samples. It is not 0."""
    recording = tmp_path / "run.jsonl"
    script = f"i=0; while [ $i -lt 100 ]; do head -c 10000 /dev/zero >{tmp_path}/file; i=$((i + 1)); done"
    subprocess.run(["unshare", "--pid", "--fork", *OWN_PROC, binary, "-q", "--no-summary", "-o", recording, "--", "sh", "-c", script],
                   check=True, timeout=60, stdin=subprocess.DEVNULL)
    samples = json_lines(recording)
    row = programs_of(samples)["short-lived children of sh"]
    assert row["cpu_secs"] > 0.02 and row["process_count"] is None, row
    # The shell has the bytes of its children, and nothing tells these from its own.
    assert sum(one["estimated_chars"] for sample in samples for one in sample["programs"]) > 1_000_000
    assert next(one["processes"] for one in json.loads(run("summary", "--json", recording).out)["programs"] if one["name"] == row["name"]) is None
    shown = next(line for line in run("stats", "--by", "program", recording).out.splitlines() if line.startswith(row["name"][:20]))
    assert shown.split()[-1] == "-"


@pytest.mark.plain
def test_forks_of_a_process_with_a_new_name_have_that_name(as_nobody, program_for_everybody, binary, tmp_path):
    """Of stress-ng-munmap, 89 % of the time was told as that of stress-ng, which had forked it."""
    chaos = shutil.copy(exact.build_workload(binary, tmp_path, "chaos"), os.path.dirname(program_for_everybody))
    samples = as_nobody(chaos, "truth", "rename", "60", options=["-i", "0.2"])
    if not hears_events(samples):
        pytest.skip("the kernel delivers no events here, or the machine forks too much")
    end = programs_of(samples)
    assert end["renamed"]["process_count"] >= 60, end
    assert sum(row["cpu_secs"] - row["cpu_estimated_secs"] for name, row in end.items() if name != "renamed") < 0.02, end
