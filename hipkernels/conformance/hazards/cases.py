"""Instructions that software must separate, with enough wait states: no check may report them.

The simulator executes one instruction after the other, so that outputs are right however close they are: what
mutants.py takes out, only the check `hazards` sees.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfmasim.verify import In, LaunchDict, Out, case

CDNA, RDNA = ["gfx942", "gfx950"], ["gfx1151", "gfx1201"]
N = 256


def declare(source: str, name: str, arch: list[str], expect: Callable[..., Any], executes: str) -> None:
    """A case for a kernel that writes one dword for each of 256 threads."""

    def build() -> LaunchDict:
        return {"grid": 1, "block": N, "args": [In("u32", N, "bits"), Out("u32", N)], "expect": expect}

    build.__name__ = name
    case(source, kernel=name, arch=arch, executes=executes, checks="all,hazards:manual")(build)


def bits(values: Any) -> NDArray[Any]:
    """Bits of f32."""
    return np.asarray(values, np.float32).view(np.uint32)


def lane_select(x: NDArray[Any]) -> NDArray[Any]:
    waves = x.reshape(-1, 64)
    return (waves ^ waves[np.arange(len(waves)), waves[:, 0] & 63][:, None]).ravel()


def reciprocal(x: NDArray[Any]) -> NDArray[Any]:
    picked = np.where(x > np.arange(N, dtype=np.uint32), x, 0).astype(np.uint32)
    return picked ^ bits(np.ldexp(2.0, -(x & 15).astype(np.int64)))


declare("cdna.hip", "lane_select", CDNA, lane_select, "v_readlane_b32")
declare("cdna.hip", "scalar_base", CDNA, lambda x: x[::-1], "v_readfirstlane_b32")
declare("cdna.hip", "other_lane", CDNA, lambda x: ~x.reshape(-1, 2)[:, ::-1].ravel(), "v_mov_b32")
declare("cdna.hip", "reciprocal", CDNA, reciprocal, "v_rcp_f32")
declare("cdna.hip", "two_passes", CDNA, lambda x: bits((x & 1023).astype(np.float32) + 8), "v_mfma_f32_4x4x4_16b_f16")
declare("cdna.hip", "result_as_source", CDNA, lambda x: x ^ bits(4 * 16 * 16), "v_mfma_f32_16x16x4_f32")
declare("cdna.hip", "source_overwritten", CDNA, lambda x: x, "v_mfma_f32_32x32x8_f16")
declare("rdna.hip", "matrix_chain", RDNA, lambda x: x ^ bits(chained()), "v_wmma_f32_16x16x16_f16")
declare("rdna.hip", "reversed_rows", RDNA, lambda x: x.reshape(-1, 16)[:, ::-1].ravel(), "v_permlane16_b32")
declare(
    "rdna.hip", "reciprocal_rdna", ["gfx1100"], lambda x: bits(np.ldexp(2.0, -(x & 15).astype(np.int64))), "v_rcp_f32"
)


def chained() -> np.float32:
    """D of the first is 1.0 everywhere: as halves 0 and 1.875 in turn, of which 8 each meet ones."""
    return np.float32(8 * 1.875)


@case("cdna.hip", kernel="store_data", arch=CDNA, executes="global_store_dwordx4")
def store_data() -> LaunchDict:
    def expect(x: NDArray[Any]) -> NDArray[Any]:
        one, three, four = (np.full_like(x, value) for value in (1, 3, 4))
        return np.stack([one, x, three, four], axis=1)

    return {"grid": 1, "block": N, "args": [In("u32", N, "bits"), Out("u32", (N, 4))], "expect": expect}
