"""pytest --track: CPU time and memory of each test, as a table at the end and as JSON.

pytest finds the plugin by itself where this package is installed. Without --track it does nothing.
"""
from __future__ import annotations

import json
from argparse import ArgumentTypeError
from os import W_OK, access, getpid
from pathlib import Path
from typing import Any, Dict, List, Optional

import pytest

from ._length import seconds
from ._output import opener

SHOWN_TESTS = 20
BEGIN = b'{\n "schema": 1,\n "tests":'
ATTRIBUTE = "resource_use"


def _interval(text: str) -> float:
    try:
        return seconds(text)
    except ValueError as problem:
        raise ArgumentTypeError(str(problem)) from None


def _why_not_written(name: str) -> Optional[str]:
    """Tells before the tests why FILE of --track-json must not or cannot be written, or returns None."""
    path = Path(name)
    if path.is_dir():
        return "it is a folder"
    if not path.exists():
        return None if access(path.parent, W_OK) else "its folder does not exist or takes no new file"
    if not path.is_file():
        return None
    try:
        with open(path, "rb") as found:
            begin = found.read(len(BEGIN))
    except OSError as problem:
        return problem.strerror
    if begin and begin != BEGIN:
        return "it has content of another kind, which is not overwritten; choose another name"
    return None if access(path, W_OK) else "it is not writable"


def pytest_addoption(parser: Any) -> None:
    group = parser.getgroup("resource-tracker", "CPU time and memory of each test")
    group.addoption("--track", action="store_true", help="show CPU time and memory of each test, with its setup and teardown")
    group.addoption("--track-json", metavar="FILE", help="the same, and write them to FILE")
    group.addoption("--track-interval", type=_interval, default=0.02, metavar="TIME",
                    help="time between two samples of memory, such as 0.1 or 50ms (default: 0.02)")
    group.addoption("--track-number", type=int, default=SHOWN_TESTS, metavar="N",
                    help="number of tests in the table; 0 shows all (default: 20)")


def pytest_configure(config: Any) -> None:
    path = config.getoption("track_json")
    reason = _why_not_written(path) if path else None
    if reason:
        raise pytest.UsageError(f"--track-json {path}: {reason}")
    if config.getoption("track") or config.getoption("track_json"):
        config.pluginmanager.register(_Plugin(config), "resource-tracker-use")


def _figure(value: Optional[float], form: str) -> str:
    return "-" if value is None else format(value, form)


def _sum(use: Dict[str, Any]) -> Optional[float]:
    user, system = use["cpu_user_secs"], use["cpu_system_secs"]
    return None if user is None or system is None else user + system


class _Plugin:
    def __init__(self, config: Any):
        self.config = config
        self.owner = getpid()  # a fork that a test lets return measures nothing and writes no file
        self.is_worker = hasattr(config, "workerinput")  # of pytest-xdist, whose controller runs no test itself
        self.tests: List[Dict[str, Any]] = []
        self.outcomes: Dict[str, str] = {}
        self.meter: Any = None
        self.begin: Any = None

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: Any) -> Any:
        if getpid() != self.owner:
            yield
            return
        if self.meter is None:
            from ._meter import Meter

            self.meter = Meter(self.config.getoption("track_interval"))
        self.begin = self.meter.begin()
        yield
        if self.begin is not None and getpid() == self.owner:
            # A fork made the report (pytest-forked), and has ended.
            self._add(item.nodeid, None, self.meter.end(self.begin))
            self.begin = None

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: Any, call: Any) -> Any:
        result = yield
        if call.when == "teardown" and self.begin is not None and getpid() == self.owner:
            # pytest-xdist sends the attributes of a report to its controller.
            setattr(result.get_result(), ATTRIBUTE, self.meter.end(self.begin))
            self.begin = None

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.when == "call" or report.outcome != "passed":
            self.outcomes[report.nodeid] = report.outcome
        use = getattr(report, ATTRIBUTE, None)
        if use is not None:
            self._add(report.nodeid, getattr(report, "worker_id", None), use)

    def _add(self, test: str, worker: Optional[str], use: Dict[str, Any]) -> None:
        self.tests.append({"test": test, "outcome": self.outcomes.pop(test, "passed"), "worker": worker, **use})

    def pytest_sessionfinish(self) -> None:
        if getpid() != self.owner:
            return
        if self.meter is not None:
            self.meter.close()
        path = self.config.getoption("track_json")
        if path and not self.is_worker:
            with open(path, "w", encoding="utf-8", opener=opener) as out:
                json.dump({"schema": 1, "tests": self.tests}, out, indent=1)
                out.write("\n")

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        number = self.config.getoption("track_number")
        tests = sorted(self.tests, key=lambda test: -(_sum(test) or 0))
        shown = tests[:number] if number > 0 else tests
        if not shown or getpid() != self.owner:
            return
        terminalreporter.write_sep("=", f"resources of {len(tests)} tests, the most CPU time first")
        terminalreporter.write_line("    CPU s    wall s  peak MiB   growth  test")
        for test in shown:
            before, after = test["memory_before_mib"], test["memory_after_mib"]
            growth = None if before is None or after is None else after - before
            terminalreporter.write_line(
                f"{_figure(_sum(test), '9.3f'):>9} {test['wall_secs']:9.3f} {_figure(test['memory_peak_mib'], '9.1f'):>9} "
                f"{_figure(growth, '+8.1f'):>8}  {test['test']}")
        if len(shown) < len(tests):
            terminalreporter.write_line(f"and {len(tests) - len(shown)} more; --track-number 0 shows all")
