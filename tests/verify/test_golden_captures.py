"""`mfmasim gpu golden`: recorded captures, compared three ways; damage, staleness and half-written files."""

import json

import numpy as np
import pytest

from mfmasim.cli import main
from mfmasim.errors import MfmasimError
from mfmasim.lab.agreement import capture as captures
from mfmasim.lab.agreement import recording
from mfmasim.lab.agreement.threeway import check

NAME = "intro.f16_16x16x16.gfx942.sim.npz"


@pytest.fixture
def path(tmp_path):
    assert (
        main(
            [
                "gpu",
                "golden",
                "record",
                "intro",
                "--case",
                "f16",
                "--arch",
                "gfx942",
                "--device",
                "sim",
                "--into",
                str(tmp_path),
            ]
        )
        == 0
    )
    return tmp_path / NAME


def change(path, edit):
    """Edit a capture and seal it again, as another device would have written it."""
    found = captures.read(path)
    edit(found)
    captures.write(path, found)


def flip(launch, element, bits=1):
    """Change a bit of an element of C, which is f32 and the last buffer."""

    def edit(found):
        after = found.launches[launch].after[2].copy()
        after.view(np.uint32)[element] ^= bits
        found.launches[launch].after[2] = after

    return edit


def test_numpy_alone_reads_a_capture(path):
    data = np.load(path)
    about = json.loads(data["about"].tobytes())
    assert about["schema_version"] == 1
    assert (about["case"], about["arch"], about["device"]["simulated"]) == ("f16_16x16x16", "gfx942", True)
    assert set(about["versions"]) >= {"mfmasim", "numpy"}
    assert about["captured"].endswith("+00:00")
    assert data["code"].tobytes()[:4] == b"\x7fELF"
    call = about["launches"][0]
    assert call["args"][2] == {"buffer": 2, "dtype": "|u1", "shape": [1024]}
    a, b, c = (data[f"launch0_buffer{n}_after"] for n in range(3))
    assert np.array_equal(a, data["launch0_buffer0_before"])
    product = a.view(np.float16).reshape(16, 16).astype(np.float32) @ b.view(np.float16).reshape(16, 16)
    assert np.array_equal(c.view(np.float32).reshape(16, 16), product)  # the first launch has small integers


def test_all_agree(path, capsys):
    capsys.readouterr()
    assert main(["gpu", "golden", "check", str(path.parent)]) == 0
    assert "AGREE   gfx942   f16_16x16x16   simulator, device and reference agree" in capsys.readouterr().out


def test_a_device_that_differs_is_named_with_element_ulp_and_instruction(path, capsys):
    change(path, flip(1, 16 * 3 + 5, bits=4))
    capsys.readouterr()
    assert main(["gpu", "golden", "check", str(path)]) == 1
    text = capsys.readouterr().out
    assert "simulator and reference agree, the device differs from both" in text
    assert "simulator against device: 1 of 1,536 elements, at most 4 ulp, computed by v_mfma_f32_16x16x16_f16" in text
    assert "launch 2 C[3, 5]: simulator 0x" in text
    assert ", 4 ulp" in text


def test_a_simulator_that_differs_is_named(path, monkeypatch):
    real = recording.SimDevice.launch

    def broken(self, kernel, grid, block, args, *others, **options):
        report = real(self, kernel, grid, block, args, *others, **options)
        args[2].view(np.uint32)[7] ^= 2
        return report

    monkeypatch.setattr(recording.SimDevice, "launch", broken)
    found = check(path)
    assert found.agreement == "device and reference agree, the simulator differs from both"
    # In one of the six launches the element is a NaN, whose payload does not count.
    assert found.differences.mismatches == 5
    assert {row.element for row in found.differences.first} == {"C[0, 7]"}
    assert not found.ok


def test_a_reference_that_differs_is_named(path, monkeypatch):
    from mfmasim.verify import golden

    real = golden.arrays

    def broken(entry):
        arrays = real(entry)
        arrays["model"] = arrays["model"].copy()
        arrays["model"][0, 0] ^= 1
        return arrays

    monkeypatch.setattr(golden, "arrays", broken)
    assert check(path).agreement == "simulator and device agree, the reference differs from both"
    change(path, flip(0, 9))
    assert check(path).agreement == "simulator, device and reference all differ"


def test_captures_of_plain_arrays(tmp_path):
    assert (
        main(
            [
                "gpu",
                "golden",
                "record",
                "isa",
                "--case",
                "bits",
                "--arch",
                "gfx942",
                "--device",
                "sim",
                "--into",
                str(tmp_path),
            ]
        )
        == 0
    )
    found = sorted(tmp_path.glob("*.npz"))
    assert found
    assert check(found[0]).ok
    assert check(found[0]).differences.elements > 0

    def edit(capture):
        two = capture.launches[0].before, capture.launches[0].after
        written = next(n for n, (a, b) in enumerate(zip(*two, strict=True)) if not np.array_equal(a, b))
        after = capture.launches[0].after[written].copy()
        after[0] ^= 1
        capture.launches[0].after[written] = after

    change(found[0], edit)
    assert check(found[0]).differences.mismatches == 1


def damaged(path, how):
    data = path.read_bytes()
    if how == "cut":
        path.write_bytes(data[: len(data) // 2])
    elif how == "empty":
        path.write_bytes(b"")
    elif how == "text":
        path.write_bytes(b"not an archive at all")
    elif how == "missing":
        path.unlink()
    else:
        arrays = dict(np.load(path))
        if how == "seal":
            del arrays["seal"]
        elif how == "array":
            arrays["launch0_buffer2_after"] = arrays["launch0_buffer2_after"] ^ 1
        elif how == "about":
            arrays["about"] = np.frombuffer(arrays["about"].tobytes().replace(b"gfx942", b"gfx950"), np.uint8)
        np.savez(path, **arrays)


@pytest.mark.parametrize(
    ("how", "text"),
    [
        ("cut", "not a capture, or damaged"),
        ("empty", "not a capture, or damaged"),
        ("text", "not a capture, or damaged"),
        ("missing", "cannot be read: No such file"),
        ("seal", "not a capture: it lacks seal"),
        ("array", "the capture is damaged: its SHA-256"),
        ("about", "the capture is damaged: its SHA-256"),
    ],
)
def test_a_damaged_capture_is_refused(path, how, text, capsys):
    damaged(path, how)
    with pytest.raises(MfmasimError, match=text):
        check(path)
    capsys.readouterr()
    assert main(["gpu", "golden", "check", str(path)]) == 2
    assert text in capsys.readouterr().out


def test_every_byte_of_the_archive_counts(path):
    data = bytearray(path.read_bytes())
    rng = np.random.default_rng(1)
    whole = captures.read(path)
    refused = 0
    for place in rng.integers(0, len(data), 60):
        data[place] ^= 0x55
        path.write_bytes(bytes(data))
        try:
            found = captures.read(path)
            assert found.about == whole.about  # a byte of the archive's own tables that says nothing, such as a date
            assert found.code == whole.code
        except MfmasimError:
            refused += 1
        data[place] ^= 0x55
    assert refused > 40


def test_another_schema_is_refused(path, monkeypatch):
    monkeypatch.setattr(captures, "SCHEMA", 2)
    with pytest.raises(MfmasimError, match="the capture has schema 1, this version reads 2"):
        check(path)


@pytest.mark.parametrize(
    ("edit", "text"),
    [
        (lambda c: c.about["code"].update(sha256="0" * 64), "the case's code object is .*, the capture's 0000"),
        (lambda c: c.about.update(case="nosuch"), "intro has no case nosuch for gfx942"),
        (lambda c: c.about.update(group="nosuch"), "is stale: .*nosuch"),
        (lambda c: c.launches.pop(), "the case does launch 6, 5 were recorded"),
        (lambda c: c.launches.append(c.launches[0]), "7 launches were recorded, the case does 6"),
        (lambda c: c.launches[2].call.update(block=[32]), "launch 3 has block"),
        (lambda c: c.launches[0].before.__setitem__(1, c.launches[0].before[1] ^ 1), "other contents in buffer 1"),
    ],
)
def test_a_stale_capture_is_refused(path, edit, text):
    change(path, edit)
    with pytest.raises(MfmasimError, match=text):
        check(path)


def test_cases_of_the_same_title_keep_their_own_captures(tmp_path):
    """A folder of families: each of them has a case `arithmetic`."""
    assert (
        main(
            [
                "gpu",
                "golden",
                "record",
                "isa",
                "--case",
                "arithmetic[data=normal]",
                "--arch",
                "gfx1201",
                "--device",
                "sim",
                "--into",
                str(tmp_path),
            ]
        )
        == 0
    )
    names = sorted(path.name.partition(".")[0] for path in tmp_path.glob("*.npz"))
    assert len(names) >= 4
    assert {"isa_f16", "isa_f64", "isa_maths"} <= set(names)
    assert all(check(path).ok for path in tmp_path.glob("*.npz"))


def test_a_zero_of_another_sign_differs(path):
    def negate(found):
        for launch in found.launches:
            after = launch.after[2].copy()
            words = after.view(np.uint32)
            words[words == 0] = 0x80000000
            launch.after[2] = after

    change(path, negate)
    found = check(path)
    assert found.differences.mismatches > 0
    assert found.differences.max_ulp == 0
    assert not found.ok
    assert {(row.simulator, row.device) for row in found.differences.first} == {("0x00000000 (0)", "0x80000000 (-0)")}


def test_scalars_are_compared_by_their_bits(path):
    from mfmasim.lab.agreement.recording import same

    assert same([1.5, float("nan"), {"hex": "00"}], [1.5, float("nan"), {"hex": "00"}])
    assert not same([0.0], [-0.0])
    assert not same([1], [1.0])


def test_errors_beside_outputs_are_told_apart_from_differences(path, monkeypatch, capsys):
    """Outputs agree, and a check of the simulator has something against the kernel."""
    from mfmasim.observe import Finding

    real = recording.SimDevice.launch

    def blaming(self, *args, **options):
        report = real(self, *args, **options)
        report.findings.append(Finding("races", "error", "two waves meet", "races-write-write"))
        return report

    monkeypatch.setattr(recording.SimDevice, "launch", blaming)
    capsys.readouterr()
    assert main(["gpu", "golden", "check", str(path)]) == 1
    text = capsys.readouterr().out
    assert text.startswith("WRONG   gfx942   f16_16x16x16   simulator, device and reference agree")
    assert "simulator: races-write-write: two waves meet" in text


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_disk_that_fills_up_loses_nothing(path, monkeypatch, call):
    before = path.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    target = "mfmasim.files.os.fsync" if call == "fsync" else "pathlib.Path.replace"
    monkeypatch.setattr(target, full)
    with pytest.raises(MfmasimError, match="cannot be written: No space left on device"):
        captures.write(path, captures.Capture({}, b""))
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert [p.name for p in path.parent.iterdir()] == [NAME]


def test_bad_requests_are_told(tmp_path, capsys):
    assert main(["gpu", "golden", "check", str(tmp_path)]) == 2
    assert "no captures (*.npz) in this folder" in capsys.readouterr().err
    assert main(["gpu", "golden", "record", "intro", "--case", "nosuch", "--device", "sim"]) == 2
    assert "no case matches" in capsys.readouterr().err
    assert main(["gpu", "golden"]) == 2
