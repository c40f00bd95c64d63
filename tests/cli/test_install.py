"""make install and make uninstall, in a folder that stands for the machine (DESTDIR)."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

from namespaces import can_mount_privately

TOP = pathlib.Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.slow


@pytest.fixture
def build(run):
    folder = pathlib.Path(run("--version").args[0]).parent
    if not (folder / "src/cli/resource-tracker.1").exists() or not (folder / "resource-tracker-analysis").exists():
        pytest.skip("this build has no man pages or no analysis")
    return folder


def install(build, root):
    subprocess.run(["meson", "install", "-C", build, "--no-rebuild", "--quiet"], env={**os.environ, "DESTDIR": str(root)}, check=True,
                   stdin=subprocess.DEVNULL)
    return root / "usr/local"


def uninstall(build, root, prefix="/usr/local"):
    return subprocess.run([sys.executable, TOP / "tools/uninstall", build, prefix, str(root)], stderr=subprocess.PIPE, text=True)


def files_below(root):
    return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_symlink() or not path.is_dir()}


def test_install_puts_each_file_where_the_system_looks(build, tmp_path):
    prefix = install(build, tmp_path)
    assert {"bin/resource-tracker", "libexec/resource-tracker/resource-tracker-analysis", "libexec/resource-tracker/resource-tracker-helper",
            "share/man/man1/resource-tracker.1", "share/man/man3/rt_open.3", "share/man/man1/resource-tracker-summary.1",
            "share/bash-completion/completions/resource-tracker.bash", "share/zsh/site-functions/_resource-tracker",
            "share/fish/vendor_completions.d/resource-tracker.fish", "include/resource_tracker.h",
            "include/resource_tracker_value.h"} <= files_below(prefix)
    assert not [name for name in files_below(prefix) if "internal" in name]
    for program in [prefix / "bin/resource-tracker", *(prefix / "libexec/resource-tracker").glob("resource-tracker-*")]:
        sections = subprocess.run(["readelf", "-SW", program], stdout=subprocess.PIPE, text=True, check=True).stdout
        assert ".text" in sections and ".symtab" not in sections and ".debug_" not in sections
    text = subprocess.run([prefix / "bin/resource-tracker", "--version", "--verbose"], stdout=subprocess.PIPE, text=True, check=True).stdout
    assert f"{prefix}/bin/../libexec/resource-tracker/resource-tracker-analysis\n" in text


def test_a_program_finds_the_library_below_a_prefix_of_its_own(build, tmp_path):
    """The dynamic linker does not search such a prefix, so the flags of pkg-config name it."""
    made, prefix = tmp_path / "build", tmp_path / "prefix"
    subprocess.run(["meson", "setup", "-Dtests=disabled", "-Danalysis=disabled", "-Dnetwork=disabled", "-Dtoml=disabled", f"--prefix={prefix}",
                    made, TOP], check=True, stdout=subprocess.DEVNULL)
    folder = made / "meson-private"
    places = dict(re.findall(r"^(\w+)=(.*)$", (folder / "resource-tracker.pc").read_text(), re.M))
    libraries, headers = (pathlib.Path(places[name].replace("${prefix}", str(prefix))) for name in ("libdir", "includedir"))
    libraries.mkdir(parents=True)
    for library in build.glob("libresource-tracker.so*"):
        if library.is_file():
            shutil.copy(library, libraries, follow_symlinks=False)
    headers.mkdir()
    for name in ("resource_tracker.h", "resource_tracker_value.h"):
        shutil.copy(TOP / "include" / name, headers)
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "resource-tracker"], env={**os.environ, "PKG_CONFIG_PATH": str(folder)},
                           stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    program = tmp_path / "smallest"
    subprocess.run(["cc", TOP / "examples/smallest.c", *flags, "-o", program], check=True)
    environment = {name: text for name, text in os.environ.items() if name != "LD_LIBRARY_PATH"}
    assert "MiB" in subprocess.run([program], env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_a_program_starts_right_after_an_install_below_usr_local(build, tmp_path):
    """Without ldconfig, and with a cache of libraries that knows neither of ours: the flags of pkg-config name the folder."""
    prefix = install(build, tmp_path)
    if not list(prefix.rglob("libresource-tracker-analysis.so")) or not can_mount_privately():
        pytest.skip("this build has no shared libraries, or this machine no private mounts")
    source = tmp_path / "both.c"
    source.write_text("#include <resource_tracker.h>\n#include <resource_tracker_analysis.h>\n#include <stdio.h>\n"
                      "int main(void)\n{\n\trt_summary *summary;\n\tstruct rt_problem problem = {\"\"};\n\tconst char *path = \"/nonexistent\";\n"
                      "\tputs(rt_version());\n\treturn rt_summary_read(&path, 1, &summary, &problem) != -2;\n}\n")
    libraries = next(prefix.rglob("libresource-tracker.so")).parent.relative_to(prefix)
    script = (f"mount --bind {prefix} /usr/local && cd {tmp_path} && mount --bind /dev/null /etc/ld.so.cache && "
              "cc both.c $(pkg-config --cflags --libs resource-tracker resource-tracker-analysis) -o both && ./both")
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "PKG_CONFIG_PATH": f"/usr/local/{libraries}/pkgconfig", "LC_ALL": "C"}
    done = subprocess.run(["unshare", "-m", "sh", "-c", script], env=environment, capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.count(".") == 2, done.stderr


def test_a_wheel_compiles_nothing_but_the_programs_and_libraries(build):
    """829 targets were built: tests, fuzzers and benches as well. Their objects are half of all."""
    def objects(target):
        listed = subprocess.run(["ninja", "-C", build, "-t", "inputs", target], stdout=subprocess.PIPE, text=True, check=True).stdout
        return [line for line in listed.splitlines() if line.endswith(".o")]

    wheel, every = objects("wheel"), objects("all")
    assert len(wheel) > 300 and not [one for one in wheel if one.startswith(("tests/", "bench/", "examples/", "bindings/"))]
    assert set(wheel) < set(every) and len(wheel) < 600
    commands = subprocess.run(["make", "-n", "wheel", f"BUILD={build}"], cwd=TOP, stdout=subprocess.PIPE, text=True, check=True).stdout
    assert f"TARGET=wheel tools/build {build} " in commands


def test_a_prefix_that_no_shell_knows_is_told(tmp_path):
    """tools/install-hints, with which make install ends, says nothing where both folders are known."""
    folder = tmp_path / "lib/x86_64-linux-gnu/pkgconfig"
    folder.mkdir(parents=True)
    (folder / "resource-tracker.pc").write_text(f"prefix={tmp_path}\nName: x\nDescription: x\nVersion: 1\n")

    def hints(**known):
        return subprocess.run([TOP / "tools/install-hints", tmp_path], env={"PATH": os.environ["PATH"], **known}, check=True,
                              stdout=subprocess.PIPE, text=True).stdout.splitlines()[1:]
    path, places = f"{tmp_path}/bin:{os.environ['PATH']}", f"export PKG_CONFIG_PATH={folder}"
    assert hints() == [f"export PATH={tmp_path}/bin:$PATH", places]
    assert hints(PATH=path) == [places] and hints(PATH=path, PKG_CONFIG_PATH=str(folder)) == []


def test_uninstall_removes_only_installed_files(build, tmp_path):
    prefix = install(build, tmp_path)
    other = prefix / "bin/other"
    other.write_text("")
    result = uninstall(build, tmp_path)
    assert (result.returncode, result.stderr) == (0, "")
    assert files_below(tmp_path) == {"usr/local/bin/other"}
    assert not (prefix / "libexec/resource-tracker").exists()
    assert uninstall(build, tmp_path).returncode == 0


def test_uninstall_of_another_prefix_leaves_this_one(build, tmp_path):
    prefix = install(build, tmp_path)
    before = files_below(prefix)
    assert uninstall(build, tmp_path, "/opt/tracker").returncode == 0
    assert files_below(prefix) == before


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_an_ordinary_user_without_sbin_installs_to_a_prefix_of_its_own():
    """make install ended with "Error 127": ldconfig is root's, and in no PATH of an ordinary user of Debian."""
    make = ["make", "--no-print-directory", "-f", "-", "--eval", "probe: ; @$(LDCONFIG)", "probe"]
    done = subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *make], cwd="/",
                          env={"PATH": "/usr/bin:/bin"}, input=(TOP / "Makefile").read_text(), capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
