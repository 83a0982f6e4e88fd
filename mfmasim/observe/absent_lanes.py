"""lanes: values that a lane exchange reads from lanes without a value, and that reach an output or a decision.

The machine follows such values (`mfmasim.machine.definedness.absent`): this file describes their uses.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mfmasim.observe.check import Check
from mfmasim.observe.finding import Kind

if TYPE_CHECKING:
    from mfmasim.machine.events import AbsentUse
    from mfmasim.machine.launch.launch import Launch
    from mfmasim.observe.finding import Finding

OFF = Kind(
    "lanes-off",
    "warning",
    "A value of a lane that EXEC has off is used",
    "The source lane has left, is in another branch, or has no work-item. DS permutes, swizzles and DPP give 0 or what "
    "the destination held, V_READLANE what the register held before. Selections of another value, and sums that such a "
    "0 does not change, are not reported.",
    "if (t < 40) out[t] = __shfl(v, 50);  // lane 50 is not there",
    "Exchange before the branch, or guard the source lane: lane < active ? __shfl(v, lane) : identity.",
)
HALF = Kind(
    "lanes-other-half",
    "warning",
    "A DS permute asks a lane of the other half of the wave",
    "On RDNA3 in wave64 DS_PERMUTE and DS_BPERMUTE work on each half of the wave by itself; the lane gets a value of "
    "its own half (RDNA3 ISA manual, 12.5.2, and LLVM; the manual's pseudocode says lanes 0 to 31).",
    "out[t] = __builtin_amdgcn_ds_bpermute(4 * (t ^ 32), v);  // -mwavefrontsize64, gfx1100",
    "Exchange the halves with V_PERMLANE64, permute both, and select by the half; or compile for waves of 32.",
)
BEYOND = Kind(
    "lanes-beyond",
    "warning",
    "A DS permute asks lanes that the wave does not have",
    "All active lanes of a wave of 32 ask for lanes 32 to 63: the upper bits are ignored, so that a shuffle over 32 "
    "lanes gives each lane its own value. The code was written for waves of 64.",
    "sum += __shfl_down(sum, 32, 64);  // gfx1100: adds sum to itself",
    "Begin at warpSize / 2, and leave the width of the shuffle out.",
)
USES = {
    "branch": "decides a branch",
    "exec": "decides which lanes are active",
    "skip": "decides whether vector instructions are skipped",
    "jump": "is the target of a jump",
    "address": "is the address of an access",
    "index": "selects a register",
    "matrix": "is an operand of a matrix instruction",
    "stored": "is stored to global memory",
    "atomic": "is the operand of an atomic operation",
}


class Absent(Check):
    """Collects uses in one launch."""

    name = "lanes"
    about = "values of lanes that are off, beyond the wave or in its other half, that reach an output or a decision"
    kinds = (OFF, HALF, BEYOND)

    def __init__(self, launch: Launch) -> None:
        """Start without uses."""
        super().__init__(launch)
        self._found: dict[tuple[int, int, str], Finding] = {}
        self._orders: dict[tuple[int, int, str], tuple[int, ...]] = {}

    def on_absent(self, event: AbsentUse) -> None:
        """Record the first use of each exchange by each instruction, in the order of the grid."""
        kind = {"half": HALF, "beyond": BEYOND}.get(event.why, OFF)
        exchange, place = event.exchange, event.place
        at = self.kernel.line_at(exchange.pc)
        lanes = _numbers(event.lanes)
        which = {
            "half": "of the other half of the wave, where the instruction does not reach",
            "beyond": f"of a wave of {self.kernel.wave}",
        }.get(event.why, "which EXEC has off")
        text = (
            f"{event.register} {USES[event.use]} and comes from {exchange.name} at {at}, which asks "
            f"lane{'s' * (len(event.lanes) > 1)} {lanes}, {which}"
        )
        found = self.finding(
            kind,
            text,
            event.instruction.pc,
            place,
            register=event.register,
            instruction=event.instruction.name,
            count=event.uses,
            other=self.kernel.place_at(exchange.pc),
        )
        self._add((event.instruction.pc, exchange.pc, kind.id), found, place.order)

    def _add(self, key: tuple[int, int, str], found: Finding, order: tuple[int, ...]) -> None:
        before = self._found.get(key)
        if before is None:
            self._found[key], self._orders[key] = found, order
            return
        count = before.count + found.count
        if order < self._orders[key]:
            before, self._orders[key] = found, order
        self._found[key] = replace(before, count=count)

    def merge(self, other: Absent) -> None:
        """Add the findings of another part of the same launch."""
        for key, found in other._found.items():
            self._add(key, found, other._orders[key])

    def findings(self) -> list[Finding]:
        """The findings, in address order."""
        return [self._found[key] for key in sorted(self._found)]


def _numbers(lanes: tuple[int, ...]) -> str:
    """Lanes as text: consecutive lanes as a range."""
    parts: list[list[int]] = []
    for lane in lanes:
        if parts and lane == parts[-1][-1] + 1:
            parts[-1].append(lane)
        else:
            parts.append([lane])
    return ", ".join(f"{one[0]}" if len(one) == 1 else f"{one[0]} to {one[-1]}" for one in parts)
