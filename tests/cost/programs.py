"""Made-up traces: any instructions and accesses that the timeline knows, for waves of one or two workgroups."""

from hypothesis import strategies as st

from mfmasim.architectures import arch
from mfmasim.cost.operation import Operation
from mfmasim.cost.trace import NOTHING, Access, Trace, WaveTrace
from mfmasim.isa.counters import Raised

LOADS, LDS = Raised("loads", "memory", 3), Raised("data", "lds", 3)
SCALARS = Raised("data", "", 3)


def kinds(rates):
    """One operation of each kind, with names of registers that depend on each other."""
    period = rates["issue"].value
    issue = ("issue", period)
    v = [("v", number) for number in range(4)]
    slots = [
        {"slot": "VALU", "needs": (issue, ("VALU", 64 / rates["valu"].value)), "reads": (v[0],), "writes": (v[1],)},
        {
            "slot": "VALU",
            "needs": (issue, ("VALU", 16.0), ("transcendental", 16.0)),
            "reads": (v[1],),
            "writes": (v[0],),
            "trans": True,
        },
        {
            "slot": "VALU",
            "needs": (issue, ("matrix", 16.0), *([("VALU", 16.0)] if rates.matrix_on_valu else [])),
            "reads": (v[0], v[2]),
            "writes": (v[2],),
            "chained": frozenset([v[2]]),
            "matrix": 16.0,
            "shadow": 0.0 if rates.matrix_on_valu else 2 * period,
        },
        {"slot": "VALU", "needs": (issue, ("VALU", 4.0)), "reads": (v[2],), "writes": (v[3],)},
        {"slot": "scalar", "needs": (issue, ("scalar", period)), "reads": (("s", 0),), "writes": (("s", 0),)},
        {"slot": "scalar", "needs": (issue, ("scalar", period)), "scalar_load": True, "raises": (SCALARS,)},
        {"slot": "LDS", "needs": (issue,), "raises": (LDS,)},
        {"slot": "memory", "needs": (issue,), "raises": (LOADS,)},
        {"slot": "internal", "needs": (issue,), "waits": (("data", 0),)},
        {"slot": "internal", "needs": (issue,), "waits": (("loads", 1),)},
        {"slot": "internal", "needs": (issue,), "signals": True, "awaits": True},
        {"slot": "internal", "needs": (issue,), "priority": 1},
        {"slot": "internal", "needs": (issue,), "priority": 0},
        {"slot": "internal", "needs": (issue,), "idle": 3 * period},
        {"slot": "branch", "needs": (issue, ("branch", period)), "flow": True},
        {"slot": "branch", "needs": (issue, ("branch", period)), "flow": True, "on_scc": True, "reads": (("s", 1),)},
        {"slot": "VALU", "needs": (issue, ("VALU", 2.0)), "reads": (("s", 0), ("s", 1)), "writes": (("s", 1),)},
        {"slot": "memory", "needs": (issue,), "raises": (LOADS,), "stores": True},
        {"slot": "internal", "needs": (("issue", 0.0),), "free": True, "settles": "vector"},
        {"slot": "internal", "needs": (("issue", 0.0),), "free": True, "delays": (0, 2)},
        {"slot": "internal", "needs": (("issue", 0.0),), "free": True, "settles": "scalar"},
        {"slot": "internal", "needs": (issue,), "ends": True},
    ]
    return [
        Operation(
            number, 4 * number, f"op{number}", f"op{number}", "", **{"size": 4, "next_pc": 4 * number + 4, **each}
        )
        for number, each in enumerate(slots)
    ]


IN_LDS = st.builds(Access, lds=st.integers(0, 12).map(float), port=st.integers(0, 12).map(float))
IN_MEMORY = st.builds(
    Access,
    fill=st.sampled_from([0.0, 0.0, 4.0]),
    lanes=st.just(64),
    lines=st.frozensets(st.integers(0, 6), max_size=4).map(lambda lines: tuple(sorted(lines))),
    bytes=st.sampled_from([64, 256, 1024]),
    write=st.sampled_from([False, False, True]),
)
"""Accesses of the LDS and of memory: the even and the odd numbers of a trace's accesses."""


@st.composite
def traces(draw, name="gfx950", most=6, longest=10):
    """A trace of an architecture, any instructions in any order, for waves of two workgroups."""
    target = arch(name)
    operations = kinds(target.rates)
    accesses = [draw(kind) for _ in range(2) for kind in (IN_LDS, IN_MEMORY)]
    trace = Trace(target, target.wave_sizes[0], operations, accesses)
    for number in range(draw(st.integers(1, most))):
        wave = WaveTrace(number % 2, number)
        for chosen in draw(st.lists(st.integers(0, len(operations) - 1), min_size=1, max_size=longest)):
            wave.operations.append(chosen)
            own = {"LDS": 0, "memory": 1}.get(operations[chosen].slot)
            wave.accesses.append(NOTHING if own is None else own + 2 * draw(st.integers(0, 1)))
        trace.waves.append(wave)
    return trace
