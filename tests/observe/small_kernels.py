"""Kernels of a few lines under plain names: one code object of all of them, and the lines of its source."""

import functools
import tempfile
from pathlib import Path

import mfmasim


def symbol(name):
    """A plain name as C++ can have it."""
    return name.replace(" ", "_").replace(",", "")


@functools.cache
def compiled(head, parameters, bodies, arch):
    """The code object and the lines of ``k.hip``, which has `head` and a kernel for each name and body of `bodies`."""
    text = head
    for name, body in bodies:
        text += f'extern "C" __global__ void {symbol(name)}({parameters}) {{\n{body}\n}}\n'
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "k.hip"
        path.write_text(text)
        return mfmasim.compile(path, arch), text.splitlines()


def first_line(lines, name):
    """Index of the line where a kernel begins."""
    return next(number for number, there in enumerate(lines) if f" {symbol(name)}(" in there)
