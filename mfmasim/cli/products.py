"""Products: units, clock, bandwidth and peaks by format, each with its source; for `list` and `show`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mfmasim.architectures import Arch
    from mfmasim.architectures.rates import Product
    from mfmasim.matrix import MatrixInstruction

ALIKE = {"e4m3fn": ("e4m3fn", "e5m2"), "e2m3fn": ("e2m3fn", "e3m2fn")}
"""Formats of as many bits, which an instruction with a choice takes at the same rate."""
PEAK_COLUMNS = ("product", "a", "b", "d", "sparse", "tflops", "instruction", "cycles", "source")


def product_of(name: str) -> Product | None:
    """The product of a name, such as ``mi355x``; None if it names an architecture, or nothing is known of it."""
    from mfmasim.architectures import arch, plain

    return next((one for one in arch(name).rates.products if plain(one.name) == plain(name)), None)


def product_rows(found: Arch, product: Product) -> list[tuple[str, Any]]:
    """Property and value of a product."""
    unit = "compute units" if found.wave_sizes == (64,) or found.family.startswith("CDNA") else "work-group processors"
    return [
        ("product", product.name),
        (unit, product.units),
        ("dies with compute units", product.chiplets),
        *(
            (name, f"{size} MiB")
            for name, size in zip(("L2 of a die", "last level"), product.caches, strict=True)
            if size
        ),
        ("peak clock", f"{product.megahertz:g} MHz"),
        ("peak memory bandwidth", f"{product.gigabytes:,g} GB/s"),
        ("source", product.source),
    ]


def peak_rows(found: Arch, products: tuple[Product, ...]) -> Iterator[list[Any]]:
    """Rows of `PEAK_COLUMNS`: for each combination of formats the fastest instruction, 10^12 operations a second.

    Args:
        found: the architecture.
        products: its products; the peak is units x clock x operations that the instruction does in a clock and unit.
    """
    fastest: dict[tuple[Any, ...], Any] = {}
    for op in operations(found.name):
        alike = ALIKE.get(op.a, (op.a,)) if op.row.a == "f8f6f4" else (op.a,)
        pairs = [(a, b) for a in alike for b in alike] if len(alike) > 1 else [(op.a, op.b)]
        for key in ((a, b, op.d, bool(op.sparse)) for a, b in pairs):
            if key not in fastest or op.ops_per_cycle > fastest[key].ops_per_cycle:
                fastest[key] = op
    for product in products:
        for (a, b, d, sparse), op in fastest.items():
            tera = op.peak(product.units, product.megahertz * 1e6) / 1e12
            yield [
                product.name,
                a,
                b,
                d,
                "sparse" if sparse else "",
                round(tera, 1),
                op.name,
                op.cycles,
                product.source,
            ]


def operations(arch: str) -> Iterator[MatrixInstruction]:
    """Every instruction and wave size of an architecture; for f8f6f4 one per register count."""
    from mfmasim.architectures import arch as find_arch
    from mfmasim.matrix import instruction, instructions

    for name in instructions(arch):
        small = instruction(arch, name).row.a == "f8f6f4"
        for a in ("e4m3fn", "e2m3fn", "e2m1fn") if small else (None,):
            for wave in find_arch(arch).wave_sizes:
                yield instruction(arch, name, a, a, wave)
