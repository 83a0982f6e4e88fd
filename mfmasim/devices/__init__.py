"""Devices: one interface, back ends by name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Protocol

from mfmasim.devices.options import Options
from mfmasim.devices.report import Fidelity, Report
from mfmasim.devices.sim import SimDevice
from mfmasim.errors import MfmasimError, unknown

if TYPE_CHECKING:
    from collections.abc import Callable

    from mfmasim.devices.isolated import IsolatedHip

__all__ = ["Device", "Fidelity", "Options", "Report", "SimDevice", "device"]


class Device(Protocol):
    """Any back end, or a wrapper of one."""

    name: str

    @property
    def launch(self) -> Callable[..., Report]:
        """Run a kernel; see `SimDevice.launch`."""


BACK_ENDS = ("sim", "hip")


def device(name: str = "sim") -> SimDevice | IsolatedHip:
    """Open a device.

    Args:
        name: ``"sim"``, ``"hip"`` for the first GPU, ``"hip:1"`` for the second, and so on.

    Returns:
        The device.

    Raises:
        MfmasimError: the back end does not exist; or hip-python, the HIP runtime or the GPU is missing.
    """
    kind, colon, number = name.partition(":") if isinstance(name, str) else ("", "", "")
    if kind not in BACK_ENDS:
        raise unknown("device", name, BACK_ENDS)
    if colon and (kind == "sim" or not re.fullmatch(r"\d{1,4}", number)):
        raise MfmasimError(f"device {name!r}: expected sim, hip, or hip and a number such as hip:1")
    if kind == "sim":
        return SimDevice()
    from mfmasim.devices.isolated import IsolatedHip

    return IsolatedHip(int(number or 0))
