"""Recordings must never be lost if a command reads or replaces them, or finds them in its way."""
import json
import os
import subprocess

import pytest

import recordings

OWN_ERROR, FAULT = 125, 1
NOBODY = 65534


@pytest.fixture
def recorded(tmp_path):
    def write(name="run.jsonl", **more):
        return recordings.steady(tmp_path / name, **more)

    return write


@pytest.fixture
def analyse(run):
    """Runs a subcommand; skips the test if the build lacks it."""

    def go(*arguments, **popen):
        result = run(*arguments, **popen)
        if "needs resource-tracker-analysis" in result.err:
            pytest.skip(result.err.strip())
        return result

    return go


READERS = {
    "summary": ["summary"], "summary --json": ["summary", "--json"], "stats": ["stats"], "show": ["show"],
    "recommend": ["recommend"], "report": ["report"], "regions": ["regions"], "combine": ["combine"],
    **{f"export {name}": ["export", "-f", name] for name in ("json", "jsonl", "csv", "sqlite", "snapshot", "gpu_tracker")},
}
MARK = '{"timestamp_ns":1,"monotonic_ns":1,"event":"start","name":"x","id":null,"pid":1,"host":"h"}\n'


# ---- over the input --------------------------------------------------------------------------------------

@pytest.mark.parametrize("how", ["same name", "other spelling", "hard link", "symbolic link"])
@pytest.mark.parametrize("force", [[], ["--force"]])
@pytest.mark.parametrize("command", READERS)
def test_no_subcommand_writes_onto_its_input(analyse, recorded, tmp_path, command, force, how):
    path = recorded()
    before = path.read_bytes()
    output = {"same name": "run.jsonl", "other spelling": "./run.jsonl"}.get(how, "other.jsonl")
    if how == "hard link":
        os.link(path, tmp_path / output)
    if how == "symbolic link":
        (tmp_path / output).symlink_to("run.jsonl")
    result = analyse(*READERS[command], *force, "run.jsonl", "-o", output)
    assert result.returncode == FAULT and "it is what is read" in result.err
    assert path.read_bytes() == before and sorted(os.listdir(tmp_path)) == sorted({"run.jsonl", output.lstrip("./")})


def test_no_subcommand_writes_onto_the_second_of_its_inputs(analyse, recorded):
    first, second = recorded("a.jsonl"), recorded("b.jsonl", cores=2.0)
    before = second.read_bytes()
    for command in (["combine", first, second], ["compare-runs", first, second], ["compare-runs", first, f"x={second}"],
                    ["report", first, second], ["report", first, "--history", second], ["report", first, f"--history={second}"],
                    ["recommend", first, second]):
        for output in (["-o", second], [f"--output={second}"], [f"-o{second}"]):
            result = analyse(*command, "--force", *output)
            assert result.returncode == FAULT and "it is what is read" in result.err, (command, output, result.err)
    assert second.read_bytes() == before


def test_no_subcommand_writes_onto_the_marks_of_its_input(analyse, recorded, tmp_path):
    recorded()
    marks = tmp_path / "run.jsonl.marks"
    marks.write_text(MARK)
    before = marks.read_bytes()
    for command in READERS.values():
        assert analyse(*command, "run.jsonl", "--force", "-o", marks).returncode == FAULT
    assert marks.read_bytes() == before


# ---- over another recording ------------------------------------------------------------------------------

@pytest.mark.parametrize("command", READERS)
def test_subcommands_replace_a_recording_only_with_force(analyse, recorded, command):
    recorded()
    other = recorded("other.jsonl", cores=2.0)
    before = other.read_bytes()
    result = analyse(*READERS[command], "run.jsonl", "-o", other)
    assert result.returncode == FAULT and "--force replaces it" in result.err
    assert other.read_bytes() == before
    assert analyse(*READERS[command], "run.jsonl", "--force", "-o", other).returncode == 0
    assert other.read_bytes() != before


@pytest.mark.parametrize("command", READERS)
def test_force_removes_the_marks_of_the_recording_that_it_replaces(analyse, recorded, tmp_path, command):
    recorded()
    other = recorded("other.jsonl", cores=2.0)
    marks = tmp_path / "other.jsonl.marks"
    marks.write_text(MARK)
    assert analyse(*READERS[command], "run.jsonl", "--force", "-o", other).returncode == 0 and not marks.exists()


def test_marks_stay_beside_a_file_that_is_not_a_recording(analyse, recorded, tmp_path):
    recorded()
    (tmp_path / "figures.json").write_text("{}\n")
    marks = tmp_path / "figures.json.marks"
    marks.write_text(MARK)
    assert analyse("stats", "run.jsonl", "-o", "figures.json").returncode == 0 and marks.read_text() == MARK


def test_force_keeps_a_recording_while_its_marks_are_read(analyse, recorded, tmp_path):
    recorded()
    other = recorded("other.jsonl", cores=2.0)
    marks = tmp_path / "other.jsonl.marks"
    marks.write_text(MARK)
    result = analyse("regions", "run.jsonl", "--marks", marks, "--force", "-o", other)
    assert result.returncode == FAULT and "the marks beside it are read" in result.err and marks.read_text() == MARK


def test_subcommands_replace_their_own_earlier_output(analyse, recorded, tmp_path):
    recorded()
    for command, name in ((["report"], "x.html"), (["stats"], "x.txt"), (["summary", "--json"], "x.json")):
        for _ in range(2):
            assert analyse(*command, "run.jsonl", "-o", name).returncode == 0
    assert sorted(os.listdir(tmp_path)) == ["run.jsonl", "x.html", "x.json", "x.txt"]


@pytest.mark.parametrize("command", READERS)
def test_subcommands_replace_the_lines_of_runs_only_with_force(analyse, recorded, tmp_path, command):
    """Such a file may be all that a fleet knows of its runs."""
    recorded()
    fleet = tmp_path / "fleet.jsonl"
    analyse("runs", "add", "run.jsonl", "--runs", fleet)
    lines = fleet.read_text()
    assert '"outcome"' in lines
    result = analyse(*READERS[command], "run.jsonl", "-o", fleet)
    assert result.returncode == FAULT and "--force" in result.err and fleet.read_text() == lines
    sorted_keys = tmp_path / "sorted.jsonl"
    sorted_keys.write_text("".join(json.dumps(json.loads(line), sort_keys=True) + "\n" for line in lines.splitlines()))
    assert analyse(*READERS[command], "run.jsonl", "-o", sorted_keys).returncode == FAULT
    assert analyse(*READERS[command], "--force", "run.jsonl", "-o", fleet).returncode == 0 and fleet.read_bytes() != lines.encode()


@pytest.mark.parametrize("content", ["import sys\n", "{}\n", "# <html>\n"])
def test_lines_of_runs_go_to_no_other_file(analyse, recorded, tmp_path, content):
    recorded()
    source = tmp_path / "main.py"
    source.write_text(content)
    result = analyse("runs", "add", "run.jsonl", "--runs", source)
    assert result.returncode == FAULT and result.err.count("\n") == 1 and "no line is appended" in result.err
    result = analyse("-q", "--runs", source, "--", "sh", "-c", "exit 3")
    assert result.returncode == 3 and result.err.count("\n") == 1 and "no line is appended" in result.err
    assert source.read_text() == content


@pytest.mark.report
def test_a_page_replaces_pages_only(analyse, recorded, tmp_path):
    recorded()
    source = tmp_path / "main.py"
    source.write_text("import sys\n")
    result = analyse("report", "run.jsonl", "-o", source)
    assert result.returncode == FAULT and "not an HTML page" in result.err and source.read_text() == "import sys\n"
    assert analyse("report", "--force", "run.jsonl", "-o", source).returncode == 0 and source.read_text().startswith("<!")
    for content in ("", "\n <HTML lang=en>\n"):
        source.write_text(content)
        assert analyse("report", "run.jsonl", "-o", source).returncode == 0 and source.read_text().startswith("<!")


def test_subcommands_leave_a_live_recording_alone(analyse, spawn, recorded, tmp_path, helpers):
    recorded()
    live = tmp_path / "live.jsonl"
    process = spawn("-q", "-i", "0.05", "-o", live, "--", "sleep", "30")
    helpers.wait_until(lambda: live.exists() and live.stat().st_size)
    for command in READERS.values():
        result = analyse(*command, "run.jsonl", "--force", "-o", live)
        assert result.returncode == FAULT and "a recorder is writing to it" in result.err
    before = live.stat().st_size
    helpers.wait_until(lambda: live.stat().st_size > before)
    process.terminate()


# ---- the recorder ----------------------------------------------------------------------------------------

@pytest.mark.parametrize("content", ["print(1)\n", '{"name": "package"}\n', "timestamp,price\n1700000000,2\n", "\0\0\0", "[]\n"])
@pytest.mark.parametrize("mode", ["wrap", "host"])
def test_the_recorder_renames_only_recordings(run, tmp_path, content, mode):
    (tmp_path / "main.py").write_text(content)
    result = run("-q", "-o", "main.py", *(["--", "touch", "started"] if mode == "wrap" else ["--duration", "0.1"]))
    assert result.returncode == OWN_ERROR and result.err.count("\n") == 1 and "not a recording" in result.err
    assert sorted(os.listdir(tmp_path)) == ["main.py"] and (tmp_path / "main.py").read_text() == content


@pytest.mark.parametrize("more", [[], ["-f", "csv"], ["-f", "csv", "--no-header"], ["--static-once"],
                                  *(["-f", "csv", "--csv-layout", name] for name in ("system", "process", "system-0.1", "pid-0.1"))])
def test_the_recorder_renames_each_format_of_its_own(run, tmp_path, more):
    for _ in range(2):
        assert run("-q", "-o", "run", *more, "--", "true").returncode == 0
    assert sorted(os.listdir(tmp_path)) == ["run", "run.1"]


def test_the_recorder_renames_exported_files(analyse, recorded, tmp_path):
    recorded()
    for name in ("x.json", "x.jsonl", "x.csv"):
        assert analyse("export", "run.jsonl", "-o", name).returncode == 0
        assert analyse("-q", "-o", name, "--", "true").returncode == 0
        assert (tmp_path / (name + ".1")).exists()


# ---- planted names ---------------------------------------------------------------------------------------

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as two users")


@pytest.fixture
def shared(tmp_path):
    """A folder like /tmp, with names planted by another user."""
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o1777)
    return folder


def give_away(path):
    os.chown(path, NOBODY, NOBODY, follow_symlinks=False)


@as_root
@pytest.mark.parametrize("command", READERS)
def test_subcommands_follow_no_planted_link(analyse, recorded, tmp_path, shared, command):
    recorded()
    victim = tmp_path / "victim"
    for content in ("precious", None):
        link = shared / "out"
        if content:
            victim.write_text(content)
        link.symlink_to(victim)
        give_away(link)
        result = analyse(*READERS[command], "run.jsonl", "-o", link)
        assert result.returncode == FAULT and "another user's symbolic link" in result.err
        assert victim.read_text() == content if content else not victim.exists()
        link.unlink()
        victim.unlink(missing_ok=True)


@as_root
def test_subcommands_write_to_no_planted_fifo(analyse, recorded, shared):
    recorded()
    fifo = shared / "out"
    os.mkfifo(fifo)
    give_away(fifo)
    result = analyse("stats", "run.jsonl", "-o", fifo)
    assert result.returncode == FAULT and "another user" in result.err


def test_subcommands_follow_a_link_of_their_own_user(analyse, recorded, tmp_path):
    recorded()
    (tmp_path / "target").mkdir()
    for command, name in ((["stats"], "text"), (["export", "-f", "sqlite"], "db"), (["report"], "page")):
        link, target = tmp_path / name, tmp_path / "target" / name
        link.symlink_to(os.path.join("target", name))
        target.write_text("<html>" if name == "page" else "old")
        assert analyse(*command, "run.jsonl", "-o", link).returncode == 0
        assert link.is_symlink() and target.stat().st_size > 6
    assert sorted(os.listdir(tmp_path / "target")) == ["db", "page", "text"]


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "-"])
def test_an_output_that_is_a_descriptor_is_written_to(analyse, recorded, tmp_path, name):
    recorded()
    before = os.lstat("/dev/stdout").st_ino
    for command in (["stats"], ["export", "-f", "csv"]):
        with open(tmp_path / "file", "wb") as file:
            assert analyse(*command, "run.jsonl", "-o", name, stdout=file).returncode == 0
        assert (tmp_path / "file").stat().st_size > 100
    assert os.lstat("/dev/stdout").st_ino == before


def test_an_output_may_be_a_pipe(analyse, recorded, tmp_path):
    recorded()
    os.mkfifo(tmp_path / "fifo")
    reader = subprocess.Popen(["cat", tmp_path / "fifo"], stdout=subprocess.PIPE)
    assert analyse("export", "-f", "csv", "run.jsonl", "-o", "fifo").returncode == 0
    assert reader.communicate(timeout=10)[0].startswith(b"timestamp,")
