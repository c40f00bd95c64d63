"""The job's end is passed on: exit codes, death by signal, failed exec."""
import os
import pathlib
import resource
import signal
import statistics
import subprocess
import sys
import time

import pytest

from namespaces import OWN_PROC
from wrap_driver import DRIVER, Log, log, needs_root, wrap  # noqa: F401

NOT_DEADLY = {signal.SIGCHLD, signal.SIGCONT, signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU,
              signal.SIGURG, signal.SIGWINCH}
# 32 and 33 belong to the C library: make starts its commands with both ignored, and the library cannot undo that.
DEADLY = [number for number in range(1, 65) if number not in NOT_DEADLY and number not in (32, 33)]


def test_every_exit_code():
    for code in range(256):
        assert subprocess.run([DRIVER, "sh", "-c", f"exit {code}"]).returncode == code


@pytest.mark.parametrize("signo", DEADLY)
def test_death_by_signal_is_passed_on_without_a_core(signo, tmp_path):
    resource_limits = resource.getrlimit(resource.RLIMIT_CORE)

    def allow_core():
        resource.setrlimit(resource.RLIMIT_CORE, (resource_limits[1], resource_limits[1]))

    code = "import os, resource, signal\nresource.setrlimit(resource.RLIMIT_CORE, (0, 0))\n"
    if signo in (signal.SIGPIPE, signal.SIGXFSZ):
        code += f"signal.signal({signo}, signal.SIG_DFL)\n"  # Python ignores them
    process = subprocess.Popen([DRIVER, sys.executable, "-c", code + f"os.kill(os.getpid(), {signo})"],
                               cwd=tmp_path, preexec_fn=allow_core)
    status = os.waitpid(process.pid, 0)[1]
    process.returncode = 0  # reaped here: any other waiter would miss it
    assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signo
    assert not os.WCOREDUMP(status)
    assert not list(tmp_path.glob("core*"))


def test_death_by_a_signal_that_was_inherited_as_ignored():
    done = subprocess.run(["nohup", DRIVER, sys.executable, "-c", "import os, signal\n"
                           "signal.signal(signal.SIGHUP, signal.SIG_DFL)\nos.kill(os.getpid(), signal.SIGHUP)"],
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    assert done.returncode == -signal.SIGHUP


def make_file(path, text, mode=0o755):
    path.write_text(text)
    path.chmod(mode)
    return str(path)


def test_a_file_that_cannot_be_executed(tmp_path, wrap, log):
    plain = make_file(tmp_path / "plain", "echo hello\n", 0o644)
    cases = {"no-such-command": (127, 2), "/no/such/file": (127, 2), "": (127, 2), plain: (126, 13),
             str(tmp_path): (126, 13), plain + "/below": (126, 20)}
    for command, (status, error) in cases.items():
        log.path.unlink(missing_ok=True)
        assert wrap("--", command).wait() == status, command
        assert log.one("end")["exec_error"] == error, command


def test_exit_code_127_of_the_job_differs_from_a_failed_exec(wrap, log):
    assert wrap("sh", "-c", "exit 127").wait() == 127
    assert log.one("end")["exec_error"] == 0


def test_a_set_up_that_fails_is_our_error(wrap, log):
    assert wrap("--in-child-fails", "true").wait() == 125
    assert log.one("end")["exec_error"] == -5


def test_path_is_searched_like_execvp(tmp_path):
    for name in ("first", "second", "third"):
        (tmp_path / name).mkdir()
    make_file(tmp_path / "first" / "tool", "#!/bin/sh\necho wrong\n", 0o644)
    make_file(tmp_path / "second" / "tool", "#!/bin/sh\necho second $0 $#\n")
    make_file(tmp_path / "third" / "tool", "#!/bin/sh\necho third\n")
    make_file(tmp_path / "here", "#!/bin/sh\necho here\n")

    def run(path, *command):
        return subprocess.run([DRIVER, *command], cwd=tmp_path, env={"PATH": path}, stdout=subprocess.PIPE, text=True)

    folders = ":".join(str(tmp_path / name) for name in ("missing", "first", "second", "third"))
    assert run(folders, "tool", "a b", "").stdout == f"second {tmp_path}/second/tool 2\n"
    assert run(str(tmp_path / "first"), "tool").returncode == 126
    assert run(str(tmp_path / "here"), "tool").returncode == 127  # a file, not a folder
    assert run("/nowhere:", "here").stdout == "here\n"  # an empty part is the current folder
    assert run("", "here").stdout == "here\n"
    unset = subprocess.run([DRIVER, "true"], env={})
    assert unset.returncode == 0


def test_a_script_without_first_line_runs_through_sh(tmp_path):
    script = make_file(tmp_path / "script", "echo $0 \"$1\" $#; exit 7\n")
    done = subprocess.run([DRIVER, script, "a  b", "c"], stdout=subprocess.PIPE, text=True)
    assert (done.returncode, done.stdout) == (7, f"{script} a  b 2\n")
    empty = make_file(tmp_path / "empty", "")
    assert subprocess.run([DRIVER, empty]).returncode == 0


def test_arguments_and_environment_arrive_untouched(tmp_path):
    arguments = ["--", "-o", "", "a b", "*", "$HOME", "ü\n"]
    code = "import os, sys; print([sys.argv[1:], os.environ.get('MARKS'), sorted(os.environ)])"
    environment = {**os.environ, "MARKS": "outer", "EMPTY": ""}

    def run(*before):
        return subprocess.run([*before, sys.executable, "-c", code, *arguments], env=environment, check=True,
                              stdout=subprocess.PIPE, text=True).stdout

    bare = run()
    assert run(DRIVER, "--env", "MARKS=inner") == bare.replace("'outer'", "'inner'")
    assert run(DRIVER, "--env", "MARK=inner") == bare.replace("'MARKS', ", "'MARK', 'MARKS', ", 1)
    assert run(DRIVER) == bare


@needs_root
def test_pid_1_exits_with_the_jobs_code():
    for command, status in (("exit 0", 0), ("exit 37", 37), ("kill -TERM $$", 143), ("kill -KILL $$", 137)):
        done = subprocess.run(["unshare", "--pid", "--fork", *OWN_PROC, DRIVER, "sh", "-c", command])
        assert done.returncode == status, command


@needs_root
@pytest.mark.parametrize("mount", [OWN_PROC, ()], ids=["own-proc", "foreign-proc"])
def test_pid_1_passes_signals_on(tmp_path, mount):
    log = Log(tmp_path / "log")
    code = ("trap 'echo term; exit 3' TERM; trap 'echo usr' USR1; echo up; while :; do sleep 0.02; done")
    process = subprocess.Popen(["unshare", "--pid", "--fork", *mount, DRIVER, "--log", str(log.path), "sh", "-c", code],
                               stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "up\n"
    # unshare's only child is PID 1 of the namespace.
    inner = int(pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text())
    for signo, word in ((signal.SIGUSR1, "usr\n"), (signal.SIGUSR1, "usr\n"), (signal.SIGTERM, "term\n")):
        os.kill(inner, signo)
        assert process.stdout.readline() == word
    assert process.wait(10) == 3
    process.stdout.close()
    assert [event["way"] for event in log.events("signal")] == ["forwarded"] * 3


def quiet(durations):
    """Returns the quickest tenth, without the delays of a busy machine."""
    return sorted(durations)[len(durations) // 10]


@pytest.mark.cost
def test_the_end_is_passed_on_at_once(tmp_path):
    code = "import os, time; os.write(1, b'%d' % time.monotonic_ns()); os._exit(0)"

    def delay(*before):
        process = subprocess.Popen([*before, sys.executable, "-S", "-E", "-c", code], stdout=subprocess.PIPE)
        process.wait()
        now = time.monotonic_ns()
        with process.stdout:
            return (now - int(process.stdout.read())) / 1e6

    bare, wrapped = [], []
    for _ in range(40):
        bare.append(delay())
        wrapped.append(delay(DRIVER, "--interval", "60000"))
    late = statistics.median(wrapped) - statistics.median(bare)
    print(f"the job's end is passed on {late:.2f} ms later than bare")
    assert quiet(wrapped) - quiet(bare) < 1.5


@pytest.mark.cost
def test_start_up_costs_little_more_than_gnu_time(tmp_path):
    def duration(*command):
        started = time.monotonic()
        subprocess.run(command, check=True)
        return (time.monotonic() - started) * 1e3

    times, wrapped = [], []
    for _ in range(100):
        times.append(duration("/usr/bin/time", "-o", "/dev/null", "true"))
        wrapped.append(duration(DRIVER, "true"))
    late = statistics.median(wrapped) - statistics.median(times)
    print(f"the wrapper alone costs {late:+.2f} ms over GNU time")
    assert quiet(wrapped) - quiet(times) < 1


def test_a_job_runs_that_leaves_no_room_for_the_marks(binary, tmp_path):
    """Arguments and environment have a limit (a fourth of the stack's). RESOURCE_TRACKER_MARKS needs more than the recorder's words."""
    folder = tmp_path / "/".join(["d" * 200] * 5)
    folder.mkdir(parents=True)
    command = [binary, "-q", "-o", "run.jsonl", "true"]

    def run_with(size):
        return subprocess.run(command, cwd=folder, env={"PATH": os.environ["PATH"], "FILLER": "x" * size}, capture_output=True,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_STACK, (256 << 10, resource.RLIM_INFINITY)))

    fits, too_much = 0, 128 << 10
    while too_much - fits > 1:
        middle = (fits + too_much) // 2
        try:
            run_with(middle)
            fits = middle
        except OSError:
            too_much = middle
    done = run_with(fits)
    assert (done.returncode, done.stderr) == (0, b"")
