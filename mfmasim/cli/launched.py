"""A launch in place of a case: a kernel of a code object or HIP source, with arguments of the command line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from mfmasim.cli.case_options import CHOICE
from mfmasim.cli.compilation import COMPILATION, compilation, show_warnings
from mfmasim.cli.needs import needed
from mfmasim.cli.numbers import whole
from mfmasim.files import is_object, is_source

if TYPE_CHECKING:
    import argparse

    from mfmasim.cli.run_arguments import Given
    from mfmasim.program import Kernel

OPTIONS = {"--kernel": "kernel", "--arg": "arg"}
"""Options of `add_launch` that have no default, and where their values are."""


class Launched(NamedTuple):
    """The kernel, arguments and sizes of a launch."""

    kernel: Kernel
    grid: tuple[int, ...]
    block: tuple[int, ...]
    given: Given
    shared: int


def add_launch(parser: argparse.ArgumentParser) -> None:
    """Add the options of a launch."""
    group = parser.add_argument_group("a launch: of a code object or source in place of cases")
    group.add_argument("--kernel", help="the kernel, where there are several")
    group.add_argument("--grid", default="1", help="workgroups, such as 4 or 4,4,1 (default 1)")
    group.add_argument("--block", default="64", help="work-items per workgroup (default 64)")
    group.add_argument("--shared", type=whole(0), default=0, help="dynamic LDS in bytes")
    group.add_argument(
        "--arg", action="append", default=[], metavar="ARG", help="an argument, as `mfmasim run` takes it"
    )


def is_launch(targets: Sequence[str]) -> bool:
    """Whether targets are a code object or a source, and no cases."""
    return any(is_object(target) or is_source(target) for target in targets)


def launched(args: argparse.Namespace) -> Launched:
    """The launch of a command line.

    Raises:
        MfmasimError: there are other targets, or the arguments do not fit the kernel.
    """
    from mfmasim import program
    from mfmasim.architectures import DEFAULT
    from mfmasim.cli.run_arguments import given, sizes
    from mfmasim.errors import MfmasimError, unknown

    if len(args.targets) != 1:
        raise MfmasimError(f"{len(args.targets)} targets: a code object or a source is given alone")
    (target,) = args.targets
    needed(args, CHOICE, f"a case file, not {target}")
    if is_source(target):
        code = program.compile(target, args.arch or DEFAULT, **compilation(args))
        show_warnings(code)
    else:
        needed(args, COMPILATION, f"a source; {target} is compiled already")
        code = program.load(target, args.arch)
    if not code.kernels:
        raise MfmasimError(f"{target} holds no kernel")
    name = args.kernel or (code.kernels[0] if len(code.kernels) == 1 else None)
    if name is None or name not in [*code.kernels, *(code[k].title for k in code.kernels)]:
        titles = [code[k].title for k in code.kernels]
        raise unknown("kernel", name or "(none)", titles, f"in {target}; --kernel names one")
    kernel = code[name]
    grid, block = sizes(args.grid, "--grid"), sizes(args.block, "--block")
    return Launched(kernel, grid, block, given(args.arg, kernel), args.shared)
