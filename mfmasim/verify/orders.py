"""The order of instructions in a kernel's main loop: a compiler may change the order of a schedule.

A turn of the loop is written as a line of tokens: ``M`` a matrix instruction, ``R`` and ``W`` a read and a write of the
LDS, ``F`` a load from memory to the LDS, ``G`` and ``S`` a load and a store, ``B`` a barrier, each with the number that
follow each other, and waits by counter and value. Other instructions are left out. ``R4 F2 B lgkmcnt(0) M8`` are four
reads, two loads to the LDS, a barrier, a wait and eight matrix instructions.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from mfmasim.errors import MfmasimError
from mfmasim.isa.counters import raised, waited
from mfmasim.observe import Finding
from mfmasim.observe.flights import accessed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from mfmasim.architectures import Arch
    from mfmasim.devices.loops import Loop
    from mfmasim.isa import Instruction

TOKEN = re.compile(r"([MRWFGSB])(\d*)|([a-z]+cnt)\((\d+)\)")
TURNS = 4
"""Turns after each other in which distances are measured: a load may be waited for two turns later."""


def kind_of(instruction: Instruction) -> str:
    """Letter of an instruction; empty for waits and for omitted instructions."""
    opcode = instruction.opcode
    if opcode.matrix:
        return "M"
    if opcode.barrier in ("whole", "wait"):
        return "B"
    if opcode.scalar or opcode.access not in ("load", "store", "atomic"):
        return ""
    if opcode.unit == "LDS":
        return "R" if opcode.access == "load" else "W"
    if opcode.to_lds or instruction.modifiers.get("lds"):
        return "F"
    return "G" if opcode.access == "load" else "S"


def check_order(text: str, where: str) -> tuple[str, ...]:
    """Tokens of a declared order, one for each instruction.

    Raises:
        MfmasimError: a part of the text is no token.
    """
    tokens: list[str] = []
    for part in text.split():
        found = TOKEN.fullmatch(part)
        if found is None or found[2] == "0":
            raise MfmasimError(
                f"{where}: {part!r} is no token of an order: M, R, W, F, G, S or B with a number, as in R4, or a wait, "
                "as in lgkmcnt(0)"
            )
        tokens += [found[1]] * int(found[2] or 1) if found[1] else [part]
    if not tokens:
        raise MfmasimError(f"{where}: the order is empty")
    return tuple(tokens)


def orders_of(
    order: str | Sequence[str] | Mapping[str, str | Sequence[str]], archs: Sequence[str], where: str
) -> dict[str, tuple[str, ...]]:
    """Declared orders by architecture.

    Args:
        order: one order, several, or either by architecture.
        archs: architectures of the case.
        where: for errors.

    Raises:
        MfmasimError: an order cannot be read, or names another architecture.
    """
    by_arch: Mapping[str, str | Sequence[str]] = order if isinstance(order, Mapping) else dict.fromkeys(archs, order)
    found = {}
    for arch, texts in by_arch.items():
        if arch not in archs:
            raise MfmasimError(f"{where}: {arch!r} is not one of the case's architectures: {', '.join(archs)}")
        found[arch] = (texts,) if isinstance(texts, str) else tuple(texts)
        for text in found[arch]:
            check_order(text, where)
    return {arch: texts for arch, texts in found.items() if texts}


@dataclass(frozen=True)
class Turn:
    """One turn of a loop, as a wave executed it."""

    arch: Arch
    instructions: tuple[Instruction, ...]

    @property
    def tokens(self) -> tuple[str, ...]:
        """One token for each instruction with a letter, and for each counter of a wait."""
        found: list[str] = []
        for instruction in self.instructions:
            kind = kind_of(instruction)
            found += [kind] if kind else [f"{counter}({value})" for counter, value in self._waits(instruction)]
        return tuple(found)

    @property
    def written(self) -> str:
        """The turn as text."""
        return _written(self.tokens)

    def _waits(self, instruction: Instruction) -> tuple[tuple[str, int], ...]:
        return waited(self.arch, instruction) if instruction.opcode.wait else ()

    def longest(self, *, matrix: bool) -> int:
        """The longest run of matrix instructions without other tokens between, or the longest run without one."""
        kinds = [kind_of(i) or ("w" if self._waits(i) else "") for i in self.instructions] * 2
        if matrix:
            kinds = [kind for kind in kinds if kind]
        runs = [len(list(run)) for same, run in groupby(kind == "M" for kind in kinds) if same == matrix]
        return min(max(runs, default=0), len(self.instructions))

    def before_wait(self, kind: str) -> int | None:
        """The fewest matrix instructions between an instruction of a kind and the wait that completes it."""
        return self._fewest(kind, self._completed)

    def before_use(self, kind: str) -> int | None:
        """The fewest matrix instructions between a load and the first instruction that reads its registers."""
        return self._fewest(kind, _used)

    @property
    def matrix(self) -> int:
        """Matrix instructions."""
        return sum(1 for i in self.instructions if i.opcode.matrix)

    def quantities(self) -> dict[str, float | None]:
        """Value of each of `QUANTITIES`."""
        values = {name: measure(self) for name, measure in QUANTITIES.items()}
        return {name: None if value is None else float(value) for name, value in values.items()}

    def record(self) -> dict[str, object]:
        """As a dictionary for JSON."""
        return {"turn": self.written, **self.quantities()}

    @property
    def copies(self) -> int:
        """Vector registers that are copied to others."""
        files = ("v", "a")
        copied = [i for i in self.instructions if i.opcode.copies and i.src[0].kind in files and i.dst[0].kind in files]
        return sum(i.dst[0].count for i in copied)

    def _fewest(self, kind: str, end: Callable[[Sequence[Instruction], int], int | None]) -> int | None:
        path = self.instructions * TURNS
        found = []
        for n, instruction in enumerate(self.instructions):
            if kind_of(instruction) == kind:
                last = end(path, n)
                if last is not None:
                    found.append(sum(1 for i in path[n:last] if i.opcode.matrix))
        return min(found, default=None)

    def _completed(self, path: Sequence[Instruction], start: int) -> int | None:
        """Place of the wait that completes an instruction, by the counter that the instruction increments."""
        mine = next(iter(self._raised(path[start])), None)
        if mine is None:
            return None
        later = 0
        for n in range(start + 1, len(path)):
            if any(counter == mine and value <= later for counter, value in self._waits(path[n])):
                return n
            later += mine in self._raised(path[n])
        return None

    def _raised(self, instruction: Instruction) -> list[str]:
        return [one.counter for one in raised(self.arch, instruction.opcode, bool(instruction.dst))]


def _used(path: Sequence[Instruction], start: int) -> int | None:
    """Place of the first instruction that reads the registers of a load."""
    _, brought = accessed(path[start])
    for n in range(start + 1, len(path)):
        reads, writes = accessed(path[n])
        if reads & brought:
            return n
        if writes >= brought:
            return None
    return None


def _written(tokens: Sequence[str]) -> str:
    parts = []
    for token, run in groupby(tokens):
        count = len(list(run))
        parts += [f"{token}{count if count > 1 else ''}"] if len(token) == 1 else [token] * count
    return " ".join(parts)


QUANTITIES: dict[str, Callable[[Turn], int | None]] = {
    "matrix instructions in a row": lambda turn: turn.longest(matrix=True),
    "instructions without matrix": lambda turn: turn.longest(matrix=False),
    "matrix from read to wait": lambda turn: turn.before_wait("R"),
    "matrix from read to use": lambda turn: turn.before_use("R"),
    "matrix from fetch to wait": lambda turn: turn.before_wait("F"),
    "matrix from load to wait": lambda turn: turn.before_wait("G"),
    "matrix from load to use": lambda turn: turn.before_use("G"),
    "register copies": lambda turn: turn.copies,
}
"""Quantities of a claim about the most frequent turn of the main loop."""


def turns_of(path: Sequence[Instruction], loop: Loop, arch: Arch) -> list[Turn]:
    """The turns of a loop on a path, each from its first instruction to the branch back.

    Args:
        path: instructions of a wave.
        loop: the loop.
        arch: architecture.
    """
    turns, start = [], None
    for n, instruction in enumerate(path):
        if instruction.pc == loop.first:
            start = n
        if instruction.pc == loop.last and start is not None:
            turns.append(Turn(arch, tuple(path[start : n + 1])))
            start = None
    return turns


def usual_turn(turns: Sequence[Turn]) -> Turn | None:
    """The first turn with the most frequent order; None without turns."""
    counts = Counter(turn.tokens for turn in turns)
    return next((turn for turn in turns if turn.tokens == counts.most_common(1)[0][0]), None)


def wrong_orders(declared: Sequence[str], turns: Sequence[Turn], kernel: str) -> list[Finding]:
    """Findings about turns with an undeclared order, and about declared orders without a turn.

    A launch of a shape so small that it executes no turn has no findings about the order, and one with fewer turns than
    orders need not have each. A turn may begin anywhere in its loop: orders are compared as circles.

    Args:
        declared: the orders of the case.
        turns: of the main loop.
        kernel: its name.
    """
    wanted = {order: check_order(order, "order") for order in declared}
    if not turns:
        text = f"the launch executes no turn of the main loop: {len(wanted)} declared orders were not compared"
        return [Finding("order", "info", text, "order-no-turn", kernel=kernel)]
    seen = Counter(turn.tokens for turn in turns)
    messages = [
        f"the order of {count} of {len(turns)} turns of the main loop is not declared: {_written(tokens)}"
        f"{_difference(tokens, wanted.values())}"
        for tokens, count in seen.most_common()
        if not any(_turned(tokens, other) for other in wanted.values())
    ]
    if len(turns) >= len(wanted):  # a short loop has not room for all
        messages += [
            f"no turn of the main loop has the declared order {order}"
            for order, tokens in wanted.items()
            if not any(_turned(tokens, other) for other in seen)
        ]
    source = turns[0].instructions[0]
    return [Finding("order", "error", text, "order-differs", kernel=kernel, pc=source.pc) for text in messages]


def _turned(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether two circular orders are equal."""
    double = tuple(other) * 2
    return len(one) == len(other) and any(double[n : n + len(one)] == tuple(one) for n in range(max(1, len(one))))


def _difference(tokens: Sequence[str], wanted: Iterable[Sequence[str]]) -> str:
    """The first difference from the nearest declared order, from the best place to begin."""
    best, where = -1, ""
    for other in wanted:
        for n in range(len(other)):
            turned = (*other[n:], *other[:n])
            alike = next((k for k, (a, b) in enumerate(zip(tokens, turned, strict=False)) if a != b), None)
            if alike is not None and alike > best:
                before = _written(tokens[:alike][-4:]) or "the start"
                best, where = alike, f"; after {before} comes {tokens[alike]}, not {turned[alike]}"
    return where
