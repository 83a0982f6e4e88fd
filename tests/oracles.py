"""Oracles fail loudly: a missing one is a failure where MFMASIM_REQUIRE_ORACLES=1, and a named skip elsewhere."""

from __future__ import annotations

import os

import pytest


def require(name: str, available: bool, how: str) -> None:
    """Stop the test when an external oracle is missing.

    Args:
        name: the oracle, such as ``"llvm-mc"``.
        available: whether it was found.
        how: how to get it.
    """
    if available:
        return
    text = f"oracle {name} is not available: {how}"
    if os.environ.get("MFMASIM_REQUIRE_ORACLES") == "1":
        pytest.fail(text)
    pytest.skip(text)
