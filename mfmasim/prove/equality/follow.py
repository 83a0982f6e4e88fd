"""Expressions through a launch: an observer that sees every instruction before and after its execution.

The launch runs with one set of inputs. The verdict holds for all inputs, because no value that depends on inputs may
decide which instructions are executed, by which lanes, or which addresses they access: if one does, the observer
stops (`Stopped`) without a verdict. Every instruction belongs to one of these classes:

* no operand depends on inputs: the results do not depend on inputs;
* it moves bytes (`moves`), or accesses memory (`transfers`): codes move, and the machine must show their bits;
* it computes (`computed`, `matrices`): a result is an expression of the instruction, MODE and all operands;
* any other instruction stops the observer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mfmasim.machine.binding.dpp import is_dpp
from mfmasim.machine.definedness.keys import EXECS, SCC, SGPR, VECTORS, keys_of
from mfmasim.machine.events import Observer
from mfmasim.machine.events.fragment_values import matrix_operands
from mfmasim.machine.opcodes.matrix import resolve
from mfmasim.machine.state.waves import VCC
from mfmasim.prove.equality.computed import Computed, head_of, masks, results, single
from mfmasim.prove.equality.matrices import matrix_results
from mfmasim.prove.equality.moves import moved
from mfmasim.prove.equality.parts import exchanged, half_written, parts_of, varying
from mfmasim.prove.equality.places import SHIFTS, Memory, Registers, constant_bytes, mask_bits, rows
from mfmasim.prove.equality.pool import BYTES
from mfmasim.prove.equality.stopped import Stopped
from mfmasim.prove.equality.transfers import Transfer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from mfmasim.isa import Instruction
    from mfmasim.machine.events import AccessEvent
    from mfmasim.machine.events.interface import Machine
    from mfmasim.machine.events.stepping import Step
    from mfmasim.machine.launch.launch import Launch
    from mfmasim.machine.state.waves import Group
    from mfmasim.prove.equality.parts import Part
    from mfmasim.prove.equality.pool import Codes, Pool

    Numbers = NDArray[np.int64]
    After = Callable[[Group, Numbers], None]

LANEWISE = ("s_and_b64", "s_or_b64", "s_xor_b64", "s_andn2_b64", "s_and_not1_b64", "s_orn2_b64", "s_not_b64",
            "s_mov_b64", "s_and_b32", "s_or_b32", "s_xor_b32", "s_andn2_b32", "s_and_not1_b32", "s_not_b32",
            "s_mov_b32")  # fmt: skip
"""Scalar operations that combine lane masks lane by lane."""
STATUS = (2, 3, 4, 17, 18)
"""Hardware registers with SCC, VCCZ, EXECZ and exceptions (LLVM's HW_REG_STATUS, TRAPSTS, STATE_PRIV, EXCP_FLAG_*)."""
NOT_FOLLOWED = {
    "tensor": "the tensor data mover is not followed",
    "index": "an index selects registers of the instructions behind it",
    "index_mode": "an index selects registers of the instructions behind it",
    "msb": "MODE selects registers of the instructions behind it",
}
"""Kinds of instructions that stop a comparison, with the reason."""


def mode_of(instruction: Instruction, group: Group) -> int:
    """MODE of the waves that execute an instruction.

    Raises:
        Stopped: MODE differs between the waves.
    """
    found = np.unique(group.mode)
    if len(found) > 1:
        raise Stopped(instruction, "its waves have different MODEs")
    return int(found[0])


class Expressions(Observer):
    """Follows the expressions of one launch."""

    name = "expressions"

    def __init__(self, pool: Pool, names: Mapping[str, str] | None = None) -> None:
        """Follow the next launch.

        Args:
            pool: of expressions; another launch with the same inputs may share it.
            names: names of buffers, by argument (``argument 0``); by default the machine's names.
        """
        self.pool, self._names = pool, names or {}
        self.stopped: Stopped | None = None
        self._parts: dict[tuple[int, tuple[int, ...]], list[Part]] = {}
        self._after: list[After] = []
        self._transfer: Transfer | None = None

    def on_start(self, launch: Launch) -> None:
        """Every dword of every buffer is an input."""
        self.launch = launch
        self.registers = Registers(launch.waves, launch.kernel.wave)
        self.memory = Memory(launch)
        self.buffers: list[tuple[str, int, int]] = []
        for region, _ in launch.buffers:
            name = self._names.get(region.name.partition(" (")[0], region.name)
            start = region.address - launch.memory.base
            held = np.zeros(-(-region.size // BYTES) * BYTES, np.uint8)
            held[: region.size] = launch.memory.view(region)
            numbers = self.pool.inputs(name, held.view(np.uint32))
            codes = (numbers[:, None] * BYTES + np.arange(BYTES)).reshape(-1)[: region.size]
            self.memory.arena[start : start + region.size] = codes
            self.buffers.append((name, start, region.size))

    def outputs(self) -> dict[str, Codes]:
        """Codes of every byte of each buffer after the launch; 0 where it is a constant."""
        return {name: self.memory.arena[start : start + size] for name, start, size in self.buffers}

    # --- instructions

    def before_step(self, step: Step) -> None:
        """Record the operands of an instruction."""
        self._after, self._transfer = [], None
        if self.stopped is not None:
            return
        group, numbers = step._group, step.waves  # noqa: SLF001
        try:
            for part in self._parts_of(step.machine, step.instruction):
                self._before(step.machine, part, group, numbers)
        except Stopped as stopped:
            self.stopped = stopped
            step.end(str(stopped))

    def after_step(self, step: Step) -> None:
        """Record the results of the instruction."""
        if self.stopped is not None:
            return
        group, numbers = step._group, step.waves  # noqa: SLF001
        try:
            for after in self._after:
                after(group, numbers)
        except Stopped as stopped:
            self.stopped = stopped
            step.end(str(stopped))
        self._after, self._transfer = [], None

    def on_access(self, event: AccessEvent) -> None:
        """Codes move with the bytes."""
        self._access(event)

    def on_scalar(self, event: AccessEvent) -> None:
        """Codes move with the bytes of a scalar access."""
        self._access(event)

    def _access(self, event: AccessEvent) -> None:
        if self._transfer is None or self.stopped is not None:
            return
        try:
            self._transfer.access(event)
        except Stopped as stopped:
            self.stopped = stopped

    def _parts_of(self, machine: Machine, instruction: Instruction) -> list[Part]:
        key = instruction.pc, instruction.numbers
        found = self._parts.get(key)
        if found is None:
            found = self._parts[key] = list(parts_of(machine, instruction))
        return found

    def _before(self, machine: Machine, part: Part, group: Group, numbers: Numbers) -> None:
        instruction, opcode = part.instruction, part.instruction.opcode
        if opcode.kind in NOT_FOLLOWED:
            raise Stopped(instruction, NOT_FOLLOWED[opcode.kind])
        if opcode.kind == "getreg" and any(one.bits & 63 in STATUS for one in instruction.src if one.kind == "imm"):
            raise Stopped(instruction, "it reads flags of results that may depend on inputs")
        if opcode.memory:
            if (opcode.reads_m0 or instruction.modifiers.get("lds")) and self.registers.depends(
                SGPR + machine.arch.m0, numbers
            ):
                raise Stopped(instruction, "M0 depends on inputs")
            clears = machine.kernel.code.object.sram_ecc
            self._transfer = Transfer(
                instruction, group, numbers, self.registers, self.memory, self.pool, clears=clears
            )
            for operand in instruction.src:
                if operand.kind == "s" and any(self.registers.depends(key, numbers) for key in keys_of(operand)):
                    raise Stopped(instruction, "its address depends on inputs")
            self._after.append(self._loaded(instruction, self._transfer))
            return
        reads = [key for key in dict.fromkeys(part.accessed.reads) if self.registers.depends(key, numbers)]
        if opcode.flow == "conditional":
            reads += self._condition(instruction, numbers)
        if opcode.matrix:
            self._matrix(machine, part, group, numbers)
            return
        if opcode.relative and self.registers.any_held(numbers):
            raise Stopped(instruction, "M0 selects its registers")
        kept = part.kept
        reads += [key for key in kept if key not in reads and self.registers.depends(key, numbers)]
        if not reads:
            self._after.append(self._constant(part))
            return
        if opcode.flow or not part.accessed.writes or opcode.kind in ("skip", "fork", "halves", "setreg"):
            raise Stopped(instruction, "it decides how the program goes on, and depends on inputs")
        if any(key in EXECS for key in part.accessed.writes):
            raise Stopped(instruction, "it decides which lanes are active, and depends on inputs")
        self._after.append(self._computed(machine, part, group, numbers, kept))

    def _condition(self, instruction: Instruction, numbers: Numbers) -> list[int]:
        """Registers that a branch tests and that depend on inputs."""
        condition = instruction.opcode.condition
        keys = {"scc": [SCC], "vcc": [SGPR + VCC, SGPR + VCC + 1]}.get(condition, [])
        return [key for key in keys if self.registers.depends(key, numbers)]

    # --- kinds of instructions

    def _constant(self, part: Part) -> After:
        """An operation on constants has constant results; inactive lanes keep the contents of the register."""
        active_of = self._active(part)

        def after(group: Group, numbers: Numbers) -> None:
            active = active_of(group)
            for key in part.accessed.writes:
                if key >= VECTORS:
                    self.registers.forget(key, numbers)
                shape = (len(numbers), group.lanes, BYTES) if key < VECTORS else (len(numbers), BYTES)
                self.registers.put(key, numbers, np.full(shape, -1, np.int64), active if key < VECTORS else None)

        # EXEC as it was when the instruction was executed: V_CMPX changes it.
        return after

    def _active(self, part: Part) -> Callable[[Group], NDArray[np.bool_] | None]:
        if part.operation.undefined.every_lane or part.instruction.name == "v_writelane_b32":
            return lambda group: None  # noqa: ARG005
        return lambda group: np.broadcast_to(group.active, (group.count, group.lanes))

    def _loaded(self, instruction: Instruction, transfer: Transfer) -> After:
        def after(group: Group, numbers: Numbers) -> None:
            keys = [key for operand in instruction.dst for key in keys_of(operand)]
            found = transfer.finish({key: rows(group, key) for key in keys})
            active = np.broadcast_to(group.active, (group.count, group.lanes))
            for key, codes in found.items():
                self._put(instruction, key, numbers, codes, group, active if key < VECTORS else None)

        return after

    def _computed(self, machine: Machine, part: Part, group: Group, numbers: Numbers, kept: list[int]) -> After:
        """Codes of the results: codes of moved bytes, or expressions."""
        instruction, operation = part.instruction, part.operation
        kinds = [kind for kind in operation.sources if kind not in ("mode", "scc")]
        given = list(zip(kinds, instruction.src, strict=False)) or [("b32", operand) for operand in instruction.src]
        lanewise = instruction.name in LANEWISE and any(
            self.registers.mask(key, numbers) is not None for operand in instruction.src for key in keys_of(operand)
        )
        masked = [keys_of(operand)[0] for kind, operand in given if kind == "mask" and operand.kind == "s"]
        if not lanewise:
            plain = [key for kind, operand in given if kind != "mask" for key in keys_of(operand)]
            for key in (*plain, *kept):
                if (
                    key >= VECTORS
                    and self.registers.parts(key, numbers) is None
                    and self.registers.depends(key, numbers)
                ):
                    raise Stopped(instruction, "it reads a lane mask that depends on inputs as a number")
        else:
            return self._combined(part, group, numbers)
        depends = {low for low in masked if self.registers.mask(low, numbers) is not None}
        reads = dict.fromkeys([*(key for _, operand in given for key in keys_of(operand)), *kept, *part.accessed.reads])
        plain_reads = [
            key for key in reads if key not in {low + word for low in masked for word in range(self.registers.words)}
        ]
        codes = {key: self.registers.codes(key, numbers, group) for key in plain_reads if key != SCC}
        changing = varying(part, codes) if part.moves and not depends else None
        if changing is not None and SCC not in part.accessed.reads and SCC not in part.accessed.writes:
            found = moved(group, part.run, codes, changing, part.accessed.writes)
            if found is not None:
                return self._moved(part, found)
        dpp = is_dpp(instruction) and operation.unit == "vector" and not operation.undefined.every_lane
        if not part.by_lane and operation.unit != "scalar" and not dpp:
            raise Stopped(instruction, "it exchanges what depends on inputs between lanes, and does more than move it")
        if operation.unit == "direct":
            raise Stopped(instruction, "it has a rule of its own for what depends on inputs")
        mask_codes = {low: self._mask_codes(instruction, low, numbers, group) for low in masked}
        if "scc" in operation.sources:
            held = self.registers.parts(SCC, numbers)
            scc = np.broadcast_to(group.scc, (len(numbers),)).astype(np.int64)
            mask_codes[SCC] = -1 - scc if held is None else np.where(held[:, 0] != 0, held[:, 0] // BYTES, -1 - scc)
        vector = operation.unit == "vector"
        shape = (len(numbers), group.lanes) if vector else (len(numbers),)
        mode = mode_of(instruction, group)
        head = head_of(instruction, operation, machine.arch.name, mode)
        active = np.broadcast_to(group.active, shape).copy() if vector else np.ones(shape, np.bool_)
        lanes, takes_part = exchanged(instruction, active) if dpp else (None, active)
        # Lanes that DPP disables keep the destination's contents, which are no operand of the computed result.
        left = [] if dpp and not half_written(instruction, operation) else kept
        computed = Computed(instruction, operation, codes, mask_codes, left, shape, lanes)
        operands = computed.operands(self.pool)
        ranks = (
            list(computed.ranks)
            if operation.undefined.kind == "sums" and not instruction.modifiers.get("clamp")
            else None
        )
        active = takes_part

        def after(group: Group, numbers: Numbers) -> None:
            results_kinds = [kind for kind in operation.results if kind != "scc"]
            for place, operand in enumerate(instruction.dst):
                kind = results_kinds[min(place, len(results_kinds) - 1)]
                keys = keys_of(operand)
                if kind == "mask" and operand.kind == "s":
                    bits = mask_bits(group, keys[0])
                    found = masks(self.pool, (*head, place), operands, bits.reshape(-1), active.reshape(-1))
                    for key in keys:
                        self.registers.put(key, numbers, np.full((len(numbers), BYTES), -1))
                    self.registers.put_mask(keys[0], numbers, found.reshape(shape))
                    continue
                words = [rows(group, key).reshape(-1) for key in keys]
                halves = [single(instruction, head, operands, half) for half in range(len(words))]
                if all(halves):
                    made = [
                        results(self.pool, (*one[0], place), one[1], [word], active.reshape(-1))[0]
                        for one, word in zip(filter(None, halves), words, strict=True)
                    ]
                else:
                    made = results(self.pool, (*head, place), operands, words, active.reshape(-1), ranks)
                for key, one in zip(keys, made, strict=True):
                    self._put(instruction, key, numbers, one.reshape(*shape, BYTES), group, active if vector else None)
            if "scc" in operation.results:
                word = np.broadcast_to(group.scc, (len(numbers),)).astype(np.uint32)
                self.registers.put(SCC, numbers, results(self.pool, (*head, "scc"), operands, [word], None)[0])

        return after

    def _moved(self, part: Part, found: dict[int, Codes]) -> After:
        active_of = self._active(part)

        def after(group: Group, numbers: Numbers) -> None:
            active = active_of(group)
            for key, codes in found.items():
                self._put(part.instruction, key, numbers, codes, group, active if key < VECTORS else None)

        return after

    def _combined(self, part: Part, group: Group, numbers: Numbers) -> After:
        """A scalar operation on lane masks, lane by lane."""
        instruction = part.instruction
        columns = []
        for operand in instruction.src:
            if operand.kind == "s":
                columns.append(self._mask_codes(instruction, keys_of(operand)[0], numbers, group))
            elif operand.kind == "const" and operand.bits in (0, (1 << group.lanes) - 1):
                columns.append(np.full((len(numbers), group.lanes), -1 - int(operand.bits != 0), np.int64))
            else:
                raise Stopped(instruction, "it combines a lane mask that depends on inputs with a number")
        if len(keys_of(instruction.dst[0])) * 32 != group.lanes:
            raise Stopped(instruction, "it combines a part of a lane mask that depends on inputs")
        operands = np.stack(columns, axis=-1).reshape(-1, len(columns))
        if instruction.opcode.saves_exec:
            raise Stopped(instruction, "it decides which lanes are active, and depends on inputs")
        name = instruction.name.replace("_b64", "").replace("_b32", "")
        key = keys_of(instruction.dst[0])[0]

        def after(group: Group, numbers: Numbers) -> None:
            bits = mask_bits(group, key).reshape(-1)
            if name == "s_mov":
                found = np.where(operands[:, 0] >= 0, operands[:, 0], 0)
            else:
                found = masks(self.pool, (name,), operands, bits, np.ones(len(bits), np.bool_))
            for word in keys_of(instruction.dst[0]):
                self.registers.put(word, numbers, np.full((len(numbers), BYTES), -1))
            self.registers.put_mask(key, numbers, found.reshape(len(numbers), group.lanes))
            if SCC in part.accessed.writes:  # SCC says whether any lane is left: it depends on all lanes
                words = np.broadcast_to(group.scc, (len(numbers),)).astype(np.uint32)
                lanes = operands.reshape(len(numbers), -1)
                (made,) = results(self.pool, (name, "scc"), lanes, [words], None)
                self.registers.put(SCC, numbers, made)

        return after

    def _matrix(self, machine: Machine, part: Part, group: Group, numbers: Numbers) -> None:
        instruction = part.instruction
        operands = matrix_operands(instruction, machine.arch, machine.kernel.wave)
        held, depends = {}, False
        for name, (fragment, operand) in operands.items():
            if name == "D":
                continue
            if operand.kind in ("v", "a"):
                keys = keys_of(operand)
                codes = np.stack([self.registers.codes(key, numbers, group) for key in keys], axis=1)
                depends |= bool((codes >= 0).any())
            else:
                if operand.kind != "const":
                    raise Stopped(instruction, "scales of scalar registers are not followed")
                words = np.array([operand.bits & 0xFFFFFFFF] * fragment.vgprs, np.uint32)
                codes = np.broadcast_to(
                    constant_bytes(words)[None, :, None], (len(numbers), len(words), group.lanes, BYTES)
                )
            held[name] = codes
        target = keys_of(instruction.dst[0])
        operation, _ = resolve(instruction, machine.arch, machine.kernel.wave)
        if not operation.D.full and any(self.registers.depends(key, numbers) for key in target):
            raise Stopped(instruction, "it keeps halves of registers that depend on inputs")
        mode = mode_of(instruction, group)

        def after(group: Group, numbers: Numbers) -> None:
            words = np.stack([rows(group, key) for key in target], axis=1)
            if not depends:
                codes = constant_bytes(words)
            else:
                arch, wave = machine.arch, machine.kernel.wave
                codes = matrix_results(self.pool, instruction, arch, wave, mode, held, words)
            for number, key in enumerate(target):
                self._put(instruction, key, numbers, codes[:, number], group, None)

        self._after.append(after)

    # --- registers

    def _mask_codes(self, instruction: Instruction, key: int, numbers: Numbers, group: Group) -> Codes:
        """Codes of a lane mask, (waves, lanes)."""
        bits = mask_bits(group, key).astype(np.int64)
        held = self.registers.mask(key, numbers)
        for word in range(self.registers.words):
            if self.registers.parts(key + word, numbers) is not None:
                raise Stopped(instruction, "it reads a number that depends on inputs as a lane mask")
        if held is not None:
            return np.where(held != 0, held, -1 - bits)
        return -1 - bits

    def _put(
        self,
        instruction: Instruction,
        key: int,
        numbers: Numbers,
        codes: Codes,
        group: Group,
        active: NDArray[np.bool_] | None,
    ) -> None:
        """Change a register, after its bits were compared with those of the machine."""
        held = rows(group, key)[..., None] >> SHIFTS & np.uint32(0xFF)
        takes = np.ones(codes.shape, np.bool_) if active is None else np.broadcast_to(active[..., None], codes.shape)
        if not self.pool.check(np.where(takes, codes, -1), np.where(takes, held, 0)):
            raise Stopped(instruction, "its results are not what its rule says")
        if key >= VECTORS:
            self.registers.forget(key, numbers)
        self.registers.put(key, numbers, codes, active)
