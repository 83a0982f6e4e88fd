"""The cases that a command line chooses by targets, ``--arch`` and ``--case``."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from mfmasim.errors import MfmasimError
from mfmasim.files import is_object
from mfmasim.verify import Case

NAMED = 8
"""Cases that an error names."""


class Chosen(NamedTuple):
    """One case on one architecture."""

    target: str
    """The word of the command line that found it."""
    group: str
    """Its family, or its file: the name, with folders before it where another file of the choice has the same one."""
    case: Case
    arch: str


def chosen_cases(
    targets: Sequence[str],
    arch: str | None,
    names: Sequence[str] | None,
    *,
    skipped: bool = True,
    flags: Sequence[str] = (),
) -> list[Chosen]:
    """The cases of targets that match a choice, in order.

    Args:
        targets: families, case files or their folders.
        arch: only this architecture.
        names: only cases whose name contains one of these.
        skipped: whether cases that their architecture skips are among them.
        flags: flags of the compiler in addition to those of each case.

    Raises:
        MfmasimError: none matches; the error has the nearest name.
    """
    from mfmasim.verify import select

    groups = _groups(targets)
    chosen = [Chosen(target, name, case, a) for target, name, cases in groups for case, a in select(cases, arch, names)]
    left = [one for one in chosen if skipped or one.arch not in one.case.skip]
    if left:
        return [one._replace(case=_flagged(one.case, flags)) for one in left] if flags else left
    choice = f"--arch {arch or 'any'} --case {' '.join(names or ['any'])}"
    if chosen:
        raise MfmasimError(f"all {len(chosen)} cases that match {choice} are skipped: {_why(chosen[0])}")
    titles = [case.title for *_, cases in groups for case in cases]
    every = sorted({a for *_, cases in groups for case in cases for a in case.arch})
    raise MfmasimError(f"no case matches {choice}{_nearest(names, titles)} architectures: {', '.join(every)}")


def _groups(targets: Sequence[str]) -> list[tuple[str, str, list[Case]]]:
    """Target, name and cases of each group; names of files are unique, and differ from those of families."""
    from mfmasim.verify import find

    found = [(target, name, cases) for target in targets for name, cases in find(target)]
    files = {one: Path(one).parent.resolve() / Path(one).stem for one in targets if one.endswith(".py")}
    families = {name for target, name, _ in found if target not in files}
    return [
        (target, _shortest(files[target], {*files.values()}, families) if target in files else name, cases)
        for target, name, cases in found
    ]


def _shortest(path: Path, files: set[Path], families: set[str]) -> str:
    """The shortest end of a path that no other file's path ends in, and that is no family."""
    others = files - {path}
    for length in range(1, len(path.parts)):
        end = path.parts[-length:]
        name = "/".join(end)
        if name not in families and all(one.parts[-length:] != end for one in others):
            return name
    return path.as_posix()


def prefixes(work: Sequence[tuple[str, Case, str]]) -> list[str]:
    """The prefix of each case's title in reports: its group, if another group of the run has the same title.

    Args:
        work: group, case and architecture of each.
    """
    groups: dict[str, set[str]] = {}
    for name, case, _ in work:
        groups.setdefault(case.title, set()).add(name)
    return [f"{name}: " if len(groups[case.title]) > 1 else "" for name, case, _ in work]


def _flagged(case: Case, flags: Sequence[str]) -> Case:
    if case.maker is not None or is_object(case.source):
        raise MfmasimError(f"{' '.join(flags)}: case {case.title} has no source that is compiled")
    return replace(case, flags=(*case.flags, *flags))


def _why(one: Chosen) -> str:
    return f"{one.case.title} on {one.arch}: {one.case.skip[one.arch]}"


def _nearest(texts: Sequence[str] | None, names: list[str]) -> str:
    """The case name nearest to an unknown text, or the first names."""
    plain = {name.partition("[")[0]: name for name in names} | {name: name for name in names}
    for text in texts or ():
        near = difflib.get_close_matches(text, plain, n=1, cutoff=0.4)
        if any(text in name for name in names):
            continue
        if near:
            return f"; did you mean {plain[near[0]]!r}?"
        more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
        return f"; cases: {', '.join(names[:NAMED])}{more};"
    return ";"
