"""If memory is refused, the job runs nevertheless and ends with its own status, and no program crashes."""
import ctypes
import os
import pathlib
import signal
import subprocess

import pytest

import recordings as by_hand

BAD_MEMORY = pathlib.Path(__file__).resolve().parents[1] / "fakes" / "bad-memory.c"
# How many requests the recorder makes for a short job, with room; from there on nothing is refused.
MOST = 2000
CRASHES = {-signal.SIGSEGV, -signal.SIGABRT, -signal.SIGBUS, -signal.SIGFPE, -signal.SIGILL}


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    made = tmp_path_factory.mktemp("memory") / "bad-memory.so"
    if subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-D_GNU_SOURCE", "-o", made, BAD_MEMORY], check=False).returncode:
        pytest.skip("no compiler for this machine's libc")
    return str(made)


@pytest.fixture
def refused(library, tmp_path, binary):
    """refused(N, once, program, *command): runs a command while the Nth request of a program, and those after it, are refused."""
    def start(number, once, program, *command, **env):
        environment = {**{key: value for key, value in os.environ.items() if not key.startswith("TRACKER_")},
                       "TRACKER_HISTORY": "off", "LD_PRELOAD": library, "BAD_MEMORY": str(number), "BAD_MEMORY_IN": program,
                       **({"BAD_MEMORY_ONCE": "1"} if once else {}), **env}
        return subprocess.run(list(map(str, command)), cwd=tmp_path, env=environment, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=30)
    return start


def numbers(most=MOST):
    """Many of the first ones, where the start asks; then samples of the rest."""
    return [*range(1, 160, 2), *range(160, 700, 29), *range(700, most + 1, 199)]


@pytest.mark.plain
@pytest.mark.slow
@pytest.mark.timeout(200)
@pytest.mark.parametrize("once", (True, False), ids=("once", "lasting"))
def test_the_job_always_runs(refused, binary, tmp_path, once):
    recording, unrecorded = tmp_path / "run.jsonl", 0
    for number in numbers():
        done = refused(number, once, "resource-tracker", binary, "-o", recording, "--", "sh", "-c", "echo ran; exit 3")
        assert (done.returncode, done.stdout) == (3, b"ran\n"), (number, done)
        unrecorded += b"this job is not recorded: " in done.stderr
        is_whole = not recording.exists() or b"run_end" in recording.read_bytes()
        # Where all memory is refused from then on, there may be none to say so.
        is_told = b"which is lost" in done.stderr or b"samples are missing" in done.stderr or not once
        assert is_whole or (is_told and b"not recorded" not in done.stderr), (number, done)
    assert 10 < unrecorded < 80


@pytest.mark.plain
@pytest.mark.slow
@pytest.mark.timeout(200)
@pytest.mark.parametrize("once", (True, False), ids=("once", "lasting"))
def test_a_job_of_many_programs_keeps_its_status(refused, binary, once):
    """The table of programs once was used without memory."""
    script = "for i in 1 2 3; do sleep 0.02 & ls >/dev/null; done; wait; exit 3"
    for number in range(60, 700, 41):
        done = refused(number, once, "resource-tracker", binary, "-i", "0.02", "-o", "run.jsonl", "-o", "run.csv", "--", "sh", "-c",
                       script)
        assert done.returncode == 3, (number, done)


@pytest.mark.plain
@pytest.mark.parametrize("number", (1, 30, 90, 104, 150))
def test_signals_and_descriptors_are_the_jobs_own_if_it_runs_alone(refused, binary, number):
    script = "ls -l /proc/$$/fd | grep -c 'run.jsonl'; grep -E 'Sig(Blk|Ign)' /proc/self/status; exit 3"
    alone = refused(0, False, "none", "sh", "-c", script)
    done = refused(number, False, "resource-tracker", binary, "-o", "run.jsonl", "--", "sh", "-c", script)
    assert done.stdout == alone.stdout and done.returncode == 3


@pytest.mark.plain
def test_a_missing_command_has_its_status_if_it_runs_alone(refused, binary):
    done = refused(1, False, "resource-tracker", binary, "-o", "run.jsonl", "--", "no-such-command")
    assert done.returncode == 127 and b"no-such-command: command not found" in done.stderr


@pytest.fixture(scope="module")
def recordings(binary, tmp_path_factory):
    folder = tmp_path_factory.mktemp("recordings")
    for name in ("a", "b"):
        subprocess.run([binary, "-q", "-i", "0.05", "-o", folder / f"{name}.jsonl", "--runs", folder / "runs.jsonl", "--", "sh", "-c",
                        "sleep 0.2"], check=True, env={**os.environ, "TRACKER_HISTORY": "off"})
    (folder / "waited.jsonl").write_text(by_hand.lines(by_hand.eight_samples()))
    return folder


COMMANDS = (("summary", "a.jsonl"), ("summary", "waited.jsonl"), ("report", "a.jsonl", "-o", "page.html"), ("recommend", "a.jsonl"), ("stats", "a.jsonl"),
            ("export", "a.jsonl", "-o", "x.csv"), ("compare-runs", "a.jsonl", "b.jsonl"), ("regions", "a.jsonl"),
            ("history", "runs.jsonl"), ("runs", "--runs=r.jsonl", "--", "add", "a.jsonl"),
            ("combine", "a.jsonl", "b.jsonl", "-o", "c.jsonl"))


@pytest.mark.plain
@pytest.mark.slow
@pytest.mark.timeout(200)
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(command[:2]))
def test_no_analysis_crashes(refused, binary, recordings, command):
    program = f"{binary}-analysis"
    if not os.path.exists(program):
        pytest.skip("this build has no analysis")
    words = [recordings / word if word in ("a.jsonl", "b.jsonl", "waited.jsonl", "runs.jsonl") else word for word in command]
    for number in [*range(1, 70, 2), *range(70, MOST, 181)]:
        for once in (True, False):
            done = refused(number, once, "resource-tracker-analysis", program, *words)
            assert done.returncode not in CRASHES, (number, once, done)


def openssl_crashes():
    """OpenSSL 3.6 asks for memory to report refused memory, and reports that until its stack is full. 3.0 does not."""
    try:
        return ctypes.CDLL("libcrypto.so.3").OpenSSL_version_num() >= 0x30600000
    except OSError:
        return False


@pytest.mark.plain
@pytest.mark.slow
@pytest.mark.timeout(200)
def test_no_helper_and_no_follower_crashes(refused, binary):
    """Their own ends are seen by strace alone; the job keeps its status in any case."""
    environment = {"SENTINEL_API_TOKEN": "x", "SENTINEL_API_URL": "http://127.0.0.1:9"}
    for program in ("resource-tracker-helper", "resource-tracker-net"):
        if not os.path.exists(f"{os.path.dirname(binary)}/{program}"):
            continue
        for number in range(1, 600, 41):
            done = refused(number, False, program, "strace", "-f", "-qq", "-e", "trace=none", binary, "-q", "-o", "run.jsonl",
                           "--upload-deadline", "0.1", "--", "sh", "-c", "sleep 0.1; exit 3", **environment)
            assert done.returncode == 3, (number, done)
            if program != "resource-tracker-net" or not openssl_crashes():
                assert not any(f"killed by {signo}".encode() in done.stderr for signo in ("SIGSEGV", "SIGABRT", "SIGBUS")), done
