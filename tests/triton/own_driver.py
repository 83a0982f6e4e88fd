"""Triton's own HIP driver on managed memory of the HIP runtime: run by `mfmasim hiprt`."""

import ctypes

import numpy as np
import torch
import triton
from hip import hip
from triton.backends.amd.driver import HIPDriver

from tests.triton import kernels


def managed(array):
    """A tensor in managed memory, which the program reads and writes, too."""
    error, memory = hip.hipMallocManaged(array.nbytes, hip.hipMemAttachGlobal)
    assert error == hip.hipError_t.hipSuccess, error
    tensor = torch.from_numpy(array)
    room = (ctypes.c_char * array.nbytes).from_address(int(memory))
    return torch.frombuffer(room, dtype=tensor.dtype).view(tensor.shape).copy_(tensor)


def install():
    """PyTorch of the CPU answers neither of the two."""
    driver = HIPDriver()
    driver.get_current_device = lambda: 0
    driver.get_current_stream = lambda device: 0
    triton.runtime.driver.set_active(driver)
    return driver.get_current_target().arch


def add():
    x, y = (np.arange(1500, dtype=np.float32) * k for k in (1, 2))
    z = managed(np.zeros_like(x))
    kernels.add[(2,)](managed(x), managed(y), z, 1500, B=1024)
    return (z.numpy() == x + y).all()


def matmul():
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-3, 4, (64, 64)).astype(np.float16) for _ in range(2))
    c = managed(np.zeros((64, 64), np.float32))
    kernels.matmul[(2, 2)](managed(a), managed(b), c, 64, 64, 64, 64, M=32, N=32, KB=32)
    return (c.numpy() == a.astype(np.float64) @ b).all()


def meeting():
    """A cooperative launch."""
    counter, out = (managed(np.zeros(size, np.int32)) for size in (1, 40))
    kernels.meeting[(40,)](counter, out, 40, launch_cooperative_grid=True, num_warps=1)
    return (out.numpy() == np.arange(1, 41)).all()


def described():
    """Tensor descriptors of the host, which the driver encodes for the tensor data mover of gfx1250."""
    from triton.tools.tensor_descriptor import TensorDescriptor

    x = np.arange(48 * 64, dtype=np.float16).reshape(48, 64) % 512
    y = managed(np.zeros_like(x))
    ends = [TensorDescriptor.from_tensor(one, [32, 32]) for one in (managed(x), y)]
    kernels.copy_described[(2, 2)](*ends, M=32, N=32)
    return (y.numpy() == 2 * x).all()


if __name__ == "__main__":
    print(install())
    for run in (add, matmul, meeting, described):
        print(run.__name__, run())
