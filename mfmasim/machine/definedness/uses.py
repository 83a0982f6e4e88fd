"""Uses of undefined bits: reports, and the bits of registers that an instruction really uses.

Vector instructions under an EXEC with undefined bits are no uses up to the instruction that replaces EXEC: division of
small numbers in hipBLASLt compares into EXEC, corrects one lane and sets EXEC to all lanes again. If only vector
registers are written in between, the lanes of the undefined bits have undefined results, which are followed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mfmasim.isa import Instruction
from mfmasim.machine.definedness.keys import EXECS, SCC, SGPR, VECTORS, keys_of, name_of
from mfmasim.machine.definedness.origin import unpack
from mfmasim.machine.events import UndefinedUse
from mfmasim.machine.events.interface import Machine
from mfmasim.machine.opcodes.matrix import resolve
from mfmasim.machine.state.waves import VCC

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mfmasim.architectures import Arch
    from mfmasim.arrays import U32
    from mfmasim.isa import Instruction
    from mfmasim.machine.definedness.planes import Planes
    from mfmasim.machine.events.interface import Machine
    from mfmasim.machine.state.waves import Group

LONGEST = 16
"""Most instructions that are examined."""
_PLAIN = ("VOP1", "VOP2", "VOP3", "VOP3P")


def masked(instruction: Instruction, machine: Machine) -> tuple[int, frozenset[int]] | None:
    """The instructions under the EXEC that an instruction writes.

    Args:
        instruction: the instruction that writes EXEC.
        machine: executes it.

    Returns:
        Address of the instruction that replaces EXEC, and the keys of the vector registers that are written before;
        None if another instruction depends on EXEC, or none replaces it soon.
    """
    code, wave = machine.kernel.code, machine.kernel.wave
    whole = set(EXECS[: wave // 32])
    at, written = instruction.pc + instruction.size, set[int]()
    for _ in range(LONGEST):
        if not code.is_code(at):
            return None
        one = code.instruction_at(at, wave)
        to = {key for operand in one.dst for key in keys_of(operand)}
        if one.encoding in ("SOP1", "SOPK") and whole <= to:
            used = {key for operand in one.src for key in keys_of(operand)}
            return (at, frozenset(written)) if one.opcode.moves_scalar and not used & set(EXECS) else None
        vector = one.encoding in _PLAIN and all(operand.kind == "v" for operand in one.dst) and "lane" not in one.name
        if not vector and not one.opcode.neutral:
            return None
        written |= to
        at += one.size
    return None


class Uses:
    """Reports uses. Reported bits count as defined afterwards, so that they are reported once."""

    def __init__(self, machine: Machine, planes: Planes, loaded: dict[int, int]) -> None:
        """`loaded` returns the load that first read an origin from memory, by the packed origin."""
        self.machine, self.planes, self.loaded = machine, planes, loaded
        self.unsure: dict[int, frozenset[int]] = {}
        """Vector registers written under an undefined EXEC, by the address of the instruction that replaces EXEC."""

    def report(
        self, use: str, instruction: Instruction, group: Group, key: int, bits: U32, origins: U32, name: str = ""
    ) -> None:
        """Report one register.

        Args:
            use: the kind of use.
            instruction: the using instruction.
            group: the waves.
            key: the register.
            bits: undefined bits that are used, (1 or waves, lanes) or of a scalar register (1 or waves,).
            origins: in the same shape.
            name: of the operand, where the key is none.
        """
        bits, origins = np.broadcast_arrays(bits, origins)
        first = tuple(int(i) for i in np.argwhere(bits != 0)[0])
        row, lane = first[0], first[1] if bits.ndim > 1 else None
        origin = int(origins[first])
        if not origin:  # bits and origins joined from different sources: any origin suffices
            there = origins[(bits != 0) & (origins != 0)]
            origin = int(there[0]) if len(there) else 0
        indices = group.indices()
        source = unpack(origin)
        event = UndefinedUse(
            instruction,
            use,
            name or self._name(key, instruction),
            int(bits[first]),
            self.machine.place(indices, row, lane),
            int((bits != 0).sum()) * (group.count // len(bits)),
            source,
            self._name(source.key, instruction),
            self.loaded.get(origin),
        )
        for hook in self.machine.use_hooks:
            hook(event)

    def _name(self, key: int, instruction: Instruction) -> str:
        """Name of a register in the instruction; another register of a unified file is named as an AGPR."""
        for operand in (*instruction.dst, *instruction.src):
            if operand.kind == "v" and 0 <= key - operand.index < operand.count:
                return name_of(key, self.machine.arch, operand.accum_offset)
        return name_of(key, self.machine.arch, self.machine.waves.accum_offset)

    def registers(
        self, use: str, instruction: Instruction, group: Group, keys: Sequence[int], used: int = 0xFFFFFFFF
    ) -> None:
        """Report undefined bits in registers that active lanes use.

        Args:
            use: the kind of use.
            instruction: the using instruction.
            group: the waves.
            keys: the registers.
            used: the bits that count.
        """
        for key in keys:
            if not self.planes.dirty >> key & 1:
                continue
            bits = self.planes.of(group, key) & np.uint32(used)
            if key < VECTORS and group.mask is not None:
                bits = np.where(group.mask, bits, np.uint32(0))
            elif key >= VECTORS and group.mask is not None and use == "address":
                bits = np.where(group.mask.any(axis=1), bits, np.uint32(0))
            if bits.any():
                self.report(use, instruction, group, key, bits, self.planes.origin(group, key))
                self.planes.define(group, [key])

    def branch(self, instruction: Instruction, group: Group) -> None:
        """A branch on SCC, or on whether VCC is 0: a defined 1 in VCC decides the latter."""
        if instruction.opcode.condition == "scc":
            self.registers("branch", instruction, group, [SCC])
            return
        keys = [SGPR + VCC, SGPR + VCC + 1][: group.lanes // 32]
        sure: NDArray[np.bool_] = np.zeros(1, np.bool_)
        for key in keys:
            sure = sure | (group.s(key - SGPR) & ~self.planes.of(group, key) != 0)
        for key in keys:
            bits = np.where(sure, np.uint32(0), self.planes.of(group, key))
            if bits.any():
                self.report("branch", instruction, group, key, bits, self.planes.origin(group, key))
                self.planes.define(group, keys)

    def mask(self, instruction: Instruction, group: Group, keys: Sequence[int]) -> None:
        """EXEC was written with undefined bits: a use, unless all instructions under this EXEC are followed.

        Args:
            instruction: the instruction that wrote EXEC.
            group: the waves.
            keys: registers of EXEC.
        """
        dirty = [key for key in keys if self.planes.dirty >> key & 1]
        if dirty and (found := masked(instruction, self.machine)):
            self.unsure[found[0]] = found[1]
            return
        for key in dirty:
            if self.planes.dirty >> key & 1:
                bits = self.planes.of(group, key)
                self.report("exec", instruction, group, key, bits, self.planes.origin(group, key))
                for each in keys:
                    self.planes.forget(each)

    def settle(self, instruction: Instruction, group: Group) -> None:
        """EXEC is replaced: registers written since are undefined in the lanes of its undefined bits."""
        lanes = np.arange(group.lanes)
        for key in self.unsure.get(instruction.pc, ()):
            for half, exec_key in enumerate(EXECS):
                if self.planes.dirty >> exec_key & 1:
                    chosen = (lanes >> 5 == half) & (self.planes.of(group, exec_key)[:, None] >> (lanes & 31) & 1 != 0)
                    bits = np.where(chosen, np.uint32(0xFFFFFFFF), self.planes.of(group, key))
                    origins = np.where(
                        chosen, self.planes.origin(group, exec_key)[:, None], self.planes.origin(group, key)
                    )
                    self.planes.put(group, key, bits, origins)


def matrix_bits(instruction: Instruction, arch: Arch, wave: int) -> tuple[list[U32 | None], U32]:
    """Bits of each source register that a matrix instruction uses, and bits of D's registers that it writes.

    Args:
        instruction: a matrix instruction.
        arch: the architecture.
        wave: lanes of a wave.

    Returns:
        For each source a uint32 array (registers, lanes), None for constants; and one for D.
    """
    operation, modes = resolve(instruction, arch, wave)
    read = operation.under(modes)
    sources: list[U32 | None] = []
    for name, operand in zip(operation.row.sources, instruction.src, strict=True):
        if operand.kind not in ("v", "a"):
            sources.append(None)
        elif name == "index":  # modifiers select the set of indices
            sources.append(np.full((operand.count, wave), np.uint32(0xFFFFFFFF)))
        else:
            sources.append(read[name].mask)
    return sources, read["D"].mask
