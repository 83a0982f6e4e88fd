"""A passage through a region: registers of a group of waves go to C, and come back."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.machine.native.driver import FIELDS
from mfmasim.machine.native.text import SCC
from mfmasim.machine.numerics.lane_masks import lanes_of
from mfmasim.machine.state.waves import EXEC

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from mfmasim.machine.native.region import Region
    from mfmasim.machine.state.waves import Group

    Read = Callable[[str, Any], NDArray[Any]]
    """Reads a register: ``v``, ``a`` or ``s`` and its number, or ``scc``; (1 or waves, lanes) or (1 or waves,)."""

FAR = 1 << 62


@dataclass
class Copy:
    """Registers of a region, wave by wave, as C has them."""

    scalars: NDArray[np.uint32]
    """(waves, registers)."""
    vectors: NDArray[np.uint32]
    """(waves, registers, lanes)."""

    @classmethod
    def of(cls, region: Region, read: Read, waves: int | None = None) -> Copy:
        """Copy registers.

        Args:
            region: whose.
            read: reads one.
            waves: rows; None for one where all waves have the same, else as many as there are.
        """
        places = region.registers
        scalars = [read("scc", 0) if code == SCC else read("s", code) for code in places.scalars]
        vectors = [read(file, number) for file, number in places.vectors]
        rows = max(map(len, (*scalars, *vectors))) if waves is None else waves
        made = cls(np.empty((rows, len(scalars)), np.uint32), np.empty((rows, len(vectors), region.lanes), np.uint32))
        for place, values in enumerate(scalars):
            made.scalars[:, place] = values
        for place, values in enumerate(vectors):
            made.vectors[:, place] = values
        return made

    def put(self, region: Region, group: Group) -> None:
        """Write to a group of waves what the region writes; what is the same in all of them is one row again."""
        places, written = region.registers, region.registers.written
        alike = (self.scalars == self.scalars[:1]).all(axis=0).tolist()
        for (file, number), place in places.vectors.items():
            if (file, number) in written:
                group.write_all_lanes(file, number, self.vectors[:, place].copy())
        for code, place in places.scalars.items():
            if code in written:
                values = self.scalars[: 1 if alike[place] else None, place].copy()
                if code == SCC:
                    group.scc = values != 0
                elif code < EXEC:
                    group.write_s(code, values)
        if {EXEC, EXEC + 1} & written:
            halves = [self.scalars[:, places.scalars[code]] for code in (EXEC, EXEC + 1)]
            group.write_exec64(halves[0].astype(np.uint64) | halves[1].astype(np.uint64) << np.uint64(32))


@dataclass
class Limits:
    """Where C stops; each as `mfmasim.machine.native.driver` says."""

    whole: bool
    patience: int
    others_most: int
    others_least: int
    first_other: int
    budget: int
    steps: int
    instructions: int


@dataclass
class Automaton:
    """What a check carries along the path of each wave, as a table."""

    table: NDArray[np.int32]
    """The next state, (states, addresses of the region); -1 where the check looks at the block itself."""
    states: NDArray[np.int32]
    """Of each wave, (waves,)."""
    before: NDArray[np.int32]
    """Before the last step of each wave, (waves,)."""


@dataclass
class Passage:
    """What C did."""

    steps: int
    instructions: int
    last: int
    """Place of the block of the last step among the addresses of the region."""
    now: NDArray[np.int32]
    """Where each wave is, as a place among the addresses, (waves,)."""
    executed: NDArray[np.int64]
    """Instructions that each wave has executed, (waves,)."""
    runs: NDArray[np.int64]
    """Wave executions of each block."""
    stepped: NDArray[np.int64]
    """The number of the last step of each wave, 0 for none, (waves,)."""
    waiting: NDArray[np.bool_]
    """Whether each wave waits at a barrier, (waves,)."""
    failed: bool
    """Whether it ended before a step that leaves the buffers."""


def passed(
    region: Region,
    copy: Copy,
    entry: int,
    executed: NDArray[np.int64],
    weight: int,
    limits: Limits,
    allowed: NDArray[np.uint8],
    automata: Sequence[Automaton] = (),
    compare: tuple[Copy, NDArray[np.int32]] | None = None,
    undefined: NDArray[np.uint64] | None = None,
    memory: NDArray[np.int64] | None = None,
) -> Passage:
    """Run a region.

    Args:
        region: what to run.
        copy: the registers of the waves, which change.
        entry: the place of the block at which they are.
        executed: instructions that each has executed, (waves,).
        weight: waves that each row stands for.
        limits: where to stop.
        allowed: of each address whether its block may be executed.
        automata: what checks carry along; states change.
        compare: registers of the waves at an earlier time, and where they were then.
        undefined: lanes of each wave with undefined bits, (waves,); None where there are none.
        memory: `mfmasim.machine.native.memory.FIELDS`; None where no block accesses memory.
    """
    waves = len(copy.scalars)
    mask = copy.scalars[:, [region.registers.scalars[code] for code in (EXEC, EXEC + 1)]].copy()
    words = mask.view(np.uint64)[:, 0] if region.lanes == 64 else mask[:, 0].copy()
    act = np.zeros((waves, region.lanes + 2), np.uint32)
    act[:, : region.lanes] = np.where(lanes_of(words, region.lanes), np.uint32(0xFFFFFFFF), np.uint32(0))
    act[:, region.lanes :] = mask
    numbers = {
        "waves": waves,
        "weight": weight,
        "patience": limits.patience,
        "whole": limits.whole,
        "others_most": limits.others_most,
        "others_least": limits.others_least,
        "first_other": limits.first_other,
        "budget": limits.budget,
        "most_steps": limits.steps,
        "most_instructions": limits.instructions,
        "automata": len(automata),
        "compare": compare is not None,
    }
    fields = np.array([int(numbers.get(field, 0)) for field in FIELDS], np.int64)
    now, done = np.full(waves, entry, np.int32), executed.astype(np.int64)
    runs, stepped = np.zeros(len(region.addresses), np.int64), np.zeros(waves, np.int64)
    pointers: list[Any] = [
        (ctypes.c_void_p * max(1, len(automata)))(*(rows.ctypes.data for rows in column))
        for column in zip(*((each.table, each.states, each.before) for each in automata), strict=True)
    ] or [None] * 3
    earlier = (compare[0].scalars, compare[0].vectors, compare[1]) if compare is not None else ()
    then, waiting = np.empty(waves, np.int32), np.zeros(waves, np.bool_)
    kept = np.empty((waves, copy.scalars.shape[1] + copy.vectors[0].size + act.shape[1]), np.uint32)
    arrays = (fields, copy.scalars, copy.vectors, act, now, done, runs, stepped, allowed, np.zeros(waves, np.uint8))
    region.library.run(
        *(ctypes.c_void_p(array.ctypes.data) for array in arrays),
        None if undefined is None else ctypes.c_void_p(undefined.ctypes.data),
        ctypes.c_void_p(kept.ctypes.data),
        *pointers,
        *(ctypes.c_void_p(array.ctypes.data) for array in earlier),
        *[None] * (3 - len(earlier)),
        None if memory is None else ctypes.c_void_p(memory.ctypes.data),
        ctypes.c_void_p(then.ctypes.data),
        ctypes.c_void_p(waiting.ctypes.data),
    )
    out = dict(zip(FIELDS, fields.tolist(), strict=True))
    return Passage(
        out["steps"], out["instructions"], out["last"], now, done, runs, stepped, waiting, bool(out["failed"])
    )
