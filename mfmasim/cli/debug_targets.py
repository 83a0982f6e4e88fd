"""Targets of ``mfmasim debug``: a case, a code object, a recording, a program."""

from __future__ import annotations

import os
import shutil
import sys
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mfmasim.cli.case_options import CHOICE, only
from mfmasim.cli.compilation import COMPILATION
from mfmasim.cli.output import write
from mfmasim.errors import MfmasimError
from mfmasim.files import OBJECTS, SOURCES, is_source

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from mfmasim.debug.dap.listen import Address
    from mfmasim.debug.names import Elements
    from mfmasim.debug.recorder import Recorder
    from mfmasim.debug.session import Session
    from mfmasim.devices import Report
    from mfmasim.machine.events import Observer
    from mfmasim.verify import Case
    from mfmasim.verify.launch import CaseLaunch


CODE = (*OBJECTS, ".so", *SOURCES)
ELF, X86, AARCH = b"\x7fELF", 62, 183
LISTS = ("target", "arg", "set", "directory", "flag", "define", "include")
LAUNCHED = ("arch", "case", "source", "g", "grid", "block", "shared", "checks", "compiler")
"""What a launch request may have, under the names of the command line's options."""
SIZES = {"--grid": "grid", "--block": "block", "--shared": "shared", "--arg": "arg"}
BUILD = {"-g": "debug_information", **COMPILATION}
UNUSED = {
    "a recording": {"--arch": "arch", "--checks": "checks", **CHOICE, **SIZES, **BUILD},
    "a case": SIZES,
    "a code object": {**CHOICE, **BUILD},
    "a source": CHOICE,
    "a program": {"--page": "page", **CHOICE, **SIZES, **BUILD},
}
"""Options that do not apply to a target, and where their values are."""
USUAL = {"grid": "1", "block": "64"}
"""Values of options that were not given, where those are not empty."""


def is_program(target: Sequence[str]) -> bool:
    """Whether a command begins with a program of this machine."""
    path = Path(target[0])
    if path.name.startswith("python") and shutil.which(target[0]):
        return True
    if path.suffix in (*CODE, ".py") or not (found := shutil.which(target[0])) or path.is_dir():
        return False
    try:
        with Path(found).open("rb") as file:
            head = file.read(20)
    except OSError:
        return False
    return head[:2] == b"#!" or (head[:4] == ELF and int.from_bytes(head[18:20], "little") in (X86, AARCH))


def _refuse(args: argparse.Namespace, kind: str) -> None:
    """Refuse an option that would be ignored.

    Raises:
        MfmasimError: the option was given.
    """
    for option, name in UNUSED[kind].items():
        if (value := getattr(args, name)) and value != USUAL.get(name):
            raise MfmasimError(f"debug: {option} does not apply to {kind}")


def opened(args: argparse.Namespace, observers: Sequence[Observer] = ()) -> Session:
    """The session of a target that runs in this process.

    Args:
        args: those of the command line.
        observers: of the launch.

    Raises:
        MfmasimError: there is no such target, or it cannot be launched.
    """
    from mfmasim.debug.file import is_record, load

    _folder(args)
    name = args.target[0]
    if len(args.target) > 2:
        raise MfmasimError(f"debug: {' '.join(args.target[2:])!r} is left over; a program's arguments follow --")
    path = Path(name)
    recorded = path.is_file() and is_record(path)
    if path.suffix in CODE and not recorded:
        _refuse(args, "a source" if is_source(name) else "a code object")
        return _code(args, observers)
    if len(args.target) > 1:
        hint = "" if recorded else "; --case chooses a case"
        raise MfmasimError(f"debug: {args.target[1]!r} is left over{hint}")
    _refuse(args, "a recording" if recorded else "a case")
    return load(path, args.directory, observers) if recorded else _case(args, observers)


def _folder(args: argparse.Namespace) -> None:
    """Read ``--source`` with a folder as ``--directory``."""
    if args.source and Path(args.source).is_dir():
        old = "mfmasim: debug '--source FOLDER' is now '--directory'; the old spelling works for one release"
        print(old, file=sys.stderr)
        args.directory, args.source = [*args.directory, args.source], None


def _code(args: argparse.Namespace, observers: Sequence[Observer]) -> Session:
    """A kernel with arguments of the command line."""
    from mfmasim import program
    from mfmasim.architectures import DEFAULT
    from mfmasim.cli.compilation import compilation, show_warnings
    from mfmasim.cli.run_arguments import given, sizes
    from mfmasim.debug.device import RecordingDevice
    from mfmasim.debug.session import Session

    name, kernel_name = args.target[0], args.target[1] if len(args.target) > 1 else None
    if is_source(name):
        options = compilation(args)
        code = program.compile(name, args.arch or DEFAULT, **{**options, "flags": ["-g", *options["flags"]]})
        show_warnings(code)
    else:
        code = program.load(name, args.arch, kernel=kernel_name)
    if kernel_name is None and len(code.kernels) != 1:
        names = ", ".join(code[one].title for one in code.kernels)
        raise MfmasimError(f"{code.object.name} has {len(code.kernels)} kernels, name one: {names}")
    kernel = code[kernel_name or code.kernels[0]]
    passed = given(args.arg, kernel)
    grid, block = sizes(args.grid, "--grid"), sizes(args.block, "--block")
    kept: list[tuple[Recorder, Report]] = []
    device = RecordingDevice(lambda recorder, report: kept.append((recorder, report)), observers)
    device.launch(kernel, grid, block, passed.values, args.shared, args.checks or "all", undefined=passed.undefined)
    if not kept:
        raise MfmasimError(f"{kernel.title}: nothing was executed")
    return Session(*kept[0], folders=[*map(Path, args.directory), Path(name).parent])


def _case(args: argparse.Namespace, observers: Sequence[Observer]) -> Session:
    """A case, verified; the first launch of it, with all findings."""
    from mfmasim.debug.device import RecordingDevice
    from mfmasim.debug.session import Session
    from mfmasim.verify import verify_case
    from mfmasim.verify.runner import set_parameters

    chosen = only(args, args.target[0], "with --case and --arch")
    case, arch = chosen.case, chosen.arch
    case = replace(
        case, checks=args.checks or case.checks, flags=(*case.flags, *(["-g"] if args.debug_information else []))
    )
    kept: list[tuple[Recorder, Report]] = []

    def done(recorder: Recorder, report: Report) -> None:
        if not kept:
            kept.append((recorder, report))

    kernel = set_parameters(case, arch=arch).compiled(arch)
    result = verify_case(case, arch, device=RecordingDevice(done, observers), kernel=kernel)
    if not kept:
        raise MfmasimError(f"{case.title} on {arch}: nothing was launched ({result.status})")
    recorder, report = kept[0]
    launch = set_parameters(set_parameters(case, arch=arch), wave=kernel.wave).make()
    return Session(
        recorder,
        report,
        _elements(recorder, launch),
        [*map(Path, args.directory), case.source.parent, *_original(case)],
        tuple(result.findings),
    )


def _original(case: Case) -> list[Path]:
    """The folder of the source of which a case has a changed copy, for its headers."""
    return [Path(flag.removeprefix("-iquote")) for flag in case.flags if flag.startswith("-iquote")]


def _elements(recorder: Recorder, launch: CaseLaunch) -> dict[str, Elements]:
    """The case's matrices and arrays in the launch, by role and by the argument's name."""
    from mfmasim.debug.names import Elements
    from mfmasim.formats import format as number_format
    from mfmasim.verify.arguments import Argument, leaves

    regions = {region.name.partition(" (")[0]: region for region, _ in recorder.launch.buffers}
    arch, out = recorder.launch.kernel.arch, {}
    for place, argument in leaves(launch.args):
        region = regions.get(place)
        if not isinstance(argument, Argument) or region is None:
            continue
        bits = argument.element_bits(arch)
        kind: Any = getattr(argument, "format", "") or getattr(argument, "number_format", None)
        kind = kind if isinstance(kind, str) else getattr(kind, "name", "")
        name = number_format(kind, arch).name if kind else ""
        strides = tuple(step * bits for step in argument.strides)
        signed = getattr(getattr(argument, "dtype", None), "kind", "") == "i"
        for label in dict.fromkeys((argument.name, recorder.launch.names.buffer(region.name))):
            out[label] = Elements(label, region.address, argument.shape, strides, bits, name, signed)
    return out


def write_page(args: argparse.Namespace) -> int:
    """Write the launch of a target, or of a recording, as a page of the explorer."""
    from mfmasim.explorer import explorer_page, view_state
    from mfmasim.explorer.recording import Recorder as PageRecorder
    from mfmasim.explorer.recording import record_launch

    recorder = PageRecorder()
    session = opened(args, [recorder])
    record = record_launch(recorder, session.kernel, session.kernel.title, list(session.folders))
    record["source"] = {name: lines for name in session.lines.files if (lines := session.lines.source(name))}
    write(args.page, explorer_page([record], view_state("stepper")))
    return 0


def run_program(args: argparse.Namespace, address: Address | None = None) -> int:
    """Run a program with the debugger in its process; the exit code is the program's."""
    from mfmasim.debug.attached import VARIABLE

    _folder(args)
    _refuse(args, "a program")
    if args.record:
        mode = f"record:{Path(args.record).absolute()}"
    elif address is not None:
        mode = f"dap:{address.text}"
    elif args.commands:
        if args.commands == "-":
            raise MfmasimError("--commands -: standard input is the program's; give a file")
        if not Path(args.commands).is_file():
            raise MfmasimError(f"--commands {args.commands}: no such file")
        mode = f"commands:{Path(args.commands).absolute()}"
    else:
        mode = "terminal"
    folders = [str(Path(one).absolute()) for one in (*args.directory, ".")]
    os.environ[VARIABLE] = "\n".join([mode, *folders])
    before = _written(args.record)
    try:
        code = _triton(args) if _uses_triton(args.target) else _hip(args)
    finally:
        del os.environ[VARIABLE]
    if args.record and _written(args.record) == before:
        print(f"mfmasim: --record {args.record}: nothing was recorded, as no launch was executed", file=sys.stderr)
        return code or 2
    return code


def _written(file: str | None) -> tuple[int, int] | None:
    """A key for the version of a file; None without the file."""
    if not file or not Path(file).exists():
        return None
    found = Path(file).stat()
    return found.st_ino, found.st_mtime_ns


def _uses_triton(command: Sequence[str]) -> bool:
    scripts = [Path(word) for word in command if word.endswith(".py") and Path(word).is_file()]
    return any("triton" in path.read_text(errors="replace") for path in scripts[:1])


def _hip(args: argparse.Namespace) -> int:
    from mfmasim.hiprt import start
    from mfmasim.hiprt.settings import ARCH, CHECKS

    given = {ARCH: args.arch, CHECKS: args.checks}
    return start(list(args.target), {name: value for name, value in given.items() if value is not None})


def _triton(args: argparse.Namespace) -> int:
    from mfmasim.triton import Settings
    from mfmasim.triton.start import start

    given = {name: value for name in ("arch", "checks") if (value := getattr(args, name)) is not None}
    return start(list(args.target), Settings(**given))[0]


def serve(args: argparse.Namespace) -> int:
    """Serve the Debug Adapter Protocol."""
    from mfmasim.debug.dap.listen import serve_at, serve_streams

    given_args = args
    address = _address(args)

    def launched(words: dict[str, Any]) -> Session:
        """The target of a client's launch request, independent of earlier requests."""
        args = copy(given_args)
        if given_args.target and "target" in words:
            raise MfmasimError(f"launch: the command line has the target, {' '.join(given_args.target)}; leave it out")
        words = dict(words)
        if isinstance(words.get("source"), list):  # folders, as in 0.1
            words["directory"] = words.pop("source")
        for name, value in words.items():
            listed = name in LISTS
            given = [str(one) for one in (value if isinstance(value, list) else [value])] if listed else value
            if name in LAUNCHED or listed:
                setattr(args, {"g": "debug_information"}.get(name, name), given)
        if not args.target:
            raise MfmasimError('launch: "target" is expected, such as ["my_case.py"]')
        if is_program(args.target):
            raise MfmasimError("launch: of a program: mfmasim debug --dap --port N -- PROGRAM, and attach")
        return opened(args)

    if args.target and is_program(args.target):
        if address is None:
            raise MfmasimError("--dap with a program: --port N or --socket PATH; standard input is the program's")
        return run_program(args, address)
    if address is None:
        return serve_streams(sys.stdin.buffer, sys.stdout.buffer, launched)
    return serve_at(address, launched)


def _address(args: argparse.Namespace) -> Address | None:
    """Where the client connects; None for standard input and output.

    Raises:
        MfmasimError: options exclude each other.
    """
    from mfmasim.debug.dap.listen import Address

    if args.socket is not None:
        if args.port is not None:
            raise MfmasimError("--socket and --port exclude each other")
        return Address(path=str(Path(args.socket).absolute()))
    return None if args.port is None else Address(args.port, args.host or Address.host)
