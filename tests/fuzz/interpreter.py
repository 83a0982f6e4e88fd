"""Integer instructions, on any architecture: machine and slow interpreter leave the same bits in every register.

An input is that of `tests.fuzz.machine`. Left out are floats, whose NaNs may differ (`test_programs_hypothesis` has
them), memory, jumps, and registers that the kernel around them needs.
"""

from mfmasim.errors import MfmasimError
from tests.fuzz import templates
from tests.fuzz.machine import chosen
from tests.machine import frame, harness
from tests.machine.spelling import split
from tests.machine.test_programs_hypothesis import NOT_DRAWN, NOT_STRAIGHT, registers
from tests.slow.machine.interpreter import ALIASES, models
from tests.slow.machine.vector_alu import VECTOR

ENCODINGS = {"VOP1", "VOP2", "VOPC", "VOP3", "VOP3P", "SOP1", "SOP2", "SOPC", "SOPK", "VOPD"}
SCALARS = {*range(14, 60), *range(69, 102), 106, 107, 126, 127}
VECTORS = set(range(8, 256)) - {45}
"""Registers of which neither holds an address, nor is needed by the kernel around an input."""
EXEC_HI = 127
"""Ignored in a wave of 32 lanes (RDNA3.5 ISA manual, 2.1): what it reads as there is left open, and not compared."""
MOST = 12
"""Instructions of an input: the slow interpreter needs its time."""


def is_integer(name):
    """Whether the interpreter has the operation and no result of it is a float."""
    name = name.removeprefix("v_dual_")
    known = ALIASES.get(name, name)
    results = VECTOR.get(known, ((), ()))[1]
    return models(name) and not any("f" in one for one in results)


def judged(one, target):
    """Whether an instruction is compared."""
    parts = one.halves or (one,)
    return (
        one.encoding in ENCODINGS
        and not one.name.startswith(NOT_STRAIGHT + NOT_DRAWN)
        and all(is_integer(part.name) for part in parts)
        and all(inside(operand, target) for part in parts for operand in (*part.dst, *part.src))
    )


def inside(operand, target):
    """Whether an operand is a constant or among the registers that inputs have."""
    scalars = SCALARS - {EXEC_HI} if split(target)[1] == 32 else SCALARS
    allowed = {"s": scalars, "v": VECTORS, "const": None}.get(operand.kind, frozenset())
    return allowed is None or set(range(operand.index, operand.index + operand.count)) <= allowed


def run(data):
    target, _, _, waves, instructions = chosen(data)
    body = [one for one in instructions if judged(one, target)][:MOST]
    if not body:
        return 0
    kernel = templates.kernel(target, b"".join(one.raw for one in body))
    given = templates.inputs(target)
    try:
        both = harness.both(kernel, 1, 8, given, lds_bytes=frame.LDS_BYTES, arch=target, max_waves=waves)
    except MfmasimError:
        return 0  # refused by the machine
    assert not both.report.findings
    names = registers(target)
    wrong = {names[i % frame.MOST] if k == 3 else f"argument {k}" for k, i in both.different()}
    assert not wrong, (sorted(wrong), [one.text for one in body])
    return len(body)
