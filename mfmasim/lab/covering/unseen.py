"""Paths that no launch of a case showed, in words: loops with fewer than three turns, branches that went one way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mfmasim.devices.loops import loops_of, main_loop
from mfmasim.devices.ways import GRAPHS
from mfmasim.lab.covering.dependence import decided_by_launch
from mfmasim.lab.covering.search import TURNS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from mfmasim.devices.ways import Seen
    from mfmasim.kernels import Kernel
    from mfmasim.lab.covering.search import Search
    from mfmasim.verify.cases import Case

OFTEN = ("did not run", "ran once", "ran twice")
ORDINALS = ("the first", "a second", "a third")


@dataclass(frozen=True)
class OpenLoop:
    """A loop with fewer than three turns, whose number the launch decides."""

    pc: int
    """Address of the first instruction of every turn."""
    source: str
    turns: int
    main: bool

    def record(self) -> dict[str, Any]:
        """The record for JSON."""
        return vars(self)

    def __str__(self) -> str:
        where = self.source.rpartition("/")[2] or f"at {self.pc:#x}"
        return f"the {'main ' * self.main}loop ({where}) {OFTEN[self.turns]}"


@dataclass(frozen=True)
class OpenBranch:
    """A conditional branch that went one way, with code on its other side that was never executed."""

    pc: int
    source: str
    taken: bool
    """The way that it went."""

    def record(self) -> dict[str, Any]:
        """The record for JSON."""
        return vars(self)


def loops_open(kernel: Kernel, seen: Seen) -> list[OpenLoop]:
    """Loops that turned fewer than three times, the main loop first.

    Args:
        kernel: the kernel.
        seen: what its launches showed.
    """
    graph = GRAPHS.of(kernel)
    short = [head for head in graph if seen.turns.get(head, 0) < TURNS and decided_by_launch(kernel, head)]
    main = main_loop(loops_of(kernel, dict.fromkeys(seen.executed, 1))) if short else None
    found = []
    for head in short:
        lines = [kernel.source_at(pc) for pc in (*sorted(graph[head]), head)]
        source = next((line for line in lines if line and not line.endswith(":0")), "")
        found.append(OpenLoop(head, source, seen.turns.get(head, 0), main is not None and main.first == head))
    return sorted(found, key=lambda loop: not loop.main)


def branches_open(kernel: Kernel, seen: Seen) -> list[OpenBranch]:
    """Branches that went one way, and whose other side was never executed.

    Args:
        kernel: the kernel.
        seen: what its launches showed.
    """
    found = []
    for pc, ways in sorted(seen.ways.items()):
        branch = kernel.code.instruction_at(pc, kernel.wave)
        if len(ways) == 1 and branch.target is not None:
            taken = True in ways
            if (pc + branch.size if taken else branch.target) not in seen.executed:
                found.append(OpenBranch(pc, kernel.source_at(pc), taken))
    return found


def unseen_turn(loop: OpenLoop) -> str:
    """The unknown properties of the turn after the last executed one."""
    if not loop.turns:
        return "what a turn of it does is not seen"
    return f"what {ORDINALS[loop.turns]} turn would race with is not seen"


def said(
    search: Search,
    kernel: Kernel,
    seen: Seen,
    left_out: Sequence[tuple[Mapping[str, Any], str]],
    words: Callable[[Case, Mapping[str, Any]], str],
) -> list[str]:
    """One line for each kind of unseen path, with parameters that would show it.

    Args:
        search: the search.
        kernel: the kernel.
        seen: paths of all launches.
        left_out: parameters that are not run, each with the reason.
        words: a case's parameters as ``--set`` takes them.
    """
    loops = loops_open(kernel, seen)
    if not loops:
        return []
    first = loops[0]
    hints = [one.parameters for one in search.hints if one.seen.turns.get(first.pc, 0) > first.turns]
    hints += [parameters for parameters, _ in left_out]
    more = f" (and {len(loops) - 1} more)" if len(loops) > 1 else ""
    text = f"{first}{more}: {unseen_turn(first)}; "
    if hints:
        return [f"{text}--set {' --set '.join(words(search.case, hints[0]).split(', '))}"]
    if search.ended:
        return [f"{text}the search for a size ended before it had tried all"]
    tried = ", ".join(search.sizes)
    return [f"{text}{f'no value of {tried} that was tried' if tried else 'no parameter of the case'} changes that"]
