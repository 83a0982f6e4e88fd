"""``mfmasim hiprt -- COMMAND``: run a program that uses hip-python without a GPU."""

from __future__ import annotations

import argparse
from typing import Any

__all__ = ["add", "run"]


def add(subparsers: Any) -> None:
    """Register the verb."""
    parser = subparsers.add_parser(
        "hiprt",
        help="run a command on a simulated HIP runtime: programs that use hip-python, without a GPU",
        description="Run a command so that hip-python finds a HIP runtime whose devices are simulated. Child processes "
        "find it too. The exit code is the command's.",
    )
    parser.add_argument("--arch", metavar="ARCH[,ARCH...]", help="architectures of the devices, one each (gfx942)")
    parser.add_argument("--memory", metavar="MB", help="memory of a device in MB (4096)")
    parser.add_argument("--checks", help="checks of every launch: all, none, or names of checks (bounds)")
    parser.add_argument(
        "--fault",
        action="append",
        metavar="CALL[#N]=ERROR[@sync|@forever]",
        help="let the Nth call of that name (every one without #N) fail; @sync: the next wait tells; @forever: the "
        "device is lost (may be repeated)",
    )
    parser.add_argument(
        "--model",
        action="append",
        metavar="MODEL.PARAMETER=VALUE",
        help="let matrix instructions round otherwise (may be repeated)",
    )
    parser.add_argument(
        "--phases",
        action="append",
        metavar="ACCESS=LANES/BANKS",
        help="let clocks see LDS accesses, by phases of its own such as 'read b32=C32/32'; 'tables' is by mfmasim's "
        "(may be repeated)",
    )
    parser.add_argument("--noise", metavar="TICKS", help="with --phases: by how much a clock is late at most")
    parser.add_argument("--report", metavar="FILE", help="write launches, calls and what stayed allocated as JSON")
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="-- COMMAND", help="program and arguments")


def run(args: argparse.Namespace) -> int:
    """Execute the verb; the exit code is the command's."""
    from mfmasim.hiprt import start
    from mfmasim.hiprt.settings import ARCH, CHECKS, FAULTS, MEMORY, MODELS, NOISE, PHASES, REPORT

    given = {ARCH: args.arch, MEMORY: args.memory, CHECKS: args.checks, REPORT: args.report, NOISE: args.noise}
    changes = {name: value for name, value in given.items() if value is not None}
    if args.fault:
        changes[FAULTS] = ",".join(args.fault)
    if args.model:
        changes[MODELS] = ",".join(args.model)
    if args.phases:
        changes[PHASES] = ";".join(args.phases)
    return start(args.command[1:] if args.command[:1] == ["--"] else args.command, changes)
