"""Prints the first error outside every buffer while a long launch still runs."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from mfmasim.machine.events import Observer
from mfmasim.observe.bounds import Bounds

if TYPE_CHECKING:
    from collections.abc import Callable

    from mfmasim.machine.events import AccessFault
    from mfmasim.machine.launch.launch import Launch

SECONDS = 1.0
"""A launch that ends earlier prints its findings at its end, and only there."""


class EarlyErrors(Observer):
    """Prints one line in a launch."""

    def __init__(self, say: Callable[[str], None]) -> None:
        """Print by `say`, a function of one line."""
        self._say = say
        self._bounds: Bounds | None = None
        self._begun = 0.0

    def on_start(self, launch: Launch) -> None:
        """A launch begins."""
        self._bounds, self._begun = Bounds(launch), time.monotonic()

    def on_fault(self, event: AccessFault) -> None:
        """Print the first error, once the launch has taken long."""
        if self._bounds is None:
            return
        self._bounds.on_fault(event)
        if time.monotonic() - self._begun >= SECONDS:
            found = next((one for one in self._bounds.findings() if one.severity == "error"), None)
            if found is not None:
                self._say(f"{found.line()}; so far, the launch goes on")
                self._bounds = None
