"""``mfmasim report TARGET``: instruction mix and hardware use of kernels, and claims about them."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING

from mfmasim.cli.case_options import add_case, chosen_of, words_of
from mfmasim.cli.jobs import add_jobs, in_order
from mfmasim.cli.launched import OPTIONS, add_launch, is_launch, launched
from mfmasim.cli.needs import needed
from mfmasim.cli.output import output_file, write

if TYPE_CHECKING:
    import argparse

    from mfmasim.lab.reports.profile import Profile
    from mfmasim.verify import Case


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the verb."""
    parser = subparsers.add_parser(
        "report",
        help="instruction mix, main loop, LDS conflicts by line, occupancy, and claims about a kernel",
        description="Run each case once and describe what was executed; with --claims, check published statements "
        "about the kernels. Exit code 1 when a case fails, or a verdict on a claim differs from the recorded one.",
    )
    parser.add_argument(
        "targets", nargs="+", metavar="TARGET", help="a family of hipkernels, 'all', a case file, or a launch"
    )
    parser.add_argument(
        "--claims", action="store_true", help="only check what published texts state about the family's kernels"
    )
    parser.add_argument("--section", metavar="TEXT", help="with --claims: only below the text's headings with this")
    add_case(parser)
    add_launch(parser)
    parser.add_argument(
        "--json", type=output_file, metavar="FILE", help="write the reports as JSON ('-' for standard output)"
    )
    parser.add_argument("--counters", action="store_true", help="print performance counters under the hardware's names")
    parser.add_argument("--html", type=output_file, metavar="FILE", help="write the reports as one HTML page")
    add_jobs(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Execute the verb; exit code 0, 1 or 2."""
    from mfmasim import __version__
    from mfmasim.cli.output import counters, table
    from mfmasim.errors import MfmasimError
    from mfmasim.lab.reports.profile_page import profile_page, tables_of
    from mfmasim.lab.reports.statements import has_text

    if args.claims:
        return _claims(args)
    if args.section is not None:
        raise MfmasimError("--section TEXT chooses among the statements of a text: it needs --claims")
    profiles = []
    for profile in _profiles(args):
        profiles.append(profile)
        if args.json == "-":
            continue
        result = profile.result
        share = f"{profile.matrix_share:.1%}" if profile.matrix_share else "no"
        print(f"{result.status.upper()}  {result.arch}  {result.case}: {share} matrix instructions")
        print(f"fidelity: {profile.result.trust}")
        for title, columns, rows in tables_of(profile):
            print(table(columns, rows, "terminal", title), end="")
        if args.counters:
            print(counters(profile.report), end="")
        if profile.remark and args.json != "-":
            print(f"remark: {profile.remark}")
    if args.json:
        text = json.dumps([profile.record() for profile in profiles], indent=1)
        write(args.json, text + "\n")
    if args.html:
        write(args.html, profile_page(profiles, __version__))
    if args.json != "-" and not is_launch(args.targets):
        again = shlex.join([*args.targets, *words_of(args)])
        print(f"bounds of each pipe, and what waves stall on: mfmasim cost {again}")
    texts = [] if args.case or args.arch else [target for target in args.targets if has_text(target)]
    for target in texts if args.json != "-" else []:
        print(f"published claims about {target}: mfmasim report {target} --claims")
    return 0 if all(profile.ok for profile in profiles) else 1


def _profiles(args: argparse.Namespace) -> Iterator[Profile]:
    """All requested profiles."""
    if not is_launch(args.targets):
        needed(args, OPTIONS, "a code object or a source in place of cases")
        yield from in_order(args, _work, _profiled, lambda profile: profile.report.counts.total())
        return
    from mfmasim.lab.reports.profile import profile_launch

    kernel, grid, block, given, shared = launched(args)
    yield profile_launch(kernel, grid, block, given.values, shared, undefined=given.undefined)


def _work(args: argparse.Namespace) -> list[tuple[str, Case, str]]:
    """Family or file, case and architecture of all reported cases.

    Raises:
        MfmasimError: nothing matches.
    """
    return [one[1:] for one in chosen_of(args, args.targets, skipped=True)]


def _profiled(_: argparse.Namespace, task: tuple[str, Case, str]) -> Profile:
    """The profile of one case."""
    from mfmasim.lab.reports.profile import profile_case

    name, case, arch = task
    return profile_case(case, arch, group=name, bounds=True)


def _claims(args: argparse.Namespace) -> int:
    """Check published statements; 1 when a verdict differs from the recorded one."""
    from mfmasim import __version__
    from mfmasim.cli.output import table
    from mfmasim.errors import MfmasimError
    from mfmasim.fidelity import Trust
    from mfmasim.lab.reports.profile_page import claims_page
    from mfmasim.lab.reports.statements import COLUMNS, counted, text_of, weigh

    if args.case or args.arch or args.set or args.source:
        raise MfmasimError(
            "--claims cannot be combined with --case, --set, --source or --arch: each statement names its own"
        )
    texts = [text_of(target) for target in args.targets]
    if args.section is not None:
        texts = [text.within(args.section) for text in texts]
    weighed = [(text, weigh(text, compiler=args.compiler)) for text in texts]
    if args.json != "-":
        for text, lines in weighed:
            # The words of the text and the notes do not fit a terminal's width; --json and --html have them.
            short = [(line.row[0], *line.row[2:-1]) for line in lines]
            print(table((COLUMNS[0], *COLUMNS[2:-1]), short, "terminal", text.name), end="")
            if text.source is not None:
                print(text.source.credit)
            for place, _, claim, *_, verdict, note in (line.row for line in lines):
                if note and verdict.startswith("refuted"):
                    print(f"{verdict}: {claim} ({place}): {note}")
            print(f"fidelity: {Trust.of((line.trust.level, line.trust.operations) for line in lines)}")
            print(counted(lines))
    if args.json:
        records = [line.record() | {"source": text.name} for text, lines in weighed for line in lines]
        write(args.json, json.dumps(records, indent=1) + "\n")
    if args.html:
        write(args.html, claims_page([(text.name, lines) for text, lines in weighed], __version__))
    if not any(line.verdict in {"confirmed", "consistent", "refuted"} for _, lines in weighed for line in lines):
        raise MfmasimError(f"nothing was decided: no statement about {', '.join(args.targets)} is confirmed or refuted")
    return 0 if all(line.as_known for _, lines in weighed for line in lines) else 1
