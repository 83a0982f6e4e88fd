"""What a launch does: the instructions on its path, and the bytes that it leaves in memory, as one number."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from mfmasim.machine.events import Observer

if TYPE_CHECKING:
    from mfmasim.machine.events import BlockEvent
    from mfmasim.machine.launch.launch import Launch
    from mfmasim.machine.state.memory import Memory


class Behaviour(Observer):
    """Digest of the buffer contents that launches leave, and the addresses that they executed."""

    name = "behaviour"

    def __init__(self) -> None:
        """Start empty."""
        self._hash = hashlib.blake2b()
        self.executed: set[int] = set()
        """Addresses of the instructions on the path of any wave."""
        self._image = range(0)
        """Addresses of the loaded image, where no kernel may write to it."""

    @property
    def digest(self) -> str:
        """Hexadecimal digest of everything so far."""
        return self._hash.hexdigest()

    def on_start(self, launch: Launch) -> None:
        """What a loader writes depends on the compiled code, and is no result."""
        code = launch.kernel.code.object
        extent = 0 if code.variables else max(segment.end for segment in code.segments)
        self._image = range(launch.image_base, launch.image_base + extent)

    def on_block(self, event: BlockEvent) -> None:
        """The path."""
        self.executed.update(ins.pc for ins in event.instructions)

    def on_end(self, memory: Memory) -> None:
        """What every buffer holds after the launch. What is read-only, such as code and arguments, is not compared."""
        for region in memory.regions:
            if region.writable and region.address not in self._image:
                self._hash.update(memory.view(region).tobytes())
