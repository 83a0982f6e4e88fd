"""Data formats of typed buffer accesses by number.

RDNA has one number (ISA manuals, table of buffer data formats), gfx9 one for the sizes of the components and one for
their meaning (CDNA3 ISA manual, 9.1.3, DFMT and NFMT). A name gives the sizes from the highest bits down,
so that X, the first component, is the last of them (Mesa maps R11G11B10 to 10_11_11).

The spelling is llvm-mc 22's.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from mfmasim.errors import MfmasimError


@dataclass(frozen=True)
class BufferFormat:
    """Components of an element in memory."""

    bits: tuple[int, ...]
    """Size of each component, X first."""
    kind: str
    """``unorm snorm uscaled sscaled uint sint float``."""

    @property
    def packed(self) -> bool:
        """All components lie in one dword, not each in its own bytes."""
        return any(size % 8 for size in self.bits)

    @property
    def bytes(self) -> int:
        """Size of the element in memory."""
        return sum(self.bits) // 8

    @property
    def integer(self) -> bool:
        """Registers hold integers, not floats."""
        return self.kind in ("uint", "sint")


_SCALED = "unorm snorm uscaled sscaled uint sint"
_ALL, _WHOLE, _FLOAT = f"{_SCALED} float", "uint sint float", "float"
_GFX10 = (
    ("8", _SCALED), ("16", _ALL), ("8_8", _SCALED), ("32", _WHOLE), ("16_16", _ALL), ("10_11_11", _ALL),
    ("11_11_10", _ALL), ("10_10_10_2", _SCALED), ("2_10_10_10", _SCALED), ("8_8_8_8", _SCALED), ("32_32", _WHOLE),
    ("16_16_16_16", _ALL), ("32_32_32", _WHOLE), ("32_32_32_32", _WHOLE),
)  # fmt: skip
"""Sizes and kinds in the order of their numbers, from 1."""
_FEWER = {"10_11_11": _FLOAT, "11_11_10": _FLOAT, "10_10_10_2": "unorm snorm uint sint"}
"""Kinds that RDNA3 and RDNA4 kept, by size."""


def _numbered(rows: Iterable[tuple[str, str]]) -> list[str]:
    return ["INVALID", *(f"{sizes}_{kind.upper()}" for sizes, kinds in rows for kind in kinds.split())]


_NAMES = {"RDNA2": _numbered(_GFX10), "RDNA3": _numbered((sizes, _FEWER.get(sizes, kinds)) for sizes, kinds in _GFX10)}
"""By `BufferLayout.formats`."""

DEFAULT = 1
"""The number that LLVM leaves out; on gfx9 the DFMT, and NFMT 0, each by itself."""


def format_text(number: int, formats: str = "RDNA3") -> str:
    """A format in LLVM's syntax; `formats` is a `BufferLayout.formats`."""
    names = _NAMES[formats]
    return f"format:[BUF_FMT_{names[number]}]" if number < len(names) else f"format:{number}"


_SIZES = (
    "INVALID", "8", "16", "8_8", "32", "16_16", "10_11_11", "11_11_10", "10_10_10_2", "2_10_10_10", "8_8_8_8", "32_32",
    "16_16_16_16", "32_32_32", "32_32_32_32", "RESERVED_15",
)  # fmt: skip
"""By DFMT."""
_KINDS = ("UNORM", "SNORM", "USCALED", "SSCALED", "UINT", "SINT", "RESERVED_6", "FLOAT")
"""By NFMT."""


def _made(sizes: str, kind: str) -> BufferFormat:
    return BufferFormat(tuple(int(size) for size in reversed(sizes.split("_"))), kind)


def split_text(sizes: int, kind: int) -> list[str]:
    """DFMT and NFMT in LLVM's syntax; empty if LLVM omits both."""
    names = [f"BUF_DATA_FORMAT_{_SIZES[sizes]}"] * (sizes != DEFAULT) + [f"BUF_NUM_FORMAT_{_KINDS[kind]}"] * (kind != 0)
    return [f"format:[{','.join(names)}]"] if names else []


_UNIFIED = {
    formats: (None, *(_made(*name.lower().rsplit("_", 1)) for name in names[1:])) for formats, names in _NAMES.items()
}


def unified_format(number: int, formats: str = "RDNA3") -> BufferFormat | None:
    """The format of a number of RDNA; None for 0, an unbound buffer.

    Args:
        number: the format's number.
        formats: `BufferLayout.formats`.

    Raises:
        MfmasimError: no buffer has the format.
    """
    known = _UNIFIED[formats]
    if number >= len(known):
        raise MfmasimError(f"buffer format {number}: 0 to {len(known) - 1} are those of buffers")
    return known[number]


def split_format(sizes: int, kind: int) -> BufferFormat | None:
    """The format of DFMT and NFMT on gfx9; None for DFMT 0, an unbound buffer.

    Raises:
        MfmasimError: the two do not make one of the formats that RDNA3 lists.

    >>> split_format(9, 0)
    BufferFormat(bits=(10, 10, 10, 2), kind='unorm')
    """
    if not sizes:
        return None
    name = f"{_SIZES[sizes]}_{_KINDS[kind]}"
    names = _NAMES["RDNA3"]
    if name not in names:
        raise MfmasimError(f"data format {sizes} with number format {kind}: no buffer has this format")
    return _UNIFIED["RDNA3"][names.index(name)]
