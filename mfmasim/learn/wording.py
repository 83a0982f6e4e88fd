"""Findings as a learner reads them: without a ready answer, and without figures that mean nothing yet."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mfmasim.observe import Finding

PAST = re.compile(
    r"(\w+)(\[\d+\]) at address 0x[0-9a-f]+, \d+ bytes past the end of argument \d+ \((?:\w+\) \()?(\d+) bytes\)"
)
ULPS = re.compile(r", the worst by [\d,]+ ulp, error at most absolute [^,;]+(, relative [^,;]+)?")
PHASES = re.compile(r" \(phases \w+\)")


def for_learner(finding: Finding) -> Finding:
    """The finding with a message for a learner.

    Args:
        finding: as a check made it.

    Returns:
        The same one, but a bank conflict comes without the padding or swizzle that avoids it (the last hints say it),
        an address beyond an array is an element past its end, and outputs differ without a distance in ulp.
    """
    text = PAST.sub(r"\1\2, past the end of \1 (\3 bytes)", finding.message)
    text = ULPS.sub("", text)
    if finding.check == "conflicts":
        text = "; ".join(PHASES.sub("", text).partition("\n")[0].split("; ")[:2])
    return replace(finding, message=text)
