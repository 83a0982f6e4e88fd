"""Captures and golden files with hostile bytes: one line each, nothing is executed."""

import io
import json
import zipfile

import numpy as np
import pytest

from mfmasim.archives import parse_archive, parse_array, write_archive
from mfmasim.cli import main
from mfmasim.cli.run_arguments import _file
from mfmasim.errors import MfmasimError, unknown
from mfmasim.files import LIMIT, read_file
from mfmasim.lab.agreement import capture as captures
from mfmasim.lab.agreement.threeway import check
from mfmasim.testing import stored

ABOUT = {
    "schema_version": 1,
    "case": "nosuch",
    "group": "intro",
    "arch": "gfx942",
    "device": {"name": "hip", "product": "x", "simulated": False},
    "code": {"sha256": "0" * 64},
    "launches": [],
}
CALL = {"kernel": "k", "grid": [1], "block": [64], "shared_bytes": 0, "args": [], "buffers": 1}
BUFFERS = {"launch0_buffer0_before": np.zeros(4, np.uint8), "launch0_buffer0_after": np.zeros(4, np.uint8)}


def npy(array=None, header=None):
    """Bytes of an .npy file; with `header`, its text is replaced."""
    file = io.BytesIO()
    np.save(file, np.zeros(3, np.uint8) if array is None else array)
    data = file.getvalue()
    if header is None:
        return data
    text = header.encode().ljust(118) + b"\n"
    return data[:8] + len(text).to_bytes(2, "little") + text + b"\0\0\0"


def sealed(path, about, **arrays):
    """A capture with a right seal, whatever its description says."""
    data = about if isinstance(about, bytes) else json.dumps(about).encode()
    whole = {"about": np.frombuffer(data, np.uint8), "code": np.zeros(4, np.uint8), **arrays}
    write_archive(path, {**whole, "seal": captures._seal(whole)})
    return path


def without(key, inner=None):
    """The description without a key, or without one of an inner object."""
    found = json.loads(json.dumps(ABOUT))
    del (found[inner] if inner else found)[key]
    return found


DESCRIPTIONS = {
    "no JSON": (b"{not json", "description is damaged: Expecting"),
    "not UTF-8": (b"\xff\xfe\x00", "description is damaged"),
    "a list": (b"[1]", "about is list, not an object"),
    "deep": (b"[" * 100_000 + b"]" * 100_000, "nested too deeply"),
    "nested": (b'{"schema_version": 1, "x": ' + b"[" * 200 + b"]" * 200 + b"}", "more than 32 levels"),
    "number": (b'{"schema_version": ' + b"9" * 5000 + b"}", "description is damaged"),
    "arch": (without("arch"), "about lacks 'arch'"),
    "launches": (without("launches"), "about lacks 'launches'"),
    "product": (without("product", "device"), "device lacks 'product'"),
    "sha256": (without("sha256", "code"), "code lacks 'sha256'"),
    "device": ({**ABOUT, "device": "hip"}, "'device' of about is str, dict is expected"),
    "launch": ({**ABOUT, "launches": [7]}, "launch 0 is int, not an object"),
    "kernel": ({**ABOUT, "launches": [{"grid": [1]}]}, "launch 0 lacks 'kernel'"),
    "buffers": ({**ABOUT, "launches": [{**CALL, "buffers": 1 << 60}]}, "launch 0 has 1152921504606846976 buffers"),
    "missing": ({**ABOUT, "launches": [CALL]}, "array launch0_buffer0_before is missing"),
    "long": ({**ABOUT, "case": "x" * 1000}, "'case' of about has more than 400 characters"),
    "group": (without("group"), "not a capture of a case: about lacks 'group'"),
}


@pytest.mark.parametrize("name", DESCRIPTIONS)
def test_a_description_that_lies_is_one_line(tmp_path, name):
    data, text = DESCRIPTIONS[name]
    with pytest.raises(MfmasimError, match=text) as error:
        check(sealed(tmp_path / "x.npz", data))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"launch0_buffer0_after": np.zeros(5, np.uint8)}, "has 4 bytes before and 5 after"),
        ({"launch0_buffer0_before": np.zeros(4, np.float64)}, "is not one of bytes"),
    ],
)
def test_buffers_of_another_kind_are_one_line(tmp_path, change, text):
    path = sealed(tmp_path / "x.npz", {**ABOUT, "launches": [CALL]}, **{**BUFFERS, **change})
    with pytest.raises(MfmasimError, match=text):
        captures.read(path)


HEADERS = [
    "{'descr': '|u1', 'fortran_order': False, 'shape': (1125899906842624,)}",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (1048576, 1048576, 1048576)}",
    "{'descr': '|O', 'fortran_order': False, 'shape': (3,)}",
    "{'descr': [('a', '|u1')], 'fortran_order': False, 'shape': (3,)}",
    "{'descr': '|u1', 'fortran_order': False, 'shape': (-3,)}",
    "{'descr': '|u1', 'fortran_order': False, 'shape': (2,)}",
    "{'descr': '|u1', 'shape': (3,)}",
    "{'descr': '?!', 'fortran_order': False, 'shape': (3,)}",
    "((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((",
    "__import__('os').system('true')",
    "'",
    "",
]


@pytest.mark.parametrize("header", HEADERS)
def test_a_header_that_lies_is_refused_before_anything_is_allocated(header):
    with pytest.raises(ValueError, match=r"header of an array|an array of"):
        parse_array(npy(header=header))


def test_arrays_come_back_as_they_were():
    whole = [
        np.arange(12, dtype="<f4").reshape(3, 4),
        np.asfortranarray(np.arange(6, dtype=">u2").reshape(2, 3)),
        np.array("text"),
        np.zeros((0, 3), np.uint8),
        np.array([True, False]),
    ]
    for array in whole:
        found = parse_array(npy(array))
        assert (found.dtype, found.shape) == (array.dtype, array.shape)
        assert np.array_equal(found, array)
        assert found.flags.writeable


def archive(members, **options):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
        for name, data in members:
            made.writestr(name, data, **options)
    return file.getvalue()


def encrypted():
    data = bytearray(archive([("about.npy", npy())]))
    for signature, flags in ((b"PK\3\4", 6), (b"PK\1\2", 8)):  # flags of the local and of the central header
        data[data.index(signature) + flags] |= 1
    return bytes(data)


def bomb():
    """About 1 MiB that claims, and has, 1 GiB of zeros."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made, made.open("about.npy", "w", force_zip64=True) as out:
        for _ in range(1024):
            out.write(bytes(1 << 20))
    return file.getvalue()


ARCHIVES = {
    "encrypted": (encrypted, "'about' is encrypted"),
    "bomb": (bomb, "more than the 536,870,912 that are read"),
    "method": (lambda: archive([("a.npy", npy())], compress_type=zipfile.ZIP_BZIP2), "method 12, not deflate"),
    "header": (lambda: archive([("a.npy", npy(header="{'descr'"))]), "header of an array cannot be read"),
    "shape": (lambda: archive([("a.npy", npy(header=HEADERS[0]))]), "claims 1,125,899,906,842,624 bytes"),
}


def test_long_names_make_no_long_errors():
    data = archive([("a" * 60_000 + ".npy", npy())])
    local = data.index(b"PK\3\4") + 40  # the local header's copy of the name
    with pytest.raises(ValueError, match=r"^File name in directory") as error:
        parse_archive(data[:local] + b"b" + data[local + 1 :])
    assert len(str(error.value)) < 200
    assert len(str(unknown("family", "x" * 1_000_000, ["intro"]))) < 300


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_name_twice_is_refused():
    with pytest.raises(ValueError, match="'a' occurs twice"):
        parse_archive(archive([("a.npy", npy()), ("a.npy", npy())]))


@pytest.mark.parametrize("name", ARCHIVES)
def test_one_bad_archive_does_not_stop_the_others(tmp_path, name, capsys):
    make, text = ARCHIVES[name]
    (tmp_path / "a.npz").write_bytes(make())
    sealed(tmp_path / "b.npz", ABOUT)
    assert main(["gpu", "golden", "check", str(tmp_path)]) == 2
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2
    assert text in lines[0]
    assert "intro has no case nosuch" in lines[1]
    with pytest.raises(MfmasimError, match="damaged, or not a golden file"):
        stored.load(tmp_path / "a.npz")


def test_a_golden_file_without_its_arrays_is_one_line(tmp_path):
    write_archive(tmp_path / "x.npz", {"values": np.zeros(3)})
    with pytest.raises(MfmasimError, match="it lacks values or sha256"):
        stored.load(tmp_path / "x.npz")


def test_only_regular_files_up_to_the_limit_are_read(tmp_path):
    with pytest.raises(MfmasimError, match="not a regular file"):
        read_file(tmp_path)
    with (tmp_path / "large").open("wb") as file:
        file.truncate(LIMIT + 1)  # takes no room on disk
    with pytest.raises(MfmasimError, match="more than the 3 bytes"):
        read_file(tmp_path / "large", 3)


def test_an_argument_of_run_that_lies_is_one_line(tmp_path, capsys):
    (tmp_path / "x.npy").write_bytes(npy(header=HEADERS[1]))
    with pytest.raises(MfmasimError, match=r"x\.npy: an array of shape"):
        _file(str(tmp_path / "x.npy"))


@pytest.mark.parametrize("key", ["probes", "phases"])
def test_a_capture_of_probes_that_lies_is_one_line(tmp_path, key, capsys):
    rows = {"probes": ["f16_k16"], "phases": [{"row": "x"}], "tiles": 16}
    path = sealed(tmp_path / "x.npz", {**ABOUT, "tiles": rows["tiles"], key: rows[key], "launches": [CALL]}, **BUFFERS)
    assert main(["gpu", "calibrate", "--replay", str(path)]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


EVIL = """
from pathlib import Path
Path({marker!r}).write_text("executed")
"""


def test_a_capture_cannot_name_the_program_that_is_run(tmp_path, capsys):
    marker, program = tmp_path / "marker", tmp_path / "evil.py"
    program.write_text(EVIL.format(marker=str(marker)))
    sealed(tmp_path / "x.npz", {**ABOUT, "group": str(program)})
    assert main(["gpu", "golden", "check", str(tmp_path)]) == 2
    assert "is a program and is not run because data names it" in capsys.readouterr().out
    assert not marker.exists()
    other = tmp_path / "other" / "mine.py"
    other.parent.mkdir()
    other.write_text(EVIL.format(marker=str(marker)))
    assert main(["gpu", "golden", "check", str(tmp_path), "--case-file", str(other)]) == 2
    assert not marker.exists()
    # Named by the user: executed, although the capture was recorded where the file lay elsewhere.
    moved = other.with_name("evil.py")
    moved.write_text(EVIL.format(marker=str(marker)))
    assert main(["gpu", "golden", "check", str(tmp_path), "--case-file", str(moved)]) == 2
    assert marker.exists()
