"""MUBUF loads and stores through a buffer resource. Source: CDNA3 ISA manual, 9.1.5 to 9.1.8.

A lane beyond the resource's range reads 0 and stores nothing; that is what the range is for, so the listeners hear of
it as ``buffer``, apart from addresses that hit no memory. SGPR offsets count neither for the range nor for swizzling.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.machine.memory import Outside
from mfmasim.machine.operands import read_dword, scalar_reader, unsupported
from mfmasim.machine.ops.global_memory import LOAD_OF, STORE_OF, put
from mfmasim.machine.ops.spaces import Part, load, store
from mfmasim.machine.registry import direct

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from mfmasim.isa import Instruction
    from mfmasim.machine.state import Group

__all__ = ["Reach", "load_words", "resource"]

ELEMENT = np.uint64(4)
"""Bytes of a swizzled element: gfx9 has no field for it any more (assumed: what earlier drivers set)."""


@dataclass(frozen=True)
class Reach:
    """Where the lanes of a buffer access go: address of the first byte, and whether each component is in range."""

    address: Callable[[int], NDArray[np.uint64]]
    """Addresses of the component that starts at a byte, (waves, lanes)."""
    inside: Callable[[int], NDArray[np.bool_]]
    """Whether it is in range."""


def _field(words: list[NDArray[np.uint32]], low: int, width: int) -> NDArray[np.uint64]:
    """A field of the 128-bit resource, (waves, 1)."""
    word = words[low // 32] >> np.uint32(low % 32)
    return (word & np.uint32((1 << width) - 1)).astype(np.uint64)[:, None]


def resource(instruction: Instruction) -> Callable[[Group], Reach]:
    """Bind the address of a MUBUF instruction: index and offset registers, resource, SGPR offset, immediate."""
    vaddr, srsrc, soffset = instruction.src[:3]
    modifiers = instruction.modifiers
    idxen, offen = modifiers.get("idxen", 0), modifiers.get("offen", 0)
    index_of = read_dword(vaddr, 0, instruction) if idxen else None
    offset_of = read_dword(vaddr, 1 if idxen else 0, instruction) if offen else None
    immediate = np.uint64(modifiers.get("offset", 0))
    scalar = scalar_reader(soffset, "u32", instruction)
    first = srsrc.index

    def reach(g: Group) -> Reach:
        words = [g.s(first + k) for k in range(4)]
        base = _field(words, 0, 32) | _field(words, 32, 16) << np.uint64(32)
        stride, records = _field(words, 48, 14), _field(words, 64, 32)
        swizzled, add_tid = _field(words, 63, 1) != 0, _field(words, 119, 1) != 0
        stride = np.where(add_tid, stride | _field(words, 111, 4) << np.uint64(14), stride)
        group = np.uint64(8) << _field(words, 117, 2)
        given = np.zeros((1, 1), np.uint64) if index_of is None else index_of(g).astype(np.uint64)
        offset = immediate + (
            np.zeros((1, g.lanes), np.uint64) if offset_of is None else offset_of(g).astype(np.uint64)
        )
        index = given + np.where(add_tid, np.arange(g.lanes, dtype=np.uint64), np.uint64(0))
        start = base + scalar(g).astype(np.uint64)[:, None]

        def address(byte: int) -> NDArray[np.uint64]:
            at = offset + np.uint64(byte)
            linear = index * stride + at
            if not swizzled.any():
                return start + linear
            rows = (index // group * stride + at // ELEMENT * ELEMENT) * group
            return start + np.where(swizzled, rows + index % group * ELEMENT + at % ELEMENT, linear)

        def inside(byte: int) -> NDArray[np.bool_]:
            if idxen:
                structured = stride != 0
                return np.where(structured, given < records, offset + np.uint64(byte) < records)
            fine: NDArray[np.bool_] = add_tid | (offset + np.uint64(byte) < records)
            return fine

        return Reach(address, inside)

    return reach


def _clipped(
    machine: Any, g: Group, instruction: Instruction, reach: Reach, inside: NDArray[np.bool_], size: int, kind: str
) -> NDArray[np.bool_]:
    """The active lanes in range; tells the listeners of the others."""
    active = inside & g.active
    beyond = ~inside & g.active
    if beyond.any():
        machine.fault(instruction, g, "buffer", kind, size, Outside(beyond, reach.address(0)))
    return active


def load_words(machine: Any, g: Group, instruction: Instruction, reach: Reach, size: int) -> list[NDArray[np.uint32]]:
    """Read `size` bytes a lane; a dword out of range is 0, each for itself."""
    step = min(size, 4)
    words = []
    for byte in range(0, size, step):
        active = _clipped(machine, g, instruction, reach, reach.inside(byte), step, "read")
        word = load(machine, g, instruction, Part("global", reach.address(byte), active), step)[0]
        words.append(np.where(active, word, np.uint32(0)))
    return words


def _load(instruction: Instruction, machine: Any) -> Callable[[Group], None]:
    access = LOAD_OF[instruction.name.removeprefix("buffer_load_")]
    where = resource(instruction)
    if instruction.modifiers.get("lds"):
        from mfmasim.machine.ops.lds_direct import to_lds

        return to_lds(
            instruction, machine, access, lambda g: load_words(machine, g, instruction, where(g), access.size)
        )
    target = instruction.dst[0]
    return lambda g: put(g, target, load_words(machine, g, instruction, where(g), access.size), access)


def _store(instruction: Instruction, machine: Any) -> Callable[[Group], None]:
    access = STORE_OF[instruction.name.removeprefix("buffer_store_")]
    if instruction.modifiers.get("lds"):
        raise unsupported(instruction, "store from the LDS")
    where = resource(instruction)
    readers = [read_dword(instruction.src[3], k, instruction) for k in range(max(1, access.size // 4))]
    shift = np.uint32(16 if access.half == "high" else 0)
    step = min(access.size, 4)

    def run(g: Group) -> None:
        reach = where(g)
        for k, read in enumerate(readers):
            active = _clipped(machine, g, instruction, reach, reach.inside(4 * k), step, "write")
            store(machine, g, instruction, Part("global", reach.address(4 * k), active), [read(g) >> shift], step)

    return run


direct(" ".join(f"buffer_load_{name}" for name in LOAD_OF))(_load)
direct(" ".join(f"buffer_store_{name}" for name in STORE_OF))(_store)
