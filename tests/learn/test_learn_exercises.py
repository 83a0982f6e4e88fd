"""The exercises: every solution passes; every start and every typical wrong answer fails by the finding it teaches."""

import re

import pytest

from mfmasim.learn import exercise, exercises, grade
from mfmasim.learn.hints import hints_for
from mfmasim.learn.launches import LAUNCHES
from mfmasim.verify.kinds import KINDS
from tests.tiers import tiers

NAMES = [one.name for one in exercises()]
WRONG = [f"{one.name}/{number}" for one in exercises() for number in range(len(one.wrong))]
PAGE = 60
"""Lines of a text at most."""


def graded(name, text, folder):
    """The grade of a file with a text."""
    one = exercise(name)
    path = folder / one.file
    path.write_text(text)
    return grade(one, path)


def ids(found):
    return [finding.id for finding in found.findings]


@pytest.mark.parametrize("name", tiers(NAMES, {"load_a", "lds_tile", "waitcnt", "fnuz_and_ocp"}))
def test_solutions_pass(name, tmp_path):
    found = graded(name, exercise(name).solution, tmp_path)
    assert found.solved, ids(found)
    assert {result.arch for result in found.results} == set(exercise(name).arch)
    assert len(found.results) == len(exercise(name).arch) * len(exercise(name).runs)
    assert all(result.judged for result in found.results)


@pytest.mark.parametrize("name", tiers(NAMES, {"rows_of_d", "lds_tile", "double_buffer"}))
def test_starts_fail_by_what_they_teach(name, tmp_path):
    found = graded(name, exercise(name).unsolved, tmp_path)
    assert not found.solved
    assert exercise(name).start in ids(found)


@pytest.mark.parametrize("name", tiers(WRONG, {"block_scales/0", "xor_swizzle/1", "waitcnt/1", "fnuz_and_ocp/2"}))
def test_wrong_answers_fail_by_what_they_show(name, tmp_path):
    one, number = exercise(name.partition("/")[0]), int(name.partition("/")[2])
    wrong = one.wrong[number]
    found = graded(one.name, one.with_mistake(wrong), tmp_path)
    assert not found.solved
    assert wrong.finds in ids(found)


def test_the_course_has_its_ladder():
    assert NAMES == [
        "lanes", "load_a", "rows_of_d", "pack_f16", "k_of_16x16x16", "fp8_packing", "fnuz_and_ocp", "block_scales",
        "fp4_nibbles", "lds_tile", "bank_padding", "xor_swizzle", "direct_to_lds", "direct_swizzle", "waitcnt",
        "double_buffer", "wmma_rdna3", "wmma_rdna4", "triton_layout", "small_gemm",
    ]  # fmt: skip
    assert list(LAUNCHES) == NAMES
    assert [one.number for one in exercises()] == list(range(1, 21))


@pytest.mark.parametrize("name", NAMES)
def test_an_exercise_is_complete(name):
    one = exercise(name)
    assert one.text.startswith(f"# {one.title}\n")
    assert len(one.text.splitlines()) <= PAGE
    assert "**The exercise.**" in one.text
    assert "**What is graded.**" in one.text
    for source in (one.unsolved, one.solution):
        assert source.startswith(f"// exercise: {name}\n")
        assert re.search(rf"\b{one.kernel}\(", source)
        assert max(map(len, source.splitlines())) <= 120
    assert one.unsolved != one.solution
    assert len(one.wrong) >= 2
    findings = {one.start, *one.counts, *one.accepts, *(wrong.finds for wrong in one.wrong)}
    assert findings <= set(KINDS)
    assert set(one.hints) - {"start"} <= set(KINDS)
    assert one.start in one.hints
    assert all(hints_for(one, finding) for finding in ("", *findings))
    # A wrong answer differs from the solution at one place an edit, or it would test something else.
    assert len({one.with_mistake(wrong) for wrong in one.wrong} | {one.solution}) == len(one.wrong) + 1


PLAIN = """// exercise: load_a
#include <hip/hip_runtime.h>
typedef float f32x16 __attribute__((ext_vector_type(16)));
extern "C" __global__ void __launch_bounds__(64) load_a(const float* A, const float* B, float* C) {
    f32x16 d = {};
    for (unsigned n = threadIdx.x; n < 1024; n += 64) {
        C[n] = A[n / 32 * 2] * B[n % 32] + A[n / 32 * 2 + 1] * B[n % 32 + 32];
    }
    DECOY
}
"""
DECOY = "d = __builtin_amdgcn_mfma_f32_32x32x2f32(A[0], B[0], d, 0, 0, 0); if (d[0] == 77.0f) C[0] = d[1];"


@pytest.mark.parametrize(("decoy", "finding"), [("", "executes-missing"), (DECOY, "mapping-not-followed")])
def test_the_product_without_the_instruction_does_not_pass(decoy, finding, tmp_path):
    found = graded("load_a", PLAIN.replace("DECOY", decoy), tmp_path)
    assert all(result.outputs["mismatches"] == 0 for result in found.results)
    assert not found.solved
    assert finding in ids(found)


def test_inputs_follow_from_the_text(tmp_path, monkeypatch):
    """Results that are written into a file belong to the inputs of another file."""
    seen = []

    def failing(case, arch, **_):
        seen.append(case.title)
        raise KeyError

    monkeypatch.setattr("mfmasim.learn.grading.verify_case", failing)
    monkeypatch.setattr("mfmasim.learn.grading.program.compile", lambda *_, **__: {"waitcnt": None})
    for text in ("a", "b", "a"):
        with pytest.raises(KeyError):
            graded("waitcnt", text, tmp_path)
    assert seen[0] == seen[2] != seen[1]


@pytest.mark.parametrize("body", ['asm volatile("");', 'n++; asm volatile("" : "+s"(n)); n |= 1;'])
def test_an_endless_kernel_ends(body, tmp_path):
    text = exercise("waitcnt").solution.replace("    unsigned x, y;", f"    unsigned x, y;\n    while (n) {{ {body} }}")
    found = graded("waitcnt", text, tmp_path)
    assert not found.solved
    assert hints_for(found.exercise, found.findings[0].id)[0].startswith("The kernel does not end")
