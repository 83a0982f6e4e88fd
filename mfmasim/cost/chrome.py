"""A timeline in Chrome's trace event format, which Perfetto and chrome://tracing open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mfmasim.architectures.rates import Product
    from mfmasim.cost.timeline import Timeline

WAVES, PIPES = 1, 2
"""Numbers of the two processes of the trace."""


def chrome_trace(line: Timeline, product: Product) -> dict[str, Any]:
    """The trace: a thread for each wave with its instructions and what it stands still for, and one for each pipe.

    Times are microseconds at the product's peak clock.

    Args:
        line: the timeline.
        product: gives the clock.
    """
    scale = 1.0 / product.megahertz
    events: list[dict[str, Any]] = [_named(WAVES, "waves"), _named(PIPES, "pipes")]
    threads: dict[tuple[str, int], int] = {}
    operations = line.trace.operations
    rates = line.trace.arch.rates
    for lane, wave in zip(line.lanes, line.trace.waves, strict=True):
        name = f"SIMD {lane.simd}, workgroup {lane.workgroup}, wave {wave.wave}"
        events.append(_named(WAVES, name, lane.wave))
        for place, number in enumerate(wave.operations):
            op, issued, stood = operations[number], lane.issued[place], lane.stood[place]
            if stood:
                events.append(
                    _event(
                        WAVES, lane.wave, lane.reasons[place], "stalled", (issued - stood) * scale, stood * scale, {}
                    )
                )
            after = lane.issued[place + 1] - lane.stood[place + 1] if place + 1 < len(lane.issued) else lane.busy[place]
            given = {"source": op.source, "address": hex(op.pc)}
            events.append(
                _event(WAVES, lane.wave, op.text, op.slot, issued * scale, max(0.0, after - issued) * scale, given)
            )
            pipe = "matrix core" if op.matrix else op.slot
            if pipe in ("matrix core", "LDS", "memory"):
                which = lane.simd // {"matrix core": 1, "LDS": 2}.get(pipe, rates.lds_simds)  # two ports of the LDS
                thread = threads.setdefault((pipe, which), len(threads))
                start, busy = lane.served[place], lane.busy[place]
                given = {"wave": str(wave.wave), "workgroup": str(lane.workgroup), "source": op.source}
                events.append(_event(PIPES, thread, op.name, pipe, start * scale, (busy - start) * scale, given))
    events += [_named(PIPES, f"{pipe} {which}", thread) for (pipe, which), thread in threads.items()]
    about = {"architecture": line.trace.arch.name, "product": product.name, "latencies": line.end}
    return {"traceEvents": events, "displayTimeUnit": "ns", "otherData": about}


def _event(
    process: int, thread: int, name: str, kind: str, start: float, duration: float, given: dict[str, str]
) -> dict[str, Any]:
    """A complete event."""
    return {
        "ph": "X",
        "pid": process,
        "tid": thread,
        "name": name,
        "cat": kind,
        "ts": round(start, 6),
        "dur": round(duration, 6),
        "args": given,
    }


def _named(process: int, name: str, thread: int | None = None) -> dict[str, Any]:
    """The name of a process or thread."""
    what = "process_name" if thread is None else "thread_name"
    return {"ph": "M", "pid": process, "tid": thread or 0, "name": what, "args": {"name": name}}
