"""What a kit file says about every assumed row: settled, undecided or contradicted, and what to change."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mfmasim.devices import SimDevice
from mfmasim.lab.kit.assumed import AssumedRow, assumed_rows, opcode_rows
from mfmasim.lab.kit.cases import judge_case
from mfmasim.lab.kit.kernels import matrix_operations, operation_kernels
from mfmasim.lab.kit.matrix_judging import judge_layout, judge_model
from mfmasim.lab.kit.operation_judging import judge_operation
from mfmasim.lab.kit.phase_judging import judge_phase
from mfmasim.lab.kit.verdict import Verdict

if TYPE_CHECKING:
    from mfmasim.lab.kit.records import KitFile

UNPROBED = {
    "clock": "not probed: its result is a time",
    "cache": "not probed: it has no visible result",
    "message": "not probed: its result is a message of the system",
}
LAYOUTS = "mfmasim/matrix/rows/{}.py"
"""File with the layouts of a family."""
OTHERWISE = "not probed: no probe of the kit executes it"


@dataclass(frozen=True)
class Judgement:
    """A row and its verdict."""

    row: AssumedRow
    verdict: Verdict


def judge(kit: KitFile) -> list[Judgement]:
    """Judge every assumed row of the kit file's architecture, the layouts of its matrix instructions, and its cases.

    Args:
        kit: the file.

    Raises:
        MfmasimError: mfmasim does not know the architecture.
    """
    arch = kit.about["arch"]
    simulator, found = SimDevice(), []
    layouts = {op: judge_layout(op, kit) for op in matrix_operations(arch)}
    by_model = defaultdict(list)
    for op in matrix_operations(arch):
        by_model[op.model.name].append(op)
    for row in assumed_rows(arch):
        if row.kind == "model":
            verdict = judge_model(by_model[row.name], kit, layouts)
        elif row.kind == "phase":
            verdict = judge_phase(arch, row.name, kit)
        elif row.name in operation_kernels(arch):
            record = kit.records.get(f"operations {row.name}")
            verdict = judge_operation(simulator, arch, operation_kernels(arch)[row.name], record)
        else:
            opcode = opcode_rows(arch)[row.name][1].opcode
            verdict = Verdict("undecided", UNPROBED.get(opcode.kind or opcode.access, OTHERWISE))
        found.append(Judgement(row, verdict))
    for op, verdict in layouts.items():
        pair = f" {op.a} {op.b}" if op.row.a == "f8f6f4" else ""
        row = AssumedRow("layout", f"{op.name}{pair}", LAYOUTS.format(op.arch.family.lower()), op.layout_source)
        found.append(Judgement(row, verdict))
    for record in kit.records.values():
        part, _, name = record.probe.partition(" ")
        if part == "golden":
            row = AssumedRow("golden", name, f"hipkernels/{name.partition(' ')[0]}", "golden data and exact references")
            found.append(Judgement(row, judge_case(record)))
    return found
