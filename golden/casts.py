"""Casts of f32: the nearest codes, overflow to the largest finite value; and the same with a scale per block of 32.

A scale is OCP MX's: the power of two of the largest magnitude of a block, less the format's largest exponent (OCP
Microscaling Formats 1.0, 6.3), from 2^-127 to 2^127. Infinities count as overflow without scales; with scales all
inputs are finite and no block is all zeros.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from golden.cases import EIGHT_BIT
from golden.inputs import Draws, compose
from golden.reference.formats import FORMATS, Number, decode, encode, largest_finite
from golden.storage import npz_bytes, sha256

if TYPE_CHECKING:
    from collections.abc import Iterator

    from golden.inputs import Integers
    from golden.reference.formats import Codes, Format

F32 = FORMATS["f32"]
BLOCK = 32
FLAT, SCALED = (1, 4096), (32, 128)
MX = ("e4m3fn", "e5m2", "e2m3fn", "e3m2fn", "e2m1fn")
SCALING = ("gfx950", "gfx1250")
"""Architectures with conversions that take a scale."""


@dataclass(frozen=True)
class Cast:
    """One cast: of (rows, elements) f32 codes to a format, on an architecture."""

    arch: str
    target: str
    data: str
    scaled: bool

    @property
    def id(self) -> str:
        """Name of the entry, from which its seed is made."""
        return f"cast/{'mx_' * self.scaled}{self.target}/{self.arch}/{self.data}"

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and elements of a row."""
        return SCALED if self.scaled else FLAT


def casts() -> Iterator[Cast]:
    """Both 8-bit formats of each architecture without scales; all formats of OCP MX with them."""
    for arch, own in EIGHT_BIT.items():
        yield from (Cast(arch, name, data, False) for name in own.values() for data in ("bits", "near", "ties"))
    for arch in SCALING:
        yield from (Cast(arch, name, data, True) for name in MX for data in ("near", "ties"))


def inputs(cast: Cast, seed: int) -> Codes:
    """F32 codes: of any bits; of the target's range and a little beyond; or halfway between two of its codes."""
    draws, fmt = Draws(seed), FORMATS[cast.target]
    if cast.data == "bits":
        return draws.below(1 << 32, cast.shape).astype(np.uint32)
    if cast.data == "near":
        low, high = -fmt.bias - fmt.fraction_bits, (1 << fmt.exponent_bits) - fmt.bias + 2
        field = draws.between(127 + low, 127 + high, cast.shape)
        codes = compose(draws.below(2, cast.shape), field, draws.below(1 << 23, cast.shape), F32)
    else:
        middles = np.array([_middle(code, fmt) for code in range(largest_finite(fmt))], np.int64)
        chosen = middles[draws.below(len(middles), cast.shape)] + draws.between(-1, 1, cast.shape)
        codes = (chosen | draws.below(2, cast.shape) << 31).astype(np.uint32)
    if cast.scaled:  # blocks of very different size; the format's own range is kept within each
        size = np.repeat(draws.between(-40, 40, (cast.shape[0], cast.shape[1] // BLOCK)), BLOCK, axis=1)
        codes = np.where(codes << 1 == 0, codes, codes + (size << 23).astype(np.uint32)).astype(np.uint32)
    return codes


def _middle(code: int, fmt: Format) -> int:
    """F32 code of what lies halfway between two neighbours of a format."""
    one, next_one = decode(code, fmt), decode(code + 1, fmt)
    unit = min(one.exponent, next_one.exponent) - 1
    total = sum(n.significand << (n.exponent - unit - 1) for n in (one, next_one))
    return encode(Number("finite", 0, total, unit, 0), F32)


def cast_codes(codes: Codes, fmt: Format, exponents: Integers) -> Codes:
    """Each value times 2**-exponent, rounded once; NaN stays, everything beyond is the largest finite value."""
    out = np.zeros(codes.shape, fmt.dtype)
    for place, code in np.ndenumerate(codes):
        number = decode(int(code), F32)
        if number.kind == "inf":
            out[place] = largest_finite(fmt) | fmt.sign_bit * number.sign
            continue
        moved = number._replace(exponent=number.exponent - int(exponents[place]))
        out[place] = encode(moved, fmt, saturate=True)
    return out


def scales(codes: Codes, fmt: Format) -> Codes:
    """E8M0 codes, (rows, blocks)."""
    top = decode(largest_finite(fmt), fmt)
    most = top.exponent + top.significand.bit_length() - 1
    blocks = (codes & np.uint32(0x7FFFFFFF)).reshape(len(codes), -1, BLOCK).max(axis=2)
    found = np.zeros(blocks.shape, np.uint8)
    for place, code in np.ndenumerate(blocks):
        number = decode(int(code), F32)
        found[place] = min(max(number.exponent + number.significand.bit_length() - 1 - most + 127, 0), 254)
    return found


def results(cast: Cast, codes: Codes) -> dict[str, Codes]:
    """The arrays of an entry."""
    fmt = FORMATS[cast.target]
    if not cast.scaled:
        return {"A": codes, "exact": cast_codes(codes, fmt, np.zeros(codes.shape, np.int64))}
    found = scales(codes, fmt)
    exponents = np.repeat(found.astype(np.int64) - 127, BLOCK, axis=1)
    return {"A": codes, "scale": found, "exact": cast_codes(codes, fmt, exponents)}


def entries() -> Iterator[tuple[dict[str, Any], bytes]]:
    """Every manifest entry with the bytes of its file."""
    for cast in casts():
        seed = int(sha256(cast.id.encode())[:15], 16)
        content = npz_bytes(results(cast, inputs(cast, seed)))
        yield (
            {
                "id": cast.id,
                "family": "cast",
                "case": cast.id.split("/")[1],
                "arch": cast.arch,
                "data": cast.data,
                "seed": seed,
                "formats": {"A": "f32", "C": cast.target, "scale": "e8m0fnu" if cast.scaled else None},
                "shape": dict(zip("MK", cast.shape, strict=True)),
                "block": BLOCK if cast.scaled else None,
                "rounding": "nearest_even",
                "saturation": "finite",
                "denormals": "kept",
                "file": f"cast/{'.'.join(cast.id.split('/')[1:])}.npz",
                "sha256": sha256(content),
                "expected": {"exact": {"kind": "nearest_code", "fidelity": "specified"}},
                "made_by": "python -m golden.generate",
            },
            content,
        )
