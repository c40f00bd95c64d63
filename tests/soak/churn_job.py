#!/usr/bin/env python3
"""A job whose forks, daemons, threads, memory, mounts, network interfaces and network namespaces come and go: tests/soak/churn_job.py SECONDS

Uses about a tenth of a core. Root alone can mount and make interfaces: run it in a mount and a network namespace of its own. Prints how
often each thing came.
"""
import collections
import ctypes
import mmap
import os
import pathlib
import random
import socket
import subprocess
import sys
import tempfile
import threading
import time

PAUSE_SECS, CROWD_SECS = 0.1, 5
CLONE_NEWNET, CLONE_NEWNS = 0x40000000, 0x00020000
libc = ctypes.CDLL(None, use_errno=True)


def spin(secs):
    until = time.thread_time() + secs
    while time.thread_time() < until:
        pass


def child(body):
    pid = os.fork()
    if pid == 0:
        try:
            body()
        finally:
            os._exit(0)
    return pid


def forks(_folder, rng):
    for pid in [child(lambda: spin(0.0005)) for _ in range(rng.randrange(1, 12))]:
        os.waitpid(pid, 0)


def daemons(_folder, rng):
    """Orphans with a session of their own, which end later."""
    def detach():
        os.setsid()
        child(lambda: (spin(0.002), time.sleep(rng.random()), spin(0.001)))
    os.waitpid(child(detach), 0)


def threads(_folder, rng):
    every = [threading.Thread(target=spin, args=(0.0005,)) for _ in range(rng.randrange(1, 9))]
    for one in every:
        one.start()
    for one in every:
        one.join()


def programs(_folder, _rng):
    subprocess.run(["sh", "-c", "/bin/true; (/bin/true | /bin/cat) & wait"], check=True)


def memory(_folder, rng):
    with mmap.mmap(-1, rng.randrange(1, 24) << 20) as area:
        for at in range(0, len(area), 4096):
            area[at] = 1


def files(folder, _rng):
    path = folder / "file"
    path.write_bytes(os.urandom(1 << 18))
    path.unlink()


def mounts(folder, _rng):
    place = folder / "mount"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "churn", place], check=True)
    (place / "file").write_bytes(bytes(1 << 16))
    subprocess.run(["umount", place], check=True)
    place.rmdir()


def interfaces(_folder, rng):
    name = f"churn{rng.randrange(100)}"
    subprocess.run(["ip", "link", "add", name, "type", "bridge"], check=True)
    subprocess.run(["ip", "link", "set", name, "up"], check=True)
    subprocess.run(["ip", "link", "delete", name], check=True)


def network_namespaces(_folder, rng):
    def live():
        libc.unshare(CLONE_NEWNET)
        subprocess.run(["ip", "link", "set", "lo", "up"])
        time.sleep(rng.random())
    child(live)


def crowd():
    """More at once than any moment later has, so that tables which grow with their contents have their last size: 100 forks with threads,
    connections and shared memory of their own."""
    def live():
        opened = [os.memfd_create("churn"), *(end.detach() for end in socket.socketpair())]
        os.write(opened[0], bytes(1 << 16))
        with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()), server.accept()[0]:
            every = [threading.Thread(target=time.sleep, args=(CROWD_SECS,)) for _ in range(8)]
            for one in every:
                one.start()
            for one in every:
                one.join()
    subprocess.run(["ip", "link", "set", "lo", "up"], check=os.geteuid() == 0)
    for pid in [child(live) for _ in range(100)]:
        os.waitpid(pid, 0)


def main():
    secs, rng, counts = float(sys.argv[1]), random.Random(7), collections.Counter()
    kinds = [forks, daemons, threads, programs, memory, files]
    if os.geteuid() == 0:
        kinds += [mounts, interfaces, network_namespaces]
    until = time.monotonic() + secs
    crowd()
    with tempfile.TemporaryDirectory(prefix="rt-churn-") as folder:
        while time.monotonic() < until:
            kind = rng.choice(kinds)
            kind(pathlib.Path(folder), rng)
            counts[kind.__name__] += 1
            try:
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
            except ChildProcessError:
                pass
            time.sleep(rng.uniform(0, PAUSE_SECS * 2))
    print(", ".join(f"{count} {name.replace('_', ' ')}" for name, count in sorted(counts.items())), file=sys.stderr)


if __name__ == "__main__":
    main()
