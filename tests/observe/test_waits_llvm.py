"""waits: where LLVM's insertion of waits places one, for every pair of two lists of instructions."""

import pytest

import mfmasim
from mfmasim.isa.counters import waited
from mfmasim.observe.flights import execute
from mfmasim.observe.lanes import Lanes
from tests.isa.llvm_hazards import file_of, functions

pytestmark = pytest.mark.oracle

EXEC, MODE = "implicit $exec", "implicit $mode, implicit $exec"
FIRST = {
    "global load to v0": f"$vgpr0 = GLOBAL_LOAD_DWORD_SADDR $sgpr2_sgpr3, $vgpr61, 0, 0, {EXEC}",
    "global load to v0 to v3": f"$vgpr0_vgpr1_vgpr2_vgpr3 = GLOBAL_LOAD_DWORDX4 $vgpr62_vgpr63, 0, 0, {EXEC}",
    "LDS load to v0": f"$vgpr0 = DS_READ_B32_gfx9 $vgpr61, 0, 0, {EXEC}",
    "LDS atomic to v0": f"$vgpr0 = DS_ADD_RTN_U32_gfx9 $vgpr61, $vgpr62, 0, 0, {EXEC}",
    "global atomic to v0": f"$vgpr0 = GLOBAL_ATOMIC_ADD_SADDR_RTN $vgpr61, $vgpr62, $sgpr2_sgpr3, 0, 1, {EXEC}",
    "scalar load to s10": "$sgpr10 = S_LOAD_DWORD_IMM $sgpr2_sgpr3, 0, 0",
    "scalar load to s10 and s11": "$sgpr10_sgpr11 = S_LOAD_DWORDX2_IMM $sgpr2_sgpr3, 0, 0",
    "global store of v0": f"GLOBAL_STORE_DWORD $vgpr62_vgpr63, $vgpr0, 0, 0, {EXEC}",
    "LDS store of v0": f"DS_WRITE_B32_gfx9 $vgpr61, $vgpr0, 0, 0, {EXEC}",
    "permutation to v0": f"$vgpr0 = DS_BPERMUTE_B32 $vgpr61, $vgpr62, 0, {EXEC}",
}
SECOND = {
    "valu reads v0": f"$vgpr60 = V_ADD_F32_e32 $vgpr61, $vgpr0, {MODE}",
    "valu writes v0": f"$vgpr0 = V_ADD_F32_e32 $vgpr61, $vgpr62, {MODE}",
    "valu reads v1": f"$vgpr60 = V_ADD_F32_e32 $vgpr61, $vgpr1, {MODE}",
    "valu reads v5": f"$vgpr60 = V_ADD_F32_e32 $vgpr61, $vgpr5, {MODE}",
    "valu reads s10": f"$vgpr60 = V_ADD_F32_e32 $sgpr10, $vgpr62, {MODE}",
    "salu reads s10": "$sgpr14 = S_MOV_B32 $sgpr10",
    "salu writes s11": "$sgpr11 = S_MOV_B32 $sgpr20",
    "readfirstlane of v0": f"$sgpr14 = V_READFIRSTLANE_B32 $vgpr0, {EXEC}",
    "store of v0": f"GLOBAL_STORE_DWORD $vgpr62_vgpr63, $vgpr0, 0, 0, {EXEC}",
    "load by v0": f"$vgpr60 = GLOBAL_LOAD_DWORD_SADDR $sgpr2_sgpr3, $vgpr0, 0, 0, {EXEC}",
    "load at s10": f"$vgpr60 = GLOBAL_LOAD_DWORD_SADDR $sgpr10_sgpr11, $vgpr61, 0, 0, {EXEC}",
    "LDS by v0": f"$vgpr60 = DS_READ_B32_gfx9 $vgpr0, 0, 0, {EXEC}",
    "LDS load to v0": f"$vgpr0 = DS_READ_B32_gfx9 $vgpr61, 0, 0, {EXEC}",
    "global load to v0": f"$vgpr0 = GLOBAL_LOAD_DWORD_SADDR $sgpr2_sgpr3, $vgpr61, 0, 0, {EXEC}",
}
IN_ORDER = {(first, "LDS load to v0"): True for first in ("LDS load to v0", "LDS atomic to v0", "permutation to v0")}
"""The LDS returns in order, so that the later one may write the same register; LLVM waits all the same."""
REPLAYED = {("global store of v0", second): True for second in ("valu writes v0", "LDS load to v0")}
"""gfx1250: s_wait_xcnt before a source is overwritten; it matters only for a replay after a page fault."""
FILL = ("s_nop", "v_nop", "s_clause", "s_delay_alu", "s_endpgm", "s_wait")


def reported(instructions, arch):
    """Addresses of the instructions that touch a register in flight."""
    flights, found = [], set()
    for instruction in instructions:
        flights = execute(arch, flights, instruction, lambda *_, pc=instruction.pc: found.add(pc), Lanes())
    return found


@pytest.mark.parametrize("name", ["gfx908", "gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1151", "gfx1201", "gfx1250"])
def test_every_pair_waits_where_llvm_does(name):
    arch = mfmasim.arch(name)
    pairs = {f"p{i}_{k}": (a, b) for i, a in enumerate(FIRST) for k, b in enumerate(SECOND)}
    file = file_of({key: [FIRST[a], SECOND[b]] for key, (a, b) in pairs.items()})
    with_waits, without = (functions(file, arch, inserted=each, of="si-insert-waitcnts") for each in (True, False))
    assert without is not None
    assert len(without) == len(pairs) == 140
    differ, needed = {}, 0
    for key, pair in pairs.items():
        texts = [ins.text for ins in with_waits[key]]
        own = [ins.text for ins in without[key] if not ins.name.startswith(FILL)]
        first, second = texts.index(own[0]), len(texts) - 1 - texts[::-1].index(own[1])
        llvm = any(waited(arch, ins) for ins in with_waits[key][first + 1 : second])
        needed += llvm
        if llvm != bool(reported(without[key], arch)):
            differ[pair] = llvm
        assert not reported(with_waits[key], arch), pair
    assert needed > 30
    assert differ == IN_ORDER | (REPLAYED if name == "gfx1250" else {})
