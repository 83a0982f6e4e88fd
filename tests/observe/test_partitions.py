"""partitions: the second kind of LDS conflict, counted for waves of both pairs of SIMDs."""

from __future__ import annotations

import numpy as np
import pytest

from mfmasim import lds
from mfmasim.architectures import ARCHITECTURES
from tests.machine import harness

BODY = """
  v_and_b32_e32 v1, 0x3ff, v0
  v_lshlrev_b32_e32 v2, 2, v1
  v_lshrrev_b32_e32 v3, 6, v1
  v_mul_u32_u24_e32 v3, {step}, v3
  v_add_nc_u32_e32 v2, v3, v2
  ds_store_b32 v2, v1
  s_wait_dscnt 0
  s_endpgm
"""


def slow(size, addresses, active):
    """One wave after the other."""
    return [
        sum(1 << n for n in {a // size for a, on in zip(row, flags, strict=True) if on})
        for row, flags in zip(addresses, active, strict=True)
    ]


def test_masks_equal_the_slow_model():
    rng = np.random.default_rng(3)
    addresses, active = rng.integers(0, 327680, (50, 32)), rng.random((50, 32)) < 0.1
    expected = slow(65536, addresses.tolist(), active.tolist())
    assert lds.partitions("gfx1250", addresses, active).tolist() == expected
    assert len(set(expected)) > 10
    assert not lds.partitions("gfx950", addresses).any()


def test_which_architectures_have_partitions():
    have = {name for name, found in ARCHITECTURES.items() if found.lds.partition_bytes}
    assert have == {"gfx1250"}
    assert lds.partition_note("gfx1250").startswith("5 partitions of 65,536 bytes: ")
    assert lds.partition_note("gfx950") == ""
    assert lds.pair_of_wave(range(8)).tolist() == [0, 0, 1, 1, 0, 0, 1, 1]


@pytest.mark.oracle
@pytest.mark.parametrize(("step", "items", "shared"), [(0, 128, 2), (0x10000, 128, 0), (0, 64, 0), (0x8000, 256, 2)])
def test_waves_of_both_pairs_on_one_partition(step, items, shared):
    """Waves 0 and 1 are on one pair of SIMDs, 2 and 3 on the other; the step moves every second pair of waves."""
    program = harness.kernel(BODY.format(step=step), "gfx1250", lds=163840)
    _, report = harness.fast(program, 2, items, [np.zeros(4, np.uint32)] * 2, checks="partitions")
    assert [(found.id, found.severity) for found in report.findings] == [("partitions-shared", "info")] * (shared > 0)
    for found in report.findings:
        assert f"ds_store_b32: in {shared} of 2 executions" in found.message
        assert "assumed" in found.message
