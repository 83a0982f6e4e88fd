"""The kit's code objects, prebuilt: a container with a GPU often has no compiler."""

from __future__ import annotations

from pathlib import Path

from mfmasim.kernels import Code
from mfmasim.resources import folder
from mfmasim.verify.prebuilt import code_for


def probe_source(arch: str) -> Path:
    """The generated HIP source of an architecture."""
    return folder("hipkernels") / "conformance" / "kit" / f"{arch}.hip"


def probe_code(arch: str) -> Code:
    """The code object with the kernels of `mfmasim.lab.kit.kernels`.

    Raises:
        MfmasimError: the architecture has none, or it is not prebuilt and does not compile.
    """
    return code_for(probe_source(arch), arch)
