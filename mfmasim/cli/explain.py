"""``mfmasim explain [ID]``: what a finding means, an example, and the fix."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

__all__ = ["add", "run"]


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the verb."""
    parser = subparsers.add_parser(
        "explain",
        help="what a finding means, an example, and the fix; without an id, all of them",
        description="Explain findings by id. verify, JSON and SARIF print the ids.",
    )
    parser.add_argument("id", nargs="?", help="id of a finding, such as waits-read-in-flight, or a check's name")
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")


def run(args: argparse.Namespace) -> int:
    """Execute the verb; exit code 0."""
    from mfmasim.verify.kinds import KINDS, kind

    of_check = [row for row in KINDS.values() if args.id in (None, row.check)]
    # A part of an id or of a title is enough where it leads anywhere.
    parts = [row for row in KINDS.values() if args.id and args.id.lower() in f"{row.id} {row.title}".lower()]
    rows = of_check or ([KINDS[args.id]] if args.id in KINDS else parts) or [kind(args.id)]
    if args.json:
        print(json.dumps([{"check": row.check, **asdict(row)} for row in rows], indent=1))
        return 0
    if len(rows) > 1:
        width = max(len(row.id) for row in rows)
        print("\n".join(f"{row.id:<{width}}  {row.severity:<8} {row.title}" for row in rows))
        return 0
    (row,) = rows
    print(f"{row.id} ({row.severity}, check {row.check}): {row.title}\n\n{row.about}")
    print(f"\nExample: {row.example}\nFix:     {row.fix}")
    return 0
