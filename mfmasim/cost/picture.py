"""A timeline as one HTML page: a lane for each wave and matrix core, coloured by pipe, beside the source."""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mfmasim.devices.coverage import source_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mfmasim.cost.against import Compared
    from mfmasim.cost.timeline import Timeline
    from mfmasim.kernels import Kernel

TEMPLATE = Path(__file__).with_name("static") / "timeline.html"
MOST = 400_000
"""Instructions that a picture holds at most, of all its waves; the first ones of each wave."""


def data_of(line: Timeline, kernel: Kernel | None = None, compared: Compared | None = None) -> dict[str, Any]:
    """What a picture draws.

    Args:
        line: the timeline.
        kernel: gives the source lines, where its code has them.
        compared: gives the captured waves, each a lane of its own with a title; they stand still for ``captured``, or
            for ``outside the range``.

    Returns:
        ``clocks``; ``operations``: text, source line, kind of each; ``reasons``; ``lanes``: wave, SIMD, workgroup, and
        for each instruction ``[issued, duration, number of its operation, number of the reason, clocks it stood]``,
        times in whole clocks; ``cores``: for each SIMD what its matrix core does, ``[start, duration, wave]``;
        ``source``: text of the lines; ``left``: instructions left out.
    """
    trace = line.trace
    reasons: dict[str, int] = {"": 0}
    cores: dict[int, list[list[int]]] = {}
    lanes = []
    each = max(1, MOST // max(1, len(line.lanes)))
    left = 0
    for lane, wave in zip(line.lanes, trace.waves, strict=True):
        rows = []
        left += max(0, len(lane.issued) - each)
        for place, number in enumerate(wave.operations[:each]):
            op = trace.operations[number]
            issued = lane.issued[place]
            shown = lane.busy[place] - lane.served[place] if op.matrix or op.slot == "VALU" else op.needs[0][1]
            reason = reasons.setdefault(lane.reasons[place], len(reasons))
            rows.append([round(issued), round(shown), number, reason, round(lane.stood[place])])
            if op.matrix:
                core = cores.setdefault(lane.simd, [])
                core.append([round(lane.served[place]), round(lane.busy[place] - lane.served[place]), lane.wave])
        lanes.append({"wave": wave.wave, "simd": lane.simd, "workgroup": lane.workgroup, "rows": rows})
    ends = [max(wave.clocks.values()) for wave in compared.waves] if compared is not None else []
    if compared is not None:
        lanes = [*lanes, *_captured(compared, reasons)]
    operations = [[op.text, op.source, "matrix" if op.matrix else op.slot] for op in trace.operations]
    for core in cores.values():
        core.sort()
    return {
        "clocks": round(max([line.clocks, *ends])),
        "operations": operations,
        "reasons": list(reasons),
        "lanes": lanes,
        "cores": {str(simd): core for simd, core in sorted(cores.items())},
        "left": left,
        "source": _source(line, kernel) if kernel is not None else {},
    }


def _source(line: Timeline, kernel: Kernel) -> dict[str, str]:
    """Text of every source line that has instructions, by its name."""
    files: dict[str, list[str]] = {}
    found: dict[str, str] = {}
    table = kernel.code.object.line_table()
    folder = [kernel.code.source.path.parent] if kernel.code.source is not None else []
    for op in line.trace.operations:
        place = table.at(op.pc)
        if place is None or not op.source or op.source in found:
            continue
        name, number = place[0], place[1]
        if name not in files:
            files[name] = source_lines(name, [*folder, Path()])
        text = files[name]
        if 0 < number <= len(text):
            found[op.source] = text[number - 1]
    return found


def _captured(compared: Compared, reasons: dict[str, int]) -> list[dict[str, Any]]:
    """A lane for each captured wave."""
    trace, lanes = compared.recorded.trace, []
    inside, outside = (reasons.setdefault(name, len(reasons)) for name in ("captured", "outside the range"))
    period = trace.arch.rates["issue"].value
    for which, wave in enumerate(compared.waves):
        codes = trace.waves[wave.number].operations
        gaps = {gap.place: gap for gap in wave.gaps}
        rows = []
        for place, clock in list(wave.clocks.items())[: max(1, MOST // max(1, len(compared.waves)))]:
            gap = gaps.get(place)
            stood = max(0.0, gap.captured - period) if gap is not None else 0.0
            fits = gap is None or gap.inside(compared.capture.resolution)
            shown = trace.operations[codes[place]].needs[0][1]
            reason = 0 if not stood else inside if fits else outside
            rows.append([round(clock), round(shown), codes[place], reason, round(stood)])
        title = f"captured wave {which}"
        lanes.append({"wave": which, "simd": trace.simd_of(wave.number), "workgroup": -1, "title": title, "rows": rows})
    return lanes


def page(drawn: Sequence[tuple[str, Timeline, Kernel | None, Compared | None]]) -> str:
    """The page of some timelines, each with its title; it needs nothing else."""
    data = [{"title": title, **data_of(line, kernel, compared)} for title, line, kernel, compared in drawn]
    titles = ", ".join(title for title, *_ in drawn)
    text = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    return TEMPLATE.read_text().replace("@TITLE@", escape(titles)).replace("@DATA@", text)
