"""Bits that the hardware does not read, as `load(..., strict=True)` lists them."""

import dataclasses

import mfmasim
from tests.codeobject.codeobject_builds import QUALIFIERS, build

SOURCE = (
    QUALIFIERS
    + """
extern "C" __global__ void scale(unsigned* p) { p[0] *= 7u + __builtin_amdgcn_workitem_id_x(); }
"""
)


def altered():
    """A file with a third source in an operation of two and a count of SGPRs, its place, and the file without."""
    kernel = mfmasim.load(build("gfx1151", source=SOURCE))["scale"]
    two = next(ins for ins in kernel.instructions if ins.encoding == "VOP3" and len(ins.src) == 2)
    data = bytearray(kernel.code.object.data)
    assert data.count(two.raw) == 1
    data[data.index(two.raw) + 7] |= 0x80 >> 6
    # The first segment is loaded where it lies in the file.
    data[kernel.info.descriptor_address + 48] |= 0x40
    return bytes(data), two, kernel


def test_what_is_not_read_is_information_on_request():
    data, instruction, kernel = altered()
    strict = mfmasim.load(data, strict=True)
    descriptor, third = strict.information
    assert (descriptor.pc, descriptor.fields) == (None, (("granulated_wavefront_sgpr_count", 1),))
    assert (third.pc, third.text, third.fields) == (instruction.pc, instruction.text, (("src2", 128),))
    assert str(third) == f"{kernel.name}: {third.text} at {third.pc:#x} does not use src2 0x80"
    assert str(descriptor) == f"{kernel.name}: kernel descriptor does not use granulated_wavefront_sgpr_count 0x1"
    loose = mfmasim.load(data)
    assert loose.information == ()
    assert loose[kernel.name].unread == strict.information


def test_what_is_not_read_changes_nothing_else():
    data, _, kernel = altered()
    for before, after in zip(kernel.instructions, mfmasim.load(data)[kernel.name].instructions, strict=True):
        assert dataclasses.replace(after, raw=before.raw, ignored=()) == before
        assert after.text == before.text
    assert mfmasim.load(kernel.code.object.data, strict=True).information == ()
