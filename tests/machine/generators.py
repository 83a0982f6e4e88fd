"""All generators of lines, in the order in which they are asked: special families first."""

from __future__ import annotations

from tests.machine import (
    lines,
    lines_atomics,
    lines_cdna5,
    lines_floats,
    lines_lanes,
    lines_memory,
    lines_paths,
    lines_rdna,
    lines_rdna_memory,
    lines_scalar,
    lines_scalar_memory,
    lines_segments,
    lines_vector,
)

FAMILIES = (
    lines_cdna5,
    lines_paths,
    lines_scalar_memory,
    lines_rdna_memory,
    lines_lanes,
    lines_segments,
    lines_atomics,
    lines_floats,
    lines_rdna,
    lines_vector,
    lines_scalar,
    lines_memory,
)
lines.GENERATORS[:] = [family.probe for family in FAMILIES]
