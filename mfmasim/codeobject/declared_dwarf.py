"""Declarations from debug information (DWARF) in a code object, as ``-g`` leaves it.

Reading is bounded: names make messages readable, so a file with more than `_LARGEST` bytes of debug information goes
without them. Source: DWARF 5, sections 3.3, 4.1 and 5; read with pyelftools.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mfmasim.codeobject.ctypes import CType, array_of, named, pointer_to, qualified, vector_of
from mfmasim.codeobject.declared import Declared, Parameter, Variable
from mfmasim.codeobject.elf import open_elf
from mfmasim.codeobject.guard import parsing
from mfmasim.errors import MfmasimError

_LARGEST = 1 << 19
_DEEPEST = 40
_SECTIONS = (".debug_info", ".debug_abbrev", ".debug_str", ".debug_str_offsets", ".debug_line_str")
_WORDS = {"DW_TAG_const_type": "const", "DW_TAG_volatile_type": "volatile"}


def read_dwarf(data: bytes, name: str, kernels: Iterable[str]) -> dict[str, Declared]:
    """Declarations of kernels.

    Args:
        data: the ELF file.
        name: its name in errors, which are not raised.
        kernels: their symbols.

    Returns:
        By symbol; empty without debug information, or where it is damaged or too large.
    """
    wanted = set(kernels)
    try:
        elf = open_elf(data, name)
        with parsing(name, "debug information"):
            sizes = [max(s["sh_size"], s.data_size) for title in _SECTIONS if (s := elf.get_section_by_name(title))]
            if not sizes or max(sizes) > _LARGEST:
                return {}
            info = elf.get_dwarf_info(relocate_dwarf_sections=False, follow_links=False)
            out = {}
            for unit in info.iter_CUs():
                for child in unit.get_top_DIE().iter_children():
                    if child.tag == "DW_TAG_subprogram":
                        symbol = _text(child, "DW_AT_linkage_name") or _text(child, "DW_AT_name")
                        # Line tables alone list functions into which others are inlined, without line or parameters.
                        if symbol in wanted and child.has_children and "DW_AT_decl_line" in child.attributes:
                            out[symbol] = _declared(child)
            return out
    except MfmasimError:
        return {}


def _declared(program: Any) -> Declared:
    parameters, variables = [], []
    for child in program.iter_children():
        if child.tag == "DW_TAG_formal_parameter":
            parameters.append(Parameter(_text(child, "DW_AT_name"), _type(child)))
        elif child.tag == "DW_TAG_variable" and "DW_AT_location" not in child.attributes and not parameters:
            # LLVM lists static variables before parameters and locals; those of the LDS have no location.
            kind, name = _type(child), _text(child, "DW_AT_name")
            if kind is not None and name:
                # Sorted as by the symbols that the compiler made of the names: length, then name.
                variables.append(Variable(f"{len(name)}{name}", name, kind, kind.size, _alignment(child, kind)))
    return Declared(tuple(parameters), tuple(variables))


def _alignment(variable: Any, kind: CType) -> int:
    """What is declared, else that of an element; Clang aligns arrays of 16 bytes and more to 16."""
    stated = variable.attributes.get("DW_AT_alignment")
    if stated is not None and isinstance(stated.value, int):
        return max(1, stated.value)
    return 16 if kind.kind == "array" and kind.size >= 16 else max(1, min(16, kind.innermost.size))


def _text(die: Any, attribute: str) -> str:
    found = die.attributes.get(attribute)
    if found is None:
        for link in ("DW_AT_abstract_origin", "DW_AT_specification"):
            if link in die.attributes:
                found = die.get_DIE_from_attribute(link).attributes.get(attribute)
    return found.value.decode("utf-8", "replace") if found is not None and isinstance(found.value, bytes) else ""


def _type(die: Any, depth: int = 0) -> CType | None:
    """The type that a DIE refers to; None for void."""
    if depth > _DEEPEST:
        return None
    for link in ("DW_AT_abstract_origin", "DW_AT_specification"):
        if "DW_AT_type" not in die.attributes and link in die.attributes:
            die = die.get_DIE_from_attribute(link)
    if "DW_AT_type" not in die.attributes:
        return None
    found = die.get_DIE_from_attribute("DW_AT_type")
    base = _type(found, depth + 1)
    size = found.attributes["DW_AT_byte_size"].value if "DW_AT_byte_size" in found.attributes else 0
    own = _text(found, "DW_AT_name") or "?"
    if found.tag == "DW_TAG_pointer_type" or found.tag.endswith("reference_type"):
        return pointer_to(base or named("void"), "*" if found.tag == "DW_TAG_pointer_type" else "&")
    if found.tag in _WORDS:
        return qualified(base or named("void"), _WORDS[found.tag])
    if found.tag == "DW_TAG_restrict_type":
        return base
    if found.tag == "DW_TAG_typedef" and base is not None:
        return CType(own, base.kind, base.size, base.element, base.count)
    if found.tag == "DW_TAG_enumeration_type":
        return CType(own, base.kind if base else "int", size)
    if found.tag == "DW_TAG_array_type" and base is not None:
        counts = [
            part.attributes["DW_AT_count"].value if "DW_AT_count" in part.attributes else 0
            for part in found.iter_children()
        ]
        if "DW_AT_GNU_vector" in found.attributes:
            return vector_of(base, counts[0] if counts else 0)
        for count in reversed(counts):
            base = array_of(base, count)
        return base
    return named(own, size)
