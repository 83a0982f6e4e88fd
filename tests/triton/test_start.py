"""Starting a program under Triton's driver."""

import pytest

from mfmasim.cli import main


@pytest.mark.parametrize("words", [["nosuch.py"], ["--", "python", "nosuch.py"]])
def test_a_program_that_is_missing_is_one_line(words, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    assert main(["triton", *words]) == 2
    assert capfd.readouterr().err == "mfmasim: triton: cannot start nosuch.py: No such file or directory\n"
