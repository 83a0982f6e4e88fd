"""Bad input on the command line: exit code 2 and one line that names the value and what is allowed."""

import json

import pytest

from mfmasim.cli import main
from mfmasim.resources import folder

FILE = str(folder("golden") / "code" / "intro" / "mfma_f32_32x32x2_f32.gfx942.hsaco")
OPERAND = ("--write", "ds_write_b128", "--operand", "ds_read_b128", "v_mfma_f32_32x32x16_f16", "A")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("lds", "gfx942", "ds_read_b128", "--stride", "9" * 30), ("9" * 30, "65536")),
        (("swizzle", "--tile", "1000000x1000000", "--arch", "gfx950", *OPERAND), ("1000000x1000000", "163,840")),
        (("swizzle", "--tile", "1000x128", "--arch", "gfx942", *OPERAND), ("1000x128", "65,536")),
        (("verify", FILE), (FILE, ".py")),
        (("verify", "."), ("a folder",)),
        (("run", FILE, "--block", "x"), ("--block 'x'",)),
        (("run", FILE, "--arg", "f32:-4"), ("f32:-4", "positive")),
    ],
)
def test_one_line_says_what_is_wrong(capsys, arguments, words):
    assert main(list(arguments)) == 2
    message = capsys.readouterr().err
    assert message.count("\n") == 1
    assert "internal" not in message
    assert all(word in message for word in words), message


def test_a_listing_is_json_when_asked_for(capsys):
    assert main(["run", FILE, "--disassemble", "--json"]) == 0
    listing = json.loads(capsys.readouterr().out)
    assert listing[0]["text"].split()[0] == "s_load_dwordx4"
    assert listing[0]["bytes"] == "00010ac000000000"
    assert [row["pc"] + len(row["bytes"]) // 2 for row in listing[:-1]] == [row["pc"] for row in listing[1:]]
