"""Real code objects for the tests, built once a session from sources that need no headers."""

from __future__ import annotations

import functools
import subprocess
import tempfile
from pathlib import Path

from mfmasim import architectures
from tests.llvm import tool

QUALIFIERS = """
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
"""

# Several kernels of every shape a name or a descriptor can take. Lines are counted by the line-table test.
KERNELS = (
    QUALIFIERS
    + """
__device__ int table[4] = {1, 2, 3, 4};
__device__ int* pointer = &table[2];
struct Pair { int first; double second; };
__global__ void gemm(const float* a, const float* __restrict__ b, float* c, int n) {
  __shared__ float lds[64];
  unsigned t = __builtin_amdgcn_workitem_id_x();
  lds[t] = a[t];
  __builtin_amdgcn_s_barrier();
  for (int i = 0; i < n; ++i)
    c[t + i] = lds[63 - t] * b[t + i];
}
extern "C" __global__ void ids(int* p) {
  p[__builtin_amdgcn_workgroup_id_y() + __builtin_amdgcn_workgroup_id_z()] =
      __builtin_amdgcn_workitem_id_y() * __builtin_amdgcn_workitem_id_z();
}
extern "C" __global__ void structure(Pair pair, char letter, int* p) { *p = pair.first + letter + *pointer; }
template <class T, int N> __global__ void shape(T* p) { *p = T(N); }
template __global__ void shape<float, 3>(float*);
template __global__ void shape<_Float16, -4>(_Float16*);
namespace ns {
namespace { enum Kind { one, two }; }
template <Kind kind> __global__ void only(int* p) { *p = kind; }
template __global__ void only<two>(int*);
}
extern "C" __global__ __attribute__((amdgpu_flat_work_group_size(64, 64))) void sized(int* p) {
  *p = 1;
}
__device__ __attribute__((noinline)) int recursive(int n) {
  volatile int stack[8];
  stack[n & 7] = n;
  return n < 2 ? stack[n & 7] : recursive(n - 1) + recursive(n - 2);
}
extern "C" __global__ void deep(int* p) { *p = recursive(*p); }
extern "C" __global__ void blocks(int* p) {
  typedef const int __attribute__((address_space(4))) * Implicit;
  Implicit hidden = (Implicit)__builtin_amdgcn_implicitarg_ptr();
  *p = hidden[0] + hidden[16] + __builtin_amdgcn_workgroup_size_x();
}
"""
)

ARCHITECTURES = tuple(architectures.ARCHITECTURES)

# What every HIP compilation here says; the file is called kernels.hip whatever its folder.
HIP = ("-x", "hip", "--offload-device-only", "--no-gpu-bundle-output", "-nogpulib", "-nogpuinc", "-std=c++17", "-O2")
HIP += ("-fuse-cuid=none", "--target=x86_64-unknown-linux-gnu", "-fdebug-compilation-dir=.", "-gline-tables-only")


def run(*command, cwd=None) -> str:
    """Run a tool that has to succeed; its output."""
    done = subprocess.run([str(one) for one in command], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stderr}"
    return done.stdout


@functools.cache
def zig() -> str:
    """The compiler of the ziglang package, a dependency of the tests."""
    import ziglang

    return str(Path(ziglang.__file__).parent / "zig")


@functools.cache
def assemble(text: str, arch: str, *flags: str, linked: bool = True) -> bytes:
    """A code object from assembly text."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "k.s").write_text(text)
        command = (zig(), "clang", "-target", "amdgcn-amd-amdhsa", f"-mcpu={arch}", *flags, "-c", "k.s", "-o", "k.o")
        run(*command, cwd=folder)
        if linked:
            run(zig(), "ld.lld", "-shared", "k.o", "-o", "k.hsaco", cwd=folder)
        return Path(folder, "k.hsaco" if linked else "k.o").read_bytes()


@functools.cache
def assembly(arch: str, *flags: str, source: str = KERNELS) -> str:
    """Assembly text of a HIP source."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "kernels.hip").write_text(source)
        run(zig(), "clang", *HIP, f"--offload-arch={arch}", *flags, "-S", "-o", "k.s", "kernels.hip", cwd=folder)
        return Path(folder, "k.s").read_text()


def build(arch: str, *flags: str, source: str = KERNELS) -> bytes:
    """A code object compiled from HIP."""
    machine = [flag for flag in flags if flag.startswith("-mwavefrontsize")]
    return assemble(assembly(arch, *flags, source=source), arch, *machine)


@functools.cache
def build_with_clang(arch: str, *flags: str, source: str = KERNELS) -> bytes:
    """The same with clang 22 and lld 22 of the distribution, in one step."""
    clang, lld = tool("clang++"), tool("ld.lld")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "kernels.hip").write_text(source)
        arch_flag = f"--offload-arch={arch}"
        run(clang, *HIP, arch_flag, *flags, f"-fuse-ld={lld}", "-o", "k.hsaco", "kernels.hip", cwd=folder)
        return Path(folder, "k.hsaco").read_bytes()
