"""Kernel names: a kernel is found by the name in its source, with or without namespaces and template arguments."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from mfmasim.codeobject.mangling import signature
from mfmasim.errors import MfmasimError, unknown


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
    found = signature(name)
    return found.name if found is not None else name


def shown(name: str) -> str:
    """The name of a function as C++ writes it, with template arguments; the symbol itself where it cannot be read."""
    found = signature(name)
    return found.full if found is not None else name


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
    if not isinstance(name, str):
        raise MfmasimError(f"{where}: a kernel is named by a text, not {name!r}")
    if name in symbols:
        return name
    wanted = _normal(name)
    readable = {symbol: shown(symbol) for symbol in symbols}
    for names in (_whole, _qualified, _plain):
        found = [symbol for symbol in symbols if wanted in names(symbol)]
        if len(found) == 1:
            return found[0]
        if found:
            choice = ", ".join(_unique(readable[symbol], symbol, readable) for symbol in found)
            raise MfmasimError(f"{where}: kernel {name!r} is ambiguous; give one of {choice}")
    if not symbols:
        raise MfmasimError(f"{where}: no kernel {name!r}; the file has no kernels")
    raise unknown("kernel", name, dict.fromkeys(readable.values()), f"in {where}")


def _unique(text: str, symbol: str, readable: Mapping[str, str]) -> str:
    """The readable name, or the symbol where several kernels share it (overloads)."""
    return text if list(readable.values()).count(text) == 1 else symbol


def _whole(symbol: str) -> set[str]:
    """Names with template arguments; with parameters, too."""
    found = signature(symbol)
    if found is None:
        return {symbol}
    parameters = ",".join(_normal(parameter.text) for parameter in found.parameters or ())
    full = _normal(found.full)
    own = (
        full[len(found.name.rpartition("::")[0]) + 2 :] if "::" in found.name and full.startswith(found.name) else full
    )
    return {full, own, f"{full}({parameters})", f"{own}({parameters})"}


def _qualified(symbol: str) -> set[str]:
    return {_normal(demangle(symbol))}


def _plain(symbol: str) -> set[str]:
    return {_normal(demangle(symbol).rpartition("::")[2])}


_SUFFIX = re.compile(r"\b(\d+)[uUlL]+\b")
_WORDS = {"uint32_t": "unsigned int", "int32_t": "int", "uint16_t": "unsigned short", "int16_t": "short",
          "uint8_t": "unsigned char", "int8_t": "signed char", "uint64_t": "unsigned long", "int64_t": "long",
          "size_t": "unsigned long", "unsigned": "unsigned int"}  # fmt: skip
_WORD = re.compile(r"\bunsigned\b(?! *(?:int|char|short|long))|\b(?:u?int(?:8|16|32|64)_t|size_t)\b")
_CONST = re.compile(r"\b([\w:]+) const\b")


def _normal(name: str) -> str:
    """A name without what does not distinguish it: spaces, suffixes of numbers, names of built-in types."""
    text = _WORD.sub(lambda match: _WORDS[match[0]], name)
    return _SUFFIX.sub(r"\1", _CONST.sub(r"const \1", " ".join(text.split()))).replace(" ", "")
