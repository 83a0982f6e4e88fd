"""Cache policy modifiers of memory instructions, as LLVM prints them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mfmasim.isa.family import family

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mfmasim.isa.record import InstructionFields

_SCOPES = ("", "SCOPE_SE", "SCOPE_DEV", "SCOPE_SYS")
_HINTS = ("", "NT", "HT", "", "NT_RT", "RT_NT", "NT_HT", "NT_WB")


def cache(ins: InstructionFields, names: Iterable[str] | None = None) -> list[str]:
    """The cache bits; gfx12's temporal hint and scope are spelled out (RDNA4 ISA manual, "Memory scopes and hints")."""
    if "th" in ins.modifiers:
        th, scope = ins.modifiers["th"], ins.modifiers["scope"]
        return _hint(ins, th, scope) + ([f"scope:{_SCOPES[scope]}"] if scope else [])
    if names is None:
        names = family(ins.arch).dialect.cache_order
    return [name for name in names if ins.modifiers.get(name)]


def scaled(ins: InstructionFields) -> list[str]:
    """Whether the offset register counts elements."""
    return ["scale_offset"] if ins.modifiers.get("scale_offset") else []


def volatile(ins: InstructionFields) -> list[str]:
    """Whether the memory is non-volatile."""
    return ["nv"] if ins.modifiers.get("nv") else []


def _hint(ins: InstructionFields, th: int, scope: int) -> list[str]:
    if not th:
        return []
    if ins.opcode.access == "atomic":
        if th & 4:
            name = ("CASCADE_NT" if th & 2 else "CASCADE_RT") if scope >= 2 else f"0x{th:x}"
        else:
            name = ("", "RETURN", "NT", "NT_RETURN")[th]
        return [f"th:TH_ATOMIC_{name}"]
    store = ins.opcode.access == "store" or (ins.opcode.kind == "tensor" and not ins.opcode.to_lds)
    if th == 7 and not store:
        return [f"th:0x{th:x}"]
    # 3 means to bypass the caches in system scope, else last use of a load and write-back of a store.
    name = ("BYPASS" if scope == 3 else "WB" if store else "LU") if th == 3 else _HINTS[th]
    return [f"th:TH_{'STORE' if store else 'LOAD'}_{name}"]
