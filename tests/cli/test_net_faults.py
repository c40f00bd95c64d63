"""A few of the random schedules of trouble; `make soak` runs 200 (tests/soak/net_faults.py)."""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "fakes"))
from sentinel_faults import run_schedule  # noqa: E402
from sentinel_support import needs_net, swift, template, world  # noqa: E402,F401

pytestmark = needs_net


@pytest.mark.parametrize("seed", range(8))
def test_schedule(world, swift, seed):
    run_schedule(world, seed, slack_secs=4)
