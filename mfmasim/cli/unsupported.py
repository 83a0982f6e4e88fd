"""``mfmasim unsupported FILE...``: which instructions of code objects the simulator cannot execute, and why."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from mfmasim.program import Code

__all__ = ["add", "run"]


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the verb."""
    parser = subparsers.add_parser(
        "unsupported",
        help="list the instructions of code objects that cannot be executed",
        description="List the instructions of each kernel that the simulator cannot execute, with the reason. "
        "Exit code 0 if there are none, else 1.",
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="code objects")
    parser.add_argument("--arch", help="architecture to select from a bundle")
    parser.add_argument("--json", action="store_true", help="write one record for each kernel as JSON")


def run(args: argparse.Namespace) -> int:
    """Print the instructions; exit code 0 if there are none, else 1."""
    from mfmasim import program

    records = [record for file in args.files for record in _records(file, program.load(file, args.arch))]
    if args.json:
        print(json.dumps(records, indent=1))
    else:
        for record in records:
            for line in _lines(record):
                print(line)
    return int(any(record["unsupported"] for record in records))


def _records(file: str, code: Code) -> Iterator[dict[str, Any]]:
    """A record for each kernel of a file."""
    for name in code.kernels:
        kernel = code[name]
        found = [
            {"pc": ins.pc, "bytes": ins.raw.hex(), "text": ins.text.strip(), "why": why} for ins, why in kernel.refusals
        ]
        yield {
            "file": file,
            "kernel": name,
            "arch": kernel.arch.name,
            "instructions": len(kernel.reachable),
            "unsupported": found,
        }


def _lines(record: dict[str, Any]) -> Iterator[str]:
    """A kernel's record as text: one line for each mnemonic, with its first place."""
    from mfmasim.visible import visible

    found = record["unsupported"]
    count = f"{len(found):,} of {record['instructions']:,} instructions" if found else "all instructions can"
    verdict = "cannot be executed" if found else "be executed"
    yield visible(f"{record['file']}: {record['kernel']} ({record['arch']}): {count} {verdict}")
    firsts: dict[str, list[dict[str, Any]]] = {}
    for row in found:
        firsts.setdefault(row["text"].split()[0], []).append(row)
    for rows in firsts.values():
        yield f"  {len(rows):,} x {rows[0]['why']}"
