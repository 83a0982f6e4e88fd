"""GEMM in f16 by RDNA's WMMA: four tiles, variants that leave the same bytes, and any shape."""

from typing import Any

import numpy as np

from hipkernels.wmma.problem import DATA, RDNA, WMMA, declare
from hipkernels.wmma.reference import in_their_order, slices_of
from hipkernels.wmma.selection import WAYS, choose
from mfmasim.errors import MfmasimError
from mfmasim.verify import A, B, C, Claim, In, LaunchDict, Out, case

PADDED = [
    Claim("18,432 bytes of the LDS with 16 bytes between the lines", "LDS bytes", 18432),
    Claim("91 VGPRs allow five waves", "waves per SIMD", 5, holds=False),
    Claim("a thread loads 4 pieces of 16 bytes a turn", "global_load_b128", 4, holds=False),
    Claim("a thread stores 8 pieces of 16 bytes a turn", "ds_store_b128", 8, holds=False),
]
SWIZZLED = [
    Claim("12,288 bytes of the LDS without padding", "LDS bytes", 12288),
    Claim("a swizzle eliminates bank conflicts", "LDS degree", 1, holds=False),
]

declare("tiles.hip", "tile_64x64", (64, 64), 128, M=65, N=72)
declare("tiles.hip", "tile_128x64", (128, 64), 256, claims=PADDED)
declare("tiles.hip", "tile_256x64", (256, 64), 512)
declare("tiles.hip", "tile_128x128", (128, 128), 512)
declare("variants.hip", "native_128x64", (128, 64), 256)
declare("variants.hip", "no_prefetch", (128, 64), 256, claims=[Claim("9,216 bytes, one slot", "LDS bytes", 9216)])
declare("variants.hip", "k_unrolled", (128, 64), 256, k=32, K=64)
declare("variants.hip", "quad", (128, 64), 256, k=64, K=128)
declare("variants.hip", "high_occupancy", (64, 32), 128, claims=[Claim("3,072 bytes, unpadded", "LDS bytes", 3072)])
declare("any_shape.hip", "any_64x64", (64, 64), 128, whole=False, M=65, N=3, K=37)
declare("any_shape.hip", "any_128x64", (128, 64), 256, whole=False, M=29, N=33, K=36)
declare("any_shape.hip", "any_k_unrolled", (128, 64), 256, whole=False, M=127, N=17, K=40)
for name in ("swizzled", "swizzled_by_8", "swizzled_as_published", "not_swizzled"):
    declare("swizzled.hip", name, (128, 64), 256, claims=SWIZZLED)
declare("swizzled.hip", "xor_gathered", (128, 64), 256, n=1, N=61)
declare("swizzled.hip", "xor_optimised", (128, 64), 256, claims=SWIZZLED)
declare("roles.hip", "asm_optimised", (128, 64), 256)
declare("roles.hip", "cooperative", (128, 64), 256)
declare("roles.hip", "ping_pong_128x64", (128, 64), 256)
declare("epilogue.hip", "zero_copy", (128, 64), 256, M=130)
for name in ("shuffled_by_permute", "shuffled_by_dpp", "shuffled_by_permlane"):
    declare("epilogue.hip", name, (128, 64), 256, c=16)
declare("epilogue.hip", "vector_c", (128, 64), 256, c=16)
declare("epilogue.hip", "opt_128x128", (128, 128), 256, c=16, K=32)
declare("epilogue.hip", "hilbert_128x64", (128, 64), 256, M=136, N=136, K=32, line=True)
for name, tile, threads, k in (
    ("rung_baseline", (64, 16), 128, 1),
    ("rung_columns", (64, 64), 512, 1),
    ("rung_blocking", (64, 64), 128, 1),
):
    declare("journey.hip", name, tile, threads, k=k, whole=False, M=61, N=19, K=36)
declare("journey.hip", "rung_wide_loads", (64, 64), 128)
declare("journey.hip", "rung_two_slots", (64, 64), 128)
declare("journey.hip", "rung_tall", (128, 64), 256)
declare("journey.hip", "three_slots_128x64", (128, 64), 256, K=64, claims=[Claim("three slots", "LDS bytes", 27648)])
declare("journey.hip", "fragments_ahead_128x64", (128, 64), 256, k=32, K=64)
declare("journey.hip", "odd_17", (128, 64), 256, claims=[Claim("lines of 17", "LDS bytes", 2 * 192 * 34)])
declare("journey.hip", "odd_33", (128, 64), 256, k=32, K=64)
declare("journey.hip", "unswizzled_copy", (128, 64), 256)
declare("journey.hip", "b_transposed_128x64", (128, 64), 256, order="column")
ANY = {
    "any_xor_gathered": ("swizzled.hip", (30, 33, 20)),
    "any_xor_optimised": ("swizzled.hip", (30, 33, 20)),
    "any_asm_optimised": ("roles.hip", (33, 17, 36)),
    "any_cooperative": ("roles.hip", (33, 17, 36)),
    "any_ping_pong": ("roles.hip", (33, 17, 36)),
    "any_zero_copy": ("epilogue.hip", (129, 5, 8)),
    "any_shuffled": ("epilogue.hip", (17, 35, 20)),
    "any_vector_c": ("epilogue.hip", (17, 35, 20)),
    "any_hilbert": ("epilogue.hip", (129, 66, 9)),
}
for name, (source, (M, N, K)) in ANY.items():
    declare(source, name, (128, 64), 256, whole=False, line=name == "any_hilbert", M=M, N=N, K=K)
for name, tile, threads in (
    ("any_256x64", (256, 64), 512),
    ("any_128x128", (128, 128), 512),
    ("any_native", (128, 64), 256),
    ("any_no_prefetch", (128, 64), 256),
    ("any_quad", (128, 64), 256),
    ("any_high_occupancy", (64, 32), 128),
):
    declare("any_variants.hip", name, tile, threads, whole=False, M=33, N=17, K=20)
declare("epilogue.hip", "any_opt_128x128", (128, 128), 256, whole=False, M=17, N=70, K=20)


def adaptive(M: int, N: int, K: int) -> None:
    """A case of the kernel that an adaptive product selects for a shape; other shapes must select the same one."""
    name, source, kernel, whole = choose(M, N, K)

    def asks(*shape: int) -> None:
        other = choose(*shape)[2]
        if other != kernel:
            raise MfmasimError(f"an adaptive product of M, N, K = {shape} takes {other}, not {kernel}")

    way = WAYS[name]
    more: dict[str, Any] = {"name": f"adaptive[{M}x{N}x{K}]", "asks": asks, "data": DATA[:1]}
    trace = K < 512  # long sums are proved in the kernel's own case
    declare(source, kernel, way.tile, way.threads, k=way.k, whole=whole, M=M, N=N, K=K, trace=trace, **more)


for M, N, K in ((40, 40, 48), (4112, 8, 16), (768, 8, 512), (768, 8, 528), (520, 8, 16), (9, 513, 7)):
    adaptive(M, N, K)


@case(
    "split.hip",
    kernel="split_k",
    arch=RDNA,
    executes=WMMA,
    needs="N % 8 == 0 and K % 16 == 0 and slice % 16 == 0 and slice > 0",
    each=[{"slice": 32}, {"slice": 48}, {"slice": 112}],
)
def split_k(M: int = 48, N: int = 32, K: int = 112, slice: int = 32, arch: str = "") -> LaunchDict:  # noqa: A002  (the text's name)
    slices = -(-K // slice)
    args = [In("f16", (M, K), "normal"), In("f16", (K, N), "normal"), Out("f32", (slices, M, N)), M, N, K, slice]
    grid = (-(-N // 64), -(-M // 64), slices)
    return {"grid": grid, "block": 128, "args": args, "expect": lambda a, b: slices_of(arch, a, b, slice)}


@case(
    "split.hip",
    kernel="slices_one_by_one",
    arch=RDNA,
    executes=WMMA,
    data=DATA,
    needs="N % 8 == 0 and K % 16 == 0 and slice % 16 == 0 and slice > 0",
)
def slices_one_by_one(M: int = 40, N: int = 32, K: int = 112, slice: int = 32) -> LaunchDict:  # noqa: A002
    a, b, c = A("f16", (M, K), align=16), B("f16", (K, N), align=16), C("f32", (M, N))
    return {"grid": (-(-N // 64), -(-M // 64)), "block": 128, "args": [a, b, c, M, N, K, slice], "expect": a @ b}


@case("journey.hip", kernel="waves_of_32", arch=RDNA)
def waves_of_32(threads: int = 64) -> LaunchDict:
    lanes = np.arange(threads, dtype=np.int32) % 32
    return {"grid": 1, "block": threads, "args": [Out("i32", threads)], "expect": lambda: [lanes]}


@case("split.hip", kernel="add_slices", arch=RDNA, each=[{"slices": 1}, {"slices": 5}])
def add_slices(elements: int = 300, slices: int = 5) -> LaunchDict:
    args = [In("f32", (slices, elements), "normal"), Out("f32", elements), elements, slices]
    return {"grid": -(-elements // 128), "block": 128, "args": args, "expect": in_their_order}
