"""LDS loads and stores, one table. Source: CDNA3 ISA manual, DS; LLVM for the gfx11 spelling.

An address is a byte offset into the workgroup's allocation. A read outside it gives 0, a write is dropped (CDNA3 ISA
manual, LDS addressing); both are reported to the observers.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from mfmasim.isa import Instruction
from mfmasim.machine.binding.operands import read_dword
from mfmasim.machine.events.interface import Bound, Spaces
from mfmasim.machine.opcodes.registry import direct
from mfmasim.machine.ops import lds_places
from mfmasim.machine.ops.data_share import load, store
from mfmasim.machine.ops.spaces import Access, Part, extend, lds_address, merge
from mfmasim.machine.state.waves import Group

#   gfx9                     gfx11 and later     access
LOADS: tuple[tuple[str, str, Access], ...] = (
    ("ds_read_u8", "ds_load_u8", Access(1)),
    ("ds_read_i8", "ds_load_i8", Access(1, signed=True)),
    ("ds_read_u16", "ds_load_u16", Access(2)),
    ("ds_read_i16", "ds_load_i16", Access(2, signed=True)),
    ("ds_read_u8_d16", "ds_load_u8_d16", Access(1, half="low")),
    ("ds_read_u8_d16_hi", "ds_load_u8_d16_hi", Access(1, half="high")),
    ("ds_read_i8_d16", "ds_load_i8_d16", Access(1, signed=True, half="low")),
    ("ds_read_i8_d16_hi", "ds_load_i8_d16_hi", Access(1, signed=True, half="high")),
    ("ds_read_u16_d16", "ds_load_u16_d16", Access(2, half="low")),
    ("ds_read_u16_d16_hi", "ds_load_u16_d16_hi", Access(2, half="high")),
    ("ds_read_b32", "ds_load_b32", Access(4)),
    ("ds_read_b64", "ds_load_b64", Access(8)),
    ("ds_read_b96", "ds_load_b96", Access(12)),
    ("ds_read_b128", "ds_load_b128", Access(16)),
)
STORES: tuple[tuple[str, str, Access], ...] = (
    ("ds_write_b8", "ds_store_b8", Access(1)),
    ("ds_write_b16", "ds_store_b16", Access(2)),
    ("ds_write_b16_d16_hi", "ds_store_b16_d16_hi", Access(2, half="high")),
    ("ds_write_b8_d16_hi", "ds_store_b8_d16_hi", Access(1, half="high")),
    ("ds_write_b32", "ds_store_b32", Access(4)),
    ("ds_write_b64", "ds_store_b64", Access(8)),
    ("ds_write_b96", "ds_store_b96", Access(12)),
    ("ds_write_b128", "ds_store_b128", Access(16)),
)
# Two accesses at offsets counted in elements: gfx9, gfx11, bytes an element, stride factor.
PAIRS: tuple[tuple[str, str, int, int], ...] = (
    ("read2_b32", "load_2addr_b32", 4, 1),
    ("read2_b64", "load_2addr_b64", 8, 1),
    ("read2st64_b32", "load_2addr_stride64_b32", 4, 64),
    ("read2st64_b64", "load_2addr_stride64_b64", 8, 64),
    ("write2_b32", "store_2addr_b32", 4, 1),
    ("write2_b64", "store_2addr_b64", 8, 1),
    ("write2st64_b32", "store_2addr_stride64_b32", 4, 64),
    ("write2st64_b64", "store_2addr_stride64_b64", 8, 64),
)


def bind_load(
    instruction: Instruction, machine: Spaces, offset: int, size: int, number: int = 0
) -> Callable[[Group], list[NDArray[np.uint32]]]:
    """Read `size` bytes per lane at the address register plus `offset`."""
    base = read_dword(instruction.src[0], 0, instruction)

    def run(g: Group) -> list[NDArray[np.uint32]]:
        places = None if instruction.in_gds else lds_places.usual(machine, g, instruction.src[0], offset, size)
        if places is None:
            return load(machine, g, instruction, Part("lds", lds_address(base(g), offset), g.mask, number), size)
        if machine.notify.accesses:
            part = Part("lds", lds_address(places.base, offset), None, number)
            machine.notify.access(instruction, g, part, "read", size)
        return lds_places.read(machine.lds, places, offset, size)

    return run


def _bind_store(
    instruction: Instruction, machine: Spaces, offset: int, size: int, number: int = 0
) -> Callable[[Group, list[NDArray[np.uint32]]], None]:
    """Write `size` bytes per lane at the address register plus `offset`."""
    base = read_dword(instruction.src[0], 0, instruction)

    def run(g: Group, words: list[NDArray[np.uint32]]) -> None:
        places = None if instruction.in_gds else lds_places.usual(machine, g, instruction.src[0], offset, size)
        if places is None:
            store(machine, g, instruction, Part("lds", lds_address(base(g), offset), g.mask, number), words, size)
            return
        if machine.notify.accesses:
            part = Part("lds", lds_address(places.base, offset), None, number)
            machine.notify.access(instruction, g, part, "write", size, words)
        lds_places.write(machine.lds, places, offset, words)

    return run


def _load(access: Access, instruction: Instruction, machine: Spaces) -> Bound:
    read = bind_load(instruction, machine, instruction.modifiers.get("offset", 0), access.size)
    target = instruction.dst[0]

    def run(g: Group) -> None:
        words = read(g)
        if access.size < 4:
            words = [extend(words[0], access)]
        if access.half:
            words = [merge(machine, g.v(target.kind, target.index), words[0], access.half)]
        for k, word in enumerate(words):
            g.write_v(target.kind, target.index + k, word)

    return run


def _store(access: Access, instruction: Instruction, machine: Spaces) -> Bound:
    write = _bind_store(instruction, machine, instruction.modifiers.get("offset", 0), access.size)
    readers = [read_dword(instruction.src[1], k, instruction) for k in range(max(1, access.size // 4))]

    def run(g: Group) -> None:
        words = [reader(g) for reader in readers]
        if access.half == "high":
            words = [words[0] >> np.uint32(16)]
        write(g, words)

    return run


def _pair(size: int, stride: int, instruction: Instruction, machine: Spaces) -> Bound:
    offsets = [instruction.modifiers.get(f"offset{i}", 0) * size * stride for i in range(2)]
    per = size // 4
    if instruction.dst:
        target = instruction.dst[0]
        reads = [bind_load(instruction, machine, offset, size, number) for number, offset in enumerate(offsets)]

        def load_both(g: Group) -> None:
            words = [word for read in reads for word in read(g)]
            for k, value in enumerate(words):
                g.write_v(target.kind, target.index + k, value)

        return load_both
    data = [[read_dword(operand, k, instruction) for k in range(per)] for operand in instruction.src[1:3]]
    writes = [_bind_store(instruction, machine, offset, size, number) for number, offset in enumerate(offsets)]

    def store_both(g: Group) -> None:
        for write, readers in zip(writes, data, strict=True):
            write(g, [reader(g) for reader in readers])

    return store_both


for _old, _new, _access in LOADS:
    direct(f"{_old} {_new}")(partial(_load, _access))
for _old, _new, _access in STORES:
    direct(f"{_old} {_new}")(partial(_store, _access))
for _old, _new, _size, _stride in PAIRS:
    direct(f"ds_{_old} ds_{_new}")(partial(_pair, _size, _stride))
