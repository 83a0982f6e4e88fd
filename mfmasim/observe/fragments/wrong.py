"""Wrong places of one operand, and the finding about them: place, element and pattern."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.observe.finding import Finding
from mfmasim.observe.fragments.groups import of_other_lanes
from mfmasim.observe.fragments.patterns import Memory, explain
from mfmasim.observe.fragments.trace import fragment_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mfmasim.arrays import I64
    from mfmasim.isa import Instruction, Operand
    from mfmasim.machine.events import MatrixEvent
    from mfmasim.matrix import Fragment, MatrixInstruction
    from mfmasim.observe.fragments.arguments import Arguments
    from mfmasim.observe.fragments.tiles import Tile


@dataclass
class Wrong:
    """Wrong places of one operand of one instruction, from all of its executions."""

    tile: Tile
    """Tile of the first wrong place."""
    operand: str
    """``A``, ``B``, ``C``, ``D``, ``scale_A``, ``scale_B``, ``index``, or ``K``, the summed index."""
    role: str
    """Argument of the required elements."""
    kind: str
    """Id of the finding."""
    message: str
    severity: str = "error"
    copy: int = 0
    """Number of the slot's place, if the layout has copies."""
    instead: str = "the accumulator's own place"
    """The required content of accumulator places, in words."""
    slots: list[tuple[int, int]] = field(default_factory=list)
    needs: list[tuple[int, ...]] = field(default_factory=list)
    holds: list[int] = field(default_factory=list)
    """Labels; for C and D the element of C that was read or written, row << 32 | column, or a label of no element."""

    def add(self, slot: tuple[int, int], needs: tuple[int, ...], holds: int) -> None:
        """Add one place.

        Args:
            slot: row and column in the operand.
            needs: the required element; empty for none.
            holds: label of the content.
        """
        self.slots.append(slot)
        self.needs.append(needs)
        self.holds.append(holds)


class Reporter:
    """Turns wrong places into findings."""

    def __init__(
        self,
        kernel: str,
        source_at: Callable[[int], str],
        arguments: Arguments,
        alternatives: Callable[[MatrixInstruction], Mapping[str, MatrixInstruction]],
    ) -> None:
        """Report for `kernel`; `alternatives` gives other layouts of an operation, to name patterns."""
        self.kernel, self.source_at, self.arguments, self.alternatives = kernel, source_at, arguments, alternatives

    def finding(
        self, kind: str, severity: str, message: str, ins: Instruction, tile: Tile | None = None, **where: Any
    ) -> Finding:
        """A finding at an instruction.

        Args:
            kind: id of its kind.
            severity: one of `SEVERITIES`.
            message: one sentence.
            ins: the instruction.
            tile: the execution; None if the finding is about all executions.
            where: further fields of `Finding`.
        """
        if tile is not None:
            place = tile.executed.event.place(tile.index, None)
            where |= {"workgroup": place.workgroup, "wave": place.wave}
        source = self.source_at(ins.pc)
        where = {"instruction": ins.name, "text": ins.text} | where
        return Finding("mapping", severity, message, kind, self.kernel, ins.pc, source, **where)

    def plain(self, kind: str, severity: str, message: str, **where: Any) -> Finding:
        """A finding about the kernel as a whole.

        Args:
            kind: id of its kind.
            severity: one of `SEVERITIES`.
            message: one sentence.
            where: further fields of `Finding`.
        """
        return Finding("mapping", severity, message, kind, kernel=self.kernel, **where)

    def places(self, wrong: Wrong, total: int) -> Finding:
        """The finding for wrong places; `total` places of this operand were checked."""
        event = wrong.tile.executed.event
        if wrong.operand == "K":
            return self.finding(wrong.kind, wrong.severity, wrong.message, event.instruction, wrong.tile, element="K")
        fragment = fragment_of(event, wrong.operand)
        slot = wrong.slots[0]
        place = fragment.locate(*slot, wrong.tile.block)[wrong.copy]
        operand = operand_of(event, wrong.operand)
        pattern = self._pattern(wrong)
        return self.finding(
            wrong.kind,
            wrong.severity,
            f"{len(wrong.slots)} of {total} places wrong: {wrong.message}" + (f"; {pattern}" if pattern else ""),
            event.instruction,
            wrong.tile,
            lane=place.lane,
            register=register_name(operand, place.vgpr, place.bit, fragment.width),
            element=f"{wrong.operand}[{slot[0]}, {slot[1]}]",
            expected=self._needed(wrong),
            actual=self._held(wrong),
            count=len(wrong.slots),
        )

    def _needed(self, wrong: Wrong) -> str:
        needs = wrong.needs[0]
        if not needs:
            return wrong.instead
        return f"C[{needs[0]}, {needs[1]}]" if wrong.role == "C" else self.arguments.element(wrong.role, needs)

    def _held(self, wrong: Wrong) -> str:
        first = wrong.holds[0]
        if (wrong.role == "C" and first > 0) or wrong.operand == "D":
            return f"C[{first >> 32}, {first & 0xFFFFFFFF}]"
        return self.arguments.describe(first)

    def _pattern(self, wrong: Wrong) -> str:
        if wrong.needs and not wrong.needs[0]:
            return ""
        labels, slots, needs = (np.array(part, np.int64) for part in (wrong.holds, wrong.slots, wrong.needs))
        if wrong.role.startswith("scale"):
            held = self.arguments.coordinates(labels, wrong.role)
            selected = set(held[:, 2].tolist())
            if held.min() >= 0 and len(selected) == 1 and selected != {self.arguments.byte(wrong.role)}:
                return f"all hold byte {selected.pop()} of the scale word"
            return ""
        if wrong.role == "C":
            holds = np.stack([labels >> 32, labels & 0xFFFFFFFF], axis=-1)
            return explain(needs, holds, slots, {}, self._memory("C"), -1)
        if (labels <= 0).all() and len(set(wrong.holds)) == 1:
            return f"all hold {self.arguments.describe(wrong.holds[0])}"
        holds = self.arguments.coordinates(labels, wrong.role)[..., :2]
        operation = wrong.tile.executed.event.operation
        others = {}
        if wrong.role == wrong.operand:
            for name, other in self.alternatives(operation).items():
                guess = as_other(getattr(operation, wrong.operand), getattr(other, wrong.operand), slots)
                if guess is not None:
                    others[name] = needs - slots + guess
        said = explain(needs, holds, slots, others, self._memory(wrong.role), 1 if wrong.role == "A" else 0)
        if not said or said.startswith("all in the summed index alone"):
            said = self._group(wrong, needs, holds, slots) or said
        return self._order(wrong.role, needs, holds) or said

    def _group(self, wrong: Wrong, needs: I64, holds: I64, slots: I64) -> str:
        """Whether the group of K depends on other bits of the lane's number than in the layout."""
        if wrong.role != wrong.operand or wrong.role not in ("A", "B"):
            return ""
        fragment, summed = fragment_of(wrong.tile.executed.event, wrong.operand), 1 if wrong.role == "A" else 0
        if (holds < 0).any() or (holds[:, 1 - summed] != needs[:, 1 - summed]).any():
            return ""
        lanes = [fragment.locate(*slot, wrong.tile.block)[wrong.copy].lane for slot in wrong.slots]
        depth = fragment.cols if wrong.role == "A" else fragment.rows
        needed, held, positions = (part[:, summed] for part in (needs, holds, slots))
        return of_other_lanes(needed, held, positions, np.array(lanes, np.int64), depth, fragment.lanes)

    def _order(self, role: str, needs: I64, holds: I64) -> str:
        """The memory order that the kernel expects, if one explains all places; one side has a library's order."""
        argument, known = self.arguments.by_role[role], (holds >= 0).all(axis=1)
        if not known.all():
            return ""
        orders = argument.orders()
        for name, places in orders.items():
            library = any(one.startswith("the order ") for one in (name, argument.stored))
            if library and name != argument.stored:
                here = orders[argument.stored][tuple(holds.T)]
                if (here == places[tuple(needs.T)]).all():
                    return f"{role} is in {argument.stored}, the kernel expects {name}"
        return ""

    def _memory(self, role: str) -> Memory:
        argument = self.arguments.by_role[role]
        return Memory((argument.shape[0], argument.shape[1]), argument.order, argument.ld)


def operand_of(event: MatrixEvent, name: str) -> Operand:
    """The instruction's operand for a matrix.

    Args:
        event: the execution.
        name: ``A``, ``B``, ``C``, ``D``, ``scale_A``, ``scale_B`` or ``index``.
    """
    if name == "D":
        return event.instruction.dst[0]
    return event.instruction.src[event.operation.row.sources.index(name)]


def register_name(operand: Operand, vgpr: int, bit: int, width: int) -> str:
    """Name of the bits of a register, such as ``v2[31:0]``.

    Args:
        operand: of the instruction.
        vgpr: register of the operand, from 0.
        bit: lowest bit, from 0 in that register.
        width: bits.
    """
    if operand.kind not in "va":
        return str(operand.kind)
    file, index = operand.written
    first = index + vgpr
    if width == 64:
        return f"{file}[{first}:{first + 1}]"
    if bit % 32 + width > 32:
        return f"{file}[{first}:{first + 1}][{bit + width - 1}:{bit}]"
    return f"{file}{first}[{bit + width - 1}:{bit}]"


def as_other(fragment: Fragment, other: Fragment, slots: I64) -> I64 | None:
    """Elements in the places of `slots` if a kernel fills lanes in the order of another layout of the same shape.

    The n-th element of a lane in one layout corresponds to the n-th element of the same lane in the other.

    Args:
        fragment: the operand's layout.
        other: the other layout.
        slots: rows and columns, (places, 2).

    Returns:
        Rows and columns, (places, 2); None if the layouts have different shapes.
    """
    if (fragment.rows, fragment.cols, fragment.lanes) != (other.rows, other.cols, other.lanes):
        return None
    order = ["lane", "vgpr", "bit"]
    own, others = np.sort(fragment.table(), order=order), np.sort(other.table(), order=order)
    if len(own) != len(others) or (own["lane"] != others["lane"]).any():
        return None
    turned = {(int(x["row"]), int(x["col"])): (int(y["row"]), int(y["col"])) for x, y in zip(own, others, strict=True)}
    return np.array([turned[int(row), int(col)] for row, col in slots], np.int64)
