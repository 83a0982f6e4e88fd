"""The verbs list, show and where: their data in every form, and their errors."""

import argparse
import csv
import io
import json
import xml.etree.ElementTree as ET

import pytest

import mfmasim
from mfmasim.architectures import ARCHITECTURES
from mfmasim.cli import list as list_verb
from mfmasim.cli import main, show, where
from mfmasim.errors import MfmasimError


@pytest.fixture
def call(capsys):
    parser = argparse.ArgumentParser()
    verbs = parser.add_subparsers()
    for verb in (list_verb, show, where):
        verb.add(verbs)

    def run(line):
        args = parser.parse_args(line.split())
        assert args.run(args) == 0
        return capsys.readouterr().out

    return run


def read_csv(text):
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.parametrize("operand", ["A", "B", "C", "D"])
def test_show_csv_is_the_table(call, operand):
    text = call(f"show gfx942 v_mfma_f32_16x16x4_4b_f16 --operand {operand} --format csv")
    table = mfmasim.instruction("gfx942", "v_mfma_f32_16x16x4_4b_f16").operands[operand].table()
    lines = text.splitlines()
    assert lines[0] == "row,col,block,lane,vgpr,bit,width"
    assert [tuple(map(int, line.split(","))) for line in lines[1:]] == table.tolist()
    as_json = json.loads(call(f"show gfx942 v_mfma_f32_16x16x4_4b_f16 --operand {operand} --json"))
    assert [tuple(row.values()) for row in as_json] == table.tolist()


def test_show_other_forms(call):
    base = "show gfx1200 v_wmma_f32_16x16x16_f16 --operand A"
    registers = read_csv(call(f"{base} --view registers --format csv"))
    assert len(registers) == 32
    assert registers[17] == {
        "lane": "17",
        "v0": "[1, 4..5]",
        "v1": "[1, 6..7]",
        "v2": "[1, 12..13]",
        "v3": "[1, 14..15]",
    }
    renamed = read_csv(call(f"{base} --view registers --format csv --numbering contiguous"))
    assert renamed[17] == {
        "lane": "17",
        "v0": "[1, 8..9]",
        "v1": "[1, 10..11]",
        "v2": "[1, 12..13]",
        "v3": "[1, 14..15]",
    }
    matrix = read_csv(call(f"{base} --view matrix --format csv"))
    assert matrix[1]["k=5"] == "v0{17}.[31:16]"
    assert call(f"{base} --format markdown").startswith("## A of v_wmma_f32_16x16x16_f16 on gfx1200")
    assert "[1, 12..13]" in call(base)
    assert ET.fromstring(call(f"{base} --format svg")).tag.endswith("svg")
    page = call(f"{base} --format html --view matrix")
    assert "<svg" in page
    assert "mfmasim explorer gfx1200 v_wmma_f32_16x16x16_f16 --open" in page


def test_show_places_in_the_calculators_notation(call):
    copies = read_csv(call("show gfx1100 v_wmma_f32_16x16x16_f16 --operand A --view matrix --format csv"))
    assert copies[2]["k=1"] == "v0{2,18}.[31:16]"
    double = read_csv(call("show gfx90a v_mfma_f64_4x4x4f64 --operand D --view matrix --format csv"))
    assert double[5]["j=2"] == "v[1:0]{22}"
    six = read_csv(call("show gfx950 v_mfma_f32_32x32x64_f8f6f4 --a fp6 --operand A --view matrix --format csv"))
    assert six[0]["k=5"] == "v[1:0]{0}.[35:30]"


def test_show_an_instruction(call):
    rows = {row["property"]: row["value"] for row in read_csv(call("show gfx90a v_mfma_f64_16x16x4_f64 --format csv"))}
    assert rows["instruction"] == "v_mfma_f64_16x16x4f64"
    assert (rows["cycles"], rows["passes of four cycles"], rows["operations per CU and cycle"]) == ("32", "8", "256")
    assert rows["D lane and item"] == "lane = j%16 + 16*(i%4) ; item = i/4%4"
    assert rows["D coordinates"] == "i = lane/16%4 + 4*(item%4) ; j = lane%16"
    assert "<h1>v_mfma_f64_16x16x4f64</h1>" in call("show gfx90a v_mfma_f64_16x16x4_f64 --format html")


def test_modifiers_reach_the_layout(call):
    rows = read_csv(call("show gfx942 v_mfma_f32_32x32x1_2b_f32 --operand A --cbsz 1 --abid 1 --format csv"))
    assert {row["lane"] for row in rows} == {str(lane) for lane in range(32, 64)}
    rows = read_csv(call("show gfx1100 v_wmma_f16_16x16x16_f16 --operand D --op-sel 4 --format csv"))
    assert {row["bit"] for row in rows} == {"16"}
    shared = call("where gfx942 v_mfma_f32_32x32x1_2b_f32 --operand A --cbsz 1 --place 3 0 --format csv")
    assert [row["block"] for row in read_csv(shared)] == ["0", "1"]


def test_where_both_ways(call):
    base = "where gfx950 v_mfma_scale_f32_16x16x128_f8f6f4 --a fp6"
    found = read_csv(call(f"{base} --operand A --element 3 5 --format csv"))
    assert found == [{"row": "3", "col": "5", "block": "0", "lane": "3", "vgpr": "0", "bit": "30", "width": "6"}]
    assert read_csv(call(f"{base} --operand A --place 3 1 2 --format csv")) == found  # the end of the same element
    assert len(json.loads(call("where gfx1100 v_wmma_f32_16x16x16_f16 --operand B --element 3 5 --json"))) == 2
    assert "data-lane" in call(f"{base} --operand A --element 3 5 --format svg")


@pytest.mark.parametrize(
    "asked", ["D 5 17", "D[5,17]", "D 5 17 0", "d 5 17", "D --element 5 17", "--operand D --element 5 17"]
)
def test_where_by_position(call, asked):
    """The operand and the element stand as they are spoken."""
    (found,) = read_csv(call(f"where gfx942 v_mfma_f32_32x32x8_f16 {asked} --format csv"))
    assert (found["lane"], found["vgpr"]) == ("49", "1")


def test_where_terms(call):
    rows = read_csv(call("where gfx942 v_mfma_f32_32x32x8f16 --operand D --element 5 6 --terms --format csv"))
    assert [row["term"] for row in rows] == [f"A[5,{k}]*B[{k},6]" for k in range(8)] + ["C[5,6]"]
    assert rows[6] == {
        "term": "A[5,6]*B[6,6]",
        "k": "6",
        "a_lane": "37",
        "a_vgpr": "1",
        "a_bit": "0",
        "b_lane": "38",
        "b_vgpr": "1",
        "b_bit": "0",
    }


def test_list(call):
    rows = read_csv(call("list --format csv"))
    assert {row["arch"]: int(row["instructions"]) for row in rows} == {
        "gfx908": 20,
        "gfx90a": 27,
        "gfx942": 46,
        "gfx950": 68,
        "gfx1100": 6,
        "gfx1151": 6,
        "gfx1200": 22,
        "gfx1201": 22,
        "gfx1250": 43,
        **dict.fromkeys(("gfx906", *(f"gfx103{n}" for n in range(7))), 0),
        **dict.fromkeys((f"gfx11{n}" for n in ("01", "02", "03", "50", "52", "53", "54")), 6),
        **dict.fromkeys(("gfx1170", "gfx1171", "gfx1172"), 22),
        "gfx1251": 44,
        "gfx1250-strict": 31,
    }
    rows = read_csv(call("list gfx950 --match f8f6f4 --format csv"))
    assert {(row["a"], row["vgprs_a"], row["cycles"]) for row in rows if "32x32x64" in row["instruction"]} == {
        ("e4m3fn", "8", "64"),
        ("e2m3fn", "6", "32"),
        ("e2m1fn", "4", "32"),
    }
    rows = read_csv(call("list gfx950 --fidelity --format csv"))
    assert {row["arithmetic"] for row in rows} == {"assumed", "specified"}
    six = [row for row in rows if row["a"] == "e2m3fn"]
    assert len(six) == 4
    assert all(row["layout"].startswith("open") for row in six)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("list gfx999", "unknown architecture 'gfx999'; did you mean"),
        ("list gfx942 --match xyz", "unknown instruction 'xyz' on gfx942"),
        ("show gfx942 v_mfma_f32_32x32x8", "did you mean 'v_mfma_f32_32x32x8_"),
        ("show gfx942 v_mfma_f32_32x32x8_f16 --operand index", "has no operand 'index'; it has A, B, C, D"),
        ("show gfx942 v_mfma_f32_32x32x8_f16 --format svg", "--format svg needs --operand"),
        ("show gfx942 v_mfma_f32_32x32x8_f16 --operand A --cbsz 1", "cbsz=1 is not legal"),
        ("show v_mfma_f32_32x32x8_f16 --abid 99", "abid=99 is not legal"),
        ("show gfx942 v_mfma_f32_32x32x1_2b_f32 --cbsz 1", "--cbsz 1 changes operands of v_mfma_f32_32x32x1_2b_f32"),
        ("show gfx942 --abid 99", "an instruction is needed for --abid 99"),
        ("where gfx942 v_mfma_f32_32x32x8_f16 --operand A", "an element .OPERAND ROW COL .BLOCK.. or --place"),
        ("where gfx942 v_mfma_f32_32x32x8_f16 --element 5 17", "an operand is needed: A, B, C, D, scale_A"),
        ("where gfx942 v_mfma_f32_32x32x8_f16 sale_A 5 17", "unknown operand 'sale_A'; did you mean 'scale_A'"),
        ("where gfx942 v_mfma_f32_32x32x8_f16 D 5 x", "'x' is no row, column or block"),
        ("where gfx942 v_mfma_f32_32x32x8_f16 D 5 32", "col.* 32"),
        ("where gfx942 v_mfma_f32_32x32x8_f16 D 5 1 --operand A", "one of the two names the operand"),
        ("where gfx942 v_mfma_f32_32x32x8_f16 D 5 1 --element 1 1", "one of the two names the element"),
        ("where gfx942 v_mfma_f32_32x32x8_f16 D 5 1 --place 1 1", "and not both"),
        ("where gfx942 v_mfma_f32_32x32x8_f16 --operand A --element 1", "--element takes two or three numbers, not 1"),
        ("where gfx942 v_mfma_f32_32x32x8_f16 --operand A --place 64 0", "lane 64 of A of .* is not within 0..63"),
        ("where gfx1200 v_wmma_i32_16x16x16_iu4 --wave 64 --operand A --place 40 0", "holds no element of A"),
        ("where gfx942 v_mfma_f32_32x32x8_f16 --operand A --element 1 1 --terms", "--terms needs --operand D"),
    ],
)
def test_errors(call, line, message):
    with pytest.raises(MfmasimError, match=message):
        call(line)


def test_list_of_every_architecture_says_whose_each_row_is(call):
    fidelity = read_csv(call("list --fidelity --format csv"))
    assert {row["arch"] for row in fidelity} == set(ARCHITECTURES) - {"gfx1030"}
    for arch in ("gfx908", "gfx1200"):
        alone = read_csv(call(f"list {arch} --fidelity --format csv"))
        assert [{k: v for k, v in row.items() if k != "arch"} for row in fidelity if row["arch"] == arch] == alone
    shapes = read_csv(call("list --match i32_16x16x64_i8 --format csv"))
    assert {row["arch"] for row in shapes} == {"gfx942", "gfx950"}


def test_list_with_the_peaks_of_a_product(capsys):
    product = ["--units", "256", "--mhz", "2400", "--format", "csv"]
    assert main(["list", "gfx950", "--match", "32x32x8_f16", *product]) == 0
    assert capsys.readouterr().out.splitlines()[1].endswith(",64,32,1258.3")
    assert main(["list", "gfx950", "--units", "256"]) == 2
    assert "both are expected" in capsys.readouterr().err
    assert main(["list", "--match", "f16", *product]) == 2
    assert "of one architecture" in capsys.readouterr().err
    assert main(["list", "gfx950", "--units", "-1", "--mhz", "2400"]) == 2


@pytest.mark.parametrize("line", ["--json D 5 17", "D 5 17 --json", "--wave 64 D 5 --json 17"])
def test_words_that_may_be_left_out_stand_behind_options_too(capsys, line):
    assert main(f"where gfx942 v_mfma_f32_32x32x8_f16 {line}".split()) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert (found["lane"], found["vgpr"]) == (49, 1)


def test_a_word_too_many(capsys):
    assert main(["list", "--json", "gfx942", "gfx950"]) == 2
    assert capsys.readouterr().err == "mfmasim: unrecognized arguments: gfx950\n"


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("verify intro --checks all", "--checks all; verify runs all checks, or those that a case names by checks="),
        ("verify intro --checks=none", "; --checks is an option of explore, run, debug, hiprt, triton\n"),
        ("report intro --checks all", "--checks all; --checks is an option of explore, run, debug, hiprt, triton\n"),
        ("verify intro --sarrif x", "--sarrif x; did you mean --sarif?\n"),
        ("list --zzzzzz", "mfmasim: unrecognized arguments: --zzzzzz\n"),
    ],
)
def test_an_option_that_a_verb_has_not(capsys, line, text):
    assert main(line.split()) == 2
    said = capsys.readouterr().err
    assert text in said
    assert said.count("\n") == 1


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_a_list_fits_a_hundred_columns_also_in_a_pipe(call, arch):
    printed = call(f"list {arch}")
    assert max(map(len, printed.splitlines())) <= 100
    full = read_csv(call(f"list {arch} --format csv"))
    assert bool(full) == (arch != "gfx1030"), printed
    assert sum(row["instruction"] in printed for row in full) == len(full)
