"""``mfmasim triton -- COMMAND``: run a program whose kernels are written in Triton, without a GPU."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from mfmasim.cli.numbers import whole
from mfmasim.cli.output import output_file
from mfmasim.cli.schedules import SCHEDULE_HELP


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the verb."""
    parser = subparsers.add_parser(
        "triton",
        help="run a program whose kernels are written in Triton, without a GPU",
        description="Run a command in which Triton compiles for an AMD GPU and its kernels run on the simulator; "
        "tensors on 'cuda' are tensors of the CPU. A summary follows on standard error. Exit codes: that of the "
        "command if it fails; else 1 if there are errors among the findings, 0 if not; 2 for bad input.",
    )
    parser.add_argument("--arch", help="architecture that Triton compiles for (default: gfx942)")
    parser.add_argument("--checks", help="checks of every launch: all, none, or names of checks (default: all)")
    parser.add_argument("--schedule", metavar="ORDER", help=SCHEDULE_HELP)
    parser.add_argument(
        "--autotune", action="store_true", help="run all configurations of autotuned kernels, not the first that fits"
    )
    parser.add_argument("--benchmarks", help="sizes of perf_report that run: first (default), all, none")
    parser.add_argument(
        "--memory",
        help="copy: kernels work on copies between guard pages; process: on the tensors themselves (checks bounds or "
        "none); auto (default): copies where a check is on",
    )
    parser.add_argument(
        "--layouts",
        action="store_true",
        help="compare the layouts of every product with the matrix instructions' rows, and show bank conflicts by line "
        "with the parameters of the LDS tensors",
    )
    parser.add_argument(
        "--json", type=output_file, metavar="FILE", help="write launches and findings as JSON ('-' for standard output)"
    )
    parser.add_argument(
        "--sarif", type=output_file, metavar="FILE", help="write the findings as SARIF 2.1.0, for code review tools"
    )
    parser.add_argument("--html", type=output_file, metavar="FILE", help="write kernels and findings as one HTML page")
    parser.add_argument("--max-findings", type=whole(0), default=10, help="findings shown per kernel (default 10)")
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="-- COMMAND", help="program with its arguments")


def run(args: argparse.Namespace) -> int:
    """Execute the verb; exit code of the command, or 0, 1, 2."""
    from mfmasim import __version__, extensions
    from mfmasim.cli.output import write
    from mfmasim.devices.options import not_run, said_of
    from mfmasim.triton import Settings, summary
    from mfmasim.triton.layouts import report
    from mfmasim.triton.start import start
    from mfmasim.verify.reports.page import page
    from mfmasim.verify.reports.sarif import sarif
    from mfmasim.visible import LAYOUT, visible

    given = {name: getattr(args, name) for name in ("arch", "checks", "schedule", "benchmarks", "memory")}
    given["autotune"] = "all" if args.autotune else None
    given["layouts"] = "on" if args.layouts else None
    settings = Settings(**{name: value for name, value in given.items() if value is not None})
    command = args.command[1:] if args.command[:1] == ["--"] else args.command
    code, records = start(command, settings, extensions.of_triton(settings.arch, settings.checks))
    found = summary.results(records)
    layouts = report.records(records.kernels) if args.layouts else []
    exit_code = code or int(summary.errors(records) > 0)
    if args.json:
        ran = {"ran": settings.chosen, "not_run": list(not_run(settings.checks))}
        contents: dict[str, Any] = {"launches": records.launches, "checks": ran, "exit": exit_code}
        if args.layouts:
            contents["layouts"] = layouts
        text = json.dumps(contents, indent=1)
        write(args.json, text + "\n")
    if args.sarif:
        write(args.sarif, json.dumps(sarif(found, __version__), indent=1) + "\n")
    if args.html:
        write(args.html, page(found, __version__))
    lines = summary.lines(records, found, args.max_findings)
    lines += [text for text in [said_of(settings.chosen, not_run(settings.checks))] if text]
    if args.layouts:
        lines += summary.layout_lines(layouts, found)
    for line in lines:
        print(visible(line, LAYOUT), file=sys.stderr)
    return exit_code
