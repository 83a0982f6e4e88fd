"""One access of a group of waves to one of the three spaces: global memory, LDS, scratch.

Every vector memory instruction is made of these. An access outside a space is reported; then a read of
the LDS gives 0 (CDNA3 ISA manual, 3.6.1), another one poison, and a write is dropped. Where the architecture checks
parts of an LDS access (RDNA4 ISA manual, 3.3.5.1), that holds for its dwords and bytes, elsewhere for all of a lane.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mfmasim.isa import Instruction
from mfmasim.machine.events import NOWHERE, nowhere
from mfmasim.machine.events.interface import Noting, Spaces
from mfmasim.machine.events.notify import Part
from mfmasim.machine.state import private_memory
from mfmasim.machine.state.memory import POISON_DWORD
from mfmasim.machine.state.touched_bytes import Outside
from mfmasim.machine.state.waves import Group

__all__ = ["Access", "Part", "extend", "lds_address", "load", "merge", "rows_of", "store", "within"]


EVERY, NONE = np.ones((1, 1), np.bool_), np.zeros((1, 1), np.bool_)


@dataclass(frozen=True)
class Access:
    """Shape of one access: bytes per lane, sign extension, which half a 16-bit value goes to or comes from."""

    size: int
    signed: bool = False
    half: str = ""
    """"": the whole register; ``low`` or ``high``: that half; the other is `merge`'s (loads) or unused (stores)."""


def lds_address(base: NDArray[np.uint32], offset: int) -> NDArray[np.int64]:
    """Address register plus immediate, which wraps at 32 bits: compilers fold offsets onto negative bases.

    Source: LLVM, AMDGPU, ``hasUsableDSOffset``: true of every processor after gfx6.
    """
    return (base + np.uint32(offset)).astype(np.int64)


def extend(word: NDArray[np.uint32], access: Access) -> NDArray[np.uint32]:
    """Sign-extend a loaded byte or word to 32 bits where the access requires it."""
    if not access.signed:
        return word
    bits = 8 * access.size
    shift = np.int32(32 - bits)
    return ((word << shift.astype(np.uint32)).view(np.int32) >> shift).view(np.uint32)


def merge(machine: Spaces, old: NDArray[np.uint32], word: NDArray[np.uint32], half: str) -> NDArray[np.uint32]:
    """Put a 16-bit value that was loaded into one half of a register.

    The other half is kept; with SRAM ECC, which is computed for whole registers, it becomes zero.
    Source: LLVM, ``d16PreservesUnusedBits``; hipBLASLt's kernels (``HasEccHalf``) depend on the zeroes.
    """
    new = word & np.uint32(0xFFFF) if half == "low" else word << np.uint32(16)
    if machine.kernel.code.object.sram_ecc:
        return new
    return (old & np.uint32(0xFFFF0000 if half == "low" else 0xFFFF)) | new


def rows_of(machine: Spaces, g: Group, space: str) -> tuple[NDArray[np.uint8], NDArray[np.int64], int]:
    """The bytes of a private space, the row of each lane, and the bytes that a row may use."""
    if space == "lds":
        return machine.lds, g.workgroup[:, None], machine.launch.lds_bytes
    rows = g.indices()[:, None] * g.lanes + np.arange(g.lanes)
    return machine.scratch, rows, machine.launch.scratch_bytes


def within(
    machine: Spaces, g: Group, instruction: Instruction, part: Part, size: int, kind: str, limit: int
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Lanes that take part and stay inside a private space, and those that do not; the latter are reported."""
    if part.mask is None and part.address.min() >= 0 and part.address.max() + size <= limit:
        return EVERY, NONE
    inside = (part.address >= 0) & (part.address + size <= limit)
    if part.mask is None and inside.all():
        return inside, ~inside
    active = part.mask if part.mask is not None else np.ones((1, g.lanes), np.bool_)
    outside = ~inside & active
    if outside.any():
        machine.notify.fault(instruction, g, part.space, kind, size, Outside(outside, part.address.astype(np.uint64)))
    return inside & active, outside


def load(machine: Spaces, g: Group, instruction: Instruction, part: Part, size: int) -> list[NDArray[np.uint32]]:
    """Read `size` bytes per lane: dwords, or one word with a byte or 16 bits."""
    words: list[NDArray[np.uint32]]
    if isinstance(machine, Noting):
        return machine.load(instruction, part, size)
    if machine.notify.accesses:
        machine.notify.access(instruction, g, part, "read", size)
    if part.space == "global":
        if size < 4:
            word, outside = machine.memory.load_small(part.address, size, part.mask)
            words = [word]
        else:
            words, outside = machine.memory.load_dwords(part.address, size // 4, part.mask)
        if outside is not None:
            machine.notify.fault(instruction, g, "global", "read", size, outside)
        return words
    rows, row, limit = rows_of(machine, g, part.space)
    inside, beyond = within(machine, g, instruction, part, size, "read", limit)
    words = private_memory.read(rows, row, part.address, size, inside)
    if part.space == "scratch" and beyond.any():
        poison = np.uint32(POISON_DWORD & ((1 << 8 * min(size, 4)) - 1))
        words = [np.where(beyond, poison, word) for word in words]
    elif size > 4 and machine.arch.lds_parts and beyond.any():
        words = [
            private_memory.read(rows, row, part.address + at, 4, _fits(part.address + at, 4, limit, inside | beyond))[0]
            for at in range(0, size, 4)
        ]
    return words


def _fits(address: NDArray[np.int64], size: int, limit: int, active: NDArray[np.bool_]) -> NDArray[np.bool_]:
    return (address >= 0) & (address + size <= limit) & active


def _reaching(part: Part) -> Part:
    """The lanes of a write that are not masked off by their address in the LDS."""
    if part.space != "lds" or part.address.max() < NOWHERE:
        return part
    reach = ~nowhere(part.address)
    return Part(part.space, part.address, reach if part.mask is None else reach & part.mask, part.number)


def store(
    machine: Spaces, g: Group, instruction: Instruction, part: Part, words: list[NDArray[np.uint32]], size: int
) -> None:
    """Write `size` bytes per lane."""
    if isinstance(machine, Noting):
        machine.store(instruction, part, words, size)
        return
    if machine.notify.accesses:
        machine.notify.access(instruction, g, _reaching(part), "write", size, words)
    if part.space == "global":
        outside = machine.memory.store(part.address, words, size, part.mask)
        if outside is not None:
            machine.notify.fault(instruction, g, "global", "write", size, outside)
        return
    rows, row, limit = rows_of(machine, g, part.space)
    inside, beyond = within(machine, g, instruction, part, size, "write", limit)
    if part.space == "lds" and machine.arch.lds_parts and beyond.any():
        for at in range(size):
            octet = [words[at // 4] >> np.uint32(8 * (at % 4))]
            fits = _fits(part.address + at, 1, limit, inside | beyond)
            private_memory.write(rows, row, part.address + at, octet, 1, fits)
        return
    private_memory.write(rows, row, part.address, words, size, inside)
