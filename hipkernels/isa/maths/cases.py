"""f32 arithmetic."""

import reference

from mfmasim.verify import In, Out, case

ARCHS = ["gfx942", "gfx950"]


@case("maths.hip", kernel="fused", arch=ARCHS, executes="v_fma_f32|v_fmac_f32")
def fused(n=1000, data="special"):
    x, y, z, out = In("f32", n, data), In("f32", n, data), In("f32", n, data), Out("f32", n)
    return {"grid": -(-n // 256), "block": 256, "args": [x, y, z, out, n], "expect": reference.fused}
