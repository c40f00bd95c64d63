"""The words of an error in the C libraries of our builds: glibc, and musl in the static recorder."""
import errno
import os

from conftest import BUILD

MUSL = {errno.EIO: "I/O error", errno.EBUSY: "Resource busy", errno.ELOOP: "Symbolic link loop", errno.EMFILE: "No file descriptors available"}


def words_of(number):
    """The words of the recorder under test."""
    setup = BUILD / "setup-arguments"
    return MUSL[number] if setup.exists() and "static=true" in setup.read_text() else os.strerror(number)


def tells(text, number):
    """Whether one of our programs tells this error: the analysis beside a static recorder has another C library."""
    return MUSL[number] in text or os.strerror(number) in text
