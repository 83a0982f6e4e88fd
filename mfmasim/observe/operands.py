"""operands: operands that the hardware interprets otherwise than the source suggests.

A matrix instruction ignores EXEC (in LLVM's AMDGPU backend none reads it). Only the exponent field of a scaled
conversion's scale counts (CDNA4 ISA manual, opcodes 565 to 618). A scale of 0 is 2^-127: compilers replace a
scaled matrix instruction by the unscaled one only if both scales are the literal 0.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from mfmasim.formats import format as number_format
from mfmasim.observe.check import Check
from mfmasim.observe.finding import Kind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfmasim.isa import Instruction
    from mfmasim.machine.events import ValueEvent
    from mfmasim.machine.launch.launch import Launch
    from mfmasim.observe.finding import Finding

MASKED = Kind(
    "operands-masked-lanes",
    "info",
    "A matrix instruction is executed while lanes are masked",
    "Matrix instructions ignore EXEC: masked lanes give their elements and receive results like all others.",
    "if (lane < 32) d = __builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8(a, b, c, 0, 0, 0);",
    "Execute it with all lanes, and select elements before or results after it.",
    place="wave",
)
ROUNDED = Kind(
    "operands-scale-mantissa",
    "info",
    "A scale that is no power of two loses its mantissa",
    "A scaled conversion uses the exponent of its f32 scale alone; sign and mantissa are ignored.",
    "__builtin_amdgcn_cvt_scalef32_pk_fp8_f32(old, x, y, 3.0f, false)  // divides by 2",
    "Multiply by the scale in f32 first and convert with scale 1, or choose a power of two.",
    place="wave",
)
ZERO = Kind(
    "operands-scale-zero",
    "warning",
    "Every scale of one factor is 0, which is 2^-127",
    "As E8M0 a 0 is the smallest scale. Compilers replace two literal zeros by the instruction without scales, but not "
    "one of them.",
    "__builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(a, b, c, 0, 0, 0, 0, 0, scale_b)",
    "Pass 127, which is 1.",
    place="wave",
)


class Operands(Check):
    """Examines matrix instructions and scaled conversions."""

    name = "operands"
    about = "masked lanes of matrix instructions, scales that count otherwise than they look"
    kinds = (MASKED, ROUNDED, ZERO)

    only_unusual = True

    def __init__(self, launch: Launch) -> None:
        """Start without findings."""
        super().__init__(launch)
        self._seen: dict[tuple[str, int, str], tuple[Finding, tuple[int, ...], int]] = {}

    def watches(self, instruction: Instruction) -> bool:
        """Matrix instructions, and conversions with a scale."""
        return bool(instruction.opcode.matrix) or instruction.opcode.scaled

    def on_value(self, event: ValueEvent) -> None:
        """Examine one instruction."""
        active = event.active()
        if event.instruction.opcode.matrix:
            self._masked(event, active)
            if event.instruction.opcode.scaled:
                self._scales(event)
        else:
            self._conversion(event, active)

    def _masked(self, event: ValueEvent, active: NDArray[np.bool_]) -> None:
        if active.all():
            return
        idle = ~active
        lane = int(np.argwhere(idle)[0][1])
        lanes = int(idle.any(axis=0).sum())
        text = f"{lanes} lanes are masked (lane {lane} is the first), but the instruction ignores EXEC"
        self._add(MASKED, event, idle, text)

    def _conversion(self, event: ValueEvent, active: NDArray[np.bool_]) -> None:
        """Examine the scale, the last operand in assembly."""
        place = max(n for n, operand in enumerate(event.instruction.src) if operand.printed)
        (scale, *_) = event.sources[place] or (np.zeros((1, 1), np.uint32),)
        given, used = scale.view(np.float32), number_format("e8m0").decode(scale >> np.uint32(23) & np.uint32(0xFF))
        odd = (given != used) & ~(np.isnan(given) & np.isnan(used)) & active
        if odd.any():
            wave, lane = (int(k) for k in np.argwhere(odd)[0])
            at = min(wave, len(scale) - 1), min(lane, scale.shape[1] - 1)
            self._add(ROUNDED, event, odd, f"the scale {given[at]:g} counts as {used[at]:g}, its exponent")

    def _scales(self, event: ValueEvent) -> None:
        """Examine the scales of A and B, the last two sources; modifiers select a byte of each."""
        chosen = event.instruction.modifiers
        scales = []
        for n, words in enumerate(event.sources[-2:]):
            if event.instruction.encoding == "WMMA":  # all bytes; the constant 0 means 1 there, and 0 in E5M3 is zero
                plain = event.instruction.src[n - 2].kind == "v" and not chosen.get(f"matrix_{'ab'[n]}_scale_fmt", 0)
                scales.append(np.logical_and.reduce([(word == 0).all(axis=1) for word in words]) & plain)
                continue
            byte = chosen.get("op_sel", 0) >> n & 1 | (chosen.get("op_sel_hi", 0) >> n & 1) << 1
            scales.append((words[0] >> np.uint32(8 * byte) & np.uint32(0xFF) == 0).all(axis=1))
        rows = event.waves
        zero_a, zero_b = (np.broadcast_to(zero, (rows,)) for zero in scales)
        for name, zero, other, factor in (("A", zero_a, zero_b, 0), ("B", zero_b, zero_a, 1)):
            holds = np.any([np.broadcast_to((w != 0).any(axis=1), (rows,)) for w in event.sources[factor]], axis=0)
            alone = zero & ~other & holds  # a block of zeros has this scale, too
            if alone.any():
                text = f"the scale of {name} is 0 in every lane, which is 2^-127; a literal 0 beside another scale?"
                self._add(ZERO, event, alone[:, None], text, name)

    def _add(self, kind: Kind, event: ValueEvent, where: NDArray[np.bool_], text: str, part: str = "") -> None:
        """Record the first place of an instruction, and count all places, in waves."""
        instruction = event.instruction
        wave, lane = (int(k) for k in np.argwhere(where)[0])
        place = event.place(wave, lane if where.shape[1] > 1 else None)
        finding = self.finding(kind, text, instruction.pc, place, instruction=instruction.name)
        self._take(
            (kind.id, instruction.pc, part),
            (finding, place.order, int(where.any(axis=1).sum()) * (event.waves // len(where))),
        )

    def _take(self, key: tuple[str, int, str], new: tuple[Finding, tuple[int, ...], int]) -> None:
        had = self._seen.get(key)
        if had is None:
            self._seen[key] = new
        else:
            first = min(had, new, key=lambda seen: seen[1])
            self._seen[key] = (*first[:2], had[2] + new[2])

    def merge(self, other: Operands) -> None:
        """Add the findings of another part of the same launch."""
        for key, seen in other._seen.items():
            self._take(key, seen)

    def findings(self) -> list[Finding]:
        """The findings, in address order."""
        ordered = sorted(self._seen.items(), key=lambda item: (item[0][1], item[0]))
        return [replace(finding, count=count) for _, (finding, _, count) in ordered]
