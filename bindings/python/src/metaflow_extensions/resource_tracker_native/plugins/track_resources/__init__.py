"""The decorator @track_resources."""
