"""Files that the package writes in a folder like /tmp, where another user has put something under their names."""
import os
import subprocess
import sys

import pytest

from resource_tracker_native.gpu_tracker.sub_tracking_file import SubTrackingFile
from resource_tracker_native.report import Report
from resource_tracker_native.tiny_data_frame import TinyDataFrame

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be two users")
OTHER = 5
MINE = "# mine\n"


@pytest.fixture
def shared(tmp_path):
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o1777)
    return folder


@pytest.fixture
def precious(tmp_path):
    path = tmp_path / "precious"
    path.write_text(MINE)
    return path


def write_with_pytest(path):
    suite = path.parent.parent / "test_suite.py"
    suite.write_text("def test_one():\n    pass\n")
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--track-json", path, suite],
                          cwd=suite.parent, capture_output=True, text=True, timeout=50)
    if done.returncode:
        raise OSError(done.stdout + done.stderr)


WRITERS = {"report": lambda path: Report("<p>page</p>").save(str(path)),
           "table": lambda path: TinyDataFrame({"a": [1]}).to_csv(str(path)),
           "pytest": write_with_pytest,
           "blocks": lambda path: SubTrackingFile(str(path) + ".sqlite").add(1, "a", 0, 0.0)}


@pytest.mark.parametrize("name", sorted(WRITERS))
def test_a_planted_link_is_not_followed(shared, precious, tmp_path, name):
    for target in (precious, tmp_path / "made"):
        for link in (shared / "out", shared / "out.sqlite"):
            link.symlink_to(target)
            os.lchown(link, OTHER, OTHER)
        with pytest.raises(OSError):
            WRITERS[name](shared / "out")
        assert precious.read_text() == MINE and not (tmp_path / "made").exists()
        for path in shared.iterdir():
            path.unlink()


@pytest.mark.parametrize("kind", ["file", "fifo", "second name"])
def test_nothing_of_another_user_is_written_to(shared, tmp_path, kind):
    """A FIFO would hold the program until another one reads from it."""
    path = shared / "out"
    if kind == "fifo":
        os.mkfifo(path)
    else:
        path.write_text(MINE)
    if kind == "second name":
        os.link(path, tmp_path / "first")
    else:
        os.chown(path, OTHER, OTHER)
    with pytest.raises(OSError):
        Report("<p>page</p>").save(str(path))
    assert kind == "fifo" or path.read_text() == MINE


@pytest.mark.parametrize("name", sorted(WRITERS))
def test_new_and_own_files_are_written(shared, name):
    WRITERS[name](shared / "out")
    if name != "blocks":  # which never writes over a file
        WRITERS[name](shared / "out")
    assert [path.stat().st_size > 0 for path in shared.iterdir()] == [True]


def test_an_own_link_is_followed(shared, tmp_path):
    (shared / "out").symlink_to(tmp_path / "there")
    Report("<p>page</p>").save(str(shared / "out"))
    assert "page" in (tmp_path / "there").read_text()
