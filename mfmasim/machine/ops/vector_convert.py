"""The conversion instructions: operands of the machine around the functions of `mfmasim.formats.conversions`.

What each converts, and what its sources leave open, stands in its row there. Here SDWA selects a source's byte or word,
the row's own bits of op_sel choose parts, MODE comes from the wave, and clamp acts on a floating-point result.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.formats.conversions import ROWS, Modifiers, conversion
from mfmasim.machine.forms import F16
from mfmasim.machine.modifiers import clamped
from mfmasim.machine.ops.packed_float import half, two_halves
from mfmasim.machine.refusal import unsupported
from mfmasim.machine.registry import shaped
from mfmasim.machine.rules import parts

if TYPE_CHECKING:
    from collections.abc import Callable

    from mfmasim.architectures import Arch
    from mfmasim.formats.conversions import Conversion, Row
    from mfmasim.isa import Instruction
    from mfmasim.machine.float_mode import FloatMode
    from mfmasim.machine.rules import Rule

    U = Any  # an array of the type that the signature names

KINDS = {"b32": "u32", "b64": "u64"}
# Types of single results by format; the others are dwords.
SINGLE = {"f16": "f16", "f32": "f32", "f64": "f64", "u16": "u16", "i16": "u16"}
WIDE = ("f32", "i32", "u32", "f64")
PAIR = 0b11
"""Both sources are numbers: what they become stands in one register."""
SIXTEEN = ("f16", "u16")
VIEWS: dict[str, Any] = {"f32": np.float32, "f64": np.float64, "u32": np.uint32}


def _result(row: Row) -> str:
    """Type of the result, as signatures have it."""
    kind = KINDS.get(row.result, row.result)
    return SINGLE.get(row.formats[0], kind) if len(row.sources) == 1 and row.result in KINDS else kind


def _rule(row: Row) -> Rule:
    """Numbers of 16 bits or less are parts of a register; results of that size are, unless one stands alone."""
    result, source = row.formats
    narrow = source not in WIDE and row.sources[0] == "b32"
    return parts("half" if narrow else "operand", packed=result not in WIDE and len(row.sources) > 1)


def _checked(instruction: Instruction, found: Conversion, result: str) -> Modifiers:
    """The modifiers that the conversion handles; refuses those that mean nothing to it."""
    modifiers, printed = instruction.modifiers, [x for x in instruction.src if x.printed]
    given = {
        "op_sel": modifiers.get("op_sel", 0),
        "neg": sum(x.neg << i for i, x in enumerate(printed)),
        "abs": sum(x.abs << i for i, x in enumerate(printed)),
    }
    for name, allowed in (("op_sel", found.row.op_sel), ("neg", found.row.floats), ("abs", found.row.floats)):
        if given[name] & ~allowed:
            raise unsupported(instruction, f"{name} {given[name]:#x}")
    if result in ("b32x2", "b32x6") and (modifiers.get("clamp") or modifiers.get("omod")):
        raise unsupported(instruction, "an output modifier on several results")
    if result in SIXTEEN:  # the half of the result is chosen where it is written
        given["op_sel"] &= 7
    byte_sel = modifiers.get("byte_sel") if found.row.selects else None
    return Modifiers(op_sel=given["op_sel"], byte_sel=byte_sel, neg=given["neg"], abs=given["abs"])


def _convert(result: str, instruction: Instruction, arch: Arch) -> Callable[..., U]:
    found = conversion(arch.name, instruction.name)
    clamp, pair = bool(instruction.modifiers.get("clamp")), found.row.floats == PAIR
    modifiers = _checked(instruction, found, result)
    # Towards 16-bit integers clamp changes nothing: those conversions saturate.
    halves = clamp and pair and found.row.formats[0] == "f16"
    if clamp and pair and found.row.formats[0] == "bf16":
        raise unsupported(instruction, "clamp on bf16")

    def run(*operands: Any) -> U:
        mode: FloatMode = operands[-1]
        sources = operands[:-1]
        old = None
        if found.row.keeps:
            *sources, old = sources  # type: ignore[assignment]
        out = found(*sources, old=old, modifiers=modifiers, mode=mode.conversion)
        if halves:
            return two_halves(*(clamped(half(out, high, False), mode) for high in (False, True)))
        if result == "f16":
            return out.astype(np.uint16).view(F16.real)
        return out.astype(np.uint16) if result == "u16" else out.view(VIEWS[result]) if result in VIEWS else out

    return run


for _row in {row.name: row for row in reversed(ROWS) if row.unit == "vector"}.values():
    _sources = " ".join([*(KINDS.get(kind, kind) for kind in _row.sources), *(["u32"] * _row.keeps)])
    shaped(_row.name, f"{_sources} mode -> {_result(_row)}", _row.fidelity, undefined=_rule(_row))(
        partial(_convert, _result(_row))
    )
