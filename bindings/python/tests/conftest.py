"""The tests run where only the wheel and pytest are installed: see tools/python-venv. Each has a hard end."""
import os
import pathlib
import signal
import sys

import pytest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[3] / "tests"))
from without_report import pytest_runtest_makereport, pytest_runtest_setup  # noqa: E402, F401

TIMEOUT_SECS = 60
NOBODY = "http://127.0.0.1:9"


def pytest_configure(config):
    # A shell's background job and nohup ignore these signals. The programs that tests start would inherit that.
    for signo in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
        if signal.getsignal(signo) == signal.SIG_IGN:
            signal.signal(signo, signal.SIG_DFL)
    os.environ["PYTHONUNBUFFERED"] = "1"  # as in tests/cli/conftest.py
    # No test reaches a cloud or a service, even if it forgets to set an address.
    os.environ.update(TRACKER_METADATA_URL=NOBODY, KEEPER_API_URL=NOBODY, SENTINEL_API_URL=NOBODY)
    os.environ.pop("SENTINEL_API_TOKEN", None)
    os.environ.pop("RESOURCE_TRACKER_MARKS", None)  # of a recorder around the tests
    config.addinivalue_line("markers", "night: one more case of what a test by day looks at; only .ci/nightly runs it")
    config.addinivalue_line("markers", "alone: measures, or needs a calm machine: nothing runs beside it")
    config.addinivalue_line("markers", "cost: measures time or memory; only make bench runs it")
    config.addinivalue_line("markers", "timeout(secs): instead of a minute")
    config.addinivalue_line("markers", "slow: takes more than a few seconds")


class TestTookTooLong(BaseException):
    """It is not an Exception, so a test cannot catch it by accident."""


@pytest.fixture(autouse=True)
def hard_timeout(request):
    marker = request.node.get_closest_marker("timeout")
    secs = marker.args[0] if marker else TIMEOUT_SECS

    def stop(signo, frame):
        raise TestTookTooLong(f"not done after {secs} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, secs)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)
