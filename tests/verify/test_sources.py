"""Declared sources: what is refused, a user's case, and sets in few runs against one run for each element."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mfmasim import MfmasimError
from mfmasim.cli import main
from mfmasim.devices import SimDevice
from mfmasim.observe.fragments.mapping import MappingReport
from mfmasim.verify import ComesFrom, DependsOn, In, Out, find, verify_case
from mfmasim.verify.elements.labelled import Bench
from mfmasim.verify.elements.provenance_sets import Raising, _by_number, _one_by_one, check_sets, disjoint
from mfmasim.verify.elements.trace import follow

X, Y = In("f32", (4, 6), "zeros"), Out("u8", (6, 4))


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (ComesFrom(Y, X), r"the output has shape \(6, 4\), the input \(4, 6\); say which"),
        (ComesFrom(Y, X, lambda i, j: (i, j)), r"index 5 of an axis of 4"),
        (ComesFrom(Y, X, lambda i, j: (j / 2, i)), "2 arrays of integers are expected"),
        (ComesFrom(Y, X, lambda i, j: i), "2 arrays of integers are expected"),
        (ComesFrom(Y, X, lambda i: (i, i)), "the function fails: TypeError"),
        (DependsOn(Y, X, lambda i, j: (j[0], i[0])), "indices have shape"),
    ],
)
def test_what_a_source_may_not_be(source, message):
    with pytest.raises(MfmasimError, match=message):
        source.places()


def test_elements_of_half_a_byte_need_codes():
    with pytest.raises(MfmasimError, match="2 elements to a unit have no number format"):
        _ = ComesFrom(Y, In("u8", 3), input_parts=2).codes
    assert ComesFrom(Y, In("bf16", 3)).codes.tolist() == [0x3F80, 0xBF80, 0x3FC0, 0xBFC0]
    assert DependsOn(Y, In("e8m0fnu", 3)).codes.tolist() == [127, 129]
    assert ComesFrom(Y, In("i32", 3)).codes.tolist() == [1, 2, 3, 4]


def test_places_of_a_transpose():
    np.testing.assert_array_equal(ComesFrom(Y, X, lambda i, j: (j, i)).places(), np.arange(24).reshape(4, 6).T)


KERNEL = """#include <hip/hip_runtime.h>
// Each row turned by its number, doubled; and the largest of each pair of rows.
extern "C" __global__ void turn(const float *in, float *out, float *top) {
  const int row = threadIdx.x / 16, col = threadIdx.x % 16;
  out[row * 16 + (col + row) % 16] = 2 * in[row * 16 + col];
  if (threadIdx.x < 2) {
    float best = in[threadIdx.x * 32];
    for (int i = 1; i < COUNT; ++i) best = fmaxf(best, in[threadIdx.x * 32 + i]);
    top[threadIdx.x] = best;
  }
}
"""
CASE = """import numpy as np
from mfmasim.verify import A, B, ComesFrom, DependsOn, In, Out, case

@case("turn.hip", kernel="turn", arch="gfx942", flags=["-DCOUNT={count}"])
def turn(shift=1):
    x, out, top = In("f32", (4, 16), np.ones((4, 16), np.float32)), Out("f32", (4, 16)), Out("f32", 2)
    return dict(
        grid=1, block=64, args=[x, out, top], expect=(np.full((4, 16), 2, np.float32), np.ones(2, np.float32)),
        sources={sources},
    )
"""
SETS = "lambda p: (2 * p + np.arange(32) // 16, np.arange(32) % 16)"
RIGHT = f"[ComesFrom(out, x, lambda i, j: (i, (j - shift * i) % 16)), DependsOn(top, x, {SETS})]"


def users(tmp_path, sources=RIGHT, count=32, **changes):
    (tmp_path / "turn.hip").write_text(KERNEL)
    (tmp_path / "turn_case.py").write_text(CASE.format(sources=sources, count=count))
    ((_, (case,)),) = find(str(tmp_path / "turn_case.py"))
    return verify_case(case.with_parameters(changes), "gfx942")


def test_a_users_kernel_is_proved_and_a_wrong_declaration_told(tmp_path, capsys):
    result = users(tmp_path)
    assert result.status == "pass", [f.message for f in result.findings]
    assert result.mapping == {"slots_checked": 66, "mismatches": 0}
    assert main(["verify", str(tmp_path / "turn_case.py")]) == 0
    assert "66 slots followed" in capsys.readouterr().out
    result = users(tmp_path, shift=2)
    assert result.status == "fail"
    (finding,) = [f for f in result.findings if f.severity == "error"]
    assert (finding.id, finding.count) == ("mapping-wrong-source", 48)
    assert (finding.expected, finding.actual) == ("in[1, 14]", "in[1, 15]")


def test_a_set_that_is_too_small_is_told(tmp_path):
    (finding,) = [f for f in users(tmp_path, count=31).findings if f.severity == "error"]
    assert finding.id == "mapping-wrong-set"
    assert (finding.element, finding.expected) == ("top[0]", "in[1, 15]")


@pytest.mark.parametrize(
    ("sources", "message"),
    [
        ("x", "sources has to be a list of ComesFrom"),
        ("[ComesFrom(x, out)]", "names as output an array that the kernel never writes"),
        ("[ComesFrom(top, out)]", "names as input an array that the kernel never reads"),
        ("[ComesFrom(out, In('f32', 3))]", "names an input that is not among args"),
        ("[ComesFrom(out, x, values=[1, 2, 3])]", "has 3 values, 2, 4, 8, ... are expected"),
        ("[DependsOn(top, x, values=[1, 2, 3])]", "has 3 values, 2 are expected"),
        ("[ComesFrom(out, A('f16', (4, 2)) @ B('f16', (2, 16)))]", "names a product, and args has no matrices"),
    ],
)
def test_wrong_declarations_are_refused(tmp_path, sources, message):
    with pytest.raises(MfmasimError, match=message):
        users(tmp_path, sources=sources)


PRODUCT = """#include <hip/hip_runtime.h>
typedef _Float16 f16x4 __attribute__((ext_vector_type(4)));
typedef float f32x4 __attribute__((ext_vector_type(4)));
// Bytes of A B and a bias, and the largest magnitude of each row of A B.
extern "C" __global__ void quantised(const _Float16 *A, const _Float16 *B, const float *bias, unsigned char *D,
                                     float *top) {
  const int lane = threadIdx.x, place = lane % 16, first = lane / 16 * 4;
  f16x4 a, b;
  for (int i = 0; i < 4; ++i) a[i] = A[place * 16 + first + i], b[i] = B[(first + i) * 16 + place];
  const f32x4 c = __builtin_amdgcn_mfma_f32_16x16x16f16(a, b, (f32x4){}, 0, 0, 0);
  for (int i = 0; i < 4; ++i) {
    D[STORED] = (unsigned char)(int)(16.0f * (c[i] + bias[place]) + 128.0f);
    float most = fabsf(c[i]);
    for (int apart = 1; apart < APART; apart *= 2) most = fmaxf(most, __shfl_xor(most, apart));
    top[first + i] = most;
  }
}
"""
PRODUCT_CASE = """import numpy as np
from mfmasim.verify import A, B, ComesFrom, DependsOn, In, Out, case

NO = {{"outputs-not-compared": "followed"}}

@case("quantised.hip", kernel="quantised", arch="gfx942", flags={flags}, suppress=NO)
def quantised():
    a, b, bias, d, top = A("f16", (16, 16)), B("f16", (16, 16)), In("f32", 16), Out("u8", (16, 16)), Out("f32", 16)
    sources = [
        ComesFrom(d, a @ b),
        ComesFrom(d, bias, lambda i, j: j),
        DependsOn(top, a @ b, lambda i: (i, np.arange(16))),
    ]
    return dict(grid=1, block=64, args=[a, b, bias, d, top], sources=sources)
"""


def quantised(tmp_path, stored="(first + i) * 16 + place", apart=16):
    (tmp_path / "quantised.hip").write_text(PRODUCT)
    flags = [f"-DSTORED={stored}", f"-DAPART={apart}"]
    (tmp_path / "quantised_case.py").write_text(PRODUCT_CASE.format(flags=flags))
    ((_, (case,)),) = find(str(tmp_path / "quantised_case.py"))
    return case


def test_bytes_that_are_computed_from_sums_are_followed_to_them(tmp_path):
    result = verify_case(quantised(tmp_path), "gfx942")
    assert result.status == "pass", [f.message for f in result.findings]
    operands, outputs = 3 * 256, 2 * 256 + 16  # A, B, the accumulator; each byte to its sum and bias, each row
    assert result.mapping == {"slots_checked": operands + outputs, "mismatches": 0}


@pytest.mark.parametrize(
    ("changes", "kind", "element", "expected", "actual"),
    [
        (
            {"stored": "place * 16 + first + i"},
            "mapping-wrong-source",
            "D[0, 1]",
            "the product[0, 1]",
            "the product[1, 0]",
        ),
        ({"apart": 8}, "mapping-wrong-set", "top[0]", "the product[0, 0]", "nothing of it"),
    ],
)
def test_a_byte_at_another_place_and_a_row_that_is_not_whole(tmp_path, changes, kind, element, expected, actual):
    result = verify_case(quantised(tmp_path, **changes), "gfx942")
    first = next(f for f in result.findings if f.id == kind)
    assert (first.element, first.expected) == (element, expected)
    assert first.actual == actual


ARRAYS = """def quantised(followed=False):
    if not followed:
        x = (np.arange(256).reshape(16, 16) % 3 - 1).astype(np.float16) / 4
        y = (np.arange(256).reshape(16, 16) // 16 % 2).astype(np.float16)
        c = x.astype(np.float32) @ y.astype(np.float32)
        given = [In("f16", (16, 16), x), In("f16", (16, 16), y), In("f32", 16, "zeros")]
        given += [Out("u8", (16, 16)), Out("f32", 16)]
        return dict(grid=1, block=64, args=given, expect=[(16 * c + 128).astype(np.uint8), abs(c).max(axis=1)])
"""


def test_a_case_of_arrays_has_matrices_for_its_mapping_check(tmp_path):
    quantised(tmp_path)
    path = tmp_path / "quantised_case.py"
    text = path.read_text().replace("suppress=NO", "mapping={'followed': True}").replace("def quantised():\n", ARRAYS)
    assert ARRAYS in text
    path.write_text(text)
    ((_, (case,)),) = find(str(path))
    result = verify_case(case, "gfx942")
    assert result.status == "pass", [f.message for f in result.findings]
    assert result.mapping == {"slots_checked": 3 * 256 + 2 * 256 + 16, "mismatches": 0}
    assert (result.outputs["elements"], result.compared_with) == (272, ("the reference function, bit for bit",))


def test_launches_at_once_are_those_one_by_one(tmp_path):
    case = quantised(tmp_path)
    kernel, launch = case.compiled("gfx942"), case.make(case.mapping)
    check = follow(SimDevice(), kernel, launch).check()
    check.run()
    codes = np.random.default_rng(1).normal(size=(5, 16, 16)).astype(np.float32).view(np.uint32).astype(np.uint64)
    trials = [{"the product": one} for one in codes]
    together = Bench(SimDevice(), kernel, launch, check.tiles).run(trials)
    alone = [Bench(SimDevice(), kernel, launch, check.tiles).run([one])[0] for one in trials]
    assert len(together) == len(alone) == 5
    for some, one, sums in zip(together, alone, codes, strict=True):
        left = [{name: after.tobytes() for name, (_, after) in run.items()} for run in (some, one)]
        assert left[0] == left[1]
        assert list(left[0]) == ["argument 3", "argument 4"]
        values = sums.astype(np.uint32).view(np.float32)
        top = np.abs(values).max(axis=1).view(np.uint32)
        np.testing.assert_array_equal(some["argument 4"][1], top)


class Largest:
    """In place of a kernel: each output is the largest of some elements."""

    def __init__(self, source, actual):
        self.source, self.actual, self.kernel, self.runs = source, actual, SimpleNamespace(name="k"), 0
        self.called = {source.input.name: "x", source.output.name: "y"}

    def again(self, array, trials):
        assert array == self.source.input.name
        self.runs += len(trials)
        tops = [[max((int(x[i]) for i in members), default=0) for members in self.actual] for x in trials]
        return [{self.source.output.name: (top, top)} for top in np.array(tops, np.uint64)]


@given(st.data())
@settings(max_examples=150)
def test_sets_in_few_runs_are_those_of_one_run_for_each_element(data):
    count = data.draw(st.integers(2, 24))
    owner = np.array(data.draw(st.lists(st.integers(-1, 4), min_size=count, max_size=count)))
    declared = [np.flatnonzero(owner == n) for n in range(5)]
    declared.append(declared[data.draw(st.integers(0, 4))])  # two outputs may have the same set
    actual = [list(members) for members in declared]
    for _ in range(data.draw(st.integers(0, 3))):  # and the kernel may be wrong
        which, element = data.draw(st.integers(0, 5)), data.draw(st.integers(0, count - 1))
        actual[which] = (
            [i for i in actual[which] if i != element] if element in actual[which] else [*actual[which], element]
        )
    width = max(1, *(len(members) for members in declared))
    sets = np.stack([np.pad(members, (0, width - len(members)), constant_values=-1) for members in declared])
    x, y = In("u8", count, "zeros"), Out("u8", len(sets))
    source = DependsOn(y, x, lambda i: sets[i[:, 0]])
    bench = Largest(source, actual)
    raising = Raising(bench, source)
    numbers = disjoint(sets, count)
    assert numbers is not None
    slow_missing, slow_foreign = _one_by_one(raising, sets)
    missing, foreign = _by_number(raising, sets, numbers)
    np.testing.assert_array_equal(slow_missing, [bool(set(d) - set(a)) for d, a in zip(declared, actual, strict=True)])
    np.testing.assert_array_equal(slow_foreign, [bool(set(a) - set(d)) for d, a in zip(declared, actual, strict=True)])
    np.testing.assert_array_equal(foreign, slow_foreign)
    # Where an output depends on a foreign element, that one may stand in for one that is missing.
    np.testing.assert_array_equal(missing[~foreign], slow_missing[~foreign])
    report = MappingReport()
    check_sets(bench, source, report)
    assert report.mismatches == int((slow_missing | slow_foreign).sum()) or slow_foreign.any()
    if report.findings:
        reported = report.findings[0]
        number = int(reported.element[2:-1])
        extra = reported.actual if reported.expected == "nothing of it" else reported.expected
        member = int(extra[2:-1])
        assert (member in actual[number]) != (member in declared[number])


def test_sets_that_overlap_in_part_are_seen():
    assert disjoint(np.array([[0, 1], [1, 2]]), 3) is None
    assert disjoint(np.array([[0, 1], [0, -1]]), 3) is None
    assert disjoint(np.array([[0, 1], [1, 0], [2, -1]]), 4).tolist() == [0, 0, 2, -1]
    x, y = In("u8", 5, "zeros"), Out("u8", 4)
    window = DependsOn(y, x, lambda i: i + np.arange(2))
    for actual, wrong in (([[0, 1], [1, 2], [2, 3], [3, 4]], 0), ([[0, 1], [1, 2], [2], [3, 4, 0]], 2)):
        report = MappingReport()
        check_sets(Largest(window, actual), window, report)
        assert report.mismatches == wrong
