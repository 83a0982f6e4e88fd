"""Names from hostile files on the terminal: spelled out, wherever they come from."""

import io
import struct
from pathlib import Path

import numpy as np
import pytest
from rich.text import Text

from mfmasim import load
from mfmasim.cli import main
from mfmasim.codeobject import bundle
from mfmasim.errors import MfmasimError
from mfmasim.lab.agreement import capture as captures
from mfmasim.observe import Finding
from mfmasim.verify import find
from mfmasim.verify.prebuilt import code_for
from mfmasim.visible import LAYOUT, VisibleStream, console, visible

EVIL = "\x1b[2J\x1b]0;t\x07\x9b\u202e"


def clean(text):
    """Whether a terminal shows a text as it is."""
    return all(char.isprintable() or char in LAYOUT for char in text)


@pytest.fixture(scope="module")
def code():
    case = next(case for _, cases in find("intro") for case in cases if case.title == "f16_16x16x16")
    return code_for(case.source, "gfx942", None, case.flags)


def test_visible():
    assert visible(EVIL) == r"\x1b[2J\x1b]0;t\x07\x9b\u202e"
    assert visible("é 6 µs → [x]\t\n\udc80", LAYOUT) == "é 6 µs → [x]\t\n\\udc80"
    assert visible("a\r\nb") == r"a\r\nb"
    assert clean(visible("".join(map(chr, range(0x110000)))))


def test_errors_and_findings_are_clean():
    assert clean(str(MfmasimError(f"{EVIL}: no")))
    assert clean("\n".join(Finding("bounds", "error", EVIL, source=EVIL, kernel=EVIL, actual=EVIL).lines()))


def test_a_console_prints_no_markup(capsys):
    console().print(f"[red]a[/x] :smile: {EVIL}", Text(EVIL))
    text = capsys.readouterr().out
    assert clean(text)
    assert "[red]a[/x] :smile:" in text


def renamed(data, old, new):
    """Bytes with a name replaced, at its length."""
    old, new = old.encode(), new.encode()
    assert data.count(old)
    return data.replace(old, new.ljust(len(old), b"x")[: len(old)])


def run(path, capsys):
    """Standard output and error of a run whose third buffer is too small."""
    main(["run", str(path), "--arg", "f16:256", "--arg", "f16:256", "--arg", "f32:8"])
    found = capsys.readouterr()
    return found.out + found.err


def test_file_names_in_debug_information(code, tmp_path, capsys):
    path = tmp_path / "k.hsaco"
    path.write_bytes(renamed(code.object.data, "mfma_f32_16x16x16_f16.hip", EVIL + "\nPASS"))
    kernel = load(path)["mfma_f32_16x16x16_f16"]
    assert r"\x1b[2J" in kernel.source_at(kernel.instructions[5].pc)
    text = run(path, capsys)
    assert r"\x1b[2J" in text
    assert clean(text)
    assert "\nPASS" not in text
    assert clean(run(tmp_path / f"{EVIL}.hsaco", capsys))
    assert clean(run(tmp_path / f"{EVIL}.hip", capsys))


def test_ids_of_bundles(code, tmp_path, capsys):
    name = f"hipv4-amdgcn-amd-amdhsa--gfx942{EVIL}".encode("latin-1", "replace")
    for count in (1, 2):
        at = len(bundle.MAGIC) + 8 + count * (24 + len(name))
        entry = struct.pack("<QQQ", at, len(code.object.data), len(name)) + name
        path = tmp_path / "k.bundle"
        path.write_bytes(bundle.MAGIC + struct.pack("<Q", count) + count * entry + code.object.data)
        text = run(path, capsys)
        assert r"gfx942\x1b[2J" in text
        assert clean(text)


def test_targets_in_metadata(code, tmp_path, capsys):
    data = bytearray(renamed(code.object.data, "amdhsa--gfx942", f"amdhsa--gfx9{EVIL}"))
    data[48] = 0xFE  # e_flags: no such processor, so that the metadata's name is printed
    (tmp_path / "k.hsaco").write_bytes(data)
    text = run(tmp_path / "k.hsaco", capsys)
    assert "code object for gfx9\\x1b[" in text
    assert clean(text)


def test_product_names_of_captures(tmp_path, capsys):
    assert (
        main(
            [
                "gpu",
                "golden",
                "record",
                "intro",
                "--case",
                "f16_16",
                "--arch",
                "gfx942",
                "--device",
                "sim",
                "--into",
                str(tmp_path),
            ]
        )
        == 0
    )
    for path in Path(tmp_path).glob("*.npz"):
        found = captures.read(path)
        found.about["device"].update(product=EVIL, name=found.about["device"]["name"])
        found.about["captured"] = EVIL
        found.launches[0].after[2] = found.launches[0].after[2] ^ np.uint8(1)
        captures.write(path, found)
    capsys.readouterr()
    assert main(["gpu", "golden", "check", str(tmp_path)]) == 1
    text = capsys.readouterr().out
    assert r"on sim (\x1b[2J" in text
    assert clean(text)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_a_terminal_of_another_encoding_shows_tables_in_its_own_characters(encoding):
    text = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    VisibleStream(text).write("┏━┓\n┃é│\n└─┘ →\n")
    text.seek(0)
    accent = "\\xe9" if encoding == "ascii" else "é"
    assert text.read() == f"+-+\n|{accent}|\n+-+ \\u2192\n"


def test_closed_standard_streams_are_no_error(monkeypatch):
    monkeypatch.setattr("sys.stdout", None)
    assert main(["show", "e4m3fn"]) == 0
