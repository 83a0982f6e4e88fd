"""Addresses and data for the kernels of single LDS instructions: a different, aligned place in range for every lane."""

import re
import zlib
from typing import Any

import numpy as np
from numpy.random._generator import Generator
from numpy.typing import NDArray

from hipkernels.conformance.lds import reference

LDS_DWORDS = 4096
# Integer operations whose order among lanes does not matter: several lanes share an address.
COMMUTE = ("ds_add_u", "ds_min_i", "ds_max_i", "ds_min_u", "ds_max_u", "ds_and_b", "ds_or_b", "ds_xor_b")


def operands(name: str, wave: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Arguments of the kernel of an instruction.

    Returns:
        The LDS before (4096,), byte addresses (wave,), data and results before (4 * wave,), all uint32. Results of
        16-bit loads begin as 0: whether the other half is kept depends on error correction (LLVM: sramecc).
    """
    random = np.random.default_rng(zlib.crc32(name.encode()))
    fill, data = bits(name, random, LDS_DWORDS), bits(name, random, 4 * wave)
    size = (
        8 if name.endswith(("64", "_tr_b16", "_tr_b8", "_tr_b4")) else 16 if name.endswith(("96", "128", "b6")) else 4
    )
    slots = random.permutation(8192 // size - 64)[:wave]
    if re.search("read2|write2|wrxchg2|2addr", name):  # two places per lane, disjoint from all others
        slots = random.permutation(64)[:wave] * (1 if re.search("st64|stride64", name) else 8)
    if name.startswith(COMMUTE):
        slots = slots[random.integers(0, 8, wave)]
    addresses = (slots * size).astype(np.uint32)
    results = np.zeros(4 * wave, np.uint32) if "d16" in name else random.integers(0, 1 << 32, 4 * wave, np.uint32)
    if "cmpst" in name:  # the comparison succeeds in half of the lanes
        wide = size // 4
        comparand = 2 if "cmpstore" in name else 0
        for lane in np.flatnonzero(random.random(wave) < 0.5):
            first = (int(addresses[lane]) + reference.SINGLE) // 4
            data[4 * lane + comparand : 4 * lane + comparand + wide] = fill[first : first + wide]
    return fill, addresses, data, results


def bits(name: str, random: Generator, count: int) -> NDArray[Any]:
    """Random bits; for floating-point instructions numbers of ordinary size."""
    kind = name.rpartition("_")[2]
    if kind in ("f16", "bf16"):
        halves = random.normal(size=2 * count).astype(np.float16 if kind == "f16" else np.float32)
        return halves.view(np.uint32) if kind == "f16" else packed_bfloats(halves)
    if kind == "f32":
        return random.normal(size=count).astype(np.float32).view(np.uint32)
    if kind == "f64":
        return random.normal(size=count // 2).view(np.uint32)
    return random.integers(0, 1 << 32, count, np.uint32)


def packed_bfloats(values: Any) -> Any:
    high = (values.view(np.uint32) >> 16).reshape(-1, 2)
    return (high[:, 0] | high[:, 1] << 16).astype(np.uint32)
