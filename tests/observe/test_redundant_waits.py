"""waits: information about waits that are stricter than what was executed needs."""

import pytest

from tests.observe.test_waits import reported

TWO = "global_load_dword v4, v2, s[8:9]\n global_load_dword v5, v2, s[8:9] offset:4\n"
# Body: what is reported of its waits.
BODIES = {
    "the older of two is used": (TWO + "s_waitcnt vmcnt(0)\n v_mov_b32 v7, v4", ["s_waitcnt vmcnt(1) is sufficient"]),
    "the younger is waited for again": (
        TWO + "s_waitcnt vmcnt(0)\n v_mov_b32 v7, v4\n s_waitcnt vmcnt(0)\n v_mov_b32 v7, v5",
        ["s_waitcnt vmcnt(1) is sufficient instead of s_waitcnt vmcnt(0)"],
    ),
    "both are used": (TWO + "s_waitcnt vmcnt(0)\n v_mov_b32 v7, v4\n v_mov_b32 v7, v5", []),
    "the younger is used first": (TWO + "s_waitcnt vmcnt(0)\n v_mov_b32 v7, v5\n v_mov_b32 v7, v4", []),
    "just enough": (TWO + "s_waitcnt vmcnt(1)\n v_mov_b32 v7, v4\n s_waitcnt vmcnt(0)\n v_mov_b32 v7, v5", []),
    "the second wait does it": (
        TWO + "s_waitcnt vmcnt(1)\n s_waitcnt vmcnt(0)\n v_mov_b32 v7, v5\n v_mov_b32 v7, v4",
        ["no executed instruction needs s_waitcnt vmcnt(1)"],
    ),
    "nothing is used": (
        TWO + "s_waitcnt vmcnt(0)\n v_mov_b32 v7, 0",
        ["no executed instruction needs s_waitcnt vmcnt(0)"],
    ),
    "a store comes first": (TWO + "s_waitcnt vmcnt(0)\n global_store_dword v2, v0, s[8:9]\n v_mov_b32 v7, v4", []),
    "a load comes first": (
        TWO + "s_waitcnt vmcnt(0)\n global_load_dword v6, v2, s[8:9] offset:8\n v_mov_b32 v7, v4",
        ["s_waitcnt vmcnt(1) is sufficient"],
    ),
    "a barrier comes before the use": (TWO + "s_waitcnt vmcnt(0)\n s_barrier\n v_mov_b32 v7, v4", []),
    "a store is waited for": ("global_store_dword v2, v0, s[8:9]\n s_waitcnt vmcnt(0)\n v_mov_b32 v7, v0", []),
    "volatile": (TWO.replace("s[8:9]", "s[8:9] sc0 sc1", 1) + "s_waitcnt vmcnt(0)\n v_mov_b32 v7, v5", []),
    "scalar loads": ("s_load_dword s12, s[0:1], 0x0\n s_waitcnt lgkmcnt(0)\n s_mov_b32 s14, s12", []),
    "another path needs it": (
        f"""
        v_readfirstlane_b32 s12, v0
        {TWO}
        s_waitcnt vmcnt(0)
        s_cmp_eq_u32 s12, 0
        s_cbranch_scc1 .Lfirst
        v_mov_b32 v7, v5
      .Lfirst:
        v_mov_b32 v7, v4""",
        [],
    ),
    "used in the next iteration": (
        """
        s_mov_b32 s12, 3
        v_mov_b32 v4, 0
      .Lloop:
        v_mov_b32 v7, v4
        global_load_dword v4, v2, s[8:9]
        s_waitcnt vmcnt(0)
        s_sub_u32 s12, s12, 1
        s_cmp_lg_u32 s12, 0
        s_cbranch_scc1 .Lloop""",
        [],
    ),
}


@pytest.mark.parametrize("name", BODIES)
def test_programs(name):
    body, expected = BODIES[name]
    # The end of the program stores v4, which nothing but the last wait of the program has to end.
    body += "\n s_nop 0"
    found = [f for f in reported(body, block=128, severity="info") if "vmcnt" in f.message]
    assert len(found) == len(expected), [f.message for f in found]
    for finding, words in zip(found, expected, strict=True):
        assert words in finding.message
        assert (finding.id, finding.instruction) == ("waits-stricter", "s_waitcnt")


def test_what_is_missing_is_told_instead():
    assert not reported(TWO + "s_waitcnt vmcnt(1)\n v_mov_b32 v7, v5", severity="info")
