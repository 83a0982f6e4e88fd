"""hazards: pairs of instructions without the wait states that software has to provide.

The simulator executes one instruction after the other, so values are correct here but may be wrong on hardware.
This check follows, on the executed path of every wave and across branches, results that must not be used yet. They
depend on the path alone: waves share a state, and a block is examined once for each state.

The severity follows from the evidence for each row (`Row.judged`); with the option ``manual`` every pair is an error,
as the manuals require.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, ClassVar

from mfmasim.isa.hazards import Row, named, rows
from mfmasim.isa.hazards.follow import Broken, Follower, State
from mfmasim.kernels import PerKernel
from mfmasim.observe.check import Check
from mfmasim.observe.finding import SEVERITIES, Finding, Kind
from mfmasim.observe.paths import Paths

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mfmasim.isa import Instruction
    from mfmasim.machine.events import BlockEvent
    from mfmasim.machine.launch.launch import Launch

STATES = Kind(
    "hazards-wait-states",
    "error",
    "Too few wait states between two instructions",
    "The hardware does not interlock this pair: the second instruction may read the previous value. The simulator "
    "executes instructions one after the other, so outputs are right here.",
    "v_readfirstlane_b32 s4, v1; global_load_dword v2, v3, s[4:5]  // inline assembly, CDNA",
    "Place the s_nop that the message names, or as many independent instructions, between them.",
    place="wave",
)
MATRIX = Kind(
    "hazards-matrix",
    "error",
    "A matrix instruction and another instruction are too close",
    "Results of a matrix instruction are written pass by pass, and its sources are read late; the hardware does not "
    "interlock.",
    "v_mfma_f32_32x32x8_f16 v[0:15], ...; v_add_f32 v16, v0, v0  // inline assembly, CDNA",
    "Place independent instructions, or the s_nop that the message names, between them.",
    place="wave",
)
VECTOR = Kind(
    "hazards-vector",
    "error",
    "A vector ALU instruction is required between two others",
    "S_NOP is not a vector instruction, and S_DELAY_ALU is only a hint.",
    "v_wmma_f32_16x16x16_f16 v[0:7], ...; v_wmma_f32_16x16x16_f16 v[8:15], v[0:7], ...  // RDNA",
    "Place an independent vector instruction, or v_nop, between them.",
    place="wave",
)
DEPENDENCY = Kind(
    "hazards-dependency",
    "error",
    "A wait for the vector or the scalar ALU is missing",
    "This chip does not detect the dependency unless the program waits.",
    "v_rcp_f32 v1, v2; v_mul_f32 v3, v1, v1  // inline assembly, gfx1100",
    "Place the s_waitcnt_depctr or s_wait_alu that the message names between them.",
    place="wave",
)
CONTRADICTED = Kind(
    "hazards-contradicted",
    "warning",
    "Too few wait states, although some evidence says that it works",
    "The manual's table requires more, but several of AMD's prebuilt kernels, which are in production use, have as "
    "few, or LLVM inserts none. One finding stands for all pairs of a row of the table.",
    "v_mfma_f32_16x16x32_fp8_fp8 v[12:15], ...; four instructions; v_fma_f32 v124, v12, v6, v124  // CDNA3",
    "As for an error, if the kernel has to follow the manual; the check hazards:manual reports every pair.",
    place="wave",
)
TOLERATED = Kind(
    "hazards-tolerated",
    "info",
    "Fewer wait states than the manual requires, as usual in AMD's own kernels",
    "A tenth or more of AMD's prebuilt kernels, which are in production use, break this row of the table, and several "
    "have as few; or the hardware itself waits long enough. One finding stands for all pairs of a row.",
    "s_add_u32 m0, s4, s5; buffer_load_dword v2, s[8:11], 0 offen lds",
    "Nothing, or as for an error if the kernel has to follow the manual (check hazards:manual).",
    place="wave",
)
MILDER = {"warning": CONTRADICTED, "info": TOLERATED}
LONGEST_NOP = 16
"""Wait states of the longest S_NOP."""
NEAR = 8
"""Most recent gaps (`Gap`) of a row that a pair may join."""


@dataclass(frozen=True)
class Pair:
    """Two instructions that are too close."""

    row: tuple[str, str, str]
    short: int
    """Missing wait states."""
    finding: Finding
    first: tuple[int, int]
    """`Paths.first`: the wave."""

    @property
    def rank(self) -> tuple[int, int]:
        """Severity of the pair; higher is worse."""
        return -SEVERITIES.index(self.finding.severity), self.short


FOLLOWERS: PerKernel[dict[str, Follower]] = PerKernel(lambda _: {})
"""Followers of the kernel's instructions, by architecture."""


class Hazards(Paths[State], Check):
    """Follows the results of every wave that must not be used yet."""

    name = "hazards"
    about = "pairs of instructions without the wait states that software has to provide"
    kinds = (STATES, MATRIX, VECTOR, DEPENDENCY, CONTRADICTED, TOLERATED)
    options: ClassVar[Mapping[str, str]] = {"manual": "the manuals' letter: every pair is an error"}

    def __init__(self, launch: Launch, option: str = "") -> None:
        """Find the rows of the architecture."""
        Check.__init__(self, launch, option)
        Paths.__init__(self, State(), self.kernel)
        arch = self.kernel.arch
        self.m0 = arch.m0
        # States refer to records of the follower, so that the launches of a kernel share the follower.
        followers = FOLLOWERS.of(self.kernel)
        self._follower = followers.setdefault(arch.name, Follower(rows(arch), arch, self.kernel.wave, launch.passes))
        self._pairs: dict[tuple[int, int], Pair] = {}
        """Pairs by the addresses of the second and the first instruction."""

    def after(self, state: State, event: BlockEvent, index: int) -> State:
        """The results that must not be used yet after a block.

        Args:
            state: of the wave before.
            event: the block.
            index: one of the waves of the event that are in this state.
        """
        for instruction in event.instructions:
            state = self._follower.step(state, instruction, partial(self._missing, instruction, event, index))
        return state

    def _missing(self, instruction: Instruction, event: BlockEvent, index: int, broken: Broken) -> None:
        self.reported = True
        row, needs, present = broken.row, broken.needs, broken.present
        first, there = broken.first.opcode.name, self.kernel.source_at(broken.pc)
        name = named(instruction.written(broken.register), self.m0)
        kind, unit, fix = _advice(row, needs - present)
        message = (
            f"{row.first} ({first} at {broken.pc:#x}{f', {there}' if there else ''}), then {row.second} "
            f"({name}): {_many(needs, unit)} are required between them, {present} present; "
        )
        severity, reason = ("error", "") if self.option else row.judged(needs, present, broken.stalled)
        kind = MILDER.get(severity, kind)
        message += f"{reason} ({row.source})" if reason else f"{fix} is missing ({row.source})"
        finding = self.finding(
            kind,
            message,
            instruction.pc,
            event.place(index, None),
            register=name,
            instruction=instruction.name,
            expected=_many(needs, unit),
            actual=_many(present, unit),
        )
        self._keep(
            (instruction.pc, broken.pc), Pair((row.first, row.second, row.link), needs - present, finding, self.first)
        )

    def _keep(self, key: tuple[int, int], pair: Pair) -> None:
        """Keep the worst case of a pair of instructions, of the first wave in the grid."""
        had = self._pairs.get(key)
        if had is None or had.rank < pair.rank or (had.rank == pair.rank and had.first > pair.first):
            self._pairs[key] = pair

    def merge(self, other: Hazards) -> None:
        """Add the findings of another part of the same launch; parts come in the order of the grid."""
        for key, pair in other._pairs.items():
            had = self._pairs.get(key)
            if had is None or had.rank < pair.rank:
                self._pairs[key] = pair

    def findings(self) -> list[Finding]:
        """The errors in address order, then one milder finding for all pairs of each row.

        An error covers all pairs of a row that one more instruction would correct; with the option, one pair.
        """
        errors: list[Finding] = []
        gaps: dict[tuple[str, ...], list[Gap]] = {}
        milder: dict[tuple[str, ...], list[Pair]] = {}
        for key, pair in sorted(self._pairs.items(), key=lambda entry: entry[0]):
            if pair.finding.severity != "error":
                milder.setdefault((pair.finding.id, *pair.row), []).append(pair)
            elif self.option:
                errors.append(pair.finding)
            else:
                _into(gaps.setdefault(pair.row, []), key, pair)
        found = [gap.finding() for several in gaps.values() for gap in several]
        errors += sorted(found, key=lambda finding: finding.pc or 0)
        return errors + [_together(pairs, f"{len(pairs)} such pairs") for pairs in milder.values()]


@dataclass
class Gap:
    """A place where a missing instruction would correct several pairs of one row."""

    pairs: list[Pair] = field(default_factory=list)
    seconds: set[int] = field(default_factory=set)
    firsts: set[int] = field(default_factory=set)
    """Addresses of the instructions of the pairs."""

    def takes(self, second: int, first: int) -> bool:
        """Whether one place lies in another pair and in all pairs of the gap: behind one first, before one second."""
        seconds, firsts = self.seconds | {second}, self.firsts | {first}
        shared = second in self.seconds or first in self.firsts
        return shared and (len(seconds) == 1 or len(firsts) == 1 or max(firsts) < min(seconds))

    def finding(self) -> Finding:
        """The worst pair, with the registers of all pairs."""
        names = _in_runs(pair.finding.register for pair in self.pairs)
        return replace(_together(self.pairs, f"one serves all {len(self.pairs)} pairs, of {names}"), register=names)


def _into(gaps: list[Gap], key: tuple[int, int], pair: Pair) -> None:
    """Add a pair to the gap that it shares with other pairs, or begin a gap."""
    gap = next((one for one in reversed(gaps[-NEAR:]) if one.takes(*key)), None)
    if gap is None:
        gap = Gap()
        gaps.append(gap)
    gap.pairs.append(pair)
    gap.seconds.add(key[0])
    gap.firsts.add(key[1])


def _in_runs(names: Iterable[str]) -> str:
    """Names of registers without repetitions, with consecutive registers in the assembler's notation.

    >>> _in_runs(["v5", "v4", "m0", "v6", "s12", "v4"])
    'm0, s12, v[4:6]'
    """
    files: dict[str, set[int]] = {}
    others = set()
    for name in names:
        if found := re.fullmatch(r"([vas])(\d+)", name):
            files.setdefault(found[1], set()).add(int(found[2]))
        else:
            others.add(name)
    parts = sorted(others)
    for file, numbers in sorted(files.items()):
        for _, run in groupby(enumerate(sorted(numbers)), key=lambda pair: pair[1] - pair[0]):
            same = [number for _, number in run]
            parts.append(f"{file}[{same[0]}:{same[-1]}]" if len(same) > 1 else f"{file}{same[0]}")
    return ", ".join(parts)


def _together(pairs: Sequence[Pair], more: str) -> Finding:
    """One finding for pairs of one row: the worst pair, and a remark on the other pairs."""
    worst = max(pairs, key=lambda pair: pair.rank).finding
    text = f"{worst.message}; {more}" if len(pairs) > 1 else worst.message
    return replace(worst, message=text, count=len(pairs))


def _many(count: int, unit: str) -> str:
    return f"{count} {unit}{'s' * (count != 1)}"


def _advice(row: Row, short: int) -> tuple[Kind, str, str]:
    """Kind of the finding, the unit that it counts, and a sufficient correction."""
    if row.clock == "states":
        parts = [LONGEST_NOP] * (short // LONGEST_NOP) + [short % LONGEST_NOP] * bool(short % LONGEST_NOP)
        kind = MATRIX if row.matrix else STATES
        return kind, "wait state", "; ".join(f"s_nop {part - 1}" for part in parts)
    if row.clock == "trans":
        return DEPENDENCY, "vector instruction", "s_waitcnt_depctr depctr_va_vdst(0)"
    return VECTOR, "vector instruction", "an instruction such as v_nop"
