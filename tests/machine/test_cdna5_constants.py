"""Constants of CDNA5's instructions on bfloat16."""

import numpy as np

from tests.machine import cdna5_frame

VALUES = {"0.5": 0.5, "-1.0": -1.0, "4.0": 4.0, "0.15915494": 0.15915494}


def test_bf16_is_the_upper_half_of_a_constant():
    """CDNA5 ISA manual, 4.1: the inline constant is the 32-bit float, whose upper half OPSEL selects."""
    for text, value in VALUES.items():
        body = f"""
  v_mov_b32_e32 v5, 0x40400000
  v_fma_mix_f32_bf16 v10, v5, {text}, 0 op_sel:[1,1,0] op_sel_hi:[1,1,0]
  v_fma_mix_f32_bf16 v11, v5, {text}, 0 op_sel:[1,0,0] op_sel_hi:[1,0,0]
  v_fma_mix_f32_bf16 v12, v5, {text}, 0 op_sel:[1,0,0] op_sel_hi:[1,1,0]
"""
        out, _, _ = cdna5_frame.run(body, np.zeros((32, 4), np.uint32))
        bits = np.float32(value).view(np.uint32)
        upper = np.uint32(bits & 0xFFFF0000).view(np.float32)
        lower = np.uint32(bits << 16 & 0xFFFFFFFF).view(np.float32)
        expected = [np.float32(3) * each for each in (upper, np.float32(value), lower)]
        assert out[0, :3].view(np.float32).tolist() == [float(each) for each in expected]
