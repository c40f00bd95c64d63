"""Records what a process tree and its machine use: exact, in this process, without dependencies."""
from ._native import version as __version__

__all__ = ["__version__"]
