"""The FP8 GEMM ladder, C = alpha A B^T + beta C, from one thread an element to large tiles in two slots of the LDS."""

from problem import declare

for swizzle in ("none", "pairs", "offset", "row"):
    declare(f"double_buffer_{swizzle}", "double_buffer.hip", tile=(64, 64, 128), threads=256)
