"""Invalid buffer resources: fields whose meaning depends on the generation, and bases outside every buffer.

The fields are rows of `mfmasim.architectures.buffers`, with their sources.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mfmasim.architectures import Arch
    from mfmasim.architectures.buffers import BufferLayout

OOB = ("structured", "by index", "not at all", "raw")


@dataclass(frozen=True)
class Descriptor:
    """The 128 bits of a buffer resource on an architecture."""

    words: tuple[int, int, int, int]
    arch: Arch

    @property
    def layout(self) -> BufferLayout:
        """The architecture's fields."""
        return self.arch.buffers

    def field(self, name: str) -> int:
        """A field of the resource; 0 if the architecture has no field of that name."""
        row = self.layout.fields.get(name)
        return row.of(self.words) if row else 0

    @property
    def base(self) -> int:
        """Address of the first byte."""
        return self.field("base")

    @property
    def records(self) -> int:
        """Records, or bytes."""
        return self.field("num_records")

    @property
    def bound(self) -> bool:
        """Whether the resource has a format, or needs none because it adds the lane's number."""
        formats = [name for name in ("format", "data_format") if name in self.layout.fields]
        return bool(self.field("add_tid")) or not formats or any(self.field(name) for name in formats)

    def text(self) -> str:
        """The fields in words: fields of the address and the range, and other fields that are not 0."""
        parts = [f"base {self.base:#x}", f"stride {self.field('stride')}", f"num_records {self.records}"]
        for name in ("num_format", "data_format", "format"):
            parts += [f"{name} {self.field(name)}"] * (name in self.layout.fields)
        if "oob_select" in self.layout.fields:
            select = self.field("oob_select")
            named = ("raw", "structured") if self.layout.range_in_bytes else OOB
            parts.append(f"oob_select {select} ({named[select]})")
        parts += ["add_tid"] * self.field("add_tid")
        set_too = ("swizzle", "cache_swizzle", "stride_scale", "user_vm_enable", "user_vm_mode", "type")
        parts += [f"{name} {self.field(name)}" for name in set_too if self.field(name)]
        return f"word 3 is {self.words[3]:#010x}: {', '.join(parts)}"


def unbound(descriptor: Descriptor) -> bool:
    """Whether word 3 is 0, so that the buffer has no format."""
    return not descriptor.words[3] and not descriptor.bound


def wrong(descriptor: Descriptor) -> list[str]:
    """The error in the fields of a resource; empty without an error.

    Word 3 of an unbound buffer is 0, which programs may intend.
    """
    if unbound(descriptor):
        return []
    found = list(_wrong(descriptor))
    return [f"{'; '.join(found)} (a raw buffer has {descriptor.layout.usual:#x})"] if found else []


def _wrong(d: Descriptor) -> Iterator[str]:
    if d.field("type"):
        yield "TYPE is not 0: not a buffer"
    if not d.bound and "format" in d.layout.fields:
        yield "FORMAT is 0 (invalid), which unbinds the buffer: loads give 0 and stores are dropped"
    elif not d.bound:
        yield "DATA_FORMAT is 0 (invalid), which unbinds the buffer: loads give 0 and stores are dropped"
    reserved = [row for row in d.layout.rows if row.read == "zero"]
    if any(row.of(d.words) for row in reserved):
        bits = " and ".join(f"{row.low + row.bits - 1}:{row.low}" for row in reserved)
        yield f"reserved bits {bits} must be 0"
    if d.field("user_vm_mode") and d.field("user_vm_enable"):
        yield "USER_VM_ENABLE and USER_VM_MODE are set: accesses to unmapped parts of a tiled pool are errors"
    if d.field("swizzle") == 2:
        yield "swizzle 2 is reserved"
    structured = d.layout.range_by_field and d.field("oob_select") == 0
    if structured and not d.field("stride") and d.records and not d.field("add_tid"):
        yield "OOB_SELECT is 0 (structured) and the stride 0: every access is out of range"
    if d.layout.range_in_bytes and d.field("oob_select") and not d.field("stride") and d.records:
        yield "OOB_SELECT is 1 (structured) and the stride 0: every access is out of range"


def remarks(descriptor: Descriptor) -> list[str]:
    """Non-zero fields without effect, where the program probably intended another meaning."""
    if descriptor.field("user_vm_mode") and not descriptor.field("user_vm_enable"):
        return ["USER_VM_MODE is set without USER_VM_ENABLE: nothing reads it"]
    return []
