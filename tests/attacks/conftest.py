"""The fixtures of tests/cli, and additions for attacks: a second user, and folders for both users."""
import importlib.util
import os
import pathlib
import shutil
import sys
import tempfile

import pytest

from users import VICTIM

CLI = pathlib.Path(__file__).resolve().parents[1] / "cli"
sys.path.append(str(CLI))
SPEC = importlib.util.spec_from_file_location("cli_conftest", CLI / "conftest.py")
CLI_CONFTEST = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(CLI_CONFTEST)
globals().update({name: value for name, value in vars(CLI_CONFTEST).items() if not name.startswith("__")})

PROGRAMS = ("resource-tracker", "resource-tracker-analysis", "resource-tracker-net", "resource-tracker-helper")


@pytest.fixture(scope="session")
def public_folder():
    """A folder that every user may enter; pytest's folders are closed."""
    with tempfile.TemporaryDirectory(prefix="rt-attacks-") as folder:
        os.chmod(folder, 0o755)
        yield pathlib.Path(folder)


@pytest.fixture(scope="session")
def public_programs(binary, public_folder):
    """Copies all programs to a place where every user may run them."""
    for name in PROGRAMS:
        program = pathlib.Path(binary).parent / name
        if program.exists():
            shutil.copy(program, public_folder / name)
    return public_folder / "resource-tracker"


@pytest.fixture
def shared(public_folder):
    """A folder like /tmp: every user may write, but only the owner of a file may remove it."""
    folder = pathlib.Path(tempfile.mkdtemp(dir=public_folder))
    folder.chmod(0o1777)
    return folder


@pytest.fixture
def home(public_folder):
    """A folder that belongs to the victim."""
    folder = pathlib.Path(tempfile.mkdtemp(dir=public_folder))
    os.chown(folder, VICTIM, VICTIM)
    return folder


@pytest.fixture
def as_user(public_programs, run):
    """as_user(VICTIM, folder, "-q", "--", "true") runs the program as another user in a folder."""
    def start(user, folder, *arguments, **popen):
        return run(*arguments, program=str(public_programs), cwd=folder, user=user, group=user, extra_groups=[], umask=0o022,
                   env={"HOME": str(folder), **popen.pop("env", {})}, **popen)
    return start
