"""What a gfx1100 and a gfx1201 gave under every rounding, denormal and NaN mode: AMD's rocjitsu, valu_fp_mode_test.cpp.

Its comments say which expectations are captures; those are here.
"""

import pytest

from tests.captures import table
from tests.silicon.matrices import packed_differences
from tests.silicon.rows import differences

pytestmark = pytest.mark.oracle
CAPTURE = "rocjitsu tests/valu_fp_mode_test.cpp"


def test_conversions():
    """conversion_test.cpp, whose header says what a gfx1201 does."""
    found, compared = differences("rocjitsu tests/conversion_test.cpp", "gfx1201")
    assert not found, "\n".join(found)
    assert compared == 26


def test_output_modifiers():
    """output_modifier_test.cpp: OMOD and CLAMP of V_MAX_NUM in every rounding mode."""
    found, compared = differences("rocjitsu tests/output_modifier_test.cpp", "gfx1201")
    assert not found, "\n".join(found)
    assert compared == 85


def test_matrices_of_16_bits():
    """packed_wmma_cases.h: fractions, and sums that underflow."""
    assert packed_differences() == (0, 512)


@pytest.mark.parametrize("arch", ["gfx1100", "gfx1201"])
def test_modes(arch):
    found, compared = differences(CAPTURE, arch)
    assert not found, "\n".join(found[:20])
    rows = [row for row in table("rows.csv") if (row["capture"], row["arch"]) == (CAPTURE, arch)]
    assert compared == sum(len(row["rows"].split("; ")) for row in rows) > 2000
