"""`__fadd_rd` and its siblings on the simulator, against exact fractions rounded in one of three directions."""

from fractions import Fraction

import numpy as np
import pytest

import mfmasim
from tests.slow.machine.float_mode import nearest_or_directed
from tests.slow.machine.floats import F32, F64
from tests.toolchain.mathematics import everywhere

DIRECTIONS = {"ru": 1, "rd": 2, "rz": 3}
"""Suffix of the name, and FP_ROUND."""
SIZES = {"float": (F32, np.float32, np.uint32, "__f", "__fmaf"), "double": (F64, np.float64, np.uint64, "__d", "__fma")}
OPERATIONS = {
    "add": lambda x, y, _: x + y,
    "sub": lambda x, y, _: x - y,
    "mul": lambda x, y, _: x * y,
    "div": lambda x, y, _: x / y,
    "rcp": lambda x, _y, _z: 1 / x,
    "fma": lambda x, y, z: x * y + z,
}
CALLS = {
    "add": "{p}add_{d}(x, y)", "sub": "{p}sub_{d}(x, y)", "mul": "{p}mul_{d}(x, y)", "div": "{p}div_{d}(x, y)",
    "rcp": "{p}rcp_{d}(x)", "fma": "{fma}_{d}(x, y, z)", "sqrt": "{p}sqrt_{d}(x)",
}  # fmt: skip
COUNT = 192


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    kernels = []
    for name, (_, _, _, prefix, fma) in SIZES.items():
        calls = (call.format(p=prefix, fma=fma, d=d) for call in CALLS.values() for d in DIRECTIONS)
        body = " ".join(f"out[{COUNT * number} + i] = {call};" for number, call in enumerate(calls))
        arguments = f"const {name} *a, const {name} *b, const {name} *c, {name} *out"
        kernels.append(
            f'extern "C" __global__ void k_{name}({arguments}) '
            f"{{ int i = threadIdx.x; {name} x = a[i], y = b[i], z = c[i]; {body} }}"
        )
    path = tmp_path_factory.mktemp("rounding") / "k.hip"
    path.write_text("#include <hip/hip_runtime.h>\n" + "\n".join(kernels))
    return path


def operands(kind, seed):
    """Numbers of all sizes and of similar size, whose results are exact, tiny, or too large."""
    rng = np.random.default_rng(seed)
    info = np.finfo(kind)
    wide = everywhere(rng, 3 * COUNT, kind)
    x, y, z = (np.resize(part, COUNT).copy() for part in np.array_split(wide, 3))
    near = slice(0, COUNT // 2)
    for one in (x, y, z):
        one[near] = rng.normal(size=COUNT // 2) * 2.0 ** rng.integers(-20, 20, COUNT // 2)
    y[:8], x[:8] = 4, np.arange(8) - 4.0
    x[8:16] = info.smallest_subnormal * np.arange(1, 9)
    y[16:20], x[16:20] = 0.5, info.max
    x[20:24], y[20:24] = info.smallest_subnormal * 3, [2, 0.5, -2, 3]
    y[y == 0] = 1
    x[x == 0] = -1
    return x, y, z


@pytest.mark.parametrize(
    ("arch", "name"),
    [
        ("gfx942", "float"),
        *(pytest.param(*row, marks=pytest.mark.long) for row in (("gfx942", "double"), ("gfx1201", "float"))),
    ],
)
def test_directed_operations_are_exact_results_rounded_once(source, arch, name):
    form, kind, word, _, _ = SIZES[name]
    code = mfmasim.compile(source, arch, compiler="ziglang", flags=["-DOCML_BASIC_ROUNDED_OPERATIONS"])
    x, y, z = operands(kind, 5)
    out = np.zeros((len(CALLS), len(DIRECTIONS), COUNT), kind)
    report = mfmasim.device("sim").launch(code[f"k_{name}"], 1, COUNT, [x, y, z, out], checks="all")
    assert report.findings == []
    compared = 0
    exact = [tuple(map(Fraction, values)) for values in zip(x.tolist(), y.tolist(), z.tolist(), strict=True)]
    for number, operation in enumerate(CALLS):
        for place, (direction, mode) in enumerate(DIRECTIONS.items()):
            got = out[number, place]
            if operation == "sqrt":
                compared += check_roots(x, got, direction)
                continue
            function = OPERATIONS[operation]
            for i, values in enumerate(exact):
                result = function(*values)
                bits = int(got[i : i + 1].view(word)[0])
                if result != 0:
                    assert bits == nearest_or_directed(result, form, mode), (operation, direction, values)
                else:
                    assert got[i] == 0
                    assert np.signbit(got[i]) == (direction == "rd") or operation != "add"
                compared += 1
    assert compared > 6 * 3 * COUNT


def check_roots(x, got, direction):
    """Roots of positive numbers: of two neighbours the one on the side of the direction. How many were compared."""
    positive = np.flatnonzero(x > 0)
    assert np.isnan(got[x < 0]).all()
    assert positive.size > 60
    for i in positive:
        square, root = Fraction(float(x[i])), got[i]
        below, above = np.nextafter(root, -np.inf, dtype=got.dtype), np.nextafter(root, np.inf, dtype=got.dtype)
        if direction == "ru":
            assert Fraction(float(below)) ** 2 < square <= Fraction(float(root)) ** 2
        else:
            assert Fraction(float(root)) ** 2 <= square < Fraction(float(above)) ** 2
    return positive.size


def test_they_exist_only_under_rocms_macro(source):
    with pytest.raises(mfmasim.MfmasimError, match="__fadd_ru"):
        mfmasim.compile(source, "gfx942", compiler="ziglang")
