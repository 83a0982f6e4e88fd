"""Objects by which a case's function cannot distinguish a traced size from a plain number; all others are reported.

A traced size behaves as an integer in arithmetic, comparisons and `isinstance`. Code that uses `type`, `getattr` or
functions of other libraries could distinguish the two, and take another path in plain runs than in the traced run. The
tables here list harmless objects; every other object counts as harmful.
"""

from __future__ import annotations

import builtins
import enum
import functools
import numbers
import re
import sys
from pathlib import PurePath
from types import (
    BuiltinFunctionType,
    FunctionType,
    GenericAlias,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
)
from typing import Any

import numpy as np

from mfmasim.prove.factors import Factor
from mfmasim.prove.integers import Repeated, Traced

__all__ = ["harmful", "package"]

FUNCTIONS = (
    "abs", "all", "any", "bin", "bool", "bytes", "callable", "chr", "classmethod", "complex", "dict", "divmod",
    "enumerate", "filter", "float", "format", "frozenset", "hex", "int", "isinstance", "iter", "len", "list", "map",
    "max", "min", "next", "object", "oct", "ord", "pow", "print", "property", "range", "repr", "reversed", "round",
    "set", "slice", "sorted", "staticmethod", "str", "sum", "tuple", "zip",
)  # fmt: skip
"""Built-in functions and classes that read nothing of a number but its value; the read is recorded."""
BUILT_IN = frozenset(id(getattr(builtins, name)) for name in FUNCTIONS)
MODULES = {"math": None, "_functools": frozenset({"reduce"})}
"""Modules whose functions, all or some, read nothing of a number but its value."""
ARRAYS = frozenset({
    "abs", "all", "any", "arange", "argmax", "argmin", "argsort", "array", "asarray", "ascontiguousarray",
    "broadcast_to", "ceil", "clip", "concatenate", "cumsum", "default_rng", "diff", "dot", "einsum", "empty", "eye",
    "flip", "flatnonzero", "floor", "frombuffer", "full", "hstack", "identity", "indices", "linspace", "matmul", "max",
    "maximum", "mean", "min", "minimum", "moveaxis", "nonzero", "ones", "outer", "pad", "permutation", "prod", "ravel",
    "repeat", "reshape", "roll", "rollaxis", "rot90", "round", "sort", "split", "squeeze", "stack", "sum", "swapaxes",
    "take", "tile", "transpose", "tril", "triu", "unique", "vstack", "where", "zeros",
})  # fmt: skip
"""Functions of NumPy that make arrays of numbers: for a traced number by `Traced.__array__`, which is recorded."""
CALLS = frozenset({functools.partial, Any})
"""Classes that only call their argument, or that have no effect."""
CACHES = frozenset({functools.cache, functools.lru_cache})
"""Functions that read the hash of a number; the read is recorded."""
GENERATED = {
    "dataclasses": ("__repr__",),
    "reprlib": ("__repr__",),
    "collections": ("__repr__", "_make", "_replace", "_asdict", "__getnewargs__"),
}
"""Methods that are generated for data classes and named tuples."""
ABSTRACT = (numbers.Number, numbers.Complex, numbers.Real, numbers.Rational, numbers.Integral)
ENUMS = frozenset({enum.Enum, enum.IntEnum, enum.Flag, enum.IntFlag})
PLAIN = (int, float, complex, str, bytes, range, slice, np.generic, np.dtype, np.ufunc, PurePath, re.Pattern)
DESCRIPTORS = (GetSetDescriptorType, MemberDescriptorType)
OWN = ("mfmasim", "numpy", "ml_dtypes")
"""Packages whose classes are known."""


def package(module: object) -> str:
    """The package of a module by its name."""
    return str(module).split(".", maxsplit=1)[0]


def harmful(value: Any, seen: dict[int, Any] | None = None) -> str:
    """The part of an object that is not known to be harmless; empty if all of it is.

    Args:
        value: any argument of a case's function, or the value of a name in it.
        seen: objects that were examined, by their ids; this call adds its own. A harmless object stays harmless, as
            only examined code can change it.
    """
    return _harmful(value, {} if seen is None else seen)


def _harmful(value: Any, seen: dict[int, Any]) -> str:
    kind = type(value)
    if value is None or value is Ellipsis or value is NotImplemented or kind in _SIMPLE:
        return ""
    if kind is np.ndarray and not value.dtype.hasobject:
        return ""
    if id(value) in seen:
        return ""
    seen[id(value)] = value
    if issubclass(kind, type):
        return _of_class(value, seen)
    if issubclass(kind, PLAIN) and package(kind.__module__) in ("builtins", "pathlib", "re", *OWN):
        return ""
    if issubclass(kind, ModuleType):
        return f"the module {value.__name__}"
    if kind is BuiltinFunctionType:
        return "" if _built_in(value) else f"the function {value.__name__}"
    if kind is FunctionType:
        module = str(value.__globals__.get("__name__"))
        if package(module) in ("numpy", *sys.stdlib_module_names) or module.startswith("mfmasim.prove"):
            known = package(module) == "numpy" and value.__name__ in ARRAYS
            known |= value in CACHES or value.__name__ in GENERATED.get(module, ())
            return "" if known else f"the function {value.__name__}"
        return _first(value.__dict__.values(), seen)
    if kind is MethodType:
        return _first((value.__func__, value.__self__), seen)
    if kind is functools.partial:
        return _first((value.func, *value.args, *value.keywords.values()), seen)
    if kind is _CACHED:
        value.cache_clear()  # the function that it calls is examined when it runs
        return _harmful(getattr(value, "__wrapped__", None), seen)
    if kind in (staticmethod, classmethod):
        return _harmful(value.__func__, seen)
    if kind is property:
        return _first((value.fget, value.fset, value.fdel), seen)
    if kind is GenericAlias or kind in DESCRIPTORS or kind.__name__ == "_tuplegetter":
        return ""
    if kind is np.ndarray:
        return _first(value.ravel().tolist(), seen)
    if "numpy" in (package(kind.__module__), package(getattr(value, "__module__", None))):
        known = value.__name__ in ARRAYS if callable(value) and hasattr(value, "__name__") else not callable(value)
        return "" if known else f"the function {getattr(value, '__name__', kind.__name__)}"
    return _of_instance(value, seen)


_CACHED = type(functools.cache(int))
_SIMPLE = frozenset({Traced, Repeated, Factor, bool, int, float, complex, str, bytes})


def _first(values: Any, seen: dict[int, Any]) -> str:
    return next((why for one in values if (why := _harmful(one, seen))), "")


def _built_in(value: Any) -> bool:
    """Whether a function in C is in the tables: a built-in, a function of a module, or a method of a known object."""
    if id(value) in BUILT_IN:
        return True
    owner = value.__self__
    if owner is None or isinstance(owner, ModuleType):
        module = str(value.__module__ if owner is None else owner.__name__)
        if package(module) == "numpy":
            return value.__name__ in ARRAYS
        known = MODULES.get(module, frozenset())
        return known is None or value.__name__ in known
    return value.__name__ not in ("format", "format_map") and not harmful(owner)


def _of_class(value: Any, seen: dict[int, Any]) -> str:
    name = f"the class {value.__name__}"
    if value in ABSTRACT or value in ENUMS or value in CALLS or id(value) in BUILT_IN:
        return ""
    if value.__module__ == "collections.abc":
        return name if issubclass(Traced, value) and not issubclass(int, value) else ""
    if issubclass(value, BaseException) and value.__module__ == "builtins":
        return ""
    if value.__module__.startswith("mfmasim.prove") or type(value) not in (type, enum.EnumMeta):
        return name if package(value.__module__) not in ("mfmasim", "numpy") else ""
    if package(value.__module__) in OWN or issubclass(value, PurePath):
        return ""
    if value.__module__ in ("builtins", "functools", "collections", "operator", "types", "inspect", "typing"):
        return name
    bases = [base for base in value.__mro__[1:] if base is not object and base not in _INNER]
    own = [one for key, one in vars(value).items() if not _special(key) or isinstance(one, FunctionType | MethodType)]
    return _first(bases, seen) or _first(own, seen)


_INNER = tuple(base for one in ENUMS for base in one.__mro__ if base.__module__ in ("enum", "builtins"))


def _special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def _of_instance(value: Any, seen: dict[int, Any]) -> str:
    kind = type(value)
    if package(kind.__module__) in OWN and not kind.__module__.startswith("mfmasim.prove"):
        return ""
    if issubclass(kind, dict):
        inner = _first(value.keys(), seen) or _first(value.values(), seen)
    elif issubclass(kind, list | tuple | set | frozenset):
        inner = _first(value, seen)
    elif kind.__module__ in ("builtins", "functools", "operator", "itertools", "collections"):
        return f"an object of class {kind.__name__}"
    else:
        inner = ""
    slots = [getattr(value, n) for c in kind.__mro__ for n in _slots(c) if hasattr(value, n)]
    own = kind not in (dict, list, tuple, set, frozenset) and _harmful(kind, seen)
    return inner or own or _first([*getattr(value, "__dict__", {}).values(), *slots], seen)


def _slots(kind: type) -> tuple[str, ...]:
    given = kind.__dict__.get("__slots__", ())
    return (given,) if isinstance(given, str) else tuple(n for n in given if not _special(n))
