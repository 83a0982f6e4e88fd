"""Expressions of the user: parsed as Python's, after C's operators are replaced; all lanes are evaluated at once.

No text reaches `eval`: a node outside the list of allowed nodes is an error.
"""

from __future__ import annotations

import ast
import keyword
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.debug.values import Number, Object, decoded
from mfmasim.errors import MfmasimError, unknown
from mfmasim.formats import FORMATS
from mfmasim.formats import format as number_format

if TYPE_CHECKING:
    from collections.abc import Callable

    from mfmasim.debug.names import Names


LONGEST = 1000
KINDS = {ast.Constant: "text", ast.Lambda: "a function", ast.JoinedStr: "text", ast.NamedExpr: "an assignment"}
ESCAPE = "__name__"
"""Prefix of Python's keywords that are not C's: they may be variables of a kernel."""
WORDS = re.compile(rf"\b({'|'.join(sorted({*keyword.kwlist} - {'and', 'or', 'not', 'True', 'False', 'None'}))})\b")
C_TO_PYTHON = ((r"&&", " and "), (r"\|\|", " or "), (r"!(?!=)", " not "), (r"->", "."), (r"\$", "__register__"))


def _divided(a: Any, b: Any) -> Any:
    """C's division: integers round towards zero."""
    if np.issubdtype(np.result_type(a), np.integer) and np.issubdtype(np.result_type(b), np.integer):
        if not np.all(b):
            raise MfmasimError("division by zero")
        return (np.sign(a) * np.sign(b) * (np.abs(a) // np.abs(b))).astype(np.int64)
    with np.errstate(all="ignore"):
        return np.asarray(a, np.float64) / b


def _rest(a: Any, b: Any) -> Any:
    if not np.all(b):
        raise MfmasimError("division by zero")
    return a - _divided(a, b) * b


BINARY: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: lambda a, b: a + b, ast.Sub: lambda a, b: a - b, ast.Mult: lambda a, b: a * b,
    ast.FloorDiv: _divided, ast.Mod: _rest,
    ast.Div: _divided, ast.BitAnd: lambda a, b: a & b, ast.BitOr: lambda a, b: a | b,
    ast.BitXor: lambda a, b: a ^ b, ast.LShift: lambda a, b: a << b, ast.RShift: lambda a, b: a >> b,
}  # fmt: skip
COMPARED: dict[type, Callable[[Any, Any], Any]] = {
    ast.Eq: lambda a, b: a == b, ast.NotEq: lambda a, b: a != b, ast.Lt: lambda a, b: a < b,
    ast.LtE: lambda a, b: a <= b, ast.Gt: lambda a, b: a > b, ast.GtE: lambda a, b: a >= b,
}  # fmt: skip
UNARY: dict[type, Callable[[Any], Any]] = {
    ast.USub: lambda a: -a, ast.UAdd: lambda a: a, ast.Invert: lambda a: ~a,
    ast.Not: np.logical_not,
}  # fmt: skip


@lru_cache(maxsize=512)
def parsed(text: str) -> ast.expr:
    """The syntax tree of an expression.

    Raises:
        MfmasimError: it does not parse.
    """
    changed = text.strip()
    if len(changed) > LONGEST:
        raise MfmasimError(f"an expression of {len(changed):,} characters; at most {LONGEST:,} are read")
    for pattern, into in C_TO_PYTHON:
        changed = re.sub(pattern, into, changed)
    try:
        return _tree(changed.strip())
    except SyntaxError as error:
        escaped, why = WORDS.sub(rf"{ESCAPE}\1", changed.strip()), error.msg
    except (ValueError, RecursionError, MemoryError) as error:
        raise MfmasimError(f"{text.strip()!r} does not parse: {error or 'not an expression'}") from None
    try:
        return _tree(escaped)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise MfmasimError(f"{text.strip()!r} does not parse: {why}") from None


def _tree(text: str) -> ast.expr:
    """The syntax tree of a text, with the names as they were written."""
    found = ast.parse(text, mode="eval").body
    for node in ast.walk(found):
        if isinstance(node, ast.Name):
            node.id = node.id.removeprefix(ESCAPE)
        elif isinstance(node, ast.Attribute):
            node.attr = node.attr.removeprefix(ESCAPE)
    return found


def evaluate(text: str, names: Names) -> Number | Object:
    """The value of an expression for all lanes.

    Args:
        text: the expression.
        names: values of its names.

    Raises:
        MfmasimError: it does not parse, has a node that is not allowed, or a name that is not known.
    """
    try:
        with np.errstate(all="ignore"):
            return _Evaluator(names, text).of(parsed(text))
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise MfmasimError(f"{text.strip()!r}: {str(error).splitlines()[0] if str(error) else 'no value'}") from None


def number_of(value: Number | Object) -> Any:
    """The numbers of a value by lane."""
    return value.values if isinstance(value, Number) else value.number().values


class _Evaluator:
    def __init__(self, names: Names, text: str) -> None:
        self.names, self.text = names, text

    def of(self, node: ast.expr) -> Number | Object:
        if isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float):
            if isinstance(node.value, int) and not -(1 << 63) <= node.value < 1 << 64:
                raise MfmasimError(f"{node.value}: a number of at most 64 bits is expected")
            value = node.value - (1 << 64) if isinstance(node.value, int) and node.value >= 1 << 63 else node.value
            return Number(np.array(value))
        if isinstance(node, ast.Name):
            return self.names.find(node.id)
        if isinstance(node, ast.Attribute):
            return self._field(node)
        if isinstance(node, ast.Subscript):
            return self._element(node)
        if isinstance(node, ast.UnaryOp) and type(node.op) in UNARY:
            return Number(np.asarray(UNARY[type(node.op)](self._number(node.operand))))
        if isinstance(node, ast.BinOp) and type(node.op) in BINARY:
            left, right = self._number(node.left), self._number(node.right)
            return Number(np.asarray(BINARY[type(node.op)](left, right)))
        if isinstance(node, ast.BoolOp):
            parts = [self._number(part) != 0 for part in node.values]
            join = np.logical_and if isinstance(node.op, ast.And) else np.logical_or
            total = parts[0]
            for part in parts[1:]:
                total = join(total, part)
            return Number(np.asarray(total))
        if isinstance(node, ast.Compare) and all(type(op) in COMPARED for op in node.ops):
            values = [self._number(node.left), *map(self._number, node.comparators)]
            total = np.True_
            for op, left, right in zip(node.ops, values, values[1:], strict=False):
                total = np.logical_and(total, COMPARED[type(op)](left, right))
            return Number(np.asarray(total))
        if isinstance(node, ast.Call):
            return self._call(node)
        what = KINDS.get(type(node), type(node).__name__.lower())
        raise MfmasimError(f"{self.text.strip()!r}: {what} is not part of an expression here")

    def _number(self, node: ast.expr) -> Any:
        value = self.of(node)
        if isinstance(node, ast.Name) and isinstance(value, Object) and value.reader is None:
            raise MfmasimError(self.names.optimised_out(node.id))
        return number_of(value)

    def _field(self, node: ast.Attribute) -> Number | Object:
        if isinstance(node.value, ast.Name):
            found = self.names.component(node.value.id, node.attr)
            if found is not None:
                return found
        value = self.of(node.value)
        if isinstance(value, Number):
            raise MfmasimError(f".{node.attr}: a number has no fields")
        return value.field(node.attr)

    def _element(self, node: ast.Subscript) -> Number | Object:
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if any(isinstance(part, ast.Slice) for part in parts):
            raise MfmasimError(f"{self.text.strip()!r}: ranges are not part of an expression; name one element")
        index = [int(np.broadcast_to(self._number(part), (self.names.state.lanes,))[self.names.lane]) for part in parts]
        if isinstance(node.value, ast.Name):
            found = self.names.array_element(node.value.id, index)
            if found is not None:
                return found
        value = self.of(node.value)
        for each in index:
            if isinstance(value, Number):
                raise MfmasimError(f"[{each}]: a number has no elements")
            value = value.element(each)
        return value

    def _call(self, node: ast.Call) -> Number | Object:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if node.keywords or len(node.args) != 1 or isinstance(node.args[0], ast.Starred):
            raise MfmasimError(f"{self.text.strip()!r}: a function of one argument is expected, such as f16(v3)")
        value = self.of(node.args[0])
        if name in ("any", "all", "abs"):
            values = number_of(value)
            if name == "abs":
                return Number(np.abs(values))
            active = self.names.state.active & (np.broadcast_to(values, (self.names.state.lanes,)) != 0)
            wanted = active if name == "any" else active == self.names.state.active
            return Number(np.asarray(wanted.any() if name == "any" else wanted.all()))
        if name in ("fp8", "bf8"):
            name = self.names.own_format(name)
        try:
            number_format(name)
        except MfmasimError:
            raise unknown("function", name, ["any", "all", "abs", "fp8", "bf8", *FORMATS]) from None
        codes = value.codes() if isinstance(value, Object) else np.asarray(value.values)
        if codes is None or not np.issubdtype(codes.dtype, np.integer):
            raise MfmasimError(f"{self.text.strip()!r}: {name} reads the bits of a register or an integer")
        return decoded(codes.astype(np.int64).view(np.uint64), name)
