"""Evidence about listings of the post on FP8 GEMM: a kernel of ours with the addresses that one of them has."""

import re
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import mfmasim
from mfmasim.lab.reports.statements import Runs
from mfmasim.verify.clobbers import unclobbered

ARCH, FLOATS = "gfx950", 256
COPY = """\
#include <hip/hip_runtime.h>
typedef unsigned words4 __attribute__((ext_vector_type(4)));
typedef __attribute__((address_space(3))) void lds_void;
extern "C" __global__ void copy(const float *from, float *to) {
  __shared__ __attribute__((aligned(16))) float memory[256];
  const __amdgpu_buffer_rsrc_t source = __builtin_amdgcn_make_buffer_rsrc((void *)from, 0, 1024, WORD3);
  __builtin_amdgcn_raw_ptr_buffer_load_lds(source, (lds_void *)memory, 16, OFFSET, 0, 0, 0);
  asm volatile("s_waitcnt vmcnt(0)" ::: "memory");
  words4 value;
  asm volatile("ds_read_b128 %0, %1\\n s_waitcnt lgkmcnt(0)" : "=v"(value) : "v"(ADDRESS), "v"(memory) : "memory");
  *reinterpret_cast<words4 *>(to + 4 * threadIdx.x) = value;
}
"""
"""Memory to LDS to registers to memory, 16 bytes a lane; the resource's word 3 and both addresses are macros."""
PRINTED = {"WORD3": "0x110000", "OFFSET": "threadIdx.x * 4", "ADDRESS": "4 * (unsigned)(__UINTPTR_TYPE__)(lds_void "
  "*)(memory + 4 * threadIdx.x)"}  # fmt: skip
RIGHT = PRINTED | {"OFFSET": "threadIdx.x * 16", "ADDRESS": "(unsigned)(__UINTPTR_TYPE__)(lds_void *)(memory + 4 * "
  "threadIdx.x)"}  # fmt: skip
WAIT = 'asm volatile("s_waitcnt vmcnt(0)");'
"""The wait as it is printed."""


def _built(source: str, runs: Runs, flags: list[str]) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "listing.hip"
        path.write_text(source)
        return mfmasim.compile(path, arch=ARCH, compiler=runs.compiler, flags=flags)


def copied(macros: dict[str, str], runs: Runs) -> tuple[float, set[str]]:
    """How many of 256 floats such a copy brings to their places, and the kinds of findings it causes."""
    kernel = _built(COPY, runs, [f"-D{name}={value}" for name, value in macros.items()])["copy"]
    numbers, found = np.arange(1, FLOATS + 1, dtype=np.float32), np.zeros(FLOATS, np.float32)
    report = mfmasim.device("sim").launch(kernel, 1, 64, [numbers, found], checks="all")
    return float((found == numbers).sum()), {one.id for one in report.findings}


def waits_without_clobber(_: Runs) -> str:
    """What the check of sources says about the printed wait."""
    return ", ".join(name for _, name in unclobbered(WAIT)) or "nothing"


def undeclared(runs: Runs) -> str:
    """The name that a compiler reports, where only the printed declarations of the waves precede it."""
    source = """#include <hip/hip_runtime.h>
    extern "C" __global__ void waves(int *out) {
      int waveid = threadIdx.x / 64, wave_m = waveid / 4;
      if (warp_m == 1) __builtin_amdgcn_s_barrier();
      *out = wave_m;
    }"""
    try:
        _built(source, runs, [])
    except mfmasim.MfmasimError as error:
        return ", ".join(re.findall(r"undeclared identifier '(\w+)'", str(error))) or str(error)
    return "none"
