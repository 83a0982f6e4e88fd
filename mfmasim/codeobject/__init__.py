"""Code objects: the ELF files an AMD GPU loads, their kernels, arguments and source lines."""

from __future__ import annotations

from mfmasim.codeobject.bundle import Entry
from mfmasim.codeobject.containers import entries
from mfmasim.codeobject.ctypes import CType, array_of
from mfmasim.codeobject.declared import Declared, LdsVariable, Parameter, lds_layout
from mfmasim.codeobject.declared_dwarf import read_dwarf
from mfmasim.codeobject.declared_ir import direct_loads, read_ir
from mfmasim.codeobject.descriptor import KernelDescriptor
from mfmasim.codeobject.mangling import signature
from mfmasim.codeobject.model import CodeObject
from mfmasim.codeobject.names import shown
from mfmasim.codeobject.reader import load, read
from mfmasim.codeobject.records import Argument, KernelInfo, KernelMetadata, Relocation, Segment, Symbol

__all__ = [
    "Argument",
    "CType",
    "CodeObject",
    "Declared",
    "Entry",
    "KernelDescriptor",
    "KernelInfo",
    "KernelMetadata",
    "LdsVariable",
    "Parameter",
    "Relocation",
    "Segment",
    "Symbol",
    "array_of",
    "direct_loads",
    "entries",
    "lds_layout",
    "load",
    "read",
    "read_dwarf",
    "read_ir",
    "shown",
    "signature",
]
