"""The options of %%track, without IPython; tools/ci-pyworld runs the magic itself."""
import sys
import types

import pytest

from resource_tracker_native import jupyter


@pytest.mark.parametrize("line, options", [("", (0.1, True)), ("--no-report", (0.1, False)), ("--interval 0.5", (0.5, True)),
                                           ("--interval 500ms", (0.5, True))])
def test_options_of_a_cell(line, options):
    assert jupyter._options(line) == options


@pytest.mark.parametrize("line", ["--bogus", "--interval", "--interval x", "--interval 0"])
def test_a_wrong_option_is_refused(line):
    with pytest.raises(ValueError):
        jupyter._options(line)


def test_a_cell_keeps_its_value_if_no_page_can_be_made(monkeypatch, capsys):
    """The line about the cell tells unknown CPU time, because this tracker has no rows."""
    class Shell:
        user_ns: dict = {}

    class Tracker:
        process_metrics = {"utime": [None], "stime": [None], "memory_mib": [None]}
        start_time, stop_time = 1.0, 3.0

        def __init__(self, **arguments):
            pass

        def start(self):
            pass

        def stop(self, exit_code):
            pass

        def report(self, **arguments):
            raise OSError(38, "built without the page")

    display = types.ModuleType("IPython.display")
    display.display = print
    monkeypatch.setitem(sys.modules, "IPython", types.ModuleType("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    monkeypatch.setattr(jupyter, "ResourceTracker", Tracker)
    monkeypatch.setattr(jupyter, "_run", lambda shell, source: 42)
    assert jupyter._track(Shell(), "", 0.1, True) == 42
    assert capsys.readouterr().out == "unknown CPU time in 2.00 s\nno report: built without the page\n"
