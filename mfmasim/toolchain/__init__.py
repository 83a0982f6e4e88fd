"""Find a HIP compiler and turn a source file into the code object a device would load."""

from __future__ import annotations

from mfmasim.toolchain.compilation import Compiled, compile_hip
from mfmasim.toolchain.compilers import Compiler
from mfmasim.toolchain.discovery import find_compiler

__all__ = ["Compiled", "Compiler", "compile_hip", "find_compiler"]
