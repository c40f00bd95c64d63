"""A step of an engine in a folder like /tmp, where another user has put what the recording shell makes: .resource-tracker."""
import os
import pathlib
import shutil
import subprocess

import pytest

from users import ATTACKER, VICTIM, needs_root, plant

pytestmark = needs_root()


@pytest.fixture
def step(binary, public_programs):
    """step(folder, "exit 7") runs a step as the victim."""
    built = pathlib.Path(binary).parent / "src" / "shell" / "bash"
    if not built.exists():
        pytest.skip("the shells are not built")
    folder = public_programs.parent / "src" / "shell"
    folder.mkdir(parents=True, exist_ok=True)
    shell = shutil.copy(built, folder / "bash")

    def run_step(cwd, command, **environment):
        return subprocess.run([shell, "-c", command], cwd=cwd, user=VICTIM, group=VICTIM, extra_groups=[], umask=0o022, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=30,
                              env={"PATH": os.environ["PATH"], "HOME": "/nonexistent", **environment})
    return run_step


def planted_folder(path, user, mode=0o777):
    path.mkdir()
    path.chmod(mode)
    os.chown(path, user, user)
    return path


def test_a_planted_folder_is_not_used(step, shared):
    """Its owner could put a link there under the name of the next recording."""
    theirs = planted_folder(shared / ".resource-tracker", ATTACKER)
    done = step(shared, "echo ran; exit 7")
    assert (done.returncode, done.stdout) == (7, "ran\n")
    assert done.stderr == "resource-tracker: this step is not recorded: .resource-tracker/: another user has put it there\n"
    assert not list(theirs.iterdir())


def test_a_planted_link_to_a_folder_of_the_victim_is_not_followed(step, shared, home):
    (shared / ".resource-tracker").symlink_to(home)
    os.lchown(shared / ".resource-tracker", ATTACKER, ATTACKER)
    done = step(shared, "exit 7")
    assert done.returncode == 7 and "another user has put it there" in done.stderr
    assert not list(home.iterdir())


def test_a_planted_folder_above_is_not_used(step, shared):
    """snakemake.smk names the folder of the workflow."""
    planted_folder(shared / "workflow", ATTACKER)
    done = step(shared, "true", TRACKER_SHELL_OUTPUT=f"{shared}/workflow/.resource-tracker/%n.%t.%p.jsonl")
    assert done.returncode == 0 and "another user has put it there" in done.stderr
    assert not list((shared / "workflow").iterdir())


@pytest.mark.parametrize("owner", (VICTIM, 0))
def test_own_folders_and_those_of_root_are_used(step, shared, owner):
    folder = planted_folder(shared / ".resource-tracker", owner)
    done = step(shared, "true")
    assert (done.returncode, done.stderr) == (0, "")
    assert len(list(folder.glob("*.jsonl"))) == 1


def test_a_named_folder_is_used_as_given(step, shared):
    folder = planted_folder(shared / "named", ATTACKER)
    done = step(shared, "true", TRACKER_SHELL_OUTPUT=f"{folder}/%n.jsonl")
    assert (done.returncode, done.stderr) == (0, "")
    assert len(list(folder.glob("*.jsonl"))) == 1


def test_a_planted_fifo_of_a_task_hangs_no_step(step, home, shared):
    """Nextflow's .command.run is read for the name of the task."""
    os.mkfifo(shared / ".command.run", 0o666)
    plant(home / "script", "exit 3\n", VICTIM)
    done = step(home, "exit 3", NXF_TASK_WORKDIR=str(shared))
    assert done.returncode == 3
