"""Undefined bits: whatever depends on them is known to be undefined, in every operation and form."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.machine import harness, lines, twice
from tests.machine.drawing import probes

pytestmark = pytest.mark.oracle

LEFT_OUT = (
    "s_memtime", "s_memrealtime", "s_sendmsg", "s_getreg", "s_setreg", "s_get_barrier", "s_barrier", "s_round_mode",
    "s_denorm_mode", "s_cbranch", "s_subvector", "global_", "flat_", "buffer_", "tbuffer_", "s_setvskip",
    "s_store", "s_scratch_store", "s_buffer_store", "s_atomic", "s_buffer_atomic",
)  # fmt: skip
"""Clocks and the like, what changes how others compute, and branches, VSKIP and stores to memory, which are uses."""


def tallied(arch, count, names, seed):
    """A tally over `count` lines of each of some operations."""
    chosen = [name for name in names if not name.startswith(LEFT_OUT)]
    if arch.startswith("gfx1"):  # EXEC_HI of a wave of 32 lanes is unused
        chosen = [name for name in chosen if not name.endswith(("saveexec_b64", "wrexec_b64"))]
    drawn, _ = probes(arch, random.Random(seed), count, chosen)
    tally = twice.Tally()
    twice.compare(drawn, arch, np.random.default_rng(seed), tally)
    return tally


@pytest.fixture(autouse=True)
def _taken():
    yield
    lines.taken = set(lines.FORMS)


@pytest.mark.parametrize("arch", ["gfx942", "gfx1201"])
def test_some_operations(arch):
    names = harness.executable(arch)[::9]
    tally = tallied(arch, 1, names, 1)
    assert not tally.missed, tally.missed[:10]
    assert tally.differing > 1000
    assert len(tally.names) > 40


def test_data_that_another_lane_changed():
    """A place in the LDS may be the data of one lane and the result of an earlier one."""
    tally = tallied("gfx908", 2, [name for name in harness.rows("gfx908") if "_src2_u" in name], 2)
    assert not tally.missed, tally.missed[:10]
    assert tally.differing > 1000


@pytest.mark.parametrize(
    ("arch", "line"),
    [
        ("gfx1201:64", "v_cndmask_b32_e64 v100, v12, s45, s[44:45]"),
        ("gfx1151:64", "v_cndmask_b16 v100.h, s45, -|v12.l|, s[44:45]"),
    ],
)
def test_a_lane_mask_that_is_selected_too(arch, line):
    """A bit of the register decides in one lane and is a result in all others."""
    lines.aim(arch, harness.rows(arch))
    tally = twice.Tally()
    for seed in range(6):
        chosen = [lines.Probe(line.split()[0].removesuffix("_e64"), line, results=["v100"])]
        twice.compare(chosen, arch, np.random.default_rng(seed), tally)
    assert not tally.missed, tally.missed[:10]
    assert tally.differing >= 20


@pytest.mark.parametrize("line", ["v_dot8_u32_u4 v100, v11, v11, -1", "v_pk_max_u16 v100, -2, v17"])
def test_a_constant_that_few_values_pass(line):
    """Only a half of 0xffff is above -2, and only a product of 0 leaves the high half of -1."""
    lines.aim("gfx950", harness.rows("gfx950"))
    tally = twice.Tally()
    for seed in range(12):
        chosen = [lines.Probe(line.split()[0], line, results=["v100"])]
        twice.compare(chosen, "gfx950", np.random.default_rng(seed), tally)
    assert not tally.missed, tally.missed[:10]
    assert tally.differing


@pytest.mark.long
@pytest.mark.parametrize("arch", ["gfx942", "gfx950", "gfx1151", "gfx1201"])
def test_every_operation(arch):
    tally = tallied(arch, 2, harness.executable(arch), 2)
    assert not tally.missed, tally.missed[:10]
    assert tally.differing > 10_000
