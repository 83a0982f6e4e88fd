"""Assembly lines for packed integers, lanes, registers by index, calls and what does nothing."""

from __future__ import annotations

from tests.machine import lines
from tests.machine.lines_vector import _long
from tests.slow.machine.vector_integers import PACKED

lines._NO_HALVES |= {"v_ashr_pk_i8_i32", "v_ashr_pk_u8_i32"}  # op_sel selects a half of the destination only


def _packed(row, rng):
    """VOP3P of 16-bit integers: halves in any order, clamp where it can overflow."""
    count = len(row.src)
    texts = [lines._source(slot, rng, vector=0.7) for slot in row.src]
    tail = ""
    if rng.random() < 0.7:
        tail += f" op_sel:[{','.join(str(rng.randrange(2)) for _ in range(count))}]"
    if rng.random() < 0.7:
        tail += f" op_sel_hi:[{','.join(str(rng.randrange(2)) for _ in range(count))}]"
    if row.name.split("_")[2] in ("add", "sub", "mad") and rng.random() < 0.4:
        tail += " clamp"
    return lines.Probe(row.name, f"{row.name} v{lines.D}, {', '.join(texts)}{tail}", results=[f"v{lines.D}"])


def _half_of_destination(row, rng):
    probe = _long(row, rng, row.flags, "")
    if rng.random() < 0.5:
        probe.line += " op_sel:[0,0,0,1]"
    return probe


def _result(row, text, before=(), after=(), count=1):
    return lines.Probe(
        row.name, f"{row.name} {text}".rstrip(), list(before), list(after), [f"v{lines.D + i}" for i in range(count)]
    )


_SWIZZLES = ("swizzle(SWAP,1)", "swizzle(REVERSE,32)", "swizzle(BROADCAST,8,3)", "swizzle(QUAD_PERM,3,0,1,2)",
             'swizzle(BITMASK_PERM,"01pip")', "swizzle(BROADCAST,32,17)", "0x8055", "0xe010", "0xe003", "0xe01f",
             "0xc020", "0xc421", "0xc0a3", "0xc7e0", "0xffff", "0x7fff", "0x3c1f")  # fmt: skip


def _lanes(row, rng):
    """Permutes and swizzles: any number is an address, its upper bits do not count."""
    data = f"v{rng.choice([10, 18, 38, 40])}"
    if row.name == "ds_swizzle_b32":
        return _result(row, f"v{lines.D}, {data} offset:{rng.choice(_SWIZZLES)}", after=["s_waitcnt lgkmcnt(0)"])
    offset = rng.choice(["", " offset:4", " offset:253", " offset:65535"])
    address = f"v{rng.choice([38, 39, 41, 10])}"
    return _result(row, f"v{lines.D}, {address}, {data}{offset}", after=["s_waitcnt lgkmcnt(0)"])


def _lane_swap(encoding, row, rng):
    controls = rng.choice(["", " bound_ctrl:1", " fi:1"]) if encoding == "VOP3" else ""
    before = [f"v_mov_b32_e32 v101, v{rng.choice([10, 38])}", "s_nop 1"]
    return _result(row, f"v{lines.D}, v101{controls}", before, count=2)


def _index_mode(row, rng):
    """Indexed moves, from the index as the probe leaves it; M0 is put back."""
    # The index of a workgroup is its own in every other probe.
    before = [
        rng.choice([f"s_mov_b32 s70, {rng.randrange(6)}", "s_and_b32 s70, s36, 5", "s_movk_i32 s70, 0xf6"]),
        "s_mov_b32 s71, m0",
    ]
    which = rng.choice(["SRC0", "SRC0,DST", "DST", "SRC1", "SRC0,SRC1,DST", ""])
    use = ["v_mov_b32_e32 v100, v10", "v_add_u32_e32 v101, v12, v20", "v_lshl_add_u32 v102, v12, 3, v22"]
    use += ["v_fmac_f32_e32 v100, v18, v19"] if "DST" not in which else []
    off, back = ["s_set_gpr_idx_off"], ["s_mov_b32 s72, m0", "s_mov_b32 m0, s71"]
    on = f"s_set_gpr_idx_on s70, gpr_idx({which})"
    results = [*(f"v{100 + i}" for i in range(8)), "s72"]
    text = {
        "s_set_gpr_idx_on": on.partition(" ")[2],
        "s_set_gpr_idx_off": "",
        "s_set_gpr_idx_idx": str(rng.randrange(8)),
        "s_set_gpr_idx_mode": f"gpr_idx({rng.choice(['SRC0', 'SRC1', 'SRC0,SRC1'])})",
    }[row.name]
    first = {"s_set_gpr_idx_on": [], "s_set_gpr_idx_off": [on, *use]}.get(row.name, [on, use[0]])
    then = back if row.name == "s_set_gpr_idx_off" else [*use, *off, *back]
    return lines.Probe(row.name, f"{row.name} {text}".rstrip(), before + first, then, results)


def _movrel(row, rng):
    """Indexed scalar registers; M0 is put back."""
    step = 2 if row.name.endswith("64") else 1
    m0 = step * rng.randrange(8 // step)
    if "movreld" in row.name:
        # Beyond the registers nothing is written; a source there is s0, an address that differs between the two.
        m0 = rng.choice([m0, m0, 80, 0x7FFFFFF0, -80])
    count = step
    before = ["s_mov_b32 s86, m0", f"s_mov_b32 m0, {m0}", *(f"s_mov_b32 s{70 + k}, s{20 + k}" for k in range(10))]
    base = 2 * rng.randrange(10, 18)
    text = {
        "s": f"{lines.span('s', 80, count)}, {lines.span('s', base, count)}",
        "d": f"{lines.span('s', 70, count)}, {lines.span('s', base, count)}",
    }[row.name.split("_")[1][-1]]
    before += ["s_mov_b32 s80, s30", "s_mov_b32 s81, s31"]
    results = [f"s{n}" for n in range(70, 82)]
    return lines.Probe(row.name, f"{row.name} {text}", before, ["s_mov_b32 m0, s86"], results)


def _clock(row, rng, number):
    """A later reading is larger, also across a branch."""
    label = f".Lclock_{row.name}{number}"
    after = [
        "s_waitcnt lgkmcnt(0)",
        f"s_branch {label}",
        "s_nop 0",
        "s_nop 0",
        f"{label}:",
        f"{row.name} s[72:73]",
        "s_waitcnt lgkmcnt(0)",
        "s_sub_u32 s70, s72, s70",
        "s_subb_u32 s71, s73, s71",
        "s_cmp_lg_u32 s70, 0",
        "s_cselect_b32 s70, 1, 0",
    ]
    return lines.Probe(row.name, f"{row.name} s[70:71]", [], after, ["s70", "s71"])


def _call(row, rng, number):
    """A call that lands two instructions further, and the address it saved, from the program counter before it."""
    label, here = f".Lcall_{number}", f".Lbefore_{number}"
    before = ["s_getpc_b64 s[74:75]", f"{here}:", f"v_mov_b32_e32 v{lines.D}, 1"]
    after = [f"v_mov_b32_e32 v{lines.D}, 2", f"{label}:", "s_sub_u32 s70, s70, s74", "s_subb_u32 s71, s71, s75"]
    return lines.Probe(row.name, f"{row.name} s[70:71], {label}", before, after, [f"v{lines.D}", "s70", "s71"])


def _trap(row, rng, number):
    """A trap that no wave reaches; that it ends the launch is tested elsewhere."""
    label = f".Ltrap_{number}"
    return _result(row, "2", [f"v_mov_b32_e32 v{lines.D}, 1", f"s_branch {label}"], [f"{label}:"])


NOTHING = {"v_nop", "ds_nop", "v_clrexcp", "s_wakeup", "s_sendmsg", "s_dcache_inv_vol", "s_dcache_wb_vol", "buffer_inv",
           "buffer_wbl2", "buffer_invl2", "buffer_wbinvl1", "buffer_wbinvl1_vol"}  # fmt: skip


def _nothing(row):
    text = {"s_sendmsg": "sendmsg(MSG_INTERRUPT)"}.get(row.name, "")
    return _result(row, text, [f"v_mov_b32_e32 v{lines.D}, 1"])


def probe(encoding, row, rng, number):
    """One random line for a row of these families, None for another."""
    if row.name in PACKED:
        return _packed(row, rng)
    if row.name.startswith("v_ashr_pk"):
        return _half_of_destination(row, rng)
    if row.name in ("ds_swizzle_b32", "ds_permute_b32", "ds_bpermute_b32"):
        return _lanes(row, rng)
    if row.name.startswith("v_permlane") and row.name.endswith("swap_b32"):
        return _lane_swap(encoding, row, rng)
    if row.name.startswith("s_set_gpr_idx"):
        return _index_mode(row, rng)
    if row.name.startswith("s_movrel"):
        return _movrel(row, rng)
    if row.name in ("s_memtime", "s_memrealtime"):
        return _clock(row, rng, number)
    if row.name == "s_call_b64":
        return _call(row, rng, number)
    if row.name == "s_trap":
        return _trap(row, rng, number)
    if row.name in NOTHING:
        return _nothing(row)
    return None
