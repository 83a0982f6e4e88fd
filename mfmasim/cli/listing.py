"""``mfmasim verify --list``: the families of hipkernels, or the cases of targets."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse


def list_cases(args: argparse.Namespace) -> int:
    """Print the families with what they are about, or the cases of the targets; exit code 0."""
    from mfmasim.cli.case_options import chosen_of
    from mfmasim.cli.output import table, write
    from mfmasim.verify import families

    if not args.targets:
        rows = [{"family": name, "about": about(path)} for name, path in families().items()]
    else:
        by_case: dict[tuple[str, str], dict[str, str]] = {}
        for one in chosen_of(args, args.targets, skipped=True):
            row = by_case.setdefault((one.group, one.case.title), {})
            archs = f"{row['arch']} {one.arch}" if row else one.arch
            own = (f"{name}={value}" for name, value in one.case.parameters.items() if name not in ("arch", "wave"))
            row |= {"group": one.group, "case": one.case.title, "arch": archs}
            row |= {"source": one.case.source.name, "kernel": one.case.kernel, "parameters": " ".join(own)}
        rows = list(by_case.values())
    if args.json:
        write(args.json, json.dumps(rows, indent=1) + "\n")
    if args.json == "-":
        return 0
    if args.targets:
        print(table(tuple(rows[0]), [list(row.values()) for row in rows], "terminal"), end="")
        return 0
    width = max(len(row["family"]) for row in rows)
    for row in rows:
        print(f"{row['family']:<{width}}  {row['about']}")
    print("the cases of one: mfmasim verify FAMILY --list")
    return 0


def about(path: Path) -> str:
    """The first sentence of a case file's docstring; empty without one."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return text.partition("\n")[0]
