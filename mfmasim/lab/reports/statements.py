"""Statements of a published text about its kernels, each judged by executed code or recomputed.

A family's folder may hold ``statements.py`` with `SECTIONS`, the headings of the text in its order, and `STATEMENTS`, a
list of `Statement`. ``mfmasim report FAMILY --claims`` judges them. Who wrote the text, and where it is:
``hipkernels/texts.toml``.
"""

from __future__ import annotations

import runpy
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from mfmasim.errors import MfmasimError, unknown
from mfmasim.fidelity import Trust
from mfmasim.lab.mutation.mutants import mutants_of, run_mutant
from mfmasim.lab.reports.profile import profile_case
from mfmasim.verify.files import families, load_file, neighbours
from mfmasim.verify.texts import family_of, sources

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from mfmasim.lab.mutation.mutants import Verdict
    from mfmasim.lab.reports.profile import Profile
    from mfmasim.verify.cases import Case
    from mfmasim.verify.mutant import Mutant
    from mfmasim.verify.texts import Source

    Value = float | str

COLUMNS = ("place", "words of the text", "claim", "text", "found", "verdict", "note")
"""Of `Weighed.row`."""
VERDICTS = {
    "confirmed": "evidence that does not contain the claim gives the same: an executed kernel, a proof, or the "
    "tables of instructions, formats and architectures",
    "consistent": "it follows from other figures of the same text, which nothing here measures",
    "refuted": "the quoted words themselves do not hold; the note says what would make them right",
    "remark": "the quoted words are not judged: something beside them is otherwise, such as code that was published "
    "with them or another table, or it is a finding of ours",
    "undecided": "only a GPU, or the text's own binary, can decide it; what was found here stands beside it",
}
"""Every verdict with its meaning."""
ALWAYS = ("confirmed", "refuted", "undecided")
"""Verdicts that are counted even if there is none."""


@dataclass(frozen=True)
class Statement:
    """One statement of a text."""

    place: str
    """Heading of the text above it."""
    text: str
    """The statement in words."""
    said: Value
    """The figure or word of the text."""
    find: Callable[[Runs], Value] | None = None
    """Function that returns the figure or word from executed code or a computation; None if there is none."""
    known: str = "confirmed"
    """One of `VERDICTS`. Of a remark `said` is what is found here."""
    within: float = 0.0
    """Relative difference that a figure may have; texts round."""
    relation: str = "="
    """Relation of the finding to the statement: ``=``, ``<`` or ``>``."""
    about: str = ""
    """The reason, why it cannot be decided, or the basis of a figure."""
    words: str = ""
    """The judged words of the text, verbatim; a remark needs none."""

    def __post_init__(self) -> None:
        """Refuse a statement that cannot be judged."""
        if self.known not in VERDICTS:
            raise unknown("verdict", self.known, list(VERDICTS), f"of statement {self.text!r}")
        if self.relation not in {"=", "<", ">"}:
            raise unknown("relation", self.relation, ("=", "<", ">"), f"of statement {self.text!r}")
        if self.find is None and self.known != "undecided":
            raise MfmasimError(f"statement {self.text!r}: no function determines that it is {self.known}")
        if not self.words and self.known != "remark":
            raise MfmasimError(f"statement {self.text!r} quotes no words of the text; what is ours is a remark")
        if self.known in {"refuted", "undecided"} and not self.about:
            raise MfmasimError(f"statement {self.text!r} is {self.known}, and no note says why")

    def holds(self, found: Value) -> bool:
        """Whether a finding agrees with the statement."""
        if isinstance(found, str) or isinstance(self.said, str):
            return found == self.said
        if self.relation == "=":
            return abs(found - self.said) <= self.within * abs(self.said)
        return found < self.said if self.relation == "<" else found > self.said


@dataclass
class Runs:
    """Profiles and mutants of one family, each executed once."""

    family: str
    compiler: str | None = None
    _profiles: dict[Any, Profile] = field(default_factory=dict)
    _verdicts: dict[str, Verdict] = field(default_factory=dict)
    _others: dict[str, Runs] = field(default_factory=dict)
    used: list[Trust] = field(default_factory=list)
    """Of every kernel that was asked for, also of other families."""

    def of(self, family: str) -> Runs:
        """The runs of another family, which a text may also be about."""
        if family == self.family:
            return self
        return self._others.setdefault(family, Runs(family, self.compiler, used=self.used))

    @cached_property
    def _cases(self) -> dict[str, Case]:
        return {one.title: one for one in load_file(families()[self.family])}

    @cached_property
    def _mutants(self) -> dict[str, tuple[Mutant, Case]]:
        return {mutant.name: (mutant, case) for mutant, case in mutants_of(self.family)}

    def _case(self, title: str) -> Case:
        if title not in self._cases:
            raise unknown("case", title, self._cases, f"of family {self.family}")
        return self._cases[title]

    def profile(self, case: str, arch: str, **parameters: Any) -> Profile:
        """Profile of a case with these parameters.

        Args:
            case: title of a case of the family.
            arch: one of its architectures.
            parameters: those that differ from the case's own.

        Raises:
            MfmasimError: no such case, or it cannot be profiled.
        """
        key = (case, arch, *sorted(parameters.items()))
        if key not in self._profiles:
            changed = self._case(case).with_parameters(parameters)
            self._profiles[key] = profile_case(changed, arch, group=self.family, compiler=self.compiler)
        self.used.append(self._profiles[key].result.trust)
        return self._profiles[key]

    def mutant(self, name: str) -> Verdict:
        """Verdict on a declared mutant.

        Raises:
            MfmasimError: no such mutant.
        """
        if name not in self._verdicts:
            if name not in self._mutants:
                raise unknown("mutant", name, self._mutants, f"of family {self.family}")
            self._verdicts[name] = run_mutant(*self._mutants[name], self.compiler)
        self.used.append(self._verdicts[name].result.trust)
        return self._verdicts[name]


@dataclass(frozen=True)
class Weighed:
    """A statement with its finding."""

    statement: Statement
    found: Value | None
    trust: Trust = field(default_factory=Trust)
    """Fidelity of the kernels that were executed for it; a recomputed statement needs none."""

    @property
    def verdict(self) -> str:
        """One of `VERDICTS`."""
        if self.statement.known == "undecided" or self.found is None:
            return "undecided"
        if not self.statement.holds(self.found):
            return "refuted"
        return self.statement.known if self.statement.known in {"consistent", "remark"} else "confirmed"

    @property
    def as_known(self) -> bool:
        """Whether the verdict is the known one."""
        return self.verdict == self.statement.known

    @property
    def row(self) -> tuple[str, str, str, str, str, str, str]:
        """As `COLUMNS`, for tables."""
        one = self.statement
        bound = {"=": "", "<": "below ", ">": "above "}[one.relation]
        word = self.verdict if self.as_known else f"{self.verdict}, which is not what is known"
        found = "-" if self.found is None else shown(self.found)
        said = "-" if one.known == "remark" else bound + shown(one.said)
        return one.place, one.words, one.text, said, found, word, one.about

    def record(self) -> dict[str, Any]:
        """As a dictionary for JSON."""
        one = self.statement
        return {
            "place": one.place,
            "words": one.words,
            "claim": one.text,
            "text": one.said,
            "found": self.found,
            "verdict": self.verdict,
            "known": one.known,
            "about": one.about,
            "fidelity": self.trust.record(),
        }


def counted(lines: Iterable[Weighed]) -> str:
    """Number of statements with each verdict; consistent ones, and remarks, only if there are any."""
    count = Counter(line.verdict for line in lines)
    words = [f"{count[word]} {word}" for word in VERDICTS if word in ALWAYS or (count[word] and word != "remark")]
    if count["remark"]:
        words.append(f"{count['remark']} remark{'s' * (count['remark'] > 1)}")
    return ", ".join(words)


def shown(value: Value) -> str:
    """A figure with four digits, or a word."""
    if isinstance(value, str):
        return value
    return f"{value:,.0f}" if float(value).is_integer() and abs(value) < 1e12 else f"{value:,.4g}"


@dataclass(frozen=True)
class Text:
    """A text about the kernels of a family."""

    family: str
    name: str
    statements: Sequence[Statement]
    sections: Sequence[str] = ()
    """Headings of the text, in its order; each statement's `place` is one of them."""
    source: Source | None = None

    def within(self, section: str) -> Text:
        """The statements below one heading.

        Args:
            section: a part of the heading; capitals do not matter.

        Raises:
            MfmasimError: no heading contains it, or no statement stands below it.
        """
        places = dict.fromkeys(one.place for one in self.statements)
        chosen = [place for place in places if section == place] or [
            place for place in places if section.casefold() in place.casefold()
        ]
        if not chosen:
            raise unknown("section with statements", section, list(places), f"of {self.name}")
        return replace(self, statements=[one for one in self.statements if one.place in chosen])


def has_text(target: str) -> bool:
    """Whether a family has a ``statements.py``, or there is such a text."""
    family, known = family_of(target), families()
    return family in known and known[family].with_name("statements.py").is_file()


def text_of(target: str) -> Text:
    """The text of a family, or of a target such as ``text:004``.

    Raises:
        MfmasimError: the family is unknown, or has no text.
    """
    if not has_text(target):
        raise unknown("family with a text", target, [name for name in families() if has_text(name)])
    family = family_of(target)
    path = families()[family].with_name("statements.py")
    with neighbours(path):
        found = runpy.run_path(str(path), run_name="mfmasim_statements")
    source = next(one for one in sources() if one.families[0] == family)
    order = {heading: n for n, heading in enumerate(found["SECTIONS"])}
    if wrong := [one.place for one in found["STATEMENTS"] if one.place not in order]:
        raise unknown("section", wrong[0], list(order), f"of {source.title}")
    statements = sorted(found["STATEMENTS"], key=lambda one: order[one.place])
    return Text(family, source.title, statements, found["SECTIONS"], source)


def weigh(text: Text, *, compiler: str | None = None) -> list[Weighed]:
    """Judge every statement of a text; kernels are executed as often as statements need it.

    Args:
        text: from `text_of`.
        compiler: as for `mfmasim.compile`.

    Raises:
        MfmasimError: a kernel that a statement rests on cannot be run.
    """
    runs = Runs(text.family, compiler)
    weighed = []
    for one in text.statements:
        runs.used.clear()
        found = None if one.find is None else one.find(runs)
        weighed.append(Weighed(one, found, Trust.of((used.level, used.operations) for used in runs.used)))
    return weighed
