"""operands: masked lanes of matrix instructions, and scales that count otherwise than they look."""

import numpy as np
import pytest

import mfmasim
from tests.machine import harness

MATRIX = {
    "gfx942": "v_mfma_f32_16x16x32_fp8_fp8 v[8:11], v[12:13], v[14:15], 0",
    "gfx1201": "v_wmma_f32_16x16x16_f16 v[0:7], v[12:15], v[16:19], v[0:7]",
}
SCALED = "v_mfma_scale_f32_16x16x128_f8f6f4 v[20:23], v[12:19], v[12:19], 0, v4, v5 {}"
HIGH = "op_sel:[1,0,0] op_sel_hi:[1,0,0]"
"""The fourth byte of the scale of A."""


def reported(arch, body, v4="0", v5="0", data="0x38383838", out=None):
    """Findings of a body, with words in v4 and v5 and data in v12 to v19."""
    filled = "\n".join(f"v_mov_b32 v{n}, {data}" for n in range(12, 20))
    text = f"{filled}\n v_mov_b32 v4, {v4}\n v_mov_b32 v5, {v5}\n s_nop 4\n {body}\n s_endpgm"
    kernel = harness.kernel(text, arch, "p")
    out = np.zeros(64, np.uint32) if out is None else out
    return mfmasim.device("sim").launch(kernel, grid=3, block=64, args=[out], checks="operands").findings


def masked(arch):
    """A matrix instruction in the first five lanes."""
    return f"v_cmpx_gt_u32 {'s[20:21], ' if arch == 'gfx942' else ''}5, v0\n s_nop 4\n {MATRIX[arch]}"


@pytest.mark.parametrize(("arch", "waves"), [("gfx942", 3), ("gfx1201", 6)])
def test_masked_lanes_of_a_matrix_instruction_are_reported(arch, waves):
    (finding,) = reported(arch, masked(arch))
    assert (finding.id, finding.severity, finding.count) == ("operands-masked-lanes", "info", waves)
    assert "lanes are masked (lane 5 is the first), but the instruction ignores EXEC" in finding.message
    assert not reported(arch, MATRIX[arch])


@pytest.mark.trap("T53")
def test_masked_lanes_give_elements_and_receive_results():
    store = "v_lshlrev_b32 v1, 2, v0\n global_store_dword v1, v8, s[2:3]"
    address = "s_load_dwordx2 s[2:3], s[0:1], 0x0\n s_waitcnt lgkmcnt(0)"
    out = np.zeros(64, np.uint32)
    body = f"{address}\n {masked('gfx942')}\n s_mov_b64 exec, -1\n s_nop 15\n {store}"
    reported("gfx942", body, data="0x40404040", out=out)
    assert (out.view(np.float32) == 32.0).all(), "FNUZ 0x40 is 1, and K is 32"


@pytest.mark.trap("T15")
@pytest.mark.parametrize(
    ("v4", "v5", "more", "data", "named"),
    [
        ("0", "127", "", "0x38383838", "A"),
        ("127", "0", "", "0x38383838", "B"),
        ("127", "127", HIGH, "0x38383838", "A"),
        ("0x7f000000", "127", HIGH, "0x38383838", ""),
        ("127", "127", "", "0x38383838", ""),
        ("0", "0", "", "0x38383838", ""),
        ("v0", "127", "", "0x38383838", ""),
        ("0", "127", "", "0", ""),
    ],
    ids=["of A", "of B", "another byte", "in another byte", "none", "both", "in some lanes", "zeros"],
)
def test_one_scale_of_zero_names_itself(v4, v5, more, data, named):
    found = reported("gfx950", SCALED.format(more), v4, v5, data)
    assert [finding.id for finding in found] == ["operands-scale-zero"] * bool(named)
    assert all(f"the scale of {named} is 0 in every lane, which is 2^-127" in finding.message for finding in found)


@pytest.mark.trap("T39")
@pytest.mark.parametrize(
    ("line", "v4", "words"),
    [
        ("v_cvt_scalef32_pk_fp8_f32 v6, v12, v13, v4", "0x40400000", "the scale 3 counts as 2"),
        ("v_cvt_scalef32_pk_f32_fp8 v[6:7], v12, v4", "0xc0000000", "the scale -2 counts as 2"),
        ("v_cvt_scalef32_pk_fp8_f32 v6, v12, v13, v4", "0.5", ""),
        ("v_cvt_scalef32_sr_bf8_f32 v6, v12, v13, v4", "0x3f800001", "the scale 1 counts as 1"),
        ("v_cvt_scalef32_pk_fp8_f32 v6, v12, v13, v4", "0x00400000", ""),
        ("v_cvt_scalef32_pk_fp8_f32 v6, v12, v13, v4", "0", "the scale 0 counts as 5.87747e-39"),
        ("v_cvt_scalef32_pk_fp8_f32 v6, v12, v13, v4", "0x7f800000", "the scale inf counts as nan"),
        ("v_cvt_scalef32_pk_fp8_f32 v6, v12, v13, v4", "0x7fc00000", ""),
    ],
)
def test_a_scale_that_is_no_power_of_two_says_so(line, v4, words):
    found = reported("gfx950", line, v4)
    assert [finding.id for finding in found] == ["operands-scale-mantissa"] * bool(words)
    assert all(words in finding.message and finding.count == 3 for finding in found)


def test_each_instruction_is_reported_once_with_its_waves():
    body = f"{SCALED.format('')}\n v_cvt_scalef32_pk_fp8_f32 v6, v12, v13, v12"
    found = reported("gfx950", body, "0", "127")
    assert [(f.id, f.count) for f in found] == [("operands-scale-zero", 3), ("operands-scale-mantissa", 3)]
