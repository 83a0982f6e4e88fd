"""Tiles: one execution of a matrix instruction by one wave, one block of it, with the labels of its slots."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.observe.fragments.labels import NOT_AN_ELEMENT, POISON, Alphabet
from mfmasim.observe.fragments.trace import codes_of, fragment_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfmasim.arrays import I64
    from mfmasim.observe.fragments.labels import LabelSpace
    from mfmasim.observe.fragments.trace import Executed, Tracer


POISON_DWORD = np.uint32(0xA5A5A5A5)  # the machine's content of registers before the first write


def _none() -> I64:
    return np.empty(0, np.int64)


@dataclass
class Tile:
    """One execution of a matrix instruction by one wave, one block of it."""

    executed: Executed
    index: int
    """Wave within the event."""
    block: int
    wave: int
    """Wave of the launch."""
    order: int
    """Number of matrix instructions that the wave executed before."""
    labels: dict[str, I64]
    """Labels by operand: A (m, k), B (k, n), C (m, n), scale_A (m, k / block), scale_B (n, k / block)."""
    previous: Tile | None = None
    """The tile whose result is this one's C."""
    following: Tile | None = None
    stored: I64 | None = None
    """Output element of each result, (m, n, 2), -1 for a result that was not stored."""
    initial: I64 | None = None
    """Element of C from which each place of the accumulator was loaded, (m, n, 2); None without such a load."""
    elements: I64 = field(default_factory=_none)
    """Element of the product to which each result belongs by its operands, (m, n, 2), -1 for none."""
    lines: dict[str, I64] = field(default_factory=dict)
    """Line of the product of each line of slots, by operand."""
    copies: dict[str, list[I64]] = field(default_factory=dict)
    """Labels of the further copies of A and B, where the layout has them, in the shape of `labels`."""
    ks: I64 = field(default_factory=_none)
    """K at each position of the summed index; -1 where both operands are padded with zeros."""


def tiles_of(executed: Executed, tracer: Tracer, inputs: LabelSpace) -> list[Tile]:
    """Decode the slots of an execution, and split them by wave and block.

    Args:
        executed: the execution.
        tracer: labels of results and of C.
        inputs: labels of the arguments.
    """
    event = executed.event

    def decoded(name: str, observed: list[NDArray[Any]]) -> I64:
        width = 8 if name.startswith("scale") else fragment_of(event, name).width
        own = name == "C"
        space, alphabet = (tracer.results, tracer.result_alphabet) if own else (inputs, Alphabet(width))
        found = space.decode(observed, alphabet)
        registers = event.operands.named()[name]
        untouched = codes_of(event, name, np.full_like(registers[:1], POISON_DWORD))
        same = np.logical_and.reduce([codes == untouched for codes in observed])
        return np.where((found == NOT_AN_ELEMENT) & same, POISON, found)

    labels = {name: decoded(name, observed) for name, observed in executed.codes.items()}
    copies = {name: [decoded(name, observed) for observed in each] for name, each in executed.copies.items()}
    return [
        Tile(
            executed,
            wave,
            block,
            int(event.waves[wave]),
            int(executed.order[wave]),
            {name: array[wave, min(block, array.shape[1] - 1)] for name, array in labels.items()},
            copies={name: [array[wave, block] for array in each] for name, each in copies.items()},
        )
        for wave in range(len(event.waves))
        for block in range(event.operation.blocks)
    ]


def last_of(tile: Tile) -> Tile:
    """The last tile of an accumulation."""
    while tile.following is not None:
        tile = tile.following
    return tile
