"""Rates: what a pipe does in a clock, and how long results take, each a row with its source and how sure it is.

Nothing in these rows was measured for this project, and none is fitted to a published time of a kernel. A latency has
a range: its low and high end bound what is plausible where sources differ, or where only its order of magnitude is
public; of a captured one, they enclose what thread traces show (golden/hardware/launches.json).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

CONFIDENCES = ("captured", "vendor", "llvm", "measured", "inferred", "assumed")
"""How sure a rate is, the surest first: read from a thread trace of that architecture in golden/hardware, a document
of AMD's, LLVM's scheduling model, a published measurement, a conclusion from one of those for another architecture, a
guess of the right order."""

UNSOURCED = "no public source; order of magnitude"
"""Source of a rate that is a guess."""

NAMES = {
    "issue": "clocks between two instructions of a wave, and between two of one kind on a SIMD",
    "valu": "lanes that the vector ALU of a SIMD executes in a clock",
    "transcendental": "lanes in a clock, of transcendental instructions",
    "f64": "lanes in a clock, of f64 instructions",
    "b64": "lanes in a clock, of shifts of 64-bit integers",
    "multiply": "lanes in a clock, of multiplications of 32-bit integers and of their 64-bit products",
    "lds": "bytes of its LDS that a group of `lds_simds` SIMDs reads or writes in a clock",
    "lds port": "bytes that a pair of SIMDs exchanges with the LDS in a clock, addresses of stores included",
    "lds fill": "bytes that loads write straight into the LDS in a clock",
    "addresses": "lanes whose addresses a vector memory unit processes in a clock",
    "lines": "cache lines that it looks up in a clock",
    "l1": "bytes that it returns in a clock",
    "l2": "bytes in a clock from the L2 for each vector memory unit, while all of them ask, at its peak",
    "l2 sustained": "clocks for 128 bytes from the L2 to each vector memory unit, sustained, while all of them ask",
    "l2 stores": "clocks for 128 bytes from each vector memory unit to the L2, sustained, while all of them store",
    "valu latency": "clocks from an instruction to one that uses its result",
    "transcendental latency": "the same of a transcendental instruction",
    "matrix latency": "clocks beyond its own cycles until anything but the next sum may use a matrix result",
    "carry latency": "clocks from a vector instruction to another one that uses its carry or mask in scalar registers",
    "valu completion": "clocks from a wave's last vector instruction to its next LDS or memory instruction, and to a "
    "scalar instruction, branch or S_WAIT_ALU that needs a result of the vector ALU",
    "scalar overwrite": "clocks from a vector instruction to a scalar one that overwrites a scalar register it reads",
    "salu latency": "clocks from a scalar instruction to one that uses its result",
    "salu completion": "clocks from a wave's last scalar instruction to its next scalar load, to a branch on SCC, and "
    "to S_WAIT_ALU for scalar results",
    "vector queue": "vector instructions that a SIMD accepts beyond the one that executes, in order; 1: an instruction "
    "issues when its unit is free",
    "queue release": "clocks beyond its own until a matrix instruction leaves that queue",
    "internal": "clocks from another instruction to a wait, hint, barrier or the end",
    "branch": "clocks that a taken branch costs its wave",
    "fall through": "clocks from a branch that is not taken to the next instruction",
    "barrier": "clocks from the last arrival to the first instruction after a barrier",
    "lds latency": "clocks from an LDS access to its result, without its own passes",
    "scalar load": "clocks of a scalar load",
    "l1 latency": "clocks of a vector memory load that hits the L1",
    "l2 latency": "clocks of one that hits the L2",
    "miss latency": "clocks of one whose lines the unit touches for the first time: from behind the L2, or with others",
    "cold scalar load": "clocks of a scalar load whose data no cache has",
    "cold load": "clocks of a vector memory load of lines that no cache has",
    "cold code": "clocks until the next 256 bytes of code are there that no cache has, from the first of those before",
    "wave end": "clocks from the last store of a wave to its end",
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
    caches: tuple[int, int] = (0, 0)
    """MiB of a die's L2 and of the last-level cache (ROCm's documentation, "AMD GPU specifications"); 0: unknown."""
    loaded: tuple[float, float] = (0, 0)
    """Megahertz that a long matrix product leaves within the power limit, and the share of their time in which its
    matrix cores are busy; 0: unknown."""
    sustained: float = 0
    """Memory bandwidth that a copy reaches, in GB/s; 0: unknown."""
    measured: str = ""
    """Source of these two."""


@dataclass(frozen=True)
class Rates:
    """The rates of an architecture, and the products that have them."""

    rows: tuple[Rate, ...] = ()
    products: tuple[Product, ...] = ()
    matrix_on_valu: bool = False
    """Matrix instructions occupy the vector ALU for all their cycles; else they have a core of their own."""
    shadow: float = 0
    """Clocks from a matrix instruction of 16-bit formats to the next vector instruction of its SIMD; 0: as any."""
    lds_simds: int = 4
    """SIMDs that share an LDS, a vector memory unit and its L1."""
    l1_bytes: int = 32768
    line_bytes: int = 128
    code_bytes: int = 32768
    """Of the instruction cache: FlyDSL 756 for gfx950, whose unrolled loops above it stall; RDNA white paper."""
    scalar_unit_shared: bool = True
    """Scalar loads take the issue slot of scalar instructions."""

    def __getitem__(self, name: str) -> Rate:
        """The row of a name."""
        return self.by_name[name]

    @cached_property
    def by_name(self) -> dict[str, Rate]:
        """All rows by name."""
        return {row.name: row for row in self.rows}
