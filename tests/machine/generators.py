"""All generators of lines, in the order in which they are asked: special families first."""

from __future__ import annotations

import lines
import lines_atomics
import lines_floats
import lines_lanes
import lines_memory
import lines_rdna
import lines_rdna_memory
import lines_scalar
import lines_segments
import lines_vector

FAMILIES = (
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
