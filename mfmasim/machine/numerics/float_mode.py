"""The fields of the MODE register that floating-point operations obey. Source: CDNA3 ISA manual, 3.5 and 6.4."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, cached_property

from mfmasim.architectures.model import FloatRules
from mfmasim.formats.conversions.model import Mode


@dataclass(frozen=True)
class FloatMode:
    """One value of the MODE register, and how the architecture reads it."""

    bits: int
    rules: FloatRules

    @cached_property
    def plain(self) -> bool:
        """Round to nearest even and keep every denormal, as HIP compilers set it."""
        return self.bits & 0xFF == 0xF0

    @cached_property
    def conversion(self) -> Mode:
        """The fields that conversion instructions read."""
        return replace(Mode.from_register(self.bits), dx10_clamp=self.dx10_clamp)

    @cached_property
    def ieee(self) -> bool:
        """IEEE: signalling NaNs are quieted and win in min and max; output modifiers are ignored."""
        return self.rules.mode_bits and bool(self.bits >> 9 & 1)

    @cached_property
    def quiets(self) -> bool:
        """Whether arithmetic makes signalling NaNs quiet."""
        return self.ieee or not self.rules.quiets_in_ieee

    @cached_property
    def dx10_clamp(self) -> bool:
        """DX10_CLAMP: clamp turns NaN into 0; it always does where MODE has no such bit."""
        return not self.rules.mode_bits or bool(self.bits >> 8 & 1)

    @cached_property
    def fp16_ovfl(self) -> bool:
        """FP16_OVFL: a finite f16 result that overflows becomes the largest number."""
        return bool(self.bits >> 23 & 1)

    @cached_property
    def keeping_inputs(self) -> FloatMode:
        """The same mode with denormal inputs, for operations that never flush them."""
        return replace(self, bits=self.bits | 0x50)

    @cached_property
    def flushing_16(self) -> FloatMode:
        """The same mode without f16 denormals, for operations that never have them."""
        return replace(self, bits=self.bits & ~0xC0)

    @cached_property
    def flushing_32(self) -> FloatMode:
        """The same mode without f32 denormals."""
        return replace(self, bits=self.bits & ~0x30)

    def without_tiny_results(self, width: int) -> FloatMode:
        """The same mode without denormal results of 16, 32 or 64 bits."""
        return float_mode(self.bits & ~(0x20 if width == 32 else 0x80), self.rules)

    def rounding(self, width: int) -> int:
        """FP_ROUND for results of 16, 32 or 64 bits: 0 nearest even, 1 up, 2 down, 3 toward zero."""
        return self.bits & 3 if width == 32 else self.bits >> 2 & 3

    def denormals(self, width: int) -> int:
        """FP_DENORM for 16, 32 or 64 bits: bit 0 keeps denormal inputs, bit 1 denormal results."""
        return self.bits >> 4 & 3 if width == 32 else self.bits >> 6 & 3


@cache
def float_mode(bits: int, rules: FloatRules) -> FloatMode:
    """The mode of a register value; one object a value, so that its fields are worked out once."""
    return FloatMode(bits, rules)
