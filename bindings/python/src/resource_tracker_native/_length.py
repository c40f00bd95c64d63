"""Lengths of time as the command takes them."""
from __future__ import annotations

from math import isfinite

UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def seconds(text: str) -> float:
    """Returns the seconds of a number, or of a number followed by ms, s, m, h or d.

    >>> seconds("0.25"), seconds("500ms"), seconds("2m")
    (0.25, 0.5, 120.0)
    """
    number = text.strip()
    unit = next((unit for unit in UNITS if number.endswith(unit)), "")
    try:
        length = float(number[:len(number) - len(unit)]) * UNITS.get(unit, 1.0)
    except ValueError:
        length = 0.0
    if not isfinite(length) or length <= 0:
        raise ValueError(f"{text!r} is not a length of time; give for example 0.25, 500ms or 5m")
    return length
