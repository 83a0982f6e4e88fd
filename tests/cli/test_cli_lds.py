"""The verbs lds and swizzle: their data in every form, exit codes and errors."""

import argparse
import csv
import io
import json
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from mfmasim import lds
from mfmasim.cli import lds as lds_verb
from mfmasim.cli import swizzle as swizzle_verb
from mfmasim.cli.expressions import evaluate
from mfmasim.errors import MfmasimError

ADDRESS = "lane % 16 * 128 + lane // 16 * 16"


@pytest.fixture
def call(capsys):
    parser = argparse.ArgumentParser()
    verbs = parser.add_subparsers()
    for verb in (lds_verb, swizzle_verb):
        verb.add(verbs)

    def run(*words, code=0):
        args = parser.parse_args(words)
        assert args.run(args) == code
        return capsys.readouterr().out

    return run


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.parametrize("arch", ["gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201"])
def test_tables_of_an_architecture(call, arch):
    found = rows(call("lds", arch, "--format", "csv"))
    assert {row["access"]: int(row["banks"]) for row in found} == {
        access: table.banks for access, table in lds.phase_tables(arch).items()
    }


def test_phases_of_an_instruction(call):
    found = json.loads(call("lds", "gfx950", "ds_read_b128", "--json"))
    assert found[0]["lanes"] == "0-3,12-15,20-27"
    assert "\nor: " not in call("lds", "gfx950", "ds_read_b128")
    assert "or: C32 on 32 banks" in call("lds", "gfx950", "ds_read_b32")
    assert len(rows(call("lds", "gfx1100", "ds_load_b128", "--wave", "64", "--format", "csv"))) == 8


def test_conflicts_of_an_access(call):
    words = ("lds", "gfx950", "ds_read_b128", "--address", ADDRESS)
    assert [row["degree"] for row in rows(call(*words, "--format", "csv"))] == ["4"] * 4
    swizzled = rows(call(*words, "--swizzle", "cdna4_gemm", "--format", "csv"))
    assert [row["degree"] for row in swizzled] == ["1"] * 4
    assert call(*words).splitlines()[0].startswith("ds_read_b128 on gfx950: degrees 4,4,4,4, 12 extra passes")
    ET.fromstring(call(*words, "--format", "svg"))
    assert call(*words, "--format", "html").startswith("<!doctype html>")


def test_stride_active_offsets_and_notes(call):
    found = rows(call("lds", "gfx942", "ds_read_b32", "--stride", "128", "--active", "lane < 40", "--format", "csv"))
    assert [row["degree"] for row in found] == ["32", "8"]
    text = call("lds", "gfx950", "ds_read2_b32", "--stride", "8", "--offset", "0", "1")
    assert "note: ds_read2_b32 on gfx950: phases are not known" in text


def test_list_of_swizzles(call):
    assert [row["name"] for row in rows(call("swizzle", "--list", "--format", "csv"))] == list(lds.NAMES)


F16 = "v_mfma_f32_16x16x16_f16"
READ = ("--read", "ds_read_b128", "lane % 16", "lane // 16 * 16 + 64 * n", "--accesses", "2")


def test_check_says_where_it_holds(call):
    one = call("swizzle", "--check", "cdna4_gemm", "--arch", "gfx950", *READ, "--format", "csv")
    assert [row["degree"] for row in rows(one)] == ["1"]
    both = call("swizzle", "--check", "cdna4_gemm", "--arch", "gfx942", "gfx950", *READ, "--format", "csv", code=1)
    assert [(row["arch"], row["extra_passes"]) for row in rows(both)] == [("gfx942", "16"), ("gfx950", "0")]
    assert "self-inverse: yes" in call("swizzle", "--check", "row_and_7", "--arch", "gfx942", *READ)
    ET.fromstring(call("swizzle", "--check", "row_and_7", "--format", "svg"))


def test_find(call):
    words = ("swizzle", "--tile", "16x128", "--arch", "gfx942", "gfx950", "--write", "ds_write_b128", *READ)
    text = call(*words)
    assert "672 of 4096 linear maps within rows are free" in text
    assert "offset ^= ((offset >> 3) & 0x70);" in text
    found = rows(call(*words, "--format", "csv"))
    assert found[0]["operations"] == "3"
    assert {row["extra_passes"] for row in found} == {"0"}
    ET.fromstring(call(*words, "--format", "svg"))


def test_find_for_a_matrix_operand(call):
    found = call(
        "swizzle",
        "--tile",
        "32x64",
        "--element-bytes",
        "2",
        "--arch",
        "gfx950",
        "--write",
        "ds_write_b128",
        "--operand",
        "ds_read_b128",
        "v_mfma_f32_32x32x16_f16",
        "A",
    )
    assert "v_mfma_f32_32x32x16_f16" in found
    assert "return offset / 2u;" in found


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["lds", "gfx951"], "unknown architecture"),
        (["lds", "gfx950", "ds_read_b129"], "did you mean"),
        (["lds", "gfx950", "--format", "svg"], "needs an instruction"),
        (["lds", "gfx950", "ds_read_b32", "--format", "svg"], "--address, --stride or --layout"),
        (["lds", "gfx950", "ds_read_b32", "--stride", "4", "--address", "lane"], "cannot be combined"),
        (["lds", "gfx950", "ds_read_b32", "--stride", "4", "--offset", "1", "2", "3"], "one or two"),
        (["lds", "gfx950", "ds_read_b32", "--wave", "32", "--stride", "4"], "unknown wave size"),
        (["lds", "gfx950", "ds_read_b32", "--address", "lane / 2"], "write // for the quotient"),
        (["lds", "gfx950", "ds_read_b32", "--address", "line * 4"], "did you mean 'lane'"),
        (["lds", "gfx950", "ds_read_b32", "--address", "lane *"], "not an expression"),
        (["lds", "gfx950", "ds_read_b32", "--address", "lane % (lane - lane)"], "divides by 0"),
        (["lds", "gfx950", "ds_read_b32", "--address", "lane << 40"], "shifts by"),
        (["lds", "gfx950", "ds_read_b32", "--address", "open('x')"], "not an integer expression"),
        (["swizzle", "--list", "--format", "svg"], "need --check NAME or --tile"),
        (["swizzle", "--tile", "16"], "ROWSxBYTES"),
        (["swizzle", "--tile", "16x128"], "at least one architecture"),
        (["swizzle", "--check", "row_and_7"], "--arch gfx950"),
        (["swizzle", "--check", "row_and_7", "--arch", "gfx950"], "needs an access pattern"),
        (["swizzle", "--check", "row_and_8"], "did you mean"),
        (["swizzle", "--tile", "16x128", "--operand", "ds_read_b64", F16, "A"], "--operand needs"),
        (["swizzle", "--tile", "16x128", "--arch", "gfx942", "--operand", "ds_read_b64", F16, "E"], "has no operand E"),
    ],
)
def test_errors(call, words, text):
    with pytest.raises(MfmasimError) as caught:
        call(*words)
    assert text in str(caught.value)


def test_expressions_are_pythons():
    lane = np.arange(64)
    for text in (
        "lane % 16 * 128 + lane // 16 * 16",
        "(lane ^ lane >> 2) & 7 | 8",
        "~lane & 63",
        "-lane + 63",
        "lane != 4",
    ):
        assert (np.asarray(evaluate(text, {"lane": lane})) == eval(text, {"lane": lane})).all()
