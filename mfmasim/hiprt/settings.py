"""What the simulated runtime is told through the environment, which child processes inherit."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mfmasim.architectures import arch as find_arch
from mfmasim.devices.sim import chosen_checks
from mfmasim.errors import MfmasimError
from mfmasim.hiprt.faults import Fault, parse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mfmasim.architectures import Arch

__all__ = ["ARCH", "CHECKS", "FAULTS", "MEMORY", "PACKAGE", "REPORT", "Settings"]

ARCH = "MFMASIM_HIPRT_ARCH"
"""Architectures of the devices, separated by commas: one device each. Without it one gfx942."""
MEMORY = "MFMASIM_HIPRT_MEMORY"
"""Memory of a device in MB; without it 4096."""
CHECKS = "MFMASIM_HIPRT_CHECKS"
"""Checks of every launch, as `launch` takes them; without it ``bounds``."""
FAULTS = "MFMASIM_HIPRT_FAULTS"
"""Faults to inject; see `mfmasim.hiprt.faults`."""
REPORT = "MFMASIM_HIPRT_REPORT"
"""A file that gets a summary of the run as JSON when the process ends."""
PACKAGE = "MFMASIM_HIPRT_PACKAGE"
"""The folder of this package, for programs whose environment lacks it."""


@dataclass(frozen=True)
class Settings:
    """The settings of one process."""

    archs: tuple[Arch, ...]
    memory: int = 4096 << 20
    """Bytes of a device."""
    checks: str = "bounds"
    faults: tuple[Fault, ...] = ()
    report: str = ""

    @classmethod
    def read(cls, environment: Mapping[str, str] | None = None) -> Settings:
        """Read the environment.

        Raises:
            MfmasimError: a variable holds what nobody understands; the message names it.
        """
        found = os.environ if environment is None else environment
        memory = found.get(MEMORY, "4096")
        if not memory.isdigit() or not 1 <= int(memory) <= 1 << 20:
            raise MfmasimError(f"{MEMORY}={memory}: a number of MB is expected, from 1 to {1 << 20}")
        names = [name.strip() for name in found.get(ARCH, "gfx942").split(",") if name.strip()]
        try:
            archs = tuple(find_arch(name) for name in names)
        except MfmasimError as error:
            raise MfmasimError(f"{ARCH}: {error}") from None
        checks = found.get(CHECKS, "bounds")
        try:
            chosen_checks(checks)
        except MfmasimError as error:
            raise MfmasimError(f"{CHECKS}: {error}") from None
        try:
            faults = tuple(parse(found.get(FAULTS, "")))
        except MfmasimError as error:
            raise MfmasimError(f"{FAULTS}: {error}") from None
        return cls(archs, int(memory) << 20, checks, faults, found.get(REPORT, ""))
