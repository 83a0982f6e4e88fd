"""Digests of what the shipped cases compute and report, so that a changed bit is noticed wherever it comes from.

``python -m tests.reproducible.digests`` writes the table `digests.csv`: one row for each case function of `hipkernels`
and each of its architectures. ``--check`` compares instead; names of families after it restrict both.

A row holds digests of the loaded code, of every buffer before and after each launch, and of the findings: the columns
say whether the compiler, the drawn inputs, the arithmetic or a check differs. Debug information is no part of it: a
comment in a header would change the rows of every family that includes it.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import sys
from dataclasses import astuple, dataclass, fields, replace
from pathlib import Path

import numpy as np

from mfmasim.devices import SimDevice
from mfmasim.errors import MfmasimError
from mfmasim.lab.rebuild import COMPILER, PREBUILT
from mfmasim.verify import find, verify_case
from mfmasim.verify.prebuilt import code_for
from mfmasim.verify.runner import set_parameters

TABLE = Path(__file__).parent / "digests.csv"
SHORT = 12
ELF_HEADER = 64
"""Bytes."""


@dataclass(frozen=True)
class Row:
    """One case on one architecture."""

    group: str
    case: str
    arch: str
    compiler: str
    code: str
    inputs: str
    outputs: str
    findings: str

    @property
    def key(self):
        """What names the row."""
        return self.group, self.case, self.arch


def loaded(code):
    """Digest of what a device loads of a code object, without the ELF header: it says where unloaded sections lie."""
    found = hashlib.sha256()
    for segment in code.segments:
        data = bytearray(segment.data)
        if data.startswith(b"\x7fELF"):
            data[:ELF_HEADER] = bytes(ELF_HEADER)
        found.update(segment.vaddr.to_bytes(8, "little") + data)
    return found.hexdigest()[:SHORT]


class Recording(SimDevice):
    """The simulator; it keeps a digest of all buffers before and after every launch."""

    def __init__(self):
        self.before, self.after = hashlib.sha256(), hashlib.sha256()

    def launch(self, kernel, grid, block, args, *more, **options):
        """Launch, and take what every buffer holds before and after."""
        for buffer in buffers(args):
            self.before.update(buffer.tobytes())
        report = super().launch(kernel, grid, block, args, *more, **options)
        for buffer in buffers(args):
            self.after.update(buffer.tobytes())
        return report


def buffers(args):
    """The arrays among arguments, in order; those in structures, too."""
    for argument in args:
        if isinstance(argument, np.ndarray) and argument.ndim:
            yield argument
        elif isinstance(argument, list | tuple):
            yield from buffers(argument)


def place(finding):
    """What identifies a finding, apart from its wording."""
    return (
        finding.id,
        finding.severity,
        finding.kernel,
        finding.instruction,
        finding.pc,
        finding.source,
        finding.other,
        finding.workgroup,
        finding.wave,
        finding.lane,
        finding.register,
        finding.element,
        finding.count,
    )


def runs(groups=()):
    """Group, case and architecture of every row: the first variant of each case function on each architecture."""
    for group, cases in find("all"):
        seen = set()
        for case in cases:
            for arch in case.arch:
                name = case.name.partition("[")[0], arch
                if name in seen or arch in case.skip or (groups and group not in groups):
                    continue
                seen.add(name)
                yield group, case, arch


def kernel_of(group, case, arch):
    """The kernel of a case: prebuilt, or by the compiler from PyPI, whose versions are the same everywhere."""
    compiler = None if group in PREBUILT else COMPILER
    case = set_parameters(case, arch=arch)
    return code_for(case.source, arch, compiler, case.flags)[case.kernel_name()]


def row(group, case, arch):
    """The row of a case, run anew. Mappings are not proved: their proof computes no float."""
    device = Recording()
    kernel = kernel_of(group, case, arch)
    try:
        result = verify_case(replace(case, mapping=None), arch, group=group, device=device, kernel=kernel)
        found = [result.status, *sorted(map(repr, map(place, [*result.findings, *result.suppressed])))]
    except MfmasimError as error:  # a launch that is refused
        found = ["error", str(error)]
    return Row(
        group,
        case.title,
        arch,
        kernel.code.made_by,
        loaded(kernel.code.object),
        device.before.hexdigest()[:SHORT],
        device.after.hexdigest()[:SHORT],
        hashlib.sha256("\n".join(found).encode()).hexdigest()[:SHORT],
    )


def read():
    """The rows of the table by key."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        rows = [Row(**fields) for fields in csv.DictReader(file)]
    return {row.key: row for row in rows}


def write(rows):
    """Write the table, sorted."""
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(field.name for field in fields(Row))
        out.writerows(map(astuple, sorted(rows, key=lambda row: row.key)))


def difference(recorded, found):
    """What differs between a row of the table and the same case run here, in words; empty if nothing does."""
    if recorded is None:
        return "the table has no such row"
    names = [field.name for field in fields(Row) if getattr(recorded, field.name) != getattr(found, field.name)]
    return ", ".join(f"{name} {getattr(found, name)} instead of {getattr(recorded, name)}" for name in names)


def main(argv=None):
    """Write the table or compare with it; 1 if a row differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.reproducible.digests", description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    parser.add_argument("--missing", action="store_true", help="only rows that the table lacks")
    parser.add_argument("groups", nargs="*", help="families; all of them without any")
    args = parser.parse_args(argv)
    table = read() if TABLE.is_file() else {}
    wanted = list(runs(args.groups))
    known = {(group, case.title, arch) for group, case, arch in runs()}
    kept = {key: row for key, row in table.items() if key in known}
    wrong = 0
    for group, case, arch in wanted:
        key = group, case.title, arch
        if args.missing and key in kept:
            continue
        found = row(group, case, arch)
        if args.check and (text := difference(kept.get(key), found)):
            wrong += 1
            print(f"{' '.join(key)}: {text}", flush=True)
        kept[key] = found
    if not args.check:
        write(kept.values())
    print(f"{len(wanted)} cases, {wrong} differ" if args.check else f"{len(kept)} rows in {TABLE.name}")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
