"""Regions of register instructions as C functions, derived from the operations' own NumPy bodies."""
