"""Advice: from the words and the line of a finding to edits; findings are those of the planted faults."""

import pytest

from mfmasim.agents.advice import MOST, Text, advised
from mfmasim.observe import Finding
from tests.agents.planted import FAULTS, source
from tests.agents.repairing import applied

TILE = {"m": 64, "n": 96, "k": 32, "alpha": 1.5, "beta": 0.25}
TEXTS = {
    "tile": (TILE, {"a": (64, 32), "b": (32, 96), "c": (64, 96)}, (43,)),
    "norm": ({"n": 300, "eps": 1e-6}, {"x": (3, 300), "w": (300,), "y": (3, 300)}, (24,)),
    "pick": ({"count": 21, "n": 48, "k": 32}, {"x": (21, 32), "w": (48, 32), "rows": (32,), "out": (32, 48)}, (22,)),
}
"""Scalar parameters, shapes, and lines of stores of the kernels."""

FINDINGS = {
    "beta is not applied": (
        "outputs-factor",
        "",
        "",
        "C is added with a factor of 1, not beta = 0.25: every element is",
    ),
    "alpha is not applied": ("outputs-factor", "", "", "the product is taken with a factor of 1, not alpha = 1.5: all"),
    "group in K": (
        *("mapping-wrong-element", "kernel.hip:35", ""),
        "the group of 4 in K depends on lane % 4, and by the layout on lane // 16",
    ),
    "swizzle of a store": (
        *("mapping-wrong-element", "kernel.hip:35", ""),
        "all in the summed index alone, differently in each line (as if only store or load swizzles)",
    ),
    "barrier of a reduction": (
        "races-no-barrier",
        "kernel.hip:20",
        "kernel.hip:15",
        "is written here and read by wave 3",
    ),
    "one column too many": (
        "races-between-workgroups",
        "kernel.hip:24",
        "kernel.hip:24",
        "y[1, 0] is written here and",
    ),
    "rows that do not exist": (
        *("bounds-outside-buffer", "kernel.hip:18", ""),
        "read of 8 bytes outside every buffer: x[21, 0] at address 0x7f000000a540, 0 bytes past the end of argument 0",
    ),
    "last part of K": ("outputs-differ", "kernel.hip", "", "1340 of 1536 elements differ by more than their bound"),
}


def edits(kernel, text, *found):
    numbers, shapes, stores = TEXTS[kernel]
    finding = Finding(found[0].partition("-")[0], "error", found[3], found[0], source=found[1], other=found[2])
    return advised([finding], Text("kernel.hip", tuple(text.split("\n")), numbers, shapes, stores))


@pytest.mark.parametrize("fault", FINDINGS)
def test_the_first_edit_takes_the_fault_back(fault):
    kernel = FAULTS[fault][0]
    found = edits(kernel, source(kernel, fault), *FINDINGS[fault])
    assert 1 <= len(found) <= MOST
    repaired = applied(source(kernel, fault), found[0])
    wanted = source(kernel)
    if fault == "barrier of a reduction":  # before the store, not before the statement that computes in between
        assert repaired.count("__syncthreads") == wanted.count("__syncthreads")
        return
    assert repaired.split() == wanted.split()


def test_a_barrier_of_the_next_turn_stands_before_the_first_access():
    """Between the accesses lies a barrier: what races is the store of the next turn; it may have no line of its own."""
    text = source("tile", "barrier of the next turn")
    words = (
        "is written here and read by wave 1 (without a line, as merged stores are; its values are of kernel.hip:26 and"
    )
    first = edits("tile", text, "races-no-barrier", "", "kernel.hip:33", words)[0]
    assert first["line"] == 26
    assert first["new"].split("\n")[0].strip() == "__syncthreads();"


def test_factors_of_a_matrix_instruction_are_exchanged():
    words = "C is transposed within each 16x16 tile, as if A and B were exchanged in the instruction"
    (found,) = edits("tile", source("tile"), "mapping-wrong-output", "kernel.hip:35", "", words)
    assert "mfma_f32_16x16x16f16(fb, fa, sum" in found["new"]


def test_a_line_of_another_length_and_a_variable_without_a_value():
    text = source("pick").replace("source * k", "source * n").replace("f32x4 sum = {};", "f32x4 sum;")
    words = "all as if the leading dimension were 48, not 32"
    found = edits("pick", text, "mapping-wrong-element", "kernel.hip:20", "", words)[0]
    assert "source * k" in found["new"]
    (found,) = edits("pick", text, "uninitialised-matrix", "kernel.hip:20", "", "v0 was never written")
    assert found["new"] == "    f32x4 sum = {};"


@pytest.mark.parametrize("identity", ["waits-read-in-flight", "no-such-kind"])
def test_no_rule_no_edit(identity):
    assert edits("tile", source("tile"), identity, "kernel.hip:35", "", "anything") == []
