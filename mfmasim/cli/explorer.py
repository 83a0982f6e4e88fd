"""``mfmasim explorer``: write the explorer, one linked page of fragments, LDS banks and number formats."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from mfmasim.cli.output import output_beside, write
from mfmasim.errors import MfmasimError

if TYPE_CHECKING:
    import argparse
    from pathlib import Path


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the verb."""
    parser = subparsers.add_parser(
        "explorer",
        help="write a page that links matrix elements, lanes, registers and LDS banks",
        description="One self-contained HTML file: fragments of every matrix instruction, LDS banks, number "
        "formats, recorded runs. It needs no network. Its address holds what it shows, so that a view can be sent.",
    )
    parser.add_argument("arch", nargs="?", help="architecture that it opens with, such as gfx950")
    parser.add_argument("instruction", nargs="?", help="matrix or LDS instruction that it opens with")
    parser.add_argument("--a", metavar="FORMAT", help="number format of A, for instructions with a choice")
    parser.add_argument("--b", metavar="FORMAT", help="number format of B, for instructions with a choice")
    parser.add_argument("--wave", type=int, metavar="LANES", help="lanes of the wave, 32 or 64 on RDNA")
    parser.add_argument("--slides", action="store_true", help="open with the slides of the course")
    parser.add_argument("--out", type=output_beside, metavar="FILE", help="file to write")
    parser.add_argument("--open", action="store_true", help="open it in the web browser")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Write the page, and open it on request."""
    from pathlib import Path

    from mfmasim.explorer import explorer_page

    if not args.out and not args.open:
        raise MfmasimError("explorer writes a file: give --out FILE, --open or both")
    text = explorer_page(start=_start(args))
    path = Path(args.out) if args.out else _temporary()
    write(str(path), text)
    if args.out != "-":
        print(f"{path}: {path.stat().st_size:,} bytes")
    if args.open:
        import webbrowser

        if not webbrowser.open(path.resolve().as_uri()):
            raise MfmasimError(f"no web browser was found; open {path} in one")
    return 0


def _temporary() -> Path:
    import tempfile
    from pathlib import Path

    return Path(tempfile.mkdtemp(prefix="mfmasim-")) / "explorer.html"


def _start(args: argparse.Namespace) -> str:
    """State of the page that the arguments name; an instruction is looked up, so that a wrong name is reported here."""
    from mfmasim.architectures import ARCHITECTURES, arch
    from mfmasim.explorer import view_state
    from mfmasim.lds import ds_instruction, ds_instructions
    from mfmasim.matrix import instruction

    if args.slides:
        if args.arch is not None:
            raise MfmasimError(f"--slides opens with the slides, {args.arch} with an architecture: give one of them")
        return view_state("slides")
    if args.arch is None:
        return ""
    target = arch(args.arch).name
    if args.instruction is None:
        return view_state("fragment", arch=target)
    lds_names = {name for each in ARCHITECTURES for name in ds_instructions(each)}
    if difflib.get_close_matches(args.instruction, lds_names, n=1, cutoff=0.8):  # misspelt ones, too
        return view_state("lds", arch=target, ds=ds_instruction(target, args.instruction).name, wave=args.wave)
    op = instruction(target, args.instruction, args.a, args.b, args.wave)
    chosen = {"a": args.a and op.a, "b": args.b and op.b, "wave": args.wave}
    return view_state("fragment", arch=target, op=op.name, **chosen)
