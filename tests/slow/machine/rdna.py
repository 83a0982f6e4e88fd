"""All of the interpreter that RDNA3, RDNA3.5 and RDNA4 add; importing it fills the tables."""

from __future__ import annotations

from tests.slow.machine import dots_rdna, lanes_rdna, scalar_alu_rdna, vector_alu_rdna

FILES = (dots_rdna, lanes_rdna, scalar_alu_rdna, vector_alu_rdna)
