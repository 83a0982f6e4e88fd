"""Instructions of the same formats at a higher rate, against the list of all."""

import pytest

from mfmasim.architectures import arch
from mfmasim.cli.products import operations
from mfmasim.cost.faster import faster

FP8 = "v_mfma_f32_16x16x32_fp8_fp8"


def test_fp8_of_cdna3s_shape_has_half_the_rate_on_cdna4():
    """AMD's data sheet of MI355X: 5.0 PFLOPS of FP8, which the instructions of CDNA3 do not reach."""
    (found,) = faster(arch("gfx950"), 64, [FP8, FP8])
    assert (found.rate, found.peak) == (4096, 8192)
    assert found.fastest in ("v_mfma_f32_16x16x128_f8f6f4", "v_mfma_f32_32x32x64_f8f6f4")
    assert f"{FP8} does 4,096 operations in a clock and unit, 50% of the peak of e4m3fn: {found.fastest}" in found.line
    assert faster(arch("gfx950"), 64, [found.fastest]) == []
    assert faster(arch("gfx942"), 64, [FP8]) == []


@pytest.mark.parametrize(("name", "wave"), [("gfx950", 64), ("gfx1201", 32)])
def test_what_is_named_is_the_fastest_of_the_list(name, wave):
    every = [op for op in operations(name) if op.wave == wave and not op.sparse and op.row.a != "f8f6f4"]
    found = {one.executed: one for one in faster(arch(name), wave, [op.name for op in every])}
    assert found
    for op in every:
        alike = [
            one.ops_per_cycle for one in every if (one.a, one.b, one.d, one.blocks) == (op.a, op.b, op.d, op.blocks)
        ]
        assert (op.name in found) >= (max(alike) > op.ops_per_cycle), op.name
        assert op.name not in found or found[op.name].peak >= max(alike) > 0
