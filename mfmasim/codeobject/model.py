"""`CodeObject`: an ELF file, its kernels by name, its memory before and after relocation, its source lines."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from mfmasim.codeobject.elf import open_elf, read_protected
from mfmasim.codeobject.lines import read_line_table
from mfmasim.codeobject.names import find
from mfmasim.codeobject.records import read_segments
from mfmasim.codeobject.relocations import apply
from mfmasim.errors import MfmasimError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mfmasim.architectures import Arch
    from mfmasim.codeobject.lines import LineTable
    from mfmasim.codeobject.records import KernelInfo, Relocation, Segment, Symbol


@dataclass(frozen=True, eq=False, repr=False)
class CodeObject:
    """An ELF file for one architecture, as a device would load it."""

    name: str
    arch: Arch
    data: bytes = field(repr=False)
    """The ELF file itself, unbundled."""
    abi_version: int
    """Code object version: 2 to 6."""
    target_id: str
    """Processor and target features, such as ``gfx942:sramecc+:xnack-``; a feature that may be either is absent."""
    kernels: Mapping[str, KernelInfo]
    """Kernels by mangled name, in the file's order."""
    segments: tuple[Segment, ...] = field(repr=False)
    """Loaded segments by ascending address, before relocation."""
    symbols: Mapping[str, Symbol] = field(repr=False)
    """Defined dynamic symbols by name."""
    relocations: tuple[Relocation, ...] = field(repr=False)
    sha256: str
    """Hash of ``data``, hexadecimal."""
    metadata: Mapping[str, Any] = field(repr=False)
    """The whole metadata note."""

    @property
    def printf(self) -> tuple[str, ...]:
        """Format strings of ``printf`` calls, as the metadata records them."""
        return tuple(self.metadata.get("amdhsa.printf", ()))

    @cached_property
    def sram_ecc(self) -> bool:
        """Whether it runs with error correction of the register files and the LDS (SRAM ECC).

        A target id that says nothing runs with and without; LLVM then reckons with it (``isSramEccOnOrAny``).
        """
        return "sramecc" in self.arch.features and "sramecc-" not in self.target_id.split(":")

    @cached_property
    def variables(self) -> bool:
        """Whether the loaded image has bytes that a kernel may write: then each load starts with other contents.

        Those are the writable segments without what PT_GNU_RELRO protects. ``__hip_cuid_*``, a byte by which HIP's
        compiler identifies the source, is not a variable.
        """
        identity = sum(one.size for name, one in self.symbols.items() if name.startswith("__hip_cuid_"))
        protected = read_protected(open_elf(self.data, self.name), self.name)
        writable = 0
        for segment in self.segments:
            if segment.writable:
                covered = sum(max(0, min(segment.end, end) - max(segment.vaddr, start)) for start, end in protected)
                writable += segment.memsize - covered
        return writable > identity

    @cached_property
    def _lines(self) -> LineTable | MfmasimError:
        """The table, or why there is none: that, too, is found once and not again for each finding."""
        try:
            return read_line_table(self.data, self.name)
        except MfmasimError as error:
            return error

    def line_table(self) -> LineTable:
        """Source lines by address; read on the first call, empty without debug information.

        Raises:
            MfmasimError: the debug information is damaged, or larger than what is read.
        """
        if isinstance(self._lines, MfmasimError):
            raise self._lines
        return self._lines

    def __repr__(self) -> str:
        return f"CodeObject({self.name!r}, {self.target_id}, kernels: {', '.join(self.kernels) or 'none'})"

    def __getitem__(self, name: str) -> KernelInfo:
        return self.kernel(name)

    def __contains__(self, name: object) -> bool:
        return name in self.kernels

    def __iter__(self) -> Iterator[str]:
        return iter(self.kernels)

    def __len__(self) -> int:
        return len(self.kernels)

    def kernel(self, name: str) -> KernelInfo:
        """Find a kernel by its mangled, qualified or plain name.

        Args:
            name: ``_Z4gemmPKfS0_Pf``, ``ns::gemm`` or ``gemm``.

        Returns:
            The kernel.

        Raises:
            MfmasimError: no kernel, or several, match the name; the message lists the kernels.
        """
        return self.kernels[find(name, self.kernels, self.name)]

    def read_bytes(self, address: int, size: int) -> bytes:
        """Loaded bytes before relocation.

        Args:
            address: virtual address.
            size: bytes.

        Returns:
            The bytes, zero where the file has none.

        Raises:
            MfmasimError: the range is not inside one segment.
        """
        return read_segments(self.segments, address, size, self.name)

    def code(self, kernel: KernelInfo) -> bytes:
        """The kernel's code, from its entry, without the padding after it."""
        return self.read_bytes(kernel.entry, kernel.size)

    def segments_at(self, base: int) -> tuple[Segment, ...]:
        """The segments in memory when the file's address 0 is loaded at ``base``.

        Args:
            base: load address; page-aligned as a loader would choose it.

        Returns:
            The segments with absolute addresses, every relocation applied.
        """
        return apply(self.segments, self.relocations, base)
