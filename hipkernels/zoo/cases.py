"""Faults of others, as minimal kernels: before and after the fix."""

from hipkernels.zoo import barriers, casts, contents, lanes, layouts, memory, offsets, waits  # noqa: F401
