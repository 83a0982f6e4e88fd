"""The debugger in a program's own process: `mfmasim debug -- PROGRAM` sets a variable, and each launch asks here.

The host waits in its launch while a session is open; its own debugger sees an ordinary call. Without the variable
nothing of the debugger is loaded.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from mfmasim.devices.sim import SimDevice

if TYPE_CHECKING:
    from mfmasim.debug.waiting import Attached

VARIABLE = "MFMASIM_DEBUG"
"""``terminal``; ``commands:FILE``; ``dap:ADDRESS``; ``record:FILE``. Then, after a newline, folders of sources."""

_attached: list[Attached] = []


def device() -> SimDevice:
    """The device for a launch of this process: a recording device with the debugger if `VARIABLE` is set."""
    wanted = os.environ.get(VARIABLE, "")
    if wanted and not _attached:
        from mfmasim.debug.waiting import Attached

        _attached.append(Attached(wanted))
    return _attached[0] if _attached and not _attached[0].quit else SimDevice()


def finish() -> None:
    """The program ends."""
    for one in _attached:
        one.finish()
