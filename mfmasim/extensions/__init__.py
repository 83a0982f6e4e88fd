"""PyTorch on the simulated HIP runtime: tensors of ``cuda`` for its CPU build, and C++ extensions, unmodified.

`mfmasim hiprt` and `mfmasim triton` put this package's starter into the environment of the programs that they run.
There ``torch.utils.cpp_extension.load`` and ``load_inline`` translate, compile and load what they are given.
"""

from mfmasim.extensions.environment import changes, of_triton

__all__ = ["changes", "of_triton"]
