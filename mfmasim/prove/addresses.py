"""From a memory instruction to the accesses that it makes."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from mfmasim.lds.instructions import ds_instruction
from mfmasim.prove.effects import ADDRESS, strange
from mfmasim.prove.inequality import never_negative
from mfmasim.prove.polynomial import Polynomial, TooLarge, constant
from mfmasim.prove.trace import Access, Reach
from mfmasim.prove.words import Word, known, literal, pair, reduced, signed, unsigned

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mfmasim.architectures import Arch
    from mfmasim.isa import Instruction, Operand
    from mfmasim.prove.state import State

__all__ = ["accessed"]

SIZES = {
    "ubyte": 1, "sbyte": 1, "byte": 1, "u8": 1, "i8": 1, "b8": 1, "ushort": 2, "sshort": 2, "short": 2, "u16": 2,
    "i16": 2, "b16": 2, "dword": 4, "dwordx2": 8, "dwordx3": 12, "dwordx4": 16, "b32": 4, "b64": 8, "b96": 12,
    "b128": 16,
}  # fmt: skip
"""Bytes of a lane by the type in a mnemonic."""
_KINDS = {"GLOBAL": "FLAT", "VGLOBAL": "FLAT", "VFLAT": "FLAT", "VSCRATCH": "SCRATCH", "VBUFFER": "MUBUF"}
"""Encodings that have the modifiers of another encoding."""
CANONICAL = 1 << 48
DWORD = (1 << 32) - 1


def _size(name: str) -> int | None:
    """Bytes that a load or store of this mnemonic moves in a lane."""
    words = [w for w in re.split("_", name) if w in SIZES]
    return SIZES[words[-1]] if len(words) == 1 else None


def _atomic_size(ins: Instruction) -> int | None:
    """Bytes of a lane that an atomic operation changes: those of its data, of which a compare has two."""
    data = [operand.count for operand in ins.src if operand.field == "data"]
    return None if len(data) != 1 else 4 * data[0] // (2 if ins.opcode.atomic == "compare" else 1)


def accessed(state: State, ins: Instruction, arch: Arch) -> list[Access]:
    """The accesses of a vector memory instruction, or of one of the LDS.

    Args:
        state: before it.
        ins: the instruction.
        arch: its architecture.

    Returns:
        One access or more; an access with an unknown address has the reason.
    """
    kind = {"load": "read", "store": "write", "atomic": "atomic"}.get(ins.opcode.access, "atomic")
    if ins.opcode.transposes and (state.exec.literals or not state.exec.on.all()):
        # Lanes exchange the data that they load: lanes that EXEC disables may load as well, at unknown addresses.
        every = replace(state, exec=state.every())
        return [_unknown(every, ins, ins.space or "global", kind, f"{ins.name} under a mask is not followed")]
    try:
        found = _followed(state, ins, kind, arch)
    except TooLarge:
        found = [_unknown(state, ins, ins.space or "global", kind, "the address has too many terms")]
    to_lds = ins.opcode.to_lds or bool(ins.modifiers.get("lds"))
    if (to_lds or ins.opcode.from_lds) and not any(one.space == "lds" for one in found):
        found.append(_unknown(state, ins, "lds", "write" if to_lds else "read", f"{ins.name} is not followed"))
    return found


def _followed(state: State, ins: Instruction, kind: str, arch: Arch) -> list[Access]:
    if ins.opcode.unit == "LDS" or ins.encoding == "DS":
        if odd := strange(ins, ADDRESS["DS"]):
            return [_unknown(state, ins, "lds", kind, f"{', '.join(odd)} of {ins.name} is not followed")]
        return _shared(state, ins, kind, arch)
    if odd := strange(ins, ADDRESS.get(_KINDS.get(ins.encoding, ins.encoding), frozenset())):
        return [_unknown(state, ins, ins.space or "global", kind, f"{', '.join(odd)} of {ins.name} is not followed")]
    size = _size(ins.name) if kind != "atomic" else _atomic_size(ins)
    if ins.encoding in ("MUBUF", "MTBUF", "VBUFFER"):
        found = [_buffer(state, ins, kind, size, arch)]
    elif ins.space == "scratch":
        return [_scratch(state, ins, kind, size)]
    elif ins.space == "global" and ins.encoding in ("GLOBAL", "VGLOBAL", "FLAT"):
        found = [_global(state, ins, kind, size, arch)]
    else:
        return [_unknown(state, ins, ins.space or "global", kind, f"{ins.name} is not followed")]
    if ins.opcode.counter == "async":
        found += _in_lds(
            state, ins, "write" if ins.opcode.to_lds else "read", [ins.modifiers.get("offset", 0)], size or 0, 2
        )
    elif ins.modifiers.get("lds") or ins.opcode.to_lds:
        found.append(_direct(state, ins, size, arch))
    return found


def _access(
    state: State,
    ins: Instruction,
    space: str,
    kind: str,
    address: Polynomial | None,
    size: int,
    why: str = "",
    reach: Reach | None = None,
    through: str = "",
) -> Access:
    on = state.exec.on
    if address is not None:
        address = _under_guards(state, address)
    if address is not None and not on.all() and on.any():
        # The offsets of inactive lanes do not matter: they are set to the offset of the first active lane.
        first = np.unravel_index(int(on.argmax()), on.shape)
        address = address.mapped(lambda c: np.where(on, c, np.broadcast_to(c, on.shape)[first]))
    return Access(
        ins, space, kind, address, size, state.exec, tuple(state.facts), state.waves, why, reach, through or space
    )


def _under_guards(state: State, address: Polynomial) -> Polynomial:
    """Replace each minimum in an address by its smaller operand, where the guards of the access determine it."""
    decided = {}
    guards = state.exec.facts()
    for symbol in address.symbols if guards else ():
        for one, other in (symbol.smaller, symbol.smaller[::-1]) if symbol.smaller is not None else ():
            arrays = (c for p in (one, other) for c in p.terms.values() if not isinstance(c, int))
            here = all(c.shape[0] in (1, len(state.waves)) for c in arrays)  # else it has more waves than the state
            if here and never_negative(other - one, [*state.facts, *guards]):
                decided[symbol] = one
                break
    return address.substituted(decided)


def _unknown(state: State, ins: Instruction, space: str, kind: str, why: str) -> Access:
    return _access(state, ins, space, kind, None, 0, why)


def _global(state: State, ins: Instruction, kind: str, size: int | None, arch: Arch) -> Access:
    vaddr, saddr = ins.src[:2]
    if size is None or vaddr.kind != "v":  # without a VGPR the hardware may add the lane's number to the address
        return _unknown(state, ins, "global", kind, f"{ins.name} is not followed")
    offset = ins.modifiers.get("offset", 0)
    if saddr.kind == "s":
        base = pair(state.scalar(saddr.index), state.scalar(saddr.index + 1), state.facts)
        how = signed if arch.signed_lane_offsets else unsigned
        lane = how(state.operand(vaddr), state.facts)
        if ins.modifiers.get("scale_offset") and lane is not None:
            lane = lane.scaled(ins.opcode.bytes)
        if base is None or lane is None:
            which = saddr if base is None else vaddr
            return _unknown(
                state, ins, "global", kind, f"{which.kind}{which.index} is not known, or may wrap at 32 bits"
            )
        return _access(state, ins, "global", kind, base + lane + offset, size)
    address = pair(state.operand(vaddr), state.operand(vaddr, 1), state.facts)
    if address is None:
        return _unknown(state, ins, "global", kind, f"v[{vaddr.index}:{vaddr.index + 1}] is not known")
    return _access(state, ins, "global", kind, address + offset, size)


def _scratch(state: State, ins: Instruction, kind: str, size: int | None) -> Access:
    if size is None:
        return _unknown(state, ins, "scratch", kind, f"{ins.name} is not followed")
    vaddr, saddr = ins.src[:2]
    total = literal(ins.modifiers.get("offset", 0) & 0xFFFFFFFF)
    for operand in (vaddr, saddr):
        if operand.kind in ("v", "s"):
            part = known(state.operand(operand))
            if part is None:
                return _unknown(state, ins, "scratch", kind, f"{operand.kind}{operand.index} is not a constant")
            total = reduced(total.value + constant(part))
    return _access(state, ins, "scratch", kind, total.value, size)


def _buffer(state: State, ins: Instruction, kind: str, size: int | None, arch: Arch) -> Access:
    vaddr, srsrc, soffset = ins.src[:3]
    words = [state.scalar(srsrc.index + k) for k in range(4)]
    if (
        size is None
        or ins.modifiers.get("idxen")
        or known(words[3]) != arch.buffers.usual
        or arch.buffers.range_in_bytes
    ):
        return _unknown(state, ins, "global", kind, f"s[{srsrc.index}:{srsrc.index + 3}] is no raw buffer resource")
    base = pair(words[0], words[1], state.facts)
    if base is not None and not (
        never_negative(base, state.facts) and never_negative(-base + (CANONICAL - 1), state.facts)
    ):
        base = None
    reach = Reach(base, unsigned(words[2], state.facts))
    offset: Word | None = literal(0)
    scalar, more = unsigned(state.operand(soffset), state.facts), ins.modifiers.get("offset", 0)
    if ins.modifiers.get("offen"):
        if state.operand(vaddr) is None and reach.records is not None and scalar is not None:
            state = _within_reach(state, vaddr, scalar + more, reach.records)
        offset = state.operand(vaddr)
    if offset is not None and not offset.part:
        offset = reduced(offset.value + more)
    place = unsigned(offset, state.facts)
    if base is None or place is None or scalar is None:
        which = "the base" if base is None else "the offset"
        return _access(
            state, ins, "global", kind, None, size, f"{which} of the resource is not known, or may wrap", reach
        )
    return _access(state, ins, "global", kind, base + place + scalar, size, "", reach)


def _within_reach(state: State, vaddr: Operand, more: Polynomial, records: Polynomial) -> State:
    """The state with only the lanes of a buffer access that reach the resource, where this is known; else as it was.

    Args:
        state: before it.
        vaddr: the VGPR of the offset.
        more: the number that is added to the offset.
        records: bytes of the resource.
    """
    word = state.v.get((vaddr.kind, vaddr.index))
    rest = None if word is None or word.rest is None or word.rest.under is not None else known(word.rest)
    if word is None or word.under is None or not isinstance(rest, int):
        return state
    beyond = more + rest
    if never_negative(beyond - records, state.facts) and never_negative(-beyond + DWORD, state.facts):
        return replace(state, exec=state.exec.both(word.under))
    return state


def _direct(state: State, ins: Instruction, size: int | None, arch: Arch) -> Access:
    """The LDS side of a load that writes the LDS (`mfmasim.machine.ops.lds_direct`)."""
    start = known(state.scalar(arch.m0))
    if start is None or size is None:
        return _access(state, ins, "lds", "write", None, 0, "M0 is not a constant", None, "memory")
    bits = (1 << (arch.lds_bytes - 1).bit_length()) - 1
    if ins.encoding != "MUBUF":
        bits &= ~3
    pitch = 4 if size <= 4 else 16
    lanes = pitch * np.arange(state.lanes, dtype=np.int64)[None, :]
    place = constant(np.asarray(start, np.int64) & bits) + constant(lanes + ins.modifiers.get("offset", 0))
    return _access(state, ins, "lds", "write", place, max(size, 4), "", None, "memory")


def _shared(state: State, ins: Instruction, kind: str, arch: Arch) -> list[Access]:
    """LDS instructions: one address register, one or two offsets."""
    if ins.in_gds or ins.opcode.access == "exchange":
        return (
            [] if ins.opcode.access == "exchange" else [_unknown(state, ins, "global", kind, "the GDS is not followed")]
        )
    try:
        row = ds_instruction(arch, ins.name)
    except Exception:  # noqa: BLE001 - no row: not an access that is followed
        return [_unknown(state, ins, "lds", kind, f"{ins.name} is not followed")]
    if "addtid" in ins.name or not ins.src or ins.src[0].kind != "v":
        return [_unknown(state, ins, "lds", row.kind, f"{ins.name} is not followed")]
    offsets = [ins.modifiers.get("offset", 0)]
    if row.parts == 2:
        offsets = [row.stride * ins.modifiers.get(f"offset{k}", 0) for k in range(2)]
    return _in_lds(state, ins, row.kind, offsets, row.size)


def _in_lds(
    state: State, ins: Instruction, kind: str, offsets: Sequence[int], size: int, source: int = 0
) -> list[Access]:
    """LDS accesses at offsets from the VGPR that is source number `source`; LDS instructions have it as source 0."""
    register, through = ins.src[source], "memory" if source else ""
    base, out = state.operand(register), []
    for offset in offsets:
        place = None if base is None or base.part else unsigned(reduced(base.value + offset), state.facts)
        why = "" if place is not None else f"v{register.index} is not known, or may wrap"
        out.append(_access(state, ins, "lds", kind, place, size, why, None, through))
    return out
