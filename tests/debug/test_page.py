"""The page of the debugger: its transcript is what the commands answer today."""

import os
import re
import shlex
from pathlib import Path

import pytest

from mfmasim.cli.entry import main
from mfmasim.toolchain import find_compiler
from tests.debug.sessions import HERE, compiled
from tests.oracles import require

PAGE = Path(__file__).resolve().parents[2] / "docs" / "debugger.md"


@pytest.mark.oracle
def test_the_transcript(tmp_path, capsys, monkeypatch):
    compiled(1)  # skips without a compiler
    version = find_compiler().description
    require("clang 22", version.startswith("clang 22."), f"registers of the page are clang 22's, this is {version}")
    block = re.search(r"```text\n\$ mfmasim (.*?)\n(.*?)```", PAGE.read_text(), re.DOTALL)
    commands = tmp_path / "commands"
    asked = re.findall(r"^\(mfmasim\) (.*)$", block[2], re.MULTILINE)
    assert len(asked) > 8
    commands.write_text("\n".join(asked) + "\n")
    monkeypatch.chdir(HERE)
    assert main([*shlex.split(block[1]), "--commands", os.fspath(commands)]) == 0
    assert capsys.readouterr().out == block[2]
