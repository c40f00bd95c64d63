"""The Python package resource-tracker has its psutil readings under this name; here they are the same readings."""
from .tracker_procfs import get_process_children, get_process_stats, get_system_stats

__all__ = ["get_process_children", "get_process_stats", "get_system_stats"]
