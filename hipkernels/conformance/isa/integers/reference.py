"""What the kernels of 32-bit and 16-bit integers compute, from the meaning of their C++ source."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

U32, I32, U64, I64 = np.uint32, np.int32, np.uint64, np.int64
ALL = U32(0xFFFFFFFF)


def stack(*rows: NDArray[Any]) -> NDArray[Any]:
    """Rows of 32 bits; wider ones lose their upper bits, as an assignment to unsigned does."""
    return np.stack([np.asarray(row).astype(U32) for row in rows])


def multiply(x: NDArray[Any], y: NDArray[Any]) -> NDArray[Any]:
    signed = x.view(I32).astype(I64) * y.view(I32).astype(I64)
    return stack(x * y, x.astype(U64) * y >> U64(32), signed >> 32)


def _low24(x: NDArray[Any]) -> NDArray[Any]:
    return x & U32(0xFFFFFF)


def _signed24(x: NDArray[Any]) -> NDArray[Any]:
    return (x << U32(8)).view(I32) >> 8


def multiply24(x: NDArray[Any], y: NDArray[Any]) -> NDArray[Any]:
    signed = _signed24(x) * _signed24(y)
    shifted = _signed24((x.view(I32) >> 4).view(U32))
    return stack(
        _low24(x) * _low24(y),
        signed.view(U32),
        _low24(y) * _low24(x >> U32(4)) + x,
        (_signed24(y) * shifted + y.view(I32)).view(U32),
    )


def _toward_zero(c: NDArray[Any], d: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """C++'s quotient and remainder; the remainder has the dividend's sign."""
    quotient = np.sign(c) * np.sign(d) * (np.abs(c) // np.abs(d))
    return quotient, c - quotient * d


def divide(x: NDArray[Any], y: NDArray[Any]) -> NDArray[Any]:
    b = np.where(y == 0, U32(1), y)
    d = np.where((y == 0) | (y == ALL), U32(7), y).view(I32).astype(I64)
    quotient, rest = _toward_zero(x.view(I32).astype(I64), d)
    return stack(x // b, x % b, quotient, rest)


def divide_by_constants(x: NDArray[Any]) -> NDArray[Any]:
    wide, unsigned = x.astype(I64), x.view(U32)
    rows = [_toward_zero(wide, I64(7))[0], _toward_zero(wide, I64(10))[1], _toward_zero(wide, I64(16))[0]]
    return stack(*rows, unsigned // U32(641), unsigned % U32(1000)).view(I32)


def shifts(x: NDArray[Any], y: NDArray[Any]) -> NDArray[Any]:
    by = y & U32(31)
    rows = [x << by, x >> by, x.view(I32) >> by.view(I32)]
    return stack(*rows, (x << U32(3)) + y, (x + y) << U32(5), (x << U32(7)) | y)


def _bits(x: NDArray[Any], width: int) -> NDArray[Any]:
    """Bits of each element, the lowest first."""
    return (x[..., None] >> np.arange(width, dtype=x.dtype)) & x.dtype.type(1)


def population(x: NDArray[Any]) -> NDArray[Any]:
    return _bits(x, 8 * x.itemsize).sum(-1)


def leading_zeros(x: NDArray[Any]) -> NDArray[Any]:
    bits = _bits(x, 8 * x.itemsize)[..., ::-1]
    return np.where(x == 0, 8 * x.itemsize, bits.argmax(-1))


def find_first(x: NDArray[Any]) -> NDArray[Any]:
    """1 for bit 0 and so on; 0 for none."""
    return np.where(x == 0, 0, _bits(x, 8 * x.itemsize).argmax(-1) + 1)


def reverse(x: NDArray[Any]) -> NDArray[Any]:
    width = 8 * x.itemsize
    places = np.arange(width, dtype=x.dtype)[::-1]
    return (_bits(x, width) << places).sum(-1, dtype=x.dtype)


def counts(x: NDArray[Any]) -> NDArray[Any]:
    return stack(population(x), leading_zeros(x), find_first(x), reverse(x), population(x) + np.arange(x.size))


def fields(x: NDArray[Any], y: NDArray[Any]) -> NDArray[Any]:
    at, width = y & U32(31), y >> U32(8) & U32(31)
    mask = (U32(1) << width) - U32(1)
    unsigned = x >> at & mask
    # The field ends at the register's end; its top bit is repeated.
    held = np.minimum(width, U32(32) - at)
    top = np.where(width == 0, U32(0), x >> at & mask)
    sign = np.where(width == 0, U32(0), top >> (np.maximum(width, U32(1)) - U32(1)) & U32(1))
    short = (x.view(I32) >> at.view(I32)).view(U32)  # wider than what is left: an arithmetic shift
    signed = np.where(held < width, short, np.where(sign == 1, top | ~mask, top))
    both = x.astype(U64) << U64(32) | y
    other = y.astype(U64) << U64(32) | x
    funnel = other << width.astype(U64) >> U64(32)
    return stack(
        unsigned,
        np.where(width == 0, U32(0), signed),
        (x & y) | (~x & U32(0x12345678)),
        both >> at.astype(U64),
        funnel,
        x >> U32(9) & U32(0x7FF),
    )


def _chosen_byte(both: NDArray[Any], selector: NDArray[Any]) -> NDArray[Any]:
    """V_PERM_B32 as the manual has it: 0 to 7 a byte of S0:S1, 8 to 11 a sign, 12 zeros, above ones."""
    byte = both >> (U64(8) * (selector & U32(7)).astype(U64)) & U64(0xFF)
    sign_place = np.array([15, 31, 47, 63], U64)[selector & U32(3)]
    sign = np.where(both >> sign_place & U64(1), U64(0xFF), U64(0))
    constant = np.where(selector == 12, U64(0), U64(0xFF))
    return np.where(selector < 8, byte, np.where(selector < 12, sign, constant)).astype(U32)


def _perm(x: NDArray[Any], y: NDArray[Any], selector: Any) -> NDArray[Any]:
    both = x.astype(U64) << U64(32) | y
    selectors = np.broadcast_to(np.asarray(selector, U32), x.shape)
    parts = [_chosen_byte(both, selectors >> U32(8 * k) & U32(0xFF)) << U32(8 * k) for k in range(4)]
    return parts[0] | parts[1] | parts[2] | parts[3]


def permute_bytes(x: NDArray[Any], y: NDArray[Any], selector: NDArray[Any]) -> NDArray[Any]:
    both = x.astype(U64) << U64(32) | y
    # __byte_perm counts bytes of x first, nibble by nibble.
    nibbles = _perm(y, x, 0x06020400)
    aligned = both >> (U64(8) * (selector & U32(3)).astype(U64))
    return stack(_perm(x, y, selector), _perm(x, y, 0x0C0D0705), nibbles, aligned, x.byteswap())


def minimum_maximum(x: NDArray[Any], y: NDArray[Any]) -> NDArray[Any]:
    c, d = x.view(U32), y.view(U32)
    size = np.abs(np.where(x == np.iinfo(I32).min, 0, x))
    low, high = np.minimum(np.minimum(x ^ 3, y), 77), np.maximum(np.maximum(c, d ^ U32(5)), U32(0x80000001))
    rows = [np.minimum(x, y), np.maximum(c, d), low, high]
    return stack(*rows, np.clip(x, -100, 100), size).view(I32)


def saturating(x: NDArray[Any], y: NDArray[Any]) -> NDArray[Any]:
    a, b = x.astype(I64), y.astype(I64)
    c, d = x.view(I32).astype(I64), y.view(I32).astype(I64)
    low, high = -(1 << 31), (1 << 31) - 1
    return stack(
        np.minimum(a + b, int(ALL)), np.maximum(a - b, 0), np.clip(c + d, low, high), np.clip(c - d, low, high)
    )


def three_operands(a: NDArray[Any], b: NDArray[Any], c: NDArray[Any]) -> NDArray[Any]:
    majority = (a & b) | (b & c) | (a & c)
    return stack(a + b + c, (a & b) | c, a | b | c, (a ^ b) + c, a ^ b ^ c, majority, ~(a | ~b))


def _parts(x: NDArray[Any], width: int) -> NDArray[Any]:
    return (x[..., None] >> np.arange(0, 32, width, dtype=U32) & U32((1 << width) - 1)).astype(I64)


def differences(x: NDArray[Any], y: NDArray[Any]) -> NDArray[Any]:
    bytes8, other8 = _parts(x, 8), _parts(y, 8)
    gap8 = np.abs(bytes8 - other8)
    gap16 = np.abs(_parts(x, 16) - _parts(y, 16)).sum(-1)
    # __usad compares as unsigned.
    gap = np.where(x > y, x - y, y - x)
    masked = np.where(other8 != 0, gap8, 0).sum(-1)
    rounding = np.array([1, 1, 0, 1])  # bit 0 of each byte of 0x01000101
    mean = (bytes8 + other8 + rounding >> 1) & 0xFF
    lerp = (mean << np.arange(0, 32, 8)).sum(-1)
    return stack(gap8.sum(-1) + 1000, gap16 + y, gap + U32(5), masked + 7, lerp)


def short_elements(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    signed_a, signed_b = a.view(np.int16), b.view(np.int16)
    shifted = (signed_a >> (b & np.uint16(15)).view(np.int16)).view(np.uint16)
    low = np.where(signed_a < signed_b, a, b)
    high = np.where(a > b, a + np.uint16(1), b)
    return np.stack([a + b, a * b, (a - b) >> np.uint16(3), shifted, low, high])


def packed(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    high = np.maximum(a.view(np.int16), b.view(np.int16)).view(np.uint16)
    less = np.where(a > b, a - b, np.uint16(0))
    return np.stack([a + b, a * b, a * b + a, high, a << (b & np.uint16(15)), less])


def hashes(x: NDArray[Any]) -> NDArray[Any]:
    h = x.copy()
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)):
        h = (h ^ h >> U32(shift)) * U32(factor)
    s = x | U32(1)
    for _ in range(3):
        s = s ^ s << U32(13)
        s = s ^ s >> U32(17)
        s = s ^ s << U32(5)
    return stack(h, s)


SCALARS = [(0, 0, 0, 0), (0xFFFFFFFF, 0x80000000, -5, 7), (0x12345678, 1000000, 2000000000, -(1 << 31))]


def scalars(a: int, b: int, c: int, d: int, block: int) -> NDArray[Any]:
    ua, ub = np.array([a], U32), np.array([b], U32)
    field = (np.array([c], I32) << 20 >> 24).view(U32)
    rows = [
        ua * ub,
        ua.astype(U64) * ub >> U64(32),
        population(ua ^ ub),
        find_first(ua),
        leading_zeros(ub),
        ua >> U32(5) & U32(0xFF),
        field,
        np.array([min(c, d)], I32).view(U32),
        np.maximum(ua, ub),
        np.array([abs(c)], U32),
        ua + U32(5) if c < d else ub - U32(5),
        reverse(ua) & ~ub,
        np.array([c * d >> 32], I64),
        np.array([c], I64).astype(np.int8).astype(I64) + np.array([d], I64).astype(np.int16),
        ua if b >> 19 & 1 else np.array([12345], U32),
    ]
    return stack(*rows) + np.arange(block, dtype=U32)


def selectors(n: int) -> NDArray[Any]:
    """Selectors whose bytes lie from 0 to 15."""
    return np.random.default_rng(11).integers(0, 16, (n, 4)).astype(np.uint8).view(U32).reshape(n)
