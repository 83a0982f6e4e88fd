"""The tensor data mover: a wave's descriptor moves a tile between memory and the LDS.

Source: CDNA5 ISA manual, 10.11; the pieces of a tile: `mfmasim.machine.tensor`. EXEC is ignored. A descriptor that the
manual does not allow ends the launch: what the hardware would do with it is not known.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfmasim.isa import Instruction
from mfmasim.machine.binding.operands import scalar_reader
from mfmasim.machine.events.interface import Bound, Machine
from mfmasim.machine.opcodes.registry import direct
from mfmasim.machine.ops.async_lds import receivers
from mfmasim.machine.ops.lds_barrier import arrive
from mfmasim.machine.ops.spaces import Part, load, store
from mfmasim.machine.state.waves import Group
from mfmasim.machine.tensor import Descriptor, Moves, decode, moves

LDS_ADDRESS, MEMORY_LOW, MEMORY_HIGH = 1, 2, 3
"""Dwords of group 0 that only say where: waves that differ in nothing else move alike."""
HIGH = np.uint32((1 << 25) - 1)
"""Bits of an address in the last dword of group 0."""
BYTE = np.uint32(3)


@dataclass(frozen=True)
class Tiles:
    """What a group of waves moves: pieces of one size, as many for each wave as the largest tile has."""

    descriptors: list[Descriptor]
    """One, or one for each wave; their addresses are those of the registers but for the lowest bits of the LDS's."""
    size: int
    memory: NDArray[np.int64]
    """Bytes from the tile's start on, (1 or waves, pieces)."""
    lds: NDArray[np.int64]
    inside: NDArray[np.bool_]
    moved: NDArray[np.bool_]
    """Pieces that the tile has."""


@lru_cache(maxsize=4096)
def _decoded(words: tuple[int, ...]) -> Descriptor:
    return decode(words)


@lru_cache(maxsize=1024)
def _moved(words: tuple[int, ...], to_memory: bool, most: int) -> Moves:
    return moves(_decoded(words), store=to_memory, most=most)


def _tiles(words: NDArray[np.uint32], to_memory: bool) -> Tiles:
    """The tiles of some descriptors, (waves, dwords)."""
    shape = words.copy()
    shape[:, LDS_ADDRESS] &= BYTE
    shape[:, MEMORY_LOW] = 0
    shape[:, MEMORY_HIGH] &= ~HIGH
    if (shape == shape[0]).all():
        shape = shape[:1]
    keys = [tuple(row) for row in shape.tolist()]
    size = min(_moved(key, to_memory, 8).size for key in keys)
    each = [_moved(key, to_memory, size) for key in keys]
    longest = max(len(one.lds) for one in each)

    def together(rows: list[NDArray[Any]]) -> NDArray[Any]:
        return np.stack([np.pad(row, (0, longest - len(row))) for row in rows])

    return Tiles(
        [_decoded(key) for key in keys],
        size,
        together([one.memory for one in each]),
        together([one.lds for one in each]),
        together([one.inside for one in each]),
        together([np.ones(len(one.lds), np.bool_) for one in each]),
    )


def _descriptors(instruction: Instruction) -> Callable[[Group], NDArray[np.uint32]]:
    """Bind the registers of a descriptor: its dwords, (1 or waves, 20)."""
    readers = []
    for operand, count in zip(instruction.src, (4, 8, 4, 4), strict=True):
        for k in range(count):
            one = replace(operand, index=operand.index + k, count=1) if operand.kind == "s" else None
            readers.append(None if one is None else scalar_reader(one, "u32", instruction))
    zero = np.zeros(1, np.uint32)

    def read(g: Group) -> NDArray[np.uint32]:
        return np.stack(np.broadcast_arrays(*(zero if r is None else r(g) for r in readers)), axis=1)

    return read


def _tensor(to_memory: bool, instruction: Instruction, machine: Machine) -> Bound:
    """Bind a tensor instruction."""
    read = _descriptors(instruction)

    def run(g: Group) -> None:
        words = read(g)
        tiles = _tiles(words, to_memory)
        for number, descriptor in enumerate(tiles.descriptors):
            wrong = descriptor.problems(store=to_memory)
            if machine.arch.errata.tensor_multicast and descriptor.workgroup_mask:
                wrong.append(f"workgroup_mask {descriptor.workgroup_mask:#x}: {machine.arch.absent('a mask')}")
            if wrong:
                if machine.content == "values":
                    machine.stop("tensor", f"tensor descriptor: {'; '.join(wrong)}", instruction.pc, g, number)
                return
        if tiles.moved.size:
            _move(g, words, tiles)

    def _move(g: Group, words: NDArray[np.uint32], tiles: Tiles) -> None:
        high = (words[:, MEMORY_HIGH] & HIGH).astype(np.uint64) << np.uint64(32)
        base = words[:, MEMORY_LOW].astype(np.uint64) | high
        inside, moved = tiles.inside, tiles.moved
        if not to_memory:
            masks, spread = np.array([d.workgroup_mask for d in tiles.descriptors], np.uint32), _spread(g, words)
            received = receivers(machine, g, instruction, masks, lambda wave: spread[wave, MEMORY_LOW:].tobytes())
            if received is not None:
                inside, moved = inside & received[:, None], moved & received[:, None]
        memory = Part("global", base[:, None] + tiles.memory.astype(np.uint64), inside)
        shared = Part("lds", words[:, LDS_ADDRESS].astype(np.int64)[:, None] + tiles.lds, moved)
        if to_memory:
            data = load(machine, g, instruction, shared._replace(mask=inside), tiles.size)
            store(machine, g, instruction, memory, data, tiles.size)
        else:
            data = load(machine, g, instruction, memory, tiles.size)
            data = [np.where(inside, word, np.uint32(0)) for word in data]
            store(machine, g, instruction, shared, data, tiles.size)
        if any(d.iterations > 1 or d.form == "gather" for d in tiles.descriptors):
            machine.outcome.fidelity[instruction.name] = "assumed"
        if machine.content == "values" and any(d.atomic_barrier_enable for d in tiles.descriptors):
            _arrive(g, tiles)

    def _arrive(g: Group, tiles: Tiles) -> None:
        """Each wave whose descriptor says so arrives at a barrier in the LDS."""
        place = _spread(g, np.array([[d.barrier_address] for d in tiles.descriptors], np.int64))
        mask = _spread(g, np.array([[bool(d.atomic_barrier_enable) and d.count == 1] for d in tiles.descriptors]))
        arrive(machine, g, instruction, place, mask, np.ones((g.count, 1), np.uint32))

    return run


def _spread(g: Group, values: NDArray[Any]) -> NDArray[Any]:
    """Values of every wave of the group."""
    return np.broadcast_to(values, (g.count, *values.shape[1:]))


direct("tensor_load_to_lds")(partial(_tensor, False))
direct("tensor_store_from_lds")(partial(_tensor, True))
