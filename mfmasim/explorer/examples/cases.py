"""Cases of the explorer's own kernel."""

from mfmasim.architectures import ARCHITECTURES
from mfmasim.verify import A, B, C, LaunchDict, case

ARCHS = [name for name in ARCHITECTURES if ARCHITECTURES[name].agprs]  # those with MFMA, each of which has 16x16x16 f16


def declare(name: str, flags: list[str]) -> None:
    """Declare a variant of the kernel."""

    def build(M: int = 32, N: int = 16, K: int = 16) -> LaunchDict:
        a, b, c = A("f16", (M, K)), B("f16", (K, N), order="column"), C("f32", (M, N))
        return {"grid": 1, "block": 128, "args": [a, b, c], "expect": a @ b}

    build.__name__ = name
    case("lds_tile.hip", kernel="lds_tile", arch=ARCHS, flags=flags)(build)


declare("lds_tile", [])
declare("lds_tile_without_barrier", ["-DWITHOUT_BARRIER"])
