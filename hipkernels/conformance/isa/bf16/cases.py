"""bfloat16, which is computed in single precision and rounded."""

import numpy as np

from hipkernels.conformance.isa.bf16 import reference
from hipkernels.conformance.isa.targets import ARCHS
from mfmasim.verify import In, Out, case

BLOCK = 128
EVERY = np.arange(1 << 16, dtype=np.uint16).reshape(-1, 2)
"""Every bfloat16 there is, in pairs."""


def launch(n, args, expect, *more):
    return {"grid": -(-n // BLOCK), "block": BLOCK, "args": [*args, n, *more], "expect": expect}


BOTH = [{"data": "special"}, {"data": "normal"}]


@case("bf16.hip", kernel="narrow", needs="n > 0", arch=ARCHS, executes="v_cvt_pk_bf16_f32|v_add3_u32", each=BOTH)
def narrow(n=2000, data="special"):
    return launch(n, [In("f32", n, data), Out("bf16", n)], reference.narrow)


@case("bf16.hip", kernel="widen", arch=ARCHS, executes=["v_lshlrev_b32", "v_and_b32"])
def widen(n=1 << 15):
    return launch(n, [In("bf16", (n, 2), EVERY), Out("f32", 2 * n)], reference.widen)


@case(
    "bf16.hip",
    kernel="arithmetic",
    needs="n > 0",
    arch=ARCHS,
    executes=["v_(pk_)?add_f32", "v_(pk_)?mul_f32"],
    each=BOTH,
)
def arithmetic(n=1000, data="special"):
    return launch(n, [In("bf16", n, data), In("bf16", n, data), Out("bf16", (3, n))], reference.arithmetic)


@case("bf16.hip", kernel="dot_rows", arch=ARCHS, executes="v_fmac?_f32", each=[{"data": "normal"}, {"data": "bits"}])
def dot_rows(rows=200, pairs=9, data="normal"):
    args = [In("bf16", (rows, 2 * pairs), data), In("bf16", (rows, 2 * pairs), data), Out("f32", rows)]
    return launch(rows, args, reference.dot_rows, pairs)
