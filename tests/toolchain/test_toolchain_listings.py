"""The five listings of AMD's introduction to matrix cores compile exactly as printed."""

import re

import pytest

from mfmasim.toolchain import compile_hip
from tests.oracles import SHARED, SHARED_HOW, require
from tests.toolchain.toolchain_helpers import disassembly, kernels, other_clang

# Which instruction each listing is about, and where it runs.
LISTINGS = (
    ("mfma_fp32_32x32x2_fp32", "v_mfma_f32_32x32x2_f32", ("gfx942", "gfx950")),
    ("mfma_fp32_16x16x16_fp16", "v_mfma_f32_16x16x16_f16", ("gfx942", "gfx950")),
    ("mfma_fp32_32x32x16_fp8_fp8", "v_mfma_f32_32x32x16_fp8_fp8", ("gfx942", "gfx950")),
    ("mfma_fp32_32x32x64_fp8_fp8", "v_mfma_scale_f32_32x32x64_f8f6f4", ("gfx950",)),
    ("mfma_fp32_32x32x64_fp4_fp4", "v_mfma_scale_f32_32x32x64_f8f6f4", ("gfx950",)),
)


def printed_listings():
    """The text's code blocks that are whole files: those with an #include."""
    text = SHARED / "seeds" / "004_bc8d0b4a993f0abb.txt"
    require("the text with the listings", text.is_file(), SHARED_HOW)
    blocks = re.findall(r"^```cpp\n(.*?)^```", text.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return [block for block in blocks if "#include" in block]


@pytest.mark.oracle
@pytest.mark.parametrize("compiler", ["ziglang", "clang-22"])
def test_listings_compile_exactly_as_printed(compiler, tmp_path):
    listings = printed_listings()
    name = other_clang() if compiler == "clang-22" else compiler
    compared = 0
    for listing, (kernel, instruction, architectures) in zip(listings, LISTINGS, strict=True):
        source = tmp_path / f"{kernel}.hip"
        source.write_text(listing, encoding="utf-8")
        for arch in architectures:
            done = compile_hip(source, arch, name)
            assert done.warnings == ""
            (symbol,) = kernels(done.data)
            assert kernel in symbol
            assert disassembly(done.data, tmp_path).count(f"\t{instruction} ") == 1
            compared += 1
    assert compared == 8
