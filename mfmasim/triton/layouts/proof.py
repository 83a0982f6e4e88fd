"""A kernel's fragments as it runs, by provenance, beside the layouts that Triton's compiler states.

The elements of A and B are followed from their arguments to every matrix instruction. What a wave's fragment then holds
has to be what the layout of the product says of that wave and of one of its groups of registers, within the tile.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.devices import SimDevice
from mfmasim.observe.fragments.tiles import tiles_of
from mfmasim.triton.layouts.compared import Comparison, compare, expected, tensor_of
from mfmasim.triton.layouts.ttgir import read
from mfmasim.verify.elements.trace import follow
from mfmasim.verify.launch import launch_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mfmasim.observe.fragments.arguments import Arguments
    from mfmasim.observe.fragments.mapping import MappingReport
    from mfmasim.observe.fragments.tiles import Tile
    from mfmasim.triton.compiled import TritonCode


@dataclass(frozen=True)
class Proof:
    """What was found of a kernel."""

    dots: tuple[Comparison, ...]
    """Layouts beside the instructions' rows."""
    mapping: MappingReport
    """The mapping check: lines, K, scales and results."""
    fragments: int
    """Fragments of A and B that matrix instructions read."""
    holding: int
    """Those that hold what the layouts say."""
    others: tuple[str, ...] = field(default=())
    """The first of those that do not, in words."""

    @property
    def ok(self) -> bool:
        """Whether all of it agrees."""
        agreed = all(dot.verdict in ("equal", "K renumbered") for dot in self.dots)
        severe = any(finding.severity != "info" for finding in self.mapping.findings)
        return agreed and not severe and 0 < self.fragments == self.holding


def prove(code: TritonCode, grid: int | Sequence[int], args: Sequence[Any], expect: object = None) -> Proof:
    """Run a kernel on labels and compare every fragment with its layouts.

    Args:
        code: from `mfmasim.triton.compile`.
        grid: workgroups.
        args: an entry for each argument that is not a constant: matrices by their roles (`mfmasim.verify.A`, `B`, `C`,
            `ScaleA`, `ScaleB`) and numbers. Tiles of the program begin at multiples of their sizes.
        expect: of C, as a case declares it.

    Raises:
        MfmasimError: the arguments do not fit, or the installed Triton cannot read the layouts.
    """
    kernel = code.kernel
    launch = launch_of({"grid": grid, "expect": expect, **code.fields(args)}, f"proof of {kernel.name}")
    ((dots, _),) = read([code.asm["ttgir"]], kernel.arch.name, kernel.wave)
    compared = [compare(dot, kernel) for dot in dots]
    followed = follow(SimDevice(), kernel, launch)
    waves = code.block // kernel.wave
    count, holding, others = 0, 0, []
    for executed in followed.tracer.executed:
        own = [one for one in compared if one.operation is executed.event.operation]
        for tile in tiles_of(executed, followed.tracer, followed.arguments.labels):
            for name in ("A", "B"):
                count += 1
                if any(_holds(tile, name, one, followed.arguments, waves) for one in own):
                    holding += 1
                else:
                    at = kernel.source_at(tile.executed.event.instruction.pc)
                    others.append(
                        f"{at}: wave {tile.wave}, matrix instruction {tile.order} of the wave, operand {name}"
                    )
    return Proof(tuple(compared), followed.check().run(), count, holding, tuple(others[:10]))


def _holds(tile: Tile, name: str, compared: Comparison, arguments: Arguments, waves: int) -> bool:
    """Whether a fragment holds one of the groups of registers that the layout gives its wave."""
    dot, operation = compared.dot, tile.executed.event.operation
    role = tensor_of(dot, name)
    labels = tile.labels[name] if name == "A" else tile.labels[name].T
    found = arguments.coordinates(labels, role)
    if role == "B":
        found = found[..., ::-1]  # line of the product, then K
    shape = dot.operands[role].shape[:: -1 if role == "B" else 1]
    packed = 2 if dot.operands[role].format == "e2m1fn" else 1
    within = found % np.array([shape[0], shape[1] * packed])
    wanted = expected(dot, name, operation)[tile.wave % waves]
    return bool((found >= 0).all() and (wanted == within).all(axis=(1, 2, 3)).any())
