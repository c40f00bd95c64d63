"""What `@track_resources` of Metaflow does: record a step, keep what it used as an artifact, show it on a card.

The decorator and the card are plug-ins of Metaflow (`metaflow_extensions.resource_tracker_native`), which finds them when this
package is installed: `from metaflow import track_resources`. Nothing here needs Metaflow but `history`.
"""
from .artifact import TrackedResources, error_artifact
from .card import card_html
from .step import StepRecorder

__all__ = ["StepRecorder", "TrackedResources", "card_html", "error_artifact"]
