"""``mfmasim hiprt -- COMMAND``: run a HIP program, in C++ or in Python with hip-python, without a GPU."""

from __future__ import annotations

import argparse
import os

from mfmasim.cli.output import output_file


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the verb."""
    parser = subparsers.add_parser(
        "hiprt",
        help="run a HIP program (C++, or Python with hip-python) on a simulated HIP runtime, without a GPU",
        description="Run a command in an environment where it loads a HIP runtime with simulated devices. Child "
        "processes inherit it. The exit code is the command's; a compiled program with findings ends with 1, not 0.",
    )
    parser.add_argument("--arch", metavar="ARCH[,ARCH...]", help="architectures, one per device (default: gfx942)")
    parser.add_argument(
        "--budget",
        metavar="INSTRUCTIONS",
        help="instructions a wave may execute before its launch fails as endless (default: 1000000)",
    )
    parser.add_argument("--memory", metavar="MB", help="memory per device in MB (default: 4096)")
    parser.add_argument(
        "--checks",
        help="checks of every launch: all, none, or names of checks; streams: order between streams (default: all)",
    )
    parser.add_argument(
        "--fault",
        action="append",
        metavar="CALL[#N]=ERROR[@sync|@forever] or CALL[#N]@abort|@hang",
        help="make the Nth call of that name fail (without #N: every call); @sync: the error is reported at the next "
        "synchronisation; @forever: the device is lost; @abort: the process dies; @hang: its work never ends (may be "
        "repeated)",
    )
    parser.add_argument(
        "--model",
        action="append",
        metavar="MODEL.PARAMETER=VALUE",
        help="change a rounding parameter of the matrix instructions (may be repeated)",
    )
    parser.add_argument(
        "--operation",
        action="append",
        metavar="OPERATION.PARAMETER=VALUE",
        help="change an operation in one parameter, as in v_rcp_f32.result=last_bit (may be repeated)",
    )
    parser.add_argument(
        "--phases",
        action="append",
        metavar="ACCESS=LANES/BANKS",
        help="make the clock count LDS phases, given as in 'read b32=C32/32'; 'tables' uses mfmasim's phase tables "
        "(may be repeated)",
    )
    parser.add_argument("--noise", metavar="TICKS", help="with --phases: largest random delay of the clock")
    parser.add_argument(
        "--exit-code",
        metavar="CODE",
        help="exit code of a compiled program that would end with 0 though there are findings (default: 1)",
    )
    parser.add_argument(
        "--after-fault",
        metavar="stop|continue",
        help="after an access outside a buffer, but within its pages of 4096 bytes: stop with the error of a memory "
        "fault (default), or go on, as a GPU does there: a load gives 0, a store is dropped, the finding stays",
    )
    parser.add_argument(
        "--report", type=output_file, metavar="FILE", help="write launches, calls and memory that was not freed as JSON"
    )
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="-- COMMAND", help="program with its arguments")


def run(args: argparse.Namespace) -> int:
    """Execute the verb; the exit code is the command's."""
    from mfmasim import extensions
    from mfmasim.hiprt import start
    from mfmasim.hiprt.settings import (
        AFTER_FAULT,
        ARCH,
        BUDGET,
        CHECKS,
        EXIT_CODE,
        FAULTS,
        MEMORY,
        MODELS,
        NOISE,
        OPERATIONS,
        PHASES,
        REPORT,
    )

    given = {
        ARCH: args.arch,
        BUDGET: args.budget,
        MEMORY: args.memory,
        CHECKS: args.checks,
        REPORT: args.report,
        NOISE: args.noise,
        EXIT_CODE: args.exit_code,
        AFTER_FAULT: args.after_fault,
    }
    changes = {name: value for name, value in given.items() if value is not None}
    if args.fault:
        changes[FAULTS] = ",".join(args.fault)
    if args.model:
        changes[MODELS] = ",".join(args.model)
    if args.operation:
        changes[OPERATIONS] = ",".join(args.operation)
    if args.phases:
        changes[PHASES] = ";".join(args.phases)
    changes |= extensions.changes("hiprt", os.environ)
    return start(args.command[1:] if args.command[:1] == ["--"] else args.command, changes)
