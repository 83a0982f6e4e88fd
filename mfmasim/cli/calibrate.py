"""``mfmasim gpu calibrate``: fit the parameters of the accumulation models and LDS phases to a device."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mfmasim.cli.numbers import whole
from mfmasim.cli.output import output_file, write
from mfmasim.cli.timeouts import add_timeout

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from mfmasim.lab.agreement.capture import Capture
    from mfmasim.lab.calibration.fitting import Fit
    from mfmasim.lab.calibration.phase_fitting import PhaseFit


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the verb."""
    parser = subparsers.add_parser(
        "calibrate",
        help="run probes on a device and find the rounding parameters and LDS phases that fit",
        description="Run probe matrices through a device's matrix instructions and search for the parameters of the "
        "accumulation models that reproduce its bits; time LDS instructions and derive which lanes share a phase and "
        "how many banks there are. docs/calibrate.md explains the output.",
    )
    add_timeout(parser)
    parser.add_argument("--device", default="hip", help="hip (default), hip:1, ..., or sim")
    parser.add_argument("--arch", help="architecture (for sim; a GPU reports its own)")
    parser.add_argument("--only", metavar="PROBE[,PROBE...]", help="probes to run, such as fp8,read_b32 (default: all)")
    parser.add_argument(
        "--times", type=whole(), metavar="N", help="repetitions of each timing (default: 5; 1 where time is simulated)"
    )
    parser.add_argument(
        "--crowded", action="store_true", help="time LDS reads with all lanes active instead of two lanes"
    )
    parser.add_argument(
        "--record", type=output_file, metavar="FILE", help="write the device's results to a file without fitting"
    )
    parser.add_argument("--replay", metavar="FILE", help="fit the results that --record wrote; needs no device")
    parser.add_argument(
        "--json", type=output_file, metavar="FILE", help="write the fits as JSON ('-' for standard output)"
    )


def run(args: argparse.Namespace) -> int:
    """Execute the verb; exit code 0 if every row fits unchanged, 1 if one does not, or 2."""
    from mfmasim.codeobject.guard import parsing
    from mfmasim.errors import MfmasimError
    from mfmasim.lab.agreement import capture
    from mfmasim.lab.calibration.fitting import fit
    from mfmasim.lab.calibration.phase_fitting import fit_phases
    from mfmasim.lab.calibration.phase_probes import timed
    from mfmasim.lab.calibration.probes import observed

    if args.record and args.replay:
        raise MfmasimError("--record and --replay cannot be combined")
    found = capture.read(Path(args.replay)) if args.replay else _observe(args)
    if args.record:
        capture.write(Path(args.record), found)
        names = [*found.about["probes"], *(phase["row"] for phase in found.about["phases"])]
        print(f"wrote {args.record}: {', '.join(names)} on {found.about['device']['product']}")
        return 0
    where = args.replay or "the capture"
    with parsing(where, "capture of probes"):
        rounding, times = list(observed(found)), list(timed(found))
    fits = []
    for seen in rounding:
        fits.append(fit(seen, progress=lambda line: print(f"  {line}", file=sys.stderr)))
        if args.json != "-":
            for line in _lines(fits[-1]):
                print(line)
    phases = [fit_phases(seen) for seen in times]
    for fitted in phases if args.json != "-" else ():
        for line in _phase_lines(fitted):
            print(line)
    if args.json:
        rows = {"fits": [_row(one) for one in fits], "phases": [_phase_row(one) for one in phases]}
        text = json.dumps({"about": found.about, **rows}, indent=1)
        write(args.json, text + "\n")
    return 0 if all(one.exact and not one.differs for one in fits) and all(one.fits for one in phases) else 1


def _observe(args: argparse.Namespace) -> Capture:
    from mfmasim.devices import device
    from mfmasim.errors import MfmasimError
    from mfmasim.lab.calibration.probes import observe

    back_end = device(args.device)
    arch = getattr(back_end, "arch", None)
    if arch is None and not args.arch:
        raise MfmasimError("--device sim needs --arch, such as --arch gfx942")
    if arch is not None and args.arch and args.arch != arch:
        raise MfmasimError(f"--arch {args.arch}: the device {args.device} is {arch}")
    only = [name.strip() for name in args.only.split(",")] if args.only else ()
    return observe(back_end, arch or args.arch, only, args.times, crowded=args.crowded)


def _lines(one: Fit) -> Iterator[str]:
    row, op = one.observed.op.model, one.observed.op
    yield f"{op.name} ({op.arch.name}, {op.a})   row {row.name}, {row.fidelity}"
    if one.exact and not one.differs:
        yield f"  fits unchanged: {one.matches:,} of {one.elements:,} elements"
    elif one.exact:
        yield f"  another row fits all {one.elements:,} elements:"
        for name, (was, found) in one.differs.items():
            yield f"    {name:<18} {found!s:<12} (the row has {was})"
        yield f"  {one.row()}"
    else:
        yield f"  none of {one.tried:,} models fits: the best one gives {one.matches:,} of {one.elements:,} elements"
        yield f"  {one.row()}"
    for name, values in one.also.items():
        yield f"  undetermined: {name} {_several(values)}"
    causes = one.nan_origins()
    if len(set(causes.values())) == 1:
        yield f"  NaN: {next(iter(causes.values()))}, for every cause"
    else:
        yield from (f"  NaN ({name}): {text}" for name, text in causes.items())


def _several(values: tuple[object, ...]) -> str:
    """Values as text; consecutive numbers as a range."""
    numbers = [value for value in values if type(value) is int]
    others = [str(value) or "none" for value in values if type(value) is not int]
    if len(numbers) > 3 and numbers[-1] - numbers[0] == len(numbers) - 1:
        return ", ".join([*others, f"{numbers[0]} to {numbers[-1]}"])
    return ", ".join([*others, *map(str, numbers)])


def _row(one: Fit) -> dict[str, Any]:
    return {
        "instruction": one.observed.op.name,
        "arch": one.observed.op.arch.name,
        "format": one.observed.op.a,
        "model": one.observed.op.model.name,
        "fidelity": one.observed.op.model.fidelity,
        "exact": one.exact,
        "matches": one.matches,
        "elements": one.elements,
        "differs": {name: {"row": was, "fits": found} for name, (was, found) in one.differs.items()},
        "undecided": {name: list(values) for name, values in one.also.items()},
        "row": one.row(),
        "nans": one.nans(),
        "nan_origins": one.nan_origins(),
    }


def _phase_lines(one: PhaseFit) -> Iterator[str]:
    probe, row = one.timed.probe, one.row
    yield f"{probe.instruction} ({one.timed.arch}, wave {one.timed.wave})   row {probe.row}: {row}"
    if one.cost:
        yield f"  a conflict of two lanes costs {one.cost:.2f} ticks per access; the clock varies by {one.scatter:.2f}"
    if one.phases is not None:
        many = "phases" if len(one.phases) > 1 else "phase"
        lanes = one.lanes if isinstance(one.lanes, str) else "no named lane sets"
        yield f"  {len(one.phases)} {many} ({lanes}), {one.banks or 'an unknown number of'} banks"
        for part in one.phases if not one.names else ():
            yield f"    {', '.join(map(str, part))}"
    yield from (f"  undetermined: {why}" for why in one.undecided)
    if one.fits:
        yield "  fits unchanged"
    elif one.decided:
        yield "  the row does not fit" + (f"; its alternative does: {one.alternative}" if one.alternative else "")
    if one.decided:
        yield f"  like {', '.join(one.known()[:4]) or 'no known row'}"
    yield from (f"  {line}" for text in one.lines() for line in text.split("\n"))


def _phase_row(one: PhaseFit) -> dict[str, Any]:
    return {
        "instruction": one.timed.probe.instruction,
        "arch": one.timed.arch,
        "wave": one.timed.wave,
        "row": str(one.row),
        "fits": one.fits,
        "phases": one.phases,
        "lane_sets": list(one.names),
        "banks": one.banks,
        "ticks": one.cost,
        "scatter": one.scatter,
        "undecided": one.undecided,
        "like": one.known(),
        "paste": one.lines(),
    }
