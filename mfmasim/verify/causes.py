"""Causes of wrong outputs: a saturation limit that is the wrong number, FP8 of the other flavour; causes come first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mfmasim.observe import SEVERITIES, Finding
from mfmasim.verify.roles import format_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from mfmasim.formats import Format
    from mfmasim.kernels import Kernel
    from mfmasim.verify.launch import CaseLaunch

    F64 = NDArray[np.float64]

FEWEST = 8
"""Wrong elements from which a common cause is named."""
EIGHT_BITS = ("e4m3fn", "e4m3fnuz", "e5m2", "e5m2fnuz")

CAUSES = ("mapping", "races", "bounds", "uninitialised")
"""Checks whose findings explain others, the deepest cause first; wrong outputs are a consequence of any of them."""
CONSEQUENCES = ("outputs",)


def ordered(findings: Iterable[Finding]) -> list[Finding]:
    """Findings by their severity, and within it causes before their consequences.

    Args:
        findings: of one result.
    """

    def rank(finding: Finding) -> tuple[int, int]:
        if finding.check in CAUSES:
            return SEVERITIES.index(finding.severity), CAUSES.index(finding.check)
        return SEVERITIES.index(finding.severity), len(CAUSES) + (finding.check in CONSEQUENCES)

    return sorted(findings, key=rank)


def saturated(have: F64, want: F64, fmt: Format) -> str:
    """A sentence that all wrong elements have one magnitude: the limit is too low, or is applied too early.

    Args:
        have: wrong elements of an output.
        want: the expected elements.
        fmt: the output's format.

    Returns:
        The sentence; empty if the magnitudes differ.
    """
    number = np.isfinite(have) & np.isfinite(want)
    have, want = have[number], want[number]
    if fmt.bits > 16 or have.size < FEWEST or np.unique(np.abs(want)).size < FEWEST // 2:
        return ""
    size = float(abs(have[0]))
    if not size or (np.abs(have) != size).any() or (np.sign(have) != np.sign(want)).any():
        return ""
    largest = f"the largest number of {fmt.name} is {fmt.max:g}"
    if (np.abs(want) > size).all():
        return f"no result exceeds {size:g}, though up to {np.abs(want).max():g} is expected: {largest}"
    if (np.abs(want) < size).all():
        return f"all results from {np.abs(want).min():g} on become {size:g}: the limit is reached too early; {largest}"
    return ""


def of_other_flavour(kernel: Kernel, launch: CaseLaunch) -> Iterator[Finding]:
    """Arguments in the FP8 flavour that the kernel's FP8 instructions do not have; nothing is executed.

    Args:
        kernel: the kernel.
        launch: declares the formats of its arguments.
    """
    arch = kernel.arch
    names = sorted({i.name for i in kernel.reachable if i.opcode.eight_bits})
    if arch.fp8 not in ("fnuz", "ocp") or not names:
        return
    formats = {place: array.number_format for place, array in launch.arrays.items()}
    formats |= {place: format_of(tensor, arch) for place, tensor in launch.tensors.items()}
    for place, fmt in formats.items():
        if fmt is None or fmt.name not in EIGHT_BITS or fmt.name.endswith("fnuz") == (arch.fp8 == "fnuz"):
            continue
        text = (
            f"{place} is declared as {fmt.name}, and {', '.join(names[:3])} of {arch.name} read and write "
            f"{'FNUZ' if arch.fp8 == 'fnuz' else 'OCP'} codes: the same byte is another number"
        )
        yield Finding("formats", "warning", text, "formats-fp8-flavour", kernel=kernel.name)
