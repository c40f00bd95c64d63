"""A small table of named columns, which the trackers return.

[`TinyDataFrame`][] behaves like a dictionary of lists with rows. It has no dependency and no index, and its only types
are those of the cells (int, float, str, None). A recorded column becomes a list at its first use.
"""
from __future__ import annotations

from collections import defaultdict
from logging import getLogger
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Union

from ._output import opener

__all__ = ["StatSpec", "TinyDataFrame"]

logger = getLogger(__name__)

SHOWN_ROWS = 10


class StatSpec(NamedTuple):
    """A statistic for [`TinyDataFrame.stats`][]: `agg` of `column`, named `agg_name` (default: the function's name)."""

    column: str
    agg: Callable[[List[Any]], Any]
    agg_name: Optional[str] = None
    round: Optional[int] = None


class TinyDataFrame:
    """A table from a dictionary of lists, a list of rows (dictionaries), or a CSV file.

    Args:
        data: columns by name, or rows; a cell that a row does not have is None.
        csv_file_path: a CSV file (or an http address of one) whose first line names the columns. Cells are int, else
            float, else str.
        retries: how often a file that cannot be read is tried again.
        retry_delay: seconds before the first of these; doubled each time.

    Raises:
        AssertionError: neither or both of data and csv_file_path are given, or are of another type.
        RuntimeError: the file could not be read.

    >>> df = TinyDataFrame(data={"name": ["a", "b"], "cores": [1, 2.5]})
    >>> df["cores"]
    [1, 2.5]
    >>> df[0]
    {'name': 'a', 'cores': 1}
    >>> print(df[1:])
    TinyDataFrame with 1 rows and 2 columns:
    name | cores
    -----+------
    b    |   2.5
    """

    def __init__(
        self,
        data: Union[Dict[str, List[Any]], List[Dict[str, Any]], None] = None,
        csv_file_path: Optional[str] = None,
        retries: int = 0,
        retry_delay: float = 0.1,
    ):
        assert data is not None or csv_file_path is not None, "either data or csv_file_path must be given"
        assert data is None or csv_file_path is None, "only one of data and csv_file_path can be given"
        # Name -> list, or a function that makes the list from the recorded samples at first use.
        self._cells: Dict[str, Any] = {}
        if csv_file_path is not None:
            assert isinstance(csv_file_path, str), "csv_file_path must be a string"
            self._cells = _read_csv_patiently(csv_file_path, retries, retry_delay)
        elif isinstance(data, dict):
            self._cells = dict(data)
        else:
            assert isinstance(data, list), "data must be a dictionary or a list"
            self._cells = _columns_of_rows(data)
        self._length: Optional[int] = None

    @classmethod
    def _of(cls, cells: Dict[str, Any], length: Optional[int] = None) -> "TinyDataFrame":
        frame = cls.__new__(cls)
        frame._cells = cells
        frame._length = length
        return frame

    def _column(self, name: str) -> List[Any]:
        try:
            cells = self._cells[name]
        except KeyError:
            raise KeyError(f"Column '{name}' not found") from None
        if callable(cells):
            cells = self._cells[name] = cells()
        return cells

    @property
    def columns(self) -> List[str]:
        """Names of the columns, in order. Assigning a list of the same length renames them."""
        return list(self._cells)

    @columns.setter
    def columns(self, names: List[str]) -> None:
        names = list(names)
        if len(names) != len(self._cells) or len(set(names)) != len(names):
            raise ValueError(f"{len(self._cells)} different names of columns are needed, not {names}")
        self._cells = dict(zip(names, self._cells.values()))

    @property
    def _data(self) -> List[List[Any]]:
        return [self._column(name) for name in self._cells]

    def __getstate__(self) -> Dict[str, Any]:
        """Pickles and copies hold the cells, never a link to the tracker."""
        return {"_cells": {name: self._column(name) for name in self._cells}, "_length": self._length}

    def __len__(self) -> int:
        if not self._cells:
            return 0
        if self._length is not None:
            return self._length
        return len(self._column(next(iter(self._cells))))

    def __getitem__(self, key: Union[str, List[str], int, slice]) -> Any:
        """Returns a column (str), a table of some columns (list of str), a row (int), or a table of some rows (slice).
        """
        if isinstance(key, str):
            return self._column(key)
        if isinstance(key, int):
            return {name: self._column(name)[key] for name in self._cells}
        if isinstance(key, slice):
            return self._rows(key)
        if isinstance(key, list) and all(isinstance(name, str) for name in key):
            return self._of({name: list(self._column(name)) for name in key})
        raise TypeError(f"Invalid key type: {type(key)}")

    def _rows(self, rows: slice) -> "TinyDataFrame":
        def part_of(cells: Any) -> Any:
            # Recorded samples never change, but a list may.
            return (lambda: cells()[rows]) if callable(cells) else cells[rows]

        length = len(range(*rows.indices(len(self))))
        return self._of({name: part_of(cells) for name, cells in self._cells.items()}, length)

    def __iter__(self) -> Iterator[Dict[str, Any]]:
        return iter(self.to_dict())

    def __setitem__(self, key: str, value: List[Any]) -> None:
        """Adds or replaces a column."""
        if not isinstance(key, str):
            raise TypeError(f"Column name must be a string, got {type(key)}")
        if self._cells and len(value) != len(self):
            raise ValueError(f"Length of values ({len(value)}) must match dataframe length ({len(self)})")
        if not self._cells:
            self._length = None
        self._cells[key] = value

    def head(self, n: int = 5) -> "TinyDataFrame":
        """Returns the first n rows."""
        return self[:n]

    def tail(self, n: int = 5) -> "TinyDataFrame":
        """Returns the last n rows."""
        return self[-n:] if n else self[:0]

    def rename(self, columns: Dict[str, str]) -> "TinyDataFrame":
        """
        Renames columns in place, {old: new}, and returns the table.

        Raises (and renames nothing):
            KeyError: no such column.
            ValueError: two columns would have the same name.
        """
        for name in columns:
            if name not in self._cells:
                raise KeyError(f"Column '{name}' not found in dataframe")
        self.columns = [columns.get(name, name) for name in self._cells]
        return self

    def to_dict(self) -> List[Dict[str, Any]]:
        """Returns the rows, each as a dictionary."""
        names = list(self._cells)
        return [dict(zip(names, row)) for row in zip(*self._data)]

    def to_csv(self, csv_file_path: Optional[str] = None, quote_strings: bool = True) -> Optional[str]:
        """Writes CSV with CRLF to a file, or returns it if no file is named.

        Args:
            csv_file_path: where to write.
            quote_strings: quote every cell but numbers, the header too; else only cells that need it.
        """
        from csv import QUOTE_MINIMAL, QUOTE_NONNUMERIC, writer
        from io import StringIO

        def write(out: Any) -> None:
            rows = writer(out, quoting=QUOTE_NONNUMERIC if quote_strings else QUOTE_MINIMAL)
            rows.writerow(self.columns)
            rows.writerows(zip(*self._data))

        if csv_file_path is None:
            text = StringIO(newline="")
            write(text)
            return text.getvalue()
        with open(csv_file_path, "w", newline="", encoding="utf-8", opener=opener) as out:
            write(out)
        return None

    def stats(self, specs: List[StatSpec]) -> Dict[str, Dict[str, Any]]:
        """Returns {column: {name: value}}. A statistic that cannot be computed is logged and left out."""
        results: Dict[str, Dict[str, Any]] = defaultdict(dict)
        for spec in specs:
            name = spec.agg_name or str(getattr(spec.agg, "__name__", "value"))
            try:
                value = spec.agg(self._column(spec.column))
            except Exception as problem:
                logger.error("%s of column %s cannot be computed: %s", name, spec.column, problem)
                continue
            results[spec.column][name] = value
            if spec.round is not None:
                try:
                    results[spec.column][name] = round(value, spec.round)
                except Exception as problem:
                    logger.error("%s of column %s cannot be rounded: %s", name, spec.column, problem)
        return results

    def _size(self) -> str:
        return f"TinyDataFrame with {len(self)} rows and {len(self._cells)} columns"

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Returns the Arrow C stream of the table: `polars.DataFrame(frame)`, `pyarrow.table(frame)` and others
        accept the table.
        """
        from .arrow import stream_of

        return stream_of(self._cells, [self._column(name) for name in self._cells], len(self))

    def _repr_html_(self) -> str:
        """Shows the first rows in notebooks."""
        from html import escape

        shown = self[:SHOWN_ROWS]
        head = "".join(f"<th>{escape(str(name))}</th>" for name in self._cells)
        rows = "".join("<tr>" + "".join(f"<td>{'' if cell is None else escape(str(cell))}</td>" for cell in row) + "</tr>"
                       for row in zip(*shown._data))
        more = f"<p>... {len(self) - SHOWN_ROWS} more rows</p>" if len(self) > SHOWN_ROWS else ""
        return f"<p>{escape(self._size())}</p><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{more}"

    def __repr__(self) -> str:
        return f"{self._size()}. First row as a dict: {self[0] if len(self) else {}}"

    def __str__(self) -> str:
        if not len(self):
            return f"{self._size()}:\nEmpty dataframe"
        shown = self[:SHOWN_ROWS]
        texts = {name: [str(cell) for cell in shown[name]] for name in self._cells}
        widths = [max(len(name), *map(len, column)) for name, column in texts.items()]
        header = " | ".join(name.ljust(width) for name, width in zip(texts, widths))
        lines = [f"{self._size()}:", header, "-+-".join("-" * width for width in widths)]
        for row in zip(*texts.values()):
            lines.append(" | ".join(cell.rjust(width) if _is_number(cell) else cell.ljust(width)
                                    for cell, width in zip(row, widths)))
        if len(self) > SHOWN_ROWS:
            lines.append("..." + " " * (len(header) - 3))
        return "\n".join(lines)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _columns_of_rows(rows: List[Dict[str, Any]]) -> Dict[str, List[Any]]:
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}


def _read_csv_patiently(path: str, retries: int, delay: float) -> Dict[str, List[Any]]:
    from time import sleep

    for attempt in range(retries + 1):
        if attempt:
            sleep(delay)
            delay *= 2
        try:
            return _read_csv(path)
        except Exception as problem:
            reason = problem
    raise RuntimeError(f"Failed to read CSV file after {retries + 1} attempts: {path}") from reason


def _read_csv(path: str) -> Dict[str, List[Any]]:
    from . import _analysis

    if not path.startswith(("http://", "https://")):
        return _analysis.read_csv(path)
    from tempfile import NamedTemporaryFile
    from urllib.request import urlopen

    with urlopen(path, timeout=30) as answer, NamedTemporaryFile(suffix=".csv") as copy:
        copy.write(answer.read())
        copy.flush()
        return _analysis.read_csv(copy.name)
