"""Triton programs, unmodified, on the simulator: a driver for Triton, and CPU tensors in place of a GPU's.

Triton's compiler makes AMD code objects on any machine; this package launches them. Neither Triton nor PyTorch is
imported before one of the functions is called.
"""

from mfmasim.triton.cases import case
from mfmasim.triton.compiling import compile  # noqa: A004
from mfmasim.triton.installation import install, session, uninstall
from mfmasim.triton.layouts.proof import Proof, prove
from mfmasim.triton.session import Session
from mfmasim.triton.settings import Settings

__all__ = ["Proof", "Session", "Settings", "case", "compile", "install", "prove", "session", "uninstall"]
