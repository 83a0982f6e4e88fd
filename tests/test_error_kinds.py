"""Kinds of errors: what was wrong with a code object or a launch, and HIP's number for it."""

import struct

import numpy as np
import pytest

import mfmasim
from mfmasim import errors
from mfmasim.hiprt.tables.errors import BY_KIND, ERRORS
from mfmasim.resources import folder

OBJECT = (folder("golden") / "code" / "intro" / "mfma_f32_32x32x2_f32.gfx942.hsaco").read_bytes()
MAGIC = b"__CLANG_OFFLOAD_BUNDLE__"


def kinds(base):
    found = {base.kind}
    for one in base.__subclasses__():
        if one.__module__ == "mfmasim.errors":
            found |= kinds(one)
    return found


def test_every_kind_that_is_no_device_s_has_a_number_of_hip():
    assert set(BY_KIND) == kinds(errors.MfmasimError) - kinds(errors.DeviceError)
    assert all(number in ERRORS and number for number in BY_KIND.values())
    assert kinds(errors.DeviceError) == {"device", "fault", "time-out"}


def patched(at, data):
    return OBJECT[:at] + data + OBJECT[at + len(data) :]


def bundle(*targets, cut=None):
    head = MAGIC + struct.pack("<Q", len(targets))
    start = len(head) + sum(24 + len(target) for target in targets)
    table = b"".join(struct.pack("<QQQ", start, len(OBJECT), len(one)) + one.encode() for one in targets)
    return (head + table + OBJECT)[:cut]


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"", "not-code-object"),
        (b"hello, this is no code", "not-code-object"),
        (patched(18, b"\x3e\0"), "not-code-object"),  # e_machine: x86-64
        (patched(16, b"\1\0"), "not-code-object"),  # e_type: relocatable
        (OBJECT[:40], "damaged"),
        (OBJECT[: len(OBJECT) // 2], "damaged"),
        (bundle("hipv4-amdgcn-amd-amdhsa--gfx942", cut=60), "damaged"),
        (bundle("hipv4-amdgcn-amd-amdhsa--gfx942", cut=200), "damaged"),
        (bundle("hipv4-amdgcn-amd-amdhsa--gfx1100"), "target"),
        (patched(48, b"\x4d"), "target"),  # e_flags: another processor
        (patched(7, b"\x41"), "unsupported"),  # OS ABI: PAL
    ],
)
def test_what_is_wrong_with_a_code_object(data, kind):
    with pytest.raises(errors.MfmasimError) as error:
        mfmasim.load(data, "gfx942")
    assert error.value.kind == kind, error.value


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"grid": 0}, "size"),
        ({"block": 2048}, "size"),
        ({"shared_bytes": 1 << 20}, "size"),
        ({"args": [1, 2]}, "argument"),
        ({"checks": "nosuch"}, "argument"),
    ],
)
def test_what_is_wrong_with_a_launch(change, kind):
    kernel = mfmasim.load(OBJECT)["mfma_f32_32x32x2_f32"]
    call = {"grid": 1, "block": 64, "args": [np.zeros(1024, np.float32)[: 64 * n] for n in (1, 2, 16)]} | change
    with pytest.raises(errors.MfmasimError) as error:
        mfmasim.device("sim").launch(kernel, **call)
    assert error.value.kind == kind, error.value


def test_an_error_keeps_its_kind_on_the_way_between_processes():
    import pickle

    from mfmasim.devices.hip_library import HipError

    for made in (errors.FaultError("a\x1b[2Jb"), errors.SizeError("grid"), HipError("hip: failed", 719)):
        back = pickle.loads(pickle.dumps(made))
        assert (type(back), str(back), back.__dict__) == (type(made), str(made), made.__dict__)
