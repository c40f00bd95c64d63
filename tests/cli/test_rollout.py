"""packaging/rollout.sh: programs, module file and settings for all users, in a folder that stands for the machine. No root is needed."""
import json
import os
import pathlib
import shutil
import subprocess

import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.slow


@pytest.fixture
def rollout(run, tmp_path):
    """Returns a function that runs the script of an unpacked archive, which is made of this build."""
    binary = pathlib.Path(run("--version").args[0])
    if not (binary.parent / "resource-tracker-analysis").exists():
        pytest.skip("this build has no analysis")
    source = tmp_path / "archive"
    for folder in ("bin", "libexec/resource-tracker", "share"):
        (source / folder).mkdir(parents=True)
    shutil.copy(binary, source / "bin")
    for name in ("analysis", "helper"):
        if (binary.parent / f"resource-tracker-{name}").exists():
            shutil.copy(binary.parent / f"resource-tracker-{name}", source / "libexec/resource-tracker")
    for name in ("install.sh", "rollout.sh"):
        shutil.copy(TOP / "packaging" / name, source)
    # A file that only takes more lines could not be removed after the test.
    fakes = tmp_path / "fakes"
    fakes.mkdir()
    (fakes / "chattr").write_text(f"#!/bin/sh\necho \"$@\" >>{tmp_path}/chattr.log\n")
    (fakes / "chattr").chmod(0o755)

    def call(*words, source=source):
        return subprocess.run(["sh", source / "rollout.sh", *words, "--destdir", tmp_path / "root"], text=True, stdin=subprocess.DEVNULL,
                              capture_output=True, env={**os.environ, "PATH": f"{fakes}:{os.environ['PATH']}"})
    call.root, call.source = tmp_path / "root", source
    return call


def files_below(root):
    return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_symlink() or path.is_file()}


def version_of(rollout):
    return rollout.source.joinpath("bin/resource-tracker"), subprocess.run(
        [rollout.source / "bin/resource-tracker", "--version"], capture_output=True, text=True, check=True).stdout.split()[1]


def recorded(rollout, version, folder, *words, **environment):
    """Runs a job as a user of the site would, and returns the lines of runs in a folder."""
    folder.mkdir(exist_ok=True)
    result = subprocess.run([rollout.root / f"opt/resource-tracker/{version}/bin/resource-tracker", "-q", *words, "--", "true"], cwd=folder, text=True,
                            capture_output=True, stdin=subprocess.DEVNULL, env={
                                "PATH": "/usr/bin:/bin", "TRACKER_HISTORY": "off", "TRACKER_SITE_CONFIG": str(rollout.root / "etc/resource-tracker/config.toml"),
                                **environment})
    assert (result.returncode, result.stderr) == (0, ""), result.stderr
    return [json.loads(line) for path in sorted(folder.glob("*.jsonl")) for line in path.read_text().splitlines()]


def test_settings_of_the_site_hold_until_a_user_has_others(rollout, needs_toml, tmp_path):
    _, version = version_of(rollout)
    runs = tmp_path / "lines" / "%h.jsonl"
    result = rollout("install", "--runs", str(runs), "--quota", "200", "--profile")
    assert result.returncode == 0, result.stderr
    # The file of runs has a name of the machine, below the folder that stands for it.
    shared = pathlib.Path(f"{rollout.root}{tmp_path}/lines/{os.uname().nodename}.jsonl")
    assert shared.stat().st_mode & 0o777 == 0o666 and (tmp_path / "chattr.log").read_text() == f"+a {shared}\n"
    (tmp_path / "lines").mkdir()
    line, = recorded(rollout, version, tmp_path / "lines")
    assert line["outcome"] == "ok"
    mine = tmp_path / "mine"
    assert len(recorded(rollout, version, mine, TRACKER_RUNS=str(mine / "own.jsonl"))) == 1
    assert len(recorded(rollout, version, mine, "--runs", "own.jsonl")) == 2
    (mine / "resource-tracker.toml").write_text("[tracker]\nruns = 'own.jsonl'\n")
    mine.chmod(0o755)
    (mine / "resource-tracker.toml").chmod(0o644)
    assert len(recorded(rollout, version, mine)) == 3
    assert len(recorded(rollout, version, tmp_path / "lines", TRACKER_SITE_CONFIG="")) == 1, "a user may leave the site's settings out"
    shell = subprocess.run(["sh", "-c", '. "$0"; . "$0"; echo "$PATH $TRACKER_HISTORY_MIB"', rollout.root / "etc/profile.d/resource-tracker.sh"],
                           env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True, check=True)
    assert shell.stdout == "/usr/bin:/bin:/opt/resource-tracker/current/bin 200\n"


def test_an_upgrade_keeps_the_old_version_until_it_is_removed(rollout):
    program, version = version_of(rollout)
    assert rollout("install", "--quota", "300").returncode == 0
    module = rollout.root / "etc/modulefiles/resource-tracker"
    text = (module / version).read_text()
    assert text.startswith("#%Module1.0\n") and f"prepend-path PATH /opt/resource-tracker/{version}/bin\n" in text and "setenv TRACKER_HISTORY_MIB 300\n" in text
    settings = rollout.root / "etc/resource-tracker/config.toml"
    settings.write_text("[tracker]\ninterval_secs = 5\n")
    newer = rollout.source.with_name("newer")
    shutil.copytree(rollout.source, newer)
    os.rename(newer / "bin/resource-tracker", newer / "bin/real")
    (newer / "bin/resource-tracker").write_text('#!/bin/sh\n[ "$1" != --version ] || { echo "resource-tracker 9.10.0"; exit; }\nexec "${0%/*}/real" "$@"\n')
    (newer / "bin/resource-tracker").chmod(0o755)
    (newer / "share/new").write_text("")
    assert "9.10.0 is the default" in rollout("install", source=newer).stdout
    assert settings.read_text() == "[tracker]\ninterval_secs = 5\n", "settings of the site are not replaced"
    folder = rollout.root / "opt/resource-tracker"
    assert os.readlink(folder / "current") == "9.10.0" and (folder / version / "bin/resource-tracker").exists()
    assert '"9.10.0"' in (module / ".version").read_text()
    assert f"the default is {version}" in rollout("remove", "--version", "9.10.0").stdout
    assert os.readlink(folder / "current") == version and f'"{version}"' in (module / ".version").read_text() and not (module / "9.10.0").exists()
    assert "kept" in rollout("remove").stdout
    assert files_below(rollout.root) == {"etc/resource-tracker/config.toml"}
    rollout("install", "--profile", "--modules", "")
    assert not (rollout.root / "etc/modulefiles/resource-tracker").exists()
    assert rollout("remove", "--purge").returncode == 0 and not files_below(rollout.root)


@pytest.mark.parametrize("words, message", [
    ([], "say install or remove"), (["install", "remove"], "install or remove: give one of them"), (["install", "--prefix"], "--prefix needs a value"),
    (["install", "--prefix", "opt"], "'opt' must begin with /"), (["install", "--runs", "/a\"b"], "has characters"), (["install", "x"], "unknown word x"),
    (["install", "--quota", "0"], "whole number of MiB"), (["install", "--quota", "1048577"], "whole number of MiB"),
    (["remove", "--version", "../x"], "is not a version"), (["remove", "--version", ".."], "is not a version"), (["install", "--from", "/"], "is not the unpacked archive")])
def test_a_wrong_word_changes_nothing(rollout, words, message):
    result = rollout(*words)
    # The folder that stands for the machine takes the place of a value that is missing.
    if words[-1:] == ["--prefix"]:
        result = subprocess.run(["sh", rollout.source / "rollout.sh", *words], text=True, capture_output=True, stdin=subprocess.DEVNULL)
    assert result.returncode == 2 and message in result.stderr, result.stderr
    assert not rollout.root.exists() or not files_below(rollout.root)


@pytest.mark.parametrize("folder", ["etc/lmod/modules", "etc/environment-modules/modules"])
def test_the_module_file_is_where_this_machine_looks(rollout, folder):
    (rollout.root / folder).mkdir(parents=True)
    assert rollout("install").returncode == 0
    assert (rollout.root / folder / "resource-tracker/.version").exists() and not (rollout.root / "etc/modulefiles").exists()


def test_a_version_is_removed_from_the_machine_itself(rollout):
    """Without --destdir, as an administrator does it."""
    assert rollout("install").returncode == 0
    place = rollout.root / "opt/resource-tracker"
    _, version = version_of(rollout)
    shutil.copytree(place / version, place / "0.0.9")
    done = subprocess.run(["sh", rollout.source / "rollout.sh", "remove", "--version", "0.0.9", "--prefix", place, "--modules", rollout.root / "etc/modulefiles"],
                          text=True, stdin=subprocess.DEVNULL, capture_output=True)
    assert (done.returncode, done.stderr) == (0, "") and sorted(path.name for path in place.iterdir()) == [version, "current"]
