"""Kernels without a case: proofs for all grids, arguments and lengths of arrays.

Proofs of LDS races, waits, bank conflicts, LDS and scratch need no lengths of arrays. Bounds of arrays and global
races are unknown: they need the arrays that a case file for the code object declares.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from mfmasim.errors import MfmasimError
from mfmasim.prove.arguments import POINTERS, Region
from mfmasim.prove.completion import INT, completed
from mfmasim.prove.contract import Contract
from mfmasim.prove.memos import forget
from mfmasim.prove.polynomial import Symbol, constant, of
from mfmasim.prove.proof import Proof, followed

if TYPE_CHECKING:
    from mfmasim.kernels import Kernel
    from mfmasim.prove.arguments import Passed

__all__ = ["open_contract", "prove_kernel"]


def open_contract(kernel: Kernel, block: tuple[int, ...] | None = None, shared: int = 0) -> Contract:
    """All launches of a kernel with workgroups of one size.

    Args:
        kernel: its metadata has the arguments and, if the compiler requires it, the workgroup's size.
        block: work-items of a workgroup, up to three dimensions; None for the size in the metadata.
        shared: bytes of dynamic LDS.

    Raises:
        MfmasimError: the workgroup's size is unknown, or differs from the metadata.
    """
    metadata = kernel.info.metadata
    required = metadata.reqd_workgroup_size
    if block is None and required is None:
        raise MfmasimError(
            f"{kernel.title}: its metadata does not fix the workgroup's size; --block gives it, at most "
            f"{metadata.max_flat_workgroup_size} work-items"
        )
    x, y, z = (*(block or required or ()), 1, 1)[:3]
    if required is not None and (x, y, z) != required:
        raise MfmasimError(f"{kernel.title}: --block {x},{y},{z}, its metadata requires {required}")
    if not 1 <= x * y * z <= metadata.max_flat_workgroup_size:
        raise MfmasimError(
            f"{kernel.title}: --block of {x * y * z} work-items, 1 to {metadata.max_flat_workgroup_size} are possible"
        )
    if shared < 0 or metadata.group_segment_fixed_size + shared > kernel.arch.lds_bytes:
        raise MfmasimError(f"{kernel.title}: --shared {shared}, {kernel.arch.name} has {kernel.arch.lds_bytes} bytes")
    args: list[Passed] = []
    numbers = []
    for number, (arg, known) in enumerate(zip(kernel.args, kernel.parameters, strict=True)):
        name = known.name or f"argument {number}"
        if arg.is_pointer:
            size = of(Symbol(f"bytes of {name}", 0, INT))
            args.append(Region(name, Symbol("&" + name, 1 << 12, POINTERS), size, writes=True, declared=False))
        elif arg.size in (4, 8) and (known.type is None or known.type.kind in ("int", "uint")):
            args.append(of(Symbol(name, 0, INT)))
            numbers.append(name)
        else:
            args.append(None)
    zero = constant(0)
    grid = tuple(of(Symbol(f"grid_{axis}", 1, INT)) for axis in "xyz")
    texts = [
        "no case: any grid; lengths of arrays are not known",
        f"workgroups are whole, {x}x{y}x{z} work-items, with {shared} bytes of dynamic LDS",
    ]
    if numbers:
        texts.append(f"{', '.join(numbers)}: numbers from 0 to 2^31 - 1, also where they are f32")
    own = Contract((grid[0], grid[1], grid[2]), (x, y, z), shared, args, (zero, zero, zero), [], [])
    return completed(own, [], texts)


def prove_kernel(
    kernel: Kernel, block: tuple[int, ...] | None = None, shared: int = 0, *, group: str = "", seconds: float = 60.0
) -> Proof:
    """Prove the obligations of a kernel that need no case.

    Args:
        kernel: the kernel.
        block: work-items of a workgroup; None for the size in the metadata.
        shared: bytes of dynamic LDS.
        group: the kernel's file, for the report.
        seconds: CPU time; obligations that need more are unknown.

    Raises:
        MfmasimError: the workgroup's size is unknown, or impossible.
    """
    start = time.process_time()
    contract = open_contract(kernel, block, shared)
    proof = Proof(group, kernel.title, kernel.name, kernel.arch.name, source=group)
    proof.assumptions, proof.symbols = contract.assumptions, ["arguments", "grids"]
    proof.obligations = followed(kernel, contract, seconds)
    forget()
    proof.seconds = time.process_time() - start
    return proof
