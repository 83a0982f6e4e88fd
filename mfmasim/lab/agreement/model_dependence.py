"""Outputs of a kernel that depend on the rounding of an assumed matrix instruction.

A case runs on values of all magnitudes (or its own arrays) with the rows of the tables, and once with each candidate in
their place (`mfmasim.matrix.candidates`), each time in a new process: bound instructions keep their model.
"""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.architectures import arch as find_arch
from mfmasim.devices import SimDevice
from mfmasim.errors import MfmasimError
from mfmasim.machine.opcodes.matrix import resolve
from mfmasim.matrix import models
from mfmasim.matrix.candidates import CANDIDATES, changed
from mfmasim.verify.data import draw
from mfmasim.verify.inputs import Inputs
from mfmasim.verify.matrices import run_matrices
from mfmasim.verify.plain import drawn_arrays
from mfmasim.verify.roles import codes_of
from mfmasim.verify.runner import set_parameters

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from mfmasim.devices import Report
    from mfmasim.kernels import Kernel
    from mfmasim.verify.cases import Case
    from mfmasim.verify.launch import CaseLaunch


@dataclass(frozen=True)
class Dependence:
    """One output under one candidate, compared with the rows of the tables."""

    candidate: str
    output: str
    elements: int
    different: int
    first: tuple[int, ...] | None
    """Place of the first element that differs."""
    codes: tuple[int, int] | None
    """Its codes by the rows of the tables and by the candidate."""
    models: tuple[str, ...] = ()
    """Models of the kernel's matrix instructions that the candidate changes; none where it does not apply."""

    @property
    def text(self) -> str:
        """In a line."""
        if not self.models:
            return f"{self.candidate}: it changes no model of the kernel's matrix instructions"
        if self.first is None or self.codes is None:
            return f"{self.candidate}: {self.output} does not depend on it, {self.elements:,} elements"
        place, (one, other) = ", ".join(map(str, self.first)), self.codes
        return (
            f"{self.candidate}: {self.output} depends on it, {self.different:,} of {self.elements:,} elements; "
            f"[{place}] is {one:#x}, with it {other:#x}"
        )


def dependence(find: Callable[[], Case], arch: str, names: Sequence[str]) -> list[Dependence]:
    """Run a case under candidates.

    Args:
        find: returns the case; it is sent to other processes, and must be a module's function or a partial of one.
        arch: architecture.
        names: candidates, or ``all``.

    Returns:
        Each output of the kernel under each candidate, candidate by candidate.

    Raises:
        MfmasimError: there is no such candidate, no row of the architecture is assumed, or the case cannot be run.
    """
    chosen = list(CANDIDATES) if list(names) == ["all"] else list(names)
    for name in chosen:
        if not changed(find_arch(arch), name):
            raise MfmasimError(f"--model {name}: no matrix instruction of {arch} has an assumed model that it changes")
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), max_tasks_per_child=1) as pool:
        base, *others = pool.map(_outputs, [find] * (len(chosen) + 1), [arch] * (len(chosen) + 1), ["", *chosen])
    found = []
    for name, (outputs, _) in zip(chosen, others, strict=True):
        touched = tuple(model for model in base[1] if model in changed(find_arch(arch), name))
        found += [compared(name, touched, output, base[0][output], held) for output, held in outputs.items()]
    return found


def compared(
    candidate: str, touched: tuple[str, ...], output: str, base: NDArray[Any], held: NDArray[Any]
) -> Dependence:
    """Two runs of one output.

    Args:
        candidate: its name.
        touched: models of the kernel that it changes.
        output: name of the output.
        base: raw codes by the rows of the tables.
        held: raw codes under the candidate.
    """
    wrong = np.argwhere(base != held)
    first = tuple(int(at) for at in wrong[0]) if len(wrong) else None
    codes = None if first is None else (int(base[first]), int(held[first]))
    return Dependence(candidate, output, base.size, len(wrong), first, codes, touched)


def _outputs(find: Callable[[], Case], arch: str, name: str) -> tuple[dict[str, NDArray[Any]], list[str]]:
    """Raw codes of every output under a candidate, and the models of the kernel; without a name, by the tables."""
    target = find_arch(arch)
    if name:
        models.MODELS.update(changed(target, name))
    case = set_parameters(find(), arch=target.name)
    kernel = case.compiled(target.name, None)
    case = set_parameters(case, wave=kernel.wave)
    launch, device = case.make(), SimDevice()
    if not launch.plain:
        codes = {name: draw(tensor, "normal", case.title, target) for name, tensor in launch.tensors.items()}
        report, memory, _ = run_matrices(device, kernel, launch, Inputs("normal data", codes), {"checks": "none"})
        held = {t.name: codes_of(t, memory[t.name], target) for t in launch.tensors.values() if t.writes}
    else:
        report, held = _arrays(case, launch, kernel, device)
    if report.stopped:
        raise MfmasimError(f"{case.title}: the launch stopped: {report.findings[0].message}")
    used = {resolve(one, target, kernel.wave)[0].model.name for one in kernel.instructions if one.opcode.matrix}
    return held, sorted(used)


def _arrays(
    case: Case, launch: CaseLaunch, kernel: Kernel, device: SimDevice
) -> tuple[Report, dict[str, NDArray[Any]]]:
    """Run a case of plain arrays; its report, and its outputs as words."""
    before = drawn_arrays(case, launch)
    memory = {name: array.placed(before[name].copy()) for name, array in launch.arrays.items()}
    report = launch.run(device, kernel, memory, {"checks": "none"})
    outputs = {name: np.asarray(memory[name]) for name, array in launch.arrays.items() if array.writes}
    return report, {name: held.reshape(-1).view(f"u{held.dtype.itemsize}") for name, held in outputs.items()}
