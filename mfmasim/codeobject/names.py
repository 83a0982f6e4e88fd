"""Kernel names: enough of the Itanium C++ mangling to find a kernel by the name in its source."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mfmasim.errors import MfmasimError, unknown

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["demangle", "find"]


def demangle(name: str) -> str:
    """Qualified function name without template arguments and parameters.

    Args:
        name: a symbol.

    Returns:
        ``ns::gemm`` for ``_ZN2ns4gemmIfEEvPKT_``; the symbol itself when it is not mangled, or mangled in a
        way that kernels do not need (local classes, operators, ...).

    >>> demangle("_Z4gemmPKfS0_Pf"), demangle("_ZN2ns4gemmIfLi3EEEvPT_"), demangle("plain")
    ('gemm', 'ns::gemm', 'plain')
    """
    if not name.startswith("_Z"):
        return name
    nested = name.startswith("_ZN")
    parts: list[str] = []
    at = 3 if nested else 2
    while at < len(name):
        if name[at] == "L":  # internal linkage
            at += 1
        if name.startswith("St", at) and not parts:
            parts.append("std")
            at += 2
            continue
        digits = at
        while at < len(name) and name[at].isdecimal():
            at += 1
        if at == digits or at - digits > 4:
            break
        length = int(name[digits:at])
        part = name[at : at + length]
        if len(part) != length or not length:
            return name
        parts.append("(anonymous namespace)" if part.startswith("_GLOBAL__N") else part)
        at += length
        if not nested:
            break
        if at < len(name) and name[at] == "I":  # template arguments of this part: they end at its matching E
            at = _skip_template(name, at)
    return "::".join(parts) if parts else name


def _skip_template(name: str, at: int) -> int:
    """Index after the template arguments that start at ``at``; the end of the name when they are beyond us."""
    depth = 0
    while at < len(name):
        char = name[at]
        if char.isdecimal():
            digits = at
            while at < len(name) and name[at].isdecimal() and at - digits < 5:
                at += 1
            at += int(name[digits:at])
            continue
        if char == "L":  # a literal: type, digits, E
            at = name.find("E", at)
            if at < 0:
                break
        elif char in "IJNXF":
            depth += 1
        elif char == "E":
            depth -= 1
            if depth == 0:
                return at + 1
        elif char == "S":  # a substitution: S_, S0_, or a two-letter abbreviation
            end = at + 1
            while end < len(name) and (name[end].isdecimal() or name[end].isupper()):
                end += 1
            at = end
        at += 1
    return len(name)


def find(name: str, symbols: Iterable[str], where: str) -> str:
    """Find the one symbol that a name means.

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
