"""Reads pickled results of sub-tracking, by this package or by gpu_tracker (pandas and numpy inside), without running
code.

The unpickler knows a fixed list of names. Each stands for a small class in this file that only stores the pickle's
values; every other name is refused. A file from somewhere else can therefore contain wrong numbers, but it can run
no command.
"""
from __future__ import annotations

import itertools
import pickle
import struct
import typing as typ

from .results import Frame, Series

HOW_TO_CONVERT = ('to convert it where gpu_tracker is installed: python -c "import json, pickle; '
                  "json.dump(pickle.load(open('FILE', 'rb')).to_json(), open('FILE.json', 'w'))\"; the JSON is read here")
FORMATS = {"f8": "d", "f4": "f", "i8": "q", "i4": "i", "i2": "h", "i1": "b", "u8": "Q", "u4": "I", "u2": "H", "u1": "B", "b1": "?"}
MOST_CELLS = 10_000_000


class _Kept:
    """An object of another package: its arguments and its state."""

    arguments: tuple
    state: typ.Any

    def __new__(cls, *arguments: typ.Any):
        kept = super().__new__(cls)
        kept.arguments, kept.state = arguments, None
        return kept

    def __setstate__(self, state: typ.Any) -> None:
        self.state = state

    def of(self, name: str) -> typ.Any:
        if not isinstance(self.state, dict) or name not in self.state:
            raise pickle.UnpicklingError(f"results have no {name}")
        return self.state[name]


class _Dtype(_Kept):
    @property
    def format(self) -> str | None:
        """Returns the format for struct; None: objects."""
        code = self.arguments[0]
        if code == "O8":
            return None
        if code not in FORMATS:
            raise pickle.UnpicklingError(f"numbers of the type {code} cannot be read")
        order = self.state[1] if isinstance(self.state, tuple) and len(self.state) > 1 else "<"
        return (">" if order == ">" else "<") + FORMATS[code]


class _Array(_Kept):
    """A numpy.ndarray: its state is (version, shape, type, whether in Fortran order, bytes or a list)."""

    def cells(self) -> list[typ.Any]:
        """Returns the cells in C order."""
        _, shape, dtype, fortran, data = self.state
        count = 1
        for size in shape:
            count *= size
        if not 0 <= count <= MOST_CELLS:
            raise pickle.UnpicklingError("a table is too large")
        cells = list(data) if dtype.format is None else [cell for cell, in struct.iter_unpack(dtype.format, bytes(data))]
        if len(cells) != count:
            raise pickle.UnpicklingError("a table is not whole")
        if fortran and len(shape) == 2:
            rows, columns = shape
            cells = [cells[column * rows + row] for row in range(rows) for column in range(columns)]
        return [_plain(cell) for cell in cells]

    @property
    def shape(self) -> tuple:
        return self.state[1]


def _from_buffer(data, dtype, shape, order):
    array = _Array()
    array.state = (1, shape, dtype, order == "F", data)
    return array


def _scalar(dtype, data):
    """Returns a numpy number as a Python number."""
    return struct.unpack(dtype.format, data)[0]


def _bytes(text, encoding):
    """Decodes bytes in the way of pickle protocols before 3."""
    if encoding != "latin1":
        raise pickle.UnpicklingError(f"bytes are written in {encoding}")
    return text.encode("latin1")


def _name(text, _quoted=None):
    """Checks the name of a column that came from SQLite."""
    if not isinstance(text, str):
        raise pickle.UnpicklingError("a column's name is not a text")
    return str(text)


class _Frame(_Kept):
    """Reads a pandas.DataFrame."""


class _Series(_Kept):
    """Reads a pandas.Series."""


def _index(_kind, state):
    data = state.get("data")
    if isinstance(data, _Array):
        return data.cells()
    if {"start", "stop", "step"} <= set(state):
        return list(itertools.islice(range(state["start"], state["stop"], state["step"]), MOST_CELLS))
    raise pickle.UnpicklingError("a table has rows of another kind")


def _plain(value: typ.Any) -> typ.Any:
    """Returns None for NaN, which pandas uses for unknown values."""
    return None if isinstance(value, float) and value != value else value


NUMPY = ("numpy.core.multiarray", "numpy._core.multiarray")
KNOWN: dict[tuple[str, str], typ.Any] = {
    ("gpu_tracker.sub_tracker", "SubTrackingResults"): _Kept,
    ("gpu_tracker.sub_tracker", "CodeBlockResults"): _Kept,
    ("pandas.core.frame", "DataFrame"): _Frame,
    ("pandas.core.series", "Series"): _Series,
    ("pandas.core.internals.managers", "BlockManager"): _Kept,
    ("pandas.core.internals.managers", "SingleBlockManager"): _Kept,
    ("pandas._libs.internals", "_unpickle_block"): _Kept,
    ("pandas.core.indexes.base", "_new_Index"): _index,
    ("pandas.core.indexes.base", "Index"): _Kept,
    ("pandas.core.indexes.range", "RangeIndex"): _Kept,
    ("builtins", "slice"): slice,
    ("__builtin__", "slice"): slice,
    ("_codecs", "encode"): _bytes,
    ("sqlalchemy.sql.elements", "quoted_name"): _name,
    ("numpy", "ndarray"): _Array,
    ("numpy", "dtype"): _Dtype,
    **{(module, "_reconstruct"): _Array for module in NUMPY},
    **{(module, "scalar"): _scalar for module in NUMPY},
    ("numpy.core.numeric", "_frombuffer"): _from_buffer,
    ("numpy._core.numeric", "_frombuffer"): _from_buffer,
}


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: typ.BinaryIO, own: typ.Sequence[type]):
        super().__init__(file)
        self._own = own

    def find_class(self, module, name):
        for kind in self._own:
            if (module, name) == (kind.__module__, kind.__qualname__):
                return kind
        if (module, name) in KNOWN:
            return KNOWN[module, name]
        raise pickle.UnpicklingError(f"{module}.{name} is not a part of results of sub-tracking, so the file is refused; "
                                     + HOW_TO_CONVERT)


def _blocks(manager: _Kept) -> tuple[list, list]:
    """Returns the axes, and (array, columns) of each block."""
    if len(manager.arguments) >= 2:  # of a table
        blocks, axes = manager.arguments[:2]
        return list(axes), [(block.arguments[0], block.arguments[1]) for block in blocks]
    state = manager.state[-1]["0.14.1"]
    return list(state["axes"]), [(block["values"], block["mgr_locs"]) for block in state["blocks"]]


def _series(series: _Series) -> Series:
    manager = series.of("_mgr") if "_mgr" in series.state else series.of("_data")
    axes, blocks = _blocks(manager)
    return Series(zip(axes[0], blocks[0][0].cells()))


def _frame(frame: _Frame) -> Frame:
    manager = frame.of("_mgr") if "_mgr" in frame.state else frame.of("_data")
    (columns, rows), blocks = _blocks(manager)
    by_column: dict[typ.Any, list] = {}
    for values, places in blocks:
        cells, wide = values.cells(), len(rows)
        chosen = range(*places.indices(len(columns))) if isinstance(places, slice) else places.cells()
        for number, place in enumerate(chosen):
            by_column[columns[place]] = cells[number * wide:(number + 1) * wide]
    return Frame({row: {column: by_column[column][at] for column in columns} for at, row in enumerate(rows)})


def load(file: typ.BinaryIO, results: type, block: type, own: typ.Sequence[type]) -> typ.Any:
    """Returns the `results` in a file, with a `block` for each code block. Raises pickle.UnpicklingError for other
    content.
    """
    try:
        loaded = _Unpickler(file, own).load()
        if isinstance(loaded, results):
            return loaded
        if not isinstance(loaded, _Kept):
            raise pickle.UnpicklingError(f"the file holds no results of sub-tracking but {type(loaded).__name__}")
        return results(_frame(loaded.of("overall")), _series(loaded.of("static_data")), [
            block(**{name: one.of(name) for name in ("name", "num_timepoints", "num_calls", "num_non_empty_calls")},
                  compute_time=_series(one.of("compute_time")), resource_usage=_frame(one.of("resource_usage")))
            for one in loaded.of("code_block_results")])
    except pickle.UnpicklingError:
        raise
    except (AttributeError, IndexError, KeyError, TypeError, ValueError, EOFError, struct.error) as problem:
        raise pickle.UnpicklingError(f"the pickle cannot be read ({problem}); {HOW_TO_CONVERT}") from problem
