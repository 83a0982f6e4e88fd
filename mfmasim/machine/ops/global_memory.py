"""GLOBAL, SCRATCH and FLAT loads and stores, one table.

Source: CDNA3 ISA manual, chapter 10; CDNA5 ISA manual, 10.2 (scaled offsets); LLVM for gfx11 names.

The cache bits (sc0, sc1, nt; glc, slc, dlc; th, scope) do not change a value that one device reads or writes.
Accesses need not be aligned: the runtime switches the hardware's unaligned mode on.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.architectures import arch as find_arch
from mfmasim.kernels import PerKernel
from mfmasim.machine.binding.operands import read_dword, scalar_reader
from mfmasim.machine.opcodes.refusal import unsupported
from mfmasim.machine.opcodes.registry import direct
from mfmasim.machine.ops.spaces import Access, Part, extend, load, merge, store
from mfmasim.machine.state.memory import PRIVATE_BASE, SHARED_BASE

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from mfmasim.isa import Instruction, Operand
    from mfmasim.machine.events.interface import Bound, Spaces
    from mfmasim.machine.state.waves import Group

    Addresses = Callable[[Group], NDArray[Any]]
    Resolver = Callable[[Group], list[Part]]
    Resolve = Callable[[Instruction], Resolver]

#   gfx9                gfx11 and later    access
LOADS: tuple[tuple[str, str, Access], ...] = (
    ("ubyte", "u8", Access(1)),
    ("sbyte", "i8", Access(1, signed=True)),
    ("ushort", "u16", Access(2)),
    ("sshort", "i16", Access(2, signed=True)),
    ("dword", "b32", Access(4)),
    ("dwordx2", "b64", Access(8)),
    ("dwordx3", "b96", Access(12)),
    ("dwordx4", "b128", Access(16)),
    ("ubyte_d16", "d16_u8", Access(1, half="low")),
    ("ubyte_d16_hi", "d16_hi_u8", Access(1, half="high")),
    ("sbyte_d16", "d16_i8", Access(1, signed=True, half="low")),
    ("sbyte_d16_hi", "d16_hi_i8", Access(1, signed=True, half="high")),
    ("short_d16", "d16_b16", Access(2, half="low")),
    ("short_d16_hi", "d16_hi_b16", Access(2, half="high")),
)
STORES: tuple[tuple[str, str, Access], ...] = (
    ("byte", "b8", Access(1)),
    ("byte_d16_hi", "d16_hi_b8", Access(1, half="high")),
    ("short", "b16", Access(2)),
    ("short_d16_hi", "d16_hi_b16", Access(2, half="high")),
    ("dword", "b32", Access(4)),
    ("dwordx2", "b64", Access(8)),
    ("dwordx3", "b96", Access(12)),
    ("dwordx4", "b128", Access(16)),
)
MONITORING = {"monitor_b32": Access(4), "monitor_b64": Access(8), "monitor_b128": Access(16)}
"""Loads of FLAT and GLOBAL after which a store to the line may wake the wave; without that hardware plain loads (CDNA5
ISA manual, GLOBAL_LOAD_MONITOR_B32)."""
LOW32, UP32 = np.uint64(0xFFFFFFFF), np.uint64(32)


def scale_of(instruction: Instruction) -> int:
    """What the register with the offset counts: bytes, or elements of the access."""
    if not instruction.modifiers.get("scale_offset"):
        return 1
    if not instruction.opcode.bytes:
        raise unsupported(instruction, "scale_offset, as it has no size of an element")
    return instruction.opcode.bytes


def pointer(instruction: Instruction) -> Addresses:
    """Address per lane: a 64-bit VGPR pair, or a scalar base plus a 32-bit VGPR offset; plus the immediate."""
    vaddr, saddr = instruction.src[:2]
    offset = np.int64(instruction.modifiers.get("offset", 0)).astype(np.uint64)
    low = read_dword(vaddr, 0, instruction)
    if saddr.kind == "s":
        base = scalar_reader(saddr, "u64", instruction)
        if find_arch(instruction.arch).signed_lane_offsets:
            scale = np.int64(scale_of(instruction))
            return lambda g: (base(g) + offset)[:, None] + (low(g).view(np.int32) * scale).astype(np.uint64)
        return lambda g: (base(g) + offset)[:, None] + low(g)
    high = read_dword(vaddr, 1, instruction)
    return lambda g: (low(g).astype(np.uint64) | (high(g).astype(np.uint64) << UP32)) + offset


def _global(instruction: Instruction) -> Resolver:
    address = pointer(instruction)
    return lambda g: [Part("global", address(g), g.mask)]


def _scratch(instruction: Instruction) -> Resolver:
    """Byte offset into the lane's scratch: SGPR and VGPR offset, where present, and the immediate."""
    vaddr, saddr = instruction.src[:2]
    offset = np.array([[instruction.modifiers.get("offset", 0)]], np.int64)
    vector = None if vaddr.kind == "off" else read_dword(vaddr, 0, instruction)
    base = None if saddr.kind == "off" else scalar_reader(saddr, "u32", instruction)
    scale = np.uint32(scale_of(instruction))

    def parts(g: Group) -> list[Part]:
        # Registers are 32 bits and wrap; a negative sum with the immediate lies before the allocation.
        total = np.zeros((1, 1), np.uint32)
        if vector is not None:
            total = total + np.multiply(vector(g), scale, dtype=np.uint32)
        if base is not None:
            total = total + base(g)[:, None]
        address = np.broadcast_to(total.view(np.int32).astype(np.int64) + offset, (len(total), g.lanes))
        return [Part("scratch", address, g.mask)]

    return parts


def _flat(instruction: Instruction) -> Resolver:
    """An address whose upper half names the LDS or scratch aperture accesses that space, others global memory."""
    address = pointer(instruction)

    def parts(g: Group) -> list[Part]:
        where = address(g)
        shared = where >> UP32 == SHARED_BASE >> 32
        private = where >> UP32 == PRIVATE_BASE >> 32
        if not (shared | private).any():
            return [Part("global", where, g.mask)]
        active = g.active
        near = (where & LOW32).astype(np.int64)
        chosen = (("lds", near, shared), ("scratch", near, private), ("global", where, ~(shared | private)))
        return [Part(space, place, mask & active) for space, place, mask in chosen if (mask & active).any()]

    return parts


RESOLVERS: dict[str, Resolve] = {"global": _global, "scratch": _scratch, "flat": _flat}


def put(machine: Spaces, g: Group, target: Operand, words: list[NDArray[np.uint32]], access: Access) -> None:
    """Write what was loaded into the destination registers."""
    if access.size < 4:
        words = [extend(words[0], access)]
    if access.half:
        words = [merge(machine, g.v(target.kind, target.index), words[0], access.half)]
    for k, word in enumerate(words):
        g.write_v(target.kind, target.index + k, word)


ADDRESSES: PerKernel[dict[tuple[int, tuple[int, ...]], Resolver]] = PerKernel(lambda _: {})
"""What finds the addresses of an instruction, by its address and registers."""


def _memoised(resolver: Resolve, instruction: Instruction, machine: Spaces) -> Resolver:
    """What finds the addresses of an instruction, which needs no machine: memoised for further launches."""
    table = ADDRESSES.of(machine.kernel)
    key = instruction.pc, instruction.numbers
    found = table.get(key)
    if found is None:
        found = table[key] = resolver(instruction)
    return found


def _load(resolver: Resolve, access: Access, instruction: Instruction, machine: Spaces) -> Bound:
    if not instruction.dst:
        raise unsupported(instruction, "load into the LDS")
    resolve = _memoised(resolver, instruction, machine)
    target = instruction.dst[0]

    def run(g: Group) -> None:
        parts = resolve(g)
        if not parts:
            return
        words = load(machine, g, instruction, parts[0], access.size)
        for part in parts[1:]:
            mask = g.active if part.mask is None else part.mask
            others = load(machine, g, instruction, part, access.size)
            words = [np.where(mask, other, word) for other, word in zip(others, words, strict=True)]
        put(machine, g, target, words, access)

    return run


def _store(resolver: Resolve, access: Access, instruction: Instruction, machine: Spaces) -> Bound:
    resolve = _memoised(resolver, instruction, machine)
    readers = [read_dword(instruction.src[2], k, instruction) for k in range(max(1, access.size // 4))]

    def run(g: Group) -> None:
        words = [read(g) for read in readers]
        if access.half == "high":
            words = [words[0] >> np.uint32(16)]
        for part in resolve(g):
            store(machine, g, instruction, part, words, access.size)

    return run


for _segment, _resolver in RESOLVERS.items():
    for *_names, _access in LOADS:
        _spelled = " ".join(f"{_segment}_load_{_name}" for _name in _names)
        direct(_spelled)(partial(_load, _resolver, _access))
    for *_names, _access in STORES:
        _spelled = " ".join(f"{_segment}_store_{_name}" for _name in _names)
        direct(_spelled)(partial(_store, _resolver, _access))
for _segment in ("flat", "global"):
    for _name, _access in MONITORING.items():
        direct(f"{_segment}_load_{_name}")(partial(_load, RESOLVERS[_segment], _access))
