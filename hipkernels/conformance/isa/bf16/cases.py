"""bfloat16, which is computed in single precision and rounded."""

from functools import partial

import numpy as np

from hipkernels.conformance.isa.bf16 import reference
from hipkernels.conformance.isa.targets import ARCHS, per_element
from mfmasim.verify import In, LaunchDict, Out, case

EVERY = np.arange(1 << 16, dtype=np.uint16).reshape(-1, 2)
"""Every bfloat16 code, in pairs."""
BOTH = [{"data": "special"}, {"data": "normal"}]
declare = partial(case, "bf16.hip", arch=ARCHS)
launch = per_element(128)


@declare(kernel="narrow", needs="n > 0", executes="v_cvt_pk_bf16_f32|v_add3_u32", each=BOTH)
def narrow(n: int = 2000, data: str = "special") -> LaunchDict:
    return launch(n, [In("f32", n, data), Out("bf16", n)], reference.narrow)


@declare(kernel="widen", executes=["v_lshlrev_b32", "v_and_b32"])
def widen(n: int = 1 << 15) -> LaunchDict:
    return launch(n, [In("bf16", (n, 2), EVERY), Out("f32", 2 * n)], reference.widen)


@declare(kernel="arithmetic", needs="n > 0", executes=["v_(pk_)?add_f32", "v_(pk_)?mul_f32"], each=BOTH)
def arithmetic(n: int = 1000, data: str = "special") -> LaunchDict:
    return launch(n, [In("bf16", n, data), In("bf16", n, data), Out("bf16", (3, n))], reference.arithmetic)


@declare(kernel="dot_rows", executes="v_fmac?_f32", each=[{"data": "normal"}, {"data": "bits"}])
def dot_rows(rows: int = 200, pairs: int = 9, data: str = "normal") -> LaunchDict:
    args = [In("bf16", (rows, 2 * pairs), data), In("bf16", (rows, 2 * pairs), data), Out("f32", rows)]
    return launch(rows, args, reference.dot_rows, pairs)
