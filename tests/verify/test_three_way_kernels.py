"""Simulator, device and golden's reference on casts, casts with a scale per block, and attention, in FP8 too.

The device is MFMASIM_TEST_DEVICE, as in test_three_way.py. Products: test_three_way_products.py.
"""

import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mfmasim
from golden import attention, casts
from golden.reference.formats import FORMATS
from hipkernels.attention.cases import launch as attention_launch
from hipkernels.attention.reference import attention as bounded
from hipkernels.attention_backward.cases import ARCHS as BACKWARD
from hipkernels.attention_backward.cases import launch as backward_launch
from hipkernels.attention_backward.reference import gradients
from hipkernels.attention_fp8.cases import draw as draw_fp8
from hipkernels.attention_fp8.cases import exact as bounded_fp8
from hipkernels.attention_fp8.replay import WAYS
from mfmasim.resources import folder
from mfmasim.testing import codes, sparse_changes
from mfmasim.toolchain import find_compiler
from mfmasim.verify.prebuilt import code_for
from tests.oracles import require
from tests.tiers import tiers
from tests.verify.test_three_way_products import DEVICE, GOLDEN, MANIFEST, NAME, devices

CASTS, SCALED = ("gfx942", "gfx950", "gfx1201"), ("gfx950",)
ATTENTION = ("gfx942", "gfx950", "gfx1151", "gfx1201")
EXAMPLES = int(os.environ.get("MFMASIM_TEST_EXAMPLES", "15"))
MX = {"e4m3": "e4m3fn", "e5m2": "e5m2", "e2m1": "e2m1fn"}
F32 = mfmasim.format("f32")


def on(archs, quick):
    """Those of some architectures that the device has; without one, some of them in the long tier."""
    return tiers(archs, quick) if NAME == "sim" else [arch for arch in archs if DEVICE.arch == arch]


def kernel(family, source, name, arch):
    require("a HIP compiler", find_compiler() is not None, "pip install -e '.[test]'")
    return code_for(folder("hipkernels") / family / source, arch)[name]


def stored(family, arch):
    """Entries of golden's manifest with their arrays."""
    found = []
    for entry in MANIFEST["entries"]:
        if entry["family"] == family and entry["arch"] in (arch, "any"):
            with np.load(GOLDEN / entry["file"]) as archive:
                found.append((entry, dict(archive)))
    return found


def same(found, want, name):
    """Codes are equal; any NaN equals any."""
    nan, other = (np.isnan(mfmasim.format(name).decode(each)) for each in (found, want))
    return np.array_equal(nan, other) and np.array_equal(found[~nan], want[~nan])


def cast(device, arch, target, given):
    """Codes that the flat kernel leaves."""
    out, one = np.zeros(given.size, np.uint8), np.ones(1, np.float32)
    args = [given.view(np.float32).reshape(-1), out, None, one, one * 0, one * 0, np.int64(given.size)]
    report = device.launch(kernel("cast", "cast.hip", f"cast_f32_{target}_clamp", arch), 1, 256, args)
    assert report.ok, report.findings
    return out.reshape(given.shape)


@pytest.mark.parametrize("arch", on(CASTS, ["gfx950", "gfx1201"]))
@pytest.mark.parametrize("target", ["e4m3", "e5m2"])
def test_casts(arch, target):
    short = {"e4m3": "fp8", "e5m2": "bf8"}[target]
    name = casts.EIGHT_BIT[arch][short]

    @given(st.data())
    @settings(max_examples=EXAMPLES, deadline=None)
    def agree(data):
        drawn = data.draw(sparse_changes(data.draw(st.integers(1, 90)), codes(F32), np.uint32))
        want = casts.cast_codes(drawn, FORMATS[name], np.zeros(drawn.shape, np.int64))
        for which, device in devices().items():
            assert same(cast(device, arch, target, drawn), want, name), which

    agree()
    entries = [(entry, arrays) for entry, arrays in stored("cast", arch) if entry["case"] == name]
    assert len(entries) == 3
    for entry, arrays in entries:
        for which, device in devices().items():
            assert same(cast(device, arch, target, arrays["A"]), arrays["exact"], name), (which, entry["id"])


def quantise(device, arch, target, given):
    """Codes and scales of the kernel with a scale per block of a row, OCP's rule."""
    rows, cols = given.shape
    blocks = -(-cols // casts.BLOCK)
    out = np.zeros((rows, cols // 2 if target == "e2m1" else cols), np.uint8)
    scales = np.zeros((rows, blocks), np.uint8)
    args = [given.view(np.float32), out, scales, np.int32(rows), np.int32(cols), np.int32(0)]
    report = device.launch(
        kernel("cast", "mx.hip", f"mx_f32_{target}_row", arch), -(-4 * rows * blocks // 256), 256, args
    )
    assert report.ok, report.findings
    return (np.stack([out & 15, out >> 4], axis=2).reshape(rows, cols) if target == "e2m1" else out), scales


@pytest.mark.parametrize("arch", on(SCALED, SCALED))
@pytest.mark.parametrize("target", MX)
def test_casts_with_scales(arch, target):
    name = MX[target]

    @given(st.data())
    @settings(max_examples=EXAMPLES, deadline=None)
    def agree(data):
        drawn = data.draw(sparse_changes((2, 64), codes(F32), np.uint32))
        drawn = np.where((drawn & 0x7F800000) == 0x7F800000, drawn & np.uint32(0xBFFFFFFF), drawn)  # finite
        drawn[:, ::32] = np.where((drawn[:, ::32] << 1) == 0, np.uint32(0x3F800000), drawn[:, ::32])  # not all zeros
        want = casts.results(casts.Cast(arch, name, "drawn", True), drawn)
        for which, device in devices().items():
            found, scales = quantise(device, arch, target, drawn)
            assert np.array_equal(scales, want["scale"]), which
            assert same(found, want["exact"], name), which

    agree()
    entries = [(entry, arrays) for entry, arrays in stored("cast", arch) if entry["case"] == f"mx_{name}"]
    assert len(entries) == 2
    for entry, arrays in entries:
        for which, device in devices().items():
            found, scales = quantise(device, arch, target, arrays["A"])
            assert np.array_equal(scales, arrays["scale"]), (which, entry["id"])
            assert same(found, arrays["exact"], name), (which, entry["id"])


def attend(device, arch, fmt, q, k, v, *, causal):
    """O of the kernel of one thread a query, float64."""
    sizes = (1, 1, len(q), len(k), q.shape[1])
    built = attention_launch("scalar", arch, fmt, sizes, int(causal), None, "bhnd", "", "normal")
    out = np.zeros(q.shape, np.uint16)
    args = [*(array.astype(np.uint16) for array in (q, k, v)), out, *built["args"][4:]]
    args = [np.int32(each) if isinstance(each, int) else each for each in args]
    report = device.launch(
        kernel("attention", "scalar.hip", f"scalar_{fmt}_64", arch), built["grid"], built["block"], args
    )
    assert report.ok, report.findings
    return mfmasim.format(fmt).decode(out)


def within(device, arch, fmt, parts, want, *, causal):
    """Whether a device's O is as near to golden's as the kernel's error bound says, and the bound is not idle."""
    values = [mfmasim.format(fmt).decode(part)[None, None] for part in parts]
    near, bound = bounded(fmt, *values, int(causal), None, tile=1, weights_in="f32")
    exact = want.view(np.float32).astype(np.float64)
    assert np.allclose(near[0, 0], exact, rtol=1e-6, atol=1e-6 * np.abs(exact).max() + 1e-30)
    found = attend(device, arch, fmt, *parts, causal=causal)
    return bool((np.abs(found - exact) <= bound[0, 0] + 1e-7 * np.abs(exact)).all())


@pytest.mark.parametrize("arch", on(ATTENTION, ["gfx1201"]))
def test_attention(arch):
    @given(st.data())
    @settings(max_examples=max(3, EXAMPLES // 3), deadline=None)
    def agree(data):
        fmt, causal = data.draw(st.sampled_from(["f16", "bf16"])), data.draw(st.booleans())
        one = {"f16": 0x3C00, "bf16": 0x3F80}[fmt]
        small = st.integers(one - 512, one + 127) | st.integers(one + 0x7E00, one + 0x7FFF)
        parts = [data.draw(sparse_changes((rows, 64), small, np.uint16)) for rows in (3, 5, 5)]
        want = attention.attention(*parts, fmt, causal=causal)
        for which, device in devices().items():
            assert within(device, arch, fmt, parts, want, causal=causal), which

    agree()
    entries = stored("attention", arch)
    assert len(entries) == 4
    for entry, arrays in entries:
        parts = [arrays[name] for name in "QKV"]
        for which, device in devices().items():
            fits = within(device, arch, entry["formats"]["Q"], parts, arrays["exact"], causal=entry["causal"])
            assert fits, (which, entry["id"])
    # A device that forgets one key is outside the bound.
    entry, arrays = next(one for one in entries if not one[0]["causal"])
    parts, fmt = [arrays[name] for name in "QKV"], entry["formats"]["Q"]
    parts[2] = parts[2].copy()
    parts[2][7] = 0
    found = attend(mfmasim.device("sim"), arch, fmt, *parts, causal=False)
    exact = arrays["exact"].view(np.float32)
    _, bound = bounded(
        fmt, *(mfmasim.format(fmt).decode(arrays[n])[None, None] for n in "QKV"), 0, None, tile=1, weights_in="f32"
    )
    assert (np.abs(found - exact) > bound[0, 0]).mean() > 0.5


def attend_fp8(device, arch, q, k, v, *, causal, scales=(1, 1, 1)):
    """O of the kernel in FP8 for one head, float64."""
    out, by = np.zeros((len(q), 1, 128), np.uint16), [np.full((1, 1), x, np.float32) for x in scales]
    starts = [np.array([0, len(part)], np.int32) for part in (q, k)]
    args = [*(part[:, None] for part in (q, k, v)), out, *starts, *by, np.int32(1), np.int32(1)]
    args += [np.int32(causal), np.float32(128**-0.5)]
    source, block = ("tensor.hip", 128) if arch == "gfx1250" else ("forward.hip", 256)
    report = device.launch(kernel("attention_fp8", source, "forward_fp8", arch), 1, block, args)
    assert report.ok, report.findings
    return mfmasim.format("bf16").decode(out)[:, 0].astype(np.float64)


@pytest.mark.parametrize("arch", on(tuple(WAYS), ["gfx950"]))
def test_fp8(arch):
    """Within the kernel's bound of golden's 60 digits; a kernel that forgets a key is not."""
    scales, scale = [np.ones(1, np.float32)] * 3, 128**-0.5
    compared = 0
    for keys, causal in ((70, False), (9, True), (9, False)):
        parts = draw_fp8("normal", arch, (9, 128), (keys, 128), (keys, 128))
        exact = attention.attention(*parts, WAYS[arch].fp8, causal=causal).view(np.float32).astype(np.float64)
        near, bound = (x[:, 0] for x in bounded_fp8(arch, [p[:, None] for p in parts], scales, scale, causal))
        assert np.allclose(near, exact, rtol=1e-6, atol=1e-6)
        for which, device in devices().items():
            found = attend_fp8(device, arch, *parts, causal=causal)
            assert (np.abs(found - exact) <= bound + 1e-6).all(), which
            compared += found.size
    assert compared >= 3 * 9 * 128
    parts[2][3] = 0
    found = attend_fp8(mfmasim.device("sim"), arch, *parts, causal=False)
    assert (np.abs(found - exact) > bound).mean() > 0.4


@pytest.mark.parametrize("arch", on(tuple(WAYS), ["gfx1250"]))
def test_fp8_on_golden(arch):
    """What is stored, with scales: within the bound; with twice the scale of V it is not."""
    entries = [one for one in stored("attention_fp8", arch) if one[0]["formats"]["Q"] == WAYS[arch].fp8]
    assert len(entries) == 2
    for entry, arrays in entries:
        parts = [arrays[name] for name in "QKV"]
        scales = [arrays[f"scale_{name}"].view(np.float32) for name in "QKV"]
        exact = arrays["exact"].view(np.float32).astype(np.float64)
        near, bound = (
            x[:, 0] for x in bounded_fp8(arch, [p[:, None] for p in parts], scales, 128**-0.5, entry["causal"])
        )
        assert np.allclose(near, exact, rtol=1e-6, atol=1e-6)
        for which, device in devices().items():
            found = attend_fp8(device, arch, *parts, causal=entry["causal"], scales=scales)
            assert (np.abs(found - exact) <= bound + 1e-6).all(), (which, entry["id"])
        scales = [*scales[:2], 2 * scales[2]]
        wrong = attend_fp8(mfmasim.device("sim"), arch, *parts, causal=entry["causal"], scales=scales)
        assert (np.abs(wrong - exact) > bound).mean() > 0.4


def gradient(device, arch, name, arrays, causal):
    """What a kernel leaves of dQ, or of dK and dV, float64."""
    built = backward_launch(name, (1, 1, 1, len(arrays["Q"]), len(arrays["K"]), 64), int(causal), None, "", "normal")
    out = {part: np.zeros(arrays[part].shape, np.uint16) for part in "QKV"}
    given = [arrays[part] for part in ("Q", "K", "V", "dO")]
    given += [arrays[part].view(np.float32) for part in ("lse", "delta")]
    left = [out[part] if part.lower() in name.replace("d", "") else None for part in "QKV"]
    args = [np.int32(each) if isinstance(each, int) else each for each in (*given, *left, *built["args"][9:])]
    source = kernel("attention_backward", "backward.hip", f"{name}_64", arch)
    report = device.launch(source, built["grid"], built["block"], args)
    assert report.ok, report.findings
    return {f"d{part}": mfmasim.format("bf16").decode(out[part]) for part in "QKV" if part.lower() in name[1:]}


@pytest.mark.parametrize("arch", on(BACKWARD, []))
def test_gradients_on_golden(arch):
    """dQ, dK and dV within the kernels' bound of golden's 60 digits; with another delta they are not."""
    entries = stored("attention_backward", arch)
    assert len(entries) == 2
    for entry, arrays in entries:
        rows = [mfmasim.format("bf16").decode(arrays[name])[None, None] for name in ("Q", "K", "V", "dO")]
        rows += [arrays[name].view(np.float32).astype(np.float64)[None, None] for name in ("lse", "delta")]
        bounded_by = dict(zip(("dQ", "dK", "dV"), gradients(*rows, int(entry["causal"]), None), strict=True))
        for which, device in devices().items():
            found = gradient(device, arch, "dq", arrays, entry["causal"])
            found |= gradient(device, arch, "dkdv", arrays, entry["causal"])
            assert set(found) == {"dQ", "dK", "dV"}
            for name, codes_left in found.items():
                exact = arrays[name].view(np.float32).astype(np.float64)
                assert np.allclose(bounded_by[name].values[0, 0], exact, rtol=1e-6, atol=1e-9)
                assert (np.abs(codes_left - exact) <= bounded_by[name].bound[0, 0] + 1e-7).all(), (which, entry["id"])
        changed = arrays | {"delta": (arrays["delta"].view(np.float32) + np.float32(0.5)).view(np.uint32)}
        wrong = gradient(mfmasim.device("sim"), arch, "dq", changed, entry["causal"])["dQ"]
        exact = arrays["dQ"].view(np.float32).astype(np.float64)
        assert (np.abs(wrong - exact) > bounded_by["dQ"].bound[0, 0]).mean() > 0.4
