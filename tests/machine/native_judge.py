"""Every instruction once more in C: what a region makes of it beside what NumPy made of it, bit by bit.

`judged()` is a context: in it each bound instruction that can be traced also runs as C, for the same waves, on copies
of their registers, and what differs is collected.
"""

from __future__ import annotations

import contextlib
import ctypes
from dataclasses import dataclass, field
from unittest import mock

import numpy as np

from mfmasim.machine.execution import basic_block
from mfmasim.machine.execution.endless_loops import only_registers
from mfmasim.machine.native.driver import MASKS
from mfmasim.machine.native.effects import short_way, traced
from mfmasim.machine.native.loops import PRELUDE
from mfmasim.machine.native.nodes import UntraceableError
from mfmasim.machine.native.passage import Copy
from mfmasim.machine.native.text import Registers, condition_text, instruction_text
from mfmasim.machine.numerics.lane_masks import lanes_of
from mfmasim.machine.opcodes.register_allocation import allocated
from mfmasim.machine.state.waves import EXEC
from mfmasim.toolchain.native import library_of


@dataclass
class Twin:
    """An instruction in C."""

    registers: Registers
    lanes: int
    targets: tuple[int, int] | None
    number: int


@dataclass
class Judged:
    """What was compared."""

    names: set[str] = field(default_factory=set)
    refused: dict[str, str] = field(default_factory=dict)
    """Why an operation is not in C."""
    compared: int = 0
    """Registers of waves."""
    differences: list[str] = field(default_factory=list)
    ran: dict[str, int] = field(default_factory=dict)
    """How often an operation was compared."""
    libraries: dict = field(default_factory=dict)

    def about(self, name):
        """What of one operation was compared, in words."""
        ran, why = self.ran.get(name, 0), self.refused.get(name)
        return f"{ran} waves compared" + (f"; some forms are not traced: {why}" if why else "")

    def twins(self, kernel, mode):
        """The instructions of a kernel in C, by address, and their library."""
        key = id(kernel), mode.bits
        if key not in self.libraries:
            self.libraries[key] = (*self._made(kernel, mode), kernel)
        return self.libraries[key][:2]

    def _made(self, kernel, mode):
        text, twins = [PRELUDE, MASKS], {}
        for plain in kernel.instructions:
            ins = allocated(plain, kernel)
            if not only_registers(ins) or ins.opcode.memory or ins.opcode.barrier:
                continue
            registers = Registers()
            try:
                effects = traced(ins, kernel, mode)
                if effects.loads or effects.stores:
                    continue  # `tests.machine.native_programs` has these
                lines = instruction_text(effects, registers, kernel.wave, short_way(ins, kernel, mode))
                targets = None
                if effects.target is not None:
                    condition, *targets = effects.target
                    before, test = condition_text(condition, registers, kernel.wave) if condition else ([], "1")
                    lines += [*before, f"return {test};"]
            except UntraceableError as error:
                self.refused.setdefault(ins.name, str(error))
                continue
            body = "\n".join(lines)
            end = "" if effects.target is not None else "return 0;"
            text.append(f"int f{ins.pc}(u32 *restrict s, u32 *restrict v, u32 *restrict act) {{\n{body}\n{end}}}")
            twins[ins.pc] = ins, Twin(registers, kernel.wave, targets, ins.pc)
        library = library_of("\n".join(text)) if twins else None
        assert library is not None or not twins, "the text does not compile"
        return twins, library


def _state(twin, read):
    return Copy.of(twin, read)


def _reader(g):
    return lambda file, number: g.scc if file == "scc" else g.s(number) if file == "s" else g.v(file, number)


def _around(judged, instruction, machine, run):
    def step(g):
        mode, whole = g.waves.float_mode, g.waves.vector_mode
        if mode is None or whole != 0:
            run(g)
            return
        twins, library = judged.twins(machine.kernel, mode)
        known = twins.get(instruction.pc)
        if known is None or known[0].text != instruction.text:
            run(g)
            return
        twin = known[1]
        copy = Copy.of(twin, lambda *which: np.array(_reader(g)(*which)), g.count)
        run(g)
        _compare(judged, twin, instruction, library, copy, g)

    return step


def _compare(judged, twin, instruction, library, copy, g):
    masks = copy.scalars[:, [twin.registers.scalars[code] for code in (EXEC, EXEC + 1)]].copy()
    words = masks.view(np.uint64)[:, 0] if twin.lanes == 64 else masks[:, 0].copy()
    act = np.zeros((g.count, twin.lanes + 2), np.uint32)
    act[:, : twin.lanes] = np.where(lanes_of(words, twin.lanes), np.uint32(0xFFFFFFFF), np.uint32(0))
    function = getattr(library, f"f{twin.number}")
    for wave in range(g.count):
        rows = (copy.scalars[wave], copy.vectors[wave], act[wave])
        taken = function(*(ctypes.c_void_p(row.ctypes.data) for row in rows))
        if twin.targets is not None:
            pc = int(np.broadcast_to(g.pc, (g.count,))[wave])
            if pc != twin.targets[0 if taken else 1]:
                judged.differences.append(f"{instruction.text}: jumps to {twin.targets[0 if taken else 1]}, not {pc}")
    now = Copy.of(twin, _reader(g), g.count)
    judged.names.add(instruction.name)
    judged.ran[instruction.name] = judged.ran.get(instruction.name, 0) + g.count
    judged.compared += now.scalars.size + now.vectors[..., 0].size
    scalars, vectors = copy.scalars != now.scalars, copy.vectors != now.vectors
    for wave, place in np.argwhere(scalars)[:3]:
        code = list(twin.registers.scalars)[place]
        values = f"{copy.scalars[wave, place]:08x} in C, {now.scalars[wave, place]:08x}"
        judged.differences.append(f"{instruction.text}: scalar {code} of wave {wave}: {values}")
    for wave, place, lane in np.argwhere(vectors)[:3]:
        register = list(twin.registers.vectors)[place]
        values = f"{copy.vectors[wave, place, lane]:08x} in C, {now.vectors[wave, place, lane]:08x}"
        judged.differences.append(f"{instruction.text}: {register} of wave {wave} lane {lane}: {values}")
    seen = lanes_of(np.ascontiguousarray(words), twin.lanes)
    if {EXEC, EXEC + 1} & twin.registers.written:
        seen = np.broadcast_to(g.active, (g.count, twin.lanes))
    if ((act[:, : twin.lanes] != 0) != seen).any():
        judged.differences.append(f"{instruction.text}: EXEC by lane differs")


@contextlib.contextmanager
def judged():
    """Compare every instruction that runs; gives what was compared."""
    found, bound = Judged(), basic_block._bound

    def both(instruction, fields, machine, *, indexing):
        run = bound(instruction, fields, machine, indexing=indexing)
        return run if indexing else _around(found, instruction, machine, run)

    with mock.patch.object(basic_block, "_bound", both):
        yield found
