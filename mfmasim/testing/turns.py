"""Loops that no launch of a test session turned three times: what their later turns do is not tested."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mfmasim.devices.ways import Seen, Ways
from mfmasim.lab.covering.unseen import loops_open, unseen_turn

if TYPE_CHECKING:
    from mfmasim.kernels import Kernel


class Turns:
    """What the launches of a session showed of each kernel."""

    def __init__(self) -> None:
        """Begin a session."""
        self._kernels: dict[tuple[str, str], tuple[Kernel, Seen]] = {}

    def add(self, kernel: Kernel, ways: Ways) -> None:
        """Take in a launch."""
        _, seen = self._kernels.setdefault((kernel.code.sha256, kernel.name), (kernel, Seen()))
        seen.add(ways.seen)

    def lines(self) -> list[str]:
        """A line for each kernel with such a loop; kernels of several architectures that say the same have one."""
        found: dict[str, list[str]] = {}
        for kernel, seen in self._kernels.values():
            if loops := loops_open(kernel, seen):
                more = f" (and {len(loops) - 1} more)" if len(loops) > 1 else ""
                text = f"{kernel.title}: {loops[0]}{more} in every launch of this session: {unseen_turn(loops[0])}"
                found.setdefault(text, []).append(kernel.arch.name)
        return [f"mfmasim: {text} ({', '.join(dict.fromkeys(archs))})" for text, archs in found.items()]
