"""The state that follows undefined bits through a launch: shadow bits of registers and of memory, and uses of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from mfmasim.isa import Instruction
from mfmasim.kernels import PerKernel
from mfmasim.machine.definedness.memory import OriginPlane, Plane
from mfmasim.machine.definedness.planes import Planes
from mfmasim.machine.definedness.uses import Uses
from mfmasim.machine.events.interface import Machine

Kept = TypeVar("Kept")


class ShadowState:
    """Undefined bits of one launch."""

    def __init__(self, machine: Machine) -> None:
        """Begin before the first batch."""
        self.machine = machine
        self.planes = Planes(machine)
        self.plane, self.origins = Plane(machine), OriginPlane(machine)
        self.loaded: dict[int, int] = {}
        self.uses = Uses(machine, self.planes, self.loaded)

    def begin(self) -> None:
        """A new batch of workgroups."""
        self.planes.begin()
        self.plane.begin()

    def kept(
        self,
        what: PerKernel[dict[tuple[int, tuple[int, ...]], Kept]],
        instruction: Instruction,
        make: Callable[[], Kept],
    ) -> Kept:
        """A value that depends on one of the kernel's instructions alone, memoised for further launches.

        Args:
            what: the memo.
            instruction: the instruction, with the registers that MODE selects.
            make: computes the value.
        """
        table = what.of(self.machine.kernel)
        key = instruction.pc, instruction.numbers
        found = table.get(key)
        if found is None:
            found = table[key] = make()
        return found
