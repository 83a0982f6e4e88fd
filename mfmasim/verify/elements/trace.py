"""The mapping check of a case with matrices: runs the kernel on labels, and passes the records to the analysis."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim import matrix
from mfmasim.formats import format as find_format
from mfmasim.machine.execution.run import WAVES
from mfmasim.observe.fragments.arguments import Argument, Arguments
from mfmasim.observe.fragments.labels import Alphabet, LabelSpace
from mfmasim.observe.fragments.mapping import MappingCheck, MappingReport
from mfmasim.observe.fragments.trace import Tracer
from mfmasim.verify.arrays import draw_array
from mfmasim.verify.elements.labelled import waves_of
from mfmasim.verify.elements.provenance import check_sources
from mfmasim.verify.roles import bytes_of, format_of, orders_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from mfmasim.architectures import Arch
    from mfmasim.devices import SimDevice
    from mfmasim.formats import Format
    from mfmasim.kernels import Kernel
    from mfmasim.matrix import MatrixInstruction
    from mfmasim.observe.fragments.labels import Labelled
    from mfmasim.verify.launch import CaseLaunch
    from mfmasim.verify.roles import Tensor

Memory = dict[str, "NDArray[Any]"]
"""Bytes of every tensor, by name."""

EXPONENT_BITS = 2
"""Exponent bits that labels of results use: numbers near 1, which conversions and products with 1 leave alone."""


def check_mapping(device: SimDevice, kernel: Kernel, launch: CaseLaunch) -> MappingReport:
    """Trace every element of a case from its argument to every matrix instruction, and results to the outputs.

    Args:
        device: where to run.
        kernel: the kernel.
        launch: the case's launch for the mapping check's parameters.

    Returns:
        The mapping report.
    """
    check = follow(device, kernel, launch).check()
    report = check.run()
    tiles = [tile for tile in check.tiles if tile.elements.size]
    if launch.sources and tiles:
        found = check_sources(device, kernel, launch, tiles)
        report.slots_checked += found.slots_checked
        report.mismatches += found.mismatches
        report.findings += found.findings
    return report


@dataclass(frozen=True)
class Followed:
    """Records of the followed elements of a case."""

    kernel: Kernel
    tracer: Tracer
    arguments: Arguments
    outputs: NDArray[np.int64] | None = None
    """Label of the result that every element of C holds."""

    def check(self) -> MappingCheck:
        """The mapping check, which has not run yet."""
        name, source_at = self.kernel.name, self.kernel.source_at
        return MappingCheck(self.tracer, self.arguments, self.outputs, name, source_at, _alternatives)


def follow(device: SimDevice, kernel: Kernel, launch: CaseLaunch) -> Followed:
    """Run a case on labels, and record every slot of every matrix instruction.

    Args:
        device: where to run.
        kernel: the kernel.
        launch: the case's launch for the mapping check's parameters.
    """
    arch = kernel.arch
    tensors, output = list(launch.tensors.values()), launch.output
    space = LabelSpace()
    labels = {t.name: space.add(t.name, t.stored_shape) for t in tensors if not t.writes}
    narrow = format_of(output, arch) if output is not None else find_format("f32")
    tracer = Tracer(waves_of(kernel, launch), output.stored_shape if output is not None else (0,))
    tracer.begin(None, 1)
    _launch(device, kernel, launch, _labelled(launch, arch, labels, tracer, 0, 1, Alphabet(1)), tracer)
    described = [_described(t, arch) for t in tensors]
    arguments = Arguments(described, space)
    if not tracer.result_formats:  # no elements to follow: the check reports the reason
        return Followed(kernel, tracer, arguments)
    # A kernel whose matrix instructions have results of different formats is followed in the first one's.
    result = find_format(min(tracer.result_formats))
    plain = narrow.integer or narrow.bias < 3  # C holds small codes, not numbers near 1
    stored = Alphabet(min(16, narrow.bits - 1)) if plain else _numeric(narrow, narrow)
    if result.integer:
        results = stored if narrow.integer else Alphabet(16)
    else:
        results = _numeric(result if plain else narrow, result)
    tracer.result_alphabet = results
    bits = min([8, *(format_of(t, arch).bits for t in tensors if t.role != "C")])
    runs = max(space.runs(bits), *(tracer_runs(tracer, alphabet, output) for alphabet in (results, stored)))
    memories = _runs(device, kernel, launch, labels, tracer, runs, stored)
    outputs = None
    if output is not None:
        outputs = tracer.results.decode([output.held(memory[output.name], arch) for memory in memories], stored)
    return Followed(kernel, tracer, arguments, outputs)


def _described(tensor: Tensor, arch: Arch) -> Argument:
    fmt = find_format(tensor.read) if tensor.read else format_of(tensor, arch)
    special = fmt.nan_code is not None or fmt.inf_code is not None
    whole = not tensor.role.startswith("scale") and not tensor.ld
    return Argument(
        tensor.role,
        fmt.name,
        tensor.stored_shape,
        tensor.order,
        tensor.select,
        bool(tensor.read),
        special,
        f"the order {tensor.shuffle}" if tensor.shuffle else f"{tensor.order} order",
        partial(orders_of, tensor, arch) if whole else dict,
        tensor.ld or 0,
    )


def tracer_runs(tracer: Tracer, alphabet: Alphabet, output: Tensor | None) -> int:
    """Runs that labels of results and of C need, known after the counting run.

    Args:
        tracer: it has counted results.
        alphabet: codes that labels are cut into.
        output: C, which has separate labels, or None.
    """
    slots = LabelSpace()
    slots.add("D", tracer.size)
    if output is not None:
        slots.add("C", output.stored_shape)
    return slots.runs(alphabet.piece_bits)


def _runs(
    device: SimDevice,
    kernel: Kernel,
    launch: CaseLaunch,
    labels: Mapping[str, Labelled],
    tracer: Tracer,
    runs: int,
    stored: Alphabet,
) -> list[Memory]:
    """Contents of every tensor after each run; several runs at once, if each behaves as a separate launch."""
    together = min(runs, max(1, WAVES // waves_of(kernel, launch)))
    memories: list[Memory] = []
    while len(memories) < runs:
        first = len(memories)
        together = min(together, runs - first)
        tracer.begin(first, runs, together)
        numbers = range(first, first + together)
        some = [_labelled(launch, kernel.arch, labels, tracer, run, runs, stored) for run in numbers]
        if together > 1:
            if launch.run_together(device, kernel, some, [tracer]) and not tracer.depends_on_data:
                memories += [_collected(memory) for memory in some]
            else:
                memories, together = [], 1
        else:
            memories.append(_launch(device, kernel, launch, some[0], tracer))
    return memories


def _launch(device: SimDevice, kernel: Kernel, launch: CaseLaunch, memory: Memory, tracer: Tracer) -> Memory:
    """One run; returns the bytes of every tensor afterwards."""
    launch.run(device, kernel, memory, {"observers": [tracer], "checks": "none"})
    return _collected(memory)


def _collected(memory: Memory) -> Memory:
    return {name: np.asarray(held) for name, held in memory.items()}


def _labelled(
    launch: CaseLaunch,
    arch: Arch,
    labels: Mapping[str, Labelled],
    tracer: Tracer,
    run: int,
    runs: int,
    stored: Alphabet,
) -> Memory:
    """Bytes of every tensor before a run. C starts with separate labels, as `stored` cuts them."""
    memory: Memory = {}
    for name, tensor in launch.tensors.items():
        fmt = format_of(tensor, arch)
        numbers = (tracer.initial if tensor.writes else labels[name]).numbers
        alphabet = stored if tensor.writes else Alphabet(fmt.bits)
        pieces = LabelSpace.codes(numbers, run, runs, alphabet)
        memory[name] = tensor.placed(bytes_of(tensor, pieces.astype(fmt.carrier), arch))
    for name, array in launch.arrays.items():
        memory[name] = array.placed(draw_array(array, name))
    return memory


def _numeric(narrow: Format, target: Format) -> Alphabet:
    """Labels that survive arithmetic with 1 and 0: normal numbers of `narrow`, as codes of `target`.

    They span only four binades, so that the sum of two is never one of the two, and are positive, so that a ReLU
    leaves them alone, too.
    """
    mantissa_bits = min(narrow.mantissa_bits, 16 - EXPONENT_BITS)
    piece_bits = EXPONENT_BITS + mantissa_bits
    pieces = np.arange(1 << piece_bits, dtype=np.uint64)
    mantissa = (pieces & np.uint64((1 << mantissa_bits) - 1)) << np.uint64(narrow.mantissa_bits - mantissa_bits)
    exponent = (pieces >> np.uint64(mantissa_bits)) & np.uint64((1 << EXPONENT_BITS) - 1)
    codes = (exponent + np.uint64(narrow.bias - 2)) << np.uint64(narrow.mantissa_bits) | mantissa
    if narrow.name != target.name:
        codes = target.encode(narrow.decode(codes.astype(narrow.carrier))).astype(np.uint64)
    return Alphabet(piece_bits, codes)


def _alternatives(operation: MatrixInstruction) -> dict[str, MatrixInstruction]:
    """The instruction with operands of other formats, whose layouts a wrong kernel may have used."""
    if operation.row.a != "f8f6f4":
        return {}
    others = [name for name in ("e4m3fn", "e2m1fn") if name not in (operation.a, operation.b)]
    return {name: matrix.instruction(operation.arch, operation.name, a=name, b=name) for name in others}
