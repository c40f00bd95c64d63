"""Shows programs on a terminal of a given size, as people see them."""
import fcntl
import os
import pty
import re
import struct
import subprocess
import termios


def show(program, *arguments, environment, rows=24, columns=80, cwd=None, status=None):
    """Runs it with a terminal as its standard output and error; returns all that it shows."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    process = subprocess.Popen([program, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=follower, stderr=follower,
                               env={**environment, "COLUMNS": ""}, cwd=cwd)
    os.close(follower)
    shown = b""
    try:
        while part := os.read(leader, 65536):
            shown += part
    except OSError:  # the last writer has gone
        pass
    os.close(leader)
    assert process.wait() == status or status is None, shown
    return shown.decode().replace("\r\n", "\n")


def plain(text):
    return re.sub("\x1b\\[[0-9;]*m", "", text)
