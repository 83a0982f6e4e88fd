"""Buffer resources (V#): the fields of the 128 bits, and how an access reads them, by family.

Sources: CDNA1 ISA manual, tables 36 and 39; CDNA2, CDNA3 and CDNA4 ISA manuals, 9.1.5 and 9.1.8; RDNA3, RDNA3.5 and
RDNA4 ISA manuals, 9.4 and 9.6. AMD's simulator rocjitsu (ROCm/rocm-systems, ``addr_calc_buffer.h``, pull request 10928)
states what it compared with a gfx950, a gfx1100 and a gfx1201; where that differs from the manuals it is followed, and
the rule says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class BufferField:
    """One field of a resource."""

    name: str
    low: int
    """First of its bits among the 128."""
    bits: int
    read: str
    """By which accesses: ``all``; ``indexed``, those with an index: a register's (IDXEN) or the lane's (ADD_TID);
    ``swizzled``, those of them that are swizzled; ``format``, those that take the format from the resource;
    ``memory``: it says how memory is cached or mapped, no result depends on it; ``zero``: reserved, must be 0."""
    meaning: str = ""

    def of(self, words: tuple[int, ...]) -> int:
        """Its value in a resource of four dwords."""
        whole = sum(word << 32 * k for k, word in enumerate(words))
        return whole >> self.low & (1 << self.bits) - 1


@dataclass(frozen=True)
class BufferLayout:
    """The resource of a family: fields, and rules of address and range."""

    source: str
    rows: tuple[BufferField, ...]
    elements: tuple[int, ...]
    """By value of the field ``swizzle``: bytes of a swizzled element; 0 is linear."""
    usual: int
    """Word 3 of a raw buffer of dwords, as libraries write it."""
    index_strides: tuple[int, ...] = (8, 16, 32, 64)
    """By value of the field ``index_stride``: indices whose elements lie together."""
    stride_factors: tuple[int, ...] = (1,)
    """By value of the field ``stride_scale``."""
    range_by_field: bool = False
    """The field ``oob_select`` chooses the range check; else what the access uses does."""
    range_in_bytes: bool = False
    """Ranges are in bytes; ``oob_select`` adds that of a record, and a swizzled access has none (CDNA5 9.4.1)."""
    lane_and_index: bool = False
    """ADD_TID adds the lane to an index register where the buffer is swizzled; else the register replaces it."""
    register_swizzle: str = "reference"
    """Fidelity of swizzling by an index register alone; by the lane it is `reference` everywhere."""
    stride_high: str = ""
    """The field that extends the stride where ADD_TID adds the lane and the instruction brings its own format."""
    scalar_whole: bool = False
    """Scalar loads see the size rounded down to what they load (RDNA4 ISA manual, 8.1.2)."""
    negative_violates: bool = False
    """A scalar access with a negative immediate offset is a memory violation, whatever the SGPR adds (RDNA3 and RDNA4
    ISA manuals, 8.1 and 8.1.2; on CDNA the sum may not be negative, CDNA3 8.2.1)."""
    scratch_word: int = 0
    """Bits of word 3 of the buffer through which scratch is accessed, besides the lane as index and its stride."""
    formats: str = "RDNA3"
    """Numbers of the formats of typed accesses, where one number is a format (`mfmasim.isa.buffer_formats`)."""
    element_whole: int = 0
    """Bytes of an element whose dwords lie together, even if an access crosses its end."""

    @cached_property
    def fields(self) -> Mapping[str, BufferField]:
        """The fields by name."""
        return {row.name: row for row in self.rows}  # a plain dict: launches in processes pickle the architecture


F = BufferField
#      name             low bits read
_BASE = (F("base", 0, 48, "all", "address of the first byte"),)
_RECORDS = (
    F("num_records", 64, 32, "all", "bytes, or records where the index is checked"),
    F("dst_sel_x", 96, 3, "format", "0, 1, or a component of the data"),
    F("dst_sel_y", 99, 3, "format"),
    F("dst_sel_z", 102, 3, "format"),
    F("dst_sel_w", 105, 3, "format"),
)
_INDEX = (
    F("index_stride", 117, 2, "swizzled", "8, 16, 32 or 64 indices"),
    F("add_tid", 119, 1, "all", "the lane's number is an index"),
)
_TYPE = (F("type", 126, 2, "all", "0: a buffer"),)

GFX9 = BufferLayout(
    source="CDNA1 table 39; CDNA2, CDNA3, CDNA4 9.1.8",
    rows=(
        *_BASE,
        F("stride", 48, 14, "indexed", "bytes of a record"),
        F("cache_swizzle", 62, 1, "memory", "permutes the banks of the L1 cache"),
        F("swizzle", 63, 1, "indexed", "rearrange by index_stride and elements of 4 bytes"),
        *_RECORDS,
        F("num_format", 108, 3, "format"),
        F("data_format", 111, 4, "all", "0: unbound, without ADD_TID; with it bits 17:14 of the stride"),
        F("user_vm_enable", 115, 1, "memory", "mapped through a tiled pool"),
        F("user_vm_mode", 116, 1, "memory", "accesses to its unmapped parts: 0 give 0, 1 are errors"),
        *_INDEX,
        F("reserved", 120, 3, "zero"),
        F("nv", 123, 1, "memory", "not volatile"),
        F("reserved_high", 124, 2, "zero"),
        *_TYPE,
    ),
    # 9.1.5 has an element size of 2 to 16 bytes, 9.1.8 no field for it: 4, as rocjitsu.
    elements=(0, 4),
    usual=0x27000,
    lane_and_index=True,
    register_swizzle="assumed",
    stride_high="data_format",
)
"""A buffer without a format is unbound for every access, typed or not: loads give 0 and stores are dropped. The manuals
say what format 0 means and not which accesses read it. MIOpen's Winograd kernels for gfx90a and gfx942 write 0 to word
3 of resources with a valid base and size in order to drop their accesses, and every library writes a format to raw
buffers (0x20000, 0x27000).

The range goes by use: with ADD_TID and no index register everything is inside; with an index register and a stride
the index is compared with num_records; otherwise the last byte, the SGPR offset included. The manuals leave the SGPR
offset and the size out of that comparison; a gfx950 counts both (rocjitsu), as LLVM takes for granted (llvm-project
169230: moving part of an offset to the SGPR keeps an access in range). An access without an index is linear, whatever
``swizzle`` says: the manuals swizzle by the index, kernels set the bit on raw buffers and work (HipKittens'
``make_srsrc`` on gfx950), and gfx1100 and gfx1201 do so. rocjitsu swizzles with ADD_TID alone; here an index register
does as well, as in the manuals' formula: `assumed`, a capture with IDXEN and without ADD_TID would decide."""

_RDNA = (
    *_BASE,
    F("stride", 48, 14, "all", "bytes of a record; without an index OOB_SELECT 0 alone reads it"),
    F("swizzle", 62, 2, "indexed", "0: linear; 1: elements of 4 bytes; 2: reserved; 3: of 16 bytes"),
    *_RECORDS,
    F("format", 108, 6, "all", "0: unbound, without ADD_TID"),
)
_OOB = (F("oob_select", 124, 2, "all", "0 structured, 1 by index, 2 not at all unless empty, 3 raw"),)

GFX10 = BufferLayout(
    source="RDNA2 8.1.8",
    rows=(
        *_BASE,
        F("stride", 48, 14, "all", "bytes of a record; without an index OOB_SELECT 0 alone reads it"),
        F("cache_swizzle", 62, 1, "memory", "permutes the banks of the L1 cache"),
        F("swizzle", 63, 1, "indexed", "rearrange by index_stride and elements of 4 bytes"),
        *_RECORDS,
        F("format", 108, 7, "all", "0: unbound, without ADD_TID"),
        *_INDEX,
        F("resource_level", 120, 1, "memory", "must be 1"),
        F("llc_noalloc", 122, 2, "memory"),
        *_OOB,
        *_TYPE,
    ),
    elements=(0, 4),
    usual=0x31016000,
    range_by_field=True,
    register_swizzle="assumed",
    scratch_word=20 << 12 | 1 << 24 | 2 << 28,
    formats="RDNA2",
)
"""The range goes by OOB_SELECT, as on `GFX11`. Word 3 of the scratch is ROCr's (FillBufRsrcWord3_Gfx10). That an SGPR
offset counts in the raw check alone, and that it is not swizzled, is as captured of gfx1100: `assumed` here."""

GFX11 = BufferLayout(
    source="RDNA3, RDNA3.5 9.6",
    # 9.6 leaves 116:114 and 121:120 out; it calls 123:122 reserved, LLVM and Mesa (sid.h) LLC_NOALLOC.
    rows=(*_RDNA, *_INDEX, F("llc_noalloc", 122, 2, "memory"), *_OOB, *_TYPE),
    negative_violates=True,
    elements=(0, 4, 4, 16),
    usual=0x31004000,
    range_by_field=True,
)
"""The lane is an index only without an index register, the SGPR offset counts in the raw check alone and is not
swizzled (gfx1100 and gfx1201, by rocjitsu; 9.4.2 adds lane and register, and on RDNA4 swizzles the SGPR offset)."""

GFX12 = BufferLayout(
    source="RDNA4 9.6",
    rows=(
        *_RDNA,
        F("stride_scale", 114, 2, "all", "the stride times 1, 4, 8 or 32"),
        *_INDEX,
        F("write_compression", 120, 1, "memory"),
        F("compression", 121, 1, "memory"),
        F("compression_access", 122, 2, "memory"),
        *_OOB,
        *_TYPE,
    ),
    negative_violates=True,
    elements=(0, 4, 4, 16),
    usual=0x31004000,
    stride_factors=(1, 4, 8, 32),
    range_by_field=True,
    scalar_whole=True,
    element_whole=16,
)
"""As `GFX11`, with a factor of the stride. RDNA4's manual leaves OOB_SELECT 3 out; drivers use it as before."""

GFX125 = BufferLayout(
    source="CDNA5 9.6",
    rows=(
        F("base", 0, 57, "all", "address of the first byte"),
        F("num_records", 57, 45, "all", "bytes"),
        F("reserved", 102, 6, "zero"),
        F("stride", 108, 14, "all", "bytes of a record; without an index OOB_SELECT 1 alone reads it"),
        F("stride_scale", 122, 2, "all", "the stride times 1, 4, 8 or 32"),
        F("swizzle", 124, 1, "indexed", "0: linear; 1: elements of 16 bytes"),
        F("oob_select", 125, 1, "all", "0 raw, 1 structured"),
        *_TYPE,
    ),
    negative_violates=True,
    elements=(0, 16),
    usual=0,
    index_strides=(32,),
    register_swizzle="assumed",
    stride_factors=(1, 4, 8, 32),
    range_in_bytes=True,
    scalar_whole=True,
    element_whole=16,
)
"""Base and size are wider than before; there is no format, no lane as index, and no field for the stride of indices,
which the manual does not state: the lanes of a wave are assumed."""
