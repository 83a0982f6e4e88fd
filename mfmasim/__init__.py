"""Execute AMD GPU code objects bit for bit in NumPy, and prove their fragments, LDS accesses and outputs.

Functions take and return raw bits as unsigned integer arrays unless their docstring says floats. The names below are
imported on first use, so that ``import mfmasim`` is fast.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from mfmasim import forks as _forks  # noqa: F401 - what it prepares concerns every part of the package

if TYPE_CHECKING:
    from mfmasim import lds
    from mfmasim.architectures import Arch, arch
    from mfmasim.devices import device
    from mfmasim.errors import MfmasimError
    from mfmasim.formats import format  # noqa: A004
    from mfmasim.machine.launch.quota import Quota
    from mfmasim.matrix import instruction, instructions
    from mfmasim.observe.tools.debugger import Debugger
    from mfmasim.program import compile, load  # noqa: A004

__all__ = [
    "Arch",
    "Debugger",
    "MfmasimError",
    "Quota",
    "arch",
    "compile",
    "device",
    "format",
    "instruction",
    "instructions",
    "lds",
    "load",
]

__version__ = "0.2.0"

# Public name -> module that defines it, imported when the name is first used.
_MODULES = {
    "Arch": "mfmasim.architectures",
    "Debugger": "mfmasim.observe.tools.debugger",
    "MfmasimError": "mfmasim.errors",
    "Quota": "mfmasim.machine.launch.quota",
    "arch": "mfmasim.architectures",
    "compile": "mfmasim.program",
    "device": "mfmasim.devices",
    "format": "mfmasim.formats",
    "instruction": "mfmasim.matrix",
    "instructions": "mfmasim.matrix",
    "lds": "mfmasim.lds",
    "load": "mfmasim.program",
}
_PACKAGES = ("cost", "grids", "prove", "testing", "triton", "verify")
"""Packages that are imported when they are first named, as in ``mfmasim.verify.case``."""


def __getattr__(name: str) -> Any:
    defined_in = _MODULES.get(name)
    if name in _PACKAGES:
        return importlib.import_module(f"mfmasim.{name}")
    if defined_in is None:
        msg = f"module 'mfmasim' has no attribute {name!r}"
        raise AttributeError(msg)
    module = importlib.import_module(defined_in)
    value = module if defined_in == f"mfmasim.{name}" else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, *_PACKAGES, "__version__"])


def load_ipython_extension(shell: object) -> None:
    """Register the magic ``%%hip`` (`mfmasim.learn.magics`): what ``%load_ext mfmasim`` calls in a notebook."""
    from mfmasim.learn.magics import load as load_magics

    load_magics(shell)
