"""packaging/: archives that can be repeated, and the script that installs without root."""
import importlib.machinery
import importlib.util
import os
import pathlib
import subprocess
import sys

import pytest

PACKAGING = pathlib.Path(__file__).resolve().parents[2] / "packaging"


@pytest.fixture(scope="module")
def release():
    loader = importlib.machinery.SourceFileLoader("release", str(PACKAGING / "release"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("release", loader))
    sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
    loader.exec_module(module)
    sys.dont_write_bytecode = before
    return module


def test_archives_depend_on_names_bytes_and_the_epoch_alone(release):
    files = [("b/two", b"2", 0o755), ("a", b"1", 0o644)]
    assert release.tar_of(files, 1000) == release.tar_of(files[::-1], 1000) != release.tar_of(files, 1001)
    assert release.compressed(b"x" * 100) == release.compressed(b"x" * 100)


def test_release_refuses_a_version_that_the_sources_do_not_have(release):
    done = subprocess.run([sys.executable, PACKAGING / "release", "99.0.0"], stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1 and f"of version {release.version_of_sources()}" in done.stderr


@pytest.fixture
def unpacked(tmp_path):
    """A tarball's folder, with a script in the place of the recorder."""
    folder = tmp_path / "resource-tracker-1"
    for name, text in {"bin/resource-tracker": "#!/bin/sh\necho resource-tracker 1\n", "share/man/man1/resource-tracker.1": "page",
                       "libexec/resource-tracker/resource-tracker-net": "#!/bin/sh\n"}.items():
        path = folder / name
        path.parent.mkdir(parents=True)
        path.write_text(text)
        path.chmod(0o755)
    (folder / "install.sh").write_text((PACKAGING / "install.sh").read_text())
    return folder


def installed(root):
    return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root installs files of another user")
def test_programs_that_root_installs_are_not_those_of_another_user(unpacked, tmp_path):
    """A user unpacks, and root installs: the user could then replace a program that root runs."""
    for path in (unpacked, *unpacked.rglob("*")):
        os.chown(path, 65534, 65534)
    subprocess.run(["sh", unpacked / "install.sh", tmp_path / "prefix"], stdout=subprocess.PIPE, check=True, umask=0o077)
    files = [path.stat() for path in (tmp_path / "prefix").rglob("*")]
    assert {(status.st_uid, status.st_mode & 0o777 & ~0o111) for status in files} == {(0, 0o644)}


def test_install_sh_installs_replaces_and_removes(unpacked, tmp_path):
    prefix = tmp_path / "a prefix"
    script = ["sh", unpacked / "install.sh"]
    for _ in range(2):
        done = subprocess.run([*script, prefix], stdout=subprocess.PIPE, text=True, check=True)
        assert "resource-tracker 1\n" in done.stdout and "is not in PATH" in done.stdout
    assert installed(prefix) == {"bin/resource-tracker", "share/man/man1/resource-tracker.1", "libexec/resource-tracker/resource-tracker-net"}
    (prefix / "bin/other").write_text("")
    subprocess.run([*script, "--uninstall", prefix], stdout=subprocess.PIPE, check=True)
    assert installed(prefix) == {"bin/other"} and not (prefix / "libexec/resource-tracker").exists()


@pytest.mark.parametrize("status, taken", [(2, "glibc"), (127, "static")])
def test_install_sh_takes_the_static_helper_where_the_other_cannot_start(unpacked, tmp_path, status, taken):
    helper = unpacked / "libexec/resource-tracker/resource-tracker-helper"
    for path, text in {helper: f"exit {status} # glibc\n", helper.with_name(helper.name + ".static"): "# static\n"}.items():
        path.write_text(f"#!/bin/sh\n{text}")
        path.chmod(0o755)
    prefix = tmp_path / "prefix"
    subprocess.run(["sh", unpacked / "install.sh", prefix], stdout=subprocess.PIPE, check=True)
    assert taken in (prefix / helper.relative_to(unpacked)).read_text()
    assert not (prefix / "libexec/resource-tracker/resource-tracker-helper.static").exists()
    subprocess.run(["sh", unpacked / "install.sh", "--uninstall", prefix], stdout=subprocess.PIPE, check=True)
    assert installed(prefix) == set()
