"""All of the interpreter that RDNA3, RDNA3.5, RDNA4 and CDNA5 add; importing it fills the tables."""

from __future__ import annotations

from tests.slow.machine import cdna5, conversions_cdna5, dots_rdna, lanes_rdna, scalar_alu_rdna, vector_alu_rdna

FILES = (cdna5, conversions_cdna5, dots_rdna, lanes_rdna, scalar_alu_rdna, vector_alu_rdna)
