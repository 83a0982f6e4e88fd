"""Code objects: the ELF files an AMD GPU loads, their kernels, arguments and source lines."""

from __future__ import annotations

from mfmasim.codeobject.descriptor import KernelDescriptor
from mfmasim.codeobject.model import CodeObject
from mfmasim.codeobject.reader import load, read
from mfmasim.codeobject.records import Argument, KernelInfo, KernelMetadata, Relocation, Segment, Symbol

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
