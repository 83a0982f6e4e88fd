"""Which launches a cast takes: pure functions from a shape to a list of launches, which tests execute.

The number of compute units is that of the products: CDNA3 white paper (MI300X: 304), CDNA4 white paper (MI355X: 256),
RDNA4 (RX 9070 XT: 64). It decides nothing but the grid; every grid gives the same bytes.
"""

from dataclasses import dataclass

COMPUTE_UNITS = {"gfx942": 304, "gfx950": 256, "gfx1201": 64}
CAST_THREADS, CAST_EACH = 256, 16
MANY = 1 << 27
"""16-bit tensors of as many elements get two workgroups for each compute unit."""


@dataclass(frozen=True)
class Flat:
    """One launch of the flat kernel; with ``blocks == 0`` it is `cast_nothing`, which defines scale_inv alone."""

    blocks: int
    count: int


def plan_cast(count, given_bytes, units):
    """The one launch of a cast without transposition.

    Args:
        count: elements, 0 or more.
        given_bytes: bytes of an input element, 2 or 4.
        units: compute units of the device.
    """
    if count < 0:
        raise ValueError(f"{count} elements: 0 or more are expected")
    most = 2 * units if given_bytes == 2 and count >= MANY else units
    return Flat(min(-(-count // (CAST_THREADS * CAST_EACH)), most), count)
