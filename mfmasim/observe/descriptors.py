"""Invalid buffer resources: fields with another meaning in another generation, and bases that lie in no buffer.

Sources: CDNA3 and CDNA4 ISA manuals, 9.1.8; RDNA3 and RDNA4 ISA manuals, 9.6 (fields), 9.5 and 9.4 (OOB_SELECT).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mfmasim.architectures import Arch

__all__ = ["Descriptor", "wrong"]

USUAL = {False: "0x27000", True: "0x31004000"}
"""Word 3 of a raw buffer of dwords, as libraries write it: CDNA, RDNA."""
OOB = ("structured", "by index", "not at all", "raw")


@dataclass(frozen=True)
class Descriptor:
    """The 128 bits of a buffer resource, as an architecture reads them."""

    words: tuple[int, int, int, int]
    arch: Arch

    def field(self, low: int, width: int) -> int:
        """Bits of the resource."""
        return self.words[low // 32] >> low % 32 & ((1 << width) - 1)

    @property
    def base(self) -> int:
        """Address of the first byte."""
        return self.words[0] | self.field(32, 16) << 32

    @property
    def stride(self) -> int:
        """Bytes of a record, without the bits that other fields add."""
        return self.field(48, 14)

    @property
    def records(self) -> int:
        """Records, or bytes."""
        return self.words[2]

    @property
    def add_tid(self) -> bool:
        """Whether the lane's number is added to the index."""
        return bool(self.field(119, 1))

    def text(self) -> str:
        """The fields in words."""
        parts = [f"base {self.base:#x}", f"stride {self.stride}", f"num_records {self.records}"]
        if self.arch.buffer_range_field:
            parts += [f"format {self.field(108, 6)}", f"oob_select {self.field(124, 2)} ({OOB[self.field(124, 2)]})"]
        else:
            parts += [f"num_format {self.field(108, 3)}", f"data_format {self.field(111, 4)}"]
        parts += ["add_tid"] * self.add_tid + [f"type {self.field(126, 2)}"] * bool(self.field(126, 2))
        return f"word 3 is {self.words[3]:#010x}: {', '.join(parts)}"


def _cdna(d: Descriptor) -> Iterator[str]:
    if d.field(111, 4) == 0 and not d.add_tid:
        yield "DATA_FORMAT is 0 (invalid)"
    if d.field(120, 3) or d.field(124, 2):
        yield "reserved bits 122:120 and 125:124 must be 0"
    if d.field(116, 1):
        yield "USER_VM_MODE is set: unmapped accesses are errors"


def _rdna(d: Descriptor) -> Iterator[str]:
    if d.field(108, 6) == 0 and not d.add_tid:
        yield "FORMAT is 0 (invalid), which unbinds the buffer: loads give 0 and stores are dropped"
    if d.field(62, 2) == 2:
        yield "swizzle 2 is reserved"
    if d.field(124, 2) == 0 and not d.stride and d.records and not d.add_tid:
        yield "OOB_SELECT is 0 (structured) and the stride 0: every access is out of range"


def wrong(descriptor: Descriptor) -> list[str]:
    """What is wrong with the fields of a resource; empty where nothing is.

    A resource of zeros alone is a buffer that is not bound, which programs may intend.
    """
    if not any(descriptor.words[1:]):
        return []
    rdna = descriptor.arch.buffer_range_field
    found = ["TYPE is not 0: not a buffer"] * bool(descriptor.field(126, 2))
    found += list((_rdna if rdna else _cdna)(descriptor))
    return [f"{'; '.join(found)} (a raw buffer has {USUAL[rdna]})"] if found else []
