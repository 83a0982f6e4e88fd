"""Whether outputs need the instructions that an exercise is about: the kernel is run once more without each of them.

A kernel may execute an instruction and compute its outputs by other means. Outputs that stay right when the instruction
is replaced by ``s_nop`` do not come from it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from mfmasim.errors import decimal
from mfmasim.machine.launch.quota import Quota
from mfmasim.observe import Finding
from mfmasim.program import Code, Kernel
from mfmasim.verify.cases import Case
from mfmasim.verify.patterns import matches
from mfmasim.verify.runner import verify_case

UNUSED = "executes-unused"
"""Id of the finding."""
S_NOP = 0xBF800000.to_bytes(4, "little")
"""``s_nop 0``: encoding SOPP, opcode 0, in the ISA manuals of CDNA and RDNA alike."""
CHANCE = 16
"""One output in so many may stay right by chance: sums of a few FP4 elements are often zero, as without them."""


def without(kernel: Kernel, spans: Sequence[tuple[int, int]]) -> Kernel:
    """The kernel with ``s_nop`` in place of instructions.

    Args:
        kernel: the kernel; it is not changed.
        spans: address and size in bytes of some of its instructions.
    """
    found = kernel.code.object
    segments = []
    for segment in found.segments:
        data = bytearray(segment.data)
        for pc, size in spans:
            if segment.vaddr <= pc < segment.end:
                start = pc - segment.vaddr
                data[start : start + size] = S_NOP * (size // 4)
        segments.append(replace(segment, data=bytes(data)))
    digest = hashlib.sha256(b"".join(segment.data for segment in segments)).hexdigest()
    changed = replace(found, segments=tuple(segments), sha256=digest)
    return Code(changed, kernel.code.made_by)[kernel.name]


def unneeded(
    case: Case, arch: str, kernel: Kernel, lines: Mapping[str, str], *, budget: int, quota: Quota
) -> list[Finding]:
    """A finding for each pattern of ``executes`` without whose instructions the outputs stay right.

    Args:
        case: a case that passes.
        arch: where.
        kernel: its kernel.
        lines: for some patterns a text that the source line has to hold, such as the macro that issues the instruction
            in this exercise, where compilers issue it as well.
        budget: instructions that a wave may execute.
        quota: what the launch may take.
    """
    found = []
    for pattern in case.executes:
        text = lines.get(pattern, "")
        chosen = [
            one for one in kernel.instructions if matches(pattern, one.name) and text in _line(kernel, case, one.pc)
        ]
        spans = [(one.pc, one.size) for one in chosen]
        plain = replace(case, data=case.data[-1:], checks="none", mapping=None, executes=())
        result = verify_case(plain, arch, kernel=without(kernel, spans), budget=budget, quota=quota)
        elements, wrong = result.outputs["elements"], result.outputs["mismatches"]
        if CHANCE * (elements - wrong) <= elements:
            continue
        name = f"{chosen[0].name} ({text})" if chosen and text else chosen[0].name if chosen else text or pattern
        message = (
            f"the results of {name} do not reach the output: without it, {elements - wrong:,} of {elements:,} outputs "
            "stay the same"
        )
        source = kernel.source_at(chosen[0].pc) if chosen else ""
        found.append(Finding("executes", "error", message, UNUSED, kernel=kernel.name, source=source))
    return found


def _line(kernel: Kernel, case: Case, pc: int) -> str:
    """Text of an instruction's source line; empty where it is in another file than the case's."""
    name, _, number = kernel.source_at(pc).rpartition(":")
    path = Path(str(case.source))
    if Path(name).name != path.name or decimal(number) < 0:
        return ""
    rows = path.read_text(encoding="utf-8").splitlines()
    return rows[int(number) - 1] if 0 < int(number) <= len(rows) else ""
