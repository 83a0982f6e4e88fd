"""What cannot be executed: the list, a kernel's `unsupported` and the verb of the command line."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import mfmasim
from hipkernels.zoo.entry import REFUSED
from hipkernels.zoo.entry import rows as reports
from mfmasim.architectures import ARCHITECTURES
from mfmasim.cli import main
from mfmasim.errors import MfmasimError
from mfmasim.isa.dialects import DIALECTS
from mfmasim.isa.family import family
from mfmasim.machine.opcodes.refusal import EXCLUDED, excluded
from mfmasim.machine.opcodes.registry import OPERATIONS
from mfmasim.resources import folder
from tests.machine import harness

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "machine.md"
FILE = str(folder("golden") / "code" / "intro" / "mfma_f32_32x32x2_f32.gfx942.hsaco")


def tables():
    """Names of all opcodes, by architecture."""
    return {
        arch: {row.name for rows in family(arch).rows.values() for row in rows.values()}
        for arch, found in ARCHITECTURES.items()
        if found.encoding in DIALECTS
    }


def test_the_list_is_what_does_not_execute():
    """Every opcode of the tables is executed or has a row, and no row stands for nothing."""
    listed = [name for row in EXCLUDED for name in row.names]
    names = set().union(*tables().values())
    assert sorted(listed) == sorted(name for name in names if name not in OPERATIONS)
    assert all(row.why and row.source for row in EXCLUDED)


def test_the_page_has_the_rows():
    text = DOCUMENT.read_text()
    for row in EXCLUDED:
        assert f"| {row.group} | {', '.join(f'`{name}`' for name in row.names)} | {row.why} |" in text
    section = text.partition("## Opcodes that are not executed")[2].partition("\n## ")[0]
    listed = set(re.findall(r"`([a-z0-9]+_\w+)`", section))
    assert listed == {name for row in EXCLUDED for name in row.names}


@pytest.fixture
def kernel():
    """A kernel with an opcode of the list, a modifier that is refused, data on the way and data behind the end."""
    body = """
  s_nop 0
  s_cbranch_cdbgsys .Lend
  s_nop 1
  s_cbranch_cdbgsys .Lend
  v_cvt_f32_fp8_e64 v1, v2 clamp
  .long 0xffffffff
.Lend:
  s_endpgm
  .long 0xfffffffe
"""
    return harness.kernel(body, "gfx942", "")


@pytest.mark.oracle
def test_a_kernel_names_what_it_cannot(kernel):
    """In the order of addresses; what a launch stops at is the first of them, with the same words."""
    names = [ins.name for ins in kernel.unsupported]
    assert names == ["s_cbranch_cdbgsys", "s_cbranch_cdbgsys", ".long"] or "v_cvt_f32_fp8" in names
    assert kernel.unsupported[-1].text == ".long 0xffffffff"
    assert [ins.pc for ins in kernel.unsupported] == sorted(ins.pc for ins in kernel.unsupported)
    why = dict(kernel.refusals)[kernel.unsupported[0]]
    assert excluded("s_cbranch_cdbgsys").why in why
    with pytest.raises(MfmasimError) as caught:
        harness.fast(kernel, 1, 64, [])
    assert str(caught.value) == why


@pytest.mark.oracle
def test_forms_that_launches_refuse():
    """A modifier that an operation does not take is found without a launch, and nothing else is."""
    lines = ["v_mov_b32_e32 v1, v2", "v_add_u32_e64 v1, v2, v3 clamp", "v_cvt_f32_fp8_e64 v1, v2 clamp"]
    for line in lines:
        made = harness.kernel(f"  {line}\n  s_endpgm", "gfx942", "")
        try:
            harness.fast(made, 1, 64, [], checks="none")
            refused = []
        except MfmasimError as error:
            refused = [str(error)]
        assert [why for _, why in made.refusals] == refused


def test_shipped_kernels_can_run():
    """All golden code objects, but the kernels of the zoo whose fault is that they are refused."""
    refused = {name for name, row in reports().items() if row.found == REFUSED}
    checked = 0
    for path in sorted((folder("golden") / "code").rglob("*.hsaco")):
        code = mfmasim.load(path)
        for name in code.kernels:
            if name == "before" and path.parent.name == "zoo" and path.name.partition(".")[0] in refused:
                continue
            assert code[name].unsupported == (), (path, name)
            checked += 1
    assert checked >= 10


@pytest.mark.oracle
def test_the_verb(capsys, tmp_path, kernel):
    """Exit code 0, 1 or 2; text and JSON."""
    assert main(["inspect", "--brief", FILE]) == 0
    assert "all instructions can be executed" in capsys.readouterr().out
    path = tmp_path / "some.co"
    path.write_bytes(kernel.code.object.data)
    assert main(["inspect", "--brief", FILE, str(path)]) == 1
    out = capsys.readouterr().out
    assert "  2 x unsupported instruction s_cbranch_cdbgsys" in out
    assert "(debugging)" in out
    assert main(["inspect", "--brief", "--json", FILE, str(path)]) == 1
    first, second = json.loads(capsys.readouterr().out)
    assert first["unsupported"] == []
    assert [row["text"].split()[0] for row in second["unsupported"]] == [ins.name for ins in kernel.unsupported]
    assert main(["inspect", "--brief", str(tmp_path / "none.co")]) == 2
    assert "none.co" in capsys.readouterr().err
