"""``mfmasim inspect FILE...``: contents of a file, needs of its kernels, and instructions that cannot run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

from mfmasim.cli.case_options import CHOICE, add_case, chosen_of
from mfmasim.cli.compilation import COMPILATION, compilation
from mfmasim.cli.needs import needed
from mfmasim.cli.numbers import whole

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from mfmasim.program import Code, Kernel


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the verb."""
    parser = subparsers.add_parser(
        "inspect",
        help="what a code object, bundle, program or HIP source holds: kernels, registers, occupancy, what cannot run",
        description="List every code object of a file and its kernels: arguments, registers used and declared, LDS, "
        "scratch, occupancy and by what it is limited, matrix instructions with their fidelity, and the instructions "
        "that the simulator cannot execute. Exit code 1 if there are such instructions, or a target that is not "
        "simulated.",
    )
    parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="a code object, offload bundle, program or library with GPU code, a HIP source (compiled first), a family "
        "of hipkernels or a case file",
    )
    add_case(parser, "only this architecture; for a HIP source the one to compile for (gfx942)")
    parser.add_argument("--kernel", metavar="TEXT", help="only kernels whose name contains this")
    parser.add_argument(
        "--block", type=whole(1, 1024), metavar="N", help="work-items of a workgroup, for the occupancy"
    )
    parser.add_argument("--shared-bytes", type=whole(0), default=0, metavar="N", help="dynamic LDS, for the occupancy")
    parser.add_argument("--brief", action="store_true", help="one line for each kernel, and what cannot run")
    parser.add_argument("--json", action="store_true", help="write one record for each kernel as JSON")


def run(args: argparse.Namespace) -> int:
    """Print the contents of the files; exit code 1 if a kernel cannot run, else 0."""
    from mfmasim.errors import unknown

    records, bad, names = [], False, []
    for file in args.files:
        for target, code, why in _codes(file, args):
            if code is None:
                bad = True
                records.append({"file": file, "arch": target, "kernel": None, "why": why})
                if not args.json:
                    _say(f"{file}: {target}: {why.removeprefix(f'{file}, {target}: ')}")
                continue
            if not args.json and not args.brief:
                kernels = "1 kernel" if len(code.kernels) == 1 else f"{len(code.kernels)} kernels"
                _say(f"{file}: {code.arch.target}, code object v{code.object.abi_version}, {kernels}")
            for kernel in code:
                names.append(kernel.title)
                if args.kernel is not None and args.kernel not in kernel.title and args.kernel not in kernel.name:
                    continue
                record = {"file": file, **kernel_record(kernel, args.block, args.shared_bytes)}
                records.append(record)
                bad |= bool(record["unsupported"])
                if not args.json:
                    _say(*([] if args.brief else [""]), *_lines(record, brief=args.brief))
    if args.kernel is not None and not any(record["kernel"] for record in records):
        raise unknown("kernel", args.kernel, dict.fromkeys(names), "in the files")
    if args.json:
        print(json.dumps(records, indent=1))
    return int(bad)


def _codes(file: str, args: argparse.Namespace) -> Iterator[tuple[str, Code | None, str]]:
    """Target and code of every code object in a file; None with the reason for one that cannot be read."""
    from pathlib import Path

    from mfmasim import program
    from mfmasim.architectures import DEFAULT
    from mfmasim.codeobject.contents import contents
    from mfmasim.files import is_source
    from mfmasim.verify import families

    path = Path(file)
    if is_source(path):
        needed(args, CHOICE, f"a case file, not {file}")
        yield "", program.compile(path, args.arch or DEFAULT, **compilation(args)), ""
    elif path.suffix.lower() == ".py" or (file in families() and not path.is_file()):
        codes: dict[int, Code] = {}
        for one in chosen_of(args, [file]):
            code = cast("Code", one.case.compiled(one.arch).code)
            codes.setdefault(id(code), code)
        yield from (("", code, "") for code in codes.values())
    else:
        needed(args, CHOICE, f"a case file, not {file}")
        needed(args, COMPILATION, f"a source; {file} is compiled already")
        if args.arch is not None:
            yield "", program.load(path, args.arch), ""
            return
        for found in contents(path):
            yield found.target, None if found.code is None else program.Code(found.code), found.why


def kernel_record(kernel: Kernel, block: int | None = None, shared_bytes: int = 0) -> dict[str, Any]:
    """All properties of a kernel as a dictionary that JSON can represent.

    Args:
        kernel: the kernel.
        block: work-items of a workgroup, for the occupancy; None for the most of its compilation.
        shared_bytes: dynamic LDS in bytes, for the occupancy.
    """
    from math import prod

    from mfmasim.devices.occupancy import occupancy

    info, metadata = kernel.info, kernel.info.metadata
    threads = block or prod(metadata.reqd_workgroup_size or ()) or metadata.max_flat_workgroup_size
    if metadata.reqd_workgroup_size is None and block is None:
        threads = metadata.max_flat_workgroup_size
    lds = info.group_segment_fixed_size + shared_bytes
    arguments = [
        {
            "name": of.name,
            "type": of.type.text if of.type else "",
            "bytes": arg.size,
            "offset": arg.offset,
            "kind": arg.value_kind,
        }
        for arg, of in zip(kernel.args, kernel.parameters, strict=True)
    ]
    return {
        "kernel": kernel.name,
        "title": kernel.title,
        "arch": kernel.arch.name,
        "target": kernel.code.object.target_id,
        "sha256": kernel.code.sha256,
        "wave": kernel.wave,
        "arguments": arguments,
        "kernarg_bytes": info.kernarg_size,
        "vgpr": {"used": metadata.vgpr_count, "declared": info.descriptor.vgpr_count},
        "agpr": {"used": metadata.agpr_count, "unified": kernel.arch.unified_vgprs},
        "sgpr": {"used": metadata.sgpr_count},
        "spilled": {"vgpr": metadata.vgpr_spill_count, "sgpr": metadata.sgpr_spill_count},
        "lds_bytes": info.group_segment_fixed_size,
        "scratch_bytes": info.private_segment_fixed_size,
        "max_workgroup": metadata.max_flat_workgroup_size,
        "workgroup": list(metadata.reqd_workgroup_size) if metadata.reqd_workgroup_size else None,
        "occupancy": {"block": threads, "lds_bytes": lds, **occupancy(kernel, threads, lds).record()},
        "matrix": _matrix(kernel),
        "notes": list(info.disagreements),
        "instructions": len(kernel.reachable),
        "unsupported": [
            {"pc": ins.pc, "bytes": ins.raw.hex(), "text": ins.text.strip(), "why": why} for ins, why in kernel.refusals
        ],
    }


def _matrix(kernel: Kernel) -> list[dict[str, Any]]:
    """Matrix instructions of a kernel: their number in its code, and their arithmetic's fidelity."""
    from collections import Counter

    from mfmasim.errors import MfmasimError
    from mfmasim.fidelity import lowest
    from mfmasim.matrix import instruction

    counts = Counter(ins.name for ins in kernel.reachable if ins.opcode.matrix)
    found = []
    for name, count in sorted(counts.items()):
        levels = []
        for a in (None, "e4m3fn", "e2m1fn"):  # an instruction with a choice of formats needs one
            try:
                levels.append(instruction(kernel.arch, name, a, a, kernel.wave).fidelity)
            except MfmasimError:
                continue
        found.append({"instruction": name, "places": count, "fidelity": lowest(levels, default="")})
    return found


def _say(*lines: str) -> None:
    from mfmasim.visible import visible

    for line in lines:
        print(visible(line))


def _lines(record: dict[str, Any], *, brief: bool) -> Iterator[str]:
    """A kernel's record as text."""
    found = record["unsupported"]
    count = f"{len(found):,} of {record['instructions']:,} instructions" if found else "all instructions can"
    verdict = f"{count} {'cannot be executed' if found else 'be executed'}"
    if brief:
        yield f"{record['file']}: {record['kernel']} ({record['arch']}): {verdict}"
    else:
        yield f"{record['title']}" + (f"  ({record['kernel']})" if record["title"] != record["kernel"] else "")
        for name, text in _facts(record):
            yield f"  {name:<20}{text}"
        yield f"  {'simulator':<20}{verdict}"
    firsts: dict[str, list[dict[str, Any]]] = {}
    for row in found:
        firsts.setdefault(row["text"].split()[0], []).append(row)
    for rows in firsts.values():
        yield f"{'' if brief else '  '}  {len(rows):,} x {rows[0]['why']}"


def _facts(record: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Names and texts of a kernel's needs."""
    arguments = [f"{arg['type'] or arg['kind']} {arg['name']}".strip() for arg in record["arguments"]]
    yield "arguments", f"({', '.join(arguments)}), {record['kernarg_bytes']} bytes with hidden ones"
    vgpr, agpr = record["vgpr"], record["agpr"]
    used = "unknown" if vgpr["used"] is None else str(vgpr["used"])
    held = record["occupancy"]
    others = [name for name in held["limited_by"] if name != "VGPRs"]
    padded = vgpr["used"] is not None and vgpr["declared"] - vgpr["used"] - (agpr["used"] or 0) > 16 and others
    more = f": the compiler declares all that {' and '.join(others)} leave; fewer change nothing" if padded else ""
    yield "VGPRs", f"{used} used, {vgpr['declared']} declared{more}"
    if agpr["used"]:
        yield "AGPRs", f"{agpr['used']}" + (", of the same file" if agpr["unified"] else "")
    yield "SGPRs", "unknown" if record["sgpr"]["used"] is None else str(record["sgpr"]["used"])
    spilled = {name: number for name, number in record["spilled"].items() if number}
    if spilled:
        yield "spilled", ", ".join(f"{number} {name.upper()}s" for name, number in spilled.items())
    yield "LDS", f"{record['lds_bytes']:,} bytes of a workgroup"
    if record["scratch_bytes"]:
        yield "scratch", f"{record['scratch_bytes']:,} bytes of a work-item"
    required = record["workgroup"]
    sizes = f"exactly {' x '.join(map(str, required))}" if required else f"at most {record['max_workgroup']:,}"
    yield "work-items", f"{sizes} in a workgroup, waves of {record['wave']}"
    yield (
        "occupancy",
        (
            f"{held['waves_per_simd']:g} waves a SIMD with workgroups of {held['block']}, limited by "
            f"{', '.join(others if padded else held['limited_by'])}"
        ),
    )
    for row in record["matrix"]:
        places = f"{row['places']} {'place' if row['places'] == 1 else 'places'}"
        yield "matrix", f"{row['instruction']}, {places}, arithmetic {row['fidelity'] or 'unknown'}"
    for note in record["notes"]:
        yield "note", note
