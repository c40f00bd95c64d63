"""Shared by the tests of streaming: a recorder under control, the real S3 server, and a reader of objects."""
import collections
import gzip
import hashlib
import hmac
import http.client
import json
import os
import pathlib
import subprocess
import sys
import time
import urllib.parse
import xml.etree.ElementTree as xml

import pytest

import sentinel

FAKES = pathlib.Path(__file__).resolve().parent
TOKEN = "test-token-1234"
SECRET = "secret/+key"
# Debian installs Swift for this Python.
SYSTEM_PYTHON = "/usr/bin/python3"

# Each CSV column and the place of its value in a sample, written down a second time on purpose.
COLUMNS = {
    "timestamp": "timestamp", "system_processes": "cpu.process_count", "system_utime": "cpu.utime_secs",
    "system_stime": "cpu.stime_secs", "system_cpu_usage": "cpu.utilization_pct",
    "system_memory_free_mib": "memory.free_mib", "system_memory_used_mib": "memory.used_mib",
    "system_memory_buffers_mib": "memory.buffers_mib", "system_memory_cached_mib": "memory.cached_mib",
    "system_memory_active_mib": "memory.active_mib", "system_memory_inactive_mib": "memory.inactive_mib",
    "system_disk_read_bytes": "totals.disk_read_bytes", "system_disk_write_bytes": "totals.disk_write_bytes",
    "system_disk_space_total_gb": "totals.disk_space_total_gb",
    "system_disk_space_used_gb": "totals.disk_space_used_gb",
    "system_disk_space_free_gb": "totals.disk_space_free_gb", "system_net_recv_bytes": "totals.net_recv_bytes",
    "system_net_sent_bytes": "totals.net_sent_bytes", "system_gpu_usage": "totals.gpu_usage",
    "system_gpu_vram_mib": "totals.gpu_vram_mib", "system_gpu_utilized": "totals.gpu_utilized",
    "process_pid": "tracked_pid", "process_children": "cpu.process_child_count",
    "process_utime": "cpu.process_utime_secs", "process_stime": "cpu.process_stime_secs",
    "process_cpu_usage": "cpu.process_cores_used", "process_memory_mib": "cpu.process_memory_mib",
    "process_disk_read_bytes": "cpu.process_disk_read_bytes",
    "process_disk_write_bytes": "cpu.process_disk_write_bytes", "process_gpu_usage": "cpu.process_gpu_usage",
    "process_gpu_vram_mib": "cpu.process_gpu_vram_mib", "process_gpu_utilized": "cpu.process_gpu_utilized",
}
# Half a unit of the last digit, plus the rounding of JSON before.
TOLERANCE = {"timestamp": 0.0006, "system_memory": 0.51, "process_memory_mib": 0.51}


def value_at(sample, path):
    for key in path.split("."):
        sample = sample[key]
    return sample


def compare_times(rows, samples):
    """Rows have milliseconds, samples have more: half of one may be rounded up or down."""
    assert len(rows) == len(samples), (len(rows), len(samples))
    for row, sample in zip(rows, samples):
        assert len(row["timestamp"].partition(".")[2]) == 3
        assert abs(float(row["timestamp"]) - sample["timestamp"]) <= 0.000501, (row["timestamp"], sample["timestamp"])


def compare_rows(rows, samples):
    """Every row of the CSV (dictionaries of text) equals its sample in the recording."""
    compare_times(rows, samples)
    for row, sample in zip(rows, samples):
        assert list(row) == list(COLUMNS)
        for name, path in COLUMNS.items():
            value = value_at(sample, path)
            if value is None:
                assert row[name] == "", (name, row[name])
                continue
            tolerance = next((tolerance for prefix, tolerance in TOLERANCE.items() if name.startswith(prefix)), 6e-4)
            assert abs(float(row[name]) - value) <= tolerance, (name, row[name], value)


def rows_of(csv):
    header, *lines = csv.splitlines()
    return [dict(zip(header.split(","), line.split(","), strict=True)) for line in lines]


# ---- a recorder under control ---------------------------------------------------------------------------------

class Recorder:
    """Writes samples as the recorder does, based on real ones. The pipe ends when this recorder ends."""

    def __init__(self, path, template, **start):
        self.path, self.template = path, template
        self.file = open(path, "ab", buffering=0)
        self.samples, self.start, self.number = [], start, 0
        self.end_fd, self.write_end = os.pipe()
        self.at = time.time()

    def write(self, count=1, run_end=None):
        for _ in range(count):
            self.at += 1.0
            sample = {**self.template, "sample": self.number, "timestamp": round(self.at, 6),
                      "timestamp_secs": int(self.at), "elapsed_secs": float(self.number),
                      "cpu": {**self.template["cpu"], "process_utime_secs": self.number + 0.25},
                      "run_start": {**self.template["run_start"], **self.start} if self.number == 0 else None,
                      "run_end": run_end}
            line = json.dumps(sample, separators=(",", ":")).encode() + b"\n"
            self.file.write(line)
            self.samples.append(sample)
            self.number += 1

    def end(self, exit_code=0, signal=None, reason="exit", **further):
        """Writes the last sample and ends."""
        self.write(run_end={"reason": reason, "exit_code": exit_code, "signal": signal, **further})
        self.die()

    def die(self):
        self.file.close()
        if self.write_end >= 0:
            os.close(self.write_end)
            self.write_end = -1

    def close(self):
        self.die()
        if self.end_fd >= 0:
            os.close(self.end_fd)
            self.end_fd = -1


# ---- the real S3 server ---------------------------------------------------------------------------------------

class Swift:
    """OpenStack Swift in its own process (sentinel_s3.py)."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir(parents=True)
        self.process = subprocess.Popen([SYSTEM_PYTHON, FAKES / "sentinel_s3.py", folder], stdout=subprocess.PIPE,
                                        stderr=open(folder / "log", "wb"), stdin=subprocess.DEVNULL)
        line = self.process.stdout.readline().split()
        assert line and line[0] == b"ready", (folder / "log").read_text()
        self.port = int(line[1])
        self.url = f"http://127.0.0.1:{self.port}"
        self.keys, self.next_token = {}, 0
        self.give("test:7")
        self.reader = ("test:7", SECRET, self.keys["test:7"][0])
        assert self.call("PUT", "/bucket")[0] == 200

    def give(self, key, expires=None):
        """Makes a new token for a key; the old one becomes invalid."""
        self.next_token += 1
        self.keys[key] = (f"session+token/{self.next_token:04d}=", expires)
        lines = [f"{key} {token}" + (f" {expires}" if expires else "") for key, (token, expires) in self.keys.items()]
        new = self.folder / "tokens.new"
        new.write_text("\n".join(lines) + "\n")
        new.rename(self.folder / "tokens")
        return key, SECRET, self.keys[key][0]

    def call(self, method, path, body=b"", query=""):
        """Sends a request with a signature made by hand: (status, body)."""
        key, secret, token = self.reader
        now = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        headers = {"host": f"127.0.0.1:{self.port}", "x-amz-content-sha256": hashlib.sha256(body).hexdigest(),
                   "x-amz-date": now, "x-amz-security-token": token}
        encoded = urllib.parse.quote(path, safe="/-._~")
        headers["authorization"] = sign_v4(method, encoded, query, headers, key, secret, "eu-central-1")
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        connection.request(method, encoded + ("?" + query if query else ""), body, headers)
        response = connection.getresponse()
        result = response.status, response.read()
        connection.close()
        return result

    def list(self, prefix=""):
        status, body = self.call("GET", "/bucket", query=f"max-keys=1000&prefix={urllib.parse.quote(prefix, safe='')}")
        assert status == 200, body
        space = "{http://s3.amazonaws.com/doc/2006-03-01/}"
        return [element.text for element in xml.fromstring(body).iter(space + "Key")]

    def get(self, uri):
        assert uri.startswith("s3://bucket/"), uri
        status, body = self.call("GET", "/" + uri[len("s3://"):])
        assert status == 200, (uri, body)
        return body

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


def sign_v4(method, path, query, headers, key, secret, region):
    """Returns the Authorization header of AWS Signature Version 4 for S3, after Amazon's documents."""
    names = ";".join(sorted(headers))
    canonical = "\n".join([method, path, query, *(f"{name}:{headers[name]}" for name in sorted(headers)), "", names,
                           headers["x-amz-content-sha256"]])
    day, scope = headers["x-amz-date"][:8], f"{headers['x-amz-date'][:8]}/{region}/s3/aws4_request"
    to_sign = "\n".join(["AWS4-HMAC-SHA256", headers["x-amz-date"], scope,
                         hashlib.sha256(canonical.encode()).hexdigest()])
    secret = ("AWS4" + secret).encode()
    for part in (day, region, "s3", "aws4_request", to_sign):
        secret = hmac.new(secret, part.encode(), hashlib.sha256).digest()
    return f"AWS4-HMAC-SHA256 Credential={key}/{scope}, SignedHeaders={names}, Signature={secret.hex()}"


class Front(sentinel.Owner):
    """Stands before the S3 server and passes on the requests that its script of troubles allows."""

    def __init__(self, swift, **server):
        super().__init__(**server)
        self.swift = swift

    def respond(self, handler, request):
        connection = http.client.HTTPConnection("127.0.0.1", self.swift.port, timeout=20)
        try:
            connection.request(request["method"], request["path"], request["body"], request["headers"])
            response = connection.getresponse()
            body = response.read()
            keep = [(name, value) for name, value in response.getheaders()
                    if name.lower() in ("x-amz-bucket-region", "etag")]
            handler.answer(response.status, body, keep, response.getheader("Content-Type") or "text/plain")
        finally:
            connection.close()


def downloaded_rows(swift, uris):
    """Returns the rows of all objects, in order; each is a whole CSV, compressed once."""
    rows = []
    for uri in uris:
        body = swift.get(uri)
        assert body[:2] == b"\x1f\x8b"
        part = rows_of(gzip.decompress(body).decode())
        assert part
        rows += part
    return rows


def sent_rows(run, swift=None):
    """Returns the rows of a finished run, wherever they are."""
    finish = run.finish
    if finish["data_source"] == "inline":
        return rows_of(finish["data_csv"])
    return downloaded_rows(swift, finish["data_uris"])


def spooled_rows(folder):
    """Returns the rows of the batches that are still in a spool."""
    return [row for path in sorted(folder.glob("*.csv.gz")) for row in rows_of(gzip.decompress(path.read_bytes()).decode())]


def states(folder):
    return [json.loads(path.read_text()) for path in sorted(folder.glob("*.state"))]


def net_program():
    top = FAKES.parents[1]
    binary = pathlib.Path(os.environ.get("RESOURCE_TRACKER", top / "build" / "resource-tracker"))
    return binary.parent / "resource-tracker-net"


needs_net = pytest.mark.skipif(not net_program().exists(), reason="resource-tracker-net is not built")


@pytest.fixture(scope="module")
def swift(tmp_path_factory):
    server = Swift(tmp_path_factory.mktemp("swift") / "s3")
    yield server
    server.close()


def make_template(binary, folder, environment):
    """Records a real first sample, from which recordings are made. A busy machine may take it when the job has ended: once more."""
    for secs in ("0.1", "1", "3", "9"):
        subprocess.run([binary, "-i", "0.05", "-o", folder / f"{secs}.jsonl", "-n", "a job", "--team", "blue", "--tag", "k=v",
                        "--tag", "empty=", "--", "sleep", secs], check=True, stdin=subprocess.DEVNULL, cwd=folder, env=environment)
        first = json.loads((folder / f"{secs}.jsonl").read_text().splitlines()[0])
        if first["cpu"]["process_memory_mib"]:
            return first
    raise AssertionError("no first sample has the job's memory")


@pytest.fixture(scope="module")
def template(binary, tmp_path_factory):
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("SENTINEL_", "TRACKER_"))}
    return make_template(binary, tmp_path_factory.mktemp("template"), environment)


class World:
    """One test's servers, folders and processes."""

    def __init__(self, tmp_path, template, swift, environment):
        self.path, self.template, self.swift, self.environment = tmp_path, template, swift, environment
        self.spool = tmp_path / "spool"
        self.closing, self.processes = [], []
        self.sentinel = self.front = None

    def open(self, thing):
        self.closing.append(thing)
        return thing

    def serve(self, **settings):
        settings.setdefault("token", TOKEN)
        self.sentinel = self.open(sentinel.Sentinel(**settings))
        return self.sentinel

    def store(self, **store):
        """Starts the S3 server with a front before it; each call makes new keys."""
        self.front = self.open(Front(self.swift))
        store.setdefault("prefix", f"s3://bucket/{self.path.name}")
        store.setdefault("keys", lambda: self.swift.give("test:0"))
        return sentinel.Store(**store)

    def env(self, **further):
        env = dict(self.environment(), SENTINEL_API_TOKEN=TOKEN)
        if self.sentinel:
            env["SENTINEL_API_URL"] = self.sentinel.base
        if self.front:
            env["AWS_ENDPOINT_URL_S3"] = self.front.url
        env.update(further)
        return {key: value for key, value in env.items() if value is not None}

    def record(self, name="run.jsonl", **start):
        return self.open(Recorder(self.path / name, self.template, **start))

    def follow(self, recorder, *arguments, deadline=5, env=None):
        process = subprocess.Popen(
            [net_program(), "follow", recorder.path, "--end-fd", str(recorder.end_fd), "--spool", self.spool,
             "--upload-deadline", str(deadline), *map(str, arguments)],
            env=self.env(**(env or {})), pass_fds=[recorder.end_fd], stdin=subprocess.DEVNULL, cwd=self.path,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.processes.append(process)
        return process

    def upload(self, *operands, env=None):
        return subprocess.run([net_program(), "upload", "--spool", self.spool, *operands], env=self.env(**(env or {})),
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=50, cwd=self.path)

    def close(self):
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.wait()
            process.stdout.close()
            process.stderr.close()
        for thing in self.closing:
            thing.close()


@pytest.fixture
def world(tmp_path, template, request, helpers):
    """Starts S3 only for tests with the fixture `swift`."""
    swift = request.getfixturevalue("swift") if "swift" in request.fixturenames else None
    world = World(tmp_path, template, swift, helpers.clean_environment)
    yield world
    world.close()


def end(process, secs=20):
    out, err = process.communicate(timeout=secs)
    assert out == ""
    return process.returncode, err


def end_after(process, recorder, secs=0.6):
    """Lets the run continue for a while and ends it."""
    time.sleep(secs)
    recorder.end()
    return end(process)


def end_once_stored(world, process, recorder):
    """Ends the run after the store got an object, so that it has objects even on a busy machine."""
    deadline = time.monotonic() + 20
    while not any(request["method"] == "PUT" for request in world.front.requests) and time.monotonic() < deadline:
        time.sleep(0.02)
    return end_after(process, recorder, 0.1)


class Script:
    """Makes the first requests fail, each in its way; the rest succeed."""

    def __init__(self, *troubles, only=""):
        self.troubles, self.only = collections.deque(troubles), only

    def __call__(self, request):
        if not self.troubles or self.only not in request["path"]:
            return None
        return self.troubles.popleft()
