"""The frame's lines are written in gfx9's syntax; here they become those of RDNA, of 32 lanes or 64.

Only what the frame and the generators put around an instruction under test goes through here, never that instruction.
"""

from __future__ import annotations

import re

_GFX10 = {
    "v_add_u32_e32": "v_add_nc_u32_e32", "v_sub_u32_e32": "v_sub_nc_u32_e32", "v_subrev_u32_e32": "v_subrev_nc_u32_e32",
    "v_add_co_u32_e32": "v_add_co_u32", "v_addc_co_u32_e32": "v_add_co_ci_u32_e32",
}  # fmt: skip
_COMMON = _GFX10 | {
    "s_andn2_b32": "s_and_not1_b32",
    "s_andn2_b64": "s_and_not1_b64", "s_orn2_b32": "s_or_not1_b32", "s_orn2_b64": "s_or_not1_b64",
    "v_mbcnt_lo_u32_b32": "v_mbcnt_lo_u32_b32", "ds_read2st64_b64": "ds_load_2addr_stride64_b64",
    "ds_write2st64_b64": "ds_store_2addr_stride64_b64",
}  # fmt: skip
_GFX12 = {
    "s_add_u32": "s_add_co_u32",
    "s_addc_u32": "s_add_co_ci_u32",
    "s_sub_u32": "s_sub_co_u32",
    "s_subb_u32": "s_sub_co_ci_u32",
}
_PARTS = {"dword": "b32", "dwordx2": "b64", "dwordx3": "b96", "dwordx4": "b128", "dwordx8": "b256", "dwordx16": "b512"}
_MASKS = ("s_mov_", "s_and_", "s_or_", "s_andn2_", "s_xor_", "s_not_", "s_and_saveexec_", "s_or_saveexec_")
_WAITS = {"vmcnt": ("s_wait_loadcnt", "s_wait_storecnt"), "lgkmcnt": ("s_wait_dscnt", "s_wait_kmcnt")}


def split(arch):
    """(architecture, lanes) of a name such as ``gfx1151`` (32 lanes), ``gfx1151:64`` or ``gfx942``."""
    name, _, lanes = arch.partition(":")
    return name, int(lanes or (32 if name.startswith("gfx1") else 64))


def _renamed(word, name):
    if name.startswith("gfx10"):
        return _GFX10.get(word, word)
    memory = re.fullmatch(r"(global|scratch|flat|buffer|s)_(load|store)_(dword\w*)", word)
    if memory:
        return f"{memory[1]}_{memory[2]}_{_PARTS[memory[3]]}"
    lds = re.fullmatch(r"ds_(read|write)_(b\d+)", word)
    if lds:
        return f"ds_{'load' if lds[1] == 'read' else 'store'}_{lds[2]}"
    return _COMMON.get(word) or (_GFX12.get(word, word) if name.startswith("gfx12") else word)


def _narrowed(word, rest):
    """Lane masks of 32 bits."""
    if re.search(r"\b(exec|vcc)\b", rest):
        if word.startswith(_MASKS) and word.endswith("_b64"):
            word = word.removesuffix("_b64") + "_b32"
            rest = re.sub(r"s\[(\d+):\d+\]", r"s\1", rest)
        rest = re.sub(r"\b(exec|vcc)\b", r"\1_lo", rest)
    elif re.match(r"(v_cmp|v_cndmask)\w*_e64$", word):
        rest = re.sub(r"s\[(\d+):\d+\]", r"s\1", rest)
    return word, rest


def spell(line, arch):
    """The lines that stand for one line of gfx9."""
    name, lanes = split(arch)
    word, _, rest = line.strip().partition(" ")
    if not name.startswith("gfx1") or not word or word.endswith(":"):
        return [line]
    gfx12 = name.startswith("gfx12")
    if word == "s_setreg_imm32_b32" and name.startswith(("gfx117", "gfx12")):
        return [line.replace("0x3f0", "0xf0")]  # no DX10_CLAMP, no IEEE
    if word == "s_waitcnt" and gfx12:
        return [f"  {wait} 0x0" for counter, waits in _WAITS.items() if counter in rest for wait in waits]
    if word == "s_waitcnt" and "vmcnt" in rest:
        return [line, "  s_waitcnt_vscnt null, 0x0"]
    if word == "s_barrier" and gfx12:
        return ["  s_barrier_signal -1", "  s_barrier_wait 0xffff"]
    if word.startswith("v_accvgpr"):
        return []
    if lanes == 32:
        word, rest = _narrowed(word, rest)
    return [f"  {_renamed(word, name)} {rest}".rstrip()]


def spelled(lines, arch):
    """All of some lines."""
    return [new for line in lines for new in spell(line, arch)]
