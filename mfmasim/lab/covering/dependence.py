"""Whether the launch decides how often a loop turns, or constants of the code do."""

from __future__ import annotations

from mfmasim.kernels import Kernel


def decided_by_launch(kernel: Kernel, head: int) -> bool:  # noqa: ARG001
    """Whether arguments, memory or the place of a wave decide the number of a loop's turns.

    Args:
        kernel: the kernel.
        head: address of the loop's first instruction.
    """
    return True
