"""8-wave ping-pong and 4-wave interleave: right ones pass every check, wrong ones have exactly their findings."""

import functools
import re

import ml_dtypes
import numpy as np
import pytest

from mfmasim import MfmasimError, device
from mfmasim.machine.events import Observer
from mfmasim.resources import folder
from mfmasim.verify import find, load_file, select, verify_case
from mfmasim.verify.prebuilt import code_for
from tests.hipkernels.family import caught, mutants, passes
from tests.slow import order

FAMILY = folder("hipkernels") / "gemm_fp8" / "scheduled"
((_, ALL),) = find("gemm_fp8/scheduled")
RIGHT = [(case, arch) for case, arch in select(ALL, None, ["pingpong", "interleave"])]
QUICK = {"pingpong_256", "interleave_row_128"}
WRONG = load_file(FAMILY / "wrong_cases.py")
MUTANTS = mutants("gemm_fp8/scheduled")
HALF = {"gfx942": 64, "gfx950": 128}
FP8 = {"gfx942": ml_dtypes.float8_e4m3fnuz, "gfx950": ml_dtypes.float8_e4m3fn}


@functools.cache
def launch(kernel, arch, tiles=6, blocks=(1, 1), checks="all", beta=0.0, pad=0):
    """Run on small integers, whose products and sums are exact; the report, and whether C is right to the bit."""
    source = kernel.split("_")[0] + ".hip"
    code = code_for(FAMILY / source, arch)[kernel]
    side, k = 2 * HALF[arch], 128 * tiles
    m, n = side * blocks[0], side * blocks[1]
    random = np.random.default_rng(7)
    a, b = (random.integers(-3, 4, (rows, k + 16 * pad)).astype(FP8[arch]) for rows in (m, n))
    c = np.full((m, n), 0xFFFF, np.uint16) if beta == 0 else random.integers(-8, 9, (m, n)).astype(ml_dtypes.bfloat16)
    exact = a[:, :k].astype(np.float64) @ b[:, :k].astype(np.float64).T * 0.5
    exact = (exact + (0 if beta == 0 else beta * c.astype(np.float64))).astype(np.float32).astype(ml_dtypes.bfloat16)
    got, ld = c.view(np.uint16).copy(), k + 16 * pad
    numbers = [*map(np.int32, (m, n, k, ld, ld, n)), np.float32(0.5), np.float32(beta)]
    threads = 512 if kernel.startswith("pingpong") else 256
    args = [a.view(np.uint8), b.view(np.uint8), got, *numbers]
    report = device("sim").launch(code, (blocks[1], blocks[0]), threads, args, checks=checks)
    return report, bool((got == exact.view(np.uint16)).all())


@pytest.mark.parametrize(
    ("case", "arch"),
    [pytest.param(*run, marks=() if run[0].title in QUICK else pytest.mark.long) for run in RIGHT],
    ids=[case.title for case, _ in RIGHT],
)
def test_right_kernels_pass_every_check(case, arch):
    result = passes(case, arch)
    assert {f.id for f in result.findings} <= {"conflicts-lds", "mapping-k-permuted", "waits-stricter"}
    assert {f.id for f in result.suppressed} <= {"barrier-different"}
    assert result.mapping["slots_checked"] > 2_000_000
    # Swizzles of the texts are free of conflicts in the phases of gfx950, and 2-way in those of gfx942.
    swizzle = case.title.split("_")[1]
    assert result.lds["worst_degree"] == {"none": 4, "row": 1}.get(swizzle, 2 if arch == "gfx942" else 1)


@pytest.mark.parametrize("kernel", ["pingpong", "interleave"])
@pytest.mark.parametrize(
    ("arch", "options"),
    [
        ("gfx950", {"tiles": 2}),
        ("gfx950", {"tiles": 3, "blocks": (1, 2), "beta": 2.0}),
        ("gfx942", {"tiles": 2, "blocks": (3, 2), "pad": 1}),
        ("gfx942", {"tiles": 5, "beta": -1.0}),
    ],
)
def test_other_shapes(kernel, arch, options):
    report, right = launch(kernel, arch, checks="races,waits,barrier,bounds", **options)
    assert right
    assert report.ok
    assert {f.id for f in report.findings if f.severity != "info"} <= {"barrier-different"}


def line(source, marker):
    """``file:line`` of the line of a kernel that ends with a remark."""
    source = source.replace("pingpong.hip", "pingpong.h")
    lines = (FAMILY / source).read_text().splitlines()
    (number,) = [n for n, text in enumerate(lines, 1) if text.rstrip().endswith(f"// {marker}")]
    return f"{source}:{number}"


def found(report):
    """(id, source line, source line of the other access) of races and barriers; the same lines once."""
    out = set()
    for f in report.findings:
        if f.check == "races":
            (other,) = re.findall(r"[a-z]+\.h(?:ip)?:\d+", f.message)
            out.add((f.id, f.source, other))
        elif f.id == "barrier-uneven":
            out.add((f.id, "", re.search(r"after (\d+) barriers.* executes (\d+),", f.message).groups()))
    return out


# What each wrong schedule has to be reported: id, line, other line.
PRINTED = ("races-not-done-at-barrier", "loop: first half of A, as printed", "loop: first half of A")
EARLY = [
    (kind, "epilogue: first half of B", "loop: first half of B, anew")
    for kind in ("races-own-in-flight", "races-not-done-at-barrier")
]
FIRST = ("races-not-done-at-barrier", "loop: c11", "loop: c01")
MISSING = [("races-no-barrier", f"prologue: {m}0", f"prologue: first half of {m.upper()}") for m in "ab"]
EXPECTED = {
    "pingpong_printed_loop": [PRINTED],
    "pingpong_racy_epilogue": EARLY,
    "pingpong_barrier_parity": [("barrier-uneven", "", ("47", "48"))],
    "interleave_barrier_first": [FIRST],
    "interleave_not_all_fetched": MISSING,
}


@pytest.mark.trap("T7")
@pytest.mark.parametrize("arch", HALF)
@pytest.mark.parametrize("kernel", EXPECTED)
def test_wrong_schedules_have_exactly_their_findings(kernel, arch):
    report, right = launch(kernel, arch, checks="races,barrier,waits")
    assert right, "the simulator delivers loads at once: values do not tell"
    source = kernel.split("_")[0] + ".hip"
    wanted = {
        (kind, line(source, there) if there else "", line(source, other) if isinstance(other, str) else other)
        for kind, there, other in EXPECTED[kernel]
    }
    assert found(report) == wanted
    assert not [f for f in report.findings if f.check == "waits" and f.severity != "info"]


@pytest.mark.parametrize("arch", HALF)
@pytest.mark.parametrize("kernel", ["pingpong", "interleave"])
def test_right_schedules_have_none_of_them(kernel, arch):
    report, right = launch(kernel, arch, checks="races,barrier,waits")
    assert right
    assert not found(report)


@pytest.mark.trap("T8", "T21c")
def test_the_model_of_order_agrees():
    """Checklist T8 and T21c: 0 and 4 races of the ping-pong, 8 of the interleave, with 6 tiles; a pair is counted once.

    The check tells pairs of instructions, which a loop executes for many tiles: one pair of lines stands for the four
    tiles of the printed loop, and for the four tiles and two waves of the interleave.
    """
    count = {}
    for name, options in {"right": {}, "printed": {"early_a": True}, "early": {"early_read": True}}.items():
        count[name] = order.races(order.pingpong(6, **options), order.pingpong_units)
    assert not count["right"]
    assert count["printed"] == {("WAR", 0, f"A0@{tile % 2}", tile) for tile in (2, 3, 4, 5)}
    assert count["early"] == {("RAW", group, "B0@1", 5) for group in (0, 1)}
    for name, options in {"mix": {}, "first": {"barrier_first": True}, "missing": {"all_have_fetched": False}}.items():
        count[name] = order.races(order.interleave(6, **options), order.interleave_units)
    assert not count["mix"]
    assert count["first"] == {("WAR", wave, f"A1@{tile % 2}", tile) for wave in (0, 1) for tile in (2, 3, 4, 5)}
    assert count["missing"] == {("RAW", wave, f"{m}0@0", 0) for wave in (0, 1) for m in "AB"}
    for tiles in range(2, 9):
        assert not order.races(order.pingpong(tiles), order.pingpong_units)
        assert not order.races(order.interleave(tiles), order.interleave_units)


def test_who_races_in_the_printed_loop():
    """Waves of the first half fetch what waves of the second half may still be reading, as the model says."""
    report, _ = launch("pingpong_printed_loop", "gfx950", checks="races,barrier,waits")
    races = [f for f in report.findings if f.check == "races"]
    assert {f.wave // 4 for f in races} == {0}
    assert {int(re.search(r"read by wave (\d)", f.message)[1]) // 4 for f in races} == {1}


@pytest.mark.trap("T9")
@pytest.mark.parametrize("case", [case for case, _ in RIGHT], ids=[case.title for case, _ in RIGHT])
def test_the_contract_refuses_what_would_leave_the_matrices(case):
    for wrong in ({"K": 128}, {"K": 320}, {"M": 64}, {"N": 200}):
        with pytest.raises(MfmasimError, match="contract"):
            verify_case(case.with_parameters(wrong), case.arch[0])


@pytest.mark.long
@pytest.mark.parametrize("name", MUTANTS)
def test_mutants_are_caught_by_the_checks_they_name(name):
    caught(*MUTANTS[name])


def test_mutants_name_text_that_is_there():
    for mutant, case in MUTANTS.values():
        schedule = case.source.name.replace("pingpong.hip", "pingpong.h")
        text = (FAMILY / schedule).read_text() + (FAMILY / "operands.h").read_text()
        assert all(text.count(old) == 1 for old, _ in mutant.replacements), mutant.name
    assert sum(bool(mutant.caught) for mutant, _ in MUTANTS.values()) >= 16


def test_wrong_cases_are_those_of_the_table():
    assert {case.kernel_name() for case in WRONG} == set(EXPECTED)


class Fetched(Observer):
    """Of wave 0: for each load to the LDS its tile of K, and the matrix instructions that were executed before it."""

    def __init__(self, ld, half):
        self.ld, self.half, self.count, self.loads = ld, half, 0, []

    def on_start(self, launch):
        self.bases = [region.address for region, _ in launch.buffers][:2]

    def on_matrix(self, event):
        self.count += bool((event.waves == 0).any())

    def on_access(self, event):
        own = np.flatnonzero(event.numbers == 0)
        if len(own) and event.space == "global" and event.kind == "read" and event.instruction.modifiers.get("lds"):
            row = own[0] if len(event.addresses) > 1 else 0
            address = int(event.addresses[row].min())
            if address % 16:
                return  # a load of 16 bytes is followed dword by dword: the first stands for it
            base = max(b for b in self.bases if b <= address)
            self.loads.append(((address - base) % self.ld // 128, self.count))


@pytest.mark.trap("T17")
def test_what_a_block_fetches_is_for_the_tile_after_next():
    """The text says that the next call uses it; every fetch of the loop is two tiles ahead."""
    side, k = 256, 128 * 6
    seen = Fetched(k, 128)
    a, b = (np.zeros((side, k), np.uint8) for _ in range(2))
    numbers = [*map(np.int32, (side, side, k, k, k, side)), np.float32(1), np.float32(0)]
    args = [a, b, np.zeros((side, side), np.uint16), *numbers]
    device("sim").launch(code_for(FAMILY / "interleave.hip", "gfx950")["interleave"], 1, 256, args, observers=[seen])
    looped = [(tile, done // 64) for tile, done in seen.loads if done]
    assert len(looped) == 4 * 16
    assert {tile - now for tile, now in looped} == {2}
    assert [tile for tile, done in seen.loads if not done] == [0] * 16 + [1] * 16
