"""Triton and PyTorch for tests; without them the tests skip, or fail where oracles are required."""

import importlib.util

import pytest

from tests.oracles import require

HAVE = all(importlib.util.find_spec(name) for name in ("triton", "torch"))
if HAVE:
    import mfmasim.triton as mt
else:
    mt = None


@pytest.fixture(autouse=True)
def needed():
    require("triton", HAVE, "pip install triton torch")
