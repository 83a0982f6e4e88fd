"""Devices: one interface, back ends by name."""

from __future__ import annotations

from mfmasim.devices.report import Fidelity, Report
from mfmasim.devices.sim import SimDevice
from mfmasim.errors import unknown

__all__ = ["Fidelity", "Report", "SimDevice", "device"]

BACK_ENDS = {"sim": SimDevice}


def device(name: str = "sim") -> SimDevice:
    """Open a device.

    Args:
        name: ``"sim"``.

    Returns:
        The device.

    Raises:
        MfmasimError: there is no such back end.
    """
    found = BACK_ENDS.get(name) if isinstance(name, str) else None
    if found is None:
        raise unknown("device", name, BACK_ENDS)
    return found()
