"""The fast arithmetic with the parameters of the slow one, which it is compared with."""

import numpy as np

from mfmasim.matrix import arithmetic
from mfmasim.matrix.request import Formats, Modes, Operands


def multiply(
    model,
    a_format,
    b_format,
    d_format,
    a,
    b,
    c,
    *,
    scale_a=None,
    scale_b=None,
    selection=None,
    index=None,
    k=None,
    **modes,
):
    """d = a b + c; `selection` is the dense k of every kept element, `scale_b` is (..., K/32, N)."""
    index = index if selection is None else selection % 4
    turned = None if scale_b is None else np.swapaxes(scale_b, -1, -2)
    operands = Operands(a, b, c, scale_a, turned, index)
    return arithmetic.multiply(model, Formats(a_format, b_format, d_format), operands, Modes(**modes), k)
