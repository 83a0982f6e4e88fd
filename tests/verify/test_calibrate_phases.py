"""`mfmasim gpu calibrate`, LDS: phases and banks that a clock hides are found again from what its launches took."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mfmasim
from mfmasim.cli import main
from mfmasim.errors import MfmasimError
from mfmasim.lab.agreement import capture
from mfmasim.lab.calibration import phase_probes
from mfmasim.lab.calibration.phase_fitting import doubtful, fit_phases
from mfmasim.lab.calibration.phase_probes import (
    BESIDE,
    PHASE_PROBES,
    UNROLLED,
    Timed,
    pair_patterns,
    sweep_patterns,
    timed,
)
from mfmasim.lab.calibration.probes import observe
from mfmasim.lds import LANE_SETS, PhaseTable, lane_sets, phase_table, phase_tables
from mfmasim.observe.tools.lds_clock import LdsClock, read_tables
from mfmasim.toolchain import find_compiler
from tests.oracles import require

BY_NAME = {probe.name: probe for probe in PHASE_PROBES}
SIM = mfmasim.device("sim")


def fitted(arch, only, clock=None, times=None, **options):
    """Fits of probes that were run in the machine."""
    require("a HIP compiler", find_compiler() is not None, "pip install -e '.[test]'")
    return {one.probe.name: fit_phases(one) for one in timed(observe(SIM, arch, only, times, clock, **options))}


def predicted(probe, arch, wave, table, *, noise=0, times=1, empty=1, seed=0):
    """Times by hand: 16 accesses of degrees counted here, lane by lane, not by the package."""
    rng = np.random.default_rng(seed)

    phases = {lane: number for number, phase in enumerate(table.sets(wave)) for lane in phase}

    def passes(pattern):
        asked = {}
        for lane in np.flatnonzero(pattern != 0xFFFFFFFF).tolist():
            mine = asked.setdefault(phases[lane], {})
            for dword in range(int(pattern[lane]) // 4, int(pattern[lane]) // 4 + probe.dwords):
                mine.setdefault(dword % table.banks, set()).add(dword)
        idle = len(table.sets(wave)) - len(asked)
        return empty * idle + sum(max(map(len, mine.values())) for mine in asked.values())

    def ticks(patterns):
        ideal = 100 + UNROLLED * np.array([passes(pattern) for pattern in patterns])
        return ideal + rng.integers(0, noise + 1, (times, len(ideal)))

    pairs = ticks(pair_patterns(probe, wave)).reshape(times, 2, -1)
    more = pairs.min(axis=0)
    first = int((more[1] - more[0]).argmax())
    swept = (tuple(np.argwhere(np.triu(np.ones((wave, wave)), 1))[first].tolist()),)
    sweep = ticks(sweep_patterns(probe, wave, swept)).reshape(times, 1, -1)
    return Timed(probe, arch, wave, UNROLLED, pairs, swept, sweep)


@pytest.mark.parametrize(
    ("arch", "only"),
    [
        ("gfx950", ("read_b32", "read_b128", "read2_b64", "read_b64_tr", "write_b128")),
        ("gfx942", ("read_b8", "write_b96", "atomic_b64")),
        ("gfx1151", ("read_b64", "read_b96", "read_b128", "write_b64")),
        ("gfx1201", ("read_b128", "atomic_b32")),
    ],
)
def test_tables_fit_as_they_are(arch, only):
    found = fitted(arch, only)
    assert list(found) == [probe.name for probe in PHASE_PROBES if probe.name in only]
    for one in found.values():
        assert one.fits, one.undecided
        assert one.cost == (8 if "2 " in one.timed.probe.row else 4)  # a two-address access meets twice
        assert one.timed.wave == mfmasim.arch(arch).wave_sizes[0]
        assert one.is_table(one.table())


SETS_OF_TWO = tuple((lane, lane ^ 33) for lane in range(64) if lane < lane ^ 33)


@pytest.mark.parametrize(
    ("arch", "hidden", "names"),
    [
        ("gfx950", {"read b32": PhaseTable("C32", 32), "write b32": PhaseTable("C64", 64)}, ["C32", "C64"]),
        ("gfx950", {"read b64": PhaseTable(SETS_OF_TWO, 16), "write b96": PhaseTable("X16", 128)}, ["", "X16"]),
        ("gfx1151", {"read b128": PhaseTable("C16", 64), "write b64": PhaseTable("X8", 32)}, ["C16", "X8"]),
    ],
)
def test_hidden_phases_are_found_by_the_machine(arch, hidden, names):
    """The kernels, the clock and the fit together; noise, and phases without lanes that cost nothing."""
    clock = LdsClock(arch, hidden, noise=10, seed=3, empty=0)
    found = fitted(arch, [row.replace(" ", "_") for row in hidden], clock, times=5)
    for (row, table), name in zip(hidden.items(), names, strict=True):
        one = found[row.replace(" ", "_")]
        assert one.is_table(table), (one.phases, one.banks, one.undecided)
        assert not one.fits
        assert one.scatter > 0
        assert (name in one.names) if name else not one.names
        assert np.isclose(one.cost, 4, atol=1)


@pytest.mark.parametrize(
    ("arch", "hidden"),
    [
        ("gfx950", {"read b64 tr": PhaseTable("X16", 64)}),
        ("gfx1151", {"read b128": PhaseTable("C16", 64), "read b96": PhaseTable("X8", 32)}),
    ],
)
def test_a_crowd_tells_what_two_lanes_do_not(arch, hidden):
    """Something else than the banks takes as long as ten passes, so that two lanes alone cost nothing."""
    only = [row.replace(" ", "_") for row in hidden]
    alone = fitted(arch, only[:1], LdsClock(arch, hidden, least=10))[only[0]]
    assert alone.phases is None
    found = fitted(arch, only, LdsClock(arch, hidden, least=10, noise=6), times=3, crowded=True)
    for row, table in hidden.items():
        one = found[row.replace(" ", "_")]
        assert one.is_table(table), (one.phases, one.banks, one.undecided)


def test_what_fits_is_told_by_its_name_and_as_a_row():
    one = fitted("gfx950", ["read_b32"], LdsClock("gfx950", {"read b32": PhaseTable("C32", 32)}))["read_b32"]
    assert one.alternative == phase_table("gfx950", "ds_read_b32").alternatives[0]
    assert one.known()[0] == "gfx942 read b32 (measured)"
    (row,) = one.lines()
    access, lanes, banks, confidence, source, _ = eval(row)[0]
    assert (access, lanes, banks, confidence) == ("read b32", "C32", 32, "unknown")
    assert source.endswith("simulated, no evidence")
    real = replace(one, timed=replace(one.timed, simulated=False, where="MI355X, today"))
    assert '"calibrate: MI355X, today; not reviewed"' in real.lines()[0]
    assert fitted("gfx950", ["read_b96"])["read_b96"].lines() == []  # measured, and the same: nothing to paste


def test_lane_sets_without_a_name_are_printed_as_the_shortest_pattern():
    probe = BY_NAME["read_b128"]
    sets = lane_sets(((0, 2, 4, 6, 8, 10, 12, 14), (1, 3, 5, 7, 9, 11, 13, 15)), 16)
    whole = tuple(tuple(lane + start for lane in part) for start in range(0, 64, 16) for part in sets)
    one = fit_phases(predicted(probe, "gfx950", 64, PhaseTable(whole, 32)))
    new, row = one.lines()
    assert eval("{" + new + "}") == {"NEW": sets}
    assert eval(row)[0][1] == "NEW"


@st.composite
def hidden_tables(draw):
    """Any partition of a wave, any banks from 16 on, any probe."""
    wave = draw(st.sampled_from((32, 64)))
    order = draw(st.permutations(range(wave)))
    size = draw(st.sampled_from((2, 4, 8, 16, wave)))
    sets = [tuple(sorted(order[start : start + size])) for start in range(0, wave, size)]
    if draw(st.booleans()) and len(sets) > 1:  # phases need not be of one size
        sets[:2] = [tuple(sorted(sets[0] + sets[1]))]
    return wave, PhaseTable(tuple(sets), draw(st.sampled_from((16, 32, 64, 128, 256))))


@settings(max_examples=20, deadline=None)
@given(hidden_tables(), st.sampled_from(sorted(BY_NAME)), st.integers(0, 3), st.integers(0, 1), st.integers(0, 99))
def test_any_hidden_table_is_found(hidden, name, noise, empty, seed):
    wave, table = hidden
    arch = "gfx950" if wave == 64 else "gfx1151"
    probe = BY_NAME[name]
    if not probe.on(arch):
        return
    seen = predicted(probe, arch, wave, table, noise=noise, times=3 if noise else 1, empty=empty, seed=seed)
    one = fit_phases(seen)
    assert one.is_table(table), (one.phases, one.banks, one.undecided)
    assert one.fits == one.is_table(phase_tables(arch)[probe.row])


def test_what_the_times_do_not_decide_is_said():
    probe = BY_NAME["read_b32"]
    seen = predicted(probe, "gfx950", 64, PhaseTable("C32", 32), times=3)
    blind = replace(seen, pairs=np.full_like(seen.pairs, 100))
    assert "no two lanes take longer in one bank" in fit_phases(blind).undecided[0]
    alone = predicted(probe, "gfx950", 64, PhaseTable(tuple((lane,) for lane in range(64)), 32))
    assert fit_phases(alone).phases is None
    noisy = replace(seen, pairs=seen.pairs + np.random.default_rng(1).integers(0, 90, seen.pairs.shape))
    assert "the clock scatters by" in fit_phases(noisy).undecided[0]

    half = seen.pairs.copy()
    half[:, 1, 5] -= UNROLLED // 2
    (why,) = fit_phases(replace(seen, pairs=half)).undecided
    assert why == "phases: 1 pairs conflict only in part, such as lanes 0 and 6"
    odd = seen.pairs.copy()
    odd[:, 1, 5] -= UNROLLED
    result = fit_phases(replace(seen, pairs=odd))
    assert "no sets of lanes" in result.undecided[0]
    assert result.phases is None
    assert result.banks == 32
    assert not result.decided
    assert result.lines() == []
    strange = seen.sweep.copy()
    strange[:, :, 6] += UNROLLED
    result = fit_phases(replace(seen, sweep=strange))
    why = "banks: lanes conflict at distances of 7, 32, 64, 96, 128, 160, ... dwords, which no number of banks explains"
    assert result.undecided == [why]
    assert (result.banks, result.names) == (None, ("C32",))


def disturbed(pairs_of_lanes, spike, *, halves=(0,), both=1):
    """Times of a read whose named pairs of lanes took longer in some repetitions, as by another process."""
    made = predicted(BY_NAME["read_b32"], "gfx942", 64, PhaseTable("C32", 32, "unknown", "", ""), times=4, noise=2)
    pairs = made.pairs.copy()
    for half in halves:
        pairs[half::2, both, pairs_of_lanes] += spike
    return replace(made, pairs=pairs)


def test_a_few_disturbed_pairs_are_doubtful_and_hide_nothing_else():
    level = UNROLLED
    found = fit_phases(disturbed([3, 700, 1500], 40 * level, both=0))
    assert found.scatter < 1
    assert found.decided, found.undecided
    assert doubtful(disturbed([], 0).pairs).tolist() == []
    apart = [number for number in range(2016) if number % 63 == 40][:4]
    assert doubtful(disturbed(apart, level // 2).pairs).tolist() == apart
    assert set(doubtful(disturbed([5, 9], level // 2, halves=(0, 1)).pairs)) <= {5, 9}


def test_probes_are_clean_under_every_check():
    require("a HIP compiler", find_compiler() is not None, "pip install -e '.[test]'")
    for arch in ("gfx950", "gfx1201"):
        code = mfmasim.compile(phase_probes.source(), arch)
        probes = phase_probes.chosen(arch)
        assert len(probes) == (20 if arch == "gfx950" else 18)
        for probe in probes:
            kernel = code[f"phases_{probe.name}"]
            patterns = np.ascontiguousarray(pair_patterns(probe, kernel.wave)[::97])
            ticks = np.zeros((2, len(patterns)), np.uint32)
            report = SIM.launch(kernel, (len(patterns), 2), kernel.wave, [patterns, ticks, np.uint32(2)])
            assert [f.message for f in report.findings if f.severity != "info"] == []
            assert (ticks == ticks[0, 0]).all()  # without the listener a clock does not see the LDS
            assert ticks[0, 0] > 0


@pytest.mark.parametrize("arch", ["gfx90a", "gfx942", "gfx950", "gfx1151", "gfx1201"])
def test_a_block_is_alone_on_its_compute_unit(arch):
    """What it asks for can be given to one workgroup, and not to two; RDNA's LDS is that of two compute units."""
    require("a HIP compiler", find_compiler() is not None, "pip install -e '.[test]'")
    kernel = mfmasim.compile(phase_probes.source(), arch)["phases_read_b32"]
    shared = phase_probes.dynamic_lds(kernel, alone=True, crowded=True)
    units = kernel.arch.simd.lds_bytes // kernel.arch.lds_bytes
    assert 2 * (shared + 1280) > kernel.arch.simd.lds_bytes / units
    assert shared >= kernel.wave * phase_probes.ROW == phase_probes.dynamic_lds(kernel, alone=False, crowded=True)
    patterns, ticks = pair_patterns(BY_NAME["read_b32"], kernel.wave, crowded=True)[:2], np.zeros((1, 2), np.uint32)
    assert SIM.launch(kernel, (2, 1), kernel.wave, [patterns, ticks, np.uint32(1)], shared, "bounds").ok


def test_replay_and_output(tmp_path, capsys):
    require("a HIP compiler", find_compiler() is not None, "pip install -e '.[test]'")
    path = tmp_path / "probes.npz"
    only = ["--only", "fp8,read_b64"]
    assert main(["gpu", "calibrate", "--device", "sim", "--arch", "gfx942", "--record", str(path), *only]) == 0
    assert "fp8, read b64 on the simulator" in capsys.readouterr().out
    assert main(["gpu", "calibrate", "--replay", str(path)]) == 0
    text = capsys.readouterr().out
    assert "ds_read_b64 (gfx942, wave 64)   row read b64: C16 on 32 banks (measured: SHARK, PYHIP)" in text
    assert "a conflict of two lanes costs 4.00 ticks per access" in text
    assert "4 phases (C16), 32 banks\n  fits unchanged\n" in text
    assert main(["gpu", "calibrate", "--replay", str(path), "--json", "-"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["phases"]
    assert (row["fits"], row["banks"], row["lane_sets"], len(row["phases"])) == (True, 32, ["C16"], 4)
    found = capture.read(path)
    found.launches[1].before[0][0] ^= 1
    with pytest.raises(MfmasimError, match="'read b64' has other patterns than this version's"):
        list(timed(found))
    found.about["phases"][0]["row"] = "read b65"
    with pytest.raises(MfmasimError, match="'read b65' unknown to this version"):
        list(timed(found))


def test_the_clock_counts_passes_and_nothing_else():
    """By hand: 64 lanes in one bank are 64 passes, whatever the phases; in a row they are one a phase."""
    require("a HIP compiler", find_compiler() is not None, "pip install -e '.[test]'")
    code = mfmasim.compile(phase_probes.source(), "gfx942")
    patterns = np.stack([np.arange(64) * 4, np.zeros(64), np.arange(64) // 8 * 128, np.full(64, BESIDE)])
    ticks = [np.zeros((1, 4), np.uint32) for _ in range(2)]
    for given_ticks, observers in zip(ticks, ([], [LdsClock("gfx942", ticks=3)]), strict=True):
        args = [patterns.astype(np.uint32), given_ticks, np.uint32(1)]
        SIM.launch(code["phases_read_b32"], (4, 1), 64, args, observers=observers)
    assert ((ticks[1] - ticks[0].astype(int))[0] == 16 * 3 * np.array([2, 2, 8, 2])).all()


def test_tables_are_read_from_text():
    found = read_tables("read b32=C32/32; read b128=0-3,20-23|4,5,6-7,16-19/64;", "gfx950")
    assert found["read b32"] == PhaseTable("C32", 32)
    assert found["read b128"] == PhaseTable(((0, 1, 2, 3, 20, 21, 22, 23), (4, 5, 6, 7, 16, 17, 18, 19)), 64)
    for text, why in (
        ("read b32", "ACCESS=LANES/BANKS is expected"),
        ("read b33=C32/32", "unknown LDS access 'read b33' on gfx950; did you mean 'read b32'"),
        ("read b32=C33/32", "unknown lane set 'C33'"),
        ("read b32=0-3,70/32", "'70' is not a lane"),
        ("read b32=C32/33", "33 banks: the number of banks must be a power of two"),
    ):
        with pytest.raises(MfmasimError, match=why):
            read_tables(text, "gfx950")
    with pytest.raises(MfmasimError, match="unknown LDS access 'read b65'"):
        LdsClock("gfx950", {"read b65": PhaseTable("C32", 32)})
    assert set(LANE_SETS) >= {"C32", "X8"}
