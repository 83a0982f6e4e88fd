"""races-scope: read-modify-write operations of workgroup scope on what other workgroups change."""

import numpy as np
import pytest

import mfmasim
from tests.observe.small_kernels import compiled, symbol

HEAD = "#include <hip/hip_runtime.h>\n#define ADD(p, scope) __hip_atomic_fetch_add(p, 1u, __ATOMIC_RELAXED, scope)\n"
NARROW, WIDE = "__HIP_MEMORY_SCOPE_WORKGROUP", "__HIP_MEMORY_SCOPE_AGENT"
KERNELS = {
    "narrow": (f"out[blockIdx.x * 64 + threadIdx.x] = ADD(p, {NARROW});", True),
    "narrow without a result": (f"ADD(p, {NARROW});", True),
    "narrow here and wide there": (f"if (blockIdx.x) ADD(p, {WIDE}); else ADD(p, {NARROW});", True),
    "wide": (f"out[blockIdx.x * 64 + threadIdx.x] = ADD(p, {WIDE});", False),
    "each workgroup its own": (f"ADD(p + blockIdx.x, {NARROW});", False),
}


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100", "gfx1201", "gfx1250"])
def test_kernels(arch):
    """On gfx12 the scope is a field of the instruction; elsewhere these operations act in the L2."""
    kernels = compiled(HEAD, "unsigned *p, unsigned *out", tuple((n, b) for n, (b, _) in KERNELS.items()), arch)[0]
    for name, (_, wrong) in KERNELS.items():
        args = [np.zeros(4, np.uint32), np.zeros(256, np.uint32)]
        report = mfmasim.device("sim").launch(kernels[symbol(name)], 2, 64, args, checks="races")
        named = {(one.id, one.severity) for one in report.findings}
        assert named == ({("races-scope", "error")} if wrong and arch.startswith("gfx12") else set()), name
