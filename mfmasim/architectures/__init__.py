"""One small data file per architecture."""

from __future__ import annotations

from mfmasim.architectures import gfx90a, gfx908, gfx942, gfx950, gfx1100, gfx1151, gfx1200, gfx1201
from mfmasim.architectures.model import Arch
from mfmasim.errors import unknown

__all__ = ["ARCHITECTURES", "DEFAULT", "Arch", "arch", "arch_of_elf"]

ARCHITECTURES: dict[str, Arch] = {
    module.ARCH.name: module.ARCH for module in (gfx908, gfx90a, gfx942, gfx950, gfx1100, gfx1151, gfx1200, gfx1201)
}
DEFAULT = "gfx942"
"""The architecture of benchmarks, and of devices and tests where none is named."""


def arch(name: str | Arch) -> Arch:
    """Look up an architecture.

    Args:
        name: LLVM's processor name, with or without target features (``gfx942:sramecc+``), or an `Arch`.

    Returns:
        The architecture's data.

    Raises:
        MfmasimError: the name is not known; the message lists the known ones.

    >>> arch("gfx950").fp8_format
    'e4m3fn'
    """
    if isinstance(name, Arch):
        return name
    found = ARCHITECTURES.get(str(name).partition(":")[0].lower())
    if found is None:
        raise unknown("architecture", name, ARCHITECTURES)
    return found


def arch_of_elf(machine: int) -> Arch | None:
    """Architecture of an EF_AMDGPU_MACH value, or None when this package has no data for it."""
    return next((found for found in ARCHITECTURES.values() if found.elf_machine == machine), None)
