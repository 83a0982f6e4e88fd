"""Kernels of probes that execute one instruction: the inputs of each, and its text in HIP.

Every kernel takes ``(const unsigned* in, unsigned* out, unsigned n)``. A *row* is n dwords, one for each work-item. Row
r of `in` holds one dword of one source, in the order of the sources; rows of `out` the dwords of the results. Kernels
that access memory have it in `out` instead, 16 bytes a work-item.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from mfmasim.architectures import Arch
from mfmasim.architectures import arch as find_arch
from mfmasim.errors import MfmasimError
from mfmasim.isa.buffer_formats import split_format, unified_format
from mfmasim.isa.rows import Row
from mfmasim.lab.kit.assumed import opcode_rows
from mfmasim.machine.opcodes.registry import OPERATIONS
from mfmasim.machine.ops.transposed_cdna5 import EXCHANGES
from mfmasim.matrix import MatrixInstruction, instruction, instructions
from mfmasim.matrix.request import F8F6F4

AFTER = {64: r"\n s_nop 15\n s_nop 15", 32: r"\n v_nop" * 8}
"""Code behind an instruction, by the size of waves, since the compiler does not know its hazards."""

FORMAT_WORDS = ("FP8", "BF8", "FP6", "BF6", "FP4")
"""LLVM's words for the formats of f8f6f4 in WMMA, by their codes."""


@dataclass(frozen=True)
class ProbeKernel:
    """One kernel.

    Attributes:
        name: of the kernel.
        covers: the operation or matrix instruction.
        form: ``registers``, ``atomic``, ``load``, ``store`` or ``matrix``.
        sources: type (as in signatures) and dwords of each source.
        results: dwords of the results.
        body: statements in HIP.
        formats: data formats of typed accesses, one per block in turn.
    """

    name: str
    covers: str
    form: str
    sources: tuple[tuple[str, int], ...]
    results: int
    body: str
    formats: tuple[int, ...] = ()

    @property
    def rows(self) -> int:
        """Rows of `in`."""
        return sum(count for _, count in self.sources)


def _wide(count: int) -> str:
    return f"w{count}"


def _take(sources: tuple[tuple[str, int], ...]) -> str:
    """Declarations of the sources."""
    text, row = "", 0
    for number, (_, count) in enumerate(sources):
        text += f"TAKE({count}, s{number}, {row}) "
        row += count
    return text


def _after(arch: Arch) -> str:
    return AFTER[arch.wave_sizes[0]]


def operation_kernels(arch: str) -> dict[str, ProbeKernel]:
    """The kernel of every assumed operation that can be probed, by operation."""
    return _operation_kernels(arch)


@cache
def _operation_kernels(arch: str) -> dict[str, ProbeKernel]:
    found = {}
    for name, (encoding, row) in opcode_rows(arch).items():
        made = _operation(find_arch(arch), encoding, row)
        if made is not None:
            found[name] = made
    return found


def _operation(arch: Arch, encoding: str, row: Row) -> ProbeKernel | None:
    operation = OPERATIONS[row.name]
    if row.opcode.typed:
        return _typed(arch, row)
    if row.name.partition("_load_")[2] in EXCHANGES:
        return _transposed(row)
    if row.opcode.atomic and row.opcode.unit == "VMEM":
        return _atomic(arch, encoding, row)
    if row.opcode.kind == "count":
        return _count(arch, row)
    if operation.unit == "vector":
        return _vector(arch, row)
    if row.opcode.unit == "VALU" and row.dst and row.dst[0].file == "s":
        return _scalar(row)
    return None


def _vector(arch: Arch, row: Row) -> ProbeKernel:
    """One vector instruction."""
    kinds = [kind for kind in OPERATIONS[row.name].sources if kind != "mode"]
    if len(kinds) < len([slot for slot in row.src if slot.type != "K"]):
        kinds += ["u32"] * len(row.src)
    sources: list[tuple[str, int]] = []
    words: list[str] = []
    before, tied = "", -1
    for slot, kind in zip((s for s in row.src if s.type != "K"), kinds, strict=False):
        if slot.type == "vcc":
            before += rf"v_cmp_ne_u32 vcc{_half(arch)}, 0, %[s{len(sources)}]\n s_nop 4\n "
            sources.append(("mask", 1))
            continue
        if slot.tied:
            tied = len(sources)
        sources.append((slot.type if kind.startswith(("u32", "b32")) and slot.type != "b32" else kind, slot.count))
        if slot.printed and not slot.tied:
            words.append(f"%[s{len(sources) - 1}]")
    literal = next((n for n, slot in enumerate(row.src) if slot.type == "K"), None)
    if literal is not None:
        words.insert(literal, "0x4248")
    masked = any(slot.type == "vcc" for slot in row.dst)
    given = ["%[d]"] + [f"vcc{_half(arch)}"] * masked
    text = f"{before}{row.name} {', '.join((*given, *words))}{_after(arch)}"
    ins = ", ".join(f'[s{n}] "v"(s{n})' for n in range(len(sources)) if n != tied)
    outs = '[d] "+v"(d)' if tied >= 0 else '[d] "+&v"(d)'  # 16-bit results may keep the other half
    count = row.dst[0].count
    body = _take(tuple(sources)) + f"{_wide(count)} d = {f's{tied}' if tied >= 0 else '{}'}; "
    if masked:
        text += rf"\n v_cndmask_b32 %[m], 0, 1, vcc{_half(arch)}"
        body += "unsigned m; "
        outs += ', [m] "=&v"(m)'
    vcc = f' : "vcc{_half(arch)}"' if masked or "mask" in dict(sources) else ""
    body += f'asm volatile("{text}" : {outs} : {ins}{vcc}); PUT({count}, d, 0)'
    body += f" PUT(1, m, {count})" if masked else ""
    return ProbeKernel(f"op_{row.name}", row.name, "registers", tuple(sources), count + masked, body)


def _half(arch: Arch) -> str:
    return "" if arch.wave_sizes[0] == 64 else "_lo"


def _scalar(row: Row) -> ProbeKernel:
    """A float operation on scalar registers: lane after lane."""
    body = (
        "TAKE(1, s0, 0) unsigned d = 0; for (unsigned lane = 0; lane < LANES; lane++) { "
        "const unsigned x = __builtin_amdgcn_readlane(s0, lane); unsigned y; "
        rf'asm volatile("{row.name} %0, %1\n s_nop 15\n s_nop 15" : "=s"(y) : "s"(x)); '
        "if (threadIdx.x == lane) d = y; } PUT(1, d, 0)"
    )
    return ProbeKernel(f"op_{row.name}", row.name, "registers", ((row.src[0].type, 1),), 1, body)


def _count(arch: Arch, row: Row) -> ProbeKernel:
    """DS_APPEND, DS_CONSUME: the work-items that row 0 selects count, twice."""
    wait = "s_wait_dscnt 0x0" if arch.counters.lds == "dscnt" else "s_waitcnt lgkmcnt(0)"
    body = (
        "__shared__ unsigned counter[64]; TAKE(1, s0, 0) counter[threadIdx.x] = 1000 + threadIdx.x; __syncthreads(); "
        "unsigned d = 0, e = 0; if (s0 & 1) { "
        rf'asm volatile("s_mov_b32 m0, 0\n s_nop 7\n {row.name} %0 offset:0\n {row.name} %1 offset:4\n {wait}" '
        ': "=v"(d), "=v"(e) : "v"(counter) : "memory"); } __syncthreads(); '
        "const unsigned f = counter[threadIdx.x]; PUT(1, d, 0) PUT(1, e, 1) PUT(1, f, 2)"
    )
    return ProbeKernel(f"op_{row.name}", row.name, "registers", (("u32", 1),), 3, body)


def _atomic(arch: Arch, encoding: str, row: Row) -> ProbeKernel:
    """An atomic of memory, each work-item on its own bytes."""
    count = next(slot.count for slot in row.src if slot.file == "data")
    kind = _kind(row.name)
    body = _take(((kind, count),)) + "char* at = (char*)out + 16 * i; "
    if encoding in ("MUBUF", "VBUFFER"):
        body += f"RESOURCE({_usual(arch)}) "
        text = f"{row.name} %[s0], %[o], %[r], {_no_offset(arch)} offen"
        ins = '[s0] "v"(s0), [o] "v"(16 * i), [r] "s"(resource)'
    else:
        text = f"{row.name} %[at], %[s0]" + (", off" if row.name.startswith("global") else "")
        ins = '[s0] "v"(s0), [at] "v"(at)'
    body += f'asm volatile("{text}" : : {ins} : "memory");'
    return ProbeKernel(f"op_{row.name}", row.name, "atomic", ((kind, count),), 4, body)


def _transposed(row: Row) -> ProbeKernel:
    """A load that exchanges elements between lanes, from the LDS or from memory that the lanes have written."""
    count = row.dst[0].count
    body = _take((("b32", count),)) + f"w{count} d; "
    if row.opcode.unit == "LDS":
        body += f"__shared__ __attribute__((aligned(16))) unsigned tile[{4 * 32}]; "
        body += f"for (unsigned r = 0; r < {count}; r++) tile[4 * threadIdx.x + r] = s0[r]; __syncthreads(); "
        body += "auto at = (__attribute__((address_space(3))) unsigned*)(tile + 4 * threadIdx.x); "
        body += rf'asm volatile("{row.name} %0, %1\n s_wait_dscnt 0x0" : "=v"(d) : "v"(at) : "memory"); '
        return ProbeKernel(
            f"op_{row.name}", row.name, "registers", (("b32", count),), count, body + f"PUT({count}, d, 0)"
        )
    body += f"unsigned* at = out + 4 * i; for (unsigned r = 0; r < {count}; r++) at[r] = s0[r]; __syncthreads(); "
    body += 'asm volatile("s_wait_storecnt 0x0" : : : "memory"); '
    body += rf'asm volatile("{row.name} %0, %1, off\n s_wait_loadcnt 0x0" : "=v"(d) : "v"(at) : "memory"); '
    body += f"__syncthreads(); for (unsigned r = 0; r < {count}; r++) at[r] = d[r];"
    return ProbeKernel(f"op_{row.name}", row.name, "store", (("b32", count),), 4, body)


def _kind(name: str) -> str:
    """Type of an atomic's data, by the end of its name."""
    return next((kind for kind in ("f32", "f64", "pk_bf16", "f16") if name.endswith(kind)), "u32")


def _no_offset(arch: Arch) -> str:
    return "null" if arch.wave_sizes[0] == 32 else "0"


def _usual(arch: Arch) -> str:
    return f"{arch.buffers.usual:#x}"


@cache
def formats(arch: str) -> tuple[int, ...]:
    """Data formats of buffers that the architecture has: gfx9 DFMT + 16 * NFMT, later their one number."""
    found = []
    buffers = find_arch(arch).buffers
    split = "data_format" in buffers.fields
    for number in range(1, 128):
        try:
            one = split_format(number & 15, number >> 4) if split else unified_format(number, buffers.formats)
        except MfmasimError:
            continue
        if one is not None:
            found.append(number)
    return tuple(found)


def _typed(arch: Arch, row: Row) -> ProbeKernel:
    """A load or store that converts: blocks take the formats in turn."""
    load = row.opcode.access == "load"
    slot = row.dst[0] if load else next(slot for slot in row.src if slot.file == "data")
    count = slot.count
    every = formats(arch.name)
    sources = () if load else (("u32", count),)
    tail = f"%[v], %[o], %[r], {_no_offset(arch)}"
    ins = '[o] "v"(16 * i), [r] "s"(resource)' + ("" if load else ', [v] "v"(s0)')
    outs = '[v] "+v"(d)' if load else ""
    body = _take(sources) + (f"{_wide(count)} d = {{}}; " if load else "")
    body += f"const unsigned form = __builtin_amdgcn_readfirstlane(in[n * {len(sources) and count} + blockIdx.x]); "
    wait = rf"\n {_wait(arch, load=load)}"
    if "format" in row.flags:
        chosen = every[:: max(1, len(every) // 12)]
        body += f"RESOURCE({_usual(arch)}) switch (form) {{ "
        for number in chosen:
            body += f'case {number}: asm volatile("{row.name} {tail} format:{number} offen{wait}" : {outs} : {ins} '
            body += ': "memory"); break; '
        body += "} "
    else:
        chosen = every
        body += f"RESOURCE({_selects(arch)} | {_place_of_format(arch)}) "
        body += f'asm volatile("{row.name} {tail} offen{wait}" : {outs} : {ins} : "memory"); '
    body += f"PUT({count}, d, 0)" if load else ""
    return ProbeKernel(
        f"op_{row.name}", row.name, "load" if load else "store", sources, count if load else 4, body, chosen
    )


def _selects(arch: Arch) -> str:
    """The upper word of a resource whose format is still 0: X, Y, Z, W from the data; RDNA's raw check."""
    return f"{0xFAC | (3 << 28 if 'oob_select' in arch.buffers.fields else 0):#x}"


def _place_of_format(arch: Arch) -> str:
    if "data_format" in arch.buffers.fields:
        return "((form & 15) << 15) | ((form >> 4) << 12)"
    return "(form << 12)"


def _wait(arch: Arch, *, load: bool) -> str:
    if arch.counters.lds == "dscnt":
        return "s_wait_loadcnt 0x0" if load else "s_wait_storecnt 0x0"
    return "s_waitcnt vmcnt(0)"


@cache
def matrix_kernels(arch: str) -> dict[str, ProbeKernel]:
    """A kernel for every matrix instruction of an architecture and pair of formats, by kernel."""
    found = {}
    for op in matrix_operations(arch):
        one = _matrix(op)
        found[one.name] = one
    return found


@cache
def matrix_operations(arch: str) -> tuple[MatrixInstruction, ...]:
    """Every matrix instruction with every pair of formats, in waves of the default size."""
    return tuple(_operations(arch))


def _operations(arch: str) -> Iterator[MatrixInstruction]:
    for name in instructions(arch):
        plain = instruction(arch, name)
        if plain.row.a == "f8f6f4":
            yield from (instruction(arch, name, a=a, b=b) for a in F8F6F4 for b in F8F6F4)
        else:
            yield plain


def matrix_name(op: MatrixInstruction) -> str:
    """Name of an instruction's kernel."""
    pair = f"_{F8F6F4.index(op.a)}{F8F6F4.index(op.b)}" if op.row.a == "f8f6f4" else ""
    return f"mx_{op.name.removeprefix('v_')}{pair}"


def _matrix(op: MatrixInstruction) -> ProbeKernel:
    """One matrix instruction, one tile per wave."""
    given = ["A", "B", "C"] + [name for name in ("scale_A", "scale_B", "index") if name in op.operands]
    sources = tuple((name, _dwords(op, name)) for name in given)
    words = {name: f"%[s{n}]" for n, name in enumerate(given)}
    tied = op.sparse
    file = "v" if op.arch.unified_vgprs or not op.arch.agprs else "a"  # CDNA1 takes C and D from AGPRs
    ins = ", ".join(
        f'[s{n}] "{file if name == "C" else "v"}"(s{n})' for n, name in enumerate(given) if not (tied and name == "C")
    )
    order = ["A", "B", *([] if tied else ["C"]), *(name for name in given[3:])]
    modifiers = ""
    if op.row.a == "f8f6f4" and op.kind.startswith("wmma"):
        for side, fmt in (("a", op.a), ("b", op.b)):
            modifiers += f" matrix_{side}_fmt:MATRIX_FMT_{FORMAT_WORDS[F8F6F4.index(fmt)]}"
    elif op.row.a == "f8f6f4":
        modifiers = f" cbsz:{F8F6F4.index(op.a)} blgp:{F8F6F4.index(op.b)}"
    if op.a in ("i8", "i4") and op.arch.wave_sizes[0] == 32:
        modifiers = " neg_lo:[1,1,0]"
    count = _dwords(op, "C" if tied else "D")  # one operand: of C in f32 and D in bf16, D fills half
    before = "s_nop 15\\n s_nop 15\\n " if op.arch.wave_sizes[0] == 64 else "v_nop\\n " * 8
    after = _after(op.arch) * (2 if op.arch.wave_sizes[0] == 64 else 4)
    text = f"{before}{op.name} %[d], {', '.join(words[name] for name in order)}{modifiers}{after}"
    body = _take(sources) + f"{_wide(count)} d{' = s2' if tied else ''}; "
    body += f'asm volatile("{text}" : [d] "{"+" if tied else "=&"}{file}"(d) : {ins}); PUT({count}, d, 0)'
    return ProbeKernel(matrix_name(op), op.name, "matrix", sources, count, body)


def _dwords(op: MatrixInstruction, name: str) -> int:
    return op.operands[name].vgprs


WIDTHS = {1, 2, 3, 4, 5, 6, 8, 16, 32}
"""Numbers of dwords with a type in probe.h."""

PRELUDE = """\
// Generated by `python -m mfmasim.lab.rebuild` from the tables: one instruction per kernel.
#include "probe.h"

"""


def source(arch: str) -> str:
    """The HIP source with the kernels of an architecture."""
    every = [*operation_kernels(arch).values(), *matrix_kernels(arch).values()]
    widths = {count for one in every for _, count in one.sources} - WIDTHS
    types = "".join(f"VECTOR({count})\n" for count in sorted(widths))
    return PRELUDE + types + "".join(f"KERNEL({one.name}) {one.body} }}\n" for one in every)
