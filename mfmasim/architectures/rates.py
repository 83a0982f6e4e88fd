"""Rates: what a pipe does in a clock, and how long results take, each a row with its source and how sure it is.

Nothing in these rows was measured for this project, and none is fitted to a kernel. A latency has a range: its low and
high end bound what is plausible where sources differ, or where only its order of magnitude is public.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

__all__ = ["CONFIDENCES", "NAMES", "UNSOURCED", "Product", "Rate", "Rates"]

CONFIDENCES = ("vendor", "llvm", "measured", "inferred", "assumed")
"""How sure a rate is, the surest first: a document of AMD's, LLVM's scheduling model, a published measurement, a
conclusion from one of those for another architecture, a guess of the right order."""

UNSOURCED = "no public source; order of magnitude"
"""Source of a rate that is a guess."""

NAMES = {
    "issue": "clocks between two instructions of a wave, and between two of one kind on a SIMD",
    "valu": "lanes that the vector ALU of a SIMD executes in a clock",
    "transcendental": "lanes in a clock, of transcendental instructions",
    "f64": "lanes in a clock, of f64 instructions",
    "lds": "bytes of its LDS that a group of `lds_simds` SIMDs reads or writes in a clock",
    "lds port": "bytes that a pair of SIMDs exchanges with the LDS in a clock, addresses of stores included",
    "lds fill": "bytes that loads write straight into the LDS in a clock",
    "addresses": "lanes whose addresses a vector memory unit processes in a clock",
    "lines": "cache lines that it looks up in a clock",
    "l1": "bytes that it returns in a clock",
    "l2": "bytes in a clock from the L2 for each vector memory unit, while all of them ask",
    "valu latency": "clocks from an instruction to one that uses its result",
    "transcendental latency": "the same of a transcendental instruction",
    "matrix latency": "clocks beyond its own cycles until anything but the next sum may use a matrix result",
    "salu latency": "clocks from a scalar instruction to one that uses its result",
    "branch": "clocks that a taken branch costs its wave",
    "barrier": "clocks from the last arrival to the first instruction after a barrier",
    "lds latency": "clocks from an LDS access to its result, without its own passes",
    "scalar load": "clocks of a scalar load",
    "l1 latency": "clocks of a vector memory load that hits the L1",
    "l2 latency": "clocks of one that hits the L2",
}
"""What each rate is."""


@dataclass(frozen=True)
class Rate:
    """One rate."""

    name: str
    """One of `NAMES`."""
    value: float
    source: str
    confidence: str
    """One of `CONFIDENCES`."""
    low: float | None = None
    """Of a latency: the shortest that is plausible; None where the value has no range."""
    high: float | None = None

    @property
    def ends(self) -> tuple[float, float, float]:
        """Low end, value, high end."""
        return (
            self.value if self.low is None else self.low,
            self.value,
            self.value if self.high is None else self.high,
        )


@dataclass(frozen=True)
class Product:
    """A GPU: what its rates are multiplied with."""

    name: str
    units: int
    """Groups of four SIMDs: compute units of CDNA, work-group processors of RDNA."""
    megahertz: float
    """Peak engine clock."""
    gigabytes: float
    """Peak memory bandwidth in GB/s."""
    source: str
    chiplets: int = 1
    """Dies over which workgroups are distributed in turn."""


@dataclass(frozen=True)
class Rates:
    """The rates of an architecture, and the products that have them."""

    rows: tuple[Rate, ...] = ()
    products: tuple[Product, ...] = ()
    matrix_on_valu: bool = False
    """Matrix instructions occupy the vector ALU for all their cycles; else they have a core of their own."""
    lds_simds: int = 4
    """SIMDs that share an LDS, a vector memory unit and its L1."""
    l1_bytes: int = 32768
    line_bytes: int = 128
    scalar_unit_shared: bool = True
    """Scalar loads take the issue slot of scalar instructions."""

    def __getitem__(self, name: str) -> Rate:
        """The row of a name."""
        return self.by_name[name]

    @cached_property
    def by_name(self) -> dict[str, Rate]:
        """All rows by name."""
        return {row.name: row for row in self.rows}
