"""Series and frames: named numbers and tables of them, as far as results of sub-tracking need them.

They support the usual operations of a small pandas.Series or pandas.DataFrame (`frame["max"]["main_ram"]`,
`frame.loc["main_ram", "max"]`, `series.total`, `to_dict()`); `to_pandas()` converts them if pandas is installed.
"""
from __future__ import annotations

import typing as typ

CELL_DECIMALS = 8


class Series(dict):
    """Values by name, in order. `series["mean"]` and `series.mean` are the same."""

    def __getattr__(self, name: str) -> typ.Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    @property
    def index(self) -> list[str]:
        return list(self)

    def to_dict(self) -> dict[str, typ.Any]:
        return dict(self)

    def sort_values(self, ascending: bool = True) -> Series:
        """Returns a copy in the order of the values, with unknown ones (None) last."""
        known = sorted((item for item in self.items() if item[1] is not None), key=lambda item: item[1],
                       reverse=not ascending)
        return Series([*known, *(item for item in self.items() if item[1] is None)])

    def to_pandas(self):
        """Returns a pandas.Series."""
        import pandas
        return pandas.Series(self.to_dict())

    def __reduce__(self):
        return Series, (self.to_dict(),)

    def __str__(self) -> str:
        return table_text([("", self)], list(self))


class _Rows:
    """`frame.loc`: a row by its name, or one value of it."""

    def __init__(self, rows: dict[str, Series]):
        self._rows = rows

    def __getitem__(self, key):
        if isinstance(key, tuple):
            return self._rows[key[0]][key[1]]
        return self._rows[key]


class Frame:
    """A table of named rows with the same columns. `frame["max"]` is a column, `frame.loc["main_ram"]` a row."""

    def __init__(self, rows: dict[str, dict[str, typ.Any]]):
        self._rows = {name: Series(row) for name, row in rows.items()}

    @property
    def index(self) -> list[str]:
        return list(self._rows)

    @property
    def columns(self) -> list[str]:
        return list(next(iter(self._rows.values()), ()))

    @property
    def loc(self) -> _Rows:
        return _Rows(self._rows)

    def __getitem__(self, column: str) -> Series:
        if column not in self.columns:
            raise KeyError(column)
        return Series((name, row[column]) for name, row in self._rows.items())

    def __getattr__(self, column: str) -> Series:
        if column.startswith("_") or column not in self.columns:
            raise AttributeError(column)
        return self[column]

    def iterrows(self) -> typ.Iterator[tuple[str, Series]]:
        return iter(self._rows.items())

    def to_dict(self) -> dict[str, dict[str, typ.Any]]:
        """Returns {column: {row: value}}, the form of pandas; rows() returns the transposed form."""
        return {column: self[column].to_dict() for column in self.columns}

    def rows(self) -> dict[str, dict[str, typ.Any]]:
        """Returns {row: {column: value}}."""
        return {name: row.to_dict() for name, row in self._rows.items()}

    def to_pandas(self):
        """Returns a pandas.DataFrame."""
        import pandas
        return pandas.DataFrame(self.to_dict())

    def __len__(self) -> int:
        return len(self._rows)

    def __eq__(self, other) -> bool:
        return isinstance(other, Frame) and self.rows() == other.rows()

    def __reduce__(self):
        return Frame, (self.rows(),)

    def __str__(self) -> str:
        return table_text(self._rows.items(), self.columns)

    __repr__ = __str__


def _is_whole(value) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _cell(value, all_real: bool) -> str:
    if value is None:
        return "NaN"
    if isinstance(value, float) or all_real:
        return str(float(f"{value:.{CELL_DECIMALS}f}"))
    return f" {value}"


def table_text(rows, columns: list[str]) -> str:
    """
    Formats rows in gpu_tracker's table layout: labels on the left, and each column right-aligned after one blank. If
    all numbers have the same type, each heading has room for a sign; in a mixed table it has not.
    """
    rows = [(label, [row[column] for column in columns]) for label, row in rows]
    values = [value for _, row in rows for value in row]
    numbers = all(value is None or isinstance(value, (int, float)) for value in values)
    all_real = numbers and not all(_is_whole(value) for value in values)
    cells = [(label, [_cell(value, all_real) for value in row]) for label, row in rows]
    label_width = max((len(label) for label, _ in cells), default=0)
    widths = [max([len(column) + numbers, *(len(row[at]) for _, row in cells)]) for at, column in enumerate(columns)]
    lines = [("", columns), *cells]
    return "\n".join(label.ljust(label_width) + "".join(" " + cell.rjust(width) for cell, width in zip(row, widths))
                     for label, row in lines)


def tree_text(tree: dict[str, typ.Any], depth: int = 0, plain: typ.Container[str] = ()) -> str:
    """Formats series, frames, maps and lists of maps, each one tab deeper; keys that are not `plain` become titles."""
    tabs, text = "\t" * depth, ""
    labels = [tabs + (key if key in plain else key.replace("_", " ").title()) for key in tree]
    longest = max(map(len, labels), default=0)
    for label, value in zip(labels, tree.values()):
        if isinstance(value, (Series, Frame)):
            text += f"{label}:\n" + "".join(f"{tabs}\t{line}\n" for line in str(value).splitlines())
        elif isinstance(value, dict):
            text += f"{label}:\n" + tree_text(value, depth + 1, plain)
        elif isinstance(value, list):
            text += f"{label}:\n" + "".join(tree_text(one, depth + 1, plain) + "\n" for one in value)
        else:
            shown = f"{value:.{CELL_DECIMALS}f}" if isinstance(value, float) else value
            text += f"{label}:{' ' * (longest - len(label))} {shown}\n"
    return text
