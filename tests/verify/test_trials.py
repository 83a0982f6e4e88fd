"""Drawn trials: what is drawn keeps to the contract, and a planted fault shrinks to its smallest example."""

import json
import re
import shlex
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import mfmasim
from mfmasim.cli import explore, main
from mfmasim.lab.agreement.domain import Domain
from mfmasim.lab.agreement.judging import Differences, leaves
from mfmasim.lab.agreement.trial import Trial, Verdict, judge
from mfmasim.lab.mutation.mutants import compile_mutant, mutants_of
from mfmasim.observe import Finding
from mfmasim.testing.drawn_trials import codes_of, smallest, trials
from mfmasim.verify import A, B, C, Result, ScaleA, find, load_file, select
from mfmasim.verify.arrays import Array
from mfmasim.verify.runner import set_parameters

QUIET = {"suppress_health_check": list(HealthCheck), "deadline": None}


def pairs_of(family, arch, text=None):
    return [pair for _, cases in find(family) for pair in select(cases, arch, text)]


GENERAL = pairs_of("gemm_fp8", "gfx942", "general[M=17")


@given(
    trials([*GENERAL, *pairs_of("wmma", "gfx1201", "tile_64x64"), *pairs_of("gemm_mx", "gfx950", "scaled[a=e2m1fn")])
)
@settings(max_examples=30, **QUIET)
def test_what_is_drawn_keeps_to_the_contract(trial):
    trial.case.check_contract()
    own = trial.case.make()
    assert trial.inputs
    for number, arg in enumerate(own.args):
        if f"argument {number}" in trial.inputs:
            assert trial.inputs[f"argument {number}"].shape == getattr(arg, "stored_shape", arg.shape)


@pytest.mark.parametrize("name", ["e8m0", "e4m3fn", "e5m3"])
@given(data=st.data())
@settings(max_examples=200, **QUIET)
def test_block_scales_of_every_format_are_drawn_near_one(name, data):
    fmt = mfmasim.format(name)
    code = data.draw(codes_of(ScaleA((16, 4), format=name), fmt, 1.0))
    assert 0 <= code <= fmt.mask
    value = fmt.decode(np.array([code], fmt.carrier)).item()
    assert np.isnan(value) or value <= 2.0**10


def test_parameters_are_recognised_by_what_they_become():
    kinds = Domain(*GENERAL[0]).kinds
    assert kinds == {
        **dict.fromkeys(("M", "N", "K"), "size"),
        **dict.fromkeys(("lda", "ldb", "ldc"), "stride"),
        **dict.fromkeys(("alpha", "beta"), "factor"),
        **dict.fromkeys(("offset_a", "offset_b", "offset_c"), "offset"),
    }
    scaled = Domain(*pairs_of("gemm_mx", "gfx950", "scaled[a=e2m1fn,b=e2m1fn]")[0])
    assert scaled.values("K", {"M": 64, "N": 64}) == [128, 256]
    # 16 bytes are 32 elements of FP4.
    assert scaled.values("lda", {"M": 64, "N": 64, "K": 128}) == [0, 128, 160, 224]


def test_growth_allows_longer_sizes_and_more_elements():
    own = GENERAL[0][0].parameters
    for growth, longest in ((1, 2), (4, 8)):
        domain = Domain(*GENERAL[0], growth)
        assert max(domain.values("M", {})) == longest * own["M"]
        # Elements count altogether: two long sizes leave a short one.
        assert max(domain.values("K", {"M": longest * own["M"], "N": own["N"]})) <= own["K"] / 2


class Second:
    """A device that is a second simulator, and looks at nothing."""

    name = "second"

    def launch(self, kernel, grid, block, args, shared_bytes=0, checks="all", **options):
        return mfmasim.device("sim").launch(kernel, grid, block, args, shared_bytes, "none")


class Wrong(Second):
    """A device that gets one thing wrong: a subnormal in A counts as zero."""

    def launch(self, kernel, grid, block, args, *others, **options):
        a = args[0].view(np.float16)
        kept = a.copy()
        a[np.abs(a) < 2.0**-14] = 0
        report = super().launch(kernel, grid, block, args, *others)
        a[:] = kept
        return report


def shrunk(kernel_pairs, **how):
    return smallest(trials(kernel_pairs), examples=60, seed=3, checks="none", **how)


@pytest.mark.long
def test_a_wrong_kernel_shrinks_to_a_small_shape_and_one_element():
    """A mutant whose tail of K is wrong in one kernel out of many shapes."""
    mutant, case = next(pair for pair in mutants_of("gemm_fp8") if pair[0].name == "k_tail_not_masked")
    kernel = compile_mutant(mutant, case, "gfx942")[case.kernel_name()]
    found = shrunk([(case, "gfx942")], kernel=kernel, device=Second())
    parameters = found.trial.case.parameters
    assert parameters["M"] * parameters["N"] * parameters["K"] <= 8
    assert found.agreement == "simulator and device agree, the reference differs from both"
    text = "\n".join(found.lines())
    assert re.search(r"simulator: outputs general\.hip C\[\d, \d\] \d of \d elements differ", text), text
    assert "computed by v_mfma_f32_16x16x32_fp8_fp8, stored by " in text


TAIL = """
#include <hip/hip_runtime.h>
extern "C" __global__ void twice(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n - (n % 8 == 7)) y[i] = 2 * x[i];
}
"""
CASE = """
from mfmasim.verify import In, Out, case

@case("twice.hip", kernel="twice", arch=["gfx942", "gfx1201"], needs="n > 0", {more})
def twice(n=200, data="special"):
    return dict(grid=-(-n // 64), block=64, args=[In("f32", n, data), Out("f32", n), n], expect=lambda x: 2 * x)
"""


@pytest.fixture
def user(tmp_path):
    (tmp_path / "twice.hip").write_text(TAIL)
    (tmp_path / "cases.py").write_text(CASE.format(more=""))
    return tmp_path / "cases.py"


def test_a_tail_that_is_left_out_shrinks_to_the_first_such_length(user, capsys):
    assert main(["explore", str(user), "--arch", "gfx942", "--examples", "200", "--seed", "0"]) == 1
    text = capsys.readouterr().out
    assert "twice on gfx942; n=7 data=special; x 0x0\n" in text
    assert "simulator and reference differ" in text
    assert "simulator: outputs twice.hip y[6] 1 of 7 elements differ" in text
    assert "stored by nothing: the simulator never wrote there" in text


def test_a_wrong_kernel_of_a_user_is_told_from_a_wrong_device(user):
    user.with_name("twice.hip").write_text(TAIL.replace("2 * x[i]", "x[i] + x[i & ~1]").replace("(n % 8 == 7)", "0"))
    found = shrunk([(load_file(user)[0], "gfx1201")], device=Second())
    assert found.trial.case.parameters["n"] == 2  # the first element is right
    assert min(found.trial.inputs["argument 0"].view(np.uint32).tolist()) == 0  # one element stands out
    text = "\n".join(found.lines())
    assert "simulator and device agree, the reference differs from both" in text
    assert re.search(r"simulator: outputs twice\.hip y\[1\] 1 of 2 elements differ.* expected ", text)
    assert "device: outputs twice.hip y[1] 1 of 2 elements differ" in text
    assert "stored by global_store_b32 (twice.hip:5)" in text


def test_a_case_without_a_reference_is_not_drawn(user, capsys):
    text = user.read_text()
    user.write_text(text.replace(", expect=lambda x: 2 * x", ""))
    assert main(["explore", str(user), "--trials", "3"]) == 2
    assert "no trial can be drawn: a case needs a reference (expect=)" in capsys.readouterr().err
    user.write_text(text.replace("expect=lambda x: 2 * x", "expect=(lambda x: 2 * x) if n == 7 else None"))
    assert main(["explore", str(user), "--arch", "gfx942", "--trials", "30", "--json", "-"]) == 1
    (row,) = json.loads(capsys.readouterr().out)
    assert row["verdict"]["parameters"]["n"] == 7


def test_a_new_seed_is_printed_with_the_command_that_repeats_it(user, capsys, monkeypatch):
    seeds = []
    monkeypatch.setattr(explore, "_explored", lambda args, _: seeds.append(args.seed) or ([], {"verdict": 1}))
    words = ["explore", str(user), "--arch", "gfx942", "--set", "n=9", "--trials", "7", "--jobs", "1"]
    assert main(words) == 1
    seed, again = capsys.readouterr().out.splitlines()
    assert seed == f"seed {seeds[0]}; these trials again:"
    assert shlex.split(again) == ["mfmasim", *words[:6], "--seed", str(seeds[0]), "--trials", "7"]
    assert main(shlex.split(again)[1:]) == 1
    assert main(words) == 1
    assert seeds[0] == seeds[1] != seeds[2]


def test_a_run_that_is_continued_has_one_seed():
    assert explore._new_seed("a") == explore._new_seed("a") != explore._new_seed("b")


def test_a_matrix_with_the_factor_0_is_said_not_to_be_read():
    ((case, arch), *_) = GENERAL

    def build(M, N, K, alpha, beta, **_):
        a, b, c = A("fp8", (M, K)), B("fp8", (K, N)), C("f32", (M, N))
        return {"grid": 1, "block": 64, "args": [a, b, c], "expect": alpha * (a @ b) + beta * c}

    def said(**changes):
        trial = Trial(replace(case, build=build).with_parameters(changes), arch)
        verdict = Verdict(trial, Result("g", "c", "k", arch, "sim", status="fail"), None, Differences())
        verdict.simulator.findings += [Finding("outputs", "error", "o", "outputs-differ")]
        assert not [line for line in verdict.lines() if "not to be read" in line]
        verdict.simulator.findings += [Finding("uninitialised", "error", "C", "uninitialised-stored")]
        return [line for line in verdict.lines() if "not to be read" in line]

    assert [line.split()[4].rstrip(",") for line in said(beta=0.0)] == ["C"]
    assert not said(beta=0.5)


def test_what_was_found_is_written_as_json(user, capsys):
    assert main(["explore", str(user), "--examples", "200", "--seed", "0", "--json", "-"]) == 1
    (row,) = json.loads(capsys.readouterr().out)
    assert row["verdict"]["parameters"]["n"] == 7
    assert row["verdict"]["agreement"] == "simulator and reference differ"
    assert row["trials"] > 10


def test_right_kernels_agree(capsys):
    assert main(["explore", "uninit", "--arch", "gfx942", "--case", "flag", "--trials", "5"]) == 0
    text = r"AGREE   uninit   \d trials of 2 cases: simulator and reference agree\n {8}fidelity of .*: specified .*\n"
    assert re.fullmatch(rf"{text}seed \d+\n", capsys.readouterr().out)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--case", "nosuch"], "no case matches --arch any --case nosuch"),
        (["--trials", "0"], "--trials 0: a whole number from 1 to 1,000,000 is expected"),
        (["--growth", "-1"], "--growth -1: a number above 0 and up to 64 is expected"),
        (["--growth", "nan"], "--growth nan: a number above 0"),
        (["--growth", "inf"], "--growth inf: a number above 0"),
        (["--checks", "bound"], "unknown check 'bound'; did you mean 'bounds'"),
        (["--device", "hop"], "hop"),
    ],
)
def test_bad_requests_are_told(options, text, capsys):
    assert main(["explore", "uninit", *options]) == 2
    assert text in capsys.readouterr().err


def test_draws_of_a_case_are_taken_and_must_name_parameters(tmp_path, user):
    user.write_text(CASE.format(more="draws={'data': ('bits', 'integers')}"))
    (case,) = load_file(user)
    assert Domain(case, "gfx942").values("data", {}) == ["bits", "integers"]
    user.write_text(CASE.format(more="draws={'date': ('bits',)}"))
    with pytest.raises(mfmasim.MfmasimError, match="unknown parameter 'date' in draws= of case twice"):
        load_file(user)


def test_a_device_that_is_wrong_shrinks_to_the_elements_that_matter():
    found = shrunk(pairs_of("intro", "gfx942", "f16_16x16x16"), device=Wrong())
    # A difference of a subnormal lies within the reference's bound where other products are large.
    assert found.agreement in (
        "simulator and reference agree, the device differs from both",
        "simulator and device both agree with the reference, within its bound, and differ in bits",
    )
    a = found.trial.inputs["argument 0"]
    assert len(np.unique(a)) <= 2  # a background, and at most one element that stands out
    assert (((a & 0x7C00) == 0) & ((a & 0x3FF) != 0)).any()  # one of them is a subnormal
    assert "computed by v_mfma_f32_16x16x16_f16, stored by global_store_dword" in "\n".join(found.lines())


def test_a_case_that_is_another_each_time_is_reported(user):
    text = user.read_text().replace('In("f32", n, data)', 'In("f32", n, RNG.random(n).astype("f4"))')
    user.write_text("import numpy as np\nRNG = np.random.default_rng(1)\n" + text)
    (case,) = load_file(user)
    with pytest.raises(mfmasim.MfmasimError, match="case twice: argument 0 has other contents each time"):
        judge(Trial(case, "gfx942"), Second())


def test_every_case_is_the_same_each_time_it_is_made():
    """Otherwise a capture of it would be stale immediately."""
    first = {}
    for _, cases in find("all"):
        for case in cases:
            first.setdefault((case.source, case.build.__name__), case)
    arrays = 0
    for case in first.values():
        reported = set_parameters(case, arch=case.arch[0])
        one, other = (list(leaves(reported.make().args)) for _ in range(2))
        for (name, arg), (_, again) in zip(one, other, strict=True):
            if isinstance(arg, Array) and isinstance(arg.data, np.ndarray):
                arrays += 1
                assert arg.data.tobytes() == again.data.tobytes(), f"{case.name} {name}"
    assert arrays > 100


def test_a_verdict_of_agreement_has_nothing_to_say():
    (case, arch), *_ = pairs_of("uninit", "gfx1201", "flag")
    verdict = judge(Trial(case, arch))
    assert verdict.ok
    assert len(list(verdict.lines())) == 1


def test_an_interruption_prints_nothing_of_hypothesis(user, capsys, monkeypatch):
    """Neither how to seed its generator nor a traceback."""

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("mfmasim.testing.drawn_trials.judge", interrupted)
    assert main(["explore", str(user), "--jobs", "1"]) == 130
    out, err = capsys.readouterr()
    assert out == ""
    assert err == "mfmasim: interrupted\n"
