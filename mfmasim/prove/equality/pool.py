"""Expressions over the inputs of a launch, each stored once: kernels share a pool, and equal numbers mean equal values.

A *code* is a byte's or dword's content: a constant, or a part of an expression. As int64 ``-1 - bits`` is the constant
`bits`, everything from `FIRST` on is ``number * UNITS[width] + part``, where the part of an expression of 32 bits is
counted in units of the width. A code of a dword is the number of its expression itself.

An expression is the operation of an instruction with its modifiers, MODE and constants (the *head*), and the codes of
its operands. With each expression the pool stores its bits for the inputs of the launch. An expression is a function:
two executions that make the same expression have equal bits, else the pool raises `ContradictionError`.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mfmasim.errors import MfmasimError

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy.typing import NDArray

    from mfmasim.arrays import U32, Flags

    Codes = NDArray[np.int64]

MOST = 1 << 22
"""Expressions that a pool holds."""
BYTES, HALVES, NIBBLES = 4, 2, 8
"""Units of a dword, by which codes of parts are counted."""


class FullError(MfmasimError):
    """More expressions than a pool holds."""


class ContradictionError(MfmasimError):
    """One expression with two values: the rule that made it omits something that the instruction depends on."""


@dataclass(frozen=True)
class Node:
    """One expression."""

    head: tuple[Hashable, ...]
    """The operation with its modifiers, MODE and constants; for an input ``("input", name)``."""
    operands: tuple[int, ...]
    """Codes of the operands; for an input, the number of the dword."""


class Pool:
    """All expressions of two launches."""

    def __init__(self) -> None:
        """Number 0 is no expression."""
        self._nodes: list[Node] = []
        self._known: dict[tuple[int, tuple[int, ...]], int] = {}
        self._heads: dict[tuple[Hashable, ...], int] = {}
        self._inputs: dict[str, tuple[int, int]] = {}
        self._begins: list[int] = [1]
        """First number of each range of numbers; a range belongs to one input or to operations."""
        self._stretches: list[tuple[str, int]] = [("", 0)]
        """For each range: the name of the input, or for operations the index of the first one in `_nodes`."""
        self._values: U32 = np.zeros(1 << 12, np.uint32)
        self._shown: Flags = np.zeros(1 << 12, np.bool_)
        """Expressions whose bits the machine has shown: not the steps within a matrix instruction."""
        self.count = 1

    def _grow(self, more: int) -> int:
        """Numbers for further expressions; returns the first."""
        first, self.count = self.count, self.count + more
        if self.count > MOST:
            raise FullError(f"more than {MOST:,} expressions")
        if self.count > len(self._values):
            added = max(len(self._values), more)
            self._values = np.concatenate([self._values, np.zeros(added, np.uint32)])
            self._shown = np.concatenate([self._shown, np.zeros(added, np.bool_)])
        return first

    def inputs(self, name: str, words: U32) -> Codes:
        """Expressions of the dwords of an input, (dwords,).

        Args:
            name: of the buffer, equal in both launches.
            words: the contents of the buffer.

        Raises:
            MfmasimError: in another launch the input of this name has another size or other contents.
        """
        if name not in self._inputs:
            self._inputs[name] = self._grow(len(words)), len(words)
            self._begins.append(self._inputs[name][0])
            self._stretches.append((name, 0))
            self._begins.append(self.count)
            self._stretches.append(("", len(self._nodes)))
            self._values[self._inputs[name][0] : self.count] = words
            self._shown[self._inputs[name][0] : self.count] = True
        first, count = self._inputs[name]
        if count != len(words):
            raise MfmasimError(f"{name} has {4 * count} bytes in one launch and {4 * len(words)} in the other")
        if not np.array_equal(self._values[first : first + count], words):
            raise MfmasimError(f"{name} has other contents in the other launch")
        return np.arange(first, first + count)

    def made(self, head: tuple[Hashable, ...], operands: Codes, values: U32 | None) -> Codes:
        """Expressions of one operation on several sets of operands, (sets,).

        Args:
            head: the operation.
            operands: codes, (sets, operands).
            values: the bits of the results, (sets,); None if the machine does not show them.

        Raises:
            ContradictionError: an expression has other bits already.
        """
        number = self._heads.setdefault(head, len(self._heads))
        out = np.empty(len(operands), np.int64)
        for place, row in enumerate(map(tuple, operands.tolist())):
            key = number, row
            found = self._known.get(key)
            if found is None:
                found = self._known[key] = self._grow(1)
                self._nodes.append(Node(head, row))
            out[place] = found
        if values is not None:
            fresh = ~self._shown[out]
            self._values[out[fresh]] = values[fresh]
            self._shown[out] = True
            if (wrong := self._values[out] != values).any():
                at = int(np.argmax(wrong))
                raise ContradictionError(
                    f"{head[0]}: one expression has the values {self._values[out[at]]:#x} and {values[at]:#x}"
                )
        return out

    def node(self, number: int) -> Node:
        """An expression by its number."""
        place = bisect_right(self._begins, number) - 1
        name, first = self._stretches[place]
        offset = number - self._begins[place]
        return Node(("input", name), (offset,)) if name else self._nodes[first + offset]

    def value(self, numbers: Codes) -> U32:
        """The bits of expressions under the inputs of the launch."""
        found: U32 = self._values[numbers]
        return found

    def check(self, codes: Codes, held: NDArray[np.unsignedinteger]) -> bool:
        """Whether the machine's bytes have the bits of their codes.

        Args:
            codes: of bytes.
            held: the machine's bytes.
        """
        words = self._values[np.maximum(codes, 0) // BYTES]
        found = words >> (8 * (np.maximum(codes, 0) % BYTES)).astype(np.uint32) & np.uint32(0xFF)
        return bool((np.where(codes < 0, -1 - codes, found) == held).all())

    def dwords(self, codes: Codes) -> Codes:
        """Codes of dwords from those of their bytes.

        Args:
            codes: (..., 4), the lowest byte first.
        """
        shape = codes.shape[:-1]
        rows = codes.reshape(-1, BYTES)
        constant = (rows < 0).all(axis=1)
        bits = ((-1 - rows) << (8 * np.arange(BYTES))).sum(axis=1)
        out = np.where(constant, -1 - bits, rows[:, 0] // BYTES)
        whole = (rows[:, 0] >= 0) & (rows[:, 0] % BYTES == 0) & (np.diff(rows, axis=1) == 1).all(axis=1)
        mixed = np.flatnonzero(~constant & ~whole)
        if len(mixed):
            some = rows[mixed]
            words = self._values[np.maximum(some, 0) // BYTES] >> (8 * (np.maximum(some, 0) % BYTES)).astype(np.uint32)
            held = np.where(some < 0, -1 - some, words & np.uint32(0xFF)).astype(np.uint32)
            values = (held << (8 * np.arange(BYTES, dtype=np.uint32))).sum(axis=1, dtype=np.uint32)
            out[mixed] = self.made(("bytes",), some, values)
        return out.reshape(shape)

    def halves(self, codes: Codes) -> Codes:
        """Codes of 16 bits from those of their bytes, (..., 2).

        Args:
            codes: the lower byte first.
        """
        low, high = codes[..., 0], codes[..., 1]
        constant = (low < 0) & (high < 0)
        whole = (low >= 0) & (low % 2 == 0) & (high == low + 1)
        out = np.where(constant, low + (high + 1) * 256, low // 2)
        mixed = ~constant & ~whole
        if mixed.any():
            rows = np.stack([low[mixed], high[mixed], *[np.full(mixed.sum(), -1)] * 2], axis=1)
            out[mixed] = self.dwords(rows) * HALVES
        return out

    def text(self, code: int, unit: int = 1, depth: int = 3) -> str:
        """An expression as text.

        Args:
            code: of a dword, or of a part of one.
            unit: number of such parts in a dword.
            depth: nesting depth from which on ``...`` replaces operations.
        """
        if code < 0:
            return f"{-1 - code:#x}"
        number, part = divmod(code, unit)
        node = self.node(number)
        where = f".{('byte', 'half', 'nibble')[(BYTES, HALVES, NIBBLES).index(unit)]}{part}" if unit > 1 else ""
        if node.head[0] == "input":
            return f"{node.head[1]}[{4 * node.operands[0]}]{where}"
        if not depth:
            return "..."
        if node.head[0] == "sum":
            return f"sum({self.text(node.operands[0], 1, depth - 1)}, {len(node.operands) // 2} products){where}"
        units = BYTES if node.head[0] == "bytes" else 1
        shown = [self.text(one, units, depth - 1) for one in node.operands[:6]]
        return f"{node.head[0]}({', '.join(shown)}{', ...' if len(node.operands) > 6 else ''}){where}"


def constants(words: Sequence[int] | U32) -> Codes:
    """Codes of constants."""
    return -1 - np.asarray(words, np.int64)
