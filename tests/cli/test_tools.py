"""The tools that decide whether everything is well must be able to say that it is not."""
import importlib.machinery
import importlib.util
import os
import shutil
import subprocess

import pytest


def load(helpers, name):
    loader = importlib.machinery.SourceFileLoader(name.replace("-", "_"), str(helpers.top / "tools" / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def test_every_kind_of_result_is_counted(helpers, tmp_path):
    (tmp_path / "meson.xml").write_text(
        "<testsuites><testsuite><testcase name='a'/><testcase name='b'><failure/></testcase></testsuite></testsuites>")
    (tmp_path / "test_x.xml").write_text(
        "<testsuites><testsuite><testcase name='c'><skipped/></testcase><testcase name='d'><error/></testcase>"
        "<testcase name='e'/></testsuite></testsuites>")
    assert load(helpers, "run-tests").count(tmp_path) == (2, 2, 1)


@pytest.mark.parametrize("body, status, closing", [
    ("def test_a(): pass\ndef test_b(): assert 0\n", 1, "1 passed, 1 failed"),
    ("def test_a(): pass\n", 0, "1 passed, 0 failed"),
    ("import no_such_module\n", 1, "0 passed, 1 failed"),
    ("import os\ndef test_a(): os._exit(0)\n", 1, "0 passed, 1 failed"),
])
def test_a_failure_reaches_the_closing_line(helpers, tmp_path, body, status, closing):
    (tmp_path / "resource-tracker").touch()
    (tmp_path / "test_it.py").write_text(body)
    done = subprocess.run([helpers.top / "tools" / "run-tests", tmp_path, tmp_path / "test_it.py"],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (status, closing)


@pytest.fixture
def setup_without_apt(helpers, tmp_path):
    """tools/setup with a given table of needs, where packages cannot be installed."""

    def run(needs):
        tools = tmp_path / "tools"
        tools.mkdir()
        text = (helpers.top / "tools" / "setup").read_text()
        before, rest = text.split("NEEDS='\n", 1)
        (tools / "setup").write_text(before + "NEEDS='\n" + needs + rest[rest.index("'\n"):])
        shutil.copy(helpers.top / "tools" / "python", tools)
        bin_folder = tmp_path / "bin"
        bin_folder.mkdir()
        for name in ("dirname", "id", "sudo"):
            (bin_folder / name).symlink_to(shutil.which(name) or "/nonexistent")
        return subprocess.run(["/bin/bash", tools / "setup", "test"], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, env={"PATH": str(bin_folder)}, cwd=tmp_path)

    return run


def test_missing_packages_are_named_in_one_line(setup_without_apt):
    done = setup_without_apt("build | cmd dirname | coreutils\nbuild | cmd no-such | one\ntest | file /no/* | two\n")
    assert (done.returncode, done.stderr) == (1, "missing Debian packages: one two\n")


def test_what_the_build_does_without_is_no_error(setup_without_apt):
    done = setup_without_apt("build | hdr no/such.h | nice-to-have | optional\nlint | cmd no-such | other\n")
    assert done.returncode == 0
    assert "nice-to-have" in done.stderr and "other" not in done.stderr


def test_setup_is_quick_when_all_is_there(setup_without_apt):
    done = setup_without_apt("build | hdr stdio.h | libc6-dev\n")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.skipif(not os.path.exists("/bin/true"), reason="no /bin/true")
def test_check_binary_refuses_what_is_too_large(helpers):
    tool = helpers.top / "tools" / "check-binary"
    done = subprocess.run([tool, "/bin/true", "dynamic", "0"], capture_output=True, text=True)
    assert done.returncode == 1 and "FAILED: " in done.stdout
