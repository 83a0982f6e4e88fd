"""Halves of registers that an operation reads for halves of its results, determined by trial executions.

Operations on packed numbers and conversions read whole dwords and select parts themselves. Instead
of stating these parts again, the operation is executed on random numbers, and again with one part changed: a part
that never affects a result is not read for it. Parts have the size of the operation's numbers
(`Rule.part`): bits that a format drops, rarely or always, count as read.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from mfmasim.kernels import PerKernel
from mfmasim.machine.binding.bind import bind
from mfmasim.machine.binding.dpp import is_dpp, narrowed
from mfmasim.machine.binding.operands import field_mask, read_dword
from mfmasim.machine.definedness.keys import AGPR, SCC, SGPR, VECTORS, keys_of
from mfmasim.machine.definedness.planes import ONES, register
from mfmasim.machine.state.waves import Group, Waves

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mfmasim.arrays import U32
    from mfmasim.isa import Instruction
    from mfmasim.machine.definedness.planes import Planes
    from mfmasim.machine.events.interface import Bound, Machine
    from mfmasim.machine.opcodes.undefined_rules import Rule

    Half = tuple[int, np.uint32]

SAMPLES = 32
"""Waves of the trial."""
HALVES = (np.uint32(0x0000FFFF), np.uint32(0xFFFF0000))
EDGES = np.array([0, 1, 0x7FFF, 0x8000, 0xFFFF], np.uint32)
"""Halves at which a constant operand decides: the only one above -2, or a sum that wraps around -1."""
FLOWS: PerKernel[dict[object, dict[Half, list[Half]]]] = PerKernel(lambda _: {})
"""Memo of flows by everything on which they depend, with places among an instruction's registers as keys."""
LEFT_OUT = ("dpp_ctrl", "row_mask", "bank_mask", "bound_ctrl", "fi", "dpp8", "clamp", "omod")
"""Modifiers that do not change which parts of the sources are read."""


class Probed:
    """An instruction whose flow is determined by one trial, when an operand is first undefined."""

    def __init__(self, instruction: Instruction, rule: Rule, machine: Machine) -> None:
        """Start without a trial."""
        self.instruction, self.rule, self.machine = instruction, rule, machine
        self.writes = [key for operand in instruction.dst for key in keys_of(operand)]
        self.step = narrowed(instruction, self._step) if is_dpp(instruction) else self._step

    def found(self, planes: Planes, group: Group, writes: Sequence[int], reads: Sequence[int]) -> dict[int, U32]:
        """Undefined bits of the results, in all waves.

        Args:
            planes: what is undefined before.
            group: the waves.
            writes: keys of the registers that are written.
            reads: keys of the registers that are read.
        """
        keys = dict.fromkeys([*reads, *writes])
        shadow = planes.with_values(group, planes.chosen(planes.undefined, keys), blank=True)
        self.step(shadow)
        return {key: register(shadow.waves, key) for key in writes}

    def _step(self, shadow: Group) -> None:
        values: dict[int, U32] = {key: _read(shadow, key) for key in self.writes}
        for operand in self.instruction.src:
            bare = replace(operand, sel=6)
            for number, key in enumerate(keys_of(operand)):
                values[key] = values.get(key, np.uint32(0)) | read_dword(bare, number, self.instruction)(shadow)
        results: dict[int, U32] = {key: np.zeros((1, shadow.lanes), np.uint32) for key in self.writes}
        for (source, part), targets in self.flow.items():
            some = values[source] & part != 0
            for target, mask in targets:
                results[target] = results[target] | np.where(some, mask, np.uint32(0))
        for key, value in results.items():
            if key < VECTORS:
                shadow.write_v("v" if key < AGPR else "a", key % AGPR, value)
            else:
                shadow.write_s(key - SGPR, np.where((value != 0).any(axis=1), ONES, np.uint32(0)))

    @cached_property
    def flow(self) -> dict[Half, list[Half]]:
        """Keys and halves of results that each half of a source affects, by the source's key and half.

        The flow depends on equalities of registers, not on their numbers: instructions of a kernel that differ in the
        numbers alone share one trial.
        """
        ins = self.instruction
        operands = (*ins.dst, *ins.src)
        keys = list(dict.fromkeys(key for operand in operands for key in keys_of(operand)))
        place = {key: number for number, key in enumerate(keys)}
        alike = tuple(
            (replace(one, index=0) if one.kind in "va" else one, tuple(place[key] for key in keys_of(one)))
            for one in operands
        )
        signature = ins.name, ins.encoding, len(ins.dst), repr(sorted(ins.modifiers.items())), alike
        tried = FLOWS.of(self.machine.kernel)
        found = tried.get(signature)
        if found is None:
            flow = self._tried()
            found = tried[signature] = {
                (place[key], part): [(place[to], mask) for to, mask in reached] for (key, part), reached in flow.items()
            }
        return {(keys[key], part): [(keys[to], mask) for to, mask in reached] for (key, part), reached in found.items()}

    def _tried(self) -> dict[Half, list[Half]]:
        """The flow of this instruction, by executing it."""
        ins = self.instruction
        modifiers = {name: value for name, value in ins.modifiers.items() if name not in LEFT_OUT}
        run = bind(replace(ins, modifiers=modifiers, encoding="VOP3"), self.machine)
        before = self._random(np.random.default_rng(0))
        first = self._after(before, run, [])
        preserved, units = self._units()
        seen = []
        for unit in [*preserved, *units]:
            reached = [(key, mask) for key in self.writes for mask in HALVES]
            # A scalar is uniform: the number of waves suffices if it is read as a whole or not at all.
            if all(source < VECTORS or (self.rule.part == "register" and source != SCC) for source, _ in unit):
                other = self._after(before, run, unit)
                reached = [(key, mask) for key, mask in reached if ((first[key] ^ other[key]) & mask).any()]
            seen.append(reached)
        flow: dict[Half, list[Half]] = {}
        every = list(dict.fromkeys(place for reached in seen[len(preserved) :] for place in reached))
        for number, (unit, reached) in enumerate(zip([*preserved, *units], seen, strict=True)):
            whole = number >= len(preserved) and reached and not self.rule.packed
            for place in unit:
                flow[place] = [*flow.get(place, []), *(every if whole else reached)]
        return flow

    def _units(self) -> tuple[list[list[Half]], list[list[Half]]]:
        """Halves that destinations may keep, and the units of reading, as keys and halves."""
        operands = [keys_of(operand) for operand in self.instruction.src]
        read = {key for keys in operands for key in keys}
        preserved = [[(key, half)] for key in self.writes if key not in read for half in HALVES]
        units: list[list[Half]] = []
        for operand, keys in zip(self.instruction.src, operands, strict=True):
            # SDWA does not read the half that it does not select.
            halves = [half for half in HALVES if field_mask(operand.sel) & int(half)]
            if self.rule.part == "half":
                units += [[(key, half)] for key in keys for half in halves]
            elif self.rule.part == "register":
                units += [[(key, half) for half in halves] for key in keys]
            elif keys:
                units.append([(key, half) for key in keys for half in halves])
        return preserved, units

    def _random(self, rng: np.random.Generator) -> Waves:
        """Waves whose vector registers hold random bits, numbers of f32, pairs of f16, integers, and edges."""
        real: Waves = self.machine.waves
        waves = Waves(real.arch, SAMPLES, real.lanes, len(real.v), len(real.a))
        waves.mode = real.mode[:1]
        shape = (SAMPLES, real.lanes)
        keys = {key for operand in (*self.instruction.src, *self.instruction.dst) for key in keys_of(operand)}
        for key in sorted(keys):
            words = rng.integers(0, 1 << 32, shape, np.uint32)
            words[::4] = (rng.normal(size=shape) * 4).astype(np.float32).view(np.uint32)[::4]
            halves = (rng.normal(size=(2, *shape)) * 4).astype(np.float16).view(np.uint16).astype(np.uint32)
            words[1::4] = (halves[0] | halves[1] << np.uint32(16))[1::4]
            words[2::4] = rng.integers(-40000, 40000, shape).astype(np.int32).view(np.uint32)[2::4]
            edges = rng.choice(EDGES, (2, *shape))
            words[3::8] = (edges[0] | edges[1] << np.uint32(16))[3::8]
            if key < VECTORS:
                (waves.v if key < AGPR else waves.a)[key % AGPR] = words
            elif key != SCC:
                waves.s[key - SGPR] = words[:, 0].copy()
        return waves

    def _after(self, before: Waves, run: Bound, changed: Sequence[Half]) -> dict[int, U32]:
        """Destinations after an execution with some parts of registers changed."""
        waves = Waves(before.arch, before.count, before.lanes, 0, 0)
        waves.v, waves.a, waves.s, waves.mode = list(before.v), list(before.a), list(before.s), before.mode
        for source, part in changed:
            noise = np.random.default_rng(source).integers(0, 1 << 32, (before.count, before.lanes), np.uint32)
            if source >= VECTORS:
                waves.s[source - SGPR] = waves.s[source - SGPR] ^ (noise[:, 0] & part)
                continue
            file, index = (waves.v if source < AGPR else waves.a), source % AGPR
            file[index] = file[index] ^ (noise & part)
        group = Group(waves)
        with np.errstate(all="ignore"):
            run(group)
        return {key: np.broadcast_to(register(waves, key).T, (before.lanes, before.count)).T for key in self.writes}


def _read(shadow: Group, key: int) -> U32:
    values = register(shadow.waves, key)
    values = shadow.take(values)
    return values if key < VECTORS else values[:, None]
