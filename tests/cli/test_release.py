"""packaging/: archives that can be repeated, and the script that installs without root."""
import importlib.machinery
import importlib.util
import io
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import time
import zipfile

import pytest

pytestmark = pytest.mark.plain
PACKAGING = pathlib.Path(__file__).resolve().parents[2] / "packaging"


def script_as_module(name):
    if str(PACKAGING) not in sys.path:
        sys.path.append(str(PACKAGING))
    loader = importlib.machinery.SourceFileLoader(name, str(PACKAGING / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
    loader.exec_module(module)
    sys.dont_write_bytecode = before
    return module


@pytest.fixture(scope="module")
def release():
    return script_as_module("release")


@pytest.fixture(scope="module")
def smoke():
    return script_as_module("smoke")


def write_script(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/bash\n" + text)
    path.chmod(0o755)


def test_archives_depend_on_names_bytes_and_the_epoch_alone(release):
    files = [("b/two", b"2", 0o755), ("a", b"1", 0o644)]
    assert release.tar_of(files, 1000) == release.tar_of(files[::-1], 1000) != release.tar_of(files, 1001)
    assert release.compressed(b"x" * 100) == release.compressed(b"x" * 100)


def test_release_tells_how_long_each_part_took(release, capfd):
    release.timed("tarball", lambda: subprocess.run([sys.executable, "-c", "import time; end = time.process_time() + 1.1\nwhile time.process_time() < end: pass"],
                                                    check=True))
    begun, told = capfd.readouterr().err.splitlines()
    assert begun == "==== tarball"
    wall, cpu = map(int, re.fullmatch(r"==== tarball: (\d+) s, (\d+) s of CPU time", told).groups())
    assert wall >= 1 and 1 <= cpu <= 3


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


def test_install_sh_takes_options_and_a_folder_below_the_current_one(unpacked, tmp_path):
    def install(*words, status=0):
        done = subprocess.run(["sh", unpacked / "install.sh", *words], cwd=tmp_path, capture_output=True, text=True, env={**os.environ, "HOME": str(tmp_path / "home")})
        assert done.returncode == status, done.stderr
        return done

    assert "usage: sh install.sh" in install("--help").stdout
    for words, part in ((["--nonsense"], "unknown option --nonsense"), (["--prefix"], "--prefix needs a folder"), (["a", "b"], "two folders"),
                        (["--prefix="], "empty"), ([""], "empty")):
        assert part in install(*words, status=2).stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == [unpacked.name]
    for words in (["here/below"], ["--prefix", "here/below"], ["--prefix=here/below"]):
        install(*words)
        assert "bin/resource-tracker" in installed(tmp_path / "here/below")
        install("--uninstall", *words)
        assert installed(tmp_path / "here/below") == set()


def test_install_sh_replaces_programs_while_they_are_started(unpacked, tmp_path):
    """It removed each program before it copied the new one: 73 of 1,150 starts failed."""
    prefix = tmp_path / "prefix"
    subprocess.run(["sh", unpacked / "install.sh", prefix], stdout=subprocess.DEVNULL, check=True)
    # A slow copy stands for a slow disk. A reader sees the whole file at any moment.
    (tmp_path / "cp").write_text('#!/bin/sh\nfor last; do :; done\nprintf "half" >"$last"\nsleep .1\nrm "$last"\nexec /bin/cp "$@"\n')
    (tmp_path / "cp").chmod(0o755)
    upgrade = subprocess.Popen(["sh", unpacked / "install.sh", prefix], stdout=subprocess.DEVNULL, env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"})
    starts = []
    while upgrade.poll() is None or not starts:
        starts.append(subprocess.run([prefix / "bin/resource-tracker"], capture_output=True, text=True).stdout)
    assert upgrade.returncode == 0 and len(starts) > 5 and set(starts) == {"resource-tracker 1\n"}
    assert not list(prefix.rglob("*.new-*"))


@pytest.mark.parametrize("status, taken", [(2, "glibc"), (127, "static"), (1, "static"), (255, "static")])
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


def test_a_second_build_has_another_umask_time_zone_and_language(tmp_path):
    """TZ and LC_ALL stood before `umask`, so they were those of umask alone."""
    for name in ("reproduce", "release"):
        write_script(tmp_path / "packaging" / name, (PACKAGING / "reproduce").read_text().partition("\n")[2] if name == "reproduce" else
                     'mkdir -p build-release/out/1; echo same >build-release/out/1/SHA256SUMS; echo "$PWD $(umask) $TZ $LC_ALL" >seen\n')
    (tmp_path / ".gitignore").write_text("/build-*\n")
    for words in (["init", "-q"], ["add", "."], ["-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "-m", "a"]):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    (tmp_path / "build-release/out/1").mkdir(parents=True)
    (tmp_path / "build-release/out/1/SHA256SUMS").write_text("same\n")
    environment = {**os.environ, "LC_ALL": "C.UTF-8", "TZ": "UTC"}
    done = subprocess.run(["packaging/reproduce", "1"], cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True, check=True, umask=0o022)
    assert done.stdout == "1 files are byte-identical\n"
    again = tmp_path / "build-release/again/a-longer-path/of-the-sources"
    assert (again / "seen").read_text() == f"{again} 0027 Pacific/Kiritimati C\n"


def test_a_portable_build_starts_anew_when_its_compiler_changes(tmp_path):
    """Meson keeps the old arguments of a compiler when it configures again."""
    write_script(tmp_path / "packaging/portable", (PACKAGING / "portable").read_text().partition("\n")[2])
    write_script(tmp_path / "packaging/toolchain", "echo tools\n")
    write_script(tmp_path / "tools/build", 'mkdir -p "$1"; echo "${*:2}" >"$1/arguments"\n')
    (tmp_path / "build-release/headers/toml++").mkdir(parents=True)

    def portable():
        done = subprocess.run(["packaging/portable", "x86_64-linux-gnu.2.17", "helper"], cwd=tmp_path, stdout=subprocess.PIPE, text=True, check=True)
        return tmp_path / done.stdout.strip()

    old = portable() / "of-the-old-compiler"
    old.write_text("")
    assert old.exists() and portable() == old.parent and old.exists()
    write_script(tmp_path / "packaging/toolchain", "echo tools # of another version\n")
    assert portable() == old.parent and not old.exists() and "old_glibc.h" in (old.parent / "arguments").read_text()


def test_smoke_tries_each_artefact_in_the_roots_of_its_machine(smoke, tmp_path):
    def root(name, machine, debian=None):
        program = tmp_path / name / "bin/busybox"
        program.parent.mkdir(parents=True)
        program.write_bytes(b"\x7fELF".ljust(18, b"\0") + bytes([machine, 0]))
        if debian:
            for path, text in {"etc/debian_version": debian, "usr/bin/python3": ""}.items():
                (tmp_path / name / path).parent.mkdir(parents=True, exist_ok=True)
                (tmp_path / name / path).write_text(text)
        return tmp_path / name

    debian, arm, busybox = root("debian", 62, "11.11\n"), root("debian-arm", 183, "11.11\n"), root("busybox", 62)
    for name, places in {"resource-tracker-1-linux-x86_64.tar.gz": [debian, busybox], "resource-tracker-1-linux-aarch64.tar.gz": [arm],
                         "resource-tracker-1-oci-aarch64.tar": [None], "r-1-cp39-abi3-musllinux_1_2_x86_64.whl": [busybox],
                         "r-1-cp39-abi3-manylinux_2_17_aarch64.manylinux2014_aarch64.whl": [arm], "SHA256SUMS": "-"}.items():
        assert smoke.plan(tmp_path / name, [debian, arm, busybox])[1] == places, name


def test_emulate_names_the_missing_qemu(tmp_path):
    done = subprocess.run([sys.executable, PACKAGING / "emulate", "aarch64", "true"], env={"PATH": str(tmp_path)}, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (125, "emulate: qemu-aarch64-static is missing\n")


def test_programs_that_need_more_than_their_artefact_promises_are_named(smoke, tmp_path):
    """A program of this machine needs its libc, which is newer than glibc 2.17, and a library that is not inside."""
    needs = script_as_module("libc_needs.py")
    (tmp_path / "one.c").write_text("int other(void);\nint main(void) { return other(); }\n")
    (tmp_path / "other.c").write_text("#include <stdio.h>\nint other(void) { return puts(\"\"); }\n")
    subprocess.run(["cc", "-shared", "-fPIC", "-Wl,-soname,libother.so.1", "other.c", "-o", "libother.so"], cwd=tmp_path, check=True)
    subprocess.run(["cc", "one.c", "libother.so", "-o", "one"], cwd=tmp_path, check=True)
    libraries, newest = needs.needs_of((tmp_path / "one").read_bytes())
    assert libraries == ["libother.so.1", "libc.so.6"]
    if newest is None or newest <= (2, 17):
        pytest.skip("this machine's own programs start with glibc 2.17")
    number = ".".join(map(str, newest))
    wheels = {"manylinux_2_17_x86_64": ["one needs libother.so.1", f"one needs glibc {number}"],
              "musllinux_1_2_x86_64": ["one needs libother.so.1", "one needs libc.so.6", f"one needs glibc {number}"]}
    for platform, expected in wheels.items():
        wheel = tmp_path / f"a-1-cp39-abi3-{platform}.whl"
        with zipfile.ZipFile(wheel, "w") as files:
            files.write(tmp_path / "one", "a/one")
        assert list(needs.problems(wheel)) == [f"{wheel.name}: {problem}" for problem in expected]
        assert needs.oldest_libc(wheel) == f"one: glibc {number}"


def test_static_programs_need_nothing_and_the_helper_of_the_archive_an_old_glibc(tmp_path):
    needs = script_as_module("libc_needs.py")
    (tmp_path / "one.c").write_text("int main(void) { return 0; }\n")
    subprocess.run(["cc", "-nostdlib", "-static", "-Wl,-e,main", "one.c", "-o", "static"], cwd=tmp_path, check=True)
    subprocess.run(["cc", "-nostdlib", "-shared", "-Wl,--no-as-needed", "one.c", "-o", "helper", "-lc"], cwd=tmp_path, check=True)
    archive = tmp_path / "a-1-linux-x86_64.tar.gz"
    for helper, expected in (("resource-tracker-helper", []), ("resource-tracker", [f"{archive.name}: resource-tracker needs libc.so.6"])):
        with tarfile.open(archive, "w:gz") as files:
            files.add(tmp_path / "static", "a/bin/static")
            files.add(tmp_path / "helper", f"a/libexec/{helper}")
        assert list(needs.problems(archive)) == expected
        assert needs.oldest_libc(archive) == "none needed"


@pytest.mark.parametrize("name, size, allowed", [
    ("a-musllinux_1_2_x86_64.whl", 3_000_000, True), ("a-musllinux_1_2_x86_64.whl", 3_000_001, False),
    ("resource-tracker-1-oci-x86_64.tar", 1_000_001, False), ("resource-tracker_1_amd64.deb", 9_000_000, True)])
def test_a_release_refuses_an_artefact_that_is_too_large(release, tmp_path, name, size, allowed):
    path = tmp_path / name
    with (tarfile.open if name.endswith(".tar") else zipfile.ZipFile)(path, "w"):
        pass
    # A zip file is read from its end, a tar file from its begin.
    end = path.read_bytes() if path.suffix == ".whl" else b""
    with open(path, "r+b") as file:
        file.truncate(size)
        file.seek(size - len(end))
        file.write(end)
    assert bool(release.refusals([path])) is not allowed


@pytest.mark.parametrize("more, lines", [(0, 0), (1, 1)])
def test_a_release_refuses_the_recorders_that_its_nightly_check_refuses(release, tmp_path, more, lines):
    size = (int(re.search(r"-musl/resource-tracker static (\d+)\n", (PACKAGING.parent / "tools" / "ci-release").read_text())[1]) << 10) + more
    artefact = tmp_path / "resource-tracker-1-linux-x86_64.tar.gz"
    with tarfile.open(artefact, "w:gz") as files:
        entry = tarfile.TarInfo("resource-tracker-1/bin/resource-tracker")
        entry.size = size
        files.addfile(entry, io.BytesIO(bytes(size)))
    assert len(release.refusals([artefact])) == lines


@pytest.fixture
def backend():
    loader = importlib.machinery.SourceFileLoader("backend", str(PACKAGING.parent / "bindings/python/backend.py"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("backend", loader))
    loader.exec_module(module)
    return module


@pytest.mark.parametrize("free_threaded, headers, ending, limited", [
    (0, None, ".abi3.so", True), (1, None, ".cpython-313t-x86_64-linux-gnu.so", False), (1, "headers", ".abi3.so", True)])
def test_extensions_for_a_python_without_the_lock_are_for_it_alone(backend, tmp_path, monkeypatch, free_threaded, headers, ending, limited):
    """Its headers refuse the limited API, and it loads no extension that was made with it."""
    variables = {"Py_GIL_DISABLED": free_threaded, "EXT_SUFFIX": ".cpython-313t-x86_64-linux-gnu.so"}
    monkeypatch.setattr(backend.sysconfig, "get_config_var", variables.get)
    monkeypatch.setattr(backend, "include_folder", lambda: "headers")
    monkeypatch.delenv("PYTHON_HEADERS", raising=False)
    if headers:
        monkeypatch.setenv("PYTHON_HEADERS", headers)
    commands = []
    monkeypatch.setattr(backend.subprocess, "run", lambda command, **_: commands.append(command))
    assert backend.compile_extension("_native", tmp_path, tmp_path).name == "_native" + ending
    assert any("Py_LIMITED_API" in word for word in commands[0]) is limited
    number = f"cp{sys.version_info.major}{sys.version_info.minor}"
    assert backend.tag() == ("cp39-abi3" if limited else f"{number}-{number}t")


@pytest.mark.parametrize("reproduced, smoked, status", [(0, 0, 0), (1, 0, 1), (0, 1, 1)])
def test_the_second_build_goes_on_while_the_artefacts_are_tried(tmp_path, reproduced, smoked, status):
    """One after the other took the time of both."""
    def waits(begun, other, words):
        return f"touch {begun}; for i in $(seq 400); do [ -e {other} ] && echo {words} && exit $STATUS; sleep 0.05; done; echo {words} alone; exit 9\n"

    write_script(tmp_path / "packaging/release-all", (PACKAGING / "release-all").read_text().partition("\n")[2])
    write_script(tmp_path / "packaging/release", "mkdir -p build-release\n")
    write_script(tmp_path / "packaging/roots", "echo /a-root\n")
    write_script(tmp_path / "packaging/reproduce", f"STATUS={reproduced}\n" + waits("built", "tried", "same bytes"))
    write_script(tmp_path / "packaging/smoke", f"STATUS={smoked}\n" + waits("tried", "built", "the table $*"))
    done = subprocess.run(["packaging/release-all", "1"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert done.returncode == status
    said = [line for line in done.stdout.splitlines() if "====" not in line]
    assert said == ["the table build-release/out/1 /a-root", "same bytes"]
    assert f"==== built again: status {reproduced}" in done.stdout


def test_a_release_that_is_ended_leaves_no_second_build_behind(tmp_path):
    write_script(tmp_path / "packaging/release-all", (PACKAGING / "release-all").read_text().partition("\n")[2])
    write_script(tmp_path / "packaging/release", "mkdir -p build-release\n")
    write_script(tmp_path / "packaging/roots", "for i in $(seq 400); do [ -s build-pid ] && break; sleep 0.05; done; kill $PPID; sleep 30\n")
    write_script(tmp_path / "packaging/reproduce", "sleep 60 & echo $! >build-pid; wait\n")
    write_script(tmp_path / "packaging/smoke", "true\n")
    subprocess.run(["timeout", "20", "packaging/release-all", "1"], cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    pid = int((tmp_path / "build-pid").read_text())
    for _ in range(200):
        state = pathlib.Path(f"/proc/{pid}/stat")
        if not state.exists() or state.read_text().rpartition(")")[2].split()[0] == "Z":
            return
        time.sleep(0.05)
    os.kill(pid, 9)
    pytest.fail("the second build goes on")
