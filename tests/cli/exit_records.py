"""The kernel's exit records (taskstats): an independent meter of what each process of a job had used. Needs CAP_NET_ADMIN."""
import os
import socket
import struct
import time

NETLINK_GENERIC, CONTROL, SO_RCVBUFFORCE = 16, 16, 33
GET_FAMILY, FAMILY_ID, FAMILY_NAME = 3, 1, 2
COMMAND_GET, REGISTER_CPUS = 1, 3
AGGREGATE_OF_THREAD, STATS = 4, 3
BUFFER_BYTES = 64 << 20
CLOCK_MONOTONIC_COARSE = 6


def attributes(data):
    while len(data) >= 4:
        length, kind = struct.unpack_from("=HH", data)
        yield kind, data[4:length]
        data = data[(length + 3) & ~3:]


def seconds(stats):
    """CPU time up to the last tick or switch; of a thread that never slept, all that it did not wait for a CPU."""
    [cpu_ns], [delay_ns], [elapsed_us], [sleeps] = (struct.unpack_from("=Q", stats, offset) for offset in (72, 24, 144, 272))
    since_ns = elapsed_us * 1000 - delay_ns - cpu_ns
    known = not sleeps and delay_ns > 0 and 0 <= since_ns <= time.clock_getres(CLOCK_MONOTONIC_COARSE) * 1e9
    return (cpu_ns + (since_ns if known else 0)) / 1e9


class ExitRecords:
    """Keeps the records of all processes that end within the `with` block. `of_tree()` gives those of one job."""

    def __enter__(self):
        self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_GENERIC)
        self.socket.bind((0, 0))
        self.family = CONTROL
        self.ask(GET_FAMILY, FAMILY_NAME, b"TASKSTATS\0")
        answer = self.socket.recv(4096)
        self.family = next(struct.unpack("=H", value)[0] for kind, value in attributes(answer[20:]) if kind == FAMILY_ID)
        self.socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, BUFFER_BYTES)
        self.ask(COMMAND_GET, REGISTER_CPUS, f"0-{os.sysconf('SC_NPROCESSORS_CONF') - 1}\0".encode())
        return self

    def __exit__(self, *_):
        self.socket.close()

    def ask(self, command, attribute, value):
        padded = value + bytes(-len(value) % 4)
        body = struct.pack("=BBHHH", command, 1, 0, 4 + len(value), attribute) + padded
        self.socket.send(struct.pack("=IHHII", 16 + len(body), self.family, 1, 0, 0) + body)

    def records(self):
        """(process, parent, name, CPU seconds) of each thread that has ended so far. An overrun raises OSError (ENOBUFS)."""
        while True:
            try:
                data = self.socket.recv(1 << 16, socket.MSG_DONTWAIT)
            except BlockingIOError:
                return
            if struct.unpack_from("=H", data, 4)[0] != self.family:
                continue
            for kind, value in attributes(data[20:]):
                stats = dict(attributes(value)).get(STATS) if kind == AGGREGATE_OF_THREAD else None
                if stats:
                    yield (struct.unpack_from("=I", stats, 368)[0], struct.unpack_from("=I", stats, 132)[0],
                           stats[80:112].split(b"\0")[0].decode(errors="replace"), seconds(stats))

    def of_tree(self, parent):
        """{name: (CPU seconds, processes)} of the descendants of a process. Each child ends before its parent does."""
        found, members = {}, {parent}
        for pid, parent_pid, name, secs in reversed(list(self.records())):
            if parent_pid in members:
                members.add(pid)
                used, processes = found.get(name, (0, set()))
                found[name] = used + secs, processes | {pid}
        return {name: (used, len(processes)) for name, (used, processes) in found.items()}
