"""``mfmasim run FILE``: launch a kernel on arrays from files."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mfmasim.cli.compilation import COMPILATION, add_compilation, compilation, show_warnings
from mfmasim.cli.jobs import add_executor
from mfmasim.cli.needs import needed
from mfmasim.cli.numbers import whole
from mfmasim.cli.output import output_folder
from mfmasim.cli.quotas import add_quotas, quota_of
from mfmasim.cli.recording import add_recording, recording
from mfmasim.cli.schedules import SCHEDULE_HELP
from mfmasim.cli.tracing import add_tracing, tracing

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from concurrent.futures import Executor
    from contextlib import AbstractContextManager

    from rich.console import Console

    from mfmasim.devices import Report
    from mfmasim.machine.events import Observer
    from mfmasim.program import Code

MOST_WORKERS = 256


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the verb."""
    parser = subparsers.add_parser(
        "run",
        help="launch a kernel of a code object or HIP source on arrays",
        description="Launch one kernel and report findings, instruction counts and fidelity.",
    )
    parser.add_argument("file", help="a code object (.hsaco) or a HIP source (.hip)")
    parser.add_argument(
        "kernel", nargs="?", help="kernel name, such as gemm or 'gemm<float, 4>'; not needed when the file has one"
    )
    parser.add_argument("--kernel", dest="named", metavar="KERNEL", help="the same, as other verbs take it")
    parser.add_argument("--arch", help="architecture or product to compile for (gfx942), or to select from a bundle")
    parser.add_argument("--device", default="sim", help="sim (default), or hip, hip:1, ...: a GPU, through hip-python")
    parser.add_argument("--grid", default="1", help="workgroups, such as 4 or 4,4,1 (default 1)")
    parser.add_argument("--block", default="64", help="work-items per workgroup (default 64)")
    parser.add_argument("--cluster", help="workgroups of a cluster, such as 2,2 (default: what the kernel says)")
    parser.add_argument("--shared", type=whole(0), default=0, help="dynamic LDS in bytes")
    parser.add_argument(
        "--arg",
        action="append",
        default=[],
        metavar="ARG",
        help="an argument, in order or as NAME=ARG: FILE.npy, DTYPE:SHAPE (a buffer of undefined contents, such as "
        "f32:32x32), DTYPE:SHAPE=CONTENTS (a number, 'range' or 'random'), a number (64, i32=64), or null",
    )
    parser.add_argument(
        "--print",
        action="append",
        default=[],
        metavar="NAME",
        dest="shown",
        help="print a buffer afterwards, by the parameter's name or number (may be repeated)",
    )
    add_compilation(parser)
    add_quotas(parser)
    parser.add_argument(
        "--out", type=output_folder, metavar="DIR", help="write every buffer to DIR/argN.npy afterwards"
    )
    parser.add_argument("--quiet", action="store_true", help="print findings and buffers only")
    parser.add_argument("--checks", default="all", help="checks to run: all, none, or names (default all)")
    parser.add_argument(
        "--budget", type=whole(), help="instructions a wave may execute before the launch stops as endless"
    )
    parser.add_argument("--max-waves", type=whole(), metavar="N", help="most waves in flight, to limit memory")
    parser.add_argument("--schedule", default="usual", metavar="ORDER", help=SCHEDULE_HELP)
    parser.add_argument("--workers", type=whole(1, MOST_WORKERS), metavar="N", help="spread the grid over N processes")
    add_executor(parser, "parts of the grid")
    parser.add_argument("--counters", action="store_true", help="print performance counters under the hardware's names")
    parser.add_argument("--disassemble", action="store_true", help="print the kernel's instructions and exit")
    parser.add_argument("--json", action="store_true", help="print the report as JSON, after any trace as JSON lines")
    add_recording(parser)
    add_tracing(parser)


def run(args: argparse.Namespace) -> int:
    """Execute the verb; exit code 0, 1 or 2."""
    from mfmasim.cli.run_arguments import given, sizes
    from mfmasim.devices import device
    from mfmasim.devices.options import chosen_checks, not_run, said_of
    from mfmasim.devices.remarks import remarks

    args.kernel = args.named or args.kernel
    code = _code(args)
    kernel = code[args.kernel or _only(code)]
    if args.disassemble:
        if args.json:
            listing = [{"pc": ins.pc, "bytes": ins.raw.hex(), "text": ins.text} for ins in kernel.instructions]
            print(json.dumps(listing, indent=1))
        else:
            for ins in kernel.instructions:
                print(f"{ins.pc:8x}  {ins.text}")
        return 0
    grid, block = sizes(args.grid, "--grid"), sizes(args.block, "--block")
    passed = given(args.arg, kernel)
    for name in args.shown:
        passed.array(name)
    back_end = device(args.device)
    with tracing(args) as traces, recording(args, kernel) as records, _workers(args) as executor:
        report = back_end.launch(
            kernel,
            grid,
            block,
            passed.values,
            args.shared,
            args.checks,
            undefined=passed.undefined,
            **_options(args, [*traces, *records, *_early(args, executor)], executor),
        )
    if args.out:
        _save(args.out, passed.values)
    if args.json:
        record = (
            _record(report) | _checks(args, report) | ({"coverage": report.coverage.record()} if args.coverage else {})
        )
        # After a trace on the same output the report is one more JSON line.
        print(json.dumps(record, indent=None if args.trace and not args.trace_file else 1))
    else:
        if not args.quiet:
            for text in remarks(kernel, block):
                print(f"note: {text}", file=sys.stderr)
        _print(report, code, quiet=args.quiet)
        if args.device == "sim" and (text := said_of(chosen_checks(args.checks), not_run(args.checks))):
            print(text)
        if args.counters:
            from mfmasim.cli.output import counters

            print(counters(report), end="")
        if args.coverage:
            print("\n".join(report.coverage.annotated([Path(args.file).parent])))
        for name in args.shown:
            print(passed.shown(name, passed.array(name)))
    return 0 if report.ok else 1


def _early(args: argparse.Namespace, executor: Executor | None) -> list[Observer]:
    """The observer that prints the first error of a long launch; GPUs and executors take no observers."""
    from mfmasim.devices.early import EarlyErrors
    from mfmasim.visible import visible

    if executor is not None or args.device != "sim":
        return []
    return [EarlyErrors(lambda text: print(visible(text), file=sys.stderr, flush=True))]


def _checks(args: argparse.Namespace, report: Report) -> dict[str, Any]:
    """Checks that ran and that did not, and counters that were not counted; a GPU has none."""
    from mfmasim.devices.counters import not_counted
    from mfmasim.devices.options import chosen_checks, not_run

    if args.device != "sim" or report.program is None:
        return {}
    ran = {"ran": list(chosen_checks(args.checks)), "not_run": list(not_run(args.checks))}
    return {"checks": ran, "not_counted": not_counted(report.program, report.lds)}


def _options(args: argparse.Namespace, observers: Sequence[Observer], executor: Executor | None) -> dict[str, Any]:
    """Options of the launch; a GPU takes none of the simulator's."""
    from mfmasim.cli.run_arguments import sizes
    from mfmasim.clusters import Cluster

    given = {
        "budget": args.budget,
        "max_waves": args.max_waves,
        "observers": observers or None,
        "executor": executor,
        "parts": 2 * executor.workers() if isinstance(executor, Cluster) else None,
        "schedule": None if args.schedule == "usual" else args.schedule,
        "quota": quota_of(args) if args.device == "sim" else None,
        "cluster": sizes(args.cluster, "--cluster") if args.cluster else None,
    }
    return {name: value for name, value in given.items() if value is not None}


def _workers(args: argparse.Namespace) -> AbstractContextManager[Executor | None]:
    """The executor of the launch's parts: processes, a cluster, or None."""
    from contextlib import nullcontext

    from mfmasim.clusters import opened
    from mfmasim.devices.workers import pool
    from mfmasim.errors import MfmasimError

    if args.executor:
        if args.workers is not None:
            raise MfmasimError(f"--executor {args.executor} and --workers exclude each other")
        return opened(args.executor)
    if args.workers is None:
        return nullcontext()
    return pool(args.workers)


def _code(args: argparse.Namespace) -> Code:
    from mfmasim import program
    from mfmasim.architectures import DEFAULT
    from mfmasim.errors import MfmasimError
    from mfmasim.files import is_source

    if is_source(args.file):
        code = program.compile(args.file, args.arch or DEFAULT, **compilation(args))
        show_warnings(code)
        return code
    if args.file.endswith(".py"):
        raise MfmasimError(f"{args.file}: a case file declares kernels; mfmasim verify {args.file} runs them")
    needed(args, COMPILATION, f"a source; {args.file} is compiled already")
    return program.load(args.file, args.arch, kernel=args.kernel)


def _only(code: Code) -> str:
    from mfmasim.errors import MfmasimError

    if len(code.kernels) != 1:
        names = ", ".join(code[name].title for name in code.kernels)
        raise MfmasimError(f"{code.object.name} has {len(code.kernels)} kernels, name one: {names}")
    return code.kernels[0]


def _save(folder: str, values: list[Any]) -> None:
    import numpy as np

    from mfmasim.archives import write_array

    for number, value in enumerate(values):
        if isinstance(value, np.ndarray):
            write_array(Path(folder) / f"arg{number}.npy", value)


def _record(report: Report) -> dict[str, Any]:
    return {
        "kernel": report.kernel,
        "arch": report.arch,
        "device": report.device,
        "grid": report.grid,
        "block": report.block,
        "waves": report.waves,
        "counts": dict(report.counts.most_common()),
        "counters": report.counters,
        "mix": dict(report.mix.most_common()),
        "lds": report.lds,
        "registers": report.registers,
        "fidelity": {"level": str(report.fidelity), "operations": dict(report.fidelity.by_operation)},
        "findings": [finding.record() for finding in report.findings],
        "printed": report.printed,
        "notes": report.notes,
        "stopped": report.stopped,
    }


def _print(report: Report, code: Code, *, quiet: bool) -> None:
    from mfmasim.observe import next_command
    from mfmasim.visible import console as new_console
    from mfmasim.visible import fitting

    console = new_console(soft_wrap=True)
    for line in report.printed:
        print(line)
    if not quiet:
        _print_counts(report, code, console)
    for finding in report.findings:
        for line in finding.lines():
            console.print(fitting(line, console))
    if explain := next_command(report.findings):
        print(explain)


def _print_counts(report: Report, code: Code, console: Console) -> None:
    """Print the counts of executed instructions."""
    total = sum(report.counts.values())
    counted = f", {total:,} wave-instructions" if total else ""
    console.print(
        f"{code[report.kernel].title} on {report.arch}, {report.waves} wave{'s' * (report.waves != 1)}{counted}"
    )
    if total:
        console.print("  ".join(f"{name} {count:,}" for name, count in report.mix.most_common()))
    if code.made_by:
        console.print(f"compiled by {code.made_by}")
    for name, count in report.counts.most_common():
        console.print(f"  {count:>10,}  {name}")
    console.print(f"fidelity: {report.fidelity!r}")
    for note in report.notes:
        console.print(f"note: {note}")
