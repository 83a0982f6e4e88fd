"""The surfaces: what is fuzzed, which packages report their coverage, how long an input may be."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["SURFACES", "Surface"]


@dataclass(frozen=True)
class Surface:
    """One entry of the package for bytes of others."""

    about: str
    packages: tuple[str, ...]
    """Packages whose branches count as coverage."""
    longest: int
    """Bytes of an input."""

    @property
    def name(self) -> str:
        """Name of the surface and of its module."""
        return next(name for name, one in SURFACES.items() if one is self)

    def runner(self) -> Callable[[bytes], object]:
        """The function that an input is given to."""
        return importlib.import_module(f"tests.fuzz.{self.name}").run


SURFACES = {
    "reader": Surface("code objects, bundles, metadata, debug information", ("mfmasim.codeobject",), 32768),
    "machine": Surface("instructions, with any checks", ("mfmasim.machine", "mfmasim.observe"), 197),
    "interpreter": Surface("integer instructions, against the slow interpreter", ("mfmasim.machine",), 197),
    "decoder": Surface("machine code: decoder and printer", ("mfmasim.isa",), 96),
    "captures": Surface("captures, golden files, arrays", ("mfmasim.archives", "mfmasim.lab.agreement"), 8192),
    "runtime": Surface("calls of the simulated HIP runtime", ("mfmasim.hiprt",), 512),
    "adapter": Surface("requests of editors to the debugger", ("mfmasim.debug",), 512),
    "objects": Surface("damaged code objects, inspected, proved and run", ("mfmasim.prove", "mfmasim.kernels"), 43),
}
