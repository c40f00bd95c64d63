"""Tables in Arrow's form: columns of one type, with a validity bit for each cell."""
from __future__ import annotations

from array import array
from typing import Any, Iterable, List, Sequence, Tuple

from . import _native

__all__ = ["stream_of"]

MOST_INTEGER = 1 << 63


def _bits(flags: Sequence[Any]) -> bytes:
    """Packs flags into bits, the lowest bit first."""
    packed = bytearray((len(flags) + 7) // 8)
    for place, flag in enumerate(flags):
        if flag:
            packed[place >> 3] |= 1 << (place & 7)
    return bytes(packed)


def _format(cells: Sequence[Any]) -> str:
    """Returns Arrow's letter for a column: b, l (64 bits), g (double) or U (text). A column of None only gets g."""
    kinds = {type(cell) for cell in cells if cell is not None}
    if kinds and kinds <= {bool}:
        return "b"
    if kinds and kinds <= {int} and all(cell is None or -MOST_INTEGER <= cell < MOST_INTEGER for cell in cells):
        return "l"
    return "g" if kinds <= {int, float} else "U"


def _texts(cells: Sequence[Any]) -> Tuple[bytes, bytes]:
    """Returns the offsets and the UTF-8 bytes of texts."""
    encoded = [b"" if cell is None else str(cell).encode("utf-8", "replace") for cell in cells]
    offsets = array("q", [0])
    for text in encoded:
        offsets.append(offsets[-1] + len(text))
    return offsets.tobytes(), b"".join(encoded)


def _column(name: str, cells: Sequence[Any]) -> Tuple[str, str, int, Tuple[Any, ...]]:
    letter = _format(cells)
    nulls = sum(cell is None for cell in cells)
    validity = _bits([cell is not None for cell in cells]) if nulls else None
    buffers: Tuple[Any, ...]
    if letter == "U":
        buffers = _texts(cells)
    elif letter == "b":
        buffers = (_bits(cells),)
    else:
        buffers = (array("q" if letter == "l" else "d", (0 if cell is None else cell for cell in cells)).tobytes(),)
    return str(name), letter, nulls, (validity, *buffers)


def stream_of(names: Iterable[str], columns: Iterable[List[Any]], length: int) -> Any:
    """Returns a capsule with the Arrow C stream of a table."""
    return _native.arrow_stream([_column(name, cells) for name, cells in zip(names, columns)], length)
