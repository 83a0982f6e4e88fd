"""All of the interpreter that RDNA3, RDNA3.5 and RDNA4 add; importing it fills the tables."""

from __future__ import annotations

import slow_rdna_dots
import slow_rdna_lanes
import slow_rdna_memory
import slow_rdna_scalar
import slow_rdna_vector

FILES = (slow_rdna_dots, slow_rdna_lanes, slow_rdna_memory, slow_rdna_scalar, slow_rdna_vector)
