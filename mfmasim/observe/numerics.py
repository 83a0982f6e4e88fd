"""numerics: the first NaN and Inf, conversions beyond the range of their format, flushed denormals.

All findings have severity info: a kernel may intend them. NaN and Inf are reported if all operands are finite and
the result is not; propagation is not reported. Operands in formats of 8 bits and fewer are not examined, and count as
not finite. `origin` adds the origins of values in outputs, see `mfmasim.observe.origins`; `losses` is the cheap part:
conversions to 8 bits that lose most values, sums that a loop rounds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from mfmasim.kernels import PerKernel
from mfmasim.observe.check import Check
from mfmasim.observe.conversions import Conversions, Tally
from mfmasim.observe.finding import Kind
from mfmasim.observe.float_words import EXPONENTS, at, deciding, is_nan, not_finite, operand_nan
from mfmasim.observe.float_words import text as shown
from mfmasim.observe.origins import Origins, described, scalar_result
from mfmasim.observe.rounded_sums import RoundedSum, rounded_sums

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from mfmasim.arrays import Flags
    from mfmasim.isa import Instruction, Operand
    from mfmasim.machine.events import AccessEvent, Place, ValueEvent
    from mfmasim.machine.launch.launch import Launch
    from mfmasim.observe.finding import Finding


NOT_FINITE = Kind(
    "numerics-not-finite",
    "info",
    "NaN or Inf appears although all operands are finite",
    "The first place of a source line; the values it propagates to are not reported. So is a NaN of infinities, such "
    "as Inf - Inf or 0 x Inf, where no operand is NaN.",
    "y = 1.0f / x;  // x is 0",
    "Guard the operand if this is not intended.",
)
OVERFLOW = Kind(
    "numerics-overflow",
    "info",
    "A conversion of a value outside the range of the format",
    "The result is the largest value, Inf or NaN, depending on the instruction and MODE.",
    "__builtin_amdgcn_cvt_pk_fp8_f32(x, y, 0, false)  // x is 1000",
    "Scale before the conversion.",
)
DENORMAL = Kind(
    "numerics-denormal",
    "info",
    "A denormal operand counts as 0",
    "MODE flushes denormal F32 inputs: compilers set it with -fgpu-flush-denormals-to-zero.",
    "y = x * 2.0f;  // x is 1e-40",
    "Nothing, or compile without that option.",
)
ORIGIN = Kind(
    "numerics-origin",
    "info",
    "Where the NaN, Inf or saturated value of a buffer was made",
    "The first dword of the buffer that holds one is followed back through registers, LDS, memory and matrix "
    'instructions to the instruction that made it; only with checks="numerics:origin".',
    "c[i] = a[i] / b[i];  // b[3] is 0",
    "Guard the operand that the message names.",
)
LOSSES = Kind(
    "numerics-losses",
    "info",
    "What a conversion to 8 bits or fewer loses",
    "How many values saturate, how many become 0, and the histogram of exponents: of source lines where at least half "
    "of the values that are not 0, at least 16, become 0 (and make up a hundredth of the sum) or saturate; of each "
    'conversion with checks="numerics:origin".',
    "__builtin_amdgcn_cvt_pk_fp8_f32(x, y, 0, false)",
    "Choose the scale so that the exponents fit the format.",
    place="code",
)
ROUNDED_SUM = Kind(
    "numerics-rounded-sum",
    "info",
    "A sum in F32 is rounded to F16 or BF16 within its loop",
    "Each iteration rounds the sum, or what a dot product or matrix instruction adds to it, to the narrow format and "
    "widens it again: the error grows with the number of iterations, and small summands are lost.",
    "for (int i = 0; i < n; ++i) sum = (float)(_Float16)(sum + x[i]);",
    "Keep the sum in F32 and round once after the loop.",
    place="code",
)
F32_INPUTS = 1 << 4
"""MODE: whether denormal f32 inputs are kept (CDNA3 ISA manual, table of MODE; RDNA likewise)."""


def _below(value: float) -> float:
    """The f32 before a value, towards 0."""
    return float(np.nextafter(np.float32(value), np.float32(0)))


# Conversions: the range of sources that the format can represent after rounding, and its name. FP8 of OCP and FNUZ
# differs: the largest values are 448 and 240, for BF8 57344 (OCP 8-bit floating point; CDNA3 manual 7.1).
_HIGHEST: dict[str, tuple[dict[str, float], str]] = {
    "fp8": ({"ocp": 464.0, "fnuz": _below(248.0)}, "FP8"),
    "bf8": ({"": _below(61440.0)}, "BF8"),
    "f16": ({"": _below(65520.0)}, "F16"),
    "f16_rtz": ({"": _below(65536.0)}, "F16"),
    "bf16": ({"": float.fromhex("0x1.feffffp127")}, "BF16"),
    "i32": ({"": _below(2.0**31)}, "I32"),
    "u32": ({"": _below(2.0**32)}, "U32"),
}
_LOWEST = {"i32": -(2.0**31), "u32": _below(-1.0)}
"""Lowest values; a signed format's lowest value is the negative of its highest."""


ROUNDED: PerKernel[list[list[RoundedSum]]] = PerKernel(lambda _: [])
"""Memo of the conversions of a kernel that round sums."""


@dataclass
class Seen:
    """The finding at a place in the code, and its count."""

    finding: Finding
    order: tuple[int, ...]
    count: int


class Numerics(Check):
    """Examines results of floating-point instructions.

    ``"all"`` includes `losses` alone: data with intended NaN, Inf and large values would hide every other finding.
    """

    name = "numerics"
    about = "where NaN and Inf first appear, conversions out of range, denormals that are flushed"
    default = False
    part = "losses"
    kinds = (NOT_FINITE, OVERFLOW, DENORMAL, ORIGIN, LOSSES, ROUNDED_SUM)
    options: ClassVar[Mapping[str, str]] = {
        "origin": "also where the values that outputs hold were made, and what conversions lose",
        "losses": "only conversions to 8 bits or fewer that lose most values, and sums that a loop rounds: part of all",
    }

    only_unusual = True

    def __init__(self, launch: Launch, option: str = "") -> None:
        """Start without findings."""
        super().__init__(launch, option)
        self._origins = Origins(launch) if option == "origin" else None
        self._conversions = Conversions(self.kernel.arch)
        known = ROUNDED.of(self.kernel)
        if not known:
            known.append(rounded_sums(self.kernel))
        self._rounded = {one.pc: one for one in known[0]}
        self._rounding: set[int] = set()
        if self._origins is not None:
            self.only_unusual = False  # every result clears or sets tags
            self.by_parts = False
        self._seen: dict[tuple[str, str], Seen] = {}

    def watches(self, instruction: Instruction) -> bool:
        """Whether the check needs an instruction's values: it converts, or its result is a float."""
        if self._origins is not None and (
            scalar_result(instruction) or any(o.kind in ("v", "a") for o in instruction.dst)
        ):
            return True
        return bool(instruction.opcode.packs) or instruction.pc in self._rounded or self._examined(instruction)

    def _examined(self, instruction: Instruction) -> bool:
        """Whether the instruction itself is examined, apart from origins and losses."""
        if self.option == self.part:
            return False
        if instruction.opcode.unit != "VALU" or instruction.opcode.widens:
            return False
        floats = any(o.kind in ("v", "a") and o.type in (*EXPONENTS, "f64") for o in instruction.dst)
        return floats or bool(instruction.opcode.narrows)

    def _range(self, instruction: Instruction) -> tuple[float, float, str] | None:
        """Smallest and largest source of a conversion, and its format."""
        narrows = instruction.opcode.narrows
        if not narrows:
            return None
        limits, name = _HIGHEST[narrows]
        high = float(limits.get(self.kernel.arch.fp8, limits.get("", np.inf)))
        return _LOWEST.get(narrows, -high), high, name

    def on_access(self, event: AccessEvent) -> None:
        """Move origins with the values."""
        if self._origins is not None:
            self._origins.on_access(event)

    def on_value(self, event: ValueEvent) -> None:
        """Examine one instruction."""
        instruction = event.instruction
        beyond = self._conversions.on_value(event) if instruction.opcode.packs else None
        if instruction.pc in self._rounded:
            self._rounding.add(instruction.pc)
        if self._origins is not None:
            self._origins.on_value(event, beyond)
        if not self._examined(instruction):
            return
        matrix = bool(instruction.opcode.matrix)
        limits = self._range(instruction)
        if limits is not None:
            self._beyond(event, *limits)
        self._flushed(event)
        for place, dst in enumerate(instruction.dst):
            if dst.kind in ("v", "a") and (dst.type in EXPONENTS or dst.type == "f64"):
                self._look(event, place, matrix=matrix)

    def _look(self, event: ValueEvent, place: int, *, matrix: bool) -> None:
        """Examine one result."""
        result = _placed(event.instruction, place)
        bad = not_finite(event.results[place], result, result=True, matrix=matrix)
        if isinstance(bad, bool) or not bad.any():
            return
        if not matrix:
            bad = bad & event.active()
        nan = bad & operand_nan(result, event.results[place], matrix=False)
        for operand, words in deciding(event):
            if not words:
                continue
            before = not_finite(tuple(words), operand, result=False, matrix=matrix)
            bad = bad & ~(np.any(before, axis=-1, keepdims=True) if matrix else np.asarray(before))
            nan = nan & ~operand_nan(operand, words, matrix=matrix)
        if bad.any():
            self._appears(event, bad, event.results[place], result.type, matrix=matrix)
        elif nan.any():
            self._appears(event, nan, event.results[place], result.type, matrix=matrix, infinite=True)

    def _appears(
        self,
        event: ValueEvent,
        bad: Flags,
        result: tuple[NDArray[np.uint32], ...],
        kind: str,
        *,
        matrix: bool,
        infinite: bool = False,
    ) -> None:
        wave, lane = (int(k) for k in np.argwhere(bad)[0])
        what = "NaN" if is_nan(at(result, wave, lane), kind) else "Inf"
        held = [
            text
            for operand, words in deciding(event)
            if words and (text := shown(at(tuple(words), wave, lane), operand.type))
        ]
        of = f" ({', '.join(held)})" if held and not matrix else ""
        why = "no operand is NaN: it comes of infinities" if infinite else "all operands are finite"
        self._add(NOT_FINITE, event, bad, f"{what} appears here although {why}{of}")

    def _beyond(self, event: ValueEvent, low: float, high: float, name: str) -> None:
        """Finite sources of a conversion that its format cannot represent."""
        for words, operand in zip(event.sources, event.instruction.src, strict=True):
            if operand.type != "f32" or not words or not operand.printed:
                continue
            most = np.bitwise_and(words[0], np.uint32(0x7FFFFFFF)).max()
            if most.view(np.float32) <= min(high, -low):  # all of them, independent of their signs
                continue
            values = np.abs(words[0].view(np.float32)) if operand.abs else words[0].view(np.float32)
            if operand.neg:
                values = -values
            over = ((values > high) | (values < low)) & np.isfinite(values)
            if over.any() and (over := over & event.active()).any():
                wave, lane = (int(k) for k in np.argwhere(over)[0])
                value = at((values.view(np.uint32),), wave, lane)
                self._add(OVERFLOW, event, over, f"{shown(value, 'f32')} is outside the range of {name}")

    def _flushed(self, event: ValueEvent) -> None:
        """Denormal f32 operands where MODE flushes them."""
        if (event.mode & np.uint32(F32_INPUTS)).all():
            return
        for words, operand in zip(event.sources, event.instruction.src, strict=True):
            if operand.type == "f32" and words and operand.kind in ("v", "a"):
                small = (words[0] & np.uint32(0x7F800000) == 0) & (words[0] & np.uint32(0x7FFFFF) != 0)
                small = small & event.active() & (event.mode & np.uint32(F32_INPUTS) == 0)[:, None]
                if small.any():
                    self._add(DENORMAL, event, small, "MODE flushes denormal operands: this one counts as 0")

    def _add(self, kind: Kind, event: ValueEvent, lanes: Flags, text: str) -> None:
        """Record the first one of a source line, and count all."""
        instruction = event.instruction
        wave, lane = (int(k) for k in np.argwhere(lanes)[0])
        place: Place = event.place(wave, lane if lanes.shape[-1] > 1 else None)
        finding = self.finding(kind, text, instruction.pc, place, instruction=instruction.name)
        self._take(
            (kind.id, finding.source or f"{instruction.pc:#x}"),
            Seen(finding, place.order, int(lanes.sum()) * (event.waves // len(lanes))),
        )

    def _take(self, key: tuple[str, str], new: Seen) -> None:
        had = self._seen.get(key)
        if had is None:
            self._seen[key] = new
            return
        first = min(had, new, key=lambda seen: (seen.finding.pc or 0, seen.order))
        self._seen[key] = Seen(first.finding, first.order, had.count + new.count)

    def merge(self, other: Numerics) -> None:
        """Add the findings of another part of the same launch."""
        for key, seen in other._seen.items():
            self._take(key, seen)
        self._conversions.merge(other._conversions)
        self._rounding |= other._rounding

    def findings(self) -> list[Finding]:
        """The findings, in address order."""
        return [*self._origin_findings(), *self._losses(), *self._rounded_sums(), *self._first_places()]

    def _origin_findings(self) -> list[Finding]:
        """Findings about the origins of values in buffers."""
        if self._origins is None:
            return []
        made = []
        for origin in self._origins.found():
            birth = origin.birth
            place = birth.place(int(birth.rows[origin.index]), int(birth.lanes[origin.index]))
            text = described(origin, self.kernel.source_at)
            made.append(
                self.finding(
                    ORIGIN, text, birth.instruction.pc, place, instruction=birth.instruction.name, count=origin.dwords
                )
            )
        return made

    def _losses(self) -> list[Finding]:
        """Findings about losses: of each conversion, or of the conversions of a source line together."""
        found: dict[tuple[object, str], Tally] = {}
        for pc, tally in sorted(self._conversions.tallies.items()):
            place = self.kernel.source_at(pc) if self._origins is None else pc
            known = found.setdefault((place, tally.format.name), tally.copy())
            if known.instruction.pc != pc:
                known.add(tally)
        return [
            self.finding(LOSSES, one.text(), one.instruction.pc, instruction=one.instruction.name, count=one.values)
            for one in found.values()
            if one.loses or self._origins is not None
        ]

    def _rounded_sums(self) -> list[Finding]:
        """Sums that executed loops round: one finding for each source line."""
        lines: dict[tuple[str, bool], list[RoundedSum]] = {}
        for pc in sorted(self._rounding):
            one = self._rounded[pc]
            lines.setdefault((self.kernel.source_at(pc), one.partial), []).append(one)
        return [
            self.finding(ROUNDED_SUM, self._rounded_text(those), those[0].pc, count=len(those))
            for those in lines.values()
        ]

    def _rounded_text(self, those: Sequence[RoundedSum]) -> str:
        """The sums that the conversions of a line round."""
        first = those[0]
        added = self.kernel.instruction_at(first.added)
        name = "" if added is None else added.name
        of = f"{name} ({self.kernel.source_at(first.added) or f'{first.added:#x}'})"
        what = (
            f"the loop rounds what {of} sums to {first.narrow}, and adds that to a sum in F32"
            if first.partial
            else f"the loop rounds its sum in F32, of {of}, to {first.narrow}, and goes on with what is left"
        )
        return f"{what}; {len(those)} instructions of this line do" if len(those) > 1 else what

    def _first_places(self) -> list[Finding]:
        """The first place of each source line, in address order."""
        ordered = sorted(self._seen.values(), key=lambda seen: (seen.finding.pc or 0, seen.finding.id))
        return [
            replace(
                s.finding, message=f"{s.finding.message}; {s.count} value{'s' * (s.count != 1)} in all", count=s.count
            )
            for s in ordered
        ]


def _placed(instruction: Instruction, place: int) -> Operand:
    """A destination; without a format if a 16-bit result is not in the lower half."""
    operand = instruction.dst[place]
    upper = instruction.modifiers.get("op_sel", 0) & 8 and instruction.encoding != "VOP3P"
    if operand.type in ("f16", "bf16") and (upper or instruction.modifiers.get("dst_sel", 6) != 6):
        return replace(operand, type="unknown")
    return operand
