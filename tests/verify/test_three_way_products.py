"""Simulator, device and golden's reference on single products, for every architecture that has matrix instructions.

The device is MFMASIM_TEST_DEVICE, as in test_three_way.py. The kernels are the kit's, prebuilt for every architecture.
"""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import golden
import mfmasim
from golden.cases import INTRO, MATRIX
from mfmasim.architectures import ARCHITECTURES
from mfmasim.matrix import instructions
from mfmasim.testing import codes, sparse_changes
from tests.verify.products import canonical, launch, operation, reference

NAME = os.environ.get("MFMASIM_TEST_DEVICE", "sim")
DEVICE = mfmasim.device(NAME)
ARCHS = [DEVICE.arch] if NAME != "sim" else [name for name in ARCHITECTURES if instructions(name)]
GOLDEN = Path(golden.__file__).parent
MANIFEST = json.loads((GOLDEN / "manifest.json").read_text(encoding="utf-8"))
ENTRIES = [one for one in MANIFEST["entries"] if one["family"] == "matrix"]
CASES = {case.name: case for case in MATRIX}


def devices():
    """What runs a product: the simulator, and a GPU where there is one."""
    return {"simulator": mfmasim.device("sim"), **({} if NAME == "sim" else {"device": DEVICE})}


@st.composite
def products(draw, arch):
    case = draw(st.sampled_from([case for case in MATRIX if arch in case.arches]))
    (m, n, k), formats = case.shape, [mfmasim.format(name) for name in case.formats(arch)]
    a, b = (draw(sparse_changes(s, codes(f), f.carrier)) for s, f in zip(((m, k), (k, n)), formats, strict=True))
    if case.block is None:
        return case, a, b, {}
    scale = st.integers(120, 135) | st.sampled_from([0, 1, 126, 128, 254, 255])
    shapes = {"scale_a": (m, k // case.block), "scale_b": (k // case.block, n)}
    return case, a, b, {name: draw(sparse_changes(shape, scale, np.uint8)) for name, shape in shapes.items()}


@pytest.mark.parametrize("arch", ARCHS)
def test_simulator_device_and_reference_agree(arch):
    seen = set()

    @given(products(arch))
    @settings(max_examples=int(os.environ.get("MFMASIM_TEST_EXAMPLES", "25")), deadline=None)
    def agree(drawn):
        case, a, b, scales = drawn
        want = reference(case, arch, a, b, **scales)
        for name, device in devices().items():
            got = canonical(launch(device, case, arch, a, b, **scales))
            assert np.array_equal(got, want), f"{name} and reference: {case.name} on {arch}"
        seen.add(case.name)

    agree()
    assert seen


@pytest.mark.parametrize("arch", ARCHS)
def test_golden_data_is_what_kernels_compute(arch):
    """Every entry of the family, on the simulator and the device."""
    entries = [one for one in ENTRIES if one["arch"] == arch]
    assert {one["case"] for one in entries} == {case.name for case in MATRIX if arch in case.arches}
    assert len(entries) >= 8
    for entry in entries:
        with np.load(GOLDEN / entry["file"]) as arrays:
            scales = {name.lower(): arrays[name][..., entry["opsel"]] for name in arrays if name.startswith("scale")}
            for name, device in devices().items():
                got = canonical(launch(device, CASES[entry["case"]], arch, arrays["A"], arrays["B"], **scales))
                assert np.array_equal(got, arrays["model"]), f"{name}: {entry['id']}"


def types(op):
    return ("f8f6f4" if op.row.a == "f8f6f4" else (op.a, op.b)), "scale" in op.kind


@pytest.mark.parametrize("arch", ARCHS)
def test_the_cases_are_one_of_each_set_of_types(arch):
    """What the architecture has, but for what golden's formats lack: f64, integers, results that are not f32."""
    every = [mfmasim.instruction(arch, name) for name in instructions(arch)]
    wanted = {types(op) for op in every if op.d == "f32" and not op.sparse and op.blocks == 1}
    assert {types(operation(case, arch)) for case in (*MATRIX, *INTRO) if arch in case.arches} == wanted
