"""Traffic as tables, for the page and the terminal."""

from __future__ import annotations

from typing import Any

from mfmasim.architectures import Arch
from mfmasim.files import brief
from mfmasim.observe.tools.traffic import LINES, Site, Traffic
from mfmasim.verify.arguments import Argument
from mfmasim.verify.launch import CaseLaunch

ACCESSES = (
    "source", "instruction", "buffer", "accesses", "bytes",
    *(name for size in LINES for name in (f"{size} B lines", "least")), f"use of {LINES[-1]} B",
)  # fmt: skip


def element_sizes(launch: CaseLaunch, arch: Arch) -> dict[int, float]:
    """Bytes of an element of each argument that is a matrix or an array, by its number."""
    return {number: arg.element_bits(arch) / 8 for number, arg in enumerate(launch.args) if isinstance(arg, Argument)}


def traffic_tables(traffic: Traffic) -> list[tuple[str, tuple[str, ...], list[list[Any]]]]:
    """Title, columns and rows: the traffic of each buffer, and the lines of one access of a wave."""
    buffers = [
        [
            used.name,
            f"{used.elements:,}",
            _number(used.element),
            *(
                _number(count / used.elements)
                for count in (used.read, used.touched_read, used.written, used.touched_written)
            ),
        ]
        for used in traffic.buffers
    ]
    if not buffers:
        return []
    moved = sum(used.read + used.written for used in traffic.buffers)
    least = sum(used.touched_read + used.touched_written for used in traffic.buffers)
    columns = ("buffer", "elements", "bytes", "read", "least", "written", "least")
    title = f"Bytes of global memory for each element: {moved:,} in all; each byte once, {least:,}"
    accesses = [_row(site) for site in _by_line(traffic.sites)]
    return [(title, columns, buffers), ("Bytes and lines of an access of a wave", ACCESSES, accesses)]


def _by_line(sites: list[Site]) -> list[Site]:
    """Sites of one source line, instruction and buffer together: the copies of an unrolled loop."""
    merged: dict[tuple[str, str, str], Site] = {}
    for site in sites:
        key = site.source or f"{site.pc:#x}", site.instruction, site.buffer
        into = merged.setdefault(key, Site(site.pc, key[0], site.instruction, site.kind, site.buffer))
        for name in ("accesses", "lanes", "bytes", "distinct"):
            setattr(into, name, getattr(into, name) + getattr(site, name))
        for size in LINES:
            into.lines[size] += site.lines[size]
            into.fewest[size] += site.fewest[size]
    return list(merged.values())


def _row(site: Site) -> list[Any]:
    times = max(1, site.accesses)
    lines = [_number(count[size] / times) for size in LINES for count in (site.lines, site.fewest)]
    return [
        brief(site.source),
        site.instruction,
        site.buffer,
        f"{site.accesses:,}",
        _number(site.bytes / times),
        *lines,
        f"{site.use[LINES[-1]]:.0%}",
    ]


def _number(value: float) -> str:
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.2f}"
