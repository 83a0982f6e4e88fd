"""Reports of kernels: main loops from executed instructions, occupancy against LLVM's, claims against counts."""

import json
import re
import subprocess
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from mfmasim import MfmasimError, device, program
from mfmasim.architectures import arch as find_arch
from mfmasim.cli import main
from mfmasim.devices.loops import loops_of, main_loop
from mfmasim.devices.occupancy import occupancy
from mfmasim.lab.reports.claims import Judged, judge
from mfmasim.lab.reports.profile import profile_case
from mfmasim.lab.reports.profile_page import profile_page
from mfmasim.resources import HEADERS, folder
from mfmasim.verify import Claim, find, select
from tests.bench.bench_machine import DEPTH, TILE, _kernel
from tests.llvm import tool

SIDE = 128


@pytest.fixture(scope="module")
def report():
    """The LDS-tiled GEMM of the benchmarks: 4 workgroups of 4 waves, DEPTH / 16 turns each."""
    a, b, c = np.ones((SIDE, DEPTH), np.float32), np.ones((DEPTH, SIDE), np.float32), np.zeros((SIDE, SIDE), np.float32)
    args = [a, b, c, np.int32(SIDE), np.int32(DEPTH)]
    return device("sim").launch(_kernel("tiled_gemm"), (SIDE // TILE, SIDE // TILE), 256, args)


def test_the_main_loop_of_a_tiled_gemm(report):
    loops = loops_of(report.program, report.executed)
    main = main_loop(loops)
    # In a turn: tiles of 64 x 16 of A and of B, 16 steps of 4 x 4 multiplications; two barriers.
    assert main.turns == 16 * DEPTH // 16
    multiplied = sum(n * (2 if "pk" in name else 1) for name, n in main.counts.items() if re.search("fma", name))
    assert multiplied == 16 * 4 * 4
    assert main.counts["s_barrier"] == 2
    assert main.mix["BARRIER"] == 2
    assert main.source.startswith("tiled_gemm.hip:")
    assert sum(main.mix.values()) == pytest.approx(sum(main.counts.values()))


@pytest.mark.parametrize("arch", ["gfx1151", "gfx1201"])
def test_a_loop_that_is_entered_in_its_middle_has_as_many_turns_as_tiles_of_k(arch):
    cases = dict(find("wmma"))["wmma"]
    ((case, _),) = select(cases, arch, "tile_128x64")
    found = profile_case(case.with_parameters({"K": 112}), arch)
    turns = 112 // 16
    assert found.main.turns == turns * found.report.waves
    assert found.main.counts["v_wmma_f32_16x16x16_f16"] == 4
    # Two pieces of 16 bytes for half of the waves, one for the others, in every turn but the last.
    assert found.main.counts["global_load_b128"] == pytest.approx(1.5 * (turns - 1) / turns)
    assert found.main.counts["ds_store_b128"] == pytest.approx((turns - 1) / turns)
    # What the compiler moved behind the end of the kernel and jumps back from is no loop.
    assert [loop.first for loop in found.loops] == [found.main.first]


def test_no_loop_no_main_loop():
    assert main_loop([]) is None


def kernel(arch, vgprs, agprs=0, sgprs=32, wave=None):
    target = find_arch(arch)
    total = vgprs + agprs if target.unified_vgprs else vgprs
    info = SimpleNamespace(
        metadata=SimpleNamespace(vgpr_count=vgprs, agpr_count=agprs, sgpr_count=sgprs),
        descriptor=SimpleNamespace(vgpr_count=total),
    )
    return SimpleNamespace(arch=target, info=info, wave=wave or target.wave_sizes[0])


@pytest.mark.trap("T23")
@pytest.mark.parametrize(
    ("made", "threads", "lds", "waves", "limited"),
    [
        (kernel("gfx942", 211), 512, 0, 2, "VGPRs"),  # checklist 1.3, item 6
        (kernel("gfx942", 125), 512, 0, 4, "VGPRs"),
        (kernel("gfx1151", 91), 256, 0, 16, "waves"),  # checklist T23
        (kernel("gfx950", 128, 128), 256, 0, 2, "VGPRs"),
        (kernel("gfx908", 128, 128), 256, 0, 2, "VGPRs"),
        (kernel("gfx942", 24), 256, 65536, 1, "LDS"),
        (kernel("gfx950", 24), 256, 65536, 2, "LDS"),
        (kernel("gfx950", 24), 64, 0, 8, "waves"),
        (kernel("gfx942", 24, sgprs=102), 256, 0, 7, "SGPRs"),
        (kernel("gfx950", 512), 512, 0, 0, "VGPRs"),
    ],
)
def test_waves_per_simd(made, threads, lds, waves, limited):
    found = occupancy(made, threads, lds)
    assert found.waves_per_simd == waves
    assert limited in found.limited_by


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("source", "archs", "least"),
    [
        ("conformance/races/pipeline.hip", ("gfx942", "gfx1151", "gfx1201"), 12),
        ("conformance/bench/tiled_gemm.hip", ("gfx90a", "gfx950", "gfx1100"), 3),
        ("gemm_fp8/multi_wave.hip", ("gfx942", "gfx950"), 3),
    ],
)
def test_occupancy_is_what_llvm_says(source, archs, least):
    clang = tool("clang")
    path, compared = folder("hipkernels") / source, 0
    options = ["-x", "hip", "--offload-device-only", "-S", "-O3", "-nogpulib", "-nogpuinc", "-o", "-"]
    for arch in archs:
        include = f"-I{HEADERS}"
        command = [clang, *options, f"--offload-arch={arch}", include, str(path)]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        code = program.compile(path, arch, compiler=clang)
        for name, said in re.findall(r"\.amdhsa_kernel (\w+)\n.*?; Occupancy: (\d+)", text, re.DOTALL):
            made = code[name]
            size = made.info.metadata.max_flat_workgroup_size
            found = occupancy(made, size, made.info.descriptor.group_segment_fixed_size)
            assert found.waves_per_simd == int(said), (name, arch, found)
            compared += 1
    assert compared >= least


def test_claims_are_judged_by_counts(report, tmp_path):
    loop = main_loop(loops_of(report.program, report.executed))
    source = folder("hipkernels") / "conformance" / "bench" / "tiled_gemm.hip"
    quantities = {"LDS bytes": 8192.0}

    def verdict(*args, **more):
        return judge(Claim("a claim", *args, **more), report, loop, quantities, source)

    assert verdict("s_barrier", 2).verdict == "confirmed"
    assert verdict("s_barrier", 3).verdict == "refuted, which is not what is known"
    assert verdict("s_barrier", 3, holds=False).verdict == "refuted"
    assert verdict("LDS bytes", 8192).confirmed
    assert verdict("global_load_dwordx4", 1, "const float4 av").found == 1
    assert verdict("s_barrier", 1, "const float4 av").found == 0
    with pytest.raises(MfmasimError, match=r"no line of tiled_gemm\.hip contains"):
        verdict("s_barrier", 1, "no such text")
    with pytest.raises(MfmasimError, match="LDS bytes"):
        verdict("LDS byte", 1)
    with pytest.raises(MfmasimError, match="pattern"):
        Claim("a claim", "(", 1)


def test_reports_of_the_interleave_on_gfx942():
    ((_, cases),) = find("gemm_fp8/scheduled")
    (pair,) = select(cases, "gfx942", "interleave_row")
    found = profile_case(*pair)
    assert found.ok
    assert len(found.claims) == 12
    assert all(judged.confirmed for judged in found.claims)
    assert found.main.mix["MATRIX"] == 64
    assert found.turn.written.startswith("vmcnt(32) lgkmcnt(0) B M8 F2 R F2 R M4")
    assert (found.turn.copies, found.remark) == (0, "")
    assert {access.degree for access in found.accesses} == {1}
    page = profile_page([found], "0")
    assert page.count('class="pass">confirmed') == 12
    assert "waves per SIMD, limited by" in page
    assert not re.search(r"(src|href)=.http", page)
    assert json.loads(json.dumps(found.record()))["main_loop"]["counts"]["ds_read_b128"] == 16


def test_command_line(tmp_path, capsys):
    target = ["report", "intro", "--arch", "gfx942", "--case", "f32_32x32x2"]
    assert main([*target, "--json", "-"]) == 0
    (record,) = json.loads(capsys.readouterr().out)
    assert record["mix"]["MATRIX"] >= 1
    assert record["main_loop"] is None
    assert main([*target, "--html", str(tmp_path / "report.html")]) == 0
    assert "Resources: " in capsys.readouterr().out
    assert "<h1>mfmasim report</h1>" in (tmp_path / "report.html").read_text()
    assert main(["report", "intro", "--case", "nothing"]) == 2


@pytest.mark.parametrize(
    ("relation", "found", "confirmed"),
    [
        ("=", 2, True),
        ("=", 1, False),
        ("<", 2, False),
        ("<", 1, True),
        (">=", 2, True),
        (">=", 1, False),
        ("<=", 2, True),
        ("<=", 3, False),
        (">", 3, True),
        (">", 2, False),
    ],
)
def test_claims_have_relations(relation, found, confirmed):
    assert Judged(Claim("a claim", "LDS share", 2, relation=relation), found).confirmed == confirmed


def test_unknown_relations_are_refused():
    with pytest.raises(MfmasimError, match="unknown relation '=>'"):
        Claim("a claim", "LDS share", 0.5, relation="=>")


def test_claims_about_bounds_are_judged():
    """A lost swizzle makes the LDS the bound: the claim fails without a GPU and without a wrong output."""
    claims = (Claim("no LDS bound", "LDS share", 1, relation="<"), Claim("a turn", "bound cycles", 2000, relation="<"))
    ((_, cases),) = find("gemm_fp8")[:1]
    named = {case.title: case for case in cases}
    right = profile_case(replace(named["direct_pairs"], claims=claims), "gfx950")
    wrong = profile_case(replace(named["direct_none"], claims=claims), "gfx950")
    assert [judged.confirmed for judged in right.claims] == [True, True]
    assert [judged.confirmed for judged in wrong.claims] == [False, True]
    assert right.bound.pipe == "L2"
    assert "Bound: LDS" in profile_page([wrong], "0")
    assert wrong.record()["bound"]["pipe"] == "LDS"
