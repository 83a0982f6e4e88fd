"""C++ types with their layout, as debug information describes them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

DEEPEST = 40
SAME = ("DW_TAG_const_type", "DW_TAG_volatile_type", "DW_TAG_restrict_type", "DW_TAG_atomic_type")
ENCODINGS = {1: "uint", 2: "bool", 4: "float", 5: "int", 6: "int", 7: "uint", 8: "uint", 16: "uint"}
"""DW_ATE_address, boolean, float, signed, signed_char, unsigned, unsigned_char, UTF."""


@dataclass(frozen=True, eq=False)
class Type:
    """A type and its layout."""

    name: str
    kind: str
    """``int``, ``uint``, ``float``, ``bfloat``, ``bool``, ``pointer``, ``array``, ``struct``, ``void``."""
    size: int
    """In bytes."""
    element: Type | None = None
    count: int = 0
    fields: dict[str, tuple[int, Type]] = field(default_factory=dict)
    """For a structure: byte offset and type by name."""
    names: dict[int, str] = field(default_factory=dict)
    """For an enumeration: its enumerators."""

    @property
    def number_format(self) -> str:
        """The format of its numbers, for `mfmasim.format`; empty for types other than floats."""
        if self.kind == "bfloat":
            return "bf16"
        return {2: "f16", 4: "f32", 8: "f64"}.get(self.size, "") if self.kind == "float" else ""


class Types:
    """Types of one file, each read once."""

    def __init__(self) -> None:
        """None yet."""
        self._known: dict[int, Type] = {}

    def of(self, die: Any, depth: int = 0) -> Type | None:
        """The type that an entry refers to; None for void and for types that nest too deeply."""
        if depth > DEEPEST or "DW_AT_type" not in die.attributes:
            return None
        found = die.get_DIE_from_attribute("DW_AT_type")
        if found.offset not in self._known:
            made = self._read(found, depth + 1)
            if made is None:
                return None
            self._known[found.offset] = made
        return self._known[found.offset]

    def _read(self, die: Any, depth: int) -> Type | None:
        tag = die.tag
        size = die.attributes["DW_AT_byte_size"].value if "DW_AT_byte_size" in die.attributes else 0
        given = die.attributes.get("DW_AT_name")
        name = given.value.decode("utf-8", "replace") if given is not None else ""
        if tag == "DW_TAG_base_type":
            kind = ENCODINGS.get(die.attributes["DW_AT_encoding"].value, "uint")
            return Type(name, "bfloat" if "bf16" in name else kind, size)
        if tag == "DW_TAG_pointer_type" or tag.endswith("reference_type"):
            inner = self.of(die, depth)
            mark = "*" if tag == "DW_TAG_pointer_type" else "&"
            return Type(f"{inner.name if inner else 'void'}{mark}", "pointer", size or 8, inner)
        inner = self.of(die, depth)
        if tag in SAME or tag == "DW_TAG_typedef":
            return inner and (inner if not name else _renamed(inner, name))
        if tag == "DW_TAG_enumeration_type":
            names = {
                child.attributes["DW_AT_const_value"].value: child.attributes["DW_AT_name"].value.decode()
                for child in die.iter_children()
                if child.tag == "DW_TAG_enumerator"
            }
            return Type(name, inner.kind if inner else "int", size, names=names)
        if tag == "DW_TAG_array_type" and inner is not None:
            counts = [_count(part) for part in die.iter_children() if part.tag == "DW_TAG_subrange_type"]
            for count in reversed(counts or [0]):
                inner = Type(_array_name(inner.name, count), "array", inner.size * count, inner, count)
            return inner if not size else Type(inner.name, "array", size, inner.element, inner.count)
        if tag in ("DW_TAG_structure_type", "DW_TAG_class_type", "DW_TAG_union_type"):
            fields: dict[str, tuple[int, Type]] = {}
            for child in die.iter_children():
                if child.tag not in ("DW_TAG_member", "DW_TAG_inheritance") or len(fields) > 1000:
                    continue
                own = self.of(child, depth)
                where = child.attributes.get("DW_AT_data_member_location")
                place = where.value if where is not None and isinstance(where.value, int) else 0
                label = child.attributes.get("DW_AT_name")
                if own is None or "DW_AT_external" in child.attributes:
                    continue
                if label is None:  # a base class, or an anonymous union
                    fields |= {inside: (place + at, one) for inside, (at, one) in own.fields.items()}
                else:
                    fields[label.value.decode("utf-8", "replace")] = (place, own)
            return Type(name, "struct", size, fields=fields)
        return inner


def _renamed(inner: Type, name: str) -> Type:
    return Type(name, inner.kind, inner.size, inner.element, inner.count, inner.fields, inner.names)


def _count(part: Any) -> int:
    if "DW_AT_count" in part.attributes:
        value = part.attributes["DW_AT_count"].value
        return value if isinstance(value, int) else 0
    upper = part.attributes.get("DW_AT_upper_bound")
    return upper.value + 1 if upper is not None and isinstance(upper.value, int) else 0


def _array_name(inner: str, count: int) -> str:
    head, bracket, tail = inner.partition("[")
    return f"{head}[{count}]{bracket}{tail}"
