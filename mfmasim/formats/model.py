"""`Format`: a number format as a value object, with its limits, its special codes and its two codecs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.formats.rows import FormatRow

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from mfmasim.formats.modes import Overflow, Rounding

__all__ = ["Format"]


@dataclass(frozen=True)
class Format(FormatRow):
    """One number format: its row, what follows from it, and conversion from and to real numbers.

    Codes are unsigned integers; a code of a format narrower than its carrier stands in the low bits.
    """

    def __repr__(self) -> str:
        return f"format({self.name!r})"

    @property
    def integer(self) -> bool:
        """Whether the values are integers, without exponent."""
        return self.special in {"signed", "unsigned"}

    @property
    def signed(self) -> bool:
        """Whether the top bit is a sign."""
        return self.special not in {"scale", "unsigned"}

    @property
    def precision(self) -> int:
        """Mantissa bits that count (those that the hardware reads)."""
        return self.mantissa_bits - self.unread_bits

    @property
    def sign_bit(self) -> int:
        """Mask of the sign, 0 for an unsigned format."""
        return 1 << (self.bits - 1) if self.signed else 0

    @property
    def mask(self) -> int:
        """All bits of a code."""
        return (1 << self.bits) - 1

    @property
    def carrier(self) -> np.dtype[Any]:
        """Smallest unsigned dtype that holds a code."""
        return np.dtype(f"u{max(1, self.bits // 8)}")

    @cached_property
    def max_code(self) -> int:
        """Code of the largest finite value."""
        if self.integer:
            return self.mask >> int(self.signed)
        magnitude = self.mask >> int(self.signed)
        step = 1 << self.unread_bits
        if self.special == "ieee":
            return self.inf_code - step  # type: ignore[operator]  # an ieee format has Inf
        return magnitude - (1 if self.special in {"fn", "scale"} else 0)

    @property
    def inf_code(self) -> int | None:
        """Code of +Inf, or None."""
        return ((1 << self.exponent_bits) - 1) << self.mantissa_bits if self.special == "ieee" else None

    @property
    def nan_code(self) -> int | None:
        """Code of the canonical quiet NaN with a clear sign, or None. With one NaN in the format, that one."""
        if self.special == "ieee":
            return ((1 << self.exponent_bits) - 1) << self.mantissa_bits | 1 << (self.mantissa_bits - 1)
        return {"fn": self.mask >> 1, "fnuz": 1 << (self.bits - 1), "scale": self.mask}.get(self.special)

    @property
    def zero_code(self) -> int | None:
        """Code of +0, or None where the format has no zero."""
        return None if self.special == "scale" else 0

    @property
    def negative_zero_code(self) -> int | None:
        """Code of -0, or None."""
        return 1 << (self.bits - 1) if self.special in {"ieee", "fn", "finite"} else None

    @property
    def min_exponent(self) -> int:
        """Exponent of the smallest normal value (of the smallest value for ``scale``)."""
        if self.integer:
            return 0
        return -self.bias if self.special == "scale" else 1 - self.bias

    @property
    def max_exponent(self) -> int:
        """Exponent of the largest finite value."""
        if self.integer:
            return self.max_code.bit_length() - 1
        return (self.max_code >> self.mantissa_bits) - self.bias

    @cached_property
    def max(self) -> float:
        """Largest finite value."""
        return float(self.decode(self.max_code))

    @cached_property
    def min(self) -> float:
        """Most negative finite value; the smallest positive one for ``scale``."""
        code = {"scale": 0, "unsigned": 0, "signed": 1 << (self.bits - 1)}.get(
            self.special, self.max_code | self.sign_bit
        )
        return float(self.decode(code))

    @cached_property
    def smallest_normal(self) -> float:
        """Smallest positive value with full precision."""
        return 1.0 if self.integer else float(2.0**self.min_exponent)

    @cached_property
    def smallest_subnormal(self) -> float | None:
        """Smallest positive value without a hidden bit, or None where there are no subnormals."""
        if self.integer or self.special == "scale":
            return None
        return float(2.0 ** (self.min_exponent - self.precision))

    def decode(self, codes: ArrayLike) -> NDArray[np.float64]:
        """Turn codes into the numbers they stand for, exactly.

        Args:
            codes: integers, each at most ``mask``; any shape.

        Returns:
            float64 of the same shape. A NaN code gives a NaN of its sign.

        Raises:
            MfmasimError: the dtype is not an integer's, or a code is wider than the format.
        """
        from mfmasim.formats.decoding import decode

        return decode(self, codes)

    def encode(
        self,
        values: ArrayLike,
        rounding: Rounding = "nearest_even",
        overflow: Overflow = "saturate",
        random: ArrayLike | None = None,
    ) -> NDArray[np.unsignedinteger[Any]]:
        """Turn numbers into codes with one rounding, from the bits of the source.

        Args:
            values: float64, float32, float16 or ``ml_dtypes.bfloat16`` of any shape; Python numbers count as float64.
            rounding: see `mfmasim.formats.modes.Rounding`.
            overflow: see `mfmasim.formats.modes.Overflow`.
            random: for ``stochastic``: integers below 2**32, broadcast against ``values``. The magnitude rounds up
                where the part cut off, in units of the last place kept, plus ``random / 2**32`` reaches 1.

        Returns:
            Codes in the smallest unsigned dtype that holds them (``carrier``), of the shape of ``values``. The sign
            of zero and NaN is kept where the format has both. NaN gives ``nan_code``; without one, the largest
            value of NaN's sign (``finite``, as AMD's HIP headers do) or 0 (integers, as ``v_cvt_i32_f32`` does).

        Raises:
            MfmasimError: wrong dtype, unknown mode, or random bits missing, superfluous or too wide.
        """
        from mfmasim.formats.encoding import encode

        return encode(self, values, rounding, overflow, random)
