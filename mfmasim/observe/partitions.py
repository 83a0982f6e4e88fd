"""partitions: LDS instructions that waves of both pairs of SIMDs execute on the same partition.

The simulator knows the order of accesses and not their cycles. An instruction that waves of a workgroup execute at the
same place of the program is taken as simultaneous, which holds approximately for synchronised waves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mfmasim.lds import PARTITION_CONFIDENCE, pair_of_wave, partitions
from mfmasim.observe.check import Check
from mfmasim.observe.finding import Kind

if TYPE_CHECKING:
    from mfmasim.machine.events import AccessEvent
    from mfmasim.machine.launch.launch import Launch
    from mfmasim.observe.finding import Finding

SHARED = Kind(
    "partitions-shared",
    "info",
    "Waves of different SIMDs access one partition of the LDS",
    "Two paths lead to the LDS, one from each pair of SIMDs. Where both access one partition in a cycle, one waits: "
    "half the bandwidth. Which waves meet depends on time, which the simulator does not have.",
    "all waves read one tile of 32 KB  // gfx1250",
    "Place what the two halves of the workgroup read in different partitions of 64 KB.",
    place="code",
)


class Partitions(Check):
    """Counts, by instruction, the workgroups whose pairs of SIMDs share a partition."""

    name = "partitions"
    about = "LDS instructions that waves on both pairs of SIMDs execute on one partition"
    kinds = (SHARED,)
    default = False

    def __init__(self, launch: Launch, option: str = "") -> None:
        """Start empty."""
        super().__init__(launch, option)
        self.per = launch.waves_per_workgroup
        self.counts: dict[int, list[int]] = {}
        """For the address of an instruction: how often both pairs executed it, and how often on a common partition."""
        self.names: dict[int, str] = {}

    def on_access(self, event: AccessEvent) -> None:
        """Count an access if it goes to an LDS with partitions."""
        arch = self.kernel.arch
        if event.space != "lds" or not arch.lds.partition_bytes or event.part:
            return
        masks = np.broadcast_to(partitions(arch, event.addresses, event.active), (len(event.numbers),))
        workgroups, rows = np.unique(event.numbers // self.per, return_inverse=True)
        used = np.zeros((2, len(workgroups)), np.uint32)
        np.bitwise_or.at(used, (pair_of_wave(event.numbers % self.per), rows), masks)
        both = (used[0] != 0) & (used[1] != 0)
        if both.any():
            count = self.counts.setdefault(event.instruction.pc, [0, 0])
            count[0] += int(both.sum())
            count[1] += int((used[0] & used[1] != 0).sum())
            self.names[event.instruction.pc] = event.instruction.name

    def merge(self, other: Partitions) -> None:
        """Add the counts of another part of the same launch."""
        self.names |= other.names
        for pc, (executed, shared) in other.counts.items():
            count = self.counts.setdefault(pc, [0, 0])
            count[0] += executed
            count[1] += shared

    def findings(self) -> list[Finding]:
        """One finding of severity info for each instruction that shares a partition, the most frequent first."""
        found = sorted(((-shared, pc, executed) for pc, (executed, shared) in self.counts.items() if shared))
        return [
            self.finding(
                SHARED,
                f"{self.names[pc]}: in {-shared} of {executed} executions waves on both pairs of SIMDs access "
                f"one partition ({PARTITION_CONFIDENCE})",
                pc,
                instruction=self.names[pc],
            )
            for shared, pc, executed in found
        ]
