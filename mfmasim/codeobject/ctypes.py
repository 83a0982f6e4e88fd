"""C++ types of kernel parameters and variables: as much as a launch and its messages need to know of them."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class CType:
    """A type: its text, and what kind of bytes it stands for."""

    text: str
    """As C++ writes it, qualifiers first: ``const float*``."""
    kind: str
    """``float``, ``bfloat``, ``int``, ``uint``, ``bool``, ``void``, ``pointer``, ``vector``, ``array``, or ``other``:
    structures, and types that are not known."""
    size: int = 0
    """Bytes; 0 where it is not known."""
    element: CType | None = None
    """What a pointer points to, or a vector or an array consists of."""
    count: int = 0
    """Elements of a vector or an array."""

    @property
    def scalar(self) -> CType:
        """The type of the numbers in a vector or an array, else the type itself."""
        return self.element.scalar if self.kind in ("vector", "array") and self.element is not None else self

    @property
    def shape(self) -> tuple[int, ...]:
        """Dimensions of an array, none of any other type."""
        return (self.count, *self.element.shape) if self.kind == "array" and self.element is not None else ()

    @property
    def innermost(self) -> CType:
        """What an array consists of, whatever its dimensions."""
        return self.element.innermost if self.kind == "array" and self.element is not None else self


def pointer_to(element: CType, mark: str = "*") -> CType:
    """A pointer, or a reference with the mark ``&``."""
    if "(" in element.text or element.kind == "array":
        head, bracket, tail = element.text.partition("[")
        return CType(f"{head.rstrip()} ({mark}){bracket}{tail}", "pointer", 8, element)
    return CType(element.text + mark, "pointer", 8, element)


def array_of(element: CType, count: int) -> CType:
    """An array; its first dimension comes first, as in C."""
    head, bracket, tail = element.text.partition("[")
    return CType(f"{head}[{count or ''}]{bracket}{tail}", "array", element.size * count, element, count)


def vector_of(element: CType, count: int) -> CType:
    """A vector of the compiler."""
    return CType(f"{element.text} vector[{count}]", "vector", element.size * count, element, count)


def qualified(inner: CType, word: str) -> CType:
    """The type with ``const`` or ``volatile``, which stands after a pointer and before anything else."""
    text = f"{inner.text} {word}" if inner.kind == "pointer" else f"{word} {inner.text}"
    return CType(text, inner.kind, inner.size, inner.element, inner.count)


_WORDS = re.compile(r"^(?:const |volatile )+")

#  name                   kind      bytes
_NAMED = {
    "void": ("void", 0),
    "bool": ("bool", 1),
    "char": ("int", 1),
    "signed char": ("int", 1),
    "unsigned char": ("uint", 1),
    "short": ("int", 2),
    "unsigned short": ("uint", 2),
    "int": ("int", 4),
    "unsigned int": ("uint", 4),
    "long": ("int", 8),
    "unsigned long": ("uint", 8),
    "long long": ("int", 8),
    "unsigned long long": ("uint", 8),
    "__int128": ("int", 16),
    "unsigned __int128": ("uint", 16),
    "_Float16": ("float", 2),
    "__fp16": ("float", 2),
    "half": ("float", 2),
    "__bf16": ("bfloat", 2),
    "float": ("float", 4),
    "double": ("float", 8),
    "wchar_t": ("int", 4),
    "char8_t": ("uint", 1),
    "char16_t": ("uint", 2),
    "char32_t": ("uint", 4),
    "long double": ("float", 16),
    "__float128": ("float", 16),
    "decltype(nullptr)": ("other", 8),
    "...": ("other", 0),
}


def named(name: str, size: int = 0) -> CType:
    """A type by its name; one that is not built in is of the kind ``other``."""
    kind, own = _NAMED.get(_WORDS.sub("", name), ("other", size))
    return CType(name, kind, own or size)


# Itanium C++ ABI, 5.1.5.2 "Builtin types".
BUILTINS = {
    "v": "void", "w": "wchar_t", "b": "bool", "c": "char", "a": "signed char", "h": "unsigned char", "s": "short",
    "t": "unsigned short", "i": "int", "j": "unsigned int", "l": "long", "m": "unsigned long", "x": "long long",
    "y": "unsigned long long", "n": "__int128", "o": "unsigned __int128", "f": "float", "d": "double",
    "e": "long double", "g": "__float128", "z": "...", "Dh": "half", "Di": "char32_t", "Ds": "char16_t",
    "Du": "char8_t", "Dn": "decltype(nullptr)",
}  # fmt: skip
