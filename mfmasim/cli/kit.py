"""``mfmasim gpu kit``: probes of the assumptions about a GPU; ``kit check`` reads their results."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mfmasim.cli.jobs import add_jobs, in_order
from mfmasim.cli.output import output_file, write
from mfmasim.cli.timeouts import add_timeout

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator

    from mfmasim.lab.kit.judging import Judgement
    from mfmasim.lab.kit.records import KitFile


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the verb."""
    parser = subparsers.add_parser(
        "kit",
        help="probe a GPU once, into one file that settles what is assumed about its architecture",
        description="Run every probe of this GPU's architecture and append the results to one file; run it again with "
        "the same file to continue. 'mfmasim gpu kit check FILE' reads such a file anywhere. docs/kit.md describes "
        "both.",
    )
    parser.add_argument("--out", type=output_file, metavar="FILE", help="file to write, or to continue")
    add_timeout(parser)
    parser.add_argument("--device", default="hip", help="hip (default), hip:1, ...")
    parser.add_argument("--quick", action="store_true", help="fewer samples and repetitions: a few minutes")
    parser.add_argument(
        "--only",
        action="append",
        metavar="PART",
        help="answers, operations, matrix, lds, crowded or golden (may be repeated)",
    )
    actions = parser.add_subparsers(dest="action", metavar="check", parser_class=type(parser))
    check = actions.add_parser("check", help="what a kit file says about every assumed row")
    check.add_argument("file", metavar="FILE", help="a kit file")
    check.add_argument(
        "--json",
        type=output_file,
        nargs="?",
        const="-",
        metavar="FILE",
        help="write it as JSON (default: to standard output)",
    )
    add_jobs(check)


def run(args: argparse.Namespace) -> int:
    """Execute the verb.

    Returns:
        For a run: 0 if every probe ran, 1 if one failed. For a check: 1 if a row is contradicted, else 0.

    Raises:
        MfmasimError: for a check: no probe of the file judges any row.
    """
    return _check(args) if args.action == "check" else _record(args)


def _record(args: argparse.Namespace) -> int:
    from mfmasim.devices import device
    from mfmasim.devices.isolated import IsolatedHip
    from mfmasim.errors import MfmasimError
    from mfmasim.lab.kit.running import run_kit

    if not args.out:
        raise MfmasimError("kit: --out FILE is expected (or: mfmasim gpu kit check FILE)")
    back_end = device(args.device)
    if not isinstance(back_end, IsolatedHip):
        raise MfmasimError(
            f"--device {args.device}: the kit probes a GPU: hip, hip:1, ...; without one: mfmasim hiprt --arch ARCH "
            "--phases tables -- mfmasim gpu kit --out FILE"
        )
    path = Path(args.out)
    print(f"{back_end.product} ({back_end.target}) into {path}", flush=True)
    only = [part.strip() for text in args.only or () for part in text.split(",")]
    ran = run_kit(
        back_end, path, quick=args.quick, only=only, doctor=_doctor(), say=lambda text: print(text, flush=True)
    )
    kept = f", {ran.kept} were there already" if ran.kept else ""
    print(f"{ran.done} probes done, {ran.failed} failed{kept}: {path}, {path.stat().st_size:,} bytes")
    if back_end.simulated:
        print("recorded on a simulated device: not evidence of GPU behaviour")
    return 1 if ran.failed else 0


def _doctor() -> dict[str, Any]:
    """The results of ``mfmasim doctor``, without paths."""
    from mfmasim.cli.doctor import examine

    found = examine()
    compiler = {key: found["compiler"].get(key) for key in ("ok", "kind", "headers", "code")}
    packages = {row["name"]: row["version"] for row in found["packages"]}
    return {"compiler": compiler, "device": found["device"].get("answer"), "packages": packages}


def _check(args: argparse.Namespace) -> int:
    from mfmasim.errors import MfmasimError
    from mfmasim.lab.kit.records import read

    kit = read(Path(args.file))
    found = list(in_order(args, _to_judge, _judged))
    if args.json:
        text = json.dumps(_report(kit, found), indent=1)
        write(args.json, text + "\n")
    if args.json != "-":
        for line in _lines(kit, found):
            print(line)
    for note in kit.notes:
        print(f"{args.file}: {note}", file=sys.stderr)
    statuses = {one.verdict.status for one in found}
    if statuses <= {"undecided"}:
        raise MfmasimError(f"{args.file}: nothing was judged: none of its {len(kit.records)} probes decides a row")
    return int("contradicted" in statuses)


def _to_judge(args: argparse.Namespace) -> list[Callable[[], Judgement]]:
    from mfmasim.lab.kit.judging import judgements
    from mfmasim.lab.kit.records import read

    return judgements(read(Path(args.file)))


def _judged(_args: argparse.Namespace, task: Callable[[], Judgement]) -> Judgement:
    return task()


def _count(found: list[Judgement]) -> dict[str, int]:
    from mfmasim.lab.kit.verdict import STATUSES

    return {status: sum(one.verdict.status == status for one in found) for status in STATUSES}


def _report(kit: KitFile, found: list[Judgement]) -> dict[str, Any]:
    rows = [
        {
            "kind": one.row.kind,
            "name": one.row.name,
            "status": one.verdict.status,
            "why": one.verdict.why,
            "parameters": {key: {"row": was, "device": now} for key, (was, now) in one.verdict.parameters.items()},
            "place": one.row.place,
            "change": one.verdict.change,
            "rests_on": one.row.why,
        }
        for one in found
    ]
    assumed = [one for one in found if one.row.kind not in ("layout", "golden")]
    return {
        "arch": kit.about["arch"],
        "device": kit.about["device"],
        "environment": kit.about.get("environment", {}),
        "counts": _count(assumed),
        "layouts": _count([one for one in found if one.row.kind == "layout"]),
        "golden": _count([one for one in found if one.row.kind == "golden"]),
        "failed": [record.probe for record in kit.records.values() if record.status == "failed"],
        "notes": kit.notes,
        "rows": rows,
    }


def _lines(kit: KitFile, found: list[Judgement]) -> Iterator[str]:
    device = kit.about["device"]
    simulated = ", simulated: no evidence" if device.get("simulated", True) else ""
    yield f"{kit.about['arch']}: {device.get('product')} ({device.get('target')}{simulated})"
    kinds = {kind: [one for one in found if one.row.kind == kind] for kind in ("layout", "golden")}
    assumed = [one for one in found if one.row.kind not in kinds]
    others = [one for some in kinds.values() for one in some if one.verdict.status != "settled"]
    for one in (*assumed, *others):
        yield f"{one.verdict.status:12} {one.row.title}: {one.verdict.why}"
        if one.verdict.status != "contradicted":
            continue
        for name, (was, now) in one.verdict.parameters.items():
            yield f"{'':12}   {name}: {now} (the row has {was})"
        yield f"{'':12}   change {one.row.name} in {one.row.place}"
        if one.verdict.change:
            yield f"{'':12}   {one.verdict.change}"
    for name, some in (("assumed rows", assumed), ("layouts", kinds["layout"]), ("golden cases", kinds["golden"])):
        count = _count(some)
        yield f"{len(some)} {name}: {', '.join(f'{number} {status}' for status, number in count.items())}"
