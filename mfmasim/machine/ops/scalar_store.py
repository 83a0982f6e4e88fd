"""Scalar stores and atomics, and scalar accesses to scratch. Source: CDNA3 ISA manual, 8.2.1 and 8.2.2; Vega's, SMEM.

Each wave makes one access, whatever EXEC holds. The two low bits of every part of an address are ignored. Through a
buffer resource a dword beyond the range is not stored, and an atomic beyond it does nothing and returns 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from mfmasim.arrays import U64
from mfmasim.isa import Instruction
from mfmasim.machine.binding.operands import read_dword, scalar_reader
from mfmasim.machine.events.interface import Bound, Spaces
from mfmasim.machine.numerics.float_mode import float_mode
from mfmasim.machine.opcodes.registry import direct
from mfmasim.machine.ops.atomic import PLAIN, Atomic
from mfmasim.machine.ops.atomic_table import MEMORY, OPERATIONS, AtomicOperation
from mfmasim.machine.ops.resource import scalar_extent
from mfmasim.machine.ops.scalar_memory import register_offset
from mfmasim.machine.ops.spaces import Part
from mfmasim.machine.state.touched_bytes import Outside
from mfmasim.machine.state.waves import Group

DWORD = ~np.uint64(3)
EVERY = np.ones((1, 1), np.bool_)


@dataclass(frozen=True)
class _Where:
    """Addresses of a scalar access."""

    address: U64
    """Of its first byte, (1 or waves, 1)."""
    offset: U64
    """Bytes from the start of the buffer, in the same shape."""
    size: U64 | None
    """Bytes of the buffer; None without a resource."""

    def inside(self, byte: int) -> NDArray[np.bool_]:
        """Whether the dword that starts `byte` bytes on is in range."""
        if self.size is None:
            return EVERY
        fine: NDArray[np.bool_] = self.offset + np.uint64(byte) < self.size
        return fine


def _address(instruction: Instruction, machine: Spaces, unit: int) -> Callable[[Group], _Where]:
    """Base and offsets; the SGPR among the offsets counts units of `unit` bytes."""
    base = instruction.src[0]
    first, buffer = base.index, base.count == 4
    low = scalar_reader(base, "u64", instruction) if not buffer else None
    immediate = np.int64(instruction.modifiers.get("offset", 0)).astype(np.uint64) & DWORD
    register = register_offset(instruction)

    def where(g: Group) -> _Where:
        offset = np.zeros(1, np.uint64) if register is None else register(g).astype(np.uint64) * np.uint64(unit)
        offset = immediate + (offset & DWORD)
        if low is not None:
            start, size = low(g), None
        else:
            start, extent = scalar_extent([g.s(first + k) for k in range(4)], machine.arch.buffers)
            size = extent[:, None]
        if (start & ~DWORD).any():
            bad = (start & ~DWORD != 0)[:, None]
            machine.notify.fault(instruction, g, "scalar", "misaligned write", 4, Outside(bad, start[:, None]))
        address, offset = np.broadcast_arrays((start & DWORD) + offset, offset)
        if size is not None:  # before the buffer: out of range in every dword, also where adding to it wraps around
            offset = np.where(offset >> np.uint64(63) != 0, np.uint64(1 << 62), offset)
        return _Where(address[:, None], offset[:, None], size)

    return where


def _store(unit: int, instruction: Instruction, machine: Spaces) -> Bound:
    where, data = _address(instruction, machine, unit), instruction.src[2]
    # A plane of undefined bits hands the data over in vector registers, whose lanes are then equal.
    readers = [read_dword(data, k, instruction) for k in range(data.count)]

    def run(g: Group) -> None:
        place = where(g)
        whole = place.size is None
        words = [read(g)[:, :1] for read in readers]
        if whole and machine.notify.scalars:
            machine.notify.access(instruction, g, Part("global", place.address, None), "write", 4 * len(words), words)
        for k, word in enumerate(words):
            address, inside = place.address + np.uint64(4 * k), place.inside(4 * k)
            if not whole and inside.any() and machine.notify.scalars:
                machine.notify.access(instruction, g, Part("global", address, inside), "write", 4, [word])
            if not inside.all():
                machine.notify.fault(instruction, g, "buffer", "write", 4, Outside(~inside, address))
            outside = machine.memory.store(address, [word], 4, None if whole else inside)
            if outside is not None:
                machine.notify.fault(instruction, g, "scalar", "write", 4, outside)

    return run


class ScalarAtomic(Atomic):
    """One access of a wave, in place of one of each lane."""

    def shape(self, g: Group) -> tuple[int, int]:
        """Waves, and one column."""
        return g.count, 1

    def finish(self, g: Group, words: list[NDArray[np.uint32]]) -> None:
        """Return the old value to SGPRs."""
        if self.target is not None:
            for k, word in enumerate(words):
                g.write_s(self.target.index + k, word[:, 0])


def _atomic(operation: AtomicOperation, instruction: Instruction, machine: Spaces) -> Bound:
    data, parts = instruction.src[2], np.dtype(operation.kind).itemsize // 4
    atomic = ScalarAtomic(instruction, machine, operation, [(data, k) for k in range(0, data.count, parts)])
    where, mode = _address(instruction, machine, 1), float_mode(PLAIN, machine.arch.floats)

    def run(g: Group) -> None:
        place = where(g)
        inside = place.inside(atomic.size - 4)
        if not inside.all():
            machine.notify.fault(instruction, g, "buffer", "write", atomic.size, Outside(~inside, place.address))
        words = atomic.run(g, Part("global", place.address, inside), mode)
        atomic.finish(g, [np.where(inside, word, np.uint32(0)) for word in words])

    return run


for _what in ("dword", "dwordx2", "dwordx4"):
    direct(f"s_store_{_what} s_buffer_store_{_what}")(partial(_store, 1))
    direct(f"s_scratch_store_{_what}")(partial(_store, 64))
for _old, *_ in MEMORY:
    for _name in (_old, f"{_old}_x2"):
        direct(f"s_atomic_{_name} s_buffer_atomic_{_name}")(partial(_atomic, OPERATIONS["memory"][_name]))
