"""Drawn trials of every kernel family: simulator, reference, and hip-python with one device of each architecture.

Run by test_hiprt_suites.py. MFMASIM_TEST_SHARE is ``n/m``: this process takes every m-th family, from the n-th on.
"""

import functools
import os

import pytest

import mfmasim
from mfmasim.testing.drawn_trials import smallest, trials
from mfmasim.verify import families, find, select
from mfmasim.verify.files import WRONG

DEVICES = 5
LONG = os.environ.get("MFMASIM_TEST_LONG", "")
"""Round of the long tier: other trials each round, with larger shapes and all checks."""
EXAMPLES = 4
SEED = int(LONG) if LONG else 0 if os.environ.get("HYPOTHESIS_PROFILE") == "ci" else None
FEWER = {"gemm_fp8/scheduled": 1}
"""Examples of families whose smallest shape takes seconds."""
RIGHT = [family for family in families() if family not in WRONG]
FIRST, STEP = map(int, os.environ.get("MFMASIM_TEST_SHARE", "0/1").split("/"))


@functools.cache
def devices():
    found = [mfmasim.device(f"hip:{number}") for number in range(DEVICES)]
    return {device.arch: device for device in found}


@pytest.mark.parametrize("family", RIGHT[FIRST::STEP])
def test_simulator_device_and_reference_agree(family):
    cases = next(cases for name, cases in find(family) if name == family)
    pairs = [pair for pair in select(cases, None) if pair[1] in devices() and pair[1] not in pair[0].skip]
    assert pairs
    judged = []
    found = smallest(
        trials(pairs, 2.0 if LONG else 1.0),
        examples=FEWER.get(family, EXAMPLES),
        seed=SEED,
        report=judged.append,
        device=lambda arch: devices()[arch],
        checks="all" if LONG else "bounds",
    )
    assert found is None, "\n".join(found.lines())
    assert judged
    assert all(verdict.device is not None for verdict in judged)
