"""The conversion instructions: operands of the machine around the functions of `mfmasim.formats.conversions`.

What each converts, and what its sources leave open, stands in its row there. Here SDWA selects a source's byte or word,
the row's own bits of op_sel choose parts, MODE comes from the wave, and clamp acts on a floating-point result.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.formats.conversions import ROWS, Modifiers, conversion
from mfmasim.machine.forms import F16
from mfmasim.machine.modifiers import clamped
from mfmasim.machine.operands import unsupported
from mfmasim.machine.ops.packed_float import half, two_halves
from mfmasim.machine.registry import shaped

if TYPE_CHECKING:
    from collections.abc import Callable

    from mfmasim.formats.conversions import Conversion
    from mfmasim.isa import Instruction
    from mfmasim.machine.float_mode import FloatMode

    U = Any  # an array of the type that the signature names

KINDS = {"b32": "u32", "b64": "u64"}
# Types of single results; the others are dwords.
SINGLE = re.compile(r"v_cvt_(?:norm_|off_)?(f16|f32|f64|u16|i16)_")
SIXTEEN = ("f16", "u16")
VIEWS: dict[str, Any] = {"f32": np.float32, "f64": np.float64, "u32": np.uint32}


def _result(name: str, stored: str) -> str:
    single = SINGLE.match(name)
    if single is None:
        return KINDS.get(stored, stored)
    return {"i16": "u16"}.get(single[1], single[1])


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


def _convert(instruction: Instruction, arch: Any) -> Callable[..., U]:
    name = instruction.name
    found = conversion(arch.name, name)
    result = _result(name, found.row.result)
    modifiers = _checked(instruction, found, result)
    # Towards 16-bit integers clamp changes nothing: those conversions saturate.
    halves = bool(instruction.modifiers.get("clamp")) and re.match(r"v_cvt_pk(_?rtz)?_f16_", name) is not None
    if instruction.modifiers.get("clamp") and name == "v_cvt_pk_bf16_f32":
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


def _register() -> None:
    done = set()
    for row in ROWS:
        if row.name in done or not row.name.startswith("v_cvt_"):
            continue
        done.add(row.name)
        sources = [KINDS.get(kind, kind) for kind in row.sources] + ["u32"] * row.keeps
        shaped(row.name, f"{' '.join(sources)} mode -> {_result(row.name, row.result)}", row.fidelity)(_convert)


_register()
