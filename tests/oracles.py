"""What a test does when the thing it compares with is not there."""

import importlib
import importlib.util
import os
import re
from collections import Counter, defaultdict
from pathlib import Path

import pytest


def require(name, available, how, *, installed=True):
    """Go on when an oracle is available; otherwise skip, or fail where oracles are required.

    `how` says how to get it. MFMASIM_REQUIRE_ORACLES=1 (set in CI) turns the absence into a failure, so that a
    comparison cannot disappear unnoticed; not of one that CI cannot install from packages (`installed` is false).
    """
    if available:
        return
    message = f"{name} is not available: {how}"
    if installed and os.environ.get("MFMASIM_REQUIRE_ORACLES") == "1":
        pytest.fail(message)
    pytest.skip(message)


def module(name, how="pip install --group oracles"):
    """An optional package, required as an oracle."""
    require(name, importlib.util.find_spec(name) is not None, how)
    return importlib.import_module(name)


SHARED = Path(os.environ.get("MFMASIM_SHARED") or Path(__file__).resolve().parents[2] / "shared")
"""Code objects, vectors and texts of others that the repository does not hold."""
SHARED_HOW = "set MFMASIM_SHARED to the folder that holds data/ and seeds/"
ABSENT = re.compile(r"Skipped: (?P<name>.*?) is not available: (?P<how>.*)", re.DOTALL)


def absent(reasons):
    """One line for each way to get what was missing, from pytest's reasons of skipped tests; pytest -rs lists each."""
    counts, names, others = Counter(), defaultdict(set), 0
    for reason in reasons:
        if found := ABSENT.fullmatch(reason):
            counts[found["how"]] += 1
            names[found["how"]].add(found["name"])
        else:
            others += 1
    lines = [f"{_some(sorted(names[how]))}: {count} tests skipped; {how}" for how, count in counts.most_common()]
    return [*lines, f"other reasons: {others} tests skipped; pytest -rs"] if others else lines


def _some(names):
    return ", ".join(names if len(names) <= 4 else [*names[:3], f"{len(names) - 3} more"])
