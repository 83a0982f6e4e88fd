"""``mfmasim run FILE``: launch a kernel on arrays from files."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mfmasim.cli.quotas import add_quotas, quota_of
from mfmasim.cli.recording import add_recording, recording
from mfmasim.cli.schedules import SCHEDULE_HELP
from mfmasim.cli.tracing import add_tracing, tracing

if TYPE_CHECKING:
    import argparse
    from concurrent.futures import Executor
    from contextlib import AbstractContextManager

    import numpy as np

    from mfmasim.devices import Report
    from mfmasim.program import Code

__all__ = ["add", "run"]

LARGEST_BUFFER = 4 << 30
MOST_WORKERS = 256
ARGUMENT_HELP = (
    "an argument: FILE.npy (a buffer), DTYPE:SHAPE (an uninitialised buffer, such as f32:32x32), "
    "DTYPE=VALUE (a number, such as i32=64), or null"
)


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the verb."""
    parser = subparsers.add_parser(
        "run",
        help="launch a kernel of a code object or HIP source on arrays",
        description="Launch one kernel and report findings, instruction counts and fidelity.",
    )
    parser.add_argument("file", help="a code object (.hsaco) or a HIP source (.hip)")
    parser.add_argument("kernel", nargs="?", help="kernel name; not needed when the file has one")
    parser.add_argument("--arch", help="architecture to compile for, or to select from a bundle")
    parser.add_argument("--grid", default="1", help="workgroups, such as 4 or 4,4,1 (default 1)")
    parser.add_argument("--block", default="64", help="work-items per workgroup (default 64)")
    parser.add_argument("--shared", type=int, default=0, help="dynamic LDS in bytes")
    parser.add_argument("--arg", action="append", default=[], metavar="ARG", help=ARGUMENT_HELP)
    add_quotas(parser)
    parser.add_argument("--out", metavar="DIR", help="write every buffer to DIR/argN.npy afterwards")
    parser.add_argument("--checks", default="all", help="checks to run: all, none, or names (default all)")
    parser.add_argument("--budget", type=int, help="instructions a wave may execute before the launch stops as endless")
    parser.add_argument("--max-waves", type=int, metavar="N", help="most waves in flight, to limit memory")
    parser.add_argument("--schedule", default="usual", metavar="ORDER", help=SCHEDULE_HELP)
    parser.add_argument("--workers", type=int, metavar="N", help="spread the grid over N processes")
    parser.add_argument("--disassemble", action="store_true", help="print the kernel's instructions and exit")
    parser.add_argument("--json", action="store_true", help="print the report as JSON, after any trace as JSON lines")
    add_recording(parser)
    add_tracing(parser)


def run(args: argparse.Namespace) -> int:
    """Execute the verb; exit code 0, 1 or 2."""
    from mfmasim.devices import device

    code = _code(args)
    name = args.kernel or _only(code)
    kernel = code[name]
    if args.disassemble:
        if args.json:
            listing = [{"pc": ins.pc, "bytes": ins.raw.hex(), "text": ins.text} for ins in kernel.instructions]
            print(json.dumps(listing, indent=1))
        else:
            for ins in kernel.instructions:
                print(f"{ins.pc:8x}  {ins.text}")
        return 0
    values = [_value(text) for text in args.arg]
    options = {
        key: value for key, value in (("budget", args.budget), ("max_waves", args.max_waves)) if value is not None
    } | {"quota": quota_of(args)}
    with tracing(args) as traces, recording(args, kernel) as records, _workers(args.workers) as executor:
        report = device("sim").launch(
            kernel, _sizes(args.grid, "--grid"), _sizes(args.block, "--block"), values, args.shared, args.checks,
            observers=[*traces, *records], executor=executor, schedule=args.schedule, **options,
        )  # fmt: skip
    if args.out:
        _save(args.out, values)
    if args.json:
        record = _record(report) | ({"coverage": report.coverage.record()} if args.coverage else {})
        # After a trace on the same output the report is one more JSON line.
        print(json.dumps(record, indent=None if args.trace and not args.trace_file else 1))
    else:
        _print(report, code)
        if args.coverage:
            print("\n".join(report.coverage.annotated([Path(args.file).parent])))
    return 0 if report.ok else 1


def _workers(count: int | None) -> AbstractContextManager[Executor | None]:
    """Pool of processes for the launch; none without a count."""
    from contextlib import nullcontext

    from mfmasim.devices.workers import pool
    from mfmasim.errors import MfmasimError

    if count is None:
        return nullcontext()
    if not 1 <= count <= MOST_WORKERS:
        raise MfmasimError(f"--workers {count}: 1 to {MOST_WORKERS} processes are expected")
    return pool(count)


def _code(args: argparse.Namespace) -> Code:
    from mfmasim import program
    from mfmasim.errors import MfmasimError

    if args.file.endswith((".hip", ".cpp", ".cu")):
        if not args.arch:
            raise MfmasimError(f"{args.file} is a source: --arch is needed, such as --arch gfx942")
        return program.compile(args.file, args.arch)
    return program.load(args.file, args.arch)


def _only(code: Code) -> str:
    from mfmasim.errors import MfmasimError

    if len(code.kernels) != 1:
        raise MfmasimError(f"{code.object.name} has {len(code.kernels)} kernels, name one: {', '.join(code.kernels)}")
    return code.kernels[0]


def _sizes(text: str, what: str) -> tuple[int, ...]:
    from mfmasim.errors import MfmasimError

    try:
        sizes = tuple(int(part) for part in text.replace("x", ",").split(","))
    except ValueError:
        raise MfmasimError(f"{what} {text!r}: positive integers are expected, such as 4,4,1") from None
    if min(sizes) < 1:
        raise MfmasimError(f"{what} {text!r}: positive integers are expected, such as 4,4,1")
    return sizes


def _value(text: str) -> Any:
    import numpy as np

    from mfmasim.errors import MfmasimError

    if text == "null":
        return None
    if text.endswith(".npy"):
        from mfmasim.archives import parse_array, read_file

        data = read_file(Path(text), LARGEST_BUFFER)
        try:
            return parse_array(data)
        except ValueError as error:
            raise MfmasimError(f"{text}: {error}") from None
    if "=" in text:
        kind, _, value = text.partition("=")
        dtype = _dtype(kind)
        try:
            number = float(value) if dtype.kind == "f" else int(value, 0)
            return dtype.type(number)
        except (ValueError, OverflowError):
            raise MfmasimError(f"argument {text!r}: {value!r} is not a valid {kind}") from None
    kind, colon, shape = text.partition(":")
    if not colon:
        raise MfmasimError(f"argument {text!r}: expected {ARGUMENT_HELP}")
    sizes = _sizes(shape, f"argument {text!r}: shape")
    size = math.prod(sizes) * _dtype(kind).itemsize
    if size > LARGEST_BUFFER:
        raise MfmasimError(f"argument {text!r}: {size:,} bytes, at most {LARGEST_BUFFER:,} are allowed")
    array = np.empty(sizes, _dtype(kind))
    array.reshape(-1).view(np.uint8)[:] = 0xA5
    return array


def _dtype(kind: str) -> np.dtype[Any]:
    import numpy as np

    from mfmasim.errors import unknown

    names = {"f64": "f8", "f32": "f4", "f16": "f2", "i64": "i8", "i32": "i4", "i16": "i2", "i8": "i1",
             "u64": "u8", "u32": "u4", "u16": "u2", "u8": "u1"}  # fmt: skip
    if kind not in names:
        raise unknown("dtype", kind, names)
    return np.dtype(names[kind])


def _save(folder: str, values: list[Any]) -> None:
    import numpy as np

    from mfmasim.errors import MfmasimError

    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        for number, value in enumerate(values):
            if isinstance(value, np.ndarray):
                np.save(Path(folder) / f"arg{number}.npy", value)
    except OSError as error:
        raise MfmasimError(f"--out {folder}: {error.strerror or error}") from None


def _record(report: Report) -> dict[str, Any]:
    return {
        "kernel": report.kernel,
        "arch": report.arch,
        "device": report.device,
        "grid": report.grid,
        "block": report.block,
        "waves": report.waves,
        "counts": dict(report.counts.most_common()),
        "mix": dict(report.mix.most_common()),
        "lds": report.lds,
        "registers": report.registers,
        "fidelity": {"level": str(report.fidelity), "operations": dict(report.fidelity.by_operation)},
        "findings": [finding.record() for finding in report.findings],
        "printed": report.printed,
        "notes": report.notes,
        "stopped": report.stopped,
    }


def _print(report: Report, code: Code) -> None:
    from mfmasim.visible import console as new_console

    console = new_console(soft_wrap=True)
    for line in report.printed:
        print(line)
    total = sum(report.counts.values())
    console.print(f"{report.kernel} on {report.arch}, {report.waves} waves, {total:,} wave-instructions")
    console.print("  ".join(f"{name} {count:,}" for name, count in report.mix.most_common()))
    if code.made_by:
        console.print(f"compiled by {code.made_by}")
    for name, count in report.counts.most_common():
        console.print(f"  {count:>10,}  {name}")
    console.print(f"fidelity: {report.fidelity!r}")
    for note in report.notes:
        console.print(f"note: {note}")
    for finding in report.findings:
        for line in finding.lines():
            console.print(line)
