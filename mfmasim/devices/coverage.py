"""Execution counts: instruction mix and source lines, from counts that the machine always keeps."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mfmasim.errors import MfmasimError
from mfmasim.files import read_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from mfmasim.isa import Instruction
    from mfmasim.kernels import Kernel

FAMILIES = ("VALU", "MATRIX", "SALU", "SMEM", "VMEM", "SCRATCH", "LDS", "BRANCH", "BARRIER", "WAIT", "OTHER")
"""Families of instructions, in the order of the table."""

SOURCE_BYTES = 1 << 24
"""Most bytes of a source file that is listed with counts."""

SUFFIXES = tuple(".hip .cpp .cc .cxx .c .cu .cl .h .hpp .hh .hxx .cuh .inc .inl .s .S .ll .mlir .py".split())  # noqa: SIM905
"""Endings of names of source files."""


def family_of(instruction: Instruction) -> str:
    """The family that an instruction belongs to, one of `FAMILIES`."""
    opcode = instruction.opcode
    if opcode.matrix:
        return "MATRIX"
    if opcode.flow and opcode.flow != "trap":
        return "BRANCH"
    if opcode.barrier:
        return "BARRIER"
    if opcode.wait or opcode.kind in ("nop", "sleep", "delay"):
        return "WAIT"
    if instruction.encoding == "SOPP":
        return "OTHER"
    return "SCRATCH" if opcode.unit == "VMEM" and opcode.space == "scratch" else opcode.unit


def mix_of(kernel: Kernel, executed: Mapping[int, int]) -> Counter[str]:
    """Wave-instructions by family, from those by address."""
    out: Counter[str] = Counter()
    for pc, count in executed.items():
        if count:
            out[family_of(kernel.code.instruction_at(pc, kernel.wave))] += count
    return out


@dataclass
class Line:
    """One source line."""

    executions: int = 0
    """Executions by waves: the count of its most executed instruction."""
    instructions: int = 0
    """Wave-instructions that come from it."""
    compiled: int = 0
    """Instructions of the kernel that come from it."""


@dataclass
class Coverage:
    """Source lines of a kernel, and of the functions that it called, with counts.

    Attributes:
        files: file (as the compiler recorded it) to line number to counts; only lines that have code.
        unattributed: wave-instructions that belong to no source line.
    """

    files: dict[str, dict[int, Line]] = field(default_factory=dict)
    unattributed: int = 0

    @classmethod
    def of(cls, kernel: Kernel, executed: Mapping[int, int]) -> Coverage:
        """Count lines from wave-instructions by address; lines of the kernel that were not executed have zeros."""
        try:
            addresses: Iterable[int] = [ins.pc for ins in kernel.instructions]
            table = kernel.code.object.line_table()
        except MfmasimError:
            return cls(unattributed=sum(executed.values()))  # data among the code, or damaged debug information
        files: defaultdict[str, dict[int, Line]] = defaultdict(dict)
        unattributed = 0
        for pc in sorted({*addresses, *executed}):
            count = executed.get(pc, 0)
            place = table.at(pc)
            if place is None:
                unattributed += count
                continue
            line = files[place[0]].setdefault(place[1], Line())
            line.executions = max(line.executions, count)
            line.instructions += count
            line.compiled += 1
        return cls({name: dict(sorted(lines.items())) for name, lines in sorted(files.items())}, unattributed)

    @property
    def never(self) -> list[str]:
        """Lines that have code and were not executed, as ``file:line``."""
        return [f"{name}:{n}" for name, lines in self.files.items() for n, line in lines.items() if not line.executions]

    @property
    def share(self) -> float:
        """Fraction of the lines with code that was executed; 1 without such lines."""
        total = sum(map(len, self.files.values()))
        return (total - len(self.never)) / total if total else 1.0

    def record(self) -> dict[str, Any]:
        """The counts as a dictionary that JSON can represent."""
        return {
            "files": {name: {str(n): vars(line) for n, line in lines.items()} for name, lines in self.files.items()},
            "never": self.never,
            "share": self.share,
            "unattributed": self.unattributed,
        }

    def annotated(self, folders: Iterable[Path] = ()) -> list[str]:
        """Source lines with their counts; ``#####`` marks one that never ran, a blank one has no code.

        Args:
            folders: folders of sources, before the working directory; files that are not found are listed by
                line number alone.
        """
        out = []
        for name, lines in self.files.items():
            out.append(f"{name}: {sum(bool(one.executions) for one in lines.values())} of {len(lines)} lines executed")
            text = source_lines(name, [*folders, Path()])
            for number in range(1, len(text) + 1) if text else lines:
                line = lines.get(number)
                count = "" if line is None else f"{line.executions:,}" if line.executions else "#####"
                out.append(f"{count:>12} {number:>5}  {text[number - 1] if text else ''}".rstrip())
        if not self.files:
            out.append("no source lines: compile with -gline-tables-only")
        return out


def source_lines(name: str, folders: Iterable[Path]) -> list[str]:
    """Lines of a source file: as recorded, or beside the code object; empty if it does not exist.

    The name comes from a code object, which may be hostile: only sources are read.
    """
    if not name.endswith(SUFFIXES):
        return []
    for folder in folders:
        for path in (folder / name, folder / Path(name).name):
            try:
                return read_file(path, SOURCE_BYTES).decode(errors="replace").splitlines()
            except (MfmasimError, OSError, ValueError):
                continue
    return []
