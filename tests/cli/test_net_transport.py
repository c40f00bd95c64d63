"""resource-tracker-net and the network itself: certificates, proxies, names, signals, and cost."""
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "fakes"))
from namespaces import needs_private_mounts  # noqa: E402
from sentinel import Metadata, Owner, Sentinel  # noqa: E402
from sentinel_support import (TOKEN, compare_rows, end, end_after, end_once_stored, needs_net, net_program,  # noqa: E402
                              sent_rows, swift, template, world)  # noqa: F401

pytestmark = needs_net
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="network namespaces need root")


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    """Makes our own authority and a server certificate for 127.0.0.1, with the openssl command."""
    folder = tmp_path_factory.mktemp("tls")

    def openssl(*arguments):
        subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)

    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", "ca.key",
            "-out", "ca.pem", "-subj", "/CN=test authority", "-days", "2")
    openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", "server.key",
            "-out", "server.csr", "-subj", "/CN=127.0.0.1")
    (folder / "names").write_text("subjectAltName=IP:127.0.0.1\n")
    openssl("x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-out",
            "server.pem", "-days", "2", "-extfile", "names")
    return folder


@pytest.mark.parametrize("variable", ["CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR"])
def test_an_authority_of_ones_own(world, certificates, tmp_path, variable):
    world.serve(tls=(certificates / "server.pem", certificates / "server.key"))
    place = certificates / "ca.pem"
    if variable == "SSL_CERT_DIR":
        place = tmp_path / "certificates"
        place.mkdir()
        shutil.copy(certificates / "ca.pem", place)
        subprocess.run(["openssl", "rehash", place], check=True)
    recorder = world.record()
    process = world.follow(recorder, env={variable: str(place)})
    recorder.write(2)
    recorder.end()
    assert end(process) == (0, "")
    compare_rows(sent_rows(world.sentinel.run), recorder.samples)


def test_an_untrusted_certificate(world, certificates):
    world.serve(tls=(certificates / "server.pem", certificates / "server.key"))
    recorder = world.record()
    process = world.follow(recorder, deadline=3)
    recorder.write(2)
    recorder.end()
    code, err = end(process)
    assert code == 1 and "certificate" in err and not world.sentinel.requests


class Proxy(Owner):
    """Accepts requests with full addresses and passes them on to `target`."""

    def __init__(self, target):
        super().__init__()
        self.target = target

    def respond(self, handler, request):
        assert request["path"].startswith("http://sentinel.localhost:1/prefix/runs"), request["path"]
        request["path"] = request["path"][len("http://sentinel.localhost:1"):]
        self.target.respond(handler, request)


@pytest.mark.parametrize("variable", ["http_proxy", "HTTP_PROXY", "ALL_PROXY"])
def test_proxies_are_used_but_not_for_metadata(world, variable):
    world.serve(prefix="/prefix")
    proxy = world.open(Proxy(world.sentinel))
    metadata = world.open(Metadata({}))
    recorder = world.record()
    process = world.follow(recorder, env={variable: f"http://user:pass@127.0.0.1:{proxy.port}", "NO_PROXY": None,
                                          "SENTINEL_API_URL": "http://sentinel.localhost:1/prefix/",
                                          "TRACKER_METADATA_URL": metadata.url})
    recorder.write(2)
    recorder.end()
    assert end(process) == (0, "")
    assert len(proxy.requests) == 2 and metadata.requests
    assert not any("latest" in request["path"] for request in proxy.requests)
    assert proxy.requests[0]["headers"]["Proxy-Authorization"].startswith("Basic ")
    compare_rows(sent_rows(world.sentinel.run), recorder.samples)


def test_no_proxy(world):
    world.serve()
    recorder = world.record()
    process = world.follow(recorder, env={"http_proxy": "http://127.0.0.1:9", "NO_PROXY": "127.0.0.1"})
    recorder.end()
    assert end(process) == (0, "")


def test_proxy_passwords_are_not_said(world):
    recorder = world.record()
    process = world.follow(recorder, deadline=0.5, env={"http_proxy": "http://user:hidden@127.0.0.1:9"})
    recorder.end()
    code, err = end(process)
    assert code == 1 and "hidden" not in err


@pytest.mark.parametrize("prefix,slash", [("", ""), ("", "/"), ("/a/b", ""), ("/a/b", "//")])
def test_a_path_before_the_api_is_kept(world, prefix, slash):
    world.serve(prefix=prefix)
    recorder = world.record()
    process = world.follow(recorder, env={"SENTINEL_API_URL": world.sentinel.base + slash})
    recorder.end()
    assert end(process) == (0, "")
    assert world.sentinel.requests[0]["path"] == prefix + "/runs"


def test_empty_variables_are_unset_and_tokens_are_trimmed(world, swift):
    """Containers pass on missing values as empty texts, and secrets end with a newline."""
    world.serve(store=world.store())
    recorder = world.record()
    process = world.follow(recorder, env={
        "SENTINEL_API_TOKEN": f" {TOKEN}\n", "AWS_ENDPOINT_URL_S3": "", "AWS_ENDPOINT_URL": world.front.url,
        "TRACKER_UPLOAD_INTERVAL": "0.25", "http_proxy": "", "SSL_CERT_FILE": "", "CURL_CA_BUNDLE": ""})
    recorder.write(3)
    assert end_once_stored(world, process, recorder) == (0, "")
    assert world.sentinel.run.finish["data_source"] == "s3"


@pytest.mark.parametrize("value,says", [("soon", True), ("", False), ("0", False), ("-1", True), ("1e3x", True)])
def test_upload_interval(world, value, says):
    world.serve()
    recorder = world.record()
    process = world.follow(recorder, env={"TRACKER_UPLOAD_INTERVAL": value})
    recorder.write(2)
    code, err = end_after(process, recorder, 0.1)
    assert code == 0 and ("TRACKER_UPLOAD_INTERVAL" in err) == says, err


# ---- names ----------------------------------------------------------------------------------------------------

@needs_private_mounts
def test_a_dead_resolver(world):
    """The name server swallows every question. The time limits still hold."""
    recorder = world.record()
    conf = world.path / "resolv.conf"
    conf.write_text("nameserver 127.0.0.1\noptions timeout:30 attempts:3\n")
    hosts = world.path / "nsswitch.conf"
    hosts.write_text("hosts: files dns\n")
    script = (f"mount --bind {conf} /etc/resolv.conf && mount --bind {hosts} /etc/nsswitch.conf && ip link set lo up && "
              'exec "$@"')
    sink = (f"import socket,subprocess,sys\n"
            f"s=socket.socket(socket.AF_INET,socket.SOCK_DGRAM); s.bind(('127.0.0.1',53))\n"
            f"sys.exit(subprocess.call(sys.argv[1:], pass_fds=[{recorder.end_fd}]))\n")
    process = subprocess.Popen(
        ["unshare", "-n", "-m", "sh", "-ec", script, "sh", sys.executable, "-c", sink, net_program(), "follow",
         recorder.path, "--end-fd", str(recorder.end_fd), "--spool", world.spool, "--upload-deadline", "1.5"],
        env=world.env(SENTINEL_API_URL="http://sentinel.invalid"), pass_fds=[recorder.end_fd],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    world.processes.append(process)
    recorder.write(3)
    time.sleep(0.7)
    recorder.end()
    ended = time.monotonic()
    code, err = end(process)
    assert code == 1 and time.monotonic() - ended < 5, err
    world.serve()
    assert world.upload(recorder.path).returncode == 0
    compare_rows(sent_rows(world.sentinel.run), recorder.samples)


@needs_root
def test_a_network_that_goes_down(world):
    """In a namespace without any interface everything fails at once, and nothing is lost."""
    recorder = world.record()
    process = subprocess.Popen(
        ["unshare", "-n", net_program(), "follow", recorder.path, "--end-fd", str(recorder.end_fd), "--spool",
         world.spool, "--upload-deadline", "5"],
        env=world.env(), pass_fds=[recorder.end_fd], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True)
    world.processes.append(process)
    recorder.write(3)
    code, err = end_after(process, recorder)
    assert code == 1 and "Failed to connect" in err


@pytest.mark.skipif(not shutil.which("strace"), reason="strace is missing")
def test_no_thread_and_no_process_for_numeric_addresses(world, no_leak_check):
    world.serve()
    recorder = world.record()
    trace = world.path / "trace"
    process = subprocess.Popen(
        ["strace", "-f", "-o", trace, "-e", "trace=clone,clone3,fork,vfork,connect,sendto", net_program(), "follow",
         recorder.path, "--end-fd", str(recorder.end_fd), "--spool", world.spool],
        env=world.env(), pass_fds=[recorder.end_fd], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True)
    world.processes.append(process)
    recorder.write(3)
    recorder.end()
    assert end(process)[0] == 0
    calls = trace.read_text()
    assert "connect(" in calls and not re.search(r"clone3?\(|fork\(", calls)
    assert set(re.findall(r'inet_addr\("([^"]+)"\)', calls)) == {"127.0.0.1"}


# ---- the process ----------------------------------------------------------------------------------------------

def test_signals_are_meant_for_the_job(world):
    """A terminal, systemd and Slurm signal every process. The follower ends when the recorder does."""
    world.serve()
    recorder = world.record()
    process = world.follow(recorder)
    recorder.write(2)
    time.sleep(0.3)
    for signo in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1):
        process.send_signal(signo)
    time.sleep(0.2)
    recorder.write(2)
    recorder.end()
    assert end(process) == (0, "")
    compare_rows(sent_rows(world.sentinel.run), recorder.samples)


@pytest.mark.parametrize("how", ["run_end", "signal", "pid", "signal, although the pid lives"])
def test_without_a_pipe(world, how):
    """Started by hand, the follower ends with the recording, by a signal, or with the recorder's pid."""
    world.serve()
    recorder = world.record()
    sleeper = subprocess.Popen(["sleep", "30"])
    command = [net_program(), "follow", recorder.path, "--spool", world.spool]
    pid = sleeper.pid if how == "pid" else os.getpid() if "lives" in how else None
    process = subprocess.Popen(command + (["--pid", str(pid)] if pid else []), env=world.env(),
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    world.processes.append(process)
    recorder.write(2)
    time.sleep(0.3)
    if how == "run_end":
        recorder.end()
    elif how.startswith("signal"):
        process.send_signal(signal.SIGTERM)
    sleeper.kill()
    sleeper.wait()
    assert end(process) == (0, "")
    assert world.sentinel.run.finish["run_status"] == ("finished" if how == "run_end" else "failed")
    compare_rows(sent_rows(world.sentinel.run), recorder.samples)


def test_a_second_signal_ends_the_waiting(world, helpers):
    """The first one is the end of the run, after which the server has the deadline."""
    world.serve()
    world.sentinel.trouble = lambda request: 503
    recorder = world.record()
    process = subprocess.Popen([net_program(), "follow", recorder.path, "--spool", world.spool, "--upload-deadline", "1000",
                                "--pid", str(os.getpid())], env=world.env(), stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    world.processes.append(process)
    recorder.write(2)
    assert "HTTP 503" in process.stderr.readline()  # it handles signals by now
    process.send_signal(signal.SIGTERM)
    tried = len(world.sentinel.requests)
    helpers.wait_until(lambda: len(world.sentinel.requests) > tried + 1)
    process.send_signal(signal.SIGTERM)
    code, err = end(process)
    assert code == 1 and "2 samples of this run are not on the server" in err


def test_the_jobs_pipes_are_not_held_open(world):
    world.serve()
    recorder = world.record()
    process = world.follow(recorder)
    recorder.write()
    os.set_blocking(process.stdout.fileno(), False)
    deadline = time.monotonic() + 20
    while process.stdout.buffer.raw.read(1) is None:  # None: open; b"": closed
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert process.poll() is None
    recorder.end()
    process.wait(10)


def test_an_unread_stderr(world):
    world.serve()
    world.sentinel.trouble = lambda request: 401
    recorder = world.record()
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    with pytest.raises(BlockingIOError):
        while True:
            os.write(writer, b"x" * 4096)
    os.set_blocking(writer, True)
    process = subprocess.Popen(
        [net_program(), "follow", recorder.path, "--end-fd", str(recorder.end_fd), "--spool", world.spool],
        env=world.env(), pass_fds=[recorder.end_fd], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=writer)
    try:
        recorder.write()
        recorder.end()
        assert process.wait(20) == 1
    finally:
        process.kill()
        process.wait()
        os.close(reader)
        os.close(writer)


def test_a_follower_has_one_sign_of_the_end(tmp_path):
    """With both it would take every SIGTERM for the job's as long as the process runs."""
    told = subprocess.run([net_program(), "follow", tmp_path / "run.jsonl", "--end-fd", "2", "--pid", "1"], capture_output=True, text=True)
    assert told.returncode == 2 and "--end-fd and --pid exclude each other" in told.stderr


def private_kib(pid):
    rollup = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text()
    return sum(int(kib) for kib in re.findall(r"Private_(?:Clean|Dirty): +(\d+)", rollup))


@pytest.mark.cost
def test_cost_of_a_request(world, swift, certificates):
    """At 1 Hz with TLS: at most 6 MiB of private memory and 0.1 % of a core, without the start."""
    world.serve(store=world.store(), tls=(certificates / "server.pem", certificates / "server.key"))
    recorder = world.record()
    process = world.follow(recorder, env={"TRACKER_UPLOAD_INTERVAL": "3",
                                          "CURL_CA_BUNDLE": str(certificates / "ca.pem")})
    recorder.write(60)
    time.sleep(4)

    def cpu_secs():
        fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def nanoseconds():
        return int(pathlib.Path(f"/proc/{process.pid}/schedstat").read_text().split()[0])

    before, started, most = nanoseconds(), time.monotonic(), 0
    for _ in range(10):
        recorder.write()
        time.sleep(1)
        most = max(most, private_kib(process.pid))
    share = (nanoseconds() - before) / 1e9 / (time.monotonic() - started)
    recorder.end()
    assert end(process)[0] == 0
    print(f"private {most} KiB, {share:.5%} of a core with a batch every 3 s")
    assert most <= 6 << 10
    # A batch every 3 s is 20 times as many as every 60 s.
    assert share <= 0.001 * 3
