"""The contract of a kernel before a launch: shapes, strides, alignment, shared memory.

A case states its shapes in ``needs=``; strides, alignment and shared memory are facts of its arguments. A violation of
the contract is refused with one line that names it, without a launch.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, TypeAlias

from mfmasim.architectures import Arch
from mfmasim.errors import MfmasimError, unknown
from mfmasim.verify.roles import Tensor, format_of

Parameters: TypeAlias = "Mapping[str, Any]"
"""Values of a case's parameters, by name."""
SHARED = "what one wave stores, another may still have to read"

# Nodes a condition may be made of: arithmetic, comparison and logic over numbers and parameters.
ALLOWED = (
    ast.Expression, ast.BoolOp, ast.And, ast.Or, ast.UnaryOp, ast.Not, ast.USub, ast.BinOp, ast.Add, ast.Sub,
    ast.Mult, ast.FloorDiv, ast.Mod, ast.Compare, ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.In,
    ast.NotIn, ast.Name, ast.Load, ast.Constant, ast.Tuple,
)  # fmt: skip


def broken(condition: str, parameters: Parameters) -> str:
    """The first part of a condition that does not hold, with its values; empty if the condition holds.

    Args:
        condition: a Python condition over parameters; parts joined by ``and`` are judged in turn.
        parameters: values by name.

    Raises:
        MfmasimError: the text is not a condition, uses names or nodes that are not allowed, or cannot be computed.
    """
    try:
        tree = ast.parse(condition, mode="eval")
    except SyntaxError as error:
        raise MfmasimError(f"contract {condition!r} is not a condition: {error.msg}") from None
    for node in ast.walk(tree):
        if not isinstance(node, ALLOWED):
            raise MfmasimError(f"contract {condition!r} uses {type(node).__name__}, which a contract may not")
        if isinstance(node, ast.Name) and node.id not in parameters:
            raise unknown("parameter", node.id, parameters, f"in contract {condition!r}")
    for part in conjuncts(tree.body):
        try:
            code = compile(ast.Expression(part), "<contract>", "eval")
            held = bool(eval(code, {"__builtins__": {}}, dict(parameters)))  # noqa: S307
        except (ArithmeticError, TypeError) as error:
            raise MfmasimError(f"contract {condition!r} cannot be judged: {error}") from None
        if not held:
            used = sorted({n.id for n in ast.walk(part) if isinstance(n, ast.Name)})
            values = ", ".join(f"{name}={parameters[name]}" for name in used)
            return f"'{ast.unparse(part)}' does not hold for {values}"
    return ""


def equal_sizes(condition: str, parameters: Parameters) -> frozenset[tuple[str, str]]:
    """Pairs of equal sizes of a contract: a kernel that confuses the two has the same results.

    Args:
        condition: as for `broken`; sizes that one part relates to each other, such as a line and its stride, are no
            pair.
        parameters: values by name.

    >>> sorted(equal_sizes("M % 64 == 0 and N % 64 == 0 and K % 32 == 0 and lda >= K", dict(M=64, N=64, K=32, lda=32)))
    [('M', 'N')]
    """
    parts = [
        {node.id for node in ast.walk(part) if isinstance(node, ast.Name)}
        for part in conjuncts(ast.parse(condition or "True", mode="eval").body)
    ]
    sizes = [name for name in sorted(set().union(*parts)) if type(parameters.get(name)) is int and parameters[name] > 1]
    return frozenset(
        (a, b)
        for a, b in combinations(sizes, 2)
        if parameters[a] == parameters[b] and not any({a, b} <= part for part in parts)
    )


def admitted(condition: str, parameters: Parameters, name: str, values: Iterable[Any]) -> list[Any]:
    """Values of a parameter that a condition admits with the given other parameters.

    Args:
        condition: as for `broken`.
        parameters: the other parameters with a value; parts of the condition that use a further parameter are ignored.
        name: the parameter.
        values: the values to try.
    """
    return list(_admitted(condition, parameters, name, values))


def first_admitted(condition: str, parameters: Parameters, name: str, values: Iterable[Any]) -> Any:
    """The first admitted value; None if there is none.

    Args:
        condition: as for `broken`.
        parameters: as for `admitted`.
        name: the parameter.
        values: the values to try, in order.
    """
    return next(_admitted(condition, parameters, name, values), None)


def _admitted(condition: str, parameters: Parameters, name: str, values: Iterable[Any]) -> Iterator[Any]:
    judged = []
    for part in conjuncts(ast.parse(condition or "True", mode="eval").body):
        used = {node.id for node in ast.walk(part) if isinstance(node, ast.Name)}
        if name in used and used <= {name, *parameters}:
            judged.append(compile(ast.Expression(part), "<contract>", "eval"))
    for value in values:
        known = {**parameters, name: value}
        try:
            if all(eval(code, {"__builtins__": {}}, known) for code in judged):  # noqa: S307
                yield value
        except (ArithmeticError, TypeError):
            continue


def named_values(condition: str, name: str) -> list[int]:
    """Values that a condition names for a parameter: those of ``mode in (0, 1)``, and the 0 of ``k >= 0``.

    Args:
        condition: as for `broken`.
        name: the parameter.

    >>> named_values("mode in (0, 1) and k >= 0 and n % 4 == 0", "mode"), named_values("k >= 0", "k")
    ([0, 1], [0])
    """
    found: list[int] = []
    for node in ast.walk(ast.parse(condition or "True", mode="eval")):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            if any(isinstance(side, ast.Name) and side.id == name for side in sides):
                parts = [part for side in sides for part in (side.elts if isinstance(side, ast.Tuple) else [side])]
                found += [part.value for part in parts if isinstance(part, ast.Constant) and type(part.value) is int]
    return list(dict.fromkeys(value for value in found if value >= 0))


def names_in(condition: str) -> set[str]:
    """Parameters that a condition uses."""
    return {node.id for node in ast.walk(ast.parse(condition or "True")) if isinstance(node, ast.Name)}


def conjuncts(node: ast.expr) -> Iterator[ast.expr]:
    """What ``and`` joins, or the condition itself."""
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
        for value in node.values:
            yield from conjuncts(value)
    else:
        yield node


def check_memory(tensors: Sequence[Tensor], arch: Arch, where: str) -> None:
    """Refuse pointers and strides without the alignment that the kernel needs, and memory that two arguments share.

    A stride smaller than a row is refused where the matrix is declared.

    Args:
        tensors: the matrices of a case.
        arch: decides the formats.
        where: the case, for the message.

    Raises:
        MfmasimError: the first thing that breaks the contract.
    """
    for tensor in tensors:
        fmt = format_of(tensor, arch)
        if tensor.offset % tensor.align:
            raise MfmasimError(
                f"{where}: {tensor.role} begins {tensor.offset} bytes past an aligned address; the kernel needs a "
                f"multiple of {tensor.align}"
            )
        bits = (tensor.ld or tensor.line) * tensor.bytes * fmt.bits
        if tensor.lines > 1 and bits % (8 * tensor.align):
            raise MfmasimError(
                f"{where}: lines of {tensor.role} are {bits / 8:g} bytes apart; the kernel needs a multiple of "
                f"{tensor.align}"
            )
        if tensor.alias is not None:
            raise MfmasimError(f"{where}: {tensor.role} shares its memory with {tensor.alias.role}: {SHARED}")
