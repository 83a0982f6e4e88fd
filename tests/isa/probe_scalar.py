"""Rows of the scalar encodings: SOP1, SOP2, SOPC, SOPK, SOPP, SMEM."""

from __future__ import annotations

from tests.isa.probe_memory import returned
from tests.isa.probing import FIELD_OF, dwords, operands, register, row
from tests.isa.signatures import RULES, signature


def scalar_rows(prober, count, encode, dst_field, src_fields, rules=RULES):
    rows = []
    answers = prober.ask([encode(op) for op in range(count)])
    for op, answer in enumerate(answers):
        if answer is None:
            continue
        name, parts = operands(answer)
        dst_widths, src_widths = [], []
        found = {FIELD_OF[r[1]]: r[2] for r in map(register, parts) if r and r[1] in FIELD_OF}
        explicit = signature_shape(name, found, dst_field, src_fields)
        dst_widths, src_widths = explicit
        dst, src = signature(name, dst_widths, src_widths, rules)
        rows.append(row(op, name, dst, src))
    return rows


def signature_shape(name, found, dst_field, src_fields):
    """Widths of destinations and sources; an SOPK register is a source where the operation only reads it."""
    immediates = {
        "s_movk_i32": (["dst"], [1]),
        "s_cmovk_i32": (["dst"], [1]),
        "s_addk_i32": (["dst"], [1]),
        "s_mulk_i32": (["dst"], [1]),
        "s_getreg_b32": (["dst"], [1]),
        "s_setreg_b32": ([], [1, "dst"]),
        "s_setreg_imm32_b32": ([], [1, 1]),
        "s_call_b64": (["dst"], [1]),
        "s_call_i64": (["dst"], [1]),
        "s_cbranch_i_fork": ([], ["dst", 1]),
        "s_incperflevel": ([], [1]),
        "s_addk_co_i32": (["dst"], [1]),
        "s_version": ([], [1]),
        "s_subvector_loop_begin": (["dst"], [1]),
        "s_subvector_loop_end": (["dst"], [1]),
        "s_sendmsg_rtn_b32": (["dst"], [1]),
        "s_sendmsg_rtn_b64": (["dst"], [1]),
        "s_fmaak_f32": (["dst"], ["src0", "src1", 1]),
        "s_fmamk_f32": (["dst"], ["src0", 1, "src1"]),
        "s_set_gpr_idx_on": ([], ["src0", 1]),
    }
    if name in immediates:
        dst, src = immediates[name]
    elif name.startswith(("s_cmpk_", "s_waitcnt_")):
        dst, src = [], ["dst", 1]
    else:
        dst = [dst_field] if dst_field in found else []
        src = [field for field in src_fields if field in found]
    return [found.get(f, f) if f != 1 else 1 for f in dst], [found[f] if f != 1 else 1 for f in src]


# SOP1 and SOPK occupy the top of SOP2's opcode space.
SOP2 = lambda op: dwords(2 << 30 | op << 23 | 20 << 16 | 80 << 8 | 40, 0)  # noqa: E731
SOPK = lambda op: dwords(0xB << 28 | op << 23 | 20 << 16 | 0x1234, 0x77)  # noqa: E731
SOP1 = lambda op: dwords(0x17D << 23 | 20 << 16 | op << 8 | 40, 0)  # noqa: E731
SOPC = lambda op: dwords(0x17E << 23 | op << 16 | 80 << 8 | 40, 0)  # noqa: E731
SOPP = lambda op: dwords(0x17F << 23 | op << 16 | 0x12, 0)  # noqa: E731
SMEM = lambda op: dwords(0x30 << 26 | op << 18 | 1 << 17 | 20 << 6 | 20, 0x10)  # noqa: E731


def sopp_rows(prober):
    rows = []
    bare = prober.ask([dwords(0x17F << 23 | op << 16) for op in range(128)])
    for op, answer in enumerate(prober.ask([SOPP(op) for op in range(128)])):
        if not answer and bare[op]:
            # LLVM refuses an immediate here: the operation has none.
            rows.append(row(op, operands(bare[op])[0], [], []))
        elif answer:
            name = operands(answer)[0]
            immediate = "delay" if name == "s_delay_alu" else "simm16"
            branch = name == "s_branch" or name.startswith("s_cbranch")
            reads = {"vcc": "vcc!", "exe": "exec!"}.get(name.removeprefix("s_cbranch_")[:3], "")
            rows.append(
                row(
                    op,
                    name,
                    [],
                    (["label"] if branch else [immediate]) + ([reads] if reads else []),
                    "hex" if answer.endswith(" 0x12") else "",
                )
            )
    return rows


def smem_rows(prober):
    rows = []
    # Cache and clock operations have no address; LLVM wants its fields to be zero.
    clocks = prober.ask([dwords(0x30 << 26 | op << 18 | 20 << 6, 0) for op in range(256)])
    caches = prober.ask([dwords(0x30 << 26 | op << 18, 0) for op in range(256)])
    for op, answer in enumerate(prober.ask([SMEM(op) for op in range(256)])):
        answer = answer or clocks[op] or caches[op]  # noqa: PLW2901
        if not answer:
            continue
        name, parts = operands(answer)
        data = next((register(p)[2] for p in parts if register(p) and register(p)[1] == 20), 0)
        base = next((register(p)[2] for p in parts if register(p) and register(p)[1] == 40), 0)
        kind = {0: "", 1: "b32", 2: "b64", 4: "b128", 8: "b256", 16: "b512"}[data]
        address = [{0: "", 2: "b64", 4: "b128"}[base]] if base else []
        if not address and kind:
            rows.append(row(op, name, [kind], []))
        elif "load" in name:
            rows.append(row(op, name, [kind], [*address, "offset"]))
        elif "atomic" in name:
            rows.append(row(op, name, returned(name, kind), [*address, "offset", kind]))
        elif "atc_probe" in name:
            rows.append(row(op, name, [], [*address, "offset", "imm7"]))
        else:
            rows.append(
                row(op, name, [], [*address, "offset", kind] if kind else ([*address, "offset"] if address else []))
            )
    return rows
