"""A program: a code object whose kernels can be asked and launched, the result of `load` and `compile`.

The packages used here are independent of each other: the toolchain compiles a source to a code object, the code object
reader finds its kernels, the decoder reads their instructions, the machine executes them, a device launches them.
"""

from __future__ import annotations

import hashlib
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from mfmasim import codeobject, kernels
from mfmasim.architectures import target as find_target
from mfmasim.architectures.direct import direct_problem
from mfmasim.errors import MfmasimError
from mfmasim.isa.unread import Unread
from mfmasim.kernels import NotCodeError, Source

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mfmasim.architectures import Arch
    from mfmasim.devices.calling import Launcher
    from mfmasim.isa import Instruction

__all__ = ["Code", "Kernel", "NotCodeError", "Source", "Unread", "compile", "load"]


class Kernel(kernels.Kernel):
    """One kernel of a code object: its arguments, resources and instructions; ``kernel[grid, block](...)`` runs it."""

    def __getitem__(self, key: object) -> Launcher:
        """The short form of a launch, ``kernel[grid, block](a, b, c)``."""
        from mfmasim.devices.calling import launcher

        return launcher(self, key)

    @cached_property
    def refusals(self) -> tuple[tuple[Instruction, str], ...]:
        """The instructions that the simulator cannot execute, each with the reason in one line; see `unsupported`."""
        from mfmasim.machine.execution.refusals import refusals

        return refusals(self)

    @property
    def unsupported(self) -> tuple[Instruction, ...]:
        """The instructions that the simulator cannot execute, in address order; empty if the kernel can run.

        They stop a launch only when a wave reaches them. A dword on the way that does not decode is among them, with
        the text ``.long``. `refusals` has the reasons.
        """
        return tuple(instruction for instruction, _ in self.refusals)


class Code(kernels.Code):
    """A loaded code object: kernels by name, instructions by address."""

    kernel_type = Kernel

    if TYPE_CHECKING:

        def __getitem__(self, name: str) -> Kernel: ...

        def __iter__(self) -> Iterator[Kernel]: ...


def load(
    source: str | Path | bytes, arch: str | Arch | None = None, *, kernel: str | None = None, strict: bool = False
) -> Code:
    """Load a code object.

    Args:
        source: a path, or the bytes: a code object, or what holds one (bundle, library, program, archive).
        arch: which code object to take where there are several.
        kernel: name of a kernel in it, where there are several for one architecture.
        strict: list bits that are not zero although the hardware does not read them, in `Code.information`.

    Returns:
        The code, with its kernels.

    Raises:
        MfmasimError: the file is missing, damaged, not a code object, or has no entry for `arch`.
    """
    return Code.load(source, arch, kernel=kernel, strict=strict)


def compile(  # noqa: A001  (the contract's name)
    path: str | Path,
    arch: str | Arch,
    *,
    compiler: str | None = None,
    flags: Sequence[str] = (),
    include: Sequence[str | Path] = (),
    device_libs: str | Path | None = None,
) -> Code:
    """Compile a HIP source file to a code object.

    Args:
        path: the source.
        arch: the architecture, such as ``gfx942``, or a generic target, such as ``gfx11-generic``.
        compiler: path of a compiler; None for the first one found (see `mfmasim.toolchain`).
        flags: further compiler flags.
        include: further folders for ``#include``.
        device_libs: folder of ROCm's bitcode, used for mathematics instead of mfmasim's functions.

    Returns:
        The code; ``made_by`` names the compiler.

    Raises:
        MfmasimError: no compiler was found, or the source does not compile; the text has the compiler's messages.
    """
    from mfmasim import toolchain

    if not isinstance(path, str | Path):
        raise MfmasimError(f"compile: expected the path of a source, not {type(path).__name__}")
    target = find_target(arch)
    if not isinstance(flags, list | tuple) or not all(isinstance(flag, str) for flag in flags):
        raise MfmasimError(f"flags {flags!r}: expected a list of compiler flags, such as ['-O3']")
    if not isinstance(include, list | tuple) or not all(isinstance(name, str | Path) for name in include):
        raise MfmasimError(f"include {include!r}: expected a list of folders, such as ['common']")
    try:
        made = toolchain.compile_hip(
            Path(path),
            target.target,
            compiler=compiler,
            flags=flags,
            include=include,
            device_libs=device_libs,
            again=False,
        )
    except toolchain.CompilerCrashError as error:
        sizes = []
        if ".lds" in error.crash.intrinsic:
            text = toolchain.declarations(Path(path), target.target, compiler, flags, include)
            sizes = codeobject.direct_loads(text)
        problems = dict.fromkeys(filter(None, (direct_problem(target, size) for size in sizes)))
        raise MfmasimError("; ".join([str(error), *problems])) from None
    digest = hashlib.sha256(Path(path).read_bytes()).hexdigest()
    source = Source(Path(path), target.target, digest, compiler, tuple(flags), tuple(include))
    found = codeobject.read(made.data, name=str(path), arch=target)
    return Code(found, made_by=made.compiler, source=source, warnings=made.warnings)
