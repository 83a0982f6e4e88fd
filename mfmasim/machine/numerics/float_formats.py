"""The binary floating-point formats of vector registers, as arrays: NaN rule, denormals, limits.

NaN rule (assumed where the manual is silent): an operation whose sources contain a NaN gives the first of them in the
order S0, S1, S2 with its quiet bit set (CDNA3 ISA manual, 3.5, IEEE: NaNs are quieted and propagated); an invalid
operation on numbers gives the positive quiet NaN without payload. Fused operations of RDNA were seen to do otherwise
(`FloatRules.fused_invalid_first`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mfmasim.arrays import Array


@dataclass(frozen=True)
class Form:
    """A binary format of IEEE 754."""

    real: Any
    """NumPy's float type."""
    word: Any
    """The unsigned integer type of its bits."""
    width: int
    fraction: int
    """Bits of the fraction field."""
    bias: int

    @property
    def sign(self) -> Any:
        """The sign bit."""
        return self.word(1 << (self.width - 1))

    @property
    def infinity(self) -> Any:
        """Bits of +infinity, which are the exponent field's mask."""
        return self.word(((1 << (self.width - 1 - self.fraction)) - 1) << self.fraction)

    @property
    def quiet(self) -> Any:
        """The quiet bit of a NaN."""
        return self.word(1 << (self.fraction - 1))

    @property
    def smallest(self) -> Any:
        """The smallest normal number."""
        return self.real(2.0 ** (1 - self.bias))

    def bits(self, values: Array) -> Array:
        """Raw bits of floats."""
        out: Array = values.view(self.word)
        return out

    def quieted(self, values: Array) -> Array:
        """The same values with signalling NaNs quiet."""
        bits = self.bits(values)
        out: Array = np.where(np.isnan(values), bits | self.quiet, bits).view(self.real)
        return out

    def signalling(self, values: Array) -> Array:
        """A mask of the signalling NaNs."""
        bits = self.bits(values)
        out: Array = np.isnan(values) & (bits & self.quiet == 0)
        return out

    def flushed(self, values: Array) -> Array:
        """Denormals become zeros of their sign."""
        bits = self.bits(values)
        out: Array = np.where(bits & self.infinity == 0, bits & self.sign, bits).view(self.real)
        return out

    def settled(self, out: Array, *sources: Array, negative: bool = False, quiet: bool = True) -> Array:
        """The result with every NaN by the NaN rule, independent of the host's NaNs.

        Args:
            out: the host's result.
            sources: S0, S1, S2.
            negative: whether an invalid operation gives the negative default NaN.
            quiet: whether a signalling NaN becomes quiet.
        """
        lowest = np.minimum.reduce(out, axis=None)  # NaN if there is one: the fastest test of a whole array
        if lowest == lowest:  # noqa: PLR0124
            return out
        nan = np.isnan(out)
        default = self.infinity | self.quiet | (self.sign if negative else self.word(0))
        chosen: Array = np.full(np.shape(out), default, self.word)
        bit = self.quiet if quiet else self.word(0)
        for source in reversed(sources):
            chosen = np.where(np.isnan(source), self.bits(source) | bit, chosen)
        return np.where(nan, chosen, self.bits(out)).view(self.real)


F16 = Form(np.float16, np.uint16, 16, 10, 15)
F32 = Form(np.float32, np.uint32, 32, 23, 127)
F64 = Form(np.float64, np.uint64, 64, 52, 1023)
BY_SIZE = {2: F16, 4: F32, 8: F64}
"""Form by the bytes of an element, which is quicker to find than its dtype's name."""
FORMS = {form.real.__name__: form for form in (F16, F32, F64)} | {"f16": F16, "f32": F32, "f64": F64}
