"""numerics: losses of conversions to FP8, FP6 and FP4: saturated and flushed values, and their exponents."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from mfmasim.formats import format as number_format

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfmasim.architectures import Arch
    from mfmasim.formats import Format
    from mfmasim.isa import Instruction
    from mfmasim.machine.events import Place, ValueEvent

NAMES = {"fp6": "e2m3fn", "bf6": "e3m2fn", "fp4": "e2m1fn"}
"""Formats that are the same on every architecture (OCP MX)."""
LEAST, SHARE = 16, 2
"""Conversions are reported if at least `LEAST` non-zero values, and one of `SHARE`, become 0 or saturate."""
WEIGHT = 100
"""Values that become 0 count if they are one part in `WEIGHT` of the sum: e to the power of -80 next to 1 is not."""
BINS = 24
"""Most exponents that a finding lists one by one."""


@dataclass
class Tally:
    """The losses of all executions of one conversion instruction."""

    instruction: Instruction
    place: Place
    format: Format
    values: int = 0
    zeros: int = 0
    saturated: int = 0
    flushed: int = 0
    special: int = 0
    sum: float = 0.0
    """Sum of magnitudes, up to the format's largest one."""
    lost: float = 0.0
    """Sum of the magnitudes that become 0."""
    exponents: Counter[int] = field(default_factory=Counter)

    def copy(self) -> Tally:
        """A copy of the counts."""
        return replace(self, exponents=Counter(self.exponents))

    def add(self, other: Tally) -> None:
        """Add the counts of another part of the launch."""
        for name in ("values", "zeros", "saturated", "flushed", "special", "sum", "lost"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.exponents.update(other.exponents)
        if other.place.order < self.place.order:
            self.place = other.place

    @property
    def loses(self) -> bool:
        """Whether at least half of the non-zero values saturate, or become 0 without being negligible."""
        least = max(LEAST, (self.values - self.zeros - self.special) / SHARE)
        return self.saturated >= least or (self.flushed >= least and self.lost * WEIGHT >= self.sum)

    def text(self) -> str:
        """The counts as text."""
        fmt = self.format
        parts = [
            f"{self.values} values to {fmt.name}: {self.saturated} beyond ±{fmt.max:g} saturate",
            f"{self.flushed} that are not 0 become 0",
            f"{self.zeros} are 0",
        ]
        if self.special:
            parts.append(f"{self.special} are NaN or Inf")
        return f"{', '.join(parts)}; exponents: {_histogram(self.exponents) or 'none'}"


def _histogram(exponents: Counter[int]) -> str:
    if not exponents:
        return ""
    low, high = min(exponents), max(exponents)
    step = 1 if len(exponents) <= BINS else -(-(high - low + 1) // BINS)
    bins = Counter(dict.fromkeys(range(low, high + 1, step), 0))
    for exponent, count in exponents.items():
        bins[low + (exponent - low) // step * step] += count
    return ", ".join(
        f"2^{first}{f'..2^{min(first + step - 1, high)}' if step > 1 else ''}: {count}"
        for first, count in sorted(bins.items())
        if count
    )


def _values(words: tuple[NDArray[np.uint32], ...], kind: str, high: bool) -> NDArray[np.float64] | None:
    """Values of an operand, (waves, lanes, values of a lane); None for an operand that is no float."""
    if kind == "f32":
        return np.stack([w.view(np.float32) for w in words], -1).astype(np.float64)
    halves = [part for w in words for part in (w & np.uint32(0xFFFF), w >> np.uint32(16))]
    if kind in ("f16", "bf16"):
        halves = halves[1:2] if high else halves[:1]
    bits = np.stack(halves, -1)
    if kind in ("f16", "pk_f16"):
        return bits.astype(np.uint16).view(np.float16).astype(np.float64)
    if kind in ("bf16", "pk_bf16"):
        return (bits << np.uint32(16)).view(np.float32).astype(np.float64)
    return None


class Conversions:
    """Tallies of the conversions of one launch."""

    def __init__(self, arch: Arch) -> None:
        """Start without tallies."""
        self._arch = arch
        self.tallies: dict[int, Tally] = {}

    def merge(self, other: Conversions) -> None:
        """Add the counts of another part of the launch."""
        for pc, tally in other.tallies.items():
            known = self.tallies.setdefault(pc, tally)
            if known is not tally:
                known.add(tally)

    def on_value(self, event: ValueEvent) -> NDArray[np.bool_]:
        """Count a conversion (`Opcode.packs`).

        Returns:
            A mask of values beyond the format's range, (1 or waves, 1 or lanes).
        """
        instruction = event.instruction
        name = instruction.opcode.packs
        fmt = number_format(NAMES.get(name) or self._arch.format_name(name))
        operands = [
            (operand, words)
            for operand, words in zip(instruction.src, event.sources, strict=True)
            if operand.printed and words
        ]
        scale: NDArray[np.float64] = np.ones((1, 1, 1))
        if instruction.opcode.scaled:
            _, (bits, *_) = operands.pop()
            scale = np.exp2(((bits >> np.uint32(23)) & np.uint32(0xFF)).astype(np.float64) - 127.0)[..., None]
        tally = self.tallies.get(instruction.pc)
        if tally is None:
            tally = self.tallies[instruction.pc] = Tally(instruction, event.place(0, None), fmt)
        beyond: NDArray[np.bool_] = np.zeros((1, 1), np.bool_)
        for number, (operand, words) in enumerate(operands):
            used = words[:1] if operand.kind == "const" else words
            found = _values(used, operand.type, bool(instruction.modifiers.get("op_sel", 0) >> number & 1))
            if found is not None:
                with np.errstate(all="ignore"):
                    values = np.abs(found) / scale
                beyond = beyond | self._count(tally, event, values)
        return beyond

    @staticmethod
    def _count(tally: Tally, event: ValueEvent, values: NDArray[np.float64]) -> NDArray[np.bool_]:
        active = event.active()
        shape = np.broadcast_shapes(values.shape[:2], active.shape)
        each = event.waves // shape[0] if shape[0] else 0
        values = np.broadcast_to(values, (*shape, values.shape[2]))
        taken = values[np.broadcast_to(active, shape)]
        finite = np.isfinite(taken)
        fmt = tally.format
        tally.values += taken.size * each
        tally.special += int((~finite).sum()) * each
        tally.zeros += int((taken == 0).sum()) * each
        tally.saturated += int((finite & (taken > fmt.max)).sum()) * each
        small = (taken > 0) & (taken <= (fmt.smallest_subnormal or 0.0) / 2)
        tally.flushed += int(small.sum()) * each
        tally.lost += float(taken[small].sum()) * each
        tally.sum += float(np.minimum(taken[finite], fmt.max).sum()) * each
        numbers = taken[finite & (taken > 0)]
        if numbers.size:
            exponents, counts = np.unique(np.frexp(numbers)[1] - 1, return_counts=True)
            tally.exponents.update(dict(zip(exponents.tolist(), (counts * each).tolist(), strict=True)))
        return np.asarray((np.isfinite(values) & (values > fmt.max)).any(axis=2))
