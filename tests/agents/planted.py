"""Kernels with a problem each, and ten faults planted in them: the faults of a first user's desk, in kernels of our
own."""

from pathlib import Path

KERNELS = Path(__file__).parent / "kernels"


def plain(name, kind, form="f32", *shape, **more):
    """An array or matrix among the arguments."""
    return {"name": name, "kind": kind, "format": form, "shape": list(shape), **more}


def values(*names):
    """Numbers among the arguments, named as their sizes."""
    return [{"name": name, "kind": "value"} for name in names]


PROBLEMS = {
    "tile": {
        "arch": "gfx942",
        "sizes": {"M": 64, "N": 96, "K": 32, "alpha": 1.5, "beta": 0.25},
        "grid": ["N // 32", "M // 32"],
        "block": [256],
        "arguments": [
            plain("a", "A", "f16", "M", "K"),
            plain("b", "B", "f16", "K", "N", order="column"),
            plain("c", "C", "f32", "M", "N"),
            *values("M", "N", "K", "alpha", "beta"),
        ],
        "expect": "alpha * (a @ b) + beta * c",
        "needs": "M % 32 == 0 and N % 32 == 0 and K % 32 == 0",
    },
    "norm": {
        "arch": "gfx942",
        "sizes": {"rows": 3, "n": 300, "eps": 1e-6},
        "grid": ["rows"],
        "block": [256],
        "arguments": [
            plain("x", "in", "f32", "rows", "n"),
            plain("w", "in", "f32", "n"),
            plain("y", "out", "f32", "rows", "n"),
            *values("n", "eps"),
        ],
        "expect": "def f(x, w):\n"
        "    z = x / np.sqrt((x * x).mean(1, keepdims=True) + eps) * w\n"
        "    return z - z.max(1, keepdims=True)\n",
        "tolerance": {"absolute": 1e-5, "relative": 1e-5},
    },
    "pick": {
        "arch": "gfx942",
        "sizes": {"count": 21, "n": 48, "k": 32, "tiles": 2},
        "grid": ["n // 16", "tiles"],
        "block": [64],
        "arguments": [
            plain("x", "in", "f16", "count", "k", data="integers"),
            plain("w", "in", "f16", "n", "k", data="integers"),
            plain("rows", "in", "i32", "tiles * 16", data="np.arange(tiles * 16) * 7 % 24"),
            plain("out", "out", "f32", "tiles * 16", "n"),
            *values("count", "n", "k"),
        ],
        "expect": "def f(x, w, rows):\n"
        "    held = np.where((rows < count)[:, None], x[np.minimum(rows, count - 1)], 0)\n"
        "    return held @ w.T\n",
    },
}
"""Arguments of `check` beside the source, by kernel."""

FAULTS = {
    "barrier of the next turn": ("tile", "        __syncthreads();\n    }\n", "    }\n"),
    "beta is not applied": ("tile", "+ beta * *place", "+ *place"),
    "alpha is not applied": ("tile", "alpha * sum[i]", "sum[i]"),
    "result transposed": (
        "tile",
        "lane / 16 * 4 + i;\n        const int across = left + wave % 2 * 16 + lane % 16;",
        "lane % 16;\n        const int across = left + wave % 2 * 16 + lane / 16 * 4 + i;",
    ),
    "group in K": ("tile", "(lane / 16) * 4;", "(lane % 4) * 4;"),
    "swizzle of a store": ("tile", "(sb + spot(row, col)) = rb", "(sb + row * STEP + col) = rb"),
    "barrier of a reduction": ("norm", "    __syncthreads();\n    const float scale", "    const float scale"),
    "one column too many": ("norm", "i < n; i += 256) y", "i <= n; i += 256) y"),
    "rows that do not exist": ("pick", "if (source < count) fa", "fa"),
    "last part of K": ("pick", "start < k;", "start < k - 16;"),
}
"""Faults: kernel, text, and what it becomes."""


def source(kernel, fault=None):
    """The text of a kernel, with a fault."""
    text = (KERNELS / f"{kernel}.hip").read_text()
    if fault is None:
        return text
    _, old, new = FAULTS[fault]
    assert text.count(old) == 1, (kernel, fault, text.count(old))
    return text.replace(old, new)
