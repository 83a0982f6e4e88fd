"""The behaviour of a launch as one number: the instructions on its path, and the bytes in memory after it."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from mfmasim.machine.events import Observer

if TYPE_CHECKING:
    from mfmasim.machine.events import BlockEvent
    from mfmasim.machine.launch.launch import Launch
    from mfmasim.machine.state.memory import Memory


class Behaviour(Observer):
    """Digest of the executed addresses of launches, and of the buffers' contents after them."""

    name = "behaviour"

    def __init__(self) -> None:
        """Start empty."""
        self._hash = hashlib.blake2b()
        self.executed: set[int] = set()
        """Addresses of the instructions on the path of any wave."""
        self._image = range(0)
        """Addresses of the loaded image that a kernel must not write."""

    @property
    def digest(self) -> str:
        """Hexadecimal digest of everything so far."""
        return self._hash.hexdigest()

    def on_start(self, launch: Launch) -> None:
        """Exclude the loaded image: it depends on the compiled code, and is no result."""
        code = launch.kernel.code.object
        extent = 0 if code.variables else max(segment.end for segment in code.segments)
        self._image = range(launch.image_base, launch.image_base + extent)

    def on_block(self, event: BlockEvent) -> None:
        """Add the block to the digest."""
        self.executed.update(ins.pc for ins in event.instructions)

    def on_end(self, memory: Memory) -> None:
        """Add the contents of every buffer after the launch, except read-only ones, such as code and arguments."""
        for region in memory.regions:
            if region.writable and region.address not in self._image:
                self._hash.update(memory.view(region).tobytes())
