"""What atomic operations do to one value, as rows with the names of gfx9 and of gfx11 and later.

Sources: CDNA3 ISA manual, 10.3.1, 11.3 and 12.12 ff.; RDNA3 ISA manual, chapter 16; RDNA4 ISA manual, chapter 13 (float
atomics: minimumNumber and maximumNumber, and the NaN of Inf - Inf) and 16.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.machine.numerics import ieee
from mfmasim.machine.numerics.float_formats import BY_SIZE
from mfmasim.machine.ops import vector_minmax

if TYPE_CHECKING:
    from collections.abc import Callable

    from mfmasim.arrays import U
    from mfmasim.machine.numerics.float_mode import FloatMode

    Combine = Callable[..., Any]
    Body = Callable[[FloatMode], Combine]
    Row = tuple[str, str, str, Body, np.ufunc | None]

SIXTEEN = np.uint32(16)


def _both_halves(add: Callable[[U, U, FloatMode], U]) -> Callable[[FloatMode], Combine]:
    """The same addition on both halves of a dword."""

    def of(mode: FloatMode) -> Combine:
        def run(old: U, data: U) -> U:
            low = add(old.astype(np.uint16), data.astype(np.uint16), mode)
            high = add((old >> SIXTEEN).astype(np.uint16), (data >> SIXTEEN).astype(np.uint16), mode)
            return low.astype(np.uint32) | (high.astype(np.uint32) << SIXTEEN)

        return run

    return of


def _add_f16(a: U, b: U, mode: FloatMode) -> U:
    return ieee.add(a.view(np.float16), b.view(np.float16), mode).view(np.uint16)


def _add_bf16(a: U, b: U, mode: FloatMode) -> U:
    """Sum in float32, rounded once more: 24 bits are enough for that to be the one rounding of the exact sum."""
    wide = [(part.astype(np.uint32) << SIXTEEN).view(np.float32) for part in (a, b)]
    total = ieee.add(wide[0], wide[1], mode)
    bits = total.view(np.uint32)
    rounded = (bits + np.uint32(0x7FFF) + (bits >> SIXTEEN & np.uint32(1))) >> SIXTEEN
    return np.where(np.isnan(total), bits >> SIXTEEN | np.uint32(0x40), rounded).astype(np.uint16)


def _plain(combine: Combine) -> Callable[[FloatMode], Combine]:
    """An operation that MODE does not touch."""
    return lambda mode: combine  # noqa: ARG005


def _sum(mode: FloatMode) -> Combine:
    def run(old: U, data: U) -> U:
        out = ieee.add(old, data, mode)
        if not mode.rules.atomic_rules:
            return out
        form = BY_SIZE[out.dtype.itemsize]
        invalid = np.isnan(out) & ~np.isnan(old) & ~np.isnan(data)
        return np.where(invalid, form.bits(out) | form.sign, form.bits(out)).view(form.real)

    return run


def _number(pair: Callable[[U, U, FloatMode], U]) -> Callable[[FloatMode], Combine]:
    """The data come first."""
    return lambda mode: lambda old, data: pair(data, old, mode)


def _chosen(pair: Callable[[U, U, FloatMode], U], better: np.ufunc) -> Callable[[FloatMode], Combine]:
    """A plain comparison; by RDNA's rules signalling NaNs win and become quiet, and quiet ones lose."""

    def of(mode: FloatMode) -> Combine:
        if mode.rules.atomic_rules:
            # As V_MIN and V_MAX do under IEEE, also where MODE lacks that bit.
            quieting = replace(mode, bits=mode.bits | 1 << 9, rules=replace(mode.rules, mode_bits=True))
            return lambda old, data: pair(old, data, quieting)
        return lambda old, data: np.where(better(data, old), data, old)

    return of


ADD = _plain(lambda old, data: old + data)
SUB = _plain(lambda old, data: old - data)
RSUB = _plain(lambda old, data: data - old)
MIN, MAX = _plain(np.minimum), _plain(np.maximum)
AND, OR, XOR = _plain(np.bitwise_and), _plain(np.bitwise_or), _plain(np.bitwise_xor)
INC = _plain(lambda old, data: np.where(old >= data, old.dtype.type(0), old + old.dtype.type(1)))
DEC = _plain(lambda old, data: np.where((old == 0) | (old > data), data, old - old.dtype.type(1)))
SWAP = _plain(lambda old, data: data)  # noqa: ARG005
# Memory: the new value comes first, then the comparand; LDS: the other way round.
CMPSWAP = _plain(lambda old, data, compare: np.where(old == compare, data, old))
CMPST = _plain(lambda old, compare, data: np.where(old == compare, data, old))
MSKOR = _plain(lambda old, mask, data: (old & ~mask) | data)
WRAP = _plain(lambda old, data, more: np.where(old >= data, old - data, old + more))
FLOAT_MIN = _chosen(vector_minmax.minimum, np.less)
FLOAT_MAX = _chosen(vector_minmax.maximum, np.greater)
PK_F16, PK_BF16 = _both_halves(_add_f16), _both_halves(_add_bf16)

NUMBER_MIN, NUMBER_MAX = _number(vector_minmax.minimum_number), _number(vector_minmax.maximum_number)
SUB_CLAMP = _plain(lambda old, data: np.where(old < data, old.dtype.type(0), old - data))
COND_SUB = _plain(lambda old, data: np.where(old >= data, old - data, old))

#   memory: gfx9, gfx11   type    what it does  in order at once
MEMORY: tuple[Row, ...] = (
    ("swap", "swap_b", "u", SWAP, None),
    ("cmpswap", "cmpswap_b", "u", CMPSWAP, None),
    ("add", "add_u", "u", ADD, np.add),
    ("sub", "sub_u", "u", SUB, np.subtract),
    ("smin", "min_i", "i", MIN, np.minimum),
    ("umin", "min_u", "u", MIN, np.minimum),
    ("smax", "max_i", "i", MAX, np.maximum),
    ("umax", "max_u", "u", MAX, np.maximum),
    ("and", "and_b", "u", AND, np.bitwise_and),
    ("or", "or_b", "u", OR, np.bitwise_or),
    ("xor", "xor_b", "u", XOR, np.bitwise_xor),
    ("inc", "inc_u", "u", INC, None),
    ("dec", "dec_u", "u", DEC, None),
)
#   memory, only one size         fidelity
SINGLE: tuple[Row, ...] = (
    ("add_f32", "f32", "assumed", _sum, np.add),
    ("add_f64", "f64", "assumed", _sum, np.add),
    ("min_f32", "f32", "assumed", FLOAT_MIN, None),
    ("max_f32", "f32", "assumed", FLOAT_MAX, None),
    ("min_f64", "f64", "assumed", FLOAT_MIN, None),
    ("max_f64", "f64", "assumed", FLOAT_MAX, None),
    ("min_num_f32", "f32", "specified", NUMBER_MIN, None),
    ("max_num_f32", "f32", "specified", NUMBER_MAX, None),
    ("min_num_f64", "f64", "specified", NUMBER_MIN, None),
    ("max_num_f64", "f64", "specified", NUMBER_MAX, None),
    ("cmpswap_f32", "f32", "specified", CMPSWAP, None),
    ("pk_add_f16", "u32", "assumed", PK_F16, None),
    ("pk_add_bf16", "u32", "assumed", PK_BF16, None),
    # RDNA2's names.
    ("fmin", "f32", "assumed", FLOAT_MIN, None),
    ("fmax", "f32", "assumed", FLOAT_MAX, None),
    ("fmin_x2", "f64", "assumed", FLOAT_MIN, None),
    ("fmax_x2", "f64", "assumed", FLOAT_MAX, None),
    ("fcmpswap", "f32", "specified", CMPSWAP, None),
    ("fcmpswap_x2", "f64", "specified", CMPSWAP, None),
    ("csub", "u32", "specified", SUB_CLAMP, None),
    ("csub_u32", "u32", "specified", SUB_CLAMP, None),
    ("sub_clamp_u32", "u32", "specified", SUB_CLAMP, None),
    ("cond_sub_u32", "u32", "specified", COND_SUB, None),
)
#   LDS: gfx9 and gfx11, with _rtn before the type when it returns the old value
LDS: tuple[tuple[str, str, Body, np.ufunc | None], ...] = (
    ("add_u", "u", ADD, np.add),
    ("sub_u", "u", SUB, np.subtract),
    ("rsub_u", "u", RSUB, None),
    ("inc_u", "u", INC, None),
    ("dec_u", "u", DEC, None),
    ("min_i", "i", MIN, np.minimum),
    ("max_i", "i", MAX, np.maximum),
    ("min_u", "u", MIN, np.minimum),
    ("max_u", "u", MAX, np.maximum),
    ("and_b", "u", AND, np.bitwise_and),
    ("or_b", "u", OR, np.bitwise_or),
    ("xor_b", "u", XOR, np.bitwise_xor),
    ("mskor_b", "u", MSKOR, None),
    ("wrxchg_b", "u", SWAP, None),
    ("storexchg_b", "u", SWAP, None),
    ("cmpst_b", "u", CMPST, None),
    ("cmpst_f", "f", CMPST, None),
    # Renamed, because its operands changed places.
    ("cmpstore_b", "u", CMPSWAP, None),
    ("cmpstore_f", "f", CMPSWAP, None),
    ("min_f", "f", FLOAT_MIN, None),
    ("max_f", "f", FLOAT_MAX, None),
    ("min_num_f", "f", NUMBER_MIN, None),
    ("max_num_f", "f", NUMBER_MAX, None),
    ("add_f", "f", _sum, np.add),
)
ONLY_RETURNING = ("wrxchg_b", "storexchg_b")
#   LDS, only 32 bits
LDS_SINGLE: tuple[tuple[str, Body], ...] = (
    ("pk_add_f16", PK_F16),
    ("pk_add_bf16", PK_BF16),
    ("sub_clamp_u32", SUB_CLAMP),
    ("cond_sub_u32", COND_SUB),
)
KINDS: dict[str, type[np.generic]] = {
    "u32": np.uint32, "i32": np.int32, "f32": np.float32, "u64": np.uint64, "i64": np.int64, "f64": np.float64,
}  # fmt: skip


@dataclass(frozen=True)
class AtomicOperation:
    """What an atomic does to one value."""

    fidelity: str
    kind: type[np.generic]
    """NumPy's type of the value."""
    body: Body
    """The function of the old value and the data, under MODE."""
    ufunc: np.ufunc | None
    """The same for many values at one place, where NumPy has it."""


OPERATIONS: dict[str, dict[str, AtomicOperation]] = {"memory": {}, "ds": {}}
"""Operations on global memory, without segment, and on the LDS, by name."""


def _add(space: str, fidelity: str, name: str, kind: str, body: Body, ufunc: np.ufunc | None = None) -> None:
    OPERATIONS[space][name] = AtomicOperation(fidelity, KINDS[kind], body, ufunc)


for _old, _new, _kind, _body, _ufunc in MEMORY:
    for _size, _suffix in ((32, ""), (64, "_x2")):
        _add("memory", "specified", f"{_old}{_suffix}", f"{_kind}{_size}", _body, _ufunc)
        _add("memory", "specified", f"{_new}{_size}", f"{_kind}{_size}", _body, _ufunc)
for _name, _kind, _fidelity, _body, _ufunc in SINGLE:
    _add("memory", _fidelity, _name, _kind, _body, _ufunc)
for _name, _kind, _body, _ufunc in LDS:
    for _size in (32, 64):
        for _rtn in ("_rtn",) if _name in ONLY_RETURNING else ("", "_rtn"):
            _add("ds", "specified", f"ds_{_name[:-2]}{_rtn}_{_name[-1]}{_size}", f"{_kind}{_size}", _body, _ufunc)
for _name, _body in LDS_SINGLE:
    _what, _type = _name.rsplit("_", 1)
    _add("ds", "specified", f"ds_{_name}", "u32", _body)
    _add("ds", "specified", f"ds_{_what}_rtn_{_type}", "u32", _body)
_add("ds", "specified", "ds_wrap_rtn_b32", "u32", WRAP)
