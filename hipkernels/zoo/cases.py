"""Faults of others, as minimal kernels: before and after the fix."""

from hipkernels.zoo import barriers, layouts, memory, waits  # noqa: F401
