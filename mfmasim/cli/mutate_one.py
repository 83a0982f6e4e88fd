"""``mfmasim mutate TARGET --binary`` and ``--textual``: mutants with one change each, and which check caught them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from mfmasim.cli.jobs import in_order

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from mfmasim.lab.mutation.outcome import Outcome
    from mfmasim.verify import Case


def run_all(args: argparse.Namespace) -> int:
    """Run them; exit code 1 when one survived.

    Raises:
        MfmasimError: no case or kind matches.
    """
    from mfmasim.errors import MfmasimError
    from mfmasim.lab.mutation.textual import SOURCE_KINDS

    outcomes = [outcome for found in in_order(args, _work, _run) for outcome in found]
    if args.json:
        print(json.dumps([outcome.record() for outcome in outcomes], indent=1))
    else:
        _print(outcomes)
    if any(outcome.survived for outcome in outcomes):
        return 1
    if not outcomes and args.textual:
        raise MfmasimError(
            f"nothing was to be caught: no kernel of {args.target} has a place that --textual changes "
            f"({', '.join(SOURCE_KINDS)}); --binary changes instructions"
        )
    if not any(outcome.caught for outcome in outcomes):
        raise MfmasimError(f"nothing was to be caught: 0 of 0, {len(outcomes)} equivalent or without effect")
    return 0


def _work(args: argparse.Namespace) -> list[tuple[Case, str]]:
    """The chosen cases and architectures.

    Raises:
        MfmasimError: none is chosen, or an option is wrong.
    """
    from mfmasim.cli.case_options import chosen_of

    _kinds(args)
    return [(one.case, one.arch) for one in chosen_of(args, [args.target], skipped=True)]


def _kinds(args: argparse.Namespace) -> list[str]:
    """The chosen kinds of change; none means all."""
    from mfmasim.lab.mutation.binary import KINDS
    from mfmasim.lab.mutation.textual import SOURCE_KINDS

    known = SOURCE_KINDS if args.textual else KINDS
    return [kind for text in args.kind or () for kind in matching(text, known)]


def _run(args: argparse.Namespace, task: tuple[Case, str]) -> list[Outcome]:
    """The outcomes of all mutants of one case."""
    from mfmasim.lab.mutation.binary import run_binary
    from mfmasim.lab.mutation.textual import run_source

    if args.textual:
        return list(run_source(*task, args.limit, _kinds(args), args.compiler, covers=not args.no_cover))
    return list(run_binary(*task, args.limit, _kinds(args), covers=not args.no_cover))


def matching(text: str, known: Sequence[str]) -> list[str]:
    """Kinds of mutants whose name contains a text.

    Raises:
        MfmasimError: no kind matches.
    """
    from mfmasim.errors import unknown

    found = [kind for kind in known if text in kind]
    if not found:
        raise unknown("kind of mutant", text, known)
    return found


def _print(outcomes: list[Outcome]) -> None:
    from collections import Counter

    from mfmasim.cli.output import table
    from mfmasim.fidelity import Trust

    columns = ("case", "arch", "place", "mutant", "change", "caught by")
    rows = [(f.case, f.arch, f.mutant.place, f.mutant.kind, f.mutant.change, str(f)) for f in outcomes]
    print(table(columns, rows, "terminal"), end="")
    killers = Counter(check for f in outcomes for check in f.caught)
    for kind in dict.fromkeys(f.mutant.kind for f in outcomes):
        of_kind = [f for f in outcomes if f.mutant.kind == kind]
        equal, same = sum(bool(f.equivalent) for f in of_kind), sum(bool(f.same) for f in of_kind)
        caught = sum(bool(f.caught) for f in of_kind)
        print(
            f"{kind}: {caught} of {len(of_kind) - equal - same} caught, {equal} equivalent, {same} without effect here"
        )
    caught, survived = sum(bool(f.caught) for f in outcomes), sum(f.survived for f in outcomes)
    without = len(outcomes) - caught - survived
    print(f"total: {caught} of {caught + survived} caught, {without} equivalent or without effect")
    print(f"fidelity: {Trust.of((f.trust.level, f.trust.operations) for f in outcomes)}")
    print("by check: " + (", ".join(f"{check} {count}" for check, count in killers.most_common()) or "none"))
    for outcome in outcomes:
        if outcome.survived:
            where = f"{outcome.case} on {outcome.arch}, {outcome.mutant.place}"
            why = outcome.note or "no reason known"
            print(f"survived: {where}: {outcome.mutant.kind}: {outcome.mutant.change} ({why})")
