"""The shells of libexec/resource-tracker/shell: each step is recorded once, under its name, and runs as by the real shell."""
import contextlib
import errno
import os
import pty
import resource
import shutil
import subprocess

import pytest

from conftest import BUILD, TOP, clean_environment, json_lines
from libc_words import words_of

SHELLS = BUILD / "src" / "shell"
BASH = SHELLS / "bash"
pytestmark = pytest.mark.skipif(not BASH.exists(), reason="the shells are not built")
NAMES = ("NXF_", "MAKE", "MFLAGS", "BASH_ENV")


def environment(**more):
    return {**{name: value for name, value in clean_environment().items() if not name.startswith(NAMES)}, **more}


@pytest.fixture
def step(tmp_path):
    """step("-c", "true", program=BASH, cwd=..., NAME=value) runs a recording shell to its end."""

    def run_step(*arguments, program=BASH, cwd=tmp_path, stdin="", **more):
        return subprocess.run([program, *map(str, arguments)], cwd=cwd, env=environment(**more), input=stdin, text=True,
                              capture_output=True, timeout=50, check=False)

    return run_step


def recordings(folder):
    """The files of a folder by name, each as its samples."""
    return {path.name: json_lines(path) for path in sorted(folder.glob("*.jsonl"))}


def only(folder):
    found = recordings(folder)
    assert len(found) == 1, sorted(found)
    return next(iter(found.items()))


def names_of(samples):
    start = samples[0]["run_start"]
    return samples[0]["job_name"], start["task_name"], start["orchestrator"]


@pytest.mark.parametrize("arguments", [
    ("-c", "echo out; echo err >&2; exit 7"),
    ("-euo", "pipefail", "-c", "false | true; echo not reached"),
    ("-c", 'printf "%s\\n" "$@"', "name", "a b", "", "*"),
    ("-c", "read line; echo $line; cat"),
    ("-e", "script.sh", "one"),
    ("-c", "kill -9 $$"),
    ("no-such-file",),
])
def test_a_step_runs_as_by_the_real_shell(step, tmp_path, arguments):
    (tmp_path / "script.sh").write_text('echo "$0 $1"; false; echo not reached\n')
    real = step(*arguments, program="/bin/bash", stdin="first\nsecond\n")
    done = step(*arguments, stdin="first\nsecond\n")
    assert (done.stdout, done.stderr, done.returncode) == (real.stdout, real.stderr, real.returncode)
    _, samples = only(tmp_path / ".resource-tracker")
    end = samples[-1]["run_end"]
    assert (end["exit_code"], end["signal"]) == ((None, 9) if real.returncode == -9 else (real.returncode, None))
    assert samples[0]["run_start"]["executable"] == "bash"


def test_a_shell_below_a_recorded_step_is_not_recorded_again(step, tmp_path):
    done = step("-c", f"{BASH} -c 'echo one; {SHELLS}/sh -c \"echo two\"' & wait; (sleep 0; {BASH} -c 'echo three')")
    assert done.stdout == "one\ntwo\nthree\n"
    only(tmp_path / ".resource-tracker")


def test_the_mark_of_another_process_hides_no_step(step, tmp_path):
    for mark in ("1:1", "junk", f"{os.getpid()}:1", "99999999999999999999:1"):
        assert step("-c", "true", TRACKER_SHELL_STEP=mark, TRACKER_SHELL_OUTPUT="out/%n.%p.jsonl").returncode == 0
    assert len(recordings(tmp_path / "out")) == 4


def test_output_names_the_folder_and_the_step(step, tmp_path):
    step("-c", "true", TRACKER_SHELL_OUTPUT="deep/%h/100%%/%n-%%.jsonl", TRACKER_JOB_NAME="a/b c", TRACKER_TASK_NAME="x=1")
    host = "".join(c if c.isalnum() or c in ".,=+-_" else "_" for c in os.uname().nodename)
    name, samples = only(tmp_path / "deep" / host / "100%")
    assert name == "a_b_c.x=1-%.jsonl"
    assert names_of(samples) == ("a/b c", "x=1", None)


def test_output_off_records_nothing(step, tmp_path):
    done = step("-c", "exit 3", TRACKER_SHELL_OUTPUT="off")
    assert (done.returncode, done.stderr, os.listdir(tmp_path)) == (3, "", [])


@pytest.mark.parametrize("output, reason", [
    ("file/%n.jsonl", "file/: Not a directory"),
    ("%t/%n.jsonl", "TRACKER_SHELL_OUTPUT: only %n and %h can be in the name of a folder"),
    ("x" * 5000, "TRACKER_SHELL_OUTPUT: is too long"),
])
def test_a_step_runs_if_it_cannot_be_recorded(step, tmp_path, output, reason):
    (tmp_path / "file").touch()
    done = step("-c", "echo out; exit 3", TRACKER_SHELL_OUTPUT=output)
    assert (done.returncode, done.stdout) == (3, "out\n")
    assert done.stderr == f"resource-tracker: this step is not recorded: {reason}\n"


def assert_runs_alone(done, reason):
    assert (done.returncode, done.stdout) == (3, "out\n"), done
    assert done.stderr.startswith("resource-tracker: this step is not recorded: ") and done.stderr.count("\n") == 1, done.stderr
    assert reason in done.stderr


@pytest.mark.parametrize("variable, value, reason", [
    ("TRACKER_INTERVAL", "bogus", "TRACKER_INTERVAL: 'bogus' is not a length of time"),
    ("TRACKER_TAG", "bogus", "TRACKER_TAG: 'bogus' has no '='"),
    ("TRACKER_FORMAT", "xml", "TRACKER_FORMAT: 'xml' is unknown"),
    ("TRACKER_METRICS", "nosuch.thing", "nosuch.thing"),
    ("TRACKER_REPORT", "missing/page.html", "TRACKER_REPORT: 'missing/page.html' cannot be written"),
    ("TRACKER_ROOT", "missing", "root folder 'missing' cannot be opened"),
    ("TRACKER_SHELL_OUTPUT", "folder", "it is a folder"),
    ("TRACKER_SHELL_OUTPUT", "loop", words_of(errno.ELOOP)),
    ("TRACKER_SHELL_OUTPUT", "%x", "% must be followed by"),
    ("TRACKER_SHELL_OUTPUT", "%u", "the name is empty"),
    ("TRACKER_SHELL_OUTPUT", "x" * 5000, "is too long"),
])
def test_whatever_refuses_a_recording_leaves_the_step(step, tmp_path, variable, value, reason):
    (tmp_path / "folder").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    assert_runs_alone(step("-c", "echo out; exit 3", **{variable: value}), reason)


def test_a_step_runs_with_six_descriptors(tmp_path):
    done = subprocess.run([BASH, "-c", "echo out; ulimit -n; exit 3"], cwd=tmp_path, env=environment(), capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (6, 64)))
    # The recorder raises its own limit to the hard one. The shell keeps what it was given.
    assert (done.returncode, done.stdout, done.stderr) == (3, "out\n6\n", "")
    done = subprocess.run([BASH, "-c", "echo out; exit 3"], cwd=tmp_path, env=environment(), capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (6, 6)))
    # The process that would keep the file may be the one that finds no descriptor, while the step runs below the recorder.
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (3, "out\n", 1)
    assert done.stderr.startswith("resource-tracker: ") and words_of(errno.EMFILE) in done.stderr


def test_the_shell_alone_inherits_the_same_as_without_a_recorder(step):
    """The recorder blocks and ignores signals, becomes a subreaper and forks a witness before it opens its output."""
    job = ("grep -E '^Sig|^Shd' /proc/self/status | grep -vE 'Pnd|SigQ'; (ulimit -n); read children </proc/$$/task/$$/children; "
           'echo "children: $children"; (setsid sh -c "sleep 0.2; grep PPid /proc/\\$\\$/status" >orphan & ); sleep 0.5; '
           'grep -q "PPid:.$$" orphan && echo adopted; exit 3')
    real = step("-c", job, program="/bin/bash")
    alone = step("-c", job, TRACKER_ROOT="missing")
    assert alone.stdout == real.stdout and "children: \n" in real.stdout and "adopted" not in real.stdout
    assert "RESOURCE_TRACKER_ALONE" not in step("-c", "env", TRACKER_ROOT="missing").stdout + step("-c", "env").stdout


@pytest.fixture(scope="module")
def bad_memory(tmp_path_factory):
    library = tmp_path_factory.mktemp("memory") / "bad-memory.so"
    source = TOP / "tests" / "fakes" / "bad-memory.c"
    if subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-D_GNU_SOURCE", "-o", library, source], check=False).returncode:
        pytest.skip("no compiler for this machine's libc")
    return str(library)


@pytest.mark.plain
@pytest.mark.parametrize("way", (1, -1))
def test_a_recorder_that_fails_or_crashes_before_the_job_leaves_the_step(step, tmp_path, bad_memory, way):
    recorded = alone = 0
    for number in [*range(1, 40), *range(40, 160, 7)]:
        done = step("-c", "echo out; exit 3", LD_PRELOAD=bad_memory, BAD_MEMORY=str(way * number), TRACKER_SHELL_OUTPUT=f"{number}.jsonl")
        if done.returncode < 0 or "not recorded" not in done.stderr:
            recorded += 1
            # Once the job runs, it is the recorder's own matter.
            assert done.stdout == "out\n" or way < 0, (number, done)
        else:
            alone += 1
            assert_runs_alone(done, "the recorder crashed" if way < 0 else "")
    assert alone > 20, (alone, recorded)


def test_containers_that_share_a_folder_share_no_name(tmp_path):
    """Each has a process 1, so that the time and the pid of %t.%p are the same."""
    command = ["unshare", "-r", "-p", "-f", "--mount-proc", BASH, "-c", "sleep 0.3; echo out; exit 3"]
    started = [subprocess.Popen(command, cwd=tmp_path, env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True) for _ in range(4)]
    ends = [(*one.communicate(timeout=50), one.returncode) for one in started]
    if any("unshare" in error for _, error, _ in ends):
        pytest.skip("no namespaces here")
    assert ends == [("out\n", "", 3)] * 4
    found = recordings(tmp_path / ".resource-tracker")
    assert len(found) == 4 and {samples[-1]["run_end"]["exit_code"] for samples in found.values()} == {3}


def test_a_name_that_is_taken_gets_a_number(step, tmp_path):
    held = subprocess.Popen([BASH, "-c", "read line"], cwd=tmp_path, stdin=subprocess.PIPE, env=environment(TRACKER_SHELL_OUTPUT="a.jsonl"))
    while not (tmp_path / "a.jsonl").exists():
        pass
    for name in ("a.jsonl", "a.jsonl", "b", "b", "c%u.csv", "c%u.csv", "/dev/null"):
        assert step("-c", "echo out; exit 3", TRACKER_SHELL_OUTPUT=name).stderr == ""
    held.communicate(b"\n", timeout=50)
    assert sorted(os.listdir(tmp_path)) == ["a-2.jsonl", "a-3.jsonl", "a.jsonl", "b", "b-2", "c-2.csv", "c.csv"]


def test_long_names_are_cut_and_stay_different(step, tmp_path):
    for end in "xy":
        done = step("-c", f": resource-tracker-step {'z' * 300} {'y' * 198}{end}; exit 3")
        assert (done.returncode, done.stderr) == (3, "")
        done = step("-c", f": resource-tracker-step r{end} {'y' * 150}{end}; exit 3", TRACKER_SHELL_OUTPUT=f"{end}/%n/%n.jsonl")
        assert (done.returncode, done.stderr) == (3, "")
    found = recordings(tmp_path / ".resource-tracker")
    assert len({name.split(".")[0] for name in found}) == 2 and all(len(name) < 137 for name in found)
    assert names_of(next(iter(found.values())))[0] == "z" * 199
    assert len({path.name for path in tmp_path.glob("?/*/*.jsonl")}) == 2


@pytest.mark.skipif(os.getuid() != 0, reason="needs root to mount a disk")
@pytest.mark.parametrize("options, reason", [("size=64k,nr_inodes=4", "No space left on device"), ("size=64k", "No space left on device")])
def test_a_full_disk_is_one_line(step, tmp_path, options, reason):
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", options, "disk", disk], check=False).returncode:
        pytest.skip("no mount here")
    try:
        (disk / "out").mkdir()
        with contextlib.suppress(OSError):
            (disk / "filler").write_bytes(bytes(65536))
        with contextlib.suppress(OSError):
            (disk / "last").touch()
        done = step("-c", "echo out; exit 3", TRACKER_SHELL_OUTPUT=f"{disk}/out/a.jsonl")
    finally:
        subprocess.run(["umount", disk], check=True)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (3, "out\n", 1), done
    assert done.stderr.startswith("resource-tracker: ") and reason in done.stderr and "a.jsonl" in done.stderr


@pytest.mark.skipif(os.getuid() != 0, reason="needs root to become another user")
def test_a_step_runs_without_a_folder_for_its_recording(step, tmp_path):
    if not all(folder.stat().st_mode & 0o001 for folder in BASH.resolve().parents):
        pytest.skip("another user cannot enter the build folder")
    command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", BASH, "-c", "echo out"]
    tmp_path.chmod(0o755)
    done = subprocess.run(command, cwd="/", env=environment(), capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert (done.returncode, done.stdout) == (0, "out\n")
    assert done.stderr == "resource-tracker: this step is not recorded: .resource-tracker/: Permission denied\n"


@pytest.mark.parametrize("text, names", [
    (": resource-tracker-step align sample%3Da%2Cn%3D1; true", ("align", "sample=a,n=1", "snakemake")),
    (". env; : resource-tracker-step count ; set -eu; true", None),
    ("true; : resource-tracker-step %0A%41 %zz;", ("?A", "%zz", "snakemake")),
    ("true # : resource-tracker-step ;", (None, None, None)),
])
def test_a_command_names_its_step(step, tmp_path, text, names):
    step("-c", text.replace(". env", "true"))
    assert names_of(only(tmp_path / ".resource-tracker")[1]) == (names or ("count", None, "snakemake"))


@pytest.mark.parametrize("arguments", [
    ("-c", ": NAMED"), ("-ec", ": NAMED"), ("-e", "-c", ": NAMED"), ("-eo", "pipefail", "-c", ": NAMED"), ("-O", "extglob", "-c", ": NAMED"),
    ("--noprofile", "--norc", "-c", ": NAMED"), ("--norc", "-eo", "pipefail", "-c", ": NAMED"), ("+O", "extglob", "-c", ": NAMED"),
    ("--verbose", "--restricted", "-c", ": NAMED"), ("--posix", "+e", "-c", ": NAMED", "name", "a"),
])
def test_a_command_is_found_behind_the_options(step, tmp_path, arguments):
    words = [word.replace("NAMED", "resource-tracker-step count all") for word in arguments]
    assert step(*words).returncode == 0
    assert names_of(only(tmp_path / ".resource-tracker")[1]) == ("count", "all", "snakemake")


@pytest.mark.parametrize("words, asked", [
    ("align s%3D1 cores=4 memory_mib=2048.5 attempt=2", (4.0, 2048.5, "2")), ("align  cores=8", (8.0, None, None)), ("align a=b", (None, None, None)),
    ("align x cores=many memory_mib=", (None, None, None))])
def test_the_request_of_a_step_is_in_its_line(step, run, tmp_path, words, asked):
    """The engine tells it beside the name; inside a Slurm job it is the step's, not the job's."""
    done = step("-c", f": resource-tracker-step {words}; true", TRACKER_RUNS=str(tmp_path / "runs.jsonl"), SLURM_JOB_ID="7", SLURM_CPUS_ON_NODE="64",
                SLURM_MEM_PER_NODE="99999")
    assert (done.returncode, done.stderr) == (0, "")
    line, = json_lines(tmp_path / "runs.jsonl")
    slurm = (64.0, 99999.0)
    assert line["name"] == "align" and line.get("attempt") == asked[2]
    assert (line["cores_asked"], line["memory_asked_mib"]) == tuple(one or other for one, other in zip(asked, slurm))


@pytest.mark.parametrize("words, variable, tags", [
    ("sort s%3D1 input=a%20b cores=2 input=c output=d", "mine=1", {"needs": "a%20b c", "makes": "d", "mine": "1"}), ("sort input=c", "mine=1", {"needs": "c", "mine": "1"}), ("sort output=d", None, {"makes": "d", "needs": ""}), ("sort output=d", "needs=x", {"makes": "d", "needs": "x"}),
    ("sort  cores=2", "mine=1", {"mine": "1"}), ("sort", None, {}), ("sort s input=" + "x" * 40000 + " output=d", None, {"makes": "d"})],
    ids=["both", "input", "output", "own", "neither", "no tag", "a name without room"])
def test_a_step_tells_its_files_to_the_workflow(step, tmp_path, words, variable, tags):
    done = step("-c", f": resource-tracker-step {words}; true", **({"TRACKER_TAG": variable} if variable else {}))
    assert (done.returncode, done.stderr) == (0, "")
    assert only(tmp_path / ".resource-tracker")[1][0]["run_start"]["tags"] == tags


def test_an_engine_tells_the_request_by_variables(step, tmp_path):
    """As Nextflow's beforeScript does."""
    step("-c", "true", TRACKER_RUNS=str(tmp_path / "runs.jsonl"), TRACKER_CORES_ASKED="2", TRACKER_MEMORY_ASKED_MIB="512", TRACKER_ATTEMPT="3")
    line, = json_lines(tmp_path / "runs.jsonl")
    assert (line["cores_asked"], line["memory_asked_mib"], line["attempt"]) == (2.0, 512.0, "3")


def test_nextflow_names_its_task(step, tmp_path):
    (tmp_path / ".command.run").write_text("#!/bin/bash\n# NEXTFLOW TASK: FLOW:ALIGN (sample 3)\nset -e\n")
    (tmp_path / ".command.sh").write_text("exit 2\n")
    assert step("-ue", tmp_path / ".command.sh", NXF_TASK_WORKDIR=str(tmp_path)).returncode == 2
    name, samples = only(tmp_path / ".resource-tracker")
    assert names_of(samples) == ("FLOW:ALIGN", "FLOW:ALIGN (sample 3)", "nextflow")
    assert name.startswith("FLOW_ALIGN__sample_3_.")


def input_of(folder):
    start = only(folder)[1][0]["run_start"]
    return start["input_bytes"], start["input_source"]


@pytest.mark.parametrize("words, size", [
    ("input=a%20b input=deep input=same", 4300), ("input=%2Aempty input=%2Aempty input=a%20b", 300), ("input=a%20b input=missing", None),
    ("input=%2Aempty", None), ("input=a%20b input=pipe", None), ("", None), ("more input=a%20b cores=2", 300)])
def test_the_input_of_a_rule_has_its_size(step, tmp_path, words, size):
    """Each inode once, folders whole, as for --input. Unknown, if one of them is."""
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "a b").write_bytes(bytes(300))
    (tmp_path / "deep" / "er" / "x").write_bytes(bytes(4000))
    (tmp_path / "*empty").touch()
    os.link(tmp_path / "a b", tmp_path / "same")
    os.mkfifo(tmp_path / "pipe")
    done = step("-c", f": resource-tracker-step sort s%3D1 {words}; env; exit 3")
    assert (done.returncode, done.stderr) == (3, "") and "TRACKER_INPUT" not in done.stdout
    assert input_of(tmp_path / ".resource-tracker") == (size, size and "option")


@pytest.mark.parametrize("own, size", [({"TRACKER_INPUT": "b"}, 20), ({"TRACKER_INPUT_BYTES": "5000"}, 5000)])
def test_the_users_own_input_comes_first(step, tmp_path, own, size):
    (tmp_path / "a").write_bytes(bytes(300))
    (tmp_path / "b").write_bytes(bytes(20))
    assert step("-c", ": resource-tracker-step sort input=a; true", **own).returncode == 0
    assert input_of(tmp_path / ".resource-tracker") == (size, "option")


def nextflow_task(folder):
    folder.mkdir()
    (folder / ".command.run").write_text("#!/bin/bash\n# NEXTFLOW TASK: ALIGN (1)\n")
    (folder / ".command.sh").write_text("echo out >out; exit 2\n")
    (folder / ".command.trace").write_bytes(bytes(99))
    return folder


def test_nextflow_staged_files_are_the_input(step, tmp_path):
    """Links and copies, in folders too ("in/*"), and folders to which a link leads. Not the task's own files, and none that the task makes."""
    work, data = nextflow_task(tmp_path / "work"), tmp_path / "data"
    (data / "index").mkdir(parents=True)
    for name, size in (("a.fq", 1000), ("b.fq", 20), ("index/x", 300), ("index/y", 4000)):
        (data / name).write_bytes(bytes(size))
    (work / "in" / "1").mkdir(parents=True)
    (work / "a.fq").symlink_to(data / "a.fq")
    (work / "again.fq").symlink_to(data / "a.fq")
    (work / "in" / "1" / "b.fq").symlink_to(data / "b.fq")
    (work / "index").symlink_to(data / "index")
    (work / "copy").write_bytes(bytes(70000))
    assert step("-ue", work / ".command.sh", cwd=work, NXF_TASK_WORKDIR=str(work)).returncode == 2
    assert input_of(work / ".resource-tracker") == (75320, "option")
    shutil.rmtree(work / ".resource-tracker")
    (work / "out").unlink()
    (work / "broken").symlink_to(data / "missing")
    assert step("-ue", work / ".command.sh", cwd=work, NXF_TASK_WORKDIR=str(work)).returncode == 2
    assert input_of(work / ".resource-tracker") == (None, None)


def test_nextflow_scratch_folder_has_the_name_and_the_input_of_its_task(step, tmp_path):
    work, scratch = nextflow_task(tmp_path / "work"), tmp_path / "scratch"
    scratch.mkdir()
    (scratch / "copy").write_bytes(bytes(500))
    assert step("-ue", work / ".command.sh", cwd=scratch, NXF_TASK_WORKDIR=str(scratch)).returncode == 2
    assert names_of(only(scratch / ".resource-tracker")[1]) == ("ALIGN", "ALIGN (1)", "nextflow")
    assert input_of(scratch / ".resource-tracker") == (500, "option")


def test_nextflow_staged_files_may_be_many_or_none(step, tmp_path):
    work = nextflow_task(tmp_path / "work")
    step("-ue", work / ".command.sh", cwd=work, NXF_TASK_WORKDIR=str(work))
    # The script of the engine does not count.
    assert input_of(work / ".resource-tracker") == (None, None)
    for number in range(6000):
        (work / f"staged-{number:06}").write_bytes(b"xyz")
        if number == 999:
            shutil.rmtree(work / ".resource-tracker")
            (work / "out").unlink()
            step("-ue", work / ".command.sh", cwd=work, NXF_TASK_WORKDIR=str(work))
            assert input_of(work / ".resource-tracker") == (3000, "option")
    shutil.rmtree(work / ".resource-tracker")
    for number in range(6000):
        (work / f"staged-{number:06}").rename(work / f"staged-with-a-longer-name-{number:06}")
    assert step("-ue", work / ".command.sh", cwd=work, NXF_TASK_WORKDIR=str(work)).returncode == 2
    assert input_of(work / ".resource-tracker") == (None, None)


MAKERS = [f"{number:02x}/{'0123456789' * 3}" for number in range(1, 5)]


@pytest.mark.parametrize("staged, needs", [
    ({"a": "/w/" + MAKERS[0], "in/1/b": "/w/" + MAKERS[1], "again": "/w/" + MAKERS[0], "reads": "/data"}, ["01/0123456789", "02/0123456789"]),
    ({"a": "../../" + MAKERS[0], "b": "../" + "9" * 30}, ["01/0123456789", "ab/9999999999"]),
    ({"a": "/w/" + MAKERS[0], "copy": None}, None), ({"a": "/w/" + MAKERS[0], "all": "/w/tmp/" + MAKERS[1]}, None), ({"reads": "/data"}, None), ({}, None)],
    ids=["links", "relative links", "a copy", "a file of the engine", "files of no task", "no file"])
def test_nextflow_links_tell_the_tasks_that_are_needed(step, tmp_path, staged, needs):
    """A value may be what a task without files of others has waited for, and a copy may be of any task: then nothing is told."""
    (tmp_path / "work" / "ab").mkdir(parents=True)
    work = nextflow_task(tmp_path / "work" / "ab" / ("c" * 30))
    for name, target in staged.items():
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        if target:
            (work / name).symlink_to(f"{target}/{name}")
        else:
            (work / name).touch()
    assert step("-ue", work / ".command.sh", cwd=work, NXF_TASK_WORKDIR=str(work), TRACKER_TAG="mine=1").returncode == 2
    tags = only(work / ".resource-tracker")[1][0]["run_start"]["tags"]
    assert sorted(tags.pop("needs", "").split()) == (needs or []) and tags == {"makes": "ab/cccccccccc", "mine": "1"}


def test_nextflow_links_of_a_scratch_folder_and_beside_the_users_input(step, tmp_path):
    (tmp_path / "work" / "ab").mkdir(parents=True)
    work, scratch = nextflow_task(tmp_path / "work" / "ab" / ("c" * 30)), tmp_path / "scratch"
    scratch.mkdir()
    (scratch / "a").symlink_to(f"/w/{MAKERS[0]}/a")
    assert step("-ue", work / ".command.sh", cwd=scratch, NXF_TASK_WORKDIR=str(scratch), TRACKER_INPUT_BYTES="7").returncode == 2
    start = only(scratch / ".resource-tracker")[1][0]["run_start"]
    assert (start["tags"], start["input_bytes"]) == ({"makes": "ab/cccccccccc", "needs": "01/0123456789"}, 7)


@pytest.mark.parametrize("makers", [2300, 2400])
def test_nextflow_tells_all_the_tasks_that_are_needed_or_none(step, tmp_path, makers):
    (tmp_path / "work" / "ab").mkdir(parents=True)
    work = nextflow_task(tmp_path / "work" / "ab" / ("c" * 30))
    for number in range(makers):
        (work / f"{number}").symlink_to(f"/w/ab/{number:05}{'0' * 25}/x")
    done = step("-ue", work / ".command.sh", cwd=work, NXF_TASK_WORKDIR=str(work))
    assert (done.returncode, done.stderr) == (2, "")
    tags = only(work / ".resource-tracker")[1][0]["run_start"]["tags"]
    assert len(tags.get("needs", "").split()) == (2300 if makers == 2300 else 0) and tags["makes"] == "ab/cccccccccc"


def test_github_names_its_step(step, tmp_path):
    step("-e", "-c", "true", GITHUB_WORKFLOW="CI", GITHUB_JOB="build", GITHUB_ACTION="__run_2")
    assert names_of(only(tmp_path / ".resource-tracker")[1]) == ("CI", "build/__run_2", "github")


def test_the_real_shell_can_be_given_but_not_this_one(step, tmp_path):
    other = tmp_path / "other"
    other.write_text('#!/bin/sh\necho "other $*"\n')
    other.chmod(0o755)
    assert step("-c", "x", TRACKER_SHELL_REAL=str(other)).stdout == "other -c x\n"
    assert step("-c", "echo $BASH", PATH=f"{SHELLS}:/usr/bin:/bin").stdout.startswith("/bin/bash")
    assert step("-c", "x", TRACKER_SHELL_REAL="other", PATH=f"{tmp_path}:/usr/bin:/bin").stdout == "other -c x\n"


@pytest.mark.parametrize("given", [str(BASH), "/nonexistent/bash", "nosuchshell", "/tmp", "/dev/null", "x" * 5000])
def test_a_wrong_shell_fails_no_step(step, tmp_path, given):
    done = step("-c", "echo $BASH; exit 3", TRACKER_SHELL_REAL=given)
    assert (done.returncode, done.stdout) == (3, "/bin/bash\n")
    assert done.stderr == f"resource-tracker: TRACKER_SHELL_REAL: '{given[:200]}' is not another shell; /bin/bash runs this step\n"
    assert len(list((tmp_path / ".resource-tracker").iterdir())) == 1


@pytest.mark.parametrize("variable, value, shown", [
    ("TRACKER_SHELL_REAL", "/no\x1b[31m\x9b\n\tsuch", "/no?[31m????such"),
    ("TRACKER_SHELL_OUTPUT", "/proc/no\x1b[31m\nsuch/%n.jsonl", "/proc/no?[31m?such/"),
])
def test_a_variable_is_printed_as_one_harmless_line(step, variable, value, shown):
    done = step("-c", "echo out; exit 3", **{variable: value})
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (3, "out\n", 1)
    assert shown in done.stderr and done.stderr.endswith("\n") and done.stderr[:-1].isprintable()


def test_a_shell_on_a_terminal_is_not_recorded(tmp_path):
    ours, theirs = pty.openpty()
    process = subprocess.Popen([BASH, "--norc"], cwd=tmp_path, env=environment(), stdin=theirs, stdout=theirs, stderr=theirs,
                               start_new_session=True)
    os.close(theirs)
    os.write(ours, b"exit 3\n")
    seen = b""
    try:
        while chunk := os.read(ours, 4096):
            seen += chunk
    except OSError:  # the last process with the terminal has ended
        pass
    os.close(ours)
    assert (process.wait(30), os.listdir(tmp_path)) == (3, []), seen


def test_an_installed_shell_finds_the_recorder(step, tmp_path):
    shell, program = tmp_path / "libexec" / "resource-tracker" / "shell" / "bash", tmp_path / "bin" / "resource-tracker"
    shell.parent.mkdir(parents=True)
    program.parent.mkdir()
    shutil.copy(BASH, shell)
    shutil.copy(BUILD / "resource-tracker", program)
    assert step("-c", "exit 4", program=shell).returncode == 4
    assert only(tmp_path / ".resource-tracker")[1][-1]["run_end"]["exit_code"] == 4


@pytest.mark.skipif(not shutil.which("make"), reason="make is not installed")
def test_make_records_each_command_by_its_target(tmp_path):
    shutil.copy(TOP / "examples" / "make" / "Makefile", tmp_path)
    done = subprocess.run(["make", "-k", f"RECORDING_SHELLS={SHELLS}", "all", "broken"], cwd=tmp_path, env=environment(),
                          capture_output=True, text=True, timeout=50, stdin=subprocess.DEVNULL)
    assert done.returncode == 2 and "Error 1" in done.stderr, done.stderr
    assert (tmp_path / "plot").read_text() == "plot: 200000\n"
    found = recordings(tmp_path / ".resource-tracker")
    codes = sorted((samples[0]["run_start"]["task_name"], samples[-1]["run_end"]["exit_code"]) for samples in found.values())
    assert codes == [("broken", 0), ("broken", 1), ("plot", 0), ("table", 0)]
