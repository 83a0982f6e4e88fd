"""``mfmasim prove TARGET``: obligations of a kernel for all sizes that its case's contract admits."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn

from mfmasim.cli.case_options import CHOICE, add_case, chosen_of
from mfmasim.cli.compilation import COMPILATION, compilation
from mfmasim.cli.jobs import add_jobs, in_order
from mfmasim.cli.numbers import positive, whole
from mfmasim.cli.output import output_file, write

if TYPE_CHECKING:
    import argparse

    from mfmasim.program import Code
    from mfmasim.prove import Obligation, Proof

__all__ = ["add", "print_proof", "run"]


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the verb."""
    parser = subparsers.add_parser(
        "prove",
        help="bounds, races, waits and bank conflicts of kernels for all sizes of their contracts",
        description="Execute the machine code of one workgroup with symbols for workgroups, sizes, strides and "
        "pointers, and judge each obligation: proved for all of them, refuted by a size that the simulator replays, or "
        "unknown.",
    )
    parser.add_argument(
        "targets",
        nargs="*",
        metavar="TARGET",
        help="a family of hipkernels, 'all', a case file, or a code object or source without a case",
    )
    add_case(parser)
    parser.add_argument(
        "--limit",
        type=positive(),
        default=60.0,
        metavar="SECONDS",
        help="CPU seconds for the symbolic execution of a case; then it is unknown (default 60)",
    )
    parser.add_argument("--no-replay", action="store_true", help="run no sizes to refute what is not proved")
    parser.add_argument(
        "--verbose", action="store_true", help="all instructions that are not proved, and the assumptions"
    )
    parser.add_argument(
        "--json", type=output_file, metavar="FILE", help="write the proofs as JSON ('-' for standard output)"
    )
    parser.add_argument(
        "--sarif", type=output_file, metavar="FILE", help="write what is not proved as SARIF 2.1.0, for review tools"
    )
    group = parser.add_argument_group("equality of two kernels")
    group.add_argument(
        "--equal",
        nargs=2,
        metavar=("A", "B"),
        help="whether A and B leave the same bytes for all contents of the buffers, at the sizes of the case: sides of "
        "TARGET as of compare (flags=-O1, a code object, source, compiler, architecture, NAME=VALUE), or without "
        "TARGET two cases, FILE or FAMILY:CASE, with NAME=VALUE after commas",
    )
    group.add_argument("--bits", action="store_true", help="exit code 1 also where they are equal only as exact sums")
    group = parser.add_argument_group("kernels without a case: of a code object or source")
    group.add_argument("--kernel", help="only this kernel")
    group.add_argument("--block", help="work-items of a workgroup, such as 256 or 16,16 (default: the metadata's)")
    group.add_argument("--shared", type=whole(0), metavar="BYTES", help="dynamic LDS (default 0)")
    add_jobs(parser)


def run(args: argparse.Namespace) -> int:
    """Execute the verb; exit code 1 if an obligation is refuted, else 0."""
    from collections import Counter

    from mfmasim.errors import MfmasimError

    if args.equal:
        from mfmasim.cli.equality import run as compare

        return compare(args)
    if not args.targets:
        raise MfmasimError("prove: a target is expected: a family of hipkernels, 'all', a case file, a code object")
    proofs: list[Proof] = []
    for proof in in_order(args, _work, _proved):
        proofs.append(proof)
        if args.json != "-":
            print_proof(proof, verbose=args.verbose)
    if args.json:
        write(args.json, json.dumps([proof.record() for proof in proofs], indent=1) + "\n")
    if args.sarif:
        from mfmasim import __version__
        from mfmasim.verify.reports.sarif import sarif

        log = sarif([], __version__, [proof.record() for proof in proofs])
        write(args.sarif, json.dumps(log, indent=1) + "\n")
    total: Counter[str] = sum((proof.verdicts for proof in proofs), Counter())
    if args.json != "-":
        parts = ", ".join(f"{total[verdict]} {verdict}" for verdict in ("proved", "refuted", "unknown"))
        print(f"{total.total()} obligations of {len(proofs)} cases: {parts}")
    return 1 if total["refuted"] else 0


def print_proof(proof: Proof, *, verbose: bool = False) -> None:
    """Print a proof.

    Args:
        proof: the proof.
        verbose: with all reasons and the assumptions.
    """
    names = ", ".join(proof.symbols)
    took = f" ({proof.seconds:.1f} s)" if sys.stdout.isatty() else ""
    print(f"{proof.case} on {proof.arch}, {f'for all {names}' if names else 'for its own sizes'}{took}")
    for one in _merged(proof.obligations):
        note = f"  {one.note}" if one.note else ""
        sizes = f" at {one.parameters}" if one.parameters else ""
        count = "" if one.verdict == "unknown" and not one.count else f"{one.count:>4} instructions"
        print(f"  {one.verdict:<8} {one.kind:<15} {count}{note}{sizes}".rstrip())
        for reason in one.reasons if verbose else one.reasons[:2]:
            where = f" ({reason.source})" if reason.source else ""
            print(f"             {reason.pc:#x} {reason.text}{where}: {reason.why[:300]}")
        if not verbose and len(one.reasons) > 2:
            print(f"             and {len(one.reasons) - 2} more instructions (--verbose)")
    if verbose:
        for text in proof.assumptions:
            print(f"  assumes  {text}")


def _merged(obligations: list[Obligation]) -> list[Obligation]:
    """Obligations; those that one reason stopped before any instruction are merged."""
    stopped = [one for one in obligations if one.verdict == "unknown" and not one.count]
    if len(stopped) < 2 or any(one.reasons != stopped[0].reasons for one in stopped):
        return obligations
    return [
        replace(stopped[0], kind=", ".join(one.kind for one in stopped)),
        *(one for one in obligations if one not in stopped),
    ]


def _work(args: argparse.Namespace) -> list[tuple[str, Any, str]]:
    """File or family, case or name of a kernel, and architecture."""
    from mfmasim.cli.launched import is_launch
    from mfmasim.cli.needs import needed

    if not is_launch(args.targets):
        needed(args, {"--kernel": "kernel", "--block": "block", "--shared": "shared"}, "a code object or a source")
        return [one[1:] for one in chosen_of(args, args.targets)]
    needed(args, CHOICE, "a case file")
    return [
        (target, name, code.arch.name)
        for target in args.targets
        for code in [_code(args, target)]
        for name in code.kernels
        if args.kernel in (None, name, code[name].title)
    ] or _no_kernel(args)


def _code(args: argparse.Namespace, target: str) -> Code:
    from mfmasim import program
    from mfmasim.architectures import DEFAULT
    from mfmasim.cli.needs import needed
    from mfmasim.files import is_source

    if is_source(target):
        return program.compile(target, args.arch or DEFAULT, **compilation(args))
    needed(args, COMPILATION, f"a source; {target} is compiled already")
    return program.load(target, args.arch)


def _no_kernel(args: argparse.Namespace) -> NoReturn:
    from mfmasim.errors import MfmasimError, unknown

    names = [code[name].title for target in args.targets for code in [_code(args, target)] for name in code.kernels]
    where = " ".join(args.targets)
    if args.kernel is None:
        raise MfmasimError(f"{where} holds no kernel")
    raise unknown("kernel", args.kernel, names, f"in {where}")


def _proved(args: argparse.Namespace, task: tuple[str, Any, str]) -> Proof:
    from mfmasim.cli.run_arguments import sizes
    from mfmasim.prove import prove_case, prove_kernel

    name, case, arch = task
    if isinstance(case, str):
        block = None if args.block is None else sizes(args.block, "--block")
        kernel = _code(args, name)[case]
        return prove_kernel(kernel, block, args.shared or 0, group=name, seconds=args.limit)
    return prove_case(case, arch, group=name, seconds=args.limit, replays=not args.no_replay)
