"""The tools beside `check`: what a kernel holds, costs, proves; why an element has its value; two kernels."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from mfmasim.agents.answers import Answer, flat
from mfmasim.agents.checking import check
from mfmasim.agents.problems import Problem, allowed, problem_of
from mfmasim.architectures import DEFAULT
from mfmasim.errors import MfmasimError, unknown
from mfmasim.machine.launch.quota import Quota

__all__ = ["TOOLS", "answer"]

Say = Callable[[str], None]
Given = Mapping[str, Any]
MOST_BYTES = 1 << 30
"""Device memory of a launch."""


def answer(tool: str, given: Given, folder: Path, roots: Sequence[Path], seconds: float, say: Say) -> Answer:
    """Answer one question.

    Args:
        tool: one of `TOOLS`.
        given: its arguments.
        folder: for files that are written on the way.
        roots: folders in which files may be named.
        seconds: that the whole may take.
        say: receives what is being done.

    Raises:
        MfmasimError: the question is wrong.
    """
    if tool not in TOOLS:
        raise unknown("tool", tool, TOOLS)
    return TOOLS[tool](_Question(given, folder, roots, seconds, say))


class _Question:
    """Arguments of a tool, and what belongs to every question."""

    def __init__(self, given: Given, folder: Path, roots: Sequence[Path], seconds: float, say: Say) -> None:
        self.given, self.folder, self.roots, self.seconds, self.say = given, folder, roots, seconds, say

    def problem(self) -> Problem:
        return problem_of(self.given, self.folder, self.roots)

    @property
    def quota(self) -> Quota:
        return Quota(seconds=self.seconds, bytes=MOST_BYTES)


def _check(question: _Question) -> Answer:
    return check(question.problem(), question.quota, question.say)


def _prove(question: _Question) -> Answer:
    from mfmasim.prove import prove_case, prove_kernel

    problem = question.problem()
    question.say("proving")
    if problem.declared:
        proof = prove_case(problem.case(), problem.arch, seconds=question.seconds / 2)
    else:
        block = question.given.get("block")
        sizes = None if block is None else tuple(int(one) for one in (block if isinstance(block, list) else [block]))
        proof = prove_kernel(problem.compiled(), sizes, seconds=question.seconds / 2)
    verdicts = proof.verdicts
    lines = []
    for one in proof.obligations:
        sizes_ = f" at {one.parameters}" if one.parameters else ""
        lines.append(f"{one.verdict} {one.kind}: {one.count} instructions {one.note}{sizes_}".rstrip())
        lines += [f"  {r.source or hex(r.pc)} {r.text}: {r.why}" for r in one.reasons[:2]]
    lines += [f"assumes {text}" for text in proof.assumptions]
    verdict = "fail" if verdicts["refuted"] else "unknown" if verdicts["unknown"] else "pass"
    symbols = ", ".join(proof.symbols)
    counts = ", ".join(f"{verdicts[word]} {word}" for word in ("proved", "refuted", "unknown"))
    summary = f"{proof.case}, {f'for all {symbols}' if symbols else 'for its own sizes'}: {counts}"
    return Answer("prove", verdict, summary, lines=flat(lines), facts={one: verdicts[one] for one in sorted(verdicts)})


def _why(question: _Question) -> Answer:
    from mfmasim.verify.elements.why import why
    from mfmasim.verify.elements.why_arrays import why_array
    from mfmasim.verify.elements.why_lines import why_lines

    problem = question.problem()
    case, element = problem.case(), question.given.get("element")
    if not isinstance(element, str):
        raise MfmasimError("element is missing, such as 'C[17,3]' or 'out[5]'")
    question.say("following")
    if case.make().tensors:
        found = why(case, problem.arch, element, ways=1)
        return Answer("why", "pass" if found.ok else "fail", found.says, lines=flat(why_lines(found)))
    held = why_array(case, problem.arch, element)
    lines = flat(held.lines())
    return Answer("why", "pass" if held.ok else "fail", lines[0] if lines else element, lines=lines[1:])


def _cost(question: _Question) -> Answer:
    from mfmasim.architectures import arch as find_arch
    from mfmasim.cost.cases import record_case
    from mfmasim.cost.costed import Costed, product_of

    problem = question.problem()
    question.say("recording")
    product = product_of(find_arch(problem.arch), question.given.get("product"))
    case = problem.case()
    costed = Costed(record_case(case, problem.arch, units=product.units), product, case.title)
    bound = costed.bound
    rows = sorted(bound.cycles.items(), key=lambda item: -item[1])
    lines = [f"{pipe}: {cycles:,.1f} cycles, {bound.shares[pipe]:.0%} of the bound" for pipe, cycles in rows]
    per = "an iteration of the main loop" if bound.looped else "the kernel"
    summary = f"bound by {bound.pipe}: at least {bound.total:,.0f} cycles for {per} on {product.name}"
    facts = {"pipe": bound.pipe, "cycles": round(float(bound.total), 1)}
    return Answer("cost", "answer", summary, lines=lines + costed.lines(), facts=facts)


def _compare(question: _Question) -> Answer:
    from mfmasim.lab.comparing.comparison import PARTS, compare
    from mfmasim.lab.comparing.sides import Side

    problem = question.problem()
    other = question.given.get("other") or {}
    folder = question.folder / "other"
    folder.mkdir(exist_ok=True)
    second = problem_of({**other, "arch": problem.arch}, folder, question.roots).path
    if second.suffix == ".hip":
        sides = Side("first"), Side("second", source=str(second))
    else:
        sides = Side("first"), Side("second", code=str(second))
    question.say("executing both")
    found = compare(problem.case(), sides, (problem.arch, problem.arch))
    outputs = found.outputs
    differ = [part for part in PARTS if found.differing(part)]
    summary = (
        f"outputs {outputs.elements - outputs.mismatches:,} of {outputs.elements:,} equal, bit by bit; "
        f"differ: {', '.join(differ) or 'nothing'}"
    )
    lines = [*found.explained, *found.notes]
    lines += [f"{row.part} {row.name}: {row.first} | {row.second}" for row in found.rows if not row.same]
    wrong = bool({"outputs", "findings"} & {*differ})
    return Answer("compare", "fail" if wrong else "pass", summary, lines=flat(lines))


def _inspect(question: _Question) -> Answer:
    given = question.given
    if given.get("source") is not None:
        path = problem_of(given, question.folder, question.roots).path
    else:
        path = allowed(str(given.get("file")), question.roots)
    words = ["inspect", str(path)]
    if given.get("arch"):
        words += ["--arch", _word(given["arch"], "arch")]
    return _of_verb("inspect", words)


def _show(question: _Question) -> Answer:
    given = question.given
    words = ["show", *(_word(given[key], key) for key in ("what", "instruction", "element") if given.get(key))]
    for option in ("operand", "a", "b"):
        if given.get(option):
            words += [f"--{option}", _word(given[option], option)]
    words += ["--format", "markdown"]
    if len(words) == 3:
        raise MfmasimError("what is missing: an architecture, a product, a number format, or an instruction")
    return _of_verb("show", words)


def _lds(question: _Question) -> Answer:
    given = question.given
    arch = _word(given.get("arch") or DEFAULT, "arch")
    if given.get("tile"):
        words = ["lds", "find", "--tile", _word(given["tile"], "tile"), "--arch", arch]
        for operand in given.get("operands") or ():
            words += ["--operand", *(_word(one, "operands") for one in operand)]
        for read in given.get("reads") or ():
            words += ["--read", *(_word(one, "reads") for one in read)]
        for option in ("write", "accesses", "element_bytes"):
            if given.get(option):
                words += [f"--{option.replace('_', '-')}", _word(given[option], option)]
        return _of_verb("lds", words)
    words = ["lds", arch, *([_word(given["instruction"], "instruction")] if given.get("instruction") else [])]
    for option in ("address", "stride", "layout", "active", "swizzle", "element_bytes"):
        if given.get(option):
            words += [f"--{option.replace('_', '-')}={_word(given[option], option)}"]
    return _of_verb("lds", words)


def _word(value: object, what: str) -> str:
    """A value as one word of the command line, which cannot be an option."""
    text = str(value)
    if text.startswith("-") or len(text) > 500 or "\n" in text:
        raise MfmasimError(f"{what}: {text[:40]!r} is not expected here")
    return text


def _of_verb(tool: str, words: Sequence[str]) -> Answer:
    """What a verb of the command line prints, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "mfmasim", *words], capture_output=True, text=True, check=False, errors="replace"
    )
    if done.returncode > 1:
        raise MfmasimError(done.stderr.strip().removeprefix("mfmasim: ").split("\n")[-1] or f"{words[0]} failed")
    lines = flat([done.stdout])
    verdict = "fail" if done.returncode == 1 else "answer"
    return Answer(tool, verdict, lines[0] if lines else "nothing", lines=lines[1:])


TOOLS: dict[str, Callable[[_Question], Answer]] = {
    "check": _check,
    "inspect": _inspect,
    "show": _show,
    "lds": _lds,
    "why": _why,
    "cost": _cost,
    "prove": _prove,
    "compare": _compare,
}
"""Tools by name."""
