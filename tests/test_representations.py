"""What a person sees of the public objects: one line as `repr`, well-formed HTML in a notebook."""

import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import mfmasim
from mfmasim import lds
from mfmasim.observe import Finding
from mfmasim.resources import folder
from mfmasim.verify import find, select, verify_case

KERNEL = "mfma_f32_32x32x2_f32"
LONGEST = 200
"""Characters of a line at most."""


def objects():
    code = mfmasim.load(folder("golden") / "code" / "intro" / f"{KERNEL}.gfx942.hsaco")
    op = mfmasim.instruction("gfx942", "v_mfma_f32_32x32x8_f16")
    a, b, c = np.ones((32, 2), np.float32), np.ones((2, 32), np.float32), np.zeros((32, 16), np.float32)
    ((_, cases),) = find("intro")
    case, arch = select(cases, "gfx942", "f16_16x16x16")[0]
    return {
        "instruction": op,
        "fragment": op.A,
        "format": mfmasim.format("e4m3fnuz"),
        "integers": mfmasim.format("i8"),
        "conflicts": lds.conflicts("gfx942", "ds_read_b32", np.arange(64) * 128),
        "batch of conflicts": lds.conflicts("gfx942", "ds_read_b32", np.arange(64)[None] * [[4], [128]]),
        "swizzle": lds.swizzle("cdna4_gemm"),
        "architecture": mfmasim.arch("gfx90a"),
        "code": code,
        "kernel": code[KERNEL],
        "decoded instruction": code[KERNEL].instructions[3],
        "report": mfmasim.device("sim").launch(code[KERNEL], grid=1, block=64, args=[a, b, c], checks="bounds"),
        "case": case,
        "result": verify_case(case, arch),
        "finding": Finding("bounds", "error", "read of <4> bytes\nand \x1b[2J more", "bounds-lds", source="a.hip:3"),
    }


OBJECTS = objects()


@pytest.mark.parametrize("name", OBJECTS)
def test_repr_is_one_short_line(name):
    text = repr(OBJECTS[name])
    assert len(text) <= LONGEST
    assert text.isprintable()


@pytest.mark.parametrize("name", [name for name in OBJECTS if hasattr(OBJECTS[name], "_repr_html_")])
def test_html_is_well_formed(name):
    text = OBJECTS[name]._repr_html_()
    assert len(text) > 50
    ET.fromstring(f"<div>{re.sub('&nbsp;', ' ', text)}</div>")
    assert "\x1b" not in text


def test_what_they_say():
    said = {name: repr(thing) for name, thing in OBJECTS.items()}
    assert said["architecture"] == "<gfx90a: CDNA2, waves of 64, FP8 none, LDS of 65,536 bytes>"
    assert re.fullmatch(
        rf"<Report {KERNEL} on gfx942 \(sim\): \d+ wave-instructions, 8 errors, fidelity reference>", said["report"]
    )
    assert said["result"] == (
        "<PASS f16_16x16x16 on gfx942: outputs 1,536/1,536, slots 1,280/1,280, no findings, "
        "matrix arithmetic reference>"
    )
    assert said["conflicts"] == "<ds_read_b32 on gfx942: degrees 32,32, 62 extra passes (measured: SHARK)>"
    assert re.fullmatch(r"<v_\S+ v\d.* at 0x[0-9a-f]+>", said["decoded instruction"])
    assert "v_mfma_f32_32x32x2_f32" in OBJECTS["kernel"]._repr_html_()
    assert "bounds-outside-buffer" in OBJECTS["report"]._repr_html_()
    assert "0.5" not in OBJECTS["integers"]._repr_html_()
    assert "240" in OBJECTS["format"]._repr_html_()


def test_every_public_object_has_a_rich_form():
    plain = [
        name for name, thing in OBJECTS.items() if not (hasattr(thing, "_repr_html_") or hasattr(thing, "_repr_svg_"))
    ]
    assert plain == ["decoded instruction", "case"]  # a line says everything


def test_packages_are_found_by_name():
    """In a fresh interpreter: `import mfmasim` alone."""
    code = "import mfmasim; print(mfmasim.verify.case.__name__, mfmasim.testing.__name__, *dir(mfmasim))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path(__file__).parents[1]
    )
    words = done.stdout.split()
    assert words[:2] == ["case", "mfmasim.testing"]
    assert {"verify", "prove", "testing", "triton", "__version__"} <= {*words[2:]}
