"""Expressions: what an operation computes for one element, as a graph of NumPy's loops on typed values.

A node stands for one number of every lane (or every wave). Its dtype is NumPy's, so that promotion, wrapping and casts
are those that NumPy chose when the body was called; `mfmasim.machine.native.loops` spells each in C.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


class UntraceableError(Exception):
    """What a body does cannot be expressed for one element at a time, or has no spelling in C."""


@dataclass(frozen=True, eq=False, slots=True)
class Node:
    """One value: an operation on others, a constant, or a register."""

    op: str
    """Name of NumPy's loop, or ``const``, ``table``, ``cast``, ``bitcast``, ``where``; ``vector``, ``scalar``, ``scc``
    and ``active`` for registers as they were before the instruction; ``lane`` for the lane's bit of two mask words,
    ``pack`` for the mask of a boolean in each lane; ``exchange`` for the value of another lane, ``pick`` for that of
    one lane, ``first`` for the number of the first active one."""
    dtype: np.dtype[Any]
    """Of the result."""
    args: tuple[Node, ...] = ()
    data: tuple[Any, ...] = ()
    """Bits of a constant, bits by lane of a table, file and number of a register, or its number."""
    lanes: bool = False
    """Whether its value depends on the lane."""


def made(op: str, dtype: Any, *args: Node, data: tuple[Any, ...] = (), lanes: bool = False) -> Node:
    """A node; it depends on the lane where one of its sources does.

    Args:
        op: the operation.
        dtype: type of its result.
        *args: its sources.
        data: what else it depends on.
        lanes: whether it depends on the lane by itself.
    """
    return Node(op, np.dtype(dtype), args, data, lanes or any(arg.lanes for arg in args))


def bits_of(value: Any, dtype: np.dtype[Any]) -> int:
    """Bits of a number as an integer of the size of its type."""
    array = np.asarray(value, dtype)
    return int(array.view(f"u{dtype.itemsize}") if dtype.kind != "b" else array)


def constant(value: Any, dtype: Any) -> Node:
    """A constant of a type.

    Raises:
        OverflowError: it does not fit.
    """
    dtype = np.dtype(dtype)
    return made("const", dtype, data=(bits_of(np.array(value, dtype), dtype),))


def cast(node: Node, dtype: Any) -> Node:
    """The value as another type, as ``astype`` converts it."""
    dtype = np.dtype(dtype)
    if node.dtype == dtype:
        return node
    if dtype == np.float16 and node.dtype.kind != "f":
        raise UntraceableError("a conversion of integers to float16")
    return made("cast", dtype, node)


def bitcast(node: Node, dtype: Any) -> Node:
    """The same bits as another type of the same size."""
    dtype = np.dtype(dtype)
    if node.dtype == dtype:
        return node
    if node.op == "bitcast":
        return bitcast(node.args[0], dtype)
    if node.op == "const":
        return made("const", dtype, data=node.data)
    if "b" in (node.dtype.kind, dtype.kind) or node.dtype.itemsize != dtype.itemsize:
        raise UntraceableError(f"view of {node.dtype} as {dtype}")
    return made("bitcast", dtype, node)
