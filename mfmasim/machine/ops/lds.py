"""LDS loads and stores, one table. Source: CDNA3 ISA manual, DS; LLVM for the gfx11 spelling.

An address is a byte offset into the workgroup's allocation. A read outside it gives 0, a write is dropped (CDNA3 ISA
manual, LDS addressing); both are told to the listeners.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.machine.memory import Outside
from mfmasim.machine.operands import read_dword
from mfmasim.machine.ops.global_memory import Access, extend, merge
from mfmasim.machine.registry import direct

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from mfmasim.isa import Instruction
    from mfmasim.machine.state import Group

#   gfx9                     gfx11 and later     access
LOADS: tuple[tuple[str, str, Access], ...] = (
    ("ds_read_u8",           "ds_load_u8",       Access(1)),
    ("ds_read_i8",           "ds_load_i8",       Access(1, signed=True)),
    ("ds_read_u16",          "ds_load_u16",      Access(2)),
    ("ds_read_i16",          "ds_load_i16",      Access(2, signed=True)),
    ("ds_read_u16_d16",      "ds_load_u16_d16",  Access(2, half="low")),
    ("ds_read_u16_d16_hi",   "ds_load_u16_d16_hi", Access(2, half="high")),
    ("ds_read_b32",          "ds_load_b32",      Access(4)),
    ("ds_read_b64",          "ds_load_b64",      Access(8)),
    ("ds_read_b96",          "ds_load_b96",      Access(12)),
    ("ds_read_b128",         "ds_load_b128",     Access(16)),
)  # fmt: skip
STORES: tuple[tuple[str, str, Access], ...] = (
    ("ds_write_b8",          "ds_store_b8",      Access(1)),
    ("ds_write_b16",         "ds_store_b16",     Access(2)),
    ("ds_write_b16_d16_hi",  "ds_store_b16_d16_hi", Access(2, half="high")),
    ("ds_write_b32",         "ds_store_b32",     Access(4)),
    ("ds_write_b64",         "ds_store_b64",     Access(8)),
    ("ds_write_b96",         "ds_store_b96",     Access(12)),
    ("ds_write_b128",        "ds_store_b128",    Access(16)),
)  # fmt: skip
# Two accesses at offsets counted in elements: gfx9, gfx11, bytes an element, stride factor.
PAIRS: tuple[tuple[str, str, int, int], ...] = (
    ("read2_b32",      "load_2addr_b32",           4, 1),
    ("read2_b64",      "load_2addr_b64",           8, 1),
    ("read2st64_b32",  "load_2addr_stride64_b32",  4, 64),
    ("read2st64_b64",  "load_2addr_stride64_b64",  8, 64),
    ("write2_b32",     "store_2addr_b32",          4, 1),
    ("write2_b64",     "store_2addr_b64",          8, 1),
    ("write2st64_b32", "store_2addr_stride64_b32", 4, 64),
    ("write2st64_b64", "store_2addr_stride64_b64", 8, 64),
)  # fmt: skip
ACCESS = {name: access for old, new, access in LOADS + STORES for name in (old, new)}


def _inside(
    machine: Any, g: Group, address: NDArray[np.int64], size: int, instruction: Instruction, kind: str
) -> NDArray[np.bool_]:
    """Lanes that take part and stay inside the allocation; tells the listeners of those that do not."""
    inside: NDArray[np.bool_] = (address >= 0) & (address + size <= machine.launch.lds_bytes)
    active = g.active
    outside = ~inside & active
    if outside.any():
        machine.fault(instruction, g, "lds", kind, size, Outside(outside, address.astype(np.uint64)))
    return np.logical_and(inside, active)


def read(machine: Any, g: Group, address: NDArray[np.int64], size: int, inside: NDArray[np.bool_]) -> list[Any]:
    """Read `size` bytes a lane as dwords, 0 where not inside."""
    rows = np.broadcast_to(g.workgroup[:, None], inside.shape)
    safe = np.where(inside, address, 0)
    out = []
    for word in range(max(1, size // 4)):
        total = np.zeros(inside.shape, np.uint32)
        for byte in range(min(4, size)):
            total |= machine.lds[rows, safe + 4 * word + byte].astype(np.uint32) << np.uint32(8 * byte)
        out.append(np.where(inside, total, np.uint32(0)))
    return out


def write(
    machine: Any, g: Group, address: NDArray[np.int64], words: list[Any], size: int, inside: NDArray[np.bool_]
) -> None:
    """Write `size` bytes a lane where inside; of two lanes at one byte the last wins."""
    rows = np.broadcast_to(g.workgroup[:, None], inside.shape)[inside]
    place = address[inside]
    for byte in range(size):
        value = np.broadcast_to(words[byte // 4], inside.shape)[inside] >> np.uint32(8 * (byte % 4))
        machine.lds[rows, place + byte] = value.astype(np.uint8)


def _address(instruction: Instruction, offset: int) -> Callable[[Group], NDArray[np.int64]]:
    base = read_dword(instruction.src[0], 0, instruction)
    return lambda g: g.spread(base(g)).astype(np.int64) + offset


def _load(instruction: Instruction, machine: Any) -> Callable[[Group], None]:
    access = ACCESS[instruction.name]
    address = _address(instruction, instruction.modifiers.get("offset", 0))
    target = instruction.dst[0]

    def run(g: Group) -> None:
        place = address(g)
        words = read(machine, g, place, access.size, _inside(machine, g, place, access.size, instruction, "read"))
        if access.size < 4:
            words = [extend(words[0], access)]
        if access.half:
            words = [merge(g.v(target.kind, target.index), words[0], access.half)]
        for k, word in enumerate(words):
            g.write_v(target.kind, target.index + k, word)

    return run


def _store(instruction: Instruction, machine: Any) -> Callable[[Group], None]:
    access = ACCESS[instruction.name]
    address = _address(instruction, instruction.modifiers.get("offset", 0))
    readers = [read_dword(instruction.src[1], k, instruction) for k in range(max(1, access.size // 4))]

    def run(g: Group) -> None:
        place = address(g)
        words = [reader(g) for reader in readers]
        if access.half == "high":
            words = [words[0] >> np.uint32(16)]
        inside = _inside(machine, g, place, access.size, instruction, "write")
        write(machine, g, place, words, access.size, inside)

    return run


def _pair(instruction: Instruction, machine: Any) -> Callable[[Group], None]:
    word = instruction.name.removeprefix("ds_")
    _, _, size, stride = next(row for row in PAIRS if word in row[:2])
    addresses = [_address(instruction, instruction.modifiers.get(f"offset{i}", 0) * size * stride) for i in range(2)]
    per = size // 4
    if instruction.dst:
        target = instruction.dst[0]

        def load(g: Group) -> None:
            words: list[Any] = []
            for address in addresses:
                place = address(g)
                words += read(machine, g, place, size, _inside(machine, g, place, size, instruction, "read"))
            for k, value in enumerate(words):
                g.write_v(target.kind, target.index + k, value)

        return load
    data = [[read_dword(operand, k, instruction) for k in range(per)] for operand in instruction.src[1:3]]

    def store(g: Group) -> None:
        for address, readers in zip(addresses, data, strict=True):
            place = address(g)
            inside = _inside(machine, g, place, size, instruction, "write")
            write(machine, g, place, [reader(g) for reader in readers], size, inside)

    return store


direct(" ".join(name for row in LOADS for name in row[:2]))(_load)
direct(" ".join(name for row in STORES for name in row[:2]))(_store)
direct(" ".join(f"ds_{name}" for row in PAIRS for name in row[:2]))(_pair)
