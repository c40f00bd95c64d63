"""Records what a process tree and its machine use: exact, in this process, without dependencies.

    from resource_tracker_native import ResourceTracker

    with ResourceTracker() as tracker:
        work()
    print(tracker.stats())

The names, parameters and results are those of the Python package resource-tracker.
"""
from logging import NullHandler, getLogger

from ._native import version as __version__
from .cloud_info import get_cloud_info
from .helpers import aggregate_stats, is_partition
from .server_info import get_server_info
from .tiny_data_frame import StatSpec, TinyDataFrame
from .tracker import PidTracker, ProcessTracker, ResourceTracker, SystemTracker
from .tracker_procfs import get_process_stats, get_system_stats

getLogger(__name__).addHandler(NullHandler())

__all__ = [
    "PidTracker",
    "ProcessTracker",
    "ResourceTracker",
    "StatSpec",
    "SystemTracker",
    "TinyDataFrame",
    "__version__",
    "aggregate_stats",
    "get_cloud_info",
    "get_process_stats",
    "get_server_info",
    "get_system_stats",
    "is_partition",
]
