"""What to change for a finding: edits of source lines, the likeliest first.

An edit is a proposal that follows from the finding's words and the line that it names; only `check` of the changed
source says whether it is right. Where no rule knows a finding, there is none, and the finding's fix says what to look
for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mfmasim.observe import Finding

__all__ = ["MOST", "Text", "advised"]

MOST = 6
"""Edits of an answer."""
BARRIER = "__syncthreads();"


@dataclass(frozen=True)
class Text:
    """The source of a kernel, and what its problem says of it."""

    name: str
    lines: tuple[str, ...]
    numbers: Mapping[str, int | float]
    """Values of the kernel's scalar parameters, by the kernel's own names."""
    shapes: Mapping[str, Sequence[int]]
    """Sizes of its arrays, likewise."""
    stores: Sequence[int] = ()
    """Lines of its stores to memory."""

    def line(self, number: int) -> str:
        """A line, counted from 1; empty where there is none."""
        return self.lines[number - 1] if 0 < number <= len(self.lines) else ""

    def named(self, value: int) -> list[str]:
        """Scalar parameters of this value."""
        return [name for name, found in self.numbers.items() if found == value]


Edit = tuple[int, str, str]
"""Line, its new text (which may be two lines), and why."""
Rule = Callable[[Finding, Text], Iterator[Edit]]


def advised(findings: Iterable[Finding], text: Text) -> list[dict[str, Any]]:
    """Edits for findings, in their order.

    Args:
        findings: errors, causes before their consequences.
        text: the source.
    """
    found: dict[tuple[int, str], dict[str, Any]] = {}
    for finding in findings:
        for prefix, rule in RULES:
            if not finding.id.startswith(prefix):
                continue
            for number, new, why in rule(finding, text):
                old = text.line(number)
                if old and new != old:
                    edit = {"file": text.name, "line": number, "old": old, "new": new, "why": why}
                    found.setdefault((number, new), edit)
    return list(found.values())[:MOST]


def _line_of(place: str) -> int:
    number = place.rpartition(":")[2]
    return int(number) if number.isdigit() else 0


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


VALUES = re.compile(r"its values are of \S+?:(\d+)")


def _barriers(finding: Finding, text: Text) -> Iterator[Edit]:
    """A barrier between two accesses; where one lies between them already, the race is with the next turn of a loop."""
    here, there = _line_of(finding.source), _line_of(finding.other)
    if not here and (values := VALUES.search(finding.message)):  # a merged store has no line of its own
        here = int(values[1])
    if not here:
        return
    first, last = sorted((here, there or here))
    between = any("__syncthreads" in line for line in text.lines[first - 1 : last - 1])
    order = (first, last) if between else (last, first)
    why = (
        "the accesses of two turns of the loop need a barrier" if between else "the two accesses need a barrier between"
    )
    for number in dict.fromkeys(order):
        line = text.line(number)
        yield number, f"{_indent(line)}{BARRIER}\n{line}", why


FACTOR = re.compile(r"with a factor of (?:1|0), not (\w+) =")


def _factor(finding: Finding, text: Text) -> Iterator[Edit]:
    """The factor that is not applied, where the result is stored."""
    found = FACTOR.search(finding.message)
    if found is None:
        return
    name = found[1]
    added = " added " in finding.message
    for number in text.stores:
        line = text.line(number)
        head, equals, value = line.partition("=")
        if not equals or not value.rstrip().endswith(";"):
            continue
        value = value.strip().rstrip(";")
        if added:
            before, plus, last = value.rpartition(" + ")
            if plus and name not in last:
                yield number, f"{head}= {before} + {name} * {last};", f"{name} is not applied to what is added"
        else:
            first, plus, rest = value.partition(" + ")
            if name not in first:
                yield number, f"{head}= {name} * {first}{plus}{rest};", f"{name} is not applied to the product"


CALL = re.compile(r"(__builtin_amdgcn_\w*(?:mfma|wmma)\w*\()([^,()]+), ([^,()]+),")


def _exchanged(finding: Finding, text: Text) -> Iterator[Edit]:
    """The factors of a matrix instruction in the other order transpose its result."""
    if "exchanged" not in finding.message:
        return
    number = _line_of(finding.source)
    line = text.line(number)
    yield (
        number,
        CALL.sub(r"\1\3, \2,", line),
        "A and B are exchanged in the instruction, or row and column in the store",
    )


GROUP = re.compile(r"in K depends on lane (%|//) (\d+), and by the layout on lane (%|//) (\d+)")


def _group(finding: Finding, text: Text) -> Iterator[Edit]:
    """The part of the lane that chooses the group in K."""
    found = GROUP.search(finding.message)
    if found is None:
        return
    kind, have, wanted_kind, want = found[1], int(found[2]), found[3], int(found[4])
    shapes = (
        [rf"%\s*{have}\b", rf"&\s*{have - 1}\b"]
        if kind == "%"
        else [rf"/\s*{have}\b", rf">>\s*{have.bit_length() - 1}\b"]
    )
    into = f"% {want}" if wanted_kind == "%" else f"/ {want}"
    why = f"the layout takes lane {wanted_kind} {want} here"
    found_lines = [
        (number, re.sub(rf"\b(\w+) {shape}", rf"\1 {into}", line), why)
        for number, line in enumerate(text.lines, 1)
        for shape in shapes
        if re.search(rf"\b\w+ {shape}", line)
    ]
    yield from sorted(found_lines, key=lambda edit: not re.search(rf"\blane {into}", edit[1]))


PLACE = re.compile(r"^(.*\()(\w+) \+ (.*)(\) = .*;)\s*$")


def _swizzled(finding: Finding, text: Text) -> Iterator[Edit]:
    """A store whose address is made as that of the store beside it."""
    if "only store or load swizzles" not in finding.message:
        return
    for number in range(1, len(text.lines)):
        pair = PLACE.match(text.line(number)), PLACE.match(text.line(number + 1))
        if pair[0] is None or pair[1] is None or pair[0][1] != pair[1][1] or pair[0][3] == pair[1][3]:
            continue
        for at, own, other in ((number + 1, pair[1], pair[0]), (number, pair[0], pair[1])):
            yield at, f"{own[1]}{own[2]} + {other[3]}{own[4]}", "the store beside it makes its address in another way"


LEADING = re.compile(r"as if the leading dimension were (\d+), not (\d+)")


def _leading(finding: Finding, text: Text) -> Iterator[Edit]:
    """A row's length that is another size's."""
    found = LEADING.search(finding.message)
    if found is None:
        return
    for wrong in text.named(int(found[1])):
        for right in text.named(int(found[2])):
            for number, line in enumerate(text.lines, 1):
                if re.search(rf"\* {wrong}\b", line) and wrong != right:
                    changed = re.sub(rf"\* {wrong}\b", f"* {right}", line)
                    yield number, changed, f"a line of the matrix has {right} = {found[2]} elements, not {found[1]}"


MISSING = re.compile(r"never multiplied")


def _missing(finding: Finding, text: Text) -> Iterator[Edit]:
    """A loop that ends too early."""
    if finding.id.startswith("mapping-") and not MISSING.search(finding.message):
        return
    for number, line in enumerate(text.lines, 1):
        if re.search(r"\bfor \(", line):
            shortened = re.sub(r"(\w+ <=?) (\w+) - \w+;", r"\1 \2;", line)
            yield number, shortened, "the loop ends before the last part"


INDEX = re.compile(r"\b(\w+) \* ")
OUTSIDE = re.compile(r"outside every buffer: (\w+)\[")


def _outside(finding: Finding, text: Text) -> Iterator[Edit]:
    """A comparison that lets one too many pass, or a guard that is missing."""
    at = _line_of(finding.source)
    for number in range(at, max(0, at - 4), -1):
        line = text.line(number)
        if "<=" in line:
            yield number, line.replace("<=", "<"), "the last index is one beyond the array"
    found, line = OUTSIDE.search(finding.message), text.line(at)
    sizes = text.shapes.get(found[1], ()) if found else ()
    if re.match(r"\s*(for|while|const|int|float) ?\b", line):
        return
    limits = [name for size in sizes[:1] for name in text.named(size)]
    for limit in limits:
        for index in dict.fromkeys(INDEX.findall(line.replace("(size_t)", ""))):
            if index in text.numbers or index in text.shapes or index.isdigit():
                continue
            yield (
                at,
                f"{_indent(line)}if ({index} < {limit}) {line.strip()}",
                f"{found[1]} has {limit} rows" if found else "",
            )


DECLARED = re.compile(r"^(\s*(?:const )?(?:float|double|int|\w*x\d+|_Float16)\w* \w+(?:\[\w+\])*);\s*$")


def _undefined(_: Finding, text: Text) -> Iterator[Edit]:
    """A variable without a first value."""
    for number, line in enumerate(text.lines, 1):
        if (found := DECLARED.match(line)) and "__shared__" not in line:
            yield number, f"{found[1]} = {{}};", "the variable has no first value"


RULES: tuple[tuple[str, Rule], ...] = (
    ("races-no-barrier", _barriers),
    ("races-global-no-barrier", _barriers),
    ("races-between-workgroups", _outside),
    ("outputs-factor", _factor),
    ("mapping-wrong-output", _exchanged),
    ("mapping-wrong-element", _group),
    ("mapping-wrong-element", _swizzled),
    ("mapping-wrong-element", _leading),
    ("mapping-", _missing),
    ("outputs-differ", _missing),
    ("bounds-outside", _outside),
    ("uninitialised-", _undefined),
)
"""Beginning of a finding's id, and the rule."""
