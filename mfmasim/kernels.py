"""The kernels of a code object with their decoded instructions: what the machine executes."""

from __future__ import annotations

import bisect
import hashlib
import os
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from mfmasim import codeobject, isa
from mfmasim.codeobject import Declared, Parameter
from mfmasim.errors import MfmasimError
from mfmasim.isa.operand_lines import data_writers
from mfmasim.isa.unread import Unread
from mfmasim.markup import paragraph, rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Self

    from mfmasim.architectures import Arch
    from mfmasim.codeobject import Argument, CodeObject, CType, KernelInfo, LdsVariable
    from mfmasim.isa import Instruction

T = TypeVar("T")

LISTED = 200
"""Instructions that a notebook shows."""
COERCED = ".coerce"
"""What Clang adds to the name of a pointer argument that it takes as one to global memory."""


class NotCodeError(MfmasimError):
    """An address from which no instruction can be fetched."""


@dataclass(frozen=True)
class Source:
    """A source that a code object was compiled from, and how."""

    path: Path
    arch: str
    sha256: str
    compiler: str | None = None
    flags: tuple[str, ...] = ()
    include: tuple[str | Path, ...] = ()
    eager: bool = True
    """Whether it is read for the types of arguments before a launch, and not only for the names in a finding."""

    @cached_property
    def _folders(self) -> list[Path]:
        from mfmasim.toolchain import header_folders

        return header_folders(self.flags, self.include)

    def located(self, name: str) -> str:
        """A file as the code names it, in the folder where it is: from the source's folder, or absolute outside it."""
        head, _, rest = name.partition("/")
        number = head.removeprefix("include")
        if not rest or number == head or not number.isdecimal() or int(number) >= len(self._folders):
            return name
        path, home = self._folders[int(number)] / rest, Path(os.path.abspath(self.path)).parent  # noqa: PTH100
        return path.relative_to(home).as_posix() if path.is_relative_to(home) else str(path)

    def declared(self) -> dict[str, Declared]:
        """What it declares of its kernels; nothing if it has changed since, or there is no compiler."""
        from mfmasim.toolchain import declarations

        try:
            same = hashlib.sha256(self.path.read_bytes()).hexdigest() == self.sha256
            text = declarations(self.path, self.arch, self.compiler, self.flags, self.include) if same else ""
        except (OSError, MfmasimError):
            return {}
        return codeobject.read_ir(text) if same else {}


class PerKernel(Generic[T]):
    """A memo of what follows from a kernel alone, for all its launches; the module that fills it declares it."""

    def __init__(self, make: Callable[[Kernel], T]) -> None:
        """Declare a memo; `make` gives its first content."""
        self.make = make

    def of(self, kernel: Kernel) -> T:
        """The memo of a kernel."""
        if self not in kernel.memos:
            kernel.memos[self] = self.make(kernel)
        found: T = kernel.memos[self]
        return found

    @contextmanager
    def afresh(self, kernel: Kernel) -> Iterator[None]:
        """Within, the kernel's memo is made anew; after that it is the old one again."""
        before = kernel.memos.pop(self, None)
        try:
            yield
        finally:
            kernel.memos.pop(self, None)
            if before is not None:
                kernel.memos[self] = before


class Kernel:
    """One kernel of a code object: its arguments, resources and instructions."""

    def __init__(self, code: Code, info: KernelInfo) -> None:
        """Create a kernel of `code` from the code object's `info`."""
        self.code, self.info = code, info
        self.memos: dict[PerKernel[Any], Any] = {}
        """What follows from the kernel alone and is memoised for its further launches."""

    def __getstate__(self) -> dict[str, Any]:
        """A process that receives it begins without memos: bound instructions are functions."""
        return {**self.__dict__, "memos": {}}

    def __repr__(self) -> str:
        return f"<Kernel {self.name}({self.signature}) for {self.arch.name}>"

    @property
    def signature(self) -> str:
        """Its arguments by name, else by type, as far as anything has them."""
        pairs = zip(self.args, self.parameters, strict=True)
        return ", ".join(known.name or (known.type.text if known.type else arg.value_kind) for arg, known in pairs)

    def _repr_html_(self) -> str:
        """Its instructions with their source lines, for notebooks."""
        listed, left = self.decodable[:LISTED], len(self.decodable[LISTED:])
        lines = [(f"{one.pc:#x}", one.text, self.source_at(one.pc)) for one in listed]
        table = rows(repr(self)[1:-1], ("address", "instruction", "source"), lines)
        return table + (paragraph(f"and {left:,} more instructions") if left else "")

    @property
    def name(self) -> str:
        """Mangled name."""
        return self.info.name

    @property
    def arch(self) -> Arch:
        """Architecture."""
        return self.code.arch

    @property
    def args(self) -> tuple[Argument, ...]:
        """The arguments that the caller passes, in order."""
        return self.info.explicit_args

    @property
    def title(self) -> str:
        """Name as C++ writes it, with template arguments."""
        return codeobject.shown(self.name)

    @cached_property
    def declared(self) -> Declared:
        """What the source declares, from debug information or the source; empty where neither is known."""
        return self.code.declared.get(self.name, Declared())

    @cached_property
    def types(self) -> tuple[CType | None, ...]:
        """Types of the arguments as far as the mangled name has them; None where they are not known."""
        found = codeobject.signature(self.name)
        known = found.parameters if found is not None else None
        return known if known is not None and len(known) == len(self.args) else (None,) * len(self.args)

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """Name and type of each argument, from metadata, mangled name, debug information and source."""
        own = [Parameter(arg.name.removesuffix(COERCED), kind) for arg, kind in zip(self.args, self.types, strict=True)]
        if all(p.name and p.type for p in own) or len(declared := self.declared.parameters) != len(own):
            return tuple(own)
        pairs = zip(own, declared, strict=True)
        return tuple(Parameter(mine.name or other.name, other.type or mine.type) for mine, other in pairs)

    @cached_property
    def lds_variables(self) -> tuple[LdsVariable, ...]:
        """Variables of the LDS at their places; none where their places are not known."""
        return codeobject.lds_layout(self.declared.variables, self.info.group_segment_fixed_size)

    @property
    def wave(self) -> int:
        """Lanes of a wave."""
        return self.info.wave

    @cached_property
    def instructions(self) -> tuple[Instruction, ...]:
        """The kernel's instructions in address order; `text` is in LLVM's syntax.

        On gfx12, where LLVM 22 has the 16-bit halves of registers (``v0.l``) as an option, texts name them if one of
        the instructions has no other text.

        Raises:
            MfmasimError: bytes that do not encode an instruction of the architecture.
        """
        info = self.info
        data = self.code.object.read_bytes(info.entry, info.size)
        return tuple(isa.listed(isa.decode_range(data, self.arch, info.entry, self.wave)))

    @cached_property
    def decodable(self) -> tuple[Instruction, ...]:
        """The kernel's instructions; dwords that do not decode, such as data, are skipped."""
        return tuple(isa.listed(self._between(self.info.entry, self.info.entry + self.info.size)))

    @cached_property
    def unread(self) -> tuple[Unread, ...]:
        """Bits that are not zero although the hardware does not read them, of the descriptor and the instructions."""
        descriptor = self.info.descriptor.ignored
        found = [Unread(self.name, None, "kernel descriptor", descriptor)] if descriptor else []
        found += [Unread(self.name, ins.pc, ins.text, ins.ignored) for ins in self.decodable if ins.ignored]
        return tuple(found)

    @cached_property
    def reachable(self) -> tuple[Instruction, ...]:
        """The kernel's instructions or, if it calls functions, those of the whole code object, in address order."""
        if not any(ins.opcode.flow in ("call", "jump") for ins in self.decodable):
            return self.decodable
        code = (s for s in self.code.object.segments if s.executable)
        return tuple(ins for s in code for ins in isa.listed(self._between(s.vaddr, s.vaddr + len(s.data))))

    @cached_property
    def shares(self) -> bool:
        """Whether it accesses the global data share."""
        return bool(self.arch.lds.gds_bytes) and any(i.in_gds and i.opcode.memory for i in self.reachable)

    def _between(self, address: int, end: int) -> Iterator[Instruction]:
        """Instructions in a range of addresses; dwords that do not decode are skipped."""
        while address < end:
            try:
                instruction = self.code.instruction_at(address, self.wave)
            except MfmasimError:
                address += 4
                continue
            yield instruction
            address += instruction.size

    def instruction_at(self, pc: int) -> Instruction | None:
        """The instruction at an address; None where none can be decoded."""
        try:
            return self.code.instruction_at(pc, self.wave)
        except MfmasimError:
            return None

    def source_at(self, pc: int) -> str:
        """Source line of an address as ``file:line``, empty if the code object has none."""
        try:
            place = self.code.object.line_table().at(pc)
        except MfmasimError:
            return ""  # a finding is reported even if the debug information is damaged
        if not place:
            return ""
        name = place[0].removeprefix("./")
        return f"{self.code.source.located(name) if self.code.source else name}:{place[1]}"

    def place_at(self, pc: int) -> str:
        """Source line of an address, else the address."""
        return self.source_at(pc) or f"{pc:#x}"

    def address_at(self, pc: int) -> str:
        """The address in parentheses, for a word such as "here"; empty where a source line says where that is."""
        return "" if self.source_at(pc) else f" ({pc:#x})"

    def line_at(self, pc: int) -> str:
        """Source line of an address, else the address, with what `merged_at` says of it."""
        return self.place_at(pc) + self.merged_at(pc)

    def merged_at(self, pc: int) -> str:
        """In parentheses the lines of a store's values, where the compiler merged stores of several lines; else empty.

        The line table has no line for such a store: it would be one of two.
        """
        if self.source_at(pc) or not self.source_at(self.info.entry):
            return ""
        writers = data_writers(self.decodable, pc)
        known = list(dict.fromkeys(filter(None, map(self.source_at, writers))))
        return f" (without a line, as merged stores are; its values are of {' and '.join(known)})" if known else ""


class Code:
    """A loaded code object: kernels by name, instructions by address."""

    kernel_type: type[Kernel] = Kernel

    def __init__(
        self,
        found: CodeObject,
        made_by: str = "",
        *,
        strict: bool = False,
        source: Source | None = None,
        warnings: str = "",
    ) -> None:
        """Wrap a code object.

        Args:
            found: the file's contents.
            made_by: the compiler if mfmasim compiled it.
            strict: whether `information` lists what the hardware does not read.
            source: what it was compiled from, if that is at hand.
            warnings: the compiler's messages.
        """
        self.source, self.warnings, self.object = source, warnings, found
        self.made_by, self.strict = made_by, strict
        self._kernels = {name: self.kernel_type(self, info) for name, info in found.kernels.items()}
        self._decoded: dict[tuple[int, int | None], Instruction] = {}
        self._segments = [s for s in found.segments if s.executable]
        self._starts = [s.vaddr for s in self._segments]

    @classmethod
    def load(
        cls,
        source: str | Path | bytes,
        arch: str | Arch | None = None,
        *,
        kernel: str | None = None,
        strict: bool = False,
    ) -> Self:
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
        if isinstance(source, str | Path):
            return cls(codeobject.load(Path(source), arch, kernel), strict=strict)
        if isinstance(source, bytes | bytearray | memoryview):
            return cls(codeobject.read(bytes(source), arch=arch, kernel=kernel), strict=strict)
        raise MfmasimError(f"load: expected a path or bytes, not {type(source).__name__}")

    def __repr__(self) -> str:
        return f"<Code {self.object.name} for {self.arch.target}: {', '.join(self._kernels)}>"

    def _repr_html_(self) -> str:
        """Its kernels, for notebooks."""
        lines = [(kernel.title, kernel.signature) for kernel in self]
        return rows(f"{self.object.name} for {self.arch.target}", ("kernel", "arguments"), lines)

    @property
    def arch(self) -> Arch:
        """Architecture."""
        return self.object.arch

    @property
    def kernels(self) -> tuple[str, ...]:
        """Names of the kernels, in the file's order."""
        return tuple(self._kernels)

    @cached_property
    def information(self) -> tuple[Unread, ...]:
        """What a strict reader would ask about: `Kernel.unread` of every kernel; empty unless loaded with `strict`."""
        return tuple(entry for kernel in self._kernels.values() for entry in kernel.unread) if self.strict else ()

    @cached_property
    def declared(self) -> dict[str, Declared]:
        """What the source declares of each kernel, by mangled name: from debug information, else from the source."""
        found = codeobject.read_dwarf(self.object.data, self.object.name, self.kernels)
        return found or (self.source.declared() if self.source is not None else {})

    @property
    def sha256(self) -> str:
        """Hash of the ELF file, hexadecimal."""
        return self.object.sha256

    def __getitem__(self, name: str) -> Kernel:
        """Find a kernel by its mangled or plain name.

        Raises:
            MfmasimError: no kernel, or several, match the name.
        """
        return self._kernels[self.object.kernel(name).name]

    def __iter__(self) -> Iterator[Kernel]:
        """The kernels, in the file's order."""
        return iter(self._kernels.values())

    def is_code(self, address: int) -> bool:
        """Whether an address is executable and a multiple of 4."""
        place = bisect.bisect_right(self._starts, address) - 1
        return place >= 0 and address < self._segments[place].end and address % 4 == 0

    def instruction_at(self, address: int, wave: int | None = None) -> Instruction:
        """Decode the instruction at a virtual address of the file.

        Args:
            address: of its first byte.
            wave: lanes of the executing wave; None for the architecture's default.

        Raises:
            NotCodeError: the address is not in executable code, or is not a multiple of 4.
            MfmasimError: the bytes do not encode an instruction.
        """
        found = self._decoded.get((address, wave))
        if found is None:
            if not self.is_code(address):
                why = "is not a multiple of 4" if address % 4 else "is outside the code"
                raise NotCodeError(f"{self.object.name}: jump to {address:#x}, which {why}")
            segment = self._segments[bisect.bisect_right(self._starts, address) - 1]
            found = isa.decode(segment.data, self.arch, pc=address, offset=address - segment.vaddr, wave=wave)
            self._decoded[address, wave] = found
        return found
