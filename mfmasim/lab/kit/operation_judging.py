"""Operations against the results of their probes: the simulator runs the same code object on the same inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.lab.kit.code import probe_code
from mfmasim.lab.kit.probes import run_operation
from mfmasim.lab.kit.verdict import Verdict, missing
from mfmasim.machine.execution import variations
from mfmasim.machine.execution.basic_block import BOUND

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfmasim.devices import SimDevice
    from mfmasim.lab.kit.kernels import ProbeKernel
    from mfmasim.lab.kit.records import Record
    from mfmasim.machine.execution.variations import Variation

SHOWN = 3


def judge_operation(simulator: SimDevice, arch: str, kernel: ProbeKernel, record: Record | None) -> Verdict:
    """Compare every result with the simulator's; where they differ, look for a variation that explains them.

    Args:
        simulator: runs the probe again.
        arch: architecture.
        kernel: the probe.
        record: what the device gave.
    """
    none = missing(record)
    if none is not None or record is None:
        return none or Verdict("undecided", "its probe was not run")
    items, theirs = record.about.get("items"), record.arrays.get("out")
    if type(items) is not int or items % 64 or not 0 < items <= 1 << 16 or theirs is None:
        return Verdict("undecided", "its probe was recorded by another version of mfmasim")
    ours, crc = run_operation(simulator, arch, kernel, items, "none")
    if crc != record.about.get("inputs") or ours.shape != theirs.shape:
        return Verdict("undecided", "its probe was recorded by another version of mfmasim, with other inputs")
    wrong = np.flatnonzero((ours != theirs).any(axis=0))
    if not len(wrong):
        return Verdict("settled", f"{items:,} results are equal")
    why = f"{len(wrong):,} of {items:,} results differ"
    for one in variations.of(kernel.covers):
        if np.array_equal(_varied(simulator, arch, kernel, items, one), theirs):
            return Verdict("contradicted", f"{why}; {one.about} explains all", {one.parameter: [one.row, one.value]})
    first = "; ".join(_sample(ours, theirs, int(place)) for place in wrong[:SHOWN])
    return Verdict("contradicted", f"{why}, such as {first}", {"result": ["the row's", "the device's"]})


def _varied(simulator: SimDevice, arch: str, kernel: ProbeKernel, items: int, one: Variation) -> NDArray[np.uint32]:
    """The results of the operation with a variation; a launch binds a kernel's operations once for the next."""
    found = probe_code(arch)[kernel.name]
    with BOUND.afresh(found), variations.applied(kernel.covers, one.parameter, one.value):
        return run_operation(simulator, arch, kernel, items, "none")[0]


def _sample(ours: NDArray[Any], theirs: NDArray[Any], place: int) -> str:
    """One item: what the simulator and the device gave."""
    words = [" ".join(f"{int(word):08x}" for word in array[:, place]) for array in (ours, theirs)]
    return f"item {place}: simulator {words[0]}, device {words[1]}"
