"""hipkernels/cast over drawn shapes, formats, scales and classes of values: simulator against the reference."""

import numpy as np
import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st

import mfmasim
from hipkernels.cast import operands, reference
from hipkernels.cast.plan import COMPUTE_UNITS, plan_cast, plan_transpose
from mfmasim.lab.agreement.trial import Trial, judge
from mfmasim.resources import folder
from mfmasim.verify import find, select
from mfmasim.verify.prebuilt import code_for

SOURCE = folder("hipkernels") / "cast"
SIZES = {"f32": 4, "f16": 2, "bf16": 2}
SCALES = st.one_of(st.floats(width=32), st.integers(-149, 127).map(lambda e: 2.0**e))
DATA = st.sampled_from(["finite", "special"])


def same(x, y):
    """Equal bits, or NaN and NaN."""
    return x.tobytes() == y.tobytes() or bool(np.isnan(x).all() and np.isnan(y).all())


def beside(scale):
    return [None, np.array([scale], np.float32), np.zeros(1, np.float32), np.full(1, 7.5, np.float32)]


@drawn(
    st.sampled_from(["gfx942", "gfx950", "gfx1201"]),
    st.sampled_from(sorted(SIZES)),
    st.sampled_from(["e4m3", "e5m2"]),
    st.sampled_from(["clamp", "ovfl", "plain"]),
    st.integers(1, 9000),
    SCALES,
    DATA,
    st.integers(0, 99),
)
@settings(max_examples=25)
def test_any_cast(arch, given, target, overflow, count, scale, data, seed):
    x = operands.values(given, count, data, seed)
    out, extra = np.empty(count, np.uint8), beside(scale)
    kernel = code_for(SOURCE / "cast.hip", arch)[f"cast_{given}_{target}_{overflow}"]
    blocks = plan_cast(count, SIZES[given], COMPUTE_UNITS[arch]).blocks
    report = mfmasim.device("sim").launch(kernel, blocks, 256, [x, out, *extra, np.int64(count)], 0, "all")
    assert [finding for finding in report.findings if finding.id != "numerics-losses"] == []
    assert not report.stopped
    want = reference.cast(x, scale, reference.target_format(target, arch), overflow, arch)
    np.testing.assert_array_equal(out, want)
    assert same(extra[2], np.array([reference.amax(x, 0.0)]))
    assert same(extra[3], np.array([reference.scale_inv(scale)], np.float32))


@drawn(
    st.sampled_from(["gfx942", "gfx950"]),
    st.sampled_from(sorted(SIZES)),
    st.sampled_from(["e4m3", "e5m2"]),
    st.one_of(st.integers(1, 70), st.sampled_from([64, 128, 192])),
    st.one_of(st.integers(1, 70), st.sampled_from([64, 96, 160])),
    SCALES,
    DATA,
)
@settings(max_examples=25)
def test_any_cast_and_transpose(arch, given, target, rows, cols, scale, data):
    x = operands.values(given, rows * cols, data).reshape(rows, cols)
    out, turned = (np.full(shape, operands.SENTINEL, np.uint8) for shape in ((rows, cols), (cols, rows)))
    extra, code = beside(scale), code_for(SOURCE / f"transpose_{given}.hip", arch)
    for part in plan_transpose(rows, cols, SIZES[given]):
        down, across = part.tiles(SIZES[given])
        size = [np.int32(down)] if part.load else [np.int64(part.rows), np.int64(part.cols)]
        places = [np.int64(n) for n in (rows, cols, part.first_row, part.first_col)]
        report = mfmasim.device("sim").launch(
            code[part.kernel(given, target)],
            down * across,
            512 if part.load else 256,
            [x, out, turned, *extra, *places, *size],
            0,
            "all",
        )
        assert [f for f in report.findings if f.severity != "info"] == []
        assert not report.stopped
    want = reference.cast(x, scale, reference.target_format(target, arch), "clamp")
    np.testing.assert_array_equal(out, want)
    np.testing.assert_array_equal(turned, want.T)
    assert same(extra[2], np.array([reference.amax(x, 0.0)]))
    assert same(extra[3], np.array([reference.scale_inv(scale)], np.float32))


@pytest.mark.trap("T41")
def test_a_cast_of_nothing_counts_nothing():
    """The array has one element, whose value is drawn; the kernel is given none."""
    ((_, cases),) = find("cast")
    case, arch = next(pair for pair in select(cases, "gfx1201", "cast_count[n=0,given=f32]"))
    verdict = judge(Trial(case, arch, inputs={"argument 0": np.ones(1, np.float32)}))
    assert verdict.ok, "\n".join(verdict.lines())
