"""hipkernels/wmma_types: RDNA's GEMMs in other types than f16 proved, and bit for bit what the instructions leave."""

import runpy

import numpy as np
import pytest

import mfmasim
from mfmasim.errors import MfmasimError
from mfmasim.resources import folder
from mfmasim.verify import find, k_order, select, verify_case
from mfmasim.verify.exact import every_step_exact
from mfmasim.verify.prebuilt import code_for
from mfmasim.verify.roles import A, B
from mfmasim.verify.sums import sums_of
from tests.hipkernels.family import caught, mutants, passes, titled
from tests.slow import matrix as slow
from tests.tiers import tiers

CASES = dict(find("wmma_types"))["wmma_types"]
QUICK = {
    "gfx1151": (
        "any_bf16", "f16_in_f16", "bf16_in_bf16_bits", "i4_u4", "any_i4_i4_bits", "add_i4_i4", "add_i4_i4_clamped",
    ),
    "gfx1201": (
        "bf16_bits", "any_f16_in_f16_bits", "bf16_in_bf16", "any_i8_u8", "u8_u8_bits", "add_i8_u8", "add_i8_u8_clamped",
        "e4m3_e5m2", "any_e5m2_e4m3_bits",
    ),
}  # fmt: skip
"""Proved by default; the others are like them and run in the long tier."""


RUNS = titled(select(CASES, None), lambda case, arch: case.title in QUICK[arch])
REFERENCE = runpy.run_path(str(folder("hipkernels") / "wmma_types" / "reference.py"))
FLOATS = (("f32", "bf16"), ("f16", "f16"), ("bf16", "bf16"))
FIDELITY = {"floats.hip": {"hardware", "reference"}, "fp8.hip": {"assumed"}}
MUTANTS = mutants("wmma_types")
ELEMENT, RESULT, SUM, FORMAT = (f"mapping-wrong-{what}" for what in ("element", "output", "sum", "format"))
TOLD = {
    "a_read_as_unsigned": {"outputs-differ", FORMAT},
    "b_read_as_unsigned": {"outputs-differ", FORMAT},
    "b_read_as_signed": {"outputs-differ"},
    "b_read_as_signed_in_small_numbers": {FORMAT},
    "signs_exchanged": {"outputs-differ", FORMAT},
    "nibbles_of_b_exchanged": {"outputs-differ", ELEMENT, SUM},
    "nibbles_exchanged_in_memory": {"outputs-differ", ELEMENT},
    "other_half_stored": {"outputs-differ", ELEMENT},
    "one_half_for_both": {"outputs-differ", ELEMENT, SUM, "mapping-no-result"},
    "packed_rows_read_as_halves": {"outputs-differ", ELEMENT, RESULT},
    "clamp_missing": {"outputs-differ"},
    "clamp_missing_in_nibbles": {"outputs-differ"},
    "clamped_where_it_wraps": {"outputs-differ"},
    "e5m2_read_as_e4m3": {"outputs-differ", FORMAT, "executes-missing"},
    "bf16_read_as_f16": {"outputs-differ", FORMAT, "executes-missing"},
    "lower_half_of_k_twice": {"outputs-differ", SUM},
    "rows_not_guarded": {"bounds-outside-buffer"},
    "stored_beyond_n": {"outputs-differ", ELEMENT, RESULT, SUM, "bounds-outside-buffer", "races-between-workgroups"},
}
"""Exactly the errors of every wrong variant."""
SHORT = ("other_half_stored", "clamp_missing_in_nibbles")


def case_of(title, arch):
    ((found, _),) = [(case, a) for case, a in select(CASES, arch) if case.title == title]
    return found


@pytest.mark.parametrize(("case", "arch"), RUNS)
def test_every_kernel_is_proved_and_leaves_the_bits_of_the_instruction(case, arch):
    result = passes(case, arch)
    assert result.matrix_fidelity in FIDELITY.get(case.source.name, {"specified", "hardware"})
    if "_bits" in case.title or "add_" in case.title:
        assert result.compared_with == ("the reference function, bit for bit",)
        return
    assert result.mapping["slots_checked"] > 10_000
    permuted = [f.id for f in result.findings if f.check == "mapping"]
    assert permuted == (["mapping-k-permuted"] if arch == "gfx1201" and case.source.name == "floats.hip" else [])


@pytest.mark.parametrize(
    ("case", "arch"), select(CASES, None, ["any_bf16_bits", "any_f16_in_f16_bits", "any_e5m2_e4m3_bits"])
)
def test_tails_of_every_kind_with_nan_in_the_lds_before(case, arch, monkeypatch):
    monkeypatch.setattr("mfmasim.machine.execution.initial_state.POISON_BYTE", 0xFF)
    for number, (m, n, k) in enumerate([(1, 1, 1), (65, 3, 16), (2, 70, 17), (17, 16, 31)]):
        passes(case.with_parameters({"M": m, "N": n, "K": k, "seed": number}), arch)


@pytest.mark.parametrize(("title", "arch"), [("any_i8_u8_bits", "gfx1201"), ("any_u4_i4_bits", "gfx1151")])
def test_integers_of_every_shape_and_nibbles_that_begin_within_a_byte(title, arch):
    for number, (m, n, k) in enumerate([(1, 1, 1), (3, 67, 5), (66, 1, 33)]):
        passes(case_of(title, arch).with_parameters({"M": m, "N": n, "K": k, "seed": number}), arch)


@pytest.mark.parametrize(
    ("arch", "name"),
    [
        *((arch, f"{d}_16x16x16_{a}") for arch in ("gfx1151", "gfx1201") for d, a in FLOATS),
        ("gfx1201", "f32_16x16x16_fp8_bf8"),
    ],
)
def test_the_reference_is_the_slow_model(arch, name):
    op = mfmasim.instruction(arch, f"v_wmma_{name}")
    a, b = REFERENCE["drawn"](op.a, (16, 32), 5), REFERENCE["drawn"](op.b, (32, 16), 6)
    order, c = k_order(op), np.zeros((16, 16), op.D.dtype)
    for k in (0, 16):
        x, y = a[:, k + order], b[k + order]
        c = slow.multiply(op.model, op.a, op.b, op.d, x[None], y[None], c[None])[0]
    found = REFERENCE["float_product"](arch, op.name, a, b)
    assert (found.view(op.D.dtype) == c).all()
    assert np.isfinite(mfmasim.format(op.d).decode(c)).mean() > 0.2


def test_where_a_lane_has_which_k():
    orders = {
        name: k_order(mfmasim.instruction("gfx1201", f"v_wmma_{name}")).tolist()
        for name in ("f32_16x16x16_bf16", "f32_16x16x16_fp8_fp8")
    }
    assert orders["f32_16x16x16_fp8_fp8"] == list(range(16))
    assert orders["f32_16x16x16_bf16"] == [0, 1, 2, 3, 8, 9, 10, 11, 4, 5, 6, 7, 12, 13, 14, 15]
    assert k_order(mfmasim.instruction("gfx1151", "v_wmma_i32_16x16x16_iu4")).tolist() == list(range(16))


def test_rounding_at_every_step_is_another_result_than_rounding_once():
    a, b = REFERENCE["drawn"]("f16", (16, 256), 7), REFERENCE["drawn"]("f16", (256, 16), 8)
    a, b = (np.where(np.abs(x.view(np.float16)) < 8, x, 0).astype(np.uint16) for x in (a, b))
    every = REFERENCE["float_product"]("gfx1151", "v_wmma_f16_16x16x16_f16", a, b)
    once = REFERENCE["float_product"]("gfx1151", "v_wmma_f32_16x16x16_f16", a, b).astype(np.float16)
    assert (every != once).mean() > 0.5
    exact = a.view(np.float16).astype(float) @ b.view(np.float16).astype(float)
    bound = np.abs(a.view(np.float16).astype(float)) @ np.abs(b.view(np.float16).astype(float))
    assert (np.abs(every.astype(float) - exact) <= 2 * 256 * 2.0**-11 * bound).all()


def test_how_many_bits_hold_every_partial_sum():
    arch = mfmasim.arch("gfx1201")
    a, b = A("f16", (1, 3)), B("f16", (3, 1))
    codes = {
        a.name: np.array([[2048, -2047, 1]], np.float16).view(np.uint16),
        b.name: np.full((3, 1), 0x3C00, np.uint16),
    }
    product = a @ b  # 2, but 2048 + 1 is not a number of f16
    assert not every_step_exact(product, codes, arch, 11)
    assert every_step_exact(product, codes, arch, 12)
    assert every_step_exact(4.0 * product, codes, arch, 12)
    held = {name: sums_of(code_for(CASES[0].source, "gfx1201")[name]).bits for name in ("bf16", "f16_in_f16")}
    assert held == {"bf16": 24, "f16_in_f16": 11}
    assert sums_of(code_for(case_of("i8_u8", "gfx1201").source, "gfx1201")["i8_u8"]).bits == 31


@pytest.mark.parametrize(("arch", "kept"), [("gfx1151", False), ("gfx1201", True)])
def test_subnormal_factors_of_bf16_are_expected_to_vanish_where_the_instruction_drops_them(arch, kept):
    case = case_of("any_bf16", arch).with_parameters({"M": 2, "N": 2, "K": 3})
    a, b = np.full((2, 3), 0x3F80, np.uint16), np.full((3, 2), 0x0001, np.uint16)
    a[1, 0] = 0x7F80  # Inf times a zero of the instruction's own making is NaN
    passes(case, arch, inputs={"argument 0": a, "argument 1": b})
    found = REFERENCE["float_product"](arch, "v_wmma_f32_16x16x16_bf16", a, b)
    assert (found[0] > 0).all() == kept
    assert np.isinf(found[1]).all() == kept


def test_integers_are_compared_bit_for_bit_whatever_is_drawn():
    result = verify_case(case_of("i8_u8", "gfx1201"), "gfx1201")
    assert len(result.compared_with) >= 2
    assert all("bit for bit" in how for how in result.compared_with), result.compared_with


def test_sums_that_pass_the_ends_of_i32_do_so_in_the_cases_of_them():
    built = {}
    for title in ("add_i8_u8", "add_i8_u8_clamped"):
        made = case_of(title, "gfx1151").make({"arch": "gfx1151"})
        arrays = [arg.data() for arg in made.args[:3]]
        built[title] = made.expect(*arrays)
    wrapped, clamped = built.values()
    assert 0.1 < (wrapped != clamped).mean() < 0.9
    assert {np.iinfo(np.int32).min, np.iinfo(np.int32).max} <= set(clamped.reshape(-1).tolist())


@pytest.mark.parametrize(
    ("title", "changes", "part"),
    [
        ("bf16", {"N": 70}, "N % 8 == 0"),
        ("i8_i8", {"K": 24}, "K % 16 == 0"),
        ("i4_i4", {"lda": 52}, "multiple of 4"),
        ("i8_u8", {"ldb": 76}, "multiple of 8"),
        ("any_u4_u4", {"lda": 19}, "ld 19"),
    ],
)
def test_what_a_contract_excludes_is_refused_before_the_launch(title, changes, part):
    arch = "gfx1201" if "8" in title else "gfx1151"  # compiled for other tests, too
    with pytest.raises(MfmasimError, match=part):
        verify_case(case_of(title, arch).with_parameters(changes), arch)


def test_fp8_is_refused_where_there_is_none():
    with pytest.raises(MfmasimError, match="v_wmma_f32_16x16x16_fp8_fp8"):
        mfmasim.instruction("gfx1151", "v_wmma_f32_16x16x16_fp8_fp8")


@pytest.mark.parametrize("name", tiers(MUTANTS, SHORT))
def test_wrong_kernels_are_caught_by_the_checks_they_name(name):
    verdict = caught(*MUTANTS[name])
    assert {f.id for f in verdict.result.findings if f.severity == "error"} == TOLD[name]
