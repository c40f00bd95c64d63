"""Two users, neither of them root. The numbers need no account; on Debian they are `nobody` and `games`."""
import os

import pytest

VICTIM, ATTACKER = 65534, 5


def needs_root():
    return pytest.mark.skipif(os.geteuid() != 0, reason="only root can be two users")


def plant(path, text, user, mode=0o644):
    """Makes a file that belongs to a user."""
    path.write_text(text)
    os.chown(path, user, user)
    path.chmod(mode)
    return path
