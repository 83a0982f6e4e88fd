"""Kernels of Triton as cases of `verify`: the page's example, wrong kernels, mutants, plain arrays, scales."""

import json
import re
from pathlib import Path

import pytest

from mfmasim.cli import main
from mfmasim.errors import MfmasimError
from mfmasim.verify import A, B, C, Out, load_file, verify_case
from tests.triton.needs import HAVE, mt, needed  # noqa: F401  (a fixture)

if HAVE:
    from tests.triton import kernels

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "triton.md").read_text()
EXAMPLE = re.search(r"```python\n(# my_triton\.py\n.*?)```", PAGE, re.DOTALL)[1]
ARCHS = ("gfx942", "gfx950", "gfx1151", "gfx1201")
HEAD = """import mfmasim.triton
from mfmasim.verify import A, B, C, In, Out, ScaleA, ScaleB
from tests.triton import kernels

"""
ADDED = """@mfmasim.triton.case(kernels.add, arch="gfx950", each=[{}, {"n": 1}, {"offset": 4}])
def added(n=1600, offset=0):
    x, y, z = In("f32", n, "normal", offset=offset), In("f32", n, "normal"), Out("f32", n)
    return dict(grid=-(-n // 1024), args=[x, y, z, n], constants={"B": 1024}, expect=lambda x, y: x + y)
"""
GLUON = """from triton.experimental import gluon
from triton.experimental.gluon import language as gl


@gluon.jit
def twice(x, y, n, L: gl.constexpr, B: gl.constexpr):
    i = gl.program_id(0) * B + gl.arange(0, B, layout=L)
    gl.store(y + i, gl.load(x + i, mask=i < n) * 2, mask=i < n)


@mfmasim.triton.case(twice, arch=["gfx950", "gfx1250"])
def doubled(n=1000, wave=0):
    x, y = In("f32", n, "normal"), Out("f32", n)
    constants = dict(L=gl.BlockedLayout([1], [wave], [4], [0]), B=256, num_warps=4)
    return dict(grid=-(-n // 256), args=[x, y, n], constants=constants, expect=lambda x: x + x)
"""
SCALED = """import triton
import triton.language as tl


@triton.jit
def scaled(a, p, b, q, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, P: tl.constexpr, F: tl.constexpr):
    i = tl.arange(0, M)
    j = tl.arange(0, N)
    k = tl.arange(0, K // P)
    g = tl.arange(0, K // 32)
    left = tl.load(a + i[:, None] * (K // P) + k[None])
    right = tl.load(b + j[None] * (K // P) + k[:, None])
    p_of = tl.load(p + i[:, None] * (K // 32) + g[None])
    q_of = tl.load(q + j[:, None] * (K // 32) + g[None])
    out = tl.dot_scaled(left, p_of, F, right, q_of, F, tl.zeros((M, N), tl.float32))
    tl.store(c + i[:, None] * N + j[None], out)


@mfmasim.triton.case(scaled, arch="gfx950", each=[{"kind": "e4m3fn"}, {"kind": "e2m1fn"}])
def product(kind="", K=128):
    a, b, c = A(kind, (32, K)), B(kind, (K, 32), "column"), C("f32", (32, 32))
    p, q = ScaleA((32, K // 32)), ScaleB((K // 32, 32), order="column")
    packed, name = (2, "e2m1") if kind == "e2m1fn" else (1, "e4m3")
    constants = dict(M=32, N=32, K=K, P=packed, F=name)
    return dict(grid=1, args=[a, p, b, q, c], constants=constants, expect=(a * p) @ (b * q))
"""


def written(folder, text):
    path = folder / "my_triton.py"
    path.write_text(text)
    return path


def verified(folder, text, *options):
    out = folder / "out.json"
    code = main(["verify", str(written(folder, text)), "--json", str(out), "--jobs", "1", *options])
    return code, json.loads(out.read_text())


@pytest.mark.oracle
@pytest.mark.parametrize("arch", ["gfx950", *(pytest.param(a, marks=pytest.mark.long) for a in ARCHS if a != "gfx950")])
def test_the_example_of_the_page(tmp_path, arch):
    code, (result,) = verified(tmp_path, EXAMPLE, "--arch", arch)
    assert code == 0, result["findings"]
    assert result["outputs"]["elements"] == 2 * 64 * 64  # integers and normal data
    # A and B at every element of K, for each tile of C, once at least; then C.
    assert result["mapping"]["slots_checked"] >= 2 * (64 * 64 * 2) + 64 * 64
    assert result["code"]["made_by"].startswith("triton 3.")


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("(step + k)[None])", "(step + (k ^ 1))[None])", "by exchanging neighbouring columns"),
        ("range(0, K, BK)", "range(BK, K, BK)", "K 0..31 of 64 never multiplied"),
        (
            "c + i[:, None] * sc + j[None]",
            "c + j[None] * sc + i[:, None]",
            "is stored at another element of C; all by exchanging row and column",
        ),
    ],
)
def test_wrong_kernels(tmp_path, old, new, words):
    assert EXAMPLE.count(old) == 1
    code, (result,) = verified(tmp_path, EXAMPLE.replace(old, new), "--arch", "gfx950")
    assert code == 1
    assert any(words in one["message"] for one in result["findings"] if one["check"] == "mapping"), result["findings"]


@pytest.mark.oracle
@pytest.mark.parametrize(("kinds", "caught"), [(["barrier removed"], 2), pytest.param([], 77, marks=pytest.mark.long)])
def test_mutants(tmp_path, capsys, kinds, caught):
    chosen = [word for kind in kinds for word in ("--kind", kind)]
    path = str(written(tmp_path, EXAMPLE))
    assert main(["mutate", path, "--binary", "--arch", "gfx950", "--json", "--jobs", "1", *chosen]) == 0
    outcomes = json.loads(capsys.readouterr().out)
    assert not [one for one in outcomes if one["survived"]]
    by = [set(one["caught"]) for one in outcomes if one["caught"]]
    assert len(by) >= caught
    assert any("races" in checks for checks in by)
    # Of the file from which Triton's cache has the kernel.
    assert {
        one["mutant"]["place"].rpartition("/")[2] for one in outcomes if one["mutant"]["kind"] == "barrier removed"
    } <= {f"my_triton.py:{line}" for line in (15, 16)}


@pytest.mark.oracle
def test_the_code_is_that_of_a_launch():
    torch = pytest.importorskip("torch")
    args = [A("f16", (64, 64)), B("f16", (64, 32)), C("f32", (64, 32)), 64, 64, 32, 32]
    case = collected(lambda: {"grid": 2, "args": args, "constants": {"M": 32, "N": 32, "KB": 32}})
    with mt.session(arch="gfx950", checks="none") as session:
        a, b = (torch.zeros(shape, dtype=torch.float16, device="cuda") for shape in ((64, 64), (64, 32)))
        kernels.matmul[(2,)](a, b, torch.zeros(64, 32, device="cuda"), 64, 64, 32, 32, M=32, N=32, KB=32)
    launched = session.reports[0].program.code.object.data
    assert case.compiled("gfx950").code.object.data == launched


def collected(build, fn=None):
    """A case that is declared outside of a file."""
    from mfmasim.verify.cases import collecting

    with collecting(Path(__file__)) as found:
        mt.case(fn or kernels.matmul, arch="gfx950")(build)
    return found[0]


@pytest.mark.oracle
def test_plain_arrays(tmp_path):
    """A number that is 1 is a constant in the code, and an address that is no multiple of 16 is none."""
    code, results = verified(tmp_path, HEAD + ADDED)
    assert code == 0, results
    assert [one["outputs"]["elements"] for one in results] == [1600, 1, 1600]
    assert len({one["code"]["sha256"] for one in results}) == 3


@pytest.mark.oracle
def test_gluon(tmp_path):
    """Its layouts depend on the wave's size, which the case receives as a parameter."""
    code, results = verified(tmp_path, HEAD + GLUON)
    assert code == 0, results
    assert [one["outputs"]["elements"] for one in results] == [1000, 1000]


@pytest.mark.oracle
@pytest.mark.long
def test_scales(tmp_path):
    code, results = verified(tmp_path, HEAD + SCALED)
    assert code == 0, [one["findings"] for one in results]
    assert [one["outputs"]["elements"] for one in results] == [2048, 2048]
    assert [one["mapping"]["mismatches"] for one in results] == [0, 0]
    # A, B, their scales, C: each once at least.
    assert min(one["mapping"]["slots_checked"] for one in results) >= 2 * 32 * 128 + 2 * 32 * 4 + 32 * 32


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("args", "constants", "words"),
    [
        ([1], {}, "has 10 parameters that are not among constants (a, b, c, K, sa, sb, sc, M, N, KB), args has 1"),
        ([A("e2m3fn", (64, 64)), *[1] * 6], {"M": 32, "N": 32, "KB": 32}, "unknown format 'e2m3fn' of argument a"),
        (
            [[1], *[1] * 6],
            {"M": 32, "N": 32, "KB": 32},
            "argument a: a matrix, an array as In, Out or InOut, a number or None is expected, not list",
        ),
        ([Out("f32", 9), *[1] * 6], {"M": 32, "N": 33, "KB": 32}, "matmul does not compile for gfx950"),
        ([Out("f32", 9), *[1] * 6], {"M": 32, "N": 32, "KB": 32, "num_warp": 2}, "num_warp"),
    ],
)
def test_bad_cases(args, constants, words):
    case = collected(lambda: {"grid": 1, "args": args, "constants": constants})
    with pytest.raises(MfmasimError, match=re.escape(words)):
        verify_case(case, "gfx950")


@pytest.mark.oracle
def test_what_cannot_be_a_case():
    with pytest.raises(MfmasimError, match=r"a function with @triton\.jit is expected, not function"):
        mt.case(lambda: None, arch="gfx950")
    with pytest.raises(MfmasimError, match=r"case build: flags=\('-O1',\) without a source to compile"):
        mt.case(kernels.add, arch="gfx950", flags=("-O1",))(build)


def build():
    return {}


@pytest.mark.oracle
def test_options_for_sources(tmp_path, capsys):
    path = written(tmp_path, EXAMPLE)
    assert main(["verify", str(path), "--arch", "gfx950", "--source", str(path)]) == 2
    assert "case product makes its code itself; change the case file" in capsys.readouterr().err
    (case,) = load_file(path)
    with pytest.raises(
        MfmasimError, match="case product makes its code itself: no compiler can be chosen, not 'clang'"
    ):
        verify_case(case, "gfx950", compiler="clang")


@pytest.mark.oracle
def test_a_launch_that_needs_a_session():
    code = mt.compile(kernels.add, dict.fromkeys("xyz", "*fp32") | {"n": "i32"}, {"B": 64}, "gfx950")
    code.metadata = code.metadata._replace(global_scratch_size=64)
    with pytest.raises(MfmasimError, match="add needs scratch memory in global memory: run it in a session"):
        code.launch(1, [None, None, None, 0])


def test_the_page_of_cases(tmp_path):
    """A function that loads the code."""
    page = (Path(__file__).resolve().parents[2] / "docs" / "cases.md").read_text()
    path = tmp_path / "my_loaded.py"
    path.write_text(re.search(r"```python\n(# my_loaded\.py\n.*?)```", page, re.DOTALL)[1])
    (case,) = load_file(path)
    assert case.source == path
    assert [verify_case(case, arch).status for arch in case.arch] == ["pass", "pass"]
