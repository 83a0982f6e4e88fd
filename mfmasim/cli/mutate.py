"""``mfmasim mutate TARGET``: run wrong variants of kernels and report which check caught each."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from mfmasim.cli.case_options import EVERY, add_case
from mfmasim.cli.jobs import add_jobs, in_order
from mfmasim.cli.numbers import whole

if TYPE_CHECKING:
    import argparse

    from mfmasim.lab.mutation.mutants import Verdict
    from mfmasim.verify import Case
    from mfmasim.verify.mutant import Mutant


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the verb."""
    parser = subparsers.add_parser(
        "mutate",
        help="run wrong variants of kernels and report which check caught each",
        description="Verify wrong variants of kernels: the declared mutants of a family, which the checks they name "
        "must catch, or generated mutants, each with one change to the compiled code or the source of a case.",
    )
    parser.add_argument(
        "target",
        nargs="?",
        metavar="TARGET",
        help="a family of hipkernels; with --binary or --textual also a case file, or 'all'",
    )
    parser.add_argument("--name", help="only mutants whose name contains this; also print their findings")
    parser.add_argument("--json", action="store_true", help="print the verdicts as JSON")
    add_jobs(parser)
    binary = parser.add_argument_group("generated mutants")
    how = binary.add_mutually_exclusive_group()
    how.add_argument("--binary", action="store_true", help="change one instruction of the compiled code per mutant")
    how.add_argument(
        "--textual",
        action="store_true",
        help="change one place of the source per mutant (needs a compiler; the default with --source FILE)",
    )
    binary.add_argument("--kind", action="append", metavar="TEXT", help="only kinds of change whose name contains this")
    binary.add_argument(
        "--no-cover", action="store_true", help="leave out the further sizes at which loops turn three times"
    )
    binary.add_argument("--limit", type=whole(), metavar="N", help="at most N mutants per case")
    add_case(parser, bare=True)


def run(args: argparse.Namespace) -> int:
    """Execute the verb; exit code 0 when every mutant was caught as declared, else 1."""
    from mfmasim.errors import MfmasimError

    _old_spelling(args)
    if args.target is None:
        raise MfmasimError("mfmasim mutate: the following arguments are required: TARGET")
    args.textual |= bool(args.source) and not args.binary
    if args.binary or args.textual:
        from mfmasim.cli.mutate_one import run_all

        return run_all(args)
    options = {**EVERY, "--kind": "kind", "--limit": "limit", "--no-cover": "no_cover"}
    del options["--compiler"]
    if given := [option for option, name in options.items() if getattr(args, name)]:
        raise MfmasimError(f"{given[0]} needs --binary or --textual; declared mutants take --name")
    verdicts = list(in_order(args, _work, _run, lambda verdict: sum(verdict.result.executed.values())))
    if args.json:
        print(json.dumps([_record(verdict) for verdict in verdicts], indent=1))
    else:
        _print(verdicts, details=bool(args.name))
    if not all(verdict.as_expected for verdict in verdicts):
        return 1
    if all(verdict.mutant.equivalent for verdict in verdicts):
        raise MfmasimError(f"nothing was to be caught: 0 of 0 wrong variants, {len(verdicts)} equivalent")
    return 0


def _old_spelling(args: argparse.Namespace) -> None:
    """Read ``--source`` without a file as ``--textual``; a target behind it was parsed as the file."""
    if args.source is None or (args.source and args.target):
        return
    if args.textual or args.binary:
        from mfmasim.errors import MfmasimError

        if args.source:
            raise MfmasimError("mfmasim mutate: the following arguments are required: TARGET")
        raise MfmasimError("--source: a file is expected, a changed copy of the case's source")
    print("mfmasim: mutate '--source' is now '--textual'; the old spelling works for one release", file=sys.stderr)
    args.target, args.source, args.textual = args.target or args.source, None, True


def _work(args: argparse.Namespace) -> list[tuple[Mutant, Case]]:
    """The chosen mutants, each with its case.

    Raises:
        MfmasimError: none is chosen.
    """
    from mfmasim.errors import MfmasimError
    from mfmasim.lab.mutation.mutants import mutants_of

    if args.target == "all" or args.target.endswith(".py"):
        raise MfmasimError(f"mutate {args.target}: --binary or --textual is needed; families alone declare mutants")
    chosen = [(m, case) for m, case in mutants_of(args.target) if not args.name or args.name in m.name]
    if not chosen:
        raise MfmasimError(f"no mutant of {args.target} has a name that contains {args.name!r}")
    return chosen


def _run(args: argparse.Namespace, task: tuple[Mutant, Case]) -> Verdict:
    """The verdict on one mutant."""
    from mfmasim.lab.mutation.mutants import run_mutant

    verdict = run_mutant(*task, args.compiler)
    verdict.result.launch = None  # nothing reads it here, and it holds the whole kernel
    return verdict


def _record(verdict: Verdict) -> dict[str, Any]:
    return {
        "mutant": verdict.mutant.name,
        "case": verdict.mutant.case,
        "arch": verdict.arch,
        "data": verdict.mutant.data or "as declared",
        "caught": list(verdict.caught),
        "expected": sorted(verdict.mutant.caught),
        "equivalent": verdict.mutant.equivalent,
        "fidelity": verdict.result.trust.record(),
        "findings": [finding.record() for finding in verdict.result.findings],
    }


def _print(verdicts: list[Verdict], *, details: bool) -> None:
    from mfmasim.cli.output import table
    from mfmasim.fidelity import Trust
    from mfmasim.visible import console as new_console

    console = new_console(soft_wrap=True)
    rows = []
    for verdict in verdicts:
        mutant = verdict.mutant
        warned = [f"{name} (warning)" for name in mutant.warned if verdict.as_expected]
        caught = ", ".join([*verdict.caught, *warned]) or ("nothing (equivalent)" if mutant.equivalent else "NOTHING")
        note = "" if verdict.as_expected else f"expected {', '.join(sorted(mutant.caught)) or 'nothing'}"
        rows.append((mutant.name, mutant.case, verdict.arch, mutant.data or "as declared", caught, note))
    print(table(("mutant", "case", "arch", "data", "caught by", ""), rows, "terminal"), end="")
    if details:
        for verdict in verdicts:
            for finding in verdict.result.findings:
                for line in finding.lines():
                    console.print(f"{finding.severity:<8}{line}", soft_wrap=True)
    errors = [v for v in verdicts if v.caught]
    warned_alone = [v for v in verdicts if not v.caught and v.mutant.warned and v.as_expected]
    alone = [v for v in errors if set(v.caught) == {"mapping"}]
    same = sum(bool(v.mutant.equivalent) for v in verdicts)
    trusts = (verdict.result.trust for verdict in verdicts)
    console.print(f"fidelity: {Trust.of((trust.level, trust.operations) for trust in trusts)}")
    console.print(
        f"{len(errors) + len(warned_alone)} of {len(verdicts) - same} wrong variants caught, {len(alone)} of them by "
        f"provenance alone{f', {len(warned_alone)} by a warning alone' if warned_alone else ''}; {same} equivalent"
    )
