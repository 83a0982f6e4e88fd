"""The checks: each listens to the machine's events and produces findings."""

from __future__ import annotations

from mfmasim.observe.finding import SEVERITIES, Finding

__all__ = ["ASKED", "CHECKS", "SEVERITIES", "Finding"]

CHECKS = {
    "bounds": "accesses outside every buffer",
    "alignment": "atomics, scalar loads, accesses to the LDS and to memory at addresses that are not aligned",
    "barrier": "waves of a workgroup that meet at different barriers",
    "conflicts": "bank conflicts of the LDS, by instruction and source line",
    "waits": "registers that are touched while a load to them is in flight",
    "hazards": "instructions that software has to keep apart (wait states), and did not",
    "races": "accesses of waves to the same bytes of the LDS or of global memory that nothing orders",
    "uninitialised": "bits that nobody has written and that decide something, are multiplied or leave the kernel",
    "numerics": "where NaN and Inf first appear, conversions out of range, denormals that are flushed",
    "strides": "addresses whose step from lane to lane does not fit the bytes they move",
}
"""Checks that `launch` can turn on, and what each finds. The mapping check needs roles: see `mfmasim.verify`."""

ASKED = ("numerics",)
"""Checks that ``"all"`` leaves out: they run when they are asked for by name. Data with NaN, Inf and large values on
purpose would drown everything else."""
