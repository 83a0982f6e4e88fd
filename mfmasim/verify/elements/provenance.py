"""Declared sources of outputs: every element is followed to the input, or the sum of a product, that it comes from.

The kernel is run on labels, as for matrix fragments (`mfmasim.observe.fragments.labels`). Here an output may be
converted on the way, so that the image of each value at each place is measured first: a run for each value, with all
elements equal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.errors import MfmasimError
from mfmasim.observe import Finding
from mfmasim.observe.fragments.labels import Alphabet, LabelSpace
from mfmasim.observe.fragments.mapping import MappingReport
from mfmasim.verify.elements.labelled import Bench, Stopped, element, joined, split
from mfmasim.verify.elements.provenance_sets import check_sets

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from mfmasim.arrays import U64, Flags
    from mfmasim.devices import SimDevice
    from mfmasim.kernels import Kernel
    from mfmasim.observe.fragments.tiles import Tile
    from mfmasim.verify.elements.sources import Source
    from mfmasim.verify.launch import CaseLaunch


def check_sources(device: SimDevice, kernel: Kernel, launch: CaseLaunch, tiles: Sequence[Tile] = ()) -> MappingReport:
    """Prove the sources that a case declares.

    Args:
        device: where to run.
        kernel: the kernel.
        launch: the case's launch for the mapping check's parameters, with ``sources``.
        tiles: fragments of its product, if sources name one.

    Returns:
        The mapping report: a slot is an element of an output and one source of it.
    """
    report, bench = MappingReport(), Bench(device, kernel, launch, tiles)
    singles = [source for source in launch.sources if not source.sets]
    try:
        for together in _rounds(singles):
            _check_round(bench, together, report)
        for source in launch.sources:
            if source.sets:
                check_sets(bench, source, report)
    except Stopped as stopped:
        text = f"the launch ended early on labels: {stopped}"
        report.findings.append(Finding("mapping", "error", text, "mapping-not-traced", kernel=kernel.name))
    return report


def _rounds(sources: Sequence[Source]) -> list[list[Source]]:
    """Sources to follow in the same runs: one for each output."""
    rounds: list[list[Source]] = []
    for source in sources:
        place = next((r for r in rounds if all(other.output is not source.output for other in r)), None)
        if place is None:
            rounds.append([source])
        else:
            place.append(source)
    return rounds


def _check_round(bench: Bench, sources: Sequence[Source], report: MappingReport) -> None:
    """Follow one source of each output."""
    space = LabelSpace()
    inputs = {source.given.name: source for source in sources}
    blocks = {name: space.add(bench.called[name], source.input_shape) for name, source in inputs.items()}
    used = {name: source.used() | ~_of_others(bench, source) for name, source in inputs.items()}
    codes = {name: source.codes for name, source in inputs.items()}
    counts = {len(values) for values in codes.values()}
    if len(counts) > 1:
        raise MfmasimError(
            f"sources: inputs that are followed together have {sorted(counts)} values; give them as many"
        )
    alphabet = Alphabet((counts.pop() - 1).bit_length())
    runs = space.runs(alphabet.piece_bits)
    fresh = [source.output.name for source in sources if source.output.role == "inout"]

    def given(pieces: Callable[[str], Any]) -> dict[str, U64]:
        held = {name: np.where(used[name], codes[name][pieces(name)], bench.quiet[name][1]) for name in inputs}
        return {name: joined(held[name], one.input_parts, one.given) for name, one in inputs.items()}

    alike = [given(lambda _, piece=piece: piece) for piece in range(1 << alphabet.piece_bits)]  # type: ignore[misc]
    cut = [
        given(lambda name, run=run: space.codes(blocks[name].numbers, run, runs, alphabet).astype(np.int64))  # type: ignore[misc]
        for run in range(runs)
    ]
    found = bench.run([*alike, *cut], fresh)
    uniform, labelled = found[: len(alike)], found[len(alike) :]
    for source in sources:
        before, after = (
            [
                [split(run[source.output.name][side], source.parts, source.output) for run in kind]
                for kind in (uniform, labelled)
            ]
            for side in (0, 1)
        )
        places = source.places()
        first = blocks[source.given.name].first
        wanted = np.where(places >= 0, places + first, 0).astype(np.uint64)
        held = _labels(space, alphabet, after)
        held_after, held_before = [*after[0], *after[1]], [*before[0], *before[1]]
        if source.output.role == "out":  # an uninitialised output may hold any constant
            held_before = [after[0][0]] * len(held_after)
        unchanged = np.logical_and.reduce([a == b for a, b in zip(held_after, held_before, strict=True)])
        _judge(bench, source, space, wanted, held, unchanged, report)


def _of_others(bench: Bench, source: Source) -> Flags:
    """Elements of the input that other sources of the output use: they hold one constant value meanwhile."""
    found = np.zeros(source.input_shape, np.bool_)
    for other in bench.launch.sources:
        if other is not source and other.output is source.output and other.given.name == source.given.name:
            found |= np.False_ if other.sets else other.used()
    return found


def _labels(space: LabelSpace, alphabet: Alphabet, after: list[list[U64]]) -> NDArray[np.int64]:
    """Label that each output element holds, -1 for none."""
    table = np.stack(after[0])
    pieces, valid = [], np.ones(table.shape[1:], np.bool_)
    for one, other in ((i, j) for i in range(len(table)) for j in range(i)):
        valid &= table[one] != table[other]
    for held in after[1]:
        same = table == held
        valid &= same.any(axis=0)
        pieces.append(same.argmax(axis=0).astype(np.uint64))
    return np.where(valid, space.decode(pieces, alphabet), -1)


def _judge(
    bench: Bench,
    source: Source,
    space: LabelSpace,
    wanted: U64,
    held: NDArray[np.int64],
    unchanged: Flags,
    report: MappingReport,
) -> None:
    """Compare the sources found with those declared."""
    needs = wanted.astype(np.int64)
    wrong = np.where(needs > 0, held != needs, ~unchanged)
    report.slots_checked += wrong.size
    if not wrong.any():
        return
    report.mismatches += int(wrong.sum())
    place = tuple(int(i) for i in np.argwhere(wrong)[0])
    need, have = int(needs[place]), int(held[place])
    nothing = "what it held before" if unchanged[place] else "no single element (mixed, computed or constant)"
    if source.output.role == "out" and unchanged[place]:
        nothing = "the same whatever the input holds"
    missing = "what it held before" if source.output.role == "inout" else "a constant"
    expected, actual = (
        without if label <= 0 else element(*_found(space, label))
        for label, without in ((need, missing), (have, nothing))
    )
    text = f"{int(wrong.sum())} of {wrong.size} elements of {bench.called[source.output.name]} come from elsewhere"
    turned = needs.T if needs.ndim == 2 and needs.shape == needs.T.shape else None
    if turned is not None and (held[wrong] == turned[wrong]).all():
        text += "; all by exchanging row and column"
    report.findings.append(
        _finding(bench, source, "mapping-wrong-source", text, place, expected, actual, int(wrong.sum()))
    )


def _found(space: LabelSpace, label: int) -> tuple[str, tuple[int, ...]]:
    block, place = space.block_of(label)
    return block.name, place


def _finding(
    bench: Bench, source: Source, kind: str, text: str, place: Sequence[int], needs: str, has: str, count: int
) -> Finding:
    """A finding about an output element."""
    return Finding(
        "mapping",
        "error",
        f"{element(bench.called[source.output.name], place)}: {text}",
        kind,
        kernel=bench.kernel.name,
        element=element(bench.called[source.output.name], place),
        expected=needs,
        actual=has,
        count=count,
    )
