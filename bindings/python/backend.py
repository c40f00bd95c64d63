"""Builds the Python package: a wheel (what pip asks of a build backend), or the package in place for working on it.

backend.py in-place [BUILD]        BUILD/python/resource_tracker_native, links to the sources beside compiled code
backend.py wheel FOLDER [BUILD [PLATFORM...]]
                                   a wheel for the machine it is built on, which tools/python-wheel makes portable; or one for the
                                   platforms named (manylinux_2_17_x86_64), if the compiler CC and BUILD are for them

backend.py system FOLDER BUILD     the package and its metadata in FOLDER, for a distribution's Python: it uses the libraries and programs
                                   that the system has

BUILD (default: build of this checkout) has the compiled libraries and programs. The build needs only a C compiler, the
headers of any Python from 3.9 on, and the standard library. The extensions use the limited API, so one wheel serves all
versions of Python but those without the lock (free-threaded): they have no limited API before 3.15, so a wheel that one of them builds is for its version alone.
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
# pip installs the commands into the folder of the environment's programs, and the helper into its libexec/resource-tracker.
COMMANDS = ["resource-tracker", "resource-tracker-analysis", "resource-tracker-net"]
HELPER = "resource-tracker-helper"
FLAGS = ["-std=gnu17", "-O2", "-g", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra", "-Wshadow",
         "-Wno-missing-field-initializers", "-Wno-cast-function-type", "-Wno-unused-parameter"]


def version():
    return re.search(r"version: '([^']+)'", (TOP / "meson.build").read_text()).group(1)


def is_free_threaded():
    """Whether the extensions are for the running Python alone. PYTHON_HEADERS are those of the limited API."""
    return bool(sysconfig.get_config_var("Py_GIL_DISABLED")) and not os.environ.get("PYTHON_HEADERS")


def tag():
    """The Python that a wheel is for."""
    number = f"cp{sys.version_info.major}{sys.version_info.minor}"
    return f"{number}-{number}t" if is_free_threaded() else "cp39-abi3"


def include_folder():
    """Returns the headers of the running Python, or of any other: the limited API is the same in all."""
    if os.environ.get("PYTHON_HEADERS"):
        return os.environ["PYTHON_HEADERS"]
    others = [] if is_free_threaded() else sorted(map(str, pathlib.Path("/usr/include").glob("python3.*")))
    for folder in [sysconfig.get_path("include"), *others]:
        if os.path.exists(os.path.join(folder, "Python.h")):
            return folder
    raise SystemExit("Python.h is missing: install python3-dev")


def is_older(target, sources):
    return not target.exists() or any(source.stat().st_mtime > target.stat().st_mtime for source in sources)


def compile_extension(name, build, folder, links=("-Wl,-rpath,$ORIGIN/lib",)):
    """Compiles FOLDER/NAME.abi3.so, which looks for its library in the folder lib beside it. A free-threaded Python has an ending of its own."""
    target = folder / (name + (sysconfig.get_config_var("EXT_SUFFIX") if is_free_threaded() else ".abi3.so"))
    limited = [] if is_free_threaded() else [f"-DPy_LIMITED_API={LIMITED_API}"]
    sources = sorted((HERE / "native").glob(f"{name[1:]}*.c")) + [HERE / "native" / "support.c"]
    library = build / f"lib{EXTENSIONS[name]}.so"
    if is_older(target, [*sources, *(HERE / "native").glob("*.h"), *(TOP / "include").glob("*.h"), pathlib.Path(__file__)]):
        command = [*os.environ.get("CC", "cc").split(), "-shared", *FLAGS, *os.environ.get("CFLAGS", "").split(), *os.environ.get("CPPFLAGS", "").split(), *limited,
                   "-I", include_folder(), "-I", TOP / "include", *sources, "-o", target, "-L", build,
                   *links, f"-l:{library.name}"]
        subprocess.run([str(word) for word in command], check=True)
    return target


def built(folder):
    """Returns the build folder. If its libraries are missing, a checkout builds them first."""
    build = pathlib.Path(folder or TOP / "build").resolve()
    if not (build / "libresource-tracker-analysis.so").exists():
        subprocess.run([TOP / "tools" / "build", build], check=True, cwd=TOP, stdout=sys.stderr, env={"TARGET": "wheel", **os.environ})
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
    for name in [*COMMANDS, HELPER]:
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


def own_platform():
    """Returns the platform of a wheel that claims to run only on the machine that built it."""
    return sysconfig.get_platform().replace("-", "_").replace(".", "_")


def information_files():
    return {"METADATA": metadata().encode(), "entry_points.txt": entry_points().encode(), "LICENSE": (TOP / "LICENSE").read_bytes(),
            "top_level.txt": "".join(f"{name}\n" for name in TOP_LEVEL).encode()}


def write_wheel(folder, files, platforms=()):
    """Writes a wheel. `files` maps a name in the wheel to (bytes, whether it is a program)."""
    platforms = list(platforms) or [own_platform()]
    information = f"{DISTRIBUTION}-{version()}.dist-info"
    target = pathlib.Path(folder) / f"{DISTRIBUTION}-{version()}-{tag()}-{'.'.join(platforms)}.whl"
    files.update({f"{information}/{name}": (data, False) for name, data in information_files().items()})
    tags = "".join(f"Tag: {tag()}-{platform}\n" for platform in platforms)
    files[f"{information}/WHEEL"] = (f"Wheel-Version: 1.0\nGenerator: backend.py\nRoot-Is-Purelib: false\n{tags}".encode(), False)
    record = []
    for name, (data, _) in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record.append(f"{name},sha256={digest},{len(data)}\n")
    files[f"{information}/RECORD"] = ("".join(record).encode() + f"{information}/RECORD,,\n".encode(), False)
    target.unlink(missing_ok=True)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, (data, is_program) in files.items():
            entry = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
            entry.external_attr = (0o100755 if is_program else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data, compresslevel=9)
    return target


def wheel(folder, build_folder=None, *platforms):
    build = built(build_folder)
    files = {str(path): ((HERE / "src" / path).read_bytes(), False) for path in sources()}
    data = f"{DISTRIBUTION}-{version()}.data"
    places = {name: f"{PACKAGE}/lib" for name in LIBRARIES}
    places.update({name: f"{data}/scripts" for name in COMMANDS})
    places[HELPER] = f"{data}/data/libexec/resource-tracker"
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        for name in EXTENSIONS:
            path = compile_extension(name, build, scratch)
            strip(path)
            files[f"{PACKAGE}/{path.name}"] = (path.read_bytes(), True)
        for name, place in places.items():
            if name in LIBRARIES or (build / name).exists():
                path = scratch / name
                shutil.copy(build / name, path)
                strip(path)
                files[f"{place}/{name}"] = (path.read_bytes(), True)
    # The licences of the works of others in a portable build (packaging/release).
    if os.environ.get("THIRD_PARTY"):
        files[f"{DISTRIBUTION}-{version()}.dist-info/THIRD-PARTY"] = (pathlib.Path(os.environ["THIRD_PARTY"]).read_bytes(), False)
    return write_wheel(folder, files, platforms)


def system(folder, build_folder):
    """Fills FOLDER (dist-packages below a distribution's packaging root)."""
    folder, build = pathlib.Path(folder), pathlib.Path(build_folder).resolve()
    for path in sources():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(HERE / "src" / path, folder / path)
    for name in EXTENSIONS:
        compile_extension(name, build, folder / PACKAGE, os.environ.get("LDFLAGS", "").split())
    information = folder / f"{DISTRIBUTION}-{version()}.dist-info"
    information.mkdir(exist_ok=True)
    for name, data in {**information_files(), "INSTALLER": b"packaging\n"}.items():
        if name != "LICENSE":
            (information / name).write_bytes(data)
    return folder


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
    elif words[:1] == ["wheel"] and len(words) >= 2:
        print(wheel(*words[1:]))
    elif words[:1] == ["system"] and len(words) == 3:
        print(system(*words[1:]))
    else:
        raise SystemExit(__doc__)


if __name__ == "__main__":
    main()
