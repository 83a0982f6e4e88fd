"""Addresses of a buffer instruction: the resource, its address rule and its range.

Sources: CDNA3 ISA manual, 9.1.5 to 9.1.8; RDNA3 and RDNA4 ISA manuals, 9.4 and 9.6 (OOB_SELECT, two element sizes of
swizzling, stride scale, a resource without a format is unbound).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mfmasim.architectures import arch as find_arch
from mfmasim.machine.operands import read_dword, scalar_reader
from mfmasim.machine.refusal import unsupported

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from mfmasim.architectures import Arch
    from mfmasim.isa import Instruction
    from mfmasim.machine.interface import Spaces
    from mfmasim.machine.state import Group

    Words = list[NDArray[np.uint32]]
    Numbers = NDArray[np.uint64]
    Mask = NDArray[np.bool_]

__all__ = ["Reach", "resource"]

ELEMENT = np.uint64(4)
"""Bytes of a swizzled element: gfx9 has no field for it any more (assumed: what earlier drivers set)."""


@dataclass(frozen=True)
class Reach:
    """Addresses of the lanes of a buffer access: address of the first byte, and whether each component is in range."""

    address: Callable[[int], Numbers]
    """Addresses of the component that starts at a byte, (waves, lanes)."""
    inside: Callable[[int, int], Mask]
    """Whether the component of a given first byte and size is in range."""


@dataclass(frozen=True)
class _Terms:
    """What a range is checked with; arrays broadcast to (waves, lanes)."""

    words: Words
    idxen: bool
    given: Numbers
    """The index register."""
    index: Numbers
    """With the lane, where the resource adds it."""
    offset: Numbers
    """Offset register and immediate."""
    scalar: Numbers
    """SGPR offset."""
    stride: Numbers


def _field(words: Words, low: int, width: int) -> Numbers:
    """A field of the 128-bit resource, (waves, 1)."""
    word = words[low // 32] >> np.uint32(low % 32)
    return (word & np.uint32((1 << width) - 1)).astype(np.uint64)[:, None]


def _by_use(terms: _Terms) -> Callable[[int, int], Mask]:
    """CDNA: with an index register by records, else by bytes; the SGPR offset does not count."""
    records, add_tid = _field(terms.words, 64, 32), _field(terms.words, 119, 1) != 0

    def inside(byte: int, _size: int) -> Mask:
        fine: Mask = terms.offset + np.uint64(byte) < records
        if terms.idxen:
            return np.where(terms.stride != 0, terms.given < records, fine)
        either: Mask = add_tid | fine
        return either

    return inside


def _by_field(terms: _Terms, scalar_counts: bool) -> Callable[[int, int], Mask]:
    """RDNA: as OOB_SELECT says. 0 structured, 1 by index, 2 not at all unless empty, 3 raw (bytes).

    RDNA4's manual leaves 3 out; LLVM and drivers use it as before.
    """
    words, scalar = terms.words, terms.scalar
    records, select, swizzle = _field(words, 64, 32), _field(words, 124, 2), _field(words, 62, 2)
    unbound = (_field(words, 108, 6) == 0) & (_field(words, 119, 1) == 0)
    by_index = terms.index < records
    offset = terms.offset + scalar if scalar_counts else terms.offset

    def inside(byte: int, size: int) -> Mask:
        end = np.uint64(byte + size)
        structured = by_index & (offset + end <= terms.stride)
        raw = terms.offset + scalar + end <= records  # num_records is reduced by the SGPR offset
        raw = np.where((swizzle != 0) & (terms.stride != 0), structured, raw)
        checked = np.select([select == 0, select == 1, select == 2], [structured, by_index, records != 0], raw)
        bound: Mask = checked & ~unbound
        return bound

    return inside


def resource(instruction: Instruction, machine: Spaces) -> Callable[[Group], Reach]:
    """Bind the address of a buffer instruction: index and offset registers, resource, SGPR offset, immediate."""
    vaddr, srsrc, soffset = instruction.src[:3]
    modifiers, arch = instruction.modifiers, find_arch(instruction.arch)
    if modifiers.get("tfe"):
        raise unsupported(instruction, "a status dword behind the data")
    idxen, offen = modifiers.get("idxen", 0), modifiers.get("offen", 0)
    index_of = read_dword(vaddr, 0, instruction) if idxen else None
    offset_of = read_dword(vaddr, 1 if idxen else 0, instruction) if offen else None
    immediate = np.int64(modifiers.get("offset", 0)).astype(np.uint64)
    scalar = scalar_reader(soffset, "u32", instruction)
    first = srsrc.index

    def reach(g: Group) -> Reach:
        words = [g.s(first + k) for k in range(4)]
        if machine.notify.resources:
            machine.notify.resource(instruction, g, words)
        stride, size, swizzled = _layout(words, arch)
        add_tid = _field(words, 119, 1) != 0
        given = np.zeros((1, 1), np.uint64) if index_of is None else index_of(g).astype(np.uint64)
        offset = immediate + (
            np.zeros((1, g.lanes), np.uint64) if offset_of is None else offset_of(g).astype(np.uint64)
        )
        index = given + np.where(add_tid, np.arange(g.lanes, dtype=np.uint64), np.uint64(0))
        extra = scalar(g).astype(np.uint64)[:, None]
        terms = _Terms(words, bool(idxen), given, index, offset, extra, stride)
        start = _field(words, 0, 32) | _field(words, 32, 16) << np.uint64(32)
        # What the SGPR adds is swizzled as well where it counts for the range (RDNA4 ISA manual, 9.4.2).
        inner = extra if arch.buffer_stride_scale else np.uint64(0)
        group = np.uint64(8) << _field(words, 117, 2)

        def address(byte: int) -> Numbers:
            at = offset + np.uint64(byte)
            linear = index * stride + at + extra
            if not swizzled.any():
                return start + linear
            at = at + inner
            rows = (index // group * stride + at // size * size) * group + (extra - inner)
            return start + np.where(swizzled, rows + index % group * size + at % size, linear)

        by_field = arch.buffer_range_field
        return Reach(address, _by_field(terms, arch.buffer_stride_scale) if by_field else _by_use(terms))

    return reach


def _layout(words: Words, arch: Arch) -> tuple[Numbers, Numbers, Mask]:
    """Bytes of a record, bytes of a swizzled element, and whether the buffer is swizzled."""
    stride = _field(words, 48, 14)
    if not arch.buffer_range_field:
        add_tid = _field(words, 119, 1) != 0
        stride = np.where(add_tid, stride | _field(words, 111, 4) << np.uint64(14), stride)
        return stride, np.full_like(stride, ELEMENT), _field(words, 63, 1) != 0
    if arch.buffer_stride_scale:
        stride = stride * np.array([1, 4, 8, 32], np.uint64)[_field(words, 114, 2).astype(np.int64)]
    swizzle = _field(words, 62, 2)
    return stride, np.where(swizzle == 3, np.uint64(16), np.uint64(4)), swizzle != 0
