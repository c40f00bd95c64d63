"""Sub-tracking files: the times at which processes entered and left code blocks.

    process_id,code_block_name,position,timestamp
    1723811,load,0,1745449609.7528222

CSV, or SQLite with a table `data`; position 0 is the start, 1 the stop. A line is one write(2) to the end of the file, so
that forked children may share a file.
"""
from __future__ import annotations

import contextlib
import csv
import io
import os
import typing as typ

COLUMNS = ("process_id", "code_block_name", "position", "timestamp")
EXTENSIONS = (".csv", ".sqlite")
START, STOP = 0, 1

_files_begun: set[str] = set()


def extension_of(path: str) -> str:
    """Returns the extension. Raises ValueError if the name is neither CSV nor SQLite."""
    for extension in EXTENSIONS:
        if path.endswith(extension):
            return extension
    raise ValueError(f'Invalid file name: "{path}". Valid file extensions are ".csv" and ".sqlite".')


def make_room(path: str, overwrite: bool) -> None:
    """Makes room for a file. Raises FileExistsError if it exists and must not be overwritten."""
    if os.path.lexists(path):
        if not overwrite:
            raise FileExistsError(f"File {path} already exists. Set overwrite to True to overwrite the existing file.")
        os.remove(path)


def _csv_line(values: typ.Iterable) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text).writerow(values)
    return text.getvalue().encode("utf-8", "surrogateescape")


def _append(path: str, line: bytes, flags: int) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | flags, 0o666)
    try:
        os.write(descriptor, line)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _database(path: str):
    import sqlite3
    connection = sqlite3.connect(path, timeout=60)
    try:
        with connection:
            yield connection
    finally:
        connection.close()


def _begin(path: str, extension: str) -> None:
    if extension == ".csv":
        _append(path, _csv_line(COLUMNS), os.O_CREAT | os.O_EXCL)
        return
    # SQLite would follow a link that another user has put there.
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666))
    with _database(path) as database:
        database.execute("CREATE TABLE data (process_id INTEGER, code_block_name VARCHAR, position INTEGER, "
                         "timestamp FLOAT)")


class SubTrackingFile:
    """One file to append to. The first row begins it, once in the life of the process."""

    def __init__(self, path: str, overwrite: bool = False):
        self.path = os.fspath(path)
        self._extension = extension_of(self.path)
        self._overwrite = overwrite

    def add(self, process_id: int, name: str, position: int, timestamp: float) -> None:
        """Appends a row. Raises FileNotFoundError if the file was removed since it was begun."""
        key = os.path.abspath(self.path)
        if key not in _files_begun:
            make_room(self.path, self._overwrite)
            _begin(self.path, self._extension)
            _files_begun.add(key)
        if not os.path.isfile(self.path):
            raise FileNotFoundError(f"The file {self.path} was removed in the middle of writing data to it.")
        row = (process_id, name, position, timestamp)
        if self._extension == ".csv":
            _append(self.path, _csv_line(row), 0)
            return
        with _database(self.path) as database:
            database.execute("INSERT INTO data VALUES (?, ?, ?, ?)", row)


def _rows_of(path: str) -> typ.Iterator[tuple]:
    if extension_of(path) == ".csv":
        with open(path, newline="", encoding="utf-8", errors="surrogateescape") as file:
            for row in csv.DictReader(file):
                yield tuple(row[column] for column in COLUMNS)
        return
    with _database(f"{path}") as database:
        yield from database.execute(f"SELECT {', '.join(COLUMNS)} FROM data")


def combine(target: str, paths: typ.Iterable[str]) -> None:
    """
    Writes the rows of several files to a new file, in the given order. Raises ValueError if the target exists, or if a
    file is of a different kind.
    """
    paths, extension = list(paths), extension_of(target)
    if os.path.lexists(target):
        raise ValueError(f"Cannot create sub-tracking file {target}. File already exists.")
    for path in paths:
        if not path.endswith(extension):
            raise ValueError(f'File {path} does not end with the same extension as {target}. Must end in "{extension}".')
        os.stat(path)
    _begin(target, extension)
    if extension == ".csv":
        with open(target, "ab") as file:
            for path in paths:
                file.writelines(map(_csv_line, _rows_of(path)))
        return
    with _database(target) as database:
        for path in paths:
            database.executemany("INSERT INTO data VALUES (?, ?, ?, ?)", _rows_of(path))
