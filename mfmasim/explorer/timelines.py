"""Recorded timelines of schedules: what `mfmasim cost` draws, as columns that compress well."""

from __future__ import annotations

import json
from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path
from typing import Any

from mfmasim.architectures import arch as find_arch
from mfmasim.cost.cases import record_case
from mfmasim.cost.costed import Costed, product_of
from mfmasim.cost.picture import data_of
from mfmasim.files import write_text
from mfmasim.verify.files import find

__all__ = ["record_timeline", "shipped_timelines"]


def shipped_timelines() -> list[dict[str, Any]]:
    """The timelines that the page ships: ``title``, ``from`` (a family), ``case``, ``arch``, ``set`` (parameters)."""
    rows: list[dict[str, Any]] = json.loads((files(__package__) / "examples" / "timelines.json").read_text("utf-8"))
    return rows


def record_timeline(row: dict[str, Any]) -> dict[str, Any]:
    """The timeline of a case, for the page.

    Args:
        row: one of `shipped_timelines`.

    Returns:
        ``title``, ``arch``, ``about`` (the call that draws the same), ``clocks``; ``operations``: text, source line,
        kind; ``reasons``; ``source``: text of the lines; ``cores``: for each SIMD what its matrix core does, start,
        duration and wave; ``lanes``: for each wave its number, SIMD and columns: differences of the clocks of issue,
        clocks of the pipe, differences of the operations' numbers, numbers of the reasons, clocks waited, and the
        operation waited for, as a difference from its own.
    """
    (case,) = (one for _, cases in find(row["from"]) for one in cases if one.title == row["case"])
    target = find_arch(row["arch"])
    product = product_of(target, None)
    recorded = record_case(case.with_parameters(row["set"]), target.name, units=product.units)
    line = Costed(recorded, product, case.title).drawn["value"]
    found = data_of(line, recorded.kernel)
    settings = " ".join(f"--set {name}={value}" for name, value in row["set"].items())
    lanes = []
    for lane, drawn in zip(line.lanes, found["lanes"], strict=True):
        issued, lasts, numbers, reasons, stood = zip(*drawn["rows"], strict=True)
        waits = zip(lane.causes, numbers, stood, strict=True)
        causes = [cause - number if clocks else 0 for cause, number, clocks in waits]
        columns = [_steps(issued), list(lasts), _steps(numbers), list(reasons), list(stood), causes]
        lanes.append([drawn["wave"], drawn["simd"], *columns])
    return {
        "title": row["title"],
        "arch": target.name,
        "about": f"mfmasim cost {row['from']} --case {case.title} --arch {target.name} {settings} --html FILE",
        "clocks": found["clocks"],
        "operations": found["operations"],
        "reasons": found["reasons"],
        "source": found["source"],
        "lanes": lanes,
        "cores": {
            simd: [_steps(column) if n == 0 else list(column) for n, column in enumerate(zip(*core, strict=True))]
            for simd, core in found["cores"].items()
        },
    }


def _steps(numbers: Iterable[int]) -> list[int]:
    """Each number less the one before it."""
    listed = list(numbers)
    return [number - before for before, number in zip([0, *listed], listed, strict=False)]


def rebuild() -> Path:
    """Record the shipped timelines again, where the page finds them."""
    from mfmasim.explorer.page import packed

    path = Path(str(files(__package__))) / "static" / "timelines.txt"
    write_text(path, packed([record_timeline(row) for row in shipped_timelines()]) + "\n")
    return path
