"""Undefined bits through one instruction on registers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from mfmasim.kernels import PerKernel
from mfmasim.machine.binding.bind import operation_of
from mfmasim.machine.binding.dpp import is_dpp
from mfmasim.machine.binding.dual import bind_dual
from mfmasim.machine.definedness.bits import by_execution, everything, moved_origins, steered
from mfmasim.machine.definedness.keys import AGPR, EXECS, SCC, SGPR, VECTORS, keys_of, set_of
from mfmasim.machine.definedness.planes import ONES
from mfmasim.machine.definedness.probe import Probed
from mfmasim.machine.definedness.typed import Typed, source_origins
from mfmasim.machine.definedness.uses import matrix_bits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mfmasim.arrays import U32
    from mfmasim.isa import Instruction
    from mfmasim.machine.definedness.planes import Planes
    from mfmasim.machine.definedness.shadow_state import ShadowState
    from mfmasim.machine.events.interface import Bound
    from mfmasim.machine.opcodes.registry import Operation
    from mfmasim.machine.opcodes.undefined_rules import Rule
    from mfmasim.machine.state.waves import Group

    Found = dict[int, NDArray[np.uint32]]

SIXTEEN = ("u16", "i16", "f16", "b16")


@dataclass(frozen=True)
class Registers:
    """Registers that an instruction reads and writes, by key; the launches of a kernel share them."""

    operands: tuple[tuple[int, ...], ...]
    reads: tuple[int, ...]
    writes: tuple[int, ...]
    touched: int
    """All registers, as a set."""
    reading: int
    """Registers on which undefined bits of the results depend, as a set."""


MATRIX_BITS: PerKernel[dict[tuple[int, tuple[int, ...]], tuple[list[U32 | None], U32]]] = PerKernel(lambda _: {})
"""Bits that matrix instructions use, by an instruction's address and registers."""


def registers_of(instruction: Instruction, vectors: int, scalars: int) -> Registers:
    """Find the registers that an instruction reads and writes.

    Args:
        instruction: an instruction on registers.
        vectors: vector registers of a wave.
        scalars: scalar registers of a wave.
    """
    parts = instruction.halves or (instruction,)
    operations = [operation_of(part) for part in parts]
    operands = [keys_of(operand) for part in parts for operand in part.src]
    reads = [key for keys in operands for key in keys]
    writes = [key for part in parts for operand in part.dst for key in keys_of(operand)]
    sources = {kind for operation in operations for kind in operation.sources}
    results = {kind for operation in operations for kind in operation.results}
    if "scc" in sources:
        reads.append(SCC)
        operands.append((SCC,))
    if "scc" in results:
        writes.append(SCC)
    if "exec" in results:
        writes += EXECS
    if any(operation.undefined.exchanges for operation in operations):
        writes += [key for key in reads if key < VECTORS]
    if instruction.opcode.relative:
        every = range(vectors) if writes[0] < VECTORS else range(SGPR, SGPR + scalars)
        reads, writes = [*reads, *every], [*writes, *every]
        operands = [tuple(reads)]
    # Destinations may keep bits or lanes besides inactive lanes.
    partial = (
        instruction.opcode.relative
        or any(operation.undefined.keeps for operation in operations)
        or any(kind in SIXTEEN for kind in results)
        or is_dpp(instruction)
        or instruction.modifiers.get("dst_sel", 6) != 6
        or any(operand.half for part in parts for operand in part.dst)
    )
    writes = list(dict.fromkeys(writes))
    touched, reading = set_of([*reads, *writes]), set_of([*reads, *(writes if partial else ())])
    return Registers(tuple(operands), tuple(reads), tuple(writes), touched, reading)


def by_lane(operation: Operation) -> bool:
    """Whether a lane reads its own registers only, so that lanes which EXEC disables are not read."""
    return operation.unit == "vector" and not operation.undefined.every_lane and not operation.undefined.quad


class Flow:
    """An instruction on registers, and its rule."""

    def __init__(self, instruction: Instruction, run: Bound, owner: ShadowState, registers: Registers) -> None:
        """Follow an instruction with its registers.

        Args:
            instruction: an instruction on registers.
            run: executes the instruction.
            owner: of the launch.
            registers: registers that it reads and writes.
        """
        self.instruction, self.run, self.owner, self.planes = instruction, run, owner, owner.planes
        self.operands, self.reads, self.writes = registers.operands, registers.reads, registers.writes
        self.reading = registers.reading
        self.writes_exec = any(key in EXECS for key in self.writes)
        self.parts = instruction.halves or (instruction,)
        self.indexes = instruction.opcode.relative
        self.matrix = bool(instruction.opcode.matrix)
        self.by_lane = not is_dpp(instruction) and all(by_lane(operation_of(part)) for part in self.parts)
        self._made: dict[Instruction, Typed | Probed | Loose] = {}
        self._used: tuple[list[NDArray[np.uint32] | None], NDArray[np.uint32]] | None = None
        self._alone: dict[Instruction, Bound] = {}

    def follow(self, g: Group) -> None:
        """Before the instruction runs: compute the undefined bits of its results."""
        planes = self.planes
        if self.matrix:
            self._matrix(g)
            return
        if not planes.dirty & self.reading or not self._reads_undefined(g):
            planes.define(g, self.writes)
            return
        found, origins = self._found(g)
        for key, bits in found.items():
            if bits.any():
                planes.assign(key, bits, origins[key])
            else:
                planes.forget(key)

    def _reads_undefined(self, g: Group) -> bool:
        """Whether a source register is undefined in one of these waves."""
        reading = self.planes.dirty & self.reading
        for key in {*self.reads, *self.writes}:
            if reading >> key & 1:
                bits = self.planes.of(g, key)
                if self.by_lane and key < VECTORS and g.mask is not None:
                    bits = bits * g.mask
                if bits.any():
                    return True
        return False

    def _found(self, g: Group) -> tuple[Found, Found]:
        """Undefined bits and origins of all results, of all waves."""
        if len(self.parts) == 1:
            return self._of_part(g, self.instruction, self.run, self.operands, self.writes)
        both: tuple[Found, Found] = ({}, {})
        for part in self.parts:  # both halves read their sources before either writes
            operands = [keys_of(operand) for operand in part.src]
            writes = [key for operand in part.dst for key in keys_of(operand)]
            if part not in self._alone:
                self._alone[part] = bind_dual([(part, operation_of(part))], self.owner.machine.arch)
            found = self._of_part(g, part, self._alone[part], operands, writes)
            for whole, each in zip(both, found, strict=True):
                whole.update(each)
        return both

    def _of_part(
        self, g: Group, part: Instruction, run: Bound, operands: Sequence[tuple[int, ...]], writes: Sequence[int]
    ) -> tuple[Found, Found]:
        operation = operation_of(part)
        rule = operation.undefined
        steered_elsewhere = is_dpp(part) and 0 in rule.steering
        executed = rule.kind in ("bits", "moves") and not steered_elsewhere and not self._hidden(part, operation)
        if self.indexes or executed:
            return self._by_execution(g, part, run, rule, operands, writes)
        reads = [key for keys in operands for key in keys]
        found = self._typed(part, operation).found(self.planes, g, writes, reads)
        return found, self._origins(g, part, found)

    def _typed(self, part: Instruction, operation: Operation) -> Typed | Probed | Loose:
        if part not in self._made:
            if operation.unit == "direct":
                made: Typed | Probed | Loose = Loose(part)
            elif operation.shaped and operation.unit == "vector":
                made = Probed(part, operation.undefined, self.owner.machine)
            else:
                made = Typed(part, operation)
            self._made[part] = made
        return self._made[part]

    def _hidden(self, instruction: Instruction, operation: Operation) -> bool:
        """Whether an operation that combines bits has one register in several operands, at different places."""
        kinds = [kind for kind in operation.sources if kind not in ("mode", "scc")]
        pairs = list(zip(kinds, instruction.src, strict=False))
        masks, others = (
            {key for kind, operand in pairs if (kind == "mask") is wanted for key in keys_of(operand)}
            for wanted in (True, False)
        )
        if masks & others:  # a bit selects in one lane, and is data in all lanes
            return True
        elsewhere = (
            is_dpp(instruction)
            or instruction.modifiers.get("op_sel", 0)
            or any(operand.sel != 6 or operand.half for operand in instruction.src)
        )
        return bool(elsewhere) and operation.undefined.mixes and len(set(self.reads)) < len(self.reads)

    def _by_execution(
        self,
        g: Group,
        part: Instruction,
        run: Bound,
        rule: Rule,
        operands: Sequence[tuple[int, ...]],
        writes: Sequence[int],
    ) -> tuple[Found, Found]:
        planes = self.planes
        found = by_execution(planes, g, run, operands, writes)
        steering = [key for place in rule.steering for key in operands[place]]
        data = [k for place, keys in enumerate(operands) if place not in rule.steering for k in keys]
        bad = steered(planes, g, steering, vector=writes[0] < VECTORS)
        if bad is not None and rule.pushes:
            active: NDArray[np.bool_] = bad if g.mask is None else bad & g.mask
            bad = np.broadcast_to(np.logical_or.reduce(active, axis=1, keepdims=True), (len(active), g.lanes))
        if bad is not None:
            for key in found:
                rows = g.take(found[key])
                if key < VECTORS and g.mask is not None and not rule.every_lane:
                    bad = bad & g.mask
                full = everything(rows, bad if key < VECTORS else bad.reshape(len(bad), -1)[:, 0])
                found[key] = full if g.all else g._put(found[key], full)  # noqa: SLF001
        if (rule.kind == "moves" or self.indexes) and bad is None:
            return found, moved_origins(planes, g, run, data, writes)
        return found, self._origins(g, part, found)

    def _origins(self, g: Group, part: Instruction, found: Found) -> Found:
        """Origins by lane: those of the sources, and of the old contents in lanes that are not written."""
        planes = self.planes
        source = source_origins(planes, g, part)
        if SCC in self.reads and SCC in planes.origins:
            source = np.where(source == 0, planes.origin(g, SCC)[:, None], source)
        out: Found = {}
        for key, bits in found.items():
            if not bits.any():
                out[key] = np.zeros(1, np.uint32)
                continue
            old = planes.origin(g, key)
            if key < VECTORS:
                new = np.where(source != 0, source, old)
                if g.mask is not None:
                    new = np.where(g.mask, new, old)
                new = np.broadcast_to(new, (len(new), g.lanes))
            else:
                new = source.max(axis=1)
                new = np.where(new != 0, new, old)
            if not g.all:
                whole = planes.origins.get(key, np.zeros((1, *new.shape[1:]), np.uint32))
                new = g._put(whole, new)  # noqa: SLF001
            out[key] = new
        return out

    def _matrix(self, g: Group) -> None:
        """Report the operands of a matrix instruction as uses, regardless of EXEC; its result is defined."""
        planes, owner = self.planes, self.owner
        if self._used is None:
            arch, wave = owner.machine.arch, owner.machine.kernel.wave
            made = partial(matrix_bits, self.instruction, arch, wave)
            self._used = owner.kept(MATRIX_BITS, self.instruction, made)
        sources, written = self._used
        for operand, used in zip(self.instruction.src, sources, strict=True):
            for number, key in enumerate(keys_of(operand)):
                if planes.dirty >> key & 1:
                    bits = planes.of(g, key)
                    if used is not None:
                        bits = bits & used[number]
                    if bits.any():
                        owner.uses.report("matrix", self.instruction, g, key, bits, planes.origin(g, key))
                        planes.define(g, [key], everywhere=True)
        target = self.instruction.dst[0]
        for number, key in enumerate(keys_of(target)):
            if planes.dirty >> key & 1:
                left = planes.of(g, key) & ~written[number]
                planes.put(g, key, left, planes.origin(g, key))


class Loose:
    """An operation that binds itself and has no row: an undefined source bit makes all results undefined."""

    def __init__(self, instruction: Instruction) -> None:
        """Keep its operands."""
        self.instruction = instruction

    def found(self, planes: Planes, g: Group, writes: Sequence[int], reads: Sequence[int]) -> Found:
        """Undefined bits of the results, in all waves.

        Args:
            planes: what is undefined before.
            g: the waves.
            writes: keys of the registers that are written.
            reads: keys of the registers that are read.
        """
        shadow = planes.with_values(g, planes.chosen(planes.undefined, [*reads, *writes]), blank=True)
        bad: NDArray[np.bool_] = np.zeros((1, 1), np.bool_)
        for key in reads:
            bits = planes.of(g, key)
            bad = bad | (bits != 0 if key < VECTORS else (bits != 0)[:, None])
        out: Found = {}
        for key in writes:
            if key < VECTORS:
                value = np.broadcast_to(np.where(bad, ONES, np.uint32(0)), (len(bad), g.lanes))
                kind, index = ("v", key) if key < AGPR else ("a", key - AGPR)
                shadow.write_v(kind, index, value)
                out[key] = (shadow.waves.v if key < AGPR else shadow.waves.a)[index]
            else:
                value = np.where(bad.any(axis=1), ONES, np.uint32(0))
                whole = planes.undefined.get(key, np.zeros(1, np.uint32))
                out[key] = value if g.all else g._put(whole, value)  # noqa: SLF001
        return out
