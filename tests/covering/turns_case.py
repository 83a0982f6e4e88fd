"""Cases whose own size shows no fault of `turns.hip`."""

import numpy as np

from mfmasim.verify import A, B, C, In, InOut, Out, case

V = {"arch": "gfx942"}


@case("turns.hip", kernel="tiles", needs="n % 256 == 0 and n > 0", **V)
def tiles(rows=2, n=256):
    return {
        "grid": rows,
        "block": 256,
        "args": [In("f32", (rows, n), "integers"), Out("f32", (rows, 256)), n],
        "expect": lambda x: x.reshape(rows, -1, 256).sum(1)[:, ::-1].astype(np.float32),
    }


@case("turns.hip", kernel="twobuf", needs="n % 256 == 0 and n > 0", **V)
def twobuf(n=512):
    return {
        "grid": 1,
        "block": 256,
        "args": [In("f32", n, "integers"), Out("f32", 256), n],
        "expect": lambda x: x.reshape(-1, 256).sum(0)[::-1].astype(np.float32),
    }


@case("turns.hip", kernel="tail", needs="n > 0", **V)
def tail(n=16):
    return {
        "grid": 1,
        "block": 64,
        "args": [In("f32", n, "integers"), Out("f32", 1), n],
        "expect": lambda x: x.sum(keepdims=True),
    }


@case("turns.hip", kernel="stride", needs="n > 0 and blocks > 0", **V)
def stride(n=100, blocks=4):
    return {
        "grid": blocks,
        "block": 64,
        "args": [In("f32", n, "integers"), Out("f32", n), n],
        "expect": lambda x: 2 * x,
    }


@case("turns.hip", kernel="flag", needs="mode in (0, 1)", **V)
def flag(mode=1):
    return {
        "grid": 1,
        "block": 64,
        "args": [In("f32", 64, "integers"), Out("f32", 64), 64, mode],
        "expect": lambda x: x if mode else 2 * x,
    }


@case("turns.hip", kernel="zero", needs="k >= 0", **V)
def zero(k=3):
    return {
        "grid": 1,
        "block": 64,
        "args": [In("f32", (max(k, 1), 64), "integers"), Out("f32", 64), k],
        "expect": lambda x: x[:k].sum(0),
    }


@case("turns.hip", kernel="mm", needs="M % 16 == 0 and N % 16 == 0 and K % 16 == 0", **V)
def mm(M=32, N=48, K=16):
    a, b, c = A("f16", (M, K)), B("f16", (K, N), order="column"), C("f32", (M, N))
    return {"grid": (N // 16, M // 16), "block": 64, "args": [a, b, c, M, N, K], "expect": a @ b}


@case("turns.hip", kernel="persist", needs="tiles > 0 and blocks > 0", **V)
def persist(tiles=4, blocks=4):
    return {
        "grid": blocks,
        "block": 256,
        "args": [In("f32", (tiles, 256), "integers"), Out("f32", (tiles, 256)), tiles],
        "expect": lambda x: x[:, ::-1],
    }


@case("turns.hip", kernel="ragged", needs="n > 0", **V)
def ragged(n=256):
    groups = -(-n // 128)

    def expect(x):
        full = np.zeros(128 * groups, np.float32)
        full[:n] = x
        return full.reshape(groups, 128)[:, ::-1].reshape(-1)

    return {
        "grid": groups,
        "block": 128,
        "args": [In("f32", n, "integers"), Out("f32", 128 * groups), n],
        "expect": expect,
    }


@case("turns.hip", kernel="axpy", needs="n > 0", draws={"beta": (0.0, 0.5)}, **V)
def axpy(n=100, alpha=2.0, beta=0.5):
    return {
        "grid": -(-n // 64),
        "block": 64,
        "args": [In("f32", n, "integers"), InOut("f32", n, "integers"), n, alpha, beta],
        "expect": lambda x, y: (alpha * x + beta * y).astype(np.float32),
    }


@case("turns.hip", kernel="nested", needs="rows > 0 and cols > 0", **V)
def nested(rows=1, cols=4):
    return {
        "grid": 1,
        "block": 64,
        "args": [In("f32", (rows, cols, 64), "integers"), Out("f32", (rows, 64)), rows, cols],
        "expect": lambda x: x.sum(1),
    }


@case("turns.hip", kernel="ahead", needs="n % 64 == 0 and n > 0", **V)
def ahead(n=64):
    return {
        "grid": 1,
        "block": 64,
        "args": [In("f32", n, "integers"), Out("f32", 64), n],
        "expect": lambda x: x.reshape(-1, 64).sum(0),
    }
