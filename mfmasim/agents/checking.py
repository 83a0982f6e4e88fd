"""The tool `check`: is a kernel right? A verdict, the deepest cause, and what to change."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mfmasim.agents.advice import Text, advised
from mfmasim.agents.answers import Answer, flat
from mfmasim.devices.ways import Ways
from mfmasim.files import is_source
from mfmasim.lab.covering.covering import cover
from mfmasim.lab.shortcuts import PATTERNS, Shortcut, shortcuts_of
from mfmasim.machine.launch.quota import Quota
from mfmasim.observe import Finding
from mfmasim.verify import verify_case
from mfmasim.verify.causes import ordered
from mfmasim.verify.kinds import KINDS

if TYPE_CHECKING:
    from mfmasim.agents.problems import Problem
    from mfmasim.kernels import Kernel
    from mfmasim.verify import Case, Result

__all__ = ["check", "finding_record", "source_text"]


def check(problem: Problem, quota: Quota, say: Callable[[str], None]) -> Answer:
    """Verify a kernel at its problem's sizes and at those that its loops need.

    Args:
        problem: the kernel and its problem.
        quota: of each launch.
        say: receives what is being done.

    Raises:
        MfmasimError: the problem is wrong, or the kernel cannot be compiled or executed.
    """
    say("compiling")
    case = problem.case()
    kernel = problem.compiled()
    say("executing")
    ways = Ways()
    result = verify_case(case, problem.arch, observers=[ways], quota=quota)
    if result.status == "pass":
        say("further sizes")
        cover(result, case, kernel, ways, quota=quota)
    say("shortcuts")
    taken = shortcuts_of(case, kernel, result, quota)
    say("done")
    return _answer(problem, case, kernel, result, taken)


def _answer(problem: Problem, case: Case, kernel: Kernel, result: Result, taken: Sequence[Shortcut]) -> Answer:
    findings = [one for one in ordered(result.findings) if one.severity != "info"]
    errors = [one for one in findings if one.severity == "error"]
    text = source_text(problem, case, kernel)
    outputs, mapping = result.outputs, result.mapping
    facts: dict[str, Any] = {
        "outputs": f"{outputs['elements'] - outputs['mismatches']:,} of {outputs['elements']:,} elements right",
        "also_at": ", ".join(one["at"] for one in result.cover.get("runs", ())),
        "fidelity": str(result.trust),
    }
    if mapping["slots_checked"]:
        right = mapping["slots_checked"] - mapping["mismatches"]
        facts["slots"] = f"{right:,} of {mapping['slots_checked']:,} slots of matrix operands right"
    if result.lds.get("accesses"):
        facts["lds_extra_passes"] = result.lds["extra_passes"]
    lines = flat(line for one in findings[bool(errors) :] for line in one.lines())
    lines += [f"not seen: {text}" for text in result.cover.get("unseen", ())]
    if result.remark:
        lines.append(result.remark)
    if not result.judged:
        return Answer("check", "unknown", "nothing was compared: no output was written", None, [], lines, facts)
    if taken:
        facts["shortcuts"] = "; ".join(f"{one.name}: {one.text}" for one in taken)
    if taken and not errors:
        summary = f"right for the test, and it {PATTERNS[taken[0].name].about}"
        return Answer("check", "fail", summary, _shortcut_record(taken[0]), [], lines, facts)
    if errors:
        summary = f"{len(errors)} error{'s' * (len(errors) > 1)}; the one that matters is {errors[0].id}"
    else:
        summary = f"{case.name} computes what is expected, within {', '.join(result.compared_with)}"
    verdict = {"pass": "pass", "fail": "fail"}.get(result.status, "unknown")
    finding = finding_record(errors[0], text) if errors else None
    return Answer("check", verdict, summary, finding, advised(errors, text) if text else [], lines, facts)


def finding_record(finding: Finding, text: Text | None = None) -> dict[str, Any]:
    """A finding with its line of the source and its fix.

    Args:
        finding: the finding.
        text: the source.
    """
    kind = KINDS.get(finding.id)
    file, _, number = finding.source.rpartition(":")
    known = text is not None and number.isdigit() and file.rpartition("/")[2] == text.name
    return {
        "id": finding.id,
        "severity": finding.severity,
        "message": finding.message,
        "source": finding.source,
        "line": text.line(int(number)).strip() if known and text is not None else "",
        "instruction": finding.text.strip() or finding.instruction,
        "place": ", ".join(finding.where()[1:]),
        "needs": finding.expected
        if not finding.expected or finding.expected.startswith(finding.element)
        else f"{finding.element} {finding.expected}",
        "holds": finding.actual,
        "fix": "" if kind is None else kind.fix,
    }


def _shortcut_record(taken: Shortcut) -> dict[str, Any]:
    """A shortcut in the form of a finding."""
    record = dict.fromkeys(("source", "line", "instruction", "place", "needs", "holds"), "")
    pattern = PATTERNS[taken.name]
    fix = f"Compute what is asked for all inputs and sizes. Not accused: {pattern.honest}."
    return {"id": f"shortcut-{taken.name}", "severity": "error", "message": taken.text, **record, "fix": fix}


def source_text(problem: Problem, case: Case | None = None, kernel: Kernel | None = None) -> Text | None:
    """The source with what is known of its names; None for a code object.

    Args:
        problem: the kernel and its problem.
        case: what the problem declares.
        kernel: the compiled kernel.
    """
    if not is_source(problem.path):
        return None
    lines = tuple(problem.path.read_text(errors="replace").split("\n"))
    numbers: dict[str, int | float] = {}
    shapes: dict[str, tuple[int, ...]] = {}
    stores: Mapping[int, None] = {}
    if case is not None and kernel is not None:
        for passed, known in zip(case.make().args, kernel.parameters, strict=False):
            if known.name and isinstance(passed, int | float):
                numbers[known.name] = passed
            elif known.name and hasattr(passed, "shape"):
                shapes[known.name] = tuple(passed.shape)
        places = (kernel.source_at(i.pc).rpartition(":") for i in kernel.instructions if i.opcode.access == "store")
        stores = dict.fromkeys(
            int(number)
            for file, _, number in places
            if number.isdigit() and file.rpartition("/")[2] == problem.path.name
        )
    return Text(problem.path.name, lines, numbers, shapes, tuple(stores))
