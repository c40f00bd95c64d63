"""The card of @track_resources."""
from metaflow.cards import MetaflowCard


class TrackedResourcesCard(MetaflowCard):
    """What a step used. @track_resources adds it; there is no need to name it."""

    ALLOW_USER_COMPONENTS = False
    RUNTIME_UPDATABLE = False
    type = "tracked_resources"

    def __init__(self, options=None, **more):
        super().__init__(**more)
        self._artifact_name = (options or {}).get("artifact_name", "resource_tracker_data")

    def render(self, task):
        from resource_tracker_native.metaflow import card_html

        return card_html(task[self._artifact_name].data)


CARDS = [TrackedResourcesCard]
