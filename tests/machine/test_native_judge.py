"""Operations in C beside NumPy: each instruction of the probes of every operation, with EXEC, MODE and NaN inputs."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.longtier import this_round
from tests.machine import drawing, frame, harness, lines_floats, one
from tests.machine.judge import judge
from tests.machine.native_judge import judged

SOME = ("v_fma_f32", "v_add_f16", "v_mad_u64_u32", "s_and_saveexec_b64", "v_cndmask_b32", "s_addc_u32", "v_bfe_i32")
FLOATS = (
    *("v_add_f32", "v_mul_f32", "v_fma_f32", "v_sub_f32", "v_add_f16", "v_mul_f16", "v_fma_f16", "v_add_f64"),
    *("v_cmp_lt_f32", "v_cmp_nge_f16", "v_max_f32", "v_min_f16", "v_rcp_f32", "v_trunc_f32", "v_cvt_f16_f32"),
    *("v_cvt_f32_f16", "v_pk_add_f32", "v_pk_fma_f16", "v_mul_legacy_f32", "v_cndmask_b32"),
)


def judge_lines(names, arch, seed, count=1, mode=None):
    """The verdict on probes of operations, also as C; in one mode."""
    names = [name for name in names if name in harness.executable(arch)]
    chosen, _ = drawing.probes(arch, random.Random(f"{arch} {seed}"), count, names)
    for probe in chosen if mode is not None else ():
        probe.before = [f"s_setreg_imm32_b32 {lines_floats.MODE}, {mode:#x}", *probe.before]
        probe.after = [*probe.after, lines_floats.RESTORE]
    with judged() as found:
        verdict = judge(chosen, arch, frame.inputs(np.random.default_rng(20), arch))
    assert not found.differences, "\n".join(found.differences[:10])
    assert not verdict.differences
    return found


def test_some_operations():
    """The others are in the long tier."""
    found = judge_lines(SOME, "gfx942", 0, 4)
    assert {*SOME} <= found.names
    assert found.compared > 3000


@pytest.mark.long
@pytest.mark.parametrize("mode", [0x0, 0xF, 0x30, 0xC0, 0xF1, 0xF4, 0x2F0, 0x3F0, 0x1F0, 0x8000F0])
@pytest.mark.parametrize("arch", ["gfx942", "gfx1201"])
def test_floats_in_every_kind_of_mode(arch, mode):
    """Roundings other than to nearest even go through integers in NumPy, and are not traced."""
    found = judge_lines(FLOATS, arch, mode, 3, mode)
    assert len(found.names) > 5


@pytest.mark.long
@pytest.mark.parametrize("arch", one.TARGETS)
def test_every_operation(arch):
    names = [n for n in harness.executable(arch) if one.reason(n, arch) is None and one.unjudged(n) is None]
    seen = set()
    for first in range(0, len(names), 60):
        seen |= judge_lines(names[first : first + 60], arch, this_round()).names
    assert len(seen) > len(names) // 3
