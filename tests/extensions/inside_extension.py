"""Run under `mfmasim hiprt`: extensions by `load_inline` and by `load`, as programs for a GPU have them."""

import sys
from pathlib import Path

CUDA = r"""
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_fp16.h>

template <typename T>
__global__ void scale(const T* in, T* out, float factor, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count + SURPLUS) out[i] = in[i] * static_cast<T>(factor);
}

torch::Tensor run(torch::Tensor in, double factor) {
  TORCH_CHECK(in.is_cuda(), "a tensor of the GPU is expected");
  const at::cuda::OptionalCUDAGuard guard(device_of(in));
  auto out = torch::empty_like(in);
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, in.scalar_type(), "scale", [&] {
    scale<scalar_t><<<(in.numel() + 255) / 256, 256, 0, at::cuda::getCurrentCUDAStream()>>>(
        in.data_ptr<scalar_t>(), out.data_ptr<scalar_t>(), factor, in.numel());
  });
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return out;
}
"""
OPERATOR = r"""
#include <torch/library.h>
torch::Tensor run(torch::Tensor in, double factor);
TORCH_LIBRARY(inside, library) { library.def("scale(Tensor self, float factor) -> Tensor"); }
TORCH_LIBRARY_IMPL(inside, CUDA, library) { library.impl("scale", &run); }
"""
DECLARED = "torch::Tensor run(torch::Tensor in, double factor);"


def inline(folder, name, surplus):
    """An extension of one kernel, which reads and writes `surplus` elements too many."""
    from torch.utils.cpp_extension import load_inline

    return load_inline(
        name=name,
        cpp_sources=DECLARED,
        cuda_sources=CUDA,
        functions=["run"],
        extra_cuda_cflags=["-O3", f"-DSURPLUS={surplus}"],
        build_directory=str(folder),
    )


def wrong(folder):
    """The kernel reads past its tensor."""
    import torch

    made = inline(folder, "inside_wrong", 1).run(torch.ones(256 + 8, device="cuda"), 2.0)
    torch.cuda.synchronize()
    assert made.sum().item() == 528
    print("went on")


def right(folder):
    """Types, strides, an error of the extension's own, and a library of operators from two files."""
    import pytest
    import torch
    from torch.utils.cpp_extension import load

    module = inline(folder, "inside_right", 0)
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        given = torch.arange(300, device="cuda").to(dtype)
        made = module.run(given, 2.0)
        assert made.is_cuda
        assert torch.equal(made.cpu(), given.cpu() * 2)
    strided = torch.zeros(8, 4, device="cuda")
    strided[:, 1] = 3  # the other elements have been written too, by zeros
    assert module.run(strided, 2.0).sum().item() == 48
    with pytest.raises(RuntimeError, match="a tensor of the GPU is expected"):
        module.run(torch.ones(4), 1.0)
    (folder / "kernel.cu").write_text("#include <torch/types.h>\n#include <cuda_runtime.h>\n" + CUDA)
    (folder / "operator.cpp").write_text("#include <torch/types.h>\n" + OPERATOR)
    load(
        "inside_library",
        [str(folder / "kernel.cu"), str(folder / "operator.cpp")],
        extra_cuda_cflags=["-O3", "-DSURPLUS=0"],
        build_directory=str(folder),
        is_python_module=False,
    )
    made = torch.ops.inside.scale(torch.ones(4, device="cuda"), 3.0)
    assert torch.equal(made.cpu(), torch.full((4,), 3.0))
    print("extensions done")


if __name__ == "__main__":
    {"right": right, "wrong": wrong}[sys.argv[2]](Path(sys.argv[1]))
