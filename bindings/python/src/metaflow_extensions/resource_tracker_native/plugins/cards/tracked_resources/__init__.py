"""The card of @track_resources."""
import html

from metaflow.cards import MetaflowCard

PAGE_WITHOUT_PACKAGE = ("<!DOCTYPE html><title>Tracked resources</title><p>resource-tracker-native is not installed where this "
                        "step ran, so it was not tracked: {}</p>")


class TrackedResourcesCard(MetaflowCard):
    """Shows the resources that a step used. @track_resources adds this card; users need not name it."""

    ALLOW_USER_COMPONENTS = False
    RUNTIME_UPDATABLE = True
    RELOAD_POLICY = MetaflowCard.RELOAD_POLICY_ALWAYS
    type = "tracked_resources"

    def __init__(self, options=None, **more):
        super().__init__(**more)
        self._options = options or {}
        self._artifact_name = self._options.get("artifact_name", "resource_tracker_data")

    def render(self, task):
        try:
            from resource_tracker_native.metaflow import card_html
        except ImportError as problem:
            return PAGE_WITHOUT_PACKAGE.format(html.escape(str(problem)))
        return card_html(task[self._artifact_name].data)

    def render_runtime(self, task, data):
        """The card of a step that runs, from its recording; a browser loads it again."""
        from resource_tracker_native.metaflow import running_card_html

        return running_card_html(self._options["recording"], self._options["refresh"])

    def refresh(self, task, data):
        """The page has no part that new data changes: each card is a page of its own."""
        return {}


CARDS = [TrackedResourcesCard]
