"""The work of Metaflow's `@track_resources`: record a step, keep the result as an artifact, show it on a card.

The decorator and the card are plug-ins of Metaflow (`metaflow_extensions.resource_tracker_native`), which finds them
when this package is installed: `from metaflow import track_resources`. Only `history` needs Metaflow.
"""
from .artifact import TrackedResources, error_artifact
from .card import card_html, running_card_html
from .step import StepRecorder

__all__ = ["StepRecorder", "TrackedResources", "card_html", "error_artifact", "running_card_html"]
