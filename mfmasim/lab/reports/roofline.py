"""Figures in texts about kernels that can be recomputed: intensity, ridge point, utilisation.

Definitions: S. Williams, A. Waterman, D. Patterson, Roofline (CACM 52, 2009). Measurements are not part of it.
"""

from __future__ import annotations


def intensity(m: int, n: int, k: int, *, factors: int = 2, result: int = 4) -> float:
    """Operations per byte of C = A B when each matrix is moved once, products and sums counted separately.

    Args:
        m: rows of C.
        n: columns of C.
        k: length of the sums.
        factors: bytes of an element of A or B.
        result: bytes of an element of C.
    """
    return 2 * m * n * k / (factors * k * (m + n) + result * m * n)


def ridge_point(flops: float, bandwidth: float) -> float:
    """Operations per byte from which on arithmetic and not memory is the limit.

    Args:
        flops: operations per second.
        bandwidth: bytes per second.
    """
    return flops / bandwidth


def utilisation(workgroups: int, units: int) -> float:
    """Share of the units' time that equal workgroups fill, one on each unit at a time, round by round.

    Args:
        workgroups: workgroups of the launch.
        units: compute units.
    """
    return workgroups / (-(-workgroups // units) * units)


def teraflops(m: int, n: int, k: int, seconds: float) -> float:
    """10^12 operations per second of C = A B.

    Args:
        m: rows of C.
        n: columns of C.
        k: length of the sums.
        seconds: duration.
    """
    return 2e-12 * m * n * k / seconds
