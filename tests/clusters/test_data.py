"""Results as data: every result comes back equal, and nothing that is read is executed."""

import collections
import contextlib
import hashlib
import os
import pickle
import random

import ml_dtypes
import msgpack
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mfmasim
from mfmasim.cli.executors.journal import MAGIC, Journal
from mfmasim.cli.executors.order import Failed, _travelling, attempts
from mfmasim.clusters import LostTaskError, data, remote
from mfmasim.clusters.data import DamagedError, NotDataError, decode, encode
from mfmasim.clusters.identity import identity
from mfmasim.devices.report import Fidelity
from mfmasim.errors import MfmasimError
from mfmasim.observe.finding import Finding
from mfmasim.resources import folder
from mfmasim.verify.result import Result

plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: (
        st.lists(inner)
        | st.lists(inner).map(tuple)
        | st.dictionaries(st.text() | st.integers() | st.tuples(st.integers(), st.text()), inner)
        | st.sets(st.integers() | st.text())
        | st.frozensets(st.integers())
    ),
    max_leaves=20,
)


@given(plain)
def test_plain_values_come_back(value):
    found = decode(encode(value))
    assert found == value
    assert repr(type(found)) == repr(type(value))


def test_keys_and_values_that_are_shared_stay_shared():
    part = [1]
    value = {(1, 2): part, "again": part, "pair": (part, (1, 2))}
    found = decode(encode(value))
    assert found == value
    assert found[1, 2] is found["again"] is found["pair"][0]
    part.append(part)
    assert decode(encode(part))[1][1][0] == 1


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6, dtype=">u2").reshape(2, 3).T,
        np.zeros((0, 3), np.int8),
        np.array(7, np.uint64),
        np.array([1.5, -2], ml_dtypes.bfloat16),
        np.array([(1, 2.5)], [("a", "<u4"), ("b", "<f8", (1,))]),
        np.float16(-0.0),
        np.bool_(True),
        np.array(["x", "yy"]),
    ],
)
def test_arrays_keep_type_shape_and_bits(array):
    found = decode(encode(array))
    assert type(found) is type(array)
    assert (found.dtype, found.shape, found.tobytes()) == (array.dtype, array.shape, array.tobytes())
    assert found.flags.writeable or isinstance(found, np.generic)


def test_objects_of_the_package_and_errors_come_back():
    finding = Finding("bounds-global", "error", "outside", "k", 4, "a.hip:1")
    kernel = mfmasim.load(folder("golden") / "code" / "bench" / "valu_loop.gfx942.hsaco")["valu_loop"]
    counts = collections.Counter(v_add_f32=3)
    value = [finding, Fidelity({"v_add_f32": "hardware"}), counts, kernel]
    found = decode(encode(value))
    assert found[:3] == value[:3]
    assert [type(one) for one in found] == [type(one) for one in value]
    assert found[1].by_operation == {"v_add_f32": "hardware"}
    assert [one.text for one in found[3].instructions] == [one.text for one in kernel.instructions]

    class OtherError(LookupError):
        pass

    for error, kind, text in (
        (MfmasimError("bad"), MfmasimError, "bad"),
        (LostTaskError("gone"), LostTaskError, "gone"),
        (KeyError("k", 3), KeyError, "('k', 3)"),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "why"), UnicodeDecodeError, None),
        (OtherError("x"), LookupError, "OtherError: x"),
        (TypeError(object), TypeError, "<class 'object'>"),
    ):
        error.add_note("frames")
        again = decode(encode(Failed(error))).error
        assert type(again) is kind
        assert again.__notes__ == ["frames"]
        assert text is None or str(again) == text


@pytest.mark.parametrize(
    "value",
    [object(), os.system, lambda: 0, np.array([object()]), type("Own", (), {})(), range(3), pytest, bytearray(2)],
)
def test_what_is_no_data_is_refused_when_it_is_written(value):
    with pytest.raises(NotDataError):
        encode([value])
    assert not data.is_data(value)


HOSTILE = [
    ["name", "os:system"],
    ["name", "mfmasim.resources:os.system"],
    ["name", "mfmasim.__main__:main"],
    ["name", "mfmasim.resources:CACHE"],
    ["made", "mfmasim.cli.executors.journal:Journal", "x", "y"],
    ["object", "mfmasim.devices.report:Fidelity", ["dict"]],
    ["object", "mfmasim.observe.finding:Finding", ["dict", "__class__", ["name", "mfmasim.verify.result:Result"]]],
    ["object", "mfmasim.observe.finding:Finding", 3],
    ["error", "exit"],
    ["error", "eval", ["tuple", "1"], ["list"]],
    ["error", "SystemExit", ["tuple"], ["list"]],
    ["method", ["list"], "append"],
    ["method", ["object", "mfmasim.observe.finding:Finding", ["dict"]], "__init__"],
    ["fields", "mfmasim.observe.finding:Finding", 1],
    ["enum", "mfmasim.observe.finding:Finding", "x"],
    ["array", "|O", [1], b"12345678"],
    ["array", "<u4", [1 << 40], b""],
    ["array", "<u4", [3], b"1234"],
    ["@", 0],
    ["@", -1],
    ["pairs", ["dict"]],
    ["keep", 1],
    [],
    {"a": 1},
    ["dict", 1],
    ["set", ["list"]],
    ["dtype", "O"],
]


@pytest.mark.parametrize("packed", HOSTILE, ids=str)
def test_hostile_data_is_refused(packed):
    with pytest.raises(DamagedError):
        decode(msgpack.packb(packed, use_bin_type=True))


def test_damaged_data_is_refused_or_read():
    rng = random.Random(5)
    finding = Finding("bounds-global", "error", "outside", "k", 4, "a.hip:1")
    good = encode([finding, (np.arange(4), {"a": [1.5, None]}), Failed(MfmasimError("x"))])
    assert encode(decode(good)) == good
    for _ in range(3000):
        broken = bytearray(good)
        for _ in range(rng.randint(1, 4)):
            broken[rng.randrange(len(broken))] = rng.randrange(256)
        with contextlib.suppress(DamagedError):
            decode(bytes(broken[: rng.randint(1, len(broken))] if rng.random() < 0.2 else broken))


class Bomb:
    """A pickle that leaves a file when it is read."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


def test_a_planted_file_of_results_executes_nothing(tmp_path):
    marker, path = tmp_path / "executed", tmp_path / "kept"
    bomb = pickle.dumps((0, Bomb(marker)), protocol=5)
    digest = "a" * 64
    size = len(bomb).to_bytes(8, "little")
    for body in (bomb, size + bytes(32) + bomb, size + hashlib.sha256(bomb).digest() + bomb):
        path.write_bytes(MAGIC + digest.encode() + b"\n" + body)
        path.chmod(0o600)
        assert Journal(str(path), digest).done == {}
        path.write_bytes(b"mfmasim results 1\n" + digest.encode() + b"\n" + body)
        with pytest.raises(MfmasimError, match="not a file of results"):
            Journal(str(path), digest)
    assert not marker.exists()


def test_a_worker_that_answers_with_a_pickle_executes_nothing(tmp_path):
    marker = tmp_path / "executed"
    content = remote.PICKLE + pickle.dumps(Bomb(marker))
    reply = remote.Reply(3, content, hashlib.sha256(content).hexdigest())
    with pytest.raises(MfmasimError, match="damaged the result of call 3: it is no data"):
        remote.unpacked(reply, 3, data=True)
    for odd in (reply._replace(content="text"), reply._replace(content=None), (1, 2), [], 7):
        with pytest.raises(MfmasimError):
            remote.unpacked(odd, 3, data=True)
    assert not marker.exists()


def test_calls_of_data_have_results_that_are_data():
    tasks = [None, "x"]
    shared = remote.sealed(tasks, data=True)
    task, needed = remote.packed(attempts, (attempts, remote.Shared("d"), tasks, [0]), data=True)
    assert needed == {"d"}
    reply = remote.call(identity(), 1, task, {"d": shared})
    assert reply.content.startswith(remote.DATA)
    [(number, failed)] = remote.unpacked(reply, 1, data=True)
    assert number == 0
    assert isinstance(failed.error, TypeError)


def test_a_result_that_is_no_data_is_kept_nowhere_and_stops_nothing(tmp_path):
    journal = Journal(str(tmp_path / "kept"), "a" * 64)
    journal.add(0, object())
    journal.add(1, "one")
    assert Journal(str(tmp_path / "kept"), "a" * 64).done == {1: "one"}
    number, failed = _travelling(3, object())
    assert number == 3
    assert "a result cannot be sent: builtins:object is not of this package" in str(failed.error)
    assert _travelling(3, 4) == (3, 4)


def test_a_result_is_that_of_the_text_for_another_folder():
    result = Result.__new__(Result)
    object.__setattr__(result, "case", "/gone/x/my.py: c")
    found = decode(encode([result, "/gone/x/y"], lambda text: text.replace("/gone/x", "")))
    assert (found[0].case, found[1]) == ("/my.py: c", "/y")
