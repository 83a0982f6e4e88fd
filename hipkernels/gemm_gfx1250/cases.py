"""GEMM in f16 on gfx1250, C = A B^T: a ladder from plain loads to the tensor data mover and clusters; block scales."""

from mfmasim.verify import A, B, C, LaunchDict, ScaleA, ScaleB, case

WHOLE = "M % 64 == 0 and N % 64 == 0 and K % 32 == 0"
ANY = "K % 2 == 0"


def declare(name: str, needs: str, align: int, m: int, n: int, k: int) -> None:
    def gemm(M: int = m, N: int = n, K: int = k) -> LaunchDict:
        a, b = A("f16", (M, K), align=align), B("f16", (K, N), order="column", align=align)
        c = C("f32", (M, N))
        step = 128 if name == "cluster" else 64
        return {
            "grid": (-(-N // step) * step // 64, -(-M // step) * step // 64),
            "block": 128,
            "args": [a, b, c, M, N, K],
            "expect": a @ b,
        }

    gemm.__name__ = name
    case("ladder.hip", kernel=name, arch="gfx1250", needs=needs, executes="v_wmma_f32_16x16x32_f16")(gemm)


for _name in ("naive", "lds", "async"):
    declare(_name, WHOLE, 16, 64, 64, 64)
for _name in ("tensor", "two_slots", "split"):
    declare(_name, ANY, 4, 72, 40, 98)
declare("cluster", ANY, 4, 136, 72, 66)


@case(
    "scaled.hip",
    kernel="scaled_{form}",
    arch="gfx1250",
    needs="K % 128 == 0",
    each=[{"form": form} for form in ("e4m3fn", "e5m2", "e2m1fn")],
    executes="v_wmma_scale_f32_16x16x128_f8f6f4",
)
def scaled(form: str = "e4m3fn", M: int = 48, N: int = 72, K: int = 256) -> LaunchDict:
    a, b = A(form, (M, K), align=16), B(form, (K, N), order="column", align=16)
    c = C("f32", (M, N))
    scale_a, scale_b = ScaleA((M, K // 32)), ScaleB((K // 32, N), order="column")
    return {
        "grid": (-(-N // 64), -(-M // 64)),
        "block": 128,
        "args": [a, b, scale_a, scale_b, c, M, N, K],
        "expect": (a * scale_a) @ (b * scale_b),
    }
