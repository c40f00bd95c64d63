"""What the programs and libraries of an artefact need of the machine, and whether its name promises that."""
import io
import pathlib
import re
import subprocess
import tarfile
import tempfile
import zipfile

# The libraries that every glibc has. An artefact brings all others itself.
GLIBC = re.compile(r"(libc\.so\.6|libm\.so\.6|libdl\.so\.2|libpthread\.so\.0|librt\.so\.1|ld-linux-x86-64\.so\.2|ld-linux-aarch64\.so\.1)$")
MUSL = re.compile(r"libc\.so$")
OWN = re.compile(r"libresource-tracker(-analysis)?\.so\.0$")
NEWEST = (2, 17)


def elf_files(artefact):
    """Yields the programs and libraries of an artefact."""
    if artefact.suffix == ".whl":
        with zipfile.ZipFile(artefact) as files:
            members = ((name, files.read(name)) for name in files.namelist())
            yield from ((name, data) for name, data in members if data[:4] == b"\x7fELF")
    elif artefact.suffix == ".deb":
        data = subprocess.run(["dpkg-deb", "--fsys-tarfile", artefact], stdout=subprocess.PIPE, check=True).stdout
        yield from of_tar(data)
    elif artefact.name.endswith((".tar", ".tar.gz")):
        yield from of_tar(artefact.read_bytes())


def of_tar(data):
    """An image has its programs in archives inside."""
    with tarfile.open(fileobj=io.BytesIO(data)) as files:
        for entry in files:
            data = files.extractfile(entry).read() if entry.isfile() else b""
            if data[:4] == b"\x7fELF":
                yield entry.name, data
            elif data[:2] == b"\x1f\x8b" and "blobs" in entry.name:
                yield from of_tar(data)


def needs_of(data):
    """The libraries that a program loads, and the newest version of glibc among its symbols, or None."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        said = subprocess.run(["readelf", "-W", "-d", "-V", file.name], stdout=subprocess.PIPE, text=True, check=True, env={"LC_ALL": "C"}).stdout
    versions = [tuple(map(int, one.split("."))) for one in re.findall(r"Name: GLIBC_([\d.]+) ", said)]
    return re.findall(r"\(NEEDED\).*\[(.*)\]", said), max(versions, default=None)


def problems(artefact):
    """Yields what a program of the artefact needs beyond the promise: glibc 2.17, musl, or nothing at all."""
    if artefact.suffix == ".deb":
        return
    for name, data in elf_files(artefact):
        path = pathlib.PurePath(name)
        helper = "-linux-" in artefact.name and path.name == "resource-tracker-helper"
        allowed = [OWN]
        if "manylinux" in artefact.name or helper:
            allowed.append(GLIBC)
        elif "musllinux" in artefact.name:
            allowed.append(MUSL)
        libraries, newest = needs_of(data)
        for library in libraries:
            if not any(one.match(library) for one in allowed):
                yield f"{artefact.name}: {path.name} needs {library}"
        if newest and newest > NEWEST:
            yield f"{artefact.name}: {path.name} needs glibc {'.'.join(map(str, newest))}"


def oldest_libc(artefact):
    """The oldest C library that starts all programs of an artefact, for the table."""
    needs = [(pathlib.PurePath(name).name, needs_of(data)[1]) for name, data in elf_files(artefact)]
    if not needs:
        return "-"
    with_glibc = {name: newest for name, newest in needs if newest}
    if not with_glibc:
        return "musl 1.2" if "musllinux" in artefact.name else "none needed"
    newest = "glibc " + ".".join(map(str, max(with_glibc.values())))
    return newest if len(with_glibc) > 1 else f"{next(iter(with_glibc))}: {newest}"
