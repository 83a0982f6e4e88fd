"""``mfmasim cost TARGET``: bounds of a kernel's pipes, and a timeline of the waves that a unit holds."""

from __future__ import annotations

import json
import shlex
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from mfmasim.cli.case_options import add_case, chosen_of, words_of
from mfmasim.cli.launched import OPTIONS, add_launch, is_launch, launched
from mfmasim.cli.needs import needed
from mfmasim.cli.numbers import positive, whole
from mfmasim.cli.output import output_file, write

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from mfmasim.architectures.rates import Product
    from mfmasim.cost.costed import Costed


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the verb."""
    parser = subparsers.add_parser(
        "cost",
        help="what a kernel costs: cycles that each pipe must spend, and a timeline of its waves",
        description="Execute the workgroups that one compute unit holds at a time, and report the cycles that each "
        "pipe must spend at least, and a timeline with latencies as ranges. Every rate has its source; what has none "
        "is named.",
    )
    parser.add_argument(
        "targets",
        nargs="+",
        metavar="TARGET",
        help="a family of hipkernels, a case file, or a launch: a code object or source",
    )
    add_case(parser)
    parser.add_argument("--product", help="the GPU, such as MI355X (default: the first one with the architecture)")
    parser.add_argument(
        "--units",
        type=whole(1, 1_000_000),
        metavar="N",
        help="a GPU of your own: groups of four SIMDs (compute units of CDNA)",
    )
    parser.add_argument("--megahertz", type=positive(1_000_000), metavar="MHZ", help="its clock")
    parser.add_argument("--gigabytes", type=positive(1_000_000), metavar="GB/S", help="its memory bandwidth")
    parser.add_argument(
        "--json", type=output_file, metavar="FILE", help="write the results as JSON ('-' for standard output)"
    )
    parser.add_argument(
        "--html", type=output_file, metavar="FILE", help="draw the timelines: one HTML page, a lane for each wave"
    )
    parser.add_argument(
        "--trace", type=output_file, metavar="FILE", help="write the timeline in Chrome's trace format, for Perfetto"
    )
    parser.add_argument(
        "--against",
        action="append",
        default=[],
        metavar="CAPTURE",
        help="set a capture of a real GPU beside it: JSON, rocprofv3's thread trace or counter CSV (docs/cost.md)",
    )
    parser.add_argument("--launch", help="of a capture with several launches: the name of one")
    parser.add_argument("--baseline", metavar="FILE", help="compare with what an earlier run wrote with --json")
    parser.add_argument("--counters", action="store_true", help="run the whole launch and print performance counters")
    parser.add_argument("--cold", action="store_true", help="start with nothing in any cache (default with --against)")
    parser.add_argument("--warm", action="store_true", help="with --against: start with everything in the L2")
    parser.add_argument("--rates", action="store_true", help="print every rate that the results rest on")
    add_launch(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Execute the verb; exit code 0 or 2."""
    from mfmasim.cli.output import counters, table
    from mfmasim.errors import MfmasimError

    found = []
    for costed in _costed(args):
        _beside(args, costed)
        found.append(costed)
        if args.json == "-":
            continue
        print(f"{costed.case or costed.recorded.kernel.title} on {costed.arch.name} ({costed.product.name})")
        for title, columns, rows in costed.tables(rates=args.rates):
            print(table(columns, rows, "terminal", title), end="")
        if args.counters and costed.recorded.report is not None:
            print(counters(costed.recorded.report), end="")
        print("\n".join(costed.lines()))
    if not found:
        raise MfmasimError("no case could be executed")
    if args.json != "-" and not is_launch(args.targets):
        again = shlex.join([*args.targets, *words_of(args)])
        print(f"conflicts, traffic and instructions by line: mfmasim report {again}")
    if args.json:
        text = json.dumps([costed.record() for costed in found], indent=1)
        write(args.json, text + "\n")
    if args.html:
        from mfmasim.cost.picture import page

        write(args.html, page([(_title(c), c.drawn["value"], c.recorded.kernel, c.compared) for c in found]))
    if args.trace:
        if len(found) != 1:
            raise MfmasimError(f"--trace writes one timeline, {len(found)} cases match: choose one with --case, --arch")
        from mfmasim.cost.chrome import chrome_trace

        write(args.trace, json.dumps(chrome_trace(found[0].drawn["value"], found[0].product)) + "\n")
    return 0


def _beside(args: argparse.Namespace, costed: Costed) -> None:
    """Add the measurements for comparison."""
    from mfmasim.cost.baseline import read_baseline
    from mfmasim.cost.capture import read_capture
    from mfmasim.errors import MfmasimError

    if args.launch and not args.against:
        raise MfmasimError("--launch is for --against")
    if args.cold and args.warm:
        raise MfmasimError("--cold and --warm exclude each other")
    for path in args.against:
        capture = read_capture(path, args.launch, costed.recorded.kernel.name)
        costed.capture = capture if costed.capture is None else costed.capture.plus(capture)
    costed.cold = args.cold or (bool(args.against) and not args.warm)
    if args.baseline:
        costed.baseline = read_baseline(Path(args.baseline))


def _title(costed: Costed) -> str:
    return f"{costed.case or costed.recorded.kernel.title} on {costed.arch.name}"


def _costed(args: argparse.Namespace) -> Iterator[Costed]:
    """All requested results."""
    if is_launch(args.targets):
        yield _of_launch(args)
        return
    from mfmasim.cost.cases import record_case
    from mfmasim.cost.costed import Costed
    from mfmasim.errors import MfmasimError

    needed(args, OPTIONS, "a code object or a source in place of cases")
    work = chosen_of(args, args.targets)
    titles = Counter(title for _, title in {(one.group, one.case.title) for one in work})
    for _, group, case, arch in work:
        # Families below one target may have cases of one name.
        title = case.title if titles[case.title] == 1 else f"{group}: {case.title}"
        product = _product(args, arch)
        try:
            recorded = record_case(case, arch, units=product.units, whole=_whole(args))
        except MfmasimError as error:
            if len(work) == 1:
                raise
            print(f"mfmasim: {title} on {arch} is left out: {error}", file=sys.stderr)
            continue
        yield Costed(recorded, product, title)


def _of_launch(args: argparse.Namespace) -> Costed:
    """A kernel of a code object or a source, with given arguments."""
    from mfmasim.cost import record_launch
    from mfmasim.cost.costed import Costed

    kernel, grid, block, given, shared = launched(args)
    product = _product(args, kernel.arch.name)
    return Costed(
        record_launch(kernel, grid, block, given.values, shared, units=product.units, whole=_whole(args)), product
    )


def _whole(args: argparse.Namespace) -> bool:
    """Whether counters of the whole launch are asked for."""
    return args.counters or bool(args.against)


def _product(args: argparse.Namespace, arch: str) -> Product:
    """The GPU, with the user's own numbers where they are given."""
    from dataclasses import replace

    from mfmasim.architectures import arch as find_arch
    from mfmasim.cost.costed import product_of

    own = {name: getattr(args, name) for name in ("units", "megahertz", "gigabytes") if getattr(args, name) is not None}
    found = product_of(find_arch(arch), args.product)
    return replace(found, name="your GPU", source="given", **own) if own else found
