"""``mfmasim sweep FOLDER``: a verdict for every code object in a folder, a cache, a wheel, a library."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from mfmasim.cli.jobs import MOST_JOBS, add_executor, in_order
from mfmasim.cli.numbers import positive, whole
from mfmasim.cli.output import output_beside, output_file, write

if TYPE_CHECKING:
    import argparse

    from mfmasim.lab.sweeping.finding import Found


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the verb."""
    parser = subparsers.add_parser(
        "sweep",
        help="a verdict for every code object in a folder, Triton's cache, a wheel, an archive or a library",
        description="Decode every code object, and prove of each kernel what holds for every launch: one record by "
        "SHA-256 in a file of JSON Lines, which a second run takes up. Exit code 0 only if every one passes: what "
        "cannot be read, executed or proved does not.",
    )
    parser.add_argument("folders", nargs="+", metavar="FOLDER", help="a folder, or a file")
    parser.add_argument(
        "--out",
        type=output_beside,
        default="sweep.jsonl",
        metavar="FILE",
        help="records, those of earlier runs included (default: sweep.jsonl)",
    )
    parser.add_argument("--sarif", type=output_file, metavar="FILE", help="write what does not pass as SARIF 2.1.0")
    parser.add_argument(
        "--limit",
        type=positive(),
        default=20.0,
        metavar="SECONDS",
        help="CPU seconds of a code object; kernels that are left then are unknown (default 20)",
    )
    parser.add_argument(
        "--allow",
        action="append",
        default=[],
        choices=("unknown", "error"),
        help="a verdict that does not fail the sweep (may be repeated)",
    )
    parser.add_argument("--quiet", action="store_true", help="print only what does not pass, and the summary")
    parser.add_argument(
        "--jobs",
        type=whole(1, MOST_JOBS),
        metavar="N",
        help="processes (default: the processors available to this one)",
    )
    add_executor(parser, "the code objects")


def run(args: argparse.Namespace) -> int:
    """Judge new code objects, and write all records; exit code 0, 1 or 2."""
    from collections import Counter
    from pathlib import Path

    from mfmasim import __version__
    from mfmasim.errors import MfmasimError
    from mfmasim.lab.sweeping.ledger import Ledger

    ledger = Ledger(Path(args.out), __version__, args.limit)
    args.done = ()
    every = _work(args)
    if not every:
        raise MfmasimError(f"{', '.join(args.folders)}: no code object")
    args.done = tuple(one.sha256 for one in every if one.sha256 in ledger.records)
    for record in in_order(args, _work, _judged):
        ledger.add(record)
        _say(args, record)
    for one in every:  # a name is no part of the verdict
        ledger.records[one.sha256]["files"] = sorted(set(one.files))
    ledger.write([one.sha256 for one in every])
    records = [ledger.records[one.sha256] for one in every]
    for record in records:
        if record["sha256"] in args.done:
            _say(args, record)
    if args.sarif:
        from mfmasim.lab.sweeping.sarif import sarif_of

        write(args.sarif, json.dumps(sarif_of(records, __version__), indent=1) + "\n")
    counts = Counter(record["verdict"] for record in records)
    parts = ", ".join(f"{counts[word]} {word}" for word in ("pass", "fail", "unknown", "error") if counts[word])
    known = f", {len(args.done)} of them known from {args.out}" * bool(args.done)
    print(f"{len(records)} code object{'s' * (len(records) > 1)}{known}: {parts}")
    return 1 if sum(counts.values()) - counts["pass"] - sum(counts[word] for word in args.allow) else 0


def _say(args: argparse.Namespace, record: dict[str, Any]) -> None:
    from mfmasim.visible import visible

    if args.quiet and record["verdict"] in ("pass", *args.allow):
        return
    more = f" and {len(record['files']) - 1} more" if len(record["files"]) > 1 else ""
    kernels = f"{len(record['kernels'])} kernel{'s' * (len(record['kernels']) != 1)}"
    why = f": {record['why'][:200]}" if record["why"] else ""
    name = f"{record['files'][0]}{more}"
    print(visible(f"{record['verdict']:<8}{record['sha256'][:12]} {record['arch'] or '-'} {name}, {kernels}{why}"))


def _work(args: argparse.Namespace) -> list[Found]:
    """Code objects that are not known yet, by hash."""
    from pathlib import Path

    from mfmasim.lab.sweeping.finding import found_in

    known: dict[str, Found] = {}
    for folder in args.folders:
        for one in found_in(Path(folder)):
            if one.sha256 in known:
                known[one.sha256].files += one.files
            else:
                known[one.sha256] = one
    return [known[digest] for digest in sorted(known) if digest not in args.done]


def _judged(args: argparse.Namespace, found: Found) -> dict[str, Any]:
    from mfmasim.lab.sweeping.judging import judged

    return judged(found, args.limit)
