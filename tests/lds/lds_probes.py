"""Lanes, patterns and degrees that the tests of this folder share."""

import warnings

import numpy as np

from mfmasim import lds

LANE = np.arange(64)
READ_16 = lds.Pattern.of("ds_read_b128", lambda lane, n: (lane % 16, 64 * n + lane // 16 * 16), accesses=2)
CONTIGUOUS_64, CONTIGUOUS_32 = lds.PhaseTable("C16", 64), lds.PhaseTable("C8", 32)


def degrees(arch, name, addresses, *args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lds.LdsModelWarning)
        return lds.conflicts(arch, name, addresses, *args, **kwargs).degrees.tolist()


def pattern_degrees(swizzle, pattern, arch, table=None):
    found = lds.conflicts(arch, pattern.instruction, pattern.addresses(swizzle), pattern.active, table=table)
    return {int(degree) for degree in found.degrees.ravel()}
