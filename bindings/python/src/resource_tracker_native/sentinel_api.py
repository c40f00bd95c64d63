"""The name under which the Python package resource-tracker has how a run ended; streams are sent by a program of C."""
from .tracker import RunStatus

__all__ = ["RunStatus"]
