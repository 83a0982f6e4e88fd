"""Regions: blocks of register instructions around a loop, compiled to one C function.

Blocks are those that the machine has executed already: a region ends where the code goes on to another one, at an
instruction that cannot be traced, and at the address of anything else than registers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from mfmasim.machine.native.driver import MASKS, Steps, driver
from mfmasim.machine.native.effects import short_way, traced
from mfmasim.machine.native.loops import PRELUDE
from mfmasim.machine.native.memory import TEXT as MEMORY
from mfmasim.machine.native.nodes import UntraceableError
from mfmasim.machine.native.text import Registers, condition_text, instruction_text
from mfmasim.toolchain.native import library_of

if TYPE_CHECKING:
    import ctypes
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from mfmasim.isa import Instruction
    from mfmasim.kernels import Kernel
    from mfmasim.machine.native.effects import Access
    from mfmasim.machine.numerics.float_mode import FloatMode


class Extent(Protocol):
    """Of a block what a region consists of."""

    @property
    def first(self) -> int:
        """Its address."""

    @property
    def size(self) -> int:
        """Instructions that are executed."""

    @property
    def after(self) -> NDArray[np.int64]:
        """Address of what follows, (1,)."""

    @property
    def instructions(self) -> list[Instruction]:
        """Those that are executed."""


@dataclass(frozen=True)
class Piece:
    """A block whose instructions were traced; it outlives the launch, whose blocks it does not hold."""

    first: int
    size: int
    after: int
    instructions: Sequence[Instruction]
    targets: tuple[int, ...]
    """Addresses of what may follow."""
    stores: tuple[Access, ...]
    """What it writes to memory: its parts end with them, but the last one."""
    spaces: frozenset[str]
    """Spaces of memory that it accesses."""
    barrier: bool
    """Whether it ends with a barrier."""


@dataclass(frozen=True, eq=False)
class Region:
    """Blocks that one C function executes."""

    pieces: tuple[Piece, ...]
    """In the order of addresses."""
    addresses: tuple[int, ...]
    """Of the blocks and of what may follow them, ascending: a place in it is what C knows of an address."""
    sizes: tuple[int, ...]
    """Instructions of the block at each address; 0 where the region ends."""
    registers: Registers
    lanes: int
    library: ctypes.CDLL

    @cached_property
    def spaces(self) -> frozenset[str]:
        """Spaces of memory that it accesses."""
        return frozenset().union(*(piece.spaces for piece in self.pieces))

    @cached_property
    def stored(self) -> int:
        """Bytes per lane that the stores of a block write at most."""
        return max((sum(store.size for store in piece.stores) for piece in self.pieces), default=0)

    @cached_property
    def storing(self) -> frozenset[int]:
        """Places of the blocks that write to memory."""
        return frozenset(self.addresses.index(piece.first) for piece in self.pieces if piece.stores)

    @cached_property
    def barriers(self) -> frozenset[int]:
        """Places of the blocks that end with a barrier."""
        return frozenset(self.addresses.index(piece.first) for piece in self.pieces if piece.barrier)

    def fits(self, blocks: Mapping[tuple[int, int], Extent]) -> NDArray[np.uint8]:
        """Which blocks a launch has in the same extents: those that it has not executed yet it decodes itself first.

        Args:
            blocks: those of the launch, by address and mode.
        """
        found = np.zeros(len(self.addresses), np.uint8)
        for piece in self.pieces:
            there = blocks.get((piece.first, 0))
            alike = there is not None and (there.size, int(there.after[0])) == (piece.size, piece.after)
            found[self.addresses.index(piece.first)] = alike
        return found


def _piece(
    block: Extent, kernel: Kernel, mode: FloatMode, registers: Registers, lines: dict[int, list[list[str]]]
) -> Piece:
    """Trace a block and add its text.

    Raises:
        UntraceableError: one of its instructions is no part of a region.
    """
    text: list[list[str]] = [[]]
    stores: list[Access] = []
    spaces: set[str] = set()
    barrier = False
    end = ""
    targets: tuple[int, ...] = (int(block.after[0]),)
    for place, ins in enumerate(block.instructions):
        effects = traced(ins, kernel, mode)
        short = short_way(ins, kernel, mode)
        spaces.update(access.space for access in (*effects.loads, *effects.stores))
        for number in range(max(1, len(effects.stores))):
            one = replace(effects, stores=effects.stores[number : number + 1])
            text[-1] += ["{", *instruction_text(one, registers, kernel.wave, short), "}"]
            if one.stores:
                stores += one.stores
                text[-1].append("return 0;")
                text.append([])
        barrier |= effects.barrier
        if (effects.target is not None or effects.barrier) and place != block.size - 1:
            raise UntraceableError("a jump or barrier within a block")
        if effects.target is not None:
            condition, yes, no = effects.target
            targets = (yes, no)
            if condition is None:
                targets = (yes,)
            else:
                before, test = condition_text(condition, registers, kernel.wave)
                text[-1] += before
                end = f"return {test} ? AT({yes}) : AT({no});"
    text[-1].append(end or f"return AT({targets[0]});")
    lines[block.first] = text
    after = int(block.after[0])
    return Piece(block.first, block.size, after, block.instructions, targets, tuple(stores), frozenset(spaces), barrier)


def pieces_from(
    entry: Extent,
    blocks: Mapping[tuple[int, int], Extent],
    kernel: Kernel,
    mode: FloatMode,
    usable: Callable[[Any], bool],
) -> tuple[dict[int, Piece], Registers, dict[int, list[list[str]]]]:
    """The blocks that can be reached from one through blocks that can be traced.

    Args:
        entry: where to begin.
        blocks: those of the launch, by address and mode.
        kernel: whose they are.
        mode: what waves have in MODE.
        usable: whether a block may be part of a region.
    """
    registers = Registers()
    lines: dict[int, list[list[str]]] = {}
    found: dict[int, Piece] = {}
    todo = [entry.first]
    while todo:
        address = todo.pop()
        block = blocks.get((address, 0))
        if address in found or block is None or not usable(block):
            continue
        trial = Registers(dict(registers.vectors), dict(registers.scalars), set(registers.written))
        try:
            piece = _piece(block, kernel, mode, trial, lines)
        except UntraceableError:
            continue
        registers = trial
        found[address] = piece
        todo += piece.targets
    return found, registers, lines


def goes_round(targets: Mapping[int, Sequence[int]], first: int) -> bool:
    """Whether a block leads back to itself, or to one that does.

    Args:
        targets: what may follow each block, by address.
        first: address of the block.
    """
    reached, todo = {first}, [first]
    while todo:
        more = {target for target in targets.get(todo.pop(), ()) if target in targets} - reached
        reached |= more
        todo += more
    left = {address: {target for target in targets[address] if target in reached} for address in reached}
    while ends := [address for address, after in left.items() if not after]:
        left = {address: after.difference(ends) for address, after in left.items() if address not in ends}
    return bool(left)


def _after(block: Extent) -> tuple[int, ...]:
    """What may follow a block, without a look at what its instructions compute."""
    last, after = block.instructions[-1], int(block.after[0])
    if last.target is None:
        return (after,)
    return (last.target,) if last.opcode.flow == "branch" else (last.target, after)


def region_text(
    pieces: Mapping[int, Piece], registers: Registers, lines: Mapping[int, Sequence[Sequence[str]]], lanes: int
) -> tuple[str, tuple[int, ...], tuple[int, ...]]:
    """The C file of a region, the addresses that it knows, and the sizes of the blocks there.

    Args:
        pieces: its blocks, by address.
        registers: what they access.
        lines: the text of each.
        lanes: of a wave.
    """
    addresses = tuple(sorted({*pieces, *(target for piece in pieces.values() for target in piece.targets)}))
    place = {address: number for number, address in enumerate(addresses)}
    sizes = [pieces[address].size if address in pieces else 0 for address in addresses]
    text = [PRELUDE, MASKS, MEMORY]
    for address, piece in pieces.items():
        for number, part in enumerate(lines[address]):
            body = "\n".join(part)
            for target in piece.targets:
                body = body.replace(f"AT({target})", str(place[target]))
            name = f"block{place[address]}_{number}"
            head = f"IN int {name}(u32 *restrict s, u32 *restrict v, u32 *restrict act, i64 *restrict m, const i64 w)"
            text.append(f"{head} {{\n(void)s, (void)v, (void)act, (void)m, (void)w;\n{body}\n}}")
    blocks = [
        Steps(
            sizes[number],
            [one.size for one in pieces[address].stores],
            bool(pieces[address].spaces),
            pieces[address].barrier,
        )
        if address in pieces
        else Steps(0, [], memory=False, barrier=False)
        for number, address in enumerate(addresses)
    ]
    text.append(driver(lanes, len(registers.scalars), len(registers.vectors), blocks))
    return "\n".join(text), addresses, tuple(sizes)


def region_at(
    entry: Extent,
    blocks: Mapping[tuple[int, int], Extent],
    kernel: Kernel,
    mode: FloatMode,
    usable: Callable[[Any], bool],
    *,
    build: bool,
) -> tuple[Region | None, bool]:
    """The region that a block is part of, compiled.

    Args:
        entry: the block.
        blocks: as of `pieces_from`.
        kernel: as of `pieces_from`.
        mode: as of `pieces_from`.
        usable: as of `pieces_from`.
        build: whether to compile what the cache does not have.

    Returns:
        None where there is no loop of instructions that can be traced, or no compiler; and whether there is a loop of
        register instructions.
    """
    around: dict[int, tuple[int, ...]] = {}
    todo = [entry.first]
    while todo:
        address = todo.pop()
        block = blocks.get((address, 0))
        if address not in around and block is not None and block.instructions and usable(block):
            around[address] = _after(block)
            todo += around[address]
    if entry.first not in around or not goes_round(around, entry.first):
        return None, False
    pieces, registers, lines = pieces_from(entry, blocks, kernel, mode, usable)
    if entry.first not in pieces or not goes_round({at: one.targets for at, one in pieces.items()}, entry.first):
        return None, True
    pieces = dict(sorted(pieces.items()))
    text, addresses, sizes = region_text(pieces, registers, lines, kernel.wave)
    library = library_of(text, build=build)
    if library is None:
        return None, True
    return Region(tuple(pieces.values()), addresses, sizes, registers, kernel.wave, library), True
