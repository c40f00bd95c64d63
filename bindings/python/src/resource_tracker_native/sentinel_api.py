"""The Python package resource-tracker has RunStatus under this name. In this package a C program sends streams."""
from .tracker import RunStatus

__all__ = ["RunStatus"]
