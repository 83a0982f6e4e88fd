"""``mfmasim explore TARGET...``: draw shapes and inputs for cases, and shrink what fails."""

from __future__ import annotations

import hashlib
import json
import secrets
import shlex
from typing import TYPE_CHECKING, Any

from mfmasim.cli.case_options import add_case, chosen_of, words_of
from mfmasim.cli.jobs import add_jobs, in_order
from mfmasim.cli.numbers import positive, whole
from mfmasim.cli.output import output_file, write
from mfmasim.cli.timeouts import add_timeout

if TYPE_CHECKING:
    import argparse

    from mfmasim.lab.agreement.trial import Verdict
    from mfmasim.verify import Case

GROWTH_LIMIT = 64
"""Upper limit of --growth: larger shapes exhaust the host's memory without finding more."""
MOST_TRIALS = 1_000_000


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the verb."""
    parser = subparsers.add_parser(
        "explore",
        help="draw shapes and inputs within the contract; compare simulator, reference and device; shrink failures",
        description="Draw shapes, strides, factors and inputs that the cases' contracts allow, and compare simulator, "
        "reference and, with --device, a GPU. A failure is shrunk to a small shape and few elements.",
    )
    parser.add_argument("targets", nargs="+", metavar="TARGET", help="a family of hipkernels, 'all', or a case file")
    add_case(parser, "only this architecture (default with a GPU: its own)")
    add_timeout(parser)
    parser.add_argument("--device", help="hip, hip:1, ...: also compare with this device")
    parser.add_argument(
        "--trials",
        "--examples",
        dest="examples",
        type=whole(1, MOST_TRIALS),
        default=100,
        metavar="N",
        help="trials per family (default 100)",
    )
    parser.add_argument("--seed", type=int, help="seed of the trials (default: a new one each time, which is printed)")
    parser.add_argument(
        "--growth", type=positive(GROWTH_LIMIT), default=1.0, help="limit of sizes, relative to the case (default 1)"
    )
    parser.add_argument("--checks", default="all", help="checks of the simulator: all (default), none, or names")
    parser.add_argument(
        "--json", type=output_file, metavar="FILE", help="write what was found as JSON ('-' for standard output)"
    )
    add_jobs(parser)


def run(args: argparse.Namespace) -> int:
    """Execute the verb; exit code 0, 1 or 2."""
    from mfmasim.devices.options import chosen_checks, not_run, said_of
    from mfmasim.errors import MfmasimError

    rows = []
    if args.seed is None:
        args.seed = _new_seed(args.resume)
    # A device belongs to this process.
    for lines, row in in_order(args, _work, _explored, alone=bool(args.device)):
        rows.append(row)
        for line in lines if args.json != "-" else []:
            print(line)
    left = said_of(chosen_checks(args.checks), not_run(args.checks))
    if left and args.json != "-":
        print(left)
    if args.json:
        text = json.dumps(rows, indent=1)
        write(args.json, text + "\n")
    if args.json != "-":
        failed = any(row["verdict"] for row in rows)
        print(f"seed {args.seed}{'; these trials again:' if failed else ''}")
        for line in [_again(args)] if failed else ():
            print(line)
    if any(row["verdict"] for row in rows):
        return 1
    if not any(row["trials"] for row in rows):
        raise MfmasimError(f"nothing was explored: no trial of {len(rows)} families was drawn")
    return 0


def _new_seed(resume: str | None) -> int:
    """A new seed; a continued run has the same seed each time."""
    if resume:
        return int.from_bytes(hashlib.sha256(resume.encode()).digest()[:3], "little")
    return secrets.randbelow(1 << 24)


def _again(args: argparse.Namespace) -> str:
    """The command that draws the same trials."""
    words = [*args.targets, *words_of(args), "--seed", str(args.seed), "--trials", str(args.examples)]
    words += ["--growth", str(args.growth)] if args.growth != 1 else []
    words += ["--checks", args.checks] if args.checks != "all" else []
    words += ["--device", args.device] if args.device else []
    return f"  mfmasim explore {shlex.join(words)}"


def _work(args: argparse.Namespace) -> list[tuple[str, list[tuple[Case, str]]]]:
    """The families, each with its cases and architectures.

    Raises:
        MfmasimError: nothing matches, or an option is wrong.
    """
    from itertools import groupby

    from mfmasim.devices import device
    from mfmasim.devices.options import chosen_checks

    chosen_checks(args.checks)
    own = None if args.device is None else getattr(device(args.device), "arch", None)
    found = chosen_of(args, args.targets, own)
    return [(name, [(one.case, one.arch) for one in some]) for (_, name), some in groupby(found, lambda one: one[:2])]


def _explored(args: argparse.Namespace, task: tuple[str, list[tuple[Case, str]]]) -> tuple[list[str], dict[str, Any]]:
    """Draw trials for one family; the outcome as lines and for JSON."""
    from mfmasim.devices import device
    from mfmasim.devices.options import chosen_checks, not_run
    from mfmasim.fidelity import Trust
    from mfmasim.lab.agreement.trial import judge
    from mfmasim.testing.drawn_trials import covering, smallest, trials

    name, pairs = task
    checks = {"ran": list(chosen_checks(args.checks)), "not_run": list(not_run(args.checks))}
    back_end = device(args.device) if args.device else None
    counted, trust = 0, Trust()

    def report(verdict: Verdict) -> None:
        nonlocal counted, trust
        counted += 1
        new = verdict.simulator.trust
        trust = Trust.of([(trust.level, trust.operations), (new.level, new.operations)])

    found = None
    for trial in covering(pairs)[: args.examples]:
        verdict = judge(trial, back_end, checks=args.checks)
        report(verdict)
        if not verdict.ok:
            found = verdict
            break
    if found is None and counted < args.examples:
        found = smallest(
            trials(pairs, args.growth),
            examples=args.examples - counted,
            seed=args.seed,
            report=report,
            device=back_end,
            checks=args.checks,
        )
    against = "simulator, device and reference" if back_end is not None else "simulator and reference"
    if found is None:
        lines = [
            f"AGREE   {name}   {counted} trials of {len(pairs)} cases: {against} agree",
            f"        fidelity of the simulator: {trust}",
        ]
    else:
        lines = [f"FAIL    {name}   {counted} trials, the smallest that fails:", *found.lines()]
    return lines, {
        "group": name,
        "cases": len(pairs),
        "trials": counted,
        "seed": args.seed,
        "checks": checks,
        "fidelity": trust.record(),
        "verdict": found.record() if found else None,
    }
