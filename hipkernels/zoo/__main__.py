"""``python -m hipkernels.zoo new NAME --report OWNER/REPOSITORY#N``: the skeleton of an entry, to be filled in."""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from hipkernels.zoo.entry import HERE, Row, rows
from mfmasim.architectures import arch as find_arch
from mfmasim.errors import MfmasimError, unknown
from mfmasim.verify.kinds import KINDS

if TYPE_CHECKING:
    from collections.abc import Sequence

SKELETON = "races-no-barrier"
"""What is found in the skeleton's kernel."""
SOURCE = """\
// What is wrong, in one line.
#include "zoo.h"

template <bool FIXED>
__device__ void entry(const unsigned *x, unsigned *y) {{
  __shared__ unsigned tile[128];
  unsigned t = threadIdx.x;
  tile[t] = x[t];
  if (FIXED) __syncthreads();
  y[t] = tile[t ^ 64];  {here}
}}
BOTH_OF(128, (const unsigned *x, unsigned *y), x, y)
"""
CASE = """

@entry()
def {name}(version: str = "before", n: int = 128) -> LaunchDict:
    x, y = In("u32", n, "bits"), Out("u32", n)
    return {{"grid": 1, "block": n, "args": [x, y], "expect": lambda x: x[np.arange(n) ^ 64]}}
"""


def new(row: Row, module: str, folder: Path) -> list[Path]:
    """Write the source of an entry, and add its row and its case.

    Args:
        row: the report; `found` is that of the skeleton until it is replaced.
        module: file of cases that gets the case, without ``.py``.
        folder: the zoo's.

    Returns:
        The files that were written or changed.

    Raises:
        MfmasimError: the name or the report is taken, the name is no identifier, or there is no such module or finding.
    """
    if not re.fullmatch(r"[a-z][a-z0-9_]*", row.name):
        raise MfmasimError(f"{row.name}: an identifier in lower case is expected, such as llvm_222040")
    if not re.fullmatch(r"[\w.-]+/[\w.-]+#\d+", row.report):
        raise MfmasimError(
            f"--report {row.report}: owner/repository#number is expected, such as llvm/llvm-project#222040"
        )
    if row.found not in KINDS:
        raise unknown("finding", row.found, KINDS, "for --found")
    same = next((one.name for one in rows().values() if one.report == row.report), None)
    if same is not None:
        raise MfmasimError(f"--report {row.report}: the entry {same} is of this report")
    if row.name in rows() or (folder / f"{row.name}.hip").exists():
        raise MfmasimError(f"{row.name}: there is such an entry")
    cases, table, source = folder / f"{module}.py", folder / "reports.toml", folder / f"{row.name}.hip"
    if not cases.is_file():
        raise MfmasimError(f"--module {module}: {cases.name} does not exist")
    source.write_text(SOURCE.format(here=HERE), encoding="utf-8")
    fields = ("report", "year", "bug", "arch", "about", "hardware", "found")
    lines = [f"{field} = {json.dumps(getattr(row, field), ensure_ascii=False)}\n" for field in fields]
    with table.open("a", encoding="utf-8") as file:
        file.write(f"\n[{row.name}]\n{''.join(lines)}")
    with cases.open("a", encoding="utf-8") as file:
        file.write(CASE.format(name=row.name))
    return [source, table, cases]


def main(argv: Sequence[str] | None = None, folder: Path | None = None) -> int:
    """Run the command; exit code 0 or 2."""
    parser = argparse.ArgumentParser(prog="python -m hipkernels.zoo", description=__doc__)
    command = parser.add_subparsers(dest="command", required=True).add_parser("new", help="the skeleton of an entry")
    command.add_argument("name", help="such as llvm_222040")
    command.add_argument("--report", required=True, metavar="OWNER/REPOSITORY#N")
    command.add_argument("--year", type=int, default=2026)
    command.add_argument("--bug", default="missing barrier", help="kind of bug, as other rows have it")
    command.add_argument("--arch", default="gfx942")
    command.add_argument("--module", default="barriers", help="file that gets the case (default: barriers)")
    command.add_argument("--about", default="What was wrong.", help="what was wrong, in one sentence")
    command.add_argument("--hardware", default="not stated", help="what a GPU showed, as the report says")
    command.add_argument(
        "--found",
        default=SKELETON,
        help=f"id of the finding that names the cause (default: that of the skeleton, {SKELETON})",
    )
    args = parser.parse_args(argv)
    try:
        row = Row(
            args.name,
            args.report,
            args.year,
            args.bug,
            find_arch(args.arch).name,
            args.about if args.about.endswith(".") else f"{args.about}.",
            args.hardware.removesuffix("."),
            args.found,
        )
        written = new(row, args.module, folder or Path(__file__).parent)
    except MfmasimError as error:
        print(f"mfmasim: {error}", file=sys.stderr)
        return 2
    names = ", ".join(path.name for path in written)
    print(f"{names}: a missing barrier stands there until you write the report's fault, then")
    print(f"  mfmasim verify zoo --verbose --case {args.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
