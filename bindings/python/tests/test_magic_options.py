"""The options of %%track, without IPython; tools/ci-pyworld runs the magic itself."""
import pytest

from resource_tracker_native import jupyter


@pytest.mark.parametrize("line, options", [("", (0.1, True)), ("--no-report", (0.1, False)), ("--interval 0.5", (0.5, True))])
def test_options_of_a_cell(line, options):
    assert jupyter._options(line) == options


@pytest.mark.parametrize("line", ["--bogus", "--interval", "--interval x"])
def test_a_wrong_option_is_refused(line):
    with pytest.raises(ValueError):
        jupyter._options(line)
