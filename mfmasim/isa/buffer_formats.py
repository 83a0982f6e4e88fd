"""Data formats of typed buffer accesses by number.

RDNA3 and RDNA4 have one number (ISA manuals, table of buffer data formats), gfx9 one for the sizes of the components
and one for their meaning (CDNA3 ISA manual, 9.1.3, DFMT and NFMT). A name gives the sizes from the highest bits down,
so that X, the first component, is the last of them (Mesa maps R11G11B10 to 10_11_11).

The spelling is llvm-mc 22's; ``-`` marks a number without a format.
"""

from __future__ import annotations

from dataclasses import dataclass

from mfmasim.errors import MfmasimError


@dataclass(frozen=True)
class BufferFormat:
    """How the components of an element lie in memory."""

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


_NAMES = [
    "INVALID",
    "8_UNORM",
    "8_SNORM",
    "8_USCALED",
    "8_SSCALED",
    "8_UINT",
    "8_SINT",
    "16_UNORM",
    "16_SNORM",
    "16_USCALED",
    "16_SSCALED",
    "16_UINT",
    "16_SINT",
    "16_FLOAT",
    "8_8_UNORM",
    "8_8_SNORM",
    "8_8_USCALED",
    "8_8_SSCALED",
    "8_8_UINT",
    "8_8_SINT",
    "32_UINT",
    "32_SINT",
    "32_FLOAT",
    "16_16_UNORM",
    "16_16_SNORM",
    "16_16_USCALED",
    "16_16_SSCALED",
    "16_16_UINT",
    "16_16_SINT",
    "16_16_FLOAT",
    "10_11_11_FLOAT",
    "11_11_10_FLOAT",
    "10_10_10_2_UNORM",
    "10_10_10_2_SNORM",
    "10_10_10_2_UINT",
    "10_10_10_2_SINT",
    "2_10_10_10_UNORM",
    "2_10_10_10_SNORM",
    "2_10_10_10_USCALED",
    "2_10_10_10_SSCALED",
    "2_10_10_10_UINT",
    "2_10_10_10_SINT",
    "8_8_8_8_UNORM",
    "8_8_8_8_SNORM",
    "8_8_8_8_USCALED",
    "8_8_8_8_SSCALED",
    "8_8_8_8_UINT",
    "8_8_8_8_SINT",
    "32_32_UINT",
    "32_32_SINT",
    "32_32_FLOAT",
    "16_16_16_16_UNORM",
    "16_16_16_16_SNORM",
    "16_16_16_16_USCALED",
    "16_16_16_16_SSCALED",
    "16_16_16_16_UINT",
    "16_16_16_16_SINT",
    "16_16_16_16_FLOAT",
    "32_32_32_UINT",
    "32_32_32_SINT",
    "32_32_32_FLOAT",
    "32_32_32_32_UINT",
    "32_32_32_32_SINT",
    "32_32_32_32_FLOAT",
]

DEFAULT = 1
"""The number that LLVM leaves out; on gfx9 the DFMT, and NFMT 0, each by itself."""


def format_text(number: int) -> str:
    """A format in LLVM's syntax."""
    if number >= len(_NAMES) or _NAMES[number] == "-":
        return f"format:{number}"
    return f"format:[BUF_FMT_{_NAMES[number]}]"


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
    """DFMT and NFMT in LLVM's syntax; empty where it leaves out both."""
    names = [f"BUF_DATA_FORMAT_{_SIZES[sizes]}"] * (sizes != DEFAULT) + [f"BUF_NUM_FORMAT_{_KINDS[kind]}"] * (kind != 0)
    return [f"format:[{','.join(names)}]"] if names else []


_UNIFIED = (None, *(_made(*name.lower().rsplit("_", 1)) for name in _NAMES[1:]))


def unified_format(number: int) -> BufferFormat | None:
    """The format of a number of RDNA3 or RDNA4; None for 0, where nothing is bound.

    Raises:
        MfmasimError: no buffer has the format.
    """
    if number >= len(_UNIFIED):
        raise MfmasimError(f"buffer format {number}: 0 to {len(_UNIFIED) - 1} are those of buffers")
    return _UNIFIED[number]


def split_format(sizes: int, kind: int) -> BufferFormat | None:
    """The format of DFMT and NFMT on gfx9; None for DFMT 0, where nothing is bound.

    Raises:
        MfmasimError: the two do not make one of the formats that RDNA3 lists.

    >>> split_format(9, 0)
    BufferFormat(bits=(10, 10, 10, 2), kind='unorm')
    """
    if not sizes:
        return None
    name = f"{_SIZES[sizes]}_{_KINDS[kind]}"
    if name not in _NAMES:
        raise MfmasimError(f"data format {sizes} with number format {kind}: no buffer has this format")
    return _UNIFIED[_NAMES.index(name)]
