"""Finds out which cloud this machine runs in."""
from __future__ import annotations

from typing import Any, Dict, List, Union

from . import _native

__all__ = ["get_cloud_info"]


def _discover() -> str:
    """Asks in another thread, so that Ctrl-C ends the wait at once."""
    from threading import Thread

    answers: List[Union[str, BaseException]] = []

    def ask() -> None:
        try:
            answers.append(_native.discover(cloud=True, python=True))
        except BaseException as problem:
            answers.append(problem)

    asking = Thread(target=ask, name="get_cloud_info", daemon=True)
    try:
        asking.start()
    except RuntimeError:  # the interpreter ends, or the process may have no more threads
        ask()
    else:
        asking.join()
    if isinstance(answers[0], BaseException):
        raise answers[0]
    return answers[0]


def get_cloud_info() -> Dict[str, Any]:
    """Asks the firmware, then the metadata services of the clouds that it does not exclude, for at most 3 seconds.

    Returns:
        `vendor` (aws, gcp, azure, hcloud, upcloud, alicloud, ovh, ...), `instance_type`, `region`, each "unknown" if
        it was not found, and `discovery_time` in seconds.
    """
    from json import loads
    from time import monotonic

    begun = monotonic()
    info = loads(_discover())["cloud_info"]
    return {**info, "discovery_time": monotonic() - begun}
