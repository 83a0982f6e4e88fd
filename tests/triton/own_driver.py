"""Triton's own HIP driver on memory of the HIP runtime: run by `mfmasim hiprt`, without a tensor of PyTorch."""

import numpy as np
import triton
from hip import hip
from triton.backends.amd.driver import HIPDriver

from tests.triton import kernels


class Tensor:
    """Device memory, as Triton's launcher takes a tensor."""

    def __init__(self, array):
        self.kept, self.dtype, self.shape = array, array.dtype, array.shape
        self.at = checked(hip.hipMalloc(array.nbytes))
        checked(hip.hipMemcpy(self.at, array, array.nbytes, hip.hipMemcpyKind.hipMemcpyHostToDevice))

    def data_ptr(self):
        return int(self.at)

    def ptr_range(self):
        return self.kept.nbytes

    def stride(self):
        return tuple(step // self.kept.itemsize for step in self.kept.strides)

    def numpy(self):
        out = np.empty_like(self.kept)
        checked(hip.hipMemcpy(out, self.at, out.nbytes, hip.hipMemcpyKind.hipMemcpyDeviceToHost))
        return out


def checked(answer):
    error, *values = answer
    assert error == hip.hipError_t.hipSuccess, error
    return values[0] if values else None


def install():
    """PyTorch of the CPU answers neither of the two."""
    driver = HIPDriver()
    driver.get_current_device = lambda: 0
    driver.get_current_stream = lambda device: 0
    triton.runtime.driver.set_active(driver)
    return driver.get_current_target().arch


def add():
    x, y = (np.arange(1500, dtype=np.float32) * k for k in (1, 2))
    z = Tensor(np.zeros_like(x))
    kernels.add[(2,)](Tensor(x), Tensor(y), z, 1500, B=1024)
    return (z.numpy() == x + y).all()


def matmul():
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-3, 4, (64, 64)).astype(np.float16) for _ in range(2))
    c = Tensor(np.zeros((64, 64), np.float32))
    kernels.matmul[(2, 2)](Tensor(a), Tensor(b), c, 64, 64, 64, 64, M=32, N=32, KB=32)
    return (c.numpy() == a.astype(np.float64) @ b).all()


def meeting():
    """A cooperative launch."""
    counter, out = (Tensor(np.zeros(size, np.int32)) for size in (1, 40))
    kernels.meeting[(40,)](counter, out, 40, launch_cooperative_grid=True, num_warps=1)
    return (out.numpy() == np.arange(1, 41)).all()


def described():
    """Tensor descriptors of the host, which the driver encodes for the tensor data mover of gfx1250."""
    from triton.tools.tensor_descriptor import TensorDescriptor

    x = np.arange(48 * 64, dtype=np.float16).reshape(48, 64) % 512
    y = Tensor(np.zeros_like(x))
    ends = [TensorDescriptor(one, one.shape, one.stride(), [32, 32]) for one in (Tensor(x), y)]
    kernels.copy_described[(2, 2)](*ends, M=32, N=32)
    return (y.numpy() == 2 * x).all()


if __name__ == "__main__":
    print(install())
    for run in (add, matmul, meeting, described):
        print(run.__name__, run())
