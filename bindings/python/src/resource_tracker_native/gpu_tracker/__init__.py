"""Tracks what a process and its descendants use, with the names, units and layouts of the package gpu_tracker.

    from resource_tracker_native.gpu_tracker import Tracker

    with Tracker(ram_unit="megabytes", time_unit="seconds") as tracker:
        ...
    print(tracker)

The figures are those of `resource-tracker summary --layout gpu_tracker`: they cover whole intervals, and a value that
could not be measured is None ("unknown" in the text), never 0. docs/from-gpu-tracker.md says what else differs.
"""
from .. import __version__
from .sub_tracker import SubTracker, SubTrackingAnalyzer, TrackingComparison, sub_track
from .tracker import Tracker

__all__ = ["SubTracker", "SubTrackingAnalyzer", "Tracker", "TrackingComparison", "__version__", "sub_track"]
