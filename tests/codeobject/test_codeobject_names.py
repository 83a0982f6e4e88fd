"""Kernel names from mangled symbols, against llvm-cxxfilt."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mfmasim.codeobject.names import demangle
from tests.llvm import tool

# Symbols as clang mangles kernels of every shape met in HIP sources.
SYMBOLS = [
    "_Z4gemmPKfS0_Pfi",
    "_Z4gemmIfLi128ELb1EEvPKT_S2_PS0_",
    "_Z6kernelIDF16_DF16bEvPT_PT0_",
    "_ZN2ns4gemmIfEEvPKT_",
    "_ZN12_GLOBAL__N_14deepEPi",
    "_ZN2ns12_GLOBAL__N_14onlyILNS0_4KindE1EEEvPi",
    "_ZL6hiddenPi",
    "_ZN2nsL6hiddenEPi",
    "_Z4packIJfidEEvDpT_",
    "_Z6nestedISt4pairIiSt6vectorIfSaIfEEEEvT_",
    "_ZN5outer5innerI3FooIiEE6methodIfEEvPT_",
    "_Z3vecIDv4_fEvT_",
    "_Z5tupleISt5tupleIJifcEEEvT_",
    "_Z2fnIFviEEvT_",
    "_Z6floatsILf3f800000EEvPi",
    "_Z8negativeILin4EEvPi",
    "_Z5arrayIA4_iEvPT_",
    "_ZN2ns6taggedB5cxx11EPi",
    "_Z5spaceIPU3AS1iEvT_",
    "_Z1kPi",
    "plain_name",
    "_start",
]


def bare(text: str) -> str:
    """A demangled declaration without its return type, template arguments and parameters."""
    text = text.replace("(anonymous namespace)", "@")
    depth, kept = 0, ""
    for char in text:
        depth -= char in ")>]"
        if depth == 0:
            kept += char
        depth += char in "(<["
    kept = "".join(char for char in kept if char not in "()<>[]")
    return kept.split(" ")[-1].replace("@", "(anonymous namespace)")


@pytest.mark.oracle
def test_as_llvm_cxxfilt():
    done = subprocess.run([tool("llvm-cxxfilt")], input="\n".join(SYMBOLS), capture_output=True, text=True, check=True)
    theirs = done.stdout.splitlines()
    assert len(theirs) == len(SYMBOLS) > 20
    for symbol, text in zip(SYMBOLS, theirs, strict=True):
        assert text != symbol or not symbol.startswith("_Z"), symbol
        assert demangle(symbol) == bare(text), symbol


@example("1DFE")  # a function type without a result
@given(st.text(alphabet="_ZNEIJLSTPKRDFvif0123456789ns", max_size=300))
def test_any_text_has_a_name(text):
    assert isinstance(demangle(text), str)
    assert isinstance(demangle("_Z" + text), str)
    assert demangle("x" + text) == "x" + text


@pytest.mark.parametrize(
    "symbol", ["_Z", "_ZN", "_Z9gemm", "_ZN99999999nsE", "_ZN2nsI", "_Z1kI" + "N" * 5000, "_Z1kI" + "F" * 5000]
)
def test_damaged_names_stay_what_they_are(symbol):
    assert demangle(symbol) in {symbol, "k"}
