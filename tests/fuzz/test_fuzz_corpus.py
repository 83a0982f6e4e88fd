"""The corpus is replayed whole, and bounded time and memory are bounded; ``-m long`` fuzzes for a while."""

import dataclasses
import importlib.util
import json
import re
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mfmasim import isa
from mfmasim.errors import MfmasimError
from tests.fuzz import corpus, decoder, templates
from tests.fuzz.limits import Hang, bounded_time
from tests.fuzz.surfaces import SURFACES
from tests.fuzz.target import place
from tests.isa.llvm_oracle import assemble, disassemble
from tests.oracles import require

KILOBYTES = 1 << 20
"""Growth of this process that the inputs of a surface may cause."""
ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", SURFACES)
def test_every_input_keeps_its_property(name):
    run, inputs = SURFACES[name].runner(), corpus.inputs(name)
    assert len(inputs) >= 10
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for data in inputs:
        with bounded_time():
            run(data)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < KILOBYTES


@pytest.mark.parametrize("name", SURFACES)
def test_the_corpus_is_small_and_without_repetitions(name):
    inputs = corpus.inputs(name)
    assert len(set(inputs)) == len(inputs)
    assert all(len(data) <= SURFACES[name].longest for data in inputs)
    assert sum(path.stat().st_size for path in corpus.FOLDER.iterdir()) <= corpus.LARGEST


def test_what_is_added_stays(tmp_path, monkeypatch):
    monkeypatch.setattr(corpus, "FOLDER", tmp_path)
    assert corpus.add("x", [b"bb", b"a", b"a"]) == [b"a", b"bb"]
    assert corpus.add("x", [b"a", b"", b"ccc"]) == [b"", b"ccc"]
    assert corpus.inputs("x") == [b"a", b"bb", b"", b"ccc"]
    monkeypatch.setattr(corpus, "LARGEST", 0)
    assert corpus.add("x", [b"d"]) == []


def test_a_hang_and_a_wrong_exception_are_noticed(monkeypatch):
    with pytest.raises(Hang), bounded_time(0.05):
        all(True for _ in iter(int, 1))
    monkeypatch.setattr("mfmasim.codeobject.elf_header.read_header", lambda *_: {}["x"])
    with pytest.raises(KeyError) as caught:
        SURFACES["reader"].runner()(next(data for data in corpus.inputs("reader") if data[18:20] == b"\xe0\0"))
    assert place(caught.value).startswith("KeyError-reader-")


@pytest.mark.oracle
def test_the_stored_kernels_are_what_the_assembler_makes():
    assert {target: templates.make(target) for target in templates.TARGETS} == templates.stored()


@pytest.mark.oracle
def test_decoded_texts_assemble_to_what_decodes_to_them():
    """Decode, print, assemble, decode: the same text, or what LLVM prints of the bytes it assembled."""
    compared = 0
    for name, wave in decoder.TARGETS:
        found = set()
        for data in corpus.inputs("decoder"):
            target, lanes, code = decoder.target(data)
            if (target, lanes) == (name, wave):
                found |= {(one.text, one.named_halves) for one in first_instructions(code, name, wave)}
        for halves in (False, True):
            texts = sorted(text for text, named in found if named == halves)
            # LLVM refuses some texts of its own disassembler.
            for text, raw in zip(texts, assemble(texts, name, wave, halves=halves), strict=True):
                if raw is not None:
                    again = isa.decode(raw, name, wave=wave)
                    printed = dataclasses.replace(again, named_halves=halves).text
                    # Some swizzles have two encodings, of which the assembler takes one and LLVM's printer names it.
                    assert printed == text or [printed] == disassemble([raw], name, wave=wave, halves=halves)
                    compared += 1
    assert compared >= 100


def first_instructions(code, name, wave):
    """The instructions of some bytes as far as they decode."""
    offset = 0
    while offset < len(code):
        try:
            one = isa.decode(code, name, wave=wave, offset=offset)
        except MfmasimError:
            return
        yield one
        offset += one.size


@pytest.mark.long
@pytest.mark.parametrize("name", SURFACES)
def test_fuzzing_for_a_while_finds_nothing(name, tmp_path):
    """A quarter of a minute on each surface, from the corpus on; the repository's files stay as they are."""
    require("atheris", importlib.util.find_spec("atheris") is not None, "pip install --group fuzz")
    shutil.copytree(corpus.FOLDER, tmp_path / "corpus")
    options = ["--minutes", "0.25", "--finds", str(tmp_path / "finds"), "--corpus", str(tmp_path / "corpus")]
    command = [sys.executable, "-m", "tests.fuzz", name, *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    tried = int(re.search(r"([\d,]+) inputs", done.stdout)[1].replace(",", ""))
    assert tried >= len(corpus.inputs(name))
    record = json.loads((tmp_path / "corpus" / "record.json").read_text())[name]
    assert record["branches"] > 100
