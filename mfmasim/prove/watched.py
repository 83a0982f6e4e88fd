"""Operations of a case's function beyond arithmetic: every function that runs may only use known harmless objects.

A traced size does not have the class of a plain number. A function that distinguishes the two, by class, attributes,
identity or an exception, may take a path in plain runs that the traced run does not take. So the instructions of all
code of the case that runs in a traced run are examined: the names that they load, attributes and arguments. Objects
that are not known to be harmless (`mfmasim.prove.harmless`) are recorded.
"""

from __future__ import annotations

import dis
import sys
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from mfmasim.prove.harmless import harmful, package

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType, FrameType

__all__ = ["watching"]

TRUSTED = frozenset({"mfmasim", "numpy", "ml_dtypes", "enum", "pathlib", "importlib", "_frozen_importlib", "abc"})
"""Packages whose own code is not examined; the case's calls of it are (`mfmasim.prove.harmless`)."""
SPECIAL = frozenset({"__init__", "__post_init__", "__setattr__", "__name__", "__file__", "__enter__", "__exit__"})
"""Special attributes that do not depend on a number's class."""
INNER = frozenset({
    "format", "format_map", "gi_frame", "gi_code", "cr_frame", "ag_frame", "tb_frame", "f_locals", "f_globals",
    "f_builtins", "f_back", "mro",
})  # fmt: skip
"""Attributes that give access to other objects by a text, or to unseen objects."""
KNOWN = {
    "functools": frozenset({"cache", "lru_cache", "decorating_function", "update_wrapper", "wraps"}),
    "threading": frozenset({"RLock"}),
}
"""Functions that memoise results, whose callees are examined; and one that a generator of random numbers calls. The
functions of `typing` are known, too, for annotations."""
MATCHED = frozenset({"polynomial", "value", "elements", "times"})
"""Attributes that a traced size has and an integer does not have: a pattern tests them without an exception."""


class Name(NamedTuple):
    """A name that code loads, and its attributes."""

    line: int
    name: str
    attributes: tuple[str, ...]


class Looks(NamedTuple):
    """The names and operations of a code object that may be harmful."""

    problem: str
    """An operation that is not known to be harmless, whatever its names are, with its line; or empty."""
    loaded: tuple[Name, ...]
    """Names of the module, and built-in names."""
    free: tuple[Name, ...]
    """Names of enclosing functions."""
    imported: tuple[Name, ...]
    """Modules, by their full names."""


@contextmanager
def watching(lost: list[str]) -> Iterator[None]:
    """Examine all functions that run within the block.

    Args:
        lost: receives objects that are not known to be harmless, with file and line.
    """
    seen: set[tuple[int, int]] = set()
    kept: list[object] = []  # keeps the objects alive, so that no other object gets their id
    trusted: set[int] = set()
    clean: dict[int, Any] = {}

    def called(frame: FrameType, event: str, _: Any) -> None:
        if event != "call" or id(frame.f_globals) in trusted:
            return
        if _trusted(frame):
            if package(frame.f_globals.get("__name__")) in TRUSTED:
                trusted.add(id(frame.f_globals))
            return
        code = frame.f_code
        key = id(code), id(frame.f_globals)
        looks = _looks(code)
        found: list[tuple[int, str]] = []
        if key not in seen:
            seen.add(key)
            kept.extend((code, frame.f_globals))
            found += _named(frame, looks, clean)
        found += _given(frame, looks, clean)
        for line, why in found:
            text = f"{Path(code.co_filename).name}:{line}: {why}, which may tell sizes from plain numbers"
            if text not in lost:
                lost.append(text)

    # A trace function for calls alone costs less; that of a debugger or of a coverage run stays in place.
    free = sys.gettrace() is None
    before = sys.getprofile()
    (sys.settrace if free else sys.setprofile)(called)
    try:
        yield
    finally:
        if free:
            sys.settrace(None)
        else:
            sys.setprofile(before)


def _trusted(frame: FrameType) -> bool:
    """Whether code belongs to a trusted package, unchanged since its import, or is called by such code."""
    one: FrameType | None = frame
    while one is not None:
        name = str(one.f_globals.get("__name__"))
        module = sys.modules.get(name)
        if module is None or module.__dict__ is not one.f_globals:
            return False
        if package(name) in TRUSTED:
            return True
        if package(name) not in sys.stdlib_module_names:
            return False
        one = one.f_back
    return False


def _named(frame: FrameType, looks: Looks, clean: dict[int, Any]) -> Iterator[tuple[int, str]]:
    """Harmful operations of a frame's code, by themselves or by the values of global names."""
    line = frame.f_code.co_firstlineno
    module = str(frame.f_globals.get("__name__"))
    if package(module) in sys.stdlib_module_names:
        if frame.f_code.co_name not in KNOWN.get(module, (frame.f_code.co_name,) if module == "typing" else ()):
            yield line, f"{frame.f_code.co_name} of {module}"
        return
    if looks.problem:
        number, _, why = looks.problem.partition(" ")
        yield int(number), why
    for one in looks.loaded:
        for scope in (frame.f_globals, frame.f_builtins):
            if one.name in scope:
                yield from _value(one, scope[one.name], clean)
                break
    for one in looks.imported:
        if one.name in sys.modules:
            yield from _value(one, sys.modules[one.name], clean)
        else:
            yield one.line, f"the module {one.name}"


def _given(frame: FrameType, looks: Looks, clean: dict[int, Any]) -> Iterator[tuple[int, str]]:
    """Harmful objects among a function's arguments and the variables of enclosing functions."""
    code = frame.f_code
    if not code.co_flags & 1 or package(frame.f_globals.get("__name__")) in sys.stdlib_module_names:  # or a body
        return
    held = frame.f_locals
    count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4) + bool(code.co_flags & 8)
    for name in code.co_varnames[:count]:
        # ".0": the iterator of a comprehension, which the enclosing function has made.
        if name != ".0" and name in held and (why := harmful(held[name], clean)):
            yield code.co_firstlineno, why
    for one in looks.free:
        if one.name in held:
            yield from _value(one, held[one.name], clean)


def _value(one: Name, value: Any, clean: dict[int, Any]) -> Iterator[tuple[int, str]]:
    """The harmful part of a value; for a module, the attribute that the code reads."""
    for place, attribute in enumerate(one.attributes):
        if not isinstance(value, ModuleType):
            for other in one.attributes[place:]:
                if why := _attribute(other):
                    yield one.line, why
            break
        value = "" if attribute in SPECIAL else getattr(value, attribute, None)
    if why := harmful(value, clean):
        yield one.line, why


@lru_cache(maxsize=512)
def _looks(code: CodeType) -> Looks:
    every = [
        i
        for i in dis.get_instructions(code)
        if i.opname not in ("PUSH_NULL", "CACHE", "EXTENDED_ARG", "COPY_FREE_VARS")
    ]
    problem, line = "", code.co_firstlineno
    names: dict[str, list[Name]] = {"loaded": [], "free": [], "imported": []}
    local, chained = _imports(every), 0
    for k, ins in enumerate(every):
        line = _line(ins) or line
        op, name = ins.opname, str(ins.argval)
        why, kind, full = "", "", name
        if op in _GLOBAL:
            kind = "loaded"
        elif op in _FREE and name in code.co_freevars:
            kind = "free"
        elif op in _LOCAL and name in local:
            kind, full = "imported", local[name]
        if kind:
            attributes = _attributes(every, k)
            names[kind].append(Name(line, full, attributes))
            chained = k + len(attributes)
        elif op.startswith("LOAD_FAST") and isinstance(ins.argval, tuple) and set(ins.argval) & set(local):
            why = "a module"
        elif op in _ATTRIBUTE and k > chained:
            why = _attribute(name)
        elif op == "IMPORT_NAME":
            why = _import(every, k, names["imported"], line)
        elif op == "IS_OP" and not (every[k - 1].opname == "LOAD_CONST" and _single(every[k - 1].argval)):
            why = "the identity of an object"
        elif op == "MATCH_CLASS":
            asked = every[k - 1].argval
            if not isinstance(asked, tuple) or MATCHED & set(asked) or any(_attribute(str(n)) for n in asked):
                why = "a pattern of attributes"
        elif op == "POP_EXCEPT":
            why = "a handler of exceptions"
        if why and not problem:
            problem = f"{line} {why}"
    return Looks(problem, tuple(names["loaded"]), tuple(names["free"]), tuple(names["imported"]))


_GLOBAL = frozenset({"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"})
_FREE = frozenset({"LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF"})
_LOCAL = frozenset({"LOAD_FAST", "LOAD_FAST_CHECK", "LOAD_FAST_BORROW", "LOAD_DEREF", "LOAD_CLOSURE"})
_ATTRIBUTE = frozenset({"LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR"})


def _line(ins: dis.Instruction) -> int | None:
    return ins.positions.lineno if ins.positions is not None else None


def _attribute(name: str) -> str:
    special = name.startswith("__") and name.endswith("__") and name not in SPECIAL
    return f"the attribute {name}" if special or name in INNER else ""


def _single(value: object) -> bool:
    """Whether only one object of this value exists."""
    return value is None or value is True or value is False or value is ...


def _attributes(every: list[dis.Instruction], at: int) -> tuple[str, ...]:
    """Attributes that code reads from the object that an instruction has loaded."""
    found = []
    for ins in every[at + 1 :]:
        if ins.opname not in _ATTRIBUTE or ins.is_jump_target:
            break
        found.append(str(ins.argval))
    return tuple(found)


def _imports(every: list[dis.Instruction]) -> dict[str, str]:
    """Local names of modules that code imports, unless the code stores something else in the name, too."""
    found: dict[str, str] = {}
    for before, ins in zip([every[0], *every], every, strict=False):
        if ins.opname.startswith(("STORE_FAST", "STORE_DEREF")):
            module = str(before.argval) if before.opname == "IMPORT_NAME" else ""
            for name in ins.argval if isinstance(ins.argval, tuple) else (str(ins.argval),):
                if module or name in found:
                    found[name] = module if found.get(name, module) == module else ""
    return found


def _import(every: list[dis.Instruction], at: int, imported: list[Name], line: int) -> str:
    """The harmful part of an import; names that are imported from a module are examined by name."""
    module, after = str(every[at].argval), every[at + 1 :]
    if not after or after[0].opname not in ("IMPORT_FROM", "STORE_FAST", "STORE_DEREF", "STORE_NAME"):
        return f"an import of {module}"
    if after[0].opname == "STORE_NAME" or (after[0].opname != "IMPORT_FROM" and "." in module):
        return f"an import of {module}"
    for ins in after:
        if ins.opname == "IMPORT_FROM":
            imported.append(Name(line, module, (str(ins.argval),)))
        elif ins.opname not in ("STORE_FAST", "STORE_DEREF", "STORE_NAME"):
            break
    return ""
