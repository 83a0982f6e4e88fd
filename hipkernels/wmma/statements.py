"""Statements of the README of wmma_ops about its kernels for gfx1151, paraphrased; `said` has them by subject.

Bytes, degrees, instructions and barriers are those of the kernels in this folder, which do what the text describes; the
text's own binaries are not here. Times were measured, and nothing here can confirm or refute a time.
"""

from hipkernels.wmma.said import analysis, kernels, results

SECTIONS = (
    "Executive Summary",
    "Quick Stats",
    "Final Benchmarks (Adaptive Tile Selection with K-Unrolling)",
    "Kernel Variant Comparison (4096×4096×2048)",
    "Key Findings",
    "Correctness Tests",
    "Building",
    "Usage",
    "Available Functions",
    "Flash Attention",
    "Recommendations",
    "Testing",
    "Benchmark Methodology",
    "gfx1151 (RDNA3.5 / Strix Halo) Specifications",
    "WMMA Instruction",
    "WMMA Fragment Layout",
    "1. Standard Kernel (Optimal)",
    "2. Adaptive Kernel (Recommended)",
    "3. K-Unroll Kernel",
    "4. No-Prefetch Kernel",
    "5. High-Occupancy Kernel",
    "6. Native Kernel (gfx1151-specific)",
    "✅ Implemented & Verified",
    "Low-Risk Perf Tweaks",
    "❌ Tested But Not Beneficial",
    "LDS Bank Conflict Elimination",
    "Critical Implementation Fixes for XOR Swizzle",
    "L2 Cache Tile Rasterization",
    "Split-K for Skinny Matrices",
    "Register Pressure Management",
    "SMEM-to-Register Double Buffering",
    "Performance Characteristics",
    "Bottleneck Analysis (Compute-Bound Regime)",
    "Roofline Analysis",
    "ISA Analysis",
    "Profiling Commands",
    "Remaining Gap to rocBLAS",
    "Architecture-Specific Optimizations Explored",
    "Definitive Finding: No Async LDS Intrinsics for gfx1151",
    "What Would Close the Gap",
    "Expected Final Performance",
    "Evolution of Performance",
    "Lessons Learned",
    "Optimization Attempts (December 2025)",
)
"""Headings of the text."""
STATEMENTS = [*results.STATEMENTS, *kernels.STATEMENTS, *analysis.STATEMENTS]
