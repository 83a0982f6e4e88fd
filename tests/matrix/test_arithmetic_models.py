"""The rows of the accumulation models and how an instruction finds its own."""

from dataclasses import replace

import numpy as np
import pytest

from mfmasim.architectures import DISTINCT, arch
from mfmasim.errors import MfmasimError
from mfmasim.fidelity import LEVELS
from mfmasim.matrix import instructions
from mfmasim.matrix.arithmetic import bounds
from mfmasim.matrix.models import MODELS, ROUTES, Model, model_for
from tests.matrix.flat import multiply


@pytest.mark.parametrize(
    ("name", "kind", "a", "b", "d", "k", "variant", "model", "fidelity"),
    [
        ("gfx908", "mfma", "f32", "f32", "f32", 2, "", "cdna12_f32", "reference"),
        ("gfx908", "mfma", "bf16", "bf16", "f32", 4, "", "cdna1_bf16", "reference"),
        ("gfx90a", "mfma", "bf16", "bf16", "f32", 4, "", "cdna2_bf16", "reference"),
        ("gfx90a", "mfma", "bf16", "bf16", "f32", 4, "1k", "cdna2_f16", "reference"),
        ("gfx90a", "mfma", "f64", "f64", "f64", 4, "", "cdna_f64", "reference"),
        ("gfx942", "mfma", "bf16", "bf16", "f32", 8, "1k", "cdna3_16bit", "reference"),
        ("gfx942", "mfma", "xf32", "xf32", "f32", 4, "", "cdna3_xf32", "reference"),
        ("gfx942", "mfma", "e4m3fnuz", "e5m2fnuz", "f32", 16, "", "cdna3_fp8", "reference"),
        ("gfx942", "smfmac", "f16", "f16", "f32", 32, "", "cdna3_sparse_16bit", "assumed"),
        ("gfx942", "mfma", "i8", "i8", "i32", 16, "", "cdna_i8", "specified"),
        ("gfx950", "mfma", "f16", "f16", "f32", 32, "", "cdna4_16bit", "assumed"),
        ("gfx950", "mfma", "e4m3fn", "e4m3fn", "f32", 32, "", "cdna4_fp8", "assumed"),
        ("gfx950", "mfma", "e4m3fn", "e4m3fn", "f32", 128, "", "cdna4_f8f6f4", "assumed"),
        ("gfx950", "mfma_scale", "e2m1fn", "e5m2", "f32", 64, "", "cdna4_f8f6f4_scale", "assumed"),
        ("gfx1100", "wmma", "f16", "f16", "f32", 16, "", "rdna3_f16", "hardware"),
        ("gfx1151", "wmma", "bf16", "bf16", "bf16", 16, "", "rdna3_bf16_out", "reference"),
        ("gfx1200", "wmma", "bf16", "bf16", "f32", 16, "", "rdna4_16bit", "hardware"),
        ("gfx1201", "wmma", "e4m3fn", "e5m2", "f32", 16, "", "rdna4_fp8", "assumed"),
        ("gfx1201", "swmmac", "f16", "f16", "f16", 32, "", "rdna4_sparse_f16_out", "assumed"),
        ("gfx1201", "wmma", "u4", "i4", "i32", 32, "", "rdna4_int", "specified"),
    ],
)
def test_route(name, kind, a, b, d, k, variant, model, fidelity):
    found = model_for(arch(name), kind, a, b, d, k, variant)
    assert (found.name, found.fidelity) == (model, fidelity)


def test_every_row_has_a_route_and_every_route_a_row():
    assert {route.model for route in ROUTES} == set(MODELS)
    families = {row.family for row in DISTINCT.values() if instructions(row)}
    assert {family for route in ROUTES for family in route.families} == families


def test_rows_say_where_they_come_from():
    assert len(MODELS) >= 20
    for model in MODELS.values():
        assert model.fidelity in LEVELS
        assert model.evidence
        assert model.source


def test_cdna4_floats_are_never_more_than_assumed():
    floats = [route for route in ROUTES if "CDNA4" in route.families and route.output != "i32"]
    assert len(floats) >= 5
    for route in floats:
        assert MODELS[route.model].fidelity == "assumed", route


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"kind": "wmma"}, "unknown matrix instruction kind 'wmma' on gfx942"),
        ({"a": "e4m3fn", "b": "f16"}, "mfma on gfx942 has no e4m3fn x f16 -> f32"),
        ({"d": "f16"}, "no f16 x f16 -> f16"),
        ({"variant": "2k"}, None),
        ({"k": 0}, "K must be at least 1"),
    ],
)
def test_what_does_not_exist_is_told(change, text):
    wanted = {"kind": "mfma", "a": "f16", "b": "f16", "d": "f32", "k": 16, "variant": "", **change}
    if text is None:
        assert model_for(arch("gfx942"), **wanted).name == "cdna3_16bit"
        return
    with pytest.raises(MfmasimError) as caught:
        model_for(arch("gfx942"), **wanted)
    assert text in str(caught.value)
    assert "\n" not in str(caught.value)


def test_unknown_fidelity_is_refused():
    with pytest.raises(MfmasimError, match="unknown fidelity 'exact'"):
        Model("x", "fma", 1, "exact", "", "")


@pytest.mark.parametrize(
    ("row", "change", "text"),
    [
        ("cdna1_f16", {"flush_addend": "signed"}, "flush_addend = 'signed' has no effect on exact"),
        ("cdna3_f32", {"sum_bits": 30}, "sum_bits = 30 has no effect on fma, which reads flush_addend, flush"),
        ("cdna3_fp8", {"partial_sums": 4}, "partial_sums must be 1 or 2, not 4"),
        ("rdna3_f16", {"flush_output": "signed"}, "dot2 flushes results to"),
        ("cdna_i8", {"algorithm": "int"}, "unknown algorithm 'int' in model cdna_i8"),
    ],
)
def test_a_parameter_without_effect_is_refused(row, change, text):
    with pytest.raises(MfmasimError) as caught:
        replace(MODELS[row], **change)
    assert text in str(caught.value)


def test_an_exact_step_may_be_wider_than_shipped():
    """bf16 spans more than float64's digits; groups above two take the slow, exact sum."""
    row = replace(MODELS["cdna1_bf16"], group=8)
    a, b = codes(0x1FFF, 0xA004, 0x9F4A, 0x2001), codes(0x2000, 0x9F00, 0x1FFF, 0x1F00)
    c = np.array([[0x808E727E]], np.uint32)
    assert multiply(row, "bf16", "bf16", "f32", a, b.T, c)[0, 0] == multiply_by_slow(row, a, b.T, c)
    # 2^-128 survives 2^128 - 2^128.
    a, b = codes(0x5F80, 0x5F80, 0x1F80, 0), codes(0x5F80, 0xDF80, 0x1F80, 0)
    assert multiply(row, "bf16", "bf16", "f32", a, b.T, c * 0)[0, 0] == 0x00200000


def codes(*values):
    return np.array([values], np.uint16)


def multiply_by_slow(row, a, b, c):
    from tests.slow import matrix as slow

    return slow.multiply(row, "bf16", "bf16", "f32", a, b, c)[0, 0]


def test_shipped_aligned_rows_take_the_fast_way():
    rows = [model for model in MODELS.values() if model.algorithm == "aligned"]
    assert len(rows) >= 10
    assert all(bounds.aligned_parameters(model) for model in rows)
    assert not any(bounds.aligned_parameters(model) for model in MODELS.values() if model not in rows)


@pytest.mark.parametrize(
    "change",
    [
        {"product_bits": 20},
        {"product_rounding": "floor"},
        {"partial_sums": 2, "partial_bits": 24, "partial_rounding": "floor", "group": 7},
        {"partial_sums": 2, "partial_bits": 18, "partial_rounding": "floor"},
        {"partial_sums": 2, "partial_bits": 24, "partial_rounding": "truncate"},
        {"addend_bits": 23},
        {"addend_rounding": "truncate"},
        {"drop_addend_below": 23},
        {"sum_bits": 30},
        {"sum_rounding": "truncate"},
        {"final_bits": 30, "final_rounding": "floor"},
        {"final_bits": 31, "final_rounding": "truncate"},
        {"group": 17},
        {"flush_addend": "signed"},
        {"flush_output": "signed"},
    ],
)
def test_a_row_for_which_they_are_not_proved_does_not_take_the_shortcuts(change):
    assert bounds.aligned_parameters(MODELS["cdna3_16bit"])
    assert not bounds.aligned_parameters(replace(MODELS["cdna3_16bit"], **change))


@pytest.mark.parametrize(
    "change",
    [
        {"partial_sums": 2, "partial_bits": 24, "partial_rounding": "floor"},
        {"drop_addend_below": 24},
        {"sum_bits": 31},
        {"final_bits": 31, "final_rounding": "floor"},
        {"group": 16},
    ],
)
def test_a_row_at_the_bounds_of_the_proof_takes_them(change):
    assert bounds.aligned_parameters(replace(MODELS["cdna3_16bit"], **change))


@pytest.mark.parametrize("name", ["cdna_f64", "cdna4_f64"])
def test_the_denormal_mode_of_f32_leaves_f64_alone(name):
    a, b, c = np.array([[3]], "u8"), np.array([[0x3FF0000000000000]], "u8"), np.array([[2]], "u8")
    assert multiply(MODELS[name], "f64", "f64", "f64", a, b, c, denormals=False)[0, 0] == 5


@pytest.mark.parametrize(
    "change",
    [
        {"product_bits": 20},
        {"product_rounding": "floor"},
        {"addend_rounding": "truncate"},
        {"addend_bits": 23},
        {"sum_bits": 26},
        {"sum_rounding": "truncate"},
        {"final_bits": 24},
        {"drop_addend_below": 10},
        {"group": 4},
        {"partial_sums": 2, "partial_bits": 18},
    ],
)
def test_editing_one_field_changes_results(change):
    """Every parameter matters: data that spans the grids gives other bits."""
    source = np.random.default_rng(5)
    a, b = (source.standard_normal((50, 16, 16)).astype(np.float16).view(np.uint16) for _ in range(2))
    c = (source.standard_normal((50, 16, 16)) * 2.0 ** source.integers(-20, 20, (50, 16, 16))).astype(np.float32)
    row = MODELS["cdna3_16bit"]
    arguments = ("f16", "f16", "f32", a, b, c.view(np.uint32))
    assert (multiply(row, *arguments) != multiply(replace(row, **change), *arguments)).any()
