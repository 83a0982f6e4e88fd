"""`Format`: a number format as a value object with its limits and codecs, the formats by name, conversion by name."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

from mfmasim.architectures import ARCHITECTURES, Arch
from mfmasim.architectures import arch as find_arch
from mfmasim.errors import MfmasimError, unknown
from mfmasim.formats.checks import as_float_bits
from mfmasim.formats.decoding import decode
from mfmasim.formats.encoding import recode
from mfmasim.formats.rows import ROWS, FormatRow
from mfmasim.markup import facts

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from mfmasim.formats.modes import NanRule, Overflow, Rounding


@dataclass(frozen=True)
class Format(FormatRow):
    """One number format: its row, its limits, and conversion from and to real numbers."""

    def __repr__(self) -> str:
        return f"format({self.name!r})"

    def _repr_html_(self) -> str:
        """Fields and limits, for notebooks."""
        pairs: list[tuple[str, object]] = [
            ("bits", self.bits),
            ("largest", f"{self.max:.9g}"),
            ("smallest", f"{self.min:.9g}"),
            ("special codes", self.special),
            ("other names", ", ".join(self.aliases)),
            ("source", self.source),
        ]
        if not self.integer:
            pairs[1:1] = [
                ("exponent bits", self.exponent_bits),
                ("mantissa bits", self.mantissa_bits),
                ("bias", self.bias),
                ("smallest normal", f"{self.smallest_normal:.9g}"),
                ("smallest subnormal", "" if self.smallest_subnormal is None else f"{self.smallest_subnormal:.9g}"),
            ]
        return facts(self.name, pairs)

    @cached_property
    def max(self) -> float:
        """Largest finite value."""
        return float(self.decode(self.max_code))

    @cached_property
    def min(self) -> float:
        """Most negative finite value; the smallest positive one for ``scale``."""
        code = {"scale": 0, "fnu": 1, "unsigned": 0, "signed": 1 << (self.bits - 1)}.get(
            self.special, self.max_code | self.sign_bit
        )
        return float(self.decode(code))

    @cached_property
    def smallest_normal(self) -> float:
        """Smallest positive value with full precision."""
        return 1.0 if self.integer else float(2.0**self.min_exponent)

    @cached_property
    def smallest_subnormal(self) -> float | None:
        """Smallest positive subnormal, or None where the format has no subnormals."""
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
        bits, source = as_float_bits(values)
        return convert(bits, source, self, rounding, overflow, random)


def _format(row: FormatRow) -> Format:
    return Format(*(getattr(row, field.name) for field in fields(row)))


def _own(name: str, arch: str | Arch | None) -> Format | None:
    """The format that an architecture calls FP8 or BF8; None for any other name."""
    if name not in ("fp8", "bf8"):
        return None
    if arch is not None:
        target = find_arch(arch)
        if not target.format_name(name):
            raise MfmasimError(f"{target.name} has no native {name}; name a format")
        return _NAMES[target.format_name(name)]
    flavours: dict[str, list[str]] = {}
    for target in ARCHITECTURES.values():
        if target.format_name(name):
            flavours.setdefault(target.format_name(name), []).append(target.name)
    listed = "; ".join(f"{own} on {', '.join(on)}" for own, on in flavours.items())
    raise MfmasimError(f"format {name!r} depends on the architecture: {listed}; name one of them, or the architecture")


FORMATS: dict[str, Format] = {row.name: _format(row) for row in ROWS}

_NAMES = {name: fmt for fmt in FORMATS.values() for name in (fmt.name, *fmt.aliases)}


def format(name: str | FormatRow, arch: str | Arch | None = None) -> Format:  # noqa: A001
    """Look up a number format.

    Args:
        name: its name or an alias, in any case; or a `Format` or `FormatRow`. ``fp8`` and ``bf8`` are the formats that
            an architecture calls so.
        arch: that architecture.

    Returns:
        The format.

    Raises:
        MfmasimError: the name is not known; the message lists the known ones. Or it is ``fp8`` or ``bf8`` without an
            architecture, or the architecture has no such format.

    >>> format("e4m3fnuz").max
    240.0
    >>> format("fp8", "gfx942").name, format("fp8", "gfx950").name
    ('e4m3fnuz', 'e4m3fn')
    >>> format("fp4").decode([0, 1, 7, 15]).tolist()
    [0.0, 0.5, 6.0, -6.0]
    >>> hex(format("e4m3fn").encode(0.3))
    '0x2a'
    """
    if isinstance(name, Format):
        return name
    if isinstance(name, FormatRow):
        return _format(name)
    found = _NAMES.get(str(name).lower()) or _own(str(name).lower(), arch)
    if found is None:
        raise unknown("format", name, FORMATS)
    return found


def convert(
    codes: ArrayLike,
    source: str | Format,
    target: str | Format,
    rounding: Rounding = "nearest_even",
    overflow: Overflow = "saturate",
    random: ArrayLike | None = None,
    nan: NanRule = "canonical",
) -> NDArray[np.unsignedinteger[Any]]:
    """Convert codes of one format into codes of another, with one rounding.

    Args:
        codes: integers, codes of ``source``; any shape.
        source: format, or its name.
        target: format, or its name.
        rounding: see `mfmasim.formats.modes.Rounding`.
        overflow: see `mfmasim.formats.modes.Overflow`.
        random: random bits for ``stochastic``, as in `Format.encode`.
        nan: see `mfmasim.formats.modes.NanRule`.

    Returns:
        Codes of ``target`` in its ``carrier`` dtype, of the shape of ``codes``.

    Raises:
        MfmasimError: wrong dtype, a code too wide, an unknown name or mode, or random bits for a mode without them.

    >>> import numpy as np
    >>> convert(np.uint8([0x7F, 0x80]), "e4m3fn", "e4m3fnuz")
    array([128,   0], dtype=uint8)
    """
    return recode(codes, format(source), format(target), rounding, overflow, random, nan)
