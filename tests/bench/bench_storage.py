"""LDS reads and writes against the bare NumPy calls on the same arrays: ``python -m tests.bench.bench_storage``.

Prints, for each access of 256 waves, microseconds, the share of the rate of a bare gather or scatter of as many dwords,
and how many times quicker aligned addresses are than odd ones, which go byte by byte.
"""

from __future__ import annotations

import timeit

import numpy as np

from mfmasim.machine.state import private_memory

WAVES, LANES, BYTES = 256, 64, 65536


def microseconds(call):
    """Best of five."""
    return min(timeit.repeat(call, number=5, repeat=5)) / 5 * 1e6


def main():
    """Print the table."""
    rng = np.random.default_rng(0)
    rows = np.zeros((WAVES // 4, BYTES), np.uint8)
    row = np.repeat(np.arange(WAVES // 4), 4)[:, None]
    flat = rows.reshape(-1).view(np.uint32)
    inside = np.ones((1, LANES), np.bool_)
    for size in (4, 8, 16):
        address = rng.permutation(4 * LANES)[None, :LANES] * size
        index = (row * BYTES + address) >> 2
        words = [rng.integers(0, 1 << 32, (WAVES, LANES), dtype=np.uint32) for _ in range(size // 4)]
        bare = {
            "read": microseconds(lambda i=index, n=size // 4: [flat.take(i + k) for k in range(n)]),
            "write": microseconds(lambda i=index, w=words: [flat.__setitem__(i + k, x) for k, x in enumerate(w)]),
        }
        for way, floor in bare.items():
            times = []
            for shift in (0, 1):
                place = address + shift
                if way == "read":
                    call = lambda a=place, n=size: private_memory.read(rows, row, a, n, inside)  # noqa: E731
                else:
                    call = lambda a=place, n=size, w=words: private_memory.write(rows, row, a, w, n, inside)  # noqa: E731
                times.append(microseconds(call))
            print(
                f"{way:5} {size:2} bytes a lane: {times[0]:7.0f} us, {floor / times[0]:4.0%} of bare NumPy, "
                f"{times[1] / times[0]:4.1f} x quicker than byte by byte"
            )


if __name__ == "__main__":
    main()
