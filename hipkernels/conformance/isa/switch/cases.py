"""switch: dense, uniform, falling through, sparse, and in a loop."""

from functools import partial

import numpy as np

from hipkernels.conformance.isa.switch import reference
from hipkernels.conformance.isa.targets import ARCHS, per_element
from mfmasim.verify import In, InOut, LaunchDict, Out, case

SAVE = r"s_(and|or|xor|andn2|and_not1)_saveexec_b(32|64)|v_cmpx_\w+"
declare = partial(case, "switch.hip", arch=ARCHS)
launch = per_element(160)


@declare(kernel="dense", needs="n > 0", executes=[SAVE, r"v_cmpx?_[gl]t_[iu](16|32)"])
def dense(n: int = 700) -> LaunchDict:
    return launch(n, [In("u32", n), In("u32", 8, "bits"), Out("u32", n)], reference.dense)


@declare(
    kernel="uniform",
    needs="n > 0",
    executes=["s_cmp_(gt|lt|eq|lg)_[iu]32", "s_cbranch_(scc[01]|vccn?z)"],
    each=[{"operation": k} for k in range(6)],
)
def uniform(n: int = 300, operation: int = 0) -> LaunchDict:
    args = [In("i32", n), Out("i32", n), operation]
    return launch(n, args, lambda x: reference.uniform(x, operation))


@declare(kernel="fall_through", needs="n > 0", executes=[SAVE, "s_cbranch_execn?z"])
def fall_through(n: int = 700) -> LaunchDict:
    return launch(n, [In("i32", n, "bits"), InOut("i32", (2, n))], reference.fall_through)


@declare(kernel="sparse", needs="n > 0", executes=[r"v_cmpx?_\w+_[iu]64"])
def sparse(n: int = 700) -> LaunchDict:
    drawn = np.random.default_rng(2)
    labels = drawn.choice(np.array(list(reference.LABELS), np.int64), n) + drawn.choice(np.array([0, 0, 0, 1]), n)
    return launch(n, [In("i64", n, labels), Out("i32", n)], reference.sparse)


@declare(kernel="interpreter", needs="n > 0", executes=[SAVE, "global_load_(ubyte|u8)", "s_cbranch_execn?z"])
def interpreter(n: int = 300, length: int = 12) -> LaunchDict:
    args = [In("u8", (n, length), "bits"), Out("u32", (3, n)), length]
    return launch(n, args, reference.interpreter)
