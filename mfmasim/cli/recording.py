"""The option ``--record`` of ``mfmasim run``: the launch as a page to step through."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from mfmasim.cli.output import output_file, write
from mfmasim.errors import MfmasimError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from mfmasim.explorer.recording import Recorder
    from mfmasim.kernels import Kernel


def add_recording(parser: argparse.ArgumentParser) -> None:
    """Add the option."""
    parser.add_argument(
        "--record",
        type=output_file,
        metavar="FILE",
        help="write the first two waves as an HTML page to step through; see explorer",
    )


@contextmanager
def recording(args: argparse.Namespace, kernel: Kernel) -> Iterator[list[Recorder]]:
    """The observer for the option; the page is written after the launch.

    Raises:
        MfmasimError: the launch is spread over processes, or the file cannot be written.
    """
    if args.record is None:
        yield []
        return
    from pathlib import Path

    from mfmasim.explorer import explorer_page, view_state
    from mfmasim.explorer.recording import Recorder, record_launch

    if args.workers is not None:
        raise MfmasimError("--record needs a launch in this process, without --workers")
    recorder = Recorder()
    yield [recorder]
    record = record_launch(recorder, kernel, kernel.name, [Path(args.file).parent, Path()])
    write(args.record, explorer_page([record], view_state("stepper")))
