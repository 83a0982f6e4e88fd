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
    require("triton", HAVE, "pip install --group oracles")


LEFT_OUT = {("hazards-vector", "gfx1250")}
"""What LLVM 22 misses (GCNHazardRecognizer.cpp) between a matrix instruction and what overwrites an operand of it:
checkWMMACoexecutionHazards looks for the destination under one name, which dual instructions do not have; and
getWaitStatesSince visits each block once, so that of two paths that part and meet again the longer one may count."""


def errors_of(session, arch):
    """Errors of a session, but for the compiler's own that are known."""
    return [one for one in session.findings if one.severity == "error" and (one.id, arch) not in LEFT_OUT]
