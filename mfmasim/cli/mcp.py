"""``mfmasim mcp``: tools for programs that write kernels, over the Model Context Protocol."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mfmasim.cli.numbers import positive

if TYPE_CHECKING:
    import argparse


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the verb."""
    parser = subparsers.add_parser(
        "mcp",
        help="serve check, inspect, show, lds, why, cost, prove, compare to an agent (Model Context Protocol)",
        description="Serve one client on standard input and output. Nothing that it sends is executed natively: "
        "references are evaluated, kernels are compiled and simulated in a sandbox. Needs the extra agents.",
    )
    parser.add_argument(
        "--root",
        action="append",
        default=[],
        metavar="FOLDER",
        help="a folder whose files may be named, and included by sources (may be repeated; default: the current one)",
    )
    parser.add_argument(
        "--sandbox",
        choices=("auto", "bubblewrap", "limits"),
        default="auto",
        help="bubblewrap: no network, few files; limits: of time, memory and files alone; auto (default): "
        "bubblewrap where it works",
    )
    parser.add_argument(
        "--max-seconds",
        type=positive(),
        default=300.0,
        metavar="SECONDS",
        help="that a question may take (default 300)",
    )


def run(args: argparse.Namespace) -> int:
    """Serve until the client closes standard input."""
    from mfmasim.agents.server import serve

    serve([Path(root).absolute() for root in args.root or ["."]], args.sandbox, args.max_seconds)
    return 0
