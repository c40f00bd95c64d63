"""Bare root filesystems, for packaging/smoke."""
import pathlib
import platform
import subprocess
import tempfile

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
