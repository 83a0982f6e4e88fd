"""Speed of decode and encode as ratios to ml_dtypes' casts in the same process: python -m tests.bench.bench_formats.

A ratio above 1 means that mfmasim is faster. One core is enough; each figure is the best of several runs.
"""

from __future__ import annotations

import numpy as np

from mfmasim import formats
from tests.bench.measuring import least
from tests.formats.ml_dtypes_table import ML_DTYPES

ELEMENTS = 1 << 22
GOALS = {"decode": 1.5, "encode": 0.5}


def best(action):
    """Nanoseconds an element of the fastest run."""
    return least(action, 7) / ELEMENTS * 1e9


def main():
    values = np.random.default_rng(1).standard_normal(ELEMENTS).astype(np.float32)
    np.seterr(over="ignore", invalid="ignore")
    print(f"{ELEMENTS} elements, ns an element; ratio = ml_dtypes / mfmasim")
    print(f"{'format':10} {'decode':>8} {'ml_dtypes':>10} {'ratio':>7}   {'encode':>8} {'ml_dtypes':>10} {'ratio':>7}")
    for name, dtype in ML_DTYPES.items():
        fmt = formats.format(name)
        codes = fmt.encode(values)
        theirs = codes.view(dtype)
        decode = best(lambda fmt=fmt, codes=codes: fmt.decode(codes)), best(lambda t=theirs: t.astype(np.float64))
        encode = best(lambda fmt=fmt: fmt.encode(values)), best(lambda d=dtype: values.astype(d))
        ratios = decode[1] / decode[0], encode[1] / encode[0]
        text = [
            f"{ours:8.2f} {them:10.2f} {ratio:7.2f}"
            for (ours, them), ratio in zip((decode, encode), ratios, strict=True)
        ]
        print(f"{name:10} {'   '.join(text)}")
    print(f"goals: decode >= {GOALS['decode']}, encode f32 to 8 bits >= {GOALS['encode']}")


if __name__ == "__main__":
    main()
