"""Fragments for all sizes: elements are followed; what differs at some sizes only is not proved."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from mfmasim.lab.mutation.mutants import compile_mutant, edited
from mfmasim.prove import prove_case
from mfmasim.verify import Case, Mutant, find, verify_case
from tests.prove.fragment_faults import FAULTS, OF_GUARDS, OF_HALVES, OF_SCALES

EVERY = (*FAULTS, *OF_SCALES, *OF_GUARDS, *OF_HALVES)
QUICK = {"a scale that is 0 for the fifth workgroup"}


def case_of(fault: Mutant) -> Case:
    families = ((OF_SCALES, "gemm_mx"), (OF_GUARDS, "wmma"), (OF_HALVES, "gemm_fp8/scheduled"), (FAULTS, "gemm_fp8"))
    family = next(name for faults, name in families if fault in faults)
    return next(case for _, cases in find(family) for case in cases if case.title == fault.case)


def judged(fault: Mutant) -> None:
    arch, case = "gfx1201" if fault in OF_GUARDS else "gfx950", case_of(fault)
    kernel = compile_mutant(fault, case, arch)[case.kernel_name()]
    proof = prove_case(case, arch, kernel=kernel, replays=False, seconds=30)
    (fragments,) = [one for one in proof.obligations if one.kind == "fragments"]
    assert fragments.verdict == "unknown", fault.name
    assert fragments.reasons
    plain = replace(case, checks="bounds", mapping=None, data=("integers",))
    wrong = verify_case(replace(plain.with_parameters(fault.parameters)), arch, kernel=kernel)
    right = verify_case(plain, arch, kernel=kernel)
    assert any(finding.check == "outputs" for finding in wrong.findings), f"{fault.name} shows at no size"
    assert not any(finding.severity == "error" for finding in right.findings), f"{fault.name} shows at every size"


def test_there_are_enough_faults() -> None:
    names = {fault.name for fault in EVERY}
    assert len(names) == len(EVERY) >= 39
    assert names >= QUICK
    for fault in EVERY:  # the text that it changes is in the source of its case, or in a header
        assert edited(fault, case_of(fault).source)


@pytest.mark.parametrize("fault", [f for f in FAULTS if f.name in QUICK], ids=lambda fault: fault.name)
def test_a_fault_of_some_sizes_is_not_proved(fault: Mutant) -> None:
    judged(fault)


@pytest.mark.long
@pytest.mark.parametrize("fault", [f for f in EVERY if f.name not in QUICK], ids=lambda fault: fault.name)
def test_no_fault_of_some_sizes_is_proved(fault: Mutant) -> None:
    judged(fault)


TURNS = """
#include <hip/hip_runtime.h>
typedef _Float16 f16x4 __attribute__((ext_vector_type(4)));
typedef float f32x4 __attribute__((ext_vector_type(4)));
extern "C" __global__ __launch_bounds__(128) void tile(const _Float16* a, const _Float16* b, float* c, int M, int N,
                                                       int K) {
    const int wave = __builtin_amdgcn_readfirstlane(threadIdx.x / 64), lane = threadIdx.x % 64;
    const int row = lane % 16, group = lane / 16, top = blockIdx.y * 32 + wave * 16, left = blockIdx.x * 16;
    const int bound = (1 - wave) * (M >> 5) + wave * (int)blockIdx.y;
    asm volatile("s_mov_b32 s40, 0\\n1: s_add_u32 s40, s40, 1\\n s_cmp_lt_u32 s40, %0\\n s_cbranch_scc1 1b"
                 :: "s"(bound) : "s40", "scc");
    f32x4 d = {};
    for (int k = 0; k < K; k += 16) {
        f16x4 fa = *(const f16x4*)(a + (size_t)(top + row) * K + k + 4 * group);
        f16x4 fb = *(const f16x4*)(b + (size_t)(left + row) * K + k + 4 * group);
        d = __builtin_amdgcn_mfma_f32_16x16x16f16(fa, fb, d, 0, 0, 0);
    }
    for (int n = 0; n < 4; ++n) {
        if (n == 0 && wave * (int)blockIdx.y > 20) continue;
        c[(size_t)(top + 4 * group + n) * N + left + row] = d[n];
    }
}
"""
PASSED = (
    TURNS[: TURNS.index("    const int bound")]
    + """
    __shared__ f16x4 passed[64];
    asm volatile("s_cmp_eq_u32 %0, 0\\n s_cbranch_scc1 1f\\n s_cmp_gt_u32 %1, 4096\\n s_cbranch_scc1 1f\\n s_nop 0\\n1:"
                 :: "s"(wave), "s"(N) : "scc");
    f32x4 d = {};
    for (int k = 0; k < K; k += 16) {
        f16x4 fa = *(const f16x4*)(a + (size_t)(top + row) * K + k + 4 * group);
        f16x4 fb = *(const f16x4*)(b + (size_t)(left + row) * K + k + 4 * group);
        if (wave == 0) passed[lane] = fa;
        __syncthreads();
        if (wave == 1) passed[lane] = fa;
        __syncthreads();
        fa = passed[lane];
        __syncthreads();
        d = __builtin_amdgcn_mfma_f32_16x16x16f16(fa, fb, d, 0, 0, 0);
    }
    for (int n = 0; n < 4; ++n) c[(size_t)(top + 4 * group + n) * N + left + row] = d[n];
}
"""
)
CASE = """
from mfmasim.verify import A, B, C, case
@case("tile.hip", kernel="tile", arch=["gfx942"],
      needs="M >= 32 and N >= 16 and K >= 16 and M % 32 == 0 and N % 16 == 0 and K % 16 == 0")
def tile(M=32, N=16, K=16):
    a, b, c = A("f16", (M, K)), B("f16", (K, N), order="column"), C("f32", (M, N))
    return dict(grid=(N // 16, M // 32), block=128, args=[a, b, c, M, N, K], expect=a @ b)
"""
TRANSPOSED = (
    TURNS[: TURNS.index("    const int bound")]
    + """
    f32x4 d = {};
    for (int k = 0; k < K; k += 16) {
        f16x4 fa = *(const f16x4*)(a + (size_t)(top + row) * K + k + 4 * group);
        f16x4 fb = *(const f16x4*)(b + (size_t)(left + row) * K + k + 4 * group);
        d = __builtin_amdgcn_mfma_f32_16x16x16f16(fb, fa, d, 0, 0, 0);
    }
    for (int n = 0; n < 4; ++n) c[(size_t)(top + row) * N + left + 4 * group + n] = d[n];
}
"""
)
MULTIPLIED, STORED = "(fb, fa, d, 0, 0, 0)", "(top + row) * N + left + 4 * group + n"


def tile(folder: Path, source: str) -> Case:
    """The case of a kernel."""
    (folder / "tile.hip").write_text(source)
    (folder / "tile_case.py").write_text(CASE)
    ((_, (case,)),) = find(str(folder / "tile_case.py"))
    return case


def test_numbers_of_turns_of_two_waves_prove_no_rows_away(tmp_path: Path) -> None:
    """Wave 0 turns M / 32 times, wave 1 as often as its workgroup's number says: together they say nothing of M."""
    case = tile(tmp_path, TURNS)
    verdicts = {one.kind: one.verdict for one in prove_case(case, "gfx942", replays=False).obligations}
    assert verdicts["bounds"] == verdicts["global races"] == "proved"
    assert verdicts["fragments"] == "unknown"
    wrong = verify_case(case.with_parameters({"M": 736}), "gfx942")
    assert any(finding.check == "outputs" for finding in wrong.findings)


def test_bytes_that_another_wave_writes_behind_a_barrier_are_not_those_written_before(tmp_path: Path) -> None:
    """The waves are followed one by one; wave 0 reads what wave 1 has written over its own elements."""
    case = tile(tmp_path, PASSED)
    verdicts = {one.kind: one.verdict for one in prove_case(case, "gfx942", replays=False).obligations}
    assert {kind for kind, verdict in verdicts.items() if verdict != "proved"} == {"fragments"}
    assert any(finding.check == "mapping" for finding in verify_case(case, "gfx942").findings)


@pytest.mark.parametrize(
    ("edits", "verdict"),
    [
        ({}, "proved"),
        ({STORED: "(top + 4 * group + n) * N + left + row"}, "unknown"),
        ({MULTIPLIED: "(fa, fb, d, 0, 0, 0)"}, "unknown"),
        ({MULTIPLIED: "(k % 32 ? fa : fb, k % 32 ? fb : fa, d, 0, 0, 0)"}, "unknown"),
        ({MULTIPLIED: "(fb, fb, d, 0, 0, 0)"}, "unknown"),
    ],
    ids=["right", "stored as it was not", "multiplied as it is not stored", "every other turn", "B twice"],
)
def test_a_product_may_be_computed_transposed(tmp_path: Path, edits: dict[str, str], verdict: str) -> None:
    source = TRANSPOSED
    for old, new in edits.items():
        assert source.count(old) == 1
        source = source.replace(old, new)
    proof = prove_case(tile(tmp_path, source), "gfx942", replays=False)
    assert {one.kind: one.verdict for one in proof.obligations}["fragments"] == verdict


def test_a_change_of_mode_leaves_fragments_unknown_and_nothing_else(tmp_path: Path) -> None:
    """Expressions do not say whether conversions saturated (FP16_OVFL)."""
    source = TRANSPOSED.replace("f32x4 d = {};", "__builtin_amdgcn_s_setreg(1 | 23 << 6, 1); f32x4 d = {};")
    proof = prove_case(tile(tmp_path, source), "gfx942", replays=False)
    open_ones = {one.kind: one.reasons[0].why for one in proof.obligations if one.verdict != "proved"}
    assert open_ones == {"fragments": "it changes how numbers are computed"}
