"""spills: registers that the compiler keeps in scratch, and the most frequent access to scratch.

The compiler states their number in the code object (``.vgpr_spill_count``); arrays of a kernel in
scratch are no spills. The check runs only if it is named: a kernel with spills is slow, not wrong.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mfmasim.observe.check import Check
from mfmasim.observe.finding import Kind

if TYPE_CHECKING:
    from mfmasim.machine.events import AccessEvent, Place
    from mfmasim.machine.launch.launch import Launch
    from mfmasim.observe.finding import Finding

VGPRS = Kind(
    "spills-vgprs", "info", "Registers are spilled to scratch",
    "The kernel needs more VGPRs than it is allowed: some are stored to memory and loaded again, in a loop each time.",
    "__launch_bounds__(1024) for a kernel whose accumulators take 200 registers",
    "Allow more registers (smaller blocks, __launch_bounds__), or keep fewer values at a time.",
    place="wave",
)  # fmt: skip


class Spills(Check):
    """Counts accesses to scratch of kernels that have spills."""

    name = "spills"
    about = "registers that the compiler keeps in scratch, and where the kernel goes there most often"
    default = False
    kinds = (VGPRS,)

    def __init__(self, launch: Launch) -> None:
        """Read the number of spilled registers."""
        super().__init__(launch)
        metadata = self.kernel.info.metadata
        self._registers = (metadata.vgpr_spill_count if metadata is not None else None) or 0
        self._seen: dict[int, tuple[int, str, Place]] = {}
        """Executions by a wave, mnemonic and first place, by address."""

    def on_access(self, event: AccessEvent) -> None:
        """Count an access to scratch."""
        if not self._registers or event.space != "scratch":
            return
        pc = event.instruction.pc
        count, name, place = self._seen.get(pc) or (0, event.instruction.name, event.place(0, None))
        self._seen[pc] = count + event.waves, name, place

    def merge(self, other: Spills) -> None:
        """Add the counts of another part of the same launch; parts come in the order of the grid."""
        for pc, (count, name, place) in other._seen.items():
            mine = self._seen.get(pc)
            self._seen[pc] = (count + mine[0], *mine[1:]) if mine else (count, name, place)

    def findings(self) -> list[Finding]:
        """One finding, at the most frequent access; none without an access to scratch."""
        if not self._seen:
            return []
        pc = min(self._seen, key=lambda pc: (-self._seen[pc][0], pc))
        _, name, place = self._seen[pc]
        total = sum(count for count, *_ in self._seen.values())
        text = f"{self._registers} VGPRs are spilled: {total:,} accesses of waves to scratch, most often here"
        return [self.finding(VGPRS, text, pc, place, instruction=name, count=total)]
