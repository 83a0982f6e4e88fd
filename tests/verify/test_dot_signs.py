"""mapping-wrong-format of integer dot products: the sign in which they read the elements of a case's arrays."""

import pytest

from mfmasim.verify import load_file, verify_case

SOURCE = """#include <hip/hip_runtime.h>
#if defined(__GFX9__)
#define SIGNED(a, b, c) __builtin_amdgcn_sdot4(a, b, c, false)
#else
#define SIGNED(a, b, c) __builtin_amdgcn_sudot4(true, a, true, b, c, false)
#endif
#define UNSIGNED(a, b, c) (int)__builtin_amdgcn_udot4(a, b, c, false)
#define KERNEL(name, ...) extern "C" __global__ void name(const int *q, const int *k, int *y) { \\
  int t = threadIdx.x, r = 0; __VA_ARGS__ y[t] = r; }
#define ROW for (int i = 0; i < 4; i++)
KERNEL(as_signed, ROW r = SIGNED(q[4 * t + i], k[4 * t + i], r);)
KERNEL(as_unsigned, ROW r = UNSIGNED(q[4 * t + i], k[4 * t + i], r);)
KERNEL(through_lds, __shared__ int s[256]; ROW s[4 * t + i] = q[4 * t + i]; __syncthreads();
  ROW r = UNSIGNED(s[(4 * t + i) ^ 4], 0x01010101, r);)
KERNEL(flipped, ROW r = UNSIGNED(q[4 * t + i] ^ 0x80808080, k[4 * t + i] ^ 0x80808080, r);)
"""


CASE = """
import numpy as np
from mfmasim.verify import In, Out, case

@case("k.hip", kernel="{kernel}", arch=["{arch}"])
def dots():
    args = [In("{form}", (64, 16), "integers"), In("{form}", (64, 16), "integers"), Out("i32", 64)]
    return dict(grid=1, block=64, args=args, expect=lambda q, k: (q.astype(np.int32) * k).sum(1, dtype=np.int32))
"""


def verified(folder, kernel, arch, form):
    form, shape = (form, "(64, 16)") if form != "i32" else (form, "(64, 4)")
    (folder / "k.hip").write_text(SOURCE)
    text = CASE.format(kernel=kernel, arch=arch, form=form).replace("(64, 16)", shape)
    (folder / f"{kernel}_{form}.py").write_text(text)
    result = verify_case(load_file(folder / f"{kernel}_{form}.py")[0], arch)
    return [(f.id, f.element, f.expected, f.actual) for f in result.findings if f.check == "mapping"]


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100", "gfx1201"])
def test_signs(tmp_path, arch):
    both = [("mapping-wrong-format", f"src{place}", "i8", "u8") for place in (0, 1)]
    assert not verified(tmp_path, "as_signed", arch, "i8")
    assert set(verified(tmp_path, "as_unsigned", arch, "i8")) == set(both)
    assert not verified(tmp_path, "as_unsigned", arch, "u8")
    assert {(id_, expected, actual) for id_, _, expected, actual in verified(tmp_path, "as_signed", arch, "u8")} == {
        ("mapping-wrong-format", "u8", "i8")
    }
    assert set(verified(tmp_path, "through_lds", arch, "i8")) == set(both[:1])
    assert not verified(tmp_path, "flipped", arch, "i8")
    assert not verified(tmp_path, "as_unsigned", arch, "i32")
