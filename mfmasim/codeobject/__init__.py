"""Code objects: the ELF files an AMD GPU loads, their kernels, arguments and source lines."""

from __future__ import annotations

from mfmasim.codeobject.descriptor import KernelDescriptor
from mfmasim.codeobject.model import Argument, CodeObject, KernelInfo, KernelMetadata, Relocation, Segment, Symbol
from mfmasim.codeobject.reader import load, read

__all__ = [
    "Argument",
    "CodeObject",
    "KernelDescriptor",
    "KernelInfo",
    "KernelMetadata",
    "Relocation",
    "Segment",
    "Symbol",
    "load",
    "read",
]
