"""Golden bits of the GEMM families beside plain FP8: made again from their seeds, and left by the kernels."""

import json
from dataclasses import replace

import numpy as np
import pytest

import mfmasim
from golden import gemm, kernels
from golden.reference import exact
from hipkernels.gemm_blockscale.reference import shuffled
from mfmasim.architectures import arch as find_arch
from mfmasim.verify import find, select
from mfmasim.verify.prebuilt import code_for
from mfmasim.verify.roles import Tensor, bytes_of, codes_of
from mfmasim.verify.shuffles import find_shuffle
from tests.tiers import tiers

ENTRIES = {entry["id"]: entry for entry in json.loads(kernels.HERE.read_text(encoding="utf-8"))["entries"]}
PROBLEMS = {problem.id: problem for problem in kernels.problems()}
CASES = {
    (family, case.kernel_name(), arch): case
    for family in kernels.ARCHS
    for name, cases in find(family)
    if name == family
    for case, arch in reversed(select(cases, None))
    if "grouped" not in case.name
    and case.name != "compress"
    and (family != kernels.EPILOGUE or case.name == "mxfp4_linear_mxfp4")
    and (family != kernels.SPARSE or not case.kernel_name().endswith(("bf16", "fp8", "i8")))  # its entries are of f16
}
RUNS = [
    (name, problem.id)
    for family, name, arch in CASES
    for problem in PROBLEMS.values()
    if (problem.family, problem.arch) == (family, arch)
]


QUICK = ("blockscale_wave32", "split_k", "sparse_wave32")
NARROW = ("split_k", "split_k_by_columns")
"""Kernels of ``gemm_fp8/streams`` that leave BF16."""


def quick(run):
    """The first problem of some kernels, on their first architecture."""
    name, problem = run
    return name in QUICK and problem == next(other for one, other in RUNS if one == name)


@pytest.mark.parametrize("name", tiers(list(PROBLEMS), [n for n in PROBLEMS if "/77x" in n and "mx" not in n][::6]))
def test_entries_are_made_again(name):
    assert ENTRIES[name] == kernels.entry(PROBLEMS[name])


def test_every_problem_is_listed_and_its_size_is_small():
    assert list(PROBLEMS) == list(ENTRIES)
    assert {entry["family"] for entry in ENTRIES.values()} == set(kernels.ARCHS)
    assert kernels.HERE.stat().st_size < 20_000
    assert len({entry["seed"] for entry in ENTRIES.values()}) == len(ENTRIES)
    for entry in ENTRIES.values():
        assert len(set(entry["sha256"].values())) == len(entry["sha256"]), "no two arrays are alike"


@pytest.mark.parametrize("family", list(kernels.ARCHS))
def test_exact_results_are_those_of_plain_integers(family):
    """A corner of an exact entry, by `golden.reference.exact`."""
    problem = next(p for p in PROBLEMS.values() if p.family == family and p.data == "integers" and p.arch == "gfx950")
    found, left = kernels.inputs(problem), kernels.results(problem)
    width = 32 if family == kernels.EPILOGUE else 4
    a, b = found["A"][:3], found["B"][:, :width]
    if family == kernels.SPARSE:
        dense = np.zeros((3, problem.shape[2]), a.dtype)
        for i, k in np.ndindex(a.shape):
            dense[i, k // 2 * 4 + found["index"][i, k]] = a[i, k]
        a = dense
    if family == kernels.BLOCKS:
        total = np.zeros((3, 4))
        for n, k in enumerate(range(0, a.shape[1], 128)):
            part = exact.matmul(a[:, k : k + 128], b[k : k + 128], problem.format, problem.format)
            by = found["scale_A"].view(np.float32)[n, :3, None] * found["scale_B"].view(np.float32)[0, n]
            total += part.view(np.float32) * by.astype(np.float64)
    else:
        scales = {}
        if problem.format == kernels.FP4:
            scales = {"scale_a": found["scale_A"][:3], "scale_b": found["scale_B"][:, :width]}
        total = exact.matmul(a, b, problem.format, problem.format, **scales).view(np.float32).astype(np.float64)
    want = np.float64(problem.alpha) * total
    if problem.beta:
        want += problem.beta * (found["C"][:3, :width].astype(np.uint32) << 16).view(np.float32)
    if family == kernels.EPILOGUE:
        want += found["bias"][:width].view(np.float32)
        scale = np.floor(np.log2(np.abs(want).max(axis=1))) - 2
        assert np.array_equal(left["mxfp4"][:3, problem.shape[1]], scale + 127)
        numbers = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])
        apart = np.abs(np.abs(want / np.exp2(scale)[:, None])[..., None] - numbers)
        near = np.where(apart == apart.min(axis=-1, keepdims=True), np.arange(8) % 2, 2)  # a tie to the even code
        assert np.array_equal(left["mxfp4"][:3, :width], near.argmin(axis=-1) | (want < 0) * 8)
    elif "f32" in left:
        assert np.array_equal(left["f32"][:3, :4].view(np.float32), want)
    else:
        assert np.array_equal(left["bf16"][:3, :4], gemm.nearest_bf16(want))
    if "turn" in left:
        assert np.array_equal(left["turn"][:3, :4].view(np.float32), want)


def by_roles(case, problem, found):
    """C that a case of tagged matrices leaves, as codes."""
    m, n, k = problem.shape
    changes = {"M": m, "N": n, "K": k, "alpha": problem.alpha, "beta": problem.beta, "gap": 0, "ldc": 0}
    case = case.with_parameters({name: value for name, value in changes.items() if name in case.parameters})
    built, arch = replace(case, mapping=None).make(), find_arch(problem.arch)
    args = [bytes_of(a, codes_for(a.role, found, problem), arch) if isinstance(a, Tensor) else a for a in built.args]
    launch(case, problem, built.grid, built.block, args)
    ((at, output),) = [(i, a) for i, a in enumerate(built.args) if isinstance(a, Tensor) and a.role == "C"]
    return np.ascontiguousarray(codes_of(output, args[at], arch))


def codes_for(role, found, problem):
    """Codes of a tagged matrix."""
    if role == "C" and "C" not in found:
        return np.zeros(problem.shape[:2], np.uint32)
    return found[role][..., None] if role.startswith("scale") else found[role]


def launch(case, problem, grid, block, args):
    kernel = code_for(case.source, problem.arch, None, case.flags)[case.kernel_name()]
    report = mfmasim.device("sim").launch(kernel, grid, block, args, checks="none")
    assert not report.stopped


def blockscale(case, problem, found):
    m, n, k = problem.shape
    b = np.ascontiguousarray(found["B"].T)
    b = shuffled(b) if "shuffled" in case.kernel_name() else b
    out = np.zeros((m, n), np.uint16)
    scales = [found[name].view(np.float32) for name in ("scale_A", "scale_B")]
    args = [np.ascontiguousarray(found["A"]), b, *scales, out, *(np.int32(x) for x in (m, n, k, k, n))]
    launch(case, problem, (n // 128, -(-m // 128)), 256 if problem.arch == "gfx1201" else 512, args)
    return out


def streams(case, problem, found):
    (m, n, k), parts, name = problem.shape, problem.parts, case.kernel_name()
    tiles = -(-m // 128) * -(-n // 128)
    split = name.startswith("split")
    size, flags = (tiles * parts, tiles) if split else (parts, parts)
    narrow = name in NARROW
    out = np.zeros((m, n), np.uint16 if narrow else np.uint32)
    args = [np.ascontiguousarray(found["A"]), np.ascontiguousarray(found["B"].T)]
    args.append(out if narrow else out.view(np.float32))
    if narrow or name == "stream_k":
        args.append(np.zeros((size, 128, 128), np.float32))
    if "atomic" not in name:
        args.append(np.zeros(flags, np.uint32))
    args += [*(np.int32(x) for x in (m, n, k, k, k, n)), np.float32(problem.alpha)]
    launch(case, problem, (tiles, parts) if split else parts, 512, args)
    return out


def epilogue(case, problem, found):
    m, n, k = problem.shape
    order, pair = (
        find_shuffle("hipblaslt_32x8"),
        lambda codes: np.ascontiguousarray(codes[:, ::2] | codes[:, 1::2] << 4),
    )
    args = [pair(found["A"]), pair(found["B"].T)]
    args += [order.stored(np.ascontiguousarray(scales)) for scales in (found["scale_A"], found["scale_B"].T)]
    args += [found["C"], found["bias"].view(np.float32)]
    codes, scales = np.zeros((m, n // 2), np.uint8), np.zeros(-(-m // 32) * -(-n // 256) * 256, np.uint8)
    sizes = [np.int32(x) for x in (m, n, k, k, k, n, n)] + [np.float32(problem.alpha), np.float32(problem.beta)]
    grid = (-(-n // 256), -(-m // 256))
    launch(case, problem, grid, 512, [*args, codes, scales, *sizes, np.int32(0), np.uint32(0)])
    unpacked = np.stack([codes & 15, codes >> 4], axis=-1).reshape(m, n)
    return np.concatenate([unpacked, order.loaded(scales, (m, n // 32))], axis=1)


LEFT = {kernels.BLOCKS: blockscale, kernels.STREAMS: streams, kernels.EPILOGUE: epilogue}


@pytest.mark.parametrize("run", tiers(RUNS, [run for run in RUNS if quick(run)]), ids=str)
def test_kernels_leave_the_golden_bits(run):
    name, problem = run[0], PROBLEMS[run[1]]
    case = CASES[problem.family, name, problem.arch]
    exactly = problem.data == "integers"
    if problem.family == kernels.STREAMS and not exactly and name not in (*NARROW, "split_k_in_turn"):
        return  # sums of parts in another order
    found = kernels.inputs(problem)
    codes = LEFT.get(problem.family, by_roles)(case, problem, found)
    kind = ("bf16" if name in NARROW else "turn") if problem.family == kernels.STREAMS else ""
    wanted = ENTRIES[problem.id]["sha256"]
    wanted = wanted[kind or next(one for one in ("bf16", "f32", "mxfp4") if one in wanted)]
    assert gemm.digest(codes)[:16] == wanted
    codes.reshape(-1)[5] ^= 1
    assert gemm.digest(codes)[:16] != wanted
