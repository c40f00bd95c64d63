"""Lists the decorators that this extension adds to Metaflow."""
STEP_DECORATORS_DESC = [("track_resources", ".track_resources.decorator.TrackResourcesDecorator")]
