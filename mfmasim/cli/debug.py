"""``mfmasim debug TARGET``: step through a launch, forwards and backwards, in a terminal or an editor."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from mfmasim.cli.case_options import add_case
from mfmasim.cli.numbers import whole
from mfmasim.cli.output import output_beside, output_file

if TYPE_CHECKING:
    import argparse

    from mfmasim.debug.session import Session


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the verb."""
    parser = subparsers.add_parser(
        "debug",
        help="step through a launch, forwards and backwards; who wrote a value; registers as matrices",
        description="Run a launch once with its checks, then go to any instruction of it. TARGET is a case file or a "
        "family with --case, a code object or HIP source with the options of mfmasim run, a recording, or a program "
        "with its arguments after --, in C++ or in Python with Triton. Commands are gdb's; 'help' lists them.",
    )
    parser.add_argument("target", nargs="*", metavar="TARGET", help="see above; after a file, the kernel's name")
    add_case(parser, "architecture (default: the case's, where it has one; of a source, gfx942)", one=True)
    parser.add_argument("-g", action="store_true", dest="debug_information", help="compile with debug information")
    parser.add_argument("--grid", default="1", help="workgroups, such as 4 or 4,4,1 (default 1)")
    parser.add_argument("--block", default="64", help="work-items per workgroup (default 64)")
    parser.add_argument("--shared", type=whole(0), default=0, help="dynamic LDS in bytes")
    parser.add_argument("--arg", action="append", default=[], metavar="ARG", help="an argument, as mfmasim run has it")
    parser.add_argument("--checks", help="checks to run: all, none, or names (default all)")
    parser.add_argument(
        "--directory",
        action="append",
        default=[],
        metavar="FOLDER",
        help="a folder in which sources are looked for, before that of the target (may be repeated)",
    )
    parser.add_argument("--commands", metavar="FILE", help="read commands from FILE ('-': standard input)")
    parser.add_argument(
        "--record", type=output_file, metavar="FILE", help="write the launch to FILE, to be debugged later, and exit"
    )
    parser.add_argument(
        "--page", type=output_beside, metavar="FILE", help="write two waves as an HTML page to step through, and exit"
    )
    parser.add_argument(
        "--dap", action="store_true", help="serve the Debug Adapter Protocol on standard input and output"
    )
    parser.add_argument(
        "--port",
        type=whole(0, 65535),
        metavar="N",
        help="with --dap: on this port of 127.0.0.1 instead (0: any), for the client that shows the printed token",
    )
    parser.add_argument(
        "--socket", metavar="PATH", help="with --dap: on a Unix socket instead, which this user alone can reach"
    )
    parser.add_argument("--host", metavar="ADDRESS", help="with --port: an address that other machines reach, too")


def run(args: argparse.Namespace) -> int:
    """Execute the verb; exit code 0 or 2; of a program, the program's."""
    from mfmasim.cli import debug_targets
    from mfmasim.errors import MfmasimError

    for name, needed in (("port", "dap"), ("socket", "dap"), ("host", "port")):
        if getattr(args, name) is not None and (getattr(args, needed) is None or getattr(args, needed) is False):
            raise MfmasimError(f"--{name}: --{needed} is needed with it")
    for name in ("arch", "case", "checks", "commands", "compiler", "page", "socket", "host"):
        if getattr(args, name) == "":
            raise MfmasimError(f"--{name} '': a value is expected")
    if args.record and args.page:
        raise MfmasimError("--record and --page exclude each other")
    if args.dap:
        return debug_targets.serve(args)
    if not args.target:
        raise MfmasimError("debug: a target is expected: a case, a code object, a recording, or -- and a program")
    if debug_targets.is_program(args.target):
        return debug_targets.run_program(args)
    if args.page:
        return debug_targets.write_page(args)
    session = debug_targets.opened(args)
    if args.record:
        from mfmasim.debug.file import save

        save(session.recorder, session.report, Path(args.record), session.folders, session.elements, session.findings)
        print(f"{args.record}: {session.kernel.title} on {session.report.arch}")
        return 0
    return prompt(session, args.commands)


def prompt(session: Session, commands: str | None) -> int:
    """Debug in a terminal."""
    from mfmasim.debug.terminal import Terminal
    from mfmasim.errors import MfmasimError

    if commands == "-" or (commands is None and not sys.stdin.isatty()):
        Terminal(session, sys.stdin).cmdloop()
    elif commands is None:
        Terminal(session).cmdloop()
    else:
        try:
            with Path(commands).open(encoding="utf-8") as file:
                Terminal(session, file).cmdloop()
        except OSError as error:
            raise MfmasimError(f"--commands {commands}: {error.strerror or error}") from None
    return 0
