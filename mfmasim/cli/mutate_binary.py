"""``mfmasim mutate FAMILY --binary``: one instruction of the compiled code changed at a time, and who told."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import argparse

    from mfmasim.verify.binary import BinaryVerdict

__all__ = ["run_all"]


def run_all(args: argparse.Namespace) -> int:
    """Run them; exit code 1 when one survived.

    Raises:
        MfmasimError: the limit is no positive number, or no case matches.
    """
    from mfmasim.errors import MfmasimError
    from mfmasim.verify import find, select
    from mfmasim.verify.binary import run_binary

    if args.limit is not None and args.limit < 1:
        raise MfmasimError(f"--limit {args.limit}: a positive number of mutants is expected")
    kinds = [kind for text in args.kind or () for kind in matching(text)]
    work = [pair for _, cases in find(args.family) for pair in select(cases, args.arch, args.case)]
    if not work:
        raise MfmasimError(f"no case of {args.family} matches --arch {args.arch or 'any'} --case {args.case or 'any'}")
    verdicts = [verdict for case, arch in work for verdict in run_binary(case, arch, args.limit, kinds)]
    if args.json:
        print(json.dumps([_record(verdict) for verdict in verdicts], indent=1))
    else:
        _print(verdicts)
    return 1 if any(verdict.survived for verdict in verdicts) else 0


def matching(text: str) -> list[str]:
    """Kinds of mutants whose name contains a text.

    Raises:
        MfmasimError: there is none.
    """
    from mfmasim.errors import unknown
    from mfmasim.verify.binary import KINDS

    found = [kind for kind in KINDS if text in kind]
    if not found:
        raise unknown("kind of mutant", text, KINDS)
    return found


def _record(verdict: BinaryVerdict) -> dict[str, Any]:
    record = asdict(verdict)
    record["mutant"]["code"] = verdict.mutant.code.hex()
    return {**record, "survived": verdict.survived}


def _print(verdicts: list[BinaryVerdict]) -> None:
    from collections import Counter

    from mfmasim.cli.output import table

    columns = ("case", "arch", "place", "mutant", "instruction", "caught by")
    rows = [(v.case, v.arch, _place(v), v.mutant.kind, v.mutant.text, _fate(v)) for v in verdicts]
    print(table(columns, rows, "terminal"), end="")
    kinds = dict.fromkeys(v.mutant.kind for v in verdicts)
    killers = Counter(check for v in verdicts for check in v.caught)
    for kind in kinds:
        of_kind = [v for v in verdicts if v.mutant.kind == kind]
        equal, same = sum(bool(v.equivalent) for v in of_kind), sum(bool(v.same) for v in of_kind)
        caught = sum(bool(v.caught) for v in of_kind)
        print(f"{kind}: {caught} of {len(of_kind) - equal - same} caught, {equal} equivalent, {same} do the same here")
    print("by check: " + (", ".join(f"{check} {count}" for check, count in killers.most_common()) or "none"))
    for verdict in verdicts:
        if verdict.survived:
            where = f"{verdict.case} on {verdict.arch}, {_place(verdict)}"
            print(
                f"survived: {where}: {verdict.mutant.kind}: {verdict.mutant.text} ({verdict.note or 'no reason known'})"
            )


def _place(verdict: BinaryVerdict) -> str:
    return verdict.mutant.source or f"{verdict.mutant.pc:#x}"


def _fate(verdict: BinaryVerdict) -> str:
    if verdict.caught:
        return ", ".join(verdict.caught)
    if verdict.equivalent or verdict.same:
        return f"equivalent: {verdict.equivalent}" if verdict.equivalent else verdict.same
    return f"NOTHING ({verdict.note or 'no reason known'})"
