"""Contracts with ``in`` and ``or``: the alternatives that they admit, each a contract of its own.

Parameters in the kernel's name select the kernel: they keep the case's values. All other parameters that the contract
names are open in every alternative, also in an alternative that does not name them.
"""

from __future__ import annotations

import ast
import dis
from dataclasses import replace
from inspect import CO_VARARGS, CO_VARKEYWORDS
from itertools import product
from types import FunctionType
from typing import TYPE_CHECKING, NamedTuple

from mfmasim.errors import MfmasimError
from mfmasim.verify.contract import broken, conjuncts, names_in

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from mfmasim.verify import Case

__all__ = ["Alternative", "alternatives", "made_for"]

MOST = 16
"""Most alternatives of a contract."""
REFLECTION = frozenset({"locals", "vars", "eval", "exec", "dir", "_getframe", "currentframe", "stack"})
"""Names by which a function reads parameters that it does not name."""
VALUES = (int, bool, str)
"""Types of the values that a contract may list."""
STEPS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
"""Divisors of the sizes that are tried for an alternative."""


class Alternative(NamedTuple):
    """One way to keep a contract."""

    case: Case
    """The case with this alternative as its contract, a conjunction."""
    open: frozenset[str]
    """Integers that the whole contract names and this alternative does not determine."""


def alternatives(case: Case) -> list[Alternative]:
    """Conjunctions that together admit the parameters that the case's contract admits.

    A parameter that is ``in`` a list has one value of the list in each alternative. A value that is an expression of
    other parameters becomes an equation; the parameter keeps the case's value. Strings and booleans have to be listed.

    Args:
        case: the case.

    Raises:
        MfmasimError: there are too many alternatives, or an alternative leaves a parameter open that is not a number.
    """
    broken(case.needs or "True", case.parameters)  # raises if the text is not a contract
    named = names_in(case.needs)
    numbers = {n for n in named if type(case.parameters[n]) is int}
    listed_only = {n for n in named - numbers if not isinstance(case.parameters[n], float)}
    fixed = {n for n in numbers | listed_only if "{" + n + "}" in case.kernel}
    if read := made_for(case) & named - fixed:
        raise MfmasimError(
            f"{case.name}: the contract names {min(read)}, which the function that makes the code may read: of other "
            "values it may make other code"
        )
    choices = []
    for part in conjuncts(ast.parse(case.needs or "True", mode="eval").body):
        used = {node.id for node in ast.walk(part) if isinstance(node, ast.Name)} & (numbers | listed_only)
        if used <= fixed:  # the alternative does not restrict other sizes
            if why := broken(ast.unparse(part), case.parameters):
                raise MfmasimError(f"{case.name}: the contract {why}")
            continue
        whole: ast.expr = _Fixed({name: case.parameters[name] for name in fixed}).visit(part)
        listed = _listed(whole, case.parameters)
        choices.append(listed or [("", 0, ast.unparse(one)) for one in _disjuncts(whole)])
    every = list(product(*choices)) if choices else [()]
    if len(every) > MOST:
        raise MfmasimError(f"{case.name}: its contract has {len(every)} alternatives, at most {MOST} are followed")
    found = []
    for chosen in every:
        values = {name: value for name, value, text in chosen if name and not text}
        if any(name and not text and values[name] != value for name, value, text in chosen):
            continue
        own = {name: value for name, value, text in chosen if name and text}
        parts = [_Fixed(values).visit(ast.parse(text, mode="eval").body) for *_, text in chosen if text]
        texts = [ast.unparse(part) for part in parts]
        decided = [text for text in texts if not names_in(text)]
        if any(broken(text, {}) for text in decided):  # no size satisfies the alternative
            continue
        needs = " and ".join(f"({text})" for text in texts if text not in decided)
        kept = _kept(needs, {**case.parameters, **own, **values})
        if left := listed_only - fixed - set(values):
            name = min(left)
            raise MfmasimError(
                f"{case.name}: the contract leaves {name}={case.parameters[name]!r} open, which is no integer; it may "
                f"list values, {name} in (...)"
            )
        still = frozenset(numbers - fixed - set(values))
        found.append(Alternative(replace(case, needs=needs, parameters=kept), still))
    return found


def made_for(case: Case) -> set[str]:
    """Parameters that may be read by the function that generates the case's code: other values generate other code."""
    if case.maker is None:
        return set()
    given = {name for name in case.parameters if name not in ("arch", "wave")}
    if not isinstance(case.maker, FunctionType):
        return given
    code = case.maker.__code__
    places = code.co_argcount + code.co_kwonlyargcount
    own, others = set(code.co_varnames[:places]), code.co_varnames[places + bool(code.co_flags & CO_VARARGS) :][:1]
    if not code.co_flags & CO_VARKEYWORDS:
        return given & own
    reads = {one for ins in dis.get_instructions(code) for one in _names(ins.argval)}
    return given & own if reads.isdisjoint({*others, *REFLECTION}) else given


def _names(argval: object) -> tuple[object, ...]:
    return tuple(one for one in argval if isinstance(one, str)) if isinstance(argval, tuple) else (str(argval),)


def _kept(needs: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The case's parameters, raised to the bounds of a contract's ``name >= expression`` where they violate it."""
    parts = list(conjuncts(ast.parse(needs or "True", mode="eval").body))
    for step in STEPS:
        given = dict(parameters)
        for part in parts:
            match part:
                case ast.Compare(left=ast.Name(id=name), ops=[ast.GtE()], comparators=[least]) if broken(
                    ast.unparse(part), given
                ):
                    value = eval(ast.unparse(least), {"__builtins__": {}}, given)  # noqa: S307 - `broken` admits it
                    given[name] = -(-value // step) * step
        if not broken(needs or "True", given):
            return given
    return dict(parameters)


def _disjuncts(node: ast.expr) -> list[ast.expr]:
    """Operands of ``or``, or the condition itself."""
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
        return [one for value in node.values for one in _disjuncts(value)]
    return [node]


def _listed(node: ast.expr, parameters: Mapping[str, Any]) -> list[tuple[str, Any, str]]:
    """Values of ``name in (0, 1, rows * columns)`` by name, and the equation for a value that is not a number."""
    match node:
        case ast.Compare(left=ast.Name(id=name), ops=[ast.In()], comparators=[ast.Tuple(elts=elements)]):
            found = []
            for one in elements:
                text = ast.unparse(one)
                value = eval(text, {"__builtins__": {}}, dict(parameters))  # noqa: S307 - `broken` admits the contract
                if type(value) not in VALUES:
                    return []
                found.append((name, value, "" if isinstance(one, ast.Constant) else f"{name} == {text}"))
            return found
        case ast.Compare(left=ast.Name(id=name), ops=[ast.Eq()], comparators=[ast.Constant(value=value)]):
            return [(name, value, "")] if type(value) in VALUES else []
    return []


class _Fixed(ast.NodeTransformer):
    """Names replaced by numbers."""

    def __init__(self, values: dict[str, Any]) -> None:
        self.values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Constant(self.values[node.id]) if node.id in self.values else node
