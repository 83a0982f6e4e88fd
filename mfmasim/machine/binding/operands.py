"""From an operand of an instruction to a function that reads or writes it as a typed array.

Vector sources come out as arrays that broadcast to (waves, lanes), scalar sources as (waves,). Nothing is converted:
a type is a view of the bits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfmasim.architectures import arch as find_arch
from mfmasim.isa import Instruction, Operand
from mfmasim.machine.binding.dpp import is_dpp, moved
from mfmasim.machine.events.interface import Reader, Writer
from mfmasim.machine.numerics.lane_masks import lanes_of
from mfmasim.machine.opcodes.refusal import unsupported
from mfmasim.machine.state.memory import PRIVATE_BASE, SHARED_BASE
from mfmasim.machine.state.waves import EXEC, VCC, Group

ZERO = np.zeros((1, 1), np.uint32)
# Dtypes, not types: a view is faster, and the test whether it is needed is one comparison of identities.
U32 = np.dtype(np.uint32)
VIEW32: dict[str, Any] = {"u32": U32, "b32": U32, "sign32": U32, "i32": np.dtype(np.int32), "f32": np.dtype(np.float32)}
VIEW64: dict[str, Any] = {
    "u64": np.dtype(np.uint64), "b64": np.dtype(np.uint64), "i64": np.dtype(np.int64), "f64": np.dtype(np.float64),
}  # fmt: skip
VIEW16: dict[str, Any] = {
    "u16": np.dtype(np.uint16), "b16": np.dtype(np.uint16), "i16": np.dtype(np.int16), "f16": np.dtype(np.float16),
}  # fmt: skip
NUMBERS = frozenset((*VIEW32, *VIEW64, *VIEW16))
"""Types of one number a lane."""

# Aperture registers by source code: base and limit of the LDS and of the scratch aperture (CDNA3 ISA manual, SSRC0).
APERTURES = {235: SHARED_BASE, 236: SHARED_BASE | 0xFFFFFFFF, 237: PRIVATE_BASE, 238: PRIVATE_BASE | 0xFFFFFFFF}

# SDWA selectors: shift and mask (CDNA3 ISA manual, SDWA encoding): bytes 0 to 3, low word, high word, dword.
DWORD = 6
SDWA_FIELDS = ((0, 0xFF), (8, 0xFF), (16, 0xFF), (24, 0xFF), (0, 0xFFFF), (16, 0xFFFF), (0, 0xFFFFFFFF))


def field_mask(selector: int) -> int:
    """Bits of a register that an SDWA selector names."""
    shift, mask = SDWA_FIELDS[selector]
    return mask << shift


_NO_GROUP: Any = None
"""The group that a constant is read for."""


def read_dword(operand: Operand, part: int, instruction: Instruction) -> Reader:
    """Read one dword of a vector operand, shaped to broadcast to (waves, lanes).

    Args:
        operand: the operand.
        part: number of the dword in the operand.
        instruction: the reading instruction.
    """
    kind, index = operand.kind, operand.index + part
    if kind == "v":
        if operand.field == "src0" and is_dpp(instruction):
            return moved(lambda g: g.v("v", index), instruction)
        # In the usual case, a group of all waves, no call of the group's method is needed.
        return lambda g: g.vgprs[index] if g.all else g.take(g.vgprs[index])
    if kind == "a":
        return lambda g: g.agprs[index] if g.all else g.take(g.agprs[index])
    if kind == "s":
        return lambda g: (g.sgprs[index] if g.all else g.take(g.sgprs[index]))[:, None]
    if kind == "null":
        return lambda g: ZERO  # noqa: ARG005
    if kind == "const":
        value = np.array([[(operand.bits >> (32 * part)) & 0xFFFFFFFF]], np.uint32)
        return lambda g: value  # noqa: ARG005
    if kind == "special":
        flag = special_reader(operand, "u64" if operand.count == 2 else "u32", instruction)
        shift = np.uint64(32 * part)
        return lambda g: (flag(g)[:, None].astype(np.uint64) >> shift).astype(np.uint32)
    raise unsupported(instruction, f"source operand of kind {kind} {operand.index}")


def _select(reader: Reader, operand: Operand) -> Reader:
    """Apply an SDWA selector: the field moves to bit 0, with sign extension if `sext` is set."""
    if operand.sel == DWORD:
        return reader
    field = SDWA_FIELDS[operand.sel]
    shift, mask = np.uint32(field[0]), np.uint32(field[1])
    if operand.sext:
        up = np.uint32(32 - int(mask).bit_length())
        return lambda g: (((reader(g) >> shift) << up).view(np.int32) >> up.astype(np.int32)).view(np.uint32)
    return lambda g: (reader(g) >> shift) & mask


def _signs(reader: Reader, operand: Operand, bits: int) -> Reader:
    """Apply the abs and neg input modifiers to the sign bit."""
    kind: Any = {16: np.uint16, 32: np.uint32, 64: np.uint64}[bits]
    sign = kind(1 << (bits - 1))
    if operand.abs and operand.neg:
        return lambda g: reader(g) | sign
    if operand.abs:
        return lambda g: reader(g) & ~sign
    if operand.neg:
        return lambda g: reader(g) ^ sign
    return reader


def vector_reader(
    operand: Operand, kind: str, instruction: Instruction, *, high: bool = False, bare: bool = False
) -> Reader:
    """Read a source of a vector operation as the given type; `high` picks the upper half of a 16-bit source.

    Args:
        operand: the operand.
        kind: type of the value, as operations' signatures name it.
        instruction: the reading instruction.
        high: whether a 16-bit source is the upper half of its register.
        bare: whether a constant has no axes, instead of (1, 1).
    """
    reader = _lanes_reader(operand, kind, instruction, high=high)
    if operand.kind != "const" or kind not in NUMBERS:
        return reader
    constant = reader(_NO_GROUP)
    if bare:
        constant = constant.reshape(())
    return lambda g: constant  # noqa: ARG005


def _lanes_reader(operand: Operand, kind: str, instruction: Instruction, *, high: bool) -> Reader:
    """`vector_reader`, with constants computed at each call."""
    if kind == "mask":
        return _mask_reader(operand, instruction)
    if kind.startswith("b32x"):
        parts = [read_dword(operand, part, instruction) for part in range(int(kind[4:]))]
        return lambda g: np.stack(np.broadcast_arrays(*[part(g) for part in parts]))
    if kind == "pair":
        first, second = (read_dword(operand, part, instruction) for part in range(2))
        both: Callable[[Group], Any] = lambda g: (first(g), second(g))  # noqa: E731
        return both
    low = _select(read_dword(operand, 0, instruction), operand)
    floating = kind.startswith(("f", "sign"))
    if kind in VIEW32:
        view = VIEW32[kind]
        raw = _signs(low, operand, 32) if floating else low
        return raw if view is U32 else lambda g: raw(g).view(view)
    if kind in VIEW16:
        view16, shift = VIEW16[kind], np.uint32(16)
        half: Reader = (lambda g: (low(g) >> shift).astype(np.uint16)) if high else (lambda g: low(g).astype(np.uint16))
        raw16 = _signs(half, operand, 16) if floating else half
        return lambda g: raw16(g).view(view16)
    if kind in VIEW64:
        view64 = VIEW64[kind]
        if operand.kind == "const":
            constant = np.array([[operand.bits & 0xFFFFFFFFFFFFFFFF]], np.uint64)
            wide: Reader = lambda g: constant  # noqa: ARG005, E731
        else:
            upper = read_dword(operand, 1, instruction)
            up64 = np.uint64(32)
            wide = lambda g: low(g).astype(np.uint64) | (upper(g).astype(np.uint64) << up64)  # noqa: E731
        raw64 = _signs(wide, operand, 64) if floating else wide
        return lambda g: raw64(g).view(view64)
    msg = f"operand type {kind!r} is not one the machine reads"
    raise ValueError(msg)


def _mask_reader(operand: Operand, instruction: Instruction) -> Reader:
    if operand.kind == "const":
        mask = np.array([operand.bits & 0xFFFFFFFFFFFFFFFF], np.uint64)
        return lambda g: lanes_of(mask, g.lanes)
    if operand.kind == "null":
        return lambda g: np.zeros((1, g.lanes), np.bool_)
    if operand.kind != "s":
        raise unsupported(instruction, "lane mask outside the scalar registers")
    code = operand.index
    return lambda g: g.lane_mask(code)


def vector_writer(
    operand: Operand, kind: str, instruction: Instruction, *, high: bool = False, keeps_high: bool = False
) -> Writer:
    """Write the result of a vector operation under EXEC.

    Args:
        operand: the destination.
        kind: type of the result.
        instruction: the writing instruction.
        high: whether a 16-bit result goes to the upper half, and the lower one stays.
        keeps_high: whether a 16-bit result in the lower half preserves the upper one even on gfx9.

    Raises:
        MfmasimError: the machine does not write destinations of this kind.
    """
    if operand.kind == "null":
        return lambda g, value: None  # noqa: ARG005
    if kind == "mask":
        if operand.kind != "s":
            raise unsupported(instruction, "lane mask outside the scalar registers")
        code = operand.index
        return lambda g, value: g.write_mask(code, value)
    if operand.kind not in "va":
        raise unsupported(instruction, f"vector destination of kind {operand.kind}")
    file, index = operand.kind, operand.index
    if instruction.modifiers.get("dst_sel", DWORD) != DWORD:
        return _sdwa_writer(operand, instruction)
    if kind in VIEW32:
        return _dword_writer(file, index)
    if kind.startswith("b32x") or kind == "pair":

        def write_all(g: Group, value: NDArray[Any]) -> None:
            for register, part in enumerate(value):
                g.write_v(file, index + register, part)

        return write_all
    if kind in VIEW16:
        if high:
            low16, up16 = np.uint32(0xFFFF), np.uint32(16)
            return lambda g, value: g.write_v(
                file, index, (value.view(np.uint16).astype(np.uint32) << up16) | g.v(file, index) & low16
            )
        # SDWA with DST_SEL DWORD writes all of the register.
        if keeps_high or (find_arch(instruction.arch).keeps_halves and "dst_sel" not in instruction.modifiers):
            high16 = np.uint32(0xFFFF0000)
            return lambda g, value: g.write_v(
                file, index, value.view(np.uint16).astype(np.uint32) | g.v(file, index) & high16
            )
        # Other operations clear the upper half on gfx9 (LLVM: zeroesHigh16BitsOfDest).
        return lambda g, value: g.write_v(file, index, value.view(np.uint16).astype(np.uint32))
    if kind in VIEW64:

        def write(g: Group, value: NDArray[Any]) -> None:
            bits = value.view(np.uint64)
            low, high = bits.astype(np.uint32), (bits >> np.uint64(32)).astype(np.uint32)
            g.write_v(file, index, low)
            g.write_v(file, index + 1, high)

        return write
    msg = f"result type {kind!r} is not one the machine writes"
    raise ValueError(msg)


def _dword_writer(file: str, index: int) -> Writer:
    """Write one register: at once when the group is all waves and every lane is active, else by the group's method."""
    vector = file == "v"

    def write(g: Group, value: NDArray[Any]) -> None:
        if value.dtype is not U32:
            value = value.view(U32)
        if g.mask is None and g.all and value.shape[-1] == g.lanes:
            (g.vgprs if vector else g.agprs)[index] = value
        else:
            g.write_v(file, index, value)

    return write


def _sdwa_writer(operand: Operand, instruction: Instruction) -> Writer:
    """Write one byte or word of a register; dst_unused says how the rest is filled (0 pad, 1 sign-extend, 2 keep)."""
    shift, mask = SDWA_FIELDS[instruction.modifiers["dst_sel"]]
    unused = instruction.modifiers.get("dst_unused", 0)
    file, index = operand.kind, operand.index
    field, up = np.uint32(mask), np.uint32(shift)
    keep = np.uint32(0xFFFFFFFF & ~(mask << shift)) if unused == 2 else np.uint32(0)
    sign = np.uint32((mask + 1) >> 1) if unused == 1 else np.uint32(0)

    def write(g: Group, value: NDArray[Any]) -> None:
        bits = value.view({2: np.uint16, 4: np.uint32}[value.dtype.itemsize]).astype(np.uint32)
        old = g.v(file, index)
        part = ((bits & field) ^ sign) - sign  # extends the sign of a signed field
        g.write_v(file, index, (part << up) | (old & keep))

    return write


def special_reader(operand: Operand, kind: str, instruction: Instruction) -> Reader:
    """Read VCCZ, EXECZ, SCC, LDS_DIRECT or an aperture register, as (waves,).

    An aperture register is read as 64 bits; a 32-bit read does not return the address (LLVM: it is broken).

    Args:
        operand: the operand.
        kind: type of the value, as operations' signatures name it.
        instruction: the reading instruction.
    """
    view = (VIEW64 | VIEW32 | VIEW16)[kind]
    base: Any = np.dtype(f"u{view.itemsize}")
    if operand.index in APERTURES:
        if view.itemsize < 8:
            raise unsupported(instruction, "32-bit read of an aperture register")
        value = np.array([APERTURES[operand.index]], np.uint64).view(view)
        return lambda g: value  # noqa: ARG005
    zero = {251: VCC, 252: EXEC}.get(operand.index)
    if zero is not None:
        return lambda g: np.equal(g.s(zero) | (g.s(zero + 1) if g.lanes == 64 else 0), 0).astype(base).view(view)
    if operand.index == 253:
        return lambda g: g.scc.astype(base).view(view)
    if operand.lds_direct:
        return lambda g: g.lds_source.astype(base).view(view)
    raise unsupported(instruction, f"source operand of kind special {operand.index}")


def scalar_reader(operand: Operand, kind: str, instruction: Instruction) -> Reader:
    """Read a source of a scalar operation as (waves,) of the given type.

    Args:
        operand: the operand.
        kind: type of the value, as operations' signatures name it.
        instruction: the reading instruction.
    """
    if operand.kind in ("const", "null"):  # a null operand has no bits: it reads 0
        view = (VIEW64 | VIEW32 | VIEW16)[kind]
        width = 8 * np.dtype(view).itemsize
        raw = np.array([operand.bits & ((1 << width) - 1)], np.uint64).astype(f"u{width // 8}").view(view)
        return lambda g: raw  # noqa: ARG005
    if operand.kind == "imm":
        immediate = np.array([operand.bits & 0xFFFFFFFF], np.uint32).view(VIEW32[kind])  # extended by the decoder
        return lambda g: immediate  # noqa: ARG005
    if operand.kind == "special":
        return special_reader(operand, kind, instruction)
    if operand.kind != "s":
        raise unsupported(instruction, f"scalar source of kind {operand.kind} {operand.index}")
    code = operand.index
    if kind in VIEW32:
        view32 = VIEW32[kind]
        if view32 is U32:
            return lambda g: g.sgprs[code] if g.all else g.take(g.sgprs[code])
        return lambda g: g.s(code).view(view32)
    if kind in VIEW16:
        view16 = VIEW16[kind]
        return lambda g: g.s(code).astype(np.uint16).view(view16)
    view64 = VIEW64[kind]
    up = np.uint64(32)
    return lambda g: (g.s(code).astype(np.uint64) | (g.s(code + 1).astype(np.uint64) << up)).view(view64)


def scalar_writer(operand: Operand, kind: str, instruction: Instruction) -> Writer:
    """Write a scalar result.

    Args:
        operand: the operand.
        kind: type of the value, as operations' signatures name it.
        instruction: the writing instruction.
    """
    if operand.kind == "null":
        return lambda g, value: None  # noqa: ARG005
    if operand.kind != "s":
        raise unsupported(instruction, f"scalar destination of kind {operand.kind}")
    code = operand.index
    if kind in VIEW32:

        def write_one(g: Group, value: NDArray[Any]) -> None:
            if value.dtype is not U32:
                value = value.view(U32)
            if g.all and code < EXEC and value.ndim:
                g.sgprs[code] = value
            else:
                g.write_s(code, value)

        return write_one
    if kind in VIEW16:  # the upper half becomes 0
        return lambda g, value: g.write_s(code, value.view(np.uint16).astype(np.uint32))

    if code == EXEC:
        return lambda g, value: g.write_exec64(np.atleast_1d(value).view(np.uint64))

    return lambda g, value: g.write_pair(code, value)
