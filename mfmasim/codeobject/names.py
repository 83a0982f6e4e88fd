"""Kernel names: enough of the Itanium C++ mangling to find a kernel by the name in its source.

Source: Itanium C++ ABI, section 5.1 "External Names". Parameters are not read; template arguments are read only
to find where they end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mfmasim.errors import MfmasimError, unknown

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["demangle", "find"]

# Names nest as deep as templates in templates; no kernel nests this deep.
_DEEPEST = 60

_BUILTIN = frozenset("vwbcahstijlmxynofdegz")
_QUALIFIERS = frozenset("rVKPROCG")
_ABBREVIATIONS = frozenset("tabsiod")  # St, Sa, Sb, Ss, Si, So, Sd


class _UnreadableError(Exception):
    """The name uses mangling that kernel names do not need, or is damaged."""


class _Reader:
    """Reads one mangled name from left to right."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.depth = 0

    def peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def take(self, token: str) -> bool:
        if not self.text.startswith(token, self.at):
            return False
        self.at += len(token)
        return True

    def number(self) -> int:
        start = self.at
        while self.peek().isdecimal() and self.at - start < 6:
            self.at += 1
        if start == self.at:
            raise _UnreadableError
        return int(self.text[start : self.at])

    def until(self, mark: str) -> None:
        end = self.text.find(mark, self.at)
        if end < 0:
            raise _UnreadableError
        self.at = end + len(mark)

    def source_name(self) -> str:
        length = self.number()
        found = self.text[self.at : self.at + length]
        if not length or len(found) != length:
            raise _UnreadableError
        self.at += length
        return "(anonymous namespace)" if found.startswith("_GLOBAL__N") else found

    def name(self) -> list[str]:
        """A nested or unscoped name as its parts, without template arguments."""
        if self.take("N"):
            parts: list[str] = []
            while self.peek() in {"r", "V", "K", "R", "O"}:
                self.at += 1
            while not self.take("E"):
                if self.peek() == "I":
                    self.template_arguments()
                elif self.peek() == "S":
                    parts += self.substitution()
                else:
                    parts.append(self.unqualified())
            return parts
        if self.peek() == "S":
            parts = self.substitution()
            return [*parts, self.unqualified()] if parts else parts
        return [self.unqualified()]

    def unqualified(self) -> str:
        self.take("L")  # internal linkage
        found = self.source_name()
        while self.take("B"):  # abi tag
            self.source_name()
        return found

    def substitution(self) -> list[str]:
        """A back reference, which is not followed, or the namespace std."""
        self.at += 1
        if self.take("t"):
            return ["std"]
        if self.peek() in _ABBREVIATIONS and self.peek():
            self.at += 1
            return []
        self.until("_")
        return []

    def template_arguments(self) -> None:
        self.at += 1
        while not self.take("E"):
            self.argument()

    def argument(self) -> None:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise _UnreadableError
        if self.take("J"):  # a parameter pack
            while not self.take("E"):
                self.argument()
        elif self.take("L"):
            if self.peek() == "_":  # the name of a function or variable
                raise _UnreadableError
            self.type()
            self.until("E")  # the value: digits, a sign, or the hexadecimal digits of a float
        else:
            self.type()
        self.depth -= 1

    def type(self) -> None:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise _UnreadableError
        while self.peek() in _QUALIFIERS and self.peek():
            self.at += 1
        char = self.peek()
        if char in _BUILTIN and char:
            self.at += 1
        elif char == "D":
            self._extended()
        elif self.take("U"):  # an address space and other vendor qualifiers
            self.source_name()
            self.type()
        elif self.take("u"):
            self.source_name()
        elif self.take("A"):
            self.until("_")
            self.type()
        elif self.take("F"):
            while not self.take("E"):
                self.type()
        elif char in {"S", "N"} or char.isdecimal():
            self.name_or_substitution()
        else:
            raise _UnreadableError
        self.depth -= 1

    def name_or_substitution(self) -> None:
        if self.peek() == "S":
            std = self.substitution()
            if std:
                self.unqualified()
        else:
            self.name()
        if self.peek() == "I":
            self.template_arguments()

    def _extended(self) -> None:
        """Types that start with D: _Float16, __bf16, vectors, nullptr_t, ..."""
        self.at += 1
        if self.take("v"):  # Dv<count>_<element>
            self.number()
            self.until("_")
            self.type()
        elif self.take("F"):  # DF16_, DF16b
            self.number()
            if not (self.take("_") or self.take("b") or self.take("x")):
                raise _UnreadableError
        elif self.take("p"):  # a pack expansion
            self.type()
        elif self.peek() in set("hdefisuanc"):
            self.at += 1
        else:
            raise _UnreadableError


def demangle(name: str) -> str:
    """Qualified function name without template arguments and parameters.

    Args:
        name: a symbol.

    Returns:
        ``ns::gemm`` for ``_ZN2ns4gemmIfEEvPT_``; the symbol itself when it is not mangled, or mangled in a way that
        kernels do not need (operators, local functions, ...).

    >>> demangle("_Z4gemmPKfS0_Pf"), demangle("_ZN2ns4gemmIfLi3EEEvPT_"), demangle("plain")
    ('gemm', 'ns::gemm', 'plain')
    """
    if not name.startswith("_Z"):
        return name
    reader = _Reader(name[2:])
    try:
        parts = reader.name()
    except _UnreadableError:
        return name
    return "::".join(parts) if parts else name


def find(name: str, symbols: Iterable[str], where: str) -> str:
    """Find the one symbol that matches a name.

    Args:
        name: mangled, qualified or plain.
        symbols: mangled names.
        where: the file, for the error.

    Returns:
        The mangled name.

    Raises:
        MfmasimError: none or several match.
    """
    symbols = list(symbols)
    if name in symbols:
        return name
    readable = {symbol: demangle(symbol) for symbol in symbols}
    found = [symbol for symbol in symbols if readable[symbol] == name]
    found = found or [symbol for symbol in symbols if readable[symbol].rpartition("::")[2] == name]
    if len(found) == 1:
        return found[0]
    if found:
        raise MfmasimError(f"{where}: kernel {name!r} is ambiguous; give one of {', '.join(found)}")
    if not symbols:
        raise MfmasimError(f"{where}: no kernel {name!r}; the file has no kernels")
    raise unknown("kernel", name, dict.fromkeys([*readable.values(), *symbols]), f"in {where}")
