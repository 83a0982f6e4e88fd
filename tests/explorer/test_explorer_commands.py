"""The commands that write the page."""

import base64
import gzip
import json
import re

import pytest

from mfmasim.cli import main
from mfmasim.verify.files import families


def records_in(path):
    packed = re.search(r'id="records">([^<]*)<', path.read_text())[1]
    return json.loads(gzip.decompress(base64.b64decode(packed)))


@pytest.mark.parametrize(
    ("arguments", "start"),
    [
        ([], ""),
        (["gfx942"], "#fragment?arch=gfx942"),
        (["gfx942", "v_mfma_f32_32x32x8f16"], "#fragment?arch=gfx942&amp;op=v_mfma_f32_32x32x8_f16"),
        (["gfx950", "ds_read_b128"], "#lds?arch=gfx950&amp;ds=ds_read_b128"),
    ],
)
def test_it_opens_where_it_is_asked_to(tmp_path, capsys, arguments, start):
    path = tmp_path / "page.html"
    assert main(["explorer", *arguments, "--out", str(path)]) == 0
    assert f'data-start="{start}"' in path.read_text()
    assert capsys.readouterr().out == f"{path}: {path.stat().st_size:,} bytes\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "explorer writes a file: give --out FILE, --open or both"),
        (["gfx942", "v_mfma_f32_32x32x9_f16", "--out", "x"], "did you mean 'v_mfma_f32_32x32x8_f16'?"),
        (["gfx942", "ds_read_b129", "--out", "x"], "did you mean 'ds_read_b128'?"),
        (["gfx942", "ds_load_b128", "--out", "x"], "it is ds_read_b128 there"),
        (["--out", "/nowhere/x.html"], "--out /nowhere/x.html: No such file or directory"),
    ],
)
def test_bad_input_is_one_line(capsys, arguments, message):
    assert main(["explorer", *arguments]) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1


def test_a_launch_is_recorded(tmp_path, capsys):
    source = families()["intro"].parent / "mfma_f32_16x16x16_f16.hip"
    path = tmp_path / "run.html"
    arguments = [
        "--arch",
        "gfx942",
        "--arg",
        "f16:16x16",
        "--arg",
        "f16:16x16",
        "--arg",
        "f32:16x16",
        "--checks",
        "none",
    ]
    assert main(["run", str(source), *arguments, "--record", str(path)]) == 0
    (run,) = records_in(path)
    assert run["arch"] == "gfx942"
    assert [run["code"][step[0]][1] for step in run["steps"]][-1] == "s_endpgm"
    assert any("v_mfma" in text for _, text, *_ in run["code"])
    capsys.readouterr()
    assert main(["run", str(source), *arguments, "--record", str(path), "--workers", "2"]) == 2
    assert "--record needs a launch in this process" in capsys.readouterr().err
