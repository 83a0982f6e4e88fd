"""Kernels that the explorer ships recorded runs of."""
