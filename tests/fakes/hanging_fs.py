#!/usr/bin/env python3
"""A file system in memory (FUSE) that can stop answering: hanging_fs.py MOUNT_POINT WORD

WORD says how requests are answered, and each line of standard input may change it:

    works          at once
    never          not at all; the requests stay as they are
    late SECS      each one after so many seconds
    eio            with EIO
    hang OP[,OP]   as "works", but requests of these kinds are not answered (WRITE, CREATE, ...)

It speaks the kernel's protocol itself, so it needs no library. Its end answers all that wait with an error.
"""
import ctypes
import errno
import os
import select
import stat
import struct
import sys
import threading
import time

OPS = {1: "LOOKUP", 2: "FORGET", 3: "GETATTR", 4: "SETATTR", 5: "READLINK", 6: "SYMLINK", 8: "MKNOD", 9: "MKDIR", 10: "UNLINK",
       11: "RMDIR", 12: "RENAME", 14: "OPEN", 15: "READ", 16: "WRITE", 17: "STATFS", 18: "RELEASE", 20: "FSYNC", 22: "GETXATTR",
       25: "FLUSH", 26: "INIT", 27: "OPENDIR", 28: "READDIR", 29: "RELEASEDIR", 34: "ACCESS", 35: "CREATE", 36: "INTERRUPT",
       38: "DESTROY", 42: "BATCH_FORGET", 45: "RENAME2"}
SILENT = ("FORGET", "BATCH_FORGET", "INTERRUPT", "DESTROY")
MS_NOSUID, MS_NODEV = 2, 4


class Node:
    def __init__(self, number, mode, uid, gid):
        self.number, self.mode, self.uid, self.gid, self.data, self.names = number, mode, uid, gid, bytearray(), {}
        self.links = 1


class Memory:
    """The files. Each method has the name of a request and returns the answer's bytes, or raises OSError."""

    def __init__(self):
        self.nodes = {1: Node(1, stat.S_IFDIR | 0o1777, 0, 0)}

    def attributes(self, node):
        size, now = len(node.data), int(time.time())
        return struct.pack("<QQQQQQIIIIIIIIII", node.number, size, (size + 511) // 512, now, now, now, 0, 0, 0, node.mode,
                           node.links, node.uid, node.gid, 0, 4096, 0)

    def entry(self, node):
        return struct.pack("<QQQQII", node.number, 0, 0, 0, 0, 0) + self.attributes(node)

    def child(self, parent, name):
        number = self.nodes[parent].names.get(name.rstrip(b"\0"))
        if number is None:
            raise OSError(errno.ENOENT, "")
        return self.nodes[number]

    def make(self, parent, name, mode, caller):
        name = name.rstrip(b"\0")
        if name in self.nodes[parent].names:
            raise OSError(errno.EEXIST, "")
        node = Node(max(self.nodes) + 1, mode, *caller)
        self.nodes[node.number] = node
        self.nodes[parent].names[name] = node.number
        return node

    def LOOKUP(self, at, body, caller):
        return self.entry(self.child(at, body))

    def GETATTR(self, at, body, caller):
        return struct.pack("<QII", 0, 0, 0) + self.attributes(self.nodes[at])

    def SETATTR(self, at, body, caller):
        valid, _, _, size = struct.unpack_from("<IIQQ", body)
        node, mode = self.nodes[at], struct.unpack_from("<I", body, 68)[0]
        if valid & 8:
            node.data = node.data[:size].ljust(size, b"\0")
        if valid & 1:
            node.mode = stat.S_IFMT(node.mode) | stat.S_IMODE(mode)
        return self.GETATTR(at, body, caller)

    def MKDIR(self, at, body, caller):
        mode, umask = struct.unpack_from("<II", body)
        return self.entry(self.make(at, body[8:], stat.S_IFDIR | (mode & ~umask), caller))

    def CREATE(self, at, body, caller):
        _, mode, umask, _ = struct.unpack_from("<IIII", body)
        return self.entry(self.make(at, body[16:], stat.S_IFREG | (mode & 0o7777 & ~umask), caller)) + struct.pack("<QII", 0, 0, 0)

    def OPEN(self, at, body, caller):
        return struct.pack("<QII", 0, 1, 0)  # FOPEN_DIRECT_IO

    OPENDIR = OPEN

    def READ(self, at, body, caller):
        _, offset, size = struct.unpack_from("<QQI", body)
        return bytes(self.nodes[at].data[offset:offset + size])

    def WRITE(self, at, body, caller):
        _, offset, size = struct.unpack_from("<QQI", body)
        data = self.nodes[at].data
        if struct.unpack_from("<I", body, 32)[0] & os.O_APPEND:
            offset = len(data)
        data[offset:offset + size] = body[40:40 + size]
        return struct.pack("<II", size, 0)

    def READDIR(self, at, body, caller):
        _, offset, size = struct.unpack_from("<QQI", body)
        answer = b""
        for number, (name, node) in enumerate(list(self.nodes[at].names.items())[offset:], offset + 1):
            entry = struct.pack("<QQII", node, number, len(name), stat.S_IFMT(self.nodes[node].mode) >> 12) + name
            entry = entry.ljust((len(entry) + 7) // 8 * 8, b"\0")
            if len(answer) + len(entry) > size:
                break
            answer += entry
        return answer

    def UNLINK(self, at, body, caller):
        self.child(at, body).links = 0
        del self.nodes[at].names[body.rstrip(b"\0")]
        return b""

    RMDIR = UNLINK

    def rename(self, at, to, names):
        old, new = names.split(b"\0")[:2]
        self.nodes[to].names[new] = self.nodes[at].names.pop(old)
        return b""

    def RENAME(self, at, body, caller):
        return self.rename(at, struct.unpack_from("<Q", body)[0], body[8:])

    def RENAME2(self, at, body, caller):
        to, flags, _ = struct.unpack_from("<QII", body)
        if flags & 1 and body[16:].split(b"\0")[1] in self.nodes[to].names:
            raise OSError(errno.EEXIST, "")
        return self.rename(at, to, body[16:])

    def STATFS(self, at, body, caller):
        return struct.pack("<QQQQQIIII24x", 1 << 20, 1 << 20, 1 << 20, 1 << 20, 1 << 20, 4096, 255, 4096, 0)

    def done(self, at, body, caller):
        return b""

    FLUSH = RELEASE = RELEASEDIR = FSYNC = ACCESS = done


class Server:
    def __init__(self, point, word):
        self.fd = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
        self.memory, self.word = Memory(), word
        options = f"fd={self.fd},rootmode=40000,user_id={os.geteuid()},group_id={os.getegid()},allow_other"
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.mount(b"hanging", os.fsencode(point), b"fuse.hanging", MS_NOSUID | MS_NODEV, options.encode()):
            raise OSError(ctypes.get_errno(), "mount")

    def reply(self, unique, error, data=b""):
        try:
            os.write(self.fd, struct.pack("<IiQ", 16 + len(data), -error, unique) + data)
        except FileNotFoundError:
            pass  # the caller has gone

    def answer(self, name, unique, at, caller, body):
        method = getattr(self.memory, name or "none", None)
        if not method:
            return self.reply(unique, errno.ENOSYS)
        try:
            data = method(at, body, caller)
        except OSError as error:
            return self.reply(unique, error.errno)
        return self.reply(unique, 0, data)

    def take(self, request):
        _, opcode, unique, at, uid, gid = struct.unpack_from("<IIQQII", request)
        name, body = OPS.get(opcode), request[40:]
        words = self.word.split()
        if name == "INIT":
            # Big writes, and as the time of answers is short, no cache.
            return self.reply(unique, 0, struct.pack("<IIIIHHIIHH28x", 7, 31, 0, 1 << 5, 16, 12, 1 << 17, 1, 0, 0))
        if name in SILENT:
            return None
        arguments = (name, unique, at, (uid, gid), body)
        if words[0] == "never" or (words[0] == "hang" and name in words[1].split(",")):
            return None
        if words[0] == "eio":
            return self.reply(unique, errno.EIO)
        if words[0] == "late":
            return threading.Timer(float(words[1]), self.answer, arguments).start()
        return self.answer(*arguments)

    def run(self):
        print("mounted", flush=True)
        while True:
            ready, _, _ = select.select([self.fd, sys.stdin], [], [])
            if sys.stdin in ready:
                line = os.read(0, 4096).decode()
                if not line:
                    os._exit(0)
                self.word = line.strip().splitlines()[-1]
                print(self.word, flush=True)
            if self.fd in ready:
                try:
                    request = os.read(self.fd, 1 << 18)
                except OSError as error:
                    if error.errno == errno.ENODEV:
                        os._exit(0)
                    continue
                self.take(request)


if __name__ == "__main__":
    if os.geteuid() == 0:  # it answers at once, also on a busy machine
        os.setpriority(os.PRIO_PROCESS, 0, -20)
    Server(sys.argv[1], " ".join(sys.argv[2:])).run()
