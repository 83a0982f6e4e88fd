"""``mfmasim explain [ID]``: the meaning of a finding, an example, and the fix; or the fidelity of an operation."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from typing import Any


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the verb."""
    parser = subparsers.add_parser(
        "explain",
        help="what a finding means, an example, and the fix; without an id, all of them",
        description="Explain findings by id, which verify, JSON and SARIF print; or the fidelity of an operation: its "
        "level on each architecture, and the captures of GPUs behind it.",
    )
    parser.add_argument(
        "id",
        nargs="?",
        help="id of a finding, such as waits-read-in-flight, a check's name, or a mnemonic such as v_div_fixup_f16",
    )
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")


def run(args: argparse.Namespace) -> int:
    """Execute the verb; exit code 0."""
    from mfmasim.verify.kinds import KINDS, kind

    trusted = _trusted(args.id) if args.id and "_" in args.id and "-" not in args.id else None
    if trusted:
        print(json.dumps(trusted, indent=1) if args.json else _text(trusted))
        return 0
    of_check = [row for row in KINDS.values() if args.id in (None, row.check)]
    # A part of an id or of a title suffices if it matches.
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


def _trusted(name: str) -> dict[str, Any] | None:
    """Levels of an operation by architecture, and its captures; None if there is no such operation."""
    import mfmasim.machine.ops  # noqa: F401  (fills OPERATIONS)
    from mfmasim.architectures import ARCHITECTURES
    from mfmasim.evidence import evidence_of
    from mfmasim.isa.family import family
    from mfmasim.machine.opcodes.registry import OPERATIONS
    from mfmasim.matrix import instruction, instructions

    levels = {}
    for arch, made in ARCHITECTURES.items():
        if name in instructions(arch):
            levels[arch] = instruction(arch, name).fidelity
        elif name in OPERATIONS and name in {row.name for rows in family(arch).rows.values() for row in rows.values()}:
            levels[arch] = OPERATIONS[name].level(made, name)
    rows = [asdict(row) for arch in levels for row in evidence_of(name, arch)]
    return {"operation": name, "fidelity": levels, "evidence": rows} if levels else None


def _text(found: dict[str, Any]) -> str:
    """The explanation as lines."""
    lines = [found["operation"], *(f"  {arch:<8} {level}" for arch, level in found["fidelity"].items())]
    for row in found["evidence"]:
        what = f"{row['equal']:,} of {row['values']:,} values are equal"
        lines.append(f"  {row['arch']:<8} {row['capture']}: {what}")
    return "\n".join(lines if found["evidence"] else [*lines, "  no public capture of a GPU"])
