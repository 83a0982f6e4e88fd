"""Small kernels with a fault that shows at certain sizes only, as cases of plain arrays."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mfmasim.verify import Case, In, InOut
from tests.machine import harness

if TYPE_CHECKING:
    from collections.abc import Callable

    from mfmasim.kernels import Kernel

START = """
  s_load_dwordx4 s[8:11], s[0:1], 0x0
  s_load_dwordx4 s[12:15], s[0:1], 0x10
  s_waitcnt lgkmcnt(0)
  v_and_b32 v0, 0x3ff, v0
  v_lshlrev_b32 v1, 2, v0
  v_mov_b32 v2, 0
  v_mov_b32 v3, 0
"""
"""s[8:9]: the array that is read, s[10:11]: the one that is written, s12: n, s14: k; v0: work-item, v1: 4 v0."""


RDNA = START.replace("dwordx4", "b128")


@dataclass(frozen=True)
class Hostile:
    """A kernel with a fault."""

    name: str
    violates: str
    """The obligation that an execution violates."""
    bad: dict[str, int]
    """Parameters at which it does."""
    body: str
    needs: str = "n >= 1 and k >= 1"
    n: int = 64
    k: int = 1
    grid: Callable[[int, int], Any] = lambda n, k: 1
    block: int = 64
    read: Callable[[int, int], Any] = lambda n, k: 64
    written: Callable[[int, int], Any] = lambda n, k: 64
    shared: Callable[[int, int], Any] = lambda n, k: 0
    lds: int = 0
    arch: str = "gfx942"
    data: Any = "special"
    """Of the array that is read."""
    passed: Callable[[int, int], tuple[int, int]] = lambda n, k: (n, k)
    """What the case function passes for n and k."""
    first: Callable[[int, int], Any] | None = None
    """The first argument, in place of an array."""
    options: dict[str, Any] = field(default_factory=dict)

    def kernel(self) -> Kernel:
        """It, assembled."""
        start = RDNA if self.arch.startswith("gfx1") else START
        start = start.replace("s_waitcnt lgkmcnt(0)", "s_wait_kmcnt 0x0") if self.arch == "gfx1250" else start
        text = start + self.body + "\n  s_endpgm\n"
        return harness.kernel(text, self.arch, "ppvv", lds=self.lds, **self.options)

    def case(self) -> Case:
        """Its case."""

        def build(n: int = 64, k: int = 1) -> dict[str, Any]:
            read = In("u32", (self.read(n, k),), self.data) if self.first is None else self.first(n, k)
            written = InOut("u32", (self.written(n, k),))
            return {
                "grid": self.grid(n, k),
                "block": self.block,
                "shared_bytes": self.shared(n, k),
                "args": [read, written, *self.passed(n, k)],
                "expect": lambda *arrays: arrays[-1],
            }

        return Case(
            self.name,
            Path(__file__),
            "test",
            (self.arch,),
            build,
            {"n": self.n, "k": self.k},
            self.needs,
            maker=lambda arch: self.kernel().code,
        )
