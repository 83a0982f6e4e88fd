"""Tables: whole lines in a pipe; on a terminal they fit, and the lines of `verify` have columns, times and totals."""

import io
import sys

import pytest
from rich.console import Console

from mfmasim.cli import main
from mfmasim.cli.output import table
from mfmasim.cli.progress import Progress, words
from mfmasim.verify.reports import terminal
from mfmasim.verify.result import Result

NAME = "a_name_of_many_words_" * 6


class Screen(io.StringIO):
    def isatty(self):
        return True


def test_a_pipe_gets_whole_names():
    assert NAME in table(("name", "value"), [(NAME, 1)], "terminal")


def test_a_table_in_a_pipe_folds_between_words():
    text = table(("name", "what"), [("v_mfma_f32_16x16x16_f16", "many words " * 20)], "terminal", "a title " * 20)
    assert max(map(len, text.splitlines())) <= 100
    assert "v_mfma_f32_16x16x16_f16" in text
    assert text.count("many") == text.count("words") == 20  # none is cut
    assert text.count("title") == 20


@pytest.mark.parametrize("columns", [60, 100])
def test_a_table_fits_the_terminal(monkeypatch, columns):
    monkeypatch.setattr(sys, "stdout", Screen())
    monkeypatch.setenv("COLUMNS", str(columns))
    text = table(("name", "value"), [(NAME, 1), ("short", 22)], "terminal")
    assert max(map(len, text.splitlines())) == columns
    letters = "".join(line[2 : line.rindex("│", 0, -3)].strip() for line in text.splitlines() if line.startswith("│"))
    assert NAME in letters  # folded, and nothing is lost
    monkeypatch.setenv("COLUMNS", "400")
    assert max(map(len, table(("name",), [(NAME,)], "terminal").splitlines())) < 200


def test_mutants_keep_their_names_in_a_pipe(capsys):
    assert main(["mutate", "intro", "--name", "k_exchanged", "--jobs", "1"]) == 0
    assert "k_exchanged_in_a_only │ f32_32x32x2" in capsys.readouterr().out


def results():
    for name, elements, seconds in (("a", 64, 0.5), ("a_longer_name", 1_000_000, 1.25)):
        result = Result("g", name, "k", "gfx942", "sim", seconds=seconds, matrix_fidelity="reference")
        result.outputs["elements"] = result.mapping["slots_checked"] = elements
        yield result


@pytest.mark.parametrize("seen", [True, False])
def test_lines_of_verify(seen):
    file = io.StringIO()
    shown = terminal.Progress()
    shown.console = Console(file=file, force_terminal=seen, width=200, color_system=None, soft_wrap=True)
    for result in [*results(), *results()]:
        shown.show(result)
    shown.summary(list(results()))
    lines = file.getvalue().splitlines()
    assert lines[0].endswith("0.5 s") == seen
    assert ("cases 1.8 s" in lines[4]) == seen
    if seen:
        assert len({line.index("outputs") for line in lines[1:4]}) == 1
        assert len({line.index("slots") for line in lines[1:4]}) == 1
        assert lines[1].rstrip().endswith("1.2 s")
    else:
        assert lines[0] == "PASS   gfx942   a   outputs 64/64   slots 64/64   matrix: reference"


def test_progress_is_shown_late_and_on_terminals_only(monkeypatch):
    for screen in (Screen(), io.StringIO()):
        monkeypatch.setattr(sys, "stderr", screen)
        monkeypatch.setattr("mfmasim.cli.progress.SILENT", 0.0)
        monkeypatch.setattr("mfmasim.cli.progress.REFRESH", 0.01)
        with Progress(3) as progress:
            progress.step(1000)
            progress._over.wait(0.3)
            with progress.hidden():
                pass
        assert ("1 of 3 done, 2 left; 1,000 wave-instructions" in screen.getvalue()) == screen.isatty()
    monkeypatch.setattr(sys, "stderr", screen := Screen())
    monkeypatch.setattr("mfmasim.cli.progress.SILENT", 60.0)
    with Progress(3) as progress:
        progress.step()
    assert not screen.getvalue()


def test_words_of_the_time_left():
    assert words(60, 120, 0, 300).endswith("; 5 min 00 s, about 5 min 00 s left")
    assert words(3, 3, 9, 1).endswith("9 wave-instructions; 1 s")
