"""Streaming to a receiver of OTLP: --stream otlp, and upload --stream otlp."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "fakes"))
import otlp  # noqa: E402
import recordings  # noqa: E402
from sentinel_support import Script, end, needs_net, states, template, world  # noqa: E402,F401

pytestmark = needs_net
JOB = ["sh", "-c", "i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done; head -c 3000000 /dev/zero > out; sleep 0.3; exit 3"]


@pytest.fixture
def receiver():
    receiver = otlp.Receiver()
    yield receiver
    receiver.close()


def variables(receiver, **further):
    given = {"OTEL_EXPORTER_OTLP_ENDPOINT": receiver.url, "TRACKER_OTLP_STEP": "5", "SENTINEL_API_TOKEN": None,
             "TRACKER_UPLOAD_INTERVAL": "0.25"}
    return {**given, **further}


def follow(world, receiver, recorder, *arguments, deadline=30, **env):
    return world.follow(recorder, "--stream", "otlp", *arguments, deadline=deadline, env=variables(receiver, **env))


def follow_some(world, receiver, helpers, samples, sent="taken"):
    """Returns a recorder that has written some samples, and its follower. `sent`: its requests to wait for."""
    recorder = world.record()
    process = follow(world, receiver, recorder)
    recorder.write(samples)
    helpers.wait_until(lambda: getattr(receiver, sent))
    return recorder, process


def upload(world, receiver, *operands, **env):
    return world.upload("--stream", "otlp", *operands, env=variables(receiver, **env))


def close_to(value, expected):
    return abs(value - expected) <= 1e-4 * max(1, abs(expected))


def check_run(run, samples, step=5.0):
    """Every series ends with its mark, the counters are the sums of the samples, and there is a point for each step."""
    for series in run.values():
        series.check()
    utime = otlp.find(run, "process.cpu.time", mode="user")
    assert close_to(utime.values[-1], sum(sample["cpu"]["process_utime_secs"] for sample in samples))
    for way in "read", "write":
        assert otlp.find(run, "process.disk.io", way=way).values[-1] == sum(
            sample["cpu"][f"process_disk_{way}_bytes"] for sample in samples)
    due, steps = step, 0
    for sample in samples:
        if sample["elapsed_secs"] >= due and not sample["run_end"]:
            due, steps = (sample["elapsed_secs"] // step + 1) * step, steps + 1
    ended = bool(samples[-1]["run_end"]) or samples[-1]["elapsed_secs"] % step != 0
    assert len(utime.values) == 1 + steps + ended, "a zero, the steps and the end"


def check_end(run, end):
    """The last totals are those of run_end."""
    for mode, name in ("user", "tree_utime_secs"), ("system", "tree_stime_secs"):
        assert close_to(otlp.find(run, "process.cpu.time", mode=mode).values[-1], end[name])
    assert close_to(otlp.find(run, "resource_tracker.run.memory.peak").values[-1], end["memory_peak_mib"] * 2**20)
    assert otlp.find(run, "resource_tracker.run.duration").values == [end["wall_secs"]]
    assert otlp.find(run, "resource_tracker.run.exit_code").values == [end["exit_code"]]
    assert otlp.find(run, "resource_tracker.run.ended", reason=end["reason"]).values == [1]


def test_a_real_job(world, receiver, run, helpers, tmp_path):
    result = run("--stream", "otlp", "--spool", world.spool, "-i", 0.1, "-o", "run.jsonl", "-n", "nightly", "--tag",
                 "model=a b", "--project-name", "p", "--input-bytes", "12345678901", "--", *JOB, env=world.env(**variables(receiver)))
    assert (result.returncode, result.err) == (3, "")
    samples = helpers.json_lines(tmp_path / "run.jsonl")
    check_run(receiver.run, samples)
    check_end(receiver.run, samples[-1]["run_end"])
    [resource] = receiver.resources.values()
    assert resource["service.instance.id"] == samples[0]["run_start"]["run_id"]
    assert (resource["service.name"], resource["service.namespace"], resource["model"]) == ("nightly", "p", "a b")
    assert resource["process.pid"] == samples[0]["tracked_pid"] and resource["host.name"] == samples[0]["host"]
    assert (resource["resource_tracker.run.input_bytes"], resource["resource_tracker.run.input_source"]) == (12345678901, "option")
    [record] = receiver.logs
    assert (record["event"], record["severity_text"], record["run"]) == (
        "job.run.end", "ERROR", resource["service.instance.id"])
    assert record["attributes"]["resource_tracker.run.exit_code"] == 3
    assert record["attributes"]["resource_tracker.run.tree_utime_secs"] == samples[-1]["run_end"]["tree_utime_secs"]
    # The figures of its line are there, too, except those that run_end has itself.
    line = json.loads(run("runs", "add", "run.jsonl").out)
    told = {name.removeprefix("resource_tracker.run."): value for name, value in record["attributes"].items()}
    same = ("cpu_secs", "cores_mean", "memory_mean_mib", "read_chars", "throttled_secs", "processes_max", "damaged_lines", "end", "memory_limit_source")
    assert {name: told.get(name) for name in same} == {name: line.get(name) for name in same} and told["cpu_secs"] > 0
    assert {"host", "outcome", "recording", "tags"}.isdisjoint(told)
    # A run that is shorter than a step sends its end only, as one request of each kind.
    assert [request["path"] for request in receiver.requests] == ["/v1/metrics", "/v1/logs"]
    assert all(request["headers"]["Content-Encoding"] == "gzip" for request in receiver.requests)


@pytest.mark.parametrize("analysis", [None, "#!/bin/sh\nexec sleep 60\n", "#!/bin/sh\nyes '{'\n", "#!/bin/sh\nprintf '{\"cores_mean\":1,'\n"])
def test_the_record_of_the_end_does_not_need_the_analysis(world, receiver, run, binary, tmp_path, analysis):
    """It is missing, hangs, writes without an end, or tells half a line."""
    program = shutil.copy(pathlib.Path(binary).parent / "resource-tracker-net", tmp_path)
    if analysis:
        (tmp_path / "resource-tracker-analysis").write_text(analysis)
        (tmp_path / "resource-tracker-analysis").chmod(0o755)
    run("--stream", "otlp", "--spool", world.spool, "-i", 0.1, "-q", "--", "true",
        env=world.env(**variables(receiver, TRACKER_NET=program)))
    [record] = receiver.logs
    assert record["event"] == "job.run.end" and record["attributes"]["resource_tracker.run.reason"] == "exit"
    assert "resource_tracker.run.cores_mean" not in record["attributes"]


def test_an_analysis_that_hangs_leaves_time_to_send(world, receiver, run, binary, tmp_path):
    program = shutil.copy(pathlib.Path(binary).parent / "resource-tracker-net", tmp_path)
    (tmp_path / "resource-tracker-analysis").write_text("#!/bin/sh\nexec sleep 60\n")
    (tmp_path / "resource-tracker-analysis").chmod(0o755)
    begun = time.monotonic()
    result = run("--stream", "otlp", "--spool", world.spool, "--upload-deadline", 1, "-i", 0.1, "-q", "--", "true",
                 env=world.env(**variables(receiver, TRACKER_NET=program)))
    assert (result.returncode, result.err) == (0, "") and time.monotonic() - begun >= 0.5
    assert [record["event"] for record in receiver.logs] == ["job.run.end"]


@pytest.mark.parametrize("change, words", [
    ({}, ", cc1 failed first (probably)"), ({"certainty": "sure"}, ", cc1 failed first"), ({"program": None}, ""),
    ({"parents": None}, "")])  # the job failed by itself
def test_the_record_of_the_end_names_the_process_that_failed_first(world, receiver, change, words):
    recorder = world.record()
    recorder.write(2)
    recorder.end()
    samples = [json.loads(line) for line in recorder.path.read_text().splitlines()]
    first = {**recordings.FIRST_FAILURE, **change}
    samples[-1]["run_end"].update(exit_code=2, first_failure=first)
    recordings.write(recorder.path, samples)
    assert upload(world, receiver, recorder.path).returncode == 0
    [record] = receiver.logs
    place = "resource_tracker.run.first_failure."
    told = {name.removeprefix(place): value for name, value in record["attributes"].items() if name.startswith(place)}
    assert told == {name: value for name, value in first.items() if value is not None}
    assert record["body"]["text"].endswith(f"exit status 2{words}")


@pytest.mark.parametrize("traceparent, trace, span", [
    ("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"),
    ("00-4bf92f3577b34da6a3ce929d0e0e473 -00f067aa0ba902b7-01", None, None), ("00-4bf9", None, None)])
def test_the_record_of_the_end_belongs_to_the_trace_that_started_the_run(world, receiver, run, traceparent, trace, span):
    run("--stream", "otlp", "--spool", world.spool, "-i", 0.1, "-q", "--", "true",
        env=world.env(**variables(receiver, TRACEPARENT=traceparent)))
    [record] = receiver.logs
    assert [record[name].hex() if name in record else None for name in ("trace", "span")] == [trace, span]


def test_without_an_output_nothing_stays_in_the_spool(world, receiver, run):
    result = run("--stream", "otlp", "--spool", world.spool, "-i", 0.1, "-q", "--", "true",
                 env=world.env(**variables(receiver)))
    assert (result.returncode, result.err) == (0, "")
    assert len(receiver.runs) == 1 and not list(world.spool.iterdir())


def test_the_variables_alone_send_nothing(world, receiver, run):
    result = run("--spool", world.spool, "-i", 0.1, "-q", "--", "true", env=world.env(
        **variables(receiver, OTEL_METRICS_EXPORTER="otlp", OTEL_EXPORTER_OTLP_METRICS_ENDPOINT=receiver.url)))
    assert (result.returncode, result.err) == (0, "")
    assert not receiver.requests and not world.spool.exists()


def test_a_token_sends_nothing_to_sentinel_beside(world, receiver, run):
    world.serve()
    run("--stream", "otlp", "--spool", world.spool, "-i", 0.1, "-q", "--", "true",
        env=world.env(**variables(receiver, SENTINEL_API_TOKEN="test-token-1234")))
    assert len(receiver.runs) == 1 and not world.sentinel.requests


def test_steps_of_a_run_that_is_followed(world, receiver, helpers):
    recorder, process = follow_some(world, receiver, helpers, 7)
    recorder.write(20)
    recorder.end()
    assert end(process) == (0, "")
    check_run(receiver.run, recorder.samples)
    # The series of the machine and of programs are for those who ask.
    assert not [name for name, _ in receiver.run if name.startswith("system.") or ".program." in name]
    assert {name for name, _ in receiver.run} >= {"process.cpu.time", "process.memory.usage", "resource_tracker.run.ended"}


def test_the_machine_and_every_sample(world, receiver):
    """Totals are told for each disk, interface and GPU, and these add up to them."""
    gpu, disk = world.template["gpu"][:1] or [{}], world.template["disk"][:1] or [{}]
    network = world.template["network"][:1] or [{}]
    rates = [(3e6, 1e6), (1e6, 0.0)]
    disks = [{**disk[0], "device": f"nvme{i}n1", "read_bytes_per_sec": read, "write_bytes_per_sec": write}
             for i, (read, write) in enumerate(rates)]
    gpus = [{**gpu[0], "uuid": f"GPU-{i}", "utilization_pct": busy, "vram_used_bytes": 1 << 30} for i, busy in enumerate((80.0, 40.0))]
    interfaces = [{**network[0], "interface": f"eth{i}", "driver": "e1000", "rx_bytes_per_sec": received, "tx_bytes_per_sec": 10.0}
                  for i, received in enumerate((2e6, 1e6))]
    totals = {"net_recv_bytes": 3000001, "net_sent_bytes": 20, "disk_read_bytes": 4000001, "disk_write_bytes": 1000000, "gpu_usage": 1.2, "gpu_vram_mib": 2048}
    world.template = {**world.template, "disk": disks, "gpu": gpus, "network": interfaces,
                      "totals": {**world.template["totals"], **totals}}
    recorder = world.record()
    recorder.write(9)
    recorder.end()
    assert end(follow(world, receiver, recorder, TRACKER_OTLP_MACHINE="1", TRACKER_OTLP_STEP="0")) == (0, "")
    used = otlp.find(receiver.run, "system.memory.usage", state="used")
    assert used.values == [sample["memory"]["used_mib"] * 2**20 for sample in recorder.samples]
    assert len(otlp.find(receiver.run, "process.cpu.time", mode="user").values) == 1 + len(recorder.samples)
    disks = [(dict(pairs), series) for (name, pairs), series in receiver.run.items() if name == "system.disk.io"]
    assert {labels["system.device"] for labels, _ in disks} == {"nvme0n1", "nvme1n1"}
    for way in "read", "write":
        total = sum(sample["totals"][f"disk_{way}_bytes"] for sample in recorder.samples)
        assert total and sum(series.values[-1] for labels, series in disks if labels["disk.io.direction"] == way) == total
    links = {(dict(pairs)["network.interface.name"], dict(pairs)["network.io.direction"]): series.values[-1]
             for (name, pairs), series in receiver.run.items() if name == "system.network.io"}
    assert set(links) == {(name, way) for name in ("eth0", "eth1") for way in ("receive", "transmit")}
    count = len(recorder.samples)
    assert (links["eth0", "receive"], links["eth1", "receive"]) == (2000001 * count, 1000000 * count)
    usage = [series.values for (name, _), series in receiver.run.items() if name == "hw.gpu.utilization"]
    assert len(usage) == 2
    for sample, *parts in zip(recorder.samples, *usage):
        assert sum(parts) == pytest.approx(sample["totals"]["gpu_usage"])
    utime = otlp.find(receiver.run, "system.cpu.time", mode="user")
    assert close_to(utime.values[-1], sum(sample["cpu"]["utime_secs"] for sample in recorder.samples))


def rows_of_programs(number):
    """cc1 in each sample; ld instead of ninja in each second one, when ninja counts for the others."""
    rows = [("cc1", 0.5, 20.0, 4096), ("ld" if number % 2 else "ninja", 0.25, 4.0, 0), ("others", 0.125, 2.0, 512)]
    return [{"name": name, "cpu_secs": secs, "memory_mib": mib, "disk_read_bytes": 0, "disk_write_bytes": size, "gpu_vram_mib": 0.0}
            for name, secs, mib, size in rows]


def test_the_programs_of_the_job(world, receiver):
    """Sums over all programs are those of the job at every point, and a program among the others has a mark meanwhile."""
    recorder = world.record()
    for number in range(8):
        recorder.template = {**recorder.template, "programs": rows_of_programs(number)}
        recorder.write(1)
    recorder.end()
    assert end(follow(world, receiver, recorder, TRACKER_OTLP_PROGRAMS="yes", TRACKER_OTLP_STEP="0")) == (0, "")
    for series in receiver.run.values():
        series.check()
    names = {dict(pairs)["program"] for name, pairs in receiver.run if name.startswith("resource_tracker.program.")}
    assert names == {"cc1", "ld", "ninja", "others"}
    counts = {program: sum(row["cpu_secs"] for sample in recorder.samples for row in sample["programs"] if row["name"] == program)
              for program in names}
    for program, secs in counts.items():
        assert otlp.find(receiver.run, "resource_tracker.program.cpu.time", program=program).values[-1] == secs
    memory = otlp.find(receiver.run, "resource_tracker.program.memory.usage", program="ninja")
    values = [value for _, value in sorted(memory.points.items())]
    assert values[:4] == [4.0 * 2**20, None, 4.0 * 2**20, None]
    written = otlp.find(receiver.run, "resource_tracker.program.disk.io", program="cc1", way="write")
    assert written.values[-1] == 4096 * len(recorder.samples)
    # A machine without GPUs has no series of GPU memory.
    assert not [name for name, _ in receiver.run if "program.gpu" in name and not world.template["gpu"]]


def test_every_request_sent_twice(world, receiver, helpers):
    """The answer of each first attempt is lost, so that the receiver gets all points again."""
    seen = set()

    def lose_first(request):
        again = request["body"] in seen
        seen.add(request["body"])
        return None if again else "lost"

    receiver.trouble = lose_first
    recorder = world.record()
    process = follow(world, receiver, recorder)
    recorder.write(30)
    recorder.end()
    assert end(process)[0] == 0
    check_run(receiver.run, recorder.samples)
    assert len(receiver.taken) == 2 * len(seen)
    assert len(receiver.logs) == 2


@pytest.mark.timeout(120)
def test_a_receiver_that_stops_and_starts_again(world, receiver, helpers):
    recorder, process = follow_some(world, receiver, helpers, 12)
    receiver.close()
    recorder.write(12)
    assert "cannot send to the receiver" in process.stderr.readline()
    second = otlp.Receiver(port=receiver.port)
    second.runs, second.resources, second.logs = receiver.runs, receiver.resources, receiver.logs
    recorder.write(12)
    # The pauses between attempts double for as long as there is no receiver.
    helpers.wait_until(lambda: second.taken, secs=60)
    recorder.end()
    assert end(process, secs=60) == (0, "")
    check_run(second.run, recorder.samples)
    second.close()


@pytest.mark.parametrize("status", [400, 413, 500])
def test_a_refusal_that_is_final_for_one_request(world, receiver, helpers, status):
    receiver.trouble = Script((status, b"out of order sample", [], "text/plain"))
    recorder, process = follow_some(world, receiver, helpers, 7, sent="requests")
    recorder.write(20)
    recorder.end()
    code, err = end(process)
    assert code == 0
    [message] = err.splitlines()
    refused = otlp.count_points(receiver.requests[0]["body"])
    assert refused and message == (f"resource-tracker: the receiver refused {refused} points of this run for good: "
                                   f"HTTP {status}: out of order sample")
    # The totals of the requests after it are complete.
    utime = otlp.find(receiver.run, "process.cpu.time", mode="user")
    assert close_to(utime.values[-1], sum(sample["cpu"]["process_utime_secs"] for sample in recorder.samples))


def test_points_that_were_all_refused_are_not_told_as_some(world, receiver):
    receiver.trouble = Script(*[(500, b"", [], "text/plain")] * 9)
    recorder = world.record()
    recorder.write(2)
    recorder.end()
    code, err = end(follow(world, receiver, recorder))
    assert code == 0 and re.fullmatch(r"resource-tracker: the receiver refused [0-9]+ points of this run for good: HTTP 500\n", err), err


def test_rejected_points_of_a_partial_success(world, receiver):
    answer = bytes([0x0a, 9, 0x08, 3, 0x12, 5]) + b"label"
    receiver.trouble = Script((200, answer, [], "application/x-protobuf"), only="metrics")
    recorder = world.record()
    recorder.write(2)
    recorder.end()
    assert end(follow(world, receiver, recorder)) == (
        0, "resource-tracker: the receiver refused 3 points of this run for good: label\n")


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_overload_is_waited_out(world, receiver, status):
    receiver.trouble = Script((status, b"", [("Retry-After", "1")]))
    recorder = world.record()
    recorder.write(7)
    recorder.end()
    code, err = end(follow(world, receiver, recorder))
    assert code == 0 and f"HTTP {status}" in err
    check_run(receiver.run, recorder.samples)
    assert receiver.requests[1]["at"] - receiver.requests[0]["at"] >= 0.99


def test_the_end_is_sent_after_many_failures(world, receiver):
    """A receiver that restarts when a job ends has the whole deadline to come back."""
    receiver.trouble = Script(*[(503, b"", [])] * 6)
    recorder = world.record()
    recorder.write(7)
    recorder.end()
    code, err = end(follow(world, receiver, recorder), secs=60)
    assert code == 0 and "HTTP 503" in err
    check_run(receiver.run, recorder.samples)
    assert len(receiver.requests) == 6 + 2  # the metrics and the log record


def test_a_pause_beyond_the_deadline_ends_the_waiting(world, receiver):
    """No second request, and a line with the command that sends the points later."""
    receiver.trouble = lambda request: (503, b"", [("Retry-After", "100")])
    recorder = world.record()
    recorder.write(7)
    recorder.end()
    code, err = end(follow(world, receiver, recorder))
    assert code == 1 and len(receiver.requests) == 1
    command = f"to send them: resource-tracker upload --stream otlp {world.spool}"
    assert "points of this run are not on the server: " in err and err.splitlines()[-1].endswith(command)
    receiver.trouble = None
    assert "1 run is sent" in upload(world, receiver).stdout


def test_no_permission_keeps_all_for_later(world, receiver):
    receiver.trouble = lambda request: (401, b"", [])
    recorder = world.record()
    recorder.write(7)
    recorder.end()
    code, err = end(follow(world, receiver, recorder))
    assert code == 1 and "resource-tracker upload --stream otlp " in err and "HTTP 401" in err
    assert not receiver.taken
    receiver.trouble = None
    result = upload(world, receiver)
    assert (result.returncode, result.stderr) == (0, "") and "1 run is sent" in result.stdout
    check_run(receiver.run, recorder.samples)


def test_upload_without_the_option_leaves_it_alone(world, receiver):
    recorder = world.record()
    recorder.write(2)
    recorder.end()
    dead = follow(world, receiver, recorder, deadline=0.3, OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:9")
    assert end(dead)[0] == 1
    world.serve()
    result = world.upload()
    assert (result.returncode, result.stdout) == (0, f"Nothing is left to send in {world.spool}.\n")
    assert not world.sentinel.requests and not receiver.requests
    assert "1 run is sent" in upload(world, receiver).stdout
    check_run(receiver.run, recorder.samples)


def test_an_old_recording(world, receiver):
    recorder = world.record()
    recorder.at -= 7200
    recorder.write(600)
    recorder.end()
    result = upload(world, receiver, recorder.path)
    assert (result.returncode, result.stderr) == (0, "")
    check_run(receiver.run, recorder.samples)
    assert "has been sent already" in upload(world, receiver, recorder.path).stderr
    # It can be sent to the other kind of receiver, too.
    world.serve()
    assert world.upload(recorder.path).returncode == 0 and len(world.sentinel.runs) == 1


def test_a_long_recording_takes_several_requests(world, receiver):
    recorder = world.record()
    recorder.write(500)
    recorder.end()
    assert upload(world, receiver, recorder.path, TRACKER_OTLP_STEP="0").returncode == 0
    assert [request["path"] for request in receiver.requests].count("/v1/metrics") == 3
    utime = otlp.find(receiver.run, "process.cpu.time", mode="user")
    assert len(utime.values) == 1 + len(recorder.samples)


def test_a_follower_that_was_killed(world, receiver, helpers):
    """Another process goes on with the totals, and with the attributes of the first one's environment."""
    recorder = world.record()
    process = follow(world, receiver, recorder, OTEL_RESOURCE_ATTRIBUTES="team=x%2Cy")
    recorder.write(12)
    helpers.wait_until(lambda: receiver.taken)
    process.kill()
    process.wait()
    recorder.write(12)
    recorder.end()
    assert upload(world, receiver, recorder.path).returncode == 0
    check_run(receiver.run, recorder.samples)
    assert [resource["team"] for resource in receiver.resources.values()] == ["x,y"]


def test_a_recorder_that_was_killed(world, receiver):
    recorder = world.record()
    recorder.write(13)
    recorder.die()
    assert end(follow(world, receiver, recorder)) == (0, "")
    check_run(receiver.run, recorder.samples)
    [record] = receiver.logs
    assert record["severity_text"] == "WARN" and "without an end" in record["body"]["text"]


def test_a_recording_that_was_removed(world, receiver, helpers):
    recorder, process = follow_some(world, receiver, helpers, 12)
    process.kill()
    process.wait()
    recorder.path.unlink()
    result = upload(world, receiver)
    assert result.returncode == 0 and "no longer exists" in result.stderr
    for series in receiver.run.values():
        series.check()


def test_two_runs_in_one_recording(world, receiver, run):
    for _ in range(2):
        assert run("-i", 0.1, "--append", "-o", "run.jsonl", "--", "true").returncode == 0
    assert upload(world, receiver, world.path / "run.jsonl").returncode == 0
    assert len(receiver.runs) == 2 and len(receiver.logs) == 2
    for series in [series for run in receiver.runs.values() for series in run.values()]:
        series.check()


@pytest.mark.slow
def test_twenty_jobs_at_once(world, receiver, spawn, helpers, tmp_path):
    jobs = [spawn("--stream", "otlp", "--spool", world.spool, "-i", 0.25, "-q", "-o", f"{number}.jsonl",
                  "--upload-deadline", 40, "--", *JOB, env=world.env(**variables(receiver)), stderr=subprocess.PIPE)
            for number in range(20)]
    assert [(job.communicate(timeout=50)[1], job.returncode) for job in jobs] == [(b"", 3)] * 20
    assert len(receiver.runs) == 20
    for number in range(20):
        samples = helpers.json_lines(tmp_path / f"{number}.jsonl")
        check_end(receiver.runs[samples[0]["run_start"]["run_id"]], samples[-1]["run_end"])


def test_addresses_headers_and_compression(world, receiver):
    recorder = world.record()
    recorder.write(2)
    recorder.end()
    code, err = end(follow(
        world, receiver, recorder, OTEL_EXPORTER_OTLP_ENDPOINT=receiver.url + "/base/",
        OTEL_EXPORTER_OTLP_METRICS_ENDPOINT=receiver.url + "/own/v1/metrics", OTEL_EXPORTER_OTLP_COMPRESSION="none",
        OTEL_EXPORTER_OTLP_HEADERS="authorization=Bearer%20secret,x-scope=a", OTEL_EXPORTER_OTLP_LOGS_HEADERS="x-scope=b"))
    assert (code, err) == (0, "")
    metrics, logs = receiver.requests
    assert (metrics["path"], logs["path"]) == ("/own/v1/metrics", "/base/v1/logs")
    assert metrics["headers"]["authorization"] == "Bearer secret" and metrics["headers"]["x-scope"] == "a"
    assert "authorization" not in logs["headers"] and logs["headers"]["x-scope"] == "b"
    assert "Content-Encoding" not in metrics["headers"]


def test_a_receiver_of_metrics_alone(world, receiver):
    receiver.trouble = lambda request: (404, b"", []) if "logs" in request["path"] else None
    recorder = world.record()
    recorder.write(2)
    recorder.end()
    assert end(follow(world, receiver, recorder)) == (0, "")
    assert len(receiver.requests) == 2


def test_signals_that_are_switched_off(world, receiver):
    recorder = world.record()
    recorder.write(2)
    recorder.end()
    assert end(follow(world, receiver, recorder, OTEL_LOGS_EXPORTER="none")) == (0, "")
    assert [request["path"] for request in receiver.requests] == ["/v1/metrics"]


def test_attributes_of_the_environment(world, receiver):
    recorder = world.record()
    recorder.write(2)
    recorder.end()
    assert end(follow(world, receiver, recorder, OTEL_SERVICE_NAME="svc",
                      OTEL_RESOURCE_ATTRIBUTES="service.name=other,service.instance.id=pod-1,host.name=h,k8s.pod.name=p")) == (0, "")
    [(identity, resource)] = receiver.resources.items()
    assert (resource["service.name"], resource["host.name"], resource["k8s.pod.name"]) == ("svc", "h", "p")
    assert identity != "pod-1"


@pytest.mark.parametrize("variable, value", [
    ("OTEL_EXPORTER_OTLP_ENDPOINT", "localhost:4318"), ("OTEL_EXPORTER_OTLP_TIMEOUT", "soon"),
    ("OTEL_EXPORTER_OTLP_COMPRESSION", "zstd"), ("OTEL_EXPORTER_OTLP_HEADERS", "a=%0d%0ab"), ("OTEL_EXPORTER_OTLP_HEADERS", "a"),
    ("TRACKER_OTLP_STEP", "-1"), ("TRACKER_OTLP_MACHINE", "perhaps"),
    ("TRACKER_OTLP_PROGRAMS", "some")])
def test_settings_that_are_invalid(world, receiver, run, variable, value):
    result = run("--stream", "otlp", "--spool", world.spool, "-i", 0.1, "-q", "--", "sh", "-c", "exit 4",
                 env=world.env(**variables(receiver, **{variable: value})))
    assert result.returncode == 4 and f"{variable} is invalid: it must be" in result.err
    assert not receiver.requests


def test_a_server_certificate(world, tmp_path):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1",
                    "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", tmp_path / "key", "-out", tmp_path / "cert"],
                   check=True, capture_output=True)
    receiver = world.open(otlp.Receiver(tls=(tmp_path / "cert", tmp_path / "key")))
    recorder = world.record()
    recorder.write(2)
    recorder.end()
    code, err = end(follow(world, receiver, recorder, deadline=1))
    assert code == 1 and "certificate" in err and not receiver.taken
    result = upload(world, receiver, OTEL_EXPORTER_OTLP_CERTIFICATE=str(tmp_path / "cert"))
    assert (result.returncode, result.stderr) == (0, "")
    check_run(receiver.run, recorder.samples)


def test_the_job_does_not_notice_a_receiver_that_hangs(world, receiver, run):
    receiver.trouble = lambda request: "hang"
    result = run("--stream", "otlp", "--spool", world.spool, "-i", 0.1, "-q", "--upload-deadline", 1, "--", "sh", "-c",
                 "exit 7", env=world.env(**variables(receiver)))
    assert result.returncode == 7 and "upload --stream otlp" in result.err
    [state] = states(world.spool)
    assert not state["finished"] and state["sent"] == 0
