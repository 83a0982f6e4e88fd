"""Constants come to operations without axes: the bits are those of a register that holds the constant in every lane."""

import itertools

import numpy as np
import pytest

from mfmasim.architectures import arch
from mfmasim.machine import ops  # noqa: F401  (fills the table of operations)
from mfmasim.machine.binding.operands import NUMBERS, VIEW16, VIEW32, VIEW64
from mfmasim.machine.binding.saturate import saturated
from mfmasim.machine.numerics.float_mode import float_mode
from mfmasim.machine.opcodes.registry import OPERATIONS

BARE = {*NUMBERS, "mask", "mode"}
NAMES = sorted({o.name for o in OPERATIONS.values() if o.unit == "vector" and not o.shaped and set(o.sources) <= BARE})
MODES = [0xF0, 0x2F0, 0x3F0 | 1 << 23, 0, 0x1A5]
"""Plain, IEEE, with FP16_OVFL and DX10_CLAMP, all denormals flushed, other roundings."""
SPECIAL = {16: (0, 0x8000, 1, 0x7C00, 0xFC00, 0x7E01, 0x7C01), 32: (0, 1 << 31, 1, 31, 0x7F800000, 0x7F800001)}


def values(kind, rng, shape):
    """Random bits of a type, some of them special."""
    if kind == "mask":
        return rng.integers(0, 2, shape).astype(np.bool_)
    view = (VIEW32 | VIEW16 | VIEW64)[kind]
    bits = rng.integers(0, 1 << 8 * view.itemsize, shape, np.dtype(f"u{view.itemsize}"), endpoint=False)
    special = SPECIAL.get(8 * view.itemsize, (0, 1 << 63, 1, 63, 0x7FF0000000000000, 0x7FF0000000000001))
    flat = bits.reshape(-1)
    flat[: len(special)] = special[: flat.size]
    return rng.permutation(flat).reshape(shape).view(view)


def same(one, other):
    """Whether results have the same bits in all lanes."""
    pairs = zip(one, other, strict=True) if isinstance(one, tuple) else [(one, other)]
    for a, b in pairs:
        x, y = (np.ascontiguousarray(np.broadcast_to(value, (2, 64))) for value in (a, b))
        if x.dtype != y.dtype or x.tobytes() != y.tobytes():
            return False
    return True


@pytest.mark.parametrize("arch_name", ["gfx942", "gfx1201"])
def test_bits_are_those_of_a_register(arch_name):
    """Every operation, every choice of operands that are constants, beside at least one register."""
    rng, compared = np.random.default_rng(0), 0
    with np.errstate(all="ignore"):
        for name, bits in itertools.product(NAMES, MODES):
            operation = OPERATIONS[name]
            mode = [float_mode(bits, arch(arch_name).floats)] if "mode" in operation.sources else []
            if bits != MODES[0] and not mode:
                continue
            kinds = [kind for kind in operation.sources if kind != "mode"]
            bodies = [operation.body, *([saturated(operation)] if operation.saturates else [])]
            numbers = [place for place, kind in enumerate(kinds) if kind in NUMBERS]
            for chosen in itertools.chain.from_iterable(
                itertools.combinations(numbers, count) for count in range(1, len(numbers))
            ):
                sources = [values(kind, rng, () if i in chosen else (2, 64)) for i, kind in enumerate(kinds)]
                full = [source if source.ndim else np.full((2, 64), source) for source in sources]
                for body in bodies:
                    assert same(body(*sources, *mode), body(*full, *mode)), (name, chosen, hex(bits))
                    compared += 1
    assert compared > 2500
