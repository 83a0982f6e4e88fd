"""Layouts of a kernel as records that JSON can hold, and in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import Any

from mfmasim import program
from mfmasim.kernels import Kernel
from mfmasim.observe import Finding
from mfmasim.triton.layouts.compared import Comparison, compare
from mfmasim.triton.layouts.held import Shared
from mfmasim.triton.layouts.ttgir import read


def records(compiled: Sequence[tuple[str, bytes]]) -> list[dict[str, Any]]:
    """A record of each product and of each LDS tensor of kernels, alike ones once.

    Args:
        compiled: each kernel in Triton's GPU dialect, and its code object.
    """
    kernels = [
        (text, code[name]) for text, code in ((t, program.load(c)) for t, c in compiled) for name in code.kernels
    ]
    made: list[dict[str, Any]] = []
    for arch, wave in dict.fromkeys((kernel.arch.name, kernel.wave) for _, kernel in kernels):
        those = [(text, kernel) for text, kernel in kernels if (kernel.arch.name, kernel.wave) == (arch, wave)]
        for (_, kernel), (dots, shared) in zip(those, read([text for text, _ in those], arch, wave), strict=True):
            made += [_dot_record(compare(dot, kernel), kernel) for dot in dots]
            made += [_shared_record(one, kernel) for one in shared]
    found: list[dict[str, Any]] = []
    for record in made:
        if record not in found:
            found.append(record)
    return found


def _shared_record(shared: Shared, kernel: Kernel) -> dict[str, Any]:
    place = {"kernel": kernel.name, "arch": kernel.arch.name, "source": shared.source}
    return {"shared": {**place, "shape": list(shared.shape), "encoding": shared.encoding}}


def _dot_record(compared: Comparison, kernel: Kernel) -> dict[str, Any]:
    dot = compared.dot
    return {
        "dot": {
            "kernel": kernel.name,
            "arch": kernel.arch.name,
            "source": dot.source,
            "verdict": compared.verdict,
            "instruction": compared.operation.name if compared.operation is not None else None,
            "exchanged": dot.exchanged,
            "order": list(compared.order),
            "reason": compared.reason,
            "tensors": {
                name: {"shape": list(held.shape), "format": held.format, "type": held.encoding}
                for name, held in dot.operands.items()
            },
            "operands": [
                {
                    "operand": one.operand,
                    "passed_as": one.passed_as,
                    "places": one.places,
                    "wrong": one.wrong,
                    "first": one.first,
                }
                for one in compared.operands
            ],
        }
    }


def dot_lines(record: dict[str, Any]) -> Iterator[str]:
    """A product's record in words."""
    tensors = record["tensors"]
    product = " x ".join(f"{tensors[name]['format']}{tensors[name]['shape']}" for name in ("A", "B") if name in tensors)
    head = f"{record['verdict'].upper():<12} {record['arch']:<8} {_file(record['source'])}  {product}"
    if record["instruction"]:
        head += f"  {record['instruction']}"
    yield head + ("  (A and B exchanged)" if record["exchanged"] else "")
    if record["reason"]:
        yield f"      {record['reason']}"
    for one in record["operands"]:
        name = one["operand"] if one["operand"] == one["passed_as"] else f"{one['operand']} as {one['passed_as']}"
        text = f"{one['places'] - one['wrong']:,} of {one['places']:,} places agree"
        yield f"      {name:<18} {text}" + (f"; first: {one['first']}" if one["first"] else "")
    if record["verdict"] == "K renumbered":
        yield f"      K of the instruction 0.. is K {_ranges(record['order'])} of the tensors, alike in A and B"


def conflict_lines(rows: Sequence[dict[str, Any]], findings: Sequence[Finding]) -> Iterator[str]:
    """Bank conflicts by line of the Triton source, each with the parameters of the LDS tensors of that line.

    Args:
        rows: records of a program's kernels.
        findings: of the check ``conflicts``.
    """
    shared = [row["shared"] for row in rows if "shared" in row]
    said: set[str] = set()
    for finding in findings:
        encodings = sorted({one["encoding"] for one in shared if one["source"] == finding.source})
        line = f"{_file(finding.source)}  {finding.instruction}: {finding.message}"
        if line in said:
            continue
        said.add(line)
        yield line
        yield f"      layout: {'; '.join(encodings) or 'none on this line (the compiler exchanges values through LDS)'}"


def _file(source: str) -> str:
    return PurePath(source).name


def _ranges(numbers: Sequence[int]) -> str:
    """Numbers as runs: 0..3, 8..11."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(f"{run[0]}..{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)
