"""``python -m mfmasim.cli.bench TARGET``: measure on this machine, as ratios to a reference in the same process."""

from __future__ import annotations

import argparse
import importlib
import os
import sys

from mfmasim.cli.output import add_formats, table, wanted_format

TARGETS = {"matrix": "mfmasim.cli.bench_matrix", "machine": "mfmasim.cli.bench_machine"}
"""Benchmarks: each a module whose ``measure(quick)`` returns rows of the module's ``COLUMNS``, or of those below."""

COLUMNS = ("what", "ms", "reference", "reference_ms", "ratio", "goal", "met")
"""Measured time, the reference and its time, their ratio, the goal, and whether it is met."""


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb's parser."""
    parser = subparsers.add_parser("bench", help="measure speed, as ratios to references in the same process")
    parser.add_argument("target", choices=sorted(TARGETS), nargs="?", default="matrix", help="what to measure")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions")
    add_formats(parser)


def run(args: argparse.Namespace) -> int:
    """Print the table; a missed goal is shown but is not an error, because machines differ."""
    # One thread for all measurements; read when NumPy loads its BLAS.
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    module = importlib.import_module(TARGETS[args.target])
    columns = getattr(module, "COLUMNS", COLUMNS)
    rows = module.measure(quick=args.quick)
    print(table(columns, [[row[name] for name in columns] for row in rows], wanted_format(args)), end="")
    return 0


if __name__ == "__main__":
    from mfmasim.cli import main

    raise SystemExit(main(["bench", *sys.argv[1:]]))
