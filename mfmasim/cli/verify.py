"""``mfmasim verify TARGET...``: prove kernels."""

from __future__ import annotations

import json
import shlex
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mfmasim.cli.case_options import add_case, changed, settings, unchanged_of, words_of
from mfmasim.cli.jobs import add_jobs, in_order
from mfmasim.cli.last_run import FAILED, add_order, failed_before, first_of, keep, slowest
from mfmasim.cli.numbers import whole
from mfmasim.cli.output import output_file, write
from mfmasim.cli.quotas import add_quotas, quota_of
from mfmasim.cli.schedules import SCHEDULE_HELP
from mfmasim.cli.timeouts import add_timeout

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Mapping, Sequence

    from mfmasim.verify import Case, Result

    Task = tuple[str, Case, str, str, Sequence[Mapping[str, Any]] | None]
    """Family or file, case, architecture, prefix of the case's name, and, where the case stands for its kernel, the
    parameters of the other cases of it."""


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the verb."""
    parser = subparsers.add_parser(
        "verify",
        help="run kernel cases: outputs against the reference, fragments by provenance, every finding",
        description="Run kernel cases on a device and prove outputs, fragment maps and memory accesses.",
    )
    parser.add_argument("targets", nargs="*", metavar="TARGET", help="a family of hipkernels, 'all', or a case file")
    parser.add_argument("--list", action="store_true", help="list the families, or the cases of TARGET, and run none")
    add_timeout(parser)
    parser.add_argument("--device", default="sim", help="sim (default), or hip, hip:1, ...: a GPU, through hip-python")
    add_case(parser)
    parser.add_argument(
        "--budget", type=whole(), help="instructions a wave may execute before the launch stops as endless"
    )
    parser.add_argument("--schedule", default="usual", metavar="ORDER", help=SCHEDULE_HELP)
    parser.add_argument(
        "--approximations",
        default="nearest",
        metavar="SIDE",
        help="results of reciprocals, roots, exponentials and other approximate operations: nearest, or above or below "
        "it in magnitude by the manual's error bound; what must not depend on it passes with each",
    )
    parser.add_argument(
        "--model",
        action="append",
        default=[],
        metavar="MODEL",
        help="also say which outputs depend on how assumed matrix instructions round: a candidate (exact32: exact sums "
        "of 32 products; cut24by16: sums of 16 cut at 24 bits; ...), or all; may be repeated",
    )
    add_quotas(parser)
    add_jobs(parser)
    add_order(parser)
    parser.add_argument(
        "--prove", action="store_true", help="also judge bounds, races and waits for all sizes, as `mfmasim prove` does"
    )
    parser.add_argument(
        "--no-cover",
        action="store_true",
        help="leave out the further sizes at which loops turn three times and branches go the other way",
    )
    parser.add_argument(
        "--json", type=output_file, metavar="FILE", help="write the results as JSON ('-' for standard output)"
    )
    parser.add_argument(
        "--sarif", type=output_file, metavar="FILE", help="write the findings as SARIF 2.1.0, for code review tools"
    )
    parser.add_argument("--html", type=output_file, metavar="FILE", help="write results and findings as one HTML page")
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument("--quiet", action="store_true", help="print only cases that fail, and the summary")
    shown.add_argument(
        "--verbose", action="store_true", help="print every finding of every case, and suppressed ones with the reason"
    )
    parser.add_argument(
        "--severity",
        choices=("error", "warning", "info"),
        help="least severe findings to print (default: warning for cases that pass, else info); the verdict does not "
        "depend on it",
    )
    parser.add_argument("--max-findings", type=whole(0), default=10, help="findings shown per case (default 10)")


def run(args: argparse.Namespace) -> int:
    """Execute the verb; exit code 0, 1 or 2."""
    from mfmasim.cli.output import table
    from mfmasim.errors import MfmasimError

    if args.list:
        from mfmasim.cli.listing import list_cases

        return list_cases(args)
    if not args.targets:
        raise MfmasimError("mfmasim verify: the following arguments are required: TARGET (--list names the families)")
    args.failed_before = failed_before(Path.cwd()) if args.failed_first else ()
    from mfmasim.verify.files import table_of
    from mfmasim.verify.reports.terminal import Progress

    quiet = args.json == "-"
    progress = Progress(
        quiet=quiet,
        most=sys.maxsize if args.verbose else args.max_findings,
        failures=args.quiet,
        verbose=args.verbose,
        severity=args.severity,
    )
    results: list[Result] = []
    tables: dict[str, Any] = {}
    for result in in_order(
        args, _work, _verified, lambda result: sum(result.executed.values()), alone=args.device != "sim", lost=_lost
    ):
        if result.group not in tables:
            tables[result.group] = table_of(result.group)
        if args.verbose or tables[result.group] is None:
            progress.show(result)
        if result.proof and not quiet:
            verdicts = ", ".join(f"{one['kind']} {one['verdict']}" for one in result.proof["obligations"])
            print(f"        for all {', '.join(result.proof['for_all']) or 'its own sizes'}: {verdicts}")
            for text in result.proof["assumptions"] if args.verbose else ():
                print(f"        assumes {text}")
        for one in () if quiet else result.models:
            print(f"        {one.text}")
        results.append(result)
        if args.exitfirst and result.status in FAILED:
            break
    keep(Path.cwd(), results)
    failed_input = any(result.status == "error" for result in results)
    if args.json:
        text = json.dumps([result.record() for result in results], indent=1)
        write(args.json, text + "\n")
    _write_reports(args, results)
    agrees = True
    for group, make in tables.items():
        if make is not None:
            columns, rows, last, right = make([result for result in results if result.group == group])
            agrees &= right
            print(f"{table(columns, rows, 'terminal')}{last}", file=sys.stderr if quiet else sys.stdout)
    others = [result for result in results if tables[result.group] is None]
    if others:
        progress.summary(others)
        if not quiet:
            _warn_of_equal_sizes(others)
            _warn_of_unseen(others)
            for line in slowest(results, args.durations) if args.durations is not None else ():
                print(line)
            if args.exitfirst and others[-1].status in FAILED:
                print("stopped at the first case that failed (-x)")
            for line in _next(args, others):
                print(line)
    if failed_input:
        return 2
    if not agrees or any(result.status == "fail" for result in others):
        return 1
    if not any(result.judged for result in results):
        skipped = sum(result.status == "skipped" for result in results)
        raise MfmasimError(
            f"nothing was verified: of {len(results)} cases {skipped} are skipped, others have no outputs"
        )
    return 0


def _next(args: argparse.Namespace, results: list[Result]) -> Iterator[str]:
    """The commands at the end of a report: they explain the worst finding, and the first wrong element."""
    from mfmasim.observe import next_command

    if explain := next_command(finding for result in results for finding in result.findings):
        yield explain
    wrong = ((result, one.element) for result in results for one in result.findings if one.id == "outputs-differ")
    if len(args.targets) == 1 and (found := next(((result, name) for result, name in wrong if name), None)):
        result, element = found
        case = ["--case", result.case] if len({one.case for one in results}) > 1 or args.case else []
        words = [args.targets[0], element, "--arch", result.arch, *case, *words_of(args, "--arch", "--case")]
        yield f"      mfmasim why {shlex.join(words)}"


def _warn_of_equal_sizes(results: list[Result]) -> None:
    """Print a line if the results of all variants of a case cannot distinguish two sizes in the kernel."""
    pairs: dict[tuple[str, str], frozenset[tuple[str, str]]] = {}
    for result in results:
        key = result.group, result.prefix + result.case.partition("[")[0]
        pairs[key] = pairs.get(key, result.equal_sizes) & result.equal_sizes
    cases: dict[tuple[str, str], list[str]] = {}
    for (_, case), found in pairs.items():
        for pair in sorted(found):
            cases.setdefault(pair, []).append(case)
    for (one, other), names in cases.items():
        print(
            f"{one} and {other} are equal in {', '.join(names)}: a kernel that takes one for the other passes; "
            f"--set {other}=... or mfmasim explore tries others"
        )


def _warn_of_unseen(results: list[Result]) -> None:
    """Print a line for each loop without three turns at any size, with its cases."""
    said: dict[str, list[str]] = {}
    for result in results:
        for text in result.cover.get("unseen", ()) if not result.shipped else ():
            said.setdefault(text, []).append(f"{result.title} on {result.arch}")
    for text, cases in said.items():
        print(f"{cases[0]}{f' and {len(cases) - 1} more' * (len(cases) > 1)}: {text}")
    left_out: dict[str, str] = {}
    for result in results:
        for row in result.cover.get("left_out", ()) if not result.shipped else ():
            left_out.setdefault(f"{row['at']} ({row['why']})", f"{result.title} on {result.arch}")
    for text, case in left_out.items():
        print(f"{case}: not run at {text}")


def _work(args: argparse.Namespace) -> list[Task]:
    """All cases to verify.

    Raises:
        MfmasimError: nothing matches, or an option is wrong for every case.
    """
    from mfmasim.cli.chosen import prefixes
    from mfmasim.cli.siblings import siblings_of
    from mfmasim.devices import device

    # A GPU runs only the cases of its architecture.
    own = getattr(device(args.device), "arch", None)
    work: list[tuple[str, Case, str]] = [one[1:] for one in unchanged_of(args, args.targets, own, skipped=True)]
    _check_once(args)
    quota_of(args)
    others = siblings_of(work, settings(args))
    tasks = [(*one, prefix, some) for one, prefix, some in zip(work, prefixes(work), others, strict=True)]
    names = [(name, case.title, arch) for name, case, arch in work]
    return [tasks[number] for number in first_of(names, args.failed_before)]


def _verified(args: argparse.Namespace, task: Task) -> Result:
    """The result of one case; an error about the case is a result, too."""
    from mfmasim.cli.refutations import refutations
    from mfmasim.devices.ways import Ways
    from mfmasim.errors import MfmasimError
    from mfmasim.lab.covering.covering import cover
    from mfmasim.resources import folder
    from mfmasim.verify import verify_case
    from mfmasim.verify.causes import ordered
    from mfmasim.verify.contract import equal_sizes

    name, case, arch, prefix, siblings = task
    how: dict[str, Any] = {
        "budget": args.budget,
        "schedule": args.schedule,
        "approximations": args.approximations,
        "quota": None if args.device != "sim" else quota_of(args),
    }
    ways = Ways() if siblings is not None and args.device == "sim" and not args.no_cover else None
    try:
        case = changed(case, settings(args))
        watching = [] if ways is None else [ways]
        result = verify_case(case, arch, group=name, device=args.device, observers=watching, **how)
        if ways is not None and ways.kernel is not None and result.status == "pass" and not case.fails:
            cover(result, case, ways.kernel, ways, siblings or (), **how)
    except MfmasimError as error:
        result = _error(args, task, str(error))
    result.prefix = prefix
    if args.model and result.status in ("pass", "fail"):
        from mfmasim.lab.agreement.model_dependence import dependence

        found = dependence(partial(_found, args, case.title, arch), arch, args.model)
        result.models = tuple(found)
    if args.prove and result.status in ("pass", "fail"):
        from mfmasim.prove import prove_case

        result.proof = prove_case(case, arch, group=name).record()
        kernel = case.compiled(arch)
        result.findings = ordered([*result.findings, *refutations(args, case, arch, kernel, result.proof)])
        result.settle()
    result.shipped = folder("hipkernels") in case.source.parents
    if result.status == "pass" and not result.shipped:
        result.equal_sizes = equal_sizes(case.needs, case.parameters)
    if args.html and result.launch is not None:
        result.coverage = result.launch.coverage
    result.launch = None  # nothing else reads it here, and it holds the whole kernel
    return result


def _found(args: argparse.Namespace, title: str, arch: str) -> Case:
    """A case of the arguments, in a process that does not have it yet."""
    case = next(case for _, case, one, *_ in _work(args) if (case.title, one) == (title, arch))
    return changed(case, settings(args))


def _lost(args: argparse.Namespace, task: Task, why: str) -> Result:
    """The result of a case whose workers ended."""
    return _error(args, task, f"{task[1].title} was not executed: {why}")


def _error(args: argparse.Namespace, task: Task, text: str) -> Result:
    """The result of a case that could not be run."""
    from mfmasim.observe import Finding
    from mfmasim.verify import Result

    name, case, arch, prefix, _ = task
    result = Result(name, case.title, case.kernel_name(), arch, args.device, status="error", prefix=prefix)
    result.source = str(case.source)
    result.findings.append(Finding("case", "error", text, "case-wrong", kernel=result.kernel))
    return result


def _check_once(args: argparse.Namespace) -> None:
    """Raise errors that concern all cases before the first one runs."""
    from mfmasim.machine.binding.approximation import direction
    from mfmasim.machine.execution.wave_orders import schedule
    from mfmasim.matrix.candidates import candidate
    from mfmasim.toolchain import find_compiler

    if args.schedule != "witness":
        schedule(args.schedule)
    direction(args.approximations)
    if args.compiler:
        find_compiler(args.compiler)
    for name in args.model:
        if name != "all":
            candidate(name)


def _write_reports(args: argparse.Namespace, results: list[Result]) -> None:
    from mfmasim import __version__

    if args.sarif:
        from mfmasim.verify.reports.sarif import sarif

        write(args.sarif, json.dumps(sarif(results, __version__), indent=1) + "\n")
    if args.html:
        from mfmasim.verify.reports.page import page

        write(args.html, page(results, __version__))
