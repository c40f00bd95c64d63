"""Bare root filesystems and the programs in artefacts, for packaging/smoke."""
import io
import pathlib
import platform
import re
import subprocess
import tarfile
import tempfile
import zipfile

EMULATE = pathlib.Path(__file__).with_name("emulate")
ENTER = """root=$1; shift; mount --make-rprivate / && mkdir -p "$root/proc" "$root/dev" "$root/tmp" && mount -t proc proc "$root/proc" &&
mount --rbind /dev "$root/dev" && chmod 1777 "$root/tmp" && { test -z "$BIND" || mount --bind "$BIND" "$root/mnt"; } && exec chroot "$root" "$@" """
MACHINES = {62: "x86_64", 183: "aarch64"}


def machine_of(root):
    """The machine of the programs in a root, by the first one found."""
    for name in ("bin/busybox", "usr/bin/dash", "usr/bin/resource-tracker", "bin/dash"):
        path = pathlib.Path(root) / name
        if path.is_file():
            return MACHINES[int.from_bytes(path.read_bytes()[18:20], "little")]
    return platform.machine()


def inside(root, *command, both=False, timeout=1800, bind="", environment=()):
    """Runs a command in a root, by qemu if it is of another machine, and returns stdout, with both=True stderr after it. The folder `bind` is its /mnt."""
    start, machine = ["unshare", "-m"], machine_of(root)
    if machine != platform.machine():
        start = [str(EMULATE), machine]
    done = subprocess.run([*start, "sh", "-c", ENTER, "sh", str(root), *command], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=timeout, env={"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin", "HOME": "/tmp", "LC_ALL": "C", "BIND": str(bind), **dict(environment)})
    if done.returncode:
        raise AssertionError(f"{' '.join(command)}: {done.returncode}: {(done.stdout + done.stderr).strip()[-300:]}")
    return done.stdout + (done.stderr if both else "")


def copied(source):
    """Returns a function that fills an empty folder with a copy of a root."""
    return lambda root: subprocess.run(["cp", "-a", "--reflink=auto", f"{source}/.", root], check=True)


def try_in(folder, name, fill, smoke):
    """Runs smoke(root) in a root that fill(root) makes, below `folder`. Returns the line for the table."""
    with tempfile.TemporaryDirectory(dir=folder, prefix="smoke-") as scratch:
        root = pathlib.Path(scratch) / "root"
        root.mkdir()
        fill(root)
        (root / "tmp").mkdir(exist_ok=True)
        try:
            smoke(root)
        except (AssertionError, OSError, KeyError, ValueError, subprocess.SubprocessError) as problem:
            return f"{name}: FAILED ({problem})"
        return f"{name}: ok"


def elf_files(artefact):
    """Yields the programs and libraries of an artefact."""
    if artefact.suffix == ".whl":
        with zipfile.ZipFile(artefact) as files:
            yield from ((name, files.read(name)) for name in files.namelist() if files.read(name)[:4] == b"\x7fELF")
        return
    if artefact.suffix == ".deb":
        data = subprocess.run(["dpkg-deb", "--fsys-tarfile", artefact], stdout=subprocess.PIPE, check=True).stdout
        with tarfile.open(fileobj=io.BytesIO(data)) as files:
            yield from ((one.name, files.extractfile(one).read()) for one in files if one.isfile())
        return
    if not artefact.name.endswith((".tar", ".tar.gz")):
        return
    with tarfile.open(artefact) as files:
        for entry in files:
            data = files.extractfile(entry).read() if entry.isfile() else b""
            if data[:4] == b"\x7fELF":
                yield entry.name, data
            elif data[:2] == b"\x1f\x8b" and "blobs" in entry.name:
                with tarfile.open(fileobj=io.BytesIO(data)) as layer:
                    yield from ((one.name, layer.extractfile(one).read()) for one in layer if one.isfile())


def oldest_libc(artefact):
    """The newest symbol of glibc that the programs need, or none for static ones."""
    needs, programs = {}, False
    for name, data in elf_files(artefact):
        programs = programs or data[:4] == b"\x7fELF"
        versions = [tuple(map(int, one.split(b"."))) for one in re.findall(rb"GLIBC_(\d+(?:\.\d+)+)\0", data)]
        if versions and b"libc.so.6\0" in data:
            needs[pathlib.PurePath(name).name] = ".".join(map(str, max(versions)))
    if not programs:
        return "-"
    newest = max(needs.values(), default=None, key=lambda version: tuple(map(int, version.split("."))))
    if not needs:
        return "musl 1.2" if "musllinux" in artefact.name else "none needed"
    return f"glibc {newest}" if len(needs) > 1 else f"{next(iter(needs))}: glibc {newest}"
