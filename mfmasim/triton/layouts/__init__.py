"""Triton's layouts: read from its compiler, compared with rows of matrix instructions and with running kernels."""
