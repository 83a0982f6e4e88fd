"""hipkernels/cast over many tensors: plans and ranges, whole lists as they are launched, wrong kernels and tables."""

import numpy as np
import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st

import mfmasim
from hipkernels.cast import operands, reference
from hipkernels.cast.plan import AT_ONCE, TILE, Many, plan_many, table
from mfmasim.resources import folder
from mfmasim.verify.prebuilt import code_for
from tests.hipkernels.cast.family import caught, passes, right, wrong

QUICK = {"search_off_by_one", "tensor_257_lost"}


@pytest.mark.parametrize(("case", "arch"), right("multi", lambda i, *_: (i + i // 2) % 4 == 0))
def test_right_kernels_pass(case, arch):
    passes(case, arch)


@pytest.mark.parametrize("name", wrong("multi", QUICK))
def test_wrong_kernels_are_caught_by_the_checks_they_name(name):
    caught("multi", name)


@pytest.mark.parametrize("count", [0, 1, 255, 256, 257, 512, 513])
def test_a_launch_takes_256_tensors(count):
    launches = plan_many([(1, 1)] * count)
    assert [len(launch.tensors) for launch in launches] == [256] * (count // 256) + [count % 256] * (count % 256 > 0)
    assert [each for launch in launches for each in launch.tensors] == list(range(count))
    assert AT_ONCE == 256


def test_ranges_hold_the_tiles_of_each_tensor():
    shapes = [(1, 1), (0, 9), (129, 128), (128, 129), (300, 300), (7, 0), (128, 128)]
    (launch,) = plan_many(shapes)
    assert launch == Many(range(7), (0, 1, 1, 3, 5, 14, 14, 15))
    for (rows, cols), wide in zip(shapes, np.diff(launch.first), strict=True):
        assert wide == len(range(0, rows, TILE)) * len(range(0, cols, TILE))
    assert launch.blocks == 15


def test_tensors_without_elements_still_take_a_workgroup_together():
    (launch,) = plan_many([(0, 5), (3, 0)])
    assert launch.first == (0, 0, 0)
    assert launch.blocks == 1


@pytest.mark.parametrize(
    ("shapes", "text"),
    [
        ([(-1, 4)], "-1 x 4 elements: 0 to 2147483647 rows"),
        ([(1, 1 << 31)], "1 x 2147483648 elements"),
        ([(1 << 20, 1 << 18)], "16777216 workgroups of 512 threads: fewer than 2\\^32"),
    ],
)
def test_what_a_launch_cannot_hold_is_refused(shapes, text):
    with pytest.raises(ValueError, match=text):
        plan_many(shapes)


def execute(arch, given, target, shapes, launches, checks="all"):
    """Execute launches over a list of tensors; names of what differs from the reference, in order."""
    code = code_for(folder("hipkernels") / "cast" / "multi.hip", arch)
    x = [operands.values(given, r * c, "special", seed=k).reshape(r, c) for k, (r, c) in enumerate(shapes)]
    out = [np.full(v.shape, operands.SENTINEL, np.uint8) for v in x]
    turned = [np.full(v.shape[::-1], operands.SENTINEL, np.uint8) for v in x]
    scale, amax, inverse = (
        [operands.one(start(k)) for k in range(len(x))] for start in (lambda k: 0.3 + k, lambda _: 0, lambda _: 7.5)
    )
    for launch in launches:
        mine = slice(launch.tensors.start, launch.tensors.stop)
        pointers = [field[mine] for field in (x, out, turned, scale, amax, inverse)]
        args = [table(pointers, shapes[mine], launch.first), None]
        kernel = code[f"multi_{given}_{target}"]
        report = mfmasim.device("sim").launch(kernel, launch.blocks, 512, args, 0, checks)
        assert [f for f in report.findings if f.severity != "info"] == []
        assert not report.stopped
    wrong = []
    for k, v in enumerate(x):
        want = reference.cast(v, scale[k][0], reference.target_format(target, arch), "clamp")
        same = {
            "out": (out[k], want),
            "turned": (turned[k], want.T),
            "amax": (amax[k], reference.amax(v, 0.0)),
            "scale_inv": (inverse[k], reference.scale_inv(scale[k][0])),
        }
        wrong += [
            (name, k)
            for name, (a, b) in same.items()
            if not np.array_equal(a, np.reshape(b, a.shape), a.dtype.kind == "f")
        ]
    return wrong


@drawn(
    st.sampled_from(["gfx942", "gfx950"]),
    st.sampled_from(["f32", "f16", "bf16"]),
    st.sampled_from(["e4m3", "e5m2"]),
    st.lists(st.tuples(st.integers(0, 140), st.integers(0, 140)), min_size=1, max_size=5),
)
@settings(max_examples=6)
def test_any_list(arch, given, target, shapes):
    assert execute(arch, given, target, shapes, plan_many(shapes)) == []


def test_257_tensors_take_two_launches_and_a_plan_of_one_loses_the_last():
    shapes = [(1 + k % 3, 1 + k % 4) for k in range(257)]
    assert execute("gfx950", "bf16", "e4m3", shapes, plan_many(shapes), checks=["bounds"]) == []
    lost = plan_many(shapes)[:1]
    assert execute("gfx950", "bf16", "e4m3", shapes, lost, checks=["bounds"]) == [
        (name, 256) for name in ("out", "turned", "amax", "scale_inv")
    ]
