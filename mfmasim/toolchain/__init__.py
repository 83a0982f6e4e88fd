"""Find a HIP compiler, and compile source files to code objects."""

from __future__ import annotations

from mfmasim.toolchain.compilation import Compiled, CompilerCrashError, compile_hip, declarations, header_folders
from mfmasim.toolchain.compilers import Compiler
from mfmasim.toolchain.discovery import find_compiler

__all__ = [
    "Compiled",
    "Compiler",
    "CompilerCrashError",
    "compile_hip",
    "declarations",
    "find_compiler",
    "header_folders",
]
