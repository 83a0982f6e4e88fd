"""One side of a comparison: its differences from the case."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from mfmasim import program
from mfmasim.architectures import ARCHITECTURES
from mfmasim.architectures import arch as find_arch
from mfmasim.errors import MfmasimError
from mfmasim.files import is_object, is_source
from mfmasim.kernels import Kernel
from mfmasim.toolchain import find_compiler
from mfmasim.verify.cases import Case
from mfmasim.verify.prebuilt import code_for


@dataclass(frozen=True)
class Side:
    """The parts of a side's kernel; an empty part is that of the case."""

    text: str
    """Text of the side."""
    arch: str = ""
    compiler: str = ""
    flags: tuple[str, ...] = ()
    code: str = ""
    """Path of a code object."""
    source: str = ""
    """Path of a changed copy of the case's source."""
    parameters: dict[str, Any] = field(default_factory=dict)

    def case(self, case: Case) -> Case:
        """The case with the side's parameters, source and flags.

        Raises:
            MfmasimError: the case has no such parameter, or makes its code itself.
        """
        changed = case.with_parameters(self.parameters) if self.parameters else case
        if (self.flags or self.source) and case.maker is not None:
            raise MfmasimError(f"{self.text}: case {case.name} makes its code itself; a source or flags do not apply")
        if self.source:
            changed = changed.with_source(Path(self.source).absolute())
        return replace(changed, flags=(*changed.flags, *self.flags)) if self.flags else changed

    def kernel(self, case: Case, arch: str) -> Kernel:
        """The side's kernel.

        Args:
            case: the result of `case`.
            arch: the architecture.

        Raises:
            MfmasimError: the source does not compile, or the code object lacks the kernel.
        """
        if self.code:
            return program.load(Path(self.code), arch)[case.kernel_name()]
        if self.compiler and case.maker is None:
            return code_for(case.source, arch, self.compiler, case.flags)[case.kernel_name()]
        return case.compiled(arch, self.compiler or None)


def side_of(text: str) -> Side:
    """Read a side: parts with commas between them.

    Each part is an architecture (``gfx942``), a code object (``old.hsaco``), a source (``old.hip``), a compiler as
    ``--compiler`` takes it, ``flags=-O1 -g``, or a parameter of the case, ``NAME=VALUE``.

    Raises:
        MfmasimError: a part has none of these forms.
    """
    side = Side(text)
    if not all(text.split(",")):
        raise MfmasimError(f"side {text!r} has an empty part; the case as it is: flags=")
    for part in text.split(","):
        name, equals, value = part.partition("=")
        if equals and name == "flags":
            side = replace(side, flags=tuple(value.split()))
        elif equals and name.isidentifier():
            try:
                found = ast.literal_eval(value)
            except (ValueError, SyntaxError):
                found = value
            side = replace(side, parameters={**side.parameters, name: found})
        elif is_object(part) or is_source(part):
            name = "code" if is_object(part) else "source"
            if not Path(part).is_file():
                raise MfmasimError(f"{part}: no such {'code object' if name == 'code' else name}")
            side = _with(side, name, part)
        elif part in ARCHITECTURES or part.startswith("gfx"):
            side = _with(side, "arch", find_arch(part).name)
        else:
            try:
                find_compiler(part)
            except MfmasimError as error:
                kinds = "an architecture, a code object, a source, a compiler, flags=... and a parameter NAME=VALUE"
                raise MfmasimError(f"side {part!r} is none of {kinds}: {error}") from None
            side = _with(side, "compiler", part)
    if side.code and (side.compiler or side.flags or side.source):
        raise MfmasimError(f"side {text!r}: {side.code} is compiled; a source, a compiler and flags do not apply")
    return side


def _with(side: Side, name: str, value: str) -> Side:
    """The side with one more part, which it did not have."""
    if before := getattr(side, name):
        raise MfmasimError(f"side {side.text!r} has two of a kind: {before} and {value}")
    changed: dict[str, Any] = {name: value}
    return replace(side, **changed)
