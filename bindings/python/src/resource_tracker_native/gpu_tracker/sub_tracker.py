"""Code blocks of a job: SubTracker marks them, SubTrackingAnalyzer computes what each used, and TrackingComparison
shows how that differs between tracking sessions.
"""
from __future__ import annotations

import dataclasses as dclass
import functools
import json
import logging as log
import os
import sys
import time
import typing as typ

from . import engine
from .results import Frame, Series, tree_text
from .sub_tracking_file import START, STOP, SubTrackingFile, combine, extension_of

_Function = typ.TypeVar("_Function", bound=typ.Callable[..., typ.Any])

STATISTICS = ("min", "max", "mean", "std")


class SubTracker:
    """
    Marks a code block: entering the context is its start, leaving it its stop. Together with the tracking file of a
    `Tracker` around it, `SubTrackingAnalyzer` computes what the block used. In a program that the command
    resource-tracker records, the block is a phase of the recording as well (`regions`, `report`).

    :ivar str code_block_name: The name of the code block.
    :ivar str sub_tracking_file: The file that the marks are appended to.
    """

    def __init__(self, code_block_name: str | None = None, code_block_attribute: str | None = None,
                 sub_tracking_file: str | None = None, overwrite: bool = False):
        """
        :param code_block_name: Defaults to the file in which the SubTracker is made, a colon and the code_block_attribute.
        :param code_block_attribute: Only used without a code_block_name; defaults to the line number.
        :param sub_tracking_file: CSV (.csv) or SQLite (.sqlite); defaults to PROCESS_ID.csv in the working directory.
        :param overwrite: Whether an existing file may be replaced.
        :raises ValueError: Raised if the file's name says neither CSV nor SQLite.
        """
        if code_block_name is None:
            caller = sys._getframe(1)
            attribute = caller.f_lineno if code_block_attribute is None else code_block_attribute
            code_block_name = f"{os.path.relpath(caller.f_code.co_filename)}:{attribute}"
        self.code_block_name = code_block_name
        self.process_id = os.getpid()
        self.sub_tracking_file = f"{self.process_id}.csv" if sub_tracking_file is None else sub_tracking_file
        self._file = SubTrackingFile(self.sub_tracking_file, overwrite)
        self._phases: list[int] = []

    def _mark(self, position: int) -> None:
        self._file.add(os.getpid(), self.code_block_name, position, time.time())

    def __enter__(self) -> SubTracker:
        self._mark(START)
        self._phases.append(engine.begin_phase(self.code_block_name))
        return self

    def __exit__(self, *_) -> None:
        engine.end_phase(self.code_block_name, self._phases.pop())
        self._mark(STOP)


def sub_track(code_block_name: str | None = None, code_block_attribute: str | None = None,
              sub_tracking_file: str | None = None, overwrite: bool = False) -> typ.Callable[[_Function], _Function]:
    """
    A decorator: every call of the function is a code block.

    :param code_block_name: Defaults to the absolute path of the function's file, a colon and the code_block_attribute.
    :param code_block_attribute: Defaults to the name of the function.
    :param sub_tracking_file: As in `SubTracker`.
    :param overwrite: As in `SubTracker`.
    """
    def decorate(function: _Function) -> _Function:
        name = code_block_name
        if name is None:
            attribute = function.__name__ if code_block_attribute is None else code_block_attribute
            name = f"{os.path.abspath(sys._getframe(1).f_code.co_filename)}:{attribute}"

        @functools.wraps(function)
        def call(*arguments, **keywords):
            with SubTracker(name, code_block_attribute, sub_tracking_file, overwrite):
                return function(*arguments, **keywords)

        return typ.cast(_Function, call)

    return decorate


class SubTrackingAnalyzer:
    """Computes what each code block used, from the tracking file of a `Tracker` and the sub-tracking file of a
    `SubTracker`.
    """

    def __init__(self, tracking_file: str | None, sub_tracking_file: str):
        """
        :param tracking_file: The resource usage at each timepoint; None if only the marks are needed.
        :param sub_tracking_file: The starts and stops of the code blocks.
        """
        for path in (tracking_file, sub_tracking_file):
            if path is not None:
                extension_of(path)
        self._tracking_file, self._sub_tracking_file = tracking_file, sub_tracking_file

    def read_static_data(self) -> Series:
        """Returns the units of measurement and the capacities, from the tracking file."""
        return Series(engine.regions(self._tracking_file, None)["static_data"])

    def load_code_block_names(self) -> list[str]:
        """Returns the names of the code blocks, in order."""
        return [name for name, _ in engine.calls(self._sub_tracking_file)]

    def combine_sub_tracking_files(self, files: list[str]) -> None:
        """
        Makes the sub-tracking file of this analyzer, which must not exist yet, from those of several processes.

        :raises ValueError: Raised if it exists, or if a file has a different extension.
        """
        combine(self._sub_tracking_file, files)

    def load_timestamp_pairs(self, code_block_name: str) -> list[tuple[float, float]]:
        """Returns start and stop of each call of a code block, by start. A stop belongs to the innermost start of its
        process.
        """
        return dict(engine.calls(self._sub_tracking_file)).get(code_block_name, [])

    def load_timepoints(self, timestamp_pairs: list[tuple[float, float]]):
        """Returns the rows of the tracking file, as a table, whose time lies within one of the pairs, ends included."""
        if self._tracking_file is None:
            raise ValueError("There are no timepoints without a tracking file.")
        return engine.timepoints(self._tracking_file, timestamp_pairs)

    def overall_timepoint_results(self) -> Frame:
        """Returns statistics of each measurement over all timepoints."""
        return Frame(engine.regions(self._tracking_file, None)["overall"])

    def sub_tracking_results(self) -> SubTrackingResults:
        """Returns statistics over all timepoints, and those of each code block."""
        return SubTrackingResults.from_json(engine.regions(self._tracking_file, self._sub_tracking_file))


@dclass.dataclass
class CodeBlockResults:
    """
    The usage of one code block.

    :param name: The name of the code block.
    :param num_timepoints: The number of timepoints within its calls.
    :param num_calls: How often it was entered.
    :param num_non_empty_calls: The number of calls that have a timepoint.
    :param compute_time: min, max, mean, std and total of the seconds of its calls.
    :param resource_usage: min, max, mean and std of each measurement at its timepoints; None without a timepoint.
    """
    name: str
    num_timepoints: int
    num_calls: int
    num_non_empty_calls: int
    compute_time: Series
    resource_usage: Frame


@dclass.dataclass
class SubTrackingResults:
    """
    The usage of a tracking session.

    :param overall: min, max, mean and std of each measurement over all timepoints.
    :param static_data: Units of measurement and capacities.
    :param code_block_results: The same for each code block.
    """
    overall: Frame
    static_data: Series
    code_block_results: list[CodeBlockResults]

    def to_json(self) -> dict:
        """Returns maps and lists, ready for JSON."""
        return {
            "overall": self.overall.rows(),
            "static_data": self.static_data.to_dict(),
            "code_block_results": [dict(vars(block), compute_time=block.compute_time.to_dict(),
                                        resource_usage=block.resource_usage.rows())
                                   for block in self.code_block_results],
        }

    @classmethod
    def from_json(cls, json_map: dict) -> SubTrackingResults:
        """Reads the result of to_json()."""
        blocks = [CodeBlockResults(**dict(block, compute_time=Series(block["compute_time"]),
                                          resource_usage=Frame(block["resource_usage"])))
                  for block in json_map["code_block_results"]]
        return cls(Frame(json_map["overall"]), Series(json_map["static_data"]), blocks)

    def __str__(self) -> str:
        return tree_text({"overall": self.overall, "static_data": self.static_data,
                          "code_block_results": [vars(block) for block in self.code_block_results]})


def load_results(path: str) -> SubTrackingResults:
    """Reads pickled results, by this package or by gpu_tracker, or JSON of their to_json(). It runs no code of the
    file.
    """
    from . import pickled

    with open(path, "rb") as file:
        first = file.read(1)
        if first and first in b"{ \t\r\n":
            file.seek(0)
            return SubTrackingResults.from_json(json.load(file))
        file.seek(0)
        return pickled.load(file, SubTrackingResults, CodeBlockResults, (SubTrackingResults, CodeBlockResults, Frame, Series))


def _line_number(name: str) -> str | None:
    """Returns the number behind the last colon, or None."""
    head, colon, tail = name.rpartition(":")
    return tail if colon and tail.isascii() and tail.isdigit() else None


def _in_order(blocks: list[CodeBlockResults]) -> list[CodeBlockResults]:
    """Sorts by name, with line numbers by their size."""
    longest = max((len(_line_number(block.name) or "") for block in blocks), default=0)

    def key(block):
        number = _line_number(block.name)
        return block.name if number is None else f"{block.name.rpartition(':')[0]}:{number.zfill(longest)}"

    return sorted(blocks, key=key)


def _check_match(name: str, session: str, other: str, other_session: str) -> None:
    if name == other:
        return
    both = f'Code block name "{name}" of tracking session "{session}"'
    if (_line_number(name) is None or _line_number(other) is None
            or name.rpartition(":")[0] != other.rpartition(":")[0]):
        raise ValueError(f'{both} does not match code block name "{other}" of tracking session "{other_session}"')
    log.warning('%s matched with code block name "%s" of tracking session "%s" but they differ by line number. If these '
                "code blocks were not meant to match, their comparison will not be valid and their names must be "
                "disambiguated.", both, other, other_session)


class TrackingComparison:
    """
    Compares the results of tracking sessions: overall, and for each code block. Code blocks of different sessions
    match by name. Names that differ only in the line number behind the last colon match by order.

    :ivar dict[str, SubTrackingResults] results_map: The results by the name of their session.
    """

    def __init__(self, file_path_map: dict[str, str]):
        """
        :param file_path_map: The file of each session's results: pickled, or JSON of `SubTrackingResults.to_json()`.
        :raises ValueError: Raised if the code blocks of the sessions do not match.
        """
        self.results_map = {name: load_results(path) for name, path in file_path_map.items()}
        self._first = min(self.results_map)
        for results in self.results_map.values():
            results.code_block_results = _in_order(results.code_block_results)
        blocks = self.results_map[self._first].code_block_results
        for name, results in self.results_map.items():
            others = results.code_block_results
            if len(others) != len(blocks):
                raise ValueError("All sub-tracking results must have the same number of code blocks. The first has "
                                 f'{len(blocks)} code blocks but tracking session "{name}" has {len(others)} code blocks.')
            for block, other in zip(blocks, others):
                _check_match(block.name, self._first, other.name, name)

    def compare(self, statistic: str = "mean") -> ComparisonResults:
        """
        :param statistic: One of 'min', 'max', 'mean' and 'std'.
        :raises ValueError: Raised for any other.
        """
        if statistic not in STATISTICS:
            raise ValueError(f"Invalid summary statistic '{statistic}'. Valid values are {' '.join(STATISTICS)}.")
        measures = self.results_map[self._first].overall.index
        has_blocks = bool(self.results_map[self._first].code_block_results)
        return ComparisonResults(
            {measure: self._by_session(lambda results: results.overall.loc[measure, statistic]) for measure in measures},
            {measure: self._by_block(lambda block: block.resource_usage.loc[measure, statistic])
             for measure in measures if has_blocks},
            self._by_block(lambda block: block.compute_time[statistic]))

    def _by_session(self, value: typ.Callable) -> Series:
        return Series((name, value(results)) for name, results in self.results_map.items()).sort_values()

    def _by_block(self, value: typ.Callable) -> dict[str, Series]:
        compared = {}
        for blocks in zip(*(results.code_block_results for results in self.results_map.values())):
            label = " -> ".join(sorted({block.name for block in blocks}))
            compared[label] = Series(zip(self.results_map, map(value, blocks))).sort_values()
        return compared


@dclass.dataclass
class ComparisonResults:
    """
    One statistic of several tracking sessions, each series from smallest to largest.

    :param overall_resource_usage: By measurement.
    :param code_block_resource_usage: By measurement and code block.
    :param code_block_compute_time: By code block.
    """
    overall_resource_usage: dict[str, Series]
    code_block_resource_usage: dict[str, dict[str, Series]]
    code_block_compute_time: dict[str, Series]

    def to_json(self) -> dict:
        """Returns maps, ready for JSON."""
        def plain(value):
            return dict(value) if isinstance(value, Series) else {name: plain(one) for name, one in value.items()}

        return {name: plain(value) for name, value in vars(self).items()}

    def __str__(self) -> str:
        return tree_text(vars(self), plain=set(self.code_block_compute_time))
