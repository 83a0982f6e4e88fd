"""The environment of a program whose PyTorch gets tensors of ``cuda`` in the simulated devices' memory."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from mfmasim.errors import MfmasimError
from mfmasim.hiprt.settings import ARCH, CHECKS
from mfmasim.hiprt.start import environment

STARTER = Path(__file__).with_name("starter")
"""Folder of the module that Python imports at its start."""
WANTED = "MFMASIM_EXTENSIONS"
"""Set where the starter takes effect, to the verb that runs the program: ``hiprt`` or ``triton``."""


def changes(verb: str, given: Mapping[str, str]) -> dict[str, str]:
    """Variables that let Python import the starter.

    Args:
        verb: ``hiprt`` or ``triton``.
        given: the environment so far.
    """
    others = given.get("PYTHONPATH", "")
    return {WANTED: verb, "PYTHONPATH": f"{STARTER}{os.pathsep}{others}" if others else str(STARTER)}


def of_triton(arch: str, checks: str) -> dict[str, str]:
    """Variables with which a program of ``mfmasim triton`` also finds the simulated HIP runtime, where it can be built.

    Args:
        arch: the architecture.
        checks: of every launch.
    """
    if sys.platform != "linux":
        return {}
    try:
        made = environment({ARCH: arch, CHECKS: checks})
    except MfmasimError:
        return {}  # Triton's kernels do not need it
    return {**made, **changes("triton", made)}
