"""Atomic operations on global memory, LDS and buffers, one table. Source: CDNA3 ISA manual, 10.3.1, 11.3 and 12.12 ff.

They act in the order of waves and lanes. Float additions round to nearest even; in memory denormals are kept, as LLVM
says of these processors (the CDNA3 manual says that f32 flushes them: so `assumed`), in the LDS as MODE says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.machine import ieee
from mfmasim.machine.float_mode import FloatMode, float_mode
from mfmasim.machine.memory import POISON_DWORD, Outside
from mfmasim.machine.operands import read_dword, unsupported
from mfmasim.machine.ops.buffer import resource
from mfmasim.machine.ops.global_memory import RESOLVERS
from mfmasim.machine.ops.spaces import Part, lds_address, rows_of, within
from mfmasim.machine.registry import direct
from mfmasim.machine.sequence import in_order

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from mfmasim.isa import Instruction
    from mfmasim.machine.state import Group

    A = Any  # an array of the operation's type
    Combine = Callable[..., A]

PLAIN = 0x3F0
SIXTEEN = np.uint32(16)


def _both_halves(add: Callable[[A, A, FloatMode], A]) -> Callable[[FloatMode], Combine]:
    """The same addition on both halves of a dword."""

    def of(mode: FloatMode) -> Combine:
        def run(old: A, data: A) -> A:
            low = add(old.astype(np.uint16), data.astype(np.uint16), mode)
            high = add((old >> SIXTEEN).astype(np.uint16), (data >> SIXTEEN).astype(np.uint16), mode)
            return low.astype(np.uint32) | (high.astype(np.uint32) << SIXTEEN)

        return run

    return of


def _add_f16(a: A, b: A, mode: FloatMode) -> A:
    return ieee.add(a.view(np.float16), b.view(np.float16), mode).view(np.uint16)


def _add_bf16(a: A, b: A, mode: FloatMode) -> A:
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
    return lambda old, data: ieee.add(old, data, mode)


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
FLOAT_MIN = _plain(lambda old, data: np.where(data < old, data, old))
FLOAT_MAX = _plain(lambda old, data: np.where(data > old, data, old))
PK_F16, PK_BF16 = _both_halves(_add_f16), _both_halves(_add_bf16)

Row = tuple[str, str, Any, Any]
#   memory        type    what it does  in order at once
MEMORY: tuple[Row, ...] = (
    ("swap",        "u32",  SWAP,       None),
    ("cmpswap",     "u32",  CMPSWAP,    None),
    ("add",         "u32",  ADD,        np.add),
    ("sub",         "u32",  SUB,        np.subtract),
    ("smin",        "i32",  MIN,        np.minimum),
    ("umin",        "u32",  MIN,        np.minimum),
    ("smax",        "i32",  MAX,        np.maximum),
    ("umax",        "u32",  MAX,        np.maximum),
    ("and",         "u32",  AND,        np.bitwise_and),
    ("or",          "u32",  OR,         np.bitwise_or),
    ("xor",         "u32",  XOR,        np.bitwise_xor),
    ("inc",         "u32",  INC,        None),
    ("dec",         "u32",  DEC,        None),
)  # fmt: skip
FLOATS: tuple[Row, ...] = (
    ("add_f32",     "f32",  _sum,       np.add),
    ("add_f64",     "f64",  _sum,       np.add),
    ("min_f64",     "f64",  FLOAT_MIN,  None),
    ("max_f64",     "f64",  FLOAT_MAX,  None),
    ("pk_add_f16",  "u32",  PK_F16,     None),
    ("pk_add_bf16", "u32",  PK_BF16,    None),
)  # fmt: skip
#   LDS: with _rtn before the type when it returns the old value
LDS: tuple[Row, ...] = (
    ("add_u",       "u",    ADD,        np.add),
    ("sub_u",       "u",    SUB,        np.subtract),
    ("rsub_u",      "u",    RSUB,       None),
    ("inc_u",       "u",    INC,        None),
    ("dec_u",       "u",    DEC,        None),
    ("min_i",       "i",    MIN,        np.minimum),
    ("max_i",       "i",    MAX,        np.maximum),
    ("min_u",       "u",    MIN,        np.minimum),
    ("max_u",       "u",    MAX,        np.maximum),
    ("and_b",       "u",    AND,        np.bitwise_and),
    ("or_b",        "u",    OR,         np.bitwise_or),
    ("xor_b",       "u",    XOR,        np.bitwise_xor),
    ("mskor_b",     "u",    MSKOR,      None),
    ("wrxchg_b",    "u",    SWAP,       None),
    ("cmpst_b",     "u",    CMPST,      None),
    ("cmpst_f",     "f",    CMPST,      None),
    ("min_f",       "f",    FLOAT_MIN,  None),
    ("max_f",       "f",    FLOAT_MAX,  None),
    ("add_f",       "f",    _sum,       np.add),
)  # fmt: skip
KINDS: dict[str, Any] = {
    "u32": np.uint32, "i32": np.int32, "f32": np.float32, "u64": np.uint64, "i64": np.int64, "f64": np.float64,
}  # fmt: skip
OPERATIONS: dict[str, tuple[Any, Callable[[FloatMode], Combine], np.ufunc | None]] = {}
NAMES: dict[tuple[str, str], list[str]] = {("memory", "specified"): [], ("memory", "assumed"): [], ("ds", ""): []}

for _name, _kind, _body, _ufunc in MEMORY:
    for _suffix, _type in (("", _kind), ("_x2", _kind.replace("32", "64"))):
        OPERATIONS[_name + _suffix] = KINDS[_type], _body, _ufunc
        NAMES["memory", "specified"].append(_name + _suffix)
for _name, _kind, _body, _ufunc in FLOATS:
    OPERATIONS[_name] = KINDS[_kind], _body, _ufunc
    NAMES["memory", "assumed"].append(_name)
for _name, _kind, _body, _ufunc in LDS:
    for _size in (32, 64):
        for _rtn in ("", "_rtn") if _name != "wrxchg_b" else ("_rtn",):
            _full = f"ds_{_name[:-2]}{_rtn}_{_name[-1]}{_size}"
            OPERATIONS[_full] = KINDS[f"{_kind}{_size}"], _body, _ufunc
            NAMES["ds", ""].append(_full)
for _full, _body in (("ds_pk_add_f16", PK_F16), ("ds_pk_add_bf16", PK_BF16)):
    for _name in (_full, _full.replace("_add_", "_add_rtn_")):
        OPERATIONS[_name] = np.uint32, _body, None
        NAMES["ds", ""].append(_name)
OPERATIONS["ds_wrap_rtn_b32"] = np.uint32, WRAP, None
NAMES["ds", ""].append("ds_wrap_rtn_b32")


class Atomic:
    """One atomic instruction: how its lanes act on the bytes of a space."""

    def __init__(self, instruction: Instruction, machine: Any, operation: str, data: list[Any]) -> None:
        """Bind the operation; `data` are the operands that hold the sources."""
        self.instruction, self.machine = instruction, machine
        self.kind, self.body, self.ufunc = OPERATIONS[operation]
        self.size = np.dtype(self.kind).itemsize
        self.parts = self.size // 4
        self.readers = [
            [read_dword(operand, first + k, instruction) for k in range(self.parts)] for operand, first in data
        ]
        self.target = instruction.dst[0] if instruction.dst else None

    def sources(self, g: Group, shape: tuple[int, ...]) -> list[NDArray[Any]]:
        """Data of every lane as values of the operation's type."""
        return [self.value([np.broadcast_to(read(g), shape) for read in readers]) for readers in self.readers]

    def value(self, words: list[NDArray[np.uint32]]) -> NDArray[Any]:
        """Dwords as one value."""
        if self.parts == 1:
            return np.ascontiguousarray(words[0]).view(self.kind)
        return (words[0].astype(np.uint64) | (words[1].astype(np.uint64) << np.uint64(32))).view(self.kind)

    def run(self, g: Group, part: Part, mode: FloatMode) -> list[NDArray[np.uint32]]:
        """Act on one space; returns the old value as dwords."""
        shape = (g.count, g.lanes)
        flat, start, active, blank = self._places(g, part, shape)
        old = [np.where(blank, np.uint32(POISON_DWORD if part.space != "lds" else 0), np.uint32(0))] * self.parts
        if not active.any():
            return [np.broadcast_to(word, shape) for word in old]
        place = start[active]
        data = [source[active] for source in self.sources(g, shape)]
        body, ufunc = self.body(mode), self.ufunc
        if (
            ufunc is np.add
            and np.issubdtype(self.kind, np.floating)
            and not (mode.plain and np.isfinite(data[0]).all())
        ):
            ufunc = None  # a NaN or a denormal that is flushed wants the rule of the operation
        memory = lambda at: self.value([flat[at + k] for k in range(self.parts)])  # noqa: E731
        seen, places, values = in_order(place, memory, body, data, ufunc)
        self._put(flat, places, values)
        out = []
        for k, word in enumerate(self._words(seen)):
            full = np.array(np.broadcast_to(old[k], shape))
            full[active] = word
            out.append(full)
        return out

    def _words(self, values: NDArray[Any]) -> list[NDArray[np.uint32]]:
        if self.parts == 1:
            return [values.view(np.uint32)]
        bits = values.view(np.uint64)
        return [bits.astype(np.uint32), (bits >> np.uint64(32)).astype(np.uint32)]

    def _put(self, flat: NDArray[np.uint32], places: NDArray[np.int64], values: NDArray[Any]) -> None:
        for k, word in enumerate(self._words(values)):
            flat[places + k] = word

    def _places(
        self, g: Group, part: Part, shape: tuple[int, ...]
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64], NDArray[np.bool_], NDArray[np.bool_]]:
        """Dwords of the space, first dword of each lane, lanes that act, and lanes that are outside."""
        machine, instruction = self.machine, self.instruction
        asked = np.broadcast_to(g.active if part.mask is None else part.mask, shape)
        address = np.broadcast_to(part.address, shape)
        crooked = (address.astype(np.int64) & (self.size - 1) != 0) & asked
        if crooked.any():
            machine.fault(
                instruction, g, part.space, "misaligned atomic", self.size, Outside(crooked, address.astype(np.uint64))
            )
        asked = asked & ~crooked
        if machine.access_listeners:
            machine.accessed(instruction, g, Part(part.space, address, asked, part.number), "atomic", self.size)
        if part.space == "global":
            offsets, outside = machine.memory.locate(address, self.size, asked, write=True)
            beyond = np.zeros(shape, np.bool_) if outside is None else np.broadcast_to(outside.mask, shape)
            if outside is not None:
                machine.fault(instruction, g, "global", "write", self.size, outside)
            return machine.memory.dwords, np.broadcast_to(offsets >> 2, shape), asked & ~beyond, beyond | crooked
        rows, row, limit = rows_of(machine, g, part.space)
        inside, beyond = within(machine, g, instruction, Part(part.space, address, asked), self.size, "write", limit)
        start = (row * rows.shape[1] + np.where(inside, address, 0)) >> 2
        return rows.reshape(-1).view(np.uint32), np.broadcast_to(start, shape), inside, beyond | crooked

    def finish(self, g: Group, words: list[NDArray[np.uint32]]) -> None:
        """Return the old value."""
        if self.target is not None:
            for k, word in enumerate(words):
                g.write_v(self.target.kind, self.target.index + k, word)


def _memory(instruction: Instruction, machine: Any) -> Callable[[Group], None]:
    """GLOBAL, FLAT and MUBUF atomics."""
    segment, _, operation = instruction.name.split("_", 2)
    buffer = segment == "buffer"
    data = instruction.src[3 if buffer else 2]
    parts = np.dtype(OPERATIONS[operation][0]).itemsize // 4
    atomic = Atomic(instruction, machine, operation, [(data, k) for k in range(0, data.count, parts)])
    mode = float_mode(PLAIN)
    if buffer:
        return _buffer(atomic, resource(instruction), mode)
    resolve = RESOLVERS[segment](instruction)

    def run(g: Group) -> None:
        words: list[NDArray[np.uint32]] | None = None
        for part in resolve(g):
            old = atomic.run(g, part, mode)
            mask = part.mask
            words = old if words is None or mask is None else [
                np.where(mask, new, word) for new, word in zip(old, words, strict=True)
            ]  # fmt: skip
        if words is not None:
            atomic.finish(g, words)

    return run


def _buffer(atomic: Atomic, where: Any, mode: FloatMode) -> Callable[[Group], None]:
    """In range as a whole or not at all; beyond the range nothing happens and 0 comes back."""

    def run(g: Group) -> None:
        reach = where(g)
        inside = reach.inside(0) & reach.inside(atomic.size - 4)
        active, beyond = inside & g.active, ~inside & g.active
        if beyond.any():
            out = Outside(beyond, reach.address(0))
            atomic.machine.fault(atomic.instruction, g, "buffer", "write", atomic.size, out)
        words = atomic.run(g, Part("global", reach.address(0), active), mode)
        atomic.finish(g, [np.where(active, word, np.uint32(0)) for word in words])

    return run


def _ds(instruction: Instruction, machine: Any) -> Callable[[Group], None]:
    """LDS atomics with one or two data operands."""
    if instruction.modifiers.get("gds"):
        raise unsupported(instruction, "global data share")
    atomic = Atomic(instruction, machine, instruction.name, [(operand, 0) for operand in instruction.src[1:]])
    base = read_dword(instruction.src[0], 0, instruction)
    offset = instruction.modifiers.get("offset", 0)

    def run(g: Group) -> None:
        if g.waves.float_mode is None:
            raise unsupported(instruction, "waves whose MODE differs, in one atomic:")
        mode = float_mode(g.waves.float_mode.bits & ~0xF)  # the rounding is fixed
        atomic.finish(g, atomic.run(g, Part("lds", lds_address(base(g), offset), g.mask), mode))

    return run


for (_space, _fidelity), _names in NAMES.items():
    if _space == "ds":
        direct(" ".join(_names))(_ds)
    else:
        for _unit in ("global", "flat", "buffer"):
            direct(" ".join(f"{_unit}_atomic_{_name}" for _name in _names), _fidelity)(_memory)
