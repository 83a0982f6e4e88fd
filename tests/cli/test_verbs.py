"""The verbs: groups of the first screen, moved spellings, `show` of everything, `inspect`."""

import json
import re
from pathlib import Path

import pytest

from mfmasim.cli import VERBS, build, main
from mfmasim.cli.verbs import ALSO, FIRST, GROUPS, MOVED, first_screen
from mfmasim.resources import folder

ROOT = Path(__file__).parents[2]
FILE = str(folder("golden") / "code" / "intro" / "mfma_f32_32x32x2_f32.gfx942.hsaco")


def said(capsys, *words, code=0):
    assert main(list(map(str, words))) == code
    return capsys.readouterr()


def test_the_first_screen_has_at_most_sixteen_verbs_in_four_groups(capsys):
    text = said(capsys, "--help").out
    assert text == said(capsys).out == first_screen() + "\n"
    shown = [
        line[7:].split()[0]
        for line in text.partition("\nmfmasim help")[0].splitlines()[4:]
        if line and line[7:12] != "also "
    ]
    assert 10 < len(set(shown)) <= 16
    assert set(shown) == set(FIRST)
    assert set(FIRST) | set(ALSO) == set(VERBS)
    assert len(GROUPS) == 4
    assert text.index("mfmasim verify intro") < text.index("look")
    assert max(map(len, text.splitlines())) <= 110


def test_every_verb_is_a_module_with_help():
    listed = re.findall(r"^    (\w+)\b", build(VERBS).format_help(), re.MULTILINE)
    assert set(listed) == set(VERBS)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (["swizzle", "--list"], ["lds", "swizzles"]),
        (
            ["where", "gfx950", "v_mfma_f32_32x32x16_f16", "D", "5", "17"],
            ["show", "gfx950", "v_mfma_f32_32x32x16_f16", "D[5,17]"],
        ),
        (["format", "e4m3fnuz", "0x2b"], ["show", "e4m3fnuz", "0x2b"]),
        (["format"], ["show", "formats"]),
        (["grid", "hilbert"], ["lds", "grid", "hilbert"]),
        (["unsupported", FILE], ["inspect", "--brief", FILE]),
    ],
)
def test_an_old_spelling_works_and_says_the_new_one(capsys, old, new):
    before, after = said(capsys, *old), said(capsys, *new)
    assert before.out == after.out
    assert before.err == f"mfmasim: {old[0]!r} is now {MOVED[old[0]]!r}; the old spelling works for one release\n"
    assert not after.err


def test_old_and_new_spellings_of_what_needs_a_gpu(capsys):
    for verb in ("golden", "calibrate", "kit"):
        for words in ([verb], ["gpu", verb]):
            with pytest.raises(SystemExit):
                main([*words, "--help"])
            captured = capsys.readouterr()
            assert captured.out.startswith(f"usage: mfmasim {' '.join(words)}")
            assert bool(captured.err) == (len(words) == 1)
    assert "required: VERB" in said(capsys, "gpu", code=2).err


def test_no_page_uses_an_old_spelling():
    found = []
    for page in [*ROOT.glob("docs/**/*.md"), ROOT / "README.md", *ROOT.glob("mfmasim/learn/exercises/**/*")]:
        if page.is_file() and page.name != "changes.md":  # it tells what versions before said
            found += [f"{page.name}: {m[0]}" for m in re.finditer(rf"mfmasim ({'|'.join(MOVED)})\b", page.read_text())]
    assert not found


# show and list


def test_a_product_has_its_facts_with_their_source(capsys):
    text = said(capsys, "show", "mi355x").out
    for part in ("MI355X", "256", "2400 MHz", "8,000 GB/s", "WP4, table 2"):
        assert part in text
    assert "2400 MHz" not in said(capsys, "show", "gfx950").out


def test_peaks_are_those_that_the_vendor_states(capsys):
    """AMD's data sheets: MI355X 2.5 PFLOPS of f16, 5.0 of FP8, 10.1 of FP4; MI300X 1307.4 and 2614.9 TFLOPS."""
    rows = json.loads(said(capsys, "show", "mi355x", "--peaks", "--json").out)
    peak = {(row["a"], row["b"], row["sparse"]): row["tflops"] for row in rows}
    assert peak["f16", "f16", ""] == pytest.approx(2516.6, abs=0.1)
    assert peak["e4m3fn", "e4m3fn", ""] == peak["e5m2", "e4m3fn", ""] == pytest.approx(5033.2, abs=0.1)
    assert peak["e2m1fn", "e2m1fn", ""] == peak["e3m2fn", "e2m3fn", ""] == pytest.approx(10066.3, abs=0.1)
    assert {row["product"] for row in rows} == {"MI355X"}
    rows = json.loads(said(capsys, "show", "gfx942", "--peaks", "--json").out)
    peak = {(row["product"], row["a"], row["sparse"]): row["tflops"] for row in rows}
    assert peak["MI300X", "f16", ""] == pytest.approx(1307.4, abs=0.1)
    assert peak["MI300X", "e4m3fnuz", ""] == pytest.approx(2614.9, abs=0.1)
    assert all(row["source"] for row in rows)


def test_list_of_a_product_has_its_peaks(capsys):
    own = said(capsys, "list", "mi355x", "--match", "f8f6f4", "--json").out
    assert own == said(capsys, "list", "gfx950", "--match", "f8f6f4", "--units", 256, "--mhz", 2400, "--json").out
    assert "tflops" not in said(capsys, "list", "gfx950", "--match", "f8f6f4", "--json").out


@pytest.mark.parametrize(
    ("words", "place"),
    [
        (["v_mfma_f32_32x32x16_f16", "D[5,17]"], (49, 1)),
        (["gfx950", "__builtin_amdgcn_mfma_f32_32x32x16_f16", "D[5,17]"], (49, 1)),
        (["__builtin_amdgcn_mfma_f32_16x16x16f16", "D", "3", "4"], (4, 3)),
        (["gfx1201", "__builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12", "D[3,5]"], (5, 3)),
    ],
)
def test_an_element_is_found_without_the_architecture_and_by_the_builtin(capsys, words, place):
    row = json.loads(said(capsys, "show", *words, "--json").out)[0]
    assert (row["lane"], row["vgpr"]) == place


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["gfx950", "D[5,40]"], "'D[5,40]' is an element: the instruction is missing, as in mfmasim show gfx950 INSTR"),
        (["C[1,2]"], "'C[1,2]' is an element of a matrix: name the instruction first, as in mfmasim show v_mfma_"),
        (["gfx950", "v_mfma_f32_32x32x16_f16", "D[5,40]"], "is not within 0..31"),
        (["gfx950", "v_mfma_f32_32x32x16_f16", "--peaks"], "--peaks is for an architecture or a product"),
        (["e9m9"], "unknown format 'e9m9'"),
        (["gfx95"], "unknown architecture 'gfx95'; did you mean 'gfx950'?"),
        (["gfx950", "__builtin_amdgcn_mfma_f33"], "unknown matrix instruction"),
    ],
)
def test_what_cannot_be_shown_says_what_to_write(capsys, words, text):
    assert text in said(capsys, "show", *words, code=2).err


# inspect


def test_a_code_object_is_described(capsys):
    text = said(capsys, "inspect", FILE).out
    for part in (
        "gfx942, code object v",
        "mfma_f32_32x32x2_f32",
        "VGPRs",
        "used",
        "declared",
        "SGPRs",
        "8 waves a SIMD with workgroups of 64, limited by waves",
        "v_mfma_f32_32x32x2_f32, 1 place",
        "arithmetic reference",
        "all instructions can be executed",
    ):
        assert part in text, part
    record = json.loads(said(capsys, "inspect", FILE, "--json").out)[0]
    assert [arg["kind"] for arg in record["arguments"]] == ["global_buffer"] * 3
    assert record["wave"] == 64
    assert record["matrix"] == [{"instruction": "v_mfma_f32_32x32x2_f32", "places": 1, "fidelity": "reference"}]
    assert record["occupancy"]["limited_by"] == ["waves"]


def test_a_source_is_compiled_and_its_types_are_shown(capsys):
    source = ROOT / "docs" / "example" / "norms" / "kernels.hip"
    text = said(capsys, "inspect", source, "--kernel", "layer", "--arch", "gfx950", "--block", 64).out
    assert "(const __bf16* x, const float* gamma, const float* beta, __bf16* y, int columns)" in text
    assert "workgroups of 64" in text
    assert "softmax" not in text


def test_every_target_of_a_bundle_is_listed_also_those_that_are_not_simulated(tmp_path, capsys):
    data = Path(FILE).read_bytes()
    entries = [("hipv4-amdgcn-amd-amdhsa--gfx942", data), ("hipv4-amdgcn-amd-amdhsa--gfx942:xnack+", data[:100])]
    head, at = b"__CLANG_OFFLOAD_BUNDLE__" + len(entries).to_bytes(8, "little"), 4096
    for name, content in entries:
        head += at.to_bytes(8, "little") + len(content).to_bytes(8, "little") + len(name).to_bytes(8, "little")
        head += name.encode()
        at += len(content)
    (tmp_path / "two.co").write_bytes(head.ljust(4096, b"\0") + b"".join(content for _, content in entries))
    captured = said(capsys, "inspect", tmp_path / "two.co", code=1)
    assert "all instructions can be executed" in captured.out
    assert "two.co: gfx942:xnack+: " in captured.out
    assert "truncated" in captured.out
    assert "mfma_f32_32x32x2_f32" in said(capsys, "inspect", tmp_path / "two.co", "--arch", "gfx942").out


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["none.co"], "none.co: cannot be read: No such file"),
        (["case.py"], "case.py: no such case file"),
        ([FILE, "--source", "k.hip"], f"--source needs a case file, not {FILE}"),
        ([FILE, "--kernel", "mfma_f16"], "unknown kernel 'mfma_f16' in the files; allowed: mfma_f32_32x32x2_f32"),
        ([FILE, "--block", "0"], "--block 0: a whole number from 1 to 1,024 is expected"),
        ([FILE, "--arch", "gfx950"], "gfx950"),
        ([str(ROOT / "README.md")], "not a code object"),
    ],
)
def test_what_cannot_be_inspected_says_why(capsys, words, text):
    assert text in said(capsys, "inspect", *words, code=2).err


@pytest.mark.parametrize("verb", ["verify", "explore"])
def test_a_source_in_place_of_a_case_file_says_what_takes_it(verb, tmp_path, capsys):
    (tmp_path / "k.hip").write_text("int x;\n")
    assert main([verb, str(tmp_path / "k.hip")]) == 2
    assert "a case file is Python (.py)" in (said := capsys.readouterr().err)
    assert "without one: mfmasim inspect, run, report or cost" in said
