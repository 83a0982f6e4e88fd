"""Floating point on the scalar unit (gfx11.5, gfx12), and the scalar forms of the approximations.

Source: RDNA4 ISA manual, 6.8 (results are those of the vector instructions; f16 is the low half, the upper one becomes
0) and 7.10 (V_S_EXP_F32 and its kin: one value from an SGPR to an SGPR, regardless of EXEC).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mfmasim.architectures import Arch
from mfmasim.arrays import U
from mfmasim.formats.conversions import ROWS, conversion
from mfmasim.isa import Instruction
from mfmasim.machine.binding.modifiers import output_modifiers
from mfmasim.machine.binding.operands import scalar_writer, vector_reader
from mfmasim.machine.events.interface import Bound, Machine
from mfmasim.machine.numerics import ieee
from mfmasim.machine.numerics.float_mode import FloatMode
from mfmasim.machine.opcodes.registry import OPERATIONS, Operation, direct, scalar
from mfmasim.machine.ops import vector_minmax
from mfmasim.machine.ops.vector_approximate import FUNCTIONS
from mfmasim.machine.ops.vector_compare import FLOAT, floating
from mfmasim.machine.ops.vector_float import subtract
from mfmasim.machine.ops.vector_float_parts import ROUNDINGS
from mfmasim.machine.state.waves import Group

TWO: dict[str, Callable[[U, U, FloatMode], U]] = {
    "add": ieee.add,
    "sub": subtract,
    "mul": ieee.multiply,
    "min": vector_minmax.minimum,
    "max": vector_minmax.maximum,
    "min_num": vector_minmax.minimum_number,
    "max_num": vector_minmax.maximum_number,
    "minimum": vector_minmax.ieee_minimum,
    "maximum": vector_minmax.ieee_maximum,
}
for _kind in ("f16", "f32"):
    for _name, _body in TWO.items():
        scalar(f"s_{_name}_{_kind}", f"{_kind} {_kind} mode -> {_kind}")(_body)
    for _name, _one in ROUNDINGS.items():
        scalar(f"s_{_name}_{_kind}", f"{_kind} mode -> {_kind}")(_one)
    for _name in FLOAT.keys() - {"f", "tru"}:
        scalar(f"s_cmp_{_name}_{_kind}", f"{_kind} {_kind} mode -> scc")(floating(FLOAT[_name]))
scalar("s_fmac_f32 s_fmaak_f32 s_fmamk_f32", "f32 f32 f32 mode -> f32")(ieee.fused)
scalar("s_fmac_f16", "f16 f16 f16 mode -> f16")(ieee.fused)


def _convert(instruction: Instruction, arch: Arch) -> Callable[[U, FloatMode], U]:
    found = conversion(arch.name, instruction.name)

    def run(*sources: Any) -> U:
        *values, mode = sources
        return found(*values, mode=mode.conversion)

    return run


for _row in {row.name: row for row in ROWS if row.unit == "scalar"}.values():
    scalar(_row.name, f"{'u32 ' * len(_row.sources)}mode -> u32", _row.fidelity, shaped=True)(_convert)


def _scalar_form(operation: Operation) -> Callable[[Instruction, Machine], Bound]:
    """The vector operation on one value from a scalar register."""
    kind = operation.results[0]

    def bind(instruction: Instruction, machine: Machine) -> Bound:
        read = vector_reader(instruction.src[0], kind, instruction)
        write = scalar_writer(instruction.dst[0], kind, instruction)
        finish = output_modifiers(instruction, operation, machine.arch.floats)

        def step(g: Group, mode: FloatMode) -> None:
            out = operation.body(read(g), mode if finish is None else finish.before(mode))
            write(g, np.asarray(out if finish is None else finish(out, mode))[:, 0])

        return lambda g: g.by_mode(step)

    return bind


for _word in FUNCTIONS.keys() - {"sin", "cos"}:
    for _kind in ("f16", "f32"):
        direct(f"v_s_{_word}_{_kind}", "assumed")(_scalar_form(OPERATIONS[f"v_{_word}_{_kind}"]))
