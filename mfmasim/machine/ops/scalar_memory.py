"""Scalar loads. Source: CDNA3 ISA manual, SMEM. The address is (waves,), one for the whole wave."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from mfmasim.arrays import Flags
from mfmasim.isa import Instruction
from mfmasim.machine.binding.operands import scalar_reader, scalar_writer
from mfmasim.machine.events.interface import Bound, Reader, Spaces
from mfmasim.machine.opcodes.refusal import unsupported
from mfmasim.machine.opcodes.registry import direct
from mfmasim.machine.ops.resource import scalar_extent
from mfmasim.machine.ops.spaces import Part
from mfmasim.machine.state.touched_bytes import Outside
from mfmasim.machine.state.waves import Group

# Dwords, in the spellings of gfx9 and of gfx11 and later.
LOADS = {
    "dword": 1, "dwordx2": 2, "dwordx4": 4, "dwordx8": 8, "dwordx16": 16,
    "b32": 1, "b64": 2, "b96": 3, "b128": 4, "b256": 8, "b512": 16,
}  # fmt: skip
# Parts of a dword (gfx12): bytes, and whether they are extended with their sign.
SMALL = {"u8": (1, False), "i8": (1, True), "u16": (2, False), "i16": (2, True)}


def register_offset(instruction: Instruction) -> Reader | None:
    """The SGPR among the parts of an address, if there is one, in bytes."""
    soffset = instruction.src[1]
    if soffset.kind == "s":
        read = scalar_reader(soffset, "u32", instruction)
        if instruction.modifiers.get("scale_offset"):
            scale = np.uint32(instruction.opcode.bytes)
            return lambda g: read(g) * scale
        return read
    if soffset.kind not in ("off", "imm", "null"):
        raise unsupported(instruction, f"scalar offset of kind {soffset.kind}")
    return None


def _load(count: int, unit: int, instruction: Instruction, machine: Spaces) -> Bound:
    base = scalar_reader(instruction.src[0], "u64", instruction)
    offset = np.int64(instruction.modifiers.get("offset", 0))
    register = register_offset(instruction)
    target = instruction.dst[0].index

    def run(g: Group) -> None:
        parts: list[NDArray[np.uint64]] = [base(g), np.atleast_1d(offset).astype(np.uint64)]
        if register is not None:
            parts.append(register(g).astype(np.uint64) * np.uint64(unit))
        address, low = parts[0], parts[0]
        for part in parts[1:]:
            address, low = address + part, low | part
        if (low & np.uint64(3)).any():
            misaligned = np.broadcast_to(low & np.uint64(3) != 0, address.shape).reshape(-1, 1)
            machine.notify.fault(
                instruction, g, "scalar", "misaligned read", 4 * count, Outside(misaligned, address[:, None])
            )
            # The two low bits of every part are ignored (ISA manuals, "Scalar memory: address calculation").
            address = parts[0] & ~np.uint64(3)
            for part in parts[1:]:
                address = address + (part & ~np.uint64(3))
        if machine.notify.scalars:
            machine.notify.access(instruction, g, Part("global", address[:, None], None), "read", 4 * count)
        words, outside = machine.memory.load_dwords(address, count)
        if outside is not None:
            alone = Outside(outside.mask.reshape(-1, 1), np.reshape(outside.addresses, (-1, 1)))
            machine.notify.fault(instruction, g, "scalar", "read", 4 * count, alone)
        for k, word in enumerate(words):
            g.write_s(target + k, word)

    return run


def report_negative(
    instruction: Instruction, machine: Spaces, g: Group, where: tuple[NDArray[np.uint64], NDArray[np.int64]], size: int
) -> NDArray[np.bool_]:
    """Waves whose access through a buffer resource starts before it: a memory violation, which is reported.

    Args:
        instruction: what accesses memory.
        machine: its observers are notified of the violation.
        g: the waves.
        where: base and offset, (1 or waves,) each.
        size: bytes of the access.
    """
    base, offset = np.broadcast_arrays(*where)
    below: NDArray[np.bool_] = offset < 0
    if machine.arch.buffers.negative_violates and instruction.modifiers.get("offset", 0) < 0:
        below = np.ones_like(below)
    if below.any():
        address = (base + offset.astype(np.uint64))[:, None]
        machine.notify.fault(instruction, g, "scalar", "read", size, Outside(below[:, None], address))
    return below


def _masked(inside: Flags) -> Flags | None:
    """Waves that take part in an access, (waves, 1); None is all."""
    return None if inside.all() else inside[:, None]


def _buffer_load(count: int, instruction: Instruction, machine: Spaces) -> Bound:
    """Load through a buffer resource: a dword beyond its range is 0."""
    first = instruction.src[0].index
    immediate = np.int64(instruction.modifiers.get("offset", 0))
    register = register_offset(instruction)
    target, layout = instruction.dst[0].index, machine.arch.buffers

    def run(g: Group) -> None:
        base, size = scalar_extent([g.s(first + k) for k in range(4)], layout)
        signed = immediate + (np.zeros(1, np.int64) if register is None else register(g).astype(np.int64))
        below = report_negative(instruction, machine, g, (base, signed), 4 * count)
        offset = signed.astype(np.uint64) & ~np.uint64(3)
        words = []
        for k in range(count):
            at = offset + np.uint64(4 * k)
            inside = (at < size) & ~below
            if machine.notify.scalars and inside.any():
                place = Part("global", ((base & ~np.uint64(3)) + at)[:, None], _masked(inside))
                machine.notify.access(instruction, g, place, "read", 4)
            word, outside = machine.memory.load_dwords((base & ~np.uint64(3)) + at, 1, inside)
            if outside is not None:
                out = Outside(outside.mask.reshape(-1, 1), outside.addresses.reshape(-1, 1))
                machine.notify.fault(instruction, g, "scalar", "read", 4, out)
            words.append(np.where(inside, word[0], np.uint32(0)))
        for k, value in enumerate(words):
            g.write_s(target + k, value)

    return run


for _name, _count in LOADS.items():
    direct(f"s_load_{_name}")(partial(_load, _count, 1))
    direct(f"s_buffer_load_{_name}")(partial(_buffer_load, _count))
    if _name in ("dword", "dwordx2", "dwordx4"):  # the SGPR offset counts units of 64 bytes (8.2.1.1)
        direct(f"s_scratch_load_{_name}")(partial(_load, _count, 64))


def _extended(word: NDArray[np.uint32], size: int, signed: bool) -> NDArray[np.uint32]:
    """A byte or two as a dword."""
    sign = np.uint32(1 << 8 * size - 1 if signed else 0)
    return (word ^ sign) - sign


def _small_load(size: int, signed: bool, buffer: bool, instruction: Instruction, machine: Spaces) -> Bound:
    """One or two bytes (RDNA4 ISA manual, 8.1.1 to 8.1.3); through a buffer resource 0 beyond its range."""
    first = instruction.src[0].index
    immediate = np.int64(instruction.modifiers.get("offset", 0))
    register = register_offset(instruction)
    write, layout = scalar_writer(instruction.dst[0], "u32", instruction), machine.arch.buffers
    aligned = ~np.uint64(size - 1)

    def run(g: Group) -> None:
        distance = immediate + (np.zeros(1, np.int64) if register is None else register(g).astype(np.int64))
        offset = distance.astype(np.uint64) & aligned
        inside = None
        if buffer:
            start, extent = scalar_extent([g.s(first + k) for k in range(4)], layout, size)
            inside = (offset < extent) & ~report_negative(instruction, machine, g, (start, distance), size)
        else:
            start = g.s(first) | g.s(first + 1).astype(np.uint64) << np.uint64(32)
        address = start + offset & aligned
        address, *rest = np.broadcast_arrays(address, *([] if inside is None else [inside]))
        if machine.notify.scalars and (not rest or rest[0].any()):
            place = Part("global", address[:, None], _masked(rest[0]) if rest else None)
            machine.notify.access(instruction, g, place, "read", size)
        word, outside = machine.memory.load_small(address, size, rest[0] if rest else None)
        if outside is not None:
            out = Outside(outside.mask.reshape(-1, 1), outside.addresses.reshape(-1, 1))
            machine.notify.fault(instruction, g, "scalar", "read", size, out)
        word = _extended(word, size, signed)
        write(g, np.where(rest[0], word, np.uint32(0)) if rest else word)

    return run


for _name, _row in SMALL.items():
    for _segment, _buffer in (("s_load", False), ("s_buffer_load", True)):
        direct(f"{_segment}_{_name}")(partial(_small_load, *_row, _buffer))
