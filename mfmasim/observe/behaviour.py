"""What a launch does, as one number: its path and the bytes that it leaves in memory."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mfmasim.machine.events import BlockEvent
    from mfmasim.machine.memory import Memory

__all__ = ["Behaviour"]


class Behaviour:
    """Digest of one or several launches: equal for programs that do the same, but for what stays in registers."""

    name = "behaviour"

    def __init__(self, *, path: bool = True) -> None:
        """Nothing done so far. Without `path`, only what is left in memory counts: for two different programs."""
        self.path = path
        self._hash = hashlib.blake2b()
        self.executed: set[int] = set()
        """Addresses of the instructions on the path of any wave."""

    @property
    def digest(self) -> str:
        """Hexadecimal digest of everything so far."""
        return self._hash.hexdigest()

    def on_block(self, event: BlockEvent) -> None:
        """The path of each wave."""
        self.executed.update(ins.pc for ins in event.instructions)
        if self.path:
            self._hash.update(b"block %d %d" % (event.instructions[0].pc, len(event.instructions)))
            self._hash.update(event.waves.tobytes())

    def on_end(self, memory: Memory) -> None:
        """What every buffer holds after the launch. Code and arguments, which nobody can write, are not compared."""
        for region in memory.regions:
            if region.writable:
                self._hash.update(memory.view(region).tobytes())
