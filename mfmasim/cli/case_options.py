"""Options of every verb that takes cases: ``--arch --case --source --set``, and those of the compilation."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mfmasim.cli.compilation import COMPILATION, add_compilation, macros
from mfmasim.errors import MfmasimError, unknown

if TYPE_CHECKING:
    import argparse

    from mfmasim.cli.chosen import Chosen
    from mfmasim.verify import Case

CHANGES = {"--source": "source", "--set": "set"}
"""Options that change a case, and where their values are."""
CHOICE = {"--case": "case", **CHANGES}
"""Options of `add_case` that apply to cases alone, and where their values are."""
NAMED = 6
"""Cases that an error names."""
EVERY = {"--arch": "arch", **CHOICE, **COMPILATION}
"""All options of `add_case`."""


def add_case(
    parser: argparse.ArgumentParser, arch: str = "only this architecture", *, one: bool = False, bare: bool = False
) -> None:
    """Add the options.

    Args:
        parser: of the verb.
        arch: meaning of ``--arch`` for the verb, for its help.
        one: whether the verb takes one case, so that ``--case`` is given once.
        bare: whether ``--source`` may stand without a file, as it did in 0.1; it is then empty.
    """
    group = parser.add_argument_group("cases: which of them, and what is changed of them")
    group.add_argument("--arch", help=arch)
    text = "only the case whose name contains this" if one else "only cases whose name contains this (may be repeated)"
    group.add_argument("--case", action="store" if one else "append", metavar="TEXT", help=text)
    group.add_argument(
        "--source",
        metavar="FILE",
        help="use this source, a changed copy, instead of the cases' source of the same name",
        **({"nargs": "?", "const": ""} if bare else {}),  # type: ignore[arg-type]
    )
    group.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="change a parameter of the cases that have it (may be repeated)",
    )
    add_compilation(parser)


def chosen_of(
    args: argparse.Namespace, targets: Sequence[str], arch: str | None = None, *, skipped: bool = False
) -> list[Chosen]:
    """The cases that a command line chooses, with its changes.

    Args:
        args: the verb's arguments.
        targets: families, case files or their folders.
        arch: the architecture without ``--arch``.
        skipped: whether cases that their architecture skips are among them.

    Raises:
        MfmasimError: no case matches, or a change fits none of them, or not the case that has the parameter.
    """
    found = unchanged_of(args, targets, arch, skipped=skipped)
    changes = settings(args)
    return [one._replace(case=changed(one.case, changes)) for one in found]


def unchanged_of(
    args: argparse.Namespace, targets: Sequence[str], arch: str | None = None, *, skipped: bool = False
) -> list[Chosen]:
    """The cases with the options of source and flags, but without ``--set``, whose values may not fit a case.

    Args:
        args: options of the command line.
        targets: families and files.
        arch: only this architecture.
        skipped: cases that are skipped, too.

    Raises:
        MfmasimError: no case matches, or an option fits none of them.
    """
    from mfmasim.cli.chosen import chosen_cases

    names = [args.case] if isinstance(args.case, str) else args.case
    found = chosen_cases(targets, arch if args.arch is None else args.arch, names, skipped=skipped, flags=macros(args))
    if args.source:
        found = _with_source(args.source, found)
    known_settings(settings(args), (one.case for one in found))
    if args.compiler is None:
        return found
    return [one._replace(case=replace(one.case, compiler=args.compiler)) for one in found]


def only(args: argparse.Namespace, target: str, how: str = "by --case") -> Chosen:
    """The one case that a command line chooses, on the first of its architectures; a whole name is preferred.

    Args:
        args: the verb's arguments.
        target: a family, or a case file.
        how: the option that chooses, for the error.

    Raises:
        MfmasimError: several cases match, or none.
    """
    names = [args.case] if isinstance(args.case, str) else args.case or []
    found = unchanged_of(args, [target])
    found = [one for one in found if one.case.title in names] or found
    titles = list(dict.fromkeys(one.case.title for one in found))
    if len(titles) > 1:
        more = f" and {len(titles) - NAMED} more" if len(titles) > NAMED else ""
        raise MfmasimError(f"{target} has {len(titles)} cases: choose one {how}: {', '.join(titles[:NAMED])}{more}")
    return found[0]._replace(case=changed(found[0].case, settings(args)))


def settings(args: argparse.Namespace) -> dict[str, Any]:
    """The parameters that ``--set`` gives, by name."""
    return dict(setting(text) for text in args.set)


def setting(text: str) -> tuple[str, Any]:
    """Name and value of a parameter, from ``--set``."""
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise MfmasimError(f"--set {text}: NAME=VALUE is expected, such as M=256")
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return name, value


def changed(case: Case, changes: Mapping[str, Any]) -> Case:
    """A case with the changes of parameters that it has.

    Raises:
        MfmasimError: a value has another type than the parameter.
    """
    own = {name: value for name, value in changes.items() if name in case.parameters}
    return case.with_parameters(own) if own else case


def known_settings(changes: Mapping[str, Any], cases: Iterable[Case]) -> None:
    """Refuse a parameter that none of the cases has.

    Raises:
        MfmasimError: there is one; the error has the nearest name.
    """
    known = sorted({name for case in cases for name in case.parameters}) if changes else []
    for name in changes:
        if name not in known:
            raise unknown("parameter", name, known, "in --set")


def words_of(args: argparse.Namespace, *leave: str) -> list[str]:
    """The options as words of a command line that chooses and changes the same cases.

    Args:
        args: the verb's arguments.
        leave: omitted options, such as ``--case``.
    """
    words: list[str] = []
    for option, name in EVERY.items():
        value = getattr(args, name, None)
        for text in [] if option in leave else value if isinstance(value, list) else [value] * bool(value):
            joined = f"{option}{text}" if option in ("-D", "-I") else f"{option}={text}" * (option == "--flag")
            words += [joined] if joined else [option, str(text)]
    return words


def _with_source(file: str, found: list[Chosen]) -> list[Chosen]:
    """The cases with a changed copy of their source."""
    path = Path(file).absolute()
    if path.is_dir():
        raise MfmasimError(f"--source {file}: a folder; a changed copy of a source is expected")
    if not path.is_file():
        near = difflib.get_close_matches(path.name, _names(path.parent), n=1)
        raise MfmasimError(f"--source {file}: no such file" + (f"; did you mean {near[0]!r}?" if near else ""))
    made = next((one.case.title for one in found if one.case.maker is not None), None)
    if made is not None:
        raise MfmasimError(f"--source {file}: case {made} makes its code itself; change the case file, or a copy of it")
    sources = {one.case.source.name for one in found}
    if len(sources) > 1 and path.name not in sources:
        raise MfmasimError(
            f"--source {file}: the cases have {len(sources)} sources ({', '.join(sorted(sources))}); give the copy the "
            f"name of one of them, or choose cases with --case"
        )
    return [
        one._replace(case=one.case.with_source(path))
        for one in found
        if len(sources) == 1 or one.case.source.name == path.name
    ]


def _names(folder: Path) -> list[str]:
    return [one.name for one in folder.glob("*.*")] if folder.is_dir() else []
