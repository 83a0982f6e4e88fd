"""The simulated runtime against the declarations of HIP in two versions of hip-python: calls, numbers, structures."""

import ctypes
import importlib
import inspect
import json
import os
import pkgutil
import subprocess
import sys
from functools import cache

import pytest

import mfmasim.hiprt.calls
from mfmasim.hiprt.registry import CALLS
from mfmasim.hiprt.tables.errors import ERRORS
from mfmasim.hiprt.tables.names import NAMES
from mfmasim.hiprt.tables.properties import ATTRIBUTES, FIXED, VGPRS, Properties
from tests.hiprt.inside import ROOT, VERSIONS, folder_of

pytestmark = pytest.mark.oracle
OWN = ("program", "__hip", "hipExtModuleLaunchKernel", "mfmasimBlas")
"""How names begin that hip-python does not declare: those through which compiled programs register themselves, what
hip_ext.h alone has, and what the header of hipBLAS calls."""
LATER = {"hipLibraryGetGlobal", "hipKernelGetFunction", "hipKernelGetAttribute", "hipKernelGetParamInfo"}
"""What version 7.2 does not declare."""
WORDS = {
    "dim3": ["Size", "Size"],  # 12 bytes in two registers
    "hipExtent": ["Size"] * 3, "hipPitchedPtr": ["Pointer", "Size", "Size", "Size"],
    "int": ["Int"], "bool": ["Int"], "unsigned int": ["UInt"], "unsigned short": ["UInt"], "unsigned char": ["UInt"],
    "unsigned long": ["Size"],
}  # fmt: skip
"""How the words of a parameter are read; pointers, handles and functions are `Pointer`."""
COUNTERS = {"hipErrorTbd", "HIP_FUNC_ATTRIBUTE_MAX", "hipFuncAttributeMax", "hipLaunchAttributeMax"}
"""Last members of enumerations, which grow with them."""
GROWN = {"hipLaunchAttributeValue"}
"""Unions to which version 10 adds members."""
NO_ATTRIBUTE = ("Unused", "CudaCompatible", "AmdSpecific", "VendorSpecific", "Luid", "Hdp")
"""Bounds of the enumeration; the LUID (Windows); addresses of registers of the host data path, no ints."""
TYPES = {"char": ctypes.c_char, "int": ctypes.c_int, "unsigned int": ctypes.c_uint, "unsigned long": ctypes.c_size_t}


@cache
def declared(version):
    """What a version declares, read in a process that imports it."""
    newest = "7" if version else "10"
    places = [*folder_of(version), str(ROOT)]
    done = subprocess.run(
        [sys.executable, "-m", "tests.hiprt.declared", newest],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(places)},
    )
    return json.loads(done.stdout)


@pytest.fixture(params=VERSIONS, ids=["installed", *VERSIONS[1:]])
def hip(request):
    return declared(request.param)


def resolved(kind, hip):
    """The type that a name stands for."""
    while not kind.endswith("*") and kind in hip["aliases"] and kind not in hip["structures"]:
        kind = hip["aliases"][kind]
    return kind


def words(kind, hip):
    """How a parameter is read."""
    kind = resolved(kind, hip)
    if kind in hip["enums"]:
        return ["Int"]
    return WORDS.get(kind, ["Pointer"])


@pytest.fixture(scope="module")
def served():
    """Every call with the annotations of its parameters."""
    for module in pkgutil.iter_modules(mfmasim.hiprt.calls.__path__):
        importlib.import_module(f"mfmasim.hiprt.calls.{module.name}")
    return {
        name: [parameter.annotation for parameter in list(inspect.signature(call.function).parameters.values())[1:]]
        for name, call in CALLS.items()
    }


def is_later(name, hip):
    """Whether a call is younger than the version; the one that is installed has all."""
    return name in LATER and hip != declared(VERSIONS[0])


def test_every_call_is_read_as_it_is_declared(hip, served):
    wrong, compared = [], 0
    for name, given in served.items():
        plain = name.removesuffix("_spt").removesuffix("R0600")
        if name.startswith(OWN) or is_later(plain, hip):
            continue
        assert plain in hip["calls"], name
        compared += 1
        wanted = [word for kind in hip["calls"][plain][1] for word in words(kind, hip)]
        texts = [word if word != "Text" else "Pointer" for word in given]
        if texts != wanted:
            wrong.append(f"{name}: declared {wanted}, read {given}")
    assert not wrong, "\n".join(wrong)
    assert compared > 200


def test_texts_are_pointers_to_char(hip, served):
    texts = {name.removesuffix("_spt"): given for name, given in served.items() if "Text" in given}
    declared_as = {
        kind
        for name, given in texts.items()
        if not name.startswith(OWN) and not is_later(name, hip)
        for kind, word in zip(hip["calls"][name][1], given, strict=True)
        if word == "Text"
    }
    assert declared_as == {"char*"}


def test_every_declared_call_is_exported(hip):
    returns = {name for name, (returned, _) in hip["calls"].items() if returned in ("hipError_t", "hiprtcResult")}
    assert {name for name in returns if name not in NAMES and f"{name}R0600" not in NAMES} == set()


def test_every_error_has_its_number(hip):
    names = {}  # some numbers have two
    for name, number in hip["numbers"].items():
        if name.startswith("hipError") and name not in COUNTERS:
            names.setdefault(number, set()).add(name)
    assert len(names) > 70
    assert {number: some for number, some in names.items() if ERRORS.get(number, ("",))[0] not in some} == {}


def test_every_attribute_has_an_answer(hip):
    start = "hipDeviceAttribute"
    asked = {name.removeprefix(start): n for name, n in hip["numbers"].items() if name.startswith(start)}
    left = {name for name, n in asked.items() if n not in {*ATTRIBUTES, *FIXED, VGPRS}}
    assert {name for name in left if not name.startswith(NO_ATTRIBUTE)} == set()


def test_the_properties_of_a_device_have_the_declared_layout(hip):
    def member(kind, name, size):
        kind = resolved(kind, hip)
        if name == "arch":  # a word of flags
            return name, ctypes.c_uint
        if kind in hip["structures"]:  # an UUID: its only member is an array
            ((kind, _, size),) = hip["structures"][kind]
        made = ctypes.c_void_p if kind.endswith("*") else TYPES[kind]
        return name, made * int(size.strip("[]")) if size else made

    wanted = [member(*one) for one in hip["structures"]["hipDeviceProp_t"]]
    structure = type("Declared", (ctypes.Structure,), {"_fields_": wanted})
    assert ctypes.sizeof(Properties) == ctypes.sizeof(structure)
    for name, _ in Properties._fields_:
        ours, theirs = getattr(Properties, name), getattr(structure, name)
        assert (ours.offset, ours.size) == (theirs.offset, theirs.size), name
    assert [name for name, _ in wanted] == [name for name, _ in Properties._fields_]


def test_the_versions_agree_wherever_both_declare_something():
    old, new = declared(VERSIONS[1]), declared(VERSIONS[0])
    for part in ("numbers", "structures", "aliases", "calls"):
        assert set(old[part]) <= set(new[part]), part
        differ = {name for name, value in old[part].items() if new[part][name] != value}
        assert differ <= COUNTERS | GROWN, (part, differ)
    for name in GROWN:
        assert all(member in new["structures"][name] for member in old["structures"][name])
