"""Statements of the README of wmma_ops about its kernels for gfx1151, paraphrased; `said` has them by subject.

Bytes, degrees, instructions and barriers are those of the kernels in this folder, which do what the text describes; the
text's own binaries are not here. Times were measured, and nothing here can confirm or refute a time.
"""

from hipkernels.wmma.said import analysis, kernels, results, sections

SECTIONS = sections.SECTIONS
STATEMENTS = [*results.STATEMENTS, *kernels.STATEMENTS, *analysis.STATEMENTS]
