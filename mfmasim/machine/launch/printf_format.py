"""One conversion of a printf format, as C prints it. Source: ISO C17, 7.21.6.1; glibc where that leaves a choice."""

from __future__ import annotations

import math
import re
import struct

CONVERSION = re.compile(
    r"%(?P<flags>[-+ #0]*)(?P<width>\*|\d+)?(?:\.(?P<precision>\*|\d*))?(?P<length>hh|h|ll|l|j|z|t|L)?"
    r"(?P<kind>[diouxXcsfFeEgGaApn%])"
)

# Bits of an integer by length modifier; j, z, t and l are 64 bits on these devices.
_BITS = {"hh": 8, "h": 16, None: 32}
_LARGEST_FIELD = 1 << 16


def formatted(match: re.Match[str], stars: list[int], value: int | str) -> str:
    """Print one argument.

    Args:
        match: a match of `CONVERSION`.
        stars: the arguments that ``*`` took for width and precision, in order.
        value: the string of ``%s``, else the argument's 64 bits.

    Returns:
        The text, padded.
    """
    flags, kind = set(match["flags"]), match["kind"]
    rest = iter(stars)
    width = next(rest) if match["width"] == "*" else int(match["width"] or 0)
    if width < 0:
        flags, width = flags | {"-"}, -width
    text = match["precision"]
    precision = None if text is None else next(rest) if text == "*" else int(text or 0)
    if precision is not None and precision < 0:
        precision = None
    width, precision = min(width, _LARGEST_FIELD), None if precision is None else min(precision, _LARGEST_FIELD)
    if isinstance(value, str):
        return _padded("", value if precision is None else value[:precision], flags - {"0"}, width)
    if kind == "c":
        return _padded("", chr(value & 0xFF), flags - {"0"}, width)
    if kind == "p":
        return _padded("", f"{value:#x}" if value else "(nil)", flags - {"0"}, width)
    if kind == "n":
        return ""
    if kind in "diouxX":
        sign, digits = _integer(value, kind, match["length"], flags, precision)
        return _padded(sign, digits, flags - ({"0"} if precision is not None else set()), width)
    sign, digits = _float(struct.unpack("<d", struct.pack("<Q", value))[0], kind, flags, precision)
    return _padded(sign, digits, flags - ({"0"} if digits.lower() in ("inf", "nan") else set()), width)


def _padded(sign: str, digits: str, flags: set[str], width: int) -> str:
    if "-" in flags:
        return (sign + digits).ljust(width)
    if "0" in flags:
        return sign + digits.rjust(width - len(sign), "0")
    return (sign + digits).rjust(width)


def _sign(negative: bool, flags: set[str]) -> str:
    return "-" if negative else "+" if "+" in flags else " " if " " in flags else ""


def _integer(value: int, kind: str, length: str | None, flags: set[str], precision: int | None) -> tuple[str, str]:
    """Sign or prefix, and digits."""
    bits = _BITS.get(length, 64)
    value &= (1 << bits) - 1
    prefix = ""
    if kind in "di":
        value -= value >> bits - 1 << bits
        prefix = _sign(value < 0, flags)
        value = abs(value)
    digits = "" if precision == 0 and value == 0 else format(value, {"o": "o", "x": "x", "X": "X"}.get(kind, "d"))
    digits = digits.rjust(precision or 0, "0")
    if "#" in flags:
        if kind == "o" and not digits.startswith("0"):
            digits = "0" + digits
        elif kind in "xX" and value:
            prefix = "0" + kind
    return prefix, digits


def _float(value: float, kind: str, flags: set[str], precision: int | None) -> tuple[str, str]:
    """Sign, with the 0x of a hexadecimal one, and digits."""
    sign = _sign(math.copysign(1.0, value) < 0, flags)
    value = abs(value)
    if not math.isfinite(value):
        digits = "inf" if math.isinf(value) else "nan"
    elif kind in "aA":
        sign += "0x" if kind == "a" else "0X"
        digits = _hexadecimal(value, precision, "#" in flags)
    else:
        digits = (
            "%" + ("#" if "#" in flags else "") + f".{6 if precision is None else precision}{kind.lower()}"
        ) % value
    return sign, digits.upper() if kind.isupper() else digits


def _hexadecimal(value: float, precision: int | None, point: bool) -> str:
    """``1.8p+0``: one digit before the point, rounded to nearest even after `precision` more."""
    bits = struct.unpack("<Q", struct.pack("<d", value))[0]
    exponent, significand = bits >> 52, bits & ((1 << 52) - 1)
    if exponent:
        significand |= 1 << 52
        exponent -= 1023
    elif significand:
        exponent = -1022
    if precision is None:
        fraction = f"{significand & ((1 << 52) - 1):013x}".rstrip("0")
    else:
        if precision < 13:
            drop = 4 * (13 - precision)
            half, rest = 1 << drop - 1, significand & ((1 << drop) - 1)
            significand >>= drop
            significand += rest > half or (rest == half and significand & 1)
            significand <<= drop
        fraction = f"{significand & ((1 << 52) - 1):013x}".ljust(precision, "0")[:precision]
    dot = "." if fraction or point else ""
    return f"{significand >> 52}{dot}{fraction}p{exponent:+d}"
