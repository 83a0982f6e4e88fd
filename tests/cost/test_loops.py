"""Loops with published clocks: facebookexperimental/triton 2507, on an MI350X, in ticks of S_MEMTIME.

2,183 million ticks a second at a shader clock of 2,200 MHz: a tick is a clock. The sixth published figure, 790 of a
load from memory, is an estimate by its own text, no measurement.
"""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

import mfmasim
from docs.ladders import LOOPS
from mfmasim.architectures import arch
from mfmasim.cost import record_launch, timeline


@cache
def loops():
    """The kernels of loops.hip."""
    return mfmasim.compile(str(Path(__file__).with_name("loops.hip")), arch="gfx950")


@cache
def clocks(name, times):
    """Clocks of each thing that a loop does, at the low end, the rows and the high end."""
    out = np.zeros(1024, np.int32 if "chain" in name else np.float32)
    recorded = record_launch(loops()[name], 1, 256, [out, np.int32(8)])
    return [timeline(recorded.trace, end).turn(recorded.head) / times for end in ("low", "value", "high")]


@pytest.mark.parametrize(("name", "times", "published"), LOOPS)
def test_loops_take_the_published_clocks(name, times, published):
    low, value, high = clocks(name, times)
    assert abs(value / published - 1) < 0.1
    assert low <= published <= high


def test_a_chain_of_reads_is_slower_than_four():
    """The order of the published figures, and the ratio of the chain to four of them."""
    alone, four = clocks("lds_chain", 8)[1], clocks("four_lds_chains", 32)[1]
    assert abs(alone / four / (68.16 / 28.17) - 1) < 0.15


def test_a_vector_instruction_waits_behind_a_matrix_instruction_of_16_bits():
    """rocm-libraries 2997: of 2-byte formats, on gfx950."""
    row = arch("gfx950").rates.shadow
    out = np.zeros(1024, np.float32)
    operations = record_launch(loops()["four_mfma"], 1, 256, [out, np.int32(2)]).trace.operations
    assert {op.shadow for op in operations if op.matrix} == {row} == {8}
    assert {op.shadow for op in operations if not op.matrix} == {0}
