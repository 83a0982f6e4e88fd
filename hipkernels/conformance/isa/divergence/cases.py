"""Lanes of one wave that take different branches."""

from collections.abc import Callable
from functools import partial
from typing import Any

from hipkernels.conformance.isa.divergence import reference
from hipkernels.conformance.isa.targets import ARCHS
from mfmasim.verify import In, InOut, LaunchDict, Out, case

declare = partial(case, "divergence.hip", arch=ARCHS)
SAVE = r"s_(and|or|xor|andn2|and_not1)_saveexec_b(32|64)|v_cmpx_\w+"


def launch(n: int, args: list[Any], expect: Callable[..., Any], block: int = 200) -> LaunchDict:
    return {"grid": -(-n // block), "block": block, "args": [*args, n], "expect": expect}


@declare(kernel="nested", needs="n > 0", executes=[SAVE, "s_cbranch_execn?z"])
def nested(n: int = 700) -> LaunchDict:
    args = [In("u32", n, "bits"), Out("u32", n), InOut("u32", (4, n), "integers")]
    return launch(n, args, reference.nested)


@declare(kernel="early_return", needs="n > 0", executes=[SAVE, "s_cbranch_execn?z"])
def early_return(n: int = 700, data: str = "bits") -> LaunchDict:
    return launch(n, [In("i32", n, data), InOut("i32", (4, n), "integers")], reference.early_return)


@declare(kernel="short_circuit", needs="n > 0", executes=[SAVE])
def short_circuit(n: int = 700) -> LaunchDict:
    args = [In("i32", n, "bits"), Out("i32", n), InOut("u32", n)]
    return launch(n, args, reference.short_circuit)


@declare(kernel="selections", needs="n > 0", executes=["v_cndmask_b32|v_dual_cndmask_b32"])
def selections(n: int = 700) -> LaunchDict:
    args = [In("i32", n, "integers"), In("i32", n, "integers"), In("u64", n, "bits"), Out("u64", (3, n))]
    return launch(n, args, reference.selections)


@declare(kernel="by_position", needs="n > 0", executes=[SAVE, "s_cmp_(eq|lg)_u32|s_cselect_b(32|64)"])
def by_position(n: int = 650, block: int = 200) -> LaunchDict:
    args = [In("u32", n, "bits"), InOut("u32", (2, n), "bits")]
    return launch(n, args, lambda x, out: reference.by_position(x, out, block), block)


@declare(kernel="two_axes", executes=[SAVE])
def two_axes(width: int = 21, height: int = 13, depth: int = 5) -> LaunchDict:
    shape = (depth, height, width)
    args = [In("u32", shape, "bits"), Out("u32", shape), width, height, depth]
    return {"grid": (3, 3, 2), "block": (8, 5, 3), "args": args, "expect": reference.two_axes}
