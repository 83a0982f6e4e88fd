"""Offsets of buffer accesses that wrapped at 32 bits: a product or a sum that leads to the offset was larger.

The registers that lead to an offset have exact values, once as sums of signed and once as sums of unsigned
numbers. The offset has wrapped if both differ from the register, and the exact address lies in a buffer: a
negative offset is right as a signed number, and a hash lies in no buffer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.machine.events import Observer
from mfmasim.observe.descriptors import Descriptor

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from mfmasim.isa import Instruction, Operand
    from mfmasim.kernels import Kernel
    from mfmasim.machine.events import Place, ValueEvent

    F64 = NDArray[np.float64]
    Key = tuple[str, int]

WORD = float(1 << 32)


def _shifted(value: Any, by: Any) -> Any:
    return value * np.exp2(np.mod(by, 32))


SUMS: dict[str, Callable[..., Any]] = {
    "v_mov_b32": lambda a: a, "s_mov_b32": lambda a: a,
    "v_add_u32": lambda a, b: a + b, "v_add_nc_u32": lambda a, b: a + b, "v_add_co_u32": lambda a, b: a + b,
    "s_add_u32": lambda a, b: a + b, "s_add_i32": lambda a, b: a + b, "s_add_co_u32": lambda a, b: a + b,
    "s_add_co_i32": lambda a, b: a + b, "v_add3_u32": lambda a, b, c: a + b + c,
    "v_sub_u32": lambda a, b: a - b, "v_sub_nc_u32": lambda a, b: a - b, "v_subrev_u32": lambda a, b: b - a,
    "v_subrev_nc_u32": lambda a, b: b - a, "s_sub_u32": lambda a, b: a - b, "s_sub_i32": lambda a, b: a - b,
    "v_lshlrev_b32": lambda a, b: _shifted(b, a), "s_lshl_b32": _shifted,
    "v_lshl_add_u32": lambda a, b, c: _shifted(a, b) + c, "v_add_lshl_u32": lambda a, b, c: _shifted(a + b, c),
    "v_lshl_or_b32": lambda a, b, c: _shifted(a, b) + c,
    "v_mul_lo_u32": lambda a, b: a * b, "s_mul_i32": lambda a, b: a * b,
    "v_mul_u32_u24": lambda a, b: a * b, "v_mul_i32_i24": lambda a, b: a * b,
    "v_mad_u32_u24": lambda a, b, c: a * b + c, "v_mad_i32_i24": lambda a, b, c: a * b + c,
    "v_mad_u64_u32": lambda a, b, c: a * b + c, "v_mad_co_u64_u32": lambda a, b, c: a * b + c,
    **{f"s_lshl{n}_add_u32": lambda a, b, n=n: a * 2**n + b for n in (1, 2, 3, 4)},
}  # fmt: skip
"""Instructions whose low dword is a sum or a product modulo 2**32, as functions of exact sources."""


@dataclass(frozen=True)
class WrappedOffset:
    """The first lane of the grid whose offset wrapped, at one instruction."""

    instruction: Instruction
    place: Place
    register: str
    held: int
    exact: int
    address: int
    """Exact address."""
    lanes: int


def _offset(instruction: Instruction) -> Key | None:
    """The offset register of a buffer access; None if it has none."""
    modifiers = instruction.modifiers
    if instruction.encoding not in ("MUBUF", "VBUFFER", "MTBUF") or not modifiers.get("offen") or not instruction.src:
        return None
    return instruction.src[0].kind, instruction.src[0].index + bool(modifiers.get("idxen"))


def _chosen(instructions: Sequence[Instruction]) -> set[int]:
    """Addresses of buffer accesses with an offset register, and of the sums that lead to the offsets."""
    accesses = {i.pc: key for i in instructions if (key := _offset(i)) is not None}
    wanted, found = set(accesses.values()), set(accesses)
    parts = [(i, part) for i in instructions for part in i.halves or (i,) if part.name in SUMS and part.dst]
    while True:
        more = [(i, part) for i, part in parts if i.pc not in found and _first(part.dst[0]) in wanted]
        if not more:
            return found
        for i, part in more:
            found.add(i.pc)
            wanted |= {_first(o) for o in part.src if o.kind in ("v", "s")}


def _first(operand: Operand) -> Key:
    return operand.kind, operand.index


class WrappedOffsets(Observer):
    """Observes a second run of a launch whose resources have a buffer 2**32 or more bytes behind their base."""

    name = "bounds"

    def __init__(self, kernel: Kernel, regions: Sequence[tuple[int, int]], waves: int) -> None:
        """Choose the instructions that lead to offsets.

        Args:
            kernel: the kernel of the launch.
            regions: for each buffer the address of its first byte, and of the byte past its last.
            waves: of the launch.
        """
        self._arch, self._regions, self._waves = kernel.arch, regions, waves
        self._watched = _chosen(kernel.reachable)
        self._exact: dict[Key, tuple[NDArray[np.uint32], F64, F64]] = {}
        """Bits of a register at its last write, and its exact values for signed and for unsigned sources, by wave."""
        self.found: dict[int, WrappedOffset] = {}

    def watches(self, instruction: Instruction) -> bool:
        """Sums that lead to an offset, and the accesses."""
        return instruction.pc in self._watched

    def on_value(self, event: ValueEvent) -> None:
        """Follow a sum, or examine the offsets of an access."""
        if _offset(event.instruction) is not None:
            self._access(event)
            return
        part = event.instruction
        if part.name in SUMS and part.dst and not part.halves:
            self._sum(event)

    def _of(self, operand: Operand, words: Sequence[NDArray[np.uint32]], waves: NDArray[Any]) -> tuple[F64, F64]:
        """Exact values of a source, for signed and for unsigned sums."""
        if not words:
            return np.zeros((1, 1)), np.zeros((1, 1))
        bits = words[0]
        low = bits.view(np.int32).astype(np.float64), bits.astype(np.float64)
        if operand.kind == "const" or len(words) > 1:
            if operand.kind != "const":
                high = words[1].view(np.int32).astype(np.float64) * WORD
                return high + low[1], high + low[1]
            return low
        kept = self._exact.get(_first(operand))
        if kept is None:
            return low
        held, signed, unsigned = (part[waves] for part in kept)
        same = held == bits
        return np.where(same, signed, low[0]), np.where(same, unsigned, low[1])

    def _sum(self, event: ValueEvent) -> None:
        ins, waves = event.instruction, event.numbers()
        sources = [self._of(o, words, waves) for o, words in zip(ins.src, event.sources, strict=True) if words]
        body = SUMS[ins.name]
        count = body.__code__.co_argcount - len(body.__defaults__ or ())
        values = [np.asarray(body(*(one[which] for one in sources[:count]))) for which in (0, 1)]
        bits = event.results[0][0]
        shape = len(waves), bits.shape[1]
        kept = self._exact.get(_first(ins.dst[0]))
        if kept is None or kept[0].shape[1] != shape[1]:
            whole = self._waves, shape[1]
            kept = np.zeros(whole, np.uint32), np.zeros(whole), np.zeros(whole)
            self._exact[_first(ins.dst[0])] = kept
        active = np.ones((1, 1), np.bool_) if ins.dst[0].kind == "s" else event.active()
        parts: list[NDArray[Any]] = [*kept]
        for part, value in zip(parts, (bits, *values), strict=True):
            part[waves] = np.where(active, np.broadcast_to(value, shape), part[waves])

    def _access(self, event: ValueEvent) -> None:
        ins, waves = event.instruction, event.numbers()
        key = _offset(ins)
        kept = self._exact.get(key) if key is not None else None
        if kept is None or key is None or kept[0].shape[1] != event.active().shape[1]:
            return
        held = event.sources[0][key[1] - ins.src[0].index]
        bits, signed, unsigned = (part[waves] for part in kept)
        wrapped = (bits == held) & (unsigned != bits) & (signed != bits.view(np.int32)) & event.active()
        if not wrapped.any():
            return
        resource = [np.broadcast_to(word, (len(waves), 1))[:, 0] for word in event.sources[1]]
        row, lane = np.nonzero(wrapped)
        exact = unsigned[row, lane].astype(np.int64)
        rows = zip(row.tolist(), lane.tolist(), exact.tolist(), strict=True)
        hits = [one for one in rows if self._inside(resource, one[0], one[2])]
        if not hits:
            return
        old = self.found.get(ins.pc)
        at, lane_, value = hits[0]
        place = event.place(at, lane_)
        if old is not None and old.place.order <= place.order:
            place, at = old.place, -1
        known = old if at < 0 and old is not None else None
        self.found[ins.pc] = WrappedOffset(
            ins,
            place,
            f"{key[0]}{key[1]}",
            known.held if known else int(held[min(at, len(held) - 1), lane_]),
            known.exact if known else value,
            known.address if known else self._base(resource, at) + value,
            len(hits) + (old.lanes if old else 0),
        )

    def _base(self, resource: Sequence[NDArray[np.uint32]], row: int) -> int:
        words = tuple(int(word[row]) for word in resource)
        return Descriptor((words[0], words[1], words[2], words[3]), self._arch).base

    def _inside(self, resource: Sequence[NDArray[np.uint32]], row: int, exact: int) -> bool:
        address = self._base(resource, row) + exact
        return any(first <= address < end for first, end in self._regions)
