"""LDS instructions with an address per lane, as rows: what they access and where they exist.

Source: LLVM 22's assembler, which accepts exactly these names on these architectures (a test checks that); sizes
from the ISA manuals' DS chapters. gfx11 and gfx12 take the gfx9 names of loads and stores as aliases.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from mfmasim.architectures import ARCHITECTURES, Arch, arch
from mfmasim.errors import MfmasimError, unknown

KINDS = ("read", "write", "atomic")
"""What an instruction does to memory."""


@dataclass(frozen=True)
class DsInstruction:
    """One LDS instruction.

    Attributes:
        name: LLVM's name.
        kind: ``read``, ``write`` or ``atomic``.
        size: bytes of one access of a lane.
        parts: accesses per lane, 2 for the two-address forms.
        stride: bytes that a unit of the offset field counts (1, or the element size times 1 or 64).
        transposed: whether lanes exchange elements after the read (the addresses are the source lanes').
        needs: the field of `mfmasim.architectures.Lds` that an architecture with it has; empty for all.
    """

    name: str
    kind: str
    size: int
    parts: int
    stride: int
    transposed: bool
    needs: str = ""

    @property
    def row(self) -> str:
        """Key of the phase tables, such as ``read b128``, ``read2 b64``, ``write b8``, ``atomic b32``."""
        width = "b8" if self.size < 4 else f"b{8 * self.size}"
        return f"{self.kind}{'2' if self.parts == 2 else ''} {width}{' tr' if self.transposed else ''}"

    def on(self, architecture: Arch) -> bool:
        """Whether the architecture has it."""
        return not self.needs or bool(getattr(architecture.lds, self.needs))

    @property
    def alignment(self) -> int:
        """Natural alignment in bytes: the size, and 16 for 12-byte accesses."""
        return 16 if self.size == 12 else self.size


# gfx9 prefix, gfx11 prefix, kind, endings with their bytes.
_PLAIN = (
    ("ds_read_", "ds_load_", "read", {
        "u8": 1, "i8": 1, "u8_d16": 1, "u8_d16_hi": 1, "i8_d16": 1, "i8_d16_hi": 1, "u16": 2, "i16": 2, "u16_d16": 2,
        "u16_d16_hi": 2, "b32": 4, "addtid_b32": 4, "b64": 8, "b96": 12, "b128": 16,
    }),
    ("ds_write_", "ds_store_", "write", {
        "b8": 1, "b8_d16_hi": 1, "b16": 2, "b16_d16_hi": 2, "b32": 4, "addtid_b32": 4, "b64": 8, "b96": 12, "b128": 16,
    }),
)  # fmt: skip
# gfx9 stem, gfx11 stem, kind: with _b32 and _b64; two addresses, offsets in elements or in 64 elements.
_PAIRS = (
    ("ds_read2", "ds_load_2addr", "read", 1),
    ("ds_read2st64", "ds_load_2addr_stride64", "read", 64),
    ("ds_write2", "ds_store_2addr", "write", 1),
    ("ds_write2st64", "ds_store_2addr_stride64", "write", 64),
    ("ds_wrxchg2_rtn", "ds_storexchg_2addr_rtn", "atomic", 1),
    ("ds_wrxchg2st64_rtn", "ds_storexchg_2addr_stride64_rtn", "atomic", 64),
)
_TRANSPOSED = {
    "transposed": {"ds_read_b64_tr_b4": 8, "ds_read_b64_tr_b8": 8, "ds_read_b64_tr_b16": 8, "ds_read_b96_tr_b6": 12},
    "transposed_loads": {"ds_load_tr4_b64": 8, "ds_load_tr8_b64": 8, "ds_load_tr6_b96": 12, "ds_load_tr16_b128": 16},
}
# Atomics that exist with and without a returned value (..._rtn_...), by bytes and what an architecture has.
_ATOMICS = (
    (4, "", "add_u32 sub_u32 rsub_u32 inc_u32 dec_u32 min_i32 max_i32 min_u32 max_u32 and_b32 or_b32 xor_b32"),
    (4, "", "mskor_b32 min_f32 max_f32 add_f32"),
    (4, "cmpst", "cmpst_b32 cmpst_f32"),
    (4, "load_names", "cmpstore_b32"),
    (4, "cmpstore_float", "cmpstore_f32"),
    (4, "number_minimum", "min_num_f32 max_num_f32 sub_clamp_u32 cond_sub_u32"),
    (4, "packed_add", "pk_add_f16 pk_add_bf16"),
    (8, "", "add_u64 sub_u64 rsub_u64 inc_u64 dec_u64 min_i64 max_i64 min_u64 max_u64 and_b64 or_b64 xor_b64"),
    (8, "", "mskor_b64 min_f64 max_f64"),
    (8, "cmpst", "cmpst_b64 cmpst_f64"),
    (8, "load_names", "cmpstore_b64"),
    (8, "cmpstore_float", "cmpstore_f64"),
    (8, "number_minimum", "min_num_f64 max_num_f64"),
    (8, "add_f64", "add_f64"),
)
_ONLY_RETURNING = (
    (4, "", "ds_wrxchg_rtn_b32"),
    (4, "load_names", "ds_storexchg_rtn_b32"),
    (4, "wrap", "ds_wrap_rtn_b32"),
    (8, "", "ds_wrxchg_rtn_b64 ds_condxchg32_rtn_b64"),
    (8, "load_names", "ds_storexchg_rtn_b64"),
)
# Stems of gfx9 (or gfx11) and of later architectures for the same operation.
_RENAMED = (("_cmpst_", "_cmpstore_"), ("_wrxchg_", "_storexchg_"), ("_min_f", "_min_num_f"), ("_max_f", "_max_num_f"))
_WITHOUT_ADDRESS = {
    "ds_permute_b32": "moves data between lanes, without LDS memory",
    "ds_bpermute_b32": "moves data between lanes, without LDS memory",
    "ds_bpermute_fi_b32": "moves data between lanes, without LDS memory",
    "ds_swizzle_b32": "moves data between lanes, without LDS memory",
    "ds_append": "accesses one address per wave",
    "ds_consume": "accesses one address per wave",
    "ds_nop": "accesses nothing",
}


@cache
def _rows() -> dict[str, DsInstruction]:
    rows: list[DsInstruction] = []
    for prefix, later, kind, endings in _PLAIN:
        for ending, size in endings.items():
            for name, needs in ((prefix + ending, ""), (later + ending, "load_names")):
                rows += [DsInstruction(name, kind, size, 1, 1, False, needs)]
    for before, after, kind, factor in _PAIRS:
        for size in (4, 8):
            for stem, needs in ((before, ""), (after, "load_names")):
                rows += [DsInstruction(f"{stem}_b{8 * size}", kind, size, 2, factor * size, False, needs)]
    for needs, sizes in _TRANSPOSED.items():
        rows += [DsInstruction(name, "read", size, 1, 1, True, needs) for name, size in sizes.items()]
    for size, needs, names in _ATOMICS:
        for name in names.split():
            operation, _, width = name.rpartition("_")
            for full in (f"ds_{name}", f"ds_{operation}_rtn_{width}"):
                rows += [DsInstruction(full, "atomic", size, 1, 1, False, needs)]
    for size, needs, names in _ONLY_RETURNING:
        rows += [DsInstruction(name, "atomic", size, 1, 1, False, needs) for name in names.split()]
    return {row.name: row for row in rows}


def ds_instructions(architecture: str | Arch) -> tuple[str, ...]:
    """Names of the LDS instructions with an address per lane, sorted.

    Raises:
        MfmasimError: unknown architecture.
    """
    target = arch(architecture)
    return tuple(sorted(row.name for row in _rows().values() if row.on(target)))


def ds_instruction(architecture: str | Arch | None, name: str) -> DsInstruction:
    """Look up an LDS instruction.

    Args:
        architecture: such as ``gfx950``; None looks up the access alone, on any architecture.
        name: LLVM's name; gfx11 and gfx12 take both ``ds_load_b128`` and ``ds_read_b128``.

    Raises:
        MfmasimError: the architecture has no such instruction, or it has no address per lane.

    >>> ds_instruction("gfx950", "ds_read_b128").row
    'read b128'
    """
    target = None if architecture is None else arch(architecture)
    if name in _WITHOUT_ADDRESS:
        raise MfmasimError(f"{name} {_WITHOUT_ADDRESS[name]}: it has no bank conflicts to count")
    row = _rows().get(name)
    if row is None:
        known, where = (_rows(), "") if target is None else (ds_instructions(target), f"on {target.name}")
        raise unknown("LDS instruction", name, known, where)
    if target is not None and not row.on(target):
        near = _spelled(row, target)
        has = ", ".join(found.name for found in ARCHITECTURES.values() if row.on(found))
        raise MfmasimError(f"{target.name} has no {name}" + (f"; it is {near} there" if near else f"; it is on {has}"))
    return row


def _spelled(row: DsInstruction, target: Arch) -> str:
    """The same access under the name that the architecture has, such as ds_read_b128 for ds_load_b128."""
    for old, new, *_ in _PLAIN:
        if row.name.startswith(new):
            return old + row.name.removeprefix(new)
    for before, after, *_ in _PAIRS:
        stem, _, width = row.name.rpartition("_")
        if stem == after:
            return f"{before}_{width}"
    for old, new in _RENAMED:
        for name, other in ((old, new), (new, old)):
            found = _rows().get(row.name.replace(name, other))
            if found is not None and name in row.name and found.on(target):
                return found.name
    return ""
