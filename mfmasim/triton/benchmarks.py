"""Benchmarks: nothing here knows a GPU's time, so that every answer is this machine's CPU time, and says so."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

from mfmasim.triton.session import Measured

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mfmasim.triton.patches import Patches
    from mfmasim.triton.session import Session

LABEL = "mfmasim: do_bench ran once and answers CPU time of the simulation, not time of a GPU"


def patch(session: Session, patches: Patches) -> Callable[..., Any]:
    """Replace `do_bench` and `perf_report`.

    Args:
        session: gets what is measured.
        patches: what the session replaces.

    Returns:
        The new `do_bench`.
    """
    import triton.testing

    def bench(
        fn: Callable[[], Any],
        *_: Any,
        grad_to_none: Any = None,
        quantiles: Sequence[float] | None = None,
        return_mode: str = "mean",
        **__: Any,
    ) -> Any:
        """Run once.

        Args:
            fn: what is measured.
            _: ignored: how often and how long to repeat.
            grad_to_none: tensors whose gradients are cleared before.
            quantiles: so many answers, all alike.
            return_mode: ``all`` gives a list.
            __: ignored.
        """
        if not session.benchmarks:
            print(LABEL, file=sys.stderr)
        for tensor in grad_to_none or ():
            tensor.grad = None
        before, begin = len(session.reports), time.process_time()
        fn()
        milliseconds = max((time.process_time() - begin) * 1e3, 1e-3)
        new = session.reports[before:]
        instructions = sum(report.counts.total() for report in new)
        session.benchmarks.append(Measured(tuple(report.kernel for report in new), instructions, milliseconds))
        if quantiles is not None:
            return milliseconds if len(quantiles) == 1 else [milliseconds] * len(quantiles)
        return [milliseconds] if return_mode == "all" else milliseconds

    def run(self: Any, *args: Any, return_df: bool = False, **options: Any) -> Any:
        del args
        given = {name: options[name] for name in options if name not in ("show_plots", "print_data", "save_path")}
        alone = not isinstance(self.benchmarks, list)
        tables = [_table(self.fn, one, session.settings.benchmarks, given) for one in _list(self.benchmarks)]
        if not return_df:
            return None
        import pandas as pd

        frames = [pd.DataFrame(rows, columns=columns) for columns, rows in tables]
        return frames[0] if alone else frames

    for name in ("do_bench", "do_bench_cudagraph"):
        patches.set(triton.testing, name, bench)
    patches.set(triton.testing.Mark, "run", run)
    return bench


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _table(fn: Callable[..., Any], one: Any, choice: str, given: dict[str, Any]) -> tuple[list[str], list[list[Any]]]:
    """Run a benchmark's first size, all, or none, and print its rows.

    Args:
        fn: the benchmark's function.
        one: the benchmark.
        choice: which sizes run.
        given: further arguments of the function.
    """
    sizes = list(one.x_vals)
    taken = sizes if choice == "all" else sizes[: int(choice == "first")]
    columns, rows = [*one.x_names, *map(str, one.line_names)], []
    print(f"{one.plot_name}: {len(taken)} of {len(sizes)} sizes, simulated; numbers derive from CPU time")
    for size in taken:
        parts = size if isinstance(size, list | tuple) else (size,) * len(one.x_names)
        cells: list[Any] = list(parts)
        for line in one.line_vals:
            answer = fn(**dict(zip(one.x_names, parts, strict=True)), **{one.line_arg: line}, **one.args, **given)
            cells.append(answer[0] if isinstance(answer, tuple | list) else answer)
        rows.append(cells)
    if rows:
        print("  " + "  ".join(columns))
    for cells in rows:
        print("  " + "  ".join(f"{cell:g}" if isinstance(cell, float) else str(cell) for cell in cells))
    return columns, rows
