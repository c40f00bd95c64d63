"""tools/root-archive: a fixture machine as a text file, and back."""
import os
import subprocess

import pytest


@pytest.fixture
def archive(helpers):
    def call(*arguments):
        return subprocess.run([helpers.top / "tools" / "root-archive", *arguments], capture_output=True, text=True)

    return call


def entries(top):
    """Returns {path: content, link target or None} of everything below a folder."""
    found = {}
    for path in sorted(top.rglob("*")):
        key = str(path.relative_to(top))
        if path.is_symlink():
            found[key] = os.readlink(path)
        else:
            found[key] = path.read_bytes() if path.is_file() else None
    return found


def make_machine(top):
    (top / "t0" / "proc" / "1").mkdir(parents=True)
    (top / "t0" / "empty folder").mkdir()
    (top / "ORIGIN").write_text("A machine\nof the test.\n")
    (top / "t0" / "proc" / "stat").write_text("cpu 1\n\tindented\n\nend\n")
    (top / "t0" / "proc" / "bare").write_bytes(b"no line end")
    (top / "t0" / "proc" / "empty").write_bytes(b"")
    (top / "t0" / "proc" / "bytes").write_bytes(bytes(range(256)))
    (top / "t0" / "proc" / "1" / "x) R 1 (\n%").write_text("odd name\n")
    (top / "t0" / "link").symlink_to("proc/1/a target")
    (top / "t1" / "proc").mkdir(parents=True)
    (top / "t1" / "proc" / "stat").write_text("cpu 2\n")
    (top / "t1" / "proc" / "bare").write_bytes(b"no line end")


def test_unpack_restores_every_file_link_and_empty_folder(archive, tmp_path):
    make_machine(tmp_path / "machine")
    assert archive("pack", tmp_path / "machine", tmp_path / "m.tree").returncode == 0
    assert archive("unpack", tmp_path / "m.tree", tmp_path / "back").returncode == 0
    assert entries(tmp_path / "back") == entries(tmp_path / "machine")


def test_unpack_links_unchanged_files_to_the_step_before(archive, tmp_path):
    make_machine(tmp_path / "machine")
    archive("pack", tmp_path / "machine", tmp_path / "m.tree")
    archive("unpack", tmp_path / "m.tree", tmp_path / "back")
    assert (tmp_path / "back/t1/proc/bare").samefile(tmp_path / "back/t0/proc/bare")
    assert not (tmp_path / "back/t1/proc/stat").samefile(tmp_path / "back/t0/proc/stat")


def test_pack_with_include_stores_only_the_differences(archive, tmp_path):
    make_machine(tmp_path / "machine")
    archive("pack", tmp_path / "machine", tmp_path / "base.tree")
    (tmp_path / "machine/t1/proc/more").write_text("of this machine alone\n")
    archive("pack", tmp_path / "machine", tmp_path / "other.tree", "base")
    text = (tmp_path / "other.tree").read_text()
    assert "text proc/more" in text and "proc/stat" not in text
    archive("unpack-all", tmp_path, tmp_path / "all")
    assert entries(tmp_path / "all" / "other") == entries(tmp_path / "machine")


def test_unreadable_line_is_named_with_file_and_number(archive, tmp_path):
    (tmp_path / "bad.tree").write_text("origin\n\tx\nstep t0\nfile proc/stat\n")
    done = archive("unpack", tmp_path / "bad.tree", tmp_path / "back")
    assert done.returncode == 1 and "bad.tree:4: cannot read 'file proc/stat'" in done.stderr
