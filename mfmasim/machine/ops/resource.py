"""Addresses of a buffer instruction: the resource, its address rule and its range.

The fields and the rules that differ between families are rows of `mfmasim.architectures.buffers`, with their sources.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mfmasim.architectures import arch as find_arch
from mfmasim.fidelity import lowest
from mfmasim.machine.binding.operands import read_dword, scalar_reader
from mfmasim.machine.opcodes.refusal import unsupported
from mfmasim.machine.ops.scratch import is_scratch
from mfmasim.machine.state.touched_bytes import Outside

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from mfmasim.architectures.buffers import BufferField, BufferLayout
    from mfmasim.arrays import U64, Flags
    from mfmasim.isa import Instruction
    from mfmasim.machine.events.interface import Spaces
    from mfmasim.machine.state.waves import Group

    Words = Sequence[NDArray[np.uint32]]

SIGN = np.uint64(1 << 31)
NONE, NO = np.zeros((1, 1), np.uint64), np.zeros((1, 1), np.bool_)


@dataclass(frozen=True)
class Reach:
    """Addresses of the lanes of a buffer access: address of the first byte, and whether each component is in range."""

    address: Callable[[int], U64]
    """Addresses of the component that starts at a byte, (waves, lanes)."""
    inside: Callable[[int, int], Flags]
    """Whether the component of a given first byte and size is in range."""
    linear: bool = False
    """Whether components follow one another in memory."""
    offset: U64 | None = None
    """Of a raw access: offset register, immediate and SGPR offset, (waves, lanes)."""


@dataclass(frozen=True)
class _Terms:
    """What addresses and ranges are made of; arrays broadcast to (waves, lanes)."""

    words: Words
    layout: BufferLayout
    start: U64
    given: U64 | None
    """The index register, where the instruction has one."""
    lane: Flags
    """Waves whose resource makes the lane's number an index."""
    offset: U64
    """Offset register and immediate, which wrap at 32 bits."""
    scalar: U64
    """SGPR offset."""

    def field(self, name: str) -> U64:
        """A field of the resource, (waves, 1)."""
        return field_of(self.words, self.layout.fields[name])


def field_of(words: Words, field: BufferField) -> U64:
    """A field of a resource, (waves, 1).

    Args:
        words: the four dwords, (waves,) each.
        field: a row of the architecture's layout.

    Returns:
        Its values as uint64.
    """
    first, shift = divmod(field.low, 32)
    value = words[first].astype(np.uint64) >> np.uint64(shift)
    for at in range(32 - shift, field.bits, 32):
        first += 1
        value = value | words[first].astype(np.uint64) << np.uint64(at)
    return (value & np.uint64((1 << field.bits) - 1))[:, None]


def scalar_extent(words: Words, layout: BufferLayout, unit: int = 4) -> tuple[U64, U64]:
    """Base and bytes of a resource as scalar memory instructions see it, (waves,) each.

    They read base, stride and num_records alone: the stride is a factor of the size and not of an address, whatever its
    own factor (RDNA3 and RDNA4 ISA manuals, 8.1.2; CDNA3 8.2.1 has it garbled, this is how compilers use it).

    Args:
        words: the dwords, (waves,) each.
        layout: the architecture's fields.
        unit: bytes of one load.

    Returns:
        The base, not aligned, and the size.
    """
    base, stride, records = (field_of(words, layout.fields[name])[:, 0] for name in ("base", "stride", "num_records"))
    size = np.where(stride == 0, records, records * stride)
    return base, size & ~np.uint64(unit - 1) if layout.scalar_whole else size


def resource(instruction: Instruction, machine: Spaces, *, typed: bool = False) -> Callable[[Group], Reach]:
    """Bind the address of a buffer instruction: index and offset registers, resource, SGPR offset, immediate.

    Args:
        instruction: an instruction whose first sources are address registers, resource and SGPR offset.
        machine: its observers are notified of the resource.
        typed: whether the data's format comes from the resource, or from a field of the instruction.

    Returns:
        The function that gives the addresses of a group of waves.

    Raises:
        Unsupported: the instruction wants a status dword behind its data.
    """
    vaddr, srsrc, soffset = instruction.src[:3]
    modifiers, layout = instruction.modifiers, find_arch(instruction.arch).buffers
    if modifiers.get("tfe"):
        raise unsupported(instruction, "a status dword behind the data")
    idxen, offen = modifiers.get("idxen", 0), modifiers.get("offen", 0)
    index_of = read_dword(vaddr, 0, instruction) if idxen else None
    offset_of = read_dword(vaddr, 1 if idxen else 0, instruction) if offen else None
    immediate = np.uint32(modifiers.get("offset", 0) & 0xFFFFFFFF)
    constant = np.array([[immediate]], np.uint64)
    scalar = scalar_reader(soffset, "u32", instruction)
    first = srsrc.index
    add_tid = layout.fields.get("add_tid")

    def reach(g: Group) -> Reach:
        words = [g.s(first + k) for k in range(4)]
        if machine.notify.resources and not (machine.arch.scratch_resource and is_scratch(words)):
            machine.notify.resource(instruction, g, words)
        offset = np.broadcast_to(constant, (1, g.lanes)) if offset_of is None else offset_of(g) + immediate
        terms = _Terms(
            words,
            layout,
            field_of(words, layout.fields["base"]),
            None if index_of is None else index_of(g).astype(np.uint64),
            NO if add_tid is None else field_of(words, add_tid) != 0,
            offset.astype(np.uint64),
            scalar(g).astype(np.uint64)[:, None],
        )
        check = _by_bytes if layout.range_in_bytes else _by_field if layout.range_by_field else _by_use
        if terms.given is None and not terms.lane.any():
            # A raw access: no index, so nothing to multiply and nothing to swizzle.
            linear = terms.start + terms.scalar + terms.offset
            return Reach(
                lambda byte: linear + np.uint64(byte), check(terms, NONE, NO), True, terms.scalar + terms.offset
            )
        index, stride, swizzle = _indexed(terms, np.arange(g.lanes, dtype=np.uint64), typed)
        if swizzle.any():
            # The manuals' formula with the departures that the layout names.
            level = "reference" if terms.lane.any() else layout.register_swizzle
            known = machine.outcome.fidelity
            known[instruction.name] = lowest((level, known.get(instruction.name, level)))
        return Reach(_addresses(terms, index, stride, swizzle), check(terms, index, swizzle != 0))

    return reach


def report_beyond(
    machine: Spaces, g: Group, instruction: Instruction, reach: Reach, beyond: Flags, size: int, kind: str
) -> None:
    """Report lanes beyond the range of a resource, those apart whose offset passed 2**31 and whose data exist.

    Args:
        machine: whose observers are notified.
        g: the waves.
        instruction: the access.
        reach: its addresses.
        beyond: lanes that are active and out of range.
        size: bytes of a lane.
        kind: ``read`` or ``write``.
    """
    address = reach.address(0)
    far = NO
    if reach.offset is not None and (reach.offset >= SIGN).any():
        there = np.zeros_like(address, np.bool_)
        for one in machine.memory.regions:
            there |= (address >= np.uint64(one.address)) & (address < np.uint64(one.address + one.size))
        far = beyond & (reach.offset >= SIGN) & there
    for space, lanes in (("buffer", beyond & ~far), ("buffer offset", far)):
        if lanes.any():
            machine.notify.fault(instruction, g, space, kind, size, Outside(lanes, address))


def _indexed(terms: _Terms, lanes: U64, typed: bool) -> tuple[U64, U64, U64]:
    """Index, bytes of a record, and the value of the field ``swizzle``, of an access that has an index."""
    layout, given = terms.layout, terms.given
    stride, swizzle = _stride(terms), terms.field("swizzle")
    adds, indexed = terms.lane, terms.lane
    if given is not None:
        adds = terms.lane & (swizzle != 0) if layout.lane_and_index else NO
        indexed = ~NO
    index = (NONE if given is None else given) + np.where(adds, lanes, np.uint64(0))
    if layout.stride_high and not typed:
        high = terms.field(layout.stride_high) << np.uint64(layout.fields["stride"].bits)
        stride = np.where(adds, stride | high, stride)
    return index, stride, np.where(indexed, swizzle, np.uint64(0))


def _stride(terms: _Terms) -> U64:
    """Bytes of a record, as the field and its factor say."""
    stride, factors = terms.field("stride"), terms.layout.stride_factors
    if len(factors) > 1:
        stride = stride * np.array(factors, np.uint64)[terms.field("stride_scale").astype(np.intp)]
    return stride


def _addresses(terms: _Terms, index: U64, stride: U64, swizzle: U64) -> Callable[[int], U64]:
    """Addresses of an access with an index, linear or swizzled."""
    layout, outer = terms.layout, terms.start + terms.scalar
    linear = outer + index * stride + terms.offset
    if not swizzle.any():
        return lambda byte: linear + np.uint64(byte)
    size = np.array(layout.elements, np.uint64)[swizzle.astype(np.intp)]
    size[size == 0] = 1  # not used
    strides = np.array(layout.index_strides, np.uint64)
    group = strides[terms.field("index_stride").astype(np.intp)] if "index_stride" in layout.fields else strides
    whole = size == layout.element_whole

    def address(byte: int) -> U64:
        behind = np.where(whole, np.uint64(byte), np.uint64(0))
        at = terms.offset + (np.uint64(byte) - behind)
        rows = (index // group * stride + at // size * size) * group
        swizzled = outer + rows + index % group * size + at % size + behind
        return np.where(swizzle != 0, swizzled, linear + np.uint64(byte))

    return address


def _by_use(terms: _Terms, _index: U64, _swizzled: Flags) -> Callable[[int, int], Flags]:
    """CDNA: with an index register and a stride by records; with the lane alone not at all; else by bytes.

    An unbound buffer has nothing inside.
    """
    bound = (terms.field("data_format") != 0) | terms.lane
    records, end = terms.field("num_records"), terms.offset + terms.scalar
    special, fine = (terms.lane, ~NO) if terms.given is None else (terms.field("stride") != 0, terms.given < records)
    if not special.any() and bound.all():
        return lambda byte, size: end + np.uint64(byte + size) <= records
    return lambda byte, size: bound & np.where(special, fine, end + np.uint64(byte + size) <= records)


def _by_field(terms: _Terms, index: U64, swizzled: Flags) -> Callable[[int, int], Flags]:
    """RDNA: as OOB_SELECT says. 0 structured, 1 by index, 2 not at all unless empty, 3 raw, or as 0 if swizzled."""
    records, select, stride = terms.field("num_records"), terms.field("oob_select"), _stride(terms)
    bound = (terms.field("format") != 0) | terms.lane
    end = terms.offset + terms.scalar
    if (bound & (select == 3)).all() and not swizzled.any():
        return lambda byte, size: end + np.uint64(byte + size) <= records
    by_index = index < records
    by_record = (select == 0) | (select == 3) & swizzled & (stride != 0)

    def inside(byte: int, size: int) -> Flags:
        size_to = np.uint64(byte + size)
        structured = by_index & (terms.offset + size_to <= stride)
        checked: Flags = np.select(
            [by_record, select == 1, select == 2], [structured, by_index, records != 0], end + size_to <= records
        )
        bounded: Flags = checked & bound
        return bounded

    return inside


def _by_bytes(terms: _Terms, index: U64, swizzled: Flags) -> Callable[[int, int], Flags]:
    """CDNA5: the bytes of the buffer and, as OOB_SELECT says, those of the record; swizzled not at all."""
    records, stride = terms.field("num_records"), _stride(terms)
    within = terms.offset + terms.scalar
    total, structured = within + index * stride, terms.field("oob_select") != 0

    def inside(byte: int, size: int) -> Flags:
        size_to = np.uint64(byte + size)
        fits: Flags = (total + size_to <= records) & (~structured | (within + size_to <= stride)) | swizzled
        return fits

    return inside
