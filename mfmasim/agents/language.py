"""References as data: expressions and functions in Python's syntax, of which a fixed part is evaluated.

What an agent sends is never executed by Python: its syntax tree is walked, and names, functions and methods are
looked up in `mfmasim.agents.functions`. There are no attributes beyond those, no imports, no classes and no way to a
file; steps and sizes are counted, so that a reference ends.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from mfmasim.agents.functions import BUILTINS, CONSTANTS, DTYPES, FUNCTIONS, METHODS, MODULES, PROPERTIES
from mfmasim.errors import MfmasimError, unknown

__all__ = ["Function", "evaluate", "function_of"]

MOST_STEPS = 2_000_000
"""Nodes of the syntax tree that an evaluation may visit."""
MOST_TEXT = 20_000
"""Characters of a reference."""
LARGEST = 1 << 26
"""Elements of a value."""

BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.MatMult: operator.matmul,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.Pow: operator.pow,
}
COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
    ast.Not: operator.not_,
}


class _Returned(Exception):  # noqa: N818
    """The value of a function, on its way out of loops."""

    def __init__(self, value: Any) -> None:
        self.value = value


class _Turned(Exception):  # noqa: N818
    """A ``continue`` or a ``break``."""

    def __init__(self, ends: bool) -> None:
        self.ends = ends


class Function:
    """A reference written as ``def f(x, w): ...``; called with arrays, it gives what it returns."""

    def __init__(self, node: ast.FunctionDef, names: Mapping[str, Any]) -> None:
        self.node, self.names = node, dict(names)
        given = node.args
        if given.vararg or given.kwarg or given.kwonlyargs or given.posonlyargs or node.decorator_list:
            raise MfmasimError(f"reference {node.name}: plain parameters alone are expected, and no decorator")
        self.parameters = [one.arg for one in given.args]

    def __call__(self, *values: Any) -> Any:
        """The value for these arguments."""
        if len(values) != len(self.parameters):
            raise MfmasimError(
                f"reference {self.node.name} takes {len(self.parameters)} arrays ({', '.join(self.parameters)}), "
                f"the kernel's inputs are {len(values)}"
            )
        walker = _Walker({**self.names, **dict(zip(self.parameters, values, strict=True))})
        try:
            walker.block(self.node.body)
        except _Returned as found:
            return found.value
        raise MfmasimError(f"reference {self.node.name} ends without a return")


def evaluate(text: str, names: Mapping[str, Any], what: str = "expression") -> Any:
    """The value of an expression.

    Args:
        text: in Python's syntax.
        names: values of its names, beside the functions.
        what: what it is, for messages.

    Raises:
        MfmasimError: it is no expression, or uses what is not known here.

    >>> evaluate("(M // 64, max(N, 1))", {"M": 128, "N": 3})
    (2, 3)
    """
    tree = _parsed(text, what)
    if len(tree) != 1 or not isinstance(tree[0], ast.Expr):
        raise MfmasimError(f"{what} {text[:60]!r}: one expression is expected")
    return _Walker(names).value(tree[0].value)


def function_of(text: str, names: Mapping[str, Any]) -> Function | None:
    """The function that a text defines; None where the text is an expression.

    Args:
        text: ``def f(x): ...``; ``lambda x: ...``; or an expression.
        names: values that it may use beside its parameters, such as sizes.
    """
    tree = _parsed(text, "reference")
    functions = [node for node in tree if isinstance(node, ast.FunctionDef)]
    if not functions:
        if len(tree) == 1 and isinstance(tree[0], ast.Expr) and isinstance(tree[0].value, ast.Lambda):
            made = tree[0].value
            body: list[ast.stmt] = [ast.Return(made.body)]
            node = ast.FunctionDef(name="lambda", args=made.args, body=body, decorator_list=[])
            return Function(node, names)
        return None
    # Imports of NumPy and PyTorch say nothing that is not known: their names are given.
    rest = [node for node in tree if not isinstance(node, ast.FunctionDef | ast.Import | ast.ImportFrom)]
    if len(functions) != 1 or rest:
        raise MfmasimError("reference: one function is expected, and beside it imports alone")
    return Function(functions[0], names)


def _parsed(text: str, what: str) -> list[ast.stmt]:
    if not isinstance(text, str) or len(text) > MOST_TEXT:
        raise MfmasimError(f"{what}: a text of at most {MOST_TEXT:,} characters is expected")
    try:
        return ast.parse(text.strip()).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        said = getattr(error, "msg", str(error))
        raise MfmasimError(f"{what} {text[:60]!r} is not Python: {said}") from None


class _Walker:
    """Evaluates nodes in one scope."""

    def __init__(self, names: Mapping[str, Any], steps: list[int] | None = None) -> None:
        self.names: dict[str, Any] = dict(names)
        self.steps = [0] if steps is None else steps

    def block(self, body: Sequence[ast.stmt]) -> None:
        for node in body:
            self._step(node)
            if isinstance(node, ast.Return):
                raise _Returned(None if node.value is None else self.value(node.value))
            if isinstance(node, ast.Assign):
                value = self.value(node.value)
                for target in node.targets:
                    self._assign(target, value)
            elif isinstance(node, ast.AugAssign):
                old = self.value(_loaded(node.target))
                self._assign(node.target, self._binary(node, type(node.op), old, self.value(node.value)))
            elif isinstance(node, ast.If):
                self.block(node.body if self._truth(node.test) else node.orelse)
            elif isinstance(node, ast.For) and not node.orelse:
                self._loop(node)
            elif isinstance(node, ast.Continue | ast.Break):
                raise _Turned(isinstance(node, ast.Break))
            elif not (
                isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
            ):
                raise MfmasimError(f"reference line {node.lineno}: {_shown(node)} is not evaluated here")

    def _loop(self, node: ast.For) -> None:
        for value in self.value(node.iter):
            self._assign(node.target, value)
            try:
                self.block(node.body)
            except _Turned as turned:
                if turned.ends:
                    break

    def _assign(self, target: ast.expr, value: Any) -> None:
        if isinstance(target, ast.Name):
            self.names[target.id] = value
        elif isinstance(target, ast.Tuple | ast.List):
            values = list(value)
            if len(values) != len(target.elts):
                raise MfmasimError(f"reference line {target.lineno}: {len(values)} values for {len(target.elts)} names")
            for one, part in zip(target.elts, values, strict=True):
                self._assign(one, part)
        elif isinstance(target, ast.Subscript):
            held = self.value(target.value)
            if not isinstance(held, np.ndarray | list):
                raise MfmasimError(f"reference line {target.lineno}: {_shown(target.value)} takes no assignment")
            held[self._index(target.slice)] = value
        else:
            raise MfmasimError(f"reference line {target.lineno}: {_shown(target)} takes no assignment")

    def value(self, node: ast.expr) -> Any:
        """The value of an expression's node."""
        self._step(node)
        found = self._value(node)
        if isinstance(found, np.ndarray) and found.size > LARGEST:
            raise MfmasimError(f"reference: {_shown(node)} has {found.size:,} elements, more than {LARGEST:,}")
        if type(found) is int and abs(found) >> 128:  # sizes of a proof are symbols, of a class of their own
            raise MfmasimError(f"reference: {_shown(node)} is beyond 128 bits")
        return found

    def _value(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Constant):
            if node.value is None or isinstance(node.value, bool | int | float | str):
                return node.value
        elif isinstance(node, ast.Name):
            return self._named(node)
        elif isinstance(node, ast.Tuple | ast.List):
            values = [self.value(one) for one in node.elts]
            return tuple(values) if isinstance(node, ast.Tuple) else values
        elif isinstance(node, ast.UnaryOp):
            return UNARY[type(node.op)](self.value(node.operand))
        elif isinstance(node, ast.BinOp):
            return self._binary(node, type(node.op), self.value(node.left), self.value(node.right))
        elif isinstance(node, ast.BoolOp):
            wanted = isinstance(node.op, ast.Or)
            return next((wanted for one in node.values if self._truth(one) == wanted), not wanted)
        elif isinstance(node, ast.Compare):
            return self._compared(node)
        elif isinstance(node, ast.IfExp):
            return self.value(node.body if self._truth(node.test) else node.orelse)
        elif isinstance(node, ast.Subscript):
            held = self.value(node.value)
            if isinstance(held, np.ndarray | list | tuple):
                return held[self._index(node.slice)]
        elif isinstance(node, ast.Attribute):
            return self._attribute(node)
        elif isinstance(node, ast.Call):
            return self._called(node)
        elif isinstance(node, ast.ListComp | ast.GeneratorExp):
            return self._comprehended(node)
        raise MfmasimError(f"reference: {_shown(node)} is not evaluated here")

    def _named(self, node: ast.Name) -> Any:
        for known in (self.names, BUILTINS, FUNCTIONS, DTYPES):
            if node.id in known:
                return known[node.id]
        raise unknown("name", node.id, [*self.names, *FUNCTIONS], "in the reference")

    def _binary(self, node: ast.AST, kind: type[ast.operator], left: Any, right: Any) -> Any:
        if kind in (ast.Pow, ast.LShift) and type(left) is int and type(right) is int and abs(right) > 64:
            raise MfmasimError(f"reference: {_shown(node)} is beyond 64 bits")
        if isinstance(left, str | list | tuple) or isinstance(right, str | list | tuple):
            whole = isinstance(left, list | tuple) and isinstance(right, list | tuple)
            if not (kind is ast.Add and whole):
                raise MfmasimError(f"reference: {_shown(node)} is not between numbers or arrays")
        return BINARY[kind](left, right)

    def _compared(self, node: ast.Compare) -> Any:
        left, found = self.value(node.left), []
        for kind, other in zip(node.ops, node.comparators, strict=True):
            right = self.value(other)
            if isinstance(kind, ast.Is | ast.IsNot):
                found.append((left is right) == isinstance(kind, ast.Is))
            elif type(kind) in COMPARE:
                found.append(COMPARE[type(kind)](left, right))
            else:
                raise MfmasimError(f"reference: {_shown(node)} is not evaluated here")
            left = right
        return found[0] if len(found) == 1 else all(bool(one) for one in found)

    def _truth(self, node: ast.expr) -> bool:
        found = self.value(node)
        if isinstance(found, np.ndarray) and found.size != 1:
            raise MfmasimError(f"reference: {_shown(node)} is an array, not one truth; np.where chooses by element")
        return bool(found)

    def _index(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Slice):
            return slice(*(None if one is None else self.value(one) for one in (node.lower, node.upper, node.step)))
        if isinstance(node, ast.Tuple):
            return tuple(self._index(one) for one in node.elts)
        return self.value(node)

    def _attribute(self, node: ast.Attribute) -> Any:
        """A property of an array, or a dtype or constant of a module."""
        if isinstance(node.value, ast.Name) and node.value.id in MODULES and node.value.id not in self.names:
            for known in (CONSTANTS, DTYPES):
                if node.attr in known:
                    return known[node.attr]
            raise unknown("name", node.attr, [*DTYPES, *CONSTANTS, *FUNCTIONS], f"of {node.value.id}")
        held = self.value(node.value)
        if node.attr in PROPERTIES and isinstance(held, np.ndarray | np.generic):
            return PROPERTIES[node.attr](held)
        raise unknown("property", node.attr, [*PROPERTIES, *METHODS], "of an array")

    def _called(self, node: ast.Call) -> Any:
        if any(one.arg is None for one in node.keywords) or any(isinstance(one, ast.Starred) for one in node.args):
            raise MfmasimError(f"reference: {_shown(node)}: arguments with * are not evaluated here")
        values = [self.value(one) for one in node.args]
        named = {str(one.arg): self.value(one.value) for one in node.keywords}
        found = node.func
        if isinstance(found, ast.Attribute):
            name, path = found.attr, _path(found.value)
            if path in MODULES and path.partition(".")[0] not in self.names:
                return self._apply(node, FUNCTIONS.get(name) or DTYPES.get(name), name, FUNCTIONS, values, named)
            held = self.value(found.value)
            if not isinstance(held, np.ndarray | np.generic):
                raise MfmasimError(f"reference: {_shown(node)}: only arrays have methods here")
            return self._apply(node, METHODS.get(name), name, METHODS, [held, *values], named)
        if isinstance(found, ast.Name):
            return self._apply(node, self._named(found), found.id, {**FUNCTIONS, **BUILTINS}, values, named)
        raise MfmasimError(f"reference: {_shown(node)} is not evaluated here")

    def _apply(
        self,
        node: ast.Call,
        function: Any,
        name: str,
        known: Mapping[str, Any],
        values: list[Any],
        named: Mapping[str, Any],
    ) -> Any:
        if isinstance(function, np.dtype):
            return np.asarray(values[0]).astype(function)
        if function is None or not any(function is one for one in known.values()):
            raise unknown("function", name, known, "in the reference")
        try:
            return function(*values, **named)
        except MfmasimError:
            raise
        except (TypeError, ValueError, IndexError, ArithmeticError, np.exceptions.AxisError) as error:
            raise MfmasimError(f"reference: {_shown(node)}: {error}") from None

    def _comprehended(self, node: ast.ListComp | ast.GeneratorExp) -> list[Any]:
        if len(node.generators) != 1:
            raise MfmasimError(f"reference: {_shown(node)}: one 'for' is expected")
        (each,) = node.generators
        inner, found = _Walker(self.names, self.steps), []
        for value in self.value(each.iter):
            inner._assign(each.target, value)
            if all(inner._truth(one) for one in each.ifs):
                found.append(inner.value(node.elt))
        return found

    def _step(self, node: ast.AST) -> None:
        self.steps[0] += 1
        if self.steps[0] > MOST_STEPS:
            raise MfmasimError(f"reference: more than {MOST_STEPS:,} steps, at {_shown(node)}")


def _loaded(node: ast.expr) -> ast.expr:
    """A target of an assignment, to be read."""
    return node


def _path(node: ast.expr) -> str:
    """``torch.nn.functional`` as it is written; empty where it is no path of names."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and (path := _path(node.value)):
        return f"{path}.{node.attr}"
    return ""


def _shown(node: ast.AST) -> str:
    try:
        text = ast.unparse(node)
    except (AttributeError, ValueError, RecursionError):
        text = type(node).__name__
    return repr(text if len(text) <= 60 else text[:57] + "...")
