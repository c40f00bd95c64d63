"""The cost of streaming to a run: with a server that works, is dead, hangs or resets, beside the same run without it."""
import json
import math
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "fakes"))
import sentinel  # noqa: E402

QUIET = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
INTERVAL = 0.01
TROUBLES = {"well": None, "dead": None, "hanging": "hang", "resetting": "reset"}


class Server:
    """A Sentinel API on loopback with the given kind of trouble. Yields the environment for streaming to it."""

    def __init__(self, trouble, tls=None):
        self.sentinel = sentinel.Sentinel(token="x", tls=tls)
        self.sentinel.trouble = (lambda request: TROUBLES[trouble]) if TROUBLES[trouble] else None
        self.url = self.sentinel.base
        if trouble == "dead":
            self.sentinel.close()

    @staticmethod
    def clean():
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("SENTINEL_", "TRACKER_", "AWS_", "OTEL_"))}
        return {**clean, "TRACKER_HISTORY": "off"}  # also on the terminal of a developer

    def environment(self, **further):
        return {**self.clean(), "SENTINEL_API_TOKEN": "x", "SENTINEL_API_URL": self.url, "TRACKER_METADATA_URL": "http://127.0.0.1:1",
                "TRACKER_UPLOAD_INTERVAL": "1", **further}

    def close(self):
        self.sentinel.close()


def status_kib(pid, key):
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(rf"^{key}:\s+(\d+) kB", text, re.M).group(1))


def undisturbed():
    """As real-time processes, including the follower, if that is permitted, so that other programs do not count."""
    prefix = ["chrt", "-f", "10"]
    try:
        return prefix if subprocess.run([*prefix, "true"], **QUIET).returncode == 0 else []
    except OSError:
        return []


def run_once(program, env, secs=3):
    """The 99th percentile of how late samples are (s), and the recorder's anonymous memory at the end (KiB)."""
    with tempfile.TemporaryDirectory() as folder:
        record = pathlib.Path(folder, "record.jsonl")
        process = subprocess.Popen([*undisturbed(), program, "-i", str(INTERVAL), "-o", record, "--spool", folder + "/spool",
                                    "--upload-deadline", "0.2", "--", "sleep", str(secs)], env=env, **QUIET)
        time.sleep(secs - 0.5)
        peak = status_kib(process.pid, "RssAnon")
        process.wait()
        samples = [json.loads(line) for line in record.open()]
    late = sorted(sample["elapsed_secs"] % INTERVAL for sample in samples[:-1])
    return late[len(late) * 99 // 100], peak


def lateness(program, figure, rounds=3):
    """The best of some rounds each, in turn: other programs only make samples later."""
    for trouble in TROUBLES:
        server = Server(trouble)
        runs = {"with": [], "without": []}
        try:
            for _ in range(rounds):
                runs["with"].append(run_once(program, server.environment()))
                runs["without"].append(run_once(program, server.environment(SENTINEL_API_TOKEN="")))
        finally:
            server.close()
        ours, theirs = (min(late for late, _ in runs[name]) for name in ("with", "without"))
        figure(f"samples late (p99), server {trouble}, without it", f"{ours * 1e3:.3f} ms", f"{theirs * 1e3:.3f} ms",
               "at most 1.25x and 0.2 ms", ours <= theirs * 1.25 + 0.2e-3)
        kib = [statistics.median(peak for _, peak in runs[name]) for name in ("with", "without")]
        figure("  recorder's own memory (anonymous)", f"{kib[0]:.0f} KiB", f"{kib[1]:.0f} KiB",
               "at most 64 KiB more", kib[0] <= kib[1] + 64)


JOBS = {
    "4 million sums": [sys.executable, "-c", "import time\nbegun = time.monotonic()\nn = 0\nfor i in range(4000000): n += i\n"
                       "print(time.monotonic() - begun)"],
    "300 processes": [sys.executable, "-c", "import subprocess, time\nbegun = time.monotonic()\n"
                      "for i in range(300): subprocess.run(['/bin/true'])\nprint(time.monotonic() - begun)"],
    "a sleep of 1.2 s": [sys.executable, "-c", "import time\nbegun = time.monotonic()\ntime.sleep(1.2)\nprint(time.monotonic() - begun)"],
}


def job_secs(program, job, env, options):
    """The time that the job takes, by its own clock, and what comes around it: the start and the end of the recorder."""
    prefix = undisturbed()
    with tempfile.TemporaryDirectory() as folder:
        begun = time.monotonic()
        result = subprocess.run([*prefix, program, "-q", "--no-summary", "-o", folder + "/record.jsonl", *options, "--spool", folder, "--", *job],
                                env=env, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        whole = time.monotonic() - begun
    return float(result.stdout), whole - float(result.stdout)


def slower(program, figure, pairs=24):
    """Pairs of runs in default settings, with and without --stream otlp, in turns; the receiver is a process of its own."""
    fakes = pathlib.Path(__file__).resolve().parents[1] / "tests" / "fakes"
    receiver = subprocess.Popen([*undisturbed(), sys.executable, fakes / "otlp.py", "0"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL, text=True)
    # Its further lines, the requests, are read so that it is never stuck.
    env = {**Server.clean(), "OTEL_EXPORTER_OTLP_ENDPOINT": receiver.stdout.readline().strip()}
    reading = threading.Thread(target=receiver.stdout.read, daemon=True)
    reading.start()
    try:
        for name, job in JOBS.items():
            changes, ends = [], []
            for i in range(pairs):
                both = {}
                for streamed in (True, False) if i % 2 else (False, True):
                    both[streamed] = job_secs(program, job, env, ["--stream", "otlp"] if streamed else [])
                changes.append((both[True][0] / both[False][0] - 1) * 100)
                ends.append((both[True][1] - both[False][1]) * 1e3)
            changes.sort()
            # The sign test: the median of all pairs lies between these with at least 95 %.
            outer = next(k for k in range(pairs) if sum(math.comb(pairs, i) for i in range(k + 1)) / 2**pairs > 0.025)
            low, high = changes[outer - 1], changes[pairs - outer]
            figure(f"job with --stream otlp: {name}", f"{statistics.median(changes):+.2f} %", f"{low:+.2f} to {high:+.2f} %",
                   f"0 % lies in the 95 % range of {pairs} pairs, or above it", low <= 0)
            figure("  its end, with the last requests", f"{statistics.median(ends):+.1f} ms", "", "(no figure)", True)
    finally:
        receiver.terminate()
        receiver.wait()
        reading.join()


def end(program, figure):
    for trouble in ("dead", "hanging", "resetting"):
        server = Server(trouble)
        with tempfile.TemporaryDirectory() as folder:
            begun = time.monotonic()
            subprocess.run([program, "-q", "-i", "0.1", "--spool", folder, "--upload-deadline", "2", "--", "sleep", "1"],
                           env=server.environment(), check=True, **QUIET)
            late = time.monotonic() - begun - 1
        server.close()
        figure(f"end after the job, server {trouble}", f"{late:.2f} s", "", "at most --upload-deadline (2 s)", late <= 2.1)


def certificate(folder):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1",
                    "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", folder / "key.pem", "-out", folder / "cert.pem"],
                   check=True, **QUIET)
    return folder / "cert.pem", folder / "key.pem"


def follower_of(pid):
    for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        if b"resource-tracker-net" in pathlib.Path(f"/proc/{child}/cmdline").read_bytes():
            return int(child)
    raise ValueError("there is no follower")


def private_kib(pid):
    rollup = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text()
    return sum(int(kib) for kib in re.findall(r"Private_(?:Clean|Dirty): +(\d+)", rollup))


def cpu_ns(pid):
    return int(pathlib.Path(f"/proc/{pid}/schedstat").read_text().split()[0])


def follower(program, figure, secs=30):
    """At 1 Hz over TLS, with a batch every 10 s instead of every 60, without the start."""
    with tempfile.TemporaryDirectory() as folder:
        tls = certificate(pathlib.Path(folder))
        server = Server("well", tls)
        # Without a store, batches are cut and wait. A server that takes them costs the follower less than that.
        process = subprocess.Popen(
            [program, "-q", "--spool", folder + "/spool", "--upload-deadline", "1", "--", "sleep", str(secs + 4)],
            env=server.environment(CURL_CA_BUNDLE=str(tls[0]), TRACKER_UPLOAD_INTERVAL="10",
                                   AWS_ENDPOINT_URL_S3="http://127.0.0.1:1"), **QUIET)
        try:
            time.sleep(3)
            pid = follower_of(process.pid)
            before, begun, most = cpu_ns(pid), time.monotonic(), 0
            while time.monotonic() < begun + secs:
                time.sleep(1)
                most = max(most, private_kib(pid))
            share = (cpu_ns(pid) - before) / 1e9 / (time.monotonic() - begun)
        finally:
            process.terminate()
            process.wait()
            server.close()
    figure("private memory of the program that streams", f"{most / 1024:.2f} MiB", "", "at most 6 MiB", most <= 6 << 10)
    figure("  and its share of a core at 1 Hz", f"{share:.4%}", "", "at most 0.1 %", share <= 0.001)


def streaming(program, figure):
    slower(program, figure)
    lateness(program, figure)
    end(program, figure)
    follower(program, figure)
