"""Parts of a code object, as plain data: segments, symbols, relocations, and the properties of kernels."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mfmasim.errors import DamagedError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mfmasim.codeobject.descriptor import KernelDescriptor


@dataclass(frozen=True)
class Segment:
    """A part of the file that is loaded (``PT_LOAD``)."""

    vaddr: int
    """Virtual address in the file's own address space."""
    memsize: int
    """Bytes in memory; those beyond ``data`` are zero."""
    data: bytes = field(repr=False)
    """Bytes from the file."""
    readable: bool = True
    writable: bool = False
    executable: bool = False

    @property
    def flags(self) -> str:
        """The rights as a string of ``R``, ``W`` and ``X``."""
        return "R" * self.readable + "W" * self.writable + "X" * self.executable

    @property
    def end(self) -> int:
        """First address after the segment."""
        return self.vaddr + self.memsize


@dataclass(frozen=True)
class Symbol:
    """A defined dynamic symbol: a kernel, a kernel descriptor or a device variable."""

    name: str
    address: int
    size: int
    kind: str
    """``func``, ``object`` or another ELF symbol type in lower case."""


@dataclass(frozen=True)
class Relocation:
    """A value that depends on where the code object is loaded."""

    address: int
    """Virtual address of the bytes to write."""
    kind: str
    """LLVM's name, such as ``R_AMDGPU_RELATIVE64``."""
    value: int
    """Symbol value plus addend, in the file's own address space."""


@dataclass(frozen=True)
class Argument:
    """One kernel argument, explicit or hidden, as the metadata records it."""

    offset: int
    """First byte in the kernel argument segment."""
    size: int
    """Bytes."""
    value_kind: str
    """``by_value``, ``global_buffer``, ``dynamic_shared_pointer``, ``hidden_block_count_x``, ..."""
    name: str = ""
    """Name in the source, where the compiler recorded it."""
    type_name: str = ""
    address_space: str = ""
    """``global``, ``local``, ``constant``, ... for pointers."""
    access: str = ""
    """``read_only``, ``write_only``, ``read_write`` as declared."""
    actual_access: str = ""
    """The same as the compiler inferred it."""
    pointee_align: int = 0
    """Alignment in bytes of what a ``dynamic_shared_pointer`` points to (0: not recorded)."""
    is_const: bool = False
    is_restrict: bool = False
    is_volatile: bool = False
    is_pipe: bool = False

    @property
    def hidden(self) -> bool:
        """Whether the launch fills it in, not the caller."""
        return self.value_kind.startswith("hidden_")

    @property
    def is_pointer(self) -> bool:
        """Whether the caller passes a buffer."""
        return self.value_kind in {"global_buffer", "dynamic_shared_pointer"}


@dataclass(frozen=True)
class KernelMetadata:
    """Properties of a kernel in the metadata note, besides its arguments; None where absent."""

    kernarg_segment_size: int
    kernarg_segment_align: int
    group_segment_fixed_size: int
    private_segment_fixed_size: int
    wavefront_size: int
    max_flat_workgroup_size: int
    sgpr_count: int | None = None
    vgpr_count: int | None = None
    agpr_count: int | None = None
    sgpr_spill_count: int | None = None
    vgpr_spill_count: int | None = None
    uses_dynamic_stack: bool = False
    uniform_work_group_size: bool = False
    workgroup_processor_mode: bool | None = None
    reqd_workgroup_size: tuple[int, int, int] | None = None
    workgroup_size_hint: tuple[int, int, int] | None = None
    cluster_dims: tuple[int, int, int] | None = None
    """Workgroups of a cluster in x, y, z."""
    kind: str = "normal"
    """``normal``, ``init`` or ``fini``."""
    language: str = ""
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """The kernel's whole metadata map."""


@dataclass(frozen=True, eq=False)
class KernelInfo:
    """One kernel of a code object."""

    name: str
    """Mangled name."""
    symbol: str
    """Symbol of the descriptor, ``<name>.kd``."""
    descriptor: KernelDescriptor
    descriptor_address: int
    """Virtual address of the descriptor."""
    entry: int
    """Virtual address of the first instruction."""
    size: int
    """Bytes of code, without the padding after it."""
    args: tuple[Argument, ...]
    metadata: KernelMetadata

    @property
    def explicit_args(self) -> tuple[Argument, ...]:
        """The arguments that the caller passes."""
        return tuple(arg for arg in self.args if not arg.hidden)

    @property
    def hidden_args(self) -> tuple[Argument, ...]:
        """The arguments that the launch fills in."""
        return tuple(arg for arg in self.args if arg.hidden)

    @property
    def kernarg_size(self) -> int:
        """Bytes of the kernel argument segment: the largest size that descriptor, metadata or arguments require."""
        ends = [arg.offset + arg.size for arg in self.args]
        return max(self.descriptor.kernarg_size, self.metadata.kernarg_segment_size, *ends, 0)

    @property
    def kernarg_room(self) -> int:
        """The same up to the end of its last 64 bytes.

        Compilers read arguments with the next larger scalar load, which is aligned and may reach past the last of them.
        """
        return -(-max(self.kernarg_size, 1) // 64) * 64

    @property
    def group_segment_fixed_size(self) -> int:
        """Static LDS of a workgroup, in bytes."""
        return self.descriptor.group_segment_fixed_size

    @property
    def private_segment_fixed_size(self) -> int:
        """Scratch of a work-item, in bytes, without a dynamic stack."""
        return self.descriptor.private_segment_fixed_size

    @property
    def wave(self) -> int:
        """Lanes of a wave."""
        return self.descriptor.wave

    @property
    def disagreements(self) -> tuple[str, ...]:
        """What metadata and descriptor state differently, with what decides: notes, as the code runs nevertheless.

        The hardware reads the descriptor. HIP's runtime (ROCclr) takes the size of a wave from the device and not from
        the metadata, but fills the dispatch packet's sizes of LDS and scratch from the metadata
        (``LightningKernel::init`` of rockernel.cpp, ``KernelField`` of devkernel.cpp). Hand-written metadata differs.
        """
        mine, theirs = self.metadata, self.descriptor
        found = []
        if mine.wavefront_size != theirs.wave:
            text = f".wavefront_size is {mine.wavefront_size}, the kernel descriptor is for waves of {theirs.wave}"
            found.append(f"{text}: the descriptor decides")
        for key, what in (("group_segment_fixed_size", "LDS"), ("private_segment_fixed_size", "scratch")):
            stated, own = getattr(mine, key), getattr(theirs, key)
            if stated != own:
                found.append(
                    f".{key} is {stated}, the kernel descriptor has {own} bytes of {what}: the descriptor's are "
                    "allocated here, HIP's runtime allocates the metadata's"
                )
        if theirs.kernarg_size and mine.kernarg_segment_size != theirs.kernarg_size:
            found.append(
                f".kernarg_segment_size is {mine.kernarg_segment_size}, the kernel descriptor has "
                f"{theirs.kernarg_size} bytes: the segment has the larger size"
            )
        if (mine.vgpr_count or 0) > theirs.vgpr_count:
            found.append(
                f".vgpr_count is {mine.vgpr_count}, the kernel descriptor allocates {theirs.vgpr_count}: the "
                "descriptor decides"
            )
        return tuple(f"metadata {text}" for text in found)


def read_segments(segments: tuple[Segment, ...], address: int, size: int, where: str) -> bytes:
    """Bytes at a virtual address, zero beyond a segment's file data.

    Args:
        segments: the segments to read.
        address: virtual address.
        size: bytes.
        where: the file, for the error.

    Returns:
        The bytes.

    Raises:
        MfmasimError: the range is not inside one segment.
    """
    for segment in segments:
        if segment.vaddr <= address and address + size <= segment.end:
            start = address - segment.vaddr
            return segment.data[start : start + size].ljust(size, b"\0")
    raise DamagedError(f"{where}: {size} bytes at {address:#x} are in no loaded segment")
