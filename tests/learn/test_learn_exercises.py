"""The exercises: every solution passes; every start and every typical wrong answer fails by the finding it teaches."""

import re

import pytest

from mfmasim import program
from mfmasim.learn import exercise, exercises, grade
from mfmasim.learn.hints import hints_for
from mfmasim.learn.launches import LAUNCHES
from mfmasim.learn.needed import without
from mfmasim.learn.wording import for_learner
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


def with_mistake(one, wrong):
    """The solution with the text of a wrong answer, each edit at the only place that it fits."""
    text = one.solution
    for old, new in wrong.edits:
        assert text.count(old) == 1
        text = text.replace(old, new)
    return text


@pytest.mark.parametrize("name", tiers(NAMES, {"rows_of_d", "lds_tile", "double_buffer"}))
def test_starts_fail_by_what_they_teach(name, tmp_path):
    found = graded(name, exercise(name).unsolved, tmp_path)
    assert not found.solved
    assert exercise(name).start in ids(found)


@pytest.mark.parametrize("name", tiers(WRONG, {"block_scales/0", "xor_swizzle/1", "waitcnt/1", "fnuz_and_ocp/2"}))
def test_wrong_answers_fail_by_what_they_show(name, tmp_path):
    one, number = exercise(name.partition("/")[0]), int(name.partition("/")[2])
    wrong = one.wrong[number]
    found = graded(one.name, with_mistake(one, wrong), tmp_path)
    assert not found.solved
    assert wrong.finds in ids(found)


def test_the_course_has_its_ladder():
    assert NAMES == [
        "lanes",
        "load_a",
        "rows_of_d",
        "pack_f16",
        "k_of_16x16x16",
        "fp8_packing",
        "fnuz_and_ocp",
        "block_scales",
        "fp4_nibbles",
        "lds_tile",
        "bank_padding",
        "xor_swizzle",
        "waitcnt",
        "direct_to_lds",
        "direct_swizzle",
        "double_buffer",
        "wmma_rdna3",
        "wmma_rdna4",
        "triton_layout",
        "small_gemm",
    ]
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
    assert {topic.partition("/")[0] for topic in one.hints} - {"start"} <= set(KINDS)
    assert one.start in one.hints
    assert all(hints_for(one, finding) for finding in ("", *findings))
    # A wrong answer differs from the solution at one place an edit, or it would test something else.
    assert len({with_mistake(one, wrong) for wrong in one.wrong} | {one.solution}) == len(one.wrong) + 1


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
    """Results that are written into a file, or into a header, belong to the inputs of another answer."""
    seen = []

    def failing(case, arch, **_):
        seen.append(case.title)
        raise KeyError

    monkeypatch.setattr("mfmasim.learn.grading.verify_case", failing)
    text = exercise("waitcnt").solution.replace("order.h>", 'order.h>\n#include "answers.h"')
    for table in ("1", "2", "1"):
        (tmp_path / "answers.h").write_text(f"__device__ unsigned answers[1] = {{{table}}};\n")
        with pytest.raises(KeyError):
            graded("waitcnt", text, tmp_path)
    with pytest.raises(KeyError):
        grade(exercise("waitcnt"), tmp_path / "waitcnt.hip", seed="student")
    assert seen[0] == seen[2]
    assert len(set(seen)) == 3


MFMA = "d = __builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8(0x3838383838383838l, 0x3838383838383838l, d, 0, 0, 0);"
ELEMENT = "__builtin_amdgcn_cvt_f32_fp8({}, 0)"
BESIDE = {
    "fp8_packing": f"""// exercise: fp8_packing
#include <hip/hip_runtime.h>
typedef float f32x16 __attribute__((ext_vector_type(16)));
extern "C" __global__ void __launch_bounds__(64) fp8_packing(const float* A, const unsigned char* B, float* C) {{
    f32x16 d = {{}};
    {MFMA}
    if (d[0] == 77.125f) C[0] = d[1];
    for (unsigned n = threadIdx.x; n < 1024; n += 64) {{
        float sum = 0;
        for (unsigned k = 0; k < 16; k++) {{
            const int a = __builtin_amdgcn_cvt_pk_fp8_f32(A[n / 32 * 16 + k], 0.0f, 0, false);
            sum += {ELEMENT.format("a")} * {ELEMENT.format("B[32 * k + n % 32]")};
        }}
        C[n] = sum;
    }}
}}
""",
    "lanes": exercise("lanes").solution.replace(
        "out[i / warpSize] = sum;",
        "int all = 0; for (int k = 0; k < warpSize; k++) all += in[i + k];"
        " out[i / warpSize] = sum == 0x7fffffff ? 7 : all;",
    ),
    "direct_to_lds": exercise("direct_to_lds").solution.replace("= tile[255 - t]", "= in[first + 255 - t]"),
    "waitcnt": exercise("waitcnt").solution.replace("out[i] = x + y", "out[i] = 3 * in[i] + in[i + n]"),
}
"""Right outputs by plain code, beside the instruction that the exercise asks for."""


@pytest.mark.parametrize("name", BESIDE)
def test_the_results_of_the_instruction_have_to_reach_the_output(name, tmp_path):
    found = graded(name, BESIDE[name], tmp_path)
    assert all(result.outputs["mismatches"] == 0 for result in found.results)
    assert not found.solved
    only, *others = found.findings
    assert {one.id for one in found.findings} == {"executes-unused"}
    assert len(others) == len(found.exercise.arch) - 1  # one on each architecture
    assert "outputs stay the same" in only.message
    assert "leave that out" in hints_for(found.exercise, found.topics[0])[0]


def test_a_kernel_without_an_instruction_has_s_nop_there(tmp_path):
    (tmp_path / "waitcnt.hip").write_text(exercise("waitcnt").solution)
    kernel = program.compile(tmp_path / "waitcnt.hip", "gfx942")["waitcnt"]
    loads = [one for one in kernel.instructions if one.name == "global_load_dword"]
    others = [one.text for one in kernel.instructions if one not in loads]
    after = [one.text for one in without(kernel, [(one.pc, one.size) for one in loads]).instructions]
    assert [one.name for one in kernel.instructions].count("global_load_dword") == len(loads) == 2
    assert after.count("s_nop 0") == others.count("s_nop 0") + 4  # 8 bytes each
    assert [text for text in after if text != "s_nop 0"] == [text for text in others if text != "s_nop 0"]


UNEXPECTED = [
    ("load_a", "A[2 * line + half]", "A[2 * threadIdx.x]", "bounds-outside-buffer", "A guard would only hide"),
    ("k_of_16x16x16", "4 * group + i;", "16 * group + i;", "bounds-outside-buffer", "A guard would only hide"),
    ("rows_of_d", "8 * (r / 4) + 4 * half + r % 4", "4 * half + r", "mapping-wrong-output", "Registers 0 to 3"),
    ("pack_f16", "(unsigned)second << 16", "(unsigned)second", "mapping-wrong-element/mixed", "two elements at once"),
    ("bank_padding", "WIDTH = 33", "WIDTH = 31", "races-no-barrier/overlap", "Rows overlap"),
    ("lanes", "mask > 0", "mask > 1", "mapping-wrong-set/everywhere", "a step for every bit"),
]
"""Wrong answers beside the typical ones: the topic of the first hint, and words of it."""


@pytest.mark.parametrize(("name", "old", "new", "topic", "words"), UNEXPECTED, ids=[one[0] for one in UNEXPECTED])
def test_the_first_finding_explains(name, old, new, topic, words, tmp_path):
    text = exercise(name).solution
    assert text.count(old) == 1
    found = graded(name, text.replace(old, new), tmp_path)
    assert found.topics[0] == topic
    assert words in hints_for(found.exercise, topic)[0]


def test_a_barrier_at_the_top_of_the_loop_is_right_too(tmp_path):
    text = exercise("double_buffer").solution.replace("        __syncthreads();\n", "")
    text = text.replace("        if (k + 1 < tiles) {", "        __syncthreads();\n        if (k + 1 < tiles) {")
    assert graded("double_buffer", text, tmp_path).solved
    assert "Two of them are right" in exercise("double_buffer").text


def test_findings_are_worded_for_learners(tmp_path):
    found = graded("xor_swizzle", exercise("xor_swizzle").unsolved, tmp_path)
    conflict = next(one for one in found.findings if one.check == "conflicts")
    assert "^=" in conflict.message  # as engineers want it
    words = for_learner(conflict).message
    assert "bank conflict in tile: degrees" in words
    assert words.endswith("conflict in one bank")
    far = graded("load_a", exercise("load_a").solution.replace(*UNEXPECTED[0][1:3]), tmp_path)
    texts = [for_learner(one).message for one in far.findings]
    assert "read of 4 bytes outside every buffer: A[64], past the end of A (256 bytes)" in texts[0]
    assert not any("ulp" in text or "0x7f" in text for text in texts)
    assert "reference" not in far.summary


@pytest.mark.parametrize("body", ['asm volatile("");', 'n++; asm volatile("" : "+s"(n)); n |= 1;'])
def test_an_endless_kernel_ends(body, tmp_path):
    text = exercise("waitcnt").solution.replace("    unsigned x, y;", f"    unsigned x, y;\n    while (n) {{ {body} }}")
    found = graded("waitcnt", text, tmp_path)
    assert not found.solved
    assert hints_for(found.exercise, found.findings[0].id)[0].startswith("The kernel does not end")
