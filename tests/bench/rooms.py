"""Where the time of a profiled run went: shares by room of the package."""

import pstats
from collections import Counter
from pathlib import Path

LARGE = ("matrix", "machine", "observe")
"""Rooms that are told apart by what is in them."""


def where(profile):
    """Own seconds by room, most first; what NumPy does itself stands for its own, with its callers' ufuncs."""
    seconds = Counter()
    for (path, _, _), (_, _, own, _, _) in pstats.Stats(profile).stats.items():
        parts = Path(path).parts
        if "mfmasim" in parts:
            place = parts[len(parts) - 1 - parts[::-1].index("mfmasim") + 1 :]
            seconds["/".join(place[:2]) if place[0] in LARGE else place[0]] += own
        else:
            seconds["NumPy" if "numpy" in path or path == "~" else "other"] += own
    return seconds.most_common(8)
