"""Global loads and stores, one table. Source: CDNA3 ISA manual, FLAT/GLOBAL; LLVM for the gfx11 spelling.

The cache bits (sc0, sc1, nt; glc, slc, dlc; th, scope) do not change a value that one device reads or writes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.machine.operands import read_dword, scalar_reader, unsupported
from mfmasim.machine.registry import direct

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from mfmasim.isa import Instruction
    from mfmasim.machine.state import Group


@dataclass(frozen=True)
class Access:
    """Shape of one access: bytes a lane, sign extension, which half a 16-bit value goes to or comes from."""

    size: int
    signed: bool = False
    half: str = ""
    """"": the whole register; ``low`` or ``high``: that half, the other kept (loads) or unused (stores)."""


#   mnemonic (gfx9)                      gfx11 and later            access
LOADS: tuple[tuple[str, str, Access], ...] = (
    ("global_load_ubyte",                "global_load_u8",          Access(1)),
    ("global_load_sbyte",                "global_load_i8",          Access(1, signed=True)),
    ("global_load_ushort",               "global_load_u16",         Access(2)),
    ("global_load_sshort",               "global_load_i16",         Access(2, signed=True)),
    ("global_load_dword",                "global_load_b32",         Access(4)),
    ("global_load_dwordx2",              "global_load_b64",         Access(8)),
    ("global_load_dwordx3",              "global_load_b96",         Access(12)),
    ("global_load_dwordx4",              "global_load_b128",        Access(16)),
    ("global_load_ubyte_d16",            "global_load_d16_u8",      Access(1, half="low")),
    ("global_load_ubyte_d16_hi",         "global_load_d16_hi_u8",   Access(1, half="high")),
    ("global_load_sbyte_d16",            "global_load_d16_i8",      Access(1, signed=True, half="low")),
    ("global_load_sbyte_d16_hi",         "global_load_d16_hi_i8",   Access(1, signed=True, half="high")),
    ("global_load_short_d16",            "global_load_d16_b16",     Access(2, half="low")),
    ("global_load_short_d16_hi",         "global_load_d16_hi_b16",  Access(2, half="high")),
)  # fmt: skip
STORES: tuple[tuple[str, str, Access], ...] = (
    ("global_store_byte",                "global_store_b8",         Access(1)),
    ("global_store_byte_d16_hi",         "global_store_d16_hi_b8",  Access(1, half="high")),
    ("global_store_short",               "global_store_b16",        Access(2)),
    ("global_store_short_d16_hi",        "global_store_d16_hi_b16", Access(2, half="high")),
    ("global_store_dword",               "global_store_b32",        Access(4)),
    ("global_store_dwordx2",             "global_store_b64",        Access(8)),
    ("global_store_dwordx3",             "global_store_b96",        Access(12)),
    ("global_store_dwordx4",             "global_store_b128",       Access(16)),
)  # fmt: skip
ACCESS = {name: access for old, new, access in LOADS + STORES for name in (old, new)}


def _address(instruction: Instruction) -> Callable[[Group], NDArray[np.uint64]]:
    """Address per lane: a 64-bit VGPR pair, or a scalar base plus a 32-bit VGPR offset; plus the immediate."""
    vaddr, saddr = instruction.src[:2]
    offset = np.int64(instruction.modifiers.get("offset", 0)).astype(np.uint64)
    low = read_dword(vaddr, 0, instruction)
    up = np.uint64(32)
    if saddr.kind == "s":
        base = scalar_reader(saddr, "u64", instruction)
        return lambda g: (base(g) + offset)[:, None] + low(g)
    high = read_dword(vaddr, 1, instruction)
    return lambda g: (low(g).astype(np.uint64) | (high(g).astype(np.uint64) << up)) + offset


def extend(word: NDArray[np.uint32], access: Access) -> NDArray[np.uint32]:
    """Sign-extend a loaded byte or word to 32 bits where the access asks for it."""
    if not access.signed:
        return word
    bits = 8 * access.size
    shift = np.int32(32 - bits)
    return ((word << shift.astype(np.uint32)).view(np.int32) >> shift).view(np.uint32)


def merge(old: NDArray[np.uint32], word: NDArray[np.uint32], half: str) -> NDArray[np.uint32]:
    """Put a 16-bit value into one half of a register and keep the other."""
    if half == "low":
        return (old & np.uint32(0xFFFF0000)) | (word & np.uint32(0xFFFF))
    return (old & np.uint32(0xFFFF)) | (word << np.uint32(16))


def _load(instruction: Instruction, machine: Any) -> Callable[[Group], None]:
    access = ACCESS[instruction.name]
    address = _address(instruction)
    target = instruction.dst[0]
    if target.kind not in "va":
        raise unsupported(instruction, "load into a scalar")

    def run(g: Group) -> None:
        if access.size < 4:
            word, outside = machine.memory.load_small(address(g), access.size, g.mask)
            words = [extend(word, access)]
            if access.half:
                words = [merge(g.v(target.kind, target.index), words[0], access.half)]
        else:
            words, outside = machine.memory.load_dwords(address(g), access.size // 4, g.mask)
        if outside is not None:
            machine.fault(instruction, g, "global", "read", access.size, outside)
        for k, word in enumerate(words):
            g.write_v(target.kind, target.index + k, word)

    return run


def _store(instruction: Instruction, machine: Any) -> Callable[[Group], None]:
    access = ACCESS[instruction.name]
    address = _address(instruction)
    data = instruction.src[2]
    readers = [read_dword(data, k, instruction) for k in range(max(1, access.size // 4))]

    def run(g: Group) -> None:
        words = [read(g) for read in readers]
        if access.half == "high":
            words = [words[0] >> np.uint32(16)]
        outside = machine.memory.store(address(g), words, access.size, g.mask)
        if outside is not None:
            machine.fault(instruction, g, "global", "write", access.size, outside)

    return run


direct(" ".join(name for row in LOADS for name in row[:2]))(_load)
direct(" ".join(name for row in STORES for name in row[:2]))(_store)
