"""The card of @track_resources."""
import html

from metaflow.cards import MetaflowCard

PAGE_WITHOUT_PACKAGE = ("<!DOCTYPE html><title>Tracked resources</title><p>resource-tracker-native is not installed where this "
                        "step ran, so it was not tracked: {}</p>")


class TrackedResourcesCard(MetaflowCard):
    """Shows the resources that a step used. @track_resources adds this card; users need not name it."""

    ALLOW_USER_COMPONENTS = False
    RUNTIME_UPDATABLE = False
    type = "tracked_resources"

    def __init__(self, options=None, **more):
        super().__init__(**more)
        self._artifact_name = (options or {}).get("artifact_name", "resource_tracker_data")

    def render(self, task):
        try:
            from resource_tracker_native.metaflow import card_html
        except ImportError as problem:
            return PAGE_WITHOUT_PACKAGE.format(html.escape(str(problem)))
        return card_html(task[self._artifact_name].data)


CARDS = [TrackedResourcesCard]
