"""Recorded runs: what two waves of a kernel executed, wrote and waited for, and which elements their registers hold.

Where elements come from is found as the proofs find it: the kernel runs again on inputs whose elements carry labels.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfmasim.devices import SimDevice
from mfmasim.devices.coverage import source_lines
from mfmasim.isa import Instruction
from mfmasim.isa.counters import Raised, raised
from mfmasim.kernels import Kernel
from mfmasim.machine.events import MatrixEvent
from mfmasim.machine.events.stepping import Step
from mfmasim.matrix import MatrixInstruction
from mfmasim.observe.flights import Flight, execute
from mfmasim.observe.fragments.labels import Alphabet, LabelSpace
from mfmasim.observe.tools.steps import Executed, Trace
from mfmasim.verify.cases import Case
from mfmasim.verify.inputs import inputs_of
from mfmasim.verify.launch import CaseLaunch
from mfmasim.verify.matrices import run_matrices
from mfmasim.verify.roles import bytes_of, format_of
from mfmasim.verify.runner import set_parameters

SIGNIFICAND = 24
WIDTHS = (4, 8, 16, 32)
"""Bits of elements that are followed: those that do not cross registers."""


class Recorder(Trace):
    """A trace that also keeps what the LDS of the first recorded workgroup holds, and the matrix instructions.

    Attributes:
        lds: by number of the record, the dwords that differ from the record before: their indices, their values.
        matrix: by address, the matrix instruction.
    """

    def __init__(self, waves: Collection[int] = (0, 1), limit: int = 1000) -> None:
        """Choose the waves of the launch, and the most records."""
        super().__init__(waves, limit=limit)
        self.lds: dict[int, list[list[int]]] = {}
        self.matrix: dict[int, MatrixInstruction] = {}
        self._held: NDArray[np.uint32] | None = None

    def on_matrix(self, event: MatrixEvent) -> None:
        """Keep the operation."""
        self.matrix[event.instruction.pc] = event.operation

    def before_step(self, step: Step) -> None:
        """Remember what the LDS holds initially: no instruction has written that."""
        super().before_step(step)
        if self._held is None and self._rows:
            self._held = self._words(step)

    def _words(self, step: Step) -> NDArray[np.uint32]:
        held: NDArray[np.uint8] = step.lds[self._rows[0]]
        return held[: held.size // 4 * 4].view(np.uint32).copy()

    def after_step(self, step: Step) -> None:
        """Record what was written, in the LDS too."""
        known = len(self.records)
        super().after_step(step)
        if len(self.records) == known or not (step.instruction.space == "lds" or step.instruction.opcode.memory):
            return
        words = self._words(step)
        changed = np.flatnonzero(words != self._held)
        if len(changed):
            self.lds[known] = [changed.tolist(), words[changed].tolist()]
        self._held = words


@dataclass
class Labels:
    """Where the elements in registers come from, by number of a record."""

    blocks: list[list[Any]] = field(default_factory=list)
    """Name, first label, shape and codes of each followed array."""
    registers: dict[int, dict[str, tuple[int, NDArray[np.int64]]]] = field(default_factory=dict)
    """By record and register: bits of an element, and the labels (lanes, items); 0 is none."""


def record_case(case: Case, arch: str, kernel: Kernel | None = None, *, limit: int = 1000) -> dict[str, Any]:
    """Record a case of matrices, with the elements that its registers hold.

    Args:
        case: the case; its smallest parameters are best.
        arch: one of its architectures.
        kernel: run this one instead of the case's.
        limit: most records.

    Returns:
        What the page's stepper reads.
    """
    case = set_parameters(case, arch=arch)
    if kernel is None:
        kernel = case.compiled(arch)
    launch = set_parameters(case, wave=kernel.wave).make()
    device = SimDevice()
    recorder = Recorder(limit=limit)
    (given,) = inputs_of(case, launch, kernel.arch, {}, SIGNIFICAND)  # small integers
    run_matrices(device, kernel, launch, given, {"observers": [recorder], "checks": "none"})
    labels = follow(device, kernel, launch, given.codes, recorder, limit)
    return record(kernel, case.title, recorder, labels, [case.source.parent])


def record_launch(recorder: Recorder, kernel: Kernel, title: str, folders: Sequence[Path]) -> dict[str, Any]:
    """The record of any launch that `recorder` observed; its elements have no names.

    Args:
        recorder: it observed the launch.
        kernel: what was launched.
        title: name of the run.
        folders: where sources are looked for.
    """
    return record(kernel, title, recorder, Labels(), folders)


def follow(
    device: SimDevice,
    kernel: Kernel,
    launch: CaseLaunch,
    held_codes: Mapping[str, NDArray[Any]],
    recorder: Recorder,
    limit: int,
) -> Labels:
    """Run again on labelled inputs, and read the labels of every register that was written.

    Args:
        device: where to run.
        kernel: the kernel.
        launch: its launch.
        held_codes: what its inputs held, by name.
        recorder: the records to find labels for.
        limit: most records.

    Returns:
        The labels; none where control flow depends on the data.
    """
    arch, space = kernel.arch, LabelSpace()
    inputs = {name: tensor for name, tensor in launch.tensors.items() if not tensor.writes}
    widths = sorted({format_of(tensor, arch).bits for tensor in inputs.values()} & set(WIDTHS))
    blocks = {name: space.add(name, tensor.stored_shape) for name, tensor in inputs.items()}
    if not widths:
        return Labels()
    runs = space.runs(min(widths))
    held: list[list[Executed]] = []
    for run in range(runs):
        memory: dict[str, NDArray[Any]] = {}
        for name, tensor in launch.tensors.items():
            fmt = format_of(tensor, arch)
            codes = np.zeros(tensor.stored_shape, fmt.carrier)
            if name in blocks:
                codes = LabelSpace.codes(blocks[name].numbers, run, runs, Alphabet(fmt.bits)).astype(fmt.carrier)
            memory[name] = tensor.placed(bytes_of(tensor, codes, arch))
        trace = Trace((0, 1), limit=limit)
        launch.run(device, kernel, memory, {"observers": [trace], "checks": "none"})
        held.append(trace.records)
    found = Labels([[b.name, b.first, list(b.shape), held_codes[b.name].ravel().tolist()] for b in space.blocks])
    places = [[(record.pc, record.wave) for record in records] for records in (recorder.records, *held)]
    if any(place != places[0] for place in places):
        return Labels()
    for number, same in enumerate(zip(*held, strict=True)):
        for name in same[0].vectors:
            labels = _labels(space, [record.vectors[name] for record in same], widths)
            if labels is not None:
                found.registers.setdefault(number, {})[name] = labels
    return found


def _labels(
    space: LabelSpace, values: list[NDArray[np.uint32]], widths: Sequence[int]
) -> tuple[int, NDArray[np.int64]] | None:
    """Labels of a register, by the width under which most of it is elements; None where nothing is."""
    best: tuple[int, NDArray[np.int64]] | None = None
    for width in widths:
        shifts = np.arange(0, 32, width, dtype=np.uint32)
        codes = [value[:, None] >> shifts & np.uint32((1 << width) - 1) for value in values]
        labels = np.maximum(space.decode(list(codes), Alphabet(width)), 0)
        if labels.any() and (best is None or np.count_nonzero(labels) > np.count_nonzero(best[1])):
            best = width, labels
    return best


def record(kernel: Kernel, title: str, recorder: Recorder, labels: Labels, folders: Sequence[Path]) -> dict[str, Any]:
    """What the page's stepper reads.

    Args:
        kernel: what was launched.
        title: name of the run.
        recorder: it observed the launch.
        labels: where elements come from.
        folders: where sources are looked for.

    Returns:
        ``title``, ``arch``, ``kernel``, ``wave``; ``source``: by file, its lines; ``code``: pc, text, source line and
        matrix instruction (see `matrix_of`) of each instruction that was executed; ``blocks``: the followed arrays;
        ``steps``: number in ``code``, wave, EXEC, vectors, scalars, counters, registers in flight, labels and LDS of
        each record. Vectors and labels (item by item) are the differences from lane to lane; a vector is None where
        labels say it.
    """
    by_pc = {ins.pc: ins for ins in kernel.instructions}
    codes = np.concatenate([[0], *(np.array(block[3], np.int64) for block in labels.blocks)])
    code = {pc: number for number, pc in enumerate(sorted({found.pc for found in recorder.records}))}
    waves = sorted({(found.workgroup, found.wave) for found in recorder.records})
    flights: dict[Any, list[Flight]] = {key: [] for key in waves}
    steps = []
    for number, found in enumerate(recorder.records):
        key = (found.workgroup, found.wave)
        flights[key] = execute(kernel.arch, flights[key], by_pc[found.pc])
        known = labels.registers.get(number, {})
        counters: dict[str, int] = {}
        for flight in flights[key]:
            counters[flight.counter] = counters.get(flight.counter, 0) + 1
        steps.append(
            [
                code[found.pc],
                waves.index(key),
                f"{int(np.packbits(found.active, bitorder='little').tobytes()[::-1].hex(), 16):x}",
                {name: written(values, known.get(name), codes) for name, values in found.vectors.items()},
                found.scalars,
                counters,
                sorted({f"{file}{index}" for flight in flights[key] for file, index in flight.writes}),
                {name: [width, differences(held.T.ravel())] for name, (width, held) in known.items()},
                recorder.lds.get(number),
            ]
        )
    lines = {pc: kernel.source_at(pc) for pc in code}
    return {
        "title": title,
        "arch": kernel.arch.name,
        "kernel": kernel.name,
        "wave": kernel.wave,
        "waves": [[list(group), wave] for group, wave in waves],
        "counters": sorted({up.counter for pc in code for up in _raised(kernel, by_pc[pc])}),
        "source": sources(set(lines.values()), folders),
        "code": [[pc, by_pc[pc].text.strip(), lines[pc], matrix_of(recorder, by_pc[pc])] for pc in code],
        "blocks": labels.blocks,
        "steps": steps,
    }


def _raised(kernel: Kernel, instruction: Instruction) -> Iterable[Raised]:
    return raised(kernel.arch, instruction.opcode, bool(instruction.dst), instruction.space)


def matrix_of(recorder: Recorder, instruction: Instruction) -> list[Any] | None:
    """Name and formats of a matrix instruction, with file and first register of its result."""
    operation = recorder.matrix.get(instruction.pc)
    if operation is None:
        return None
    (result,) = instruction.dst
    return [operation.name, operation.a, operation.b, *result.written]


def written(
    values: NDArray[np.uint32], labelled: tuple[int, NDArray[np.int64]] | None, codes: NDArray[np.int64]
) -> list[int] | None:
    """What a register holds, as differences; None where its labels and the codes of the elements say it.

    Args:
        values: by lane.
        labelled: bits of an element, and the labels (lanes, items).
        codes: of the elements, by label; label 0 has code 0.
    """
    if labelled is not None:
        width, labels = labelled
        shifts = np.arange(0, 32, width)
        if np.array_equal((codes[labels] << shifts).sum(axis=1), values):
            return None
    return differences(values.astype(np.int64))


def differences(values: NDArray[np.int64]) -> list[int]:
    """Differences of neighbours, without the zeros at the end; the first is the first value."""
    found = np.diff(values, prepend=0)
    last = np.flatnonzero(found)
    return found[: last[-1] + 1].tolist() if len(last) else []


def sources(places: Collection[str], folders: Sequence[Path]) -> dict[str, list[str]]:
    """Lines of the source files that places such as ``gemm.hip:31`` name, where they are found."""
    found = {}
    for name in sorted({place.rpartition(":")[0] for place in places if place}):
        lines = source_lines(name, folders)
        if lines:
            found[name] = lines
    return found
