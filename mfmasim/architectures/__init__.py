"""One small data file per architecture."""

from __future__ import annotations

from dataclasses import replace

from mfmasim.architectures import gfx90a, gfx908, gfx942, gfx950, gfx1100, gfx1151, gfx1200, gfx1201
from mfmasim.architectures.generic import GENERICS, Generic, generic_of_elf
from mfmasim.architectures.model import Arch
from mfmasim.errors import MfmasimError, unknown

__all__ = ["ARCHITECTURES", "DEFAULT", "GENERICS", "Arch", "Generic", "arch", "arch_of_elf", "generic_of_elf", "target"]

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
        MfmasimError: the name is not known, or that of a generic target; the message lists the known ones.

    >>> arch("gfx950").fp8_format
    'e4m3fn'
    """
    if isinstance(name, Arch):
        return name
    processor = str(name).partition(":")[0].lower()
    found = ARCHITECTURES.get(processor)
    if found is None and processor in GENERICS:
        raise MfmasimError(f"{name} is a generic target, not an architecture; {_runs_on(GENERICS[processor])}")
    if found is None:
        raise unknown("architecture", name, ARCHITECTURES)
    return found


def target(name: str | Arch, on: str | None = None) -> Arch:
    """The architecture on which code for a target runs.

    Args:
        name: a processor, as of `arch`, or a generic target, such as ``gfx11-generic``.
        on: processor to run code for a generic target on; without it, the first one that is simulated.

    Returns:
        The architecture; its `Arch.generic` is the generic target.

    Raises:
        MfmasimError: the name is not known, or code for it does not run on any architecture, or not on `on`.

    >>> target("gfx11-generic").name, target("gfx9-4-generic", "gfx950").target
    ('gfx1100', 'gfx9-4-generic')
    """
    generic = None if isinstance(name, Arch) else GENERICS.get(str(name).partition(":")[0].lower())
    if generic is None:
        return arch(name)
    known = [processor for processor in generic.processors if processor in ARCHITECTURES]
    if not known or (on is not None and on not in known):
        raise MfmasimError(f"{generic.name} code does not run on {on or 'a simulated GPU'}; {_runs_on(generic)}")
    return replace(ARCHITECTURES[on or known[0]], generic=generic)


def _runs_on(generic: Generic) -> str:
    known = ", ".join(processor for processor in generic.processors if processor in ARCHITECTURES)
    return f"it is for {', '.join(generic.processors)}, of which {known or 'none'} can be simulated"


def arch_of_elf(machine: int) -> Arch | None:
    """Architecture of an EF_AMDGPU_MACH value, or None when this package has no data for it."""
    return next((found for found in ARCHITECTURES.values() if found.elf_machine == machine), None)
