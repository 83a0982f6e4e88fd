"""What the host refuses before a launch: shapes, strides, misaligned pointers, shared memory."""

from dataclasses import replace

import numpy as np
import pytest

from mfmasim.architectures import arch as find_arch
from mfmasim.errors import MfmasimError
from mfmasim.verify import A, B, C, find, select, verify_case
from mfmasim.verify.contract import broken, check_memory

CASES = dict(find("gemm_fp8"))["gemm_fp8"]


def gemm(changes):
    ((case, arch),) = select(CASES, "gfx950", "double_buffer_pairs")
    return case.with_parameters(changes), arch


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"K": 100}, "'K % 128 == 0' does not hold for K=100"),
        ({"M": 65}, "'M % 64 == 0' does not hold for M=65"),
        ({"lda": 255}, "A has ld 255, less than the 256 elements of a row"),
        ({"ldb": 240}, "B has ld 240, less than the 256 elements of a column"),
        ({"ldc": 1}, "C has ld 1, less than the 128 elements of a row"),
        ({"lda": -256}, "A has ld -256"),
        ({"lda": 257}, "lines of A are 257 bytes apart; the kernel needs a multiple of 16"),
        ({"offset_a": 8}, "A begins 8 bytes past an aligned address; the kernel needs a multiple of 16"),
        ({"offset_b": 1}, "B begins 1 bytes past an aligned address"),
        ({"offset_c": 1}, "C begins 1 bytes past an aligned address; the kernel needs a multiple of 2"),
        ({"offset_a": 5000}, "A has offset 5000"),
        ({"alias": "A"}, "C shares its memory with A"),
        ({"alias": "B"}, "C shares its memory with B"),
    ],
)
def test_what_breaks_the_contract_is_named_and_nothing_is_launched(changes, said, monkeypatch):
    from mfmasim.devices import SimDevice

    monkeypatch.setattr(SimDevice, "launch", lambda *_a, **_k: pytest.fail("launched"))
    case, arch = gemm(changes)
    with pytest.raises(MfmasimError) as refused:
        verify_case(case, arch)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_what_keeps_the_contract_is_launched_where_it_says():
    """Matrices that begin past a page, with gaps between their rows, which keep their poison."""
    case, arch = gemm({"M": 64, "N": 64, "K": 128, "lda": 144, "ldb": 160, "ldc": 67, "offset_a": 48, "offset_c": 2})
    result = verify_case(case, arch)
    assert result.status == "pass"
    assert result.outputs["elements"] == 2 * 64 * 64


def test_an_offset_moves_the_pointer():
    from mfmasim.machine.launch.argument_segment import Placed
    from mfmasim.machine.state.memory import BASE, PAGE, Memory

    memory = Memory()
    plain, moved, after = memory.reserve("a", 10), memory.reserve("b", PAGE, offset=48), memory.reserve("c", 1)
    assert (plain.address - BASE) % PAGE == 0
    assert (moved.address - BASE) % PAGE == 48
    assert after.address >= moved.address + PAGE + PAGE
    assert np.zeros(3).view(Placed).page_offset == 0


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        ("M % 2 == 0 and N > 3", ""),
        ("N > 5 and M > 99", "'N > 5' does not hold for N=4"),
        ("M == N or M == 5", "'M == N or M == 5' does not hold for M=6, N=4"),
        ("not (M > 5 and N > 3)", "'not (M > 5 and N > 3)' does not hold for M=6, N=4"),
    ],
)
def test_the_part_of_a_condition_that_fails_is_named(condition, said):
    assert broken(condition, {"M": 6, "N": 4}) == said


@pytest.mark.parametrize("condition", ["M.real", "print(M)", "M >", "Q > 1", "M % (N - 4)", "[M]"])
def test_a_condition_that_is_none_is_refused(condition):
    with pytest.raises(MfmasimError):
        broken(condition, {"M": 6, "N": 4})


def test_bits_count_for_narrow_formats():
    """Two FP4 elements to a byte: 24 of them are 12 bytes."""
    with pytest.raises(MfmasimError, match="lines of A are 12 bytes apart"):
        check_memory([A("e2m1fn", (4, 24), align=8)], find_arch("gfx950"), "case")
    check_memory([B("e2m1fn", (4, 24), align=4), C("bf16", (4, 5), align=2)], find_arch("gfx950"), "case")
    check_memory([A("fp8", (1, 5), align=16)], find_arch("gfx950"), "one line")


@pytest.mark.parametrize("align", [0, 3, -4])
def test_alignments_are_powers_of_two(align):
    with pytest.raises(MfmasimError, match="power of two"):
        A("fp8", (4, 4), align=align)


@pytest.mark.trap("T4")
@pytest.mark.parametrize(
    ("name", "changes", "checks"),
    [
        ("double_buffer_pairs", {"M": 96, "N": 64, "K": 128}, {"bounds"}),
        ("double_buffer_pairs", {"M": 64, "N": 64, "K": 192}, {"outputs", "mapping"}),
        ("double_buffer_pairs", {"M": 64, "N": 100, "K": 128}, {"outputs", "mapping", "bounds", "races"}),
        ("lds_tiled", {"M": 20, "N": 16, "K": 16}, {"bounds"}),
        ("lds_tiled", {"M": 16, "N": 16, "K": 20}, {"outputs", "bounds"}),
    ],
)
def test_what_the_contract_keeps_away_would_show(name, changes, checks):
    """The same shapes with the contract taken away: why it says what it says."""
    ((case, arch), *_) = select(CASES, "gfx950", name)
    with pytest.raises(MfmasimError, match="does not hold"):
        verify_case(case.with_parameters(changes), arch)
    result = verify_case(replace(case.with_parameters(changes), needs=""), arch)
    assert {f.check for f in result.findings if f.severity == "error"} == checks
