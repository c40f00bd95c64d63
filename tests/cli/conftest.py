"""Shared by all behaviour tests: the program, a way to run it, readers of its output, and a hard end.

The program is $RESOURCE_TRACKER or build/resource-tracker. Every test ends after TIMEOUT_SECS (or its own
`@pytest.mark.timeout(secs)`), and what it started through these fixtures is ended by pid after it.
"""
import fcntl
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(TOP / "tests"))
from without_report import heed, pytest_runtest_makereport, pytest_runtest_setup  # noqa: E402, F401

BUILD = pathlib.Path(os.environ.get("RESOURCE_TRACKER", TOP / "build" / "resource-tracker")).resolve().parent
ROOTS = BUILD / "tests" / "roots"
TIMEOUT_SECS = 120


def pytest_ignore_collect(collection_path):
    """Skips tests of the analysis in a build without it (static musl)."""
    program = pathlib.Path(os.environ.get("RESOURCE_TRACKER", TOP / "build" / "resource-tracker"))
    if collection_path.name.startswith("test_analysis_") and not (program.parent / "resource-tracker-analysis").exists():
        return True
    return None


def pytest_configure(config):
    # A shell's background job and nohup ignore these signals, and the jobs that tests start would inherit that.
    for signo in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
        if signal.getsignal(signo) == signal.SIG_IGN:
            signal.signal(signo, signal.SIG_DFL)
    # Jobs print in signal handlers, which may not enter the buffer of a print() that they have interrupted.
    os.environ["PYTHONUNBUFFERED"] = "1"
    # No test leaves a run in the history of the user who runs the tests.
    os.environ["TRACKER_HISTORY"] = "off"
    # No test waits for the keys of a pager.
    os.environ["PAGER"] = ""
    config.addinivalue_line("markers", "timeout(secs): a hard limit other than the usual one")
    config.addinivalue_line("markers", "slow: takes longer than a few seconds; left out of sanitiser builds")
    config.addinivalue_line("markers", "plain: holds for a recorder of its own size and speed; left out of sanitiser builds")
    config.addinivalue_line("markers", "night: one more case of what a test by day looks at; only .ci/nightly runs it")
    config.addinivalue_line("markers", "alone: measures, or needs a calm machine: nothing runs beside it")
    config.addinivalue_line("markers", "cost: measures time or memory of a plain build; left out of sanitiser builds")
    config.addinivalue_line("markers", "report: needs the HTML report; skipped in a build without it")


class TestTookTooLong(BaseException):
    """It is not an Exception, so a test cannot catch it by accident."""


@pytest.fixture(autouse=True)
def hard_timeout(request):
    mark = request.node.get_closest_marker("timeout")
    secs = mark.args[0] if mark else TIMEOUT_SECS

    def stop(signo, frame):
        raise TestTookTooLong(f"not done after {secs} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, secs)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="session")
def binary():
    path = pathlib.Path(os.environ.get("RESOURCE_TRACKER", TOP / "build" / "resource-tracker"))
    if not path.exists():
        pytest.exit(f"{path} is not built", returncode=1)
    return str(path)


# Requests of a test without its own server go here: a port of this machine without a server.
NOWHERE = "http://127.0.0.1:9"
SERVERS = ("SENTINEL_API_URL", "AWS_ENDPOINT_URL_S3", "TRACKER_METADATA_URL", "KEEPER_API_URL",
           "OTEL_EXPORTER_OTLP_ENDPOINT")
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR")


def clean_environment():
    """Returns the caller's environment without variables that steer the program, with a plain locale, unfolded lines and no
    way out."""
    schedulers = ("SLURM_", "PBS_", "LSB_", "SGE_", "AIRFLOW_", "GITHUB_", "CI_", "TRACEPARENT")
    switches = ("CI",)
    environment = {key: value for key, value in os.environ.items()
                   if not key.startswith(("TRACKER_", "RESOURCE_TRACKER", "SENTINEL_", "AWS_", "KEEPER_", *schedulers))
                   and key.upper() not in PROXIES and key not in switches}
    environment["LC_ALL"] = "C.UTF-8"
    environment["TRACKER_HISTORY"] = "off"
    environment["COLUMNS"] = "1000"
    environment.update(dict.fromkeys(SERVERS, NOWHERE))
    return environment


def in_memory(binary, *arguments):
    """Returns the peak of the resident set in KiB, the exit status and the output."""
    done = subprocess.run(["/usr/bin/time", "-q", "-f", "%M", binary, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env=clean_environment(), text=True)
    *out, used = done.stdout.splitlines()
    return int(used), done.returncode, "\n".join(out)


@pytest.fixture
def no_leak_check(monkeypatch):
    """Turns off the leak check of a sanitiser build, which starts a process to trace its own and waits for it. Needed
    under strace, and in tests with no process or descriptor to spare, or in which wait4(2) is refused.
    """
    options = os.environ.get("ASAN_OPTIONS")
    monkeypatch.setenv("ASAN_OPTIONS", f"{options}:detect_leaks=0" if options else "detect_leaks=0")


class Result(subprocess.CompletedProcess):
    """A finished run: returncode, stdout and stderr as bytes, wall_secs."""

    @property
    def out(self):
        return self.stdout.decode("utf-8", "surrogateescape")

    @property
    def err(self):
        return self.stderr.decode("utf-8", "surrogateescape")


@pytest.fixture
def program_for_everybody(binary):
    """Copies the program to a folder for all users, because the home folder around the clone may be closed."""
    with tempfile.TemporaryDirectory(prefix="rt-everybody-") as folder:
        os.chmod(folder, 0o755)
        yield shutil.copy(binary, os.path.join(folder, "resource-tracker"))


@pytest.fixture
def spawn(binary, tmp_path):
    """spawn("--", "true", env={...}, **popen) starts the program in tmp_path and ends it by pid after the test."""
    running = []

    def start(*arguments, program=None, env=None, **popen):
        popen.setdefault("cwd", tmp_path)
        popen.setdefault("stdin", subprocess.DEVNULL)
        command = [program or binary, *map(os.fspath, map(as_text, arguments))]
        process = subprocess.Popen(command, env={**clean_environment(), **(env or {})}, **popen)
        running.append(process)
        return process

    yield start
    for process in running:
        end_process(process)


def as_text(argument):
    return argument if isinstance(argument, (str, bytes, os.PathLike)) else str(argument)


def end_process(process):
    """Ends a Popen that is still running, and closes its pipes."""
    if process.poll() is None:
        process.send_signal(signal.SIGCONT)
        process.terminate()
        try:
            process.wait(3)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe:
            pipe.close()


@pytest.fixture
def run(spawn, request):
    """run("-i", 0.1, "--", "true") runs the program to its end and returns a Result. stdin: bytes or None."""

    def run_to_end(*arguments, stdin=None, **popen):
        popen.setdefault("stdout", subprocess.PIPE)
        popen.setdefault("stderr", subprocess.PIPE)
        if stdin is not None:
            popen["stdin"] = subprocess.PIPE
        started = time.monotonic()
        process = spawn(*arguments, **popen)
        out, err = process.communicate(stdin)
        heed(request.node, err)
        result = Result(process.args, process.returncode, out, err)
        result.wall_secs = time.monotonic() - started
        return result

    return run_to_end


def json_lines(source):
    """Returns the samples in a path, in bytes or in text. Every line must be one valid JSON object."""
    if isinstance(source, pathlib.Path):
        source = source.read_bytes()
    if isinstance(source, bytes):
        source = source.decode("utf-8")
    assert source == "" or source.endswith("\n"), "torn last line"
    samples = [json.loads(line, parse_constant=not_a_number) for line in source.splitlines()]
    assert all(isinstance(sample, dict) for sample in samples)
    return samples


def not_a_number(name):
    raise ValueError(f"{name} in JSON")


def csv_rows(source):
    """Returns the rows of a CSV record as dictionaries of text, keyed by its header."""
    if isinstance(source, pathlib.Path):
        source = source.read_text()
    header, *lines = source.splitlines()
    names = header.split(",")
    rows = [line.split(",") for line in lines]
    assert all(len(row) == len(names) for row in rows)
    return [dict(zip(names, row)) for row in rows]


@pytest.fixture
def nvml(binary, tmp_path):
    """The fake NVML, which answers by a script."""
    from gpu import Nvml
    fake = Nvml(binary, tmp_path / "nvml.script")
    if not fake.library.exists():
        pytest.skip(f"{fake.library} is not built")
    return fake


@pytest.fixture
def record(run, tmp_path):
    """record("-i", 0.1, "--", "true") runs with -o and returns (Result, samples)."""

    def run_and_read(*arguments, **popen):
        path = tmp_path / "record.jsonl"
        result = run("-o", path, *arguments, **popen)
        return result, json_lines(path)

    return run_and_read


@pytest.fixture
def recorded(run, tmp_path):
    """recorded("-i", 0.1, "--", "true") records a job that must succeed into run.jsonl; returns (samples, the job's output)."""

    def run_and_read(*arguments, **popen):
        path = tmp_path / "run.jsonl"
        path.unlink(missing_ok=True)
        done = run("-o", path, "-q", "--no-summary", *arguments, **popen)
        assert done.returncode == 0, done.err
        return json_lines(path), done.out

    return run_and_read


def summed(samples, name):
    """The sum of a figure of the job over all samples that have it."""
    return sum(one["cpu"][name] or 0 for one in samples)


def ticks_of(samples):
    """How many samples the interval gave: those that were taken, and those for which a busy machine left no time."""
    return len(samples) + sum(one["missed_ticks"] for one in samples)


def wait_until(condition, secs=10.0, what="condition"):
    """Polls until condition() is true and returns its value; fails the test after `secs`."""
    deadline = time.monotonic() + secs
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < deadline, f"{what}: not so after {secs} s"
        time.sleep(0.01)


@pytest.fixture
def helpers():
    """The functions of this file, for tests that prefer to call them by name."""

    class Helpers:
        top = TOP
        roots = ROOTS

    for function in (json_lines, csv_rows, wait_until, end_process, clean_environment):
        setattr(Helpers, function.__name__, staticmethod(function))
    return Helpers


@pytest.fixture
def program_with_analysis(binary, tmp_path):
    """Copies the program, with a resource-tracker-analysis beside it that prints its arguments."""
    folder = tmp_path / "bin"
    folder.mkdir()
    analysis = folder / "resource-tracker-analysis"
    analysis.write_text("#!/bin/sh\necho analysis \"$@\"\nexit 3\n")
    analysis.chmod(0o755)
    return shutil.copy(binary, folder)


@pytest.fixture(scope="session")
def needs_toml(binary, tmp_path_factory):
    """Skips tests of the configuration file in a build without TOML."""
    folder = tmp_path_factory.mktemp("toml")
    (folder / "resource-tracker.toml").touch()
    said = subprocess.run([binary, "-q", "true"], cwd=folder, env=clean_environment(), capture_output=True).stderr
    if b"built without TOML" in said:
        pytest.skip("this program was built without TOML")


@pytest.fixture
def huge_pages():
    """Sets huge pages aside during the test, if root can."""
    setting = pathlib.Path("/proc/sys/vm/nr_hugepages")
    # Tests that run beside this one share the machine's pages: they wait.
    with open(pathlib.Path(tempfile.gettempdir(), f"rt-huge-pages-{os.getuid()}.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        before = setting.read_text()
        try:
            setting.write_text("80")
        except OSError:
            pytest.skip("only root can set huge pages aside")
        try:
            from memory_truth import hugetlb_pages
            if hugetlb_pages() < (64, 2 << 20):
                pytest.skip("the machine has no huge pages to spare")
            yield
        finally:
            setting.write_text(before)
