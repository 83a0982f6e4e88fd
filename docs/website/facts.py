"""Reference pages of facts that are rows of the package: architectures, formats, sources."""

from __future__ import annotations

import inspect
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING

from docs.website.markdown import table
from mfmasim.architectures import ARCHITECTURES
from mfmasim.formats import ROWS, FormatRow, format  # noqa: A004
from mfmasim.lds import SOURCES

if TYPE_CHECKING:
    from mfmasim.architectures import Arch

__all__ = ["fact_pages", "format_table"]

KIBIBYTE = 1024


def _sizes(value: int) -> str:
    return f"{value // KIBIBYTE} KiB" if value and value % KIBIBYTE == 0 else str(value)


def _architectures() -> str:
    """What differs between architectures and a reader of a kernel asks for."""
    rows = {
        "family": lambda arch: arch.family,
        "products": lambda arch: ", ".join(arch.products),
        "lanes of a wave": lambda arch: " or ".join(map(str, arch.wave_sizes)),
        "VGPRs of a wave": lambda arch: arch.vgprs,
        "AGPRs of a wave": lambda arch: arch.agprs or "–",
        "SGPRs of a wave": lambda arch: arch.sgprs,
        "LDS of a workgroup": lambda arch: _sizes(arch.lds_bytes),
        "LDS granule (bytes)": lambda arch: arch.lds_granule,
        "flavour of FP8": lambda arch: arch.fp8,
        "matrix instructions": lambda arch: len(arch_instructions(arch)),
        "most work-items of a workgroup": lambda arch: arch.max_workgroup,
    }
    head = (
        "# Architectures\n\nWhat differs between the architectures that mfmasim knows. A name on the command line may "
        "be LLVM's processor (`gfx942`) or a product (`MI300X`). Sources are named in the file of each architecture "
        "under `mfmasim/architectures`.\n\n"
    )
    names = [f"`{name}`" for name in ARCHITECTURES]
    body = table(["", *names], ([what, *map(get, ARCHITECTURES.values())] for what, get in rows.items()))
    parts = [f"\n## {arch.name}\n\n{_details(arch)}" for arch in ARCHITECTURES.values()]
    return head + body + "".join(parts)


def arch_instructions(arch: Arch) -> list[str]:
    """Names of an architecture's matrix instructions."""
    from mfmasim.matrix import instructions

    return list(instructions(arch.name))


def _details(arch: Arch) -> str:
    """Limits of occupancy and wait counters, field by field."""
    rows = [
        (f"{part}: {field.name.replace('_', ' ')}", f"`{getattr(getattr(arch, part), field.name)}`")
        for part in ("simd", "counters")
        if is_dataclass(getattr(arch, part))
        for field in fields(getattr(arch, part))
    ]
    return table(["field", "value"], rows)


def format_table() -> str:
    """The last section of the page about formats."""
    _, meanings = (inspect.getdoc(FormatRow) or "").split("\n\n``special`` says", 1)
    head = (
        "\n## Table of formats\n\nBit fields and range of every format, from the rows of `mfmasim.formats`. "
        f"The column *special* says{meanings}\n\n"
    )
    columns = ["format", "bits", "exponent", "mantissa", "bias", "special", "largest", "source"]
    rows = [
        (
            f"`{row.name}`",
            row.bits,
            row.exponent_bits,
            row.mantissa_bits,
            row.bias,
            row.special,
            f"{format(row.name).max:g}",
            row.source,
        )
        for row in ROWS
    ]
    return head + table(columns, rows)


def _sources() -> str:
    head = (
        "# Sources\n\nEvery fact has a source; what is not public is `assumed`.\n\n"
        "* Arithmetic and layout of each matrix instruction: *Trust* in [Matrix instructions](instructions.md).\n"
        "* Each number format: [Number formats](formats.md#table-of-formats).\n"
        "* Rules of each check: [Checks](checks.md).\n\n"
        "## LDS phases\n\nNone of them was measured for this project. `mfmasim lds ARCH ACCESS` names the source of an "
        "access and how certain it is.\n\n"
    )
    return head + table(["short name", "source"], ((f"`{name}`", about) for name, about in SOURCES.items()))


def fact_pages() -> dict[str, str]:
    """Pages by path."""
    return {"architectures.md": _architectures(), "sources.md": _sources()}
