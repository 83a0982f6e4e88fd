"""Tickets: every workgroup stores and takes one, the last one reads all; on each architecture with its own fences."""

from types import SimpleNamespace

from tests.observe.faults import gfx942, gfx1201, gfx1250

CDNA = {
    "store": "global_store_dword v5, v10, s[10:11] offset:1024{}",
    "write back": "buffer_wbl2 sc1",
    "too small": "buffer_wbl2 sc0",
    "wait": "s_waitcnt vmcnt(0)",
    "barrier": "s_barrier",
    "one": "s_mov_b64 exec, 1",
    "ticket": "global_atomic_add v11, v8, v9, s[10:11] sc0",
    "taken": "s_waitcnt vmcnt(0); ds_write_b32 v7, v11; s_waitcnt lgkmcnt(0)",
    "all": "s_mov_b64 exec, -1",
    "share": "ds_read_b32 v11, v7; s_waitcnt lgkmcnt(0)",
    "invalidate": "buffer_inv sc1",
    "load": "global_load_dword v11, v2, s[10:11] offset:{}; s_waitcnt vmcnt(0); v_add_u32_e32 v4, v4, v11",
    "wide": " sc1",
}
RDNA4 = CDNA | {
    "store": "global_store_b32 v5, v10, s[10:11] offset:1024{}",
    "write back": "",
    "wait": "s_wait_storecnt 0x0",
    "barrier": "s_barrier_signal -1; s_barrier_wait -1",
    "one": "s_mov_b32 exec_lo, 1",
    "ticket": "global_atomic_add_u32 v11, v8, v9, s[10:11] th:TH_ATOMIC_RETURN scope:SCOPE_DEV",
    "taken": "s_wait_loadcnt 0x0; ds_store_b32 v7, v11; s_wait_dscnt 0x0",
    "all": "s_mov_b32 exec_lo, -1",
    "share": "ds_load_b32 v11, v7; s_wait_dscnt 0x0",
    "invalidate": "global_inv scope:SCOPE_DEV; s_wait_loadcnt 0x0",
    "load": "global_load_b32 v11, v2, s[10:11] offset:{}; s_wait_loadcnt 0x0; v_add_nc_u32_e32 v4, v4, v11",
}
RDNA3 = RDNA4 | {
    "wait": "s_waitcnt_vscnt null, 0x0",
    "barrier": "s_barrier",
    "ticket": "global_atomic_add_u32 v11, v8, v9, s[10:11] glc",
    "taken": "s_waitcnt vmcnt(0); ds_store_b32 v7, v11; s_waitcnt lgkmcnt(0)",
    "share": "ds_load_b32 v11, v7; s_waitcnt lgkmcnt(0)",
    "invalidate": "buffer_gl1_inv; buffer_gl0_inv",
    "load": "global_load_b32 v11, v2, s[10:11] offset:{}; s_waitcnt vmcnt(0); v_add_nc_u32_e32 v4, v4, v11",
}
CDNA5 = RDNA4 | {
    "write back": "global_wb scope:SCOPE_DEV",
    "too small": "global_wb scope:SCOPE_SE",
    "wide": " scope:SCOPE_DEV",
}


def ticket(words, before, alone="", scope="", *, invalidate=True):
    """The kernel: what stands behind the store, what the wave that takes the ticket does first, scope of the store."""
    first = f"s_cmp_lg_u32 s13, 0; s_cbranch_scc1 .Lw; {alone}; {words['one']}"
    last = (
        f"v_readfirstlane_b32 s14, v11; s_cmp_lg_u32 s14, 3; s_cbranch_scc1 .Lend; {words['invalidate'] * invalidate}"
    )
    parts = [
        words["store"].format(scope),
        before,
        words["barrier"],
        first,
        words["ticket"],
        words["taken"],
        ".Lw:",
        words["all"],
        words["barrier"],
        words["share"],
        last,
        *(words["load"].format(1024 + 512 * n) for n in range(4)),
        ".Lend:",
    ]
    return [line for line in "; ".join(parts).split("; ") if line]


def kernels(words):
    """Right and faulty ones, as the tables of other files have them."""
    back, wait = words["write back"], words["wait"]
    found = {
        "ticket": (f"{back}; {wait}", "", "", ()),
        "ticket, waited for before the barrier and by the wave that takes it": (wait, f"{back}; {wait}", "", ()),
        "ticket, store in flight": ("", "", "", ("races",)),
        "ticket, invalidation missing": (f"{back}; {wait}", "", "", ("races-stale",)),
    }
    if back:
        lost = ("races-not-written-back",)
        found |= {
            "ticket, not written back": (wait, "", "", lost),
            "ticket, write-back in flight": (f"{wait}; {back}", "", "", lost),
            "ticket, write-back too small": (f"{words['too small']}; {wait}", "", "", lost),
            "ticket, store of the whole device": (wait, "", words["wide"], ()),
            "ticket, written back before the store": ("", "", "", lost),
            "ticket, written back by the reader": (wait, "", "", lost),
        }
    made = {}
    for name, (before, alone, scope, ids) in found.items():
        lines = ticket(words, before, alone, scope, invalidate="invalidation" not in name)
        if "by the reader" in name:
            lines.insert(lines.index("s_cbranch_scc1 .Lend") + 1, f"{back}\n{wait}")
        if "before the store" in name:
            lines = [back, *lines[:1], wait, *lines[1:]]
        made[name] = "tickets", lines, set(ids), {"grid": 4}
    return made


def table(base, words, *changes):
    """A table for one architecture: begin and end of another, with what is spelled otherwise."""
    begin, end = base.BEGIN, base.END
    for old, new in changes:
        begin, end = begin.replace(old, new), end.replace(old, new)
    return SimpleNamespace(BEGIN=begin, END=end, KERNELS=kernels(words))


TABLES = [
    ("gfx942", table(gfx942, CDNA)),
    ("gfx950", table(gfx942, CDNA)),
    (
        "gfx1100",
        table(
            gfx1201, RDNA3, ("ttmp9", "s2"), ("s_wait_kmcnt 0x0", "s_waitcnt lgkmcnt(0)"),
            ("s_wait_loadcnt_dscnt 0x0", "s_waitcnt vmcnt(0) lgkmcnt(0)"),
        ),
    ),
    ("gfx1201", table(gfx1201, RDNA4)),
    ("gfx1250", table(gfx1250, CDNA5)),
]  # fmt: skip
