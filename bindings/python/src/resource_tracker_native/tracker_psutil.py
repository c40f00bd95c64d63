"""The name under which the Python package resource-tracker has its readings by psutil: here they are the same ones."""
from .tracker_procfs import get_process_children, get_process_stats, get_system_stats

__all__ = ["get_process_children", "get_process_stats", "get_system_stats"]
