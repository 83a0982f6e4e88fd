"""A kernel that ends its process, one that hangs and one that leaves a sticky error, in the middle of a run: each costs
what it was part of, and nothing else, in verify, golden record and pytest."""

import re
import shutil

import pytest

from mfmasim.toolchain import find_compiler
from tests.hiprt.inside import ROOT, run
from tests.oracles import require

pytestmark = [pytest.mark.oracle, pytest.mark.long]
ARCH = {"MFMASIM_HIPRT_ARCH": "gfx942", "MFMASIM_TIMEOUT": "3"}


def faults(folder, first, second, third):
    """Three faults, at these launches of all processes together."""
    launches = ((first, "@abort"), (second, "@hang"), (third, "=700@forever"))
    return {
        "MFMASIM_HIPRT_FAULTS": ",".join(f"hipModuleLaunchKernel#{number}{how}" for number, how in launches),
        "MFMASIM_HIPRT_COUNTS": str(folder / "counts"),
        **ARCH,
    }


def test_verify(tmp_path):
    """Each case of intro on gfx942 launches several times; every fault is in another case."""
    done = run("-m", "mfmasim", "verify", "intro", "--device", "hip", expect=2, **faults(tmp_path, 2, 9, 17))
    said = done.stdout + done.stderr
    assert len(re.findall("SIGABRT", said)) == 1
    assert len(re.findall("did not end within 3 s", said)) == 1
    assert "700" in said
    assert "3 pass, 3 error" in said


def test_golden_record(tmp_path):
    done = run(
        "-m",
        "mfmasim",
        "gpu",
        "golden",
        "record",
        "intro",
        "--into",
        tmp_path / "made",
        expect=1,
        **faults(tmp_path, 3, 32, 62),
    )
    lines = done.stdout.splitlines()
    lost = [line for line in lines if line.startswith("ERROR")]
    assert len(lost) == 3, done.stdout
    assert "SIGABRT" in lost[0]
    assert "did not end within 3 s" in lost[1]
    assert "700" in lost[2]
    written = [line for line in lines if line.startswith("wrote")]
    assert len(written) == len(list((tmp_path / "made").glob("*.npz"))) == 3
    checked = run("-m", "mfmasim", "gpu", "golden", "check", tmp_path / "made")
    assert checked.stdout.count("simulator, device and reference agree") == len(written)


def test_pytest(tmp_path):
    require("a HIP compiler", find_compiler() is not None, "pip install -e '.[test]'")
    folder = shutil.copytree(ROOT / "docs" / "example", tmp_path / "example")
    words = ("-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist", "-q", folder, "--mfmasim-device", "hip")
    right = run(*words, **ARCH)
    total = int(re.search(r"(\d+) passed", right.stdout)[1])
    done = run(*words, expect=1, **faults(tmp_path, 1, 2, 3))
    failed, passed = (int(re.search(rf"(\d+) {word}", done.stdout)[1]) for word in ("failed", "passed"))
    assert failed + passed == total
    assert 1 <= failed <= 3
    assert "SIGABRT" in done.stdout
