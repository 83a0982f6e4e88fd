"""Orders in which libraries store scales: against their formulas, there and back, and what they refuse."""

from dataclasses import replace

import numpy as np
import pytest

import mfmasim
from mfmasim.errors import MfmasimError
from mfmasim.verify import find, verify_case
from mfmasim.verify.roles import A, B, C, ScaleA, ScaleB, bytes_of, codes_of, format_of
from mfmasim.verify.shuffles import OPERANDS, SHUFFLES
from tests.slow import shuffles

ARCH = mfmasim.arch("gfx950")


@pytest.mark.parametrize("name", SHUFFLES)
@pytest.mark.parametrize(("rows", "blocks"), [(64, 8), (192, 24)])
def test_every_scale_lies_where_the_formula_says(name, rows, blocks):
    codes = np.random.default_rng(5).integers(0, 256, (rows, blocks, 1), np.uint8)
    across = codes.transpose(1, 0, 2)
    made = ScaleA((rows, blocks), shuffle=name), ScaleB((blocks, rows), order="column", shuffle=name)
    for tensor, held in zip(made, (codes, across), strict=True):
        memory = bytes_of(tensor, held, ARCH)
        assert memory.size == rows * blocks
        assert (codes_of(tensor, memory, ARCH) == held).all()
        for row in range(rows):
            for block in range(blocks):
                assert memory[getattr(shuffles, name)(row, block, rows, blocks)] == codes[row, block, 0]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda: ScaleA((48, 4), shuffle="hipkittens_lanes"),
            "scale_A: hipkittens_lanes needs a multiple of 64 rows, not 48",
        ),
        (
            lambda: ScaleB((2, 64), shuffle="hipkittens_lanes"),
            "scale_B: hipkittens_lanes needs a multiple of 4 blocks, not 2",
        ),
        (lambda: ScaleA((64, 6), shuffle="hipkittens_rows"), "a multiple of 4 blocks, not 6"),
        (lambda: ScaleA((64, 8), shuffle="hipblaslt"), "unknown order of scales 'hipblaslt'.*hipblaslt_32x8"),
        (lambda: ScaleA((64, 8), bytes=4, shuffle="hipkittens_rows"), "stores one byte a scale"),
    ],
)
def test_what_does_not_fit_is_refused(make, words):
    with pytest.raises(MfmasimError, match=words):
        make()


def test_lengths_that_do_not_divide_are_filled_up_with_nan():
    codes = np.random.default_rng(5).integers(0, 255, (48, 17, 1), np.uint8)
    tensor = ScaleA((48, 17), shuffle="hipblaslt_32x8")
    memory = bytes_of(tensor, codes, ARCH)
    assert (memory.size, (memory == 255).sum()) == (64 * 24, 64 * 24 - 48 * 17)
    assert (codes_of(tensor, memory, ARCH) == codes).all()
    assert memory[shuffles.hipblaslt_32x8(47, 16, 64, 24)] == codes[47, 16, 0]


@pytest.mark.parametrize("name", OPERANDS)
@pytest.mark.parametrize(("fmt", "chunk"), [("f16", 8), ("e4m3fn", 16), ("e2m1fn", 32)])
def test_every_element_lies_where_the_formula_says(name, fmt, chunk):
    lines, depth = 64, 64
    made = A(fmt, (lines, depth), shuffle=name), B(fmt, (depth, lines), shuffle=name)
    bits = format_of(made[0], ARCH).bits
    codes = np.random.default_rng(6).integers(0, 1 << bits, (lines, depth)).astype(format_of(made[0], ARCH).carrier)
    for tensor, held in zip(made, (codes, codes.T), strict=True):
        memory = bytes_of(tensor, held, ARCH)
        assert memory.size == lines * depth * bits // 8
        assert (codes_of(tensor, memory, ARCH) == held).all()
        units = memory.view(np.uint16) if bits == 16 else memory
        for line in range(lines):
            for k in range(depth):
                place = getattr(shuffles, name)(line, k, lines, depth, chunk)
                unit = int(units[place // 2] >> 4 * (place % 2) & 15) if bits == 4 else int(units[place])
                assert unit == codes[line, k]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: B("fp8", (64, 64), shuffle="aiter"), "unknown order of an operand 'aiter'.*aiter_16x16"),
        (lambda: B("fp8", (64, 64), ld=80, shuffle="aiter_16x16"), "inputs without ld"),
        (lambda: C("f32", (64, 64), shuffle="aiter_16x16"), "inputs without ld"),
        (
            lambda: bytes_of(B("fp8", (64, 24), shuffle="aiter_16x16"), np.zeros((64, 24), np.uint8), ARCH),
            "a multiple of 16 lines and of 16 elements of K, not 24 and 64",
        ),
    ],
)
def test_an_order_that_does_not_fit_is_refused(make, words):
    with pytest.raises(MfmasimError, match=words):
        make()


@pytest.mark.parametrize(
    ("place", "stored"),
    [
        ({"order": "column"}, "column order"),
        ({"order": "row"}, "row order"),
        ({"shuffle": "aiter_32x16"}, "the order aiter_32x16"),
        ({"shuffle": "aiter_gate_up_16"}, "the order aiter_gate_up_16"),
    ],
)
def test_a_mismatch_is_named(place, stored):
    """The kernel reads AITER's 16x16 order of FP4, and is given another one."""
    case = next(case for _, cases in find("zoo") for case in cases if case.title == "sglang_26884[version=after]")

    def build(version="after", tiles=4):
        a, b, c = A("e2m1fn", (16, 128)), B("e2m1fn", (128, 64), **place), C("f32", (16, 64))
        return {"grid": 1, "block": 64, "args": [a, b, c, tiles], "expect": a @ b}

    result = verify_case(replace(case, build=build), "gfx950")
    (found,) = [one for one in result.findings if one.id == "mapping-wrong-element"]
    assert found.message.endswith(f"B is in {stored}, the kernel expects the order aiter_16x16")
