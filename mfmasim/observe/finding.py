"""A finding: one defect, its place, and what was expected there; and the kinds of findings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from html import escape
from typing import Any

from mfmasim.visible import LAYOUT, visible

SEVERITIES = ("error", "warning", "info")
"""Worst first. Only errors make a verification fail."""
PLACES = ("lane", "wave", "code", "launch")
"""What a finding is about: a lane; a whole wave; an instruction of any wave; the whole launch."""


@dataclass(frozen=True)
class Kind:
    """One kind of finding."""

    id: str
    """A stable id from the check and its finding, such as ``waits-read-in-flight``."""
    severity: str
    """One of `SEVERITIES`."""
    title: str
    about: str
    """The meaning, and the hardware's behaviour."""
    example: str
    """Code that causes it."""
    fix: str
    place: str = "lane"
    """What its findings are about, one of `PLACES`."""

    @property
    def check(self) -> str:
        """Name of the check that makes it."""
        return self.id.partition("-")[0]


@dataclass(frozen=True)
class Finding:
    """One finding. Fields that do not apply are empty or None."""

    check: str
    """The check that found it: ``mapping``, ``bounds``, ``outputs``, ..."""
    severity: str
    """One of `SEVERITIES`."""
    message: str
    """One sentence; a pattern that explains all wrong places follows after a semicolon, code to paste on a new line."""
    id: str = ""
    """Id of its kind; by default the name of the check."""
    kernel: str = ""
    pc: int | None = None
    """Address of the instruction in the code object."""
    source: str = ""
    """``file:line``."""
    workgroup: tuple[int, int, int] | None = None
    wave: int | None = None
    lane: int | None = None
    register: str = ""
    """Such as ``v2[31:0]``."""
    element: str = ""
    """The operand's place in the instruction, such as ``A[5, 0]``."""
    expected: str = ""
    actual: str = ""
    instruction: str = ""
    """Mnemonic."""
    text: str = ""
    """The instruction in LLVM's syntax."""
    count: int = 1
    """Places this finding stands for."""
    other: str = ""
    """``file:line`` of the other place, for a finding about two places; the address where it has no line."""
    suppressed: str = ""
    """Why the finding does not count, if the case suppresses it."""

    def __post_init__(self) -> None:
        """Fill in the id."""
        if not self.id:
            object.__setattr__(self, "id", self.check)

    def __repr__(self) -> str:
        where = f" at {self.source}" if self.source else ""
        said = self.message.replace("\n", "; ")
        return visible(f"<{self.severity} {self.id}{where}: {said}>")

    def _repr_html_(self) -> str:
        """As `lines`, for notebooks."""
        return f"<pre style='white-space:pre-wrap'>{escape(chr(10).join(self.lines()))}</pre>"

    def record(self) -> dict[str, Any]:
        """The finding as a dictionary that JSON can represent."""
        return asdict(self)

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> Finding:
        """The finding of a `record`, also after JSON, which turns tuples into lists."""
        group = record["workgroup"]
        return cls(**{**record, "workgroup": None if group is None else tuple(group)})

    def where(self) -> list[str]:
        """Its place in words: source line, or kernel and address; instruction, workgroup, wave, lane and register."""
        if self.source or self.pc is None:
            where = [self.source or self.kernel, self.instruction]
        else:
            where = [f"{self.kernel} at {self.pc:#x}".lstrip(), self.text.strip() or self.instruction]
        if self.workgroup is not None:
            where.append(f"workgroup ({', '.join(map(str, self.workgroup))})")
        where += [f"{word} {value}" for word, value in (("wave", self.wave), ("lane", self.lane)) if value is not None]
        return [part for part in (*where, self.register) if part]

    def line(self) -> str:
        """The finding in one line for a program's output, with places in the format of compilers."""
        place, *more = self.where() or [""]
        details = ", ".join(more)
        if details and not self.source:
            place, details = f"{place} ({details})", ""
        text = f"{self.severity} {self.id}{f' {place}' * bool(place)}: {self.message}{f' [{details}]' * bool(details)}"
        return visible(text, LAYOUT)

    def lines(self) -> list[str]:
        """The finding as text: id and place, message, pattern."""
        head = "  ".join((self.id, *self.where()))
        body = []
        if self.expected or self.actual:
            verb = "goes to" if self.element.startswith("D[") else "holds"
            place = f"{self.element} " if self.check == "outputs" else ""
            body.append(f"         {place}needs {self.expected or 'nothing'}, {verb} {self.actual or 'nothing'}")
        body += [f"         {line}" for line in self.message.split("\n")]
        return [visible(line, LAYOUT) for line in (head, *body)]


def next_command(findings: Iterable[Finding | Kind]) -> str:
    """The last line of a report: the command that explains the worst of some findings; empty if all are remarks."""
    ids = [(SEVERITIES.index(one.severity), one.id) for one in findings if one.severity != "info"]
    return f"next: mfmasim explain {min(ids, key=lambda each: each[0])[1]}" if ids else ""
