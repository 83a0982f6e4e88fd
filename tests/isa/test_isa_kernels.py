"""Compiled kernels: every instruction of the corpus equals llvm-objdump's text, padding included, and comes back."""

import functools
import re
import subprocess
from pathlib import Path

import pytest

from mfmasim.isa import decode_range
from tests.isa.llvm_oracle import assemble
from tests.llvm import tool

KERNELS = sorted((Path(__file__).parent / "kernels").glob("*.hip"))
LINE = re.compile(r"^\t(.*?)\s*// ([0-9A-F]+): ((?:[0-9A-F]{8} ?)+)", re.MULTILINE)
# What an architecture has no instructions for.
MISSING = {
    "gfx908": {"cdna4", "half", "lanes", "memory", "mfma", "rdna"},
    "gfx90a": {"cdna4", "half", "mfma", "rdna"},
    "gfx942": {"cdna4", "mfma_cdna1", "rdna"},
    "gfx950": {"mfma_cdna1", "rdna"},
    **{arch: {"cdna4", "mfma", "mfma_cdna1"} for arch in ("gfx1100", "gfx1151", "gfx1200", "gfx1201")},
}


def compile_kernel(source, arch, output):
    subprocess.run(
        [
            tool("clang"),
            "-x",
            "hip",
            "--cuda-device-only",
            "-nogpuinc",
            "-nogpulib",
            "--no-gpu-bundle-output",
            "-w",
            "-O2",
            "-std=c++20",
            f"--offload-arch={arch}",
            "-o",
            output,
            source,
        ],
        check=True,
    )
    listing = subprocess.run([tool("llvm-objdump"), "-d", output], capture_output=True, text=True, check=True).stdout
    return [(" ".join(text.split()), int(pc, 16), words.split()) for text, pc, words in LINE.findall(listing)]


@functools.cache
def corpus(arch, folder):
    found = {}
    for source in KERNELS:
        if source.stem not in MISSING[arch]:
            found[source.stem] = compile_kernel(source, arch, str(Path(folder) / f"{source.stem}.{arch}"))
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    tool("ld.lld")
    return str(tmp_path_factory.mktemp("kernels"))


def code_of(words):
    return b"".join(int(word, 16).to_bytes(4, "little") for word in words)


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("arch", "least"),
    [
        ("gfx908", 5000),
        ("gfx90a", 6500),
        ("gfx942", 8000),
        ("gfx950", 8500),
        ("gfx1100", 6000),
        ("gfx1151", 6000),
        ("gfx1200", 6000),
        ("gfx1201", 6000),
    ],
)
def test_every_instruction_equals_objdump(arch, least, folder):
    compared = 0
    for name, lines in corpus(arch, folder).items():
        # One range per file, so that sizes have to add up over code and padding alike.
        code = b"".join(code_of(words) for _, _, words in lines)
        pcs = [pc for _, pc, _ in lines]
        assert pcs == sorted(pcs)
        instructions = decode_range(code, arch, pcs[0])
        assert len(instructions) == len(lines), name
        for instruction, (text, _, words) in zip(instructions, lines, strict=True):
            assert instruction.text == text, f"{name}: {' '.join(words)}"
            assert instruction.raw == code_of(words)
            compared += 1
    assert compared >= least


@pytest.mark.oracle
@pytest.mark.parametrize("arch", sorted(MISSING))
def test_text_assembles_to_the_same_bytes(arch, folder):
    unique = {code_of(words) for lines in corpus(arch, folder).values() for *_, words in lines}
    codes = sorted(unique)
    texts = [decode_range(code, arch)[0].text for code in codes]
    lost = 0
    for code, text, back in zip(codes, texts, assemble(texts, arch, halves=False), strict=True):
        # The bits that compilers set in CDNA2's buffer_wbl2 are not in its text.
        # Nor has the text of an RDNA dot product the upper selectors, which mean nothing there, nor that of a 16-bit
        # operand the upper half of its literal.
        lost += back != code
        assert back == code or re.match(r"buffer_wbl2|v_dot[48]_|\w+_[bfiu]16.* 0x", text), text
    assert lost <= 0.01 * len(codes)
    assert len(codes) >= 2200
