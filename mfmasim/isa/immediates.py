"""Immediates that LLVM prints symbolically: wait counts, messages, hardware registers, index modes, swizzles.

Sources: CDNA3 ISA manual (S_WAITCNT, S_SENDMSG, S_GETREG_B32, S_SET_GPR_IDX_ON, DS_SWIZZLE_B32) for the fields,
llvm-objdump 22 for the spelling.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mfmasim.isa.constants import inline_text
from mfmasim.isa.family import family

if TYPE_CHECKING:
    from mfmasim.isa.record import InstructionFields, Operand

MODE = 1
"""Number of the hardware register MODE."""

_INDEX_MODES = ("SRC0", "SRC1", "SRC2", "DST")


def waitcnt(simm16: int, arch: str) -> dict[str, tuple[int, int]]:
    """Counts that an s_waitcnt waits for: (count, largest count, which means not to wait) by the counter's name."""
    out = {}
    for name, pieces in family(arch).dialect.waitcnt.items():
        count = width = 0
        for low, bits in pieces:
            count |= (simm16 >> low & ((1 << bits) - 1)) << width
            width += bits
        out[name] = count, (1 << width) - 1
    return out


def register_field(instruction: InstructionFields) -> tuple[int, int, int]:
    """Number, offset and mask (at bit 0) of the field that hwreg(...) of S_GETREG or S_SETREG names."""
    operand = next(x for x in (*instruction.src, *instruction.dst) if x.type == "hwreg")
    number, offset, size = operand.bits & 63, operand.bits >> 6 & 31, (operand.bits >> 11 & 31) + 1
    return number, offset, (1 << min(size, 32 - offset)) - 1


def decimal_or_hex(value: int) -> str:
    """LLVM prints small immediates as decimals."""
    return str(value) if value <= 64 else f"0x{value:x}"


def inline_or_hex(value: int) -> str:
    """A 32-bit immediate: as an inline constant where it could be one."""
    return inline_text(value) or f"0x{value:x}"


def _waitcnt(value: int, arch: str) -> str:
    counts = waitcnt(value, arch)
    parts = [f"{name}({count})" for name, (count, most) in counts.items() if count != most]
    return " ".join(parts) if parts else " ".join(f"{name}({count})" for name, (count, _) in counts.items())


# Name, lowest bit, width: the dependencies of an instruction (RDNA3 ISA manual, S_WAITCNT_DEPCTR); all ones wait for
# nothing.
_DEPENDENCIES = (
    ("hold_cnt", 7, 1), ("sa_sdst", 0, 1), ("va_vdst", 12, 4), ("va_sdst", 9, 3), ("va_ssrc", 8, 1), ("va_vcc", 1, 1),
    ("vm_vsrc", 2, 3),
)  # fmt: skip
_NO_DEPENDENCY = sum(((1 << width) - 1) << low for _, low, width in _DEPENDENCIES)


def _dependencies(value: int) -> str:
    if value & ~_NO_DEPENDENCY:
        return f"0x{value:x}"
    fields = [(name, value >> low & ((1 << width) - 1), (1 << width) - 1) for name, low, width in _DEPENDENCIES]
    shown = [entry for entry in fields if entry[1] != entry[2]] or fields
    return " ".join(f"depctr_{name}({count})" for name, count, _ in shown)


# RDNA3 ISA manual, S_DELAY_ALU.
_DELAYS = (
    "", "VALU_DEP_1", "VALU_DEP_2", "VALU_DEP_3", "VALU_DEP_4", "TRANS32_DEP_1", "TRANS32_DEP_2", "TRANS32_DEP_3",
    "FMA_ACCUM_CYCLE_1", "SALU_CYCLE_1", "SALU_CYCLE_2", "SALU_CYCLE_3",
)  # fmt: skip
_SKIPS = ("", "NEXT", "SKIP_1", "SKIP_2", "SKIP_3", "SKIP_4")


def _delay(value: int) -> str:
    """s_delay_alu: two dependencies and the distance between the instructions that have them."""
    parts = []
    for field, code, names in (
        ("instid0", value & 15, _DELAYS),
        ("instskip", value >> 4 & 7, _SKIPS),
        ("instid1", value >> 7 & 15, _DELAYS),
    ):
        if code:
            parts.append(f"{field}({names[code] if code < len(names) else code})")
    return " | ".join(parts) or "0"


def _hwreg(value: int, names: dict[int, str]) -> str:
    number, offset, size = value & 63, value >> 6 & 31, (value >> 11) + 1
    name = names.get(number, str(number))
    return f"hwreg({name})" if (offset, size) == (0, 32) else f"hwreg({name}, {offset}, {size})"


def _index_mode(value: int) -> str:
    if value > 15:
        return f"0x{value:x}"
    return f"gpr_idx({','.join(name for i, name in enumerate(_INDEX_MODES) if value >> i & 1)})"


_MESSAGES = {
    1: "MSG_INTERRUPT", 4: "MSG_SAVEWAVE", 5: "MSG_STALL_WAVE_GEN", 6: "MSG_HALT_WAVES", 7: "MSG_ORDERED_PS_DONE",
    8: "MSG_EARLY_PRIM_DEALLOC", 9: "MSG_GS_ALLOC_REQ", 10: "MSG_GET_DOORBELL",
}  # fmt: skip
_GS_OPERATIONS = {1: "GS_OP_CUT", 2: "GS_OP_EMIT", 3: "GS_OP_EMIT_CUT"}
_SYSTEM_OPERATIONS = {1: "SYSMSG_OP_ECC_ERR_INTERRUPT", 2: "SYSMSG_OP_REG_RD", 4: "SYSMSG_OP_TTRACE_PC"}


def _message(value: int) -> str:
    """A message: bits 3:0 its kind, 6:4 an operation, 9:8 a stream."""
    kind, operation, stream = value & 15, value >> 4 & 7, value >> 8 & 3
    if kind in _MESSAGES and not operation and not stream:
        return f"sendmsg({_MESSAGES[kind]})"
    if kind in (2, 3) and operation in _GS_OPERATIONS:
        return f"sendmsg({'MSG_GS' if kind == 2 else 'MSG_GS_DONE'}, {_GS_OPERATIONS[operation]}, {stream})"
    if kind == 3 and not operation and not stream:
        return "sendmsg(MSG_GS_DONE, GS_OP_NOP)"
    if kind == 15 and operation in _SYSTEM_OPERATIONS and not stream:
        return f"sendmsg(MSG_SYSMSG, {_SYSTEM_OPERATIONS[operation]})"
    plain = kind | operation << 4 | stream << 8
    return f"sendmsg({kind}, {operation}, {stream})" if value == plain else str(value)


def _message_rdna(value: int, names: dict[int, str]) -> str:
    """A message of RDNA3 and RDNA4: bits 7:0 are its kind."""
    name = names.get(value & 255)
    if name:
        return f"sendmsg({name})"
    return f"sendmsg({value}, 0, 0)" if value < 256 else str(value)


def swizzle(offset: int) -> str:
    """The pattern of ds_swizzle_b32: four lanes permuted, or and/or/xor masks over 32."""
    if offset >> 13 == 0b111:
        return f"swizzle(FFT,{offset & 31})"
    if offset >> 13 == 0b110:
        return f"swizzle(ROTATE,{offset >> 10 & 1},{offset >> 5 & 31})"
    if offset >> 15:
        if offset >> 8 != 0x80:
            return str(offset)
        return f"swizzle(QUAD_PERM,{','.join(str(offset >> 2 * i & 3) for i in range(4))})"
    and_mask, or_mask, xor_mask = offset & 31, offset >> 5 & 31, offset >> 10 & 31
    if and_mask == 31 and or_mask == 0 and xor_mask:
        if xor_mask & (xor_mask - 1) == 0:
            return f"swizzle(SWAP,{xor_mask})"
        if xor_mask & (xor_mask + 1) == 0:
            return f"swizzle(REVERSE,{xor_mask + 1})"
    group = 32 - and_mask
    if group & (group - 1) == 0 and group > 1 and or_mask < group and xor_mask == 0:
        return f"swizzle(BROADCAST,{group},{or_mask})"
    letters = ""
    for bit in (4, 3, 2, 1, 0):
        kept, set_, flipped = and_mask >> bit & 1, or_mask >> bit & 1, xor_mask >> bit & 1
        low, high = (0 & kept | set_) ^ flipped, (kept | set_) ^ flipped
        letters += {(0, 0): "0", (1, 1): "1", (0, 1): "p", (1, 0): "i"}[low, high]
    return f'swizzle(BITMASK_PERM,"{letters}")'


_VERSIONS = {0: "UC_VERSION_GFX7", 4: "UC_VERSION_GFX10", 6: "UC_VERSION_GFX11", 9: "UC_VERSION_GFX12"}
_VERSION_FLAGS = {13: "UC_VERSION_W64_BIT", 14: "UC_VERSION_W32_BIT", 15: "UC_VERSION_MDP_BIT"}


def _version(value: int) -> str:
    """s_version: a generation and flags, as nested sums in parentheses."""
    if value & 0x1F00:
        return f"0x{value:x}"
    out = _VERSIONS.get(value & 0x1FFF, str(value & 0x1FFF))
    flags = [name for bit, name in _VERSION_FLAGS.items() if value >> bit & 1]
    for i, name in enumerate(flags):
        out = f"({out}|{name})" if i + 1 < len(flags) else f"{out}|{name}"
    return out


_SPELLED = {
    "s_version": _version,
    "s_delay_alu": _delay,
    "s_waitcnt_depctr": _dependencies,
    "s_wait_alu": _dependencies,
}


def text(ins: InstructionFields, operand: Operand) -> str:
    """An immediate operand of a scalar instruction; empty where LLVM leaves it out."""
    value = ins.modifiers.get("simm16", operand.bits)
    if operand.type == "hwreg":
        return _hwreg(value, family(ins.arch).dialect.hardware_registers)
    if operand.type == "gpr_idx" or ins.name == "s_set_gpr_idx_mode":
        return _index_mode(operand.bits)
    if ins.name == "s_waitcnt":
        return _waitcnt(value, ins.arch)
    if operand.type == "msg" or ins.name in ("s_sendmsg", "s_sendmsghalt"):
        names = family(ins.arch).dialect.messages
        return _message_rdna(value, names) if names else _message(value)
    if ins.name in _SPELLED:
        return _SPELLED[ins.name](value)
    if ins.name == "s_endpgm":
        return str(value) if value else ""
    if ins.encoding == "SOPK" or ins.name in family(ins.arch).hexadecimal:
        return f"0x{value:x}"
    return decimal_or_hex(value)
