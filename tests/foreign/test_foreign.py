"""Code objects made by others: text as llvm-objdump's, every instruction can be executed, results as NumPy's."""

import re
import subprocess
from functools import partial

import numpy as np
import pytest

import mfmasim
from tests.foreign import launches
from tests.foreign.launches import OBJECTS, only, wrong
from tests.llvm import tool
from tests.oracles import SHARED_HOW, require

pytestmark = pytest.mark.oracle

LINE = re.compile(r"^\t(.*?)\s*// ([0-9A-F]+): ((?:[0-9A-F]{8} ?)+)", re.MULTILINE)
# Every object of a known architecture, and how many instructions its code has.
FILES = {
    "aiter/gfx942/all_reduce.co": 763,
    "aiter/gfx942/bf16gemm/bf16gemm_fp32bf16_tn_32x64_bshuffle_splitk.co": 1133,
    "aiter/gfx942/bf16gemm/bf16gemm_fp32bf16_tn_32x64_pf3_splitk.co": 1411,
    "aiter/gfx942/bf16gemm/bf16gemm_fp32bf16_tn_32x64_splitk_clean.co": 1492,
    "aiter/gfx942/fmha_v3_fwd/MI300/fwd_hd128_bf16_rtne.co": 2923,
    "aiter/gfx942/fmoe/fmoe_fp8_blockscale_g1u1_subGU_256.co": 4491,
    "aiter/gfx942/fp8gemm_blockscale/fp8gemm_bf16_blockscale_BpreShuffle_32x128.co": 1017,
    "aiter/gfx942/i8gemm/I8gemm_bf16_perTokenI8_BpreShuffle_112x256.co": 1111,
    "aiter/gfx942/i8gemm/I8gemm_bf16_perTokenI8_BpreShuffle_32x128.co": 866,
    "aiter/gfx942/mla/mla_a16w16_qh16_m16x4_n16x1_coex0_mask1.co": 3896,
    "aiter/gfx942/pa/pa_bf16_noquant_gqa8_1tg_4w.co": 3303,
    "aiter/gfx942/topksoftmax/topksoftmax_4x128x4.co": 418,
    "aiter/gfx950/f4gemm/f4gemm_bf16_per1x32Fp4_BpreShuffle_128x128.co": 1503,
    "aiter/gfx950/fmha_v3_fwd/fwd_hd128_bf16.co": 2597,
    "aiter/gfx950/fmha_v3_fwd/fwd_hd128_bf16_causal.co": 3045,
    "aiter/gfx950/fmoe/gelu/fmoe_bf16_pertokenMXfp4_g1u1_flat_novs_gelu_16x128.co": 2823,
    "aiter/gfx950/fp8gemm_blockscale/fp8gemm_bf16_blockscale_BpreShuffle_32x128.co": 1017,
    "aiter/gfx950/i8gemm/I8gemm_bf16_perTokenI8_BpreShuffle_32x128.co": 866,
    "aiter/gfx950/topksoftmax/topksoftmax_4x128x4.co": 418,
    "iree/matmul_256x128x512.gfx942.hsaco": 893,
    "iree/matmul_256x128x512.gfx950.hsaco": 615,
    "triton/layernorm.gfx1201.hsaco": 246,
    "triton/matmul_f16.gfx1201.hsaco": 1207,
    "triton/pingpong38.gfx942.hsaco": 687,
    "triton/scan_sort.gfx1151.hsaco": 659,
    "triton/softmax.gfx1151.hsaco": 339,
}

RUNS = {
    "aiter/gfx942/topksoftmax/topksoftmax_4x128x4.co": launches.topksoftmax,
    "aiter/gfx950/topksoftmax/topksoftmax_4x128x4.co": launches.topksoftmax,
    "aiter/gfx942/bf16gemm/bf16gemm_fp32bf16_tn_32x64_pf3_splitk.co": launches.bf16gemm,
    "aiter/gfx942/bf16gemm/bf16gemm_fp32bf16_tn_32x64_bshuffle_splitk.co": partial(launches.bf16gemm, shuffle=True),
    "aiter/gfx942/i8gemm/I8gemm_bf16_perTokenI8_BpreShuffle_32x128.co": launches.i8gemm,
    "aiter/gfx942/i8gemm/I8gemm_bf16_perTokenI8_BpreShuffle_112x256.co": partial(
        launches.i8gemm, m=112, n=256, tile=(112, 256)
    ),
    "aiter/gfx950/i8gemm/I8gemm_bf16_perTokenI8_BpreShuffle_32x128.co": launches.i8gemm,
    "aiter/gfx942/fp8gemm_blockscale/fp8gemm_bf16_blockscale_BpreShuffle_32x128.co": launches.fp8gemm,
    "aiter/gfx950/fp8gemm_blockscale/fp8gemm_bf16_blockscale_BpreShuffle_32x128.co": launches.fp8gemm,
    "aiter/gfx950/f4gemm/f4gemm_bf16_per1x32Fp4_BpreShuffle_128x128.co": launches.f4gemm,
    "aiter/gfx942/fmha_v3_fwd/MI300/fwd_hd128_bf16_rtne.co": launches.fmha,
    "aiter/gfx950/fmha_v3_fwd/fwd_hd128_bf16.co": launches.fmha,
    "aiter/gfx950/fmha_v3_fwd/fwd_hd128_bf16_causal.co": partial(launches.fmha, causal=True, seq=512),
    "aiter/gfx942/pa/pa_bf16_noquant_gqa8_1tg_4w.co": launches.paged,
    "triton/pingpong38.gfx942.hsaco": launches.pingpong,
    "triton/softmax.gfx1151.hsaco": launches.softmax,
    "triton/scan_sort.gfx1151.hsaco": launches.scan_sort,
    "triton/layernorm.gfx1201.hsaco": launches.layernorm,
    "triton/matmul_f16.gfx1201.hsaco": launches.matmul_f16,
    "iree/matmul_256x128x512.gfx942.hsaco": launches.iree,
    "iree/matmul_256x128x512.gfx950.hsaco": launches.iree,
}
MIXTURE = "aiter/gfx942/fmoe/fmoe_fp8_blockscale_g1u1_subGU_256.co"


def there(file):
    require("data/objects", (OBJECTS / file).exists(), SHARED_HOW)


def launched(file, checks, protocol=None):
    """Launch an object as its protocol says; the report, and how many outputs are wrong."""
    there(file)
    kernel = only(file)
    run = (protocol or RUNS[file])(kernel, np.random.default_rng(1))
    assert sum(array.size for array, _, _ in run.expected) >= 128
    report = mfmasim.device("sim").launch(
        kernel, run.grid, run.block, run.args, shared_bytes=run.shared_bytes, checks=checks
    )
    return report, wrong(run)


def test_the_list_is_whole():
    require("data/objects", OBJECTS.exists(), SHARED_HOW)
    found = {str(p.relative_to(OBJECTS)) for p in OBJECTS.rglob("*") if p.suffix in (".co", ".hsaco")}
    assert {name for name in found if "gfx1250" not in name} == set(FILES)


@pytest.mark.parametrize("file", FILES)
def test_every_instruction_equals_objdump_and_can_run(file, tmp_path):
    there(file)
    code = mfmasim.load(OBJECTS / file)
    # Without the labels of the symbol table a branch prints its offset.
    subprocess.run([tool("llvm-objcopy"), "--strip-all", OBJECTS / file, tmp_path / "plain"], check=True)
    halves = ["--mattr=+real-true16"] if code.arch.wave_sizes[0] == 32 else []
    command = [tool("llvm-objdump"), "-d", *halves, tmp_path / "plain"]
    listing = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = {int(pc, 16): " ".join(text.split()) for text, pc, _ in LINE.findall(listing.stdout)}
    compared = 0
    for name in code.kernels:
        assert code[name].unsupported == ()
        for ins in code[name].instructions:
            assert ins.text == lines[ins.pc]
            compared += 1
    assert compared == FILES[file]


@pytest.mark.parametrize("file", RUNS)
def test_results_equal_numpy(file):
    report, differences = launched(file, "bounds")
    assert differences == 0
    assert [str(finding) for finding in report.findings if finding.severity == "error"] == []


def places(report, check):
    return {finding.pc for finding in report.findings if finding.check == check and finding.severity == "error"}


def test_the_race_of_a_shipped_int8_gemm_is_found():
    """No barrier stands between the read of LDS at 0x2904 and the write at 0x298c."""
    report, differences = launched("aiter/gfx942/i8gemm/I8gemm_bf16_perTokenI8_BpreShuffle_112x256.co", "races")
    assert differences == 0
    assert places(report, "races") & {0x2904, 0x298C}


def test_the_read_before_its_wait_of_a_shipped_paged_attention_is_found():
    """v16 is read at 0x3930 before a wait covers its load at 0x2e70."""
    report, differences = launched("aiter/gfx942/pa/pa_bf16_noquant_gqa8_1tg_4w.co", "waits")
    assert differences == 0
    assert 0x3930 in places(report, "waits")


def test_the_race_of_the_ping_pong_pass_is_found():
    """Triton issue 11696: right outputs, and a read of LDS that no barrier separates from the next tile's writes."""
    report, differences = launched("triton/pingpong38.gfx942.hsaco", "races")
    assert differences == 0
    found = [finding for finding in report.findings if (finding.check, finding.severity) == ("races", "error")]
    assert [finding.count for finding in found] == [14, 64]


def test_the_race_of_a_shipped_mixture_of_experts_is_found():
    """LDS is read at 0x4e28 to 0x4ea0 and overwritten at 0x502c, and no barrier stands between them.

    Results depend on the order of the waves, so they are not compared. The kernel skips instructions by S_SETVSKIP.
    """
    report, _ = launched(MIXTURE, "races", launches.fmoe)
    assert report.counts["s_setvskip"] == 2048
    assert {0x502C, 0x82E4} <= places(report, "races")


def test_the_race_between_tiles_of_a_shipped_attention_is_found():
    """A second tile is loaded into LDS (0x3794 to 0x3920) while V of the first may still be read (0x747c on)."""
    report, differences = launched("aiter/gfx950/fmha_v3_fwd/fwd_hd128_bf16_causal.co", "races")
    assert differences == 0
    assert {0x3794, 0x383C, 0x3890, 0x38E4} <= places(report, "races")
