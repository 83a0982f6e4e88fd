"""Endless loops: waves that return to the same registers without a change of memory.

A wave's next step depends on its registers and on memory alone (instructions that read anything else, such as a clock,
count as changes here). So a wave that returns to its registers, without a write by any wave in between, repeats
its path forever as long as no wave writes. If every wave does so, no wave ever writes. Waves that wait at a barrier
count as well: it stays closed, because a wave of their workgroup repeats its path without passing a barrier.

Snapshots of the registers are taken at blocks 256, 512, 1024, ... of a launch, so that a loop of any length is
detected; a shorter launch has no cost.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.machine.numerics.lane_masks import some
from mfmasim.machine.state.waves import AT_BARRIER, ENDED

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfmasim.arrays import Flags
    from mfmasim.isa import Instruction
    from mfmasim.machine.execution.basic_block import Block
    from mfmasim.machine.state.waves import Group, Waves


ENDLESS = "an endless loop: the waves repeat the same instructions on the same registers and write no memory"
"""Reason of the stop."""
FIRST = 256
"""Blocks before the first snapshot of registers."""
QUIET_ACCESSES = ("", "load", "exchange", "prefetch", "cache")
"""Accesses that change no memory (`Opcode.access`)."""
QUIET_KINDS = (
    "", "delay", "div_fmas", "fma_f64", "halt", "hint", "icache", "index", "index_mode", "mode", "nop", "nothing",
    "priority", "shift_left", "skip", "sleep",
)  # fmt: skip
"""Kinds of opcodes (`Opcode.kind`) that depend on nothing but registers and memory, and change only registers."""


def only_registers(instruction: Instruction) -> bool:
    """Whether an instruction changes registers alone, and depends on nothing but registers and memory."""
    opcode = instruction.opcode
    to_lds = opcode.to_lds or instruction.modifiers.get("lds") or instruction.in_gds
    return opcode.access in QUIET_ACCESSES and opcode.kind in QUIET_KINDS and not to_lds


@dataclass
class Taken:
    """A snapshot of the registers of all waves, and changes since then."""

    registers: list[NDArray[np.generic]]
    returned: Flags
    """Waves that were in the same state once more, (waves,)."""
    some: bool = False
    """Whether any wave returned."""
    met: bool = False
    """Whether a barrier was executed."""
    differing: int = 0
    """The register in which all waves differed from the state last, by its place in `Rounds`."""


class Rounds:
    """Watches the blocks of one batch of waves."""

    def __init__(self, waves: Waves) -> None:
        """Watch these waves."""
        self.waves = waves
        self._blocks = 0
        self._next = FIRST
        self._taken: Taken | None = None
        self._places: list[tuple[Any, Any]] = []
        self._quiet: dict[int, tuple[bool, bool]] = {}
        """Of each block, by identity: whether it changes only registers, and whether it has a barrier."""

    def endless(self, block: Block, group: Group) -> bool:
        """Whether the waves are in an endless loop, after a group has executed a block."""
        self._blocks += 1
        taken = self._taken
        if taken is not None:
            quiet, barrier = self._quiet.get(id(block)) or self._kind(block)
            if not quiet:
                self._taken = None
            else:
                taken.met |= barrier
                owner, key = self._places[taken.differing]
                now, then = owner[key], taken.registers[taken.differing]
                # The loop counter differs each time.
                if now.size > 1 or then.size > 1 or now.item() == then.item():
                    self._compare(taken, group)
                if taken.some and self._all_go_round(taken):
                    return True
        if self._blocks >= self._next:
            self._next = 2 * self._blocks
            self._places = self._places or _places(self.waves)
            registers = [owner[key].copy() for owner, key in self._places]
            self._taken = Taken(registers, np.zeros(self.waves.count, np.bool_))
        return False

    def ahead(self) -> int:
        """Number of blocks up to the next snapshot, inclusive."""
        return self._next - self._blocks

    def skip(self, blocks: int, *, quiet: bool, met: bool) -> None:
        """Count blocks after which no wave was in the state of the snapshot.

        Args:
            blocks: number of blocks.
            quiet: whether all of them changed registers alone.
            met: whether one of them had a barrier.
        """
        self._blocks += blocks
        if self._taken is not None:
            self._taken.met |= met
        if not quiet:
            self._taken = None

    def taken(self) -> dict[tuple[int, Any], NDArray[np.generic]] | None:
        """The snapshot, by container and index or name of each register; None without one."""
        if self._taken is None:
            return None
        pairs = zip(self._places, self._taken.registers, strict=True)
        return {(id(owner), key): values for (owner, key), values in pairs}

    def _kind(self, block: Block) -> tuple[bool, bool]:
        instructions = block.instructions
        known = self._quiet[id(block)] = (
            all(map(only_registers, instructions)),
            any(bool(instruction.opcode.barrier) for instruction in instructions),
        )
        return known

    def _compare(self, taken: Taken, group: Group) -> None:
        """Record the waves of a group that are in the state of the snapshot."""
        owner, key = self._places[taken.differing]
        if not some(_equal(group, owner[key], taken.registers[taken.differing])):
            return
        same = ~group.take(taken.returned)
        for number, ((owner, key), then) in enumerate(zip(self._places, taken.registers, strict=True)):
            same = same & _equal(group, owner[key], then)
            if not same.any():
                taken.differing = number
                return
        taken.returned[group.indices()] |= same
        taken.some = True

    def _all_go_round(self, taken: Taken) -> bool:
        """Whether all waves that have not ended returned to the snapshot, or wait for a wave that did."""
        waves = self.waves
        status = np.broadcast_to(waves.status, (waves.count,))
        left = (status != ENDED) & ~taken.returned
        if not left.any():
            return True
        if taken.met or (status[left] != AT_BARRIER).any():
            return False
        goes_round = np.unique(waves.workgroup[taken.returned & (status != ENDED) & (status != AT_BARRIER)])
        return bool(np.isin(waves.workgroup[left], goes_round).all())


def _equal(group: Group, now: NDArray[np.generic], then: NDArray[np.generic]) -> Flags:
    """Mask of a group's waves with equal values in a register, (1 or waves,)."""
    equal: Flags = group.take(now) == group.take(then)
    return equal if equal.ndim == 1 else np.asarray(equal.all(axis=1))


def _places(waves: Waves) -> list[tuple[Any, Any]]:
    """Containers and indices or names of the state on which a wave's next step depends, except memory.

    The registers that differ most often come first.
    """
    named, files = vars(waves), (waves.s, waves.v, waves.a)
    scalars, *vectors = [[(file, index) for index in range(len(file))] for file in files]
    return [
        (named, "pc"),
        (named, "scc"),
        *scalars,
        (named, "exec"),
        *vectors[0],
        *vectors[1],
        (named, "_mode"),
        (named, "status"),
        (named, "signalled"),
        (named, "complete"),
    ]
