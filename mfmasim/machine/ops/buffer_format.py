"""Typed buffer loads and stores: the data format comes from the instruction (MTBUF) or from the resource (MUBUF).

Sources: CDNA3 ISA manual, 9.1.4; RDNA3 and RDNA4 ISA manuals, 9.5. Components that the format does not have are 0 where
the destination selects are the identity, as they are with the format of the instruction. The fidelity is ``assumed``
because the manuals name conversions without rounding (`mfmasim.machine.numerics.typed_data`), and because no manual
says which components a store leaves alone: here those that the instruction does not name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
from numpy.typing import NDArray

from mfmasim.architectures import arch as find_arch
from mfmasim.arrays import U32
from mfmasim.errors import MfmasimError
from mfmasim.isa import Instruction
from mfmasim.isa.buffer_formats import BufferFormat, split_format, unified_format
from mfmasim.machine.binding.operands import read_dword
from mfmasim.machine.events.interface import Bound, Spaces
from mfmasim.machine.numerics.typed_data import decoded, encoded
from mfmasim.machine.opcodes.refusal import unsupported
from mfmasim.machine.opcodes.registry import direct
from mfmasim.machine.ops.buffer import clipped
from mfmasim.machine.ops.relative import parts_of
from mfmasim.machine.ops.resource import Reach, resource
from mfmasim.machine.ops.scratch import parts
from mfmasim.machine.ops.spaces import load, merge, store
from mfmasim.machine.state.waves import Group

ZERO, ONES = np.zeros((1, 1), np.uint32), np.uint32(0xFFFFFFFF)
IDENTITY = (4, 5, 6, 7)
FIRST = 4
"""Destination select of X; 0 and 1 are constants."""


def _format(instruction: Instruction, values: Mapping[str, int]) -> BufferFormat | None:
    """The format that fields of the instruction or of the resource name; None where nothing is bound."""
    try:
        if "format" in values:
            return unified_format(values["format"], find_arch(instruction.arch).buffers.formats)
        return split_format(values["data_format"], values["num_format"])
    except MfmasimError as error:
        raise unsupported(instruction, str(error)) from None


def _chosen(instruction: Instruction) -> Callable[[Group], list[tuple[BufferFormat | None, tuple[int, ...], Group]]]:
    """Format and destination selects of the waves, by the groups that share them."""
    if "format" in instruction.modifiers or "data_format" in instruction.modifiers:
        own = _format(instruction, instruction.modifiers)
        return lambda g: [(own, IDENTITY, g)]
    fields, first = find_arch(instruction.arch).buffers.fields, instruction.src[1].index

    def found(g: Group) -> list[tuple[BufferFormat | None, tuple[int, ...], Group]]:
        out = []
        for word, part in parts_of(g, g.s(first + 3)):
            values = {name: field.of((0, 0, 0, word)) for name, field in fields.items()}
            selects = tuple(values[f"dst_sel_{name}"] for name in "xyzw")
            out.append((_format(instruction, values), selects, part))
        return out

    return found


def _active(
    machine: Spaces, g: Group, instruction: Instruction, reach: Reach, form: BufferFormat, kind: str
) -> NDArray[np.bool_]:
    """The active lanes whose whole element is in range: all or nothing (CDNA3 9.1.5.1; RDNA3, RDNA4 9.4.1)."""
    return clipped(machine, g, instruction, reach, reach.inside(0, form.bytes), form.bytes, kind)


def _raw(
    machine: Spaces, g: Group, instruction: Instruction, reach: Reach, form: BufferFormat, wanted: set[int]
) -> dict[int, tuple[U32, U32]]:
    """Bits of the wanted components, at bit 0, and the dwords or parts in which they were read."""
    found: dict[int, tuple[U32, U32]] = {}
    whole: U32 | None = None
    at, active = 0, _active(machine, g, instruction, reach, form, "read")
    for place, bits in enumerate(form.bits):
        byte, size = (0, 4) if form.packed else (at // 8, bits // 8)
        if place in wanted:
            if whole is None or not form.packed:
                whole = np.zeros((1, 1), np.uint32)
                for lanes, part in parts(machine, g, reach.address(byte), active):
                    whole = np.where(lanes, load(machine, g, instruction, part, size)[0], whole)
            shift = np.uint32(at if form.packed else 0)
            found[place] = whole >> shift & np.uint32((1 << bits) - 1), whole
        at += bits
    return found


def _register(machine: Spaces, form: BufferFormat, place: int, found: tuple[U32, U32], short: bool) -> U32:
    """What a component becomes in a register; in a plane an undefined bit makes all of it undefined."""
    raw, whole = found
    if machine.content == "origins":
        return whole
    if machine.content == "undefined":
        return np.where(raw != 0, ONES, np.uint32(0))
    return decoded(raw, form.bits[place], form.kind, short=short)


def _load(count: int, half: str, instruction: Instruction, machine: Spaces) -> Bound:
    if instruction.modifiers.get("lds"):
        raise unsupported(instruction, "a typed load into the LDS")
    where, chosen = resource(instruction, machine, typed=True), _chosen(instruction)
    target = instruction.dst[0]

    def of_part(g: Group, form: BufferFormat | None, selects: tuple[int, ...]) -> None:
        values: list[U32] = [ZERO] * count
        if form is not None:
            wanted = {select - FIRST for select in selects[:count] if 0 <= select - FIRST < len(form.bits)}
            found = _raw(machine, g, instruction, where(g), form, wanted)
            one = 1 if form.integer else 0x3C00 if half else 0x3F800000
            constants = {1: np.full((1, 1), one if machine.content == "values" else 0, np.uint32)}
            values = [
                _register(machine, form, select - FIRST, found[select - FIRST], bool(half))
                if select - FIRST in found
                else constants.get(select, ZERO)
                for select in selects[:count]
            ]
        if half in ("low", "high"):
            g.write_v(target.kind, target.index, merge(machine, g.v(target.kind, target.index), values[0], half))
            return
        if half:
            values += [ZERO] * (count % 2)
            if machine.content == "origins":
                values = [np.where(low != 0, low, high) for low, high in zip(values[::2], values[1::2], strict=True)]
            else:
                low16 = np.uint32(0xFFFF)
                values = [
                    low & low16 | high << np.uint32(16) for low, high in zip(values[::2], values[1::2], strict=True)
                ]
        for k, value in enumerate(values):
            g.write_v(target.kind, target.index + k, value)

    def run(g: Group) -> None:
        for form, selects, part in chosen(g):
            of_part(part, form, selects)
        g.refresh()

    return run


def _store(count: int, half: str, instruction: Instruction, machine: Spaces) -> Bound:
    where, chosen = resource(instruction, machine, typed=True), _chosen(instruction)
    data = instruction.src[3]
    readers = [read_dword(data, k // 2 if half else k, instruction) for k in range(count)]
    shifts = [np.uint32(16 if half and (k % 2 or half == "high") else 0) for k in range(count)]

    def of_part(g: Group, form: BufferFormat, selects: tuple[int, ...]) -> None:
        words = [read(g) >> shift for read, shift in zip(readers, shifts, strict=True)]
        if half:
            words = [word & np.uint32(0xFFFF) for word in words]
        reach, at, packed = where(g), 0, ZERO
        active = _active(machine, g, instruction, reach, form, "write")
        for place, bits in enumerate(form.bits):
            source = next((k for k, select in enumerate(selects[:count]) if select - FIRST == place), None)
            raw = ZERO
            if source is not None and machine.content == "values":
                raw = encoded(words[source], bits, form.kind, short=bool(half))
            elif source is not None:
                raw = np.where(words[source] != 0, np.uint32((1 << bits) - 1), np.uint32(0))
            if form.packed:
                packed = packed | raw << np.uint32(at)
            elif source is not None:
                _put(machine, g, instruction, active, reach.address(at // 8), raw, bits // 8)
            at += bits
        if form.packed:
            _put(machine, g, instruction, active, reach.address(0), packed, 4)

    def run(g: Group) -> None:
        for form, selects, part in chosen(g):
            if form is not None:
                of_part(part, form, selects)

    return run


def _put(
    machine: Spaces,
    g: Group,
    instruction: Instruction,
    active: NDArray[np.bool_],
    address: NDArray[np.uint64],
    raw: U32,
    size: int,
) -> None:
    for _, part in parts(machine, g, address, active):
        store(machine, g, instruction, part, [raw], size)


for _unit in ("buffer", "tbuffer"):
    for _way, _body in (("load", _load), ("store", _store)):
        for _count, _what in enumerate(("x", "xy", "xyz", "xyzw"), 1):
            direct(f"{_unit}_{_way}_format_{_what}", "assumed")(partial(_body, _count, ""))
            _half = "low" if _count == 1 and _way == "load" else "both"
            direct(f"{_unit}_{_way}_d16_format_{_what} {_unit}_{_way}_format_d16_{_what}", "assumed")(
                partial(_body, _count, _half)
            )
    if _unit == "buffer":
        direct("buffer_load_d16_hi_format_x buffer_load_format_d16_hi_x", "assumed")(partial(_load, 1, "high"))
        direct("buffer_store_d16_hi_format_x buffer_store_format_d16_hi_x", "assumed")(partial(_store, 1, "high"))
