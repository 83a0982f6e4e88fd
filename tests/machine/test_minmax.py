"""Minimum, maximum and median of whole arrays: the shortcuts against the way that a NaN or zeros of both signs enforce.

`test_ops_against_slow` holds that way to the slow interpreter, with NaN among the lanes of nearly every source.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mfmasim.architectures import arch
from mfmasim.machine.numerics.float_mode import FloatMode
from mfmasim.machine.ops import vector_minmax as ops

VALUES = st.sampled_from([0.0, -0.0, 6e-8, -6e-8, 1e-40, -1e-40, 1.0, -1.0, 1.5, -448.0, 448.0, np.inf, -np.inf])
NANS = st.sampled_from([[], [], [np.nan], [np.nan, -np.nan]])
PAIRS = [ops.minimum, ops.maximum, ops.minimum_number, ops.maximum_number, ops.ieee_minimum, ops.ieee_maximum]
MEDIANS = [ops.median(ops.minimum, ops.maximum), ops.median(ops.minimum_number, ops.maximum_number)]
MODES = {"denormals": 0xF0, "flushed": 0x00, "IEEE": 0x2F0}


@pytest.mark.parametrize("bits", MODES.values(), ids=MODES)
@pytest.mark.parametrize("real", [np.float16, np.float32, np.float64])
@given(st.data())
def test_a_lane_does_not_change_others(real, bits, data):
    count = data.draw(st.integers(2, 3))
    rows = data.draw(st.lists(st.tuples(*[VALUES] * count), min_size=1, max_size=6))
    sources = [np.array(column, real) for column in zip(*rows, strict=True)]
    if data.draw(st.booleans()):
        sources[-1] = sources[-1][:1]  # a constant
    for source in sources:  # seldom in all of them
        found = data.draw(NANS)[: len(source)]
        source[: len(found)] = found
    mode = FloatMode(bits, arch("gfx942").floats)
    for operation in PAIRS if count == 2 else MEDIANS:
        alone = operation(*sources, mode)
        others = (np.array([np.nan, zero], real) for zero in (0.0, -0.0, 0.0))
        longer = (np.append(np.broadcast_to(s, len(rows)), more) for s, more in zip(sources, others, strict=False))
        beside = operation(*longer, mode)[:-2]
        assert alone.dtype == real
        assert alone.tobytes() == beside.tobytes()
