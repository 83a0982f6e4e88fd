"""A slow model of order: waves as lists of operations, and what must have happened before what.

Each wave, or group of waves that do the same, is a list of

* ``("fetch", region, tile)`` and ``("read", region, tile)``: so many units of vmcnt or lgkmcnt,
* ``("vm", n)`` and ``("lgkm", n)``: waits until n units are left,
* ``("barrier",)``.

Every fetch is done by all groups together, each a part. An operation is known to be done at the first wait of its own
group that lets the counter, in the order of issue, drop far enough. What is done comes before what the same group
issues later, and before what another group issues after more barriers than the first one had passed by then.
"""

from dataclasses import dataclass
from math import inf

UNITS = {"fetch": "vm", "read": "lgkm"}


@dataclass
class Operation:
    group: int
    kind: str
    region: str
    tile: int
    place: int
    """Position in the list of its group."""
    barriers: int
    """Barriers that its group had passed when it was issued."""
    done_place: float = inf
    done_barriers: float = inf

    def before(self, other):
        """Whether this one is done before the other one is issued."""
        if self.group == other.group:
            return self.done_place < other.place
        return other.barriers > self.done_barriers


def operations(groups, units):
    """Operations of all groups with when they are known to be done; `units` of a counter by region."""
    out = []
    for number, program in enumerate(groups):
        flying, barriers = {"vm": [], "lgkm": []}, 0
        for place, (what, *rest) in enumerate(program):
            if what == "barrier":
                barriers += 1
            elif what in UNITS:
                operation = Operation(number, what, *rest, place, barriers)
                flying[UNITS[what]].append(operation)
                out.append(operation)
            else:
                queue = flying[what]
                while queue and sum(units(o) for o in queue[1:]) >= rest[0]:
                    queue[0].done_place, queue[0].done_barriers = place, barriers
                    queue.pop(0)
                    if rest[0] == 0 and not queue:
                        break
    return out


def races(groups, units):
    """Distinct (kind, group, region, tile): ``RAW`` reads too early, ``WAR`` fetches too early."""
    everything = operations(groups, units)
    fetches = [o for o in everything if o.kind == "fetch"]
    reads = [o for o in everything if o.kind == "read"]
    found = set()
    for y in reads:
        sources = [x for x in fetches if (x.region, x.tile) == (y.region, y.tile)]
        assert len(sources) == len(groups), (y, sources)
        if not all(x.before(y) for x in sources):
            found.add(("RAW", y.group, y.region, y.tile))
    for y in fetches:
        if not all(x.before(y) for x in reads if x.region == y.region and x.tile < y.tile):
            found.add(("WAR", y.group, y.region, y.tile))
    return found


def region(matrix, half, tile):
    return f"{matrix}{half}@{tile % 2}", tile


def pingpong(tiles, early_a=False, early_read=False):
    """The 8-wave ping-pong: two groups, the second one a barrier behind. 2 units a fetch, 4 or 8 a read."""

    def fetch(matrix, half, tile):
        return "fetch", *region(matrix, half, tile)

    def read(matrix, half, tile):
        return "read", *region(matrix, half, tile)

    barrier, wait = ("barrier",), ("lgkm", 0)
    start = [fetch("B", 0, 0), fetch("A", 0, 0), fetch("B", 1, 0), fetch("A", 1, 0)]
    body = [("vm", 4), barrier, fetch("A", 0, 1), fetch("B", 0, 1), fetch("B", 1, 1), ("vm", 6), barrier]
    order = "AB" if early_a else "BA"
    for k in range(tiles - 2):
        body += [read("B", 0, k), read("A", 0, k), fetch("A", 1, k + 1), ("lgkm", 8), barrier, wait, barrier]
        body += [read("B", 1, k), fetch(order[0], 0, k + 2), barrier, wait, barrier]
        body += [read("A", 1, k), fetch(order[1], 0, k + 2), barrier, wait, barrier]
        body += [fetch("B", 1, k + 2), ("vm", 6), barrier, barrier]
    k = tiles - 2
    body += [read("B", 0, k), read("A", 0, k), fetch("A", 1, k + 1), ("lgkm", 8), barrier, wait, barrier]
    body += [read("B", 1, k), barrier, wait, barrier]
    early, late = ([], [("vm", 0)]) if early_read else ([("vm", 0)], [])
    body += [read("A", 1, k), *early, barrier, wait, barrier]
    body += [read("B", 0, k + 1), *late, barrier, barrier]
    body += [read("A", 0, k + 1), barrier, wait, barrier, read("B", 1, k + 1), barrier, wait, barrier]
    body += [read("A", 1, k + 1), barrier, wait]
    return [[*start, *body, barrier], [*start, barrier, *body]]


def interleave(tiles, barrier_first=False, all_have_fetched=True):
    """The 4-wave interleave, two of its waves. 4 units a fetch, 8 a read."""

    def fetch(matrix, half, tile):
        return ("fetch", *region(matrix, half, tile)) if tile < tiles else None

    def read(matrix, half, tile):
        return "read", *region(matrix, half, tile)

    barrier, wait = ("barrier",), ("lgkm", 0)
    program = [fetch(*what) for k in (0, 1) for what in (("A", 0, k), ("B", 0, k), ("B", 1, k), ("A", 1, k))]
    program += [("vm", 24), *([barrier] if all_have_fetched else []), read("A", 0, 0), read("B", 0, 0)]
    for k in range(tiles):
        more, final = k < tiles - 2, k == tiles - 1
        program += [wait] if final else [("vm", 16), wait, barrier]
        program += [read("B", 1, k), fetch("A", 0, k + 2), wait, read("A", 1, k), fetch("B", 0, k + 2)]
        if final:
            break
        sync = [barrier, wait] if barrier_first and more else [wait, barrier]
        program += [("vm", 16 if more else 0), *sync]
        program += [read("A", 0, k + 1), fetch("B", 1, k + 2), wait, read("B", 0, k + 1), fetch("A", 1, k + 2)]
    program = [step for step in program if step is not None]
    return [program, program]


def pingpong_units(operation):
    return 2 if operation.kind == "fetch" else 8 if operation.region[0] == "A" else 4


def interleave_units(operation):
    return 4 if operation.kind == "fetch" else 8
