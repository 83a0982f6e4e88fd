"""Architectures the kernels of this folder are verified on; every kernel compiles for all four main ones."""

ARCHS = ["gfx942", "gfx950", "gfx1151", "gfx1201"]
