"""bounds: offsets of buffer accesses that passed 2**31, or wrapped at 32 bits, on data that exist."""

import numpy as np
import pytest

import mfmasim
from tests.observe.small_kernels import compiled

HEAD = """#include <hip/hip_runtime.h>
typedef int i32x4 __attribute__((ext_vector_type(4)));
#if defined(__GFX9__)
#define WORD3 0x00027000
#define ZERO "0"
#define LOADED "s_waitcnt vmcnt(0)"
#elif defined(__GFX12__)
#define WORD3 0x31004000
#define ZERO "null"
#define LOADED "s_wait_loadcnt 0x0"
#else
#define WORD3 0x31004000
#define ZERO "0"
#define LOADED "s_waitcnt vmcnt(0)"
#endif
static __device__ i32x4 resource(void *p, int records) {
  unsigned long long at = (unsigned long long)p;
  return i32x4{(int)at, (int)(at >> 32), records, WORD3};
}
"""
LOAD = (
    "unsigned v = 0;\n"
    'asm volatile("s_nop 4\\n buffer_load_dword %0, %1, %2, " ZERO " offen\\n " LOADED : "=v"(v) : "v"(offset),'
    ' "s"(resource(x, records)) : "memory");\nout[threadIdx.x] = v;'
)
STORE = (
    'asm volatile("s_nop 4\\n buffer_store_dword %0, %1, %2, " ZERO " offen" :: "v"(7), "v"(offset),'
    ' "s"(resource(x, records)) : "memory");'
)
# The base lies below the buffer, so that large offsets reach it: `back` bytes.
BODIES = (
    ("far", "x -= back;\nunsigned offset = 4 * (row * ld + threadIdx.x);\n" + LOAD),
    ("wrapped", "x -= back;\nunsigned offset = 4 * (row * ld + threadIdx.x);\n" + STORE),
    ("masked", "unsigned offset = threadIdx.x < 32 ? 4 * threadIdx.x : 0x80000000u + 4 * threadIdx.x;\n" + LOAD),
    ("negative", "x += 64;\nunsigned offset = 4 * ((int)threadIdx.x - 16);\n" + LOAD),
)
PARAMETERS = "char *x, unsigned *out, long long back, int row, int ld, int records"


def found(name, arch, back, row, ld, records):
    kernel = compiled(HEAD, PARAMETERS, BODIES, arch)[0][name]
    args = [np.arange(64, dtype=np.uint32).view(np.uint8), np.zeros(64, np.uint32), np.int64(back), row, ld, records]
    report = mfmasim.device("sim").launch(kernel, 1, 64, args, checks="bounds")
    return {one.id: one for one in report.findings}


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100", "gfx1201"])
def test_an_offset_beyond_the_range_whose_data_exist(arch):
    findings = found("far", arch, 1 << 31, 2, 1 << 28, 0x7FFFFFFE)
    assert set(findings) == {"bounds-buffer-offset"}
    one = findings["bounds-buffer-offset"]
    assert (one.severity, one.count) == ("error", 64)
    assert "2**31 or more" in one.message
    assert "address of argument 0[0]" in one.message
    assert set(found("masked", arch, 0, 0, 0, 256)) == {"bounds-buffer-range"}
    assert set(found("negative", arch, 0, 0, 0, 0x7FFFFFFE)) == {"bounds-buffer-range"}


@pytest.mark.parametrize("arch", ["gfx942", "gfx1201"])
def test_an_offset_that_wrapped(arch):
    """Two rows of 2**29 dwords: the byte offset is 2**32."""
    findings = found("wrapped", arch, 1 << 32, 2, 1 << 29, -1)
    one = findings["bounds-offset-wrapped"]
    assert one.severity == "error"
    assert "0x100000000 wrapped at 32 bits" in one.message
    assert "address of argument 0[0]" in one.message
    assert "bounds-offset-wrapped" not in found("wrapped", arch, 1 << 30, 1, 1 << 28, -1)
