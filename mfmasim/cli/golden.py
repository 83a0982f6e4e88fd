"""``mfmasim gpu golden record|check``: capture a device's outputs; compare simulator, device and reference."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mfmasim.cli.jobs import add_jobs, in_order
from mfmasim.cli.numbers import whole
from mfmasim.cli.output import output_file, output_folder, write
from mfmasim.cli.timeouts import add_timeout

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from mfmasim.lab.agreement.capture import Capture
    from mfmasim.lab.agreement.threeway import ThreeWay
    from mfmasim.verify import Case

opened: dict[str, Any] = {}
"""Devices of this process: to open a GPU takes a second."""


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the verb."""
    parser = subparsers.add_parser(
        "golden",
        help="record what a device computes; compare simulator, device and reference",
        description="Capture a device's outputs, and compare captures. docs/golden.md describes the files.",
    )
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True, parser_class=type(parser))
    record = actions.add_parser("record", help="run cases on a device and store inputs and outputs")
    record.add_argument("targets", nargs="+", metavar="TARGET", help="a family of hipkernels, 'all', or a case file")
    add_timeout(record)
    record.add_argument("--device", default="hip", help="hip (default), hip:1, ..., or sim")
    record.add_argument("--arch", help="only this architecture (default with a GPU: its own)")
    record.add_argument("--case", action="append", metavar="TEXT", help="only cases whose name contains this")
    record.add_argument(
        "--into",
        type=output_folder,
        metavar="FOLDER",
        default="captures",
        help="folder to write to (default: captures)",
    )
    add_jobs(record)
    check = actions.add_parser("check", help="compare captures with the simulator and the reference")
    check.add_argument("captures", nargs="+", metavar="PATH", help="a capture, or a folder of them")
    check.add_argument(
        "--case-file",
        action="append",
        default=[],
        metavar="FILE",
        help="a case file that captures may refer to, and that is executed (Python); families need none",
    )
    check.add_argument(
        "--json", type=output_file, metavar="FILE", help="write the comparison as JSON ('-' for standard output)"
    )
    check.add_argument("--max-differences", type=whole(0), default=5, help="elements shown per capture (default 5)")
    add_jobs(check)


def run(args: argparse.Namespace) -> int:
    """Execute the verb; exit code 0, 1 or 2."""
    return _record(args) if args.action == "record" else _check(args)


def _record(args: argparse.Namespace) -> int:
    from mfmasim.devices import device
    from mfmasim.errors import MfmasimError
    from mfmasim.lab.agreement.capture import write

    failed = False
    written = 0
    for name, capture, status in in_order(args, _to_record, _recorded, alone=args.device != "sim"):
        failed = failed or status != "pass"
        if capture is None:
            print(f"ERROR  {status}")
            continue
        path = Path(args.into) / name
        write(path, capture)
        written += 1
        print(f"{'wrote' if status == 'pass' else 'WROTE':6} {path}   {status} against the reference")
    if not written:
        raise MfmasimError("nothing was recorded")
    if getattr(device(args.device), "simulated", True):
        print("recorded on a simulated device: not evidence of GPU behaviour")
    return 1 if failed else 0


def _to_record(args: argparse.Namespace) -> list[tuple[str, Case, str]]:
    """Family or file, case and architecture of all cases to record.

    Raises:
        MfmasimError: nothing matches.
    """
    from mfmasim.cli.chosen import chosen_cases
    from mfmasim.devices import device
    from mfmasim.verify import families

    own = getattr(device(args.device), "arch", None)
    chosen = own if args.arch is None else args.arch
    known = families()
    return [
        # A folder of families has cases of the same title: there the target identifies them.
        (one.group if one.group in known else one.target, one.case, one.arch)
        for one in chosen_cases(args.targets, chosen, args.case, skipped=False)
    ]


def _recorded(args: argparse.Namespace, task: tuple[str, Case, str]) -> tuple[str, Capture | None, str]:
    """Record one case: file, capture, and whether the outputs equal the reference; without a capture, the failure."""
    from mfmasim.devices import device
    from mfmasim.errors import MfmasimError
    from mfmasim.lab.agreement.threeway import captured

    found_by, case, arch = task
    back_end = opened.get(args.device) or opened.setdefault(args.device, device(args.device))
    try:
        name, capture, result = captured(case, arch, found_by, back_end)
    except MfmasimError as error:
        return "", None, f"{arch}   {case.title}   {error}"
    return name, capture, result.status


def _check(args: argparse.Namespace) -> int:
    from mfmasim.errors import MfmasimError

    found: list[Checked] = []
    for one in in_order(args, _to_check, _checked):
        found.append(one)
        for line in one.lines if args.json != "-" else []:
            print(line)
    compared, refused = [one for one in found if not one.refused], [one.refused for one in found if one.refused]
    if args.json:
        text = json.dumps({"captures": [one.row for one in compared], "refused": refused}, indent=1)
        write(args.json, text + "\n")
    if refused:
        return 2
    if not any(one.elements for one in found):
        raise MfmasimError(f"nothing was compared: the outputs of {len(found)} captures have no elements")
    return 0 if all(one.ok for one in found) else 1


@dataclass(frozen=True)
class Checked:
    """The printed comparison of one capture."""

    lines: list[str]
    row: dict[str, Any] = field(default_factory=dict)
    elements: int = 0
    ok: bool = False
    refused: str = ""
    """Why it could not be compared."""


def _to_check(args: argparse.Namespace) -> list[Path]:
    """The captures.

    Raises:
        MfmasimError: a file is missing.
    """
    from mfmasim.errors import MfmasimError

    paths = [path for text in args.captures for path in _captures(Path(text))]
    for file in args.case_file:
        if not Path(file).is_file():
            raise MfmasimError(f"--case-file {file}: no such file")
    return paths


def _checked(args: argparse.Namespace, path: Path) -> Checked:
    """Compare one capture."""
    from mfmasim.errors import MfmasimError
    from mfmasim.lab.agreement.threeway import check

    try:
        one = check(path, args.max_differences, [Path(file) for file in args.case_file])
    except MfmasimError as error:
        return Checked([f"REFUSED {error}"], refused=str(error))
    return Checked(list(_lines(one)), _row(one), one.differences.elements, one.ok)


def _captures(path: Path) -> list[Path]:
    from mfmasim.errors import MfmasimError

    if not path.is_dir():
        return [path]
    found = sorted(path.glob("*.npz"))
    if not found:
        raise MfmasimError(f"{path}: no captures (*.npz) in this folder")
    return found


def _lines(one: ThreeWay) -> Iterator[str]:
    about = one.about
    yield f"{one.word:7} {about['arch']}   {about['case']}   {one.agreement}"
    origin = about["device"]["product"] + (", simulated" if about["device"]["simulated"] else "")
    yield f"        recorded {about['captured']} on {about['device']['name']} ({origin})"
    yield f"        fidelity of the simulator: {one.simulator.trust}"
    if one.ok:
        return
    for name, result in (("simulator", one.simulator), ("device", one.device)):
        outputs = result.outputs
        text = f"{outputs['mismatches']:,} of {outputs['elements']:,} elements, at most {outputs['max_ulp']} ulp"
        yield f"        {name} against reference: {text}"
    differences = one.differences
    for name, result in (("simulator", one.simulator), ("device", one.device)):
        for finding in result.findings:
            if finding.severity == "error" and finding.id != "outputs-differ":
                where = " ".join(part for part in (finding.id, finding.source, finding.element) if part)
                yield f"        {name}: {where}: {finding.message}"
    text = f"{differences.mismatches:,} of {differences.elements:,} elements, at most {differences.max_ulp} ulp"
    computed = f", computed by {' or '.join(one.instructions)}" if one.instructions else ""
    yield f"        simulator against device: {text}{computed}"
    for row in differences.first:
        where = f"launch {row.launch + 1} {row.element}"
        stored = one.stores.get(f"{row.launch} {row.element}")
        by = f", stored by {stored}" if stored else ", not stored by the simulator"
        yield f"        {where}: simulator {row.simulator}, device {row.device}, {row.ulp} ulp{by}"


def _row(one: ThreeWay) -> dict[str, Any]:
    return {
        "path": str(one.path),
        "about": one.about,
        "agreement": one.agreement,
        "ok": one.ok,
        "fidelity": one.simulator.trust.record(),
        "simulator_and_reference": one.simulator.outputs,
        "device_and_reference": one.device.outputs,
        "simulator_and_device": {
            "elements": one.differences.elements,
            "mismatches": one.differences.mismatches,
            "max_ulp": one.differences.max_ulp,
        },
        "instructions": list(one.instructions),
        "differences": [
            {**vars(row), "stored_by": one.stores.get(f"{row.launch} {row.element}", "")}
            for row in one.differences.first
        ],
    }
