"""One small data file per architecture."""

from __future__ import annotations

import difflib
import re
from dataclasses import replace

from mfmasim.architectures import gfx90a, gfx908, gfx942, gfx950, gfx1030, gfx1100, gfx1151, gfx1200, gfx1201, gfx1250
from mfmasim.architectures.generic import GENERICS, Generic, generic_of_elf
from mfmasim.architectures.model import Arch
from mfmasim.architectures.processors import PROCESSORS
from mfmasim.errors import MfmasimError, unknown

__all__ = [
    "ARCHITECTURES", "DEFAULT", "DISTINCT", "GENERICS", "SIMULATED", "Arch", "Generic", "arch", "arch_of_elf",
    "generic_of_elf", "target",
]  # fmt: skip

ARCHITECTURES: dict[str, Arch] = {
    module.ARCH.name: module.ARCH
    for module in (gfx908, gfx90a, gfx942, gfx950, gfx1030, gfx1100, gfx1151, gfx1200, gfx1201, gfx1250)
}
SIMULATED = {**ARCHITECTURES, **PROCESSORS}
"""Architectures, and processors that have the instruction set of one, by name."""
DISTINCT = {name: found for name, found in SIMULATED.items() if not found.isa}
"""Those of them that have an instruction set of their own, some of which compilers of today do not know."""
DEFAULT = "gfx942"
"""The architecture of benchmarks, and of devices and tests where none is named."""


def plain(name: str) -> str:
    """A product's name without what people write differently: case, spaces, hyphens, the words AMD Instinct Radeon."""
    return re.sub(r"amd|instinct|radeon|[\s_-]", "", name.lower())


PRODUCTS: dict[str, Arch] = {plain(product): found for found in SIMULATED.values() for product in found.products}
"""Architectures by the plain names of their products."""


def arch(name: str | Arch) -> Arch:
    """Look up an architecture.

    Args:
        name: LLVM's processor name, with or without target features (``gfx942:sramecc+``), a product, such as
            ``MI300X``, or an `Arch`.

    Returns:
        The architecture's data.

    Raises:
        MfmasimError: the name is not known, or that of a generic target; the message lists the known ones.

    >>> arch("gfx950").fp8_format
    'e4m3fn'
    >>> arch("MI300X").name
    'gfx942'
    """
    if isinstance(name, Arch):
        return name
    processor = str(name).partition(":")[0].lower()
    found = SIMULATED.get(processor) or PRODUCTS.get(plain(processor))
    if found is None and processor in GENERICS:
        raise MfmasimError(f"{name} is a generic target, not an architecture; {_runs_on(GENERICS[processor])}")
    if found is None:
        near = difflib.get_close_matches(plain(processor), PRODUCTS, n=1, cutoff=0.75)
        if near and not processor.startswith("gfx"):
            product = next(one for a in SIMULATED.values() for one in a.products if plain(one) == near[0])
            raise MfmasimError(
                f"unknown architecture {str(name)!r}; did you mean {product} ({PRODUCTS[near[0]].name})? "
                f"allowed: {', '.join(SIMULATED)}, and products"
            )
        raise unknown("architecture", name, SIMULATED)
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
    known = [processor for processor in generic.processors if processor in SIMULATED]
    if not known or (on is not None and on not in known):
        raise MfmasimError(f"{generic.name} code does not run on {on or 'a simulated GPU'}; {_runs_on(generic)}")
    return replace(SIMULATED[on or known[0]], generic=generic)


def _runs_on(generic: Generic) -> str:
    known = ", ".join(processor for processor in generic.processors if processor in SIMULATED)
    return f"it is for {', '.join(generic.processors)}, of which {known or 'none'} can be simulated"


def arch_of_elf(machine: int) -> Arch | None:
    """Architecture of an EF_AMDGPU_MACH value, or None when this package has no data for it."""
    return next((found for found in SIMULATED.values() if found.elf_machine == machine), None)
