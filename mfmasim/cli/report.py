"""``mfmasim report TARGET``: what kernels are made of, how they use the hardware, whether claims about them hold."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import argparse

__all__ = ["add", "run"]


def add(subparsers: Any) -> None:
    """Register the verb."""
    parser = subparsers.add_parser(
        "report",
        help="instruction mix, main loop, LDS conflicts by line, occupancy, and claims about a kernel",
        description="Run each case once and describe what was executed; with --claims, judge what a text states. Exit "
        "code 1 when a case fails, or a claim is not judged as it is known to be.",
    )
    parser.add_argument("targets", nargs="+", metavar="TARGET", help="a family of hipkernels, 'all', or a case file")
    parser.add_argument("--arch", help="only this architecture")
    parser.add_argument(
        "--claims",
        action="store_true",
        help="only what a published text states of the family's kernels, and whether it holds",
    )
    parser.add_argument("--case", action="append", metavar="TEXT", help="only cases whose name contains this")
    parser.add_argument("--compiler", help="compile with this compiler, leaving prebuilt code objects aside")
    parser.add_argument("--json", metavar="FILE", help="write the reports as JSON ('-' for standard output)")
    parser.add_argument("--html", metavar="FILE", help="write the reports as one HTML page")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Execute the verb; exit code 0, 1 or 2."""
    from pathlib import Path

    from mfmasim import __version__
    from mfmasim.cli.output import table
    from mfmasim.errors import MfmasimError
    from mfmasim.verify import find, select
    from mfmasim.verify.reports.profile import profile_case
    from mfmasim.verify.reports.profile_page import profile_page, tables_of
    from mfmasim.verify.reports.statements import has_text

    if args.claims:
        return _claims(args)
    groups = [group for target in args.targets for group in find(target)]
    work = [(name, case, arch) for name, cases in groups for case, arch in select(cases, args.arch, args.case)]
    if not work:
        raise MfmasimError(f"no case matches --arch {args.arch or 'any'} --case {' '.join(args.case or ['any'])}")
    profiles = []
    for name, case, arch in work:
        profile = profile_case(case, arch, group=name, compiler=args.compiler)
        profiles.append(profile)
        if args.json == "-":
            continue
        print(f"{profile.result.status.upper()}  {arch}  {case.title}: {profile.matrix_share:.1%} matrix instructions")
        for title, columns, rows in tables_of(profile):
            print(table(columns, rows, "terminal", title), end="")
    if args.json:
        text = json.dumps([profile.record() for profile in profiles], indent=1)
        if args.json == "-":
            print(text)
        else:
            Path(args.json).write_text(text + "\n")
    if args.html:
        Path(args.html).write_text(profile_page(profiles, __version__))
    texts = [] if args.case or args.arch else [target for target in args.targets if has_text(target)]
    for target in texts if args.json != "-" else []:
        print(f"a text states more of {target}: mfmasim report {target} --claims")
    return 0 if all(profile.ok for profile in profiles) else 1


def _claims(args: argparse.Namespace) -> int:
    """Judge the statements of texts; 1 when a verdict is not the known one."""
    from collections import Counter
    from pathlib import Path

    from mfmasim import __version__
    from mfmasim.cli.output import table
    from mfmasim.errors import MfmasimError
    from mfmasim.verify.reports.profile_page import claims_page
    from mfmasim.verify.reports.statements import COLUMNS, text_of, weigh

    if args.case or args.arch:
        raise MfmasimError(
            "--claims takes no --case and no --arch: a text's statements say themselves what they are about"
        )
    texts = [text_of(target) for target in args.targets]
    weighed = [(text, weigh(text, compiler=args.compiler)) for text in texts]
    if args.json != "-":
        for text, lines in weighed:
            print(table(COLUMNS[:-1], [line.row[:-1] for line in lines], "terminal", text.name), end="")
            for place, claim, *_, verdict, note in (line.row for line in lines):
                if note and verdict.startswith("refuted"):
                    print(f"{verdict}: {claim} ({place}): {note}")
            count = Counter(line.verdict for line in lines)
            print(", ".join(f"{count[word]} {word}" for word in ("confirmed", "refuted", "undecided")))
    if args.json:
        records = [line.record() | {"source": text.name} for text, lines in weighed for line in lines]
        written = json.dumps(records, indent=1)
        if args.json == "-":
            print(written)
        else:
            Path(args.json).write_text(written + "\n")
    if args.html:
        Path(args.html).write_text(claims_page([(text.name, lines) for text, lines in weighed], __version__))
    return 0 if all(line.as_known for _, lines in weighed for line in lines) else 1
