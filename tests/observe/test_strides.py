"""strides: lane addresses in the LDS that only a factor too much explains, to the last byte of the allocation."""

import numpy as np
import pytest

import mfmasim
from tests.machine import harness

pytestmark = pytest.mark.oracle


def reported(step, lds, store="ds_write_b32 v2, v0"):
    """Findings of a store by 64 lanes, `step` bytes from one to the next."""
    body = f"""
      v_mul_u32_u24_e32 v2, {step}, v0
      {store}
      s_endpgm
    """
    kernel = harness.kernel(body, "gfx942", "p", lds=lds)
    report = mfmasim.device("sim").launch(kernel, grid=1, block=64, args=[np.zeros(4, np.uint32)], checks="strides")
    return [f.message for f in report.findings if f.id == "strides-lds"]


@pytest.mark.parametrize(("step", "factor"), [(8, 2), (12, 3), (16, 4)])
def test_one_byte_too_little_is_reported_and_none_is_not(step, factor):
    """The last lane ends at 63 steps and 4 bytes."""
    end = 63 * step + 4
    assert reported(step, end) == []
    (message,) = reported(step, end - 1)
    assert f"differ by {step} bytes for accesses of 4 bytes" in message
    assert f"was probably multiplied by {factor} again" in message


def test_what_one_factor_less_would_not_mend_is_not_reported():
    """63 lanes of 4 bytes do not fit 200 bytes with any step."""
    assert reported(16, 200) == []
    assert reported(4, 200) == []
    assert reported(6, 300) == []  # no multiple of the access
