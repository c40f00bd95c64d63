"""Builds the Python package: a wheel (what pip asks of a build backend), or the package in place for working on it.

backend.py in-place [BUILD]        BUILD/python/resource_tracker_native, links to the sources beside compiled code
backend.py wheel FOLDER [BUILD]    a wheel for the machine it is built on; tools/python-wheel makes it portable

BUILD (default: build of this checkout) has the compiled libraries and programs. The build needs only a C compiler, the
headers of any Python from 3.9 on, and the standard library. The extensions use the limited API, so one wheel serves all
versions of Python.
"""
import base64
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parents[1]
PACKAGE = "resource_tracker_native"
DISTRIBUTION = "resource_tracker_native"
# Metaflow finds extensions by this second name in the metadata of installed distributions.
TOP_LEVEL = [PACKAGE, "metaflow_extensions"]
LIMITED_API = "0x03090000"
# The library that each extension wraps.
EXTENSIONS = {"_native": "resource-tracker", "_analysis": "resource-tracker-analysis"}
LIBRARIES = ["libresource-tracker.so.0", "libresource-tracker-analysis.so.0"]
PROGRAMS = ["resource-tracker-helper", "resource-tracker-net"]
FLAGS = ["-std=gnu17", "-O2", "-g", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra", "-Wshadow",
         "-Wno-missing-field-initializers", "-Wno-cast-function-type", "-Wno-unused-parameter"]


def version():
    return re.search(r"version: '([^']+)'", (TOP / "meson.build").read_text()).group(1)


def include_folder():
    """Returns the headers of the running Python, or of any other: the limited API is the same in all."""
    for folder in [sysconfig.get_path("include"), *sorted(map(str, pathlib.Path("/usr/include").glob("python3.*")))]:
        if os.path.exists(os.path.join(folder, "Python.h")):
            return folder
    raise SystemExit("Python.h is missing: install python3-dev")


def is_older(target, sources):
    return not target.exists() or any(source.stat().st_mtime > target.stat().st_mtime for source in sources)


def compile_extension(name, build, folder):
    """Compiles FOLDER/NAME.abi3.so, which looks for its library in the folder lib beside it."""
    target = folder / f"{name}.abi3.so"
    sources = sorted((HERE / "native").glob(f"{name[1:]}*.c")) + [HERE / "native" / "support.c"]
    library = build / f"lib{EXTENSIONS[name]}.so"
    if is_older(target, [*sources, *(HERE / "native").glob("*.h"), *(TOP / "include").glob("*.h"), pathlib.Path(__file__)]):
        command = [*os.environ.get("CC", "cc").split(), "-shared", *FLAGS, f"-DPy_LIMITED_API={LIMITED_API}",
                   "-I", include_folder(), "-I", TOP / "include", *sources, "-o", target, "-L", build,
                   "-Wl,-rpath,$ORIGIN/lib", f"-l:{library.name}"]
        subprocess.run([str(word) for word in command], check=True)
    return target


def built(folder):
    """Returns the build folder. If its libraries are missing, a checkout builds them first."""
    build = pathlib.Path(folder or TOP / "build").resolve()
    if not (build / "libresource-tracker-analysis.so").exists():
        subprocess.run([TOP / "tools" / "build", build], check=True, cwd=TOP, stdout=sys.stderr)
    return build


def link(target, to):
    if target.is_symlink() and os.readlink(target) == str(to):
        return
    if target.is_symlink() or target.exists():
        target.unlink()
    target.symlink_to(to)


def sources():
    """Lists the files of the package and of its Metaflow plug-ins, relative to the folder that holds both."""
    for top in TOP_LEVEL:
        for path in sorted((HERE / "src" / top).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                yield path.relative_to(HERE / "src")


def in_place(folder=None):
    """Fills BUILD/python. With this folder in PYTHONPATH, the checkout serves as the installed package."""
    build = built(folder)
    root = build / "python"
    wanted = set()
    for path in sources():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        link(root / path, HERE / "src" / path)
        wanted.add(root / path)
    for path in root.rglob("*.py*"):
        if path.is_symlink() and path not in wanted:
            path.unlink()
    package = root / PACKAGE
    for name in EXTENSIONS:
        compile_extension(name, build, package)
    (package / "lib").mkdir(exist_ok=True)
    for name in LIBRARIES:
        link(package / "lib" / name, build / name)
    for name in PROGRAMS:
        if (build / name).exists():
            link(package / "lib" / name, build / name)
    return root


def strip(path):
    subprocess.run([os.environ.get("STRIP", "strip"), "--strip-unneeded", str(path)], check=False)


def metadata():
    text = (HERE / "pyproject.toml").read_text()
    field = dict(re.findall(r'^(name|description|requires-python) = "(.*)"', text, re.M))
    lines = ["Metadata-Version: 2.1", f"Name: {field['name']}", f"Version: {version()}",
             f"Summary: {field['description']}", f"Requires-Python: {field['requires-python']}", "License: Apache-2.0"]
    lines += [f"Classifier: {one}" for one in re.findall(r'^  "(.* :: .*)",', text, re.M)]
    lines += ["Description-Content-Type: text/markdown", "", (HERE / "README.md").read_text()]
    return "\n".join(lines)


def entry_points():
    """Returns what other programs find: the sections project.entry-points of pyproject.toml, in the form of entry_points.txt."""
    sections = re.findall(r"^\[project\.entry-points\.(\S+)\]\n((?:.+\n)+)", (HERE / "pyproject.toml").read_text(), re.M)
    return "".join(f"[{name}]\n{lines}\n".replace('"', "") for name, lines in sections)


def tag():
    """Returns the tag of a wheel that claims to run only on the platform that built it."""
    return "cp39-abi3-" + sysconfig.get_platform().replace("-", "_").replace(".", "_")


def write_wheel(folder, files):
    """Writes a wheel. `files` maps a name in the wheel to (bytes, whether it is a program)."""
    information = f"{DISTRIBUTION}-{version()}.dist-info"
    target = pathlib.Path(folder) / f"{DISTRIBUTION}-{version()}-{tag()}.whl"
    files[f"{information}/METADATA"] = (metadata().encode(), False)
    files[f"{information}/entry_points.txt"] = (entry_points().encode(), False)
    files[f"{information}/LICENSE"] = ((TOP / "LICENSE").read_bytes(), False)
    files[f"{information}/top_level.txt"] = ("".join(f"{name}\n" for name in TOP_LEVEL).encode(), False)
    files[f"{information}/WHEEL"] = (f"Wheel-Version: 1.0\nGenerator: backend.py\nRoot-Is-Purelib: false\nTag: {tag()}\n"
                                     .encode(), False)
    record = []
    for name, (data, _) in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record.append(f"{name},sha256={digest},{len(data)}\n")
    files[f"{information}/RECORD"] = ("".join(record).encode() + f"{information}/RECORD,,\n".encode(), False)
    target.unlink(missing_ok=True)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, (data, is_program) in files.items():
            entry = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
            entry.external_attr = (0o100755 if is_program else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    return target


def wheel(folder, build_folder=None):
    build = built(build_folder)
    files = {str(path): ((HERE / "src" / path).read_bytes(), False) for path in sources()}
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        for name in EXTENSIONS:
            path = compile_extension(name, build, scratch)
            strip(path)
            files[f"{PACKAGE}/{path.name}"] = (path.read_bytes(), True)
        for name in LIBRARIES + [name for name in PROGRAMS if (build / name).exists()]:
            path = scratch / name
            shutil.copy(build / name, path)
            strip(path)
            files[f"{PACKAGE}/lib/{name}"] = (path.read_bytes(), True)
    return write_wheel(folder, files)


# ---- called by pip ----

def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return wheel(wheel_directory).name


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    root = in_place()
    return write_wheel(wheel_directory, {f"{DISTRIBUTION}.pth": (f"{root}\n".encode(), False)}).name


def main():
    words = sys.argv[1:]
    if words[:1] == ["in-place"] and len(words) <= 2:
        print(in_place(*words[1:]))
    elif words[:1] == ["wheel"] and 2 <= len(words) <= 3:
        print(wheel(*words[1:]))
    else:
        raise SystemExit(__doc__)


if __name__ == "__main__":
    main()
