"""The runtime's own parts, without a library in between: calls are answered from words."""

import ctypes
import importlib.util
import mmap
import os
import re
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, precondition, rule

from mfmasim.codeobject import read
from mfmasim.errors import MfmasimError
from mfmasim.hiprt import build, calls
from mfmasim.hiprt.calls.graphs import MemsetParams
from mfmasim.hiprt.faults import Fault, parse
from mfmasim.hiprt.heap import DEVICE, HOST, PAGE, Heap
from mfmasim.hiprt.images import image_at
from mfmasim.hiprt.registry import CALLS, HipFailure
from mfmasim.hiprt.runtime import Runtime
from mfmasim.hiprt.settings import Settings
from mfmasim.hiprt.tables.names import BY_VALUE, NAMES
from mfmasim.hiprt.tables.properties import ATTRIBUTES, Properties
from tests.oracles import require

calls.load()
INTRO = Path(__file__).resolve().parents[2] / "golden" / "code" / "intro"


def address(thing):
    return ctypes.addressof(thing)


class Caller:
    """A program that calls the runtime with words, as the library does."""

    def __init__(self, **environment):
        self.runtime = Runtime(Settings.read({f"MFMASIM_HIPRT_{k.upper()}": v for k, v in environment.items()}))

    def __call__(self, name, *words):
        # What lies above an int in its 64-bit place is anybody's guess.
        return self.runtime.answer(name, [word if word > 0 else word & (1 << 64) - 1 for word in words])

    def out(self, name, *words, kind=ctypes.c_uint64):
        place = kind()
        return self(name, address(place), *words), place.value


def test_every_call_that_hip_python_looks_up_is_exported():
    require("hip-python 10", importlib.util.find_spec("rocm") is not None, "pip install -e '.[test]'")
    places = importlib.util.find_spec("rocm.bindings").submodule_search_locations
    looked_up = set()
    for place in places:
        for name in ("cyhip.pyx", "cyhiprtc.pyx"):
            looked_up |= set(re.findall(r'__init_symbol\(&\w+, ?"(\w+)"\)', (Path(place) / name).read_text()))
    others = {"hipCreateChannelDesc", "hipApiName", "hipKernelNameRef", "hipKernelNameRefByPtr"}
    assert len(looked_up) > 500
    assert looked_up - set(NAMES) == others
    exported = {name for _, name in re.findall(r"(?:CALL|TEXT)(\d+)\((\w+)\)", build.header())}
    by_hand = set(re.findall(r"^\w[\w *]*?[ *](\w+)\(", (build.NATIVE / "programs.h").read_text(), re.MULTILINE))
    assert by_hand >= BY_VALUE
    assert exported | by_hand >= looked_up - others
    assert set(CALLS) <= exported | by_hand | {name for name in CALLS if name.startswith("program")}


def test_the_library_is_built_once_and_whole(monkeypatch, tmp_path):
    monkeypatch.setenv("MFMASIM_CACHE", str(tmp_path))
    path = build.library()
    assert path.name == "libamdhip64.so"
    assert sorted(p.name for p in path.parent.iterdir()) == sorted([build.LIBRARY, *build.OTHERS])
    stamp = path.stat().st_mtime_ns
    assert build.library().stat().st_mtime_ns == stamp
    raw = ctypes.CDLL(str(path))
    assert raw.hipMalloc
    assert raw.hiprtcCompileProgram


def test_a_library_that_another_user_may_have_planted_is_not_loaded(monkeypatch, tmp_path):
    monkeypatch.setenv("MFMASIM_CACHE", str(tmp_path))
    monkeypatch.setattr(build, "build_library", lambda source, output, **_: output.parent.mkdir() or output.touch())
    path = build.library()
    assert path.parents[1].stat().st_mode & 0o077 == 0
    for one in (path, path.parent, path.parents[1]):
        before = one.stat().st_mode
        one.chmod(0o777)
        with pytest.raises(MfmasimError, match=f"^{one}: other users may write to it.*set MFMASIM_CACHE"):
            build.library()
        one.chmod(before)
    if os.geteuid() == 0:
        os.chown(path, 65534, 65534)
        with pytest.raises(MfmasimError, match="other users may write to it"):
            build.library()


def test_a_folder_that_cannot_be_written_to_is_told(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("MFMASIM_CACHE", str(tmp_path / "file"))
    with pytest.raises(MfmasimError, match="cannot be built there: Not a directory; set MFMASIM_CACHE"):
        build.library()


@pytest.mark.parametrize("compiler", ["", "nosuch", "false"])
def test_a_compiler_that_is_not_there_or_fails_is_told(monkeypatch, tmp_path, compiler):
    monkeypatch.setenv("MFMASIM_CACHE", str(tmp_path))
    monkeypatch.setenv("CC", compiler)
    if not compiler:  # neither CC nor anything on PATH: the ziglang wheel is left
        monkeypatch.setenv("PATH", "")
        monkeypatch.setattr("mfmasim.toolchain.clibrary.find_zig", lambda: None)
    text = {"": "no C compiler found", "nosuch": "CC: no compiler 'nosuch'", "false": "cannot build libamdhip64.so"}
    with pytest.raises(MfmasimError, match=text[compiler]):
        build.library()
    assert not list(tmp_path.rglob("*.so*"))


def test_layout_of_the_properties():
    # hip-python, compiled from the header, reads these fields: see inside_programs.py
    offsets = {"uuid": 256, "totalGlobalMem": 288, "warpSize": 308, "maxGridSize": 336, "gcnArchName": 1160}
    assert {name: getattr(Properties, name).offset for name in offsets} == offsets
    assert ctypes.sizeof(Properties) == 1472
    for name, place in ATTRIBUTES.values():
        value = getattr(Properties(), name)
        assert isinstance(value if place is None else value[place], int)


def test_ints_are_cut_from_their_words():
    call = Caller()
    garbage = 0xDEAD_BEEF << 32
    assert call("hipSetDevice", garbage) == 0
    assert call("hipSetDevice", garbage | 1) == 101
    assert call("hipSetDevice", -1) == 101
    assert call("hipGetLastError") == 101
    assert call("hipGetLastError") == 0


def test_an_unknown_call_names_itself(capsys):
    call = Caller()
    assert call("hipArrayCreate", 0, 0) == 801
    assert capsys.readouterr().err.startswith(
        "mfmasim: hipArrayCreate: not served by the simulated HIP runtime: the devices have no "
    )
    assert call.runtime.report()["unserved"] == {"hipArrayCreate": 1}


def test_null_pointers_for_results_are_refused():
    call = Caller()
    for name in ("hipMalloc", "hipGetDeviceCount", "hipStreamCreate", "hipEventCreate", "hipGetDevicePropertiesR0600"):
        assert call(name, 0, 64, 0) == 1, name
    assert call("hipDeviceGetUuid", 0, 0) == 1


@pytest.mark.parametrize("name", ["mfma_f32_32x32x2_f32.gfx942", "mfma_scale_f32_32x32x64_fp8.gfx950"])
def test_the_size_of_a_code_object_is_found(name):
    data = (INTRO / f"{name}.hsaco").read_bytes()
    place = ctypes.create_string_buffer(data + bytes(1000))
    found = image_at(address(place))
    assert found == data[: len(found)]
    assert read(found).kernels.keys() == read(data).kernels.keys()


def test_what_is_no_code_object_is_refused():
    for data in (b"MZ\0\0" * 40, b"__CLANG_NOTHING__" * 9):
        with pytest.raises(HipFailure):
            image_at(address(ctypes.create_string_buffer(data)))
    with pytest.raises(HipFailure):
        image_at(0)


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("", []),
        ("hipMalloc=2", [Fault("hipMalloc", 0, 2, "now")]),
        (" hipMalloc#3=hipErrorOutOfMemory , ", [Fault("hipMalloc", 3, 2, "now")]),
        (
            "hipFree=1@sync,hipMemcpy#2=100@forever",
            [Fault("hipFree", 0, 1, "sync"), Fault("hipMemcpy", 2, 100, "forever")],
        ),
    ],
)
def test_faults_are_read(text, faults):
    assert parse(text) == faults


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hipMalloc", "CALL"),
        ("hipMaloc=2", "did you mean 'hipMalloc'"),
        ("hipMalloc=hipErrorOutofMemory", "did you mean 'hipErrorOutOfMemory'"),
        ("hipMalloc=12345", "unknown error"),
        ("hipMalloc=2@later", "allowed: sync, forever"),
        ("hipMalloc#0=2", "calls are counted from 1"),
        ("hipMalloc#000=2", "calls are counted from 1"),
        ("hipMalloc=hipSuccess", "hipSuccess is no error"),
        ("hipMalloc#1=0@sync", "0 is no error"),
        ("hipMalloc=²", "CALL"),
        ("hipMalloc#٣=2", "CALL"),
        (f"hipMalloc#{'9' * 5000}=2", "CALL"),
        (f"hipMalloc={'9' * 5000}", "CALL"),
    ],
)
def test_faults_that_mean_nothing_are_refused(text, message):
    with pytest.raises(MfmasimError, match=message):
        parse(text)


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("ARCH", "gfx942,gfx9", "MFMASIM_HIPRT_ARCH: unknown architecture 'gfx9'"),
        ("MEMORY", "much", "MFMASIM_HIPRT_MEMORY=much: a number of MB"),
        ("MEMORY", "0", "from 1 to"),
        ("CHECKS", "bound", "MFMASIM_HIPRT_CHECKS: unknown check 'bound'; did you mean 'bounds'"),
        ("CHECKS", "streems", "unknown check 'streems'; did you mean 'streams'"),
        ("CHECKS", "streams:x", "check 'streams:x': streams has no options"),
        ("CHECKS", "none,waits", "checks none, waits: 'none' is not possible together with others"),
        ("FAULTS", "x", "MFMASIM_HIPRT_FAULTS"),
        ("PHASES", "read b32=C32", "ACCESS=LANES/BANKS is expected"),
        ("PHASES", "read b32=0-9/32", "must contain each lane once; these contain no lane [10, 11"),
        ("NOISE", "-1", "MFMASIM_HIPRT_NOISE=-1: a number of ticks is expected"),
        ("MODELS", "cdna4_fp8", "MODEL.PARAMETER=VALUE is expected"),
        ("MODELS", "cdna4_fp9.group=8", "unknown model 'cdna4_fp9'; did you mean 'cdna4_fp8'"),
        ("MODELS", "cdna4_fp8.groups=8", "unknown parameter 'groups' of model cdna4_fp8; did you mean 'group'"),
        ("MODELS", "cdna4_fp8.group=eight", "'cdna4_fp8.group=eight': not a valid value of group"),
    ],
)
def test_settings_that_mean_nothing_are_refused(variable, value, message):
    with pytest.raises(MfmasimError, match=re.escape(message)):
        Settings.read({f"MFMASIM_HIPRT_{variable}": value})


def test_no_device_at_all():
    call = Caller(arch="")
    assert call.out("hipGetDeviceCount", kind=ctypes.c_int) == (100, 0)
    assert call("hipInit", 0) == 100
    assert call.out("hipMalloc", 64)[0] == 100


def test_freed_memory_is_joined_and_used_again():
    heap = Heap(64 * PAGE, 1)
    made = [heap.allocate(PAGE * n, DEVICE, 0, "x") for n in (1, 2, 3, 4)]
    first = made[0].address
    for allocation in (made[1], made[3], made[0], made[2]):
        heap.free(allocation.address)
    assert heap.used(0) == 0
    addresses = []
    for _ in range(100):  # freed addresses rest: none is used again before a quarter of the range was freed
        addresses.append(heap.allocate(50 * PAGE, HOST, 0, "z").address)  # more than the four together: joined
        heap.free(addresses[-1])
        if addresses[-1] == first:
            break
    assert addresses[-1] == first
    assert len(set(addresses)) == len(addresses) > 10


IMAGE_HEADERS = {
    "sections": (b"\x7fELF", 0x28, "<Q", 1 << 46),
    "section": (b"\x7fELF", 0x3A, "<HH", (64, 60000)),
    "bundle": (b"__CLANG_OFFLOAD_BUNDLE__", 24, "<QQQQ", (1, 1 << 41, 1, 8)),
    "far": (b"__CLANG_OFFLOAD_BUNDLE__", 24, "<QQQQ", (1, 1 << 20, 1, 8)),
    "wraps": (b"\x7fELF", 0x28, "<Q", (1 << 64) - 64),
    "wrapping": (b"__CLANG_OFFLOAD_BUNDLE__", 24, "<QQQQ", (1, (1 << 64) - 16, 1 << 63, 8)),
    "many": (b"__CLANG_OFFLOAD_BUNDLE__", 24, "<Q", (1 << 64) - 1),
    "name": (b"__CLANG_OFFLOAD_BUNDLE__", 24, "<QQQQ", (1, 0, 1, (1 << 64) - 1)),
    "compressed": (b"CCOB", 4, "<HHQ", (3, 1, (1 << 64) - 1)),
    "cut": (b"\x7fELF", 0, "", ()),
}


@pytest.mark.parametrize("name", IMAGE_HEADERS)
def test_an_image_whose_header_lies_is_no_code_object(name, capsys):
    """The image ends where readable memory ends: the page after it is not."""
    magic, offset, layout, values = IMAGE_HEADERS[name]
    data = bytearray(PAGE)
    data[: len(magic)] = magic
    struct.pack_into(layout, data, offset, *(values if isinstance(values, tuple) else (values,)))
    memory = mmap.mmap(-1, (1 << 20) + 2 * PAGE)
    memory[:PAGE] = bytes(data)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.mprotect(ctypes.c_void_p(start + PAGE), (1 << 20) + PAGE, 0) == 0
    image = start + PAGE - 40 if name == "cut" else start
    if name == "cut":
        memory[PAGE - 40 : PAGE - 36] = magic
    place = ctypes.c_uint64()
    assert Caller()("hipModuleLoadData", address(place), image) == 200
    assert capsys.readouterr().err.count("\n") == 1


class Program(RuleBasedStateMachine):
    """A program that allocates, fills, copies and frees at random, beside a model in plain bytes."""

    buffers = Bundle("buffers")

    def __init__(self):
        super().__init__()
        self.call = Caller(memory="1")
        self.model = {}

    @rule(target=buffers, size=st.integers(1, 3 * PAGE), pinned=st.booleans())
    def allocate(self, size, pinned):
        code, pointer = self.call.out("hipHostMalloc" if pinned else "hipMalloc", size, *([0] if pinned else []))
        pages = -(-size // PAGE) * PAGE
        used = sum(-(-len(data) // PAGE) * PAGE for data, host in self.model.values() if not host)
        if code:
            assert code == 2
            assert used + pages > 1 << 20
            return None
        assert all(pointer + size <= other or other + len(data) <= pointer for other, (data, _) in self.model.items())
        self.model[pointer] = bytearray(b"\xa5" * size), pinned
        return pointer

    @rule(pointer=buffers, value=st.integers(0, 255), data=st.data())
    def fill(self, pointer, value, data):
        if pointer in self.model:
            room = self.model[pointer][0]
            start = data.draw(st.integers(0, len(room)))
            size = data.draw(st.integers(0, len(room) + 2))
            code = self.call("hipMemset", pointer + start, value, size)
            fits = start + size <= len(room) or size == 0
            assert code == (0 if fits else 1)
            if fits:
                room[start : start + size] = bytes([value]) * size

    @rule(to=buffers, source=buffers, size=st.integers(0, 3 * PAGE + 1))
    def copy(self, to, source, size):
        if to in self.model and source in self.model and to != source:
            fits = size <= min(len(self.model[to][0]), len(self.model[source][0]))
            assert self.call("hipMemcpy", to, source, size, 4) == (0 if fits else 1)
            if fits:
                self.model[to][0][:size] = self.model[source][0][:size]

    @rule(pointer=consumes(buffers))
    def free(self, pointer):
        if pointer in self.model:
            _, pinned = self.model.pop(pointer)
            assert pinned or self.call("hipHostFree", pointer) == 1  # hipFree frees either kind
            assert self.call("hipHostFree" if pinned else "hipFree", pointer) == 0
            assert self.call("hipHostFree" if pinned else "hipFree", pointer) == 1

    @precondition(lambda self: self.model)
    @invariant()
    def memory_is_what_the_model_says(self):
        for pointer, (data, _) in self.model.items():
            back = np.zeros(len(data), np.uint8)
            assert self.call("hipMemcpy", back.ctypes.data, pointer, len(data), 2) == 0
            assert back.tobytes() == bytes(data)

    def teardown(self):
        for pointer, (_, pinned) in self.model.items():
            assert self.call("hipHostFree" if pinned else "hipFree", pointer) == 0
        assert self.call.runtime.report()["live"] == []


TestProgram = Program.TestCase
TestProgram.settings = settings(max_examples=30, stateful_step_count=25, deadline=None)


def test_pinned_memory_is_not_counted_as_the_devices():
    heap = Heap(4 * PAGE, 1)
    heap.allocate(3 * PAGE, HOST, 0, "pinned")
    assert heap.used(0) == 0
    heap.allocate(4 * PAGE, DEVICE, 0, "all")
    with pytest.raises(HipFailure):
        heap.allocate(1, DEVICE, 0, "one more")


def test_graphs_by_words():
    """Copies, child graphs, lists of nodes: what hip-python's versions pass differently."""
    call = Caller()
    _, device = call.out("hipMalloc", 64)
    _, graph = call.out("hipGraphCreate", 0)
    params = MemsetParams(device, 1, 1, 64, 7, 64)
    _, first = call.out("hipGraphAddMemsetNode", graph, 0, 0, address(params))
    params.value, params.to, params.width = 9, device + 8, 8
    before = (ctypes.c_uint64 * 1)(first)
    _, second = call.out("hipGraphAddMemsetNode", graph, address(before), 1, address(params))
    count = ctypes.c_uint64(0)
    assert call("hipGraphGetNodes", graph, 0, address(count)) == 0
    assert count.value == 2
    nodes = (ctypes.c_uint64 * 2)()
    assert call("hipGraphGetNodes", graph, address(nodes), address(count)) == 0
    assert list(nodes) == [first, second]
    assert call("hipGraphGetRootNodes", graph, address(nodes), address(count)) == 0
    assert (count.value, nodes[0]) == (1, first)
    _, twin = call.out("hipGraphClone", graph)
    _, outer = call.out("hipGraphCreate", 0)
    assert call.out("hipGraphAddChildGraphNode", outer, 0, 0, twin)[0] == 0
    log = ctypes.create_string_buffer(b"old", 8)
    _, ready = call.out("hipGraphInstantiate", outer, 0, address(log), 8)
    assert log.value == b""
    for handle in (graph, twin, outer):
        assert call("hipGraphDestroy", handle) == 0
    back = np.zeros(64, np.uint8)
    assert call("hipGraphLaunch", ready, 0) == 0
    assert call("hipMemcpy", back.ctypes.data, device, 64, 2) == 0
    assert back.tolist() == [7] * 8 + [9] * 8 + [7] * 48
    assert call("hipGraphExecDestroy", ready) == 0
    assert call("hipGraphLaunch", ready, 0) == 400
    assert call.runtime.report()["handles"] == {}
    assert call("hipGraphDestroy", graph) == 400


def test_a_node_of_another_graph_is_refused():
    call = Caller()
    (_, one), (_, other) = call.out("hipGraphCreate", 0), call.out("hipGraphCreate", 0)
    _, node = call.out("hipGraphAddEmptyNode", one, 0, 0)
    before = (ctypes.c_uint64 * 1)(node)
    assert call.out("hipGraphAddEmptyNode", other, address(before), 1)[0] == 1
    assert call("hipGraphAddDependencies", other, address(before), address(before), 1) == 1
    assert call.out("hipGraphAddEmptyNode", 12345, 0, 0)[0] == 400
    assert call.out("hipGraphCreate", 1)[0] == 1
