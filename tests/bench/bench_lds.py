"""Conflict counting against a plain sort of the same addresses, and the swizzle search: ratios in one run.

Goals (process time): 100,000 wave accesses within 1 s, a 16x128-byte tile on two architectures within 2 s.
"""

import time
import warnings

import numpy as np

from mfmasim import lds
from tests.bench.measuring import least

WAVES = 100_000
CASES = [
    ("gfx950", "ds_read_b128", 16),
    ("gfx942", "ds_read_b128", 16),
    ("gfx950", "ds_read_b64", 8),
    ("gfx942", "ds_read_b32", 4),
    ("gfx942", "ds_read_b96", 16),
    ("gfx942", "ds_write_b8", 1),
]


def seconds(call):
    return least(call, 3, time.process_time)


def main():
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    print(f"{WAVES} wave accesses at random addresses; seconds of process time, and ratio to sorting the addresses")
    for arch, name, step in CASES:
        place = rng.integers(0, 65536 // step - 16, (WAVES, 64)) * step
        some = rng.random(place.shape) < 0.7
        sort = seconds(lambda p=place: np.sort(p, axis=-1))
        for title, active in (("all lanes", None), ("70% of the lanes", some)):
            took = seconds(lambda a=arch, n=name, p=place, s=active: lds.conflicts(a, n, p, s))
            goal = "met" if took <= 1 else "MISSED"
            print(f"{arch} {name:14s} {title:17s} {took:5.2f} s  {took / sort:5.1f} x sort  {goal}")
    read = lds.Pattern.of("ds_read_b128", lambda lane, n: (lane % 16, 64 * n + lane // 16 * 16), accesses=2)
    write = lds.Pattern.linear("ds_write_b128", 16, 128)
    took = seconds(lambda: lds.find_swizzle((16, 128), 1, write, [read], ["gfx942", "gfx950"]))
    one = seconds(lambda: lds.prove(lds.linear(16, 128), [write, read], ["gfx942", "gfx950"]))
    print(
        f"find_swizzle 16x128 on two architectures {took:5.3f} s  {took / one:5.1f} x one proof  "
        f"{'met' if took <= 2 else 'MISSED'}"
    )


if __name__ == "__main__":
    main()
