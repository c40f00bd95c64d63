"""Streaming through the recorder itself: SENTINEL_API_TOKEN=x resource-tracker -- COMMAND."""
import contextlib
import gzip
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
from sentinel_support import (TOKEN, compare_rows, compare_times, downloaded_rows, needs_net, net_program,  # noqa: E402,F401
                              sent_rows, states, swift, template, world)

pytestmark = needs_net


def stream(world, run, *arguments, env=None, **further):
    return run("--spool", world.spool, *arguments, env=world.env(**(env or {})), **further)


def test_a_wrapped_job_is_registered_and_finished(world, run, helpers):
    world.serve()
    result = stream(world, run, "-i", 0.1, "-n", "job", "--tag", "a=b", "--", "sh", "-c", "sleep 0.5; exit 3")
    assert result.returncode == 3 and result.out == ""
    sent = world.sentinel.run
    assert sent.start["job_name"] == "job" and sent.start["tags"] == [{"key": "a", "value": "b"}]
    assert "command" not in sent.start
    assert (sent.finish["exit_code"], sent.finish["run_status"]) == (3, "failed")
    # stderr has the same samples.
    compare_rows(sent_rows(sent), helpers.json_lines(result.stderr))
    assert not list(world.spool.iterdir())


@pytest.mark.parametrize("output", ["run.jsonl", "run.csv"])
def test_outputs_of_the_users_own(world, run, helpers, output, tmp_path):
    world.serve()
    result = stream(world, run, "-i", 0.1, "-o", tmp_path / output, "--", "sleep", "0.4")
    assert (result.returncode, result.err) == (0, "")
    rows = sent_rows(world.sentinel.run)
    if output == "run.jsonl":
        compare_rows(rows, helpers.json_lines(tmp_path / output))
    else:
        assert [list(row.values()) for row in rows] == [list(row.values()) for row in helpers.csv_rows(tmp_path / output)]
        assert not list(world.spool.iterdir())


def test_a_compressed_recording_is_streamed_from_the_spool(world, run, helpers, tmp_path):
    world.serve()
    packed, plain = tmp_path / "run.jsonl.gz", tmp_path / "run.jsonl"
    assert stream(world, run, "-i", 0.1, "-o", packed, "--", "sleep", "0.4").returncode == 0
    plain.write_bytes(gzip.decompress(packed.read_bytes()))
    compare_rows(sent_rows(world.sentinel.run), helpers.json_lines(plain))
    assert not list(world.spool.iterdir())


def test_csv_on_stderr(world, run):
    world.serve()
    result = stream(world, run, "-i", 0.1, "-f", "csv", "--", "sleep", "0.3")
    assert result.returncode == 0 and result.err == world.sentinel.run.finish["data_csv"]


def test_appended_runs_are_sent_once_each(world, run, tmp_path, helpers):
    world.serve()
    for _ in range(2):
        assert stream(world, run, "-i", 0.1, "--append", "-o", tmp_path / "run.jsonl", "--", "sleep", "0.2").returncode == 0
    samples = helpers.json_lines(tmp_path / "run.jsonl")
    first, second = [sent_rows(sent) for sent in world.sentinel.runs.values()]
    compare_rows(first + second, samples)


@pytest.mark.parametrize("signo", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_a_job_that_dies_of_a_signal(world, run, signo):
    world.serve()
    result = stream(world, run, "-i", 0.1, "-q", "--", "sh", "-c", f"sleep 0.2; kill -{int(signo)} $$")
    assert result.returncode == -signo
    assert (world.sentinel.run.finish["exit_code"], world.sentinel.run.finish["run_status"]) == (128 + signo, "failed")


def test_batches_of_a_real_run(world, swift, run, helpers):
    world.serve(store=world.store())
    result = stream(world, run, "-i", 0.05, "--", "sleep", "2", env={"TRACKER_UPLOAD_INTERVAL": "0.3"})
    assert result.returncode == 0 and len(world.sentinel.run.finish["data_uris"]) >= 4
    compare_rows(sent_rows(world.sentinel.run, swift), helpers.json_lines(result.stderr))


def test_a_killed_tracker_still_ends_the_run(world, spawn, helpers):
    world.serve()
    process = spawn("--spool", world.spool, "-q", "-i", 0.1, "--", "sleep", "1", env=world.env(),
                    stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    helpers.wait_until(lambda: world.sentinel.runs)
    process.kill()
    helpers.wait_until(lambda: world.sentinel.run.finishes)
    assert (world.sentinel.run.finish["exit_code"], world.sentinel.run.finish["run_status"]) == (None, "failed")


def test_state_of_sent_runs_is_removed(world, run, tmp_path):
    """The state of a sent run keeps its recording from being sent again. States must not accumulate."""
    world.serve()

    def record(name, age_days, keep):
        before = set(world.spool.glob("*"))
        assert stream(world, run, "-i", 0.1, "-o", tmp_path / name, "--", "sleep", "0.2").returncode == 0
        [state] = set(world.spool.glob("*")) - before
        os.utime(state, (time.time() - age_days * 86400,) * 2)
        if not keep:
            (tmp_path / name).unlink()
        return state

    old, moved, new = record("old", 31, False), record("kept", 31, True), record("new", 29, False)
    (world.spool / "damaged.state").write_text("{")
    os.utime(world.spool / "damaged.state", (0, 0))
    last = record("last", 0, True)
    assert set(world.spool.glob("*")) == {moved, new, last, world.spool / "damaged.state"} and not old.exists()


@pytest.mark.parametrize("trouble", [None, "hang", "reset", 500])
def test_the_job_does_not_notice(world, run, trouble):
    """With a server that is dead, hangs or resets: the job's status and duration, and an end within the deadline."""
    if trouble:
        world.serve()
        world.sentinel.trouble = lambda request: trouble
    result = stream(world, run, "-i", 0.1, "-q", "--upload-deadline", 1.5, "--", "sh", "-c",
                    "date +%s.%N >&3; sleep 0.5; date +%s.%N >&3; exit 7", pass_fds=(3,),
                    preexec_fn=lambda: os.dup2(os.open(world.path / "times", os.O_WRONLY | os.O_CREAT, 0o600), 3))
    assert result.returncode == 7
    began, ended = map(float, (world.path / "times").read_text().split())
    assert ended - began < 2 and result.wall_secs < 6
    assert "resource-tracker upload" in result.err
    state = states(world.spool)[0]
    # Beside other load, samples in the middle are missed.
    assert state["rows"] >= 2 and not state["finished"]


def test_attach_and_host(world, spawn, helpers):
    world.serve()
    process = spawn("--spool", world.spool, "-q", "-i", 0.1, env=world.env(), stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE)
    helpers.wait_until(lambda: world.sentinel.runs)
    process.send_signal(signal.SIGINT)
    assert process.wait(10) == 0
    assert (world.sentinel.run.finish["exit_code"], world.sentinel.run.finish["run_status"]) == (None, "finished")


@pytest.mark.skipif(not shutil.which("strace"), reason="strace is missing")
@pytest.mark.parametrize("token", [None, "", " \n"])
def test_without_a_token_nothing_is_sent(world, run, helpers, token, tmp_path, no_leak_check):
    env = {key: value for key, value in world.env(SENTINEL_API_TOKEN=token).items()}
    trace = tmp_path / "trace"
    result = run("-f", "-o", trace, "-e", "trace=%network,execve", os.environ.get(
        "RESOURCE_TRACKER", helpers.top / "build" / "resource-tracker"), "-q", "-i", "0.1", "--", "sleep", "0.2",
        program=shutil.which("strace"), env=env)
    assert result.returncode == 0
    calls = trace.read_text()
    # A netlink socket reaches only the kernel, and a TCP socket without an address reaches nothing.
    assert set(re.findall(r"socket\((\w+)", calls)) <= {"AF_NETLINK", "AF_INET"}
    assert "connect(" not in calls and "sa_family=AF_INET" not in calls and "resource-tracker-net" not in calls


@pytest.mark.skipif(os.geteuid() != 0, reason="network namespaces need root")
def test_in_an_empty_network_namespace(world, run, helpers):
    result = run("-n", os.environ.get("RESOURCE_TRACKER", helpers.top / "build" / "resource-tracker"), "-i", "0.1", "--",
                 "true", program=shutil.which("unshare"), env=world.env(SENTINEL_API_TOKEN=""))
    assert result.returncode == 0 and helpers.json_lines(result.stderr)


def test_subcommands_reach_the_program(world, run):
    answer = run("discover", "host", env=world.env())
    assert answer.returncode == 0 and json.loads(answer.out)["host"]["host_hostname"] == os.uname().nodename
    world.serve()
    assert run("upload", "--spool", world.spool, env=world.env()).returncode == 0


@pytest.mark.parametrize("value", ["soon", "-1", "nan", ""])
def test_a_deadline_that_is_none(world, run, value):
    result = run("--upload-deadline", value, "--", "touch", "started", env=world.env(SENTINEL_API_TOKEN=None))
    assert result.returncode == 125 and "upload-deadline" in result.err
    assert not (world.path / "started").exists()


def test_streaming_can_be_switched_off(world, run):
    world.serve()
    assert stream(world, run, "--stream", "off", "--", "true").returncode == 0
    assert not world.sentinel.requests and not world.spool.exists()
    assert stream(world, run, "--", "true", env={"TRACKER_STREAM": "off"}).returncode == 0
    assert not world.sentinel.requests
    result = stream(world, run, "--stream", "maybe", "--", "true")
    assert result.returncode == 125 and "auto" in result.err


def test_a_reader_that_goes_ends_host_mode(world, binary, helpers):
    """`resource-tracker | head -3`: the recorder does not continue for the sake of the spool."""
    world.serve()
    line = f"{binary} --spool {world.spool} -i 0.1 | head -3"
    result = subprocess.run(["sh", "-c", line], env=world.env(), capture_output=True, text=True, timeout=20)
    assert len(result.stdout.splitlines()) == 3 and result.stderr == ""
    helpers.wait_until(lambda: world.sentinel.runs and world.sentinel.run.finishes)
    assert len(sent_rows(world.sentinel.run)) >= 3


def test_warnings_are_said_by_the_command(world, run):
    """The follower's messages come once, with the command's name, and not at all with --no-warnings."""
    for options, lines in ((), 1), (("--no-warnings",), 0):
        result = stream(world, run, *options, "-q", "--upload-deadline", 3, "--", "true",
                        env={"SENTINEL_API_URL": "http://127.0.0.1:1"})
        assert result.err.count("resource-tracker: streaming: cannot register the run") == lines, result.err
        assert result.err.count("resource-tracker upload") == lines


def test_the_endpoint_to_try_things_with(world, swift, run, helpers):
    """Follows docs/STREAMING.md: tests/fakes/sentinel.py as a program, with a bucket."""
    world.store()
    access, secret, session = swift.give("test:3")
    fake = pathlib.Path(__file__).resolve().parents[1] / "fakes" / "sentinel.py"
    server = subprocess.Popen([sys.executable, fake, TOKEN, "0", f"s3://bucket/{world.path.name}", access, secret, session],
                              stdout=subprocess.PIPE, text=True)
    world.processes.append(server)
    server.stderr = server.stdout
    address = dict(word.split("=", 1) for word in server.stdout.readline().split())
    assert address.pop("SENTINEL_API_TOKEN") == TOKEN
    result = stream(world, run, "-i", 0.1, "--", "sleep", "1.5", env={**address, "TRACKER_UPLOAD_INTERVAL": "0.5"})
    assert result.returncode == 0
    shown = [server.stdout.readline() for _ in range(2)]
    assert shown[0].startswith("POST /runs {") and "/finish {" in shown[1]
    uris = json.loads(shown[1].split(" ", 2)[2])["data_uris"]
    assert len(uris) >= 2
    compare_rows(downloaded_rows(swift, uris), helpers.json_lines(result.stderr))


@pytest.mark.parametrize("how", ["term", "int to the group"])
def test_a_tracker_that_is_told_to_end(world, spawn, helpers, how):
    """After docker stop and Ctrl-C, the job dies of the signal, and the run is finished accordingly."""
    world.serve()
    process = spawn("--spool", world.spool, "-q", "-i", 0.1, "--", "sleep", "30", env=world.env(), stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE, start_new_session=True)
    helpers.wait_until(lambda: world.sentinel.runs)
    if how == "term":
        process.send_signal(signal.SIGTERM)
    else:
        os.killpg(process.pid, signal.SIGINT)
    signo = signal.SIGTERM if how == "term" else signal.SIGINT
    assert process.wait(10) == -signo
    assert (world.sentinel.run.finish["exit_code"], world.sentinel.run.finish["run_status"]) == (128 + signo, "failed")
    assert not list(world.spool.iterdir())


@pytest.mark.skipif(os.geteuid() != 0, reason="network namespaces need root")
def test_whom_it_would_ask(world, run):
    """Without its own address, in a namespace without a way out."""
    result = run("-n", os.environ.get("RESOURCE_TRACKER", net_program().with_name("resource-tracker")), "--spool", world.spool,
                 "-q", "--upload-deadline", 2, "--", "true", program=shutil.which("unshare"), env=world.env(SENTINEL_API_URL=""))
    assert result.returncode == 0 and "api.sentinel.sparecores.net" in result.err


@pytest.mark.alone
def test_samples_without_a_follower(world, run):
    """The program that streams ends at once: `upload` still finds its recording."""
    result = stream(world, run, "-q", "-i", 0.1, "-n", "lost", "--", "sleep", "0.3", env={"SENTINEL_API_URL": "nowhere"})
    assert result.returncode == 0 and result.err.count("SENTINEL_API_URL is invalid") == 1
    assert [path.suffix for path in world.spool.iterdir()] == [".spool"]
    (world.spool / "1-1.spool").touch()
    world.serve()
    done = world.upload()
    assert (done.returncode, done.stderr) == (0, "")
    assert world.sentinel.run.start["job_name"] == "lost" and len(sent_rows(world.sentinel.run)) >= 3
    assert not list(world.spool.iterdir())


@pytest.mark.skipif(not shutil.which("strace"), reason="strace is missing")
def test_the_recorder_knows_no_network(no_leak_check, world, binary, tmp_path):
    """While it streams, the recorder has a pair of local sockets to the program that sends, and netlink
    sockets, which reach only the kernel."""
    world.serve()
    trace = tmp_path / "trace"
    subprocess.run([shutil.which("strace"), "-o", trace, "-e", "trace=%network", binary, "--spool", world.spool, "-q", "-i",
                    "0.1", "--", "sleep", "0.3"], env=world.env(), check=True)
    calls = trace.read_text()
    assert "socketpair(AF_UNIX" in calls and set(re.findall(r"\bsocket\((\w+)", calls)) <= {"AF_NETLINK"}
    assert "connect(" not in calls and "sin_port" not in calls
    assert world.sentinel.run.finishes


def renamed_run(world, spawn, helpers, tmp_path, take_away, *options, env=None, times=1):
    """Starts a run, takes its recording away, and returns (its process, the content of the old files)."""
    path, old = tmp_path / "run.jsonl", []
    process = spawn("--spool", world.spool, "-i", 0.1, "-o", path, "--no-summary", *options, "--", "sleep", "30",
                    env=world.env(**(env or {})), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    for number in range(times):
        helpers.wait_until(lambda: path.exists() and path.read_bytes().count(b"\n") >= 3)
        with path.open() as lines:
            take_away(path, number)
            # The recorder looks once a second.
            helpers.wait_until(lambda: path.exists() and path.read_bytes().count(b"\n") >= 2)
            old += [json.loads(line) for line in lines]
    return process, old


def end_of_renamed(process, helpers, path, old):
    """Ends the job, and returns all of its samples."""
    os.kill(old[0]["tracked_pid"], signal.SIGTERM)
    _, said = process.communicate(timeout=30)
    assert process.returncode == -signal.SIGTERM and said.count(b"removed or renamed") >= 1
    samples = old + helpers.json_lines(path)
    assert [sample["sample"] for sample in samples] == list(range(len(samples)))
    return samples


@pytest.mark.parametrize("way, options, interval", [
    ("renamed", (), "60"), ("removed", ("--static-once",), "60"), ("logrotate", (), "60"), ("logrotate", ("--static-once",), "0.25")])
def test_a_recording_that_is_taken_away_is_followed(world, spawn, helpers, tmp_path, swift, way, options, interval):
    """The rest of the run was once not sent, or was sent as another run."""
    world.serve(store=world.store())

    def take_away(path, number):
        if way == "removed":
            path.unlink()
            return
        path.rename(path.with_suffix(f".{number}"))
        if way == "logrotate":
            path.touch(mode=0o600)

    process, old = renamed_run(world, spawn, helpers, tmp_path, take_away, *options, times=2,
                               env={"TRACKER_UPLOAD_INTERVAL": interval})
    samples = end_of_renamed(process, helpers, tmp_path / "run.jsonl", old)
    assert len(world.sentinel.runs) == 1
    rows = sent_rows(world.sentinel.run, swift)
    compare_times(rows, samples)
    if not options:
        compare_rows(rows, samples)
    # Neither file is sent again.
    done = run_upload(world, tmp_path / "run.jsonl")
    assert done.returncode == 0 and "sent already" in done.stderr and len(world.sentinel.runs) == 1


def taken_away_while_the_store_hangs(world, spawn, helpers, tmp_path, swift, take_away):
    """Takes a recording away three times while an upload waits for an answer. Returns (all samples, the rows sent, what was said)."""
    world.serve(store=world.store())

    def hang_first(path, number):
        if number == 0:
            helpers.wait_until(lambda: any(swift.list()))
            swift.process.send_signal(signal.SIGSTOP)
            time.sleep(0.8)  # more than an upload interval: the follower waits for an answer now
        take_away(path, number)

    process, old = renamed_run(world, spawn, helpers, tmp_path, hang_first, times=3, env={"TRACKER_UPLOAD_INTERVAL": "0.25"})
    swift.process.send_signal(signal.SIGCONT)
    os.kill(old[0]["tracked_pid"], signal.SIGTERM)
    _, said = process.communicate(timeout=30)
    return old + helpers.json_lines(tmp_path / "run.jsonl"), sent_rows(world.sentinel.run, swift), said.decode()


def test_files_that_were_taken_away_during_an_upload_are_sent(world, spawn, helpers, tmp_path, swift):
    """Two of the four files had lost their name before the follower looked."""
    samples, rows, said = taken_away_while_the_store_hangs(
        world, spawn, helpers, tmp_path, swift, lambda path, number: path.rename(path.with_suffix(f".{number}")))
    compare_rows(rows, samples)
    assert len(world.sentinel.runs) == 1 and "not sent" not in said


def test_files_that_were_removed_during_an_upload_are_named(world, spawn, helpers, tmp_path, swift):
    samples, rows, said = taken_away_while_the_store_hangs(world, spawn, helpers, tmp_path, swift, lambda path, _: path.unlink())
    sent = {row["timestamp"] for row in rows}
    unsent = [sample["sample"] for sample in samples if f"{sample['timestamp']:.3f}" not in sent]
    assert unsent == list(range(unsent[0], unsent[-1] + 1))
    assert f"samples {unsent[0]} to {unsent[-1]} of this run are not sent" in said


def run_upload(world, *operands):
    done = world.upload(*operands)
    assert done.returncode in (0, 1)
    return done


def test_upload_sends_the_rest_of_a_run_that_was_taken_away(world, spawn, helpers, tmp_path):
    """Without a server during the run, the spool has one part of the run, and the new file has the other."""
    path = tmp_path / "run.jsonl"
    process, old = renamed_run(world, spawn, helpers, tmp_path, lambda path, _: path.rename(tmp_path / "run.jsonl.1"),
                               "--upload-deadline", 0.3,
                               env={"SENTINEL_API_URL": "http://127.0.0.1:9", "TRACKER_UPLOAD_INTERVAL": "0.25"})
    helpers.wait_until(lambda: any(state["part"] for state in states(world.spool)))
    samples = end_of_renamed(process, helpers, path, old)
    world.serve()
    aside = run_upload(world, tmp_path / "run.jsonl.1")
    assert aside.returncode == 1 and "part of the run is in the spool" in aside.stderr and not world.sentinel.runs
    assert run_upload(world, path).returncode == 0
    assert len(world.sentinel.runs) == 1
    compare_rows(sent_rows(world.sentinel.run), samples)
    assert "Nothing is left" in run_upload(world).stdout


@pytest.fixture
def killed_at_once(tmp_path):
    """The environment in which each follower is killed before it has written its state."""
    program = tmp_path / "killed"
    program.write_text("#!/bin/sh\nkill -9 $$\n")
    program.chmod(0o755)
    return {"TRACKER_NET": str(program)}


def test_a_follower_that_is_killed_at_once_leaves_a_run_that_upload_finds(world, run, helpers, tmp_path, killed_at_once):
    path, aside = tmp_path / "run.jsonl", tmp_path / "run.jsonl.1"
    job = ("--", "sh", "-c", "sleep 0.4; exit 5")
    for _ in range(2):  # the second renames the recording of the first
        result = stream(world, run, "-i", 0.1, "-o", path, *job, env=killed_at_once)
        assert result.returncode == 5
        assert result.err == ("resource-tracker: the process that sends the samples has ended; to send them: "
                              f"resource-tracker upload {path}\n")
    assert not states(world.spool) and len(list(world.spool.glob("*.spool"))) == 2
    world.serve()
    done = run_upload(world)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", f"2 runs are sent; nothing is left in {world.spool}.\n")
    sent = sorted((sent_rows(one) for one in world.sentinel.runs.values()), key=lambda rows: rows[0]["timestamp"])
    compare_rows(sent[0], helpers.json_lines(aside))
    compare_rows(sent[1], helpers.json_lines(path))
    assert not list(world.spool.glob("*.spool"))
    assert "Nothing is left" in run_upload(world).stdout


@pytest.mark.parametrize("end", ["kill -9 $$", "exec sleep 60"], ids=["killed", "stuck"])
def test_a_follower_that_could_not_register_and_says_no_more_leaves_the_command(world, run, tmp_path, end):
    """Its own last lines would name the command."""
    program, trouble = tmp_path / "silent", "streaming: cannot register the run: no time is left"
    program.write_text(f"#!/bin/sh\necho 'resource-tracker: {trouble}' >&2\n{end}\n")
    program.chmod(0o755)
    result = stream(world, run, "-o", "run.jsonl", "--upload-deadline", 0.1, "--", "true", env={"TRACKER_NET": str(program)})
    assert result.err.splitlines() == [f"resource-tracker: {trouble}", "resource-tracker: the process that sends the samples has ended; "
                                       "to send them: resource-tracker upload run.jsonl"]


def test_upload_after_a_killed_follower_sends_no_earlier_run(world, run, helpers, tmp_path, killed_at_once):
    path = tmp_path / "run.jsonl"
    assert run("-q", "-i", 0.1, "-o", path, "--", "sleep", "0.2").returncode == 0
    before = len(helpers.json_lines(path))
    assert stream(world, run, "-q", "-i", 0.1, "--append", "-o", path, "--", "sleep", "0.2", env=killed_at_once).returncode == 0
    world.serve()
    assert run_upload(world).returncode == 0
    compare_rows(sent_rows(world.sentinel.run), helpers.json_lines(path)[before:])


def test_the_link_to_a_run_goes_once_the_run_is_sent(world, run, tmp_path, killed_at_once):
    path = tmp_path / "run.jsonl"
    stream(world, run, "-i", 0.1, "--upload-deadline", 0.1, "-o", path, "--", "sleep", "0.2")
    [link] = world.spool.glob("*.spool")
    assert len(states(world.spool)) == 1 and os.readlink(link) == str(path)
    world.serve()
    assert run_upload(world).stdout.startswith("1 run is sent")
    assert not link.is_symlink() and len(world.sentinel.runs) == 1
    stream(world, run, "-i", 0.1, "-o", path, "--", "sleep", "0.2", env=killed_at_once)
    assert run_upload(world, path).returncode == 0
    done = run_upload(world)
    assert "Nothing is left" in done.stdout and not done.stderr and not list(world.spool.glob("*.spool"))
    gone = tmp_path / "gone.jsonl"
    stream(world, run, "-i", 0.1, "-o", gone, "--", "sleep", "0.2", env=killed_at_once)
    gone.unlink()
    assert "an unsent run is no longer there" in run_upload(world).stderr


def test_a_spool_recording_of_a_killed_follower_is_found(world, run, killed_at_once):
    result = stream(world, run, "-q", "-i", 0.1, "--", "sleep", "0.3", env=killed_at_once)
    assert result.err.endswith(f"has ended; to send them: resource-tracker upload {world.spool}\n")
    world.serve()
    assert run_upload(world).stdout.startswith("1 run is sent") and not list(world.spool.glob("*.spool"))


def test_upload_looks_where_the_recorder_was_told_to_leave_it(world, run, tmp_path):
    assert run("-i", 0.1, "--upload-deadline", 0.1, "-o", tmp_path / "run.jsonl", "--", "sleep", "0.2",
               env=world.env(TRACKER_SPOOL=str(world.spool))).returncode == 0
    world.serve()
    done = subprocess.run([net_program(), "upload"], env=world.env(TRACKER_SPOOL=str(world.spool)), stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=50, check=False)
    assert done.stdout == f"1 run is sent; nothing is left in {world.spool}.\n"


@pytest.mark.skipif(os.getuid() != 0, reason="needs root to mount a disk")
def test_with_a_full_spool_disk_the_line_names_the_recording(world, run, helpers, tmp_path):
    disk, path = tmp_path / "disk", tmp_path / "run.jsonl"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "disk", disk], check=False).returncode:
        pytest.skip("no mount here")
    try:
        world.spool = disk / "spool"
        world.spool.mkdir(0o700)
        with contextlib.suppress(OSError):
            (disk / "filler").write_bytes(bytes(65536))
        result = stream(world, run, "-i", 0.1, "--upload-deadline", 0.3, "-o", path, "--", "sh", "-c", "sleep 0.5; exit 5")
        assert result.returncode == 5 and result.err.endswith(f"to send them: resource-tracker upload {path}\n"), result.err
        (disk / "filler").unlink()
        world.serve()
        command = result.err.split()[-2:]
        assert command == ["upload", str(path)] and run_upload(world, path).stdout == ""
        compare_rows(sent_rows(world.sentinel.run), helpers.json_lines(path))
    finally:
        subprocess.run(["umount", "-l", disk], check=True)


def test_the_next_run_of_the_same_name_is_not_followed(world, spawn, run, helpers, tmp_path):
    """Starts a run that still has data to send after the next run has taken its file's name."""
    world.serve()
    world.sentinel.trouble = lambda request: 500
    options = ("--spool", world.spool, "-i", 0.1, "--upload-deadline", 20, "-o", tmp_path / "run.jsonl", "--no-summary")
    first = spawn(*options, "--", "sleep", "0.5", env=world.env(TRACKER_UPLOAD_INTERVAL="0.25"))
    helpers.wait_until(lambda: (tmp_path / "run.jsonl").exists() and b'"run_end":{' in (tmp_path / "run.jsonl").read_bytes())
    # The recorder waits for its upload, and a living recorder keeps its file.
    first.kill()
    first.wait()
    second = spawn(*options, "--", "sleep", "1.5", env=world.env(TRACKER_UPLOAD_INTERVAL="0.25"))
    # The second run renames the file of the first one, and then makes its own.
    helpers.wait_until(lambda: all((tmp_path / name).exists() for name in ("run.jsonl.1", "run.jsonl")))
    helpers.wait_until(lambda: (tmp_path / "run.jsonl").read_bytes().count(b"\n") > 5)
    world.sentinel.trouble = None
    assert second.wait(30) == 0
    helpers.wait_until(lambda: sum(len(run.finishes) for run in world.sentinel.runs.values()) == 2, 20)
    sent = [sent_rows(run) for run in world.sentinel.runs.values()]
    assert len(sent) == 2 and sent[0][0]["process_pid"] != sent[1][0]["process_pid"]
    compare_rows(min(sent, key=len), helpers.json_lines(tmp_path / "run.jsonl.1"))
    compare_rows(max(sent, key=len), helpers.json_lines(tmp_path / "run.jsonl"))
