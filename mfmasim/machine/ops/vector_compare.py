"""Vector compares: one table over conditions and types. Source: CDNA3 ISA manual, VOPC.

V_CMP writes a lane mask, V_CMPX also EXEC (on gfx11 and later only EXEC); inactive lanes get 0 in both. Floats see
denormals as MODE does.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mfmasim.arrays import U
from mfmasim.machine.numerics.float_formats import BY_SIZE
from mfmasim.machine.numerics.float_mode import FloatMode
from mfmasim.machine.numerics.ieee import entering
from mfmasim.machine.opcodes.registry import vector


def _always(answer: bool) -> Callable[[U, U], U]:
    return lambda a, b: np.full(np.broadcast(a, b).shape, answer)


INTEGER: dict[str, Callable[[U, U], U]] = {
    "f": _always(False),
    "lt": np.less,
    "eq": np.equal,
    "le": np.less_equal,
    "gt": np.greater,
    "ne": np.not_equal,
    "ge": np.greater_equal,
    "t": _always(True),
}
# Ordered conditions are false when a source is a NaN; the n-forms are their complements, so they are then true.
FLOAT: dict[str, Callable[[U, U], U]] = {
    "f": _always(False),
    "lt": np.less,
    "eq": np.equal,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "lg": lambda a, b: (a < b) | (a > b),
    "o": lambda a, b: ~(np.isnan(a) | np.isnan(b)),
    "u": lambda a, b: np.isnan(a) | np.isnan(b),
    "nge": lambda a, b: ~(a >= b),
    "nlg": lambda a, b: ~((a < b) | (a > b)),
    "ngt": lambda a, b: ~(a > b),
    "nle": lambda a, b: ~(a <= b),
    "neq": lambda a, b: ~(a == b),
    "nlt": lambda a, b: ~(a < b),
    "tru": _always(True),
}


def floating(test: Callable[[U, U], U]) -> Callable[[U, U, FloatMode], U]:
    def run(s0: U, s1: U, mode: FloatMode) -> U:
        if not mode.plain:
            form = BY_SIZE[s0.dtype.itemsize]
            s0, s1 = entering(s0, form, mode), entering(s1, form, mode)
        return test(s0, s1)

    return run


def classes(s0: U, selected: U) -> U:
    """V_CMP_CLASS: whether S0 is of one of the classes whose bits S1 has.

    Bits: 0 signalling NaN, 1 quiet NaN, 2 -infinity, 3 negative normal, 4 negative denormal, 5 -0, 6 +0, 7 positive
    denormal, 8 positive normal, 9 +infinity.
    """
    form = BY_SIZE[s0.dtype.itemsize]
    bits = form.bits(s0)
    exponent = bits & form.infinity
    # Distance from zero on the positive side; the negative side mirrors it around 5.5.
    size = np.select([np.isinf(s0), s0 == 0, exponent == 0], [3, 0, 1], 2)
    number = np.where(bits & form.sign != 0, 5 - size, 6 + size)
    number = np.where(np.isnan(s0), np.where(bits & form.quiet != 0, 1, 0), number)
    return selected >> number.astype(np.uint32) & np.uint32(1) != 0


def _compare(word: str, kind: str, sources: str, test: Callable[..., U]) -> None:
    words = ("tru", "t") if word == "tru" else (word,)  # gfx9's word, then that of gfx11 and later
    vector(" ".join(f"v_cmp_{w}_{kind} v_cmpx_{w}_{kind}" for w in words), f"{sources} -> mask")(test)


for _kind in ("i16", "u16", "i32", "u32", "i64", "u64"):
    for _word, _body in INTEGER.items():
        _compare(_word, _kind, f"{_kind} {_kind}", _body)
for _kind in ("f16", "f32", "f64"):
    for _word, _body in FLOAT.items():
        _compare(_word, _kind, f"{_kind} {_kind} mode", floating(_body))
    _compare("class", _kind, f"{_kind} u32", classes)
