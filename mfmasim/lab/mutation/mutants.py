"""Mutants: wrong variants of a family's kernels, compiled and verified, to show that the checks can fail."""

from __future__ import annotations

import json
import re
import runpy
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from mfmasim import program
from mfmasim.errors import MfmasimError, unknown
from mfmasim.kernels import Code
from mfmasim.verify.cases import Case
from mfmasim.verify.files import families, load_file
from mfmasim.verify.mutant import Mutant
from mfmasim.verify.result import Result
from mfmasim.verify.runner import verify_case


@dataclass(frozen=True)
class Verdict:
    """Result of a mutant."""

    mutant: Mutant
    arch: str
    caught: tuple[str, ...]
    """Checks that reported an error."""
    result: Result
    text: str = ""
    """The edited source."""

    @property
    def as_expected(self) -> bool:
        """Whether exactly the declared checks caught it, and the declared warnings are among the findings."""
        warned = {finding.id for finding in self.result.findings if finding.severity == "warning"}
        exact = set(self.caught) == set(self.mutant.caught) and self.reported == self.wanted
        return exact and warned.issuperset(self.mutant.warned)

    @property
    def reported(self) -> set[tuple[str, str, str]]:
        """Errors about two places: id and both source lines; empty where the mutant does not declare them."""
        if self.mutant.reported is None:
            return set()
        return {
            (f.id, f.source.rpartition("/")[2], f.other.rpartition("/")[2])
            for f in self.result.findings
            if f.severity == "error" and f.other
        }

    @property
    def wanted(self) -> set[tuple[str, str, str]]:
        """`reported` as the mutant declares it."""
        return {(kind, self._line(here), self._line(there)) for kind, here, there in self.mutant.reported or ()}

    def _line(self, text: str) -> str:
        """``file:line`` of the line of the edited kernel with a text.

        Raises:
            MfmasimError: no line has the text, or several lines have it.
        """
        name = Path(self.result.source).name
        lines = self.text.splitlines()
        head = next((n for n, line in enumerate(lines) if f" {self.result.kernel}(" in line), 0)
        end = next((n for n in range(head + 1, len(lines)) if lines[n].startswith("}")), len(lines))
        found = [n + 1 for n in range(head, end) if text in lines[n]]
        found = found or [n + 1 for n, line in enumerate(lines) if text in line]
        if len(found) != 1:
            raise MfmasimError(f"mutant {self.mutant.name}: {len(found)} lines of {self.result.kernel} hold {text!r}")
        return f"{name}:{found[0]}"


def mutants_of(family: str) -> list[tuple[Mutant, Case]]:
    """Mutants of a family, each with the case it varies.

    Raises:
        MfmasimError: the family is unknown or has no mutants, or a mutant names a case that does not exist.
    """
    known = families()
    if family not in known:
        raise unknown("family", family, known)
    path = known[family].parent / "mutants.py"
    if not path.is_file():
        raise MfmasimError(f"family {family} has no mutants")
    cases = {case.title: case for case in load_file(known[family])}
    table = path.with_name("reported.json")
    reported = json.loads(table.read_text()) if table.is_file() else {}
    out = []
    for mutant in runpy.run_path(str(path), run_name="mfmasim_mutants")["MUTANTS"]:
        if mutant.case not in cases:
            raise unknown("case", mutant.case, cases, f"of mutant {mutant.name}")
        rows = reported.get(mutant.name)
        wanted = mutant.reported if rows is None else tuple((kind, here, there) for kind, here, there in rows)
        out.append((replace(mutant, reported=wanted), cases[mutant.case]))
    return out


def run_mutant(mutant: Mutant, case: Case, compiler: str | None = None, schedule: str = "usual") -> Verdict:
    """Compile and verify one mutant.

    Args:
        mutant: the variant.
        case: the case it varies.
        compiler: as for `mfmasim.compile`.
        schedule: as for `verify_case`.

    Returns:
        The checks that caught it.

    Raises:
        MfmasimError: a text to replace does not occur, or the variant does not compile.
    """
    arch = mutant.arch or case.arch[-1]
    kernel = compile_mutant(mutant, case, arch, compiler)[case.kernel_name()]
    changed = case.with_parameters(mutant.parameters)
    if "order" not in mutant.caught:  # it would catch every moved wait, and hide misses of the other checks
        changed = replace(changed, order={})
    if mutant.data:
        changed = replace(changed, golden="", data=(mutant.data,))
    result = verify_case(changed, arch, group="mutants", kernel=kernel, schedule=schedule)
    caught = tuple(dict.fromkeys(f.check for f in result.findings if f.severity == "error"))
    return Verdict(mutant, arch, tuple(sorted(caught)), result, edited(mutant, case.source)[case.source.name])


def compile_mutant(mutant: Mutant, case: Case, arch: str, compiler: str | None = None) -> Code:
    """Compile one mutant; errors as for `run_mutant`.

    Args:
        mutant: the variant.
        case: the case it varies.
        arch: architecture.
        compiler: as for `mfmasim.compile`.
    """
    texts = edited(mutant, case.source)
    with tempfile.TemporaryDirectory(prefix="mfmasim-") as folder:
        for name, text in texts.items():
            (Path(folder) / name).write_text(text)
        # Headers of other folders, by their path from the source.
        flags = (*case.flags, f"-iquote{case.source.parent}")
        code = program.compile(Path(folder) / case.source.name, arch, compiler=compiler, flags=flags)
        if mutant.warned:
            code.declared  # noqa: B018  (read while the source is there: warnings name its variables)
        return code


def edited(mutant: Mutant, source: Path) -> dict[str, str]:
    """The source, and the included headers of its folder, by file name, after the edits.

    Args:
        mutant: the variant.
        source: of the case that it varies.

    Raises:
        MfmasimError: none of them contains the text that an edit replaces.
    """
    texts: dict[str, str] = {}
    names = [source.name]
    for file in names:  # grows
        path = source.parent / file
        if file not in texts and path.is_file():
            texts[file] = path.read_text()
            names += re.findall(r'^#include "([^/"]+)"', texts[file], re.MULTILINE)
    for old, new in mutant.replacements:
        name = next((name for name, text in texts.items() if old in text), None)
        if name is None:
            raise MfmasimError(f"mutant {mutant.name}: {source.name} does not contain {old!r}")
        texts[name] = texts[name].replace(old, new)
    return texts
