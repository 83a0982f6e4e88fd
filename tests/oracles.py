"""What a test does when the thing it compares with is not there."""

import os

import pytest


def require(name, available, how):
    """Go on when an oracle is available; otherwise skip, or fail where oracles are required.

    `how` says how to get it. MFMASIM_REQUIRE_ORACLES=1 (set in CI) turns the absence into a failure, so that a
    comparison cannot disappear unnoticed.
    """
    if available:
        return
    message = f"{name} is not available: {how}"
    if os.environ.get("MFMASIM_REQUIRE_ORACLES") == "1":
        pytest.fail(message)
    pytest.skip(message)
