"""``mfmasim lds``: which lanes share a phase, the number of banks, and the conflicts of an access."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mfmasim.cli.needs import needed
from mfmasim.cli.numbers import whole
from mfmasim.cli.output import FORMATS, add_formats, table, wanted_format

if TYPE_CHECKING:
    import argparse

    from mfmasim.lds import Conflicts


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the verb."""
    parser = subparsers.add_parser(
        "lds",
        help="show LDS banks and phases, and count bank conflicts",
        description="Without an instruction: the phase tables of an architecture. With one: its phases. With "
        "--address, --stride or --layout: the conflicts of one access by a wave. Counts are passes, not cycles.",
    )
    parser.add_argument("arch", help="architecture, such as gfx950")
    parser.add_argument("instruction", nargs="?", help="LDS instruction, such as ds_read_b128")
    parser.add_argument(
        "--address", metavar="EXPRESSION", help="byte address, such as 'lane %% 16 * 128 + lane // 16 * 16'"
    )
    parser.add_argument("--stride", type=int, metavar="BYTES", help="the same as --address 'lane * BYTES'")
    parser.add_argument(
        "--layout",
        metavar="LAYOUT",
        help="place of each lane's data as a layout in elements, such as 'Swizzle<3,3,3> o (16,4):(64,8)' (CuTe) or "
        "'linear 64 128 256 512 8 16' (the places of lanes 1, 2, 4, ...)",
    )
    parser.add_argument(
        "--element-bytes", type=whole(1, 16), metavar="N", help="bytes of an element of --layout (default 2)"
    )
    parser.add_argument("--active", metavar="EXPRESSION", help="active lanes, such as 'lane < 48'")
    parser.add_argument(
        "--offset", type=int, nargs="+", metavar="N", help="offset field, or both for instructions with two"
    )
    parser.add_argument("--rule", help="maximum (default) or greedy")
    parser.add_argument("--wave", type=int, metavar="LANES", help="lanes of the wave, 32 or 64 on RDNA")
    parser.add_argument(
        "--swizzle", metavar="NAME", help="published swizzle, applied to the address as a linear offset in the tile"
    )
    add_formats(parser, (*FORMATS, "svg", "html"))
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print tables, phases or conflicts."""
    from mfmasim import lds
    from mfmasim.errors import MfmasimError

    form = wanted_format(args)
    if args.layout is None:
        needed(args, {"--element-bytes": "element_bytes"}, "--layout")
    if args.address is None and args.stride is None and args.layout is None:
        acting = ("active", "offset", "rule", "swizzle")
        needed(args, {f"--{name}": name for name in acting}, "--address, --stride or --layout")
    if args.instruction is None:
        access = ("address", "stride", "layout", "wave")
        needed(args, {f"--{name}": name for name in access}, "an instruction")
        if form in {"svg", "html"}:
            raise MfmasimError(f"--format {form} needs an instruction and --address, --stride or --layout")
        rows = [
            [access, _sets(found.lanes), found.banks, found.confidence, found.source, found.remark]
            for access, found in lds.phase_tables(args.arch).items()
        ]
        columns = ("access", "lanes", "banks", "confidence", "source", "remark")
        print(table(columns, rows, form, f"LDS phases of {args.arch}"), end="")
        if form == "terminal":
            if note := lds.partition_note(args.arch):
                print(note)
            print(*(f"{short}: {source}" for short, source in lds.SOURCES.items()), sep="\n")
        return 0
    given = [f"--{name}" for name in ("address", "stride", "layout") if getattr(args, name) is not None]
    if len(given) > 1:
        raise MfmasimError(f"{' and '.join(given)} cannot be combined")
    if not given:
        if form in {"svg", "html"}:
            raise MfmasimError(f"--format {form} needs --address, --stride or --layout")
        print(_phases(args, form), end="")
        return 0
    found = _count(args)
    from mfmasim.figures import lds as pictures

    if form == "svg":
        print(pictures.punch_card_svg(found))
    elif form == "html":
        print(pictures.punch_card_html(found), end="")
    elif form == "terminal":
        print(pictures.punch_card_text(found), end="")
        for remark in found.remarks:
            print(f"note: {remark}")
    else:
        names = ("phase", "access", "lanes", "degree", "extra_passes", "worst_banks", "confidence", "source")
        counted = [
            [
                phase.number,
                phase.part,
                pictures.lanes_text(phase.lanes),
                phase.degree,
                max(0, phase.degree - 1),
                pictures.lanes_text(phase.worst) if phase.degree > 1 else None,
                found.confidence,
                found.source,
            ]
            for phase in found.phases
        ]
        print(table(names, counted, form, str(found)), end="")
    return 0


def _count(args: argparse.Namespace) -> Conflicts:
    """Conflicts of the access given by the arguments."""
    import numpy as np

    from mfmasim import lds
    from mfmasim.architectures import arch
    from mfmasim.cli.expressions import evaluate
    from mfmasim.errors import MfmasimError

    limit = arch(args.arch).lds_bytes
    if args.stride is not None and abs(args.stride) > limit:  # beyond int64 NumPy wraps or raises
        raise MfmasimError(f"--stride {args.stride}: the LDS of {args.arch} has {limit} bytes")
    lane = np.arange(_wave(args), dtype=np.int64)
    if args.layout is not None:
        element = 2 if args.element_bytes is None else args.element_bytes
        place = lds.layout_offsets(args.layout, len(lane)) * element
    else:
        place = lane * args.stride if args.stride is not None else evaluate(args.address, {"lane": lane})
    place = np.broadcast_to(place, lane.shape)
    active = None if args.active is None else np.broadcast_to(evaluate(args.active, {"lane": lane}), lane.shape) != 0
    if args.swizzle is not None:
        place = lds.swizzle(args.swizzle).of_offset(place)
    offsets = args.offset or [0]
    if len(offsets) > 2:
        raise MfmasimError(f"--offset takes one or two numbers, not {len(offsets)}")
    offset: Any = offsets[0] if len(offsets) == 1 else tuple(offsets)
    return lds.conflicts(args.arch, args.instruction, place, active, args.rule or "maximum", offset=offset, warn=False)


def _phases(args: argparse.Namespace, form: str) -> str:
    from mfmasim import lds
    from mfmasim.figures.lds import lanes_text

    found = lds.phase_table(args.arch, args.instruction)
    rows = [[number, lanes_text(lanes), found.banks] for number, lanes in enumerate(found.sets(_wave(args)))]
    text = table(("phase", "lanes", "banks"), rows, form, f"{args.instruction} on {args.arch}")
    if form == "terminal":
        text += f"{found}\n" + (f"note: {found.remark}\n" if found.remark else "")
        text += "".join(f"or: {other}\n" for other in found.alternatives)
    return text


def _wave(args: argparse.Namespace) -> int:
    from mfmasim.architectures import arch
    from mfmasim.errors import unknown

    sizes = arch(args.arch).wave_sizes
    if args.wave is not None and args.wave not in sizes:
        raise unknown("wave size", args.wave, map(str, sizes), f"on {args.arch}")
    return int(args.wave or sizes[0])


def _sets(lanes: str | tuple[tuple[int, ...], ...]) -> str:
    return lanes if isinstance(lanes, str) else f"{len(lanes)} sets"
