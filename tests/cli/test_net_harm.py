"""A streamed run on a bad machine: the job must not notice, and one line must name the fault."""
import errno
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "fakes"))
from conftest import json_lines, ticks_of  # noqa: E402
from namespaces import OWN_PROC, needs_private_mounts  # noqa: E402
from sentinel_support import needs_net, net_program, sent_rows, states, template, world  # noqa: E402,F401

pytestmark = needs_net
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="namespaces need root")
PROGRAM = str(net_program().with_name("resource-tracker"))
NOBODY = 54321  # a user without other processes


def test_as_process_1(world, run):
    """As in a container, the follower is our child and would die with us."""
    if os.geteuid() != 0:
        pytest.skip("namespaces need root")
    world.serve()
    result = run("-p", "-f", *OWN_PROC, PROGRAM, "--spool", world.spool, "-q",
                 "-i", 0.1, "--", "sh", "-c", "sleep 0.4; (sleep 0.2 &); exit 5", program=shutil.which("unshare"),
                 env=world.env())
    assert (result.returncode, result.err) == (5, "")
    assert world.sentinel.run.finish["exit_code"] == 5 and len(sent_rows(world.sentinel.run)) >= 2


@needs_root
def test_process_1_is_told_to_go_while_it_sends(world):
    """docker stop ends the waiting and, with process 1, the follower; the samples stay in the spool."""
    world.serve()
    world.sentinel.trouble = lambda request: "hang 20"
    process = subprocess.Popen(
        [shutil.which("unshare"), "-p", "-f", "--kill-child", *OWN_PROC, PROGRAM,
         "--spool", world.spool, "-q", "-i", "0.1", "--upload-deadline", "15", "--", "sleep", "0.3"],
        env=world.env(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    world.processes.append(process)
    deadline = time.monotonic() + 10
    while not [s for s in states(world.spool) if s["rows"]] and time.monotonic() < deadline:
        time.sleep(0.05)
    inner = int(pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()[0])
    os.kill(inner, signal.SIGTERM)
    assert process.wait(5) == 0
    world.sentinel.trouble = None
    assert world.upload().returncode == 0
    assert len(sent_rows(world.sentinel.run)) >= 2


@needs_root
@pytest.mark.parametrize("limit", range(1, 8))
def test_no_more_processes(world, program_for_everybody, limit, no_leak_check):
    """pids.max, or RLIMIT_NPROC: processes that cannot be started are left out, and then the recorder: the job runs in its place."""
    world.serve()
    programs = pathlib.Path(program_for_everybody).parent
    for name in ("resource-tracker-net", "resource-tracker-helper"):
        shutil.copy(net_program().with_name(name), programs)
    folder = programs / "theirs"
    folder.mkdir()
    os.chown(folder, NOBODY, NOBODY)
    result = subprocess.run(
        ["prlimit", f"--nproc={limit}", "setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups",
         program_for_everybody, "--spool", folder / "spool", "-o", folder / "run.jsonl", "-i", "0.1", "--", "sleep", "0.3"],
        env=world.env(HOME=str(folder)), capture_output=True, text=True, timeout=30, cwd=folder, stdin=subprocess.DEVNULL)
    if limit == 1:
        assert result.returncode == 0 and result.stderr.startswith("resource-tracker: this job is not recorded: ")
        return
    assert result.returncode == 0, result.stderr
    samples = json_lines(folder / "run.jsonl")
    assert ticks_of(samples) >= 3
    if world.sentinel.runs:
        assert "streaming is off" not in result.stderr and len(sent_rows(world.sentinel.run)) == len(samples)
    else:
        assert result.stderr.count("streaming is off: resource-tracker-net cannot be started: Resource temp") == 1
    assert world.sentinel.runs or limit < 6


@pytest.mark.parametrize("recorded", [False, True], ids=["spool", "file"])
def test_samples_wait_if_the_program_that_sends_cannot_start(world, tmp_path, recorded):
    """Too many processes: the spool was removed with the only copy of them, and the link that `upload` looks for as well."""
    world.serve()
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("resource-tracker", "resource-tracker-net"):
        shutil.copy(net_program().with_name(name), programs)
    helper = programs / "resource-tracker-helper"
    helper.write_text(f'#!/bin/sh\n[ "$1" != exec ] || exit {errno.EAGAIN}\nexec {net_program().with_name(helper.name)} "$@"\n')
    helper.chmod(0o755)
    output = ["-o", tmp_path / "run.jsonl"] if recorded else ["-q"]
    result = subprocess.run([programs / "resource-tracker", "--spool", world.spool, *output, "--no-summary", "-i", "0.1", "--", "sleep", "0.5"],
                            env=world.env(), capture_output=True, text=True, timeout=20, stdin=subprocess.DEVNULL)
    place = tmp_path / "run.jsonl" if recorded else world.spool
    assert (result.returncode, result.stderr) == (
        0, "resource-tracker: streaming is off: resource-tracker-net cannot be started: Resource temporarily unavailable; "
           f"to send the samples: resource-tracker upload {place}\n")
    assert world.upload().returncode == 0 and len(sent_rows(world.sentinel.run)) >= 4
    assert not list(world.spool.glob("*.spool"))


@pytest.mark.parametrize("home", [None, "/proc/nowhere", "relative"])
def test_without_a_home(world, home, tmp_path):
    """Services and containers have no home folder, or a read-only one: the spool is then in the folder for temporary
    files.
    """
    world.serve()
    env = world.env(HOME=home, XDG_STATE_HOME=None, TMPDIR=str(tmp_path / "passing"))
    (tmp_path / "passing").mkdir()
    env = {name: value for name, value in env.items() if value is not None}
    command = [PROGRAM, "-q", "-i", "0.1", "--upload-deadline", "0.3", "--", "sleep", "1"]
    world.sentinel.trouble = lambda request: 503
    result = subprocess.run(command, env=env, capture_output=True, text=True, timeout=20, cwd=tmp_path)
    spool = tmp_path / "passing" / f"resource-tracker-{os.geteuid()}" / "spool"
    assert result.returncode == 0 and states(spool)[0]["rows"] >= 3
    assert (spool.parent.stat().st_mode & 0o777, spool.stat().st_mode & 0o777) == (0o700, 0o700)
    world.sentinel.trouble = None
    result = subprocess.run([net_program(), "upload"], env=env, capture_output=True, text=True, timeout=20, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    # A busy server may read the start of a run, which its sender has given up, only now. That run stays empty and has no end.
    assert max(len(sent_rows(run)) for run in world.sentinel.runs.values() if run.finishes) >= 3 and not list(spool.iterdir())


@pytest.mark.parametrize("trap", ["link", "open", "file"])
def test_another_process_holds_the_port(world, trap, tmp_path):
    """If /tmp/resource-tracker-UID belongs to others, too, there is one line and no streaming, and the job runs."""
    world.serve()
    place = tmp_path / f"resource-tracker-{os.geteuid()}"
    if trap == "link":
        (tmp_path / "elsewhere").mkdir()
        place.symlink_to(tmp_path / "elsewhere")
    elif trap == "open":
        place.mkdir()
        place.chmod(0o777)
    else:
        place.touch()
    env = {name: value for name, value in world.env(TMPDIR=str(tmp_path)).items() if name not in ("HOME", "XDG_STATE_HOME")}
    command = [PROGRAM, "-q", "--", "sh", "-c", "exit 4"]
    result = subprocess.run(command, env=env, capture_output=True, text=True, timeout=20, cwd=tmp_path)
    assert result.returncode == 4 and not world.sentinel.requests
    assert result.stderr.count("\n") == 1 and "streaming is off: the spool cannot be used" in result.stderr


@needs_private_mounts
def test_a_full_spool_disk_under_a_run(world, run, helpers, tmp_path):
    """No byte can be written to the spool: one line, and the user's own recording is complete."""
    world.serve()
    script = (f'mkdir -p "{world.spool}" && mount -t tmpfs -o size=64k none "{world.spool}" && '
              f'dd if=/dev/zero of="{world.spool}/filler" bs=1k 2>/dev/null; exec "$@"')
    for output in ("-o", tmp_path / "run.jsonl"), ("-o", tmp_path / "run.csv"):
        result = run("-m", "sh", "-c", script, "sh", PROGRAM, "--spool", world.spool,
                     "-i", 0.1, "--upload-deadline", 1, *output, "--", "sh", "-c", "sleep 0.4; exit 6",
                     program=shutil.which("unshare"), env=world.env())
        assert result.returncode == 6, result.err
        assert "spool" in result.err and result.err.count("\n") <= 4, result.err
    samples = helpers.json_lines(tmp_path / "run.jsonl")
    assert ticks_of(samples) >= 4 and samples[-1]["run_end"]["exit_code"] == 6
    assert len((tmp_path / "run.csv").read_text().splitlines()) >= 2


@needs_private_mounts
def test_a_run_of_which_nothing_is_kept_names_no_command_that_sends_it(world, run):
    """The spool alone would have the samples, and its disk is full. `upload SPOOL` was named, which then found nothing."""
    world.serve()
    script = (f'mkdir -p "{world.spool}" && mount -t tmpfs -o size=64k,mode=0700 none "{world.spool}" && '
              f'dd if=/dev/zero of="{world.spool}/filler" bs=1k 2>/dev/null; exec "$@"')
    result = run("-m", "sh", "-c", script, "sh", PROGRAM, "--spool", world.spool, "-q", "-i", 0.1, "--upload-deadline", 1,
                 "--", "sh", "-c", "sleep 0.4; exit 6", program=shutil.which("unshare"), env=world.env())
    assert result.returncode == 6 and "has ended, and no sample is kept" in result.err, result.err
    assert "upload" not in result.err and result.err.count("\n") <= 2, result.err


@pytest.mark.parametrize("kind", ["file", "fifo", "device", "theirs"])
def test_a_spool_that_another_user_owns_or_a_file_is_named_once(world, kind, program_for_everybody):
    """It was "Permission denied", or the follower ended with "cannot follow run.jsonl: Operation not permitted"."""
    world.serve()
    place, user = pathlib.Path(program_for_everybody).with_name("place"), {}
    if kind == "file":
        place.touch()
    elif kind == "fifo":
        os.mkfifo(place)
    elif kind == "device":
        place = pathlib.Path("/dev/full")
    else:
        if os.geteuid() != 0:
            pytest.skip("only root can be two users")
        place.mkdir()
        place.chmod(0o777)
        user = {"preexec_fn": lambda: os.setuid(NOBODY)}
    command = [program_for_everybody, "--spool", place, "-q", "--", "sh", "-c", "exit 6"]
    result = subprocess.run(command, env=world.env(), cwd="/", capture_output=True, text=True, timeout=20, **user)
    why = "another user owns it or may write to it" if kind == "theirs" else "it is not a folder, or not in one"
    assert result.returncode == 6
    assert result.stderr == f"resource-tracker: streaming is off: the spool cannot be used: {place}: {why}\n"


@needs_root
def test_the_network_goes_down_in_the_middle(world, helpers):
    """In a namespace whose loopback goes down and up again, waiting batches are sent, in order, once."""
    helper = pathlib.Path(__file__).resolve().parents[1] / "fakes" / "sentinel.py"
    script = (f"ip link set lo up; {sys.executable} {helper} {world.env()['SENTINEL_API_TOKEN']} 8123 >served 2>&1 & server=$!; sleep 1; "
              f"{PROGRAM} --spool {world.spool} -o run.jsonl -i 0.1 --upload-deadline 10 -- "
              "sh -c 'sleep 0.5; ip link set lo down; sleep 1.5; ip link set lo up; sleep 0.5; exit 3' 2>said; code=$?; "
              "sleep 0.5; kill $server; exit $code")
    env = world.env(SENTINEL_API_URL="http://127.0.0.1:8123", TRACKER_UPLOAD_INTERVAL="0.3")
    result = subprocess.run([shutil.which("unshare"), "-n", "sh", "-c", script], env=env, cwd=world.path, timeout=40,
                            stdin=subprocess.DEVNULL)
    served = (world.path / "served").read_text()
    assert result.returncode == 3, (world.path / "said").read_text()
    assert served.count("POST /runs ") == 1
    assert ticks_of(helpers.json_lines(world.path / "run.jsonl")) >= 20
