"""Opens files for writing by the rules of the command: in a folder like /tmp, nothing that another user has put there."""
from __future__ import annotations

import errno
import os
import stat


def opener(path: str, flags: int) -> int:
    """For open(..., opener=opener).

    In a folder that all users may write to, a link is followed only if it is the user's own or that of the folder's owner, and
    a file of another user, or with a second name, is neither written to nor emptied. A FIFO without a reader is an error there.
    """
    folder = os.stat(os.path.dirname(path) or ".")
    trusted = (os.geteuid(), folder.st_uid)
    if not (folder.st_mode & stat.S_ISVTX and folder.st_mode & stat.S_IWOTH):
        return os.open(path, flags, 0o666)
    try:
        link = os.lstat(path)
        if stat.S_ISLNK(link.st_mode) and link.st_uid in trusted:
            return os.open(path, flags, 0o666)
    except FileNotFoundError:
        pass
    descriptor = os.open(path, flags & ~os.O_TRUNC | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)
    try:
        found = os.fstat(descriptor)
        if found.st_uid not in trusted or (stat.S_ISREG(found.st_mode) and found.st_nlink > 1):
            raise PermissionError(errno.EACCES, "it belongs to another user, in a folder that everyone may write to", path)
        os.set_blocking(descriptor, True)
        if flags & os.O_TRUNC and stat.S_ISREG(found.st_mode):
            os.ftruncate(descriptor, 0)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor
