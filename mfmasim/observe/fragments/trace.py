"""Records the codes in every slot of every matrix instruction over the runs of a probe, and labels the results."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.machine.events import Observer
from mfmasim.observe.fragments.labels import Alphabet, Labelled, LabelSpace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfmasim.machine.events import MatrixEvent
    from mfmasim.matrix import Fragment


@dataclass
class Executed:
    """One execution of a matrix instruction by a group of waves; the operands' codes run by run.

    Codes have shape (waves, blocks, rows, cols).
    """

    event: MatrixEvent
    order: NDArray[np.int64]
    """Number of matrix instructions that each wave had executed before."""
    codes: dict[str, list[NDArray[Any]]] = field(default_factory=dict)
    copies: dict[str, list[list[NDArray[Any]]]] = field(default_factory=dict)
    """If the layout has copies of A or B in further lanes: the codes of each copy, run by run."""
    pieces: NDArray[np.uint64] | None = None
    """Scrambled labels of its results, for all runs."""

    @property
    def key(self) -> tuple[int, bytes]:
        """Address and waves, which are equal in every run unless control flow depends on the data."""
        return self.event.instruction.pc, self.event.waves.tobytes()


class Tracer(Observer):
    """An observer for one probe: `begin` before every run.

    The first run (``run`` is None) only counts executions, so that the results can be numbered, and replaces them by
    zeros; the other runs record operands and replace every result by labels of its places.
    """

    name = "mapping"

    def __init__(self, waves: int, output_shape: tuple[int, ...] = (0,)) -> None:
        """`waves` of the whole launch; `output_shape` of C, whose elements get labels in the results' space, too.

        Set `result_alphabet` after the counting run, which fills `result_formats`.
        """
        self.executed: list[Executed] = []
        self.results = LabelSpace()
        self.result_alphabet = Alphabet(16)
        self.result_formats: set[str] = set()
        self.depends_on_data = False
        self._waves = waves
        self._output_shape = output_shape
        self._count = np.zeros(waves, np.int64)
        self._run: int | None = None
        self._runs = 0
        self._next = [0]
        """Executions so far in each of the concurrent runs."""
        self._slots = 0
        self._per_wave = 0
        self.initial = Labelled("C", 1, output_shape)
        """Labels of the elements of C before the launch."""

    @property
    def size(self) -> tuple[int, int, int]:
        """Shape of the results after the counting run: waves, most executions of a wave, places of a result."""
        return self._waves, max(1, self._per_wave, int(self._count.max(initial=0))), max(1, self._slots)

    def begin(self, run: int | None, runs: int, together: int = 1) -> None:
        """Start a run; None is the counting run.

        Args:
            run: number of the run.
            runs: number of runs.
            together: number of concurrent runs, from `run` on; their waves are numbered consecutively.
        """
        if self._run is None:  # the counting run is over
            self._per_wave = int(self._count.max(initial=0))
        if run == 0:
            self.results = LabelSpace()
            self.results.add("D", self.size)
            self.initial = self.results.add("C", self._output_shape)
            self.executed, self.depends_on_data = [], False
        self._run, self._runs, self._next = run, runs, [0] * together
        self._count = np.zeros(self._waves * together, np.int64)

    def on_matrix(self, event: MatrixEvent) -> NDArray[np.uint32] | None:
        """Record a matrix instruction and label its result; in the counting run only count it."""
        order = self._count[event.waves].copy()
        self._count[event.waves] += 1
        shape = event.operation.D.shape
        cells = int(np.prod(shape))
        if self._run is None:
            self._slots = max(self._slots, cells)
            self.result_formats.add(event.operation.D.format)
            result = fragment_of(event, "D")  # the counting run needs no results: zeros save the arithmetic
            return np.zeros((len(event.waves), result.vgprs, result.lanes), np.uint32)
        ahead, own = np.divmod(event.waves, self._waves)  # waves are in order
        held = operand_codes(event)
        copies = {name: copies_of(event, name) for name in ("A", "B")}
        labels = np.empty((len(own), cells), np.uint64)
        for number in np.unique(ahead).tolist():
            first, last = np.searchsorted(ahead, [number, number + 1]).tolist()
            part = slice(first, last)
            record = self._record(number, event, own[part], order[part])
            if record is None:
                self.depends_on_data = True
                return None
            for name, codes in held.items():
                record.codes.setdefault(name, []).append(codes[part])
            for name, further in copies.items():
                known = record.copies.setdefault(name, [[] for _ in further])
                for observed, codes in zip(known, further, strict=True):
                    observed.append(codes[part])
            if record.pieces is None:
                numbers = self._numbers(own[part], order[part], cells)
                record.pieces = LabelSpace.scrambled(numbers, self._runs, self.result_alphabet)
            labels[part] = LabelSpace.piece(record.pieces, self._run + number, self._runs, self.result_alphabet)
        return fragment_of(event, "D").pack(labels.astype(event.operation.D.dtype).reshape(-1, *shape))

    def _record(
        self, number: int, event: MatrixEvent, waves: NDArray[Any], order: NDArray[np.int64]
    ) -> Executed | None:
        """The record of an execution: made in the first run, found in later runs; None if the runs differ.

        Args:
            number: of the run, among the concurrent runs.
            event: the execution.
            waves: numbers of the waves within this run.
            order: number of matrix instructions that they executed before.
        """
        at = self._next[number]
        self._next[number] += 1
        if self._run == number == 0:
            # Later runs need only the shape of the registers.
            one = type(event.operands).of({name: held[:1].copy() for name, held in event.operands.named().items()})
            self.executed.append(Executed(replace(event, waves=waves, operands=one), order))
        elif at >= len(self.executed) or self.executed[at].key != (event.instruction.pc, waves.tobytes()):
            return None
        return self.executed[at]

    def _numbers(self, waves: NDArray[Any], order: NDArray[np.int64], cells: int) -> NDArray[np.uint64]:
        """Label of every place of every wave's result, (waves, cells)."""
        first = 1 + (waves.astype(np.int64) * self._per_wave + order) * self._slots
        return (first[:, None] + np.arange(cells)).astype(np.uint64)

    def is_result(self, labels: NDArray[np.int64]) -> NDArray[np.bool_]:
        """A mask of labels that belong to results of matrix instructions."""
        return (labels > 0) & (labels < self.initial.first)

    def element_of_c(self, labels: NDArray[np.int64]) -> NDArray[np.int64]:
        """Row and column of labels of C before the launch, (..., 2); -1 for other labels."""
        initial = labels >= self.initial.first
        offset = np.where(initial, labels - self.initial.first, 0)
        columns = max(1, self._output_shape[-1])
        return np.where(initial[..., None], np.stack([offset // columns, offset % columns], axis=-1), -1)

    def result_of(self, labels: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Wave, order and slot of labels of results."""
        zero = labels - 1
        return (
            zero // (self._slots * max(1, self._per_wave)),
            zero // self._slots % max(1, self._per_wave),
            zero % self._slots,
        )


def fragment_of(event: MatrixEvent, name: str) -> Fragment:
    """Layout of an operand of an event, with the instruction's modifiers."""
    return event.operation.under(event.modes)[name]


def codes_of(event: MatrixEvent, name: str, registers: NDArray[np.uint32]) -> NDArray[Any]:
    """Codes of one operand of an event in registers.

    Args:
        event: the execution.
        name: the operand.
        registers: (waves, registers, lanes).

    Returns:
        Codes (waves, blocks, rows, cols).
    """
    fragment = fragment_of(event, name)
    return fragment.unpack(registers).reshape(len(registers), fragment.blocks, fragment.rows, fragment.cols)


def copies_of(event: MatrixEvent, name: str) -> list[NDArray[Any]]:
    """Codes of the further copies of A or B, which RDNA3 requires in every 16 lanes (RDNA3 ISA guide, 7.9)."""
    fragment = fragment_of(event, name)
    count = fragment.layout.replicas
    registers: NDArray[np.uint32] = event.operands.named()[name]
    distance = registers.shape[-1] // count
    return [codes_of(event, name, np.roll(registers, -distance * copy, axis=-1)) for copy in range(1, count)]


def operand_codes(event: MatrixEvent) -> dict[str, NDArray[Any]]:
    """Codes of every operand of an event."""
    return {name: codes_of(event, name, held) for name, held in event.operands.named().items()}
