"""Finds out which cloud this machine runs in."""
from __future__ import annotations

from typing import Any, Dict

from . import _native

__all__ = ["get_cloud_info"]


def get_cloud_info() -> Dict[str, Any]:
    """Asks the firmware, then the metadata services of the clouds that it does not exclude, for at most 3 seconds.

    Returns:
        `vendor` (aws, gcp, azure, hcloud, upcloud, alicloud, ovh, ...), `instance_type`, `region`, each "unknown" if
        it was not found, and `discovery_time` in seconds.
    """
    from json import loads
    from time import monotonic

    begun = monotonic()
    info = loads(_native.discover(cloud=True, python=True))["cloud_info"]
    return {**info, "discovery_time": monotonic() - begun}
