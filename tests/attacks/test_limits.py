"""A job that runs within limits on processes, stack and descriptors also runs below the program."""
import contextlib
import json
import os
import pathlib
import resource
import subprocess

import pytest

from conftest import BUILD
from users import needs_root

# The job is one process, and starts another.
JOB = ("sh", "-c", "(exit 4); exit 3")
PIDS = pathlib.Path("/sys/fs/cgroup/pids")


def limited(which, *values):
    return lambda: resource.setrlimit(which, values * 2 if len(values) == 1 else values)


# The kernel counts the processes of a user in all containers, so no other test may run as this one.
LONER = 60000 + os.getpid() % 1000


@needs_root()
def test_one_process_more_than_the_job_against_the_limit_of_a_user(public_programs, home):
    """The job alone needs two processes. With the program it once needed four: two more."""
    os.chown(home, LONER, LONER)

    def start(command, limit):
        def enter():
            resource.setrlimit(resource.RLIMIT_NPROC, (limit, limit))
            os.setgroups([])
            os.setgid(LONER)
            os.setuid(LONER)
        return subprocess.run(command, cwd=home, stdin=subprocess.DEVNULL, capture_output=True, preexec_fn=enter,
                              env={"PATH": os.environ["PATH"]}).returncode

    assert start(JOB, 2) == 3
    assert start([public_programs, "-q", "--no-summary", "-o", "run.jsonl", "--", *JOB], 3) == 3


@pytest.fixture
def pids_group():
    if os.geteuid() != 0 or not (PIDS / "cgroup.procs").exists():
        pytest.skip("needs root and the pids controller")
    group = PIDS / f"test-attacks-{os.getpid()}"
    group.mkdir()
    yield group
    group.rmdir()


@pytest.mark.parametrize("below", ("", "a/b"))
def test_one_process_more_than_the_job_against_the_limit_of_a_group(run, tmp_path, pids_group, below):
    """The limit may be on a group above the program's."""
    (pids_group / "pids.max").write_text("3\n")
    (pids_group / below).mkdir(parents=True, exist_ok=True)
    try:
        result = run("-q", "--no-summary", "-o", "run.jsonl", "--", *JOB,
                     preexec_fn=lambda: (pids_group / below / "cgroup.procs").write_text("0"))
    finally:
        for folder in ("a/b", "a"):
            with contextlib.suppress(OSError):
                (pids_group / folder).rmdir()
    assert result.returncode == 3, result.err
    assert json.loads((tmp_path / "run.jsonl").read_text().splitlines()[-1])["run_end"]["exit_code"] == 3


def test_a_job_that_runs_in_place_of_the_recorder(run, tmp_path, pids_group):
    """No process is left for the recorder. Its recording once said that the command could not be started."""
    (pids_group / "pids.max").write_text("1\n")
    result = run("-q", "--no-summary", "-o", "run.jsonl", "--", "sh", "-c", "exit 3",
                 preexec_fn=lambda: (pids_group / "cgroup.procs").write_text("0"))
    assert result.returncode == 3 and "this job is not recorded: Resource temporarily unavailable" in result.err
    end = json.loads((tmp_path / "run.jsonl").read_text().splitlines()[-1])["run_end"]
    assert end["reason"] == "tracker_stopped" and end["exit_code"] is None


@pytest.mark.slow  # not with a sanitiser, which needs stack itself
@pytest.mark.parametrize("kib", (16, 24, 32, 64, 128, 1024))
def test_a_small_stack(binary, tmp_path, kib):
    """With 16 KiB the job alone runs. The program once crashed."""
    limit = limited(resource.RLIMIT_STACK, kib * 1024)
    small = {"PATH": os.environ["PATH"]}
    alone = subprocess.run(["sh", "-c", "exit 3"], preexec_fn=limit, env=small).returncode
    assert alone == 3
    for arguments in (("-i", "0.05", "-o", "run.jsonl"), ("-f", "csv", "-o", "run.csv")):
        # The environment is on the stack as well.
        done = subprocess.run([binary, "-q", "--no-summary", *arguments, "--", "sh", "-c", "sleep 0.2; exit 3"], cwd=tmp_path,
                              preexec_fn=limit, env=small, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        assert done.returncode == 3, done.stderr
    assert json.loads((tmp_path / "run.jsonl").read_text().splitlines()[-1])["run_end"]["exit_code"] == 3


@pytest.mark.slow  # not with a sanitiser, which needs stack itself
@pytest.mark.parametrize("kib", (16, 20, 24, 28, 32))
@pytest.mark.parametrize("name", ("bash", "sh"))
def test_a_recording_shell_with_a_small_stack(tmp_path, name, kib):
    """The shell once crashed below 36 KiB, before it became the recorder."""
    done = subprocess.run([BUILD / "src" / "shell" / name, "-c", "echo out; ulimit -s; exit 3"], cwd=tmp_path, stdin=subprocess.DEVNULL,
                          preexec_fn=limited(resource.RLIMIT_STACK, kib * 1024), env={"PATH": os.environ["PATH"]}, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (3, f"out\n{kib}\n", "")
    recording, = (tmp_path / ".resource-tracker").iterdir()
    assert json.loads(recording.read_text().splitlines()[-1])["run_end"]["exit_code"] == 3


OTHER_LIMITS = (("NOFILE", 10), pytest.param("DATA", 8 << 20, marks=pytest.mark.slow),
                ("FSIZE", 0), ("SIGPENDING", 0), ("MEMLOCK", 0))


@pytest.mark.parametrize("name, value", OTHER_LIMITS)
def test_other_limits(run, name, value, no_leak_check):
    result = run("-q", "--no-summary", "-o", "run.jsonl", "--", "sh", "-c", "exit 3", preexec_fn=limited(getattr(resource, f"RLIMIT_{name}"), value))
    assert result.returncode == 3, result.err
