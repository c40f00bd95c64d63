"""resource-tracker-net follow: the life of a run, against the servers of tests/fakes."""
import collections
import os
import pathlib
import re
import subprocess
import sys
import threading
import time

import pytest

from conftest import wait_until

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "fakes"))
from sentinel import Sentinel  # noqa: E402
from sentinel_support import (TOKEN, Script, compare_rows, downloaded_rows, end, end_after, end_once_stored,  # noqa: E402
                              needs_net, net_program, rows_of, sent_rows, states, swift, template, world)  # noqa: F401

pytestmark = needs_net


# ---- the life of a run ----------------------------------------------------------------------------------------

def test_a_short_run_is_sent_with_its_finish(world):
    world.serve()
    recorder = world.record(external_run_id="ext-7")
    process = world.follow(recorder)
    recorder.write(5)
    recorder.end(exit_code=0)
    assert end(process) == (0, "")
    run = world.sentinel.run
    assert [path.split("/")[-1] for path in world.sentinel.paths()] == ["runs", "finish"]
    assert run.finish["data_source"] == "inline" and run.finish["exit_code"] == 0
    assert run.finish["run_status"] == "finished"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", run.finish["finished_at"])
    assert run.finish["data_csv"].endswith("\n")
    compare_rows(sent_rows(run), recorder.samples)
    # For a user's own recording a mark stays, so that it is not sent again.
    assert [state["finished"] for state in states(world.spool)] == [True]
    assert [path.suffix for path in world.spool.iterdir()] == [".state"]


def test_registration_sends_the_metadata_of_the_run(world, helpers):
    world.serve()
    recorder = world.record(command='["a","b c"]', container_image="img:1", project_name="")
    process = world.follow(recorder)
    recorder.write()
    recorder.end()
    assert end(process)[0] == 0
    start = world.sentinel.run.start
    assert start["job_name"] == "a job" and start["team"] == "blue" and start["container_image"] == "img:1"
    assert start["tags"] == [{"key": "k", "value": "v"}, {"key": "empty", "value": ""}]
    assert start["command"] == '["a","b c"]' and "project_name" not in start and "env" not in start
    host = {name: value for name, value in start.items() if name.startswith("host_")}
    assert len(host) == 11 and host["host_server_allocation"] is None
    assert host["host_vcpus"] == os.cpu_count() and host["host_hostname"] == os.uname().nodename
    memory_kib = int(re.search(r"MemTotal: +(\d+)", pathlib.Path("/proc/meminfo").read_text())[1])
    assert host["host_memory_mib"] == memory_kib // 1024
    assert sum(name.startswith("cloud_") for name in start) == 5
    request = world.sentinel.requests[0]["headers"]
    assert request["Authorization"] == f"Bearer {TOKEN}" and request["Content-Type"] == "application/json"
    assert "Content-Encoding" not in request and request["User-Agent"].startswith("resource-tracker/")


def test_command_is_told_only_when_recorded(world):
    world.serve()
    recorder = world.record(command=None)
    process = world.follow(recorder)
    recorder.end()
    assert end(process)[0] == 0
    assert "command" not in world.sentinel.run.start


def test_host_facts_can_be_kept_back(world):
    world.serve()
    recorder = world.record()
    process = world.follow(recorder, env={"TRACKER_HOST_IP": "0", "TRACKER_HOST_HOSTNAME": "off",
                                          "TRACKER_HOST_ID": "false", "TRACKER_HOST_VCPUS": "1"})
    recorder.end()
    assert end(process)[0] == 0
    start = world.sentinel.run.start
    assert start["host_ip"] is None and start["host_hostname"] is None and start["host_id"] is None
    assert start["host_vcpus"] == os.cpu_count()


@pytest.mark.parametrize("run_end,exit_code,status", [
    ({"exit_code": 0}, 0, "finished"),
    ({"exit_code": 3}, 3, "failed"),
    ({"exit_code": None, "signal": 9, "reason": "signal"}, 137, "failed"),
    ({"exit_code": None, "signal": 9, "reason": "oom_kill_confirmed"}, 137, "failed"),
    ({"exit_code": 127, "reason": "exec_failed"}, 127, "failed"),
    ({"exit_code": None, "reason": "target_exited"}, None, "finished"),
    ({"exit_code": None, "reason": "tracker_stopped"}, None, "finished"),
])
def test_how_a_run_ended(world, run_end, exit_code, status):
    world.serve()
    recorder = world.record()
    process = world.follow(recorder)
    recorder.write(2)
    recorder.end(**run_end)
    assert end(process)[0] == 0
    assert (world.sentinel.run.finish["exit_code"], world.sentinel.run.finish["run_status"]) == (exit_code, status)


def test_a_recorder_that_dies_ends_the_run(world):
    world.serve()
    recorder = world.record()
    process = world.follow(recorder)
    recorder.write(4)
    recorder.file.write(b'{"timestamp_secs":17')  # torn by the kill
    recorder.die()
    assert end(process)[0] == 0
    finish = world.sentinel.run.finish
    assert finish["exit_code"] is None and finish["run_status"] == "failed"
    assert finish["finished_at"] == time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(recorder.samples[-1]["timestamp"])))
    compare_rows(sent_rows(world.sentinel.run), recorder.samples)


def test_only_the_bytes_of_this_run_are_sent(world):
    world.serve()
    before = world.record()
    before.write(3)
    before.close()
    begin = before.path.stat().st_size
    recorder = world.record()
    process = world.follow(recorder, "--from", begin)
    recorder.write(2)
    recorder.end()
    assert end(process)[0] == 0
    compare_rows(sent_rows(world.sentinel.run), recorder.samples)


def test_nothing_is_asked_before_the_first_sample(world):
    metadata = world.open(Sentinel())  # counts requests from any process
    world.serve()
    recorder = world.record()
    process = world.follow(recorder, "--disposable", env={"TRACKER_METADATA_URL": metadata.url})
    time.sleep(0.4)
    assert not world.sentinel.requests and not metadata.requests
    recorder.die()
    assert end(process) == (1, "")
    assert not world.sentinel.requests and not metadata.requests
    assert not recorder.path.exists() and not list(world.spool.iterdir())


def test_batches_become_objects(world, swift, helpers):
    world.serve(store=world.store())
    recorder = world.record()
    process = world.follow(recorder, "--disposable", env={"TRACKER_UPLOAD_INTERVAL": "0.25"})
    for count in range(1, 4):
        for _ in range(2):
            recorder.write(3)
            time.sleep(0.2)
        helpers.wait_until(lambda: sum(request["method"] == "PUT" for request in world.front.requests) >= count)
    recorder.end(exit_code=1)
    assert end(process) == (0, "")
    run_id, run = next(iter(world.sentinel.runs.items()))
    uris = run.finish["data_uris"]
    assert run.finish["data_source"] == "s3" and run.finish["exit_code"] == 1
    assert uris == [f"s3://bucket/{world.path.name}/{run_id}/{number:06d}.csv.gz" for number in range(len(uris))]
    assert 3 <= len(uris) <= 10
    compare_rows(downloaded_rows(swift, uris), recorder.samples)
    put = next(request for request in world.front.requests if request["method"] == "PUT")
    assert put["headers"]["Content-Type"] == "application/gzip" and "Content-Encoding" not in put["headers"]
    assert "x-amz-security-token" in put["headers"]["Authorization"]
    assert "Expect" not in put["headers"] and len(set(put["header_names"])) == len(put["header_names"])
    # The recording was made for streaming only.
    assert not recorder.path.exists() and not list(world.spool.iterdir())


def test_a_recording_that_grows_fast_is_cut_early(world, swift):
    """8 MiB are cut within seconds, although the interval is an hour; less waits for it."""
    def stored():
        return [request for request in world.front.requests if request["method"] == "PUT"]

    world.serve(store=world.store())
    recorder = world.record()
    process = world.follow(recorder, env={"TRACKER_UPLOAD_INTERVAL": "3600"})
    recorder.write(3)
    for _ in range(7):
        recorder.file.write(b"x" * (1 << 20) + b"\n")
    time.sleep(6)  # it looks every 5 s
    assert world.sentinel.runs and not stored()
    recorder.file.write(b"x" * (1 << 20) + b"\n")
    recorder.write()
    wait_until(stored, 20)
    recorder.end()
    assert end(process)[0] == 0
    compare_rows(downloaded_rows(swift, world.sentinel.run.finish["data_uris"]), recorder.samples)


@pytest.mark.parametrize("prefix", ["s3://bucket/a+b%20(c)/~!'*/", "s3://bucket", "s3://bucket/x//y/./z/",
                                    "s3://bucket/two words/ä€😀/=&?#;"])
def test_prefixes(world, swift, prefix):
    world.serve(store=world.store(prefix=prefix))
    recorder = world.record()
    process = world.follow(recorder, env={"TRACKER_UPLOAD_INTERVAL": "0.25"})
    recorder.write(3)
    assert end_once_stored(world, process, recorder) == (0, "")
    uris = world.sentinel.run.finish["data_uris"]
    assert uris[0].startswith(prefix.rstrip("/") + "/")
    compare_rows(downloaded_rows(swift, uris), recorder.samples)


# ---- keys -----------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("store", [
    {"expiry_names": ("expires_at",)}, {"expiry_names": ("expiration",)},
    {"expiry_names": ("expires_at", "expiration")}, {"expiry_names": ("expires_at",), "offset_hours": -7},
    {"expires_secs": None}, {"expires_secs": -100}])
def test_expiry(world, swift, store):
    """Keys with a long life are not replaced. Keys that have expired by their date are replaced before use."""
    world.serve(store=world.store(**store))
    recorder = world.record()
    process = world.follow(recorder, env={"TRACKER_UPLOAD_INTERVAL": "0.25"})
    recorder.write(3)
    assert end_after(process, recorder) == (0, "")
    compare_rows(sent_rows(world.sentinel.run, swift), recorder.samples)
    # The follower does not ask in a loop, whatever expiry the server reports.
    assert world.sentinel.run.refreshes == 0


@pytest.mark.slow
def test_keys_are_replaced_before_they_expire(world, swift):
    world.serve(store=world.store(expires_secs=20))
    recorder = world.record()
    process = world.follow(recorder, env={"TRACKER_UPLOAD_INTERVAL": "1"})
    for _ in range(23):
        recorder.write()
        time.sleep(0.5)
    recorder.end()
    assert end(process) == (0, "")
    assert world.sentinel.run.refreshes == 1  # once, at half of their life, not at every batch
    compare_rows(sent_rows(world.sentinel.run, swift), recorder.samples)


def test_keys_that_the_store_does_not_take_are_replaced(world, swift):
    world.serve(store=world.store())
    recorder = world.record()
    process = world.follow(recorder, env={"TRACKER_UPLOAD_INTERVAL": "0.25"})

    def stored_rows():
        return downloaded_rows(swift, [f"s3://bucket/{key}" for key in swift.list(world.path.name)])

    def write_and_wait():
        recorder.write(2)
        wait_until(lambda: len(stored_rows()) == recorder.number, 20)

    write_and_wait()
    swift.give("test:0")  # the follower's token is invalid from now on
    write_and_wait()
    swift.give("test:0", time.time() - 5)  # and this one has expired
    write_and_wait()
    recorder.end()
    assert end(process) == (0, "")
    assert world.sentinel.run.refreshes == 2
    compare_rows(sent_rows(world.sentinel.run, swift), recorder.samples)


def test_keys_that_never_do(world, swift):
    """A store that refuses for ever causes no loop and one line, and loses nothing."""
    world.serve(store=world.store(keys=lambda: ("test:1", "a wrong secret".replace(" ", "-"), "tok-en-tok-en")))
    recorder = world.record()
    process = world.follow(recorder, deadline=2, env={"TRACKER_UPLOAD_INTERVAL": "0.25"})
    recorder.write(3)
    code, err = end_after(process, recorder, 2.0)
    # The end is inline: no object was stored.
    assert code == 0 and err.count("\n") == 1 and "InvalidToken" in err
    assert world.sentinel.run.refreshes <= 6
    compare_rows(sent_rows(world.sentinel.run), recorder.samples)


def test_region_is_asked_of_the_bucket(world, swift):
    world.serve(store=world.store(region=None))
    recorder = world.record()
    process = world.follow(recorder, env={"TRACKER_UPLOAD_INTERVAL": "0.25"})
    recorder.write(3)
    assert end_after(process, recorder) == (0, "")
    assert [request["method"] for request in world.front.requests][:2] == ["HEAD", "PUT"]
    compare_rows(sent_rows(world.sentinel.run, swift), recorder.samples)


def test_a_bucket_that_does_not_tell_is_asked_once(world, swift):
    """MinIO and others answer without a region. A question that failed is repeated."""
    world.serve(store=world.store(region=None))
    heads = []

    def silent(request):
        if request["method"] != "HEAD":
            return None
        heads.append(request["path"])
        return "reset" if len(heads) == 1 else (403, b"")

    world.front.trouble = silent
    recorder = world.record()
    process = world.follow(recorder, env={"TRACKER_UPLOAD_INTERVAL": "0.25"})
    for _ in range(4):
        recorder.write(2)
        time.sleep(0.4)
    assert end_after(process, recorder) == (0, "")
    assert heads == ["/bucket"] * 2 and len(world.sentinel.run.finish["data_uris"]) >= 3
    compare_rows(sent_rows(world.sentinel.run, swift), recorder.samples)


def test_a_wrong_region_is_corrected_at_once(world, swift):
    world.serve(store=world.store(region="us-east-1"))
    recorder = world.record()
    process = world.follow(recorder, env={"TRACKER_UPLOAD_INTERVAL": "0.25"})
    recorder.write(3)
    assert end_after(process, recorder) == (0, "")
    assert world.sentinel.run.refreshes == 0
    compare_rows(sent_rows(world.sentinel.run, swift), recorder.samples)


def test_a_clock_that_is_wrong_is_corrected(world, swift, helpers):
    """The follower signs requests with the time that the store reports."""
    world.serve(store=world.store())
    ahead, seen = 3600, []

    def skewed(request):
        date = request["headers"].get("x-amz-date") or request["headers"].get("X-Amz-Date")
        at = time.mktime(time.strptime(date, "%Y%m%dT%H%M%SZ")) - time.timezone
        seen.append(at - time.time())
        if abs(at - time.time() - ahead) > 900:
            body = b"<Error><Code>RequestTimeTooSkewed</Code><Message>too far</Message></Error>"
            return 403, body, [("Date", time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() + ahead)))]
        return 200, b""

    world.front.trouble = skewed
    recorder = world.record()
    process = world.follow(recorder, env={"TRACKER_UPLOAD_INTERVAL": "0.25"})
    recorder.write(3)
    helpers.wait_until(lambda: len(seen) > 1)
    assert end_after(process, recorder) == (0, "")
    assert abs(seen[0]) < 5 and all(abs(ahead - offset) < 5 for offset in seen[1:]) and len(seen) > 1
    assert world.sentinel.run.refreshes == 0


# ---- trouble --------------------------------------------------------------------------------------------------

REFUSALS = {
    401: (401, {"detail": f"Invalid token Bearer {TOKEN} or {TOKEN}"}),
    403: (403, {"detail": "Not yours"}),
    404: 404,
    422: (422, {"detail": [{"loc": ["body", "tags"], "msg": "Input should be a list", "input": {"secret": TOKEN}}]}),
    302: (302, b"", [("Location", "http://127.0.0.1:9/elsewhere?token=abc")]),
    "page": (200, b"<html>Please log in</html>"),
    "incomplete": (200, {"run_id": "r", "upload_uri_prefix": "s3://b/p", "upload_credentials": {"access_key": "a"}}),
    "mistyped": (200, {"run_id": 17}),
    "huge": "huge",
}


@pytest.mark.parametrize("kind", REFUSALS)
def test_a_refused_start_is_one_line_and_nothing_is_lost(world, kind):
    world.serve()
    world.sentinel.trouble = Script(REFUSALS[kind])
    recorder = world.record()
    process = world.follow(recorder, deadline=3, env={"TRACKER_UPLOAD_INTERVAL": "0.25"})
    recorder.write(4)
    started = time.monotonic()
    code, err = end_after(process, recorder)
    assert code == 1 and time.monotonic() - started < 5
    assert len(world.sentinel.requests) == 1
    lines = err.splitlines()
    assert len(lines) == 3 and lines[0].startswith("resource-tracker: streaming: cannot register the run: ")
    assert TOKEN not in err
    expected = {401: "HTTP 401: Invalid token Bearer [redacted]", 422: "HTTP 422: body.tags: Input should be a list",
                302: "HTTP 302: redirected to http://127.0.0.1:9/elsewhere", "page": "is not JSON (26 bytes)",
                "incomplete": "no usable upload_credentials", "mistyped": "no run_id", "huge": "too large"}
    assert expected.get(kind, str(kind)) in lines[0] and "abc" not in lines[0]
    assert "5 samples" in lines[1] and f"resource-tracker upload {world.spool}" in lines[2]
    # The command in that line works.
    done = world.upload(recorder.path)
    assert (done.returncode, done.stderr) == (0, "")
    compare_rows(sent_rows(world.sentinel.run), recorder.samples)


@pytest.mark.parametrize("trouble", [500, 503, (503, b"", [("Retry-After", "1")]), 429, 408, "reset", "cut", "garbage",
                                     "hang 0.3", "slow 0.5", "lost"])
@pytest.mark.parametrize("call", ["runs", "finish"])
def test_passing_trouble_is_survived(world, trouble, call):
    world.serve()
    world.sentinel.trouble = Script(trouble, only="finish") if call == "finish" else Script(trouble)
    recorder = world.record()
    process = world.follow(recorder, deadline=8)
    recorder.write(3)
    recorder.end()
    code, err = end(process)
    assert code == 0 and err.count("\n") <= 1
    run = list(world.sentinel.runs.values())[-1]
    # A lost answer may cause one more run or one more finish, but never a row twice.
    assert len(world.sentinel.runs) <= 2 and all(finish == run.finishes[0] for finish in run.finishes)
    compare_rows(rows_of(run.finishes[0]["data_csv"]), recorder.samples)


def test_a_registration_that_is_made_again_can_be_known_again(world):
    """The answer is lost. A server that knows the key returns the same run again."""
    world.serve().idempotent = True
    world.sentinel.trouble = Script("lost", "lost")
    recorder = world.record()
    process = world.follow(recorder, deadline=8)
    recorder.write(3)
    recorder.end()
    assert end(process)[0] == 0
    keys = {request["headers"].get("Idempotency-Key") for request in world.sentinel.requests if request["path"] == "/runs"}
    assert len(keys) == 1 and re.fullmatch("[0-9a-f]{32}", keys.pop())
    assert world.sentinel.paths().count("POST /runs") == 3
    compare_rows(sent_rows(world.sentinel.run), recorder.samples)  # .run: there is only one


@pytest.mark.parametrize("trouble", [500, (503, b"<Error><Code>SlowDown</Code></Error>"), "reset", "cut", "garbage",
                                     "lost", "hang 0.3", (400, b"<Error><Code>RequestTimeout</Code></Error>")])
def test_trouble_of_the_store(world, swift, trouble):
    world.serve(store=world.store())
    world.front.trouble = Script(trouble)
    recorder = world.record()
    process = world.follow(recorder, deadline=8, env={"TRACKER_UPLOAD_INTERVAL": "0.25"})
    recorder.write(3)
    time.sleep(1.7)
    recorder.write(3)
    code, err = end_after(process, recorder)
    assert code == 0 and err.count("\n") <= 1
    compare_rows(sent_rows(world.sentinel.run, swift), recorder.samples)
    puts = collections.defaultdict(set)
    for request in world.front.requests:
        puts[request["path"]].add(request["body"])
    assert all(len(bodies) == 1 for bodies in puts.values()), "an object was sent again with other bytes"


@pytest.mark.parametrize("trouble", ["hang", "drip"])
@pytest.mark.parametrize("call", ["runs", "finish", "PUT"])
def test_the_deadline_holds(world, swift, trouble, call):
    world.serve(store=world.store())
    server = world.front if call == "PUT" else world.sentinel
    server.trouble = lambda request: trouble if call in request["path"] or call == request["method"] else None
    recorder = world.record()
    process = world.follow(recorder, deadline=1.5, env={"TRACKER_UPLOAD_INTERVAL": "0.25"})
    recorder.write(3)
    time.sleep(1.0)
    recorder.end()
    ended = time.monotonic()
    code, err = end(process)
    assert code == 1 and time.monotonic() - ended < 5
    server.trouble = None
    done = world.upload()
    assert (done.returncode, done.stderr) == (0, "")
    run = list(world.sentinel.runs.values())[-1]
    compare_rows(sent_rows(run, swift), recorder.samples)


def test_a_recorder_that_ends_during_a_request(world):
    """The rest of the run is sent at once, not some seconds later."""
    asked, ended = threading.Event(), threading.Event()

    def answer_after_the_end(request):
        asked.set()
        assert ended.wait(30)

    world.serve()
    world.sentinel.trouble = answer_after_the_end
    recorder = world.record()
    process = world.follow(recorder, deadline=30)
    recorder.write(2)
    assert asked.wait(30)
    recorder.end()
    begun = time.monotonic()
    ended.set()
    assert end(process) == (0, "") and time.monotonic() - begun < 4
    compare_rows(sent_rows(world.sentinel.run), recorder.samples)


@pytest.mark.parametrize("trouble", ["hang", 503])
def test_sigterm_ends_a_follower_that_is_left_alone(world, trouble):
    """SIGTERM is the job's while the recorder lives, and shortly after that. Later it is for the follower."""
    world.serve()
    world.sentinel.trouble = lambda request: trouble
    recorder = world.record()
    process = world.follow(recorder, deadline=3600)
    recorder.write(3)
    wait_until(lambda: world.sentinel.requests)
    process.terminate()
    recorder.end()
    process.terminate()
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(2)
    process.terminate()
    begun = time.monotonic()
    code, err = end(process)
    assert code == 1 and time.monotonic() - begun < 2, err
    assert "4 samples of this run are not on the server" in err
    world.sentinel.trouble = None
    assert world.upload().returncode == 0
    compare_rows(sent_rows(list(world.sentinel.runs.values())[-1]), recorder.samples)


def test_a_dead_server_does_not_hold_up_the_end(world):
    recorder = world.record()
    process = world.follow(recorder)
    recorder.write(3)
    time.sleep(0.5)
    recorder.end()
    ended = time.monotonic()
    code, err = end(process)
    assert code == 1 and time.monotonic() - ended < 6
    assert err.count("cannot register the run") == 2  # at the beginning, and with the reason at the end
    world.serve()
    assert world.upload().returncode == 0
    compare_rows(sent_rows(world.sentinel.run), recorder.samples)


def test_nothing_secret_is_said(world, swift):
    """The refusals of the servers repeat every secret that they know."""
    world.serve(store=world.store())
    known = []

    def parrot(request):
        headers = " ".join(f"{name}={value}" for name, value in request["headers"].items())
        known.append(headers)
        text = f"{TOKEN} test:0 secret/+key {headers}"
        return (403, f"<Error><Code>AccessDenied</Code><Message>{text}</Message></Error>".encode())

    world.front.trouble = parrot
    world.sentinel.trouble = lambda request: ((500, {"detail": f"{TOKEN} {request['headers']}"})
                                              if "finish" in request["path"] or "refresh" in request["path"] else None)
    recorder = world.record()
    process = world.follow(recorder, deadline=1, env={"TRACKER_UPLOAD_INTERVAL": "0.25"})
    recorder.write(3)
    wait_until(lambda: known, 20, "the store is asked")
    code, err = end_after(process, recorder, 1.2)
    assert code == 1
    everything = err + "".join(path.read_text() for path in world.spool.glob("*.state"))
    for secret in (TOKEN, "secret/+key", *(token for token, _ in swift.keys.values())):
        assert secret not in everything
    assert "Signature=" not in everything
    for path in [world.spool, *world.spool.iterdir()]:
        assert path.stat().st_mode & 0o077 == 0, path


def test_bad_lines_are_stepped_over(world):
    world.serve()
    recorder = world.record()
    process = world.follow(recorder)
    recorder.write(2)
    recorder.file.write(b"\x00\xff\n[]\nnull\n{\"cpu\":1}x\n\n")
    recorder.write(2)
    recorder.end()
    assert end(process)[0] == 0
    compare_rows(sent_rows(world.sentinel.run), recorder.samples)


def test_usage(world):
    def run(*arguments, **env):
        return subprocess.run([net_program(), *arguments], env=world.env(**env), capture_output=True, text=True,
                              timeout=20, stdin=subprocess.DEVNULL)

    for arguments in ([], ["follow"], ["follow", "a", "b"], ["follow", "x", "--from", "-1"], ["upload", "--form"],
                      ["follow", "x", "--upload-deadline", "soon"], ["nonsense"]):
        done = run(*arguments)
        assert done.returncode == 2 and re.search(r"usage|--help\)", done.stderr) and done.stdout == ""
    for value in (None, "", "  \n"):
        assert run("follow", "x", SENTINEL_API_TOKEN=value).returncode == 2
        assert "needs SENTINEL_API_TOKEN" in run("upload", SENTINEL_API_TOKEN=value).stderr
    for name in ("SENTINEL_API_URL", "AWS_ENDPOINT_URL_S3", "TRACKER_METADATA_URL"):
        done = run("upload", **{name: "ftp://x"})
        assert done.returncode == 2 and name in done.stderr
    done = run("upload", SENTINEL_API_TOKEN="two words secret")
    assert done.returncode == 2 and "secret" not in done.stderr
    assert run("upload", "missing.jsonl").returncode == 1
    assert run("follow", "missing.jsonl").returncode == 1
    assert run("follow", "/dev/null", "--spool", world.spool).returncode == 1
