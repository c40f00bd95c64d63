"""Namespaces of tests, which may run in a chroot whose / is not a mount point: unshare cannot make its mounts private."""
import os
import subprocess

import pytest

# For unshare: a /proc of the new PID namespace. Only the mount at /proc becomes private.
OWN_PROC = ("--mount-proc", "--propagation", "unchanged")


def can_mount_privately():
    """Whether a mount below unshare(1) stays there."""
    if os.geteuid() != 0:
        return False
    try:
        return subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode == 0
    except OSError:
        return False


needs_private_mounts = pytest.mark.skipif(not can_mount_privately(), reason="private mounts need root, and / as a mount point")
