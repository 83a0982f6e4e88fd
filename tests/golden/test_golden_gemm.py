"""Golden bits of the FP8 GEMM: made again from their seeds, by two models, and left by every kernel of the family."""

import json
from functools import cache

import numpy as np
import pytest

import mfmasim
from golden import gemm
from golden.inputs import draw
from golden.reference import exact, models, wide
from mfmasim.architectures import arch as find_arch
from mfmasim.verify import find, select
from mfmasim.verify.contract import broken
from mfmasim.verify.prebuilt import code_for
from mfmasim.verify.roles import Tensor, bytes_of, codes_of
from tests.longtier import turn

ENTRIES = {entry["id"]: entry for entry in json.loads(gemm.HERE.read_text(encoding="utf-8"))["entries"]}
PROBLEMS = list(gemm.problems())
GROUPS = {name: cases for name, cases in find("gemm_fp8") if not name.endswith("streams")}  # those know no beta
CASES = [case for cases in GROUPS.values() for case in cases]
KERNELS = {(case.kernel_name(), arch): case for case, arch in select(CASES, None)}
SEQUENTIAL = ("naive", "lds_tiled", "lds_tiled_guarded")


def size(problem):
    return int(np.prod(problem.shape))


@pytest.mark.parametrize(
    ("arch", "kind", "names", "scaled"),
    [
        ("CDNA3", "8bit", ["e4m3fnuz", "e5m2fnuz"], False),
        ("CDNA4", "8bit", ["e4m3fn"], False),
        ("CDNA3", "16bit", ["f16", "bf16"], False),
        ("CDNA4", "f8f6f4", ["e4m3fn", "e2m3fn", "e3m2fn", "e2m1fn"], True),
    ],
)
@pytest.mark.parametrize("data", ["integers", "normal", "cancel", "range", "special"])
def test_the_wide_model_is_the_plain_one(arch, kind, names, scaled, data):
    compared = 0
    for seed, name in enumerate(names):
        drawn = draw(data, seed, (name, name), (9, 7, 64), 32 if scaled else None, 1 if scaled else None)
        sa, sb = (drawn.scale_a[..., 1], drawn.scale_b[..., 1]) if scaled else (None, None)
        if data == "special" and (scaled or name in ("f16", "bf16")):
            continue  # NaN scales and infinities are not for it
        if data == "range" and name in ("f16", "bf16"):
            continue  # products beyond f32
        rule = models.RULES[arch, kind]
        plain = models.matmul(drawn.a, drawn.b, name, name, rule, scale_a=sa, scale_b=sb)
        fast = wide.matmul(drawn.a, drawn.b, (name, name), rule, sa, sb)
        assert (plain == fast).all()
        compared += plain.size
    assert compared or data in ("special", "range")


def test_sums_one_by_one_and_exact_ones_are_the_plain_ones():
    for arch in ("gfx942", "gfx950"):
        name = "e4m3fnuz" if arch == "gfx942" else "e4m3fn"
        for data in ("normal", "cancel", "special", "range"):
            drawn = draw(data, 3, (name, name), (8, 9, 48), None, None)
            chain = [
                [models.dot(row, column, 0, models.RULES["CDNA3", "f32"], None, 32) for column in columns]
                for columns in [models.decode_all(drawn.b.T, models.find_format(name))]
                for row in models.decode_all(drawn.a, models.find_format(name))
            ]
            assert (wide.sequential(drawn.a, drawn.b, (name, name)) == np.array(chain, np.uint32)).all()
            plain = exact.matmul(drawn.a, drawn.b, name, name, out="bf16")
            found = gemm.nearest_bf16(wide.exact(drawn.a, drawn.b, (name, name)))
            assert gemm.digest(plain) == gemm.digest(np.where(found == 0x8000, 0, found).astype(np.uint16))


def test_a_fused_multiply_add_is_rounded_once():
    rng = np.random.default_rng(3)
    checked = 0
    for alpha in (1.25, -0.3, 1e-3):
        b = (rng.normal(size=4000) * 2.0 ** rng.integers(-20, 20, 4000)).astype(np.float32)
        c = (-np.float64(np.float32(alpha)) * b * (1 + rng.integers(-1, 2, 4000) * 2.0**-26)).astype(np.float32)
        for addend in (c, (c * np.float32(2.0**-24)).astype(np.float32), np.roll(c, 1)):
            found = wide.fma(np.float32(alpha), b, addend)
            f32, number = models.F32, models.decode
            want = [
                models.fma(
                    number(int(np.float32(alpha).view(np.uint32)), f32), number(int(x), f32), number(int(y), f32)
                )
                for x, y in zip(b.view(np.uint32), addend.view(np.uint32), strict=True)
            ]
            assert (found.view(np.uint32) == np.array(want, np.uint32)).all()
            checked += found.size
    assert checked == 36_000


@pytest.mark.parametrize("problem", [p for p in PROBLEMS if size(p) <= 1 << 19], ids=lambda p: p.id)
def test_small_entries_are_made_again(problem):
    assert ENTRIES[problem.id] == gemm.entry(problem)


def test_the_manifest_lists_every_problem_and_its_data_tell_something():
    assert [problem.id for problem in PROBLEMS] == list(ENTRIES)
    assert {s for p in PROBLEMS for s in p.shape} >= set(gemm.SIZES)
    differ = [e for e in ENTRIES.values() if e["sha256"]["matrix"] != e["sha256"]["sequential"]]
    assert len(differ) > 20, "some sums depend on the order"
    for entry in ENTRIES.values():
        if entry["data"] in ("integers", "one_hot"):
            assert entry["sha256"]["matrix"] == entry["sha256"]["sequential"] == entry["sha256"]["exact"]


@pytest.mark.long
def test_all_entries_are_made_again():
    assert gemm.main(["--check"]) == 0


@cache
def made(problem):
    return gemm.inputs(problem)


def of_shape(case, problem):
    """The case with the shape and the factors of a problem."""
    m, n, k = problem.shape
    changes = {"M": m, "N": n, "K": k, "lda": 0, "ldb": 0, "ldc": 0, "alpha": problem.alpha, "beta": problem.beta}
    return case.with_parameters({name: v for name, v in changes.items() if name in case.parameters})


def allowed(name, arch, problems):
    """Problems that the contract of a kernel allows."""
    changed = [(problem, of_shape(KERNELS[name, arch], problem)) for problem in problems if problem.arch == arch]
    return [problem for problem, case in changed if not broken(case.needs, case.parameters)]


def left_by(case, problem):
    """Hash of C as the kernel leaves it."""
    changed = of_shape(case, problem)
    arch, built, codes = find_arch(problem.arch), changed.make(), dict(zip("ABC", made(problem), strict=True))
    args = [bytes_of(a, codes[a.role], arch) if isinstance(a, Tensor) else a for a in built.args]
    kernel = code_for(case.source, problem.arch, None, case.flags)[case.kernel_name()]
    report = mfmasim.device("sim").launch(kernel, built.grid, built.block, args, built.shared_bytes, "none")
    assert not report.stopped
    ((index, output),) = [(i, a) for i, a in enumerate(built.args) if isinstance(a, Tensor) and a.role == "C"]
    return gemm.digest(np.ascontiguousarray(codes_of(output, args[index], arch)))[:16]


def compare(name, arch, problems):
    """How many problems a kernel was compared on."""
    kind = "sequential" if name in SEQUENTIAL else "matrix"
    for problem in problems:
        assert left_by(KERNELS[name, arch], problem) == ENTRIES[problem.id]["sha256"][kind], problem.id
    return len(problems)


RUNS = list(KERNELS)


@pytest.mark.parametrize(("name", "arch"), RUNS)
def test_kernels_leave_the_golden_bits(name, arch):
    """64x64x128 in several classes; kernels with larger tiles on the smallest problem that they take."""
    if not compare(name, arch, allowed(name, arch, [p for p in PROBLEMS if p.shape == (64, 64, 128)][5::7])):
        larger = [p for p in PROBLEMS if p.shape in ((128, 128, 256), (256, 256, 256))]
        assert compare(name, arch, allowed(name, arch, larger)[:1])


@pytest.mark.long
@pytest.mark.parametrize(("name", "arch"), RUNS)
def test_kernels_leave_the_golden_bits_on_every_shape(name, arch):
    """Every other problem each round."""
    assert compare(name, arch, turn(allowed(name, arch, PROBLEMS), 2))
