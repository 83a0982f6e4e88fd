"""Output of kernels: the buffer of printf, and its frames as text.

clang lowers printf to stores into the buffer that ``hidden_printf_buffer`` points to (``-mprintf-kind=buffered``). Two
words come first: bytes in use, and the size. Each call adds a frame: a control word (bit 1: the format is constant,
bits 2 to 31: bytes of the frame), the low half of the format's MD5 hash, or the format itself, and the arguments, 8
bytes each; a string lies in the frame with its zero, padded to 8 bytes. The formats stand in the metadata as
``0:0:<hash>,<text>``. Sources: LLVM, AMDGPUEmitPrintf.cpp; AMDGPU usage guide, "Code Object V3 Metadata". A
conversion is printed as in C: ISO C17, 7.21.6.1, with glibc's choices.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable, Iterable, Mapping

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


PRINTF_BYTES = 1 << 20
"""Size of the buffer: what a launch can print, as frames."""
HEADER_BYTES = 8
_CONSTANT = 2


def header(size: int) -> bytes:
    """The first two words of an empty buffer of `size` bytes."""
    return struct.pack("<II", 0, size)


def formats_by_hash(metadata: Iterable[str]) -> dict[int, str]:
    """The format strings of ``amdhsa.printf`` by the hash that frames carry."""
    found = (re.match(r"0:0:([0-9a-f]+),(.*)", line, re.DOTALL) for line in metadata)
    return {int(match[1], 16): match[2] for match in found if match}


def printed(buffer: bytes, formats: Mapping[int, str], text_at: Callable[[int], bytes]) -> tuple[str, str]:
    """The text of a filled buffer.

    Args:
        buffer: all its bytes, the two words included.
        formats: constant formats, from `formats_by_hash`.
        text_at: the zero-terminated string at an address of the device, for a string argument whose format is not
            constant: only its address is in the frame.

    Returns:
        The text, frame by frame in the buffer's order; and the error in the buffer, or an empty text.
    """
    used, size = struct.unpack_from("<II", buffer)
    place, end = HEADER_BYTES, min(HEADER_BYTES + used, len(buffer))
    out: list[str] = []
    largest = 0
    while place < end:
        control = struct.unpack_from("<I", buffer, place)[0] if place + 4 <= end else 0
        length = control >> 2
        if length < 12 or place + length > end:
            return "".join(out), f"the frame at byte {place} of the printf buffer was never filled in"
        largest = max(largest, length)
        out.append(_frame(buffer[place + 4 : place + length], bool(control & _CONSTANT), formats, text_at))
        place += length
    if largest and HEADER_BYTES + used + largest > size:
        return "".join(out), f"the printf buffer of {size:,} bytes is full; later output is lost"
    return "".join(out), ""


def _frame(body: bytes, constant: bool, formats: Mapping[int, str], text_at: Callable[[int], bytes]) -> str:
    if constant:
        code = int.from_bytes(body[:8], "little")
        text, place = formats.get(code), 8
        if text is None:
            return f"(printf format {code:016x} is not in the code object's metadata)\n"
    else:
        text, place = _string(body, 0)
    return _expanded(text, body, place, None if constant else text_at)


def frame_text(body: bytes) -> str:
    """The text of a frame with its format and strings, as in calls to the host.

    Args:
        body: the format with its zero, padded to 8 bytes; then the arguments, 8 bytes each, strings like the format.
    """
    text, place = _string(body, 0)
    return _expanded(text, body, place, None)


def _expanded(text: str, body: bytes, place: int, text_at: Callable[[int], bytes] | None) -> str:
    """A format with the arguments from a place of the frame; strings lie in the frame unless `text_at` finds them."""
    out: list[str] = []
    last = 0
    for match in CONVERSION.finditer(text):
        out.append(text[last : match.start()])
        last = match.end()
        if match["kind"] == "%":
            out.append("%")
            continue
        stars: list[int] = []
        for _ in range(match[0].count("*")):
            stars.append(int.from_bytes(body[place : place + 4], "little", signed=True))
            place += 8
        value: str | int
        if match["kind"] == "s" and text_at is None:
            value, place = _string(body, place)
        else:
            word = body[place : place + 8]
            if len(word) < 8:
                out.append(match[0])  # fewer arguments than conversions, which C leaves undefined
                continue
            place += 8
            value = int.from_bytes(word, "little")
            if match["kind"] == "s" and text_at is not None:
                value = text_at(value).decode("utf-8", "replace")
        out.append(formatted(match, stars, value))
    return "".join(out) + text[last:]


def _string(body: bytes, place: int) -> tuple[str, int]:
    """A string of the frame and the place after it."""
    end = body.find(b"\0", place)
    end = len(body) if end < 0 else end
    return body[place:end].decode("utf-8", "replace"), place + (end - place + 8) // 8 * 8
