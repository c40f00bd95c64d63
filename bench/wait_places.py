"""Places at which jobs of bench/waits wait: a slow file server, a disk on it, a full control group, PostgreSQL, programs in other languages.

Each is a context manager that yields what a command needs, and raises Absent if this machine cannot have it.
"""
import contextlib
import ctypes
import os
import pathlib
import shutil
import socket
import stat
import struct
import subprocess
import threading
import time

LIBC = ctypes.CDLL(None, use_errno=True)
BLOCK = 4096
C = r"""
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <netinet/in.h>
#include <resolv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Reads once from a descriptor through a ring of the kernel. */
static int read_by_ring(int fd)
{
	static char data[4096] __attribute__((aligned(4096)));
	struct io_uring_params ring = {0};
	int ring_fd = syscall(SYS_io_uring_setup, 4, &ring);
	char *queue = mmap(NULL, ring.sq_off.array + 64, PROT_READ | PROT_WRITE, MAP_SHARED, ring_fd, IORING_OFF_SQ_RING);
	struct io_uring_sqe *entry = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, ring_fd, IORING_OFF_SQES);

	if (ring_fd < 0 || queue == MAP_FAILED || entry == MAP_FAILED)
		return 77;
	*entry = (struct io_uring_sqe){.opcode = IORING_OP_READ, .fd = fd, .addr = (unsigned long)data, .len = sizeof data};
	((unsigned *)(queue + ring.sq_off.array))[0] = 0;
	++*(unsigned *)(queue + ring.sq_off.tail);
	return syscall(SYS_io_uring_enter, ring_fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) < 0;
}

int main(int argc, char **argv)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(argc > 2 ? atoi(argv[2]) : 0), .sin_addr = {htonl(0x7f000001)}};

	if (!strcmp(argv[1], "ring-tcp")) {
		int fd = socket(AF_INET, SOCK_STREAM, 0);

		alarm(atoi(argv[3]));
		return connect(fd, (void *)&to, sizeof to) ? 1 : read_by_ring(fd);
	}
	if (!strcmp(argv[1], "ring-file"))
		return read_by_ring(open(argv[2], O_RDONLY));
	if (!strcmp(argv[1], "dns")) {
		struct __res_state state = {0};
		unsigned char answer[512];

		res_ninit(&state);
		state.nscount = 1, state.nsaddr_list[0] = to, state.retrans = atoi(argv[3]), state.retry = 1;
		res_nquery(&state, "example.test", 1, 1, answer, sizeof answer);
	}
	return 0;
}
"""
GO = r"""
package main

import ("net"; "os"; "os/exec"; "strconv"; "sync"; "time")

func main() {
	secs, _ := strconv.Atoi(os.Args[2])
	end := time.Duration(secs) * time.Second
	switch os.Args[1] {
	case "tcp":
		c, _ := net.Dial("tcp", "127.0.0.1:"+os.Args[3])
		c.SetReadDeadline(time.Now().Add(end))
		c.Read(make([]byte, 1))
	case "sleep": time.Sleep(end)
	case "group":
		var g sync.WaitGroup
		for i := 0; i < 3; i++ {
			g.Add(1)
			go func() {
				c, _ := net.Dial("tcp", "127.0.0.1:"+os.Args[3])
				c.SetReadDeadline(time.Now().Add(end))
				c.Read(make([]byte, 1))
				g.Done()
			}()
		}
		g.Wait()
	case "child": exec.Command("sleep", os.Args[2]).Run()
	}
}
"""
JAVA = r"""
import java.net.*;
import java.util.concurrent.*;

public class Waits {
	static void tcp(int port, int millis) throws Exception {
		Socket s = new Socket("127.0.0.1", port);
		s.setSoTimeout(millis);
		try { s.getInputStream().read(); } catch (SocketTimeoutException e) { }
	}
	public static void main(String[] a) throws Exception {
		int millis = Integer.parseInt(a[1]) * 1000;
		switch (a[0]) {
		case "tcp": tcp(Integer.parseInt(a[2]), millis); break;
		case "sleep": Thread.sleep(millis); break;
		case "pool":
			ExecutorService p = Executors.newFixedThreadPool(4);
			p.submit(() -> { tcp(Integer.parseInt(a[2]), millis); return 0; }).get();
			p.shutdown();
			break;
		case "child": new ProcessBuilder("sleep", a[1]).start().waitFor(); break;
		}
	}
}
"""
RUST = r"""
use std::{env, io::Read, net::TcpStream, process::Command, sync::{mpsc, Mutex, Arc}, thread, time::Duration};

fn tcp(port: &str, end: Duration) {
    let mut s = TcpStream::connect(format!("127.0.0.1:{}", port)).unwrap();
    s.set_read_timeout(Some(end)).unwrap();
    let _ = s.read(&mut [0u8; 1]);
}

fn main() {
    let a: Vec<String> = env::args().collect();
    let end = Duration::from_secs(a[2].parse().unwrap());
    match a[1].as_str() {
        "tcp" => tcp(&a[3], end),
        "join" => { let port = a[3].clone(); thread::spawn(move || tcp(&port, end)).join().unwrap() }
        "channel" => {
            let (t, r) = mpsc::channel();
            let port = a[3].clone();
            thread::spawn(move || { tcp(&port, end); t.send(1).unwrap() });
            r.recv().unwrap();
        }
        "mutex" => {
            let m = Arc::new(Mutex::new(0));
            let other = m.clone();
            thread::spawn(move || { let _held = other.lock().unwrap(); thread::sleep(end) });
            thread::sleep(Duration::from_millis(50));
            let _mine = m.lock();
        }
        _ => { Command::new("sleep").arg(&a[2]).status().unwrap(); }
    }
}
"""


class Absent(Exception):
    """This machine cannot have the place; the text says why."""


def need(condition, reason):
    if not condition:
        raise Absent(reason)


# ---- a slow file server ----

class FileServer:
    """A file system in user space that answers slowly once `slow_secs` is set. It has the image of a disk, and any other file that is asked
    for, with 4 KiB: mappedNUMBER uses the page cache, and openNUMBER takes its time to be opened."""

    def __init__(self, folder, image):
        self.image, self.slow_secs, self.names = image, 0, ["", "", "image"]  # The number of a file is its place.
        self.lock = threading.Lock()
        self.fd = os.open("/dev/fuse", os.O_RDWR)
        options = f"fd={self.fd},rootmode=40000,user_id=0,group_id=0,allow_other"
        need(LIBC.mount(b"server", os.fsencode(folder), b"fuse", 0, options.encode()) == 0, f"mount of FUSE: {os.strerror(ctypes.get_errno())}")
        threading.Thread(target=self.serve, daemon=True).start()

    def attributes(self, node):
        size = len(self.image) if node == 2 else BLOCK
        mode, links = (stat.S_IFDIR | 0o755, 2) if node == 1 else (stat.S_IFREG | 0o666, 1)
        return struct.pack("<6Q10I", node, size, size // 512, 0, 0, 0, 0, 0, 0, mode, links, 0, 0, 0, BLOCK, 0)

    def answer(self, code, node, body):
        """Returns the answer to one request: bytes, or the number of an error."""
        slow_open = self.names[node].startswith("open")
        if code == 1:  # LOOKUP
            name = body.rstrip(b"\0").decode()
            with self.lock:
                if name not in self.names:
                    self.names.append(name)
                node = self.names.index(name)
            return struct.pack("<4Q2I", node, 0, 3600, 3600, 0, 0) + self.attributes(node)
        if code == 3:  # GETATTR
            return struct.pack("<Q2I", 3600, 0, 0) + self.attributes(node)
        if code in (14, 27):  # OPEN, OPENDIR
            if slow_open:
                time.sleep(self.slow_secs)
            # Direct: no page cache answers instead of the server. A mapped file needs it.
            return struct.pack("<Q2I", 1, 0 if self.names[node].startswith("mapped") else 1, 0)
        if code == 15:  # READ
            _, offset, size = struct.unpack_from("<2QI", body)
            # The end of a file is known, and so is a file whose open was slow.
            if node == 2 or (offset < BLOCK and not slow_open):
                time.sleep(self.slow_secs)
            return self.image[offset:offset + size] if node == 2 else b"x" * max(0, min(size, BLOCK - offset))
        if code == 16:  # WRITE
            return struct.pack("<2I", struct.unpack_from("<2QI", body)[2], 0)
        if code == 20:  # FSYNC
            time.sleep(self.slow_secs)
            return b""
        return b"" if code in (18, 25, 29) else 38

    def reply(self, code, unique, node, body):
        result = self.answer(code, node, body)
        error, data = (-result, b"") if isinstance(result, int) else (0, result)
        with contextlib.suppress(OSError):  # The reader has gone.
            os.write(self.fd, struct.pack("<IiQ", 16 + len(data), error, unique) + data)

    def serve(self):
        while True:
            try:
                request = os.read(self.fd, 1 << 18)
            except OSError as error:
                if error.errno == 2:  # A request that was taken back.
                    continue
                return
            _, code, unique, node = struct.unpack_from("<2I2Q", request)
            if code == 26:  # INIT
                data = struct.pack("<4I2H2I2HI7I", 7, 31, 1 << 16, 0, 16, 12, 1 << 16, 1, 0, 0, 0, *[0] * 7)
                os.write(self.fd, struct.pack("<IiQ", 16 + len(data), 0, unique) + data)
            elif code not in (2, 36, 42):  # FORGET and INTERRUPT have no answer.
                threading.Thread(target=self.reply, args=(code, unique, node, request[40:]), daemon=True).start()


@contextlib.contextmanager
def slow_server(top, secs):
    """Yields the folder of a slow file server, and that of a file system on a disk whose data the server has, with its name."""
    need(os.getuid() == 0 and os.path.exists("/dev/fuse"), "needs root and /dev/fuse")
    need(all(map(shutil.which, ("mkfs.ext4", "losetup"))), "needs mkfs.ext4 and losetup")
    image, tree, folder, disk = (pathlib.Path(top, name) for name in ("image", "tree", "served", "disk"))
    for path in (tree, folder, disk):
        path.mkdir()
    (tree / "data").write_bytes(b"x" * 64 * BLOCK)
    (tree / "data").chmod(0o666)
    subprocess.run(["mkfs.ext4", "-q", "-d", tree, image, "4M"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with contextlib.ExitStack() as stack:
        server = FileServer(folder, image.read_bytes())
        stack.callback(subprocess.run, ["umount", "-l", folder], check=False)
        loop = subprocess.run(["losetup", "-rf", "--show", folder / "image"], capture_output=True, text=True, check=False).stdout.strip()
        need(loop, "needs a loop device")
        stack.callback(subprocess.run, ["losetup", "-d", loop], check=False)
        mounted = subprocess.run(["mount", "-o", "ro,noload", loop, disk], check=False, stderr=subprocess.DEVNULL).returncode == 0
        need(mounted, "needs a mount of ext4 on a loop device")
        stack.callback(subprocess.run, ["umount", "-l", disk], check=False)
        # The names and places of the data are in the cache before the server becomes slow.
        subprocess.run(["dd", "status=none", "iflag=direct", f"if={disk}/data", "of=/dev/null", "bs=4096", "count=1"], check=True)
        loop_mode = os.stat(loop).st_mode
        os.chmod(loop, 0o666)
        stack.callback(os.chmod, loop, stat.S_IMODE(loop_mode))
        server.slow_secs = secs
        stack.callback(setattr, server, "slow_secs", 0)
        yield {"served": str(folder), "disk": str(disk), "loop": loop}


# ---- memory ----

@contextlib.contextmanager
def full_group(_top, _secs):
    """Yields the list of processes of a control group with 24 MiB, in which a process that needs more waits."""
    need(os.getuid() == 0, "needs root")
    parent = pathlib.Path("/sys/fs/cgroup/memory")
    need((parent / "memory.oom_control").exists() or (parent / "cgroup.procs").exists(), "needs a control group of memory, version 1")
    group = parent / f"rt-waits-{os.getpid()}"
    group.mkdir()
    try:
        (group / "memory.limit_in_bytes").write_text(str(24 << 20))
        (group / "memory.oom_control").write_text("1")
        (group / "cgroup.procs").chmod(0o666)
        yield {"group": str(group / "cgroup.procs")}
    except OSError as error:
        raise Absent(f"control group: {error.strerror}") from error
    finally:
        # The kernel lets a group go some time after its last process.
        for _ in range(50):
            with contextlib.suppress(OSError):
                group.rmdir()
                break
            time.sleep(0.1)


# ---- programs ----

def build(top, name, text, *command):
    need(shutil.which(command[0]), f"needs {command[0]}")
    source = pathlib.Path(top, name)
    source.write_text(text)
    environment = {**os.environ, "GOFLAGS": "-mod=mod", "GO111MODULE": "off", "GOCACHE": os.environ.get("GOCACHE", f"{top}/go-cache")}
    done = subprocess.run([*command, source], cwd=top, env=environment, capture_output=True, text=True, check=False)
    need(done.returncode == 0, f"{command[0]}: {done.stderr.strip().splitlines()[-1:]}")


@contextlib.contextmanager
def c_program(top, _secs):
    build(top, "waiter.c", C, "gcc", "-w", "-o", "waiter", "-x", "c")
    yield {"waiter": f"{top}/waiter"}


@contextlib.contextmanager
def go_program(top, _secs):
    build(top, "gowaits.go", GO, "go", "build", "-o", "gowaits")
    yield {"go": f"{top}/gowaits"}


@contextlib.contextmanager
def rust_program(top, _secs):
    build(top, "rustwaits.rs", RUST, "rustc", "-A", "warnings", "-o", "rustwaits")
    yield {"rust": f"{top}/rustwaits"}


@contextlib.contextmanager
def java_program(top, _secs):
    need(shutil.which("java"), "needs java")
    build(top, "Waits.java", JAVA, "javac")
    yield {"java": str(top)}


# ---- PostgreSQL ----

@contextlib.contextmanager
def database(top, _secs):
    """Yields the port of a PostgreSQL in which a session keeps a lock on the table t."""
    programs = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"))[-1:]
    need(programs and shutil.which("psql"), "needs PostgreSQL")
    user = 65534 if os.getuid() == 0 else os.getuid()
    as_user = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"] if os.getuid() == 0 else []
    folder = pathlib.Path(top, "postgres")
    folder.mkdir()
    os.chown(folder, user, -1)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    quiet = dict(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder)
    subprocess.run([*as_user, programs[0] / "initdb", "-A", "trust", "-U", "waits", "-N", folder / "data"], check=True, **quiet)
    server = subprocess.Popen([*as_user, programs[0] / "postgres", "-D", folder / "data", "-p", port, "-k", folder, "-c", "fsync=off"], **quiet)
    holder = None
    try:
        ask = ["psql", "-qX", "-h", "127.0.0.1", "-p", port, "-U", "waits", "postgres"]
        for _ in range(100):
            if subprocess.run([*ask, "-c", "create table if not exists t (i int)"], check=False, **quiet).returncode == 0:
                break
            time.sleep(0.2)
        holder = subprocess.Popen(ask, stdin=subprocess.PIPE, **quiet)
        holder.stdin.write(b"begin; lock table t;\n")
        holder.stdin.flush()
        time.sleep(0.5)
        yield {"postgres": port, "sockets": str(folder)}
    finally:
        if holder:
            holder.stdin.close()
            holder.wait()
        server.terminate()
        server.wait()


PLACES = [slow_server, full_group, c_program, go_program, rust_program, java_program, database]
